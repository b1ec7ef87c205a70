// One POSIX thread per place in a ring, each handing on the tokens that come through its channel.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Room for one token, which is the number of hops that it has left: a bounded buffer with two semaphores.
struct channel {
    sem_t room, full;
    unsigned token;
};

static unsigned tasks, operations, tokens = 1;
static struct channel *channels;
static bool over;                       // set before the last post to each channel
static atomic_uint started;
static sem_t all_alive, noted;
static atomic_ullong sum;               // of the numbers that were noted

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
    await(&all_alive);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tokens; i++) {
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        put(&channels[(uint64_t)i * tasks / tokens], operations / tokens + (i < operations % tokens));
    }
    for (unsigned i = 0; i < tokens; i++) await(&noted);
    printf("done %u\ncheck %llu\n", operations, atomic_load(&sum));
    fflush(stdout);

    over = true;
    for (unsigned i = 0; i < tasks; i++) sem_post(&channels[i].full);
    for (unsigned i = 0; i < tasks; i++) pthread_join(threads[i], NULL);
    return 0;
}
