/* Built for another major version of hearth.h. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN_OF_VERSION(HEARTH_ABI_MAJOR + 1, ONE_CALLABLE("wrongVersion"))
