import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Park <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        Duration wait = Duration.ofSeconds(seconds);

        List<Sinks.One<Boolean>> mailboxes = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            mailboxes.add(Sinks.one());
        }
        // flatMap subscribes to 256 at a time unless told otherwise.
        var all = Flux.fromIterable(mailboxes).flatMap(mailbox -> task(tasks, mailbox), tasks).then().toFuture();
        Thread.sleep(wait.minusNanos(System.nanoTime() - begin));
        for (Sinks.One<Boolean> mailbox : mailboxes) {
            mailbox.tryEmitValue(true).orThrow();
        }
        all.join();

        System.out.println("done " + finished.get());
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

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
