// One GNU Pth thread per place in a ring, each handing on the tokens that come to its message port.
#include <errno.h>
#include <limits.h>
#include <pth.h>
#include <stdbool.h>
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

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value >= 1 && value <= UINT_MAX;
}

static bool arguments(int argc, char **argv) {
    if (argc != 3 && argc != 5) return false;
    if (argc == 5 && (strcmp(argv[3], "--tokens") != 0 || !parse(argv[4], &tokens))) return false;
    return parse(argv[1], &tasks) && parse(argv[2], &operations) && tokens <= tasks / 2;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done 0\nfailed %u\n", tasks - launched);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    if (!arguments(argc, argv)) {
        fputs("usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, "
              "at most half as many tokens as tasks\n", stderr);
        return 2;
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
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        all[i].hops = operations / tokens + (i < operations % tokens);
        pth_msgport_put(ports[(uint64_t)i * tasks / tokens], &all[i].message);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; i++) sum += take(noted)->hops;
    printf("done %u\ncheck %llu\n", operations, (unsigned long long)sum);

    // The tasks end with the program.
    return 0;
}
