# One async sub of Future::AsyncAwait per task, on the loop of IO::Async.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my ($started, $finished) = (0, 0);
my $loop = IO::Async::Loop->new;

async sub task ($tasks, $seconds) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    await $loop->delay_future(after => $seconds);
    $finished++;
}

sub main ($tasks, $seconds) {
    Future->needs_all(map { task($tasks, $seconds) } 1 .. $tasks)->get;
    say "done $finished";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^0*[1-9]\d*$/ && $ARGV[1] =~ /^\d+$/) {
    say STDERR 'usage: sleep.pl <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
