import java.util.ArrayList;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Loops by virtual threads, run by one of them: nanoseconds an operation, the best of ten rounds of a warm machine. */
class Loops {
    static final int ROUND = 1_000_000;

    interface Loop {
        void run() throws Exception;
    }

    static void spawnOne() throws Exception {
        for (int i = 0; i < ROUND; i++) Thread.startVirtualThread(() -> {}).join();
    }

    static void spawnThousand() throws Exception {
        var threads = new Thread[1000];
        for (int i = 0; i < ROUND / 1000; i++) {
            for (int k = 0; k < 1000; k++) threads[k] = Thread.startVirtualThread(() -> {});
            for (Thread thread : threads) thread.join();
        }
    }

    static void hop() throws Exception {
        var there = new ArrayBlockingQueue<Integer>(1);
        var back = new ArrayBlockingQueue<Integer>(1);
        Thread other = Thread.startVirtualThread(() -> {
            try {
                for (int i = 0; i < ROUND / 2; i++) back.put(there.take());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        for (int i = 0; i < ROUND / 2; i++) {
            there.put(i);
            back.take();
        }
        other.join();
    }

    static void pair() {
        var entries = new ConcurrentHashMap<Integer, Integer>();
        for (int i = 0; i < 65_536; i++) entries.put(i * (int) 2_654_435_761L, i);
        long sum = 0;
        for (int j = 0; j < ROUND; j++) {
            entries.put((65_536 + j) * (int) 2_654_435_761L, 65_536 + j);
            sum += entries.get(j % 65_536 * (int) 2_654_435_761L);
        }
        if (sum == 0) throw new IllegalStateException();
    }

    static long node(long first, long leaves) throws Exception {
        if (leaves == 1) return first;
        var children = new ArrayList<Future<Long>>(10);
        try (var scope = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 10; i++) {
                long from = first + i * leaves / 10;
                children.add(scope.submit(() -> node(from, leaves / 10)));
            }
        }
        long sum = 0;
        for (var child : children) sum += child.resultNow();
        return sum;
    }

    static void leaf() throws Exception {
        if (node(0, ROUND) != 499_999_500_000L) throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Loop loop = switch (args[0]) {
            case "spawn-one" -> Loops::spawnOne;
            case "spawn-thousand" -> Loops::spawnThousand;
            case "hop" -> Loops::hop;
            case "pair" -> Loops::pair;
            case "leaf" -> Loops::leaf;
            default -> throw new IllegalArgumentException("spawn-one|spawn-thousand|hop|pair|leaf");
        };
        long[] best = {Long.MAX_VALUE};
        Thread.startVirtualThread(() -> {
            try {
                for (int round = 0; round < 10; round++) {
                    long start = System.nanoTime();
                    loop.run();
                    best[0] = Math.min(best[0], System.nanoTime() - start);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }).join();
        System.out.printf("%.1f%n", (double) best[0] / ROUND);
    }
}
