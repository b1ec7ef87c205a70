import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** One virtual thread per task, each waiting for one message. */
final class Park {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        long begin = System.nanoTime();
        int tasks = Integer.parseInt(args[0]);
        var wait = Duration.ofSeconds(Integer.parseInt(args[1]));

        var messages = new ArrayList<CompletableFuture<Void>>(tasks);
        var threads = new ArrayList<Thread>(tasks);
        for (int i = 0; i < tasks; i++) {
            var message = new CompletableFuture<Void>();
            messages.add(message);
            threads.add(Thread.startVirtualThread(() -> task(tasks, message)));
        }
        Thread.sleep(wait.minusNanos(System.nanoTime() - begin));
        for (CompletableFuture<Void> message : messages) {
            message.complete(null);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done " + finished);
    }

    private static void task(int tasks, CompletableFuture<Void> message) {
        if (started.incrementAndGet() == tasks) {
            System.out.println("alive " + (tasks - finished.get()));
        }
        message.join();
        finished.incrementAndGet();
    }
}
