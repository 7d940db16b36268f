/*
 * A plugin with one function that runs on writes, and notes when it was started: CLOCK_MONOTONIC is the same in all
 * processes. What was written and the time, in nanoseconds, are a line of STARTED_FILE, which is given to the compiler.
 * It lies in /tmp, where a worker may write.
 */
#include <hearth.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const hearth_host *host;
static int file = -1;

static hearth_bytes text(const char *string) {
    return (hearth_bytes){ string, strlen(string) };
}

static void invoke(const hearth_invocation *invocation) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char payload[128] = "", line[128];
    if (invocation->payload.size < sizeof payload) memcpy(payload, invocation->payload.data, invocation->payload.size);
    const char *after = strstr(payload, "\"after\":");
    int64_t value = -1;
    if (after) sscanf(after, "\"after\":%" SCNd64, &value);
    int length = snprintf(line, sizeof line, "%" PRId64 " %" PRId64 "\n", value, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (write(file, line, (size_t)length) != length) host->log(host, invocation->id, HEARTH_WARNING, text("no room for a time"), text(""));
    hearth_answer answer = { .kind = HEARTH_RESULT };
    host->respond(host, invocation->id, &answer);
}

static const char manifest[] =
    "{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"started\":{\"minInstances\":1,\"maxInstances\":1,\"eventTrigger\":{"
    "\"eventType\":\"google.firebase.database.ref.v1.written\",\"eventFilters\":{},"
    "\"eventFilterPathPatterns\":{\"ref\":\"/messages/{id}\",\"instance\":\"*\"},\"retry\":false}}}}";

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR,
    .abi_minor = HEARTH_ABI_MINOR,
    .size = sizeof plugin,
    .manifest = { manifest, sizeof manifest - 1 },
    .invoke = invoke,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    file = open(STARTED_FILE, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    return &plugin;
}
