// One goroutine per task, each a heartbeat: it wakes once in every period.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var started, finished atomic.Int64

// Bucket b counts the ticks that were late by less than 2^b µs, and not less than half of that.
var late [32]atomic.Int64

type given struct {
	tasks  int64
	period time.Duration
	hogs   uint
	hog    time.Duration
	begin  time.Time
	end    time.Time
}

func main() {
	given, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: whole numbers, at least one task and millisecond")
		os.Exit(2)
	}

	var wg sync.WaitGroup
	for number := range given.tasks {
		wg.Go(func() { given.task(number) })
	}
	for range given.hogs {
		wg.Go(given.compute)
	}
	wg.Wait()

	fmt.Println("done", finished.Load())
	fmt.Print("histogram late_us")
	for bucket := range late {
		fmt.Print(" ", late[bucket].Load())
	}
	fmt.Println()
}

func (given *given) task(number int64) {
	due := given.begin.Add(given.period * time.Duration(number) / time.Duration(given.tasks))
	for now := time.Now(); due.Before(now); {
		due = due.Add(given.period)
	}
	if started.Add(1) == given.tasks {
		fmt.Println("alive", given.tasks-finished.Load())
	}
	for ; due.Before(given.end); due = due.Add(given.period) {
		time.Sleep(time.Until(due))
		now := time.Now()
		if !now.Before(given.end) {
			break
		}
		if started.Load() == given.tasks {
			count(now.Sub(due))
		}
	}
	time.Sleep(time.Until(given.end))
	finished.Add(1)
}

func count(wait time.Duration) {
	bucket := bits.Len64(uint64(max(wait.Microseconds(), 0)))
	late[min(bucket, len(late)-1)].Add(1)
}

// compute works, yields, and so on.
func (given *given) compute() {
	for time.Now().Before(given.end) {
		for until := time.Now().Add(given.hog); time.Now().Before(until); {
		}
		runtime.Gosched()
	}
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
	flags := flag.NewFlagSet("tick", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main says it in one line
	period := flags.Uint("period-ms", 1000, "")
	hogs := flags.Uint("hogs", 0, "")
	hog := flags.Uint("hog-ms", 10, "")
	err = flags.Parse(args[2:])
	begin := time.Now()
	given := given{
		tasks:  int64(tasks),
		period: time.Duration(*period) * time.Millisecond,
		hogs:   *hogs,
		hog:    time.Duration(*hog) * time.Millisecond,
		begin:  begin,
		end:    begin.Add(time.Duration(seconds) * time.Second),
	}
	return &given, err == nil && flags.NArg() == 0 && *period > 0 && *hog > 0
}
