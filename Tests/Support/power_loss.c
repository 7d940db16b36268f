/*
 * Records which data of a process has reached the disk for certain. Preloaded into the process. Synced contents of files in POWER_FOLDER are
 * copied to POWER_SYNCED. If the machine loses its power after the process was killed, a file has at least its state in POWER_SYNCED, and at
 * most its state in POWER_FOLDER.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define NAMES 64

/* A write of `size` bytes at `at`; or, if `size` is -1, a truncation to `at` bytes. */
struct change { off_t at; ssize_t size; };
struct file { char name[256]; struct change *changes; size_t count, room; };

static struct file files[NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The part of a path below the folder, or NULL. */
static const char *inside(const char *path) {
    const char *folder = getenv("POWER_FOLDER");
    size_t size = folder == NULL ? 0 : strlen(folder);
    return size > 0 && strncmp(path, folder, size) == 0 && path[size] == '/' ? path + size + 1 : NULL;
}

static struct file *find(const char *name) {
    for (int i = 0; i < NAMES; i++) {
        if (files[i].name[0] == 0) snprintf(files[i].name, sizeof files[i].name, "%s", name);
        if (strcmp(files[i].name, name) == 0) return &files[i];
    }
    abort();
}

static void note(int descriptor, off_t at, ssize_t size) {
    char link[64], path[4096] = "";
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const char *name = readlink(link, path, sizeof path - 1) < 0 ? NULL : inside(path);
    if (name != NULL && strstr(name, "-shm") == NULL) {
        pthread_mutex_lock(&lock);
        struct file *file = find(name);
        if (file->count == file->room) {
            file->room = file->room * 2 + 64;
            file->changes = realloc(file->changes, file->room * sizeof *file->changes);
            if (file->changes == NULL) abort();
        }
        file->changes[file->count++] = (struct change){at, size};
        pthread_mutex_unlock(&lock);
    }
    errno = before;
}

static void copy(int from, int to, off_t at, ssize_t size) {
    static char room[1 << 16];
    while (size > 0) {
        ssize_t count = pread(from, room, size < (ssize_t)sizeof room ? (size_t)size : sizeof room, at);
        if (count <= 0) return;
        if (REAL(pwrite)(to, room, (size_t)count, at) != count) abort();
        at += count;
        size -= count;
    }
}

static int sync_file(int descriptor) {
    char link[64], path[4096] = "", target[8192];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const char *name = readlink(link, path, sizeof path - 1) < 0 ? NULL : inside(path);
    if (name == NULL) return 0;
    pthread_mutex_lock(&lock);
    struct file *file = find(name);
    snprintf(target, sizeof target, "%s/%s", getenv("POWER_SYNCED"), name);
    int from = REAL(open)(path, O_RDONLY | O_CLOEXEC), to = REAL(open)(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (from < 0 || to < 0) abort();
    for (size_t i = 0; i < file->count; i++) {
        struct change change = file->changes[i];
        if (change.size >= 0) copy(from, to, change.at, change.size);
        else if (REAL(ftruncate)(to, change.at) != 0) abort();
    }
    file->count = 0;
    close(from);
    close(to);
    pthread_mutex_unlock(&lock);
    return 0;
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    ssize_t count = REAL(pwrite64)(file, data, size, at);
    if (count > 0) note(file, at, count);
    return count;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return pwrite64(file, data, size, at); }

ssize_t write(int file, const void *data, size_t size) {
    ssize_t count = REAL(write)(file, data, size);
    int before = errno;
    off_t end = count > 0 ? lseek(file, 0, SEEK_CUR) : -1;
    errno = before;
    if (end >= 0) note(file, end - count, count);
    return count;
}

int ftruncate64(int file, off64_t size) {
    int result = REAL(ftruncate64)(file, size);
    if (result == 0) note(file, size, -1);
    return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int unlink(const char *path) {
    char target[8192];
    int result = REAL(unlink)(path);
    const char *name = result == 0 ? inside(path) : NULL;
    if (name != NULL) {
        snprintf(target, sizeof target, "%s/%s", getenv("POWER_SYNCED"), name);
        pthread_mutex_lock(&lock);
        find(name)->count = 0;
        REAL(unlink)(target);
        pthread_mutex_unlock(&lock);
    }
    return result;
}

int fsync(int file) { return sync_file(file); }
int fdatasync(int file) { return sync_file(file); }
