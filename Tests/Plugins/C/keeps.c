/* Uses the database as docs/services.md describes it: `keep` stores its data below /kept, and answers what the service says;
 * `copy` runs on what is stored and copies its payload to /copied. */
#include "plugin.h"
#include <stdio.h>
#include <stdlib.h>

/* Passes the service's answer on: an error has the form that a function's own must have. */
static void done(void *context, int ok, hearth_bytes answered) {
    uint64_t *invocation = context;
    hearth_answer answer = { .kind = ok ? HEARTH_RESULT : HEARTH_ERROR, .body = answered };
    host->respond(host, *invocation, &answer);
    free(invocation);
}

static void invoke(const hearth_invocation *invocation) {
    int is_event = invocation->function == 1;
    const char *format = is_event ? "{\"path\":\"copied\",\"value\":%.*s}" : "{\"path\":\"kept\",\"value\":%.*s}";
    size_t size = strlen(format) + invocation->payload.size;
    char *payload = malloc(size);
    int length = snprintf(payload, size, format, (int)invocation->payload.size, (const char *)invocation->payload.data);
    uint64_t *id = malloc(sizeof *id);
    *id = invocation->id;
    hearth_service_call call = {
        .service = { "database", 8 }, .method = is_event ? (hearth_bytes){ "set", 3 } : (hearth_bytes){ "push", 4 },
        .payload = { payload, (size_t)length },
    };
    host->call_service(host, invocation->id, &call, done, id);
    free(payload);
}

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
       "\"keep\":{\"callableTrigger\":{}},"
       "\"copy\":{\"eventTrigger\":{\"eventType\":\"google.firebase.database.ref.v1.created\","
       "\"eventFilterPathPatterns\":{\"ref\":\"kept/{id}\"}}}}}")
