import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One Mono per task, all subscribed to by flatMap. */
final class Sleep {
    private static final AtomicInteger started = new AtomicInteger();
    private static final AtomicInteger finished = new AtomicInteger();

    public static void main(String[] args) {
        int tasks = Integer.parseInt(args[0]);
        var wait = Duration.ofSeconds(Integer.parseInt(args[1]));

        // By default flatMap subscribes to 256 at a time.
        Flux.range(0, tasks).flatMap(i -> task(tasks, wait), tasks).then().block();

        System.out.println("done " + finished);
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
}
