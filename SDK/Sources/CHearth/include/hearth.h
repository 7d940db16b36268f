/*
 * hearth.h: the boundary between Hearth and a function plugin.
 *
 * A plugin is a shared library (.so) with functions in it. Hearth loads it into a worker process of
 * its own and calls it through this header. Nothing else is shared, so that a plugin can be written
 * in any language that can export a C function, with any compiler.
 *
 *   1. The worker loads the library and calls hearth_plugin_entry() once, with a table of the host's
 *      functions. The plugin keeps the pointer and returns a table of its own.
 *   2. The manifest in that table lists the functions. The host reads it, and routes requests to them
 *      from then on.
 *   3. For each request the host calls invoke(). The plugin answers with exactly one respond(), at
 *      once or later, for each invocation. Many can be open at the same time.
 *
 * THREADS. The host calls the plugin on one thread only, the worker's event loop. Code that blocks
 * there blocks every other invocation of this worker. A plugin may have threads of its own, and may
 * call every function of hearth_host from any of them.
 *
 * MEMORY. Bytes that are passed to a call may be read during that call. To keep them longer, copy
 * them. Neither side frees memory of the other. Text is UTF-8 and has no terminating zero.
 *
 * VERSIONS. A host refuses a plugin of another major version. Within a major version no member moves
 * or changes its meaning: a newer minor version only appends members to the structures, and values to
 * the enumerations. Both tables say with `size` how many of their members are there. A host takes
 * plugins with shorter and longer tables than its own: members that a plugin's table lacks count as
 * NULL, members that the host does not know are ignored. A plugin uses a member of hearth_host that
 * is newer than version 1.0 only where `size` reaches it, and a newer member of a structure that it
 * is handed only where the host's `abi_minor` says that it is there.
 *
 * A complete plugin:
 *
 *     #include <hearth.h>
 *     #include <string.h>
 *
 *     static const hearth_host *host;
 *
 *     static void invoke(const hearth_invocation *invocation) {
 *         hearth_answer answer = { .kind = HEARTH_RESULT, .body = invocation->payload };
 *         host->respond(host, invocation->id, &answer);
 *     }
 *     static const char manifest[] =
 *         "{\"specVersion\":\"v1alpha1\",\"endpoints\":{\"echo\":{\"callableTrigger\":{}}}}";
 *     static const hearth_plugin plugin = {
 *         .abi_major = HEARTH_ABI_MAJOR, .size = sizeof plugin,
 *         .manifest = { manifest, sizeof manifest - 1 }, .invoke = invoke,
 *     };
 *     const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
 *         host = offered;
 *         return &plugin;
 *     }
 *
 * Built with: cc -shared -fPIC -I <where this file is> echo.c -o libecho.so
 */
#ifndef HEARTH_H
#define HEARTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEARTH_ABI_MAJOR 1
#define HEARTH_ABI_MINOR 1

/* Bytes that belong to the caller; `data` may be NULL when `size` is 0. */
typedef struct hearth_bytes {
    const void *data;
    size_t size;
} hearth_bytes;

/* The form of a call's context. A plugin names those that it reads besides JSON in hearth_plugin.context_formats. */
typedef enum hearth_context_format {
    /* A JSON object, as hearth_invocation.context describes it. */
    HEARTH_CONTEXT_JSON = 0,
    /*
     * The head of the request of an HTTP call as it was received, with a table of positions. It costs the host one copy, and
     * the plugin nothing until it reads a part. Numbers are little-endian. A part is two uint32_t: its first byte, counted
     * from the beginning of the text, and its size; a first byte of 0xFFFFFFFF means that the part is absent.
     *    0  uint32_t  1, the version of this layout
     *    4  uint32_t  bit 0: there is a trace; bit 1: it is sampled
     *    8  uint64_t  the trace, its higher half; 16 its lower half; 24 the span
     *   32  parts     method, path, query, peer, tracestate, caller
     *   80  uint32_t  the number of header fields; 84 the number of bytes of the text
     *   88  parts     for each header field its name, in the letters that the client sent, and its value
     *       bytes     the text
     * caller has JSON members, each after a comma: "auth", "app", "instanceIdToken", "acceptsStreaming" as they apply.
     */
    HEARTH_CONTEXT_RAW = 1,
} hearth_context_format;

/* One call of one function. All of it is valid during invoke() only. */
typedef struct hearth_invocation {
    /* Names this call in respond(), send_chunk(), cancel() and so on. Never used twice by one worker, never 0. */
    uint64_t id;
    /* Position of the function in the manifest's "endpoints", counted from 0 in the order written. */
    uint32_t function;
    /* The form of `context`, a hearth_context_format. Since 1.1; 0, which is JSON, before. */
    uint32_t context_format;
    /* The function's name: its key in "endpoints". */
    hearth_bytes name;
    /* When the call must be answered, in nanoseconds of CLOCK_MONOTONIC; 0 for never. The client is
     * answered DEADLINE_EXCEEDED then, and cancel() is called. */
    uint64_t deadline_ns;
    /*
     * The caller and the request; a JSON object. Members that do not apply are absent.
     *   "method", "path", "query"   of the HTTP request. The path has no function prefix and starts with "/"; the
     *                               query has no "?" and is absent where the URL has none
     *   "headers"                   [name, value, name, value, ...]: in the order sent, names in lower case
     *   "peer"                      address of the client, "127.0.0.1:50000"
     *   "auth"                      {"uid", "token": {claims}, "rawToken"}: present when the ID token was verified
     *   "app"                       {"appId", "token": {claims}, "alreadyConsumed"?}: present when App Check was
     *   "instanceIdToken"           as sent, not verified
     *   "acceptsStreaming"          true when the client asked for server-sent events
     *   "trace"                     the call's place in a trace, a W3C traceparent, to be sent with requests to other systems.
     *                               It continues the trace of the request where that is valid, else it starts a new one
     *   "tracestate"                the W3C tracestate of that trace, to be sent with it
     *   "event"                     of an event: {"id", "type", "source", "subject", "time", "instance", "ref", "location",
     *                               "params": {}, "authType", "authId"?, "attempt", "chainDepth"}. The id stays the same when
     *                               the event is delivered again; docs/triggers.md. Of an event of a user, "instance" and "ref"
     *                               are absent; docs/user-functions.md. Of a blocking function: {"id", "type", "time", "resource",
     *                               "authType", "tenantId"?, "ipAddress"?, "userAgent"?, "locale"?, "additionalUserInfo",
     *                               "credential"?, "secondFactor"?, "emailType"?, "smsType"?}
     */
    hearth_bytes context;
    /*
     * A callable: the JSON value of "data". The host has checked that it is valid JSON and has turned the wire's
     * Int64Value and UInt64Value wrappers into plain JSON integers, of up to 20 digits.
     * A plain HTTP function: the body's bytes, decompressed.
     * An event of the database: {"before": any, "after": any}, null where there is nothing; or {"truncated": true} where the
     * values are larger than an event may be.
     * An event of a user: {"uid": "...", "email": "...", ...}, the user's record, without a hash of the password.
     * A blocking function: the same record, or null for messages. It answers null, or an object with "displayName", "photoURL",
     * "disabled", "emailVerified", "customClaims", "sessionClaims" and "recaptchaActionOverride" as they apply; or an error, which
     * refuses the operation.
     */
    hearth_bytes payload;
} hearth_invocation;

/* The kind of an answer. */
typedef enum hearth_answer_kind {
    /* body: a JSON value, the callable's result. Empty stands for null. Integers beyond 2^53 reach the client wrapped as
     * Int64Value or UInt64Value. Of an event any result means that it has been handled. */
    HEARTH_RESULT = 0,
    /* body: {"code": "not-found", "message": "...", "details": any}; the codes are those of the callable protocol.
     * Details may be absent. Every kind of function may fail like this. A body of another form reaches the client as INTERNAL. An
     * event that fails is tried again where its function asks for that, else it is kept as a dead letter. */
    HEARTH_ERROR = 1,
    /* A plain HTTP function's whole answer. head: {"status": 200, "headers": [name, value, ...]}; body: its bytes. */
    HEARTH_RESPONSE = 2,
    /* The end of an answer begun with start_response(); body: the last bytes, or none. */
    HEARTH_END = 3,
} hearth_answer_kind;

typedef struct hearth_answer {
    hearth_answer_kind kind;
    uint32_t reserved;
    hearth_bytes head;
    hearth_bytes body;
} hearth_answer;

/* A call of a service that the host offers: "database", "messaging", "auth", "http", "cache". docs/services.md describes their
 * methods and payloads. */
typedef struct hearth_service_call {
    hearth_bytes service; /* "database" */
    hearth_bytes method;  /* "set" */
    hearth_bytes payload; /* JSON, as the service describes it */
} hearth_service_call;

/* Called once for each service call, on the worker's loop. ok: 1 and the service's JSON answer; or 0 and
 * {"code": "unavailable", "message": "...", "details": any}. */
typedef void (*hearth_completion)(void *context, int ok, hearth_bytes answer);

/* A piece of work for the worker's loop. */
typedef void (*hearth_job)(void *context);

/* The result of send_chunk() and start_response(). */
typedef enum hearth_flow {
    HEARTH_GONE = -1,    /* not taken: the client left, the call was answered, chunks were not asked for, 16 MiB wait already, or
                            it has more than 64 MiB, which ends the call with an error */
    HEARTH_PRESSURE = 0, /* taken, but the client reads slowly: wait for drained() */
    HEARTH_CONTINUE = 1, /* taken */
} hearth_flow;

/* Severity of a log line, rising. */
typedef enum hearth_log_level {
    HEARTH_TRACE = 0,
    HEARTH_DEBUG = 1,
    HEARTH_INFO = 2,
    HEARTH_NOTICE = 3,
    HEARTH_WARNING = 4,
    HEARTH_ERROR_LEVEL = 5,
    HEARTH_CRITICAL = 6,
} hearth_log_level;

/* The functions of the host. Each takes the table itself first and may be called from any thread. `invocation` is an
 * invocation's id. A call for an invocation that is no longer open does nothing. */
typedef struct hearth_host hearth_host;
struct hearth_host {
    uint32_t abi_major;
    uint32_t abi_minor;
    size_t size;

    /* Answers an invocation. The first answer counts; a second is logged and dropped. */
    void (*respond)(const hearth_host *host, uint64_t invocation, const hearth_answer *answer);

    /* Begins a plain HTTP function's answer whose body comes in chunks. head as in HEARTH_RESPONSE. */
    hearth_flow (*start_response)(const hearth_host *host, uint64_t invocation, hearth_bytes head);

    /* Sends a part of an answer: for a callable one JSON value, that the client receives as a message; for a plain HTTP
     * function bytes of the body, after start_response(). */
    hearth_flow (*send_chunk)(const hearth_host *host, uint64_t invocation, hearth_bytes chunk);

    /* Calls a service for an invocation (0 for none). `completion` is called once, and never before this returns. A payload
     * of more than 64 MiB is refused as resource-exhausted, by every service. */
    void (*call_service)(const hearth_host *host, uint64_t invocation, const hearth_service_call *call,
                         hearth_completion completion, void *context);

    /* Runs a job on the worker's loop soon. `invocation` is the one that it works for (0 for none). Its output is logged
     * under it. */
    void (*schedule)(const hearth_host *host, uint64_t invocation, hearth_job job, void *context);

    /* The same, no earlier than `nanoseconds` from now. */
    void (*schedule_after)(const hearth_host *host, uint64_t invocation, uint64_t nanoseconds, hearth_job job,
                           void *context);

    /* Writes a line to the function's log. fields: a JSON object, or empty. */
    void (*log)(const hearth_host *host, uint64_t invocation, hearth_log_level level, hearth_bytes message,
                hearth_bytes fields);
};

/* The functions of the plugin. Members other than manifest and invoke may be NULL. */
typedef struct hearth_plugin {
    uint32_t abi_major; /* HEARTH_ABI_MAJOR */
    uint32_t abi_minor; /* HEARTH_ABI_MINOR */
    size_t size;        /* sizeof(hearth_plugin) */

    /*
     * JSON, valid as long as the library is loaded, in the shape of the Firebase tools' functions.yaml:
     *     { "specVersion": "v1alpha1",
     *       "params": [ {"name": "GREETING", "type": "string", "default": "hello"} ],
     *       "endpoints": {
     *         "addNumbers": { "callableTrigger": {}, "timeoutSeconds": 10, "concurrency": 20 },
     *         "status":     { "httpsTrigger": {} } } }
     * An endpoint has exactly one trigger. docs/plugin-manifest.md lists every option.
     */
    hearth_bytes manifest;

    /* Starts a call. Returns soon; the answer may come later. */
    void (*invoke)(const hearth_invocation *invocation);

    /* The client left or the deadline has passed: stop where that is easy. An answer is still due, and is dropped. */
    void (*cancel)(uint64_t invocation);

    /* After HEARTH_PRESSURE: the client has caught up, more chunks may follow. */
    void (*drained)(uint64_t invocation);

    /* The worker ends when this returns; every invocation has been answered or given up. */
    void (*shutdown)(void);

    /* Since 1.1. One bit for each form of a context that invoke() reads besides JSON: 1 << HEARTH_CONTEXT_RAW. A plugin that
     * names none, or is older, gets JSON. */
    uint32_t context_formats;
    uint32_t reserved;
} hearth_plugin;

/* The one symbol that a plugin exports. NULL means that it cannot run here; it has written the reason to stderr. */
const hearth_plugin *hearth_plugin_entry(const hearth_host *host);

#ifdef __cplusplus
}
#endif

#endif
