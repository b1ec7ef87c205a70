/* Forks a process for each task. Each sleeps until the program has run for so many seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 3) return 2;
    long tasks = atol(words[1]);
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += atol(words[2]);
    for (long task = 0; task < tasks; task++) {
        pid_t pid = fork();
        if (pid < 0) { perror("fork"); return 1; }
        if (pid == 0) {
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
            _exit(0);
        }
    }
    printf("alive %ld\n", tasks);
    fflush(stdout);
    while (wait(NULL) > 0) {}
    printf("done %ld\n", tasks);
    return 0;
}
