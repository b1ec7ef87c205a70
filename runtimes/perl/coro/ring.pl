# A ring of Coro threads: each takes tokens from its own channel and puts them into the next thread's.
# A token is the number of hops that it has left.
use v5.36;
use Coro;
use Coro::Channel;
use Coro::Signal;

my $started = 0;
my $all_started = Coro::Signal->new;
my $results = Coro::Channel->new;

sub task ($tasks, $number, $channel, $next_channel) {
    if (++$started == $tasks) {
        say "alive $tasks";
        $all_started->send;
    }
    while (1) {
        my $hops = $channel->get;
        $hops > 0 ? $next_channel->put($hops - 1) : $results->put($number);
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
        my $hops = int($operations / $tokens) + ($token < $operations % $tokens);
        $channels[int($token * $tasks / $tokens)]->put($hops);
    }
    my $sum = 0;
    $sum += $results->get for 1 .. $tokens;
    say "done $operations";
    say "check $sum";    # the threads end with the program
}

"@ARGV" =~ /^(\d+) (\d+)(?: --tokens (\d+))?$/ or die "usage: ring.pl TASKS OPERATIONS [--tokens TOKENS]\n";
$| = 1;    # flush each line
main($1, $2, $3 // 1);
