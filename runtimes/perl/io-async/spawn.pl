# One async sub of Future::AsyncAwait per operation, on the loop of IO::Async.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;
use List::Util qw(min sum);

my $loop = IO::Async::Loop->new;

async sub task ($number) {
    await $loop->later;    # else it would be a call that returns at once
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

unless (@ARGV == 2 && $ARGV[0] =~ /^0*[1-9]\d*$/ && $ARGV[1] =~ /^0*[1-9]\d*$/) {
    say STDERR 'usage: spawn.pl <tasks> <operations>: whole numbers, at least one of each';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
