/*
 * listeners: many connections that listen, and count what they hear.
 *
 *   listeners PORT COUNT REQUEST READY EVENT [ANSWER]
 *
 * Each connection sends the request of the file REQUEST, in which each ten # are replaced by its number. A connection is ready when it has
 * received the text READY. When all are, "ready" is printed. Occurrences of the texts EVENT and ANSWER are counted. Commands come from the
 * standard input, a line each:
 *
 *   expect N         prints a line of JSON when N further events have arrived, counted from the command on: the time of the last one,
 *                    and the number of bytes
 *   count            prints the numbers of events and answers until now
 *   reconnect MILLISECONDS FILE
 *                    cuts all connections, begins within this time to open all of them again with the request of this file, and prints a
 *                    line of JSON when all are ready: the time since the command, and the bytes, events and answers meanwhile; and how
 *                    often a connection could not be made at first, because the queue of the host was full for too long
 *
 * Each connection has another address, as clients have. Ends with its input. Loopback only.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "load.h"

enum { COUNT_MAX = 200 * 1000, TEXT_BYTES_MAX = 64, BUFFER_BYTES = 256 * 1024, OPENING_MAX = 256 };

struct connection {
    int socket;
    bool is_connecting;
    bool is_ready;
    unsigned char kept;                /* bytes at the end of the last piece that may begin a text */
    char tail[TEXT_BYTES_MAX];
};

static struct connection *connections;
static struct sockaddr_in server;
static struct request *request;
static int poll_fd;
static const char *ready_text, *event_text, *answer_text = "";
static size_t ready_size, event_size, answer_size, kept_max;
static int64_t count, opened, opening_max = OPENING_MAX, ready_count, events, answers, bytes;
static int64_t expected, began_ns, bytes_before, events_before, answers_before, retries, spread_ns;
static bool is_told, is_reconnecting;

static int64_t occurrences(const char *piece, const char *end, const char *text, size_t text_size) {
    int64_t found = 0;
    while (piece < end && (piece = memmem(piece, (size_t)(end - piece), text, text_size)) != NULL) {
        found++;
        piece += text_size;
    }
    return found;
}

/* Returns the place from which a text is new, if `kept` bytes at `start` were searched before. */
static const char *new_part(const char *start, size_t kept, size_t text_size) {
    return kept >= text_size ? start + kept - (text_size - 1) : start;
}

/* Counts the texts in the bytes that have arrived. `room` begins with a place for the kept bytes before. */
static void hear(struct connection *one, char *room, size_t size) {
    char *start = room + TEXT_BYTES_MAX - one->kept;
    const char *end = room + TEXT_BYTES_MAX + size;
    memcpy(start, one->tail, one->kept);
    bytes += (int64_t)size;
    events += occurrences(new_part(start, one->kept, event_size), end, event_text, event_size);
    if (answer_size > 0) answers += occurrences(new_part(start, one->kept, answer_size), end, answer_text, answer_size);
    if (!one->is_ready && occurrences(new_part(start, one->kept, ready_size), end, ready_text, ready_size) > 0) {
        one->is_ready = true;
        ready_count++;
    }
    size_t whole = (size_t)(end - start), kept = whole < kept_max ? whole : kept_max;
    memcpy(one->tail, end - kept, kept);
    one->kept = (unsigned char)kept;
}

static void answer_expectation(void) {
    if (expected == 0 || events < expected) return;
    printf("{\"microseconds\": %lld, \"bytes\": %lld}\n", (long long)((now_ns() - began_ns) / 1000), (long long)(bytes - bytes_before));
    fflush(stdout);
    expected = 0;
}

static void say_that_all_are_ready(void) {
    if (is_told || ready_count < count) return;
    is_told = true;
    if (is_reconnecting) {
        printf("{\"microseconds\": %lld, \"bytes\": %lld, \"events\": %lld, \"answers\": %lld, \"retries\": %lld}\n",
               (long long)((now_ns() - began_ns) / 1000), (long long)(bytes - bytes_before), (long long)(events - events_before),
               (long long)(answers - answers_before), (long long)retries);
    } else {
        printf("ready\n");
    }
    fflush(stdout);
}

static void start_time(void) {
    began_ns = now_ns();
    bytes_before = bytes;
    events_before = events;
    answers_before = answers;
    retries = 0;
}

/* Cuts all connections by a reset, so that their ports are free at once. */
static void reconnect(const char *arguments) {
    size_t requests;
    char *path;
    spread_ns = strtoll(arguments, &path, 10) * 1000000;
    request = read_requests(path + 1, &requests);
    start_time();
    for (int64_t index = 0; index < opened; index++) {
        const struct linger at_once = { .l_onoff = 1 };
        setsockopt(connections[index].socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(connections[index].socket);
        connections[index] = (struct connection){ 0 };
    }
    is_reconnecting = true;
    is_told = false;
    opened = ready_count = 0;
    opening_max = count;
}

static bool take_commands(void) {
    static char line[1024];
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
            start_time();
        } else if (strcmp(line, "count") == 0) {
            printf("{\"events\": %lld, \"answers\": %lld}\n", (long long)events, (long long)answers);
            fflush(stdout);
        } else if (strncmp(line, "reconnect ", 10) == 0) {
            reconnect(line + 10);
        }
        held -= (size_t)(end + 1 - line);
        memmove(line, end + 1, held + 1);
    }
    return true;
}

/* Begins to connect. The request is sent when the connection is there. */
static void open_connection(struct connection *one, int64_t number) {
    one->socket = client_socket((uint32_t)number, SOCK_NONBLOCK);
    if (connect(one->socket, (const struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS) fail("connect");
    one->is_connecting = true;
    struct epoll_event event = {.events = EPOLLOUT, .data.u64 = (uint64_t)number};
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, one->socket, &event) != 0) fail("epoll_ctl");
}

static void send_request(struct connection *one, int64_t number) {
    int problem = 0;
    socklen_t size = sizeof problem;
    if (getsockopt(one->socket, SOL_SOCKET, SO_ERROR, &problem, &size) != 0) fail("getsockopt");
    if (problem == ETIMEDOUT) {
        retries++;
        close(one->socket);
        return open_connection(one, number);
    }
    errno = problem;
    if (problem != 0) fail("connect");
    one->is_connecting = false;
    put_number(request, (uint32_t)number);
    if (fcntl(one->socket, F_SETFL, 0) != 0) fail("fcntl");
    if (write(one->socket, request->bytes, request->size) != (ssize_t)request->size) fail("write");
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)number};
    if (epoll_ctl(poll_fd, EPOLL_CTL_MOD, one->socket, &event) != 0) fail("epoll_ctl");
}

static void attend(int64_t number, char *room) {
    struct connection *one = &connections[number];
    if (one->is_connecting) return send_request(one, number);
    ssize_t received = recv(one->socket, room + TEXT_BYTES_MAX, BUFFER_BYTES, MSG_DONTWAIT);
    if (received > 0) return hear(one, room, (size_t)received);
    if (received < 0 && errno == EAGAIN) return;
    if (received < 0) fail("recv");
    fprintf(stderr, "listeners: connection %lld was closed\n", (long long)number);
    exit(1);
}

static int run(void) {
    char *room = malloc(TEXT_BYTES_MAX + BUFFER_BYTES);
    if (room == NULL) fail("memory");
    for (;;) {
        int64_t due = spread_ns > 0 ? (int64_t)((double)count * (double)(now_ns() - began_ns) / (double)spread_ns) : count;
        for (; opened < count && opened < due && opened - ready_count < opening_max; opened++) open_connection(&connections[opened], opened);
        struct epoll_event found[512];
        int number = epoll_wait(poll_fd, found, 512, spread_ns > 0 && opened < count ? 1 : -1);
        if (number < 0 && errno != EINTR) fail("epoll_wait");
        bool has_commands = false;
        for (int index = 0; index < number; index++) {
            if (found[index].data.u64 == UINT64_MAX) has_commands = true;
            else attend((int64_t)found[index].data.u64, room);
        }
        say_that_all_are_ready();
        answer_expectation();
        if (has_commands && !take_commands()) return 0;
    }
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: listeners PORT COUNT REQUEST READY EVENT [ANSWER]\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    count = atoll(argv[2]);
    ready_text = argv[4];
    event_text = argv[5];
    if (argc == 7) answer_text = argv[6];
    ready_size = strlen(ready_text);
    event_size = strlen(event_text);
    answer_size = strlen(answer_text);
    kept_max = ready_size > event_size ? ready_size : event_size;
    if (answer_size > kept_max) kept_max = answer_size;
    /* The last byte of a text need not be kept. */
    kept_max--;
    if (count < 1 || count > COUNT_MAX || ready_size < 1 || event_size < 1 || kept_max >= TEXT_BYTES_MAX) {
        fprintf(stderr, "listeners: 1 to %d connections and texts of up to %d bytes are expected\n", COUNT_MAX, TEXT_BYTES_MAX);
        return 2;
    }
    server = loopback(argv[1]);
    size_t requests;
    request = read_requests(argv[3], &requests);
    connections = calloc((size_t)count, sizeof *connections);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    if (connections == NULL || epoll_ctl(poll_fd, EPOLL_CTL_ADD, 0, &input) != 0) fail("epoll_ctl");
    return run();
}
