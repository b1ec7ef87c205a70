// One GNU Pth thread per task, each waiting for a message at a port of its own.
#include <errno.h>
#include <limits.h>
#include <pth.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One thread of the system runs all tasks, so plain numbers do.
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

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value <= UINT_MAX;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", finished, tasks - launched);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &seconds) || tasks == 0) {
        fputs("usage: park <tasks> <seconds>: whole numbers, at least one task\n", stderr);
        return 2;
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
