// One goroutine per task.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var started, finished atomic.Int64

func main() {
	tasks := number(os.Args[1])
	wait := time.Duration(number(os.Args[2])) * time.Second

	var wg sync.WaitGroup
	for range tasks {
		wg.Go(func() {
			if started.Add(1) == tasks {
				fmt.Println("alive", tasks-finished.Load())
			}
			time.Sleep(wait)
			finished.Add(1)
		})
	}
	wg.Wait()
	fmt.Println("done", finished.Load())
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
