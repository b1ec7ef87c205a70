// One goroutine per task, each waiting for one message from a channel of its own.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var started, finished atomic.Int64

func main() {
	begin := time.Now()
	tasks := number(os.Args[1])
	wait := time.Duration(number(os.Args[2])) * time.Second

	var wg sync.WaitGroup
	mailboxes := make([]chan struct{}, tasks)
	for i := range mailboxes {
		mailbox := make(chan struct{}, 1) // buffered, so that the sender does not wait for the receiver
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

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
