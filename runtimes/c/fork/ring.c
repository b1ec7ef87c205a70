// A ring of processes, each passing tokens from its channel to the next.
#include <err.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// A bounded buffer for one token, which is the number of hops left.
struct channel {
    sem_t room, full;
    unsigned token;
};

// What all processes share.
struct ring {
    atomic_uint started;
    sem_t all_alive, noted;
    atomic_ullong sum;                  // of the numbers of the tasks where tokens ended
    struct channel channels[];
};

static unsigned tasks, operations, tokens = 1;
static pid_t *children;
static struct ring *ring;

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {} // EINTR
}

static void put(struct channel *channel, unsigned token) {
    wait_for(&channel->room);
    channel->token = token;
    sem_post(&channel->full);
}

static unsigned take(struct channel *channel) {
    wait_for(&channel->full);
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

static void end(unsigned launched) {
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    while (wait(NULL) > 0) {}
}

static _Noreturn void give_up(unsigned launched, int error) {
    end(launched);
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done 0\nfailed %u\n", tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1
        || (argc > 4 && sscanf(argv[4], "%u", &tokens) != 1)) {
        errx(1, "usage: ring <tasks> <operations> [--tokens <tokens>]");
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
    wait_for(&ring->all_alive);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tokens; i++) {
        // The first tokens take the remainder.
        put(&ring->channels[(uint64_t)i * tasks / tokens], operations / tokens + (i < operations % tokens));
    }
    for (unsigned i = 0; i < tokens; i++) wait_for(&ring->noted);
    printf("done %u\ncheck %llu\n", operations, atomic_load(&ring->sum));
    fflush(stdout);

    end(tasks);
    return 0;
}
