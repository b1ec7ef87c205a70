// A ring of POSIX threads, each passing tokens from its channel to the next.
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A bounded buffer for one token, which is the number of hops left.
struct channel {
    sem_t room, full;
    unsigned token;
};

static unsigned tasks, operations, tokens = 1;
static struct channel *channels;
static bool over;                       // set before the last post to each channel
static atomic_uint started;
static sem_t all_alive, noted;
static atomic_ullong sum;               // of the numbers of the tasks where tokens ended

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

static void *task(void *channel) {
    struct channel *own = channel;
    unsigned number = (unsigned)(own - channels);
    struct channel *next = &channels[(number + 1) % tasks];
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks);
        fflush(stdout);
        sem_post(&all_alive);
    }
    for (;;) {
        unsigned hops = take(own);
        if (over) return NULL;
        if (hops > 0) {
            put(next, hops - 1);
        } else {
            atomic_fetch_add(&sum, number);
            sem_post(&noted);
        }
    }
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

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    sem_init(&all_alive, 0, 0);
    sem_init(&noted, 0, 0);
    pthread_t *threads = calloc(tasks, sizeof *threads);
    channels = calloc(tasks, sizeof *channels);
    if (threads == NULL || channels == NULL) give_up(0, ENOMEM);
    for (unsigned i = 0; i < tasks; i++) {
        sem_init(&channels[i].room, 0, 1);
        sem_init(&channels[i].full, 0, 0);
    }
    for (unsigned i = 0; i < tasks; i++) {
        int error = pthread_create(&threads[i], &attributes, task, &channels[i]);
        if (error != 0) give_up(i, error);
    }
    wait_for(&all_alive);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tokens; i++) {
        // The first tokens take the remainder.
        put(&channels[(uint64_t)i * tasks / tokens], operations / tokens + (i < operations % tokens));
    }
    for (unsigned i = 0; i < tokens; i++) wait_for(&noted);
    printf("done %u\ncheck %llu\n", operations, atomic_load(&sum));
    fflush(stdout);

    over = true;
    for (unsigned i = 0; i < tasks; i++) sem_post(&channels[i].full);
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);
    return 0;
}
