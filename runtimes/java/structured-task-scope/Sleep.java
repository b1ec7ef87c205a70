import java.time.Duration;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.atomic.AtomicInteger;

/** One virtual thread per task, all forked in one scope. */
final class Sleep {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        var wait = Duration.ofSeconds(Integer.parseInt(args[1]));

        try (var scope = StructuredTaskScope.open()) {
            for (int i = 0; i < tasks; i++) {
                scope.fork(() -> task(tasks, wait));
            }
            scope.join();
        }
        System.out.println("done " + finished);
    }

    private static Void task(int tasks, Duration wait) throws InterruptedException {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        Thread.sleep(wait);
        finished.incrementAndGet();
        return null;
    }
}
