#include "hearth_crypt.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

bool hearth_bcrypt(const char *password, const char *setting, char hash[61]) {
    struct crypt_data *data = calloc(1, sizeof *data);
    if (data == NULL) return false;
    const char *made = crypt_r(password, setting, data);
    const bool fits = made != NULL && strlen(made) == 60;
    if (fits) memcpy(hash, made, 61);
    // The state holds the password.
    explicit_bzero(data, sizeof *data);
    free(data);
    return fits;
}
