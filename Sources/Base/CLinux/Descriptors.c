#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

int linux_unacknowledged_bytes(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 && count > 0 ? count : 0;
}

int linux_message_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 ? 0 : -errno;
}

ssize_t linux_send_descriptors(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    union {
        char room[CMSG_SPACE(sizeof(int) * LINUX_DESCRIPTORS_MAX)];
        struct cmsghdr align;
    } control;
    if (descriptor_count > LINUX_DESCRIPTORS_MAX) return -EINVAL;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
    }
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? -errno : sent;
}

ssize_t linux_receive_descriptors(int socket, void *bytes, size_t count, int *descriptors, size_t *descriptor_count) {
    union {
        char room[CMSG_SPACE(sizeof(int) * LINUX_DESCRIPTORS_MAX)];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t held = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(descriptors + *descriptor_count, CMSG_DATA(header), held * sizeof(int));
        *descriptor_count += held;
    }
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return received;
    /* Nobody will ever use those that did arrive. */
    for (size_t index = 0; index < *descriptor_count; index++) close(descriptors[index]);
    *descriptor_count = 0;
    return -EMSGSIZE;
}

int linux_shared_memory(size_t size) {
    int descriptor = memfd_create("hearth", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    if (ftruncate(descriptor, (off_t)size) == 0 && fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        return descriptor;
    }
    int reason = errno;
    close(descriptor);
    return -reason;
}

void *linux_map_shared(int descriptor, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

char *const *linux_environment(void) { return environ; }

int linux_si_kernel(void) { return SI_KERNEL; }

int linux_event_descriptor(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

void linux_signal_event(int descriptor) {
    /* Fails only if the counter is full; the descriptor is readable then. */
    (void)eventfd_write(descriptor, 1);
}

void linux_clear_event(int descriptor) {
    eventfd_t value;
    (void)eventfd_read(descriptor, &value);
}

void linux_close_event(int descriptor) { close(descriptor); }

int linux_accept(int socket) {
    const int connection = accept4(socket, NULL, NULL, SOCK_CLOEXEC);
    return connection >= 0 ? connection : -errno;
}

/* Written once, while the process has one thread. */
static rlim_t limit_before;

long linux_raise_open_files(long most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit_before = limit.rlim_cur;
    struct rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max < (rlim_t)most ? limit.rlim_max : (rlim_t)most;
    if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur < (rlim_t)most ? (long)limit.rlim_cur : most;
}

void linux_restore_open_files(void) {
    struct rlimit limit;
    if (limit_before == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit_before > limit.rlim_max) return;
    limit.rlim_cur = limit_before;
    setrlimit(RLIMIT_NOFILE, &limit);
}
