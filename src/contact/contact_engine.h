/* contact_engine.h: what the parts of the fast engine share: a pair made ready, a query under way, the scratch of a thread. */
#ifndef FLR_CONTACT_CONTACT_ENGINE_H
#define FLR_CONTACT_CONTACT_ENGINE_H

#include "contact/chunk_memory.h"
#include "contact/contact_table.h"
#include "contact/kernel.h"

/* a query under way; does not change while points are looked at */
typedef struct flr_query {
    flr_contact_frame frame;
    const flr_kernel *kernel;
    const flr_flat_field *fields; /* [FLR_FIELD_COUNT] */
    double around;                /* voxels: what is added to a radius: displacement, rounding */
    double reach;     /* voxels: layers that matter, with the near one; infinite: do not cull */
    double per_metre; /* voxels */
    float slack;      /* voxels: what single precision may be off by */
    flr_scan_job job; /* what all chunks have in common */
    bool moving;      /* there may be something to brake */
    flr_chunk_memory *memory; /* what is known of the shell's chunks; NULL: nothing */
    bool keep;                /* … and what this query finds is kept there */
    bool rooms;               /* it matters how much room there is before anything is in reach */
    double moved;             /* voxels: as of the memory; where it is not kept, from there on */
} flr_query;

/* what came out for a hyperchunk of the shell, or for several */
typedef struct flr_partial {
    flr_contact_sums sums;
    double least; /* voxels: of what was skipped, the nearest that the other part can be */
    double room;  /* voxels: after so much way something may be in reach; below 0: it may be now */
    uint64_t tested;
} flr_partial;

/* Points of a shell chunk that a query found near, as bits. Words beyond the chunk's points stand for nothing. */
typedef struct flr_near_chunk {
    uint32_t chunk;
    uint16_t touch[FLR_SCAN_WORDS]; /* in the force layer or deeper */
    uint16_t near[FLR_SCAN_WORDS];  /* in the layer before it */
} flr_near_chunk;

enum { FLR_NEAR_CHUNKS = 4096 };

/* What a query found near, so that the check of the way from there need not look for it again. */
typedef struct flr_near_notes {
    bool known;  /* all of it is here; false: what follows stands for nothing */
    bool taking; /* a query is under way that may be noted, and there was room so far */
    bool full;   /* there was no room */
    uint32_t count, capacity;
    uint32_t limit; /* all points with marks 1 … limit are noted; `near` ones have this mark */
    const flr_shell *shell;
    const flr_voxmap *voxmap;
    double displacement; /* voxels */
    flr_pose T_world_shell, T_world_voxmap;
    flr_near_chunk *chunks; /* [capacity], of which `count` are filled; not the notes' own */
} flr_near_notes;

/* what a thread works in */
typedef struct flr_scratch {
    _Alignas(64) uint32_t local[FLR_LOCAL];
    flr_scan_job job;
    flr_scan_hits hits;
    flr_batch touch, near;
    flr_pick pick;
    double at[3][FLR_SCAN_POINTS];  /* voxels: centres of the chunks of a hyperchunk */
    uint16_t list[FLR_SCAN_POINTS]; /* of those, the ones that are to be looked at */
    flr_contact *contacts;          /* [capacity] */
    uint32_t capacity;
    uint32_t listed; /* contacts of this query, where several threads work */
    /* gets the points that touch, in place of the sums; NULL: nobody asks */
    void (*visit)(void *context, uint32_t chunk, uint32_t point, flr_label label);
    void *context;
    flr_near_notes *notes; /* where near points are noted; NULL: nowhere */
} flr_scratch;

/* Is a sphere whose centre is `far` voxels from the field too far away to matter? If so, it still bounds the distance. */
static inline bool flr_skip(const flr_query *q, double far, double radius, flr_partial *part)
{
    double gap = far - 1 - radius - q->around;
    if (!(gap >= q->reach)) return false;
    if (gap < part->least) part->least = gap;
    if (gap - q->reach < part->room) part->room = gap - q->reach;
    return true;
}

/* Points that were near when a motion was last checked: a world checks several from the same place, one after the other. */
enum { FLR_MOTION_CHECK_POINTS = 8192 };

typedef struct flr_motion_check_point {
    uint32_t chunk, point;
    uint32_t label; /* an flr_label */
    flr_vec3 at;    /* voxels */
} flr_motion_check_point;

typedef struct flr_motion_check_memory {
    bool known; /* false: what follows stands for nothing */
    uint32_t count, near;
    const flr_shell *shell;
    const flr_voxmap *voxmap;
    double displacement;
    flr_pose T_world_shell, T_world_voxmap;
    flr_motion_check_point points[FLR_MOTION_CHECK_POINTS];
} flr_motion_check_memory;

/* ---- engine.c ---- */

/* What a pair remembers from one query to the next, and to checks of motion. */
typedef struct flr_pair_memory {
    flr_motion_check_memory *check; /* forgotten with every query and every other shell or voxmap */
    /* Where queries note what is near and checks look for it: in its own, which is forgotten with every other shell or voxmap, or
     * in a caller's. A caller that queries many pairs in turn gives each its own, and they share the chunks of the pair's. */
    flr_near_notes *notes, own_notes;
    flr_near_chunk *chunks; /* [FLR_NEAR_CHUNKS] */
    /* What is known of the chunks of the shell; borrowed, NULL: nothing. It belongs to the shell and voxmap of now. */
    flr_chunk_memory *rooms;
    /* Voxels: so far the two may move against each other after the last query, and one would still find nothing in the layers
     * that matter; below 0: not known. */
    double room;
} flr_pair_memory;

/* Does what a query would that finds nothing in these layers: its notes are empty, older memories forgotten. */
void flr_contact_note_nothing(flr_contact_pair *pair, const flr_shell *shell,
                              const flr_contact_table *table, flr_pose T_world_shell,
                              flr_pose T_world_voxmap, const flr_contact_params *params);

flr_pair_memory *flr_contact_pair_memory(flr_contact_pair *pair);

static inline void flr_pair_memory_use_notes(flr_pair_memory *memory, flr_near_notes *notes)
{
    memory->notes = notes;
    memory->own_notes.known = false; /* its chunks may be others' from now on */
}

/* Visits every point whose voxel has a mark from 1 to `limit` in the surface field, in the shell's order; false: marks do not
 * reach so far. The poses make sense. `rooms` may be NULL; else what it knows helps: no point is farther than `ahead` voxels
 * from where it was at the last query. */
bool flr_contact_visit(flr_contact_pair *pair, flr_pose T_world_shell, flr_pose T_world_voxmap,
                       double displacement, uint32_t limit, flr_chunk_memory *rooms, double ahead,
                       void (*visit)(void *context, uint32_t chunk, uint32_t point,
                                     flr_label label),
                       void *context, uint64_t *tested);

/* ---- hyper.c ---- */

/* Looks at the points of a hyperchunk of the shell. The contacts go to the list of the scratch, of which the first
 * `part->sums.listed` are taken. */
void flr_query_hyper(const flr_query *q, uint32_t hyper, flr_scratch *scratch, flr_partial *part);

static inline flr_partial flr_no_partial(void)
{
    return (flr_partial){.sums = flr_contact_no_sums(), .least = INFINITY, .room = INFINITY};
}

/* ---- smooth.c ---- */

/* Judges points by the smooth law, in place of kernel->touch(). */
void flr_smooth_judge(const flr_query *q, flr_batch *batch, flr_contact_sums *sums);

#endif
