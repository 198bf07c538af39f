/* contact stiffness bounded in every direction */
#include "dynamics/bound.h"

#include "math/jacobi.h"

flr_wrench flr_bound_wrench(flr_wrench wrench, const flr_mat6 *stiffness, const flr_mat6 *inertia,
                            double dt)
{
    flr_mat6 l;
    if (!flr_mat6_factor(inertia, &l)) return wrench;

    /* a = dt^2 L^-1 K L^-T: first the columns of K, then the rows */
    double half[6][6], a[FLR_JACOBI_MAX][FLR_JACOBI_MAX], v[FLR_JACOBI_MAX][FLR_JACOBI_MAX];
    for (int k = 0; k < 6; k++) {
        flr_vec6 column;
        for (int i = 0; i < 6; i++)
            column.v[i] = dt * dt * (i >= k ? stiffness->m[i][k] : stiffness->m[k][i]);
        column = flr_mat6_solve_lower(&l, column);
        for (int i = 0; i < 6; i++) half[i][k] = column.v[i];
    }
    double trace = 0;
    for (int i = 0; i < 6; i++) {
        flr_vec6 row;
        for (int k = 0; k < 6; k++) row.v[k] = half[i][k];
        row = flr_mat6_solve_lower(&l, row);
        for (int k = 0; k < 6; k++) a[i][k] = row.v[k];
        trace += a[i][i];
    }
    if (!(trace > 1) || !isfinite(trace))
        return wrench; /* no eigenvalue is larger than their sum */
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++) a[i][k] = a[k][i] = (a[i][k] + a[k][i]) / 2;
    flr_jacobi(6, a, v);

    flr_vec6 z = flr_mat6_solve_lower(&l, flr_vec6_from(wrench.torque, wrench.force));
    for (int i = 0; i < 6; i++) {
        if (!(a[i][i] > 1)) continue;
        flr_vec6 e;
        for (int k = 0; k < 6; k++) e.v[k] = v[k][i];
        z = flr_vec6_add_scaled(z, (1 / a[i][i] - 1) * flr_vec6_dot(e, z), e);
    }
    flr_vec6 w = {0};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) w.v[i] += l.m[i][k] * z.v[k];
    return flr_wrench_make(flr_vec6_angular(w), flr_vec6_linear(w));
}
