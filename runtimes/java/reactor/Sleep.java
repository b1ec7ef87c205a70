import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One Mono per task, all subscribed to by flatMap. */
final class Sleep {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        Duration wait = Duration.ofSeconds(seconds);

        // flatMap subscribes to 256 at a time unless told otherwise.
        Flux.range(0, tasks).flatMap(i -> task(tasks, wait), tasks).then().block();

        System.out.println("done " + finished.get());
    }

    private static Mono<Long> task(int tasks, Duration wait) {
        return Mono.fromRunnable(() -> {
                    if (started.incrementAndGet() == tasks) {
                        System.out.println("alive " + (tasks - finished.get()));
                    }
                })
                .then(Mono.delay(wait))
                .doOnNext(due -> finished.incrementAndGet());
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
