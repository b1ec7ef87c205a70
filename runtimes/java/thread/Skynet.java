import java.util.ArrayList;
import java.util.List;

/** One platform thread, which is a thread of the operating system, per node of a tree, which starts ten more and joins them. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) throws InterruptedException {
        int tasks = args.length == 2 && args[0].matches("10*") ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1 || operations % tasks != 0) {
            System.err.println("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it");
            System.exit(2);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> giveUp(operations, e));
        System.out.println("ready");

        long sum = 0;
        for (int tree = 0; tree < operations / tasks; tree++) {
            long[] result = new long[1];
            Thread.ofPlatform().start(() -> result[0] = node(0, tasks)).join();
            sum += result[0];
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
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
            children.add(Thread.ofPlatform().start(() -> results[child] = node(first + child * share, share)));
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

    /** Halts, because an orderly exit would need more threads, of which there are none left. Only the first has its say. */
    private static synchronized void giveUp(int operations, Throwable e) {
        System.err.println("cannot go on: " + e);
        System.out.println("done 0");
        System.out.println("failed " + operations);
        Runtime.getRuntime().halt(1);
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
