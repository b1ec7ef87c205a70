/** One platform thread, which is an OS thread, per operation, with a slot for its result. */
final class Spawn {
    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        var threads = new Thread[Math.min(tasks, operations)];
        var results = new long[threads.length];
        System.out.println("ready");

        long sum = 0;
        for (int done = 0; done < operations; ) {
            int round = Math.min(threads.length, operations - done);
            try {
                for (int i = 0; i < round; i++) {
                    int slot = i;
                    int number = done + i;
                    threads[i] = Thread.ofPlatform().start(() -> results[slot] = number);
                }
            } catch (OutOfMemoryError e) {
                System.err.println(e.getMessage());
                System.out.println("failed " + (operations - done));
                Runtime.getRuntime().halt(1); // System.exit would start more threads
            }
            for (int i = 0; i < round; i++) {
                threads[i].join();
                sum += results[i];
            }
            done += round;
        }

        System.out.println("done " + operations);
        System.out.println("check " + sum);
    }
}
