// One goroutine per operation, started and joined, with a slot for its result.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
)

func main() {
	tasks, operations := number(os.Args[1]), number(os.Args[2])
	results := make([]int64, min(tasks, operations))
	fmt.Println("ready")

	var wg sync.WaitGroup
	var sum int64
	for first := int64(0); first < operations; first += tasks {
		round := results[:min(tasks, operations-first)]
		for i := range round {
			number := first + int64(i)
			wg.Go(func() { round[i] = number })
		}
		wg.Wait()
		for _, result := range round {
			sum += result
		}
	}

	fmt.Println("done", operations)
	fmt.Println("check", sum)
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
