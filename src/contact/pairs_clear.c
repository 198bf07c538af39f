/* pairs that are clear of each other: no query, and no check of motion, until they may have come near */
#include <math.h>

#include "contact/motion_check.h"
#include "contact/pairs_internal.h"

#define CLEAR_LONGEST  8.0  /* voxels: then it is queried again, for the sake of distances */
#define CLEAR_ROUNDING 1e-3 /* voxels */
#define CLEAR_TURN                                                                                 \
    2.02 /* a turn moves what is a metre away by this times the change of its quaternion, at most; … */
#define CLEAR_SMALL 0.125 /* … and its angle is no larger, where that change is so small */

/* How much a quaternion has changed. */
static double change(flr_quat a, flr_quat b)
{
    const double w = a.w - b.w, x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(w * w + x * x + y * y + z * z);
}

/* ---- queries ---- */

/* Metres that points of one part, no farther than `reach` from its origin, have moved in the frame of the other, at most. */
static double moved_since(const pairs_clear *c, flr_pose T_shell, flr_pose T_voxmap, double reach)
{
    return flr_vec3_distance(T_shell.p, c->T_world_shell.p) +
           CLEAR_TURN * change(T_shell.q, c->T_world_shell.q) * reach +
           flr_vec3_distance(T_voxmap.p, c->T_world_voxmap.p) +
           CLEAR_TURN * change(T_voxmap.q, c->T_world_voxmap.q) *
               (flr_vec3_distance(T_shell.p, T_voxmap.p) + reach);
}

bool flr_pairs_is_clear(const flr_pairs *pairs, uint32_t index, const flr_contact_params *params,
                        flr_contact_result *result)
{
    const pairs_clear *c = &pairs->clears[pairs->slots[pairs->current][index].clear];
    const flr_pair pair = pairs->lists[pairs->current][index];
    const pairs_place *a = place_of(pairs, pair.shell), *b = place_of(pairs, pair.voxmap);
    if (!(c->room > 0) || c->shell != a->generation || c->voxmap != b->generation ||
        c->asked != pairs->asked)
        return false;
    const double reach =
        flr_vec3_length(a->part.shape.middle) + a->part.shape.radius + fabs(params->displacement);
    const double moved = moved_since(c, a->part.T_world_part, b->part.T_world_part, reach);
    if (!(moved <= c->room)) return false;
    *result = flr_contact_nothing();
    result->far = c->far;
    result->lower = fmax(0, c->lower - moved);
    result->upper = c->upper + moved;
    return true;
}

void flr_pairs_note_clear(flr_pairs *pairs, uint32_t index, double room,
                          const flr_contact_result *result)
{
    pairs_clear *c = &pairs->clears[pairs->slots[pairs->current][index].clear];
    const flr_pair pair = pairs->lists[pairs->current][index];
    const pairs_place *a = place_of(pairs, pair.shell), *b = place_of(pairs, pair.voxmap);
    c->room = (fmin(room, CLEAR_LONGEST) - CLEAR_ROUNDING) * b->layer;
    if (!(c->room > 0)) return;
    c->T_world_shell = a->part.T_world_part;
    c->T_world_voxmap = b->part.T_world_part;
    c->lower = result->lower;
    c->upper = result->upper;
    c->far = result->far;
    c->shell = a->generation;
    c->voxmap = b->generation;
    c->asked = pairs->asked;
}

/* ---- checks of motion ---- */

bool flr_pairs_passes(const flr_near_notes *notes, const pairs_place *a, const pairs_place *b,
                      flr_pose T_world_shell, flr_pose T_world_voxmap,
                      const flr_motion_check_params *params, double *travel)
{
    if (!notes->known || notes->count > 0 || notes->shell != a->part.shape.shell ||
        notes->voxmap != b->part.shape.table->voxmap ||
        notes->displacement != params->displacement / b->layer)
        return false;
    const flr_pose from = a->part.T_world_part, around = b->part.T_world_part;
    const double turn = change(T_world_shell.q, from.q), about = change(T_world_voxmap.q, around.q);
    if (!(turn < CLEAR_SMALL && about < CLEAR_SMALL)) return false;
    const float *c = a->part.shape.shell->centre;
    const flr_vec3 middle = flr_vec3_make((double)c[0], (double)c[1], (double)c[2]);
    const double arm = flr_vec3_length(params->centre),
                 reach = flr_vec3_distance(middle, params->centre) +
                         (double)a->part.shape.shell->radius + fabs(params->displacement) +
                         2 * CLEAR_ROUNDING * b->layer;
    *travel =
        flr_vec3_distance(T_world_shell.p, from.p) + CLEAR_TURN * turn * (arm + reach) +
        flr_vec3_distance(T_world_voxmap.p, around.p) +
        CLEAR_TURN * about * (flr_vec3_distance(T_world_shell.p, T_world_voxmap.p) + arm + reach);
    /* so many layers around that of the check were looked at */
    const uint32_t limit =
        flr_motion_check_limit(b->part.shape.table->voxmap, params) + (params->margin > 0);
    return notes->limit > limit &&
           *travel * (1 + 1e-6) + 1e-12 <= (notes->limit - limit) * b->layer;
}
