# One async sub of Future::AsyncAwait per node of a tree, on the loop of IO::Async.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;
use List::Util qw(sum);

my $loop = IO::Async::Loop->new;

# The sum of so many leaves from a number on.
async sub node ($first, $leaves) {
    if ($leaves == 1) {
        await $loop->later;    # else it would be a call that returns at once
        return $first;
    }
    my $share = $leaves / 10;
    my @sums = await Future->needs_all(map { node($first + $_ * $share, $share) } 0 .. 9);
    return sum(@sums);
}

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    $sum += node(0, $tasks)->get for 1 .. $operations / $tasks;
    say "done $operations";
    say "check $sum";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^10*$/ && $ARGV[1] =~ /^0*[1-9]\d*$/ && $ARGV[1] % $ARGV[0] == 0) {
    say STDERR 'usage: skynet.pl <tasks> <operations>: tasks a power of ten, operations a multiple of them';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
