import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** One timer per task, in the queue of a scheduled executor. */
final class Sleep {
    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        int seconds = Integer.parseInt(args[1]);

        var unfinished = new CountDownLatch(tasks);
        Runnable task = unfinished::countDown;
        try (var executor = Executors.newScheduledThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (int i = 0; i < tasks; i++) {
                executor.schedule(task, seconds, TimeUnit.SECONDS);
            }
            // Nothing runs when a timer starts; all are scheduled by now.
            System.out.println("alive " + unfinished.getCount());
            unfinished.await();
        }
        System.out.println("done " + tasks);
    }
}
