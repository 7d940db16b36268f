/*
 * A plugin that tells what goes on in its worker, and that breaks the rules of hearth.h where a test asks for it.
 * The tests compile it themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <hearth.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef struct call {
    uint64_t id;
    int is_open, is_cancelled;
    int most;           /* overlap: the most that ran at once while this one did */
    long left, bytes;   /* stream: chunks to send, and their size */
    long milliseconds;
    char text[1024];
    void (*then)(struct call *);
} call;

enum { CALLS_MAX = 4096 };
static const hearth_host *host;
static call calls[CALLS_MAX];
static int open_calls, overlapping;
static long counted;

/* Answers. */

static void respond(uint64_t id, hearth_answer_kind kind, const char *head, const char *body, size_t size) {
    hearth_answer answer = {.kind = kind, .head = {head, head ? strlen(head) : 0}, .body = {body, size}};
    host->respond(host, id, &answer);
}

static void finish(call *c, const char *format, ...) {
    char body[4096];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    open_calls -= c->is_open;
    c->is_open = 0;
    respond(c->id, HEARTH_RESULT, NULL, body, (size_t)size);
}

/* Parses the input of a call: members of a flat JSON object. */

static const char *member(const hearth_invocation *i, const char *name) {
    static char data[8192];
    size_t size = i->payload.size < sizeof data - 1 ? i->payload.size : sizeof data - 1;
    memcpy(data, i->payload.data, size);
    data[size] = 0;
    char key[64];
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *found = strstr(data, key);
    if (!found) return NULL;
    found += strlen(key);
    while (*found == ' ' || *found == ':') found++;
    return found;
}

static long number(const hearth_invocation *i, const char *name, long fallback) {
    const char *found = member(i, name);
    return found ? strtol(found, NULL, 10) : fallback;
}

static void string(const hearth_invocation *i, const char *name, char *out, size_t room) {
    const char *found = member(i, name);
    size_t used = 0;
    if (found && *found == '"') {
        for (found++; *found && *found != '"' && used + 4 < room; found++) {
            if (*found != '\\') {
                out[used++] = *found;
                continue;
            }
            found++;
            if (*found == 'u') {
                char digits[5] = {found[1], found[2], found[3], found[4], 0};
                out[used++] = (char)strtol(digits, NULL, 16);
                found += 4;
            } else {
                out[used++] = *found == 'n' ? '\n' : *found == 't' ? '\t' : *found;
            }
        }
    }
    out[used] = 0;
}

/* Functions. */

static void later(void *context) {
    call *c = context;
    if (c->is_open) c->then(c);
}

static void wait_then(call *c, void (*then)(call *)) {
    c->then = then;
    host->schedule_after(host, c->id, (uint64_t)c->milliseconds * 1000000, later, c);
}

static void slept(call *c) { finish(c, "\"slept\""); }

static void overlapped(call *c) {
    overlapping--;
    finish(c, "%d", c->most);
}

static void note_overlap(call *c) {
    overlapping++;
    c->most = overlapping;
    for (int n = 0; n < CALLS_MAX; n++) {
        if (calls[n].is_open && calls[n].then == overlapped && calls[n].most < overlapping) calls[n].most = overlapping;
    }
}

static void stream(call *c) {
    static char *chunk;
    size_t size = (size_t)c->bytes;
    chunk = realloc(chunk, size + 2);
    if (!chunk) return finish(c, "\"no memory\"");
    memset(chunk, 'c', size + 2);
    chunk[0] = chunk[size + 1] = '"';
    while (c->left > 0) {
        c->left--;
        hearth_flow flow = host->send_chunk(host, c->id, (hearth_bytes){chunk, size + 2});
        if (flow == HEARTH_GONE) return finish(c, "\"gone\"");
        if (flow == HEARTH_PRESSURE) return; /* drained() goes on */
        if (c->milliseconds > 0) return wait_then(c, stream);
    }
    finish(c, "\"sent\"");
}

static void say(call *c) {
    hearth_bytes none = {NULL, 0}, text = {c->text, strlen(c->text)};
    printf("%s\n", c->text);
    fflush(stdout);
    fprintf(stderr, "%s\n", c->text);
    host->log(host, c->id, HEARTH_INFO, text, none);
    host->log(host, c->id, HEARTH_ERROR_LEVEL, text, none);
    finish(c, "null");
}

static void shout(call *c, long bytes, long line_length) {
    static char block[100000];
    for (size_t n = 0; n < sizeof block; n++) block[n] = line_length > 0 && n % (size_t)line_length == 0 ? '\n' : 'x';
    for (long written = 0; written < bytes; written += (long)sizeof block) fwrite(block, 1, sizeof block, stdout);
    fflush(stdout);
    finish(c, "%ld", bytes);
}

static void big(call *c, long bytes) {
    char *text = malloc((size_t)bytes + 2);
    if (!text) return finish(c, "null");
    memset(text, 'b', (size_t)bytes + 2);
    text[0] = text[bytes + 1] = '"';
    open_calls--;
    c->is_open = 0;
    respond(c->id, HEARTH_RESULT, NULL, text, (size_t)bytes + 2);
    free(text);
}

static void tell_environment(call *c) {
    static char body[65536];
    size_t used = 0;
    body[used++] = '{';
    for (char **entry = environ; *entry && used + 4096 < sizeof body; entry++) {
        if (used > 1) body[used++] = ',';
        body[used++] = '"';
        int in_value = 0;
        for (const char *at = *entry; *at && used + 4096 < sizeof body; at++) {
            if (*at == '=' && !in_value) {
                used += (size_t)sprintf(body + used, "\":\"");
                in_value = 1;
            } else if (*at == '"' || *at == '\\' || (unsigned char)*at < 32) {
                used += (size_t)sprintf(body + used, "\\u%04x", (unsigned char)*at);
            } else {
                body[used++] = *at;
            }
        }
        body[used++] = '"';
    }
    body[used++] = '}';
    open_calls--;
    c->is_open = 0;
    respond(c->id, HEARTH_RESULT, NULL, body, used);
}

static void hog(call *c) {
    long taken = 0;
    for (char *block; (block = malloc(1 << 20)); taken++) {
        memset(block, 1, 1 << 20);
        /* The block is passed to an opaque function, so that no compiler removes it. */
        if (write(-1, block, 1) == 0) break;
    }
    finish(c, "%ld", taken);
}

static void open_files(call *c, long wanted) {
    static int opened[100000];
    long count = 0;
    while (count < wanted && count < 100000 && (opened[count] = open("/dev/null", O_RDONLY)) >= 0) count++;
    for (long n = 0; n < count; n++) close(opened[n]);
    finish(c, "%ld", count);
}

static void database_answered(void *context, int ok, hearth_bytes answer) {
    finish(context, "{\"ok\":%d,\"answer\":%.*s}", ok, (int)answer.size, (const char *)answer.data);
}

static void call_service(call *c, const hearth_invocation *i) {
    char service[64], method[64];
    string(i, "service", service, sizeof service);
    string(i, "method", method, sizeof method);
    hearth_service_call wanted = {{service, strlen(service)}, {method, strlen(method)}, {"{\"path\":\"/\"}", 12}};
    host->call_service(host, c->id, &wanted, database_answered, c);
}

/* A payload of so many bytes: a JSON string. */
static void call_with(call *c, long size) {
    char *payload = malloc(size);
    memset(payload, 'x', size);
    payload[0] = payload[size - 1] = '"';
    hearth_service_call wanted = {{"database", 8}, {"set", 3}, {payload, size}};
    host->call_service(host, c->id, &wanted, database_answered, c);
    free(payload);
}

static long milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Keeps the loop for that long, and then answers. */
static void compute(call *c) {
    for (long end = milliseconds_now() + c->milliseconds; milliseconds_now() < end;) continue;
    finish(c, "\"computed\"");
}

static void spin(call *c) {
    for (volatile long n = 0; c->is_open; n++) continue;
}

static int is(const hearth_invocation *i, const char *name) {
    return i->name.size == strlen(name) && memcmp(i->name.data, name, i->name.size) == 0;
}

/* Functions that break the rules. */
static int misbehave(const hearth_invocation *i, call *c) {
    if (is(i, "garbledChunk")) {
        host->send_chunk(host, i->id, (hearth_bytes){"]", 1});
        finish(c, "1");
    } else if (is(i, "wrongKind")) {
        open_calls--;
        c->is_open = 0;
        respond(i->id, HEARTH_RESPONSE, "{\"status\":200}", "x", 1);
    } else if (is(i, "inject")) {
        open_calls--;
        c->is_open = 0;
        respond(i->id, HEARTH_RESPONSE, "{\"status\":200,\"headers\":[\"X-A\",\"a\\r\\nX-Injected: 1\",\"Content-Length\",\"999\"]}", "body", 4);
    } else if (is(i, "bigHead")) {
        size_t size = 80 << 20;
        char *head = malloc(size);
        open_calls--;
        c->is_open = 0;
        if (head) memset(head, ' ', size);
        hearth_flow flow = head ? host->start_response(host, i->id, (hearth_bytes){head, size}) : HEARTH_CONTINUE;
        free(head);
        if (flow != HEARTH_GONE) respond(i->id, HEARTH_RESPONSE, "{\"status\":200}", "taken", 5);
    } else if (is(i, "abort")) {
        abort();
    } else if (is(i, "childAborts")) {
        /* Its end, by another signal, must not be taken for that of its child. */
        pid_t child = fork();
        if (child == 0) abort();
        waitpid(child, NULL, 0);
        kill(getpid(), SIGKILL);
    } else if (is(i, "callsNothing")) {
        static void (*volatile nothing)(void);
        nothing();
    } else if (is(i, "divides")) {
        static volatile int zero;
        finish(c, "%d", 7 / zero);
    } else if (is(i, "exit")) {
        exit(0);
    } else if (is(i, "spin")) {
        spin(c);
    } else {
        return 0;
    }
    return 1;
}

static void invoke(const hearth_invocation *i) {
    static int next;
    call *c = &calls[next++ % CALLS_MAX];
    memset(c, 0, sizeof *c);
    c->id = i->id;
    c->is_open = 1;
    c->milliseconds = number(i, "milliseconds", 0);
    open_calls++;
    counted++;
    if (misbehave(i, c)) return;
    if (is(i, "pid")) finish(c, "%d", (int)getpid());
    else if (is(i, "open")) finish(c, "%d", open_calls);
    else if (is(i, "count")) finish(c, "%ld", counted);
    else if (is(i, "sleep") || is(i, "late")) wait_then(c, slept);
    else if (is(i, "overlap")) note_overlap(c), wait_then(c, overlapped);
    else if (is(i, "computes")) compute(c);
    else if (is(i, "spinsLater")) wait_then(c, spin);
    else if (is(i, "waits")) host->send_chunk(host, i->id, (hearth_bytes){"\"waiting\"", 9});
    else if (is(i, "stream")) c->left = number(i, "count", 1), c->bytes = number(i, "bytes", 10), stream(c);
    else if (is(i, "big")) big(c, number(i, "bytes", 10));
    else if (is(i, "hog")) hog(c);
    else if (is(i, "environment")) tell_environment(c);
    else if (is(i, "secret")) finish(c, getenv("API_KEY") ? "\"set\"" : "null");
    else if (is(i, "folder")) finish(c, "\"%s\"", getcwd(c->text, sizeof c->text));
    else if (is(i, "opensFiles")) open_files(c, number(i, "count", 10));
    else if (is(i, "says")) string(i, "text", c->text, sizeof c->text), say(c);
    else if (is(i, "saysLater")) string(i, "text", c->text, sizeof c->text), wait_then(c, say);
    else if (is(i, "saysBytes")) printf("bytes \xff\xfe\xc0 \x01 end\n"), fflush(stdout), finish(c, "null");
    else if (is(i, "shout")) shout(c, number(i, "bytes", 10), number(i, "lineLength", 100));
    else if (is(i, "asks")) call_service(c, i);
    else if (is(i, "callsWith")) call_with(c, number(i, "bytes", 10));
    else finish(c, "\"unknown\"");
}

static call *find(uint64_t id) {
    for (int n = 0; n < CALLS_MAX; n++) {
        if (calls[n].is_open && calls[n].id == id) return &calls[n];
    }
    return NULL;
}

/* Waiting functions end here, except "late" and streams: a stream learns it from HEARTH_GONE. */
static void cancel(uint64_t id) {
    call *c = find(id);
    if (!c) return;
    if (c->then == NULL && c->bytes == 0) {
        hearth_bytes text = {"saw cancellation", 16}, none = {NULL, 0};
        host->log(host, id, HEARTH_NOTICE, text, none);
        finish(c, "\"cancelled\"");
    }
}

static void drained(uint64_t id) {
    call *c = find(id);
    if (c) stream(c);
}

#define CALLABLE(name) "\"" name "\":{\"callableTrigger\":{}},"
static const char manifest[] =
    "{\"specVersion\":\"v1alpha1\",\"endpoints\":{"
    CALLABLE("pid") CALLABLE("open") CALLABLE("count") CALLABLE("sleep") CALLABLE("late") CALLABLE("overlap") CALLABLE("waits")
    CALLABLE("stream") CALLABLE("big") CALLABLE("hog") CALLABLE("environment") CALLABLE("secret") CALLABLE("folder") CALLABLE("opensFiles")
    CALLABLE("says") CALLABLE("saysLater") CALLABLE("saysBytes") CALLABLE("shout")
    CALLABLE("asks") CALLABLE("callsWith") CALLABLE("garbledChunk")
    CALLABLE("wrongKind") CALLABLE("abort") CALLABLE("childAborts") CALLABLE("exit") CALLABLE("spin")
    CALLABLE("callsNothing") CALLABLE("divides") CALLABLE("spinsLater") CALLABLE("computes")
    "\"bigHead\":{\"httpsTrigger\":{}},\"inject\":{\"httpsTrigger\":{}}}}";

static const hearth_plugin plugin = {
    .abi_major = HEARTH_ABI_MAJOR, .abi_minor = HEARTH_ABI_MINOR, .size = sizeof plugin,
    .manifest = {manifest, sizeof manifest - 1}, .invoke = invoke, .cancel = cancel, .drained = drained,
};

const hearth_plugin *hearth_plugin_entry(const hearth_host *offered) {
    host = offered;
    return &plugin;
}
