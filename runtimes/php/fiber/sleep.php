<?php
// One fiber per task, resumed by the scheduler when its sleep is over.

require __DIR__ . '/scheduler.php';

function run(int $tasks, int $seconds): int
{
    $started = $finished = 0;
    $task = function () use ($tasks, $seconds, &$started, &$finished): void {
        $started++;
        if ($started === $tasks) {
            echo 'alive ', $started - $finished, "\n";
        }
        Scheduler::sleepUntil(hrtime(true) + $seconds * 1_000_000_000);
        $finished++;
    };

    try {
        Scheduler::run(function () use ($tasks, $task): void {
            for ($i = 0; $i < $tasks; $i++) {
                (new Fiber($task))->start();
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
