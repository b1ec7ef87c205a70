# One start block per node of a tree: a node awaits its ten children and returns their sum.

$*OUT.out-buffer = False; # flush each line

sub node($first, $leaves) {
    return $first if $leaves == 1;
    my $size = $leaves div 10;
    sum await (^10).map: -> $i { start { node($first + $i * $size, $size) } }
}

sub MAIN(UInt $tasks, UInt $operations) {
    say 'ready';
    my $sum = 0;
    for ^($operations div $tasks) {
        $sum += await start { node(0, $tasks) };
    }
    say "done $operations";
    say "check $sum";
}
