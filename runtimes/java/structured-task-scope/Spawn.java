import java.util.concurrent.FutureTask;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** One virtual thread per operation, one scope per round. */
final class Spawn {
    public static void main(String[] args) throws Exception {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        // Joined in a virtual thread: main is an OS thread, and each wait of it costs a switch of OS threads.
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
}
