// One process per node of a tree, made by fork, each waiting for its ten children; sums come through a pipe.
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tasks, operations;

static uint64_t sum_of_children(unsigned count, unsigned first, unsigned leaves, int *error);

// Tells its parent the sum of the numbers of its leaves, which begin with `first`; or, by its exit status, the error.
static _Noreturn void node(unsigned first, unsigned leaves, int parent) {
    int error = 0;
    uint64_t sum = leaves == 1 ? first : sum_of_children(10, first, leaves / 10, &error);
    if (error == 0 && write(parent, &sum, sizeof sum) != sizeof sum) error = errno;
    _exit(error);
}

// Starts children of so many leaves each, and waits for all.
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

    uint64_t sum = 0, of_child;         // of any child: so few bytes come whole
    while (read(results[0], &of_child, sizeof of_child) == sizeof of_child) sum += of_child;
    close(results[0]);
    for (int status; wait(&status) > 0;) {
        if (status != 0) *error = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    }
    return sum;
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value >= 1 && value <= UINT_MAX;
}

static bool is_power_of_ten(unsigned number) {
    while (number % 10 == 0) number /= 10;
    return number == 1;
}

int main(int argc, char **argv) {
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &operations) || !is_power_of_ten(tasks)
        || operations % tasks != 0) {
        fputs("usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, operations a multiple of it\n",
              stderr);
        return 2;
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
