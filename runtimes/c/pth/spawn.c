// One GNU Pth thread per operation, created and joined for its result.
#include <err.h>
#include <errno.h>
#include <pth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tasks, operations;

// The number travels in the pointers of argument and result.
static void *task(void *number) {
    return number;
}

static _Noreturn void give_up(unsigned done, int error) {
    fprintf(stderr, "cannot start %u tasks at once: %s\n", tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, operations - done);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1) {
        errx(1, "usage: spawn <tasks> <operations>");
    }
    if (tasks > operations) tasks = operations;
    if (!pth_init()) give_up(0, errno);

    pth_t *threads = calloc(tasks, sizeof *threads);
    if (threads == NULL) give_up(0, errno);
    puts("ready");
    fflush(stdout);

    uint64_t sum = 0;
    for (unsigned done = 0; done < operations;) {
        unsigned round = operations - done < tasks ? operations - done : tasks;
        for (unsigned i = 0; i < round; i++) {
            threads[i] = pth_spawn(PTH_ATTR_DEFAULT, task, (void *)(uintptr_t)(done + i));
            if (threads[i] == NULL) give_up(done, errno);
        }
        for (unsigned i = 0; i < round; i++) {
            void *result;
            pth_join(threads[i], &result);
            sum += (uintptr_t)result;
        }
        done += round;
    }

    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);
    return 0;
}
