// One goroutine per task, without what came after Go 1.19: range over an integer and WaitGroup.Go.
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
	for i := int64(0); i < tasks; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if started.Add(1) == tasks {
				fmt.Println("alive", tasks-finished.Load())
			}
			time.Sleep(wait)
			finished.Add(1)
		}()
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
