/* contacts of one body, column by column */
#include "world/tight_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "world/tight_kernel.h"

#define POINT_LANES ((uint32_t)FLR_TIGHT_LANES)

enum { COLUMNS = 14 };

/* All columns of numbers. */
static void list_columns(flr_tight_points *p, float **columns[COLUMNS])
{
    int at = 0;
    for (int k = 0; k < 3; k++) columns[at++] = &p->arm[k];
    for (int k = 0; k < 6; k++) columns[at++] = &p->j[k];
    columns[at++] = &p->away;
    columns[at++] = &p->depth;
    columns[at++] = &p->limit;
    columns[at++] = &p->stiffness;
    columns[at++] = &p->room;
}

bool flr_tight_points_create(flr_tight_points *p, uint32_t capacity)
{
    float **columns[COLUMNS];
    *p = (flr_tight_points){.capacity = (capacity + POINT_LANES - 1) / POINT_LANES * POINT_LANES};
    bool there = (p->keys = flr_prefaulted_calloc(p->capacity, sizeof *p->keys)) != NULL;
    list_columns(p, columns);
    for (int i = 0; i < COLUMNS; i++)
        there &= (*columns[i] = flr_prefaulted_calloc(p->capacity, sizeof **columns[i])) != NULL;
    return there;
}

void flr_tight_points_destroy(flr_tight_points *p)
{
    float **columns[COLUMNS];
    list_columns(p, columns);
    for (int i = 0; i < COLUMNS; i++) free(*columns[i]);
    free(p->keys);
}

flr_tight_points flr_tight_points_from(const flr_tight_points *p, uint32_t first, uint32_t count)
{
    flr_tight_points view = *p;
    float **columns[COLUMNS];
    list_columns(&view, columns);
    for (int i = 0; i < COLUMNS; i++) *columns[i] += first;
    view.keys += first;
    view.count = count;
    view.capacity -= first;
    return view;
}

uint32_t flr_tight_points_pad(const flr_tight_points *p)
{
    const uint32_t end = (p->count + POINT_LANES - 1) / POINT_LANES * POINT_LANES;
    for (uint32_t i = p->count; i < end; i++) {
        for (int k = 0; k < 6; k++) p->j[k][i] = 0;
        for (int k = 0; k < 3; k++) p->arm[k][i] = 0;
        p->away[i] = p->depth[i] = p->stiffness[i] = 0;
        p->room[i] = p->limit[i] = INFINITY;
    }
    return end;
}

/* ---- motions ---- */

static void numbers_of(flr_twist twist, double x[6])
{
    x[0] = twist.angular.x, x[1] = twist.angular.y, x[2] = twist.angular.z;
    x[3] = twist.linear.x, x[4] = twist.linear.y, x[5] = twist.linear.z;
}

double flr_tight_points_measure(flr_tight_points *p, flr_twist twist, double dt)
{
    double x[6];
    float shift[6];
    numbers_of(twist, x);
    for (int k = 0; k < 6; k++) shift[k] = (float)(dt * x[k]);
    return (double)flr_tight_kernel_measure(p, flr_tight_points_pad(p), shift, (float)dt);
}

double flr_tight_points_closing(const flr_tight_points *p, flr_twist twist)
{
    double x[6];
    float speed[6];
    numbers_of(twist, x);
    for (int k = 0; k < 6; k++) speed[k] = (float)x[k];
    return (double)-flr_tight_kernel_least(p, flr_tight_points_pad(p), speed);
}

/* ---- several pairs of a body ---- */

/* Contacts as they concern the other part. */
static void reverse(const flr_tight_points *to, uint32_t first, const flr_tight_points *from,
                    float x, float y, float z)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const uint32_t at = first + i;
        const float ax = from->arm[0][i] + x, ay = from->arm[1][i] + y, az = from->arm[2][i] + z;
        const float nx = -from->j[3][i], ny = -from->j[4][i], nz = -from->j[5][i];
        to->arm[0][at] = ax, to->arm[1][at] = ay, to->arm[2][at] = az;
        to->j[0][at] = ay * nz - az * ny;
        to->j[1][at] = az * nx - ax * nz;
        to->j[2][at] = ax * ny - ay * nx;
        to->j[3][at] = nx, to->j[4][at] = ny, to->j[5][at] = nz;
    }
}

void flr_tight_points_append(flr_tight_points *to, const flr_tight_points *from, bool reversed,
                             flr_vec3 offset)
{
    const uint32_t first = to->count;
    const size_t bytes = from->count * sizeof(float);
    if (from->count == 0) return;
    to->count += from->count;
    memcpy(to->depth + first, from->depth, bytes);
    memcpy(to->limit + first, from->limit, bytes);
    memcpy(to->stiffness + first, from->stiffness, bytes);
    memset(to->away + first, 0, bytes);
    if (reversed) {
        reverse(to, first, from, (float)offset.x, (float)offset.y, (float)offset.z);
        return;
    }
    for (int k = 0; k < 3; k++) memcpy(to->arm[k] + first, from->arm[k], bytes);
    for (int k = 0; k < 6; k++) memcpy(to->j[k] + first, from->j[k], bytes);
}

/* For one contact: j · twist, and j · mobility j: how much the body gives way to a push there. */
static inline double speed_at(const double j[6], const double x[6])
{
    double sum = 0;
    for (int k = 0; k < 6; k++) sum += j[k] * x[k];
    return sum;
}

static inline double yield_at(const double j[6], const flr_mat6 *m)
{
    double sum = 0;
    for (int r = 0; r < 6; r++) {
        double row = 0.5 * m->m[r][r] * j[r];
        for (int c = 0; c < r; c++) row += m->m[r][c] * j[c];
        sum += 2 * row * j[r];
    }
    return sum;
}

void flr_tight_points_share(flr_tight_points *p, uint32_t first, const flr_tight_yield *body,
                            const flr_tight_yield *other, flr_vec3 offset)
{
    double own[6], their[6];
    numbers_of(body->twist, own);
    numbers_of(other->twist, their);
    for (uint32_t i = first; i < p->count; i++) {
        double j[6], k[6];
        for (int r = 0; r < 6; r++) j[r] = p->j[r][i];
        const flr_vec3 n = flr_tight_points_normal(p, i);
        const flr_vec3 turn = flr_vec3_cross(flr_vec3_add(flr_tight_points_arm(p, i), offset), n);
        k[0] = turn.x, k[1] = turn.y, k[2] = turn.z;
        for (int r = 3; r < 6; r++) k[r] = j[r];
        const double mine = yield_at(j, &body->mobility), theirs = yield_at(k, &other->mobility);
        const double share = theirs / (mine + theirs);
        const bool both = share > 0 && share < 1;
        const double away = speed_at(k, their);
        p->away[i] = (float)(both ? share * speed_at(j, own) + (1 - share) * away : away);
    }
}
