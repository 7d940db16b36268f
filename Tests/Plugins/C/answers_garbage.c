/* Answers with what is not JSON: as a result, and as an error when the data is "error". */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) {
    int wantsError = invocation->payload.size == 7 && memcmp(invocation->payload.data, "\"error\"", 7) == 0;
    answer(invocation->id, wantsError ? HEARTH_ERROR : HEARTH_RESULT, "{\"half\": [1, 2");
}

PLUGIN(ONE_CALLABLE("answersGarbage"))
