// One process per operation, made by fork and waited for; its result comes through a pipe.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tasks, operations;
static pid_t *children;
static int results[2];                  // a pipe, as an exit status has eight bits only

static _Noreturn void task(uint64_t number) {
    _exit(write(results[1], &number, sizeof number) == sizeof number ? 0 : 1);
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value >= 1 && value <= UINT_MAX;
}

// Ends the tasks of this round, because the next one cannot start.
static _Noreturn void give_up(unsigned done, unsigned launched, int error) {
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    while (wait(NULL) > 0) {}
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

    children = calloc(tasks, sizeof *children);
    if (children == NULL || pipe(results) != 0) give_up(0, 0, errno);
    puts("ready");
    fflush(stdout);

    uint64_t sum = 0;
    for (unsigned done = 0; done < operations;) {
        unsigned round = operations - done < tasks ? operations - done : tasks;
        for (unsigned i = 0; i < round; i++) {
            children[i] = fork();
            if (children[i] < 0) give_up(done, i, errno);
            if (children[i] == 0) task(done + i);
        }
        for (unsigned i = 0; i < round; i++) {
            uint64_t number;            // of any task: so few bytes come whole
            if (read(results[0], &number, sizeof number) != sizeof number) give_up(done, round, errno);
            sum += number;
        }
        for (unsigned i = 0; i < round; i++) waitpid(children[i], NULL, 0);
        done += round;
    }

    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);
    return 0;
}
