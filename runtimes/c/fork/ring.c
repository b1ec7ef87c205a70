// One process per place in a ring, made by fork, each handing on the tokens that come through its channel.
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// Room for one token, which is the number of hops that it has left: a bounded buffer with two semaphores.
struct channel {
    sem_t room, full;
    unsigned token;
};

// What all processes share.
struct ring {
    atomic_uint started;
    sem_t all_alive, noted;
    atomic_ullong sum;                  // of the numbers that were noted
    struct channel channels[];
};

static unsigned tasks, operations, tokens = 1;
static pid_t *children;
static struct ring *ring;

static void await(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {} // a signal may interrupt it
}

static void put(struct channel *channel, unsigned token) {
    await(&channel->room);
    channel->token = token;
    sem_post(&channel->full);
}

static unsigned take(struct channel *channel) {
    await(&channel->full);
    unsigned token = channel->token;
    sem_post(&channel->room);
    return token;
}

static _Noreturn void task(unsigned number) {
    struct channel *own = &ring->channels[number], *next = &ring->channels[(number + 1) % tasks];
    if (atomic_fetch_add(&ring->started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks);
        fflush(stdout);
        sem_post(&ring->all_alive);
    }
    for (;;) {
        unsigned hops = take(own);
        if (hops > 0) {
            put(next, hops - 1);
        } else {
            atomic_fetch_add(&ring->sum, number);
            sem_post(&ring->noted);
        }
    }
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

static void end(unsigned launched) {
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    while (wait(NULL) > 0) {}
}

static _Noreturn void give_up(unsigned launched, int error) {
    end(launched);
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

    children = calloc(tasks, sizeof *children);
    size_t size = sizeof *ring + tasks * sizeof *ring->channels;
    ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children == NULL || ring == MAP_FAILED) give_up(0, errno);
    sem_init(&ring->all_alive, 1, 0);
    sem_init(&ring->noted, 1, 0);
    for (unsigned i = 0; i < tasks; i++) {
        sem_init(&ring->channels[i].room, 1, 1);
        sem_init(&ring->channels[i].full, 1, 0);
    }
    for (unsigned i = 0; i < tasks; i++) {
        children[i] = fork();
        if (children[i] < 0) give_up(i, errno);
        if (children[i] == 0) task(i);
    }
    await(&ring->all_alive);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tokens; i++) {
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        put(&ring->channels[(uint64_t)i * tasks / tokens], operations / tokens + (i < operations % tokens));
    }
    for (unsigned i = 0; i < tokens; i++) await(&ring->noted);
    printf("done %u\ncheck %llu\n", operations, atomic_load(&ring->sum));
    fflush(stdout);

    end(tasks);
    return 0;
}
