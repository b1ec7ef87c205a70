import java.util.concurrent.FutureTask;

/** One virtual thread per operation, with a slot for its result. */
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
        var threads = new Thread[Math.min(tasks, operations)];
        var results = new long[threads.length];
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
}
