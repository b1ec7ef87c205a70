# One thread of Coro per operation, joined for its result.
use v5.36;
use Coro;
use List::Util qw(min);

sub main ($tasks, $operations) {
    say 'ready';
    my $sum = 0;
    for (my $first = 0; $first < $operations; $first += $tasks) {
        my $last = min($first + $tasks, $operations) - 1;
        my @running = map { async { $_[0] } $_ } $first .. $last;
        $sum += $_->join for @running;
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
