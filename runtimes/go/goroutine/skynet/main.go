// One goroutine per node of a tree, each waiting for its ten children.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func main() {
	leaves, operations, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, operations a multiple of it")
		os.Exit(2)
	}
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

// node returns the sum of the numbers of its leaves, which begin with first.
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

func arguments(args []string) (leaves, operations int64, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	l, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || !isPowerOfTen(l) {
		return 0, 0, false
	}
	o, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil || o == 0 || o%l != 0 {
		return 0, 0, false
	}
	return int64(l), int64(o), true
}

func isPowerOfTen(number uint64) bool {
	for number > 0 && number%10 == 0 {
		number /= 10
	}
	return number == 1
}
