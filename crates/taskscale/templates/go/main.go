// One goroutine per task. Put your way of running tasks in the place of WaitGroup.Go.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Shared by all tasks: the proof must add nothing to what a task holds.
var started, finished atomic.Int64

func main() {
	tasks, wait, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: sleep <tasks> <seconds>: whole numbers, at least one task")
		os.Exit(2)
	}

	var group sync.WaitGroup
	for range tasks {
		group.Go(func() { task(tasks, wait) })
	}
	group.Wait()

	fmt.Println("done", finished.Load())
}

func task(tasks int64, wait time.Duration) {
	// The last to start says how many are alive. Go does not buffer standard output.
	if started.Add(1) == tasks {
		fmt.Println("alive", tasks-finished.Load())
	}
	time.Sleep(wait)
	finished.Add(1)
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
	return int64(t), time.Duration(s) * time.Second, err == nil
}
