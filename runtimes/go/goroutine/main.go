// One goroutine per task.
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
	tasks, wait, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: goroutine <tasks> <seconds>: whole numbers, at least one task")
		os.Exit(2)
	}

	var wg sync.WaitGroup
	for range tasks {
		wg.Go(func() {
			if started.Add(1) == tasks {
				fmt.Println("alive", tasks-finished.Load())
			}
			time.Sleep(wait)
			finished.Add(1)
		})
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
