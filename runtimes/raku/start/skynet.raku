# One start block per node of a tree, which awaits its ten children for their sums.

$*OUT.out-buffer = False; # a line leaves at once

# The sum of so many leaves from a number on.
sub node($first, $leaves) {
    return $first if $leaves == 1;
    my $share = $leaves div 10;
    sum await (^10).map: -> $i { start { node($first + $i * $share, $share) } }
}

sub MAIN(Str() $tasks where /^ 10* $/, UInt $operations where { $_ > 0 && $_ %% $tasks }) {
    say 'ready';
    my $sum = 0;
    for ^($operations div $tasks) {
        $sum += await start { node(0, +$tasks) };
    }
    say "done $operations";
    say "check $sum";
}

sub USAGE() {
    note 'usage: skynet.raku <tasks> <operations>: tasks a power of ten, operations a multiple of them';
    exit 2;
}
