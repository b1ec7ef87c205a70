// One GNU Pth thread per task: a stack of its own, switched by the library in one OS thread.
#include <err.h>
#include <errno.h>
#include <pth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One OS thread runs all tasks, so plain integers suffice.
static unsigned tasks, seconds, started, finished;

static void *task(void *unused) {
    if (++started == tasks) {
        printf("alive %u\n", tasks - finished);
        fflush(stdout);
    }
    if (seconds > 0) pth_sleep(seconds); // pth_sleep(0) fails
    finished++;
    return unused;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", finished, tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: sleep <tasks> <seconds>");
    }
    if (!pth_init()) give_up(0, errno);

    pth_t *threads = calloc(tasks, sizeof *threads);
    if (threads == NULL) give_up(0, errno);
    for (unsigned i = 0; i < tasks; i++) {
        threads[i] = pth_spawn(PTH_ATTR_DEFAULT, task, NULL);
        if (threads[i] == NULL) give_up(i, errno);
    }
    for (unsigned i = 0; i < tasks; i++) pth_join(threads[i], NULL);

    printf("done %u\n", finished);
    return 0;
}
