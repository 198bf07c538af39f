/* impulses on pairs of voxels, the deepest first */
#include "feeler/spheres.h"

#include <math.h>
#include <stdlib.h>

#define DOUBT        0.6 /* cosine: surfaces that meet look at each other at least so much */
#define IMPULSE_CALM 10  /* times as fast, what has been slow for a while comes to rest */
enum {
    IMPULSE_SWEEPS = 10, /* of the pairs served so far, after each new one */
    STOREYS = 8          /* parts that rest on parts that rest … on one that stands */
};

flr_impulse_params flr_default_impulse_params(void)
{
    return (flr_impulse_params){.rest_speed = 0.02,
                                .limit = 100,
                                .tolerance = 1e-5,
                                .still = 5e-4,
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

/* a pair as it was added */
typedef struct touch {
    flr_vec3 place, normal;
    double depth;
    uint32_t a, b; /* numbers of bodies */
} touch;

typedef struct impulse_row {
    flr_vec3 place;  /* world's frame */
    flr_vec3 normal; /* of the push on a */
    flr_vec3 arm_a;  /* moment of a unit push about a's centre */
    flr_vec3 arm_b;  /* of the opposite push about b's */
    flr_vec3 spin_a; /* what the moment does to a's angular velocity */
    flr_vec3 spin_b;
    flr_impulse_body *a, *b;
    double yields; /* m/s for 1 N s */
    double depth;  /* metres */
    double given;  /* N s along the normal, without bouncing */
    double rubbed; /* N s of friction */
} impulse_row;

struct flr_impulse {
    uint32_t room, count; /* count: of touches */
    touch *touches;       /* [room], as they came */
    impulse_row *rows;    /* [room], deepest first */
    uint32_t *order;      /* [2 room], while sorting */
};

flr_result flr_impulse_create(uint32_t pairs, flr_impulse **impulse, flr_error *error)
{
    flr_impulse *made = calloc(1, sizeof *made);
    if (made) {
        made->room = pairs;
        made->touches = malloc((pairs + 1u) * sizeof *made->touches);
        made->rows = malloc((pairs + 1u) * sizeof *made->rows);
        made->order = malloc((2 * (size_t)pairs + 1) * sizeof *made->order);
    }
    if (!made || !made->touches || !made->rows || !made->order) {
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
    free(impulse->touches);
    free(impulse->rows);
    free(impulse->order);
    free(impulse);
}

void flr_impulse_clear(flr_impulse *impulse) { impulse->count = 0; }

/* Where an edge of one part lies beside an edge of the other, both normals point out sideways: along them the depth is that of
 * the whole voxel, though the parts have hardly met. Such a pair stops them, after all others, but pushes nothing out. */
static bool is_doubtful(const flr_voxel_pair *pair)
{
    return flr_vec3_length2(pair->normal_a) > 0 && flr_vec3_length2(pair->normal_b) > 0 &&
           flr_vec3_dot(pair->normal_a, pair->normal_b) > -DOUBT;
}

uint32_t flr_impulse_add(flr_impulse *impulse, const flr_voxel_pair *pairs, uint32_t count,
                         uint32_t a, uint32_t b)
{
    uint32_t room = impulse->room - impulse->count, taken = a == b         ? 0
                                                            : count < room ? count
                                                                           : room;
    touch *to = impulse->touches + impulse->count;
    for (uint32_t i = 0; i < taken; i++)
        to[i] = (touch){.place = flr_vec3_lerp(pairs[i].centre_a, pairs[i].centre_b, 0.5),
                        .normal = pairs[i].normal,
                        .depth = is_doubtful(&pairs[i]) ? 0 : pairs[i].depth,
                        .a = a,
                        .b = b};
    impulse->count += taken;
    return taken;
}

/* Numbers of touches by depth, the deepest first, else as they came: merging runs of 1, 2, 4, … */
static const uint32_t *sort(flr_impulse *impulse)
{
    const touch *touches = impulse->touches;
    const uint32_t count = impulse->count;
    uint32_t *from = impulse->order, *to = impulse->order + impulse->room;
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t start = 0; start < count; start += 2 * run) {
            uint64_t middle = start + run < count ? start + run : count,
                     end = start + 2 * run < count ? start + 2 * run : count;
            for (uint64_t i = start, k = middle, n = start; n < end; n++) {
                bool first =
                    k == end || (i < middle && !(touches[from[k]].depth > touches[from[i]].depth));
                to[n] = first ? from[i++] : from[k++];
            }
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static impulse_row row_of(flr_vec3 place, flr_vec3 way, double depth, flr_impulse_body *a,
                          flr_impulse_body *b)
{
    impulse_row r = {.place = place, .normal = way, .a = a, .b = b, .depth = depth};
    r.arm_a = flr_vec3_cross(flr_vec3_sub(place, a->centre), way);
    r.arm_b = flr_vec3_neg(flr_vec3_cross(flr_vec3_sub(place, b->centre), way));
    r.spin_a = flr_mat3_apply(a->inverse_tensor, r.arm_a);
    r.spin_b = flr_mat3_apply(b->inverse_tensor, r.arm_b);
    r.yields = (a->inverse_mass + b->inverse_mass) * flr_vec3_dot(way, way) +
               flr_vec3_dot(r.arm_a, r.spin_a) + flr_vec3_dot(r.arm_b, r.spin_b);
    return r;
}

/* Rows of all touches that a push can part. */
static uint32_t make_rows(flr_impulse *impulse, flr_impulse_body *bodies, uint32_t body_count)
{
    const uint32_t *order = sort(impulse);
    uint32_t made = 0;
    for (uint32_t i = 0; i < impulse->count; i++) {
        const touch *t = &impulse->touches[order[i]];
        if (t->a >= body_count || t->b >= body_count) continue;
        impulse_row r = row_of(t->place, t->normal, t->depth, &bodies[t->a], &bodies[t->b]);
        if (r.yields > 0 && isfinite(r.yields) && isfinite(r.depth)) impulse->rows[made++] = r;
    }
    return made;
}

/* How fast a pair parts, m/s, or by how much, m. */
static inline double parting(const impulse_row *r, const flr_twist *a, const flr_twist *b)
{
    flr_vec3 linear = flr_vec3_sub(a->linear, b->linear);
    return flr_vec3_dot(r->normal, linear) + flr_vec3_dot(r->arm_a, a->angular) +
           flr_vec3_dot(r->arm_b, b->angular);
}

static inline double speed_of(const impulse_row *r)
{
    return parting(r, &r->a->twist, &r->b->twist);
}

static void push(const impulse_row *r, double size, flr_twist *of_a, flr_twist *of_b)
{
    of_a->linear = flr_vec3_add_scaled(of_a->linear, size * r->a->inverse_mass, r->normal);
    of_a->angular = flr_vec3_add_scaled(of_a->angular, size, r->spin_a);
    of_b->linear = flr_vec3_add_scaled(of_b->linear, -size * r->b->inverse_mass, r->normal);
    of_b->angular = flr_vec3_add_scaled(of_b->angular, size, r->spin_b);
}

/* ---- resolving ---- */

/* An impulse on both bodies, and into the sums. */
static void hit(const impulse_row *r, double size)
{
    push(r, size, &r->a->twist, &r->b->twist);
    r->a->given = flr_wrench_add(r->a->given, flr_wrench_make(flr_vec3_scale(r->arm_a, size),
                                                              flr_vec3_scale(r->normal, size)));
    r->b->given = flr_wrench_add(r->b->given, flr_wrench_make(flr_vec3_scale(r->arm_b, size),
                                                              flr_vec3_scale(r->normal, -size)));
}

/* Against what slides there: as much as the normal impulse allows, and no more than stops it. */
static void rub(impulse_row *r, double friction)
{
    double most = friction * r->given - r->rubbed;
    if (!(most > 0)) return;
    flr_vec3 v =
        flr_vec3_sub(flr_twist_velocity(r->a->twist, flr_vec3_sub(r->place, r->a->centre)),
                     flr_twist_velocity(r->b->twist, flr_vec3_sub(r->place, r->b->centre)));
    v = flr_vec3_add_scaled(v, -flr_vec3_dot(v, r->normal), r->normal);
    double speed = flr_vec3_length(v);
    if (!(speed > 0)) return;
    impulse_row along = row_of(r->place, flr_vec3_scale(v, -1 / speed), 0, r->a, r->b);
    double size = fmin(most, -speed_of(&along) / along.yields);
    if (!(size > 0)) return;
    hit(&along, size);
    r->rubbed += size;
}

/* The deepest pair that approaches; of those about as deep, the fastest. UINT32_MAX: none does. */
static uint32_t find_next(const flr_impulse *impulse, uint32_t count, double tolerance,
                          double *fastest)
{
    uint32_t found = UINT32_MAX;
    double speed = -tolerance, deep_enough = 0;
    *fastest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const impulse_row *r = &impulse->rows[i];
        if (found != UINT32_MAX && r->depth < deep_enough) break;
        double here = speed_of(r);
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
static void settle(flr_impulse *impulse, uint32_t served, const flr_impulse_params *params)
{
    for (int sweep = 0; sweep < IMPULSE_SWEEPS; sweep++) {
        double most = 0;
        for (uint32_t i = 0; i < served; i++) {
            impulse_row *r = &impulse->rows[impulse->order[i]];
            double size = fmax(-speed_of(r) / r->yields, -r->given);
            r->given += size;
            hit(r, size);
            most = fmax(most, fabs(size) * r->yields);
            rub(r, params->friction);
        }
        if (most < params->tolerance) break;
    }
}

/* Velocities, until nothing approaches. */
static void bounce(flr_impulse *impulse, uint32_t count, const flr_impulse_params *params,
                   flr_impulse_result *result)
{
    const double restitution = fmin(1, fmax(0, params->restitution));
    uint32_t served = 0, next;
    double speed;
    while ((next = find_next(impulse, count, params->tolerance, &speed)) != UINT32_MAX) {
        if (result->impulses == params->limit) {
            result->left = -speed;
            return;
        }
        impulse_row *r = &impulse->rows[next];
        result->impulses++;
        if (restitution > 0 && -speed > params->rest_speed &&
            2 * result->impulses < params->limit) {
            hit(r, -(1 + restitution) * speed / r->yields);
            continue;
        }
        /* its number, once */
        bool known = false;
        for (uint32_t i = 0; i < served && !known; i++) known = impulse->order[i] == next;
        if (!known) impulse->order[served++] = next;
        settle(impulse, served, params);
    }
}

/* How fast it is altogether, m/s: a turn counts by the radius of gyration. */
static double pace_of(const flr_impulse_body *body)
{
    const flr_mat3 *t = &body->inverse_tensor;
    double trace = t->m[0][0] + t->m[1][1] + t->m[2][2];
    return flr_vec3_length(body->twist.linear) +
           sqrt(3 * body->inverse_mass / trace) * flr_vec3_length(body->twist.angular);
}

/* Impulses leave a trace of motion, by which a part that lies still would creep until a voxel slips off another. What touches
 * something that stands, and has hardly any speed left, stands. */
static void rest(const flr_impulse *impulse, uint32_t count, double still)
{
    bool more = still > 0;
    for (int storey = 0; storey < STOREYS && more; storey++) {
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            flr_impulse_body *a = impulse->rows[i].a, *b = impulse->rows[i].b;
            if (a->at_rest == b->at_rest) continue;
            flr_impulse_body *other = a->at_rest ? b : a;
            if (!(pace_of(other) < (other->calm ? IMPULSE_CALM * still : still))) continue;
            other->twist = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
            other->at_rest = more = true;
        }
    }
}

/* Depth: the same with shifts, for what the velocities will not have parted by the next frame. */
static void part(const flr_impulse *impulse, uint32_t count, const flr_impulse_params *params,
                 flr_impulse_result *result)
{
    const double recover = fmin(1, fmax(0, params->recover)), enough = 0.01 * params->slop;
    for (uint32_t i = 0; i < count && result->shifts < params->limit;) {
        const impulse_row *r = &impulse->rows[i];
        double wanted = recover * (r->depth - params->slop);
        if (!(wanted > 0)) break; /* nor has any after it: the deepest come first */
        double moves = fmax(0, speed_of(r)) * params->dt + parting(r, &r->a->shift, &r->b->shift);
        if (!(moves < wanted - enough)) {
            i++;
            continue;
        }
        push(r, (wanted - moves) / r->yields, &r->a->shift, &r->b->shift);
        result->shifts++;
        i = 0;
    }
}

void flr_impulse_solve(flr_impulse *impulse, flr_impulse_body *bodies, uint32_t body_count,
                       const flr_impulse_params *params, flr_impulse_result *result)
{
    *result = (flr_impulse_result){0};
    for (uint32_t i = 0; i < body_count; i++) {
        bodies[i].given = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
        bodies[i].shift = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
        bodies[i].at_rest = bodies[i].inverse_mass == 0;
    }
    uint32_t rows = make_rows(impulse, bodies, body_count);
    if (rows) result->deepest = impulse->rows[0].depth;
    bounce(impulse, rows, params, result);
    rest(impulse, rows, params->still);
    part(impulse, rows, params, result);
}
