/* Answers, sends to and logs for calls that it was never given, and then its own. */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) {
    answer(invocation->id + 1000000, HEARTH_RESULT, "\"stranger\"");
    answer(0, HEARTH_RESULT, "\"nobody\"");
    host->send_chunk(host, invocation->id + 1000000, (hearth_bytes){ "1", 1 });
    host->log(host, invocation->id + 1000000, HEARTH_INFO, (hearth_bytes){ "hello", 5 }, (hearth_bytes){ NULL, 0 });
    answer(invocation->id, HEARTH_RESULT, "\"own\"");
}

PLUGIN(ONE_CALLABLE("answersStrangers"))
