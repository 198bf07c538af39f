/* feeler/impulse.h: parts that run into each other bounce, slide or come to rest.
 *
 * The response of the sphere trees (Ruffaldi et al. 2008, section 3.3.1). All intersecting pairs of
 * voxels of one moment are taken together: of those that will not separate by themselves, the
 * deepest gets the impulse that parts it; both parts' velocities change; and so on, with the same
 * pairs, until none is left or the limit is reached. Most pairs are near others and need nothing
 * any more once those have been served. Pairs that were served and do not bounce share what is
 * needed: what one got too much because of later ones is taken back.
 *
 * Two things are kept apart here that are one in the paper. The impulses answer to velocities only:
 * a pair that approaches with v leaves with restitution x v, and friction at most stops what slides.
 * So each takes energy or leaves it, and gives one part what it takes from the other: momentum stays, energy never grows. What is
 * left is depth, and that is taken out by a shift of the parts in this frame, which leaves no
 * velocity behind. An impulse strong enough to undo the depth within a frame, as in the paper,
 * would be kept as speed.
 *
 *     flr_impulse_create(8192, &impulse, &error);
 *     every frame:
 *         velocities += dt x (gravity, the coupling to the hand)
 *         flr_impulse_clear(impulse);
 *         for every two parts a, b that may touch:
 *             flr_spheres_query(…);
 *             flr_impulse_add(impulse, flr_spheres_list(spheres), result.listed, a, b);
 *         flr_impulse_solve(impulse, bodies, body_count, &params, &result);
 *         poses += dt x velocities + shifts
 *
 * Pairs of any number of bodies are resolved together, so that a part between two others finds its
 * balance as one that lies on a single part does.
 *
 * A hand that holds one of the parts feels it through its coupling (feeler/coupling.h), as the
 * impulses change what the coupling pulls at.
 *
 * Thread: see each function.
 */
#ifndef FEELER_IMPULSE_H
#define FEELER_IMPULSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/inertia.h"
#include "feeler/result.h"
#include "feeler/spheres.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A part: how hard it is to move, and how it moves. World's frame and axes. */
typedef struct flr_impulse_body {
    double inverse_mass;     /* 1/kg; 0: it stands still */
    flr_mat3 inverse_tensor; /* 1/(kg m^2), about the centre of mass */
    flr_vec3 centre;         /* of mass, metres */
    flr_twist twist;         /* about the centre of mass */
    bool calm;               /* it has been slow for a while: see flr_impulse_params.still */
    /* what solving found: */
    flr_wrench given; /* N s, N m s, about the centre of mass: the sum of its impulses */
    flr_twist shift;  /* rad, m: for this frame, about the centre of mass */
    bool at_rest;     /* it stands still, or was brought to rest */
} flr_impulse_body;

/* `inertia` in the part's frame, as in an flr_body; one that no body can have gives a part that
 * stands still. Thread: any; RT safe. */
FLR_API flr_impulse_body flr_impulse_body_make(flr_inertia inertia, flr_pose T_world_part,
                                               flr_twist twist);
/* Stands still, whatever hits it. */
FLR_API flr_impulse_body flr_impulse_body_fixed(void);

typedef struct flr_impulse_params {
    double restitution; /* 0 … 1, which it is held to; default 0 */
    double friction;    /* Coulomb's, 0 or more; default 0 */
    double rest_speed;  /* m/s: what approaches slower does not bounce; default 0.02 */
    /* pairs that are served; default 100. In the second half nothing bounces, so that it comes to
     * an end */
    uint32_t limit;
    double tolerance; /* m/s: slower approach is none; default 1e-5 */
    /* m/s: what touches a part that stands and is slower after all impulses comes to rest, and so
     * does what touches that; ten times as much for a body that is calm; 0: never; default 0.0005.
     * It acts like a trace of friction: on a slope of less than 3 degrees a part sticks (at 1000 Hz) */
    double still;
    double dt;      /* seconds to the next frame; default 0.001 */
    double slop;    /* metres of depth that are left; default 1e-4 */
    double recover; /* 0 … 1: of the depth beyond, what a frame takes out; 0: none; default 0.2 */
} flr_impulse_params;

FLR_API flr_impulse_params flr_default_impulse_params(void);

typedef struct flr_impulse_result {
    uint32_t impulses; /* pairs served, one after the other */
    uint32_t shifts;   /* steps that these took */
    double left;       /* m/s: the fastest approach when the limit was reached, else 0 */
    double deepest;    /* metres, of all pairs */
} flr_impulse_result;

/* Room for pairs, sized once. */
typedef struct flr_impulse flr_impulse;

/* Fails with FLR_NO_MEMORY. Not RT safe. */
FLR_API flr_result flr_impulse_create(uint32_t pairs, flr_impulse **impulse, flr_error *error);
FLR_API void flr_impulse_destroy(flr_impulse *impulse); /* NULL allowed; not RT safe */
FLR_API size_t flr_impulse_bytes(const flr_impulse *impulse);

/* ---- every frame; one thread at a time per flr_impulse; RT safe ---- */

/* Forgets the pairs of the frame before. */
FLR_API void flr_impulse_clear(flr_impulse *impulse);

/* Pairs of two bodies, whose numbers in the coming solve are `a` and `b`; the normals push a. A
 * body does not touch itself. Returns how many there was room for: the rest is not looked at. */
FLR_API uint32_t flr_impulse_add(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count,
                                 uint32_t a, uint32_t b);

/* Changes the twists of the bodies, and fills in what they were given. Pairs with a number that is
 * none, or of bodies that are not there, are not looked at. The answer depends on the pairs, their
 * order and the bodies alone. Time is bounded by `limit` times the pairs and ten times the square
 * of `limit`. */
FLR_API void flr_impulse_solve(flr_impulse *impulse, flr_impulse_body *bodies, uint32_t body_count,
                               const flr_impulse_params *params, flr_impulse_result *result);

#ifdef __cplusplus
}
#endif
#endif
