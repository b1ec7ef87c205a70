# One Coro thread per task.
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

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: sleep.pl TASKS SECONDS\n";
$| = 1;    # flush each line
main($1, $2);
