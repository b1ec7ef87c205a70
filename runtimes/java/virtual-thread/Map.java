import java.util.ArrayList;
import java.util.concurrent.ConcurrentHashMap;

/** One virtual thread per task; all write to one map and read from it. */
final class Map {
    private static final int FILLED = 65_536;
    private static final ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();

    public static void main(String[] args) throws InterruptedException {
        int tasks = Integer.parseInt(args[0]);
        int operations = Integer.parseInt(args[1]);
        for (int i = 0; i < FILLED; i++) {
            map.put(key(i), i);
        }
        var threads = new ArrayList<Thread>(tasks);
        var sums = new long[tasks];
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

    /** Returns the sum of the values that these operations read. */
    private static long work(int first, int end) {
        long sum = 0;
        for (int operation = first; operation < end; operation++) {
            int added = FILLED + operation;
            map.put(key(added), added);
            sum += map.get(key(operation % FILLED));
        }
        return sum;
    }

    /** i * 2654435761 mod 2^32 */
    private static int key(int i) {
        return i * (int) 2_654_435_761L;
    }
}
