# One thread of Coro per node of a tree, joined by its parent for its sum.
use v5.36;
use Coro;
use List::Util qw(sum);

# The sum of so many leaves from a number on.
sub node ($first, $leaves) {
    return $first if $leaves == 1;
    my $share = $leaves / 10;
    my @children = map { async { node(@_) } $first + $_ * $share, $share } 0 .. 9;
    return sum(map { $_->join } @children);
}

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    $sum += (async { node(0, $tasks) })->join for 1 .. $operations / $tasks;
    say "done $operations";
    say "check $sum";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^10*$/ && $ARGV[1] =~ /^0*[1-9]\d*$/ && $ARGV[1] % $ARGV[0] == 0) {
    say STDERR 'usage: skynet.pl <tasks> <operations>: tasks a power of ten, operations a multiple of them';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
