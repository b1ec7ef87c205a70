// One timer per task: time.AfterFunc starts a goroutine only when the timer fires.
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

func main() {
	tasks := number(os.Args[1])
	wait := time.Duration(number(os.Args[2])) * time.Second

	var finished atomic.Int64
	var wg sync.WaitGroup
	wg.Add(int(tasks))
	finish := func() {
		finished.Add(1)
		wg.Done()
	}
	for range tasks {
		time.AfterFunc(wait, finish)
	}
	// A timer that has not fired runs no code, so the main goroutine counts for all.
	fmt.Println("alive", tasks-finished.Load())
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
