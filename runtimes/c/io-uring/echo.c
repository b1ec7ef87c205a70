// No task per connection: one thread echoes what it reads on any of them, by io_uring.
#include <arpa/inet.h>
#include <err.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, ENTRIES = 4096 };

// One operation at a time: a receive, or a send of what has been received.
struct connection {
    int fd;
    bool sending;
    unsigned length, sent;
    char buffer[4096];
};

static struct io_uring ring;

static struct io_uring_sqe *get_sqe(void) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    if (sqe != NULL) return sqe;
    io_uring_submit(&ring);             // the queue is full
    return io_uring_get_sqe(&ring);
}

static void start_accept(int listener) {
    struct io_uring_sqe *sqe = get_sqe();
    io_uring_prep_accept(sqe, listener, NULL, NULL, 0);
    io_uring_sqe_set_data(sqe, NULL);   // no connection yet
}

static void start_recv(struct connection *connection) {
    struct io_uring_sqe *sqe = get_sqe();
    connection->sending = false;
    io_uring_prep_recv(sqe, connection->fd, connection->buffer, sizeof connection->buffer, 0);
    io_uring_sqe_set_data(sqe, connection);
}

static void start_send(struct connection *connection) {
    struct io_uring_sqe *sqe = get_sqe();
    connection->sending = true;
    io_uring_prep_send(sqe, connection->fd, connection->buffer + connection->sent,
                       connection->length - connection->sent, MSG_NOSIGNAL);
    io_uring_sqe_set_data(sqe, connection);
}

static void accepted(int fd) {
    if (fd == -ECONNABORTED) return;
    if (fd < 0) errx(1, "accept: %s", strerror(-fd));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    struct connection *connection = malloc(sizeof *connection);
    if (connection == NULL) err(1, "malloc");
    connection->fd = fd;
    start_recv(connection);
}

static void completed(struct connection *connection, int result) {
    if (result <= 0) {                  // an error, or the end of the stream
        close(connection->fd);
        free(connection);
        return;
    }
    if (connection->sending) {
        connection->sent += (unsigned)result;
    } else {
        connection->length = (unsigned)result;
        connection->sent = 0;
    }
    if (connection->sent < connection->length) {
        start_send(connection);
    } else {
        start_recv(connection);
    }
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

    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) err(1, "socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) err(1, "bind");
    if (listen(listener, BACKLOG) != 0) err(1, "listen");
    getsockname(listener, (struct sockaddr *)&address, &(socklen_t){ sizeof address });

    int error = io_uring_queue_init(ENTRIES, &ring, 0);
    if (error != 0) errx(1, "io_uring: %s", strerror(-error));
    start_accept(listener);
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);

    for (;;) {
        io_uring_submit_and_wait(&ring, 1);
        struct io_uring_cqe *cqe;
        unsigned head, count = 0;
        io_uring_for_each_cqe(&ring, head, cqe) {
            count++;
            struct connection *connection = io_uring_cqe_get_data(cqe);
            if (connection == NULL) {
                accepted(cqe->res);
                start_accept(listener);
            } else {
                completed(connection, cqe->res);
            }
        }
        io_uring_cq_advance(&ring, count);
    }
}
