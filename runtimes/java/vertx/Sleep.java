import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One Future per task, all on one event loop. */
final class Sleep {
    private static int started = 0;
    private static int finished = 0;

    public static void main(String[] args) {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        // A timer of Vert.x waits for 1 ms at least.
        long millis = Math.max(1, TimeUnit.SECONDS.toMillis(seconds));

        Vertx vertx = Vertx.vertx();
        vertx.runOnContext(start -> {
            List<Future<Void>> futures = new ArrayList<>(tasks);
            for (int i = 0; i < tasks; i++) {
                futures.add(task(vertx, tasks, millis));
            }
            Future.all(futures).onComplete(end -> {
                System.out.println("done " + finished);
                vertx.close();
            });
        });
    }

    private static Future<Void> task(Vertx vertx, int tasks, long millis) {
        started += 1;
        if (started == tasks) {
            System.out.println("alive " + (tasks - finished));
        }
        return vertx.timer(millis, TimeUnit.MILLISECONDS).onSuccess(due -> finished += 1);
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
