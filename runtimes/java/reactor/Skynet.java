import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One Mono per node of a tree, run by the parallel scheduler, which adds up what its ten children give. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) {
        int tasks = args.length == 2 && args[0].matches("10*") ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1 || operations % tasks != 0) {
            System.err.println("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it");
            System.exit(2);
        }
        System.out.println("ready");

        long sum = 0;
        for (int tree = 0; tree < operations / tasks; tree++) {
            sum += node(0, tasks).block();
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
    }

    /** The node with so many leaves from this number on. */
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

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
