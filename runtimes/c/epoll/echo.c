// No task per connection: one thread and one buffer send back what comes on any of them, by epoll.
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, EVENTS = 256 };

struct connection {
    int fd;
    unsigned length, sent;
    char *rest;                         // what the client does not take yet; NULL while it is listened to
};

static int epoll;
static char buffer[4096];

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "echo: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void end(struct connection *connection) {
    close(connection->fd);              // epoll forgets it by itself
    free(connection->rest);
    free(connection);
}

static bool await(struct connection *connection, unsigned events, int operation) {
    struct epoll_event event = { .events = events, .data.ptr = connection };
    return epoll_ctl(epoll, operation, connection->fd, &event) == 0;
}

static void accept_all(int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED)) return;
        if (fd < 0) give_up("accept");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        struct connection *connection = malloc(sizeof *connection);
        if (connection == NULL) give_up("accept");
        *connection = (struct connection){ .fd = fd };
        if (!await(connection, EPOLLIN, EPOLL_CTL_ADD)) give_up("epoll");
    }
}

// Those that are sent at once, 0 if none can be, or -1 if the connection is over.
static ssize_t send_some(int fd, const char *bytes, size_t length) {
    ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
    return sent < 0 && errno == EAGAIN ? 0 : sent;
}

static bool echo(struct connection *connection) {
    ssize_t length = recv(connection->fd, buffer, sizeof buffer, 0);
    if (length <= 0) return length < 0 && errno == EAGAIN;
    ssize_t sent = send_some(connection->fd, buffer, (size_t)length);
    if (sent < 0 || sent == length) return sent == length;

    connection->length = (unsigned)(length - sent);
    connection->sent = 0;
    connection->rest = malloc(connection->length);
    if (connection->rest == NULL) return false;
    memcpy(connection->rest, buffer + sent, connection->length);
    return await(connection, EPOLLOUT, EPOLL_CTL_MOD);
}

static bool send_rest(struct connection *connection) {
    ssize_t sent = send_some(connection->fd, connection->rest + connection->sent, connection->length - connection->sent);
    if (sent < 0) return false;
    connection->sent += (unsigned)sent;
    if (connection->sent < connection->length) return true;

    free(connection->rest);
    connection->rest = NULL;
    return await(connection, EPOLLIN, EPOLL_CTL_MOD);
}

// Digits only: strtoul alone takes "-1" as well.
static bool parse(const char *text, unsigned *number) {
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value <= UINT_MAX;
}

static bool arguments(int argc, char **argv, struct sockaddr_in *address) {
    unsigned tasks, port;               // nothing has to be sized for so many tasks
    if (argc != 4 || !parse(argv[1], &tasks) || tasks == 0 || strcmp(argv[2], "--listen") != 0) return false;
    char *colon = strchr(argv[3], ':');
    if (colon == NULL || !parse(colon + 1, &port) || port > UINT16_MAX) return false;
    *colon = '\0';
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    return inet_pton(AF_INET, argv[3], &address->sin_addr) == 1;
}

int main(int argc, char **argv) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    if (!arguments(argc, argv, &address)) {
        fputs("usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task\n", stderr);
        return 2;
    }

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (listener < 0) give_up("socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (bind(listener, (struct sockaddr *)&address, size) != 0) give_up("bind");
    if (listen(listener, BACKLOG) != 0) give_up("listen");
    getsockname(listener, (struct sockaddr *)&address, &size);

    epoll = epoll_create1(0);
    struct connection acceptor = { .fd = listener };
    if (!await(&acceptor, EPOLLIN, EPOLL_CTL_ADD)) give_up("epoll");
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);

    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == &acceptor) {
                accept_all(listener);
            } else if (!(connection->rest == NULL ? echo(connection) : send_rest(connection))) {
                end(connection);
            }
        }
    }
}
