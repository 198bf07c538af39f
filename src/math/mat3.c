/* vectors and 3x3 matrices: what is too long for the header */
#include "feeler/math.h"

#include "math/jacobi.h"

flr_vec3 flr_vec3_normalize(flr_vec3 a)
{
    /* by the largest component first, so that squares neither overflow nor vanish */
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!flr_vec3_is_finite(a) || largest == 0) return flr_vec3_zero();
    flr_vec3 b = flr_vec3_make(a.x / largest, a.y / largest, a.z / largest);
    return flr_vec3_scale(b, 1 / flr_vec3_length(b));
}

flr_vec3 flr_vec3_perpendicular(flr_vec3 a)
{
    flr_vec3 n = flr_vec3_normalize(a);
    if (flr_vec3_equal(n, flr_vec3_zero())) return flr_vec3_make(1, 0, 0);

    /* cross with the axis that is farthest from a */
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    flr_vec3 axis = x <= y && x <= z ? flr_vec3_make(1, 0, 0)
                    : y <= z         ? flr_vec3_make(0, 1, 0)
                                     : flr_vec3_make(0, 0, 1);
    return flr_vec3_normalize(flr_vec3_cross(n, axis));
}

/* the largest entry by amount */
static double largest_of(flr_mat3 m)
{
    double largest = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) largest = fmax(largest, fabs(m.m[i][j]));
    return largest;
}

bool flr_mat3_inverse(flr_mat3 m, flr_mat3 *inverse)
{
    /* brought to size one, so that products of entries stay in range */
    double size = largest_of(m);
    if (!flr_mat3_is_finite(m) || size == 0) return false;
    m = flr_mat3_scale(m, 1 / size);
    flr_vec3 a = flr_mat3_row(m, 0), b = flr_mat3_row(m, 1), c = flr_mat3_row(m, 2);

    double det = flr_mat3_det(m);
    double limit = 1e-14 * flr_vec3_length(a) * flr_vec3_length(b) * flr_vec3_length(c);
    if (!(fabs(det) > limit)) return false;

    flr_mat3 adjugate =
        flr_mat3_from_columns(flr_vec3_cross(b, c), flr_vec3_cross(c, a), flr_vec3_cross(a, b));
    *inverse = flr_mat3_scale(flr_mat3_scale(adjugate, 1 / det), 1 / size);
    return true;
}

void flr_mat3_eigen(flr_mat3 m, flr_vec3 *values, flr_mat3 *vectors)
{
    double size = largest_of(m);
    if (!flr_mat3_is_finite(m) || size == 0) {
        *values = flr_vec3_zero();
        *vectors = flr_mat3_identity();
        return;
    }

    /* at size one, and symmetric whatever the lower triangle says */
    double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX], v[FLR_JACOBI_MAX][FLR_JACOBI_MAX];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) a[i][j] = a[j][i] = m.m[i][j] / size;
    flr_jacobi(3, a, v);

    /* rising order, by three exchanges */
    int order[3] = {0, 1, 2};
    for (int pass = 0; pass < 3; pass++) {
        int i = pass == 1; /* 0-1, 1-2, 0-1 */
        if (a[order[i]][order[i]] > a[order[i + 1]][order[i + 1]]) {
            int swap = order[i];
            order[i] = order[i + 1];
            order[i + 1] = swap;
        }
    }
    flr_vec3 axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = flr_vec3_normalize(flr_vec3_make(v[0][order[i]], v[1][order[i]], v[2][order[i]]));
    if (flr_vec3_dot(flr_vec3_cross(axis[0], axis[1]), axis[2]) < 0)
        axis[2] = flr_vec3_neg(axis[2]);

    *values = flr_vec3_scale(
        flr_vec3_make(a[order[0]][order[0]], a[order[1]][order[1]], a[order[2]][order[2]]), size);
    *vectors = flr_mat3_from_columns(axis[0], axis[1], axis[2]);
}
