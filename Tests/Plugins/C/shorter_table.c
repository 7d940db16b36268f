/* A plugin table that ends where SIZE says, as one of an older header does. Behind it is what must not be read. */
#include "plugin.h"
#include <stdlib.h>

#ifndef SIZE
#define SIZE offsetof(hearth_plugin, cancel)
#endif

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "\"shorter\""); }
static void wrong_cancel(uint64_t invocation) { (void)invocation; abort(); }
static void wrong_shutdown(void) { abort(); }

static const char manifest[] = ONE_CALLABLE("shorter");

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR, .size = SIZE, .manifest = { manifest, sizeof manifest - 1 },
    .invoke = invoke, .cancel = wrong_cancel, .drained = wrong_cancel, .shutdown = wrong_shutdown,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    return &plugin;
}
