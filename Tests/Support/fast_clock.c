/*
 * Makes time pass faster for a process, so that a test need not wait for minutes. Preloaded: the monotonic clock runs CLOCK_FACTOR times as fast,
 * and waits for events are shorter in the same measure.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

static int64_t factor(void) {
    static int64_t known;
    if (known == 0) known = atoll(getenv("CLOCK_FACTOR"));
    return known;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    static int64_t start;
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result != 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE)) return result;
    int64_t nanoseconds = now->tv_sec * 1000000000LL + now->tv_nsec;
    int64_t first = 0;
    __atomic_compare_exchange_n(&start, &first, nanoseconds, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    nanoseconds = start + (nanoseconds - start) * factor();
    now->tv_sec = nanoseconds / 1000000000LL;
    now->tv_nsec = nanoseconds % 1000000000LL;
    return 0;
}

/* Rounded up, so that no wait ends too early. */
static int shorter(int milliseconds) { return milliseconds <= 0 ? milliseconds : (int)((milliseconds + factor() - 1) / factor()); }

int epoll_pwait(int set, struct epoll_event *events, int count, int milliseconds, const sigset_t *mask) {
    static int (*real)(int, struct epoll_event *, int, int, const sigset_t *);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "epoll_pwait");
    return real(set, events, count, shorter(milliseconds), mask);
}

int epoll_wait(int set, struct epoll_event *events, int count, int milliseconds) {
    static int (*real)(int, struct epoll_event *, int, int);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "epoll_wait");
    return real(set, events, count, shorter(milliseconds));
}
