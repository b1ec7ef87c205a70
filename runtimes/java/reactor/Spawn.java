import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One Mono per operation, run by the parallel scheduler; flatMap gathers the results. */
final class Spawn {
    public static void main(String[] args) {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        System.out.println("ready");

        long sum = 0;
        for (int done = 0; done < operations; ) {
            int round = Math.min(tasks, operations - done);
            // By default flatMap subscribes to 256 at a time.
            sum += Flux.range(done, round).flatMap(Spawn::task, round).reduce(0L, Long::sum).block();
            done += round;
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
    }

    private static Mono<Long> task(long number) {
        return Mono.fromCallable(() -> number).subscribeOn(Schedulers.parallel());
    }
}
