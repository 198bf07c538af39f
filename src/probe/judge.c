/* does a segment hit a triangle? */
#include "probe/judge.h"

#include <math.h>

#include "probe/exact_segment.h"

/* A product of three differences of doubles, six of them summed, is wrong by less than 48 roundings of the product of the
 * largest differences. What lies below `tiny` may have lost more, by underflow. Beyond `enormous` nothing is tried here. */
static const double rounding = 64 * 0x1p-53, tiny = 1e-200, enormous = 1e100;
/* t comes from double precision when its error is below this */
static const double t_error = 1e-9;

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double largest(flr_vec3 v) { return larger(larger(fabs(v.x), fabs(v.y)), fabs(v.z)); }

static inline int sign_of(long double x) { return (x > 0) - (x < 0); }

bool flr_judge_has_area(const flr_vec3 v[3])
{
    flr_vec3 e = flr_vec3_sub(v[1], v[0]), f = flr_vec3_sub(v[2], v[0]);
    if (largest(flr_vec3_cross(e, f)) > rounding * largest(e) * largest(f) + tiny) return true;
    for (int axis = 0; axis < 3; axis++)
        if (flr_exact_area(v[0], v[1], v[2], (axis + 1) % 3, (axis + 2) % 3) != 0) return true;
    return false;
}

/* ---- in one plane ---- */

/* A segment in the plane of the triangle, seen along an axis that the triangle does not contain. */
static bool judge_flat(const flr_vec3 v[3], flr_vec3 a, flr_vec3 b, double *t)
{
    int u = 0, w = 0, turn = 0;
    for (int axis = 0; axis < 3 && turn == 0; axis++) {
        u = (axis + 1) % 3, w = (axis + 2) % 3;
        turn = sign_of(flr_exact_area(v[0], v[1], v[2], u, w));
    }
    if (turn == 0) return false; /* no area */

    long double at_a[3], at_b[3];
    bool inside = true;
    for (int i = 0; i < 3; i++) {
        flr_vec3 p = v[i], q = v[(i + 1) % 3];
        at_a[i] = flr_exact_area(p, q, a, u, w) * turn;
        at_b[i] = flr_exact_area(p, q, b, u, w) * turn;
        inside &= at_a[i] >= 0;
    }
    if (inside) {
        *t = 0;
        return true;
    }
    /* it enters through an edge that it is not in line with: at a corner there is one, too */
    bool hit = false;
    double first = 1;
    for (int i = 0; i < 3; i++) {
        if (sign_of(at_a[i]) * sign_of(at_b[i]) > 0 || (at_a[i] == 0 && at_b[i] == 0)) continue;
        int p = sign_of(flr_exact_area(a, b, v[i], u, w)),
            q = sign_of(flr_exact_area(a, b, v[(i + 1) % 3], u, w));
        if (p * q > 0) continue;
        hit = true;
        first = fmin(first, (double)(at_a[i] / (at_a[i] - at_b[i])));
    }
    if (hit) *t = first;
    return hit;
}

/* ---- in space ---- */

/* Boxes that do not overlap: comparing is exact, and cheap. */
static bool apart(const flr_vec3 v[3], flr_vec3 a, flr_vec3 b)
{
    flr_vec3 low = flr_vec3_min(v[0], flr_vec3_min(v[1], v[2])), from = flr_vec3_min(a, b);
    flr_vec3 high = flr_vec3_max(v[0], flr_vec3_max(v[1], v[2])), to = flr_vec3_max(a, b);
    return low.x > to.x || low.y > to.y || low.z > to.z || high.x < from.x || high.y < from.y ||
           high.z < from.z;
}

/* Exact values for what double precision cannot tell. */
static bool judge_exactly(const flr_vec3 v[3], flr_vec3 a, flr_vec3 b, double *t)
{
    if (apart(v, a, b)) return false;
    long double above = flr_exact_volume(v[0], v[1], v[2], a),
                below = flr_exact_volume(v[0], v[1], v[2], b);
    if (above == 0 && below == 0) return judge_flat(v, a, b, t);
    if (sign_of(above) * sign_of(below) > 0) return false;
    bool left = false, right = false;
    for (int i = 0; i < 3; i++) {
        int side = sign_of(flr_exact_volume(v[i], v[(i + 1) % 3], b, a));
        left |= side > 0, right |= side < 0;
    }
    if (left && right) return false;
    *t = (double)(above / (above - below));
    return true;
}

/* Most triangles that are asked for are missed by an edge, so these come first. */
bool flr_judge(const flr_vec3 v[3], flr_vec3 a, flr_vec3 b, double *t)
{
    /* on which side of each edge the line passes: six times the volume over edge and segment */
    flr_vec3 along = flr_vec3_sub(b, a), p = flr_vec3_sub(v[0], a), q = flr_vec3_sub(v[1], a),
             r = flr_vec3_sub(v[2], a);
    double pq = flr_vec3_dot(along, flr_vec3_cross(p, q)),
           qr = flr_vec3_dot(along, flr_vec3_cross(q, r)),
           rp = flr_vec3_dot(along, flr_vec3_cross(r, p));
    double reach = larger(largest(p), larger(largest(q), largest(r))), length = largest(along);
    if (!(reach < enormous && length < enormous)) return judge_exactly(v, a, b, t);
    double error = rounding * length * reach * reach + tiny;
    double least = smaller(pq, smaller(qr, rp)), most = larger(pq, larger(qr, rp));
    if (least < -error && most > error) return false;

    /* the heights of both ends above the plane, times twice the area */
    flr_vec3 e = flr_vec3_sub(v[1], v[0]), f = flr_vec3_sub(v[2], v[0]), n = flr_vec3_cross(e, f);
    flr_vec3 to_b = flr_vec3_sub(b, v[0]);
    double area_error = rounding * largest(e) * largest(f);
    double above = -flr_vec3_dot(p, n), below = flr_vec3_dot(to_b, n);
    double above_error = area_error * largest(p) + tiny,
           below_error = area_error * largest(to_b) + tiny;
    if ((above > above_error && below > below_error) ||
        (above < -above_error && below < -below_error))
        return false;

    /* all signs are sure, and t is right enough */
    bool sure = (least > error || most < -error) && fabs(above) > above_error &&
                fabs(below) > below_error &&
                above_error + below_error <= t_error * fabs(above - below);
    if (!sure) return judge_exactly(v, a, b, t);
    *t = above / (above - below);
    return true;
}
