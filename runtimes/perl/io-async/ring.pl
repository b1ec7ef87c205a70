# A ring of async subs on an IO::Async loop: each takes tokens from its own channel and puts them into the next one's.
# A token is the number of hops that it has left.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my $started = 0;
my $loop = IO::Async::Loop->new;
my $all_started = $loop->new_future;

# A channel holds one message. Its future `change` completes when the channel is filled or emptied.
async sub put ($channel, $message) {
    await change($channel) while defined $channel->{message};
    $channel->{message} = $message;
    changed($channel);
}

async sub take ($channel) {
    await change($channel) until defined $channel->{message};
    my $message = delete $channel->{message};
    changed($channel);
    return $message;
}

sub change ($channel) { $channel->{change} //= $loop->new_future }

# Completes the future from the loop: `done` resumes waiting subs at once, and their calls would nest along the ring.
sub changed ($channel) {
    my $change = delete $channel->{change} or return;
    $loop->later(sub { $change->done });
}

async sub task ($tasks, $number, $channel, $next_channel, $results) {
    if (++$started == $tasks) {
        say "alive $tasks";
        $all_started->done;
    }
    while (1) {
        my $hops = await take($channel);
        await($hops > 0 ? put($next_channel, $hops - 1) : put($results, $number));
    }
}

async sub run ($tasks, $operations, $tokens) {
    my @channels = map { {} } 1 .. $tasks;
    my $results = {};
    my @running = map { task($tasks, $_, @channels[$_, ($_ + 1) % $tasks], $results) } 0 .. $#channels;
    await $all_started;
    say 'ready';
    for my $token (0 .. $tokens - 1) {
        my $hops = int($operations / $tokens) + ($token < $operations % $tokens);
        await put($channels[int($token * $tasks / $tokens)], $hops);
    }
    my $sum = 0;
    for my $token (1 .. $tokens) { $sum += await take($results) }
    say "done $operations";
    say "check $sum";
    $_->cancel for @running;
}

"@ARGV" =~ /^(\d+) (\d+)(?: --tokens (\d+))?$/ or die "usage: ring.pl TASKS OPERATIONS [--tokens TOKENS]\n";
$| = 1;    # flush each line
run($1, $2, $3 // 1)->get;
