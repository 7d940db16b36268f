/* A function with two triggers. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"both\":{\"callableTrigger\":{},\"httpsTrigger\":{}}}}")
