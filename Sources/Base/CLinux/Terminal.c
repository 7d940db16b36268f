#include "CLinux.h"

#include <errno.h>
#include <string.h>
#include <termios.h>

_Static_assert(sizeof(struct termios) <= sizeof(struct linux_terminal_mode), "a mode fits");

int linux_enter_raw_mode(int terminal, struct linux_terminal_mode *saved) {
    struct termios mode;
    if (tcgetattr(terminal, &mode) != 0) return -errno;
    memcpy(saved->bytes, &mode, sizeof mode);
    cfmakeraw(&mode);
    /* Keep output processing: other processes write to the terminal too and end lines with LF only. */
    mode.c_oflag |= OPOST;
    return tcsetattr(terminal, TCSADRAIN, &mode) == 0 ? 0 : -errno;
}

int linux_hide_typing(int terminal, struct linux_terminal_mode *saved) {
    struct termios mode;
    if (tcgetattr(terminal, &mode) != 0) return -errno;
    memcpy(saved->bytes, &mode, sizeof mode);
    mode.c_lflag &= ~(tcflag_t)ECHO;
    return tcsetattr(terminal, TCSAFLUSH, &mode) == 0 ? 0 : -errno;
}

int linux_restore_terminal(int terminal, const struct linux_terminal_mode *saved) {
    struct termios mode;
    memcpy(&mode, saved->bytes, sizeof mode);
    return tcsetattr(terminal, TCSADRAIN, &mode) == 0 ? 0 : -errno;
}
