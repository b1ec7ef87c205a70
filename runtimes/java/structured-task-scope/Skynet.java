import java.util.concurrent.FutureTask;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** One virtual thread per node of a tree; it forks ten children in a scope of its own. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) throws Exception {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        // Joined in a virtual thread: main is an OS thread, and each wait of it costs a switch of OS threads.
        var sum = new FutureTask<>(() -> trees(operations / tasks, tasks));
        System.out.println("ready");
        Thread.startVirtualThread(sum);

        long check = sum.get();
        System.out.println("done " + operations);
        System.out.println("check " + check);
    }

    private static long trees(int count, int leaves) throws InterruptedException {
        long sum = 0;
        for (int tree = 0; tree < count; tree++) {
            try (var scope = StructuredTaskScope.open()) {
                Subtask<Long> root = scope.fork(() -> node(0, leaves));
                scope.join();
                sum += root.get();
            }
        }
        return sum;
    }

    /** Returns the sum of the numbers of the leaves, the first of which is given. */
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
}
