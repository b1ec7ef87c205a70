// A tree of processes, each waiting for its ten children; sums come through a pipe.
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tasks, operations;

static uint64_t sum_of_children(unsigned count, unsigned first, unsigned leaves, int *error);

// Sends first + ... + (first + leaves - 1) to its parent, or exits with an errno.
static _Noreturn void node(unsigned first, unsigned leaves, int parent) {
    int error = 0;
    uint64_t sum = leaves == 1 ? first : sum_of_children(10, first, leaves / 10, &error);
    if (error == 0 && write(parent, &sum, sizeof sum) != sizeof sum) error = errno;
    _exit(error);
}

// Starts `count` children of `leaves` leaves each, and returns the sum of their results.
static uint64_t sum_of_children(unsigned count, unsigned first, unsigned leaves, int *error) {
    int results[2];
    if (pipe(results) != 0) {
        *error = errno;
        return 0;
    }
    unsigned started = 0;
    for (; started < count; started++) {
        pid_t child = fork();
        if (child < 0) {
            *error = errno;
            break;
        }
        if (child == 0) {
            close(results[0]);
            node(first + started * leaves, leaves, results[1]);
        }
    }
    close(results[1]);

    uint64_t sum = 0, of_child;         // of any child: short writes to a pipe are atomic
    while (read(results[0], &of_child, sizeof of_child) == sizeof of_child) sum += of_child;
    close(results[0]);
    for (int status; wait(&status) > 0;) {
        if (status != 0) *error = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1) {
        errx(1, "usage: skynet <tasks> <operations>");
    }
    puts("ready");
    fflush(stdout);

    uint64_t sum = 0;
    for (unsigned done = 0; done < operations; done += tasks) {
        int error = 0;
        sum += sum_of_children(1, 0, tasks, &error);
        if (error != 0) {
            fprintf(stderr, "cannot start a tree of %u leaves: %s\n", tasks, strerror(error));
            printf("done %u\nfailed %u\n", done, operations - done);
            return 1;
        }
    }

    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);
    return 0;
}
