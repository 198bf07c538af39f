/* mutate.h: damage to the bytes of a file, by chance, from a seed: the same seed is the same damage. */
#ifndef FLR_RELIABILITY_MUTATE_H
#define FLR_RELIABILITY_MUTATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct flr_content {
    uint8_t *bytes; /* [size], begins at a page; room for twice the size and a page more; free() */
    size_t size;
} flr_content;

typedef enum flr_content_kind {
    FLR_CONTENT_VOXELS,
    FLR_CONTENT_RECORDING,
    FLR_CONTENT_JSON,
    FLR_CONTENT_MESH,
    FLR_CONTENT_KINDS
} flr_content_kind;

/* Uniform in [0, below); `*seed` goes on. */
uint64_t flr_chance(uint64_t *seed, uint64_t below);

/* Damages `content`, which is a copy of a sound file, until it differs: bits, ranges of zeros or noise, a cut end, a longer one,
 * pieces that are swapped, taken out or doubled, pieces of `other` (another sound file of the kind). Voxels: also fields
 * of the file's header with checksums that are right again, and all of `other`; JSON: also other digits. Returns a word
 * for what was done. */
const char *flr_mutate(flr_content_kind kind, flr_content *content, const flr_content *sound,
                       const flr_content *other, uint64_t *seed);

#endif
