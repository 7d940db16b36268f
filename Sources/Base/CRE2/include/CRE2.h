#ifndef CRE2_H
#define CRE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled RE2 pattern. Thread-safe. */
typedef struct re2_pattern re2_pattern;

/* Compiles `length` bytes of UTF-8. NULL when RE2 refuses the pattern; `message` then holds the reason, ended by a zero byte.
   `memory_max` bounds what compiling and matching take, in bytes. */
re2_pattern *re2_pattern_compile(
    const char *pattern, size_t length, bool ignores_case, int64_t memory_max, char *message, size_t message_size);

/* Whether the pattern matches anywhere in `length` bytes of UTF-8. Takes linear time. */
bool re2_pattern_matches(const re2_pattern *pattern, const char *text, size_t length);

/* Number of instructions of the compiled pattern. */
int re2_pattern_size(const re2_pattern *pattern);

void re2_pattern_free(re2_pattern *pattern);

/* The first occurrence of `part` in `text`, or NULL. Takes linear time, as GNU memmem does, which Swift cannot call. */
const void *text_find(const void *text, size_t text_length, const void *part, size_t part_length);

#ifdef __cplusplus
}
#endif

#endif
