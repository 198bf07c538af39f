/* feeler/hash.h: a content hash: the same bytes give the same 128 bits on every machine.
 *
 * For cache keys, golden hashes and damage detection. Fast, well mixed, and not made to
 * withstand an attacker: what must not be forged is sealed with libsodium elsewhere.
 *
 * Thread: any; RT safe.
 */
#ifndef FEELER_HASH_H
#define FEELER_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct flr_hash {
    uint64_t high, low;
} flr_hash;

/* A hash in the making; plain data, on the stack, owns nothing. */
typedef struct flr_hasher {
    uint64_t lanes[4];
    uint64_t total;   /* bytes so far */
    uint8_t tail[32]; /* bytes not yet mixed in */
} flr_hasher;

/* The hash of a run of bytes; `bytes` may be NULL when `size` is 0. */
FLR_API flr_hash flr_hash_bytes(const void *bytes, size_t size);

/* The same in pieces: the split does not matter. */
FLR_API flr_hasher flr_hasher_begin(void);
FLR_API void flr_hasher_add(flr_hasher *hasher, const void *bytes, size_t size);
FLR_API flr_hash flr_hasher_end(const flr_hasher *hasher);

FLR_API bool flr_hash_equal(flr_hash a, flr_hash b);

enum { FLR_HASH_TEXT_SIZE = 33 };

/* 32 lower-case hexadecimal digits and a zero; returns `text`. */
FLR_API const char *flr_hash_print(flr_hash hash, char text[FLR_HASH_TEXT_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
