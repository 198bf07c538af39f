/* mat6.h: symmetric 6x6 matrices over twists: the first three rows angular, the last three linear.
 *
 * A twist is about the body's centre of mass; the point at `arm` from there moves with
 * linear + angular x arm. Only the lower triangle is kept up to date and read. */
#ifndef FLR_DYNAMICS_MAT6_H
#define FLR_DYNAMICS_MAT6_H

#include <stdbool.h>

#include "feeler/math.h"

typedef struct flr_vec6 {
    double v[6];
} flr_vec6;

typedef struct flr_mat6 {
    double m[6][6]; /* lower triangle */
} flr_mat6;

static inline flr_vec6 flr_vec6_from(flr_vec3 angular, flr_vec3 linear)
{
    return (flr_vec6){{angular.x, angular.y, angular.z, linear.x, linear.y, linear.z}};
}

static inline flr_vec3 flr_vec6_angular(flr_vec6 a)
{
    return flr_vec3_make(a.v[0], a.v[1], a.v[2]);
}

static inline flr_vec3 flr_vec6_linear(flr_vec6 a) { return flr_vec3_make(a.v[3], a.v[4], a.v[5]); }

static inline double flr_vec6_dot(flr_vec6 a, flr_vec6 b)
{
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += a.v[i] * b.v[i];
    return sum;
}

/* a + factor b. */
static inline flr_vec6 flr_vec6_add_scaled(flr_vec6 a, double factor, flr_vec6 b)
{
    for (int i = 0; i < 6; i++) a.v[i] += factor * b.v[i];
    return a;
}

/* Of a body: its tensor (world's axes, about the centre of mass) and its mass. */
static inline flr_mat6 flr_mat6_inertia(flr_mat3 tensor, double mass)
{
    flr_mat6 m = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k <= i; k++) m.m[i][k] = (tensor.m[i][k] + tensor.m[k][i]) / 2;
        m.m[3 + i][3 + i] = mass;
    }
    return m;
}

flr_vec6 flr_mat6_apply(const flr_mat6 *m, flr_vec6 a);

/* Adds factor a a^T. */
void flr_mat6_add_outer(flr_mat6 *m, double factor, flr_vec6 a);

/* Adds J^T c J, where J takes a twist to the velocity of the point at `arm` and c is symmetric. */
void flr_mat6_add_at(flr_mat6 *m, flr_vec3 arm, flr_mat3 c);

/* The Cholesky factor L of m = L L^T. False when m is not positive definite or not finite. */
bool flr_mat6_factor(const flr_mat6 *m, flr_mat6 *factor);

/* x of L L^T x = b; of L x = b; of L^T x = b. */
flr_vec6 flr_mat6_solve(const flr_mat6 *factor, flr_vec6 b);
flr_vec6 flr_mat6_solve_lower(const flr_mat6 *factor, flr_vec6 b);
flr_vec6 flr_mat6_solve_upper(const flr_mat6 *factor, flr_vec6 b);

#endif
