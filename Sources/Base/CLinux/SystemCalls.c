#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* System calls that the headers of Debian 12 lack. Their numbers are the same on all architectures. */
enum { call_fchmodat2 = 452, newest_call = 462 /* mseal, of Linux 6.10 */ };

/* Calls that no function needs, that kernel exploits commonly start with, or that change what Landlock does not cover: owner, mode,
 * times and attributes of files by path, folder notification, named memory and queues. */
static const int denied[] = {
    SYS_ptrace, SYS_kcmp, SYS_pidfd_getfd, SYS_process_madvise, SYS_process_mrelease, SYS_process_vm_writev, SYS_perf_event_open, SYS_bpf,
    SYS_userfaultfd, SYS_memfd_secret, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_mount_setattr, SYS_open_tree, SYS_move_mount, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_by_handle_at, SYS_quotactl, SYS_quotactl_fd, SYS_swapon, SYS_swapoff,
    SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_acct, SYS_syslog, SYS_vhangup,
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname,
    SYS_setsid,
    SYS_fchmodat, call_fchmodat2, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_inotify_add_watch, SYS_fanotify_init, SYS_fanotify_mark,
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semctl, SYS_msgget, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_iopl, SYS_ioperm,
#endif
};

/* Calls that change an open file. Harmless where a worker can open only files that belong to its own user; root owns every file. */
static const int denied_to_root[] = {SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_fremovexattr, SYS_utimensat};

/* Calls whose first argument is a process or thread id. */
static const int of_a_process[] = {
    SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,
    SYS_process_vm_readv,
};

/* Signal calls, for kernels whose Landlock does not scope signals. */
static const int of_a_signalled_process[] = {SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};

static const int denied_prctls[] = {PR_SET_DUMPABLE, PR_SET_MM};
/* Denied fcntl commands: they choose the process and signal of I/O notifications. */
static const int denied_fcntls[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
/* Denied ioctl requests: the same choice (FIOSETOWN, SIOCSPGRP), faked terminal input (TIOCSTI, TIOCLINUX), attributes of files
 * (FS_IOC_SETFLAGS of 64 and of 32 bits, FS_IOC_FSSETXATTR). */
static const int denied_ioctls[] = {0x8901, 0x8902, 0x5412, 0x541C, 0x40086602, 0x40046602, 0x401C5820};

enum { program_max = 512 };
#define COUNT(list) (sizeof(list) / sizeof *(list))

struct filter {
    struct sock_filter code[program_max];
    unsigned count;
};

static void add(struct filter *filter, struct sock_filter instruction) {
    if (filter->count < program_max) filter->code[filter->count] = instruction;
    filter->count++;
}

static void load(struct filter *filter, size_t offset) { add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }

static void answer(struct filter *filter, uint32_t action) { add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action)); }

/* Skips `skipped` instructions unless the loaded value is `value`. */
static void unless_equal(struct filter *filter, uint32_t value, uint8_t skipped) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

static void if_equal(struct filter *filter, uint32_t value, uint32_t action) {
    unless_equal(filter, value, 1);
    answer(filter, action);
}

/* Loads the low 32 bits of an argument. */
static void load_argument(struct filter *filter, unsigned index) {
    /* Both architectures are little-endian. */
    load(filter, offsetof(struct seccomp_data, args[index]));
}

/* Starts the instructions for one system call; `end_call` ends them. */
static unsigned begin_call(struct filter *filter, int number) {
    unless_equal(filter, (uint32_t)number, 0);
    return filter->count;
}

static void end_call(struct filter *filter, unsigned start) {
    if (start <= program_max) filter->code[start - 1].jf = (uint8_t)(filter->count - start);
}

static const uint32_t refusal = SECCOMP_RET_ERRNO | EPERM;

static void deny(struct filter *filter, const int *calls, size_t count) {
    for (size_t index = 0; index < count; index++) if_equal(filter, (uint32_t)calls[index], refusal);
}

/* Allows the call if the loaded value is 0 or the own process id; refuses it otherwise. */
static void allow_own(struct filter *filter) {
    if_equal(filter, 0, SECCOMP_RET_ALLOW);
    if_equal(filter, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
    answer(filter, refusal);
}

static void allow_of_itself(struct filter *filter, const int *calls, size_t count) {
    for (size_t index = 0; index < count; index++) {
        unsigned start = begin_call(filter, calls[index]);
        load_argument(filter, 0);
        allow_own(filter);
        end_call(filter, start);
    }
}

/* Filters a call whose first argument tells the kind of the second: values up to `largest` allow process and group ids, larger ones a
 * user. */
static void allow_priority(struct filter *filter, int call, unsigned largest) {
    unsigned start = begin_call(filter, call);
    load_argument(filter, 0);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, largest, 0, 1));
    answer(filter, refusal);
    load_argument(filter, 1);
    allow_own(filter);
    end_call(filter, start);
}

static void deny_values(struct filter *filter, int call, unsigned argument, const int *values, size_t count) {
    unsigned start = begin_call(filter, call);
    load_argument(filter, argument);
    deny(filter, values, count);
    answer(filter, SECCOMP_RET_ALLOW);
    end_call(filter, start);
}

/* A process may ask to be killed when its parent ends, as workers do, but may not revoke it. */
static void restrict_prctl(struct filter *filter) {
    unsigned start = begin_call(filter, SYS_prctl);
    load_argument(filter, 0);
    deny(filter, denied_prctls, COUNT(denied_prctls));
    unless_equal(filter, PR_SET_PDEATHSIG, 4);
    load_argument(filter, 1);
    if_equal(filter, SIGKILL, SECCOMP_RET_ALLOW);
    answer(filter, refusal);
    answer(filter, SECCOMP_RET_ALLOW);
    end_call(filter, start);
}

/* Allows threads and ordinary child processes: no namespaces, no CLONE_PARENT. */
static void restrict_clone(struct filter *filter) {
    const uint32_t flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT;
    /* clone3 passes its flags in memory, where a filter cannot see them. With ENOSYS, C libraries fall back to clone. */
    if_equal(filter, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    unsigned start = begin_call(filter, SYS_clone);
    load_argument(filter, 0);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1));
    answer(filter, refusal);
    answer(filter, SECCOMP_RET_ALLOW);
    end_call(filter, start);
}

/* Allows setting the times of an open file only: the path argument must be NULL. */
static void restrict_times(struct filter *filter) {
    unsigned start = begin_call(filter, SYS_utimensat);
    load_argument(filter, 1);
    unless_equal(filter, 0, 3);
    load(filter, offsetof(struct seccomp_data, args[1]) + 4);
    if_equal(filter, 0, SECCOMP_RET_ALLOW);
    answer(filter, refusal);
    end_call(filter, start);
}

/* Landlock covers truncation by path or through a readable descriptor from version 3 on. */
static void restrict_truncation(struct filter *filter) {
    if_equal(filter, SYS_truncate, refusal);
    if_equal(filter, SYS_openat2, SECCOMP_RET_ERRNO | ENOSYS);
    const int opens[] = {
        SYS_openat,
#ifdef SYS_open
        SYS_open,
#endif
    };
    for (unsigned index = 0; index < COUNT(opens); index++) {
        unsigned start = begin_call(filter, opens[index]);
        load_argument(filter, opens[index] == SYS_openat ? 2 : 1);
        add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE));
        if_equal(filter, O_TRUNC | O_RDONLY, refusal);
        answer(filter, SECCOMP_RET_ALLOW);
        end_call(filter, start);
    }
}

/* Landlock scopes signals from version 6 on. For older versions, a process may signal only itself and its group. */
static void restrict_signals(struct filter *filter) {
    if_equal(filter, SYS_pidfd_open, refusal);
    if_equal(filter, SYS_pidfd_send_signal, refusal);
    unsigned start = begin_call(filter, SYS_kill);
    load_argument(filter, 0);
    if_equal(filter, (uint32_t)-getpid(), SECCOMP_RET_ALLOW);
    allow_own(filter);
    end_call(filter, start);
    allow_of_itself(filter, of_a_signalled_process, COUNT(of_a_signalled_process));
}

#ifdef THIS_ARCHITECTURE
static void build(struct filter *filter, int landlock_version) {
    load(filter, offsetof(struct seccomp_data, arch));
    unless_equal(filter, THIS_ARCHITECTURE, 1);
    add(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
    /* Deny system calls newer than this list, and the x32 numbers of x86-64. */
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, newest_call, 0, 1));
    answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
    if (geteuid() == 0) deny(filter, denied_to_root, COUNT(denied_to_root));
    deny(filter, denied, COUNT(denied));
    allow_of_itself(filter, of_a_process, COUNT(of_a_process));
    allow_priority(filter, SYS_setpriority, PRIO_PGRP);
    allow_priority(filter, SYS_ioprio_set, IOPRIO_WHO_PGRP);
    restrict_prctl(filter);
    deny_values(filter, SYS_fcntl, 1, denied_fcntls, COUNT(denied_fcntls));
    deny_values(filter, SYS_ioctl, 1, denied_ioctls, COUNT(denied_ioctls));
    restrict_clone(filter);
    restrict_times(filter);
    if (landlock_version < 3) restrict_truncation(filter);
    if (landlock_version < 6) restrict_signals(filter);
    answer(filter, SECCOMP_RET_ALLOW);
}
#endif

int linux_deny_system_calls(int landlock_version) {
#ifndef THIS_ARCHITECTURE
    (void)landlock_version;
    return -ENOSYS;
#else
    struct filter filter = {.count = 0};
    build(&filter, landlock_version);
    if (filter.count > program_max) return -E2BIG;
    struct sock_fprog program = {.len = (unsigned short)filter.count, .filter = filter.code};
    long thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    /* The kernel returns the id of a thread whose filter differs. */
    if (thread > 0) return -EBUSY;
    return thread == 0 ? 0 : -errno;
#endif
}
