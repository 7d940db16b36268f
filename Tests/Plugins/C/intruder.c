/*
 * Tries to get at the host: from a constructor, that runs before anybody has asked for it, from a thread that this one starts, and from calls.
 * Each answer is the errno of what was tried, 0 where it succeeded.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifndef TARGET
#define TARGET "/nowhere"
#endif

static int tried(long result) { return result < 0 ? errno : 0; }

static int try_open(const char *path, int flags) {
    int descriptor = open(path, flags, 0600);
    if (descriptor < 0) return errno;
    char byte;
    int result = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY) && read(descriptor, &byte, 1) < 0 && errno != EISDIR ? errno : 0;
    close(descriptor);
    return result;
}

/* The possible actions of the constructor and its thread: read the token, read the host's environment, write into the data folder. */
static int early[3] = {-1, -1, -1}, threaded[3] = {-1, -1, -1};
static pid_t host_pid;

static void reach(int *results) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)host_pid);
    results[0] = try_open(TARGET "/admin-token", O_RDONLY);
    results[1] = try_open(path, O_RDONLY);
    results[2] = try_open(TARGET "/planted", O_WRONLY | O_CREAT);
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int is_asked;

static void *stay(void *unused) {
    (void)unused;
    pthread_mutex_lock(&turn);
    for (;;) {
        while (!is_asked) pthread_cond_wait(&change, &turn);
        reach(threaded);
        is_asked = 0;
        pthread_cond_broadcast(&change);
    }
    return NULL;
}

__attribute__((constructor)) static void intrude(void) {
    pthread_t thread;
    host_pid = getppid();
    reach(early);
    pthread_create(&thread, NULL, stay, NULL);
}

static void ask_thread(void) {
    pthread_mutex_lock(&turn);
    is_asked = 1;
    pthread_cond_broadcast(&change);
    while (is_asked) pthread_cond_wait(&change, &turn);
    pthread_mutex_unlock(&turn);
}

/* Files. */

static int set_times(const char *path) { return tried(utimensat(AT_FDCWD, path, NULL, 0)); }

/* A descriptor that is none: what is done with it must not reach the file. */
static int unopened(const char *path, int (*use)(int)) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return errno;
    int result = use(descriptor);
    close(descriptor);
    return result;
}

static int chmod_unopened(int descriptor) { return tried(syscall(452, descriptor, "", 0700, AT_EMPTY_PATH)); }
static int chown_unopened(int descriptor) { return tried(fchownat(descriptor, "", getuid(), getgid(), AT_EMPTY_PATH)); }

static int own_file(int (*use)(int)) {
    int descriptor = open("own", O_RDWR | O_CREAT, 0600);
    if (descriptor < 0) return errno;
    int result = use(descriptor);
    close(descriptor);
    return result;
}

static int chmod_open(int descriptor) { return tried(fchmod(descriptor, 0640)); }
static int times_open(int descriptor) { return tried(futimens(descriptor, NULL)); }

static int files(const char *what, const char *path) {
    if (strcmp(what, "read") == 0) return try_open(path, O_RDONLY);
    if (strcmp(what, "list") == 0) return try_open(path, O_RDONLY | O_DIRECTORY);
    if (strcmp(what, "write") == 0) return try_open(path, O_WRONLY | O_CREAT);
    if (strcmp(what, "empty") == 0) return try_open(path, O_RDONLY | O_TRUNC);
    if (strcmp(what, "truncate") == 0) return tried(truncate(path, 0));
    if (strcmp(what, "chmod") == 0) return tried(chmod(path, 0777));
    if (strcmp(what, "fchmodat") == 0) return tried(fchmodat(AT_FDCWD, path, 0777, 0));
    if (strcmp(what, "fchmodat2") == 0) return unopened(path, chmod_unopened);
    if (strcmp(what, "chown") == 0) return tried(chown(path, getuid(), getgid()));
    if (strcmp(what, "fchownat") == 0) return unopened(path, chown_unopened);
    if (strcmp(what, "utimes") == 0) return set_times(path);
    if (strcmp(what, "setxattr") == 0) return tried(setxattr(path, "user.x", "1", 1, 0));
    if (strcmp(what, "watch") == 0) return tried(inotify_add_watch(inotify_init1(IN_CLOEXEC), path, IN_ALL_EVENTS));
    if (strcmp(what, "link") == 0) return tried(readlink(path, (char[256]){0}, 255));
    if (strcmp(what, "chmod own") == 0) return own_file(chmod_open);
    if (strcmp(what, "utimes own") == 0) return own_file(times_open);
    return -1;
}

/* Processes. */

static int set_limit(void) {
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    return tried(prlimit(getppid(), RLIMIT_NOFILE, &none, NULL));
}

static int set_affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return tried(sched_setaffinity(getppid(), sizeof set, &set));
}

static int set_scheduler(void) {
    struct sched_param parameters = {0};
    return tried(sched_setscheduler(getppid(), SCHED_IDLE, &parameters));
}

/* A signal that comes when a socket has something to read. */
static int own_a_socket(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return errno;
    int result = tried(fcntl(ends[0], F_SETOWN, getppid()));
    close(ends[0]);
    close(ends[1]);
    return result;
}

static long start(unsigned long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return child;
}

static int clone3_namespace(void) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return tried(child);
}

static int bind_port(const char *port) {
    int one = 1, socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    int result = tried(bind(socket_, (struct sockaddr *)&address, sizeof address));
    close(socket_);
    return result;
}

static int others(const char *what, const char *argument) {
    if (strcmp(what, "prlimit") == 0) return set_limit();
    if (strcmp(what, "setpriority") == 0) return tried(setpriority(PRIO_PROCESS, getppid(), 19));
    /* The process of an unknown user. If this call were allowed, it would be allowed for the host's user, too. */
    if (strcmp(what, "setpriority user") == 0) return tried(setpriority(PRIO_USER, 65534, 19));
    if (strcmp(what, "affinity") == 0) return set_affinity();
    if (strcmp(what, "scheduler") == 0) return set_scheduler();
    if (strcmp(what, "ioprio") == 0) return tried(syscall(SYS_ioprio_set, 1, getppid(), 3 << 13));
    if (strcmp(what, "signal") == 0) return tried(kill(getppid(), 0));
    if (strcmp(what, "queue") == 0) return tried(sigqueue(getppid(), 0, (union sigval){0}));
    if (strcmp(what, "tgkill") == 0) return tried(syscall(SYS_tgkill, getppid(), getppid(), 0));
    if (strcmp(what, "own") == 0) return own_a_socket();
    if (strcmp(what, "user namespace") == 0) return tried(start(CLONE_NEWUSER));
    if (strcmp(what, "clone3") == 0) return clone3_namespace();
    if (strcmp(what, "sibling") == 0) return tried(start(CLONE_PARENT));
    if (strcmp(what, "x32") == 0) return tried(syscall(0x40000000 | SYS_getpid));
    if (strcmp(what, "bind") == 0) return bind_port(argument);
    return -1;
}

/* The functions. */

static void *run(void *argument) { return argument; }

static int start_thread(void) {
    pthread_t thread;
    int result = pthread_create(&thread, NULL, run, NULL);
    if (result == 0) pthread_join(thread, NULL);
    return result;
}

static int run_program(void) { return system("exec /bin/true"); }

static int resolve(void) {
    struct addrinfo *found = NULL;
    int result = getaddrinfo("localhost", "http", NULL, &found);
    if (result == 0) freeaddrinfo(found);
    return result;
}

static int know_zone(void) {
    time_t now = 1700000000;
    struct tm local;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    localtime_r(&now, &local);
    return local.tm_gmtoff == 3600 ? 0 : EINVAL;
}

static int make_temporary(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int descriptor = mkstemp(path);
    if (descriptor < 0) return errno;
    unlink(path);
    return close(descriptor);
}

static int signal_child(void) {
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    int result = tried(kill(child, SIGTERM));
    if (result == 0) waitpid(child, NULL, 0);
    return result;
}

static int ordinary(const char *what) {
    if (strcmp(what, "thread") == 0) return start_thread();
    if (strcmp(what, "program") == 0) return run_program();
    if (strcmp(what, "resolve") == 0) return resolve();
    if (strcmp(what, "zone") == 0) return know_zone();
    if (strcmp(what, "temporary") == 0) return make_temporary();
    if (strcmp(what, "raise") == 0) return tried(raise(0));
    if (strcmp(what, "signal child") == 0) return signal_child();
    if (strcmp(what, "own limit") == 0) return tried(setrlimit(RLIMIT_NOFILE, &(struct rlimit){100, 100}));
    if (strcmp(what, "own priority") == 0) return tried(setpriority(PRIO_PROCESS, 0, 5));
    if (strcmp(what, "shared memory") == 0) return tried(memfd_create("x", MFD_CLOEXEC));
    return -1;
}

static int try(const char *what, const char *argument) {
    if (strcmp(what, "early") == 0) return early[atoi(argument)];
    if (strcmp(what, "thread's") == 0) {
        ask_thread();
        return threaded[atoi(argument)];
    }
    int result = files(what, argument);
    if (result == -1) result = others(what, argument);
    return result == -1 ? ordinary(what) : result;
}

static void invoke(const hearth_invocation *invocation) {
    char text[1024] = {0}, result[16];
    size_t size = invocation->payload.size - 2 < sizeof text - 1 ? invocation->payload.size - 2 : sizeof text - 1;
    memcpy(text, (const char *)invocation->payload.data + 1, size);
    char *argument = strchr(text, ':');
    if (argument) *argument++ = 0;
    snprintf(result, sizeof result, "%d", try(text, argument ? argument : ""));
    answer(invocation->id, HEARTH_RESULT, result);
}

PLUGIN(ONE_CALLABLE("try"))
