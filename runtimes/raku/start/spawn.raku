# One start block per operation, awaited for its result.

$*OUT.out-buffer = False; # a line leaves at once

sub MAIN(UInt $tasks where * > 0, UInt $operations where * > 0) {
    say 'ready';
    my $sum = 0;
    for 0, $tasks ...^ * >= $operations -> $first {
        $sum += sum await ($first ..^ ($first + $tasks min $operations)).map: -> $number { start { $number } };
    }
    say "done $operations";
    say "check $sum";
}

sub USAGE() {
    note 'usage: spawn.raku <tasks> <operations>: whole numbers, at least one of each';
    exit 2;
}
