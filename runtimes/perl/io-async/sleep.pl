# One call of an async sub per task, on an IO::Async loop.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my ($started, $finished) = (0, 0);
my $loop = IO::Async::Loop->new;

async sub task ($tasks, $seconds) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    await $loop->delay_future(after => $seconds);
    $finished++;
}

sub main ($tasks, $seconds) {
    Future->needs_all(map { task($tasks, $seconds) } 1 .. $tasks)->get;
    say "done $finished";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: sleep.pl TASKS SECONDS\n";
$| = 1;    # flush each line
main($1, $2);
