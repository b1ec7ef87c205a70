package main

// Added to a program by `go build -overlay`: asked by SIGUSR2, writes what the runtime's memory holds.

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
)

// Classes of memory by runtime/metrics, which add up to what is mapped, less what was released.
var taskscaleClasses = [][3]string{
	{"/memory/classes/heap/stacks:bytes", "live", "goroutine stacks"},
	{"/memory/classes/heap/unused:bytes", "unused", "unused in spans"},
	{"/memory/classes/heap/free:bytes", "unused", "free spans"},
	{"/memory/classes/metadata/mspan/inuse:bytes", "live", "span structures"},
	{"/memory/classes/metadata/mspan/free:bytes", "unused", "free span structures"},
	{"/memory/classes/metadata/mcache/inuse:bytes", "live", "cache structures"},
	{"/memory/classes/metadata/mcache/free:bytes", "unused", "free cache structures"},
	{"/memory/classes/metadata/other:bytes", "live", "structures of the collector"},
	{"/memory/classes/os-stacks:bytes", "live", "stacks of OS threads"},
	{"/memory/classes/other:bytes", "live", "other structures of the runtime"},
	{"/memory/classes/profiling/buckets:bytes", "live", "buckets of profiles"},
}

const taskscaleObjects = "/memory/classes/heap/objects:bytes"

func taskscaleRead(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

func taskscaleAnswer(folder string) error {
	var text strings.Builder
	for _, class := range taskscaleClasses {
		fmt.Fprintln(&text, class[1], taskscaleRead(class[0]), class[2])
	}
	before := taskscaleRead(taskscaleObjects)
	runtime.GC()
	live := taskscaleRead(taskscaleObjects)
	fmt.Fprintln(&text, "live", live, "objects")
	fmt.Fprintln(&text, "unused", int64(before)-int64(live), "garbage not yet collected")
	asked := fmt.Sprintf("%s/%d.asked", folder, os.Getpid())
	if err := os.WriteFile(asked, []byte(text.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(asked, fmt.Sprintf("%s/%d.parts", folder, os.Getpid()))
}

func init() {
	folder := os.Getenv("TASKSCALE_PROBE")
	if folder == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		for range asked {
			if err := taskscaleAnswer(folder); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}()
	if err := os.WriteFile(fmt.Sprintf("%s/%d.ready", folder, os.Getpid()), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
