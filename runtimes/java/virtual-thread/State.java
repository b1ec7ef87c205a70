import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** One virtual thread per task; each keeps its own bytes while it waits. */
final class State {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();
    private static final LongAdder sum = new LongAdder();

    private static int tasks;
    private static Duration wait;
    private static int bytes = 1024;
    private static int depth = 1;

    public static void main(String[] args) throws InterruptedException {
        tasks = Integer.parseInt(args[0]);
        wait = Duration.ofSeconds(Integer.parseInt(args[1]));
        for (int i = 2; i < args.length; i += 2) {
            int value = Integer.parseInt(args[i + 1]);
            switch (args[i]) {
                case "--bytes" -> bytes = value;
                case "--depth" -> depth = value;
                default -> throw new IllegalArgumentException(args[i]);
            }
        }

        var threads = new ArrayList<Thread>(tasks);
        for (int i = 0; i < tasks; i++) {
            int number = i;
            threads.add(Thread.startVirtualThread(() -> task(number)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done " + finished);
        System.out.println("check " + sum);
    }

    private static void task(int number) {
        try {
            sum.add(hold(number, depth));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // no code here interrupts
        }
        finished.incrementAndGet();
    }

    /** Makes the given number of nested calls, fills the task's bytes, waits, and returns their sum. */
    private static long hold(int number, int calls) throws InterruptedException {
        if (calls > 1) {
            return hold(number, calls - 1);
        }
        var state = new byte[bytes];
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
}
