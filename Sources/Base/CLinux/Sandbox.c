#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights, scopes and rules that the headers of Debian 12 lack. */
#define ACCESS_TRUNCATE (1ULL << 14)
#define NET_BIND_TCP (1ULL << 0)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)
enum { rule_net_port = 2 };

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_OF_FILES (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)

struct ruleset {
    __u64 handled_access_fs;
    __u64 handled_access_net;
    __u64 scoped;
};

struct net_port_rule {
    __u64 allowed_access;
    __u64 port;
};

int linux_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

/* All file rights that a kernel of this Landlock version knows. */
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
    /* A path that does not exist needs no rule. */
    if (rule.parent_fd < 0) return 0;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode)) rule.allowed_access &= ACCESS_OF_FILES;
    int result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : -errno;
    close(rule.parent_fd);
    return result;
}

int linux_restrict_files(int version, const char *const *readable, const char *const *writable) {
    if (version == 0) return -ENOSYS;
    struct ruleset attributes = {.handled_access_fs = all_rights(version)};
    size_t size = offsetof(struct ruleset, handled_access_net);
    if (version >= 4) {
        attributes.handled_access_net = NET_BIND_TCP;
        size = offsetof(struct ruleset, scoped);
    }
    if (version >= 6) {
        attributes.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
        size = sizeof attributes;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0) return -errno;
    int result = 0;
    for (; result == 0 && *readable != NULL; readable++) result = allow(ruleset, *readable, ACCESS_READ);
    for (; result == 0 && *writable != NULL; writable++) result = allow(ruleset, *writable, attributes.handled_access_fs);
    if (result == 0 && version >= 4) {
        /* Port 0 only: the kernel chooses the port. */
        struct net_port_rule ephemeral = {.allowed_access = NET_BIND_TCP, .port = 0};
        if (syscall(SYS_landlock_add_rule, ruleset, rule_net_port, &ephemeral, 0) != 0) result = -errno;
    }
    if (result == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) result = -errno;
    close(ruleset);
    return result;
}

int linux_hold(const char *path) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int linux_thread_count(void) {
    struct stat status;
    /* The link count of a folder is 2 plus the number of its subfolders. */
    return stat("/proc/self/task", &status) == 0 ? (int)status.st_nlink - 2 : -errno;
}

int linux_drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0) return -errno;
    const __u32 kept = 1U << CAP_DAC_READ_SEARCH;
    if (((data[0].permitted & ~kept) | data[1].permitted | data[0].inheritable | data[1].inheritable) == 0) return 0;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    data[0].permitted &= kept;
    data[0].effective = data[0].permitted;
    data[0].inheritable = 0;
    data[1] = (struct __user_cap_data_struct){0};
    return syscall(SYS_capset, &header, data) == 0 ? 0 : -errno;
}
