/* Shared by every plugin in this folder: PLUGIN(manifest) defines the entry point; the file defines invoke(). */
#include <hearth.h>
#include <string.h>

static const hearth_host *host;

__attribute__((unused)) static void answer(uint64_t invocation, hearth_answer_kind kind, const char *body) {
    hearth_answer answer = { .kind = kind, .body = { body, strlen(body) } };
    host->respond(host, invocation, &answer);
}

/* The manifest of one callable. */
#define ONE_CALLABLE(name) "{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"" name "\":{\"callableTrigger\":{}}}}"

#define PLUGIN_OF_VERSION(major, text)                                              \
    static const hearth_plugin plugin = {                                           \
        .abi_major = (major), .abi_minor = HEARTH_ABI_MINOR, .size = sizeof plugin, \
        .manifest = { (text), sizeof(text) - 1 }, .invoke = invoke,                 \
    };                                                                              \
    const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {          \
        host = offered;                                                             \
        return &plugin;                                                             \
    }

#define PLUGIN(text) PLUGIN_OF_VERSION(HEARTH_ABI_MAJOR, text)
