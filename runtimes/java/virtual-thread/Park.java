import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** One virtual thread per task, each waiting for one message. */
final class Park {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        long begin = System.nanoTime();
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Park <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        Duration wait = Duration.ofSeconds(seconds);

        List<BlockingQueue<Boolean>> mailboxes = new ArrayList<>(tasks);
        List<Thread> threads = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            BlockingQueue<Boolean> mailbox = new ArrayBlockingQueue<>(1);
            mailboxes.add(mailbox);
            threads.add(Thread.startVirtualThread(() -> task(tasks, mailbox)));
        }
        Thread.sleep(wait.minusNanos(System.nanoTime() - begin));
        for (BlockingQueue<Boolean> mailbox : mailboxes) {
            mailbox.put(true);
        }
        for (Thread thread : threads) {
            thread.join();
        }

        System.out.println("done " + finished.get());
        System.exit(finished.get() == tasks ? 0 : 1);
    }

    private static void task(int tasks, BlockingQueue<Boolean> mailbox) {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        try {
            mailbox.take();
        } catch (InterruptedException e) {
            return; // nobody interrupts; if somebody does, this task is not done
        }
        finished.incrementAndGet();
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
