/* Gives options that do nothing on this host, or for functions of their kind. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"idle\":{\"callableTrigger\":{},\"vpc\":{\"connector\":\"c\"}},"
       "\"page\":{\"httpsTrigger\":{},\"enforceAppCheck\":true}}}")
