// One goroutine per task, all working on one map.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const filled = 65536

func main() {
	tasks, operations, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: map <tasks> <operations>: whole numbers, at least one of each")
		os.Exit(2)
	}

	var lock sync.Mutex // guards entries
	entries := make(map[uint32]uint32)
	for i := range uint32(filled) {
		entries[key(i)] = i
	}
	fmt.Println("ready")

	var wg sync.WaitGroup
	sums := make([]uint64, tasks)
	for k := range tasks {
		first, end := k*operations/tasks, (k+1)*operations/tasks
		wg.Go(func() {
			var sum uint64
			for j := uint32(first); j < uint32(end); j++ {
				lock.Lock()
				entries[key(filled+j)] = filled + j
				lock.Unlock()

				lock.Lock()
				value := entries[key(j%filled)]
				lock.Unlock()
				sum += uint64(value)
			}
			sums[k] = sum
		})
	}
	wg.Wait()
	fmt.Println("done", operations)

	var check uint64
	for _, sum := range sums {
		check += sum
	}
	fmt.Println("check", check+uint64(len(entries)))
}

// key is i × 2654435761 mod 2³²: no two are alike.
func key(i uint32) uint32 {
	return i * 2654435761
}

func arguments(args []string) (tasks, operations uint64, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	tasks, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || tasks == 0 {
		return 0, 0, false
	}
	operations, err = strconv.ParseUint(args[1], 10, 32)
	if err != nil || operations == 0 {
		return 0, 0, false
	}
	return tasks, operations, true
}
