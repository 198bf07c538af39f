/* placements: rigid poses, and scales, shears and mirrors that belong to shapes */
#include "placement.h"

#include <math.h>

#include "feeler/mesh.h"

flr_matrix flr_matrix_identity(void)
{
    return (flr_matrix){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

flr_matrix flr_matrix_multiply(const flr_matrix *a, const flr_matrix *b)
{
    flr_matrix c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] +
                        a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
    return c;
}

double flr_matrix_determinant(const flr_matrix *a)
{
    return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
           a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
           a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}

/* unit quaternion of a turn, by the largest of its four components */
static flr_quat turn_of(double r[3][3])
{
    double squares[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                         1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
    int best = 0;
    for (int i = 1; i < 4; ++i)
        if (squares[i] > squares[best]) best = i;
    double a = r[2][1] - r[1][2], b = r[0][2] - r[2][0], c = r[1][0] - r[0][1];
    double d = r[1][0] + r[0][1], e = r[2][0] + r[0][2], f = r[2][1] + r[1][2];
    double rows[4][4] = {
        {squares[0], a, b, c}, {a, squares[1], d, e}, {b, d, squares[2], f}, {c, e, f, squares[3]}};
    double *q = rows[best];
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (q[0] < 0) length = -length;
    return (flr_quat){q[0] / length, q[1] / length, q[2] / length, q[3] / length};
}

flr_pose flr_matrix_pose(const flr_matrix *a, double unit)
{
    flr_pose pose = {{a->m[0][3] * unit, a->m[1][3] * unit, a->m[2][3] * unit}, {1, 0, 0, 0}};
    if (!(fabs(pose.p.x) <= FLR_MESH_MAX_COORDINATE && fabs(pose.p.y) <= FLR_MESH_MAX_COORDINATE &&
          fabs(pose.p.z) <= FLR_MESH_MAX_COORDINATE))
        return (flr_pose){{0, 0, 0}, {1, 0, 0, 0}};
    double r[3][3];
    for (int j = 0; j < 3; ++j) {
        double length =
            sqrt(a->m[0][j] * a->m[0][j] + a->m[1][j] * a->m[1][j] + a->m[2][j] * a->m[2][j]);
        if (!(length > 0) || !isfinite(length)) return pose;
        for (int i = 0; i < 3; ++i) r[i][j] = a->m[i][j] / length;
    }
    for (int j = 0; j < 3; ++j) {
        int k = (j + 1) % 3;
        if (fabs(r[0][j] * r[0][k] + r[1][j] * r[1][k] + r[2][j] * r[2][k]) > 1e-4) return pose;
    }
    if (flr_matrix_determinant(a) > 0) pose.q = turn_of(r);
    return pose;
}

flr_matrix flr_matrix_reshaping(const flr_matrix *a, const flr_pose *pose)
{
    flr_matrix change = *a;
    for (int i = 0; i < 3; ++i) change.m[i][3] = 0;
    flr_quat q = pose->q;
    double r[3][3] = {
        {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
        {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
        {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x),
         1 - 2 * (q.x * q.x + q.y * q.y)}};
    flr_matrix rest = {0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) rest.m[i][j] += r[k][i] * change.m[k][j];
    // single precision of the file: what is nearly identity is that
    double off = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) off = fmax(off, fabs(rest.m[i][j] - (i == j)));
    if (off < 1e-6) return flr_matrix_identity();
    return rest;
}
