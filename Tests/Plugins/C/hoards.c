/* Functions that make the host hold memory: they call services without waiting for answers, send chunks although the client does
 * not read, and return answers of any requested size. */
#include "plugin.h"
#include <stdio.h>
#include <stdlib.h>

enum { READS, FLOOD, LARGE, SILENT, SWALLOW };

typedef struct { uint64_t invocation; long left, failed; } reads;

static long number(hearth_bytes text) {
    char digits[32];
    size_t size = text.size < sizeof digits - 1 ? text.size : sizeof digits - 1;
    memcpy(digits, text.data, size);
    digits[size] = 0;
    return strtol(digits, NULL, 10);
}

static void did_read(void *context, int ok, hearth_bytes answered) {
    (void)answered;
    reads *all = context;
    if (!ok) all->failed++;
    if (--all->left > 0) return;
    char text[32];
    snprintf(text, sizeof text, "%ld", all->failed);
    answer(all->invocation, HEARTH_RESULT, text);
    free(all);
}

/* Reads /value so many times at once; answers how many of the reads failed. */
static void read_often(const hearth_invocation *invocation) {
    reads *all = malloc(sizeof *all);
    *all = (reads){ .invocation = invocation->id, .left = number(invocation->payload) };
    hearth_service_call call = { { "database", 8 }, { "get", 3 }, { "{\"path\":\"/value\"}", 17 } };
    for (long left = all->left; left > 0; left--) host->call_service(host, invocation->id, &call, did_read, all);
}

static char block[1 << 20];

/* Sends so many MiB and looks only whether they are taken. */
static void flood(const hearth_invocation *invocation) {
    const char *head = "{\"status\":200,\"headers\":[]}";
    host->start_response(host, invocation->id, (hearth_bytes){ head, strlen(head) });
    for (long left = number(invocation->payload); left > 0; left--)
        if (host->send_chunk(host, invocation->id, (hearth_bytes){ block, sizeof block }) == HEARTH_GONE) break;
    hearth_answer end = { .kind = HEARTH_END };
    host->respond(host, invocation->id, &end);
}

/* Answers with so many MiB. */
static void large(const hearth_invocation *invocation) {
    size_t size = (size_t)number(invocation->payload) << 20;
    char *body = calloc(1, size);
    const char *head = "{\"status\":200,\"headers\":[]}";
    hearth_answer whole = { .kind = HEARTH_RESPONSE, .head = { head, strlen(head) }, .body = { body, size } };
    host->respond(host, invocation->id, &whole);
    free(body);
}

static void swallow(const hearth_invocation *invocation) {
    const char *head = "{\"status\":200,\"headers\":[]}";
    char text[32];
    int size = snprintf(text, sizeof text, "%zu", invocation->payload.size);
    hearth_answer whole = { .kind = HEARTH_RESPONSE, .head = { head, strlen(head) }, .body = { text, (size_t)size } };
    host->respond(host, invocation->id, &whole);
}

static void invoke(const hearth_invocation *invocation) {
    switch (invocation->function) {
    case READS: return read_often(invocation);
    case FLOOD: return flood(invocation);
    case LARGE: return large(invocation);
    case SWALLOW: return swallow(invocation);
    }
}

#ifndef MANIFEST
#define MANIFEST                                                                                                             \
    "{\"specVersion\":\"v1alpha1\",\"endpoints\":{"                                                                         \
    "\"reads\":{\"callableTrigger\":{},\"availableMemoryMb\":4096},\"flood\":{\"httpsTrigger\":{},\"availableMemoryMb\":4096}," \
    "\"large\":{\"httpsTrigger\":{},\"availableMemoryMb\":4096},"                                                            \
    "\"silent\":{\"httpsTrigger\":{},\"availableMemoryMb\":512,\"concurrency\":1,\"maxInstances\":1},"                       \
    "\"swallow\":{\"httpsTrigger\":{},\"availableMemoryMb\":4096}}}"
#endif

PLUGIN(MANIFEST)
