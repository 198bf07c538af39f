/* network_cases.h: hostile connections, made from a seed: the same case has the same bytes everywhere */
#ifndef FLR_NETWORK_CASES_H
#define FLR_NETWORK_CASES_H

#include "support/messages.h"

enum { NETWORK_CASE_BYTES = 1 << 17, NETWORK_CASE_PIECES = 64 };

/* What a hostile client does. */
typedef struct network_case {
    const char *kind;                  /* for people */
    uint8_t bytes[NETWORK_CASE_BYTES]; /* what it sends, … */
    size_t size;
    size_t cuts[NETWORK_CASE_PIECES]; /* … a piece up to each of these at a time, … */
    unsigned cut_count;               /* … then the rest */
    unsigned messages;                /* WebSocket frames among it */
    bool half_close, reads; /* ends its side when all is sent; stays until answers have come */
} network_case;

/* The case with this number. `scene`: a file that a hostile client may load; NULL: none. */
void network_make_case(network_case *made, uint64_t seed, uint64_t number, const char *scene);

#endif
