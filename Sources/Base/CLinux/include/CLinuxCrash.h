/* The crash report that a process writes into shared memory for the process that started it. */
#ifndef CLINUX_CRASH_H
#define CLINUX_CRASH_H

#include <stdint.h>

enum { LINUX_CRASH_FRAMES_MAX = 64, LINUX_CRASH_OBJECTS_MAX = 16, LINUX_CRASH_PATH_MAX = 256 };

struct linux_crash_frame {
    /* Offset of the instruction in its object, in the terms of the object's symbols. */
    uint64_t offset;
    /* The object's place in `objects`; LINUX_CRASH_OBJECTS_MAX where none is known, and `offset` is an address then. */
    uint64_t object;
};

struct linux_crash {
    /* 0 while nothing has happened, 1 once the members up to `stack` are there, 2 once all are. */
    uint32_t state;
    int32_t signal;
    /* The signal's `si_code`. */
    int32_t code;
    /* Whether it came on the thread that asked for this. */
    uint32_t is_first_thread;
    /* The address of the failed access, for SIGSEGV and SIGBUS. */
    uint64_t address;
    /* The stack pointer. */
    uint64_t stack;
    uint32_t frame_count;
    uint32_t object_count;
    /* The innermost one first. */
    struct linux_crash_frame frames[LINUX_CRASH_FRAMES_MAX];
    /* Paths, each ended by a zero. */
    char objects[LINUX_CRASH_OBJECTS_MAX][LINUX_CRASH_PATH_MAX];
};

/* From here on a fault of this process is written into `crash`, which is zeroed memory, before the fault ends it as it would have.
 * Nothing is opened, allocated or written elsewhere for it. The calling thread gets a stack of its own for this, so that the end of
 * its usual one is told too. To be called once. 0, or a negated errno. */
int linux_record_crashes(struct linux_crash *crash);

/* The text of a name of Swift's, or NULL where it is none; to be freed. */
char *linux_demangle_swift(const char *name);

#endif
