/* Describes itself in something that is not JSON. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"invalidManifest\":{\"callableTrigger\":{}}")
