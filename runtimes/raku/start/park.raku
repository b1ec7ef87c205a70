# One start block per task, each of which awaits one message.

$*OUT.out-buffer = False; # a line leaves at once
my atomicint $started = 0;
my atomicint $finished = 0;

sub MAIN(UInt $tasks where * > 0, UInt $seconds) {
    my $due = Promise.in($seconds);
    my @mailboxes = Promise.new xx $tasks;
    my @running = @mailboxes.map: -> $mailbox {
        start {
            say "alive { $tasks - ⚛$finished }" if ++⚛$started == $tasks;
            await $mailbox;
            $finished⚛++;
        }
    };
    await $due;
    .keep for @mailboxes;
    await @running;
    say "done $finished";
}

sub USAGE() {
    note 'usage: park.raku <tasks> <seconds>: whole numbers, at least one task';
    exit 2;
}
