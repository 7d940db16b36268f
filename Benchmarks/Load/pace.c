/*
 * pace: a load with a constant rate, which wrk does not have.
 *
 * Requests leave at fixed times whatever the server does, and a latency counts from the time at
 * which its request was due, so that a stall shows in every request that it delayed. With a rate of
 * 0 each connection sends its next request when the last is answered, until COUNT are done: that is
 * for counting system calls and allocations, not for timing.
 *
 *   pace PORT FILE CONNECTIONS RATE COUNT
 *
 * The requests are taken from FILE in turn, as requests.lua does: a line with a length stands before
 * each, and each ten # in one are replaced by another number each time.
 *
 * Loopback only, and at most COUNT requests in at most SECONDS_MAX seconds. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "load.h"

enum { CONNECTIONS_MAX = 1024, COUNT_MAX = 10 * 1000 * 1000, SECONDS_MAX = 60, ANSWER_BYTES_MAX = 16384 };

struct connection {
    int socket;
    bool is_waiting;
    int64_t due_ns;
    size_t held_bytes;
    char held[ANSWER_BYTES_MAX];
};

static struct connection connections[CONNECTIONS_MAX];
static int idle[CONNECTIONS_MAX], idle_first, idle_count;   /* a ring: every connection has its turn */
static int poll_fd;
static struct sockaddr_in server;
static struct request *requests;
static size_t request_count;
static uint32_t mark;
static uint32_t *latency_us;
static int64_t sent, answered, refused, broken, count;

static void rest(int index) {
    idle[(idle_first + idle_count++) % CONNECTIONS_MAX] = index;
}

static int take(void) {
    int index = idle[idle_first];
    idle_first = (idle_first + 1) % CONNECTIONS_MAX;
    idle_count--;
    return index;
}

static void open_connection(int index) {
    struct connection *c = &connections[index];
    c->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&server, sizeof server) != 0) fail("connect");
    int one = 1;
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)index };
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, c->socket, &event) != 0) fail("epoll_ctl");
    c->is_waiting = false;
    c->held_bytes = 0;
    rest(index);
}

static void close_connection(int index) {
    struct connection *c = &connections[index];
    close(c->socket);
    if (c->is_waiting) broken++;
    for (int i = idle_count; i > 0; i--) {
        int other = take();
        if (other != index) rest(other);
    }
    open_connection(index);
}

static void send_request(int64_t due_ns) {
    int index = take();
    struct connection *c = &connections[index];
    c->is_waiting = true;
    c->due_ns = due_ns;
    struct request *next = &requests[(size_t)sent++ % request_count];
    if (next->mark_count > 0) put_number(next, mark++);
    if (send(c->socket, next->bytes, next->size, MSG_NOSIGNAL) != (ssize_t)next->size) close_connection(index);
}

/* The length of the first whole answer in the connection's bytes, or 0 while there is none. */
static size_t answer_bytes(const struct connection *c) {
    const char *end = memmem(c->held, c->held_bytes, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t head = (size_t)(end - c->held) + 4;
    for (const char *line = c->held; line < end; line = (const char *)memchr(line, '\n', (size_t)(end + 2 - line)) + 1) {
        if (strncasecmp(line, "content-length:", 15) == 0) {
            size_t whole = head + strtoul(line + 15, NULL, 10);
            return whole <= c->held_bytes ? whole : 0;
        }
        if (strncasecmp(line, "transfer-encoding:", 18) == 0) {
            const char *last = memmem(c->held + head - 2, c->held_bytes - head + 2, "\r\n0\r\n\r\n", 7);
            return last ? (size_t)(last - c->held) + 7 : 0;
        }
    }
    return head;
}

static void read_answer(int index) {
    struct connection *c = &connections[index];
    ssize_t got = recv(c->socket, c->held + c->held_bytes, sizeof c->held - c->held_bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) { close_connection(index); return; }
    c->held_bytes += (size_t)got;
    size_t whole = answer_bytes(c);
    if (whole == 0) {
        if (c->held_bytes == sizeof c->held) close_connection(index);
        return;
    }
    if (memcmp(c->held, "HTTP/1.1 200", 12) != 0) refused++;
    c->held_bytes = 0;
    latency_us[answered++] = (uint32_t)((now_ns() - c->due_ns) / 1000);
    c->is_waiting = false;
    rest(index);
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t percentile(double share) {
    if (answered == 0) return 0;
    int64_t at = (int64_t)(share * (double)answered);
    return latency_us[at < answered ? at : answered - 1];
}

static void run(double rate) {
    int64_t start = now_ns(), stop = start + (int64_t)SECONDS_MAX * 1000000000;
    struct epoll_event events[256];
    while (answered + broken < count) {
        int64_t now = now_ns(), due = now;
        if (now > stop) break;
        while (sent < count && idle_count > 0) {
            if (rate > 0) due = start + (int64_t)((double)sent / rate * 1e9);
            if (due > now) break;
            send_request(due);
        }
        int64_t wait = sent < count && idle_count > 0 && due > now ? due - now : 100 * 1000000;
        struct timespec timeout = { .tv_sec = 0, .tv_nsec = wait < 100000000 ? wait : 100000000 };
        int ready = epoll_pwait2(poll_fd, events, 256, &timeout, NULL);
        for (int i = 0; i < ready; i++) read_answer((int)events[i].data.u32);
    }
    qsort(latency_us, (size_t)answered, sizeof *latency_us, by_size);
    double seconds = (double)(now_ns() - start) / 1e9;
    printf("{\"requests\":%lld,\"seconds\":%.3f,\"p50\":%u,\"p99\":%u,\"p999\":%u,\"longest\":%u,\"refused\":%lld,\"broken\":%lld}\n",
           (long long)answered, seconds, percentile(0.5), percentile(0.99), percentile(0.999), percentile(1),
           (long long)refused, (long long)broken);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: pace PORT FILE CONNECTIONS RATE COUNT\n");
        return 64;
    }
    int wanted = atoi(argv[3]);
    count = atoll(argv[5]);
    if (wanted < 1 || wanted > CONNECTIONS_MAX || count < 1 || count > COUNT_MAX) {
        fprintf(stderr, "pace: at most %d connections and %d requests\n", CONNECTIONS_MAX, COUNT_MAX);
        return 64;
    }
    prctl(PR_SET_TIMERSLACK, 1);
    go_first();
    server = loopback(argv[1]);
    requests = read_requests(argv[2], &request_count);
    mark = 1000000000u + (uint32_t)(now_ns() / 1000000 % 1000000000);
    latency_us = calloc((size_t)count, sizeof *latency_us);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!latency_us || poll_fd < 0) fail("set-up");
    for (int i = 0; i < wanted; i++) open_connection(i);
    run(atof(argv[4]));
    return 0;
}
