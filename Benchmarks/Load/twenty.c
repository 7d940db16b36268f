/* Twenty functions, f0 to f19, which answer with the VERSION of their library. */
#include <hearth.h>
#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define ONE(name) "\"" name "\":{\"entryPoint\":\"" name "\",\"platform\":\"gcfv2\",\"callableTrigger\":{}}"
#define FIVE(a, b, c, d, e) ONE("f" a) "," ONE("f" b) "," ONE("f" c) "," ONE("f" d) "," ONE("f" e)

static const char manifest[] = "{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    FIVE("0", "1", "2", "3", "4") "," FIVE("5", "6", "7", "8", "9") "," FIVE("10", "11", "12", "13", "14") ","
    FIVE("15", "16", "17", "18", "19") "}}";
static const char version[] = TEXT(VERSION);
static const hearth_host *host;

static void invoke(const hearth_invocation *invocation) {
    hearth_answer answer = { .kind = HEARTH_RESULT, .body = { version, sizeof version - 1 } };
    host->respond(host, invocation->id, &answer);
}

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR, .size = sizeof plugin,
    .manifest = { manifest, sizeof manifest - 1 }, .invoke = invoke,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    return &plugin;
}
