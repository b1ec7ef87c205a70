import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** One virtual thread per task, all adding to one map and reading from it. */
final class Map {
    private static final int FILLED = 65_536;
    private static final ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();

    public static void main(String[] args) throws InterruptedException {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int operations = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || operations < 1) {
            System.err.println("usage: Map <tasks> <operations>: whole numbers, at least one of each");
            System.exit(2);
        }
        for (int i = 0; i < FILLED; i++) {
            map.put(key(i), i);
        }
        List<Thread> threads = new ArrayList<>(tasks);
        long[] sums = new long[tasks];
        System.out.println("ready");

        for (int i = 0; i < tasks; i++) {
            int task = i;
            int first = (int) ((long) task * operations / tasks);
            int end = (int) ((task + 1L) * operations / tasks);
            threads.add(Thread.startVirtualThread(() -> sums[task] = work(first, end)));
        }
        long sum = 0;
        for (int task = 0; task < tasks; task++) {
            threads.get(task).join();
            sum += sums[task];
        }

        System.out.println("done " + operations);
        System.out.println("check " + (sum + map.size()));
    }

    /** Does these operations, and returns the sum of what it read. */
    private static long work(int first, int end) {
        long sum = 0;
        for (int operation = first; operation < end; operation++) {
            int added = FILLED + operation;
            map.put(key(added), added);
            sum += map.get(key(operation % FILLED));
        }
        return sum;
    }

    /** i * 2654435761 mod 2^32, which are the 32 bits of an int. */
    private static int key(int i) {
        return i * (int) 2_654_435_761L;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
