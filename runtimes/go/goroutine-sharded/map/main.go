// One goroutine per task, all sharing one map that is split into shards, each with a mutex of its own.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
)

const filled = 65536 // entries before the tasks start

// shardedMap is a map whose keys are spread over 64 shards by their hash.
type shardedMap [64]shard

type shard struct {
	mu      sync.Mutex
	entries map[uint32]uint32
}

func newShardedMap() *shardedMap {
	m := new(shardedMap)
	for i := range m {
		m[i].entries = make(map[uint32]uint32)
	}
	return m
}

// shard hashes the key by a multiplication (2³² ÷ the golden ratio), whose top six bits choose the shard.
func (m *shardedMap) shard(key uint32) *shard {
	return &m[key*0x9E3779B9>>26]
}

func (m *shardedMap) store(key, value uint32) {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[key] = value
}

func (m *shardedMap) load(key uint32) uint32 {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[key]
}

func (m *shardedMap) len() int {
	n := 0
	for i := range m {
		n += len(m[i].entries)
	}
	return n
}

func main() {
	tasks, operations := number(os.Args[1]), number(os.Args[2])

	entries := newShardedMap()
	for i := range uint32(filled) {
		entries.store(key(i), i)
	}
	fmt.Println("ready")

	var wg sync.WaitGroup
	sums := make([]int64, tasks)
	for k := range tasks {
		first, end := k*operations/tasks, (k+1)*operations/tasks
		wg.Go(func() {
			var sum int64
			for j := uint32(first); j < uint32(end); j++ {
				entries.store(key(filled+j), filled+j)
				sum += int64(entries.load(key(j % filled)))
			}
			sums[k] = sum
		})
	}
	wg.Wait()
	fmt.Println("done", operations)

	check := int64(entries.len())
	for _, sum := range sums {
		check += sum
	}
	fmt.Println("check", check)
}

// key returns i × 2654435761 mod 2³², which is different for each i.
func key(i uint32) uint32 {
	return i * 2654435761
}

func number(arg string) int64 {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return n
}
