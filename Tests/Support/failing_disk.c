/*
 * A disk that fails on demand. Preloaded into a process. While the file FAILING_CONTROL exists, calls for files in FAILING_FOLDER fail with
 * the errno and for the kinds of calls that are listed in it, for example "30 write open".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fault(const char *call) {
    char text[128] = "";
    const char *control = getenv("FAILING_CONTROL");
    int file = control == NULL ? -1 : REAL(open)(control, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    return size > 0 && strstr(text, call) != NULL ? atoi(text) : 0;
}

static int is_inside(const char *path) {
    const char *folder = getenv("FAILING_FOLDER");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether a call for this descriptor has to fail. Sets errno then. */
static int fails(int descriptor, const char *call) {
    int before = errno, error = fault(call);
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    errno = before;
    if (error == 0 || readlink(link, path, sizeof path - 1) < 0 || !is_inside(path)) {
        errno = before;
        return 0;
    }
    errno = error;
    return 1;
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { return fails(file, "write") ? -1 : REAL(pwrite64)(file, data, size, at); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return fails(file, "write") ? -1 : REAL(pwrite)(file, data, size, at); }
ssize_t write(int file, const void *data, size_t size) { return fails(file, "write") ? -1 : REAL(write)(file, data, size); }
int ftruncate64(int file, off64_t size) { return fails(file, "write") ? -1 : REAL(ftruncate64)(file, size); }
int ftruncate(int file, off_t size) { return fails(file, "write") ? -1 : REAL(ftruncate)(file, size); }
int fsync(int file) { return fails(file, "sync") ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(file, "sync") ? -1 : REAL(fdatasync)(file); }

static int opens(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    int error = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && is_inside(path) ? fault("open") : 0;
    if (error != 0) return errno = error, -1;
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
