# One call of an async sub per task, each awaiting a future of its own, on an IO::Async loop.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my ($started, $finished) = (0, 0);
my $loop = IO::Async::Loop->new;

async sub task ($tasks, $future) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    await $future;
    $finished++;
}

sub main ($tasks, $seconds) {
    my $timer = $loop->delay_future(after => $seconds);
    my @futures = map { $loop->new_future } 1 .. $tasks;
    my $all = Future->needs_all(map { task($tasks, $_) } @futures);
    $timer->get;
    $_->done for @futures;
    $all->get;
    say "done $finished";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: park.pl TASKS SECONDS\n";
$| = 1;    # flush each line
main($1, $2);
