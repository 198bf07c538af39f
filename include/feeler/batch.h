/* feeler/batch.h: many queries at once, on all cores.
 *
 *   poses     two parts at many relative poses: distance, contacts, wrench
 *   motions   how much of each of many motions is free
 *   points    signed distance and closest surface point of many points
 *   segments  the first triangle that each of many segments hits
 *
 *     flr_batch_pair_create(bolt, nut, NULL, &pair, &error);
 *     flr_batch_poses(pair, poses, 100000, NULL, results, NULL, &error);
 *
 * Results are those of the single queries (feeler/fit.h, feeler/probe.h), bit by bit, whatever the number of
 * threads; those of points equal flr_fit_point() up to rounding (1e-15 of the part's size).
 *
 * Thread: an flr_batch_pair belongs to one thread at a time; an flr_batch_surface does not change and may be shared
 * by all threads. Nothing here is RT safe.
 */
#ifndef FEELER_BATCH_H
#define FEELER_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/fit.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "feeler/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to work through a batch. Fill with flr_default_batch_options(). */
typedef struct flr_batch_options {
    unsigned threads; /* default 0: one per processor. Does not change the results */
    flr_simd simd;    /* default best: of points. Does not change the results */
    /* called now and then, from the calling thread, with 0 … 1; false: stop with FLR_CANCELLED. May be NULL */
    bool (*progress)(void *context, double done);
    void *progress_context;
} flr_batch_options;

FLR_API flr_batch_options flr_default_batch_options(void);

/* ---- poses ---- */

/* Two parts and the memory of their queries, one set for each thread. */
typedef struct flr_batch_pair flr_batch_pair;

/* Both fits are borrowed as long as the pair lives. FLR_NO_MEMORY. On success the caller owns `*pair`. */
FLR_API flr_result flr_batch_pair_create(const flr_fit *a, const flr_fit *b, flr_batch_pair **pair,
                                         flr_error *error);
FLR_API void flr_batch_pair_destroy(flr_batch_pair *pair); /* NULL allowed */

/* What to ask. Fill with flr_default_batch_params(). */
typedef struct flr_batch_params {
    flr_fit_params fit; /* default flr_default_fit_params() */
    /* N/m^3: pressure per metre that a sample is nearer than fit.reach, an elastic foundation; default 1e12.
     * The wrench is the sum over all contacts of both sides, each side weighed by one half */
    double foundation;
} flr_batch_params;

FLR_API flr_batch_params flr_default_batch_params(void);

/* Of one pose. Frame of a, metres. See flr_fit_result. */
typedef struct flr_batch_result {
    double distance, lower, upper;
    flr_vec3 point[2], normal;
    flr_wrench wrench; /* on b, about the origin of b, axes of a */
    uint32_t triangle[2];
    uint32_t contacts; /* samples nearer than fit.reach */
    bool found, meet, complete;
} flr_batch_result;

/* Every contact of every pose, in order of poses. Free with flr_batch_contacts_free(). */
typedef struct flr_batch_contacts {
    flr_fit_contact *list; /* [count] */
    uint32_t *pose;        /* [count]: the pose that each belongs to */
    size_t count;
} flr_batch_contacts;

/* Queries `count` poses T_a_b. `params` and `options` NULL: defaults; `contacts` NULL: not wanted.
 * FLR_BAD_ARGUMENT for a pose that is not valid, FLR_NO_MEMORY, FLR_CANCELLED. */
FLR_API flr_result flr_batch_poses(flr_batch_pair *pair, const flr_pose *T_a_b, size_t count,
                                   const flr_batch_params *params, const flr_batch_options *options,
                                   flr_batch_result *results, flr_batch_contacts *contacts,
                                   flr_error *error);
FLR_API void flr_batch_contacts_free(flr_batch_contacts *contacts);

/* Checks `count` motions of b; `params` NULL: defaults. Fails as above. */
FLR_API flr_result flr_batch_motions(flr_batch_pair *pair, const flr_fit_motion *motions,
                                     size_t count, const flr_fit_motion_params *params,
                                     const flr_batch_options *options,
                                     flr_fit_motion_result *results, flr_error *error);

/* ---- points ---- */

/* A mesh sorted for distances of points: a tree of oriented boxes, 16 wide, over flat groups of triangles. */
typedef struct flr_batch_surface flr_batch_surface;

/* `mesh` and `fit`, which was built from it, are borrowed as long as the surface lives; the fit tells what is inside
 * where the mesh is not a closed, clean solid. FLR_NO_MEMORY. On success the caller owns `*surface`. */
FLR_API flr_result flr_batch_surface_build(const flr_mesh *mesh, const flr_fit *fit,
                                           flr_batch_surface **surface, flr_error *error);
FLR_API void flr_batch_surface_destroy(flr_batch_surface *surface); /* NULL allowed */

/* Signed distance (negative inside) of `count` points, metres, mesh's frame. `nearest` and `triangles` may be NULL. A
 * point that is not finite, or farther than 1e9 m from the origin, has the distance NAN and the triangle FLR_NONE.
 * Fast where points near each other in space are many. FLR_NO_MEMORY, FLR_CANCELLED. */
FLR_API flr_result flr_batch_points(const flr_batch_surface *surface, const flr_vec3 *points,
                                    size_t count, const flr_batch_options *options,
                                    double *distances, flr_vec3 *nearest, uint32_t *triangles,
                                    flr_error *error);

/* ---- segments ---- */

/* The first hit on the way from ends[2 i] to ends[2 i + 1]; without one, the triangle is FLR_PROBE_NONE and t is
 * INFINITY. FLR_CANCELLED. */
FLR_API flr_result flr_batch_segments(const flr_probe_model *model, const flr_vec3 *ends,
                                      size_t count, const flr_batch_options *options,
                                      flr_probe_hit *hits, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
