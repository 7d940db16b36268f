/* Loads in a worker, refuses to be loaded into the host itself, and goes on to call the host from a thread. Link with -lpthread. */
#include "plugin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "null"); }

static void *talk(void *argument) {
    (void)argument;
    for (int count = 1; count <= 20; count++) {
        usleep(20 * 1000);
        char text[40];
        int size = snprintf(text, sizeof text, "still here, %d", count);
        host->log(host, 0, HEARTH_WARNING, (hearth_bytes){ text, (size_t)size }, (hearth_bytes){ NULL, 0 });
        answer((uint64_t)count, HEARTH_RESULT, "null");
    }
    return NULL;
}

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR, .size = sizeof plugin,
    .manifest = { ONE_CALLABLE("refusesTheHost"), sizeof ONE_CALLABLE("refusesTheHost") - 1 }, .invoke = invoke,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    if (getenv("HEARTH_WORKER")) return &plugin;
    pthread_t thread;
    pthread_create(&thread, NULL, talk, NULL);
    pthread_detach(thread);
    return NULL;
}
