#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { descriptors_max = 96 };

static int arrange(posix_spawn_file_actions_t *actions, const char *directory, const int *descriptors, unsigned count) {
    int reason = 0;
    for (unsigned i = 0; i < count && reason == 0; i++) {
        reason = descriptors[i] < 0 ? posix_spawn_file_actions_addopen(actions, (int)i, "/dev/null", O_RDWR, 0)
                                    : posix_spawn_file_actions_adddup2(actions, descriptors[i], (int)i);
    }
    if (reason == 0 && directory != NULL) reason = posix_spawn_file_actions_addchdir_np(actions, directory);
    return reason;
}

static int run(
    const char *program, const char *const *arguments, const char *const *environment, const char *directory, const int *descriptors,
    unsigned count, bool leads_session, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    int reason = posix_spawnattr_init(&attributes);
    if (reason == 0) {
        posix_spawnattr_setflags(
            &attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leads_session ? POSIX_SPAWN_SETSID : 0)));
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        reason = arrange(&actions, directory, descriptors, count);
        if (reason == 0) {
            reason = posix_spawn(pid, program, &actions, &attributes, (char *const *)arguments, (char *const *)environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

pid_t linux_spawn(
    const char *program, const char *const *arguments, const char *const *environment, const char *directory, const int *descriptors,
    unsigned count, bool leads_session, int *watch) {
    if (count > descriptors_max) return -EINVAL;
    int moved[descriptors_max];
    int reason = 0;
    pid_t pid = -1;
    for (unsigned i = 0; i < count; i++) {
        moved[i] = descriptors[i];
        /* Move a descriptor that another one would overwrite before its turn. */
        if (moved[i] < 0 || moved[i] >= (int)count || moved[i] == (int)i) continue;
        moved[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, (int)count);
        if (moved[i] < 0 && reason == 0) reason = errno;
    }
    if (reason == 0) reason = run(program, arguments, environment, directory, moved, count, leads_session, &pid);
    for (unsigned i = 0; i < count; i++) {
        if (moved[i] >= 0 && moved[i] != descriptors[i]) close(moved[i]);
    }
    if (reason != 0) return -reason;
    /* Without a free descriptor there is no watch. The program may already have had effects, so it is left running. */
    *watch = (int)syscall(SYS_pidfd_open, pid, 0);
    return pid;
}
