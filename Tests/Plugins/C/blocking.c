/*
 * Functions that sign-ups, sign-ins and messages wait for. Each event is noted in a file of the worker's folder before anything else, one
 * line of JSON; then words in the user's e-mail, or in the recipient of a message, say what the function does: "refuse-create" and so on.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[1 << 20];

static void note(const hearth_invocation *i) {
    int size = snprintf(text, sizeof text, "{\"function\":\"%.*s\",\"context\":%.*s,\"payload\":%.*s}\n",
                        (int)i->name.size, (const char *)i->name.data, (int)i->context.size, (const char *)i->context.data,
                        (int)i->payload.size, (const char *)i->payload.data);
    int file = open("events.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || write(file, text, (size_t)size) != size) abort();
    close(file);
}

/* Whether the payload or the context has the word with the function's own end, such as "refuse-create". */
static int told(const hearth_invocation *i, const char *word) {
    static const char *ends[] = {"create", "signin", "mail", "sms"};
    char whole[64];
    snprintf(whole, sizeof whole, "%s-%s", word, ends[i->function]);
    return memmem(i->payload.data, i->payload.size, whole, strlen(whole)) != NULL
        || memmem(i->context.data, i->context.size, whole, strlen(whole)) != NULL;
}

/* Answers once the file "release" is there. */
static void hold(void *context) {
    uint64_t id = (uint64_t)(uintptr_t)context;
    if (access("release", F_OK) == 0) return answer(id, HEARTH_RESULT, "{\"sessionClaims\":{\"held\":true}}");
    host->schedule_after(host, id, 10000000, hold, context);
}

static void invoke(const hearth_invocation *i) {
    static char large[1200];
    note(i);
    if (told(i, "crash")) abort();
    if (told(i, "late")) return;
    if (told(i, "hold")) return hold((void *)(uintptr_t)i->id);
    if (told(i, "refuse") || memmem(i->context.data, i->context.size, "+15555550199", 12) != NULL)
        return answer(i->id, HEARTH_ERROR, "{\"code\":\"permission-denied\",\"message\":\"Not \\\"you\\\"\"}");
    if (told(i, "block")) return answer(i->id, HEARTH_RESULT, "{\"recaptchaActionOverride\":\"BLOCK\"}");
    if (told(i, "garbage")) return answer(i->id, HEARTH_RESULT, "[1]");
    if (told(i, "mistyped")) return answer(i->id, HEARTH_RESULT, "{\"disabled\":\"yes\"}");
    if (told(i, "disabled")) return answer(i->id, HEARTH_RESULT, "{\"disabled\":true}");
    if (told(i, "reserved")) return answer(i->id, HEARTH_RESULT, "{\"customClaims\":{\"iss\":\"me\"}}");
    if (told(i, "session-reserved")) return answer(i->id, HEARTH_RESULT, "{\"sessionClaims\":{\"firebase\":1}}");
    if (told(i, "large")) {
        snprintf(large, sizeof large, "{\"customClaims\":{\"a\":\"%01000d\"}}", 0);
        return answer(i->id, HEARTH_RESULT, large);
    }
    if (told(i, "changed"))
        return answer(i->id, HEARTH_RESULT,
                      "{\"displayName\":\"Given\",\"photoURL\":\"https://example.com/p.png\",\"emailVerified\":true,"
                      "\"customClaims\":{\"role\":\"staff\"},\"sessionClaims\":{\"session\":\"yes\",\"role\":\"guest\"}}");
    answer(i->id, HEARTH_RESULT, i->function == 0 ? "null" : "{}");
}

#define BLOCKING(name, event, options, more) \
    "\"" name "\":{\"blockingTrigger\":{\"eventType\":\"providers/cloud.auth/eventTypes/user." event "\",\"options\":{" options "}}" more "}"

PLUGIN("{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    BLOCKING("gate", "beforeCreate", "\"accessToken\":true", ",\"timeoutSeconds\":2") ","
    BLOCKING("door", "beforeSignIn", "\"idToken\":true", "") ","
    BLOCKING("mails", "beforeSendEmail", "", "") ","
    BLOCKING("texts", "beforeSendSms", "", ",\"timeoutSeconds\":7")
    "}}")
