/*
 * A plugin with scheduled functions, which note when they were started: CLOCK_REALTIME in nanoseconds, one line of the file "started" in the worker's
 * folder for each run. The file with the manifest (MANIFEST_FILE) is given to the compiler.
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
    clock_gettime(CLOCK_REALTIME, &now);
    char line[160];
    if (file < 0) file = open("started", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int length = snprintf(line, sizeof line, "%.*s %" PRId64 "\n", (int)invocation->name.size, (const char *)invocation->name.data,
                          (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (write(file, line, (size_t)length) != length) host->log(host, invocation->id, HEARTH_WARNING, text("no room for a time"), text(""));
    hearth_answer answer = { .kind = HEARTH_RESULT };
    host->respond(host, invocation->id, &answer);
}

static const char manifest[] =
#include MANIFEST_FILE
    ;

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
