#include "hearth_argon2.h"

#include <argon2.h>

bool hearth_argon2(
    const struct hearth_argon2_parameters *parameters, const uint8_t *password, uint32_t password_length, const uint8_t *salt,
    uint32_t salt_length, uint8_t *hash, uint32_t hash_length) {
    // The library writes to its inputs only with flags that clear them, which are not set here.
    argon2_context context = {
        .out = hash,
        .outlen = hash_length,
        .pwd = (uint8_t *)password,
        .pwdlen = password_length,
        .salt = (uint8_t *)salt,
        .saltlen = salt_length,
        .ad = (uint8_t *)parameters->associated_data,
        .adlen = parameters->associated_data_length,
        .t_cost = parameters->iterations,
        .m_cost = parameters->memory_kib,
        .lanes = parameters->parallelism,
        .threads = 1,
        .version = parameters->version,
        .flags = ARGON2_DEFAULT_FLAGS,
    };
    return argon2_ctx(&context, (argon2_type)parameters->type) == ARGON2_OK;
}
