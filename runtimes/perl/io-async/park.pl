# One async sub of Future::AsyncAwait per task, each waiting for one message, on the loop of IO::Async.
use v5.36;
use Future::AsyncAwait;
use IO::Async::Loop;

my ($started, $finished) = (0, 0);
my $loop = IO::Async::Loop->new;

async sub task ($tasks, $mailbox) {
    $started++;
    say 'alive ', $started - $finished if $started == $tasks;
    await $mailbox;
    $finished++;
}

sub main ($tasks, $seconds) {
    my $due = $loop->delay_future(after => $seconds);
    my @mailboxes = map { $loop->new_future } 1 .. $tasks;
    my $all = Future->needs_all(map { task($tasks, $_) } @mailboxes);
    $due->get;
    $_->done for @mailboxes;
    $all->get;
    say "done $finished";
}

unless (@ARGV == 2 && $ARGV[0] =~ /^0*[1-9]\d*$/ && $ARGV[1] =~ /^\d+$/) {
    say STDERR 'usage: park.pl <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
$| = 1;    # a line leaves at once
main(@ARGV);
