import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One virtual thread per task, all forked in one scope; it hands each token that comes to its queue to the next.
 * A token is the number of its remaining hops.
 */
final class Ring {
    /** Ends a task: a scope interrupts its threads only when one of them fails. */
    private static final int STOP = -1;

    private static final AtomicInteger started = new AtomicInteger();
    private static final CountDownLatch allStarted = new CountDownLatch(1);

    /** The number of each task at which a token ended. */
    private static final BlockingQueue<Integer> ends = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        int tokens = args.length > 2 ? Integer.parseInt(args[3]) : 1; // --tokens

        var queues = new ArrayList<BlockingQueue<Integer>>(tasks);
        for (int i = 0; i < tasks; i++) {
            queues.add(new ArrayBlockingQueue<>(1));
        }
        try (var scope = StructuredTaskScope.open()) {
            for (int i = 0; i < tasks; i++) {
                int number = i;
                var own = queues.get(i);
                var next = queues.get((i + 1) % tasks);
                scope.fork(() -> task(tasks, number, own, next));
            }
            allStarted.await();
            System.out.println("ready");

            for (int token = 0; token < tokens; token++) {
                int first = (int) ((long) token * tasks / tokens);
                queues.get(first).put(operations / tokens + (token < operations % tokens ? 1 : 0));
            }
            long sum = 0;
            for (int token = 0; token < tokens; token++) {
                sum += ends.take();
            }
            System.out.println("done " + operations);
            System.out.println("check " + sum);

            for (BlockingQueue<Integer> queue : queues) {
                queue.put(STOP);
            }
            scope.join();
        }
    }

    private static Void task(int tasks, int number, BlockingQueue<Integer> own, BlockingQueue<Integer> next)
            throws InterruptedException {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + tasks);
            allStarted.countDown();
        }
        for (int hops; (hops = own.take()) != STOP; ) {
            if (hops > 0) {
                next.put(hops - 1);
            } else {
                ends.put(number);
            }
        }
        return null;
    }
}
