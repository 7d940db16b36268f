#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

int linux_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    int result = adjtimex(&state);
    if (result < 0) return -errno;
    return result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

int linux_probe_watch(const char *folder) {
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (descriptor < 0) return -errno;
    int result = inotify_add_watch(descriptor, folder, IN_CLOSE_WRITE) < 0 ? -errno : 0;
    close(descriptor);
    return result;
}

bool linux_has_seccomp(void) {
    unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool linux_has_pidfd(void) {
    int descriptor = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

long linux_file_system(const char *path) {
    struct statfs state;
    return statfs(path, &state) == 0 ? (long)state.f_type : -errno;
}

long long linux_free_bytes(const char *path) {
    struct statfs state;
    return statfs(path, &state) == 0 ? (long long)state.f_bavail * (long long)state.f_frsize : -errno;
}

int linux_allow_debuggers(void) {
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return -errno;
    /* Kernels without Yama know no such option, and need none. */
    if (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) != 0 && errno != EINVAL) return -errno;
    return 0;
}
