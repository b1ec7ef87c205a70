# One async sub of Future::AsyncAwait per place in a ring, each with a channel of one from which it takes tokens, on the
# loop of IO::Async.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my $started = 0;
my $loop = IO::Async::Loop->new;
my $all_started = $loop->new_future;

# A channel holds one message.
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

# In a turn of the loop of its own, as done calls those that wait at once, and they would call the next.
sub changed ($channel) {
    my $change = delete $channel->{change} or return;
    $loop->later(sub { $change->done });
}

async sub task ($tasks, $number, $own, $next, $noted) {
    if (++$started == $tasks) {
        say "alive $tasks";
        $all_started->done;
    }
    while (1) {
        my $hops = await take($own);    # a token is the number of hops that it has left
        await($hops > 0 ? put($next, $hops - 1) : put($noted, $number));
    }
}

async sub run ($tasks, $operations, $tokens) {
    my @channels = map { {} } 1 .. $tasks;
    my $noted = {};
    my @running = map { task($tasks, $_, @channels[$_, ($_ + 1) % $tasks], $noted) } 0 .. $#channels;
    await $all_started;
    say 'ready';
    for my $token (0 .. $tokens - 1) {
        # The first tokens make one hop more, where the operations cannot be shared evenly.
        await put($channels[int($token * $tasks / $tokens)], int(($operations + $tokens - 1 - $token) / $tokens));
    }
    my $sum = 0;
    for my $token (1 .. $tokens) { $sum += await take($noted) }
    say "done $operations";
    say "check $sum";
    $_->cancel for @running;
}

my ($tasks, $operations, $option, $tokens) = @ARGV == 2 ? (@ARGV, '--tokens', 1) : @ARGV;
my $numbers = grep { defined && /^0*[1-9]\d*$/ } $tasks, $operations, $tokens;
unless ($numbers == 3 && (@ARGV == 2 || @ARGV == 4) && $option eq '--tokens' && $tokens <= $tasks / 2) {
    say STDERR 'usage: ring.pl <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token';
    exit 2;
}
$| = 1;    # a line leaves at once
run($tasks, $operations, $tokens)->get;
