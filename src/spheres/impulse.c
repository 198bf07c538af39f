/* impulses on pairs of voxels, the deepest first */
#include "feeler/impulse.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 10 }; /* of the pairs served so far, after each new one */

flr_impulse_params flr_default_impulse_params(void)
{
    return (flr_impulse_params){.rest_speed = 0.02,
                                .limit = 100,
                                .tolerance = 1e-5,
                                .dt = 1e-3,
                                .slop = 1e-4,
                                .recover = 0.2};
}

/* ---- bodies ---- */

flr_impulse_body flr_impulse_body_fixed(void) { return (flr_impulse_body){.inverse_mass = 0}; }

flr_impulse_body flr_impulse_body_make(flr_inertia inertia, flr_pose T_world_part, flr_twist twist)
{
    flr_inertia world = flr_inertia_transform(T_world_part, inertia);
    flr_impulse_body body = {.centre = world.centre, .twist = twist};
    if (!flr_inertia_is_valid(inertia) || !flr_mat3_inverse(world.tensor, &body.inverse_tensor))
        return flr_impulse_body_fixed();
    body.inverse_mass = 1 / world.mass;
    return body;
}

/* ---- rows: what a pair needs to know of both bodies ---- */

typedef struct row {
    flr_vec3 place;  /* world's frame */
    flr_vec3 normal; /* of the push on a */
    flr_vec3 arm_a;  /* moment of a unit push about a's centre */
    flr_vec3 arm_b;  /* of the opposite push about b's */
    flr_vec3 spin_a; /* what the moment does to a's angular velocity */
    flr_vec3 spin_b;
    double yields; /* m/s for 1 N s */
    double depth;  /* metres */
    double given;  /* N s along the normal, without bouncing */
    double rubbed; /* N s of friction */
} row;

struct flr_impulse {
    uint32_t room;
    row *rows;       /* [room], deepest first */
    uint32_t *order; /* [2 room], while sorting */
};

flr_result flr_impulse_create(uint32_t pairs, flr_impulse **impulse, flr_error *error)
{
    flr_impulse *made = calloc(1, sizeof *made);
    if (made) {
        made->room = pairs;
        made->rows = malloc((pairs + 1u) * sizeof *made->rows);
        made->order = malloc((2 * (size_t)pairs + 1) * sizeof *made->order);
    }
    if (!made || !made->rows || !made->order) {
        flr_impulse_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory for impulses on %u pairs; ask for fewer", pairs);
    }
    *impulse = made;
    return FLR_OK;
}

void flr_impulse_destroy(flr_impulse *impulse)
{
    if (!impulse) return;
    free(impulse->rows);
    free(impulse->order);
    free(impulse);
}

/* Numbers of pairs by depth, the deepest first, else as they came: merging runs of 1, 2, 4, … */
static const uint32_t *sort(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count)
{
    uint32_t *from = impulse->order, *to = impulse->order + impulse->room;
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t start = 0; start < count; start += 2 * run) {
            uint64_t middle = start + run < count ? start + run : count,
                     end = start + 2 * run < count ? start + 2 * run : count;
            for (uint64_t i = start, k = middle, n = start; n < end; n++) {
                bool first =
                    k == end || (i < middle && !(pairs[from[k]].depth > pairs[from[i]].depth));
                to[n] = first ? from[i++] : from[k++];
            }
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static row row_of(flr_vec3 place, flr_vec3 way, double depth, const flr_impulse_body *a,
                  const flr_impulse_body *b)
{
    row r = {.place = place, .normal = way, .depth = depth};
    r.arm_a = flr_vec3_cross(flr_vec3_sub(place, a->centre), way);
    r.arm_b = flr_vec3_neg(flr_vec3_cross(flr_vec3_sub(place, b->centre), way));
    r.spin_a = flr_mat3_apply(a->inverse_tensor, r.arm_a);
    r.spin_b = flr_mat3_apply(b->inverse_tensor, r.arm_b);
    r.yields = (a->inverse_mass + b->inverse_mass) * flr_vec3_dot(way, way) +
               flr_vec3_dot(r.arm_a, r.spin_a) + flr_vec3_dot(r.arm_b, r.spin_b);
    return r;
}

/* Rows of all pairs that a push can part. */
static uint32_t make_rows(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count,
                          const flr_impulse_body *a, const flr_impulse_body *b)
{
    const uint32_t *order = sort(impulse, pairs, count);
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_voxel_pair *pair = &pairs[order[i]];
        flr_vec3 place = flr_vec3_lerp(pair->centre_a, pair->centre_b, 0.5);
        row r = row_of(place, pair->normal, pair->depth, a, b);
        if (r.yields > 0 && isfinite(r.yields) && isfinite(r.depth)) impulse->rows[made++] = r;
    }
    return made;
}

/* How fast a pair parts, m/s, or by how much, m. */
static inline double parting(const row *r, const flr_twist *a, const flr_twist *b)
{
    flr_vec3 linear = flr_vec3_sub(a->linear, b->linear);
    return flr_vec3_dot(r->normal, linear) + flr_vec3_dot(r->arm_a, a->angular) +
           flr_vec3_dot(r->arm_b, b->angular);
}

static void push(const row *r, double size, const flr_impulse_body *a, const flr_impulse_body *b,
                 flr_twist *of_a, flr_twist *of_b)
{
    of_a->linear = flr_vec3_add_scaled(of_a->linear, size * a->inverse_mass, r->normal);
    of_a->angular = flr_vec3_add_scaled(of_a->angular, size, r->spin_a);
    of_b->linear = flr_vec3_add_scaled(of_b->linear, -size * b->inverse_mass, r->normal);
    of_b->angular = flr_vec3_add_scaled(of_b->angular, size, r->spin_b);
}

/* ---- resolving ---- */

/* An impulse on both bodies, and into the sums. */
static void hit(const row *r, double size, flr_impulse_body *a, flr_impulse_body *b,
                flr_impulse_result *result)
{
    push(r, size, a, b, &a->twist, &b->twist);
    result->on_a = flr_wrench_add(result->on_a, flr_wrench_make(flr_vec3_scale(r->arm_a, size),
                                                                flr_vec3_scale(r->normal, size)));
    result->on_b = flr_wrench_add(result->on_b, flr_wrench_make(flr_vec3_scale(r->arm_b, size),
                                                                flr_vec3_scale(r->normal, -size)));
}

/* Against what slides there: as much as the normal impulse allows, and no more than stops it. */
static void rub(row *r, double friction, flr_impulse_body *a, flr_impulse_body *b,
                flr_impulse_result *result)
{
    double most = friction * r->given - r->rubbed;
    if (!(most > 0)) return;
    flr_vec3 v = flr_vec3_sub(flr_twist_velocity(a->twist, flr_vec3_sub(r->place, a->centre)),
                              flr_twist_velocity(b->twist, flr_vec3_sub(r->place, b->centre)));
    v = flr_vec3_add_scaled(v, -flr_vec3_dot(v, r->normal), r->normal);
    double speed = flr_vec3_length(v);
    if (!(speed > 0)) return;
    row along = row_of(r->place, flr_vec3_scale(v, -1 / speed), 0, a, b);
    double size = fmin(most, -parting(&along, &a->twist, &b->twist) / along.yields);
    if (!(size > 0)) return;
    hit(&along, size, a, b, result);
    r->rubbed += size;
}

/* The deepest pair that approaches; of those about as deep, the fastest. UINT32_MAX: none does. */
static uint32_t find_next(const flr_impulse *impulse, uint32_t count, const flr_impulse_body *a,
                          const flr_impulse_body *b, double tolerance, double *fastest)
{
    uint32_t found = UINT32_MAX;
    double speed = -tolerance, deep_enough = 0;
    *fastest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const row *r = &impulse->rows[i];
        if (found != UINT32_MAX && r->depth < deep_enough) break;
        double here = parting(r, &a->twist, &b->twist);
        if (!(here < speed)) continue;
        if (found == UINT32_MAX) deep_enough = r->depth - impulse->rows[0].depth / 8;
        found = i;
        *fastest = speed = here;
    }
    return found;
}

/* One impulse after the other, each right by itself, is too much in the end: a part set down flat would be lifted by what
 * its other corners got later. So the pairs that were served and did not bounce are served again in turn, and what parts
 * them faster than needed is taken back. Either way a pair's speed comes nearer to 0, which takes energy. */
static void settle(flr_impulse *impulse, uint32_t served, flr_impulse_body *a, flr_impulse_body *b,
                   const flr_impulse_params *params, flr_impulse_result *result)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double most = 0;
        for (uint32_t i = 0; i < served; i++) {
            row *r = &impulse->rows[impulse->order[i]];
            double speed = parting(r, &a->twist, &b->twist),
                   size = fmax(-speed / r->yields, -r->given);
            r->given += size;
            hit(r, size, a, b, result);
            most = fmax(most, fabs(size) * r->yields);
            rub(r, params->friction, a, b, result);
        }
        if (most < params->tolerance) break;
    }
}

/* Velocities, until nothing approaches. */
static void bounce(flr_impulse *impulse, uint32_t count, flr_impulse_body *a, flr_impulse_body *b,
                   const flr_impulse_params *params, flr_impulse_result *result)
{
    const double restitution = fmin(1, fmax(0, params->restitution));
    uint32_t served = 0, next;
    double speed;
    while ((next = find_next(impulse, count, a, b, params->tolerance, &speed)) != UINT32_MAX) {
        if (result->impulses == params->limit) {
            result->left = -speed;
            return;
        }
        row *r = &impulse->rows[next];
        result->impulses++;
        if (restitution > 0 && -speed > params->rest_speed &&
            2 * result->impulses < params->limit) {
            hit(r, -(1 + restitution) * speed / r->yields, a, b, result);
            continue;
        }
        /* its number, once */
        bool known = false;
        for (uint32_t i = 0; i < served && !known; i++) known = impulse->order[i] == next;
        if (!known) impulse->order[served++] = next;
        settle(impulse, served, a, b, params, result);
    }
}

/* Depth: the same with shifts, for what the velocities will not have parted by the next frame. */
static void part(const flr_impulse *impulse, uint32_t count, const flr_impulse_body *a,
                 const flr_impulse_body *b, const flr_impulse_params *params,
                 flr_impulse_result *result)
{
    const double recover = fmin(1, fmax(0, params->recover)), enough = 0.01 * params->slop;
    for (uint32_t i = 0; i < count && result->shifts < params->limit;) {
        const row *r = &impulse->rows[i];
        double wanted = recover * (r->depth - params->slop);
        if (!(wanted > 0)) break; /* nor has any after it: the deepest come first */
        double moves = fmax(0, parting(r, &a->twist, &b->twist)) * params->dt +
                       parting(r, &result->shift_a, &result->shift_b);
        if (!(moves < wanted - enough)) {
            i++;
            continue;
        }
        push(r, (wanted - moves) / r->yields, a, b, &result->shift_a, &result->shift_b);
        result->shifts++;
        i = 0;
    }
}

void flr_impulse_resolve(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count,
                         flr_impulse_body *a, flr_impulse_body *b, const flr_impulse_params *params,
                         flr_impulse_result *result)
{
    *result = (flr_impulse_result){0};
    if (count > impulse->room) count = impulse->room;
    uint32_t rows = make_rows(impulse, pairs, count, a, b);
    if (rows) result->deepest = impulse->rows[0].depth;
    bounce(impulse, rows, a, b, params, result);
    part(impulse, rows, a, b, params, result);
}
