// No task per connection: one thread with one buffer echoes what it reads on any of them, by epoll.
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
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
    char *rest;                         // what could not be sent yet; NULL while reading
};

static int epoll;
static char buffer[4096];

static void end(struct connection *connection) {
    close(connection->fd);              // removes it from the epoll set, too
    free(connection->rest);
    free(connection);
}

static bool watch(struct connection *connection, unsigned events, int operation) {
    struct epoll_event event = { .events = events, .data.ptr = connection };
    return epoll_ctl(epoll, operation, connection->fd, &event) == 0;
}

static void accept_all(int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED)) return;
        if (fd < 0) err(1, "accept");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        struct connection *connection = malloc(sizeof *connection);
        if (connection == NULL) err(1, "accept");
        *connection = (struct connection){ .fd = fd };
        if (!watch(connection, EPOLLIN, EPOLL_CTL_ADD)) err(1, "epoll");
    }
}

// Returns the bytes sent, 0 if the socket is full, -1 if the connection is over.
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
    return watch(connection, EPOLLOUT, EPOLL_CTL_MOD);
}

static bool send_rest(struct connection *connection) {
    ssize_t sent = send_some(connection->fd, connection->rest + connection->sent, connection->length - connection->sent);
    if (sent < 0) return false;
    connection->sent += (unsigned)sent;
    if (connection->sent < connection->length) return true;

    free(connection->rest);
    connection->rest = NULL;
    return watch(connection, EPOLLIN, EPOLL_CTL_MOD);
}

int main(int argc, char **argv) {
    unsigned tasks;
    char host[16];
    uint16_t port;
    struct sockaddr_in address = { .sin_family = AF_INET };
    if (argc < 4 || sscanf(argv[1], "%u", &tasks) != 1 || sscanf(argv[3], "%15[^:]:%hu", host, &port) != 2
        || inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        errx(1, "usage: echo <tasks> --listen <host>:<port>");
    }
    address.sin_port = htons(port);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (listener < 0) err(1, "socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) err(1, "bind");
    if (listen(listener, BACKLOG) != 0) err(1, "listen");
    getsockname(listener, (struct sockaddr *)&address, &(socklen_t){ sizeof address });

    epoll = epoll_create1(0);
    struct connection acceptor = { .fd = listener };
    if (!watch(&acceptor, EPOLLIN, EPOLL_CTL_ADD)) err(1, "epoll");
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
