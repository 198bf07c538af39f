/* contacts of samples: which plane keeps a sample and what it is near to apart, and its share of the force */
#include <math.h>
#include <string.h>

#include "voxel/clones.h"
#include "world/tight_internal.h"
#include "world/tight_kernel.h"

#define FACE       2e-7 /* sine, squared: the same direction but for rounding */
#define ALIKE      0.95 /* cosine: as two faces of a round surface look, not as the sides of an edge */
#define SPOT_LANES ((uint32_t)FLR_TIGHT_LANES)
#define SMALL      0.01 /* of a sample's area: that of the nearest points, which may be no samples */
enum { SOME = 128 };    /* samples that are worked on at a time, so that they stay in the cache */

/* what is the same for all samples of a pair */
typedef struct spots_of {
    const flr_tight_normal *normals[2]; /* of the triangles of a and b, their own frames */
    uint32_t triangles[2];              /* how many; beyond them is a normal of zero */
    flr_mat3 a_b;                       /* rotation from b to a */
    flr_vec3 centre;                    /* of b's mass, frame of a */
    double tolerated;                   /* metres */
    double below;                       /* metres: samples that are farther away do not count */
} spots_of;

static inline const flr_tight_normal *normal_of(const spots_of *of, int side, uint32_t triangle)
{
    const uint32_t end = of->triangles[side];
    return &of->normals[side][triangle < end ? triangle : end];
}

static inline flr_vec3 normal_at(const flr_tight_normal *n)
{
    return flr_vec3_make((double)n->x, (double)n->y, (double)n->z);
}

/* Which plane keeps a sample and what it is near to apart. Where that is a face, the direction of the distance is its normal.
 * Where it is an edge or a corner, the distance is curved as sharply as it is short, and says nothing about a step along the
 * surface: then the plane is that of the sample's own face, if it looks the same way. Else there is none: two edges that
 * pass each other are found by their nearest points, and by the check. */
static inline bool straighten(const spots_of *of, const flr_fit_contact *c, flr_vec3 *normal,
                              double *distance)
{
    const flr_vec3 n = c->normal, of_a = normal_at(normal_of(of, 0, c->triangle[0]));
    const flr_vec3 of_b = flr_mat3_apply(of->a_b, normal_at(normal_of(of, 1, c->triangle[1])));
    const flr_vec3 own = c->side ? of_b : of_a, face = c->side ? of_a : of_b;
    const double theirs = fabs(flr_vec3_dot(n, face)), mine = flr_vec3_dot(n, own);
    const double alike = fabs(mine);
    const bool plane = flr_vec3_length2(flr_vec3_cross(n, face)) < FACE && theirs > ALIKE;
    const bool turned = !plane && alike >= ALIKE;
    *normal = turned ? flr_vec3_scale(own, mine > 0 ? 1 : -1) : n;
    *distance = turned ? c->distance * alike : c->distance;
    return plane || turned || theirs > ALIKE;
}

/* Takes one sample, in the frame of a: its place, direction, distance and area, for place() to make a contact of. */
static inline void take(const spots_of *of, const flr_tight_points *p, uint32_t at,
                        const flr_fit_contact *c, flr_vec3 normal, double distance)
{
    const flr_vec3 arm = flr_vec3_sub(c->point, of->centre);
    p->arm[0][at] = (float)arm.x, p->arm[1][at] = (float)arm.y, p->arm[2][at] = (float)arm.z;
    p->j[3][at] = (float)normal.x, p->j[4][at] = (float)normal.y, p->j[5][at] = (float)normal.z;
    p->depth[at] = (float)(distance - c->error + of->tolerated);
    p->stiffness[at] = (float)c->area;
}

/* Adds the samples that count. */
static void take_some(const spots_of *of, const flr_fit_contact *list, uint32_t count,
                      flr_tight_points *p)
{
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(normal_of(of, 0, list[i].triangle[0]));
        __builtin_prefetch(normal_of(of, 1, list[i].triangle[1]));
    }
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 normal;
        double distance;
        const bool has_plane = straighten(of, &list[i], &normal, &distance);
        take(of, p, p->count, &list[i], normal, distance);
        p->count += has_plane && list[i].distance < of->below;
    }
}

/* Turns weights into shares of a stiffness. */
FLR_CLONES static void scale(float *weights, uint32_t count, float factor)
{
    for (uint32_t i = 0; i < count; i++) weights[i] *= factor;
}

/* The nearest points, which need not be samples, as one more: so there is always a place where force begins. Where the distance
 * was measured coarsely, others may be nearer: they are found by the check. */
static flr_fit_contact nearest_of(const flr_fit_result *r)
{
    const bool fine = r->distance - r->lower <= FLR_TIGHT_CLEAR;
    return (flr_fit_contact){.point = r->point[1],
                             .normal = r->normal,
                             .distance = fine ? r->lower : r->distance - FLR_TIGHT_CLEAR,
                             .area = SMALL};
}

/* N/m: of the contacts of a pair together. */
static double stiffness_of(const flr_tight_params *how, double onset)
{
    if (how->stiffness > 0) return how->stiffness;
    return onset > 0 ? 2 * how->force * how->strength / onset : 0;
}

static flr_tight_law law_of(const flr_world *w, const flr_tight_near *n)
{
    const flr_mat3 world_a = flr_quat_to_mat3(w->poses[n->a].q);
    const flr_twist twist = flr_twist_scale(flr_tight_relative(w, n, false), w->def.dt);
    flr_tight_law law = {.onset = (float)w->tight->onset, .floor = (float)FLR_TIGHT_FLOOR};
    const flr_vec6 x = flr_vec6_from(twist.angular, twist.linear);
    for (int i = 0; i < 6; i++) law.twist[i] = (float)x.v[i];
    for (int i = 0; i < 9; i++) law.world_a[i] = (float)world_a.m[i / 3][i % 3];
    return law;
}

/* The largest area that a sample stands for, square metres; 1 without any. */
static double largest_area(const flr_fit_contact *list, uint32_t count)
{
    double area = 0;
    for (uint32_t i = 0; i < count; i++) area = list[i].area > area ? list[i].area : area;
    return area > 0 ? area : 1;
}

void flr_tight_make_spots(flr_world *w, flr_tight_near *n, flr_pose T_a_b,
                          const flr_fit_contact *list, double reach)
{
    flr_tight *e = w->tight;
    const flr_fit_result *r = &n->result;
    const spots_of of = {
        .normals = {e->parts[n->a].normals, e->parts[n->b].normals},
        .triangles = {flr_fit_get_info(e->parts[n->a].fit).triangles,
                      flr_fit_get_info(e->parts[n->b].fit).triangles},
        .a_b = flr_quat_to_mat3(T_a_b.q),
        .centre = flr_pose_apply_inverse(w->poses[n->a], flr_body_centre(&w->state->bodies[n->b])),
        .tolerated = n->tolerated,
        .below = reach - n->tolerated};
    const flr_tight_law law = law_of(w, n);
    const uint32_t left = e->spots.capacity - e->spots.count;
    const uint32_t count = r->contact_count < left ? r->contact_count : left;
    flr_tight_points points = flr_tight_points_from(&e->spots, e->spots.count, 0);
    flr_tight_lanes sums = {0};
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i += SOME) {
        take_some(&of, list + i, count - i < SOME ? count - i : SOME, &points);
        flr_tight_kernel_place(&points, done, points.count / SPOT_LANES * SPOT_LANES, &law, sums);
        done = points.count / SPOT_LANES * SPOT_LANES;
    }
    flr_fit_contact c = nearest_of(r);
    if (points.count < left && r->found && r->distance > 0 && c.distance < of.below &&
        fabs(flr_vec3_length2(r->normal) - 1) < 1e-3) {
        c.area *= largest_area(list, count);
        take(&of, &points, points.count++, &c, c.normal, c.distance);
    }
    const uint32_t end = flr_tight_points_pad(&points);
    flr_tight_kernel_place(&points, done, end, &law, sums);
    for (uint32_t l = 1; l < SPOT_LANES; l++) sums[0] += sums[l];
    scale(points.stiffness, end,
          sums[0] > 0 ? (float)(stiffness_of(&w->params.exact, e->onset) / (double)sums[0]) : 0);
    if (end) memset(points.away, 0, end * sizeof *points.away);
    n->first = e->spots.count;
    n->count = points.count;
    e->spots.count += end;
}
