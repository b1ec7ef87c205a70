import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** One CompletableFuture per task, which a timer hands to the pool when it is due. */
final class Sleep {
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }

        Executor later = CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS);
        var futures = new CompletableFuture<?>[tasks];
        Runnable task = finished::incrementAndGet;
        Arrays.setAll(futures, i -> CompletableFuture.runAsync(task, later));
        // A timer cannot count itself in, but all have started by now.
        System.out.println("alive " + (tasks - finished.get()));
        CompletableFuture.allOf(futures).join();

        System.out.println("done " + finished.get());
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
