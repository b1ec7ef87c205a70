// One process per operation, made by fork and waited for; its result comes through a pipe.
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tasks, operations;
static pid_t *children;
static int results[2];                  // a pipe: an exit status has eight bits

static _Noreturn void task(uint64_t number) {
    _exit(write(results[1], &number, sizeof number) == sizeof number ? 0 : 1);
}

// Kills the tasks of this round, because the next one cannot start.
static _Noreturn void give_up(unsigned done, unsigned launched, int error) {
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    while (wait(NULL) > 0) {}
    fprintf(stderr, "cannot start %u tasks at once: %s\n", tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, operations - done);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1) {
        errx(1, "usage: spawn <tasks> <operations>");
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
            uint64_t number;            // of any task: short writes to a pipe are atomic
            if (read(results[0], &number, sizeof number) != sizeof number) give_up(done, round, errno);
            sum += number;
        }
        for (unsigned i = 0; i < round; i++) waitpid(children[i], NULL, 0);
        done += round;
    }

    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);
    return 0;
}
