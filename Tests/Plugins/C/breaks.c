/* Crashes in a function of its own: a callable, and a plain HTTP function. */
#include "plugin.h"
#include <stdlib.h>

__attribute__((noinline)) void breaks_here(void) { abort(); }

static void invoke(const hearth_invocation *invocation) {
    if (invocation->name.size == 4 && memcmp(invocation->name.data, "fine", 4) == 0) return answer(invocation->id, HEARTH_RESULT, "true");
    breaks_here();
}

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"breaks\":{\"callableTrigger\":{}},\"fine\":{\"callableTrigger\":{}},"
       "\"page\":{\"httpsTrigger\":{}}}}")
