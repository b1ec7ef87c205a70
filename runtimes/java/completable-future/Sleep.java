import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** One CompletableFuture per task; a timer hands it to the common pool when it is due. */
final class Sleep {
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) {
        int tasks = Integer.parseInt(args[0]);
        var later = CompletableFuture.delayedExecutor(Integer.parseInt(args[1]), TimeUnit.SECONDS);

        var futures = new CompletableFuture<?>[tasks];
        Runnable task = finished::incrementAndGet;
        Arrays.setAll(futures, i -> CompletableFuture.runAsync(task, later));
        // Nothing runs when a timer starts; all are scheduled by now.
        System.out.println("alive " + (tasks - finished.get()));
        CompletableFuture.allOf(futures).join();
        System.out.println("done " + finished);
    }
}
