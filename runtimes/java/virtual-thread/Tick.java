import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/** One virtual thread per task; each wakes once in every period. */
final class Tick {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    /** Bucket b counts ticks that were late by less than 2^b µs and at least half of that. */
    private static final AtomicLongArray late = new AtomicLongArray(32);

    /** When ticks begin and end, as values of System.nanoTime. */
    private static final long begin = System.nanoTime();
    private static long end;

    private static int tasks;
    private static long period = TimeUnit.SECONDS.toNanos(1);
    private static int hogs = 0;
    private static long hogTime = TimeUnit.MILLISECONDS.toNanos(10);

    public static void main(String[] args) throws InterruptedException {
        tasks = Integer.parseInt(args[0]);
        end = begin + TimeUnit.SECONDS.toNanos(Integer.parseInt(args[1]));
        for (int i = 2; i < args.length; i += 2) {
            int value = Integer.parseInt(args[i + 1]);
            switch (args[i]) {
                case "--period-ms" -> period = TimeUnit.MILLISECONDS.toNanos(value);
                case "--hogs" -> hogs = value;
                case "--hog-ms" -> hogTime = TimeUnit.MILLISECONDS.toNanos(value);
                default -> throw new IllegalArgumentException(args[i]);
            }
        }

        var threads = new ArrayList<Thread>(tasks + hogs);
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

        var counts = new StringBuilder();
        for (int bucket = 0; bucket < late.length(); bucket++) {
            counts.append(' ').append(late.get(bucket));
        }
        System.out.println("done " + finished);
        System.out.println("histogram late_us" + counts);
    }

    private static void task(int number) {
        long due = begin + period * number / tasks;
        long start = System.nanoTime();
        while (due - start < 0) {
            due += period;
        }
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        while (due - end < 0) {
            sleepUntil(due);
            long now = System.nanoTime();
            if (now - end < 0 && started.get() == tasks) {
                count(now - due);
            }
            due += period;
        }
        sleepUntil(end);
        finished.incrementAndGet();
    }

    /** parkNanos may return early, hence the loop. */
    private static void sleepUntil(long instant) {
        for (long left; (left = instant - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    private static void count(long nanos) {
        int bucket = Long.SIZE - Long.numberOfLeadingZeros(TimeUnit.NANOSECONDS.toMicros(nanos));
        late.getAndIncrement(Math.min(bucket, late.length() - 1));
    }

    /** A hog: it computes without waiting, and then yields, until the end. */
    private static void compute() {
        while (System.nanoTime() - end < 0) {
            long until = System.nanoTime() + hogTime;
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait();
            }
            Thread.yield();
        }
    }
}
