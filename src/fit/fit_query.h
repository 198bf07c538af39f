/* fit_query.h: a query of two parts on its way. */
#ifndef FLR_FIT_QUERY_H
#define FLR_FIT_QUERY_H

#include "fit/fit_internal.h"
#include "fit/fit_kernel.h"
#include "mesh/nearest.h"

/* the nearest triangle of the other part that a sample has found so far */
typedef struct flr_fit_near {
    double distance2;  /* squared metres; the limit while there is none */
    uint32_t triangle; /* FLR_NONE: none yet */
} flr_fit_near;

struct flr_fit_pair {
    const flr_fit *parts[2];
    const flr_fit_kernel *kernel;
    flr_fit_near *near[2]; /* [samples] of a and b; valid for patches that are touched */
    uint64_t *touched[2];  /* bits of patches whose samples are near something */
    flr_fit_track track;
    int8_t *side[2]; /* [vertices] of a and b: 1 inside the other part, -1 outside, 0 not known */
    size_t bytes;
};

/* pairs of triangles that are to be measured */
typedef struct flr_fit_queue {
    _Alignas(64) float a[9][FLR_FIT_LANES],
        b[9][FLR_FIT_LANES];     /* three corners each, in the axes of a */
    double slack[FLR_FIT_LANES]; /* metres: of these coordinates */
    uint32_t triangle[2][FLR_FIT_LANES];
    uint32_t count;
} flr_fit_queue;

/* At most the squared distances of 16 pairs of triangles, but for the rounding of their coordinates. */
void flr_fit_triangles16(const float a[9][FLR_FIT_LANES], const float b[9][FLR_FIT_LANES],
                         float least2[FLR_FIT_LANES]);

typedef struct flr_fit_query flr_fit_query;
struct flr_fit_query {
    flr_fit_pair *pair;
    const flr_fit *parts[2];
    const flr_fit_kernel *kernel;
    flr_fit_params params;
    flr_pose T_a_b;
    flr_pose out[2];      /* from the frame of part 0 or 1 to that of the other */
    flr_fit_move turn[2]; /* the same rotation in single precision, without shift */
    double reach;         /* metres: samples nearer than this are looked at */
    double least;         /* metres: triangles farther apart than this do not matter any more */
    double limit;         /* metres: the larger of both */
    flr_nearest best;     /* in the frame of a */
    uint32_t triangles[2];
    bool found;
    flr_fit_queue queue;
    uint64_t work, max_work;
    double skipped2; /* squared metres: what was left out for lack of work is farther than this */
    void *context;   /* of the function called by the walk */
};

/* a patch of b on its way through the patches of a */
typedef struct flr_fit_visitor {
    uint32_t patch;
    flr_vec3 centre;       /* in the frame of a */
    flr_fit_lanes lanes;   /* in the axes of a, relative to its centre */
    float low[3], high[3]; /* of the lanes */
} flr_fit_visitor;

/* Calls `meet` for all patches of a that may be nearer than q->limit to a patch of b, one patch of b after the other. */
typedef void (*flr_fit_meet)(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v);
void flr_fit_walk(flr_fit_query *q, flr_fit_meet meet);

/* Sets poses, rotations and an empty result; nothing is found yet. */
flr_fit_query flr_fit_begin_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params);

/* A rotation in single precision, without shift. */
flr_fit_move flr_fit_turn(flr_quat q);

/* Looks at the samples of a patch of part `side` beside some faces (bits) of a patch of the other part. `shift` leads from
 * the centre of the latter to that of the former, in the axes of the other part. */
void flr_fit_try_samples(flr_fit_query *q, int side, uint32_t patch, uint32_t other, uint32_t faces,
                         const float shift[3], double slack);

/* Notes all samples that were found to be near, in order; the deep ones, too, when the parts interfere. */
void flr_fit_note_samples(flr_fit_query *q, flr_fit_contact *contacts, uint32_t capacity,
                          flr_fit_result *result);

/* Of the sizes involved: what single precision may lose on its way to a height over a plane. Some 20 roundings. */
#define FLR_FIT_SINGLE (32 * 5.9604645e-8)

#endif
