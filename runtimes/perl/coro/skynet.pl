# One Coro thread per node of a tree: a node joins its ten children and returns their sum.
use v5.36;
use Coro;
use List::Util qw(sum);

sub node ($first, $leaves) {
    return $first if $leaves == 1;
    my $size = $leaves / 10;
    my @children = map { async { node(@_) } $first + $_ * $size, $size } 0 .. 9;
    return sum(map { $_->join } @children);
}

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    $sum += (async { node(0, $tasks) })->join for 1 .. $operations / $tasks;
    say "done $operations";
    say "check $sum";
}

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: skynet.pl TASKS OPERATIONS\n";
$| = 1;    # flush each line
main($1, $2);
