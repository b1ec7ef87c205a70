// One GNU Pth thread per operation, made and joined for its result.
#include <errno.h>
#include <limits.h>
#include <pth.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tasks, operations;

// The number fits into the pointer that a thread is given, and into the one that it returns.
static void *task(void *number) {
    return number;
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value >= 1 && value <= UINT_MAX;
}

static _Noreturn void give_up(unsigned done, int error) {
    fprintf(stderr, "cannot start %u tasks at once: %s\n", tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, operations - done);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &operations)) {
        fputs("usage: spawn <tasks> <operations>: whole numbers, at least one of each\n", stderr);
        return 2;
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
