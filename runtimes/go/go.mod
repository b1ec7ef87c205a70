module github.com/taskscale/taskscale/runtimes/go

go 1.25
