#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The code up to linux_start_kept runs between fork and exec in a program with threads: system calls only. */

enum { control_descriptor = 3 };

/* Sends SIGKILL to the children of this process, which the kernel lists as numbers with spaces between them. */
static void kill_children(pid_t main_child) {
    kill(-main_child, SIGKILL);
    const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    char text[4096];
    ssize_t count;
    pid_t number = 0;
    while ((count = read(list, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < count; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = number * 10 + (text[i] - '0');
            } else {
                if (number > 0) kill(number, SIGKILL);
                number = 0;
            }
        }
    }
    if (number > 0) kill(number, SIGKILL);
    close(list);
}

/* Kills all descendants. Children of a child that ends become children of this process and are killed in turn. */
static void end_descendants(pid_t main_child, int *status) {
    for (;;) {
        kill_children(main_child);
        int ended;
        const pid_t pid = waitpid(-1, &ended, 0);
        if (pid == main_child) *status = ended;
        if (pid < 0 && errno != EINTR) return;
    }
}

static void keep(const char *const *arguments, const char *const *environment, const char *directory) {
    sigset_t all, child_ended;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    const int ended = signalfd(-1, &child_ended, SFD_CLOEXEC);
    const pid_t main_child = fork();
    if (main_child < 0 || ended < 0) _exit(126);
    if (main_child == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        close(control_descriptor);
        sigemptyset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        if (chdir(directory) != 0) _exit(126);
        linux_restore_open_files();
        execve(arguments[0], (char *const *)arguments, (char *const *)environment);
        _exit(127);
    }
    close(1);
    close(2);
    int status = 0;
    struct pollfd sources[2] = {{.fd = control_descriptor, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
    for (;;) {
        if (poll(sources, 2, -1) < 0 && errno != EINTR) break;
        if (sources[0].revents != 0) break;
        if (sources[1].revents == 0) continue;
        struct signalfd_siginfo information;
        if (read(ended, &information, sizeof information) < 0 && errno != EINTR) break;
        int is_over = 0, one;
        pid_t pid;
        while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
            if (pid == main_child) {
                is_over = 1;
                status = one;
            }
        }
        if (is_over) {
            end_descendants(main_child, &one);
            _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    end_descendants(main_child, &status);
    _exit(128 + SIGKILL);
}

int linux_start_kept(
    const char *const *arguments, const char *const *environment, const char *directory, int *output, int *control) {
    sigset_t all, before;
    int outputs[2], controls[2];
    if (pipe2(outputs, O_CLOEXEC) != 0) return -errno;
    if (pipe2(controls, O_CLOEXEC) != 0) {
        const int reason = errno;
        close(outputs[0]);
        close(outputs[1]);
        return -reason;
    }
    sigfillset(&all);
    /* Block all signals: a handler of this process must not run in the child. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid != 0) {
        const int reason = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        close(outputs[1]);
        close(controls[0]);
        if (pid > 0) {
            *output = outputs[0];
            *control = controls[1];
            return pid;
        }
        close(outputs[0]);
        close(controls[1]);
        return -reason;
    }
    for (int number = 1; number < _NSIG; number++) signal(number, SIG_DFL);
    setsid();
    /* Use numbers above all target descriptors, so that dup2 overwrites none before it is used. */
    const int null = fcntl(open("/dev/null", O_RDWR), F_DUPFD, 16);
    const int written = fcntl(outputs[1], F_DUPFD, 16);
    const int watched = fcntl(controls[0], F_DUPFD, 16);
    if (dup2(null, 0) < 0 || dup2(written, 1) < 0 || dup2(written, 2) < 0 || dup2(watched, control_descriptor) < 0) _exit(126);
    linux_close_from(control_descriptor + 1);
    keep(arguments, environment, directory);
    _exit(126);
}
