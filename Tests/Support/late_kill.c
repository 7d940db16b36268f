/*
 * Makes a process die late, as if it were busy in the kernel. Preloaded into the process that kills it: SIGKILL for the process whose id is in
 * the file LATE_KILL is delayed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int send_now(pid_t process, int number) { return ((__typeof__(&kill))dlsym(RTLD_NEXT, "kill"))(process, number); }

static void *send_late(void *process) {
    usleep(300000);
    send_now((pid_t)(intptr_t)process, SIGKILL);
    return NULL;
}

static pid_t slow_process(void) {
    int process = 0;
    FILE *file = fopen(getenv("LATE_KILL"), "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%d", &process) != 1) process = 0;
    fclose(file);
    return process;
}

int kill(pid_t process, int number) {
    pthread_t thread;
    if (number != SIGKILL || process <= 0 || process != slow_process()) return send_now(process, number);
    return pthread_create(&thread, NULL, send_late, (void *)(intptr_t)process) == 0 ? pthread_detach(thread) : -1;
}
