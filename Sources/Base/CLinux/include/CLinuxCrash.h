/* Crash report that a process writes into memory shared with its parent process. */
#ifndef CLINUX_CRASH_H
#define CLINUX_CRASH_H

#include <stdint.h>

enum { LINUX_CRASH_FRAMES_MAX = 64, LINUX_CRASH_OBJECTS_MAX = 16, LINUX_CRASH_PATH_MAX = 256 };

struct linux_crash_frame {
    /* Offset of the instruction in its object, in the address space of the object's symbols. */
    uint64_t offset;
    /* Index in `objects`. LINUX_CRASH_OBJECTS_MAX if unknown; then `offset` is an address. */
    uint64_t object;
};

struct linux_crash {
    /* 0 before a crash, 1 once the members up to `stack` are written, 2 once all are. */
    uint32_t state;
    int32_t signal;
    /* The signal's `si_code`. */
    int32_t code;
    /* Whether the signal arrived on the thread that called linux_record_crashes. */
    uint32_t is_first_thread;
    /* The address of the failed access, for SIGSEGV and SIGBUS. */
    uint64_t address;
    /* The stack pointer. */
    uint64_t stack;
    uint32_t frame_count;
    uint32_t object_count;
    /* Innermost frame first. */
    struct linux_crash_frame frames[LINUX_CRASH_FRAMES_MAX];
    /* Zero-terminated paths. */
    char objects[LINUX_CRASH_OBJECTS_MAX][LINUX_CRASH_PATH_MAX];
};

/* Records a later fault of this process in `crash`, which is zeroed memory, before the fault ends the process as usual. Opens, allocates
 * and writes nothing else. The calling thread gets an alternate signal stack, so that stack overflows are recorded too. Call once. 0, or
 * a negated errno. */
int linux_record_crashes(struct linux_crash *crash);

/* The demangled form of a Swift symbol, or NULL if it is none. The caller frees it. */
char *linux_demangle_swift(const char *name);

#endif
