// One POSIX thread per task, each waiting at a semaphore of its own.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned tasks, seconds;
static atomic_uint started, finished;

static void *task(void *mailbox) {
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks - atomic_load(&finished));
        fflush(stdout);
    }
    while (sem_wait(mailbox) != 0) {}   // a signal may interrupt it
    atomic_fetch_add(&finished, 1);
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
    printf("done %u\nfailed %u\n", atomic_load(&finished), tasks - launched);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &seconds) || tasks == 0) {
        fputs("usage: park <tasks> <seconds>: whole numbers, at least one task\n", stderr);
        return 2;
    }
    due.tv_sec += seconds;

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    pthread_t *threads = calloc(tasks, sizeof *threads);
    sem_t *mailboxes = calloc(tasks, sizeof *mailboxes);
    if (threads == NULL || mailboxes == NULL) give_up(0, ENOMEM);
    for (unsigned i = 0; i < tasks; i++) {
        sem_init(&mailboxes[i], 0, 0);
        int error = pthread_create(&threads[i], &attributes, task, &mailboxes[i]);
        if (error != 0) give_up(i, error);
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {}
    for (unsigned i = 0; i < tasks; i++) sem_post(&mailboxes[i]);
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);

    printf("done %u\n", atomic_load(&finished));
    return 0;
}
