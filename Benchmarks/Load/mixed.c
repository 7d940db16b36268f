/*
 * mixed: connections that write while others listen, in one process with one clock.
 *
 *   mixed PORT LISTENERS WRITER WRITERS WRITES ACKNOWLEDGEMENT RATE SECONDS FIRST
 *
 * Opens a connection for each request of the file LISTENERS, then WRITERS connections with the request of the file WRITER, and then sends
 * the requests of the file WRITES in turn. Each connection for writing has one open request, and receives the text ACKNOWLEDGEMENT for it.
 * With a rate of 0 it sends the next one at once. With another rate the requests leave at fixed times whatever the server does, and all
 * times count from when a request was due.
 *
 * In a request, each ten # are replaced by its number; the first one has FIRST. A listener finds the number of a write behind the text
 * "n": in an event, and so its time. Listeners with an even place in their file are followers of whole nodes, the others of queries.
 *
 * Each connection has another address, as clients have. Loopback only. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "load.h"

enum {
    CONNECTIONS_MAX = 20 * 1000, WRITES_MAX = 4 * 1000 * 1000, SECONDS_MAX = 60, OPENING_SECONDS_MAX = 20, REST_SECONDS_MAX = 10,
    QUIET_MILLISECONDS = 1000, TEXT_BYTES_MAX = 64, BUFFER_BYTES = 256 * 1024, MICROSECONDS_MAX = 2 * 1000 * 1000
};

static const char event_text[] = "\"n\":", listener_ready[] = "\"r\":2,\"b\":{\"s\":\"ok\"";
static const size_t event_size = sizeof event_text - 1;

/* Times in microseconds, of which the last stands for all that are longer. */
struct histogram {
    int64_t count;
    uint32_t longest;
    uint32_t times[MICROSECONDS_MAX + 1];
};

static struct histogram acknowledgements, followers, queries;

struct connection {
    int socket;
    bool is_writer, is_query, is_waiting;
    unsigned char kept;                /* bytes at the end of the last piece that may begin a text */
    char tail[TEXT_BYTES_MAX];
    int64_t due_ns;
};

static struct connection connections[CONNECTIONS_MAX];
static int connection_count, idle[CONNECTIONS_MAX], idle_first, idle_count;   /* a ring: every connection has its turn */
static struct sockaddr_in server;
static struct request *writes;
static size_t write_count;
static const char *acknowledgement;
static size_t acknowledgement_size;
static int64_t first, *due_of_write, sent, answered, event_bytes, last_answer_ns, last_event_ns;
static int poll_fd;

static void note(struct histogram *histogram, int64_t ns) {
    int64_t us = ns / 1000;
    uint32_t time = us < 0 ? 0 : us > MICROSECONDS_MAX ? MICROSECONDS_MAX : (uint32_t)us;
    histogram->count++;
    histogram->times[time]++;
    if (time > histogram->longest) histogram->longest = time;
}

/* Returns a percentile of two histograms together, of which the second may be nil. */
static uint32_t percentile(const struct histogram *one, const struct histogram *other, double share) {
    int64_t count = one->count + (other == NULL ? 0 : other->count), before = 0;
    for (uint32_t time = 0; time <= MICROSECONDS_MAX; time++) {
        before += one->times[time] + (other == NULL ? 0 : other->times[time]);
        if ((double)before > share * (double)count) return time;
    }
    return one->longest;
}

static void rest(int index) {
    idle[(idle_first + idle_count++) % CONNECTIONS_MAX] = index;
}

/* Opens a connection, sends a request, and waits for a text in the answers. */
static void open_connection(struct request *opening, const char *ready, bool is_writer, bool is_query) {
    if (connection_count == CONNECTIONS_MAX) {
        fprintf(stderr, "mixed: at most %d connections\n", CONNECTIONS_MAX);
        exit(2);
    }
    static char room[1 << 20];
    struct connection *one = &connections[connection_count];
    one->is_writer = is_writer;
    one->is_query = is_query;
    one->socket = client_socket((uint32_t)connection_count, 0);
    if (connect(one->socket, (struct sockaddr *)&server, sizeof server) != 0) fail("connect");
    const int is_on = 1;
    setsockopt(one->socket, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
    const struct timeval patience = { .tv_sec = OPENING_SECONDS_MAX };
    setsockopt(one->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    put_number(opening, (uint32_t)connection_count);
    if (send(one->socket, opening->bytes, opening->size, MSG_NOSIGNAL) != (ssize_t)opening->size) fail("send");
    for (size_t held = 0; memmem(room, held, ready, strlen(ready)) == NULL;) {
        ssize_t got = recv(one->socket, room + held, sizeof room - held, 0);
        if (got <= 0) {
            fprintf(stderr, "mixed: connection %d was not ready: %.*s\n", connection_count, (int)(held < 400 ? held : 400), room);
            exit(1);
        }
        held += (size_t)got;
    }
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)connection_count };
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, one->socket, &event) != 0) fail("epoll_ctl");
    if (is_writer) rest(connection_count);
    connection_count++;
}

static void send_write(int64_t due_ns) {
    struct connection *one = &connections[idle[idle_first]];
    idle_first = (idle_first + 1) % CONNECTIONS_MAX;
    idle_count--;
    struct request *next = &writes[(size_t)sent % write_count];
    put_number(next, (uint32_t)(first + sent));
    one->is_waiting = true;
    one->due_ns = due_of_write[sent++] = due_ns;
    if (send(one->socket, next->bytes, next->size, MSG_NOSIGNAL) != (ssize_t)next->size) fail("send");
}

/* Notes the write of each event in `start` to `end`. No event of the piece before is in it as a whole. */
static void hear_events(struct connection *one, const char *start, const char *end, int64_t now) {
    while ((start = memmem(start, (size_t)(end - start), event_text, event_size)) != NULL && end - start >= (int)event_size + MARK_BYTES) {
        start += event_size;
        int64_t number = 0;
        for (int index = 0; index < MARK_BYTES; index++) {
            if (start[index] < '0' || start[index] > '9') { number = -1; break; }
            number = number * 10 + start[index] - '0';
        }
        /* The first value of a listen has older ones. */
        if (number < first || number >= first + sent) continue;
        note(one->is_query ? &queries : &followers, now - due_of_write[number - first]);
        last_event_ns = now;
    }
}

static void hear_answer(struct connection *one, int index, const char *start, const char *end, int64_t now) {
    if (!one->is_waiting || memmem(start, (size_t)(end - start), acknowledgement, acknowledgement_size) == NULL) return;
    one->is_waiting = false;
    answered++;
    note(&acknowledgements, now - one->due_ns);
    last_answer_ns = now;
    rest(index);
}

static void hear(int index, char *room) {
    struct connection *one = &connections[index];
    ssize_t got = recv(one->socket, room + TEXT_BYTES_MAX, BUFFER_BYTES, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        fprintf(stderr, "mixed: connection %d was closed\n", index);
        exit(1);
    }
    int64_t now = now_ns();
    char *start = room + TEXT_BYTES_MAX - one->kept, *end = room + TEXT_BYTES_MAX + got;
    memcpy(start, one->tail, one->kept);
    if (one->is_writer) hear_answer(one, index, start, end, now);
    else hear_events(one, start, end, now);
    if (!one->is_writer) event_bytes += got;
    size_t kept_max = one->is_writer ? acknowledgement_size - 1 : event_size + MARK_BYTES - 1;
    size_t whole = (size_t)(end - start), kept = whole < kept_max ? whole : kept_max;
    /* An answer has only one such text, of which no part is kept. */
    if (one->is_writer && !one->is_waiting) kept = 0;
    memcpy(one->tail, end - kept, kept);
    one->kept = (unsigned char)kept;
}

static void run(double rate, double seconds) {
    static char room[TEXT_BYTES_MAX + BUFFER_BYTES];
    int64_t start = now_ns(), stop = start + (int64_t)(seconds * 1e9);
    last_answer_ns = last_event_ns = start;
    for (;;) {
        int64_t now = now_ns(), due = now;
        while (now < stop && sent < WRITES_MAX && idle_count > 0) {
            if (rate > 0) due = start + (int64_t)((double)sent / rate * 1e9);
            if (due > now) break;
            send_write(due);
        }
        int64_t last = last_event_ns > last_answer_ns ? last_event_ns : last_answer_ns;
        if (now >= stop && answered == sent && now - last > (int64_t)QUIET_MILLISECONDS * 1000000) break;
        if (now > stop + (int64_t)REST_SECONDS_MAX * 1000000000) break;
        int64_t wait = now < stop && idle_count > 0 && due > now ? due - now : 10 * 1000000;
        struct timespec timeout = { .tv_nsec = wait < 10000000 ? wait : 10000000 };
        struct epoll_event found[256];
        int number = epoll_pwait2(poll_fd, found, 256, &timeout, NULL);
        for (int index = 0; index < number; index++) hear((int)found[index].data.u32, room);
    }
    double writing = (double)(last_answer_ns - start) / 1e9, hearing = (double)(last_event_ns - start) / 1e9;
    int64_t events = followers.count + queries.count;
    printf("{\"sent\":%lld,\"answered\":%lld,\"writesPerSecond\":%.1f,\"eventsPerSecond\":%.1f,\"eventBytes\":%lld",
           (long long)sent, (long long)answered, (double)answered / writing, hearing > 0 ? (double)events / hearing : 0,
           (long long)event_bytes);
    const struct { const char *name; const struct histogram *one, *other; } all[] = {
        { "acknowledgements", &acknowledgements, NULL }, { "events", &followers, &queries },
        { "followers", &followers, NULL }, { "queries", &queries, NULL } };
    for (size_t index = 0; index < sizeof all / sizeof *all; index++) {
        const struct histogram *one = all[index].one, *other = all[index].other;
        uint32_t longest = other != NULL && other->longest > one->longest ? other->longest : one->longest;
        printf(",\"%s\":{\"count\":%lld,\"p50\":%u,\"p99\":%u,\"p999\":%u,\"longest\":%u}", all[index].name,
               (long long)(one->count + (other == NULL ? 0 : other->count)), percentile(one, other, 0.5), percentile(one, other, 0.99),
               percentile(one, other, 0.999), longest);
    }
    printf("}\n");
}

int main(int argc, char **argv) {
    if (argc != 10) {
        fprintf(stderr, "usage: mixed PORT LISTENERS WRITER WRITERS WRITES ACKNOWLEDGEMENT RATE SECONDS FIRST\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    acknowledgement = argv[6];
    acknowledgement_size = strlen(acknowledgement);
    double rate = atof(argv[7]), seconds = atof(argv[8]);
    first = atoll(argv[9]);
    int writers = atoi(argv[4]);
    if (writers < 1 || seconds <= 0 || seconds > SECONDS_MAX || acknowledgement_size < 1 || acknowledgement_size > TEXT_BYTES_MAX
        || first < 1000000000 || first + WRITES_MAX > INT32_MAX) {
        fprintf(stderr, "mixed: a value is out of range\n");
        return 2;
    }
    server = loopback(argv[1]);
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    due_of_write = calloc(WRITES_MAX, sizeof *due_of_write);
    if (poll_fd < 0 || due_of_write == NULL) fail("set-up");
    size_t listeners, one;
    struct request *openings = read_requests(argv[2], &listeners), *opening = read_requests(argv[3], &one);
    writes = read_requests(argv[5], &write_count);
    for (size_t index = 0; index < listeners; index++) open_connection(&openings[index], listener_ready, false, index % 2 == 1);
    for (int index = 0; index < writers; index++) open_connection(opening, acknowledgement, true, false);
    go_first();
    run(rate, seconds);
    return 0;
}
