/* Says who calls: {"uid", "appId", "alreadyConsumed"}, each null where the host verified nothing. */
#include "plugin.h"
#include <stdio.h>
#include <stdlib.h>

/* Copies the text behind `mark` up to the next quote, in quotes; `null` where the mark is absent. */
static void member(const char *context, const char *mark, char *place, size_t size) {
    const char *found = strstr(context, mark);
    snprintf(place, size, "null");
    if (found == NULL) return;
    found += strlen(mark);
    const char *end = strchr(found, '"');
    if (end != NULL && (size_t)(end - found) + 3 <= size) snprintf(place, size, "\"%.*s\"", (int)(end - found), found);
}

static void invoke(const hearth_invocation *invocation) {
    char *context = calloc(1, invocation->context.size + 1), user[256], app[256], body[700];
    memcpy(context, invocation->context.data, invocation->context.size);
    member(context, "\"auth\":{\"uid\":\"", user, sizeof user);
    member(context, "\"app\":{\"appId\":\"", app, sizeof app);
    int is_told = strstr(context, "\"alreadyConsumed\":") != NULL, is_consumed = strstr(context, "\"alreadyConsumed\":true") != NULL;
    const char *consumed = is_consumed ? "true" : is_told ? "false" : "null";
    snprintf(body, sizeof body, "{\"uid\":%s,\"appId\":%s,\"alreadyConsumed\":%s}", user, app, consumed);
    free(context);
    answer(invocation->id, HEARTH_RESULT, body);
}

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
       "\"whoami\":{\"callableTrigger\":{}},"
       "\"strictFn\":{\"callableTrigger\":{},\"enforceAppCheck\":true},"
       "\"onceFn\":{\"callableTrigger\":{},\"enforceAppCheck\":true,\"consumeAppCheckToken\":true}}}")
