#include "CRE2.h"

#include <re2/re2.h>

#include <cstring>
#include <new>

static re2::RE2 *unwrap(re2_pattern *pattern) { return reinterpret_cast<re2::RE2 *>(pattern); }
static const re2::RE2 *unwrap(const re2_pattern *pattern) { return reinterpret_cast<const re2::RE2 *>(pattern); }

re2_pattern *re2_pattern_compile(
    const char *pattern, size_t length, bool ignores_case, int64_t memory_max, char *message, size_t message_size) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_case_sensitive(!ignores_case);
    options.set_max_mem(memory_max);
    re2::RE2 *compiled = new (std::nothrow) re2::RE2(re2::StringPiece(pattern, length), options);
    if (compiled != nullptr && compiled->ok()) return reinterpret_cast<re2_pattern *>(compiled);
    if (message_size > 0) {
        const char *reason = compiled == nullptr ? "out of memory" : compiled->error().c_str();
        strncpy(message, reason, message_size - 1);
        message[message_size - 1] = 0;
    }
    delete compiled;
    return nullptr;
}

bool re2_pattern_matches(const re2_pattern *pattern, const char *text, size_t length) {
    return unwrap(pattern)->Match(re2::StringPiece(text, length), 0, length, re2::RE2::UNANCHORED, nullptr, 0);
}

int re2_pattern_size(const re2_pattern *pattern) { return unwrap(pattern)->ProgramSize(); }

const void *text_find(const void *text, size_t text_length, const void *part, size_t part_length) {
    return memmem(text, text_length, part, part_length);
}

void re2_pattern_free(re2_pattern *pattern) { delete unwrap(pattern); }
