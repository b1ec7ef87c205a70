// One POSIX thread per task, each holding bytes of its own while it waits.
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tasks, seconds, bytes = 1024, depth = 1;
static atomic_uint started, finished;
static atomic_ullong total;

// Calls itself `calls` deep; there it fills the bytes of the task, waits, and sums them.
static unsigned long long hold(unsigned number, unsigned calls) {
    if (calls > 1) {
        // `volatile` prevents a tail call, which would keep no frame.
        volatile unsigned long long sum = hold(number, calls - 1);
        return sum;
    }
    unsigned char *state = malloc(bytes);
    if (state == NULL) abort();
    for (unsigned k = 0; k < bytes; k++) state[k] = (unsigned char)((number + k) % 251);
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks - atomic_load(&finished));
        fflush(stdout);
    }
    sleep(seconds);
    unsigned long long sum = 0;
    for (unsigned k = 0; k < bytes; k++) sum += state[k];
    free(state);
    return sum;
}

static void *task(void *number) {
    atomic_fetch_add(&total, hold((unsigned)(uintptr_t)number, depth));
    atomic_fetch_add(&finished, 1);
    return NULL;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", atomic_load(&finished), tasks - launched);
    exit(1);
}

static unsigned number(const char *text) {
    unsigned value;
    if (sscanf(text, "%u", &value) != 1) errx(1, "not a number: %s", text);
    return value;
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]");
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--bytes") == 0) bytes = number(argv[i + 1]);
        if (strcmp(argv[i], "--depth") == 0) depth = number(argv[i + 1]);
    }

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    pthread_t *threads = calloc(tasks, sizeof *threads);
    if (threads == NULL) give_up(0, ENOMEM);
    for (unsigned i = 0; i < tasks; i++) {
        int error = pthread_create(&threads[i], &attributes, task, (void *)(uintptr_t)i);
        if (error != 0) give_up(i, error);
    }
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);

    printf("done %u\ncheck %llu\n", atomic_load(&finished), atomic_load(&total));
    return 0;
}
