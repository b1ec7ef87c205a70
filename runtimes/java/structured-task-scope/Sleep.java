import java.time.Duration;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.atomic.AtomicInteger;

/** One virtual thread per task, all forked in one scope. */
final class Sleep {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        Duration wait = Duration.ofSeconds(seconds);

        try (var scope = StructuredTaskScope.open()) {
            for (int i = 0; i < tasks; i++) {
                scope.fork(() -> task(tasks, wait));
            }
            scope.join();
        }

        System.out.println("done " + finished.get());
    }

    private static Void task(int tasks, Duration wait) throws InterruptedException {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        Thread.sleep(wait);
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
