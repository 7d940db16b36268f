/*
 * mallocs: counts allocations of a process and of the processes that it starts.
 *
 * Loaded with LD_PRELOAD. Each process writes its count into the first eight bytes of the file
 * ALLOCATIONS_DIRECTORY/<process id>, which is mapped and therefore current at any time. The host
 * replaces the environment of its workers, so both variables are set again at each exec.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern char **environ;

enum { ENVIRONMENT_MAX = 512 };

static _Atomic uint64_t before_mapping;
static _Atomic uint64_t *count = &before_mapping;
static char directory[256] = "ALLOCATIONS_DIRECTORY=", preload[4096] = "LD_PRELOAD=";

static inline void add(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }

void *malloc(size_t size) { add(); return __libc_malloc(size); }
void *calloc(size_t members, size_t size) { add(); return __libc_calloc(members, size); }
void *realloc(void *old, size_t size) { add(); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { add(); return __libc_memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size) {
    add();
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

__attribute__((constructor)) static void map_count(void) {
    const char *where = getenv("ALLOCATIONS_DIRECTORY"), *what = getenv("LD_PRELOAD");
    if (!where || !what) return;
    strncat(directory, where, sizeof directory - strlen(directory) - 1);
    strncat(preload, what, sizeof preload - strlen(preload) - 1);
    char path[512];
    snprintf(path, sizeof path, "%s/%d", where, getpid());
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *count) != 0) return;
    void *mapped = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    atomic_store((_Atomic uint64_t *)mapped, atomic_load(&before_mapping));
    count = mapped;
}

/* No allocation: this runs between fork and exec, perhaps of a process with threads. */
static char *const *with_counting(char *const *given, char **room) {
    int used = 0;
    for (; given && *given && used < ENVIRONMENT_MAX - 3; given++)
        if (strncmp(*given, "LD_PRELOAD=", 11) != 0 && strncmp(*given, "ALLOCATIONS_DIRECTORY=", 22) != 0) room[used++] = *given;
    room[used++] = preload;
    room[used++] = directory;
    room[used] = NULL;
    return room;
}

int execve(const char *path, char *const argv[], char *const given[]) {
    char *room[ENVIRONMENT_MAX];
    int (*real)(const char *, char *const *, char *const *) = dlsym(RTLD_NEXT, "execve");
    return real(path, argv, with_counting(given, room));
}
int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }
int execvp(const char *path, char *const argv[]) {
    char *room[ENVIRONMENT_MAX];
    int (*real)(const char *, char *const *, char *const *) = dlsym(RTLD_NEXT, "execvpe");
    return real(path, argv, with_counting(environ, room));
}
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const given[]) {
    char *room[ENVIRONMENT_MAX];
    __typeof__(&posix_spawn) real = (__typeof__(&posix_spawn))dlsym(RTLD_NEXT, "posix_spawn");
    return real(pid, path, actions, attributes, argv, with_counting(given, room));
}
int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const given[]) {
    char *room[ENVIRONMENT_MAX];
    __typeof__(&posix_spawnp) real = (__typeof__(&posix_spawnp))dlsym(RTLD_NEXT, "posix_spawnp");
    return real(pid, path, actions, attributes, argv, with_counting(given, room));
}
