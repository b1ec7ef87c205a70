import java.util.concurrent.FutureTask;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** One virtual thread per node of a tree, which forks ten more in a scope of its own. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) throws Exception {
        int tasks = args.length == 2 && args[0].matches("10*") ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1 || operations % tasks != 0) {
            System.err.println("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it");
            System.exit(2);
        }
        // From a virtual thread: the main thread is one of the system's, and each wait of it a switch of those.
        var sum = new FutureTask<>(() -> trees(operations / tasks, tasks));
        System.out.println("ready");
        Thread.startVirtualThread(sum);

        long check = sum.get();
        System.out.println("done " + operations);
        System.out.println("check " + check);
    }

    private static long trees(int count, int leaves) throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            try (var scope = StructuredTaskScope.open()) {
                Subtask<Long> root = scope.fork(() -> node(0, leaves));
                scope.join();
                sum += root.get();
            }
        }
        return sum;
    }

    /** What the node with so many leaves from this number on returns. */
    private static long node(long first, int leaves) throws InterruptedException {
        if (leaves == 1) {
            return first;
        }
        int share = leaves / CHILDREN;
        try (var scope = StructuredTaskScope.open(Joiner.<Long>allSuccessfulOrThrow())) {
            for (int child = 0; child < CHILDREN; child++) {
                long number = first + (long) child * share;
                scope.fork(() -> node(number, share));
            }
            return scope.join().mapToLong(Subtask::get).sum();
        }
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
