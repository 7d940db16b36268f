/* Takes more than its share, and leaves processes behind. The data is a word and a number after a colon; the answer is a number. */
#define _GNU_SOURCE
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* How many processes can be started that stay. */
static long start_many(long wanted) {
    long started = 0;
    for (; started < wanted; started++) {
        pid_t child = fork();
        if (child < 0) break;
        if (child == 0) {
            pause();
            _exit(0);
        }
    }
    return started;
}

/* A grandchild that has left group and session, where it may, whose parent has ended. Its process id. */
static long leave(void) {
    int ends[2];
    pid_t grandchild = -1;
    if (pipe(ends) != 0) return -errno;
    if (fork() == 0) {
        setsid();
        grandchild = fork();
        if (grandchild == 0) {
            setsid();
            setpgid(0, 0);
            for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
            grandchild = getpid();
            if (write(ends[1], &grandchild, sizeof grandchild) < 0) _exit(1);
            for (int descriptor = 0; descriptor < 64; descriptor++) close(descriptor);
            for (;;) pause();
        }
        _exit(0);
    }
    if (read(ends[0], &grandchild, sizeof grandchild) != sizeof grandchild) return -1;
    close(ends[0]);
    close(ends[1]);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    return grandchild;
}

/* Each of four children takes so many bytes at once; how many of them live to tell. */
static long share(long bytes) {
    pid_t children[4];
    int ready[2], go[2], alive = 0;
    if (pipe(ready) != 0 || pipe(go) != 0) return -errno;
    for (int n = 0; n < 4; n++) {
        children[n] = fork();
        if (children[n] != 0) continue;
        close(ready[0]);
        close(go[1]);
        char *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) _exit(1);
        memset(room, 1, (size_t)bytes);
        char byte = 1;
        if (write(ready[1], &byte, 1) < 0) _exit(1);
        close(ready[1]);
        /* Until the parent has counted. */
        if (read(go[0], &byte, 1) < 0) _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(go[0]);
    char byte;
    while (read(ready[0], &byte, 1) == 1 && ++alive < 4) continue;
    close(ready[0]);
    close(go[1]);
    for (int n = 0; n < 4; n++) waitpid(children[n], NULL, 0);
    return alive;
}

/* How much could be written, in so many files. */
static long fill(long bytes, int files, int is_nameless) {
    static char block[1 << 20];
    long written = 0;
    for (int n = 0; n < files; n++) {
        char name[32];
        snprintf(name, sizeof name, "file-%d", n);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (is_nameless) unlink(name);
        for (long part = 0; part < bytes / files; part += (long)sizeof block) {
            ssize_t count = write(descriptor, block, sizeof block);
            if (count < 0) return -errno;
            written += count;
        }
        if (!is_nameless) close(descriptor);
    }
    return written;
}

/* Says to the host that a message of so many bytes follows: a call of a service. What follows is not as long. */
static long begin_message(long bytes) {
    unsigned char header[32] = {0};
    for (int n = 0; n < 4; n++) header[n] = (unsigned char)(bytes >> 8 * n);
    header[4] = 69;
    return write(3, header, sizeof header);
}

/* Writes all of it, also where the socket takes only a part at once. */
static int write_all(int descriptor, const void *bytes, size_t size) {
    const char *rest = bytes;
    while (size > 0) {
        ssize_t count = write(descriptor, rest, size);
        if (count < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
        } else if (count < 0) {
            return -1;
        } else {
            rest += count;
            size -= (size_t)count;
        }
    }
    return 0;
}

/* Calls a service so many times with a mebibyte each, on the socket to the host's first loop (3) or its second (6). All calls have one and the
   same number. */
static long call_under_one_number(int lane, long calls) {
    static char body[1 << 20];
    static const char head[] = "database\0set";
    static const char begin[] = "{\"path\":\"/a\",\"value\":\"", end[] = "\"}";
    memset(body, 'x', sizeof body);
    memcpy(body, begin, sizeof begin - 1);
    memcpy(body + sizeof body - (sizeof end - 1), end, sizeof end - 1);
    size_t payload = sizeof head + sizeof body;
    unsigned char header[32] = {0};
    for (int n = 0; n < 4; n++) header[n] = (unsigned char)(payload >> 8 * n);
    header[4] = 69;
    header[16] = 7;
    header[28] = sizeof head;
    for (long n = 0; n < calls; n++) {
        if (write_all(lane, header, sizeof header) || write_all(lane, head, sizeof head) || write_all(lane, body, sizeof body)) return -errno;
    }
    return calls;
}

/* The same, with names that are no text. */
static long fill_badly_named(long bytes) {
    static char block[1 << 20];
    long written = 0;
    for (int n = 0; n < 16; n++) {
        char name[] = "\xff\xfe-file-a";
        name[sizeof name - 2] = (char)('a' + n);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (long part = 0; part < bytes / 16; part += (long)sizeof block) {
            ssize_t count = write(descriptor, block, sizeof block);
            if (count < 0) return -errno;
            written += count;
        }
        close(descriptor);
    }
    return written;
}

/* The same in a child that keeps them open and goes on. */
static long fill_in_child(long bytes) {
    int ends[2];
    long written = 0;
    if (pipe(ends) != 0) return -errno;
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child == 0) {
        written = fill(bytes, 16, 1);
        if (write(ends[1], &written, sizeof written) < 0) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    if (read(ends[0], &written, sizeof written) != sizeof written) written = -EIO;
    close(ends[0]);
    return written;
}

/* The same, of files that are mapped and neither open nor named. */
static long fill_mapped(long bytes) {
    long written = 0;
    for (int n = 0; n < 16; n++) {
        int descriptor = open("mapped", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (ftruncate(descriptor, bytes / 16) != 0) return -errno;
        char *memory = mmap(NULL, (size_t)(bytes / 16), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        unlink("mapped");
        close(descriptor);
        if (memory == MAP_FAILED) return -errno;
        memset(memory, 1, (size_t)(bytes / 16));
        written += bytes / 16;
    }
    return written;
}

static long take(const char *what, long amount) {
    if (strcmp(what, "fork") == 0) return start_many(amount);
    if (strcmp(what, "leave") == 0) return leave();
    if (strcmp(what, "share") == 0) return share(amount);
    if (strcmp(what, "one file") == 0) return fill(amount, 1, 0);
    if (strcmp(what, "files") == 0) return fill(amount, 16, 0);
    if (strcmp(what, "nameless") == 0) return fill(amount, 16, 1);
    if (strcmp(what, "message") == 0) return begin_message(amount);
    if (strcmp(what, "calls on the first lane") == 0) return call_under_one_number(3, amount);
    if (strcmp(what, "calls on the second lane") == 0) return call_under_one_number(6, amount);
    if (strcmp(what, "bad names") == 0) return fill_badly_named(amount);
    if (strcmp(what, "in child") == 0) return fill_in_child(amount);
    if (strcmp(what, "mapped") == 0) return fill_mapped(amount);
    if (strcmp(what, "pid") == 0) return getpid();
    return -1;
}

static void invoke(const hearth_invocation *invocation) {
    char text[256] = {0}, result[32];
    size_t size = invocation->payload.size - 2 < sizeof text - 1 ? invocation->payload.size - 2 : sizeof text - 1;
    memcpy(text, (const char *)invocation->payload.data + 1, size);
    char *amount = strchr(text, ':');
    if (amount) *amount++ = 0;
    snprintf(result, sizeof result, "%ld", take(text, amount ? atol(amount) : 0));
    answer(invocation->id, HEARTH_RESULT, result);
}

PLUGIN(ONE_CALLABLE("take"))
