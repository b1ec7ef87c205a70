// One goroutine per connection, which sends back what comes.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
)

func main() {
	address, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task")
		os.Exit(2)
	}
	listener, err := net.ListenTCP("tcp", address)
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
	// Not io.Copy: between two sockets it holds a pipe for each connection, as nothing looks at the bytes.
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return // an error, like the end, is this connection's alone
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
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
