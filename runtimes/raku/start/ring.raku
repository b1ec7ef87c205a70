# A ring of start blocks: each receives tokens from its own channel and sends them to the next one's.
# A token is the number of hops that it has left.

$*OUT.out-buffer = False; # flush each line
my atomicint $started = 0;

# Raku takes named arguments before the others only, so `--tokens` comes as a positional one.
sub MAIN(UInt $tasks, UInt $operations, $?, UInt $tokens = 1) {
    my $all-started = Promise.new;
    my $results = Channel.new;
    my @channels = Channel.new xx $tasks;
    for @channels.kv -> $number, $channel {
        my $next-channel = @channels[($number + 1) % $tasks];
        start {
            if ++⚛$started == $tasks {
                say "alive $tasks";
                $all-started.keep;
            }
            loop {
                my $hops = await $channel;
                $hops > 0 ?? $next-channel.send($hops - 1) !! $results.send($number);
            }
        }
    }
    await $all-started;
    say 'ready';
    for ^$tokens -> $token {
        my $hops = $operations div $tokens + ($token < $operations % $tokens);
        @channels[$token * $tasks div $tokens].send($hops);
    }
    my $sum = sum $results.receive xx $tokens;
    say "done $operations";
    say "check $sum"; # the blocks end with the program
}
