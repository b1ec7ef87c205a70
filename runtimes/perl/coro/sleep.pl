# One thread of Coro per task.
use v5.36;
use Coro;
use Coro::AnyEvent;

my ($started, $finished) = (0, 0);

sub task ($tasks, $seconds) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    Coro::AnyEvent::sleep $seconds;
    $finished++;
}

sub main ($tasks, $seconds) {
    $_->join for map { async { task($tasks, $seconds) } } 1 .. $tasks;
    say "done $finished";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^0*[1-9]\d*$/ && $ARGV[1] =~ /^\d+$/) {
    say STDERR 'usage: sleep.pl <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
