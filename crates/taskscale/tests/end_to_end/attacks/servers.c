// Programs that claim more than they do.
//   servers CASE N IP PORT | CASE N --listen ADDRESS   servers that do not hold all of N connections
//   servers CASE N SECONDS                             tasks that do not wait, or counts that are none
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static int listener(const char *ip, int port, int backlog) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (inet_pton(AF_INET, ip, &at.sin_addr) != 1 || bind(fd, (void *)&at, sizeof at) != 0 || listen(fd, backlog) != 0) {
        perror("listen");
        exit(1);
    }
    return fd;
}

static void reset(int fd) {
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

// CASE N IP PORT: a server of N connections.
static int serve(const char *what, int n, const char *ip, int port) {
    int fd = listener(ip, port, is(what, "slow") ? 5 : 4096), on = 1000;
    int *held = calloc(n, sizeof *held);
    if (is(what, "deferred")) setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on, sizeof on);
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    getsockname(fd, (void *)&at, &size);
    printf("listening %d\n", ntohs(at.sin_port));
    fflush(stdout);
    // taskscale itself looks whether somebody listens, once.
    if (port != 0) close(accept(fd, NULL, NULL));
    int most = is(what, "few") ? n / 10 : n;
    for (int i = 0; i < most; i++) {
        if (is(what, "slow")) usleep(20 * 1000);
        held[i] = accept(fd, NULL, NULL);
    }
    // Between the last accept and the reading.
    struct pollfd none = {.fd = held[most - 1], .events = POLLRDHUP};
    poll(&none, 1, 150);
    for (int i = 0; i < n / 2; i++) {
        if (is(what, "half")) close(held[i]);
        if (is(what, "half-shut")) shutdown(held[i], SHUT_WR);
        if (is(what, "half-reset")) reset(held[i]);
    }
    while (1) pause();
    return 0;
}

int main(int argc, char **argv) {
    struct rlimit files = {65536, 65536};
    setrlimit(RLIMIT_NOFILE, &files);
    if (argc == 5) {
        int of_catalog = is(argv[3], "--listen");
        return serve(argv[1], atoi(argv[2]), of_catalog ? "127.0.0.1" : argv[3], of_catalog ? 0 : atoi(argv[4]));
    }
    if (argc != 4) return 2;
    int n = atoi(argv[2]), seconds = atoi(argv[3]);
    if (is(argv[1], "done-at-once")) printf("alive %d\ndone %d\n", n, n);
    if (is(argv[1], "signed")) printf("alive +%d\n", n);
    fflush(stdout);
    sleep(seconds);
    if (is(argv[1], "signed")) printf("done %d\n", n);
    return 0;
}
