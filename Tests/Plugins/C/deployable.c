/*
 * Functions that answer with their VERSION; MANIFEST declares them. For the input "slow" they answer late, for "crash" never. A
 * function of events logs its event.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef AT_ENTRY
#define AT_ENTRY
#endif

static int told(const hearth_invocation *i, const char *word) { return memmem(i->payload.data, i->payload.size, word, strlen(word)) != NULL; }

static void say(const hearth_invocation *i) {
    char text[512];
    const char *setting = getenv("SETTING"), *secret = getenv("SECRET");
    snprintf(text, sizeof text, "{\"version\":%d,\"function\":\"%.*s\",\"pid\":%d,\"setting\":\"%s\",\"secret\":\"%s\"}", VERSION,
             (int)i->name.size, (const char *)i->name.data, (int)getpid(), setting ? setting : "", secret ? secret : "");
    if (memmem(i->context.data, i->context.size, "\"event\":", 8) != NULL) {
        char line[768];
        int size = told(i, "\"after\":") ? (int)i->payload.size : 0;
        snprintf(line, sizeof line, "handled %.*s with version %d", size, (const char *)i->payload.data, VERSION);
        line[strcspn(line, "\n")] = 0;
        host->log(host, i->id, HEARTH_INFO, (hearth_bytes){line, strlen(line)}, (hearth_bytes){NULL, 0});
    }
    answer(i->id, HEARTH_RESULT, text);
}

static hearth_invocation late[1024];
static int lateCount;

static void done(void *context) { say(&late[(uintptr_t)context]); }

static void invoke(const hearth_invocation *i) {
    if (told(i, "crash")) abort();
    if (told(i, "slow") && lateCount < 1024) {
        late[lateCount] = *i;
        late[lateCount].name.data = strndup((const char *)i->name.data, i->name.size);
        late[lateCount].payload.size = late[lateCount].context.size = 0;
        return host->schedule_after(host, i->id, 400000000, done, (void *)(uintptr_t)lateCount++);
    }
    say(i);
}

static const char manifest[] = MANIFEST;

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR, .size = sizeof plugin,
    .manifest = { manifest, sizeof manifest - 1 }, .invoke = invoke,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    AT_ENTRY;
    return &plugin;
}
