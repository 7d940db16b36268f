/*
 * Simulates a lack of descriptors, threads or processes at a chosen moment. Preloaded into a process. SCARCITY names a file that is mapped: the
 * calls listed in it are counted down, and the one that reaches 0 fails as at the limit. Later calls succeed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct control {
    int countdown;
    /* The name of the call that failed. The names of the counted calls, each between blanks; empty for all calls. */
    char failed[60];
    char counted[192];
} *control;

__attribute__((constructor)) static void map(void) {
    const char *path = getenv("SCARCITY");
    int file = path == NULL ? -1 : REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *room = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (room != MAP_FAILED) control = room;
}

/* Counts a call down. Returns whether it has to fail. */
static int fails(const char *call) {
    char word[64];
    if (control == NULL || __atomic_load_n(&control->countdown, __ATOMIC_ACQUIRE) <= 0) return 0;
    snprintf(word, sizeof word, " %s ", call);
    if (control->counted[0] != '\0' && strstr(control->counted, word) == NULL) return 0;
    if (__atomic_sub_fetch(&control->countdown, 1, __ATOMIC_ACQ_REL) != 0) return 0;
    snprintf(control->failed, sizeof control->failed, "%s", call);
    return 1;
}

#define FAIL(call, reason, result)     \
    if (fails(call)) {                 \
        errno = reason;                \
        return result;                 \
    }

int epoll_create1(int flags) {
    FAIL("epoll_create1", EMFILE, -1)
    return REAL(epoll_create1)(flags);
}

int eventfd(unsigned count, int flags) {
    FAIL("eventfd", EMFILE, -1)
    return REAL(eventfd)(count, flags);
}

int pipe2(int ends[2], int flags) {
    FAIL("pipe2", EMFILE, -1)
    return REAL(pipe2)(ends, flags);
}

int signalfd(int descriptor, const sigset_t *mask, int flags) {
    FAIL("signalfd", EMFILE, -1)
    return REAL(signalfd)(descriptor, mask, flags);
}

int inotify_init1(int flags) {
    FAIL("inotify_init1", EMFILE, -1)
    return REAL(inotify_init1)(flags);
}

int socket(int domain, int type, int protocol) {
    FAIL("socket", EMFILE, -1)
    return REAL(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
    FAIL("socketpair", EMFILE, -1)
    return REAL(socketpair)(domain, type, protocol, ends);
}

int accept4(int listening, struct sockaddr *address, socklen_t *length, int flags) {
    FAIL("accept", EMFILE, -1)
    return REAL(accept4)(listening, address, length, flags);
}

DIR *opendir(const char *path) {
    FAIL("opendir", EMFILE, NULL)
    return REAL(opendir)(path);
}

static int opens(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    FAIL("open", EMFILE, -1)
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return opens(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return opens(REAL(open64), path, flags, mode);
}

static int controls(int (*real)(int, int, ...), int descriptor, int command, void *argument) {
    if (command == F_DUPFD_CLOEXEC || command == F_DUPFD) FAIL("dup", EMFILE, -1)
    return real(descriptor, command, argument);
}

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return controls(REAL(fcntl), descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return controls(REAL(fcntl64), descriptor, command, argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    if (fails("pthread_create")) return EAGAIN;
    return REAL(pthread_create)(thread, attributes, start, argument);
}

int posix_spawn(
    pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const arguments[],
    char *const environment[]) {
    if (fails("posix_spawn")) return EAGAIN;
    return REAL(posix_spawn)(pid, path, actions, attributes, arguments, environment);
}

pid_t fork(void) {
    FAIL("fork", EAGAIN, -1)
    return REAL(fork)();
}
