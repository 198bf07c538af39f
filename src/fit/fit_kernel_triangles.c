/* 16 pairs of triangles at a time: how far apart, in single precision
 *
 * Sides with sides and corners over insides, as in mesh/nearest.c, without branches. Where a side may pass through an
 * inside the distance is 0. Two sides that are nearly parallel have their nearest points anywhere in single precision;
 * what that may cost is subtracted. */
#include <math.h>

#include "fit/fit_query.h"
#include "voxel/clones.h"

enum { N = FLR_FIT_LANES };

typedef float lanes[N];
typedef const float (*corner)[N]; /* x, y, z */

/* Of the squared length m of the longer side: what single precision may add to a squared distance, at most. The place s on one
 * side is off by some 4 e m m / den, where e stands for a few roundings of 6e-8, which adds den / vv times its square;
 * that on the other side is off by e m / vv. Neither adds more than a few roundings of m, because s is within the side. */
static const float ASTRAY2 = 1e-6f, ASTRAY_S = 4e-12f, ASTRAY_T = 1e-12f;

static inline float clamp01(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static inline float smaller(float a, float b) { return a < b ? a : b; }
static inline float larger(float a, float b) { return a > b ? a : b; }

/* Squared distances of the sides p + s u and q + t v, less what may be lost. */
static inline __attribute__((always_inline)) void sides(corner p0, corner p1, corner q0, corner q1,
                                                        lanes least2, lanes nearest[4])
{
    for (int i = 0; i < N; i++) {
        const float ux = p1[0][i] - p0[0][i], uy = p1[1][i] - p0[1][i], uz = p1[2][i] - p0[2][i];
        const float vx = q1[0][i] - q0[0][i], vy = q1[1][i] - q0[1][i], vz = q1[2][i] - q0[2][i];
        const float rx = p0[0][i] - q0[0][i], ry = p0[1][i] - q0[1][i], rz = p0[2][i] - q0[2][i];
        const float uu = ux * ux + uy * uy + uz * uz, vv = vx * vx + vy * vy + vz * vz,
                    uv = ux * vx + uy * vy + uz * vz, ur = ux * rx + uy * ry + uz * rz,
                    vr = vx * rx + vy * ry + vz * rz;
        const float den = uu * vv - uv * uv;
        float s = clamp01((uv * vr - ur * vv) / (den > 0 ? den : 1));
        const float free = (uv * s + vr) / (vv > 0 ? vv : 1), t = clamp01(free);
        const float again = clamp01((uv * t - ur) / (uu > 0 ? uu : 1));
        s = t == free ? s : again;
        const float x = rx + s * ux - t * vx, y = ry + s * uy - t * vy, z = rz + s * uz - t * vz;
        const float m = larger(uu, vv), shorter = smaller(uu, vv);
        const float share = (ASTRAY_T + ASTRAY_S * (m * (m / (den > 0 ? den : 1)))) *
                            (m / (shorter > 0 ? shorter : 1));
        const float lost = m * (den > 0 && shorter > 0 ? smaller(share, ASTRAY2) : ASTRAY2);
        const float d2 = x * x + y * y + z * z;
        const int nearer = d2 < nearest[3][i];
        nearest[0][i] = nearer ? x : nearest[0][i];
        nearest[1][i] = nearer ? y : nearest[1][i];
        nearest[2][i] = nearer ? z : nearest[2][i];
        nearest[3][i] = nearer ? d2 : nearest[3][i];
        least2[i] = smaller(least2[i], d2 - lost);
    }
}

/* The corners of one triangle over the other: squared distances, and whether they lie on both sides of its plane. */
static inline __attribute__((always_inline)) void over(const lanes t[9], const lanes other[9],
                                                       lanes least2, lanes both)
{
    for (int i = 0; i < N; i++) {
        const float ux = t[3][i] - t[0][i], uy = t[4][i] - t[1][i], uz = t[5][i] - t[2][i];
        const float vx = t[6][i] - t[0][i], vy = t[7][i] - t[1][i], vz = t[8][i] - t[2][i];
        const float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        const float nn = nx * nx + ny * ny + nz * nz, one = nn > 0 ? 1 / nn : 0;
        float low = INFINITY, high = -INFINITY, best = least2[i];
        for (int k = 0; k < 9; k += 3) {
            const float wx = other[k][i] - t[0][i], wy = other[k + 1][i] - t[1][i],
                        wz = other[k + 2][i] - t[2][i];
            const float h = nx * wx + ny * wy + nz * wz;
            /* barycentric coordinates: (w x v) n and (u x w) n */
            const float a = ((wy * vz - wz * vy) * nx + (wz * vx - wx * vz) * ny +
                             (wx * vy - wy * vx) * nz) *
                            one,
                        b = ((uy * wz - uz * wy) * nx + (uz * wx - ux * wz) * ny +
                             (ux * wy - uy * wx) * nz) *
                            one;
            low = smaller(low, h), high = larger(high, h);
            const float d2 = h * h * one;
            const float out = smaller(smaller(a, b), 1 - a - b);
            best = out >= 0 ? smaller(best, d2) : best;
        }
        least2[i] = best;
        both[i] = low <= 0 && high >= 0 ? both[i] : 0;
    }
}

/* How far they are apart along the line between the nearest points of their sides. That is as much as there is where long sides
 * are nearly parallel and single precision does not tell where they are nearest. What rounding makes of products is subtracted. */
static inline __attribute__((always_inline)) void along(const lanes a[9], const lanes b[9],
                                                        lanes nearest[4], lanes least2)
{
    for (int i = 0; i < N; i++) {
        const float x = nearest[0][i], y = nearest[1][i], z = nearest[2][i],
                    length2 = x * x + y * y + z * z;
        float low_a = INFINITY, high_a = -INFINITY, low_b = INFINITY, high_b = -INFINITY, size2 = 0;
        for (int k = 0; k < 9; k += 3) {
            const float at_a = x * a[k][i] + y * a[k + 1][i] + z * a[k + 2][i],
                        at_b = x * b[k][i] + y * b[k + 1][i] + z * b[k + 2][i];
            const float size2_a = a[k][i] * a[k][i] + a[k + 1][i] * a[k + 1][i] +
                                  a[k + 2][i] * a[k + 2][i],
                        size2_b = b[k][i] * b[k][i] + b[k + 1][i] * b[k + 1][i] +
                                  b[k + 2][i] * b[k + 2][i];
            low_a = smaller(low_a, at_a), high_a = larger(high_a, at_a);
            low_b = smaller(low_b, at_b), high_b = larger(high_b, at_b);
            size2 = larger(size2, larger(size2_a, size2_b));
        }
        const float between = larger(low_a - high_b, low_b - high_a),
                    apart = between / sqrtf(length2 > 1e-30f ? length2 : 1) * (1 - 1e-6f) -
                            2e-6f * sqrtf(size2);
        least2[i] = apart > 0 ? larger(least2[i], apart * apart * (1 - 1e-6f)) : least2[i];
    }
}

FLR_CLONES static void least_of_16(const lanes a[9], const lanes b[9], lanes least2)
{
    lanes both, nearest[4];
    for (int i = 0; i < N; i++) {
        least2[i] = nearest[3][i] = INFINITY, both[i] = 1;
        for (int k = 0; k < 3; k++) nearest[k][i] = 0;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sides(a + 3 * i, a + 3 * ((i + 1) % 3), b + 3 * k, b + 3 * ((k + 1) % 3), least2,
                  nearest);
    over(a, b, least2, both);
    over(b, a, least2, both);
    for (int i = 0; i < N; i++) least2[i] = both[i] > 0 ? 0 : larger(least2[i], 0);
    along(a, b, nearest, least2);
}

/* Apart from the clones: clang finds those from their own file only. */
void flr_fit_triangles16(const lanes a[9], const lanes b[9], lanes least2)
{
    least_of_16(a, b, least2);
}
