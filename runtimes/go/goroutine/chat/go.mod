module github.com/taskscale/taskscale/runtimes/go/goroutine/chat

go 1.25

require github.com/coder/websocket v1.8.15
