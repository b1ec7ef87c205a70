// One process per task, made by fork, each waiting at a semaphore of its own.
#include <errno.h>
#include <limits.h>
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
static int started[2];                  // a pipe: one byte from each task that runs

static _Noreturn void task(sem_t *mailbox) {
    bool told = write(started[1], "", 1) == 1;
    while (sem_wait(mailbox) != 0) {}   // a signal may interrupt it
    _exit(told ? 0 : 1);
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value <= UINT_MAX;
}

// Ends every task, because the next one cannot start.
static _Noreturn void give_up(unsigned launched, int error) {
    unsigned done = 0;
    for (unsigned i = 0; i < launched; i++) kill(children[i], SIGKILL);
    for (int status; wait(&status) > 0;) done += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    fprintf(stderr, "cannot start task %u of %u: %s\n", launched + 1, tasks, strerror(error));
    printf("done %u\nfailed %u\n", done, tasks - launched);
    fflush(stdout);
    _exit(1);
}

int main(int argc, char **argv) {
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    if (argc != 3 || !parse(argv[1], &tasks) || !parse(argv[2], &seconds) || tasks == 0) {
        fputs("usage: park <tasks> <seconds>: whole numbers, at least one task\n", stderr);
        return 2;
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

    // The last task runs once every one has sent its byte.
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
