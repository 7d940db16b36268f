/*
 * Functions that run on users. Each event is noted in a file of the worker's folder before anything else, one line of JSON; then
 * the user's name says what happens: "fail", "crash" or "hang", the same with "Once" for the first attempt only, or nothing.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[1 << 20];

static int told(const hearth_invocation *i, const char *word) {
    char once[40], always[64];
    snprintf(always, sizeof always, "\"displayName\":\"%s\"", word);
    snprintf(once, sizeof once, "\"displayName\":\"%sOnce\"", word);
    return memmem(i->payload.data, i->payload.size, always, strlen(always)) != NULL
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

static void invoke(const hearth_invocation *i) {
    note(i);
    if (told(i, "crash")) abort();
    if (told(i, "hang")) return;
    if (told(i, "fail")) return answer(i->id, HEARTH_ERROR, "{\"code\":\"not-found\",\"message\":\"it was told to fail\"}");
    answer(i->id, HEARTH_RESULT, "null");
}

#define TRIGGER(name, kind, filters, more) \
    "\"" name "\":{\"platform\":\"gcfv2\",\"eventTrigger\":{\"eventType\":\"google.firebase.auth.user.v2." kind "\"," \
    "\"eventFilters\":{" filters "}" more "},\"timeoutSeconds\":3}"

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    TRIGGER("created", "created", "", ",\"retry\":true") ","
    TRIGGER("deleted", "deleted", "", "") ","
    TRIGGER("ofTenant", "created", "\"tenantid\":\"blue\"", "") ","
    TRIGGER("ofProject", "created", "\"tenantid\":\"\"", "") ","
    "\"first\":{\"platform\":\"gcfv1\",\"eventTrigger\":{\"eventType\":\"providers/firebase.auth/eventTypes/user.create\","
    "\"eventFilters\":{\"resource\":\"projects/demo-hearth\"}}}"
    "}}")
