#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights and scopes that are newer than the headers of Debian 12. */
#define ACCESS_TRUNCATE (1ULL << 14)
#define ACCESS_IOCTL_DEV (1ULL << 15)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

struct ruleset {
    __u64 handled_access_fs;
    __u64 handled_access_net;
    __u64 scoped;
};

int linux_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

/* Every right over files that a kernel of this version knows. */
static __u64 all_rights(int version) {
    __u64 rights = (1ULL << 13) - 1;
    if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) rights |= ACCESS_TRUNCATE;
    return rights;
}

static int allow(int ruleset, const char *path, __u64 rights) {
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    struct stat status;
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    /* What is not there needs no right. */
    if (rule.parent_fd < 0) return 0;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode)) {
        rule.allowed_access &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE;
    }
    int result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : -errno;
    close(rule.parent_fd);
    return result;
}

int linux_restrict_files(const char *const *readable, const char *const *writable) {
    int version = linux_landlock_version();
    if (version == 0) return -ENOSYS;
    struct ruleset attributes = {.handled_access_fs = all_rights(version)};
    size_t size = offsetof(struct ruleset, handled_access_net);
    if (version >= 6) {
        attributes.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
        size = sizeof attributes;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0) return -errno;
    int result = 0;
    for (; result == 0 && *readable != NULL; readable++) result = allow(ruleset, *readable, ACCESS_READ);
    for (; result == 0 && *writable != NULL; writable++) result = allow(ruleset, *writable, attributes.handled_access_fs);
    if (result == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) result = -errno;
    close(ruleset);
    return result;
}

/* What no function needs, and what attacks on kernels begin with. */
static const int denied_calls[] = {
    SYS_ptrace,        SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount,          SYS_umount2,       SYS_pivot_root,
    SYS_chroot,        SYS_setns,            SYS_unshare,           SYS_bpf,            SYS_perf_event_open, SYS_keyctl,
    SYS_add_key,       SYS_request_key,      SYS_io_uring_setup,    SYS_io_uring_enter, SYS_io_uring_register, SYS_userfaultfd,
    SYS_kexec_load,    SYS_init_module,      SYS_finit_module,      SYS_delete_module,  SYS_reboot,        SYS_swapon,
    SYS_swapoff,       SYS_open_by_handle_at, SYS_acct,             SYS_quotactl,       SYS_settimeofday,  SYS_clock_settime,
};

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

int linux_deny_system_calls(void) {
#ifndef THIS_ARCHITECTURE
    return -ENOSYS;
#else
    enum { count = sizeof denied_calls / sizeof *denied_calls };
    struct sock_filter program[4 + count + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    for (int index = 0; index < count; index++) {
        program[4 + index] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied_calls[index], count - index, 0);
    }
    program[4 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[5 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog filter = {.len = 4 + count + 2, .filter = program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0 ? 0 : -errno;
#endif
}
