module github.com/taskscale/taskscale/runtimes/go/goroutine-gorilla/chat

go 1.25

require github.com/gorilla/websocket v1.5.3
