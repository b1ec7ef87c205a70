# One call of an async sub per node of a tree, on an IO::Async loop: a node awaits its ten children.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;
use List::Util qw(sum);

my $loop = IO::Async::Loop->new;

async sub node ($first, $leaves) {
    if ($leaves == 1) {
        await $loop->later;    # suspends the leaf once; without it the call would return at once
        return $first;
    }
    my $size = $leaves / 10;
    my @sums = await Future->needs_all(map { node($first + $_ * $size, $size) } 0 .. 9);
    return sum(@sums);
}

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    $sum += node(0, $tasks)->get for 1 .. $operations / $tasks;
    say "done $operations";
    say "check $sum";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: skynet.pl TASKS OPERATIONS\n";
$| = 1;    # flush each line
main($1, $2);
