# One start block per place in a ring, each with a channel from which it takes tokens.

$*OUT.out-buffer = False; # a line leaves at once
my atomicint $started = 0;

multi MAIN(UInt $tasks, UInt $operations where * > 0, '--tokens', UInt $tokens where 1 <= * <= $tasks / 2) {
    my $all-started = Promise.new;
    my $noted = Channel.new;
    my @channels = Channel.new xx $tasks;
    for @channels.kv -> $number, $own {
        my $next = @channels[($number + 1) % $tasks];
        start {
            if ++⚛$started == $tasks {
                say "alive $tasks";
                $all-started.keep;
            }
            loop {
                my $hops = await $own; # a token is the number of hops that it has left
                $hops > 0 ?? $next.send($hops - 1) !! $noted.send($number);
            }
        }
    }
    await $all-started;
    say 'ready';
    for ^$tokens -> $token {
        # The first tokens make one hop more, where the operations cannot be shared evenly.
        @channels[$token * $tasks div $tokens].send(($operations + $tokens - 1 - $token) div $tokens);
    }
    my $sum = sum $noted.receive xx $tokens;
    say "done $operations";
    say "check $sum"; # the tasks end with the program
}

multi MAIN(UInt $tasks where * > 1, UInt $operations where * > 0) {
    MAIN($tasks, $operations, '--tokens', 1);
}

sub USAGE() {
    note 'usage: ring.raku <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token';
    exit 2;
}
