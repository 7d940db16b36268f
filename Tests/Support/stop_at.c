/*
 * Kills a process at a chosen step of its changes to a folder. Preloaded into the process. While the file STOP_CONTROL exists, changes of files
 * in STOP_FOLDER are counted. The file has two numbers: the process is killed in place of the change with the second number; counting starts
 * afresh when the first number changes. A write is done by half before the kill.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, order;

static int inside(const char *path) {
    const char *folder = getenv("STOP_FOLDER");
    return folder != NULL && path != NULL && strncmp(path, folder, strlen(folder)) == 0 && strstr(path, "/database/") == NULL;
}

static int inside_file(int file) {
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return readlink(link, path, sizeof path - 1) > 0 && inside(path);
}

/* Whether the process has to be killed at this change. */
static int is_last(void) {
    char text[32] = "";
    int before = errno, last = 0;
    pthread_mutex_lock(&lock);
    int file = REAL(open)(getenv("STOP_CONTROL"), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        long number, wanted;
        if (read(file, text, sizeof text - 1) > 0 && sscanf(text, "%ld %ld", &number, &wanted) == 2) {
            if (number != order) count = 0;
            order = number;
            last = count++ == wanted;
        }
        close(file);
    }
    pthread_mutex_unlock(&lock);
    errno = before;
    return last;
}

static void step(const char *path) {
    if (inside(path) && is_last()) kill(getpid(), SIGKILL);
}

static void step_file(int file) {
    if (inside_file(file) && is_last()) kill(getpid(), SIGKILL);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & (O_CREAT | O_TRUNC)) step(path);
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & (O_CREAT | O_TRUNC)) step(path);
    return REAL(open64)(path, flags, mode);
}

ssize_t write(int file, const void *data, size_t size) {
    if (inside_file(file) && is_last()) {
        if (REAL(write)(file, data, size / 2) < 0) abort();
        kill(getpid(), SIGKILL);
    }
    return REAL(write)(file, data, size);
}

int fsync(int file) { step_file(file); return REAL(fsync)(file); }
int rename(const char *from, const char *to) { step(to); return REAL(rename)(from, to); }
int link(const char *from, const char *to) { step(to); return REAL(link)(from, to); }
int unlink(const char *path) { step(path); return REAL(unlink)(path); }
int rmdir(const char *path) { step(path); return REAL(rmdir)(path); }
int mkdir(const char *path, mode_t mode) { step(path); return REAL(mkdir)(path, mode); }
int ftruncate(int file, off_t size) { step_file(file); return REAL(ftruncate)(file, size); }
