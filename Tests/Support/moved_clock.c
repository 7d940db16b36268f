/*
 * A clock that a test moves. Preloaded into a process. The file CLOCK_FILE holds an int64_t, the number of seconds by which the clocks of the
 * process are ahead of those of the machine; it is mapped, so that a change is seen at once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *moved;

__attribute__((constructor)) static void map_file(void) {
    const char *path = getenv("CLOCK_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *moved, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) moved = page;
    close(file);
}

static int64_t seconds_ahead(void) { return moved == NULL ? 0 : *moved; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result != 0) return result;
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME:
        now->tv_sec += seconds_ahead();
    }
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    static int (*real)(struct timeval *restrict, void *restrict);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    if (result == 0) now->tv_sec += seconds_ahead();
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place != NULL) *place = now.tv_sec;
    return now.tv_sec;
}
