/* Answers from a separate thread, after a log line and a chunk. Link with -lpthread. */
#include "plugin.h"
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
    uint64_t invocation = *(uint64_t *)argument;
    free(argument);
    host->log(host, invocation, HEARTH_INFO, (hearth_bytes){ "working", 7 }, (hearth_bytes){ NULL, 0 });
    host->send_chunk(host, invocation, (hearth_bytes){ "\"half\"", 6 });
    answer(invocation, HEARTH_RESULT, "\"from a thread\"");
    return NULL;
}

static void invoke(const hearth_invocation *invocation) {
    uint64_t *id = malloc(sizeof *id);
    *id = invocation->id;
    pthread_t thread;
    pthread_create(&thread, NULL, work, id);
    pthread_detach(thread);
}

PLUGIN(ONE_CALLABLE("answersFromThread"))
