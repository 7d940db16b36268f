#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* `struct sched_attr` of linux/sched/types.h, which cannot be included beside glibc's sched.h. */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;
    uint64_t deadline;
    uint64_t period;
    uint32_t clamp_min;
    uint32_t clamp_max;
};

enum { flag_reset_on_fork = 1, slice_ns = 100 * 1000, background_slice_ns = 100 * 1000 * 1000 };

int linux_run_soon(int nice) {
    struct attributes own = {.size = sizeof own};
    if (syscall(SYS_sched_getattr, 0, &own, (unsigned)sizeof own, 0) != 0) return -errno;
    /* Keep a policy that was chosen for this thread from outside. */
    if (own.policy != SCHED_OTHER) return 0;
    int32_t before = own.nice;
    own.flags = flag_reset_on_fork;
    own.runtime = slice_ns;
    if (before == 0) own.nice = nice;
    if (syscall(SYS_sched_setattr, 0, &own, 0) == 0) return 0;
    own.nice = before;
    return syscall(SYS_sched_setattr, 0, &own, 0) == 0 ? 0 : -errno;
}

int linux_run_in_turn(void) {
    struct attributes own = {.size = sizeof own};
    if (syscall(SYS_sched_getattr, 0, &own, (unsigned)sizeof own, 0) != 0) return -errno;
    if (own.policy != SCHED_OTHER) return 0;
    own.policy = SCHED_BATCH;
    own.flags = flag_reset_on_fork;
    own.runtime = 0;
    return syscall(SYS_sched_setattr, 0, &own, 0) == 0 ? 0 : -errno;
}

int linux_run_in_background(int nice) {
    struct attributes own = {.size = sizeof own};
    if (syscall(SYS_sched_getattr, 0, &own, (unsigned)sizeof own, 0) != 0) return -errno;
    if (own.policy != SCHED_OTHER) return 0;
    own.policy = SCHED_BATCH;
    own.flags = flag_reset_on_fork;
    own.runtime = background_slice_ns;
    if (own.nice < nice) own.nice = nice;
    return syscall(SYS_sched_setattr, 0, &own, 0) == 0 ? 0 : -errno;
}

struct linux_thread_usage linux_thread_usage_now(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (struct linux_thread_usage){.disk_reads = usage.ru_inblock + usage.ru_majflt, .switches = usage.ru_nivcsw + usage.ru_nvcsw};
}

int linux_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
