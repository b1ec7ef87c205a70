import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/** One virtual thread per task, each a heartbeat: it wakes once in every period. */
final class Tick {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();
    /** Bucket b: ticks that were late by less than 2^b µs, and not less than half of that. */
    private static final AtomicLongArray late = new AtomicLongArray(32);

    private static int tasks;
    private static int hogs = 0;
    private static int hogMillis = 10;
    private static int periodMillis = 1000;
    /** Instants of System.nanoTime. */
    private static long begin;
    private static long end;

    public static void main(String[] args) throws InterruptedException {
        if (!arguments(args)) {
            System.err.println("usage: Tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: "
                    + "whole numbers, at least one task and millisecond");
            System.exit(2);
        }

        List<Thread> threads = new ArrayList<>(tasks + hogs);
        for (int i = 0; i < tasks; i++) {
            int number = i;
            threads.add(Thread.startVirtualThread(() -> task(number)));
        }
        for (int i = 0; i < hogs; i++) {
            threads.add(Thread.startVirtualThread(Tick::compute));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        StringBuilder counts = new StringBuilder();
        for (int bucket = 0; bucket < late.length(); bucket++) {
            counts.append(' ').append(late.get(bucket));
        }
        System.out.println("done " + finished.get());
        System.out.println("histogram late_us" + counts);
        System.exit(finished.get() == tasks ? 0 : 1);
    }

    private static void task(int number) {
        long period = TimeUnit.MILLISECONDS.toNanos(periodMillis);
        long due = begin + period * number / tasks;
        for (long start = System.nanoTime(); due - start < 0; ) {
            due += period;
        }
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        for (; due - end < 0; due += period) {
            sleepUntil(due);
            long now = System.nanoTime();
            if (now - end >= 0) {
                break;
            }
            if (started.get() == tasks) {
                count(now - due);
            }
        }
        sleepUntil(end);
        finished.incrementAndGet();
    }

    /** Parks may end too soon. */
    private static void sleepUntil(long instant) {
        for (long left; (left = instant - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    private static void count(long nanos) {
        int bucket = Long.SIZE - Long.numberOfLeadingZeros(TimeUnit.NANOSECONDS.toMicros(nanos));
        late.getAndIncrement(Math.min(bucket, late.length() - 1));
    }

    /** Computes, yields, and so on. */
    private static void compute() {
        while (System.nanoTime() - end < 0) {
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(hogMillis);
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait();
            }
            Thread.yield();
        }
    }

    private static boolean arguments(String[] args) {
        if (args.length < 2 || args.length % 2 != 0) {
            return false;
        }
        tasks = parse(args[0]);
        int seconds = parse(args[1]);
        for (int i = 2; i < args.length; i += 2) {
            int number = parse(args[i + 1]);
            switch (args[i]) {
                case "--period-ms" -> periodMillis = number;
                case "--hogs" -> hogs = number;
                case "--hog-ms" -> hogMillis = number;
                default -> hogs = -1;
            }
        }
        begin = System.nanoTime();
        end = begin + TimeUnit.SECONDS.toNanos(seconds);
        return tasks >= 1 && seconds >= 0 && periodMillis >= 1 && hogs >= 0 && hogMillis >= 1;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
