// One GNU Pth thread per task, each waiting for a message at its own port.
#include <err.h>
#include <errno.h>
#include <pth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One OS thread runs all tasks, so plain integers suffice.
static unsigned tasks, seconds, started, finished;

static void *task(void *mailbox) {
    if (++started == tasks) {
        printf("alive %u\n", tasks - finished);
        fflush(stdout);
    }
    pth_event_t message = pth_event(PTH_EVENT_MSG, mailbox);
    pth_wait(message);
    pth_event_free(message, PTH_FREE_THIS);
    pth_msgport_get(mailbox);
    finished++;
    return NULL;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", finished, tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: park <tasks> <seconds>");
    }
    if (!pth_init()) give_up(0, errno);
    pth_time_t due = pth_timeout(seconds, 0);

    pth_t *threads = calloc(tasks, sizeof *threads);
    pth_msgport_t *mailboxes = calloc(tasks, sizeof *mailboxes);
    pth_message_t *messages = calloc(tasks, sizeof *messages);
    if (threads == NULL || mailboxes == NULL || messages == NULL) give_up(0, errno);
    for (unsigned i = 0; i < tasks; i++) {
        mailboxes[i] = pth_msgport_create(NULL);
        if (mailboxes[i] == NULL) give_up(i, errno);
        threads[i] = pth_spawn(PTH_ATTR_DEFAULT, task, mailboxes[i]);
        if (threads[i] == NULL) give_up(i, errno);
    }
    pth_event_t time = pth_event(PTH_EVENT_TIME, due);
    pth_wait(time);
    pth_event_free(time, PTH_FREE_THIS);
    for (unsigned i = 0; i < tasks; i++) pth_msgport_put(mailboxes[i], &messages[i]);
    for (unsigned i = 0; i < tasks; i++) pth_join(threads[i], NULL);

    printf("done %u\n", finished);
    return 0;
}
