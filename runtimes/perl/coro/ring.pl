# One thread of Coro per place in a ring, each with a channel of one from which it takes tokens.
use v5.36;
use Coro;
use Coro::Channel;
use Coro::Signal;

my $started = 0;
my $all_started = Coro::Signal->new;
my $noted = Coro::Channel->new;

sub task ($tasks, $number, $own, $next) {
    if (++$started == $tasks) {
        say "alive $tasks";
        $all_started->send;
    }
    while (1) {
        my $hops = $own->get;    # a token is the number of hops that it has left
        $hops > 0 ? $next->put($hops - 1) : $noted->put($number);
    }
}

sub main ($tasks, $operations, $tokens) {
    my @channels = map { Coro::Channel->new(1) } 1 .. $tasks;
    for my $number (0 .. $#channels) {
        async { task(@_) } $tasks, $number, @channels[$number, ($number + 1) % $tasks];
    }
    $all_started->wait;
    say 'ready';
    for my $token (0 .. $tokens - 1) {
        # The first tokens make one hop more, where the operations cannot be shared evenly.
        $channels[int($token * $tasks / $tokens)]->put(int(($operations + $tokens - 1 - $token) / $tokens));
    }
    my $sum = 0;
    $sum += $noted->get for 1 .. $tokens;
    say "done $operations";
    say "check $sum";    # the threads end with the program
}

my ($tasks, $operations, $option, $tokens) = @ARGV == 2 ? (@ARGV, '--tokens', 1) : @ARGV;
my $numbers = grep { defined && /^0*[1-9]\d*$/ } $tasks, $operations, $tokens;
unless ($numbers == 3 && (@ARGV == 2 || @ARGV == 4) && $option eq '--tokens' && $tokens <= $tasks / 2) {
    say STDERR 'usage: ring.pl <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token';
    exit 2;
}
$| = 1;    # a line leaves at once
main($tasks, $operations, $tokens);
