import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One Mono per operation, run by the parallel scheduler; flatMap gathers the results. */
final class Spawn {
    public static void main(String[] args) {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1) {
            System.err.println("usage: Spawn <tasks> <operations>: whole numbers, at least one of each");
            System.exit(2);
        }
        System.out.println("ready");

        long sum = 0;
        for (int done = 0; done < operations; ) {
            int round = Math.min(tasks, operations - done);
            // flatMap subscribes to 256 at a time unless told otherwise.
            sum += Flux.range(done, round).flatMap(Spawn::task, round).reduce(0L, Long::sum).block();
            done += round;
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
    }

    private static Mono<Long> task(long number) {
        return Mono.fromCallable(() -> number).subscribeOn(Schedulers.parallel());
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
