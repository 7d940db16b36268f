/* Answers in a way that hearth.h does not know. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) { answer(invocation->id, (hearth_answer_kind)77, "1"); }

PLUGIN(ONE_CALLABLE("answersUnknownKind"))
