// One goroutine per operation, made and waited for, with a slot for its result. Put your way of running tasks in the
// place of WaitGroup.Go.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func main() {
	tasks, operations, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: spawn <tasks> <operations>: whole numbers, at least one of each")
		os.Exit(2)
	}
	results := make([]int64, min(tasks, operations))
	// All is prepared. Go does not buffer standard output.
	fmt.Println("ready")

	var group sync.WaitGroup
	var sum int64
	for first := int64(0); first < operations; first += tasks {
		round := results[:min(tasks, operations-first)]
		for i := range round {
			number := first + int64(i)
			group.Go(func() { round[i] = number })
		}
		group.Wait()
		for _, result := range round {
			sum += result
		}
	}

	fmt.Println("done", operations)
	fmt.Println("check", sum)
}

func arguments(args []string) (tasks, operations int64, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	t, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || t == 0 {
		return 0, 0, false
	}
	o, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil || o == 0 {
		return 0, 0, false
	}
	return int64(t), int64(o), true
}
