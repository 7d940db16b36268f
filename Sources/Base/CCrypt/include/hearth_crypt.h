#ifndef HEARTH_CRYPT_H
#define HEARTH_CRYPT_H

#include <stdbool.h>

/// Hashes `password` with the parameters and salt at the start of `setting`, as bcrypt does: "$2b$", two digits of cost, "$", 53 letters.
/// Writes the 60 letters of the hash and a zero. Returns whether it could.
bool hearth_bcrypt(const char *password, const char *setting, char hash[61]);

#endif
