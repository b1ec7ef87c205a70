import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** One timer per task, in the queue of a scheduled executor. */
final class Sleep {
    public static void main(String[] args) throws InterruptedException {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }

        var unfinished = new CountDownLatch(tasks);
        Runnable task = unfinished::countDown;
        try (var executor = Executors.newScheduledThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (int i = 0; i < tasks; i++) {
                executor.schedule(task, seconds, TimeUnit.SECONDS);
            }
            // A timer cannot count itself in, but all have started by now.
            System.out.println("alive " + unfinished.getCount());
            unfinished.await();
        }

        System.out.println("done " + tasks);
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
