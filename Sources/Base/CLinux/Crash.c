#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* Everything here runs in a signal handler: only async-signal-safe functions and functions that take no lock. Unwinding takes none since
 * glibc 2.35, where _dl_find_object() finds a frame's object without a lock. */

enum { handler_stack_size = 64 * 1024, stack_size_max = 64 * 1024 * 1024 };

static struct linux_crash *report;
static pid_t recorded_process;
static pid_t first_thread;
static pid_t crashed_thread;
static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};

static pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

/* The index of `path` among the objects; adds it if it is new. */
static uint64_t object_index(const char *path) {
    for (uint32_t index = 0; index < report->object_count; index++) {
        if (strncmp(report->objects[index], path, LINUX_CRASH_PATH_MAX - 1) == 0) return index;
    }
    if (report->object_count == LINUX_CRASH_OBJECTS_MAX) return LINUX_CRASH_OBJECTS_MAX;
    strncpy(report->objects[report->object_count], path, LINUX_CRASH_PATH_MAX - 1);
    return report->object_count++;
}

/* Adds a frame and returns whether it lies in a known object. `is_call`: the address is a return address, so the instruction meant is
 * the one before it. */
static int add_frame(uintptr_t address, int is_call) {
    if (report->frame_count == LINUX_CRASH_FRAMES_MAX) return 0;
    struct linux_crash_frame *frame = &report->frames[report->frame_count];
    struct dl_find_object found;
    address -= is_call ? 1 : 0;
    int is_known = _dl_find_object((void *)address, &found) == 0;
    frame->object = is_known ? object_index(found.dlfo_link_map->l_name) : LINUX_CRASH_OBJECTS_MAX;
    frame->offset = is_known ? address - found.dlfo_link_map->l_addr : address;
    report->frame_count++;
    return is_known;
}

struct walk {
    uintptr_t fault;
    int has_begun;
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    int is_exact = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &is_exact);
    /* Skip the frames of the signal handler itself. */
    if (!walk->has_begun) {
        walk->has_begun = address == walk->fault;
        if (!walk->has_begun) return _URC_NO_REASON;
    }
    if (address != 0) add_frame(address, !is_exact);
    return report->frame_count < LINUX_CRASH_FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Adds the frames that the unwinder misses when it starts at an address without code: the caller, then the chain of frame pointers. */
static void walk_frame_pointers(uintptr_t fault, uintptr_t stack, uintptr_t frame, uintptr_t caller) {
    report->frame_count = 0;
    add_frame(fault, 0);
    if (caller != 0) add_frame(caller, 1);
    for (uintptr_t bottom = stack; frame > bottom && frame - stack < stack_size_max && frame % sizeof frame == 0;) {
        const uintptr_t *words = (const uintptr_t *)frame;
        if (!add_frame(words[1], 1)) return;
        bottom = frame;
        frame = words[0];
    }
}

static void die(int signal_number, const siginfo_t *info) {
    signal(signal_number, SIG_DFL);
    /* Ends the process after the return from the handler. A fault repeats when the instruction runs again; a signal sent by a process
     * must be raised again. */
    if (info->si_code <= 0 || signal_number == SIGTRAP || signal_number == SIGSYS) {
        syscall(SYS_tgkill, getpid(), this_thread(), signal_number);
    }
}

static void handle(int signal_number, siginfo_t *info, void *argument) {
    /* A child made by fork() inherits the handlers and the page, but its crash is not the worker's. */
    if (getpid() != recorded_process) return die(signal_number, info);
    pid_t thread = this_thread(), nobody = 0;
    if (!__atomic_compare_exchange_n(&crashed_thread, &nobody, thread, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        /* A second fault during recording: keep what is recorded. Other threads wait for the end. */
        while (nobody != thread) pause();
        return die(signal_number, info);
    }
    const mcontext_t *machine = &((const ucontext_t *)argument)->uc_mcontext;
#if defined(__x86_64__)
    uintptr_t fault = (uintptr_t)machine->gregs[REG_RIP], stack = (uintptr_t)machine->gregs[REG_RSP];
    uintptr_t frame = (uintptr_t)machine->gregs[REG_RBP];
#elif defined(__aarch64__)
    uintptr_t fault = machine->pc, stack = machine->sp, frame = machine->regs[29];
#else
#error "registers of this architecture are not known"
#endif
    report->signal = signal_number;
    report->code = info->si_code;
    report->is_first_thread = thread == first_thread;
    report->address = signal_number == SIGSEGV || signal_number == SIGBUS ? (uint64_t)(uintptr_t)info->si_addr : 0;
    report->stack = stack;
    __atomic_store_n(&report->state, 1, __ATOMIC_RELEASE);
    struct walk walk = {.fault = fault};
    _Unwind_Backtrace(visit, &walk);
    if (report->frame_count == 0) {
#if defined(__x86_64__)
        /* A call of an invalid address: the return address is on top of the stack. */
        uintptr_t caller = fault < 4096 ? *(const uintptr_t *)stack : 0;
#else
        uintptr_t caller = machine->regs[30];
#endif
        walk_frame_pointers(fault, stack, frame, caller);
    }
    __atomic_store_n(&report->state, 2, __ATOMIC_RELEASE);
    die(signal_number, info);
}

static _Unwind_Reason_Code ignore(struct _Unwind_Context *context, void *argument) {
    (void)context, (void)argument;
    return _URC_NO_REASON;
}

int linux_record_crashes(struct linux_crash *crash) {
    report = crash;
    recorded_process = getpid();
    first_thread = this_thread();
    void *memory = mmap(NULL, handler_stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -errno;
    stack_t stack = {.ss_sp = memory, .ss_size = handler_stack_size};
    if (sigaltstack(&stack, NULL) != 0) return -errno;
    /* Runs the one-time initialization of the unwinder now. */
    _Unwind_Backtrace(ignore, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER, .sa_sigaction = handle};
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        if (sigaction(signals[index], &action, NULL) != 0) return -errno;
    }
    return 0;
}

/* A function of the Swift runtime that no header declares. */
extern char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

char *linux_demangle_swift(const char *name) { return swift_demangle(name, strlen(name), NULL, NULL, 0); }
