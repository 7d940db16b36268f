/* Two functions of one name. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, HEARTH_RESULT, "1"); }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"twin\":{\"callableTrigger\":{}},\"twin\":{\"callableTrigger\":{}}}}")
