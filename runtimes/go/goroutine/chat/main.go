// One goroutine per connection reads. A second one writes, so that nobody waits for a member that does not read.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const (
	largest = 64 << 10 // bytes of a message
	queued  = 256      // messages that a member may be behind
)

var (
	lock  sync.Mutex // guards rooms
	rooms = make(map[string]map[*member]struct{})
)

type member struct {
	conn   *websocket.Conn
	queue  chan []byte
	cutOff context.CancelFunc
	room   string
}

func main() {
	address, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task")
		os.Exit(2)
	}
	tcp, err := net.ListenTCP("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", tcp.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener{tcp}, http.HandlerFunc(serve)))
}

// listener ends the program where http.Serve would log that it is out of descriptors, and try again.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		log.Fatal(err)
	}
	return conn, nil
}

func serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(largest)

	// Not the request's context: that is not to be used once the connection is hijacked.
	ctx, cutOff := context.WithCancel(context.Background())
	defer cutOff()
	m := &member{conn: conn, queue: make(chan []byte, queued), cutOff: cutOff}
	go m.write(ctx)

	status, err := m.read(ctx)
	m.leave()
	close(m.queue)
	if err == nil {
		conn.Close(status, "")
	}
}

// read returns the status to close with, or an error where the connection is over already.
func (m *member) read(ctx context.Context) (websocket.StatusCode, error) {
	for {
		kind, message, err := m.conn.Read(ctx)
		if err != nil {
			return 0, err
		}
		if kind == websocket.MessageBinary {
			return websocket.StatusUnsupportedData, nil
		}
		if !utf8.Valid(message) {
			return websocket.StatusInvalidFramePayloadData, nil
		}
		if room, ok := bytes.CutPrefix(message, []byte("join ")); ok && len(room) > 0 {
			m.leave()
			m.join(string(room))
			m.queue <- append([]byte("joined "), room...)
		} else if text, ok := bytes.CutPrefix(message, []byte("say ")); ok && m.room != "" {
			m.say(text)
		} else {
			return websocket.StatusPolicyViolation, nil
		}
	}
}

// write takes messages until the queue is closed. Once the connection is, they all fail.
func (m *member) write(ctx context.Context) {
	for message := range m.queue {
		m.conn.Write(ctx, websocket.MessageText, message)
	}
}

func (m *member) join(room string) {
	lock.Lock()
	defer lock.Unlock()
	if rooms[room] == nil {
		rooms[room] = make(map[*member]struct{})
	}
	rooms[room][m] = struct{}{}
	m.room = room
}

func (m *member) leave() {
	lock.Lock()
	defer lock.Unlock()
	delete(rooms[m.room], m)
	if len(rooms[m.room]) == 0 {
		delete(rooms, m.room)
	}
}

func (m *member) say(text []byte) {
	lock.Lock()
	members := rooms[m.room]
	for other := range members {
		if other == m {
			continue
		}
		select {
		case other.queue <- text:
		default:
			delete(members, other) // it gets nothing behind a gap
			other.cutOff()
		}
	}
	lock.Unlock()
	m.queue <- text // not under the lock, as who sends may wait for its own socket

	// The messages of a burst are here at once: others shall have their turn to empty their queues.
	runtime.Gosched()
}

func arguments(args []string) (address *net.TCPAddr, ok bool) {
	if len(args) != 3 || args[1] != "--listen" {
		return nil, false
	}
	if tasks, err := strconv.ParseUint(args[0], 10, 32); err != nil || tasks == 0 {
		return nil, false
	}
	address, err := net.ResolveTCPAddr("tcp", args[2])
	return address, err == nil
}
