# One start block per task, each awaiting a promise of its own.

$*OUT.out-buffer = False; # flush each line
my atomicint $started = 0;
my atomicint $finished = 0;

sub MAIN(UInt $tasks, UInt $seconds) {
    my $timer = Promise.in($seconds);
    my @promises = Promise.new xx $tasks;
    my @running = @promises.map: -> $promise {
        start {
            say "alive { $tasks - ⚛$finished }" if ++⚛$started == $tasks;
            await $promise;
            $finished⚛++;
        }
    };
    await $timer;
    .keep for @promises;
    await @running;
    say "done $finished";
}
