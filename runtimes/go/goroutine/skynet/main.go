// One goroutine per node of a tree, each waiting for its ten children.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	leaves, operations, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, operations a multiple of it")
		os.Exit(2)
	}
	fmt.Println("ready")

	var sum int64
	results := make(chan int64)
	for range operations / leaves {
		go node(results, 0, leaves)
		sum += <-results
	}

	fmt.Println("done", operations)
	fmt.Println("check", sum)
}

// node sends the sum of the numbers of its leaves, which begin with first.
func node(result chan<- int64, first, leaves int64) {
	if leaves == 1 {
		result <- first
		return
	}
	results := make(chan int64)
	share := leaves / 10
	for i := range int64(10) {
		go node(results, first+i*share, share)
	}
	var sum int64
	for range 10 {
		sum += <-results
	}
	result <- sum
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
