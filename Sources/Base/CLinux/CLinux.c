#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int linux_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 ? 0 : -errno; }

int linux_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno; }

int linux_close_from(unsigned first) { return syscall(SYS_close_range, first, ~0u, 0) == 0 ? 0 : -errno; }

static FILE *open_stream(void *cookie, linux_stream_write write) {
    cookie_io_functions_t functions = {.write = write};
    FILE *stream = fopencookie(cookie, "w", functions);
    if (stream != NULL) setvbuf(stream, NULL, _IOLBF, 4096);
    return stream;
}

int linux_capture_streams(linux_stream_write write, void *output_cookie, void *error_cookie) {
    FILE *output = open_stream(output_cookie, write);
    FILE *error = open_stream(error_cookie, write);
    if (output == NULL || error == NULL) return -ENOMEM;
    stdout = output;
    stderr = error;
    return 0;
}

void linux_write_error(const char *text) { fputs(text, stderr); }

static int release_segments(struct dl_phdr_info *object, size_t size, void *page_size) {
    (void)size;
    const uintptr_t mask = *(const uintptr_t *)page_size - 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        /* Skip writable segments: their contents would be lost. */
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || (segment->p_flags & PF_W)) continue;
        const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~mask;
        const uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz + mask) & ~mask;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void linux_release_code(void) {
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release_segments, &page_size);
}
