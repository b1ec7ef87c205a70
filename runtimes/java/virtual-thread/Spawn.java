import java.util.concurrent.FutureTask;

/** One virtual thread per operation, made and joined, with a slot for its result. */
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
        Thread[] threads = new Thread[Math.min(tasks, operations)];
        long[] results = new long[threads.length];
        long sum = 0;
        for (int done = 0; done < operations; ) {
            int round = Math.min(threads.length, operations - done);
            for (int i = 0; i < round; i++) {
                int slot = i;
                int number = done + i;
                threads[i] = Thread.startVirtualThread(() -> results[slot] = number);
            }
            for (int i = 0; i < round; i++) {
                threads[i].join();
                sum += results[i];
            }
            done += round;
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
