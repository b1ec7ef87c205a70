<?php
// One fiber per task. PHP has fibers but no event loop: Timers resumes each fiber when its sleep is over.

final class Timers
{
    private SplPriorityQueue $waiting;

    public function __construct()
    {
        $this->waiting = new SplPriorityQueue();
        $this->waiting->setExtractFlags(SplPriorityQueue::EXTR_BOTH);
    }

    /** Suspends the current fiber. */
    public function sleep(int $seconds): void
    {
        $this->waiting->insert(Fiber::getCurrent(), -(hrtime(true) + $seconds * 1_000_000_000));
        Fiber::suspend();
    }

    /** Resumes each fiber at its deadline, until none is waiting. */
    public function run(): void
    {
        while (!$this->waiting->isEmpty()) {
            ['data' => $fiber, 'priority' => $due] = $this->waiting->extract();
            $left = -$due - hrtime(true);
            if ($left > 0) {
                time_nanosleep(intdiv($left, 1_000_000_000), $left % 1_000_000_000);
            }
            $fiber->resume();
        }
    }
}

function run(int $tasks, int $seconds): int
{
    $started = $finished = 0;
    $timers = new Timers();
    $task = function () use ($tasks, $seconds, $timers, &$started, &$finished): void {
        $started++;
        if ($started === $tasks) {
            echo 'alive ', $started - $finished, "\n";
        }
        $timers->sleep($seconds);
        $finished++;
    };

    try {
        for ($i = 0; $i < $tasks; $i++) {
            (new Fiber($task))->start();
        }
    } catch (Exception $e) {
        fprintf(STDERR, "cannot start task %d of %d: %s\n", $started + 1, $tasks, $e->getMessage());
        echo "done $finished\n", 'failed ', $tasks - $started, "\n";
        return 1;
    }
    $timers->run();

    echo "done $finished\n";
    return 0;
}

exit(run(...array_slice($argv, 1))); // int parameters accept numeric strings, and no others
