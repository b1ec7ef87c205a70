<?php
// Runs fibers in one thread. PHP has fibers but no event loop: this is the core of one, as Revolt has underneath.

final class Scheduler
{
    private static SplQueue $ready;
    private static SplPriorityQueue $sleeping;

    /** Runs a fiber, and those that it starts, until none of them can go on. */
    public static function run(Closure $main): void
    {
        self::$ready = new SplQueue();
        self::$sleeping = new SplPriorityQueue();
        self::$sleeping->setExtractFlags(SplPriorityQueue::EXTR_BOTH);
        (new Fiber($main))->start();
        while (true) {
            if (!self::$ready->isEmpty()) {
                $fiber = self::$ready->dequeue();
                $fiber->isStarted() ? $fiber->resume() : $fiber->start();
            } elseif (!self::$sleeping->isEmpty()) {
                self::resumeEarliest();
            } else {
                return;
            }
        }
    }

    /** Queues a new or suspended fiber. */
    public static function wake(Fiber $fiber): void
    {
        self::$ready->enqueue($fiber);
    }

    /** Suspends the current fiber until a time of hrtime, in nanoseconds. */
    public static function sleepUntil(int $due): void
    {
        self::$sleeping->insert(Fiber::getCurrent(), -$due);
        Fiber::suspend();
    }

    private static function resumeEarliest(): void
    {
        ['data' => $fiber, 'priority' => $due] = self::$sleeping->extract();
        $left = -$due - hrtime(true);
        if ($left > 0) {
            time_nanosleep(intdiv($left, 1_000_000_000), $left % 1_000_000_000);
        }
        $fiber->resume();
    }
}

/** The result of a fiber, or a message to one. One fiber awaits it. */
final class Future
{
    private bool $complete = false;
    private mixed $value = null;
    private ?Fiber $waiting = null;

    public function complete(mixed $value = null): void
    {
        $this->complete = true;
        $this->value = $value;
        if ($this->waiting !== null) {
            Scheduler::wake($this->waiting);
        }
    }

    public function await(): mixed
    {
        if (!$this->complete) {
            $this->waiting = Fiber::getCurrent();
            Fiber::suspend();
        }
        return $this->value;
    }
}

/** Queues a new fiber, and returns the future of its result. */
function async(Closure $task): Future
{
    $result = new Future();
    Scheduler::wake(new Fiber(fn () => $result->complete($task())));
    return $result;
}
