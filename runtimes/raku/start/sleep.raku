# One start block per task, which awaits a timer.

$*OUT.out-buffer = False; # a line leaves at once
my atomicint $started = 0;
my atomicint $finished = 0;

sub MAIN(UInt $tasks where * > 0, UInt $seconds) {
    await (^$tasks).map: {
        start {
            say "alive { $tasks - ⚛$finished }" if ++⚛$started == $tasks;
            await Promise.in($seconds);
            $finished⚛++;
        }
    };
    say "done $finished";
}

sub USAGE() {
    note 'usage: sleep.raku <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
