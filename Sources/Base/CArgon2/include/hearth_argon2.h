#ifndef HEARTH_ARGON2_H
#define HEARTH_ARGON2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Parameters of Argon2 (RFC 9106 section 3.1).
struct hearth_argon2_parameters {
    /// 0: Argon2d, 1: Argon2i, 2: Argon2id.
    uint32_t type;
    /// 0x10 or 0x13.
    uint32_t version;
    uint32_t iterations;
    uint32_t memory_kib;
    uint32_t parallelism;
    const uint8_t *associated_data;
    uint32_t associated_data_length;
};

/// Derives `hash` from a password, on the calling thread alone. Returns whether it could: not if a parameter is outside the algorithm's bounds, or
/// without memory.
bool hearth_argon2(
    const struct hearth_argon2_parameters *parameters, const uint8_t *password, uint32_t password_length, const uint8_t *salt,
    uint32_t salt_length, uint8_t *hash, uint32_t hash_length);

#endif
