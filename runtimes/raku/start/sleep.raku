# One start block per task, which awaits a timer.

$*OUT.out-buffer = False; # flush each line
my atomicint $started = 0;
my atomicint $finished = 0;

sub MAIN(UInt $tasks, UInt $seconds) {
    await (^$tasks).map: {
        start {
            say "alive { $tasks - ⚛$finished }" if ++⚛$started == $tasks;
            await Promise.in($seconds);
            $finished⚛++;
        }
    };
    say "done $finished";
}
