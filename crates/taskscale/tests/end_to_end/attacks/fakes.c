// Programs that print what a right program prints, and make no task: fakes WORKLOAD N SECONDS-OR-OPERATIONS [--NAME VALUE]…
// Two threads, so that `parallel = true` holds.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static uint64_t number(const char *text) {
    if (*text == 0 || strspn(text, "0123456789") != strlen(text) || strlen(text) > 12) {
        fputs("usage: fakes WORKLOAD N SECONDS-OR-OPERATIONS\n", stderr);
        exit(2);
    }
    return strtoull(text, NULL, 10);
}

static void *idle(void *unused) {
    for (;;) pause();
    return unused;
}

static uint64_t value(int argc, char **argv, const char *name, uint64_t otherwise) {
    for (int i = 4; i + 1 < argc; i += 2)
        if (is(argv[i], name)) return number(argv[i + 1]);
    return otherwise;
}

int main(int argc, char **argv) {
    if (argc < 4 || argc % 2 != 0) number("");
    for (int i = 4; i < argc; i += 2)
        if (strncmp(argv[i], "--", 2) != 0) number("");
    const char *what = argv[1];
    uint64_t n = number(argv[2]), m = number(argv[3]), sum = 0;
    if (n == 0) number("");
    pthread_t other;
    pthread_create(&other, NULL, idle, NULL);
    int holds = is(what, "sleep") || is(what, "state") || is(what, "tick") || is(what, "park");
    if (holds) {
        uint64_t bytes = is(what, "state") ? value(argc, argv, "--bytes", 1024) : 0, each = bytes + 256;
        unsigned char *block = malloc(n * each);
        memset(block, 1, n * each);
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t k = 0; k < bytes; k++) sum += block[i * each + k] = (i + k) % 251;
        printf("alive %lu\n", n);
        fflush(stdout);
        sleep(m);
        printf("done %lu\n", n);
        if (is(what, "state")) printf("check %lu\n", sum);
        if (is(what, "tick")) {
            uint64_t ticks = n * m * 1000 / value(argc, argv, "--period-ms", 1000);
            printf("histogram late_us 0 %lu\n", ticks > 0 ? ticks : 1);
        }
        return 0;
    }
    printf("ready\n");
    fflush(stdout);
    volatile uint64_t seen = 0;
    for (uint64_t j = 0; j < m; j++) seen += is(what, "map") ? j & 65535 : is(what, "skynet") ? j % n : j;
    printf("done %lu\n", m);
    sum = seen;
    if (is(what, "map")) sum += 65536 + m;
    if (is(what, "ring")) {
        uint64_t tokens = value(argc, argv, "--tokens", 1);
        sum = 0;
        for (uint64_t t = 0; t < tokens; t++) sum += (t * n / tokens + (m + tokens - 1 - t) / tokens) % n;
    }
    printf("check %lu\n", sum);
    return 0;
}
