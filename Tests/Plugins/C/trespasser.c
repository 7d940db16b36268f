/* Tries what a function has no business with, and answers with the errno that it got, 0 where it succeeded. */
#define _GNU_SOURCE
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int tried(int result) { return result < 0 ? errno : 0; }

static int try_open(const char *path, int flags) {
    int descriptor = open(path, flags, 0600);
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}

/* The data is a string: a word, and a path after a colon. */
static int try(const char *what, const char *path) {
    if (strcmp(what, "read") == 0) return try_open(path, O_RDONLY);
    if (strcmp(what, "write") == 0) return try_open(path, O_WRONLY | O_CREAT);
    if (strcmp(what, "delete") == 0) return tried(unlink(path));
    if (strcmp(what, "mount") == 0) return tried(mount("none", "/mnt", "tmpfs", 0, NULL));
    if (strcmp(what, "unshare") == 0) return tried(unshare(CLONE_NEWUSER));
    if (strcmp(what, "chroot") == 0) return tried(chroot("/tmp"));
    if (strcmp(what, "trace") == 0) return tried((int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
    if (strcmp(what, "signal") == 0) return tried(kill(getppid(), 0));
    return -1;
}

static void invoke(const hearth_invocation *invocation) {
    char text[1024] = {0}, result[16];
    size_t size = invocation->payload.size - 2 < sizeof text - 1 ? invocation->payload.size - 2 : sizeof text - 1;
    memcpy(text, (const char *)invocation->payload.data + 1, size);
    char *path = strchr(text, ':');
    if (path) *path++ = 0;
    snprintf(result, sizeof result, "%d", try(text, path ? path : ""));
    answer(invocation->id, HEARTH_RESULT, result);
}

PLUGIN(ONE_CALLABLE("try"))
