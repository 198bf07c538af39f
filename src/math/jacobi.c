/* the cyclic Jacobi method: slow for large matrices, exact to the last digits for small ones */
#include "math/jacobi.h"

#include <math.h>

/* one rotation in the plane (p, q) that makes a[p][q] vanish */
static void rotate(int n, double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX],
                   double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX], int p, int q)
{
    /* the smaller of the two angles that do it, tan = t; a huge theta gives t = 0 */
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int k = 0; k < n; k++) { /* columns p and q */
        double akp = a[k][p], akq = a[k][q];
        a[k][p] = c * akp - s * akq;
        a[k][q] = s * akp + c * akq;
    }
    for (int k = 0; k < n; k++) { /* rows p and q */
        double apk = a[p][k], aqk = a[q][k];
        a[p][k] = c * apk - s * aqk;
        a[q][k] = s * apk + c * aqk;
    }
    a[p][q] = a[q][p] = 0;
    for (int k = 0; k < n; k++) {
        double vkp = v[k][p], vkq = v[k][q];
        v[k][p] = c * vkp - s * vkq;
        v[k][q] = s * vkp + c * vkq;
    }
}

void flr_jacobi(int n, double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX],
                double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX])
{
    enum { JACOBI_SWEEPS = 16 }; /* convergence is quadratic: five or six do in practice */

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) v[i][j] = i == j;

    for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
        double off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) off += fabs(a[p][q]);
        if (off == 0) return;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                /* entries below the rounding of their diagonal neighbours are zero */
                double floor = 1e-18 * (fabs(a[p][p]) + fabs(a[q][q]));
                if (fabs(a[p][q]) <= floor)
                    a[p][q] = a[q][p] = 0;
                else
                    rotate(n, a, v, p, q);
            }
        }
    }
}
