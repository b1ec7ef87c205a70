import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** One virtual thread per task, each holding bytes of its own while it waits. */
final class State {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();
    private static final LongAdder sum = new LongAdder();

    private static int tasks;
    private static Duration wait;
    private static int bytes = 1024;
    private static int depth = 1;

    public static void main(String[] args) throws InterruptedException {
        if (!arguments(args)) {
            System.err.println("usage: State <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: "
                    + "whole numbers, at least one task, byte and call");
            System.exit(2);
        }

        List<Thread> threads = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            int number = i;
            threads.add(Thread.startVirtualThread(() -> task(number)));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        System.out.println("done " + finished.get());
        System.out.println("check " + sum.sum());
        System.exit(finished.get() == tasks ? 0 : 1);
    }

    private static void task(int number) {
        try {
            sum.add(hold(number, depth));
        } catch (InterruptedException e) {
            return; // nobody interrupts; if somebody does, this task is not done
        }
        finished.incrementAndGet();
    }

    /** Fills the bytes of a task so many calls down, waits, and sums them. */
    private static long hold(int number, int calls) throws InterruptedException {
        if (calls > 1) {
            return hold(number, calls - 1);
        }
        byte[] state = new byte[bytes];
        for (int k = 0; k < bytes; k++) {
            state[k] = (byte) ((number + k) % 251);
        }
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        Thread.sleep(wait);
        long sum = 0;
        for (byte value : state) {
            sum += Byte.toUnsignedInt(value);
        }
        return sum;
    }

    private static boolean arguments(String[] args) {
        if (args.length < 2 || args.length % 2 != 0) {
            return false;
        }
        tasks = parse(args[0]);
        int seconds = parse(args[1]);
        wait = Duration.ofSeconds(seconds);
        for (int i = 2; i < args.length; i += 2) {
            switch (args[i]) {
                case "--bytes" -> bytes = parse(args[i + 1]);
                case "--depth" -> depth = parse(args[i + 1]);
                default -> bytes = 0;
            }
        }
        return tasks >= 1 && seconds >= 0 && bytes >= 1 && depth >= 1;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
