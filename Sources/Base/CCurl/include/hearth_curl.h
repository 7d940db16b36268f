#ifndef HEARTH_CURL_H
#define HEARTH_CURL_H

// libcurl's types and constants; none of its functions is called directly, so nothing links to it.
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/// Access to libcurl, which is opened on the first request (docs/decisions/lazy-libcurl.md).
///
/// Call hearth_curl_load first; the other functions may be called only after it has returned true. Each setter takes one type of argument,
/// because Swift cannot call variadic functions.

/// Opens and prepares the library once; safe to call repeatedly and from any thread. Returns whether it can be used; if not, `failure` gets
/// the reason, and the next call tries again.
int hearth_curl_load(char *failure, size_t size);

CURL *hearth_curl_easy_init(void);
void hearth_curl_easy_cleanup(CURL *easy);
CURLcode hearth_curl_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode hearth_curl_easy_set_size(CURL *easy, CURLoption option, curl_off_t value);
CURLcode hearth_curl_easy_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode hearth_curl_easy_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode hearth_curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

/// Decides to which addresses connections are opened.
typedef struct {
    bool (*admits)(const struct sockaddr *address, void *context);
    void *context;
} hearth_curl_gate;

/// Opens connections only to addresses that `gate` admits; NULL admits all. `gate` must live as long as the transfer.
CURLcode hearth_curl_easy_set_gate(CURL *easy, const hearth_curl_gate *gate);

/// Sets the callbacks for received data: `header` gets one header line at a time, `body` the rest. Both get `context` as the last argument.
CURLcode hearth_curl_easy_set_sinks(CURL *easy, curl_write_callback header, curl_write_callback body, void *context);

/// Sets the callback that gives the data of an upload; it gets `context` as the last argument.
CURLcode hearth_curl_easy_set_source(CURL *easy, curl_read_callback source, void *context);

/// Runs a transfer that no multi handle has. Blocks until it has ended.
CURLcode hearth_curl_easy_perform(CURL *easy);

/// The status of the last answer, 0 where there was none.
long hearth_curl_easy_status(CURL *easy);

/// libcurl's text for a result code.
const char *hearth_curl_easy_text(CURLcode code);

struct curl_slist *hearth_curl_list_append(struct curl_slist *list, const char *line);
void hearth_curl_list_free(struct curl_slist *list);

/// An absolute address, as libcurl understands it.
typedef struct {
    char *text;
    char *scheme;
    char *host;
    /// That of the scheme where the address has none.
    char *port;
} hearth_curl_url;

/// Parses an address without a user and a fragment: an absolute one, or one relative to `base`, which may be NULL. Returns whether it is valid;
/// then pass `url` to hearth_curl_url_free.
int hearth_curl_url_parse(const char *base, const char *text, hearth_curl_url *url);
void hearth_curl_url_free(hearth_curl_url *url);

/// The seconds since 1970 of a date of HTTP; -1 for other text.
int64_t hearth_curl_date(const char *text);

CURLM *hearth_curl_multi_init(void);
void hearth_curl_multi_cleanup(CURLM *multi);
CURLMcode hearth_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Sets the callbacks that report the sockets to watch and the next timeout; both get `context`.
CURLMcode hearth_curl_multi_set_watchers(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context);

CURLMcode hearth_curl_multi_add(CURLM *multi, CURL *easy);
CURLMcode hearth_curl_multi_remove(CURLM *multi, CURL *easy);

/// `events` is a sum of CURL_CSELECT_IN, _OUT and _ERR; `socket` is CURL_SOCKET_TIMEOUT when the timer fired.
CURLMcode hearth_curl_multi_action(CURLM *multi, curl_socket_t socket, int events);

/// The next transfer that has ended, with its result; NULL if there is none.
CURL *hearth_curl_multi_next_done(CURLM *multi, CURLcode *result);

#endif
