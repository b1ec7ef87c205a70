// Threads, hops and timers by nothing but the C library: `loops spawn-one`, `spawn-thousand`, `hop-semaphore`, `hop-pipe`
// print nanoseconds an operation; `timer SECONDS` prints how late one timerfd of 1 ms is heard, in microseconds.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 20000, HOPS = 200000 };

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *nothing(void *unused) { return unused; }

static void spawn(int at_once) {
    pthread_t threads[1000];
    for (int made = 0; made < THREADS; made += at_once) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, nothing, NULL) != 0) exit(1);
        for (int i = 0; i < at_once; i++) pthread_join(threads[i], NULL);
    }
}

static sem_t semaphores[2];

static void *answer_semaphore(void *unused) {
    for (int i = 0; i < HOPS / 2; i++) {
        sem_wait(&semaphores[0]);
        sem_post(&semaphores[1]);
    }
    return unused;
}

static void hop_semaphore(void) {
    pthread_t other;
    sem_init(&semaphores[0], 0, 0);
    sem_init(&semaphores[1], 0, 0);
    pthread_create(&other, NULL, answer_semaphore, NULL);
    for (int i = 0; i < HOPS / 2; i++) {
        sem_post(&semaphores[0]);
        sem_wait(&semaphores[1]);
    }
    pthread_join(other, NULL);
}

static int pipes[2][2];

static void pass(int from, int to, int first) {
    char token = 1;
    for (int i = 0; i < HOPS / 2; i++) {
        if (first && write(to, &token, 1) != 1) exit(1);
        if (read(from, &token, 1) != 1) exit(1);
        if (!first && write(to, &token, 1) != 1) exit(1);
    }
}

static void *answer_pipe(void *unused) {
    pass(pipes[0][0], pipes[1][1], 0);
    return unused;
}

static void hop_pipe(void) {
    pthread_t other;
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0) exit(1);
    pthread_create(&other, NULL, answer_pipe, NULL);
    pass(pipes[1][0], pipes[0][1], 1);
    pthread_join(other, NULL);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void timer(int seconds) {
    const int64_t period_ns = 1000000;
    int64_t ticks = seconds * 1000LL, *late_ns = malloc(sizeof *late_ns * ticks), first = now_ns() + period_ns;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {
        .it_interval = {.tv_nsec = period_ns},
        .it_value = {.tv_sec = first / 1000000000, .tv_nsec = first % 1000000000},
    };
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &every, NULL);
    int64_t heard = 0;
    while (heard < ticks) {
        uint64_t more;
        if (read(fd, &more, sizeof more) != sizeof more) exit(1);
        int64_t now = now_ns();
        for (; more > 0 && heard < ticks; more--, heard++) late_ns[heard] = now - (first + heard * period_ns);
    }
    qsort(late_ns, ticks, sizeof *late_ns, ascending);
    printf("p50 %.1f p99 %.1f max %.1f\n", late_ns[ticks / 2] / 1e3, late_ns[ticks * 99 / 100] / 1e3,
           late_ns[ticks - 1] / 1e3);
}

int main(int argc, char **argv) {
    const char *loop = argc > 1 ? argv[1] : "";
    int64_t start = now_ns();
    int operations = HOPS;
    if (strcmp(loop, "timer") == 0 && argc > 2) {
        timer(atoi(argv[2]));
        return 0;
    } else if (strcmp(loop, "spawn-one") == 0) {
        spawn(1);
        operations = THREADS;
    } else if (strcmp(loop, "spawn-thousand") == 0) {
        spawn(1000);
        operations = THREADS;
    } else if (strcmp(loop, "hop-semaphore") == 0) {
        hop_semaphore();
    } else if (strcmp(loop, "hop-pipe") == 0) {
        hop_pipe();
    } else {
        fprintf(stderr, "usage: loops spawn-one|spawn-thousand|hop-semaphore|hop-pipe, or loops timer SECONDS\n");
        return 2;
    }
    printf("%.1f\n", (double)(now_ns() - start) / operations);
}
