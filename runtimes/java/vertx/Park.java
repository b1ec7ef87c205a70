import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One Future per task, all on one event loop, each waiting for one message. */
final class Park {
    private static int started = 0;
    private static int finished = 0;

    public static void main(String[] args) {
        int tasks = args.length == 2 ? parse(args[0]) : -1;
        int seconds = args.length == 2 ? parse(args[1]) : -1;
        if (tasks < 1 || seconds < 0) {
            System.err.println("usage: Park <tasks> <seconds>: whole numbers, at least one task");
            System.exit(2);
        }
        // A timer of Vert.x waits for 1 ms at least.
        long millis = Math.max(1, TimeUnit.SECONDS.toMillis(seconds));

        Vertx vertx = Vertx.vertx();
        vertx.runOnContext(start -> {
            List<Promise<Boolean>> mailboxes = new ArrayList<>(tasks);
            vertx.setTimer(millis, due -> mailboxes.forEach(mailbox -> mailbox.complete(true)));
            List<Future<Boolean>> futures = new ArrayList<>(tasks);
            for (int i = 0; i < tasks; i++) {
                Promise<Boolean> mailbox = Promise.promise();
                mailboxes.add(mailbox);
                futures.add(task(tasks, mailbox));
            }
            Future.all(futures).onComplete(end -> {
                System.out.println("done " + finished);
                vertx.close();
            });
        });
    }

    private static Future<Boolean> task(int tasks, Promise<Boolean> mailbox) {
        started += 1;
        if (started == tasks) {
            System.out.println("alive " + (tasks - finished));
        }
        return mailbox.future().onSuccess(message -> finished += 1);
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
