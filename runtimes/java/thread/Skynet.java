/** One platform thread, which is an OS thread, per node of a tree; it starts ten children and joins them. */
final class Skynet {
    private static final int CHILDREN = 10;

    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> fail(operations, e));
        System.out.println("ready");

        long sum = 0;
        for (int tree = 0; tree < operations / tasks; tree++) {
            var result = new long[1];
            Thread.ofPlatform().start(() -> result[0] = node(0, tasks)).join();
            sum += result[0];
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
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
            children[i] = Thread.ofPlatform().start(() -> results[child] = node(first + child * share, share));
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

    /** Halts, so that only the first of many refused threads is reported; System.exit would start more of them. */
    private static synchronized void fail(int operations, Throwable e) {
        System.err.println(e);
        System.out.println("failed " + operations);
        Runtime.getRuntime().halt(1);
    }
}
