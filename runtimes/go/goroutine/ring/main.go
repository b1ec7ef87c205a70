// One goroutine per place in a ring, each handing on the tokens that come through its channel.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var started atomic.Int64

func main() {
	tasks, operations, tokens, ok := arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, at most half as many tokens as tasks")
		os.Exit(2)
	}

	channels := make([]chan int64, tasks) // a token is the number of hops that it has left
	for i := range channels {
		channels[i] = make(chan int64, 1)
	}
	alive := make(chan struct{})
	noted := make(chan int64)
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
					noted <- int64(i)
				}
			}
		})
	}
	<-alive
	fmt.Println("ready")

	for token := range tokens {
		// The first tokens make one hop more, where the operations cannot be shared evenly.
		channels[token*tasks/tokens] <- (operations + tokens - 1 - token) / tokens
	}
	var sum int64
	for range tokens {
		sum += <-noted
	}
	fmt.Println("done", operations)
	fmt.Println("check", sum)

	for _, channel := range channels {
		close(channel)
	}
	wg.Wait()
}

func arguments(args []string) (tasks, operations, tokens int64, ok bool) {
	if len(args) == 2 {
		args = append(args, "--tokens", "1")
	}
	if len(args) != 4 || args[2] != "--tokens" {
		return 0, 0, 0, false
	}
	var numbers [3]int64
	for i, arg := range []string{args[0], args[1], args[3]} {
		number, err := strconv.ParseUint(arg, 10, 32)
		if err != nil || number == 0 {
			return 0, 0, 0, false
		}
		numbers[i] = int64(number)
	}
	tasks, operations, tokens = numbers[0], numbers[1], numbers[2]
	return tasks, operations, tokens, tokens <= tasks/2
}
