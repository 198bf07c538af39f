/* the point that stays outside
 *
 * A frame: go straight to the hand; where a triangle is in the way, stop before it, keep its plane as a constraint, and go on to
 * the point nearest to the hand that all constraints allow. When that is reached, forget the constraints and try the
 * straight way again: a face that ended at a convex edge no longer holds. When nothing moves any more, that is it. */
#include "feeler/probe.h"

#include "probe/among.h"
#include "probe/model.h"
#include <math.h>

/* parts of the model's size: how far off the surface the proxy stays, and what counts as no way at all */
static const double lift_part = 1e-8, still_part = 1e-12;

/* how far out a hand may be, metres */
static const double far_out = FLR_MESH_MAX_COORDINATE;

typedef struct proxy_plane {
    flr_vec3 normal; /* unit, towards the proxy */
    flr_vec3 on;     /* a point of it */
    uint32_t part, triangle;
} proxy_plane;

/* a frame in progress */
typedef struct frame {
    const flr_among *among;
    flr_vec3 hand, at; /* world, as everything here */
    double lift, still;
    proxy_plane planes[FLR_PROXY_CONTACTS];
    uint32_t plane_count;
    flr_vec3
        path[FLR_PROXY_QUERIES + 1]; /* where it has been: from each to the next nothing is hit */
    uint32_t path_count;
    uint32_t queries;
} frame;

flr_proxy_params flr_default_proxy_params(void)
{
    flr_proxy_params params = {.stiffness = 1000};
    return params;
}

static bool blocked(frame *f, flr_vec3 from, flr_vec3 to)
{
    f->queries++;
    return flr_among_any(f->among, from, to);
}

static void go(frame *f, flr_vec3 to)
{
    f->at = to;
    f->path[f->path_count++] = to;
}

/* ---- where to go ---- */

/* Metres by which a point lies lower above a plane than it should. */
static double missing(const frame *f, const proxy_plane *p, flr_vec3 at)
{
    return f->lift - flr_vec3_dot(p->normal, flr_vec3_sub(at, p->on));
}

/* How much of each normal makes up `r` along them. False: the normals are dependent, or almost. `r` is used up. */
static bool solve(const proxy_plane *const p[], int count, double r[3], double x[3])
{
    double g[3][3];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) g[i][k] = flr_vec3_dot(p[i]->normal, p[k]->normal);
    /* elimination; the matrix is symmetric and positive where the normals are independent */
    for (int i = 0; i < count; i++) {
        if (!(g[i][i] > 1e-10)) return false;
        for (int k = i + 1; k < count; k++) {
            double by = g[k][i] / g[i][i];
            for (int j = i; j < count; j++) g[k][j] -= by * g[i][j];
            r[k] -= by * r[i];
        }
    }
    for (int i = count - 1; i >= 0; i--) {
        x[i] = r[i];
        for (int k = i + 1; k < count; k++) x[i] -= g[i][k] * x[k];
        x[i] /= g[i][i];
    }
    return true;
}

/* Goes from the hand along the normals of some planes, by the lengths that put it onto all of them. False: they have no
 * common point, or almost none. */
static bool onto(const frame *f, const proxy_plane *const p[], int count, flr_vec3 *goal)
{
    double r[3], x[3] = {0, 0, 0};
    for (int i = 0; i < count; i++) r[i] = missing(f, p[i], f->hand);
    if (!solve(p, count, r, x)) return false;
    *goal = f->hand;
    for (int i = 0; i < count; i++) *goal = flr_vec3_add_scaled(*goal, x[i], p[i]->normal);
    return flr_vec3_is_finite(*goal);
}

static bool allowed(const frame *f, flr_vec3 at)
{
    for (uint32_t i = 0; i < f->plane_count; i++)
        if (missing(f, &f->planes[i], at) > 0.5 * f->lift) return false;
    return true;
}

/* The point nearest to the hand that all planes allow: of all choices of planes to lie on, the best one. Where rounding leaves
 * none, the proxy stays. */
static flr_vec3 nearest_allowed(const frame *f)
{
    flr_vec3 best = f->at;
    double least = INFINITY;
    for (uint32_t choice = 0; choice < 1u << f->plane_count; choice++) {
        const proxy_plane *chosen[FLR_PROXY_CONTACTS];
        int count = 0;
        for (uint32_t i = 0; i < f->plane_count; i++)
            if (choice >> i & 1) chosen[count++] = &f->planes[i];
        flr_vec3 goal;
        if (!onto(f, chosen, count, &goal) || !allowed(f, goal)) continue;
        double distance = flr_vec3_distance(goal, f->hand);
        if (distance < least) least = distance, best = goal;
    }
    return best;
}

/* ---- going there ---- */

/* Goes towards the goal as far as nothing is in the way, less the lift. True: all the way. Else `*stop` is what was. */
static bool advance(frame *f, flr_vec3 goal, proxy_plane *stop)
{
    flr_among_hit hit;
    flr_vec3 way = flr_vec3_sub(goal, f->at);
    f->queries++;
    if (!flr_among_first(f->among, f->at, goal, &hit)) {
        go(f, goal);
        return true;
    }
    *stop = (proxy_plane){hit.normal, hit.corner, hit.part, hit.triangle};
    double sinking = -flr_vec3_dot(stop->normal, way);
    double height = flr_vec3_dot(stop->normal, flr_vec3_sub(f->at, stop->on));
    /* the normal points to where it comes from; along the plane, to where it is */
    if (sinking < 0 || (sinking == 0 && height < 0)) {
        stop->normal = flr_vec3_neg(stop->normal);
        sinking = -sinking, height = -height;
    }
    double t = sinking > 0 ? (height - f->lift) / sinking : hit.t;
    t = fmin(t, hit.t);
    /* rounding may have put that onto the triangle or behind it, and others may be nearer than they seem: nothing is taken
     * for granted */
    for (int i = 0; i < 3 && t > 0 && f->queries < FLR_PROXY_QUERIES; i++, t *= 0.5) {
        flr_vec3 to = flr_vec3_add_scaled(f->at, t, way);
        if (flr_vec3_equal(to, f->at)) break;
        if (blocked(f, f->at, to)) continue;
        go(f, to);
        break;
    }
    return false;
}

/* Adds a constraint. False: it is there already, or there are too many: the proxy is held. */
static bool hold(frame *f, const proxy_plane *p)
{
    for (uint32_t i = 0; i < f->plane_count; i++)
        if ((f->planes[i].triangle == p->triangle && f->planes[i].part == p->part) ||
            (flr_vec3_dot(f->planes[i].normal, p->normal) > 1 - 1e-12 &&
             fabs(flr_vec3_dot(p->normal, flr_vec3_sub(p->on, f->planes[i].on))) < 0.1 * f->lift))
            return false;
    if (f->plane_count == FLR_PROXY_CONTACTS) return false;
    f->planes[f->plane_count++] = *p;
    return true;
}

/* Brings the proxy as near to the hand as may be. True: nothing holds it. */
static bool follow(frame *f)
{
    while (f->queries + 4 < FLR_PROXY_QUERIES && f->path_count + 1 < FLR_PROXY_QUERIES) {
        flr_vec3 goal = nearest_allowed(f);
        if (flr_vec3_distance(goal, f->at) <= f->still && f->plane_count) return false;
        if (flr_vec3_distance(goal, f->hand) > f->among->range) return false;
        proxy_plane stop;
        if (advance(f, goal, &stop)) {
            if (f->plane_count == 0) return true;
            f->plane_count = 0; /* a face may have ended on the way */
        } else if (!hold(f, &stop)) {
            return false;
        }
    }
    return false;
}

/* ---- friction ---- */

/* Goes back along the path by this length. */
static void go_back(frame *f, double length)
{
    uint32_t last = f->path_count - 1;
    while (last > 0) {
        flr_vec3 from = f->path[last - 1], to = f->path[last];
        double step = flr_vec3_distance(from, to);
        if (step > length) {
            /* on the line between, but for rounding */
            flr_vec3 between = flr_vec3_lerp(to, from, length / step);
            f->at = blocked(f, from, between) ? from : between;
            return;
        }
        length -= step;
        last--;
    }
    f->at = f->path[0];
}

static double path_length(const frame *f)
{
    double length = 0;
    for (uint32_t i = 1; i < f->path_count; i++)
        length += flr_vec3_distance(f->path[i - 1], f->path[i]);
    return length;
}

/* ---- force ---- */

/* The normal at a point of the triangle, as if the surface were curved. */
static flr_vec3 shaded_normal(const flr_probe_model *model, uint32_t triangle, flr_vec3 at,
                              flr_vec3 normal)
{
    flr_vec3 v[3], sum = flr_vec3_zero();
    flr_probe_corners(model->mesh, triangle, v);
    const float *corner = model->corner_normals + 9 * (size_t)triangle;
    for (int i = 0; i < 3; i++) {
        /* the corner's share: the part of the area across from it, within the triangle */
        flr_vec3 p = v[(i + 1) % 3], q = v[(i + 2) % 3];
        double share =
            flr_vec3_dot(normal, flr_vec3_cross(flr_vec3_sub(p, at), flr_vec3_sub(q, at)));
        double whole = flr_vec3_dot(
            normal, flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0])));
        double weight = whole != 0 ? fmin(fmax(share / whole, 0), 1) : 0;
        flr_vec3 n = {(double)corner[3 * i], (double)corner[3 * i + 1], (double)corner[3 * i + 2]};
        sum = flr_vec3_add_scaled(sum, weight, n);
    }
    if (flr_vec3_dot(sum, normal) < 0) sum = flr_vec3_neg(sum);
    sum = flr_vec3_normalize(sum);
    return flr_vec3_equal(sum, flr_vec3_zero()) ? normal : sum;
}

static void tell_force(const frame *f, const flr_proxy_params *params, flr_proxy_result *r)
{
    flr_vec3 pull = flr_vec3_sub(f->at, f->hand);
    r->normal = flr_vec3_normalize(pull);
    r->force = flr_vec3_scale(pull, params->stiffness);
    if (f->plane_count != 1) return;
    r->normal = f->planes[0].normal;
    const flr_among_part *part = &f->among->parts[f->planes[0].part];
    if (!params->shading || !part->model->corner_normals) return;
    /* what acts along the normal acts along the shaded one */
    flr_vec3 at = f->at, normal = r->normal;
    if (part->placed) {
        at = flr_pose_apply(part->T_part_world, at);
        normal = flr_quat_rotate(part->T_part_world.q, normal);
    }
    flr_vec3 shaded = shaded_normal(part->model, f->planes[0].triangle, at, normal);
    if (part->placed) shaded = flr_quat_rotate(part->T_world_part.q, shaded);
    double pressing = flr_vec3_dot(r->force, r->normal);
    r->force = flr_vec3_add_scaled(r->force, pressing, flr_vec3_sub(shaded, r->normal));
    r->normal = shaded;
}

/* What each of the faces gets of the hand's force: what acts along its normal, and as much of the rest. */
static void tell_pushes(const frame *f, flr_vec3 force, flr_among_result *result)
{
    const proxy_plane *planes[FLR_PROXY_CONTACTS];
    double along[3], share[3] = {0, 0, 0}, sum = 0;
    int count = (int)f->plane_count;
    flr_vec3 rest = force;
    for (int i = 0; i < count; i++) {
        planes[i] = &f->planes[i];
        along[i] = flr_vec3_dot(planes[i]->normal, force);
    }
    if (count == 0 || !solve(planes, count, along, share)) share[0] = 0;
    for (int i = 0; i < count; i++) {
        share[i] = share[i] > 0 ? share[i] : 0;
        sum += share[i];
        rest = flr_vec3_add_scaled(rest, -share[i], planes[i]->normal);
    }
    for (int i = 0; i < count; i++) {
        double of_rest = sum > 0 ? share[i] / sum : 1.0 / count;
        flr_vec3 push = flr_vec3_scale(planes[i]->normal, share[i]);
        result->pushes[i] = flr_vec3_neg(flr_vec3_add_scaled(push, of_rest, rest));
        result->parts[i] = planes[i]->part;
    }
}

/* ---- a frame ---- */

/* The first time: where the hand is, but not on a triangle. */
static void place(flr_proxy *proxy, const flr_among *among, flr_vec3 hand)
{
    flr_among_hit hit;
    proxy->position = hand;
    proxy->placed = true;
    if (!flr_among_first(among, hand, hand, &hit)) return;
    for (double off = lift_part * among->size; off < among->size; off *= -4) {
        flr_vec3 beside = flr_vec3_add_scaled(hand, off, hit.normal);
        if (fabs(off) > among->size) return;
        if (flr_among_any(among, beside, beside)) continue;
        proxy->position = beside;
        return;
    }
}

void flr_among_step(flr_proxy *proxy, const flr_among *among, flr_vec3 hand,
                    const flr_proxy_params *params, flr_among_result *result)
{
    flr_among_result out = {.proxy.valid = fabs(hand.x) <= far_out && fabs(hand.y) <= far_out &&
                                           fabs(hand.z) <= far_out};
    flr_proxy_result *r = &out.proxy;
    if (r->valid && !proxy->placed) place(proxy, among, hand);
    r->position = proxy->position;
    if (!r->valid) {
        *result = out;
        return;
    }
    frame f = {.among = among, .hand = hand, .at = proxy->position};
    f.lift = lift_part * among->size, f.still = still_part * among->size;
    f.path[f.path_count++] = f.at;
    r->touching = !follow(&f);
    if (r->touching) {
        r->depth = flr_vec3_distance(f.at, hand);
        if (proxy->touching && params->static_friction > 0) {
            double slid = path_length(&f);
            r->sticking = slid <= params->static_friction * r->depth;
            go_back(&f, r->sticking ? slid : fmin(params->dynamic_friction * r->depth, slid));
        }
        r->contact_count = f.plane_count;
        for (uint32_t i = 0; i < f.plane_count; i++) r->triangles[i] = f.planes[i].triangle;
        tell_force(&f, params, r);
        tell_pushes(&f, r->force, &out);
    }
    proxy->position = r->position = f.at;
    proxy->touching = r->touching;
    r->queries = f.queries;
    *result = out;
}

void flr_proxy_step(flr_proxy *proxy, const flr_probe_model *model, flr_vec3 hand,
                    const flr_proxy_params *params, flr_proxy_result *result)
{
    flr_among_part part = {.model = model};
    flr_among among = {.parts = &part, .count = 1, .size = model->size, .range = INFINITY};
    flr_among_result made;
    flr_among_step(proxy, &among, hand, params, &made);
    *result = made.proxy;
}
