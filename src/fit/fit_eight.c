/* points and triangles eight at a time, in double precision, with the same bits as one by one */
#include <math.h>

#include "fit/fit_query.h"
#include "voxel/clones.h"

enum { N = FLR_FIT_EIGHT };

/* The steps of flr_fit_on_triangle(), as far as the foot on the plane matters. */
FLR_CLONES static void feet_of_8(const flr_fit_eight t[3], const flr_fit_eight *p,
                                 flr_fit_eight *foot, double d2[N], float far[N])
{
    for (int i = 0; i < N; i++) {
        const double ux = t[1].x[i] - t[0].x[i], uy = t[1].y[i] - t[0].y[i],
                     uz = t[1].z[i] - t[0].z[i], vx = t[2].x[i] - t[0].x[i],
                     vy = t[2].y[i] - t[0].y[i], vz = t[2].z[i] - t[0].z[i],
                     wx = p->x[i] - t[0].x[i], wy = p->y[i] - t[0].y[i], wz = p->z[i] - t[0].z[i];
        const double uu = ux * ux + uy * uy + uz * uz, uv = ux * vx + uy * vy + uz * vz,
                     vv = vx * vx + vy * vy + vz * vz, nx = uy * vz - uz * vy,
                     ny = uz * vx - ux * vz, nz = ux * vy - uy * vx,
                     nn = nx * nx + ny * ny + nz * nz, wu = wx * ux + wy * uy + wz * uz,
                     wv = wx * vx + wy * vy + wz * vz;
        const double x = (vv * wu - uv * wv) / nn, y = (uu * wv - uv * wu) / nn;
        const double ax = t[0].x[i] + x * ux, ay = t[0].y[i] + x * uy, az = t[0].z[i] + x * uz;
        const double bx = ax + y * vx, by = ay + y * vy, bz = az + y * vz;
        const double dx = p->x[i] - bx, dy = p->y[i] - by, dz = p->z[i] - bz;
        const double all = dx * dx + dy * dy + dz * dz;
        const int within = (nn > 0) & (x >= 0) & (y >= 0) & (x + y <= 1) & (nn > 1e-3 * uu * vv);
        foot->x[i] = bx, foot->y[i] = by, foot->z[i] = bz;
        d2[i] = within ? all : INFINITY;
        far[i] = (float)(sqrt(all) * (1 + 2e-7));
    }
}

/* Apart from the clones: clang finds those from their own file only. */
void flr_fit_feet8(const flr_fit_eight t[3], const flr_fit_eight *p, flr_fit_eight *foot,
                   double d2[FLR_FIT_EIGHT], float far[FLR_FIT_EIGHT])
{
    feet_of_8(t, p, foot, d2, far);
}

/* The steps of flr_quat_rotate(), of points less one vector and plus another. */
FLR_CLONES static void turn_8(const double q[4], const double less[3], const double plus[3],
                              const flr_fit_eight *from, flr_fit_eight *to)
{
    for (int i = 0; i < N; i++) {
        const double x = from->x[i] - less[0], y = from->y[i] - less[1], z = from->z[i] - less[2];
        const double tx = (q[2] * z - q[3] * y) * 2, ty = (q[3] * x - q[1] * z) * 2,
                     tz = (q[1] * y - q[2] * x) * 2;
        to->x[i] = plus[0] + ((x + q[0] * tx) + (q[2] * tz - q[3] * ty));
        to->y[i] = plus[1] + ((y + q[0] * ty) + (q[3] * tx - q[1] * tz));
        to->z[i] = plus[2] + ((z + q[0] * tz) + (q[1] * ty - q[2] * tx));
    }
}

/* adds nothing, not even the sign of a zero */
static const double no_shift[3] = {-0.0, -0.0, -0.0};

void flr_fit_apply8(flr_pose T, const flr_fit_eight *from, flr_fit_eight *to)
{
    const double q[4] = {T.q.w, T.q.x, T.q.y, T.q.z}, p[3] = {T.p.x, T.p.y, T.p.z},
                 none[3] = {0, 0, 0};
    turn_8(q, none, p, from, to);
}

void flr_fit_apply_inverse8(flr_pose T, const flr_fit_eight *from, flr_fit_eight *to)
{
    const double q[4] = {T.q.w, -T.q.x, -T.q.y, -T.q.z}, p[3] = {T.p.x, T.p.y, T.p.z};
    turn_8(q, p, no_shift, from, to);
}

void flr_fit_rotate8(flr_quat turn, const flr_fit_eight *from, flr_fit_eight *to)
{
    const double q[4] = {turn.w, turn.x, turn.y, turn.z}, none[3] = {0, 0, 0};
    turn_8(q, none, no_shift, from, to);
}

/* The steps of flr_vec3_normalize(). */
FLR_CLONES static void directions_of_8(const flr_fit_eight *p, const flr_fit_eight *at,
                                       flr_fit_eight *unit, double largest[N], double length[N])
{
    for (int i = 0; i < N; i++) {
        const double x = p->x[i] - at->x[i], y = p->y[i] - at->y[i], z = p->z[i] - at->z[i];
        const double ax = fabs(x), ay = fabs(y), az = fabs(z), yz = ay > az ? ay : az,
                     most = ax > yz ? ax : yz;
        const double bx = x / most, by = y / most, bz = z / most,
                     one = 1 / sqrt(bx * bx + by * by + bz * bz);
        unit->x[i] = bx * one, unit->y[i] = by * one, unit->z[i] = bz * one;
        largest[i] = most;
        length[i] = sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i]);
    }
}

void flr_fit_directions8(const flr_fit_eight *p, const flr_fit_eight *at, flr_fit_eight *unit,
                         double length[FLR_FIT_EIGHT])
{
    double largest[N];
    directions_of_8(p, at, unit, largest, length);
    for (int i = 0; i < N; i++) {
        if (largest[i] > 0 && largest[i] < INFINITY) continue;
        const flr_vec3 one =
            flr_vec3_normalize(flr_vec3_sub(flr_fit_eight_get(p, i), flr_fit_eight_get(at, i)));
        flr_fit_eight_set(unit, i, one);
    }
}
