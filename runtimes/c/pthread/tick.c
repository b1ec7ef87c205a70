// One POSIX thread per task, each waking once per period.
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL
#define BUCKETS 32

static unsigned tasks, seconds, period_ms = 1000, hogs, hog_ms = 10;
static uint64_t period, begin, end; // in ns, the instants of the monotonic clock
static atomic_uint started, finished;
static atomic_ullong late[BUCKETS]; // bucket b: ticks late by less than 2^b us, but not less than half of that

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * NS_PER_MS + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t instant) {
    struct timespec time = {
        .tv_sec = (time_t)(instant / (1000 * NS_PER_MS)),
        .tv_nsec = (long)(instant % (1000 * NS_PER_MS)),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
}

static void count(uint64_t late_ns) {
    unsigned bucket = 0;
    for (uint64_t us = late_ns / 1000; us > 0 && bucket < BUCKETS - 1; us /= 2) bucket++;
    atomic_fetch_add(&late[bucket], 1);
}

static void *task(void *argument) {
    uint64_t number = (uintptr_t)argument;
    uint64_t due = begin + period * number / tasks;
    for (uint64_t start = now(); due < start;) due += period;
    if (atomic_fetch_add(&started, 1) + 1 == tasks) {
        printf("alive %u\n", tasks - atomic_load(&finished));
        fflush(stdout);
    }
    for (; due < end; due += period) {
        sleep_until(due);
        uint64_t woken = now();
        if (woken >= end) break;
        if (atomic_load(&started) == tasks) count(woken - due);
    }
    sleep_until(end);
    atomic_fetch_add(&finished, 1);
    return NULL;
}

// Computes without waiting, and yields between bursts.
static void *hog(void *argument) {
    (void)argument;
    while (now() < end) {
        for (uint64_t until = now() + hog_ms * NS_PER_MS; now() < until;) {}
        sched_yield();
    }
    return NULL;
}

static _Noreturn void give_up(unsigned launched, int error) {
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", atomic_load(&finished), tasks - launched);
    exit(1);
}

static unsigned number(const char *text) {
    unsigned value;
    if (sscanf(text, "%u", &value) != 1) errx(1, "not a number: %s", text);
    return value;
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]");
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--period-ms") == 0) period_ms = number(argv[i + 1]);
        if (strcmp(argv[i], "--hogs") == 0) hogs = number(argv[i + 1]);
        if (strcmp(argv[i], "--hog-ms") == 0) hog_ms = number(argv[i + 1]);
    }
    period = period_ms * NS_PER_MS;
    begin = now();
    end = begin + seconds * 1000 * NS_PER_MS;

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
#ifdef STACK_SIZE
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
#endif

    size_t all = (size_t)tasks + hogs;
    pthread_t *threads = calloc(all, sizeof *threads);
    if (threads == NULL) give_up(0, ENOMEM);
    for (size_t i = 0; i < all; i++) {
        int error = pthread_create(&threads[i], &attributes, i < tasks ? task : hog, (void *)(uintptr_t)i);
        if (error != 0) give_up(i < tasks ? (unsigned)i : tasks - 1, error);
    }
    for (size_t i = 0; i < all; i++) pthread_join(threads[i], NULL);

    printf("done %u\nhistogram late_us", atomic_load(&finished));
    for (int bucket = 0; bucket < BUCKETS; bucket++) printf(" %llu", atomic_load(&late[bucket]));
    printf("\n");
    return 0;
}
