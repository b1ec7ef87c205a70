import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.atomic.AtomicInteger;

/** One virtual thread per task, all forked in one scope, each waiting for one message. */
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
        try (var scope = StructuredTaskScope.open()) {
            for (int i = 0; i < tasks; i++) {
                BlockingQueue<Boolean> mailbox = new ArrayBlockingQueue<>(1);
                mailboxes.add(mailbox);
                scope.fork(() -> task(tasks, mailbox));
            }
            Thread.sleep(wait.minusNanos(System.nanoTime() - begin));
            for (BlockingQueue<Boolean> mailbox : mailboxes) {
                mailbox.put(true);
            }
            scope.join();
        }

        System.out.println("done " + finished.get());
    }

    private static Void task(int tasks, BlockingQueue<Boolean> mailbox) throws InterruptedException {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        mailbox.take();
        finished.incrementAndGet();
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
