/* marks.h: the marks of planned hyperchunks, on several threads: of all at once, or of one run after another. */
#ifndef FLR_VOXEL_MARKS_H
#define FLR_VOXEL_MARKS_H

#include "voxel/field.h"

typedef struct flr_marks {
    const flr_build *build;
    const flr_field_plan *plan;
    const flr_voxmap_header *header; /* of its fields the parameters matter */
    const flr_field_source *source;  /* may be NULL */
    struct flr_tile *tiles;          /* per worker */
    uint64_t (*counts)[2];           /* per worker: interior, reached; of the surface field */
    /* of the run under way */
    flr_field field;
    uint64_t first, count; /* planned hyperchunks whose marks are wanted */
    uint8_t *planes;       /* where they go */
    uint32_t *list;        /* what is worked on, where that is more (owned); NULL: just these */
    size_t listed;
    uint32_t *slots;       /* by planned hyperchunk: where in the list (owned); NULL: no list */
    unsigned start, steps; /* of this round */
    flr_field_grown *from; /* what the last round reached; NULL: none */
    flr_field_grown *into; /* what this one reaches; NULL: not needed */
} flr_marks;

/* All but `source` must outlive it. FLR_NO_MEMORY; end it in any case. */
flr_result flr_marks_begin(flr_marks *marks, const flr_build *build, const flr_field_plan *plan,
                           const flr_voxmap_header *header, const flr_field_source *source);

/* The marks of `count` planned hyperchunks of a field from `first` on, packed, one after another. The masks must be there
 * of all hyperchunks within flr_marks_reach() of one of them. FLR_NO_MEMORY, FLR_CANCELLED. */
flr_result flr_marks_fill(flr_marks *marks, flr_field field, uint64_t first, uint64_t count,
                          uint8_t *planes);

/* Hyperchunks around one in each direction that its marks depend on. */
static inline unsigned flr_marks_reach(unsigned range)
{
    return range <= 8 ? 1 : 1 + (range + 63) / 64;
}

/* Adds up what was counted when all of the surface field is filled: interior voxels and those with a distance. */
void flr_marks_count(const flr_marks *marks, flr_voxmap_stats *stats);
void flr_marks_end(flr_marks *marks);

/* The entries of one planned hyperchunk. */
void flr_marks_entries(const flr_field_hyper *hyper, uint32_t entries[512]);

#endif
