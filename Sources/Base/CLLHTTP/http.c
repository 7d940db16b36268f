#define LLHTTP_STRICT_MODE 1
#include "/usr/share/llhttp/http.c"
