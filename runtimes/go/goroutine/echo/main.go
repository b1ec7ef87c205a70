// One goroutine per connection, which sends back what it receives.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
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

	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go echo(conn)
	}
}

func echo(conn net.Conn) {
	defer conn.Close()
	// Not io.Copy: between two sockets it splices, and holds a pipe for each connection.
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}
