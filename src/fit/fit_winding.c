/* the winding number of a mesh around a point
 *
 * The edges at which a mesh ends are its border: those whose triangles do not cancel out, each as often as they do not.
 * Draw a curtain from the border to infinity, and mesh and curtain together are closed. Around a point, a closed surface
 * winds as often as a ray from there leaves it, less as often as it enters. A ray against the direction of the curtain never
 * meets that. So the winding number is what the ray counts, a whole number, plus the solid angles of the curtain's strips,
 * one for each edge of the border. Most meshes have no border or a short one: then this is exact and takes a ray.
 *
 * Rays are slanted, so that they do not run along faces of CAD parts. Whether a ray passes an edge on one side or the other
 * is computed from the edge alone, the same way for all its triangles: none is counted twice or left out.
 *
 * For a long border, groups of triangles seen from afar count as dipoles; the number is then known to a few hundredths. */
#include <math.h>
#include <stdlib.h>

#include "fit/fit_internal.h"
#include "fit/fit_triangle.h"

#define FULL_ANGLE (4 * 3.14159265358979323846)

/* how much a ray is slanted: what it moves along the other two axes for each metre of the first */
static const double SLANT[2] = {0.01373, 0.00719};

/* Seen from this many radii, a box full of triangles is a dipole: its winding number is then off by a few per cent of itself. */
static const double AFAR = 2;

/* a box that is still to be opened: an entry of the level below, or a patch */
typedef struct unopened {
    uint32_t level, entry; /* level 0: entry is a patch */
} unopened;

static double along(flr_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/* ---- a ray ---- */

typedef struct winding_ray {
    const flr_fit *fit;
    flr_vec3 from;
    int axis[3]; /* the first is the one that it runs along, but for the slant */
    double sign; /* 1: that way, -1: the other way */
    double x, u,
        v;        /* of its beginning: along the first axis, and across, where the ray is a point */
    double slack; /* metres: what rounding makes of coordinates */
} winding_ray;

/* Where a point is across the ray. */
static void across(const winding_ray *r, flr_vec3 p, double *u, double *v)
{
    const double x = along(p, r->axis[0]);
    *u = along(p, r->axis[1]) - SLANT[0] * x;
    *v = along(p, r->axis[2]) - SLANT[1] * x;
}

/* A ray by the shortest way out of the mesh. */
static winding_ray ray_from(const flr_fit *fit, flr_vec3 point)
{
    const flr_vec3 low = fit->info.bounds.low, high = fit->info.bounds.high,
                   size = flr_vec3_sub(high, low);
    int first = 0;
    for (int k = 1; k < 3; k++)
        if (along(size, k) < along(size, first)) first = k;
    winding_ray r = {.fit = fit,
                     .from = point,
                     .axis = {first, (first + 1) % 3, (first + 2) % 3},
                     .x = along(point, first),
                     .slack = flr_fit_rounding(flr_fit_extent(fit) + flr_vec3_length(point))};
    r.sign = along(high, first) - r.x < r.x - along(low, first) ? 1 : -1;
    across(&r, point, &r.u, &r.v);
    return r;
}

/* On which side of the line from a to b the ray runs: positive on the left, seen against the first axis. Exactly the opposite
 * for the line from b to a. */
static double left_of(const winding_ray *r, uint32_t a, uint32_t b, double au, double av, double bu,
                      double bv)
{
    if (a > b) return -((au - bu) * (r->v - bv) - (av - bv) * (r->u - bu));
    return (bu - au) * (r->v - av) - (bv - av) * (r->u - au);
}

/* How often the ray leaves through a triangle: 1, 0, or -1 where it enters. */
static int pass(const winding_ray *r, uint32_t triangle)
{
    const flr_fit *fit = r->fit;
    const uint32_t *t = fit->triangles[triangle].v;
    double u[3], v[3];
    int around = 0;
    for (int i = 0; i < 3; i++) across(r, fit->vertices[t[i]], &u[i], &v[i]);
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        const bool up = v[i] <= r->v;
        if (up == (v[k] <= r->v)) continue;
        const double left = left_of(r, t[i], t[k], u[i], v[i], u[k], v[k]);
        if (up && left > 0) around++;
        if (!up && left < 0) around--;
    }
    if (!around) return 0;
    const flr_vec3 a = flr_vec3_sub(fit->vertices[t[0]], r->from),
                   b = flr_vec3_sub(fit->vertices[t[1]], r->from),
                   c = flr_vec3_sub(fit->vertices[t[2]], r->from);
    const double ahead = r->sign * around * flr_vec3_dot(a, flr_vec3_cross(b, c));
    return ahead > 0 ? (int)r->sign * around : 0;
}

/* Bits of the boxes that the ray may meet. */
static uint32_t boxes_met(const winding_ray *r, const flr_fit_boxes *b)
{
    const float *low = b->low[r->axis[0]], *high = b->high[r->axis[0]];
    uint32_t met = 0;
    for (int i = 0; i < FLR_FIT_WIDE; i++) {
        const double first = (double)low[i], last = (double)high[i];
        const bool ahead = r->sign > 0 ? last >= r->x - r->slack : first <= r->x + r->slack;
        const double u_low = (double)b->low[r->axis[1]][i] - SLANT[0] * last,
                     u_high = (double)b->high[r->axis[1]][i] - SLANT[0] * first,
                     v_low = (double)b->low[r->axis[2]][i] - SLANT[1] * last,
                     v_high = (double)b->high[r->axis[2]][i] - SLANT[1] * first;
        /* the slack of a point that is very far away is infinite, and would meet boxes that are not used */
        const bool hit = (first <= last) & ahead & (u_low <= r->u + r->slack) &
                         (u_high >= r->u - r->slack) & (v_low <= r->v + r->slack) &
                         (v_high >= r->v - r->slack);
        met |= (uint32_t)hit << i;
    }
    return met;
}

static int64_t count_passes(const winding_ray *r)
{
    const flr_fit *fit = r->fit;
    unopened stack[FLR_FIT_STACK];
    unsigned depth = 1;
    int64_t sum = 0;
    stack[0] = (unopened){fit->levels, 0};
    while (depth) {
        const unopened now = stack[--depth];
        if (now.level == 0) {
            const flr_fit_patch *patch = &fit->patches[now.entry];
            for (uint32_t i = 0; i < patch->faces; i++)
                sum += pass(r, fit->faces[patch->first_face + i].triangle);
            continue;
        }
        uint32_t met = boxes_met(r, &fit->level[now.level - 1][now.entry]);
        for (; met; met &= met - 1)
            stack[depth++] =
                (unopened){now.level - 1, now.entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(met)};
    }
    return sum;
}

/* ---- the curtain ---- */

/* The solid angle of the strip from an edge to infinity, against the ray. */
static double strip(const winding_ray *r, const flr_fit_border *edge, flr_vec3 way)
{
    const flr_vec3 p = r->fit->vertices[edge->from], q = r->fit->vertices[edge->to],
                   a = flr_vec3_sub(p, r->from), b = flr_vec3_sub(q, r->from);
    const double la = flr_vec3_length(a), lb = flr_vec3_length(b);
    double au, av, bu, bv;
    across(r, p, &au, &av);
    across(r, q, &bu, &bv);
    /* on the same side as where the ray passes it */
    const double left = left_of(r, edge->from, edge->to, au, av, bu, bv);
    const double above = fabs(flr_vec3_dot(a, flr_vec3_cross(b, way)));
    const double below =
        la * lb + flr_vec3_dot(a, b) + flr_vec3_dot(b, way) * la + flr_vec3_dot(a, way) * lb;
    return 2 * atan2(left * r->sign > 0 ? -above : above, below);
}

static double curtain(const winding_ray *r)
{
    double way[3], sum = 0;
    const double length = sqrt(1 + SLANT[0] * SLANT[0] + SLANT[1] * SLANT[1]);
    way[r->axis[0]] = -r->sign / length;
    way[r->axis[1]] = -r->sign * SLANT[0] / length;
    way[r->axis[2]] = -r->sign * SLANT[1] / length;
    for (uint32_t i = 0; i < r->fit->counts.borders; i++) {
        const flr_fit_border *edge = &r->fit->borders[i];
        sum += edge->times * strip(r, edge, flr_vec3_make(way[0], way[1], way[2]));
    }
    return sum / FULL_ANGLE;
}

/* ---- a long border ---- */

/* The solid angle of a triangle; of one that is far away for its size that of a dipole, without an arc tangent. */
static double solid_angle(const flr_vec3 t[3], flr_vec3 point)
{
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]),
                   to = flr_vec3_sub(flr_vec3_add_scaled(t[0], 1.0 / 3, flr_vec3_add(u, v)), point);
    const double d2 = flr_vec3_length2(to), size2 = fmax(flr_vec3_length2(u), flr_vec3_length2(v));
    if (d2 < 9 * size2) return flr_fit_solid_angle(t, point);
    return 0.5 * flr_vec3_dot(to, flr_vec3_cross(u, v)) / (d2 * sqrt(d2));
}

static double by_dipoles(const flr_fit *fit, flr_vec3 point)
{
    unopened stack[FLR_FIT_STACK];
    unsigned depth = 1;
    double sum = 0;
    stack[0] = (unopened){fit->levels, 0};
    while (depth) {
        const unopened now = stack[--depth];
        if (now.level == 0) {
            const flr_fit_patch *patch = &fit->patches[now.entry];
            for (uint32_t i = 0; i < patch->faces; i++) {
                flr_vec3 t[3];
                flr_fit_triangle(fit, fit->faces[patch->first_face + i].triangle, t);
                sum += solid_angle(t, point);
            }
            continue;
        }
        const flr_fit_boxes *b = &fit->level[now.level - 1][now.entry];
        for (int i = 0; i < FLR_FIT_WIDE && b->low[0][i] <= b->high[0][i]; i++) {
            const flr_vec3 to = flr_vec3_sub(
                flr_vec3_make((double)b->at[0][i], (double)b->at[1][i], (double)b->at[2][i]),
                point);
            const double d2 = flr_vec3_length2(to), radius = AFAR * (double)b->radius[i];
            if (d2 > radius * radius)
                sum += (to.x * (double)b->area[0][i] + to.y * (double)b->area[1][i] +
                        to.z * (double)b->area[2][i]) /
                       (d2 * sqrt(d2));
            else
                stack[depth++] = (unopened){now.level - 1, now.entry * FLR_FIT_WIDE + (uint32_t)i};
        }
    }
    return sum / FULL_ANGLE;
}

double flr_fit_winding(const flr_fit *fit, flr_vec3 point)
{
    if (flr_fit_border_is_long(fit)) return by_dipoles(fit, point);
    const winding_ray r = ray_from(fit, point);
    const double passes = (double)count_passes(&r);
    return fit->counts.borders ? passes + curtain(&r) : passes;
}

double flr_fit_winding_change(const flr_fit *fit, flr_vec3 centre, double radius)
{
    double sum = 0;
    if (flr_fit_border_is_long(fit)) return INFINITY;
    for (uint32_t i = 0; i < fit->counts.borders; i++) {
        const flr_fit_border *edge = &fit->borders[i];
        const flr_vec3 a = fit->vertices[edge->from], u = flr_vec3_sub(fit->vertices[edge->to], a);
        const double away = flr_vec3_distance(centre, flr_fit_on_segment(centre, a, u)) - radius;
        if (!(away > 0)) return INFINITY;
        sum += abs(edge->times) * flr_vec3_length(u) / (away * away);
    }
    return sum * 2 * radius / FULL_ANGLE * (1 + 1e-9);
}
