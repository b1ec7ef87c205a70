import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** One platform thread, which is an OS thread, per task. */
final class Sleep {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        var wait = Duration.ofSeconds(Integer.parseInt(args[1]));

        var threads = new ArrayList<Thread>(tasks);
        try {
            for (int i = 0; i < tasks; i++) {
                threads.add(Thread.ofPlatform().start(() -> task(tasks, wait)));
            }
        } catch (OutOfMemoryError e) {
            System.err.println(e.getMessage());
            System.out.println("failed " + (tasks - threads.size()));
            Runtime.getRuntime().halt(1); // System.exit would start more threads
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done " + finished);
    }

    private static void task(int tasks, Duration wait) {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        try {
            Thread.sleep(wait);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // no code here interrupts
        }
        finished.incrementAndGet();
    }
}
