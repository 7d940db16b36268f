/* Takes calls and forgets them. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { (void)invocation; }

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"neverAnswers\":{\"callableTrigger\":{},\"timeoutSeconds\":1}}}")
