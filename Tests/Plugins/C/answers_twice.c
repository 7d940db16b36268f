/* Answers each call twice, differently; the first is to count. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) {
    answer(invocation->id, HEARTH_RESULT, "\"first\"");
    answer(invocation->id, HEARTH_RESULT, "\"second\"");
}

PLUGIN(ONE_CALLABLE("answersTwice"))
