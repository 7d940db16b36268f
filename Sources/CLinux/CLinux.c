#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
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
