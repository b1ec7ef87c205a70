// One goroutine per task, all sharing one map with a mutex.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
)

const filled = 65536 // entries before the tasks start

func main() {
	tasks, operations := number(os.Args[1]), number(os.Args[2])

	var mu sync.Mutex // guards entries
	entries := make(map[uint32]uint32)
	for i := range uint32(filled) {
		entries[key(i)] = i
	}
	fmt.Println("ready")

	var wg sync.WaitGroup
	sums := make([]int64, tasks)
	for k := range tasks {
		first, end := k*operations/tasks, (k+1)*operations/tasks
		wg.Go(func() {
			var sum int64
			for j := uint32(first); j < uint32(end); j++ {
				mu.Lock()
				entries[key(filled+j)] = filled + j
				mu.Unlock()

				mu.Lock()
				value := entries[key(j%filled)]
				mu.Unlock()
				sum += int64(value)
			}
			sums[k] = sum
		})
	}
	wg.Wait()
	fmt.Println("done", operations)

	check := int64(len(entries))
	for _, sum := range sums {
		check += sum
	}
	fmt.Println("check", check)
}

// key returns i × 2654435761 mod 2³², which is different for each i.
func key(i uint32) uint32 {
	return i * 2654435761
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
