/* access.h: who may talk to a controller: the token, the names it answers to, the pages that may call it
 *
 * On loopback without a token everybody at this machine may connect; a page of the web may not, because its Origin is another
 * and a name that somebody made point here is not ours. Elsewhere the token is asked for, too.
 *
 * Thread: any; nothing here changes an flr_access. */
#ifndef FLR_SERVER_ACCESS_H
#define FLR_SERVER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "feeler/base.h"
#include "feeler/env.h"

enum { FLR_TOKEN_SIZE = 257, FLR_TOKEN_MIN_LENGTH = 16, FLR_ACCESS_NAMES = 8 };

typedef struct flr_access {
    char token[FLR_TOKEN_SIZE];          /* "": none is asked for */
    const char *names[FLR_ACCESS_NAMES]; /* more names that this machine goes by; borrowed */
    const char
        *origins[FLR_ACCESS_NAMES]; /* more pages that may call, "https://host[:port]"; borrowed */
    size_t name_count, origin_count;
} flr_access;

/* A new token: 32 hexadecimal digits, 128 bits of chance. */
void flr_access_make_token(flr_env *env, char token[FLR_TOKEN_SIZE]);

/* The first line of a file. FLR_BAD_INPUT: shorter than FLR_TOKEN_MIN_LENGTH, longer than the protocol takes, or not printable
 * ASCII. Sentences never hold the token. */
flr_result flr_access_read_token(flr_env *env, const char *path, char token[FLR_TOKEN_SIZE],
                                 flr_error *error);

/* Is it the token? Takes the same time for all of one length. True where none is asked for. */
bool flr_access_token(const flr_access *access, const char *token, size_t size);

/* May a request with this Host header be answered? Numbers and localhost may, and the names given: but no other name, which
 * somebody could have made point here to get around the check of the Origin. */
bool flr_access_host(const flr_access *access, const char *host);

/* May a page from `origin` ("http://localhost:7878", "null") call what it knows as `host`? NULL or empty: no page, but a
 * program: may. */
bool flr_access_origin(const flr_access *access, const char *origin, const char *host);

/* Does a request call this machine localhost or by a loopback address, and did its page? A client that knows the machine by another
 * name came by way of a proxy. `origin` may be NULL or empty: no page. */
bool flr_access_is_local(const char *host, const char *origin);

/* Can a machine have this name? Letters, digits, hyphens, dots, underscores; no port. */
bool flr_access_is_host_name(const char *text);

/* "http://host[:port]" or "https://host[:port]", as browsers write it: nothing behind it. */
bool flr_access_is_origin(const char *text);

/* Whose connections are counted together: one address of IPv4 (family 4), or a network of IPv6 (family 6), of which everybody has
 * at least a /64 with 2^64 addresses to come from. Addresses of IPv4 that are written as IPv6 (::ffff:a.b.c.d) count as IPv4.
 * Any other family: all zeros. */
void flr_access_network(int family, const uint8_t *ip, uint8_t network[16]);

#endif
