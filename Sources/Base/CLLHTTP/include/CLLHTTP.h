// Strict tables refuse input that the loose ones accept: junk after a chunk size, spaces in header names.
#define LLHTTP_STRICT_MODE 1
#include "/usr/share/include/llhttp/llhttp.h"
