// One process per task, made by fork, each waiting for its own semaphore.
#include <err.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned tasks, seconds;
static pid_t *children;
static int started[2];                  // a pipe: one byte per running task

static _Noreturn void task(sem_t *mailbox) {
    bool sent = write(started[1], "", 1) == 1;
    while (sem_wait(mailbox) != 0) {}   // EINTR
    _exit(sent ? 0 : 1);
}

// Kills all tasks, because the next one cannot start.
static _Noreturn void give_up(unsigned launched, int error) {
    unsigned done = 0;
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    for (int status; wait(&status) > 0;) done += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, tasks - launched);
    exit(1);
}

int main(int argc, char **argv) {
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: park <tasks> <seconds>");
    }
    due.tv_sec += seconds;

    children = calloc(tasks, sizeof *children);
    sem_t *mailboxes = mmap(NULL, tasks * sizeof *mailboxes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children == NULL || mailboxes == MAP_FAILED || pipe(started) != 0) give_up(0, errno);
    for (unsigned i = 0; i < tasks; i++) {
        sem_init(&mailboxes[i], 1, 0);
        children[i] = fork();
        if (children[i] < 0) give_up(i, errno);
        if (children[i] == 0) task(&mailboxes[i]);
    }

    // All tasks run once each has sent its byte.
    close(started[1]);
    char bytes[4096];
    unsigned running = 0, done = 0;
    int status;
    for (ssize_t count; running < tasks && (count = read(started[0], bytes, sizeof bytes)) > 0;) {
        running += (unsigned)count;
    }
    if (running == tasks) printf("alive %u\n", tasks);
    fflush(stdout);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {}
    for (unsigned i = 0; i < tasks; i++) sem_post(&mailboxes[i]);
    while (wait(&status) > 0) done += status == 0;
    printf("done %u\n", done);
    if (done == tasks) return 0;
    printf("failed %u\n", tasks - done);
    return 1;
}
