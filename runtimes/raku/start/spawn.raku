# One start block per operation, awaited for its result.

$*OUT.out-buffer = False; # flush each line

sub MAIN(UInt $tasks, UInt $operations) {
    say 'ready';
    my $sum = 0;
    for 0, $tasks ...^ * >= $operations -> $first {
        $sum += sum await ($first ..^ ($first + $tasks min $operations)).map: -> $number { start { $number } };
    }
    say "done $operations";
    say "check $sum";
}
