// One goroutine per node of a tree, each waiting for its ten children.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
)

func main() {
	leaves, operations := number(os.Args[1]), number(os.Args[2])
	fmt.Println("ready")

	var sum int64
	for range operations / leaves {
		var wg sync.WaitGroup
		var root int64
		wg.Go(func() { root = node(0, leaves) })
		wg.Wait()
		sum += root
	}

	fmt.Println("done", operations)
	fmt.Println("check", sum)
}

// node returns the sum of the leaf numbers from first to first+leaves-1.
func node(first, leaves int64) int64 {
	if leaves == 1 {
		return first
	}
	var wg sync.WaitGroup
	var results [10]int64
	share := leaves / 10
	for i := range results {
		wg.Go(func() { results[i] = node(first+int64(i)*share, share) })
	}
	wg.Wait()
	var sum int64
	for _, result := range results {
		sum += result
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
