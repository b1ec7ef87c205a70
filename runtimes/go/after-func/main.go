// One timer per task: time.AfterFunc, which starts a goroutine when the timer is due and not before.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	tasks, wait, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: after-func <tasks> <seconds>: whole numbers, at least one task")
		os.Exit(2)
	}

	var finished atomic.Int64
	var wg sync.WaitGroup
	wg.Add(tasks)
	due := func() {
		finished.Add(1)
		wg.Done()
	}
	for range tasks {
		time.AfterFunc(wait, due)
	}
	// A timer cannot count itself in, but all have started by now.
	fmt.Println("alive", int64(tasks)-finished.Load())
	wg.Wait()

	fmt.Println("done", finished.Load())
}

func arguments(args []string) (tasks int, wait time.Duration, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	t, err := strconv.ParseUint(args[0], 10, 31)
	if err != nil || t == 0 {
		return 0, 0, false
	}
	s, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return 0, 0, false
	}
	return int(t), time.Duration(s) * time.Second, true
}
