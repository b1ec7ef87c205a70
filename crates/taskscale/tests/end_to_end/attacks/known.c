// A program that has known objects for each task, and waits: `known WHAT TASKS`.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long started;

static void *sleeping(void *unused) {
    started++;
    pause();
    return unused;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    long tasks = atol(words[2]);
    // All pointers are in one block, 8 bytes a task: calloc has not touched it.
    void **all = calloc(tasks, sizeof *all);
    for (long task = 0; task < tasks; task++) {
        if (!strcmp(words[1], "blocks")) {
            all[task] = memset(malloc(100), 1, 100);
            memset(malloc(1000), 1, 1000);
            // Given back: a gap, unless the next task takes it.
            free(malloc(100));
        } else if (!strcmp(words[1], "mapped")) {
            all[task] = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (all[task] == MAP_FAILED) return 1;
            memset(all[task], 1, 8192);
            // A page without access between it and the next: the kernel would make one mapping of both.
            mprotect((char *)all[task] + 8192, 4096, PROT_NONE);
        } else if (!strcmp(words[1], "pipes")) {
            int ends[2];
            // A pipe that holds a byte holds the page that it lies in.
            if (pipe(ends) || write(ends[1], "", 1) != 1) return 1;
        } else if (!strcmp(words[1], "threads")) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, sleeping, NULL)) return 1;
        }
    }
    // A thread that was created may not have run yet, and has not touched its stack then.
    while (!strcmp(words[1], "threads") && started < tasks) sched_yield();
    // Without a buffer of its own.
    dprintf(1, "alive %ld\n", tasks);
    pause();
}
