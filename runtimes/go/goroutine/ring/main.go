// A ring of goroutines, each passing on the tokens that arrive on a channel of its own.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var started atomic.Int64

func main() {
	tasks, operations := number(os.Args[1]), number(os.Args[2])
	tokens := flag.Int64("tokens", 1, "tokens in the ring")
	flag.CommandLine.Parse(os.Args[3:])

	channels := make([]chan int64, tasks) // a token is the number of hops that it has left
	for i := range channels {
		channels[i] = make(chan int64, 1)
	}
	alive := make(chan struct{})
	stopped := make(chan int64) // the tasks where tokens have no hops left
	var wg sync.WaitGroup
	for i, in := range channels {
		out := channels[(i+1)%len(channels)]
		wg.Go(func() {
			if started.Add(1) == tasks {
				fmt.Println("alive", tasks)
				close(alive)
			}
			for hops := range in {
				if hops > 0 {
					out <- hops - 1
				} else {
					stopped <- int64(i)
				}
			}
		})
	}
	<-alive
	fmt.Println("ready")

	for token := range *tokens {
		// The first operations % tokens tokens make one hop more.
		channels[token*tasks / *tokens] <- (operations + *tokens - 1 - token) / *tokens
	}
	var sum int64
	for range *tokens {
		sum += <-stopped
	}
	fmt.Println("done", operations)
	fmt.Println("check", sum)

	for _, channel := range channels {
		close(channel)
	}
	wg.Wait()
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
