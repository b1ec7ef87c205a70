# One Coro thread per operation, joined for its result.
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

"@ARGV" =~ /^(\d+) (\d+)$/ or die "usage: spawn.pl TASKS OPERATIONS\n";
$| = 1;    # flush each line
main($1, $2);
