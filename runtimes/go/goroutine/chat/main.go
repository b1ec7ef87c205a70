// Two goroutines per connection: one reads, the other writes what has queued, so that no member waits for another.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"
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

func serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has sent the reason
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)

	m := &member{conn: conn, wake: make(chan struct{}, 1)}
	go m.write()
	status, err := m.read()
	m.leave()
	close(m.wake) // nothing queues a message any more
	if err == nil {
		conn.Close(status, "")
	}
}

// member is a connection with the messages that wait to be written to it.
type member struct {
	conn *websocket.Conn
	room *room // used by read alone

	mu     sync.Mutex
	queue  [][]byte
	queued int           // bytes in queue
	wake   chan struct{} // tells write that queue is not empty
}

// read handles messages until one is not allowed. It returns the status to close with, or the connection's error.
func (m *member) read() (websocket.StatusCode, error) {
	for {
		kind, message, err := m.conn.Read(context.Background())
		if err != nil {
			return 0, err
		}
		if kind == websocket.MessageBinary {
			return websocket.StatusUnsupportedData, nil
		}
		if !utf8.Valid(message) {
			return websocket.StatusInvalidFramePayloadData, nil
		}
		if name, ok := bytes.CutPrefix(message, []byte("join ")); ok {
			m.leave()
			m.join(string(name))
			m.send(append([]byte("joined "), name...))
		} else if text, ok := bytes.CutPrefix(message, []byte("say ")); ok && m.room != nil {
			m.room.send(text)
		} else {
			return websocket.StatusPolicyViolation, nil
		}
	}
}

// send queues a message without waiting. It reports whether the member keeps up, and disconnects it if not.
func (m *member) send(message []byte) bool {
	m.mu.Lock()
	m.queue = append(m.queue, message)
	m.queued += len(message)
	full := m.queued > maxQueued
	m.mu.Unlock()
	if full {
		go m.conn.CloseNow() // which waits for the writer to give up
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
			if err := m.conn.Write(context.Background(), websocket.MessageText, message); err != nil {
				m.conn.CloseNow() // so that read returns as well
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

// send queues a message for each member. One that does not keep up has missed it, so it gets no later one.
func (r *room) send(message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		if !m.send(message) {
			delete(r.members, m)
		}
	}
}
