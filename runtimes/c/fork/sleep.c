// One process per task, made by fork.
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned tasks, seconds;
static pid_t *children;
static int started[2];                  // a pipe: one byte per running task

static _Noreturn void task(void) {
    bool sent = write(started[1], "", 1) == 1;
    sleep(seconds);
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
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: sleep <tasks> <seconds>");
    }

    children = calloc(tasks, sizeof *children);
    if (children == NULL || pipe(started) != 0) give_up(0, errno);
    for (unsigned i = 0; i < tasks; i++) {
        children[i] = fork();
        if (children[i] < 0) give_up(i, errno);
        if (children[i] == 0) task();
    }

    // All tasks run once each has sent its byte.
    close(started[1]);
    char bytes[4096];
    unsigned running = 0, done = 0;
    int status;
    for (ssize_t count; running < tasks && (count = read(started[0], bytes, sizeof bytes)) > 0;) {
        running += (unsigned)count;
    }
    while (waitpid(-1, &status, WNOHANG) > 0) done += status == 0;
    if (running == tasks) printf("alive %u\n", tasks - done);
    fflush(stdout);

    while (wait(&status) > 0) done += status == 0;
    printf("done %u\n", done);
    if (done == tasks) return 0;
    printf("failed %u\n", tasks - done);
    return 1;
}
