/* Built against a header of a later minor version, whose plugin table has members that this host does not know. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "\"larger\""); }
static void unknown(void) {}

static const char manifest[] = ONE_CALLABLE("larger");

static const struct {
    hearth_plugin known;
    void (*later)(void);
    uint64_t numbers[4];
} plugin = {
    .known = {
        .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR + 1, .size = sizeof plugin,
        .manifest = { manifest, sizeof manifest - 1 }, .invoke = invoke,
    },
    .later = unknown, .numbers = { 1, 2, 3, 4 },
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    return &plugin.known;
}
