#include "hearth_curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

// curl.h hides these functions behind type-checking macros; the real functions are needed here.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FUNCTIONS(use)        \
    use(curl_global_init)     \
    use(curl_easy_init)       \
    use(curl_easy_cleanup)    \
    use(curl_easy_setopt)     \
    use(curl_easy_getinfo)    \
    use(curl_easy_perform)    \
    use(curl_easy_strerror)   \
    use(curl_slist_append)    \
    use(curl_slist_free_all)  \
    use(curl_multi_init)      \
    use(curl_multi_cleanup)   \
    use(curl_multi_setopt)    \
    use(curl_multi_add_handle) \
    use(curl_multi_remove_handle) \
    use(curl_multi_socket_action) \
    use(curl_multi_info_read) \
    use(curl_url)             \
    use(curl_url_cleanup)     \
    use(curl_url_set)         \
    use(curl_url_get)         \
    use(curl_free)            \
    use(curl_getdate)

#define DECLARE(name) __typeof__(&name) name;
static struct { FUNCTIONS(DECLARE) } curl;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_loaded;

static int load(char *failure, size_t size) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(failure, size, "libcurl cannot be opened: %s", reason == NULL ? "no reason given" : reason);
        return 0;
    }
#define RESOLVE(name)                                                                    \
    *(void **)&curl.name = dlsym(library, #name);                                        \
    if (curl.name == NULL) {                                                             \
        snprintf(failure, size, "libcurl.so.4 has no function %s", #name);               \
        return 0;                                                                        \
    }
    FUNCTIONS(RESOLVE)
    CURLcode code = curl.curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        snprintf(failure, size, "libcurl cannot be used: %s", curl.curl_easy_strerror(code));
    }
    return code == CURLE_OK;
}

int hearth_curl_load(char *failure, size_t size) {
    pthread_mutex_lock(&mutex);
    /* A load that failed because no descriptor was free is tried again. */
    if (!is_loaded) is_loaded = load(failure, size);
    const int result = is_loaded;
    pthread_mutex_unlock(&mutex);
    return result;
}

// Opens sockets with close-on-exec: workers would inherit libcurl's own. libcurl calls this for each address of a name before it sends
// anything.
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    const hearth_curl_gate *gate = context;
    if (gate != NULL && !gate->admits(&address->addr, gate->context)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURL *hearth_curl_easy_init(void) {
    CURL *easy = curl.curl_easy_init();
    if (easy != NULL && curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) != CURLE_OK) {
        curl.curl_easy_cleanup(easy);
        return NULL;
    }
    return easy;
}

CURLcode hearth_curl_easy_set_gate(CURL *easy, const hearth_curl_gate *gate) {
    return curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, gate);
}

void hearth_curl_easy_cleanup(CURL *easy) { curl.curl_easy_cleanup(easy); }

CURLcode hearth_curl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl.curl_easy_setopt(easy, option, value);
}

CURLcode hearth_curl_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl.curl_easy_setopt(easy, option, value);
}

CURLcode hearth_curl_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl.curl_easy_setopt(easy, option, value);
}

CURLcode hearth_curl_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl.curl_easy_setopt(easy, option, value);
}

CURLcode hearth_curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl.curl_easy_setopt(easy, option, value);
}

CURLcode hearth_curl_easy_set_sinks(CURL *easy, curl_write_callback header, curl_write_callback body, void *context) {
    CURLcode code = curl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    return code;
}

CURLcode hearth_curl_easy_set_source(CURL *easy, curl_read_callback source, void *context) {
    CURLcode code = curl.curl_easy_setopt(easy, CURLOPT_READFUNCTION, source);
    return code == CURLE_OK ? curl.curl_easy_setopt(easy, CURLOPT_READDATA, context) : code;
}

CURLcode hearth_curl_easy_perform(CURL *easy) { return curl.curl_easy_perform(easy); }

long hearth_curl_easy_status(CURL *easy) {
    long status = 0;
    return curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

const char *hearth_curl_easy_text(CURLcode code) { return curl.curl_easy_strerror(code); }

struct curl_slist *hearth_curl_list_append(struct curl_slist *list, const char *line) {
    return curl.curl_slist_append(list, line);
}

void hearth_curl_list_free(struct curl_slist *list) { curl.curl_slist_free_all(list); }

int hearth_curl_url_parse(const char *base, const char *text, hearth_curl_url *url) {
    *url = (hearth_curl_url){0};
    CURLU *handle = curl.curl_url();
    if (handle == NULL) return 0;
    /* Only addresses that another server sends may need escapes. */
    unsigned flags = CURLU_DISALLOW_USER | (base == NULL ? 0 : CURLU_URLENCODE);
    int is_valid = base == NULL || curl.curl_url_set(handle, CURLUPART_URL, base, CURLU_DISALLOW_USER) == CURLUE_OK;
    is_valid = is_valid && curl.curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK
        && curl.curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK
        && curl.curl_url_get(handle, CURLUPART_URL, &url->text, 0) == CURLUE_OK
        && curl.curl_url_get(handle, CURLUPART_SCHEME, &url->scheme, 0) == CURLUE_OK
        && curl.curl_url_get(handle, CURLUPART_HOST, &url->host, 0) == CURLUE_OK
        && curl.curl_url_get(handle, CURLUPART_PORT, &url->port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    curl.curl_url_cleanup(handle);
    if (!is_valid) hearth_curl_url_free(url);
    return is_valid;
}

void hearth_curl_url_free(hearth_curl_url *url) {
    curl.curl_free(url->text);
    curl.curl_free(url->scheme);
    curl.curl_free(url->host);
    curl.curl_free(url->port);
    *url = (hearth_curl_url){0};
}

int64_t hearth_curl_date(const char *text) { return (int64_t)curl.curl_getdate(text, NULL); }

CURLM *hearth_curl_multi_init(void) { return curl.curl_multi_init(); }

void hearth_curl_multi_cleanup(CURLM *multi) { curl.curl_multi_cleanup(multi); }

CURLMcode hearth_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl.curl_multi_setopt(multi, option, value);
}

CURLMcode hearth_curl_multi_set_watchers(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    CURLMcode code = curl.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (code == CURLM_OK) code = curl.curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    if (code == CURLM_OK) code = curl.curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

CURLMcode hearth_curl_multi_add(CURLM *multi, CURL *easy) { return curl.curl_multi_add_handle(multi, easy); }

CURLMcode hearth_curl_multi_remove(CURLM *multi, CURL *easy) { return curl.curl_multi_remove_handle(multi, easy); }

CURLMcode hearth_curl_multi_action(CURLM *multi, curl_socket_t socket, int events) {
    int running = 0;
    return curl.curl_multi_socket_action(multi, socket, events, &running);
}

CURL *hearth_curl_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl.curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
