/* where joints are, how they move bodies, and how loops are kept closed */
#include <string.h>

#include "dynamics/mechanism.h"

#define SINGULAR 1e-7  /* of the largest: smaller pivots count as none */
#define CLOSED   1e-12 /* metres, or radians times the island's size: a loop that is closed */
enum { CLOSINGS = 12 };

/* ---- one joint ---- */

/* Side b in the frame of side a, where the joint is. */
static flr_pose pose_of(const flr_joint *j, const flr_joint_position *at)
{
    const flr_quat turned = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), at->turn);
    switch (j->kind) {
    case FLR_JOINT_REVOLUTE:
        return flr_pose_make(flr_vec3_zero(), turned);
    case FLR_JOINT_PRISMATIC:
        return flr_pose_make(flr_vec3_make(0, 0, at->slide), flr_quat_identity());
    case FLR_JOINT_CYLINDRICAL:
        return flr_pose_make(flr_vec3_make(0, 0, at->slide), turned);
    case FLR_JOINT_SCREW:
        return flr_pose_make(flr_vec3_make(0, 0, j->pitch * at->turn / FLR_TWO_PI), turned);
    case FLR_JOINT_PLANAR:
        return flr_pose_make(flr_vec3_make(at->across[0], at->across[1], 0), turned);
    case FLR_JOINT_BALL:
        return flr_pose_make(flr_vec3_zero(), at->q);
    case FLR_JOINT_FIXED:
    case FLR_JOINT_KINDS:
        break;
    }
    return flr_pose_identity();
}

/* World's frame of one side of a joint. */
static flr_pose side_pose(const flr_mechanism *m, uint32_t joint, int side,
                          const flr_pose *T_world_part)
{
    const uint32_t part = side ? m->joints[joint].b : m->joints[joint].a;
    if (part == FLR_JOINT_WORLD || m->fixed[part]) return m->T_side[side][joint];
    return flr_pose_mul(T_world_part[flr_mechanism_leader(m, part)], m->T_side[side][joint]);
}

flr_joint_position flr_mechanism_measure(const flr_mechanism *m, uint32_t joint,
                                         const flr_pose *T_world_part,
                                         const flr_joint_position *before)
{
    const flr_joint *j = &m->joints[joint];
    const flr_pose R = flr_pose_mul(flr_pose_inverse(side_pose(m, joint, 0, T_world_part)),
                                    side_pose(m, joint, 1, T_world_part));
    flr_joint_position at = {
        .slide = R.p.z, .across = {R.p.x, R.p.y}, .q = flr_quat_normalize(R.q)};
    if (j->kind == FLR_JOINT_BALL) {
        at.turn = flr_vec3_length(flr_quat_to_rotation_vector(at.q));
        return at;
    }
    double turn = 2 * flr_atan2(R.q.z, R.q.w);
    double near = before ? before->turn : 0;
    if (j->kind == FLR_JOINT_SCREW) near = FLR_TWO_PI * R.p.z / j->pitch;
    at.turn = turn + FLR_TWO_PI * round((near - turn) / FLR_TWO_PI);
    at.q = flr_quat_identity();
    return at;
}

/* What a joint does not allow: metres and radians, axes of side a. Returns how many numbers there are; the first
 * `*lengths` of them are lengths. `which` tells them: 0 … 2 x y z, 3 … 5 turns about these, 6 z less the turn's. */
static uint32_t defects(const flr_joint *j, flr_pose R, double turn, double *defect, int *which,
                        uint32_t *lengths)
{
    static const int kept[FLR_JOINT_KINDS][7] = {[FLR_JOINT_REVOLUTE] = {0, 1, 2, 3, 4, -1},
                                                 [FLR_JOINT_PRISMATIC] = {0, 1, 3, 4, 5, -1},
                                                 [FLR_JOINT_CYLINDRICAL] = {0, 1, 3, 4, -1},
                                                 [FLR_JOINT_SCREW] = {0, 1, 6, 3, 4, -1},
                                                 [FLR_JOINT_PLANAR] = {2, 3, 4, -1},
                                                 [FLR_JOINT_BALL] = {0, 1, 2, -1},
                                                 [FLR_JOINT_FIXED] = {-1}};
    const flr_vec3 z = flr_quat_rotate(R.q, flr_vec3_make(0, 0, 1));
    const flr_vec3 whole = flr_quat_to_rotation_vector(R.q);
    const double all[7] = {
        R.p.x, R.p.y, R.p.z, -z.y, z.x, whole.z, R.p.z - j->pitch * turn / FLR_TWO_PI};
    const double turned[3] = {whole.x, whole.y, whole.z};
    uint32_t count = 0;
    *lengths = 0;
    for (; kept[j->kind][count] >= 0; count++) {
        const int k = which[count] = kept[j->kind][count];
        defect[count] = j->kind == FLR_JOINT_PRISMATIC && k >= 3 && k < 6 ? turned[k - 3] : all[k];
        *lengths += k < 3 || k == 6;
    }
    return count;
}

void flr_mechanism_error(const flr_mechanism *m, uint32_t joint, const flr_pose *T_world_part,
                         double *length, double *angle)
{
    const flr_pose R = flr_pose_mul(flr_pose_inverse(side_pose(m, joint, 0, T_world_part)),
                                    side_pose(m, joint, 1, T_world_part));
    const flr_joint_position at = flr_mechanism_measure(m, joint, T_world_part, NULL);
    double defect[6];
    int which[6];
    uint32_t lengths, count = defects(&m->joints[joint], R, at.turn, defect, which, &lengths);
    *length = *angle = 0;
    for (uint32_t i = 0; i < count; i++) {
        double *sum = i < lengths ? length : angle;
        *sum = hypot(*sum, defect[i]);
    }
}

/* ---- columns ---- */

static flr_twist turning(flr_vec3 axis, flr_vec3 point, flr_vec3 origin)
{
    return flr_twist_make(axis, flr_vec3_cross(axis, flr_vec3_sub(origin, point)));
}

static flr_twist sliding(flr_vec3 axis) { return flr_twist_make(flr_vec3_zero(), axis); }

/* The freedoms of a joint: side b against side a. */
static uint32_t joint_columns(const flr_joint *j, flr_pose A, flr_pose B, flr_vec3 origin,
                              flr_twist *to)
{
    const flr_vec3 x = flr_quat_rotate(A.q, flr_vec3_make(1, 0, 0)),
                   y = flr_quat_rotate(A.q, flr_vec3_make(0, 1, 0)),
                   z = flr_quat_rotate(A.q, flr_vec3_make(0, 0, 1));
    switch (j->kind) {
    case FLR_JOINT_REVOLUTE:
        to[0] = turning(z, A.p, origin);
        return 1;
    case FLR_JOINT_PRISMATIC:
        to[0] = sliding(z);
        return 1;
    case FLR_JOINT_CYLINDRICAL:
        to[0] = turning(z, A.p, origin);
        to[1] = sliding(z);
        return 2;
    case FLR_JOINT_SCREW:
        to[0] = flr_twist_add(turning(z, A.p, origin),
                              flr_twist_scale(sliding(z), j->pitch / FLR_TWO_PI));
        return 1;
    case FLR_JOINT_PLANAR:
        to[0] = sliding(x);
        to[1] = sliding(y);
        to[2] = turning(z, B.p, origin);
        return 3;
    case FLR_JOINT_BALL:
        to[0] = turning(x, A.p, origin);
        to[1] = turning(y, A.p, origin);
        to[2] = turning(z, A.p, origin);
        return 3;
    case FLR_JOINT_FIXED:
    case FLR_JOINT_KINDS:
        break;
    }
    return 0;
}

void flr_mechanism_columns(const flr_mechanism *m, uint32_t island, const flr_pose *T_world_part,
                           const flr_vec3 *centres, flr_vec3 origin, flr_twist *columns)
{
    const flr_mechanism_island *of = &m->islands[island];
    for (uint32_t k = of->first_body; k < of->first_body + of->body_count; k++) {
        const flr_mechanism_body *body = &m->bodies[k];
        flr_twist *to = columns + body->first;
        if (body->joint == FLR_MECHANISM_NONE) {
            const flr_vec3 centre =
                flr_pose_apply(T_world_part[body->leader], centres[body->leader]);
            for (int i = 0; i < 3; i++) {
                const flr_vec3 axis = {i == 0, i == 1, i == 2};
                to[i] = turning(axis, centre, origin);
                to[3 + i] = sliding(axis);
            }
            continue;
        }
        joint_columns(&m->joints[body->joint], side_pose(m, body->joint, 0, T_world_part),
                      side_pose(m, body->joint, 1, T_world_part), origin, to);
        for (uint32_t i = 0; body->reversed && i < body->count; i++)
            to[i] = flr_twist_scale(to[i], -1);
    }
}

bool flr_mechanism_moves(const flr_mechanism *m, uint32_t body, uint32_t freedom)
{
    for (; body != FLR_MECHANISM_NONE; body = m->bodies[body].parent)
        if (freedom - m->bodies[body].first < m->bodies[body].count) return true;
    return false;
}

/* The motion of side b against side a at b's frame, axes of side a, for one freedom. */
static void relative_motion(const flr_mechanism *m, uint32_t joint, flr_pose A, flr_pose B,
                            uint32_t freedom, const flr_twist *column, flr_vec3 origin,
                            flr_vec3 *turn, flr_vec3 *shift)
{
    const flr_joint *j = &m->joints[joint];
    double share = 0;
    for (int side = 0; side < 2; side++) {
        const uint32_t part = side ? j->b : j->a;
        const uint32_t body = part == FLR_JOINT_WORLD ? FLR_MECHANISM_NONE : m->body_of[part];
        if (body != FLR_MECHANISM_NONE && flr_mechanism_moves(m, body, freedom))
            share += side ? 1 : -1;
    }
    const flr_vec3 velocity = flr_twist_velocity(*column, flr_vec3_sub(B.p, origin));
    *turn = flr_quat_rotate_inverse(A.q, flr_vec3_scale(column->angular, share));
    *shift = flr_quat_rotate_inverse(A.q, flr_vec3_scale(velocity, share));
}

void flr_mechanism_rate(const flr_mechanism *m, uint32_t joint, uint32_t component,
                        const flr_pose *T_world_part, const flr_twist *columns, flr_vec3 origin,
                        double *row)
{
    uint32_t island = 0;
    flr_mechanism_freedom(m, joint, &island);
    const flr_pose A = side_pose(m, joint, 0, T_world_part),
                   B = side_pose(m, joint, 1, T_world_part);
    for (uint32_t i = 0; i < m->islands[island].freedoms; i++) {
        flr_vec3 turn, shift;
        relative_motion(m, joint, A, B, i, &columns[i], origin, &turn, &shift);
        const double all[6] = {turn.x, turn.y, turn.z, shift.x, shift.y, shift.z};
        row[i] = all[component];
    }
}

/* ---- loops ---- */

/* The rows of all loops of an island and, behind each, what is to be undone. Lengths count by the island's size. */
static uint32_t loop_rows(const flr_mechanism *m, uint32_t island, const flr_pose *T_world_part,
                          const flr_twist *columns, flr_vec3 origin)
{
    const flr_mechanism_island *of = &m->islands[island];
    uint32_t rows = 0;
    for (uint32_t l = 0; l < of->loop_count; l++) {
        const uint32_t joint = m->loops[of->first_loop + l];
        const flr_joint *j = &m->joints[joint];
        const flr_pose A = side_pose(m, joint, 0, T_world_part),
                       B = side_pose(m, joint, 1, T_world_part);
        const flr_pose R = flr_pose_mul(flr_pose_inverse(A), B);
        const double angle = flr_mechanism_measure(m, joint, T_world_part, NULL).turn;
        double defect[6];
        int which[6];
        uint32_t lengths, count = defects(j, R, angle, defect, which, &lengths);
        for (uint32_t r = 0; r < count; r++)
            m->rows[rows + r][of->freedoms] = -defect[r] / (r < lengths ? of->size : 1);
        for (uint32_t i = 0; i < of->freedoms; i++) {
            flr_vec3 turn, shift;
            relative_motion(m, joint, A, B, i, &columns[i], origin, &turn, &shift);
            const double all[7] = {shift.x,
                                   shift.y,
                                   shift.z,
                                   turn.x,
                                   turn.y,
                                   turn.z,
                                   shift.z - j->pitch * turn.z / FLR_TWO_PI};
            for (uint32_t r = 0; r < count; r++)
                m->rows[rows + r][i] = all[which[r]] / (r < lengths ? of->size : 1);
        }
        rows += count;
    }
    return rows;
}

/* By how much a freedom moves things: a slide by a metre counts less than a turn by a radian in a small island. */
static double weight_of(const flr_mechanism_island *of, const flr_twist *column)
{
    return flr_vec3_length2(column->angular) > 0 ? 1 : of->size;
}

/* Gauss and Jordan with the largest pivot: afterwards each row says one freedom, pivot[row], by those that are none.
 * Returns how many rows do; the others say nothing. */
static uint32_t eliminate(const flr_mechanism *m, const flr_mechanism_island *of,
                          const flr_twist *columns, const bool *held, uint32_t rows,
                          uint32_t *pivot)
{
    const uint32_t n = of->freedoms;
    bool taken[FLR_MECHANISM_FREEDOMS] = {0};
    double largest = 0;
    uint32_t rank = 0;
    for (; rank < rows; rank++) {
        uint32_t row = rank, column = 0;
        double best = 0;
        for (uint32_t r = rank; r < rows; r++)
            for (uint32_t c = 0; c < n; c++) {
                if (taken[c] || (held && held[c])) continue;
                const double size = fabs(m->rows[r][c]) * weight_of(of, &columns[c]);
                if (size > best) best = size, row = r, column = c;
            }
        largest = fmax(largest, best);
        if (!(best > SINGULAR * largest) || !(best > 0)) break;
        for (uint32_t c = 0; c <= n; c++) {
            const double value = m->rows[row][c];
            m->rows[row][c] = m->rows[rank][c];
            m->rows[rank][c] = value;
        }
        const double by = m->rows[rank][column];
        for (uint32_t c = 0; c <= n; c++) m->rows[rank][c] /= by;
        for (uint32_t r = 0; r < rows; r++) {
            const double factor = m->rows[r][column];
            if (r == rank || factor == 0) continue;
            for (uint32_t c = 0; c <= n; c++) m->rows[r][c] -= factor * m->rows[rank][c];
        }
        taken[column] = true;
        pivot[rank] = column;
    }
    return rank;
}

uint32_t flr_mechanism_basis(const flr_mechanism *m, uint32_t island, const flr_pose *T_world_part,
                             const flr_twist *columns, flr_vec3 origin,
                             double (*basis)[FLR_MECHANISM_FREEDOMS])
{
    const flr_mechanism_island *of = &m->islands[island];
    uint32_t pivot[FLR_MECHANISM_FREEDOMS], count = 0;
    const uint32_t rows = loop_rows(m, island, T_world_part, columns, origin);
    const uint32_t rank = eliminate(m, of, columns, NULL, rows, pivot);
    for (uint32_t c = 0; c < of->freedoms; c++) {
        bool depends = false;
        for (uint32_t r = 0; r < rank; r++) depends |= pivot[r] == c;
        if (depends) continue;
        memset(basis[count], 0, sizeof basis[count]);
        basis[count][c] = 1;
        for (uint32_t r = 0; r < rank; r++) basis[count][pivot[r]] = -m->rows[r][c];
        count++;
    }
    return count;
}

/* ---- moving ---- */

/* A joint, so much farther. */
static void advance_joint(flr_joint_kind kind, const double *change, flr_joint_position *at)
{
    switch (kind) {
    case FLR_JOINT_PRISMATIC:
        at->slide += change[0];
        return;
    case FLR_JOINT_CYLINDRICAL:
        at->slide += change[1];
        at->turn += change[0];
        return;
    case FLR_JOINT_REVOLUTE:
    case FLR_JOINT_SCREW:
        at->turn += change[0];
        return;
    case FLR_JOINT_PLANAR:
        at->across[0] += change[0];
        at->across[1] += change[1];
        at->turn += change[2];
        return;
    case FLR_JOINT_BALL:
        at->q = flr_quat_normalize(flr_quat_mul(
            flr_quat_from_rotation_vector(flr_vec3_make(change[0], change[1], change[2])), at->q));
        at->turn = flr_vec3_length(flr_quat_to_rotation_vector(at->q));
        return;
    case FLR_JOINT_FIXED:
    case FLR_JOINT_KINDS:
        break;
    }
}

static void advance_free(const double *change, flr_vec3 centre, flr_pose *T)
{
    const flr_vec3 turn = {change[0], change[1], change[2]},
                   shift = {change[3], change[4], change[5]};
    const flr_vec3 at = flr_vec3_add(flr_pose_apply(*T, centre), shift);
    T->q = flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(turn), T->q));
    T->p = flr_vec3_sub(at, flr_quat_rotate(T->q, centre));
}

/* Puts the parts of an island where its tree and its free body say. */
static void place(const flr_mechanism *m, const flr_mechanism_island *of, const flr_vec3 *centres,
                  const double *change, flr_joint_position *positions, flr_pose *T)
{
    for (uint32_t k = of->first_body; k < of->first_body + of->body_count; k++) {
        const flr_mechanism_body *body = &m->bodies[k];
        if (body->joint == FLR_MECHANISM_NONE) {
            advance_free(change + body->first, centres[body->leader], &T[body->leader]);
            continue;
        }
        flr_joint_position *at = &positions[body->joint];
        advance_joint(m->joints[body->joint].kind, change + body->first, at);
        const flr_pose R = pose_of(&m->joints[body->joint], at);
        const flr_pose parent = side_pose(m, body->joint, body->reversed, T);
        const flr_pose own = m->T_side[!body->reversed][body->joint];
        flr_pose here = flr_pose_mul(flr_pose_mul(parent, body->reversed ? flr_pose_inverse(R) : R),
                                     flr_pose_inverse(own));
        here.q = flr_quat_normalize(here.q);
        T[body->leader] = here;
    }
    for (uint32_t i = 0; i < of->part_count; i++) {
        const uint32_t part = m->members[of->first_part + i],
                       leader = flr_mechanism_leader(m, part);
        if (part == leader) continue;
        T[part] = flr_pose_mul(T[leader], m->T_leader[part]);
        T[part].q = flr_quat_normalize(T[part].q);
    }
}

/* metres by which loops are open */
static double opening(const flr_mechanism *m, const flr_mechanism_island *of, const flr_pose *T)
{
    double most = 0;
    for (uint32_t l = 0; l < of->loop_count; l++) {
        double length, angle;
        flr_mechanism_error(m, m->loops[of->first_loop + l], T, &length, &angle);
        most = fmax(most, fmax(length, angle * of->size));
    }
    return most;
}

double flr_mechanism_advance(const flr_mechanism *m, uint32_t island, const flr_vec3 *centres,
                             const double *change, const bool *held, flr_joint_position *positions,
                             flr_pose *T_world_part)
{
    const flr_mechanism_island *of = &m->islands[island];
    place(m, of, centres, change, positions, T_world_part);
    if (of->loop_count == 0) return 0;
    double open = opening(m, of, T_world_part), before = INFINITY;
    for (int i = 0; i < CLOSINGS && open > CLOSED && open < 0.999 * before; i++) {
        flr_twist columns[FLR_MECHANISM_FREEDOMS];
        double more[FLR_MECHANISM_FREEDOMS] = {0};
        uint32_t pivot[FLR_MECHANISM_FREEDOMS];
        const flr_vec3 origin = T_world_part[m->bodies[of->first_body].leader].p;
        flr_mechanism_columns(m, island, T_world_part, centres, origin, columns);
        const uint32_t rows = loop_rows(m, island, T_world_part, columns, origin);
        const uint32_t rank = eliminate(m, of, columns, held, rows, pivot);
        for (uint32_t r = 0; r < rank; r++) more[pivot[r]] = m->rows[r][of->freedoms];
        place(m, of, centres, more, positions, T_world_part);
        before = open;
        open = opening(m, of, T_world_part);
    }
    for (uint32_t l = 0; l < of->loop_count; l++) {
        const uint32_t joint = m->loops[of->first_loop + l];
        positions[joint] = flr_mechanism_measure(m, joint, T_world_part, &positions[joint]);
    }
    return open;
}
