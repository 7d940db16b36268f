#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int linux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : -errno; }

int linux_signal_descriptor(const int *numbers, unsigned count) {
    sigset_t signals;
    sigemptyset(&signals);
    for (unsigned i = 0; i < count; i++) sigaddset(&signals, numbers[i]);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) return -errno;
    int descriptor = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor >= 0 ? descriptor : -errno;
}

int linux_next_signal(int descriptor, int *is_from_kernel) {
    struct signalfd_siginfo info;
    if (read(descriptor, &info, sizeof info) != sizeof info) return 0;
    *is_from_kernel = info.ssi_code == SI_KERNEL;
    return (int)info.ssi_signo;
}

/* Runs in the child. Reports a failure through `report`, which closes by itself when the program starts. */
static void become(const struct linux_program *program, pid_t parent, int report) {
    if (program->dies_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent) _exit(127);
    }
    if (program->is_session_leader) setsid();
    /* setpgid fails for a group of another session; the program then stays in its parent's group. */
    if (program->group >= 0) setpgid(0, program->group);
    for (int target = 0; target < 3; target++) {
        int source = program->standard[target];
        if (source >= 0 && source != target) dup2(source, target);
    }
    if (program->fourth >= 0) {
        /* `report` may itself be descriptor 3. */
        if (report == 3) report = fcntl(report, F_DUPFD_CLOEXEC, 4);
        if (program->fourth == 3) fcntl(3, F_SETFD, 0);
        else dup2(program->fourth, 3);
    }
    if (program->closes_others) syscall(SYS_close_range, program->fourth >= 0 ? 4u : 3u, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(program->arguments[0], (char *const *)program->arguments,
            program->environment != NULL ? (char *const *)program->environment : environ);
    int code = errno;
    if (write(report, &code, sizeof code) < 0) _exit(126);
    _exit(127);
}

int linux_start(const struct linux_program *program) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -errno;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) become(program, parent, report[1]);
    int code = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0 && read(report[0], &code, sizeof code) != sizeof code) code = 0;
    close(report[0]);
    return code == 0 ? child : -code;
}

bool linux_is_own_folder(const char *path, long seconds) {
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != getuid()) return false;
    return status.st_mtim.tv_sec + seconds < time(NULL);
}
