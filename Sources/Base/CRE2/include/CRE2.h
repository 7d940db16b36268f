#ifndef CRE2_H
#define CRE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled pattern of RE2. It may be used by many threads at once. */
typedef struct re2_pattern re2_pattern;

/* Compiles `length` bytes of UTF-8. NULL when RE2 refuses the pattern; `message` then holds the reason, ended by a zero byte.
   `memory_max` bounds what compiling and matching take, in bytes. */
re2_pattern *re2_pattern_compile(
    const char *pattern, size_t length, bool ignores_case, int64_t memory_max, char *message, size_t message_size);

/* Whether the pattern matches anywhere in `length` bytes of UTF-8. Takes time linear in `length`. */
bool re2_pattern_matches(const re2_pattern *pattern, const char *text, size_t length);

/* How many instructions the compiled pattern has. */
int re2_pattern_size(const re2_pattern *pattern);

void re2_pattern_free(re2_pattern *pattern);

/* Where `part` is first in `text`, or NULL. Takes linear time, as memmem of the GNU library does, which Swift does not see. */
const void *text_find(const void *text, size_t text_length, const void *part, size_t part_length);

#ifdef __cplusplus
}
#endif

#endif
