<?php
// One fiber per node of a tree, which awaits its ten children and returns their sum.

require __DIR__ . '/scheduler.php';

function node(int $first, int $leaves): int
{
    if ($leaves === 1) {
        return $first;
    }
    $size = intdiv($leaves, 10);
    $children = [];
    for ($i = 0; $i < 10; $i++) {
        $children[] = async(fn () => node($first + $i * $size, $size));
    }
    $sum = 0;
    foreach ($children as $child) {
        $sum += $child->await();
    }
    return $sum;
}

function run(int $tasks, int $operations): int
{
    echo "ready\n";
    $sum = $done = 0;
    try {
        Scheduler::run(function () use ($tasks, $operations, &$sum, &$done): void {
            for (; $done < $operations; $done += $tasks) {
                $sum += async(fn () => node(0, $tasks))->await();
            }
        });
    } catch (Exception $e) {
        fprintf(STDERR, "cannot start a tree of %d leaves: %s\n", $tasks, $e->getMessage());
        echo "done $done\n", 'failed ', $operations - $done, "\n";
        return 1;
    }
    echo "done $operations\n", "check $sum\n";
    return 0;
}

exit(run(...array_slice($argv, 1))); // int parameters accept numeric strings, and no others
