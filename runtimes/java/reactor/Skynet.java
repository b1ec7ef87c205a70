import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One Mono per node of a tree, run by the parallel scheduler; it sums the results of its ten children. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        System.out.println("ready");

        long sum = 0;
        for (int tree = 0; tree < operations / tasks; tree++) {
            sum += node(0, tasks).block();
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
    }

    /** Gives the sum of the numbers of the leaves, the first of which is given. */
    private static Mono<Long> node(long first, int leaves) {
        if (leaves == 1) {
            return Mono.fromCallable(() -> first).subscribeOn(Schedulers.parallel());
        }
        int share = leaves / CHILDREN;
        return Flux.range(0, CHILDREN)
                .flatMap(child -> node(first + (long) child * share, share))
                .reduce(0L, Long::sum)
                .subscribeOn(Schedulers.parallel());
    }
}
