import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One virtual thread per task, all forked in one scope, each handing the tokens of its queue to the next.
 * A token is the hops that it has left.
 */
final class Ring {
    /** In the place of a token: all have been noted. */
    private static final int OVER = -1;

    private static final AtomicInteger started = new AtomicInteger();
    private static final CountDownLatch allStarted = new CountDownLatch(1);

    /** The tasks that held a token without hops left. */
    private static final BlockingQueue<Integer> noted = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws InterruptedException {
        boolean named = args.length == 4 && args[2].equals("--tokens");
        int tasks = args.length == 2 || named ? parse(args[0]) : -1;
        int operations = args.length == 2 || named ? parse(args[1]) : -1;
        int tokens = named ? parse(args[3]) : 1;
        if (tasks < 2 || operations < 1 || tokens < 1 || tokens > tasks / 2) {
            System.err.println("usage: Ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token");
            System.exit(2);
        }

        List<BlockingQueue<Integer>> queues = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            queues.add(new ArrayBlockingQueue<>(1));
        }
        try (var scope = StructuredTaskScope.open()) {
            for (int i = 0; i < tasks; i++) {
                int number = i;
                BlockingQueue<Integer> own = queues.get(i);
                BlockingQueue<Integer> next = queues.get((i + 1) % tasks);
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
                sum += noted.take();
            }
            System.out.println("done " + operations);
            System.out.println("check " + sum);

            for (BlockingQueue<Integer> queue : queues) {
                queue.put(OVER);
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
        for (int hops; (hops = own.take()) != OVER; ) {
            if (hops > 0) {
                next.put(hops - 1);
            } else {
                noted.put(number);
            }
        }
        return null;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
