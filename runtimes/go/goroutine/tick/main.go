// One goroutine per task, each a heartbeat that wakes once per period.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	periodMS = flag.Int("period-ms", 1000, "period of each task")
	hogs     = flag.Int("hogs", 0, "tasks that compute")
	hogMS    = flag.Int("hog-ms", 10, "time that a hog computes before it yields")

	tasks             int64
	begin, end        time.Time
	started, finished atomic.Int64

	// Bucket b counts ticks that were late by at least 2^(b-1) and less than 2^b µs.
	late [32]atomic.Int64
)

func main() {
	begin = time.Now()
	tasks = number(os.Args[1])
	end = begin.Add(time.Duration(number(os.Args[2])) * time.Second)
	flag.CommandLine.Parse(os.Args[3:])

	var wg sync.WaitGroup
	for i := range tasks {
		wg.Go(func() { beat(i) })
	}
	for range *hogs {
		wg.Go(compute)
	}
	wg.Wait()

	fmt.Println("done", finished.Load())
	fmt.Print("histogram late_us")
	for i := range late {
		fmt.Print(" ", late[i].Load())
	}
	fmt.Println()
}

func beat(task int64) {
	period := time.Duration(*periodMS) * time.Millisecond
	due := begin.Add(period * time.Duration(task) / time.Duration(tasks))
	for now := time.Now(); due.Before(now); {
		due = due.Add(period)
	}
	if started.Add(1) == tasks {
		fmt.Println("alive", tasks-finished.Load())
	}
	for ; due.Before(end); due = due.Add(period) {
		time.Sleep(time.Until(due))
		now := time.Now()
		if !now.Before(end) {
			break
		}
		if started.Load() == tasks {
			record(now.Sub(due))
		}
	}
	time.Sleep(time.Until(end))
	finished.Add(1)
}

func record(lateness time.Duration) {
	bucket := bits.Len64(uint64(max(lateness.Microseconds(), 0)))
	late[min(bucket, len(late)-1)].Add(1)
}

// compute spins for --hog-ms and yields, until the end.
func compute() {
	for time.Now().Before(end) {
		until := time.Now().Add(time.Duration(*hogMS) * time.Millisecond)
		for time.Now().Before(until) {
		}
		runtime.Gosched()
	}
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
