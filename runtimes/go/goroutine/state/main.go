// One goroutine per task, each holding bytes of its own while it waits.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var started, finished, total atomic.Int64

type given struct {
	tasks int64
	wait  time.Duration
	bytes uint
	depth uint
}

func main() {
	given, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: whole numbers, at least one task, byte and call")
		os.Exit(2)
	}

	var wg sync.WaitGroup
	for number := range given.tasks {
		wg.Go(func() {
			total.Add(given.hold(number, given.depth))
			finished.Add(1)
		})
	}
	wg.Wait()

	fmt.Println("done", finished.Load())
	fmt.Println("check", total.Load())
}

// hold fills the bytes of a task so many calls down, waits, and sums them.
func (given *given) hold(number int64, depth uint) int64 {
	if depth > 1 {
		return given.hold(number, depth-1)
	}
	state := make([]byte, given.bytes)
	for k := range state {
		state[k] = byte((number + int64(k)) % 251)
	}
	if started.Add(1) == given.tasks {
		fmt.Println("alive", given.tasks-finished.Load())
	}
	time.Sleep(given.wait)
	var sum int64
	for _, value := range state {
		sum += int64(value)
	}
	return sum
}

func arguments(args []string) (*given, bool) {
	if len(args) < 2 {
		return nil, false
	}
	tasks, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || tasks == 0 {
		return nil, false
	}
	seconds, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return nil, false
	}
	given := given{tasks: int64(tasks), wait: time.Duration(seconds) * time.Second}
	flags := flag.NewFlagSet("state", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main says it in one line
	flags.UintVar(&given.bytes, "bytes", 1024, "")
	flags.UintVar(&given.depth, "depth", 1, "")
	err = flags.Parse(args[2:])
	return &given, err == nil && flags.NArg() == 0 && given.bytes > 0 && given.depth > 0
}
