<?php
// One fiber per operation, awaited for its result.

require __DIR__ . '/scheduler.php';

function run(int $tasks, int $operations): int
{
    echo "ready\n";
    $sum = $done = 0;
    try {
        Scheduler::run(function () use ($tasks, $operations, &$sum, &$done): void {
            while ($done < $operations) {
                $end = min($done + $tasks, $operations);
                $results = [];
                for ($number = $done; $number < $end; $number++) {
                    $results[] = async(fn () => $number);
                }
                foreach ($results as $result) {
                    $sum += $result->await();
                }
                $done = $end;
            }
        });
    } catch (Exception $e) {
        fprintf(STDERR, "cannot start %d tasks at once: %s\n", $tasks, $e->getMessage());
        echo "done $done\n", 'failed ', $operations - $done, "\n";
        return 1;
    }
    echo "done $operations\n", "check $sum\n";
    return 0;
}

exit(run(...array_slice($argv, 1))); // int parameters accept numeric strings, and no others
