// One POSIX thread per task. Put your way of running tasks in its place.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Shared by all tasks: the proof must add nothing to what a task holds.
static unsigned tasks, seconds;
static atomic_uint started, finished;

static void *task(void *unused) {
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        // The last to start says how many are alive. Without fflush the line would come at exit.
        printf("alive %u\n", tasks - atomic_load(&finished));
        fflush(stdout);
    }
    sleep(seconds);
    atomic_fetch_add(&finished, 1);
    return unused;
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value <= UINT_MAX;
}

int main(int argc, char **argv) {
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &seconds) || tasks == 0) {
        fputs("usage: sleep <tasks> <seconds>: whole numbers, at least one task\n", stderr);
        return 2;
    }

    pthread_t *threads = calloc(tasks, sizeof *threads);
    if (threads == NULL) abort();
    for (unsigned i = 0; i < tasks; i++) {
        int error = pthread_create(&threads[i], NULL, task, NULL);
        if (error != 0) {   // the system refuses: say so, and how many never started
            fprintf(stderr, "cannot start task %u of %u: %s\n", i + 1, tasks, strerror(error));
            printf("done %u\nfailed %u\n", atomic_load(&finished), tasks - i);
            fflush(stdout);
            _exit(1);
        }
    }
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);

    printf("done %u\n", atomic_load(&finished));
    return 0;
}
