import java.util.concurrent.FutureTask;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** One virtual thread per operation, a scope for each round. */
final class Spawn {
    public static void main(String[] args) throws Exception {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1) {
            System.err.println("usage: Spawn <tasks> <operations>: whole numbers, at least one of each");
            System.exit(2);
        }
        // From a virtual thread: the main thread is one of the system's, and each wait of it a switch of those.
        var sum = new FutureTask<>(() -> rounds(tasks, operations));
        System.out.println("ready");
        Thread.startVirtualThread(sum);

        long check = sum.get();
        System.out.println("done " + operations);
        System.out.println("check " + check);
    }

    private static long rounds(int tasks, int operations) throws InterruptedException {
        long sum = 0;
        for (long first = 0; first < operations; first += tasks) {
            try (var scope = StructuredTaskScope.open(Joiner.<Long>allSuccessfulOrThrow())) {
                long end = Math.min(first + tasks, operations);
                for (long i = first; i < end; i++) {
                    long number = i;
                    scope.fork(() -> number);
                }
                sum += scope.join().mapToLong(Subtask::get).sum();
            }
        }
        return sum;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
