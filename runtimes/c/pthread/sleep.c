// One POSIX thread per task.
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tasks, seconds;
static atomic_uint started, finished;

static void *task(void *unused) {
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks - atomic_load(&finished));
        fflush(stdout);
    }
    sleep(seconds);
    atomic_fetch_add(&finished, 1);
    return unused;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", atomic_load(&finished), tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: sleep <tasks> <seconds>");
    }

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    pthread_t *threads = calloc(tasks, sizeof *threads);
    if (threads == NULL) give_up(0, ENOMEM);
    for (unsigned i = 0; i < tasks; i++) {
        int error = pthread_create(&threads[i], &attributes, task, NULL);
        if (error != 0) give_up(i, error);
    }
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);

    printf("done %u\n", atomic_load(&finished));
    return 0;
}
