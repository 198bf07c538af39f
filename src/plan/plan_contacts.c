/* what the contacts around a pose leave free
 *
 * A surface point with normal n at r from a centre comes nearer by -(n·v + (r × n)·w) when the body turns with w and its
 * point at the centre moves with v. The sum of the squares of that, over all contacts, is a quadratic form of (w, v). Its
 * smallest eigenvalues belong to the motions that slip: along a peg, around a shaft, or along the thread of a bolt, with axis
 * and pitch. Its large ones say how to get into the middle of the play.
 *
 * The centre is that of the contacts, and turns count by the speed of points as far from it as the contacts are: whether a ring
 * slides along a bent tube does not depend on the arm that is fixed to the ring. */
#include "math/jacobi.h"
#include "plan/plan_tree.h"

/* of the stiffest motion's eigenvalue: */
#define SLIPS  0.01 /* below that a motion is free */
#define YIELDS 0.15 /* above that one has to give way */

typedef struct contact_sum {
    double rows[6][6];       /* of rows (r × n, n), r from the middle of the body, by weight */
    double row[6];           /* the rows alone */
    double short_row[6];     /* rows times distance */
    double weight, distance; /* the latter by weight */
    flr_vec3 place;          /* of r, by weight */
    double place2;
} contact_sum;

static void add_contact(contact_sum *sum, flr_vec3 r, flr_vec3 n, double distance, double weight)
{
    const flr_vec3 m = flr_vec3_cross(r, n);
    const double row[6] = {m.x, m.y, m.z, n.x, n.y, n.z};
    for (int k = 0; k < 6; k++) {
        for (int l = 0; l < 6; l++) sum->rows[k][l] += weight * row[k] * row[l];
        sum->row[k] += weight * row[k];
        sum->short_row[k] += weight * row[k] * distance;
    }
    sum->weight += weight;
    sum->distance += weight * distance;
    sum->place = flr_vec3_add_scaled(sum->place, weight, r);
    sum->place2 += weight * flr_vec3_length2(r);
}

/* A row about another centre: its moment less c × n, in units of the arm. */
static void shift(const double row[6], flr_vec3 c, double arm, double to[6])
{
    const flr_vec3 n = flr_vec3_make(row[3], row[4], row[5]), cn = flr_vec3_cross(c, n);
    to[0] = (row[0] - cn.x) / arm, to[1] = (row[1] - cn.y) / arm, to[2] = (row[2] - cn.z) / arm;
    to[3] = row[3], to[4] = row[4], to[5] = row[5];
}

/* The quadratic form about another centre. */
static void shift_form(const contact_sum *sum, flr_vec3 c, double arm,
                       double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX])
{
    double half[6][6], column[6], shifted[6];
    for (int k = 0; k < 6; k++) shift(sum->rows[k], c, arm, half[k]);
    for (int l = 0; l < 6; l++) {
        for (int k = 0; k < 6; k++) column[k] = half[k][l];
        shift(column, c, arm, shifted);
        for (int k = 0; k < 6; k++) a[k][l] = shifted[k];
    }
}

/* In a space of motions that slip alike, those that turn least come first: a round peg goes straight out. */
static void part_turns(double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX], const int *order, int count,
                       double slips[6][6])
{
    double m[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}}, u[FLR_JACOBI_MAX][FLR_JACOBI_MAX] = {{0}};
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = 0; k < 3; k++) m[i][j] += v[k][order[i]] * v[k][order[j]];
    flr_jacobi(count, m, u);
    bool used[6] = {false};
    for (int i = 0; i < count; i++) {
        int least = -1;
        for (int k = 0; k < count; k++)
            if (!used[k] && (least < 0 || m[k][k] < m[least][least])) least = k;
        used[least] = true;
        for (int k = 0; k < 6; k++) {
            slips[i][k] = 0;
            for (int j = 0; j < count; j++) slips[i][k] += v[k][order[j]] * u[j][least];
        }
    }
}

/* A motion of the contacts' centre as one of the body's. */
static flr_plan_twist twist_of(const flr_plan_freedom *f, const double x[6])
{
    const flr_vec3 turn = flr_vec3_scale(flr_vec3_make(x[0], x[1], x[2]), 1 / f->arm);
    return (flr_plan_twist){
        turn, flr_vec3_sub(flr_vec3_make(x[3], x[4], x[5]), flr_vec3_cross(turn, f->from_middle))};
}

static flr_plan_freedom solve(const flr_plan_space *s, const contact_sum *sum)
{
    flr_plan_freedom f = {0};
    double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX], v[FLR_JACOBI_MAX][FLR_JACOBI_MAX], slips[6][6];
    double row[6], short_row[6], centring[6] = {0};
    int order[6] = {0, 1, 2, 3, 4, 5}, free_count = 0;
    f.arm = 1;
    if (!(sum->weight > 0)) return f;
    f.from_middle = flr_vec3_scale(sum->place, 1 / sum->weight);
    f.arm = fmax(sqrt(fmax(sum->place2 / sum->weight - flr_vec3_length2(f.from_middle), 0)),
                 0.01 * s->radius);
    shift_form(sum, f.from_middle, f.arm, a);
    flr_jacobi(6, a, v);
    for (int i = 0; i < 6; i++)
        for (int k = i; k > 0 && a[order[k]][order[k]] < a[order[k - 1]][order[k - 1]]; k--) {
            const int swap = order[k];
            order[k] = order[k - 1], order[k - 1] = swap;
        }
    const double most = a[order[5]][order[5]];
    if (!(most > 0)) return f;
    while (free_count < 5 && a[order[free_count]][order[free_count]] < SLIPS * most) free_count++;
    if (free_count > 1) part_turns(v, order, free_count, slips);
    // where nothing slips freely, what slips best
    const int tried = free_count > 2 ? free_count : 2;
    for (int i = 0; i < tried; i++) {
        if (i >= free_count || free_count == 1)
            for (int k = 0; k < 6; k++) slips[i][k] = v[k][order[i]];
        f.slips[f.slip_count++] = twist_of(&f, slips[i]);
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) slips[0][k] = v[k][order[i]];
        f.axes[i] = twist_of(&f, slips[0]);
        f.presses[i] = fmax(a[order[i]][order[i]], 0) / most;
    }
    // towards equal distances
    const double mean = sum->distance / sum->weight;
    shift(sum->row, f.from_middle, f.arm, row);
    shift(sum->short_row, f.from_middle, f.arm, short_row);
    for (int i = free_count; i < 6; i++) {
        const int e = order[i];
        double along = 0;
        for (int k = 0; k < 6; k++) along += v[k][e] * (mean * row[k] - short_row[k]);
        for (int k = 0; k < 6; k++) centring[k] += v[k][e] * along / (a[e][e] + SLIPS * most);
    }
    f.centring = twist_of(&f, centring);
    f.centred = true;
    f.play = fmax(mean, 0);
    return f;
}

/* Face normal, frame of the fit; zero for a triangle without area. */
static flr_vec3 face_normal(const flr_fit *fit, uint32_t triangle)
{
    flr_vec3 c[3];
    flr_fit_triangle(fit, triangle, c);
    return flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(c[1], c[0]), flr_vec3_sub(c[2], c[0])));
}

/* How much a contact says about what the surfaces allow: less if it is far, and less if it is askew, as beyond the end of a
 * hole, where the nearest point is on its edge. `fits` are a and b, frame of a as in the contact. */
static double weight_of(const flr_fit_contact *c, const flr_fit *const fits[2], flr_pose T_a_b,
                        double reach)
{
    const double near = fmin(1 - c->distance / reach, 1);
    if (!(near > 0)) return 0;
    // a sample that is a vertex has many faces: then the face that is nearest to it counts
    const bool at_vertex = flr_fit_samples(fits[c->side])[c->sample].vertex != FLR_NONE;
    const uint32_t side = at_vertex ? !c->side : c->side;
    flr_vec3 n = face_normal(fits[side], c->triangle[side]);
    if (side) n = flr_pose_apply_vector(T_a_b, n);
    const double straight = flr_vec3_dot(n, c->normal), both = near * straight;
    return c->area * both * both * both * both;
}

flr_plan_freedom flr_plan_look_around(flr_plan_worker *worker, flr_pose T)
{
    flr_plan_space *s = worker->space;
    const flr_vec3 middle = flr_pose_apply(T, s->centre);
    const flr_plan_motion still = {T, T, s->centre};
    contact_sum sum = {0};
    flr_fit_params params = flr_default_fit_params();
    params.reach = 0.012 * s->size;
    params.max_distance = -1;
    for (uint32_t m = 0; m < s->moving_count; m++)
        for (uint32_t o = 0; o < s->obstacle_count; o++) {
            flr_fit_result r;
            if (!flr_plan_may_meet(s, &still, m, o, params.reach)) continue;
            flr_fit_pair *query = flr_plan_query_of(s, m, o);
            if (!query) continue;
            const flr_fit *fits[2] = {s->obstacles[o].fit, s->moving[m].fit};
            const flr_pose T_world = s->obstacles[o].T, T_a_b = flr_plan_relative(s, m, o, T);
            flr_fit_pair_query(query, T_a_b, &params, worker->contacts, FLR_PLAN_CONTACTS, &r);
            for (uint32_t i = 0; i < r.contact_count; i++) {
                const flr_fit_contact *c = &worker->contacts[i];
                const double weight = weight_of(c, fits, T_a_b, params.reach);
                if (weight > 0)
                    add_contact(&sum, flr_vec3_sub(flr_pose_apply(T_world, c->point), middle),
                                flr_pose_apply_vector(T_world, c->normal), c->distance, weight);
            }
        }
    return solve(s, &sum);
}

double flr_plan_alike(const flr_plan_freedom *freedom, flr_plan_twist a, flr_plan_twist b)
{
    const flr_vec3 va = flr_vec3_add(a.move, flr_vec3_cross(a.turn, freedom->from_middle)),
                   vb = flr_vec3_add(b.move, flr_vec3_cross(b.turn, freedom->from_middle));
    return flr_vec3_dot(va, vb) + freedom->arm * freedom->arm * flr_vec3_dot(a.turn, b.turn);
}

flr_plan_twist flr_plan_go_on(const flr_plan_freedom *freedom, flr_plan_twist by)
{
    const double size2 = flr_plan_alike(freedom, by, by);
    flr_plan_twist next = {flr_vec3_zero(), flr_vec3_zero()};
    if (!freedom->centred) return by;
    for (int k = 0; k < 6; k++) {
        const double along = flr_plan_alike(freedom, by, freedom->axes[k]) /
                             (1 + pow(freedom->presses[k] / YIELDS, 4));
        next.turn = flr_vec3_add_scaled(next.turn, along, freedom->axes[k].turn);
        next.move = flr_vec3_add_scaled(next.move, along, freedom->axes[k].move);
    }
    const double next2 = flr_plan_alike(freedom, next, next),
                 along = flr_plan_alike(freedom, next, by);
    // a motion that bends more than this leads elsewhere
    if (!(along > 0 && along * along > 0.5 * next2 * size2)) return by;
    const double scale = sqrt(size2 / next2);
    return (flr_plan_twist){flr_vec3_scale(next.turn, scale), flr_vec3_scale(next.move, scale)};
}
