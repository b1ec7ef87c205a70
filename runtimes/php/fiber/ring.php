<?php
// A ring of fibers: each receives tokens from its own channel and sends them to the next fiber's.
// A token is the number of hops that it has left.

require __DIR__ . '/scheduler.php';

/** Holds one message. One fiber receives, and one at a time may wait to send. */
final class Channel
{
    private ?int $message = null;
    private ?Fiber $sender = null;
    private ?Fiber $receiver = null;

    public function send(int $message): void
    {
        while ($this->message !== null) {
            $this->sender = Fiber::getCurrent();
            Fiber::suspend();
        }
        $this->message = $message;
        self::wake($this->receiver);
    }

    public function receive(): int
    {
        while ($this->message === null) {
            $this->receiver = Fiber::getCurrent();
            Fiber::suspend();
        }
        $message = $this->message;
        $this->message = null;
        self::wake($this->sender);
        return $message;
    }

    private static function wake(?Fiber &$waiting): void
    {
        if ($waiting !== null) {
            Scheduler::wake($waiting);
            $waiting = null;
        }
    }
}

function run(int $tasks, int $operations, int $tokens): int
{
    $started = $sum = 0;
    $task = function (int $number, Channel $channel, Channel $next) use ($tasks, &$started, &$sum): void {
        $started++;
        if ($started === $tasks) {
            echo "alive $started\n";
        }
        while (true) {
            $hops = $channel->receive();
            if ($hops > 0) {
                $next->send($hops - 1);
            } else {
                $sum += $number;
            }
        }
    };

    try {
        Scheduler::run(function () use ($tasks, $operations, $tokens, $task): void {
            $channels = [];
            for ($i = 0; $i < $tasks; $i++) {
                $channels[] = new Channel();
            }
            foreach ($channels as $i => $channel) {
                (new Fiber($task))->start($i, $channel, $channels[($i + 1) % $tasks]);
            }
            echo "ready\n";
            for ($token = 0; $token < $tokens; $token++) {
                $hops = intdiv($operations, $tokens) + ($token < $operations % $tokens ? 1 : 0);
                $channels[intdiv($token * $tasks, $tokens)]->send($hops);
            }
        });
    } catch (Exception $e) {
        fprintf(STDERR, "cannot start task %d of %d: %s\n", $started + 1, $tasks, $e->getMessage());
        echo 'failed ', $tasks - $started, "\n";
        return 1;
    }

    echo "done $operations\n", "check $sum\n"; // all fibers wait, as all tokens have made their hops
    return 0;
}

exit(run(...array_slice($argv, 1, 2), tokens: $argv[4] ?? 1)); // after --tokens
