// A tree of GNU Pth threads, each joining its ten children.
#include <err.h>
#include <errno.h>
#include <pth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    pth_t thread;
    unsigned first, leaves;
    uint64_t sum;                       // valid once joined
};

static unsigned tasks, operations, done;

static _Noreturn void give_up(int error) {
    fprintf(stderr, "cannot start a tree of %u leaves: %s\n", tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, operations - done);
    exit(1);
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

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1) {
        errx(1, "usage: skynet <tasks> <operations>");
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
