import java.util.concurrent.FutureTask;

/** One virtual thread per node of a tree; it starts ten children and joins them. */
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
            var result = new long[1];
            Thread.startVirtualThread(() -> result[0] = node(0, leaves)).join();
            sum += result[0];
        }
        return sum;
    }

    /** Returns the sum of the numbers of the leaves, the first of which is given. */
    private static long node(int first, int leaves) {
        if (leaves == 1) {
            return first;
        }
        int share = leaves / CHILDREN;
        var children = new Thread[CHILDREN];
        var results = new long[CHILDREN];
        for (int i = 0; i < CHILDREN; i++) {
            int child = i;
            children[i] = Thread.startVirtualThread(() -> results[child] = node(first + child * share, share));
        }
        long sum = 0;
        try {
            for (int i = 0; i < CHILDREN; i++) {
                children[i].join();
                sum += results[i];
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // no code here interrupts
        }
        return sum;
    }
}
