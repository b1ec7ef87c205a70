// One goroutine per task, each holding bytes of its own while it waits.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	bytes = flag.Int("bytes", 1024, "size of each task's state")
	depth = flag.Int("depth", 1, "calls to the function that waits")

	tasks                    int64
	wait                     time.Duration
	started, finished, total atomic.Int64
)

func main() {
	tasks = number(os.Args[1])
	wait = time.Duration(number(os.Args[2])) * time.Second
	flag.CommandLine.Parse(os.Args[3:])

	var wg sync.WaitGroup
	for i := range tasks {
		wg.Go(func() {
			total.Add(hold(i, *depth))
			finished.Add(1)
		})
	}
	wg.Wait()
	fmt.Println("done", finished.Load())
	fmt.Println("check", total.Load())
}

// hold calls itself until it is depth calls deep. There it fills the state, waits, and returns the state's sum.
func hold(task int64, depth int) int64 {
	if depth > 1 {
		return hold(task, depth-1)
	}
	state := make([]byte, *bytes)
	for k := range state {
		state[k] = byte((task + int64(k)) % 251)
	}
	if started.Add(1) == tasks {
		fmt.Println("alive", tasks-finished.Load())
	}
	time.Sleep(wait)
	var sum int64
	for _, value := range state {
		sum += int64(value)
	}
	return sum
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
