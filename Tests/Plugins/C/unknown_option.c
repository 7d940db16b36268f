/* A function with an option that does not exist. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"odd\":{\"callableTrigger\":{},\"timeoutMinutes\":1}}}")
