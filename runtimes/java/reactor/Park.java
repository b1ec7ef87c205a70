import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One Mono per task, each waiting for one message. */
final class Park {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException {
        long begin = System.nanoTime();
        int tasks = Integer.parseInt(args[0]);
        var wait = Duration.ofSeconds(Integer.parseInt(args[1]));

        var mailboxes = new ArrayList<Sinks.One<Boolean>>(tasks);
        for (int i = 0; i < tasks; i++) {
            mailboxes.add(Sinks.one());
        }
        // By default flatMap subscribes to 256 at a time.
        var all = Flux.fromIterable(mailboxes).flatMap(mailbox -> task(tasks, mailbox), tasks).then().toFuture();
        Thread.sleep(wait.minusNanos(System.nanoTime() - begin));
        for (Sinks.One<Boolean> mailbox : mailboxes) {
            mailbox.tryEmitValue(true).orThrow();
        }
        all.join();

        System.out.println("done " + finished);
    }

    private static Mono<Boolean> task(int tasks, Sinks.One<Boolean> mailbox) {
        return Mono.fromRunnable(() -> {
                    if (started.incrementAndGet() == tasks) {
                        System.out.println("alive " + (tasks - finished.get()));
                    }
                })
                .then(mailbox.asMono())
                .doOnNext(message -> finished.incrementAndGet());
    }
}
