/*
 * A plugin in C, from hearth.h alone: `increment` adds {"by": n}, or 1, to a count and answers {"count": n}.
 * The count lives in the worker's memory: it starts at 0 with each worker, and is not shared between workers.
 */
#include <hearth.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hearth_host *host;
static int64_t count;

static hearth_bytes text(const char *string) {
    return (hearth_bytes){ string, strlen(string) };
}

static void answer(uint64_t invocation, hearth_answer_kind kind, const char *json) {
    hearth_answer answer = { .kind = kind, .body = text(json) };
    host->respond(host, invocation, &answer);
}

/* Reads null, {} or {"by": n}; the host has checked that it is JSON. Returns 0 for anything else. */
static int read_step(hearth_bytes payload, int64_t *step) {
    char copy[128];
    int length = 0;
    if (payload.size >= sizeof copy) return 0;
    memcpy(copy, payload.data, payload.size);
    copy[payload.size] = 0;

    *step = 1;
    if (strncmp(copy, "null", 4) == 0) return 1;
    if (sscanf(copy, " { } %n", &length) == 0 && length > 0 && copy[length] == 0) return 1;
    length = 0;
    return sscanf(copy, " { \"by\" : %" SCNd64 " } %n", step, &length) == 1 && length > 0 && copy[length] == 0;
}

static void invoke(const hearth_invocation *invocation) {
    int64_t step;
    if (!read_step(invocation->payload, &step)) {
        answer(invocation->id, HEARTH_ERROR,
               "{\"code\":\"invalid-argument\",\"message\":\"data must be {\\\"by\\\": a whole number}, {} or null\"}");
        return;
    }
    int64_t sum;
    if (__builtin_add_overflow(count, step, &sum)) {
        host->log(host, invocation->id, HEARTH_WARNING, text("the count is full"), text(""));
        answer(invocation->id, HEARTH_ERROR,
               "{\"code\":\"out-of-range\",\"message\":\"the count would not fit into 64 bits\"}");
        return;
    }
    count = sum;
    char result[64];
    snprintf(result, sizeof result, "{\"count\":%" PRId64 "}", count);
    answer(invocation->id, HEARTH_RESULT, result);
}

static const char manifest[] =
    "{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"increment\":{\"callableTrigger\":{},\"maxInstances\":1}}}";

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR,
    .abi_minor = HEARTH_ABI_MINOR,
    .size = sizeof plugin,
    .manifest = { manifest, sizeof manifest - 1 },
    .invoke = invoke,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    return &plugin;
}
