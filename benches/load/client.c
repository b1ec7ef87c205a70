// An independent client for `echo`. An open loop whose messages carry their scheduled and their actual send time, with every
// latency kept, so that quantiles are exact. A RATE of 0 is a closed loop: one message in flight on each of 64 connections.
//
//     gcc -O2 -o /tmp/client benches/load/client.c
//     /tmp/client 127.0.0.1:PORT CONNECTIONS RATE SECONDS
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 64, EVENTS = 512, ACTIVE = 64 };

struct message {
    uint64_t due_ns, sent_ns;
    char rest[SIZE - 16];
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void say(const char *what, uint64_t *ns, size_t count) {
    qsort(ns, count, sizeof *ns, ascending);
    double us[5];
    const double shares[5] = { 0.5, 0.9, 0.99, 0.999, 1 };
    for (int i = 0; i < 5; i++) {
        size_t rank = (size_t)(shares[i] * (double)count + 0.999999);
        us[i] = (double)ns[rank > 0 ? rank - 1 : 0] / 1e3;
    }
    printf("%s p50 %.1f p90 %.1f p99 %.1f p99.9 %.1f max %.1f us\n", what, us[0], us[1], us[2], us[3], us[4]);
}

static void send_message(int to, uint64_t due_ns) {
    struct message message = { .due_ns = due_ns, .sent_ns = now_ns() };
    if (send(to, &message, SIZE, 0) != SIZE) give_up("send");
}

// Messages answered within the time.
static size_t closed_loop(int epoll, const int *sockets, int active, double seconds) {
    size_t heard = 0, in_flight = (size_t)active;
    uint64_t start = now_ns(), end = start + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < active; i++) send_message(sockets[i], start);
    while (in_flight > 0) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct message message;
            if (recv(events[i].data.fd, &message, SIZE, 0) != SIZE) give_up("recv");
            uint64_t now = now_ns();
            heard += now < end;
            in_flight--;
            if (now < end) {
                send_message(events[i].data.fd, now);
                in_flight++;
            }
        }
    }
    return heard;
}

int main(int argc, char **argv) {
    char *colon = argc == 5 ? strchr(argv[1], ':') : NULL;
    if (colon == NULL) {
        fputs("usage: client <host>:<port> <connections> <rate> <seconds>\n", stderr);
        return 2;
    }
    *colon = '\0';
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1)) };
    inet_pton(AF_INET, argv[1], &address.sin_addr);
    int connections = atoi(argv[2]);
    double rate = atof(argv[3]);
    size_t all = (size_t)(rate * atof(argv[4])), said = 0, heard = 0;
    uint64_t *late = calloc(all, sizeof *late), *from_send = calloc(all, sizeof *from_send);
    int *sockets = calloc((size_t)connections, sizeof *sockets);
    if (late == NULL || from_send == NULL || sockets == NULL) give_up("calloc");

    int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int i = 0; i < connections; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(sockets[i], (struct sockaddr *)&address, sizeof address) != 0) give_up("connect");
        setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        struct epoll_event event = { .events = EPOLLIN, .data.fd = sockets[i] };
        epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event);
    }
    sleep(1);
    if (rate == 0) {
        size_t messages = closed_loop(epoll, sockets, connections < ACTIVE ? connections : ACTIVE, atof(argv[4]));
        printf("%.0f messages/s\n", (double)messages / atof(argv[4]));
        return 0;
    }
    struct epoll_event of_timer = { .events = EPOLLIN, .data.fd = timer };
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &of_timer);

    double cpu_before = cpu_s();
    uint64_t start = now_ns();
    while (heard < all) {
        uint64_t now = now_ns(), due = start;
        while (said < all && (due = start + (uint64_t)((double)said / rate * 1e9)) <= now) {
            send_message(sockets[said++ % (size_t)connections], due);
        }
        uint64_t wait = said < all && due > now ? due - now : 100000000;
        struct itimerspec once = { .it_value = { .tv_sec = (time_t)(wait / 1000000000), .tv_nsec = (long)(wait % 1000000000) } };
        timerfd_settime(timer, 0, &once, NULL);
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == timer) continue;
            struct message message;
            // A message of 64 bytes on loopback comes whole.
            if (recv(events[i].data.fd, &message, SIZE, 0) != SIZE) give_up("recv");
            uint64_t at = now_ns();
            late[heard] = at - message.due_ns;
            from_send[heard++] = at - message.sent_ns;
        }
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("%zu messages in %.3f s, %.2f us of CPU each\n", heard, seconds, (cpu_s() - cpu_before) / (double)heard * 1e6);
    say("from due ", late, heard);
    say("from sent", from_send, heard);
    return 0;
}
