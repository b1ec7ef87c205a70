# One call of an async sub per operation, on an IO::Async loop.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;
use List::Util qw(min sum);

my $loop = IO::Async::Loop->new;

async sub task ($number) {
    await $loop->later;    # suspends the task once; without it the call would return at once
    return $number;
}

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    for (my $first = 0; $first < $operations; $first += $tasks) {
        my $last = min($first + $tasks, $operations) - 1;
        $sum += sum(Future->needs_all(map { task($_) } $first .. $last)->get);
    }
    say "done $operations";
    say "check $sum";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: spawn.pl TASKS OPERATIONS\n";
$| = 1;    # flush each line
main($1, $2);
