# One Coro thread per task, each waiting for a signal of its own.
use v5.36;
use Coro;
use Coro::AnyEvent;
use Coro::Signal;
use List::Util qw(max);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

my ($started, $finished) = (0, 0);

sub task ($tasks, $signal) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    $signal->wait;
    $finished++;
}

sub main ($tasks, $seconds) {
    my $wake_at = clock_gettime(CLOCK_MONOTONIC) + $seconds;
    my @signals = map { Coro::Signal->new } 1 .. $tasks;
    my @running = map { async { task($tasks, $_[0]) } $_ } @signals;
    Coro::AnyEvent::sleep max(0, $wake_at - clock_gettime(CLOCK_MONOTONIC));
    $_->send for @signals;
    $_->join for @running;
    say "done $finished";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: park.pl TASKS SECONDS\n";
$| = 1;    # flush each line
main($1, $2);
