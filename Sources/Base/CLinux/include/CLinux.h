/* Linux functions that Swift's Glibc module does not expose: variadic calls, macros, and declarations behind _GNU_SOURCE. */
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "CLinuxCrash.h"

/* Sends SIGKILL to the calling process when the thread that started it ends. 0, or a negated errno. */
int linux_die_with_parent(void);

/* Programs started by this process can gain no further privileges (no_new_privs). 0, or a negated errno. */
int linux_set_no_new_privileges(void);

/* Lets processes of the same user attach to this process with a debugger, also where only ancestors may (Yama). 0, or a negated errno. */
int linux_allow_debuggers(void);

/* Closes every descriptor from `first` on. 0, or a negated errno. */
int linux_close_from(unsigned first);

/* Accepts a connection with close-on-exec. Its descriptor, or a negated errno. */
int linux_accept(int socket);

/* Raises the soft limit of open files to the hard one, but at most to `most`. Returns the limit that holds then. */
long linux_raise_open_files(long most);

/* Restores the soft limit from before linux_raise_open_files. For a forked child of that process: system calls only. */
void linux_restore_open_files(void);

/* The version of Landlock that the kernel has; 0 for none. */
int linux_landlock_version(void);

/* Restricts the calling thread and everything it starts with Landlock: read and execute only below `readable`, all access only below
 * `writable` (both lists end with NULL). From version 4 on it can listen only on TCP ports that the kernel chooses; from version 6 on it
 * cannot signal processes or reach abstract sockets outside. It cannot trace processes outside. Irreversible. 0, or a negated errno;
 * -ENOSYS where the version is 0.
 *
 * `version`: the version of Landlock to use, at most the kernel's. */
int linux_restrict_files(int version, const char *const *readable, const char *const *writable);

/* Installs a seccomp filter for all threads. System calls that no function needs (tracing, mounting, loading kernel code, ...) fail with
 * EPERM, and so do those that reach other processes and files where Landlock of this version does not restrict them. Calls whose
 * arguments a filter cannot inspect fail with ENOSYS. Irreversible. 0, or a negated errno. */
int linux_deny_system_calls(int landlock_version);

/* Opens a path with O_PATH: keeps the file or folder in kernel memory without opening it for I/O. A close-on-exec descriptor, or a
 * negated errno. */
int linux_hold(const char *path);

/* Number of threads of this process, or a negated errno. */
int linux_thread_count(void);

/* Counts of a thread: blocks that were read from disks for it and pages for which it has waited; times that it waited or was interrupted. */
struct linux_thread_usage {
    long disk_reads;
    long switches;
};

/* The counts of the calling thread. */
struct linux_thread_usage linux_thread_usage_now(void);

/* The number of processors that this process may run on, at least 1. */
int linux_processor_count(void);

/* Drops every capability of the calling thread except CAP_DAC_READ_SEARCH. The permissions of the user remain. 0, or a negated errno. */
int linux_drop_capabilities(void);

/* Replaces `stdout` and `stderr` by streams that pass each line to `write` together with a cookie. 0, or -ENOMEM. */
typedef ssize_t (*linux_stream_write)(void *cookie, const char *bytes, size_t count);
int linux_capture_streams(linux_stream_write write, void *output_cookie, void *error_cookie);

/* Writes `text` to the standard error stream. */
void linux_write_error(const char *text);

/* Unmaps the pages of the program's and its libraries' code. Code that runs again is mapped again by a page fault; the kernel may drop
 * code that ran once, such as reading the configuration. */
void linux_release_code(void);

/* Starts the program `arguments[0]` in `directory`, in a process group of its own and without input, under a keeper process. The keeper
 * kills the program and all its descendants, whatever their process groups, when the program ends or when `control` is closed; the end
 * of the calling process closes it too. `output` reads both output streams of the program. Both lists end with NULL.
 *
 * Returns the keeper's process id, which the caller waits for, or a negated errno. The keeper exits with the program's status, with 128
 * plus the number of the signal that ended it, with 126 if there is no such directory, or with 127 if the program cannot be run. */
int linux_start_kept(
    const char *const *arguments, const char *const *environment, const char *directory, int *output, int *control);

/* Makes this process the reaper of orphaned descendants, instead of init. 0, or a negated errno. */
int linux_adopt_orphans(void);

/* Mode of a terminal. A separate type, because Clang assigns `struct termios` to whichever module includes it first. */
struct linux_terminal_mode {
    char bytes[64];
};

/* Puts `terminal` into raw mode: each key is delivered as it is typed, without echo; output processing stays. `saved` gets the previous
 * mode. 0, or a negated errno, for example for a descriptor that is no terminal. */
int linux_enter_raw_mode(int terminal, struct linux_terminal_mode *saved);

/* Stops the echo of typed characters on `terminal`. `saved` gets the previous mode. 0, or a negated errno. */
int linux_hide_typing(int terminal, struct linux_terminal_mode *saved);

/* Restores the mode `saved` of `terminal`. 0, or a negated errno. */
int linux_restore_terminal(int terminal, const struct linux_terminal_mode *saved);

/* Schedules the calling thread so that it runs before threads that compute: requests a short time slice, which kernels from 6.12 on honour,
 * and the priority `nice` if the thread has the default one and may raise it. Threads and processes that it starts inherit neither. 0, or
 * a negated errno where the kernel refuses both. */
int linux_run_soon(int nice);

/* Schedules the calling thread as a batch (SCHED_BATCH): when it wakes up it does not preempt the thread that runs. Threads and processes
 * that it starts do not inherit that. 0, or a negated errno. */
int linux_run_in_turn(void);

/* Schedules the calling thread so that it computes while other threads have nothing to do: a batch with the priority `nice`, or its own if that
 * is lower, and with a long time slice. Kernels from 6.12 on let a thread that wakes up with a shorter slice run at once; with slices of the
 * same length it would wait for the end of this one, at a tick of the clock (4 ms where there are 250 a second). Threads and processes that
 * it starts inherit neither. 0, or a negated errno. */
int linux_run_in_background(int nice);

/* The bytes that the peer of a connection has not acknowledged; 0 where the kernel does not say. */
int linux_unacknowledged_bytes(int socket);

/* Creates a non-blocking, close-on-exec eventfd. Its descriptor, or a negated errno. */
int linux_event_descriptor(void);

/* Makes an eventfd readable. Callable from any thread. */
void linux_signal_event(int descriptor);

/* Resets an eventfd. */
void linux_clear_event(int descriptor);

void linux_close_event(int descriptor);

/* Blocks these signals and returns a descriptor that is readable while one of them is pending; or a negated errno. */
int linux_signal_descriptor(const int *numbers, unsigned count);

/* Takes the oldest pending signal; 0 for none. `is_from_kernel`: a terminal sent it, not a process. */
int linux_next_signal(int descriptor, int *is_from_kernel);

/* Options for starting a program. */
struct linux_program {
    /* The program and its arguments, NULL-terminated. The program is looked up in PATH. */
    const char *const *arguments;
    /* NAME=value, NULL-terminated; NULL to inherit the environment. */
    const char *const *environment;
    /* Descriptors 0, 1 and 2 of the program; -1 to inherit. */
    int standard[3];
    /* Descriptor 3 of the program; -1 to inherit. */
    int fourth;
    /* Closes all other descriptors in the program. */
    int closes_others;
    /* The process group to join; 0 for a new one, -1 to inherit. */
    pid_t group;
    int is_session_leader;
    /* Kills the program when the thread that starts it ends. */
    int dies_with_parent;
};

/* Starts a program with no signal blocked. Its process id, or a negated errno where it cannot be run. */
int linux_start(const struct linux_program *program);

/* Starts a program whose first `count` descriptors are `descriptors` (-1 for /dev/null); others are inherited unless close-on-exec. No
 * signal is blocked, ignored or handled. With `leads_session` it starts a new session. Uses vfork: no memory is copied, and the calling
 * thread continues once the program runs. `watch` gets a pidfd, which is readable once the program has ended, or -1 where the system has
 * none or no descriptor is free. The process id, or a negated errno where the program cannot be run. */
pid_t linux_spawn(
    const char *program, const char *const *arguments, const char *const *environment, const char *directory, const int *descriptors,
    unsigned count, bool leads_session, int *watch);

/* Whether `path` is a folder (not a link) that belongs to this user and was last changed more than `seconds` ago. */
bool linux_is_own_folder(const char *path, long seconds);

/* The most descriptors that a message can carry: the kernel's limit. */
#define LINUX_DESCRIPTORS_MAX 253

/* Creates two connected sockets of type SEQPACKET, non-blocking and close-on-exec. 0, or a negated errno. */
int linux_message_pair(int ends[2]);

/* Sends a message with open descriptors; the receiver gets copies. The number of bytes sent, or a negated errno. Never blocks. */
ssize_t linux_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/* Receives a message and at most LINUX_DESCRIPTORS_MAX descriptors, which are close-on-exec. The number of bytes received, 0 at the end,
 * or a negated errno: -EMSGSIZE if part of the message was lost. Never blocks. */
ssize_t linux_receive_descriptors(int socket, void *bytes, size_t count, int *descriptors, size_t *descriptor_count);

/* Creates a sealed memory file of `size` zero bytes to share with another process. Its size cannot change, so a mapping stays readable.
 * A close-on-exec descriptor, or a negated errno. */
int linux_shared_memory(size_t size);

/* Maps `size` bytes of shared memory, readable and writable. NULL, with errno set, on failure. */
void *linux_map_shared(int descriptor, size_t size);

/* Passes jobs of Swift tasks without an executor to `submit`, on any thread, instead of to libdispatch. Run each job once with
 * `linux_run_swift_job`. Call at program start. */
void linux_take_swift_tasks(void (*submit)(void *job));
void linux_run_swift_job(void *job);

/* Whether the kernel considers its clock synchronised with others. A negated errno if it does not say. */
int linux_clock_is_synchronised(void);

/* Watches a folder for a moment. 0, or a negated errno: -EMFILE if this user has no watcher left, -ENOSPC if no watch. */
int linux_probe_watch(const char *folder);

/* Whether the kernel can filter system calls. */
bool linux_has_seccomp(void);

/* Whether the kernel has pidfds. */
bool linux_has_pidfd(void);

/* The magic number of the file system of `path` (statfs(2)), or a negated errno. */
long linux_file_system(const char *path);

/* The bytes that this user can still write to the file system of `path`, or a negated errno. */
long long linux_free_bytes(const char *path);

/* The current environment, NULL-terminated. */
char *const *linux_environment(void);

/* The `si_code` of signals that the kernel sends itself, for example for a terminal. */
int linux_si_kernel(void);

#endif
