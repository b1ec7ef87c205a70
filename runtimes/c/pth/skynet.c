// One GNU Pth thread per node of a tree, each joining its ten children.
#include <errno.h>
#include <limits.h>
#include <pth.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    pth_t thread;
    unsigned first, leaves;
    uint64_t sum;                       // of the numbers of its leaves, when it has been joined
};

static unsigned tasks, operations, done;

static _Noreturn void give_up(int error) {
    fprintf(stderr, "cannot start a tree of %u leaves: %s\n", tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, operations - done);
    fflush(stdout);
    _exit(1);
}

static void *run(void *argument);

static void start(struct node *node, unsigned first, unsigned leaves) {
    node->first = first;
    node->leaves = leaves;
    node->thread = pth_spawn(PTH_ATTR_DEFAULT, run, node);
    if (node->thread == NULL) give_up(errno);
}

static void *run(void *argument) {
    struct node *node = argument;
    if (node->leaves == 1) {
        node->sum = node->first;
        return NULL;
    }
    struct node children[10];
    unsigned share = node->leaves / 10;
    for (unsigned i = 0; i < 10; i++) start(&children[i], node->first + i * share, share);
    node->sum = 0;
    for (unsigned i = 0; i < 10; i++) {
        pth_join(children[i].thread, NULL);
        node->sum += children[i].sum;
    }
    return NULL;
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
    if (!pth_init()) give_up(errno);
    puts("ready");
    fflush(stdout);

    uint64_t sum = 0;
    for (; done < operations; done += tasks) {
        struct node root;
        start(&root, 0, tasks);
        pth_join(root.thread, NULL);
        sum += root.sum;
    }

    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);
    return 0;
}
