import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;

/** One virtual thread per node of a tree, which starts ten more and joins them. */
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
        for (int tree = 0; tree < count; tree++) {
            long[] result = new long[1];
            Thread.startVirtualThread(() -> result[0] = node(0, leaves)).join();
            sum += result[0];
        }
        return sum;
    }

    /** What the node with so many leaves from this number on returns. */
    private static long node(int first, int leaves) {
        if (leaves == 1) {
            return first;
        }
        int share = leaves / CHILDREN;
        List<Thread> children = new ArrayList<>(CHILDREN);
        long[] results = new long[CHILDREN];
        for (int i = 0; i < CHILDREN; i++) {
            int child = i;
            children.add(Thread.startVirtualThread(() -> results[child] = node(first + child * share, share)));
        }
        long sum = 0;
        try {
            for (int child = 0; child < CHILDREN; child++) {
                children.get(child).join();
                sum += results[child];
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // nobody interrupts
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
