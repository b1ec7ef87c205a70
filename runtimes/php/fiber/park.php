<?php
// One fiber per task, each awaiting one message.

require __DIR__ . '/scheduler.php';

function run(int $tasks, int $seconds): int
{
    $wakeAt = hrtime(true) + $seconds * 1_000_000_000;
    $started = $finished = 0;
    $task = function (Future $message) use ($tasks, &$started, &$finished): void {
        $started++;
        if ($started === $tasks) {
            echo 'alive ', $started - $finished, "\n";
        }
        $message->await();
        $finished++;
    };

    try {
        Scheduler::run(function () use ($tasks, $wakeAt, $task): void {
            $messages = [];
            for ($i = 0; $i < $tasks; $i++) {
                $messages[] = $message = new Future();
                (new Fiber($task))->start($message);
            }
            Scheduler::sleepUntil($wakeAt);
            foreach ($messages as $message) {
                $message->complete();
            }
        });
    } catch (Exception $e) {
        fprintf(STDERR, "cannot start task %d of %d: %s\n", $started + 1, $tasks, $e->getMessage());
        echo "done $finished\n", 'failed ', $tasks - $started, "\n";
        return 1;
    }

    echo "done $finished\n";
    return 0;
}

exit(run(...array_slice($argv, 1))); // int parameters accept numeric strings, and no others
