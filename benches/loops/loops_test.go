package loops

import (
	"sync"
	"testing"
)

func BenchmarkSpawnOne(b *testing.B) {
	var wg sync.WaitGroup
	for b.Loop() {
		wg.Go(func() {})
		wg.Wait()
	}
}

func BenchmarkSpawnThousand(b *testing.B) {
	var wg sync.WaitGroup
	for range b.N / 1000 {
		for range 1000 {
			wg.Go(func() {})
		}
		wg.Wait()
	}
}

// As in runtime/proc_test.go: each starts the next, and nothing comes back.
func BenchmarkSpawnChain(b *testing.B) {
	done := make(chan bool)
	var start func(n int)
	start = func(n int) {
		if n == 0 {
			done <- true
			return
		}
		go start(n - 1)
	}
	go start(b.N)
	<-done
}

// A hop is half of a round trip.
func BenchmarkHop(b *testing.B) {
	there, back := make(chan int, 1), make(chan int, 1)
	go func() {
		for token := range there {
			back <- token
		}
		close(back)
	}()
	for range b.N / 2 {
		there <- 1
		<-back
	}
	close(there)
	<-back
}

// As in atemerev/skynet: every node sends its sum into its parent's channel.
func BenchmarkLeaf(b *testing.B) {
	const leaves = 1_000_000
	for range max(1, b.N/leaves) {
		root := make(chan int)
		go node(root, 0, leaves)
		if <-root != leaves*(leaves-1)/2 {
			b.Fatal("a wrong sum")
		}
	}
}

func node(parent chan<- int, first, leaves int) {
	if leaves == 1 {
		parent <- first
		return
	}
	children := make(chan int)
	for i := range 10 {
		go node(children, first+i*leaves/10, leaves/10)
	}
	sum := 0
	for range 10 {
		sum += <-children
	}
	parent <- sum
}

const filled = 65_536

func key(i uint32) uint32 { return i * 2_654_435_761 }

func BenchmarkPairMutex(b *testing.B) {
	var lock sync.Mutex
	entries := map[uint32]uint32{}
	for i := range uint32(filled) {
		entries[key(i)] = i
	}
	var sum uint64
	b.ResetTimer()
	for j := range uint32(b.N) {
		lock.Lock()
		entries[key(filled+j)] = filled + j
		lock.Unlock()
		lock.Lock()
		sum += uint64(entries[key(j%filled)])
		lock.Unlock()
	}
}

func BenchmarkPairSyncMap(b *testing.B) {
	var entries sync.Map
	for i := range uint32(filled) {
		entries.Store(key(i), i)
	}
	var sum uint64
	b.ResetTimer()
	for j := range uint32(b.N) {
		entries.Store(key(filled+j), filled+j)
		value, _ := entries.Load(key(j % filled))
		sum += uint64(value.(uint32))
	}
}
