# One thread of Coro per task, each waiting for one message.
use v5.36;
use Coro;
use Coro::AnyEvent;
use Coro::Signal;
use List::Util qw(max);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

my ($started, $finished) = (0, 0);

sub task ($tasks, $mailbox) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    $mailbox->wait;
    $finished++;
}

sub main ($tasks, $seconds) {
    my $due = clock_gettime(CLOCK_MONOTONIC) + $seconds;
    my @mailboxes = map { Coro::Signal->new } 1 .. $tasks;
    my @running = map { async { task($tasks, $_[0]) } $_ } @mailboxes;
    Coro::AnyEvent::sleep max(0, $due - clock_gettime(CLOCK_MONOTONIC));
    $_->send for @mailboxes;
    $_->join for @running;
    say "done $finished";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^0*[1-9]\d*$/ && $ARGV[1] =~ /^\d+$/) {
    say STDERR 'usage: park.pl <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
