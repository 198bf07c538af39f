/* symmetric 6x6 matrices over twists */
#include "dynamics/mat6.h"

flr_vec6 flr_mat6_apply(const flr_mat6 *m, flr_vec6 a)
{
    flr_vec6 r;
    for (int i = 0; i < 6; i++) {
        r.v[i] = 0;
        for (int k = 0; k < 6; k++) r.v[i] += (k <= i ? m->m[i][k] : m->m[k][i]) * a.v[k];
    }
    return r;
}

void flr_mat6_add_outer(flr_mat6 *m, double factor, flr_vec6 a)
{
    for (int i = 0; i < 6; i++) {
        double f = factor * a.v[i];
        for (int k = 0; k <= i; k++) m->m[i][k] += f * a.v[k];
    }
}

void flr_mat6_add_at(flr_mat6 *m, flr_vec3 arm, flr_mat3 c)
{
    /* with A = [arm]x the point's velocity is linear - A angular: blocks A c A^T, c A^T, c */
    flr_mat3 back = flr_mat3_transpose(flr_mat3_skew(arm));
    flr_mat3 low = flr_mat3_mul(c, back);
    flr_mat3 high = flr_mat3_mul(flr_mat3_skew(arm), low);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            m->m[3 + i][k] += low.m[i][k];
            if (k > i) continue;
            m->m[i][k] += high.m[i][k];
            m->m[3 + i][3 + k] += c.m[i][k];
        }
}

bool flr_mat6_factor(const flr_mat6 *m, flr_mat6 *factor)
{
    flr_mat6 l = {0};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) {
            double sum = m->m[i][k];
            for (int j = 0; j < k; j++) sum -= l.m[i][j] * l.m[k][j];
            if (k < i) {
                l.m[i][k] = sum / l.m[k][k];
                continue;
            }
            /* what rounding leaves of a pivot is nothing */
            if (!(sum > 1e-15 * m->m[i][i]) || !isfinite(sum)) return false;
            l.m[i][i] = sqrt(sum);
        }
    *factor = l;
    return true;
}

flr_vec6 flr_mat6_solve_lower(const flr_mat6 *factor, flr_vec6 b)
{
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) b.v[i] -= factor->m[i][k] * b.v[k];
        b.v[i] /= factor->m[i][i];
    }
    return b;
}

flr_vec6 flr_mat6_solve_upper(const flr_mat6 *factor, flr_vec6 b)
{
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++) b.v[i] -= factor->m[k][i] * b.v[k];
        b.v[i] /= factor->m[i][i];
    }
    return b;
}

flr_vec6 flr_mat6_solve(const flr_mat6 *factor, flr_vec6 b)
{
    return flr_mat6_solve_upper(factor, flr_mat6_solve_lower(factor, b));
}
