// Two goroutines per connection: one reads, the other writes what has queued, so that no member waits for another.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

const (
	maxMessage = 64 << 10 // bytes
	maxQueued  = 1 << 20  // bytes that wait for a member; one that falls further behind is disconnected
)

func main() {
	if _, err := strconv.Atoi(os.Args[1]); err != nil { // the number of connections, which Go needs not know
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", os.Args[3]) // after --listen
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(serve)))
}

var upgrader = websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024} // as in Gorilla's chat example

func serve(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has sent the reason
	}
	conn.SetReadLimit(maxMessage)

	// In new goroutines, so that what net/http holds for the request can be collected, as in Gorilla's chat example.
	m := &member{conn: conn, wake: make(chan struct{}, 1)}
	go m.write()
	go m.serve()
}

// member is a connection with the messages that wait to be written to it.
type member struct {
	conn *websocket.Conn
	room *room // used by read alone

	mu     sync.Mutex
	queue  []*websocket.PreparedMessage
	queued int           // bytes in queue
	wake   chan struct{} // tells write that queue is not empty
}

func (m *member) serve() {
	defer m.conn.Close()
	status, err := m.read()
	m.leave()
	close(m.wake) // nothing queues a message any more
	if err == nil {
		message := websocket.FormatCloseMessage(status, "")
		m.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(5*time.Second))
	}
}

// read handles messages until one is not allowed. It returns the status to close with, or the connection's error.
func (m *member) read() (status int, err error) {
	for {
		kind, message, err := m.conn.ReadMessage()
		if err != nil {
			return 0, err
		}
		if kind == websocket.BinaryMessage {
			return websocket.CloseUnsupportedData, nil
		}
		if !utf8.Valid(message) {
			return websocket.CloseInvalidFramePayloadData, nil
		}
		if name, ok := bytes.CutPrefix(message, []byte("join ")); ok {
			m.leave()
			m.join(string(name))
			m.send(prepare(append([]byte("joined "), name...)), len(message))
		} else if text, ok := bytes.CutPrefix(message, []byte("say ")); ok && m.room != nil {
			m.room.send(text)
		} else {
			return websocket.ClosePolicyViolation, nil
		}
	}
}

// send queues a message without waiting. It reports whether the member keeps up, and disconnects it if not.
func (m *member) send(message *websocket.PreparedMessage, size int) bool {
	m.mu.Lock()
	m.queue = append(m.queue, message)
	m.queued += size
	full := m.queued > maxQueued
	m.mu.Unlock()
	if full {
		m.conn.Close()
		return false
	}
	select {
	case m.wake <- struct{}{}:
	default: // write has been told already
	}
	return true
}

func (m *member) write() {
	for range m.wake {
		m.mu.Lock()
		messages := m.queue
		m.queue, m.queued = nil, 0
		m.mu.Unlock()
		for _, message := range messages {
			if err := m.conn.WritePreparedMessage(message); err != nil {
				m.conn.Close() // so that read returns as well
				return
			}
		}
	}
}

type room struct {
	name string

	mu      sync.Mutex
	members map[*member]struct{}
}

var (
	roomsMu sync.Mutex // locked before a room's own
	rooms   = make(map[string]*room)
)

func (m *member) join(name string) {
	roomsMu.Lock()
	defer roomsMu.Unlock()
	r := rooms[name]
	if r == nil {
		r = &room{name: name, members: make(map[*member]struct{})}
		rooms[name] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members[m] = struct{}{}
	m.room = r
}

func (m *member) leave() {
	if m.room == nil {
		return
	}
	roomsMu.Lock()
	defer roomsMu.Unlock()
	m.room.mu.Lock()
	defer m.room.mu.Unlock()
	delete(m.room.members, m)
	if len(m.room.members) == 0 {
		delete(rooms, m.room.name)
	}
}

// send queues a message for each member, framed once. A member that does not keep up has missed it, so it gets no
// later one.
func (r *room) send(text []byte) {
	message := prepare(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		if !m.send(message, len(text)) {
			delete(r.members, m)
		}
	}
}

func prepare(text []byte) *websocket.PreparedMessage {
	message, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
	if err != nil {
		panic(err) // there is no error for a text message
	}
	return message
}
