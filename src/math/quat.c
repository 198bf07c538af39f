/* quaternions: what is too long for the header */
#include "feeler/math.h"

#include "math/jacobi.h"

static flr_quat scaled(flr_quat q, double f)
{
    return flr_quat_make(q.w * f, q.x * f, q.y * f, q.z * f);
}

flr_quat flr_quat_normalize(flr_quat q)
{
    double largest = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
    if (!flr_quat_is_finite(q) || largest == 0) return flr_quat_identity();
    /* only outside this range do squares lose digits; inside, one root is enough */
    if (!(largest > 1e-100 && largest < 1e100))
        q = flr_quat_make(q.w / largest, q.x / largest, q.y / largest, q.z / largest);
    return scaled(q, 1 / sqrt(flr_quat_dot(q, q)));
}

flr_quat flr_quat_from_axis_angle(flr_vec3 axis, double angle)
{
    flr_vec3 n = flr_vec3_normalize(axis);
    if (flr_vec3_equal(n, flr_vec3_zero()) || !isfinite(angle)) return flr_quat_identity();
    double s = flr_sin(angle / 2);
    return flr_quat_make(flr_cos(angle / 2), s * n.x, s * n.y, s * n.z);
}

flr_quat flr_quat_from_rotation_vector(flr_vec3 r)
{
    double angle2 = flr_vec3_length2(r);
    if (!isfinite(angle2)) return flr_quat_identity();
    double angle = sqrt(angle2);

    /* sin(a/2)/a; the next term of the series, a^4/3840, is below rounding for a < 1e-4 */
    double s = angle < 1e-4 ? 0.5 - angle2 / 48 : flr_sin(angle / 2) / angle;
    return flr_quat_make(flr_cos(angle / 2), s * r.x, s * r.y, s * r.z);
}

flr_vec3 flr_quat_to_rotation_vector(flr_quat q)
{
    q = flr_quat_normalize(q);
    if (q.w < 0) q = scaled(q, -1);
    flr_vec3 v = flr_vec3_make(q.x, q.y, q.z);

    /* atan2 is exact at both ends, where acos and asin are not; angle/sine tends to 2 */
    double sine = flr_vec3_length(v);
    return flr_vec3_scale(v, sine < 1e-150 ? 2 : 2 * flr_atan2(sine, q.w) / sine);
}

flr_quat flr_quat_from_mat3(flr_mat3 m)
{
    /* The trace of R(q)^T M is the quadratic form q^T K q: its largest eigenvector is the
     * nearest rotation. No cases by sign, and equally exact for all turns. */
    double size = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) size = fmax(size, fabs(m.m[i][j]));
    if (!flr_mat3_is_finite(m) || size == 0) return flr_quat_identity();
    m = flr_mat3_scale(m, 1 / size);

    double k[FLR_JACOBI_MAX][FLR_JACOBI_MAX], v[FLR_JACOBI_MAX][FLR_JACOBI_MAX];
    double xx = m.m[0][0], yy = m.m[1][1], zz = m.m[2][2];
    k[0][0] = xx + yy + zz;
    k[1][1] = xx - yy - zz;
    k[2][2] = yy - xx - zz;
    k[3][3] = zz - xx - yy;
    k[0][1] = k[1][0] = m.m[2][1] - m.m[1][2];
    k[0][2] = k[2][0] = m.m[0][2] - m.m[2][0];
    k[0][3] = k[3][0] = m.m[1][0] - m.m[0][1];
    k[1][2] = k[2][1] = m.m[0][1] + m.m[1][0];
    k[1][3] = k[3][1] = m.m[0][2] + m.m[2][0];
    k[2][3] = k[3][2] = m.m[1][2] + m.m[2][1];
    flr_jacobi(4, k, v);

    int best = 0;
    for (int i = 1; i < 4; i++)
        if (k[i][i] > k[best][best]) best = i;
    flr_quat q = flr_quat_normalize(flr_quat_make(v[0][best], v[1][best], v[2][best], v[3][best]));
    return q.w < 0 ? scaled(q, -1) : q;
}

flr_mat3 flr_quat_to_mat3(flr_quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (flr_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                       {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                       {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

/* fa a + fb b, normalized */
static flr_quat blend(flr_quat a, double fa, flr_quat b, double fb)
{
    return flr_quat_normalize(flr_quat_make(fa * a.w + fb * b.w, fa * a.x + fb * b.x,
                                            fa * a.y + fb * b.y, fa * a.z + fb * b.z));
}

flr_quat flr_quat_nlerp(flr_quat a, flr_quat b, double t)
{
    return blend(a, 1 - t, b, flr_quat_dot(a, b) < 0 ? -t : t);
}

/* half the angle between two orientations, from a half-sine and a half-cosine: exact for
 * near and for opposite ones alike */
static double half_angle(flr_quat a, flr_quat b)
{
    flr_quat minus = flr_quat_make(a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z);
    flr_quat plus = flr_quat_make(a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z);
    double near = sqrt(flr_quat_dot(minus, minus)), far = sqrt(flr_quat_dot(plus, plus));
    return 2 * flr_atan2(fmin(near, far), fmax(near, far));
}

flr_quat flr_quat_slerp(flr_quat a, flr_quat b, double t)
{
    if (flr_quat_dot(a, b) < 0) b = scaled(b, -1);
    double angle = half_angle(a, b);
    if (angle < 1e-5) return flr_quat_nlerp(a, b, t); /* they differ by less than rounding */
    return blend(a, flr_sin((1 - t) * angle), b, flr_sin(t * angle));
}

double flr_quat_angle(flr_quat a, flr_quat b) { return 2 * half_angle(a, b); }
