/*
 * listeners: many connections that listen, and count what they hear.
 *
 *   listeners PORT COUNT REQUEST READY EVENT
 *
 * Each connection sends the bytes of the file REQUEST, in which ten # are replaced by its number. When each has received the text READY,
 * "ready" is printed. From then on, occurrences of the text EVENT are counted. Commands come from the standard input, a line each:
 *
 *   expect N    prints a line of JSON when N further events have arrived, counted from the command on: the time of the last one,
 *               and the number of bytes
 *   count       prints the number of events until now
 *
 * Ends with its input. Loopback only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { COUNT_MAX = 200 * 1000, TEXT_BYTES_MAX = 64, MARK_BYTES = 10, BUFFER_BYTES = 256 * 1024, OPENING_MAX = 256 };

struct connection {
    int socket;
    bool is_ready;
    unsigned char kept;                /* bytes at the end of the last piece that may begin a text */
    char tail[TEXT_BYTES_MAX];
};

static struct connection *connections;
static const char *ready_text, *event_text;
static size_t ready_size, event_size;
static int64_t ready_count, events, bytes;
static int64_t expected, expected_since;
static int64_t bytes_before;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "listeners: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t occurrences(const char *piece, size_t size, const char *text, size_t text_size) {
    int64_t found = 0;
    const char *end = piece + size;
    while (piece < end && (piece = memmem(piece, (size_t)(end - piece), text, text_size)) != NULL) {
        found++;
        piece += text_size;
    }
    return found;
}

/* Counts the texts in what has arrived, which `room` begins with a place for the kept bytes before. */
static void hear(struct connection *one, char *room, size_t size) {
    char *start = room + TEXT_BYTES_MAX - one->kept;
    memcpy(start, one->tail, one->kept);
    size_t whole = one->kept + size;
    bytes += (int64_t)size;
    if (!one->is_ready && occurrences(start, whole, ready_text, ready_size) > 0) {
        one->is_ready = true;
        one->kept = 0;
        ready_count++;
        return;
    }
    const char *text = one->is_ready ? event_text : ready_text;
    size_t text_size = one->is_ready ? event_size : ready_size;
    if (one->is_ready) events += occurrences(start, whole, text, text_size);
    /* A text that ends in this piece must not be counted again, so that fewer bytes are kept than it has. */
    size_t kept = whole < text_size - 1 ? whole : text_size - 1;
    memcpy(one->tail, start + whole - kept, kept);
    one->kept = (unsigned char)kept;
}

static void answer_expectation(void) {
    if (expected == 0 || events < expected) return;
    printf("{\"microseconds\": %lld, \"bytes\": %lld}\n", (long long)((now_ns() - expected_since) / 1000), (long long)(bytes - bytes_before));
    fflush(stdout);
    expected = 0;
}

static bool take_commands(void) {
    static char line[256];
    static size_t held;
    ssize_t size = read(0, line + held, sizeof line - 1 - held);
    if (size <= 0) return false;
    held += (size_t)size;
    line[held] = 0;
    char *end;
    while ((end = strchr(line, '\n')) != NULL) {
        *end = 0;
        if (strncmp(line, "expect ", 7) == 0) {
            expected = events + atoll(line + 7);
            expected_since = now_ns();
            bytes_before = bytes;
        } else if (strcmp(line, "count") == 0) {
            printf("{\"events\": %lld}\n", (long long)events);
            fflush(stdout);
        }
        held -= (size_t)(end + 1 - line);
        memmove(line, end + 1, held + 1);
    }
    return true;
}

static char *file_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail(path);
    char *content = malloc(1 << 20);
    *size = fread(content, 1, 1 << 20, file);
    fclose(file);
    return content;
}

static void open_connection(
    struct connection *one, int64_t number, const struct sockaddr_in *server, char *request, size_t size, char *mark, int poll_fd) {
    one->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one->socket < 0) fail("socket");
    /* One address of this machine has too few ports for more. The port is chosen when it is known where the connection goes. */
    const int is_on = 1;
    if (setsockopt(one->socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &is_on, sizeof is_on) != 0) fail("setsockopt");
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F000001 + (uint32_t)(number / 20000))};
    if (bind(one->socket, (struct sockaddr *)&own, sizeof own) != 0) fail("bind");
    if (connect(one->socket, (const struct sockaddr *)server, sizeof *server) != 0) fail("connect");
    if (mark != NULL) {
        char digits[MARK_BYTES + 1];
        snprintf(digits, sizeof digits, "%010u", (unsigned)number);
        memcpy(mark, digits, MARK_BYTES);
    }
    if (write(one->socket, request, size) != (ssize_t)size) fail("write");
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)number};
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, one->socket, &event) != 0) fail("epoll_ctl");
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: listeners PORT COUNT REQUEST READY EVENT\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int64_t count = atoll(argv[2]);
    ready_text = argv[4];
    event_text = argv[5];
    ready_size = strlen(ready_text);
    event_size = strlen(event_text);
    if (count < 1 || count > COUNT_MAX || ready_size < 1 || event_size < 1 || ready_size >= TEXT_BYTES_MAX || event_size >= TEXT_BYTES_MAX) {
        fprintf(stderr, "listeners: 1 to %d connections and texts of up to %d bytes are expected\n", COUNT_MAX, TEXT_BYTES_MAX - 1);
        return 2;
    }
    const struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t size;
    char *request = file_bytes(argv[3], &size);
    char *mark = memmem(request, size, "##########", MARK_BYTES);
    connections = calloc((size_t)count, sizeof *connections);
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, 0, &input) != 0) fail("epoll_ctl");
    char *room = malloc(TEXT_BYTES_MAX + BUFFER_BYTES);
    int64_t opened = 0;
    bool is_told = false;
    for (;;) {
        for (; opened < count && opened - ready_count < OPENING_MAX; opened++) {
            open_connection(&connections[opened], opened, &server, request, size, mark, poll_fd);
        }
        struct epoll_event found[512];
        int number = epoll_wait(poll_fd, found, 512, -1);
        if (number < 0 && errno != EINTR) fail("epoll_wait");
        for (int index = 0; index < number; index++) {
            if (found[index].data.u64 == UINT64_MAX) {
                if (!take_commands()) return 0;
                continue;
            }
            struct connection *one = &connections[found[index].data.u64];
            ssize_t received = recv(one->socket, room + TEXT_BYTES_MAX, BUFFER_BYTES, MSG_DONTWAIT);
            if (received > 0) hear(one, room, (size_t)received);
            else if (received == 0) {
                fprintf(stderr, "listeners: connection %llu was closed\n", (unsigned long long)found[index].data.u64);
                return 1;
            } else if (errno != EAGAIN) fail("recv");
        }
        if (!is_told && ready_count == count) {
            is_told = true;
            printf("ready\n");
            fflush(stdout);
        }
        answer_expectation();
    }
}
