/* A plain HTTP function that answers as its body says: whether it begins an answer ('1'), then the kind of its answer ('0' to '3'). */
#include "plugin.h"

static void invoke(const hearth_invocation *invocation) {
    static const char head[] = "{\"status\":200,\"headers\":[]}";
    const char *order = (const char *)invocation->payload.data;
    hearth_bytes described = { head, sizeof head - 1 };
    if (order[0] == '1') host->start_response(host, invocation->id, described);
    hearth_answer answer = { .kind = (hearth_answer_kind)(order[1] - '0'), .head = described, .body = { "{}", 2 } };
    host->respond(host, invocation->id, &answer);
}

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"mixed\":{\"httpsTrigger\":{}}}}")
