/* Shared code of the load programs: the clock, the priority, connections of the loopback interface, and files of requests. */
#ifndef LOAD_H
#define LOAD_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MARK_BYTES = 10 };

/* A request, in which each ten # are replaced by a number when it is sent. */
struct request {
    char *bytes;
    size_t size;
    size_t mark_count;
    size_t *marks;
};

static inline int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void fail(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

/* Asks for time in small pieces (Linux 6.12) and, where this is allowed, for a priority above everything else: other work on the core
 * of the load must not count as the server's time. */
static inline void go_first(void) {
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } own = {
        .size = 48, .nice = -20, .runtime = 100 * 1000 };
    if (syscall(SYS_sched_setattr, 0, &own, 0) == 0) return;
    own.nice = 0;
    syscall(SYS_sched_setattr, 0, &own, 0);
}

static inline struct sockaddr_in loopback(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* Makes a socket that has an address of its own, as clients have: the host limits the requests of one address. */
static inline int client_socket(uint32_t number, int flags) {
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (made < 0) fail("socket");
    /* The port is chosen when it is known where the connection goes. */
    const int is_on = 1;
    if (setsockopt(made, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &is_on, sizeof is_on) != 0) fail("setsockopt");
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + number) };
    if (bind(made, (struct sockaddr *)&own, sizeof own) != 0) fail("bind");
    return made;
}

static inline void find_marks(struct request *request) {
    char *place = request->bytes, *end = place + request->size;
    while ((place = memmem(place, (size_t)(end - place), "##########", MARK_BYTES)) != NULL) {
        request->marks = realloc(request->marks, (request->mark_count + 1) * sizeof *request->marks);
        if (request->marks == NULL) fail("marks");
        request->marks[request->mark_count++] = (size_t)(place - request->bytes);
        place += MARK_BYTES;
    }
}

static inline void put_number(struct request *request, uint32_t number) {
    char digits[MARK_BYTES + 1];
    snprintf(digits, sizeof digits, "%010u", number);
    for (size_t index = 0; index < request->mark_count; index++) memcpy(request->bytes + request->marks[index], digits, MARK_BYTES);
}

/* Reads a file of requests: a line with a length stands before each. */
static inline struct request *read_requests(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail(path);
    struct request *requests = NULL;
    size_t size;
    *count = 0;
    while (fscanf(file, "%zu", &size) == 1 && fgetc(file) == '\n') {
        requests = realloc(requests, (*count + 1) * sizeof *requests);
        char *bytes = malloc(size);
        if (requests == NULL || bytes == NULL || fread(bytes, 1, size, file) != size) fail(path);
        requests[*count] = (struct request){ .bytes = bytes, .size = size };
        find_marks(&requests[(*count)++]);
    }
    fclose(file);
    if (*count == 0) fail(path);
    return requests;
}

#endif
