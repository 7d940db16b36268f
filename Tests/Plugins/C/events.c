/*
 * Functions that run on writes. Each event is noted in a file of the worker's folder before anything else, one line of JSON; then
 * the written value says what happens: "fail", "crash", "hang", "slow", the same with "Once" for the first attempt only, or nothing.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[1 << 20];

static int told(const hearth_invocation *i, const char *word) {
    char once[32], after[64];
    snprintf(after, sizeof after, "\"after\":\"%s\"", word);
    snprintf(once, sizeof once, "\"after\":\"%sOnce\"", word);
    return memmem(i->payload.data, i->payload.size, after, strlen(after)) != NULL
        || (memmem(i->payload.data, i->payload.size, once, strlen(once)) != NULL
            && memmem(i->context.data, i->context.size, "\"attempt\":1,", 12) != NULL);
}

static void note(const hearth_invocation *i) {
    int size = snprintf(text, sizeof text, "{\"function\":\"%.*s\",\"context\":%.*s,\"payload\":%.*s}\n",
                        (int)i->name.size, (const char *)i->name.data, (int)i->context.size, (const char *)i->context.data,
                        (int)i->payload.size, (const char *)i->payload.data);
    int file = open("events.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || write(file, text, (size_t)size) != size) abort();
    close(file);
}

static void done(void *context) { answer((uint64_t)(uintptr_t)context, HEARTH_RESULT, "null"); }

static void invoke(const hearth_invocation *i) {
    note(i);
    if (told(i, "crash")) abort();
    if (told(i, "hang")) return;
    if (told(i, "fail")) return answer(i->id, HEARTH_ERROR, "{\"code\":\"not-found\",\"message\":\"it was told to fail\"}");
    if (told(i, "slow")) return host->schedule_after(host, i->id, 300000000, done, (void *)(uintptr_t)i->id);
    answer(i->id, HEARTH_RESULT, "null");
}

#define TRIGGER(name, kind, ref, more) \
    "\"" name "\":{\"platform\":\"gcfv2\",\"eventTrigger\":{\"eventType\":\"google.firebase.database.ref.v1." kind "\"," \
    "\"eventFilterPathPatterns\":{\"ref\":\"" ref "\"}" more "},\"timeoutSeconds\":3}"

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    TRIGGER("noted", "written", "noted/{id}", "") ","
    TRIGGER("retried", "written", "retried/{id}", ",\"retry\":true") ","
    "\"first\":{\"platform\":\"gcfv1\",\"eventTrigger\":{\"eventType\":\"providers/google.firebase.database/eventTypes/ref.create\","
    "\"eventFilters\":{\"resource\":\"projects/_/instances/demo-hearth-default-rtdb/refs/first/{id}\"}}},"
    TRIGGER("anywhere", "created", "{rest=**}/mark", "")
    "}}")
