/* What Linux offers and Swift's Glibc module does not show: variadic calls, macros, and what needs _GNU_SOURCE. */
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "CLinuxCrash.h"

/* The calling process gets SIGKILL when the thread that started it ends. 0, or a negated errno. */
int linux_die_with_parent(void);

/* No program that this process starts can have more privileges than it has. 0, or a negated errno. */
int linux_set_no_new_privileges(void);

/* Closes every descriptor from `first` on. 0, or a negated errno. */
int linux_close_from(unsigned first);

/* Accepts a connection that is not inherited. Its descriptor, or a negated errno. */
int linux_accept(int socket);

/* Raises the soft limit of open files to the hard one, or to `most` where that is less. The limit that holds then. */
long linux_raise_open_files(long most);

/* Goes back to the soft limit that was there before. For a process that was forked from the one that raised it: system calls only. */
void linux_restore_open_files(void);

/* The version of Landlock that the kernel has; 0 for none. */
int linux_landlock_version(void);

/* From here on the calling thread, and what it starts, can read and run only what lies below `readable`, and do everything only below
 * `writable`; both lists end with NULL. It can listen only on TCP ports that the kernel chooses (from version 4 on), and can no longer signal
 * processes and reach abstract sockets outside (from version 6 on), nor trace them. Has no way back. 0, or a negated errno; -ENOSYS where the
 * version is 0.
 *
 * `version`: the version of Landlock to make use of, at most what the kernel has. */
int linux_restrict_files(int version, const char *const *readable, const char *const *writable);

/* From here on system calls fail with EPERM, in all threads, that no function needs (tracing, mounting, loading kernel code, ...) or that
 * reach other processes and files where Landlock of this version does not see it; with ENOSYS those that no filter can look into. Has no way
 * back. 0, or a negated errno. */
int linux_deny_system_calls(int landlock_version);

/* Keeps a file or folder in the kernel's memory, unopened. A descriptor that programs which are started do not get, or a negated errno. */
int linux_hold(const char *path);

/* How many threads this process has, or a negated errno. */
int linux_thread_count(void);

/* Gives up every capability, but for looking through folders: what remains is what the user may do. For the calling thread only. 0, or a
 * negated errno. */
int linux_drop_capabilities(void);

/* Replaces `stdout` and `stderr` by streams whose bytes go, line by line, to `write` with a cookie of theirs. 0, or -ENOMEM. */
typedef ssize_t (*linux_stream_write)(void *cookie, const char *bytes, size_t count);
int linux_capture_streams(linux_stream_write write, void *output_cookie, void *error_cookie);

/* Writes `text` to the standard error stream. */
void linux_write_error(const char *text);

/* Lets go of the mapped pages of the program's and its libraries' code: what runs again is mapped again by a fault each, what ran
 * once, such as reading the configuration, is the page cache's to drop. */
void linux_release_code(void);

/* Starts the program `arguments[0]` in `directory`, in a process group of its own and with nothing to read, below a process that
 * keeps it. The keeper ends it and all that it has started, however they have set their groups, when the program ends or when
 * `control` is closed, which the end of the calling process does too. Both of the program's outputs are read from `output`. Both
 * lists end with NULL.
 *
 * The keeper's process id, to be waited for, or a negated errno. The keeper exits with the program's status, with 128 and the
 * number of the signal that ended it, 126 where there is no such directory, 127 where the program cannot be run. */
int linux_start_kept(
    const char *const *arguments, const char *const *environment, const char *directory, int *output, int *control);

/* Processes that descend from this one and lose their parent become its own children, instead of init's. 0, or a negated errno. */
int linux_adopt_orphans(void);

/* Mode of a terminal. A type of its own, because `struct termios` belongs to whichever module of the program includes it first. */
struct linux_terminal_mode {
    char bytes[64];
};

/* Makes `terminal` hand on each key as it is typed and without an echo; output stays as it is. `saved` gets the mode before. 0, or a
 * negated errno, as for a descriptor that is no terminal. */
int linux_enter_raw_mode(int terminal, struct linux_terminal_mode *saved);

/* Gives `terminal` the mode `saved` again. 0, or a negated errno. */
int linux_restore_terminal(int terminal, const struct linux_terminal_mode *saved);

/* Lets the calling thread run soon when it has something to do, before threads that compute: asks for time in small pieces, which kernels
 * from 6.12 on honour, and for the priority `nice` where it has none of its own and may have that one. What it starts, threads and
 * processes, gets neither. 0, or a negated errno where the kernel refuses both. */
int linux_run_soon(int nice);

/* A new eventfd that does not block and is not inherited, or a negated errno. */
int linux_event_descriptor(void);

/* Makes an eventfd readable; from any thread. */
void linux_signal_event(int descriptor);

/* Makes an eventfd unreadable again. */
void linux_clear_event(int descriptor);

void linux_close_event(int descriptor);

/* Blocks these signals and returns a descriptor that is readable while one of them waits; or a negated errno. */
int linux_signal_descriptor(const int *numbers, unsigned count);

/* The number of the signal that waits longest, 0 for none. `is_from_kernel`: whether it came from a terminal rather than a process. */
int linux_next_signal(int descriptor, int *is_from_kernel);

/* How a program is started. */
struct linux_program {
    /* The first one is looked for in PATH; NULL ends the list. */
    const char *const *arguments;
    /* NAME=value, NULL ends the list; NULL for what this process has. */
    const char *const *environment;
    /* What its descriptors 0, 1 and 2 are; -1 for what they are here. */
    int standard[3];
    /* What its descriptor 3 is; -1 for whatever it is here. */
    int fourth;
    /* Whether it gets no other descriptors than these. */
    int closes_others;
    /* The process group to join, 0 for one of its own, -1 for this process's. */
    pid_t group;
    int is_session_leader;
    /* Whether it is killed when the thread that starts it ends. */
    int dies_with_parent;
};

/* Starts a program with no signal blocked. Its process id, or a negated errno where it cannot be run. */
int linux_start(const struct linux_program *program);

/* Starts a program with the first `count` descriptors as they stand in `descriptors`, -1 for /dev/null, and no others that are closed on
 * exec; with no signal blocked, ignored or handled, and where `leads_session` says so in a session of its own. No memory is copied for it,
 * and the calling thread goes on when the program runs. `watch` gets a descriptor that is readable once the program has ended, -1 where the
 * system has none such or none left. Its process id, or a negated errno where it cannot be run. */
pid_t linux_spawn(
    const char *program, const char *const *arguments, const char *const *environment, const char *directory, const int *descriptors,
    unsigned count, bool leads_session, int *watch);

/* Whether there is a folder, not a link to one, that belongs to this user and was last changed more than `seconds` ago. */
bool linux_is_own_folder(const char *path, long seconds);

/* How many descriptors a message may carry: what the kernel allows. */
#define LINUX_DESCRIPTORS_MAX 253

/* Two connected sockets that keep the bounds of messages, neither of which blocks or is inherited. 0, or a negated errno. */
int linux_message_pair(int ends[2]);

/* Sends a message with open descriptors, which the receiver gets copies of. The bytes sent, or a negated errno; never waits. */
ssize_t linux_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/* Receives a message and its descriptors, at most LINUX_DESCRIPTORS_MAX, which are not inherited. The bytes received, 0 at the end, or a
 * negated errno: -EMSGSIZE where some of it was lost. Never waits. */
ssize_t linux_receive_descriptors(int socket, void *bytes, size_t count, int *descriptors, size_t *descriptor_count);

/* A descriptor of `size` bytes of zeroed memory to be mapped and shared with another process, which cannot change its size: whoever has
 * it mapped can always read it. Closed on exec. Or a negated errno. */
int linux_shared_memory(size_t size);

/* Maps `size` bytes of shared memory, to read and write. NULL, with errno, where that is not possible. */
void *linux_map_shared(int descriptor, size_t size);

/* From here on the jobs of Swift's tasks that belong to no executor are given to `submit`, on any thread, and not to libdispatch. Each is to
 * be run once with `linux_run_swift_job`. For a program's start. */
void linux_take_swift_tasks(void (*submit)(void *job));
void linux_run_swift_job(void *job);

/* The environment as it is now; ends with NULL. */
char *const *linux_environment(void);

/* The `si_code` of signals that the kernel itself sends, such as a terminal's. */
int linux_si_kernel(void);

#endif
