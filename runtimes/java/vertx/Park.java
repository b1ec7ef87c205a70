import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;

/** One Future per task, all on one event loop, each waiting for one message. */
final class Park {
    private static int started = 0;
    private static int finished = 0;

    public static void main(String[] args) {
        int tasks = Integer.parseInt(args[0]);
        // Vert.x refuses a timer of less than 1 ms.
        long millis = Math.max(1, TimeUnit.SECONDS.toMillis(Integer.parseInt(args[1])));

        var vertx = Vertx.vertx();
        vertx.runOnContext(start -> {
            var mailboxes = new ArrayList<Promise<Void>>(tasks);
            vertx.setTimer(millis, due -> mailboxes.forEach(mailbox -> mailbox.complete()));
            var futures = new ArrayList<Future<Void>>(tasks);
            for (int i = 0; i < tasks; i++) {
                Promise<Void> mailbox = Promise.promise();
                mailboxes.add(mailbox);
                futures.add(task(tasks, mailbox));
            }
            Future.all(futures).onComplete(end -> {
                System.out.println("done " + finished);
                vertx.close();
            });
        });
    }

    private static Future<Void> task(int tasks, Promise<Void> mailbox) {
        started += 1;
        if (started == tasks) {
            System.out.println("alive " + (tasks - finished));
        }
        return mailbox.future().onSuccess(message -> finished += 1);
    }
}
