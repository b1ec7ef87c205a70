import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** One platform thread, which is a thread of the operating system, per task, each handing the tokens of its queue to the next. */
final class Ring {
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
        List<Thread> threads = new ArrayList<>(tasks);
        try {
            for (int i = 0; i < tasks; i++) {
                int number = i;
                BlockingQueue<Integer> own = queues.get(i);
                BlockingQueue<Integer> next = queues.get((i + 1) % tasks);
                threads.add(Thread.ofPlatform().start(() -> task(tasks, number, own, next)));
            }
        } catch (OutOfMemoryError e) {
            giveUp(tasks, operations, threads.size(), e);
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

        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void task(int tasks, int number, BlockingQueue<Integer> own, BlockingQueue<Integer> next) {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + tasks);
            allStarted.countDown();
        }
        try {
            while (true) {
                int hops = own.take();
                if (hops > 0) {
                    next.put(hops - 1);
                } else {
                    noted.put(number);
                }
            }
        } catch (InterruptedException e) {
            return; // all tokens have been noted
        }
    }

    /** Halts, because an orderly exit would need more threads, of which there are none left. */
    private static void giveUp(int tasks, int operations, int launched, OutOfMemoryError e) {
        System.err.println("cannot start task " + (launched + 1) + " of " + tasks + ": " + e.getMessage());
        System.out.println("done 0");
        System.out.println("failed " + operations);
        Runtime.getRuntime().halt(1);
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
