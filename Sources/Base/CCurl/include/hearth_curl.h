#ifndef HEARTH_CURL_H
#define HEARTH_CURL_H

// libcurl's types and constants; none of its functions is called directly, so nothing links to it.
#include <curl/curl.h>
#include <stdbool.h>

/// libcurl, opened when something is fetched for the first time and not before (docs/decisions/lazy-libcurl.md).
///
/// Every function below but hearth_curl_load is called only after that one has returned true. The setters have one type
/// of argument each, because Swift cannot call functions with a variable number of them.

/// Opens the library and prepares it, once however often it is called and from however many threads.
/// Returns whether it can be used; if not, `failure` gets the reason, and the next call tries again.
int hearth_curl_load(char *failure, size_t size);

CURL *hearth_curl_easy_init(void);
void hearth_curl_easy_cleanup(CURL *easy);
CURLcode hearth_curl_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode hearth_curl_easy_set_size(CURL *easy, CURLoption option, curl_off_t value);
CURLcode hearth_curl_easy_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode hearth_curl_easy_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode hearth_curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

/// Says which addresses connections are opened to.
typedef struct {
    bool (*admits)(const struct sockaddr *address, void *context);
    void *context;
} hearth_curl_gate;

/// Opens connections only where `gate` admits it, which has to live as long as the transfer; everywhere while there is none.
CURLcode hearth_curl_easy_set_gate(CURL *easy, const hearth_curl_gate *gate);

/// Takes what arrives: `header` one header line at a time, `body` the rest; both get `context` last.
CURLcode hearth_curl_easy_set_sinks(CURL *easy, curl_write_callback header, curl_write_callback body, void *context);

/// The status of the last answer, 0 where there was none.
long hearth_curl_easy_status(CURL *easy);

/// libcurl's sentence for a result.
const char *hearth_curl_easy_text(CURLcode code);

struct curl_slist *hearth_curl_list_append(struct curl_slist *list, const char *line);
void hearth_curl_list_free(struct curl_slist *list);

CURLM *hearth_curl_multi_init(void);
void hearth_curl_multi_cleanup(CURLM *multi);
CURLMcode hearth_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Tells which sockets to watch and when to call again; both get `context`.
CURLMcode hearth_curl_multi_set_watchers(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context);

CURLMcode hearth_curl_multi_add(CURLM *multi, CURL *easy);
CURLMcode hearth_curl_multi_remove(CURLM *multi, CURL *easy);

/// `events` is a sum of CURL_CSELECT_IN, _OUT and _ERR; `socket` is CURL_SOCKET_TIMEOUT when the timer fired.
CURLMcode hearth_curl_multi_action(CURLM *multi, curl_socket_t socket, int events);

/// The next transfer that has ended, with its result; NULL where no other has.
CURL *hearth_curl_multi_next_done(CURLM *multi, CURLcode *result);

#endif
