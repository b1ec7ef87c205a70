// No tasks: one libuv timer per task, on one loop.
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static unsigned tasks, seconds, finished;

static void expire(uv_timer_t *timer) {
    finished++;
    uv_close((uv_handle_t *)timer, NULL);
}

static int give_up(unsigned launched, const char *error) {
    fprintf(stderr, "cannot start timer %u of %u: %s\n", launched + 1, tasks, error);
    printf("done %u\nfailed %u\n", finished, tasks - launched);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 3 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[2], "%u", &seconds) != 1) {
        errx(1, "usage: sleep <tasks> <seconds>");
    }

    uv_loop_t *loop = uv_default_loop();
    uv_timer_t *timers = calloc(tasks, sizeof *timers);
    if (loop == NULL || timers == NULL) return give_up(0, strerror(ENOMEM));
    for (unsigned i = 0; i < tasks; i++) {
        uv_timer_init(loop, &timers[i]);
        uv_update_time(loop);           // a timer starts from the cached loop time
        int error = uv_timer_start(&timers[i], expire, seconds * UINT64_C(1000), 0);
        if (error != 0) return give_up(i, uv_strerror(error));
    }
    printf("alive %u\n", tasks);
    fflush(stdout);

    uv_run(loop, UV_RUN_DEFAULT);
    printf("done %u\n", finished);
    return 0;
}
