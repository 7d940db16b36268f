/* Preloaded into a process: resolves the name push.example.com to the address in RESOLVED. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    const char *address = getenv("RESOLVED");
    return real(node != NULL && address != NULL && strcmp(node, "push.example.com") == 0 ? address : node, service, hints, found);
}
