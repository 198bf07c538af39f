/* field.h: from scanned and filled hyperchunks to the packed trees of a voxmap. */
#ifndef FLR_VOXEL_FIELD_H
#define FLR_VOXEL_FIELD_H

#include "voxel/build.h"
#include "voxel/voxmap_format.h"

/* one hyperchunk of a field that is not of one mark throughout */
typedef struct flr_field_hyper {
    flr_mask stored;   /* chunks with marks of their own */
    flr_mask interior; /* chunks that are interior throughout */
    uint32_t at[3];
    uint64_t first_plane; /* of the stored chunks, in order */
} flr_field_hyper;

/* what the trees will hold, known before any mark is computed, so that every thread can write its marks
 * straight to their final place */
typedef struct flr_field_plan {
    flr_field_hyper *hypers[FLR_FIELD_COUNT]; /* in root order, then by cell */
    uint32_t *root[FLR_FIELD_COUNT];          /* final entries, numbers of nodes */
    uint32_t *nodes[FLR_FIELD_COUNT];         /* final entries, [node_count][512] */
    flr_tree_place place[FLR_FIELD_COUNT];    /* counts only */
    uint32_t *chunk_root, *chunk_nodes;       /* the chunk distances, final entries */
    uint8_t *chunk_planes;
    flr_tree_place chunk_place;
} flr_field_plan;

/* plan.c: which chunks will be stored, and the chunk distances. `fields` is 1 or FLR_FIELD_COUNT. On failure the plan is
 * not touched, and nothing is left to free. */
flr_result flr_field_make_plan(const flr_build *build, unsigned fields, bool hollow, unsigned range,
                               flr_field_plan *plan);
void flr_field_free_plan(flr_field_plan *plan);

/* The same in runs of root cells, any number, in any order, which together are all. Masks are looked at only where the
 * range is below that of a chunk: of the hyperchunks of a run and their neighbours. What is partly inside was noted
 * before (flr_build_note_inside()). Ending frees the planning in any case; with NULL it makes no plan. */
typedef struct flr_planning flr_planning;
flr_planning *flr_planning_begin(const flr_build *build, unsigned fields, bool hollow,
                                 unsigned range); /* NULL: no memory */
flr_result flr_planning_roots(flr_planning *planning, size_t first, size_t count);
flr_result flr_planning_end(flr_planning *planning, flr_field_plan *plan);

/* Computes the marks of one planned hyperchunk up to 8 voxels far and packs them: `planes` is where its first stored
 * chunk goes, or NULL: they are not wanted. `tile` is scratch; afterwards it has all that was reached. */
struct flr_tile;
void flr_field_fill_hyper(const flr_build *build, const flr_field_hyper *hyper, flr_field field,
                          bool hollow, unsigned bits, unsigned range, unsigned offset,
                          struct flr_tile *tile, uint8_t *planes);

/* A range of more than 8 voxels goes on in rounds of 8: what a hyperchunk reached in one round is the seed of the
 * next. The list has one for each planned hyperchunk of the field. */
typedef struct flr_field_grown {
    flr_mask used;   /* chunks with cells reached */
    flr_mask *masks; /* one per used chunk, in order; owned */
} flr_field_grown;

/* Keeps what a tile has reached; false when memory is short. */
bool flr_field_keep_grown(const struct flr_tile *tile, flr_field_grown *grown);

/* One more round for one planned hyperchunk: from `start` voxels far on, `steps` farther. `slots` says where in `grown`
 * what a planned hyperchunk reached lies, UINT32_MAX where it is not there; NULL: in their order. */
void flr_field_fill_round(const flr_build *build, const flr_field_plan *plan, flr_field field,
                          size_t number, const flr_field_grown *grown, const uint32_t *slots,
                          bool hollow, unsigned bits, unsigned start, unsigned steps,
                          struct flr_tile *tile, uint8_t *planes);

/* Adds up a tile's interior voxels and its others with a mark. */
void flr_field_count(const struct flr_tile *tile, uint64_t *interior, uint64_t *reached);

/* Marks that are known already. `take` fills the planes of a planned hyperchunk and adds to the counts as
 * flr_field_fill_hyper() does, or returns false: then they are computed. Called from several threads. */
typedef struct flr_field_source {
    bool (*take)(void *context, flr_field field, const flr_field_hyper *hyper, uint8_t *planes,
                 uint64_t *interior, uint64_t *reached);
    void *context;
} flr_field_source;

/* voxmap.c: the finished block from a scanned and filled build. `header` has all parameters and the counts of the
 * layers; its places and sizes are filled here. `source` may be NULL. */
flr_result flr_voxmap_make(const flr_build *build, flr_voxmap_header *header,
                           const flr_field_source *source, flr_voxmap **voxmap);

/* Its second step: sizes and places from the plan. */
void flr_voxmap_lay_out(const flr_field_plan *plan, flr_voxmap_header *header);

#endif
