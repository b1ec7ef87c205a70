// One goroutine per task, each waiting for one message.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var started, finished atomic.Int64

func main() {
	begin := time.Now()
	tasks, wait, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: park <tasks> <seconds>: whole numbers, at least one task")
		os.Exit(2)
	}

	var wg sync.WaitGroup
	mailboxes := make([]chan struct{}, tasks)
	for i := range mailboxes {
		mailbox := make(chan struct{}, 1) // room for the message, so that sending does not wait for the receiver
		mailboxes[i] = mailbox
		wg.Go(func() {
			if started.Add(1) == tasks {
				fmt.Println("alive", tasks-finished.Load())
			}
			<-mailbox
			finished.Add(1)
		})
	}
	time.Sleep(time.Until(begin.Add(wait)))
	for _, mailbox := range mailboxes {
		mailbox <- struct{}{}
	}
	wg.Wait()

	fmt.Println("done", finished.Load())
}

func arguments(args []string) (tasks int64, wait time.Duration, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	t, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || t == 0 {
		return 0, 0, false
	}
	s, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return 0, 0, false
	}
	return int64(t), time.Duration(s) * time.Second, true
}
