// One POSIX thread per task, all working on one map. C has none: this is a hash table with a mutex.
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILLED = 65536 };

struct entry {
    uint32_t key, value;
    bool used;
};

struct share {
    uint32_t first, end;                // operations
    uint64_t sum;                       // of the values read
};

static unsigned tasks, operations;

// Open addressing with linear probing, at most three quarters full.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t size, capacity;           // capacity is a power of two

// The finalizer of MurmurHash3.
static uint32_t hash(uint32_t key) {
    key = (key ^ key >> 16) * 0x85ebca6b;
    key = (key ^ key >> 13) * 0xc2b2ae35;
    return key ^ key >> 16;
}

// Returns the entry of this key, or the free one where it belongs.
static struct entry *find(uint32_t key) {
    for (size_t i = hash(key);; i++) {
        struct entry *entry = &entries[i & (capacity - 1)];
        if (!entry->used || entry->key == key) return entry;
    }
}

static void grow(void) {
    struct entry *old = entries;
    size_t old_capacity = capacity;
    capacity = old_capacity == 0 ? 16 : 2 * old_capacity;
    entries = calloc(capacity, sizeof *entries);
    if (entries == NULL) abort();
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].used) *find(old[i].key) = old[i];
    }
    free(old);
}

static void put(uint32_t key, uint32_t value) {
    pthread_mutex_lock(&lock);
    if (size >= capacity / 4 * 3) grow();
    struct entry *entry = find(key);
    if (!entry->used) size++;
    *entry = (struct entry){ key, value, true };
    pthread_mutex_unlock(&lock);
}

static bool get(uint32_t key, uint32_t *value) {
    pthread_mutex_lock(&lock);
    struct entry *entry = find(key);
    bool found = entry->used;
    if (found) *value = entry->value;
    pthread_mutex_unlock(&lock);
    return found;
}

static uint32_t key(uint32_t i) {
    return i * 2654435761u;             // distinct for every i
}

static void *task(void *argument) {
    struct share *share = argument;
    uint64_t sum = 0;
    for (uint32_t j = share->first; j < share->end; j++) {
        uint32_t value;
        put(key(FILLED + j), FILLED + j);
        if (get(key(j % FILLED), &value)) sum += value;
    }
    share->sum = sum;
    return NULL;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done 0\nfailed %u\n", operations);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &operations) != 1) {
        errx(1, "usage: map <tasks> <operations>");
    }

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    pthread_t *threads = calloc(tasks, sizeof *threads);
    struct share *shares = calloc(tasks, sizeof *shares);
    if (threads == NULL || shares == NULL) give_up(0, ENOMEM);
    for (uint32_t i = 0; i < FILLED; i++) put(key(i), i);
    puts("ready");
    fflush(stdout);

    for (unsigned i = 0; i < tasks; i++) {
        shares[i].first = (uint64_t)i * operations / tasks;
        shares[i].end = ((uint64_t)i + 1) * operations / tasks;
        int error = pthread_create(&threads[i], &attributes, task, &shares[i]);
        if (error != 0) give_up(i, error);
    }
    uint64_t check = 0;
    for (unsigned i = 0; i < tasks; i++) {
        pthread_join(threads[i], NULL);
        check += shares[i].sum;
    }
    printf("done %u\ncheck %llu\n", operations, (unsigned long long)(check + size));
    return 0;
}
