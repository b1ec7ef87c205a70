// A ring of GNU Pth threads, each passing tokens from its message port to the next.
#include <err.h>
#include <errno.h>
#include <pth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A token is a message, which is linked into the port's queue as it is.
struct token {
    pth_message_t message;
    unsigned hops;
};

static unsigned tasks, operations, tokens = 1, started;
static pth_msgport_t *ports, noted;

static struct token *take(pth_msgport_t port) {
    pth_message_t *message;
    while ((message = pth_msgport_get(port)) == NULL) {
        pth_event_t arrival = pth_event(PTH_EVENT_MSG, port);
        pth_wait(arrival);
        pth_event_free(arrival, PTH_FREE_THIS);
    }
    return (struct token *)message;
}

static void *task(void *argument) {
    uintptr_t number = (uintptr_t)argument;
    if (++started == tasks) {
        printf("alive %u\n", tasks);
        fflush(stdout);
    }
    for (;;) {
        struct token *token = take(ports[number]);
        if (token->hops > 0) {
            token->hops--;
            pth_msgport_put(ports[(number + 1) % tasks], &token->message);
        } else {
            token->hops = (unsigned)number; // where it ended
            pth_msgport_put(noted, &token->message);
        }
    }
    return NULL;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done 0\nfailed %u\n", tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1
        || (argc > 4 && sscanf(argv[4], "%u", &tokens) != 1)) {
        errx(1, "usage: ring <tasks> <operations> [--tokens <tokens>]");
    }
    if (!pth_init()) give_up(0, errno);

    pth_t *threads = calloc(tasks, sizeof *threads);
    struct token *all = calloc(tokens, sizeof *all);
    ports = calloc(tasks, sizeof *ports);
    noted = pth_msgport_create(NULL);
    if (threads == NULL || all == NULL || ports == NULL || noted == NULL) give_up(0, errno);
    for (unsigned i = 0; i < tasks; i++) {
        ports[i] = pth_msgport_create(NULL);
        if (ports[i] == NULL) give_up(i, errno);
    }
    for (unsigned i = 0; i < tasks; i++) {
        threads[i] = pth_spawn(PTH_ATTR_DEFAULT, task, (void *)(uintptr_t)i);
        if (threads[i] == NULL) give_up(i, errno);
    }
    while (started < tasks) pth_yield(NULL);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tokens; i++) {
        // The first tokens take the remainder.
        all[i].hops = operations / tokens + (i < operations % tokens);
        pth_msgport_put(ports[(uint64_t)i * tasks / tokens], &all[i].message);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; i++) sum += take(noted)->hops;
    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);

    // The tasks end with the program.
    return 0;
}
