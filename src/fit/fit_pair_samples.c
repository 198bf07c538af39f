/* samples near the other part: which triangle is nearest, and which samples are deep inside */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_query.h"
#include "fit/fit_triangle.h"

static bool has(const uint64_t *bits, uint32_t patch) { return bits[patch / 64] >> patch % 64 & 1; }

static bool is_touched(const flr_fit_pair *pair, int side, uint32_t patch)
{
    return has(pair->touched[side], patch);
}

/* a sample as the other part sees it */
static flr_vec3 seen(const flr_fit_query *q, int side, flr_vec3 point)
{
    return side ? flr_pose_apply(q->T_a_b, point) : flr_pose_apply_inverse(q->T_a_b, point);
}

/* What distances in single precision must stay below, but for the slack of what they are compared with. */
static float far_of(double distance2) { return (float)(sqrt(distance2) * (1 + 2e-7)); }

static inline float limit2_of(float far, float slack)
{
    const float limit = far + slack;
    return limit * limit * (1 + 1e-6f);
}

bool flr_fit_create_lanes(flr_fit_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        const flr_fit *part = pair->parts[side];
        uint32_t groups = 0;
        pair->first_lanes[side] = malloc(part->counts.patches * sizeof *pair->first_lanes[side]);
        if (!pair->first_lanes[side]) return false;
        for (uint32_t i = 0; i < part->counts.patches; i++) {
            pair->first_lanes[side][i] = groups;
            groups += (part->patches[i].samples + FLR_FIT_LANES - 1) / FLR_FIT_LANES;
        }
        flr_fit_lanes *lanes = aligned_alloc(64, (groups + 1) * sizeof *lanes);
        pair->lanes[side] = lanes;
        if (!lanes) return false;
        pair->bytes += part->counts.patches * sizeof(uint32_t) + (groups + 1) * sizeof *lanes;
        for (uint32_t i = 0; i < part->counts.patches; i++) {
            const flr_fit_patch *p = &part->patches[i];
            const uint32_t padded =
                (p->samples + FLR_FIT_LANES - 1) / FLR_FIT_LANES * FLR_FIT_LANES;
            for (uint32_t k = 0; k < padded; k++) {
                flr_fit_lanes *to = &lanes[pair->first_lanes[side][i] + k / FLR_FIT_LANES];
                const flr_vec3 at = flr_vec3_sub(
                    part->samples[p->first_sample + (k < p->samples ? k : 0)].point, p->centre);
                to->x[k % FLR_FIT_LANES] = (float)at.x;
                to->y[k % FLR_FIT_LANES] = (float)at.y;
                to->z[k % FLR_FIT_LANES] = (float)at.z;
            }
        }
    }
    return true;
}

/* Eight samples as the other part sees them. */
static void seen8(const flr_fit_query *q, int side, const flr_fit_eight *points, flr_fit_eight *to)
{
    if (side)
        flr_fit_apply8(q->T_a_b, points, to);
    else
        flr_fit_apply_inverse8(q->T_a_b, points, to);
}

/* By component: a vector that is stored in parts and read as a whole waits for all of them. */
static inline void put(flr_fit_eight *to, int i, const flr_vec3 *v)
{
    to->x[i] = v->x, to->y[i] = v->y, to->z[i] = v->z;
}

static inline void corners_of(const flr_fit *fit, uint32_t triangle, flr_vec3 t[3])
{
    for (int k = 0; k < 3; k++) t[k] = fit->vertices[fit->triangles[triangle].v[k]];
}

/* samples, each beside a triangle of the other part */
typedef struct trying {
    uint32_t sample[FLR_FIT_EIGHT], triangle[FLR_FIT_EIGHT];
    uint32_t count;
} trying;

/* Measures them. */
static void try_all(flr_fit_query *q, int side, trying *t)
{
    const flr_fit *part = q->parts[side], *other = q->parts[1 - side];
    flr_fit_eight corners[3], points, there, feet;
    double d2[FLR_FIT_EIGHT];
    float far[FLR_FIT_EIGHT];
    if (t->count == 0) return;
    for (uint32_t i = 0; i < FLR_FIT_EIGHT; i++) {
        const uint32_t k = i < t->count ? i : 0;
        const uint32_t *v = other->triangles[t->triangle[k]].v;
        for (int c = 0; c < 3; c++) put(&corners[c], (int)i, &other->vertices[v[c]]);
        put(&points, (int)i, &part->samples[t->sample[k]].point);
    }
    seen8(q, side, &points, &there);
    flr_fit_feet8(corners, &there, &feet, d2, far);
    q->work += 10 * (uint64_t)t->count;
    for (uint32_t i = 0; i < t->count; i++) {
        flr_fit_near *n = &q->pair->near[side][t->sample[i]];
        if (!(d2[i] < INFINITY)) {
            flr_vec3 all[3];
            corners_of(other, t->triangle[i], all);
            const flr_vec3 at = flr_fit_on_triangle(all, flr_fit_eight_get(&there, (int)i), &d2[i]);
            put(&feet, (int)i, &at);
            far[i] = far_of(d2[i]);
        }
        if (d2[i] < n->distance2 || (d2[i] == n->distance2 && t->triangle[i] < n->triangle)) {
            n->distance2 = d2[i], n->triangle = t->triangle[i];
            n->at.x = feet.x[i], n->at.y = feet.y[i], n->at.z = feet.z[i];
            q->pair->far[side][t->sample[i]] = far[i];
        }
    }
    t->count = 0;
}

static void try_sample(flr_fit_query *q, int side, uint32_t sample, uint32_t triangle, trying *t)
{
    t->sample[t->count] = sample;
    t->triangle[t->count++] = triangle;
    if (t->count == FLR_FIT_EIGHT) try_all(q, side, t);
}

/* The samples of a patch have found nothing yet. */
static void begin_finding(flr_fit_query *q, int side, uint32_t patch)
{
    const flr_fit_patch *mine = &q->parts[side]->patches[patch];
    flr_fit_near *near = q->pair->near[side] + mine->first_sample;
    q->pair->found[side][patch / 64] |= (uint64_t)1 << patch % 64;
    const double most2 = q->reach * q->reach;
    for (uint32_t i = 0; i < mine->samples; i++)
        near[i].distance2 = most2, near[i].triangle = FLR_NONE;
}

/* Up to 16 samples of a patch beside the faces of another: of each sample first the face that seems nearest, then those that may
 * still be nearer. */
static void try_sixteen(flr_fit_query *q, int side, uint32_t patch, uint32_t first, uint32_t count,
                        const flr_fit_patch *theirs, const flr_fit_lanes *there, double slack)
{
    const flr_fit *other = q->parts[1 - side];
    const flr_fit_face *faces = other->faces + theirs->first_face;
    const float *far = q->pair->far[side] + first, more = (float)(slack * (1 + 1e-6));
    float limit2[FLR_FIT_LANES], d2[FLR_FIT_LANES][FLR_FIT_LANES], best[FLR_FIT_LANES];
    int32_t at[FLR_FIT_LANES];
    uint16_t also[FLR_FIT_LANES];
    trying tries = {.count = 0};
    for (uint32_t i = 0; i < FLR_FIT_LANES; i++)
        limit2[i] = i < count ? limit2_of(far[i], more) : -1.0f;
    const uint32_t kept = q->kernel->near(other->planes + theirs->first_face, faces, theirs->faces,
                                          there, limit2, d2, best, at);
    q->work += 12;
    if (!kept) return;
    if (!has(q->pair->found[side], patch)) begin_finding(q, side, patch);
    for (uint32_t i = 0; i < count; i++) {
        if (at[i] < 0) continue;
        try_sample(q, side, first + i, faces[at[i]].triangle, &tries);
    }
    try_all(q, side, &tries);
    for (uint32_t i = 0; i < count; i++)
        if (at[i] >= 0) limit2[i] = limit2_of(far[i], more);
    q->kernel->nearer(kept, (const float(*)[FLR_FIT_LANES])d2, limit2, at, also);
    for (uint32_t left = kept; left; left &= left - 1) {
        const int f = __builtin_ctz(left);
        for (uint32_t k = also[f]; k; k &= k - 1)
            try_sample(q, side, first + (uint32_t)__builtin_ctz(k), faces[f].triangle, &tries);
    }
    try_all(q, side, &tries);
}

static void touch(flr_fit_query *q, int side, uint32_t patch)
{
    const flr_fit_patch *mine = &q->parts[side]->patches[patch];
    const float far = far_of(q->reach * q->reach);
    q->pair->touched[side][patch / 64] |= (uint64_t)1 << patch % 64;
    for (uint32_t i = 0; i < mine->samples; i++) q->pair->far[side][mine->first_sample + i] = far;
}

void flr_fit_try_samples(flr_fit_query *q, int side, uint32_t patch, uint32_t other,
                         const float shift[3], double slack)
{
    const flr_fit_patch *mine = &q->parts[side]->patches[patch],
                        *theirs = &q->parts[1 - side]->patches[other];
    const flr_fit_lanes *lanes = q->pair->lanes[side] + q->pair->first_lanes[side][patch];
    const float limit = (float)((q->reach + slack) * (1 + 1e-6));
    flr_fit_move move = q->turn[side];
    for (int k = 0; k < 3; k++) move.shift[k] = shift[k];
    if (!is_touched(q->pair, side, patch)) touch(q, side, patch);
    for (uint32_t from = 0; from < mine->samples; from += FLR_FIT_LANES) {
        const uint32_t left = mine->samples - from,
                       count = left < FLR_FIT_LANES ? left : FLR_FIT_LANES;
        flr_fit_lanes there;
        q->kernel->move(&move, lanes++, &there);
        if (q->kernel->within(theirs, &there, limit) & (((uint32_t)1 << count) - 1))
            try_sixteen(q, side, patch, mine->first_sample + from, count, theirs, &there, slack);
    }
}

/* ---- which side ---- */

/* Is a sample inside the other part? If that is closed and the surfaces do not meet, all samples of a shell are on the same side. */
static bool is_inside(const flr_fit_query *q, int side, uint32_t sample, const flr_fit_near *near,
                      flr_vec3 there, bool apart)
{
    const flr_fit *part = q->parts[side], *other = q->parts[1 - side];
    if (apart && q->params.outside) return false;
    if (!apart || !flr_fit_is_closed(other))
        return flr_fit_inside_by(other, there, near->at, near->triangle);
    const uint32_t vertex = part->triangles[part->samples[sample].triangle].v[0];
    const int8_t known = flr_fit_side_of_shell(q->pair, side, vertex);
    if (known) return known > 0;
    const bool inside = flr_fit_inside_by(other, there, near->at, near->triangle);
    flr_fit_tell_shell(q->pair, side, vertex, inside);
    return inside;
}

/* The side of a vertex of a patch that is not near the other part's surface. 2: other points of the patch may be on another
 * side, since the other part has a border. */
static int8_t side_at(flr_fit_query *q, int side, const flr_fit_patch *p, uint32_t vertex)
{
    const flr_fit *part = q->parts[side], *other = q->parts[1 - side];
    const flr_vec3 at = seen(q, side, part->vertices[vertex]);
    q->work += 100;
    if (flr_fit_is_closed(other)) return flr_fit_inside(other, at) ? 1 : -1;
    const flr_vec3 centre = seen(q, side, p->centre);
    const double radius = (double)p->radius, winding = fabs(flr_fit_winding(other, at));
    q->work += 2 * (uint64_t)other->counts.borders;
    if (!(flr_fit_winding_change(other, centre, radius) < fabs(winding - 0.5))) return 2;
    return winding > 0.5 ? 1 : -1;
}

/* Sets the sides of all vertices of a patch that is not near the other part's surface. Triangles that share a vertex are on
 * the same side; of those that hang on nothing whose side is known, a vertex is looked up. */
static void find_sides(flr_fit_query *q, int side, const flr_fit_patch *p)
{
    const flr_fit *part = q->parts[side];
    int8_t *sides = q->pair->side[side];
    const flr_fit_face *faces = part->faces + p->first_face;
    uint32_t left = ((uint32_t)1 << p->faces) - 1;
    q->work += 4;
    while (left) {
        const uint32_t before = left;
        for (uint32_t k = left; k; k &= k - 1) {
            const uint32_t *v = part->triangles[faces[__builtin_ctz(k)].triangle].v;
            int8_t known = 0;
            for (int i = 0; i < 3 && !known; i++) known = sides[v[i]];
            if (!known) continue;
            for (int i = 0; i < 3; i++) sides[v[i]] = known;
            left &= ~(k & -k);
        }
        if (left != before) continue;
        const uint32_t vertex = part->triangles[faces[__builtin_ctz(left)].triangle].v[0];
        sides[vertex] = side_at(q, side, p, vertex);
    }
}

/* The same for a part beside an open one: what holds near one patch does not hold near the next. */
static void find_own_sides(flr_fit_query *q, int side, const flr_fit_patch *p)
{
    const flr_fit *part = q->parts[side];
    for (uint32_t i = 0; i < p->faces; i++)
        for (int k = 0; k < 3; k++)
            q->pair->side[side][part->triangles[part->faces[p->first_face + i].triangle].v[k]] = 0;
    find_sides(q, side, p);
}

/* Notes a sample that may be inside without being near the surface of the other part. */
static void note_deep(flr_fit_query *q, int side, uint32_t sample, flr_fit_contact *contacts,
                      uint32_t capacity, flr_fit_result *result)
{
    const flr_fit *other = q->parts[1 - side];
    const flr_vec3 at = seen(q, side, q->parts[side]->samples[sample].point);
    q->work++;
    if (!flr_fit_may_be_inside(other, at)) return;
    q->work += 100;
    const flr_fit_point_result r = flr_fit_point(other, at, INFINITY);
    if (r.distance < 0)
        flr_fit_note_sample(q->parts, q->T_a_b, (uint32_t)side, sample, &r, &q->params, contacts,
                            capacity, result);
}

/* The samples of one part that are deep inside the other, in order. If the other one is closed, all patches that are wholly
 * inside or outside first tell the side of their vertices, which those near the surface share. False: the budget ran out. */
static bool note_all_deep(flr_fit_query *q, int side, flr_fit_contact *contacts, uint32_t capacity,
                          flr_fit_result *result)
{
    const flr_fit *part = q->parts[side];
    const bool closed = flr_fit_is_closed(q->parts[1 - side]);
    int8_t *sides = q->pair->side[side];
    memset(sides, 0, part->counts.vertices);
    for (uint32_t i = 0; i < part->counts.patches && closed; i++) {
        if (q->work > q->max_work) return false;
        if (!is_touched(q->pair, side, i)) find_sides(q, side, &part->patches[i]);
    }
    for (uint32_t i = 0; i < part->counts.patches; i++) {
        const flr_fit_patch *p = &part->patches[i];
        const bool touched = is_touched(q->pair, side, i), found = has(q->pair->found[side], i);
        if (q->work > q->max_work) return false;
        if (!closed && !touched) find_own_sides(q, side, p);
        for (uint32_t k = p->first_sample; k < p->first_sample + p->samples; k++) {
            const flr_fit_sample *s = &part->samples[k];
            const uint32_t vertex = touched ? s->vertex : part->triangles[s->triangle].v[0];
            if (found && q->pair->near[side][k].triangle != FLR_NONE) continue;
            if ((closed || !touched) && vertex != FLR_NONE && sides[vertex] < 0) continue;
            note_deep(q, side, k, contacts, capacity, result);
        }
    }
    return true;
}

/* Up to eight samples whose nearest triangles are known, all that a contact tells of them. */
typedef struct noted {
    flr_fit_eight points, nearest, normal; /* frame of a */
    double distance[FLR_FIT_EIGHT], error[FLR_FIT_EIGHT];
} noted;

/* Fills that of some samples. True: one of them is inside. */
static bool look_at_some(const flr_fit_query *q, int side, const uint32_t samples[], uint32_t count,
                         bool apart, noted *n)
{
    const flr_fit *part = q->parts[side], *other = q->parts[1 - side];
    const flr_fit_near *near = q->pair->near[side];
    flr_fit_eight there, feet, away;
    double length[FLR_FIT_EIGHT];
    bool any = false;
    for (uint32_t i = 0; i < FLR_FIT_EIGHT; i++) {
        const uint32_t k = samples[i < count ? i : 0];
        put(&n->points, (int)i, &part->samples[k].point);
        put(&feet, (int)i, &near[k].at);
    }
    seen8(q, side, &n->points, &there);
    flr_fit_directions8(&there, &feet, &away, length);
    for (uint32_t i = 0; i < count; i++) {
        const flr_fit_near *m = &near[samples[i]];
        const flr_vec3 at = {there.x[i], there.y[i], there.z[i]};
        const bool inside = is_inside(q, side, samples[i], m, at, apart);
        const double sign = inside ? -1 : 1;
        any |= inside;
        n->distance[i] = sign * sqrt(m->distance2);
        n->error[i] = flr_fit_rounding(q->extent[1 - side] + length[i]);
        if (away.x[i] == 0 && away.y[i] == 0 && away.z[i] == 0) {
            flr_vec3 t[3];
            corners_of(other, m->triangle, t);
            const flr_vec3 normal = flr_fit_direction(t, at, m->at, inside);
            put(&away, (int)i, &normal);
        } else if (inside) {
            away.x[i] = -away.x[i], away.y[i] = -away.y[i], away.z[i] = -away.z[i];
        }
    }
    if (side) {
        n->points = there, n->nearest = feet, n->normal = away;
        return any;
    }
    flr_fit_apply8(q->T_a_b, &feet, &n->nearest);
    flr_fit_rotate8(q->T_a_b.q, &away, &n->normal);
    for (int i = 0; i < FLR_FIT_EIGHT; i++)
        n->normal.x[i] = -n->normal.x[i], n->normal.y[i] = -n->normal.y[i],
        n->normal.z[i] = -n->normal.z[i];
    return any;
}

/* Notes some samples whose nearest triangles are known. True: one of them is inside. */
static bool note_some(flr_fit_query *q, int side, const uint32_t samples[], uint32_t count,
                      bool apart, flr_fit_contact *contacts, uint32_t capacity,
                      flr_fit_result *result)
{
    noted n;
    const bool inside = look_at_some(q, side, samples, count, apart, &n);
    for (uint32_t i = 0; i < count; i++) {
        const flr_fit_sample *from = &q->parts[side]->samples[samples[i]];
        flr_fit_contact one,
            *c = result->contact_count < capacity ? &contacts[result->contact_count] : &one;
        c->point.x = n.points.x[i], c->point.y = n.points.y[i], c->point.z = n.points.z[i];
        c->nearest.x = n.nearest.x[i], c->nearest.y = n.nearest.y[i], c->nearest.z = n.nearest.z[i];
        c->normal.x = n.normal.x[i], c->normal.y = n.normal.y[i], c->normal.z = n.normal.z[i];
        c->distance = n.distance[i], c->error = n.error[i], c->area = from->area;
        c->sample = samples[i], c->side = (uint32_t)side;
        c->triangle[side] = from->triangle;
        c->triangle[1 - side] = q->pair->near[side][samples[i]].triangle;
        flr_fit_note_contact(q->parts, c, &q->params, capacity, result);
    }
    return inside;
}

/* Notes the samples of a part that are near the other one's surface. True: one of them is inside. */
static bool note_near(flr_fit_query *q, int side, bool apart, flr_fit_contact *contacts,
                      uint32_t capacity, flr_fit_result *result)
{
    const flr_fit *part = q->parts[side];
    uint32_t samples[FLR_FIT_EIGHT], count = 0;
    bool inside = false;
    for (uint32_t word = 0; word < (part->counts.patches + 63) / 64; word++)
        for (uint64_t left = q->pair->found[side][word]; left; left &= left - 1) {
            const flr_fit_patch *p = &part->patches[word * 64 + (uint32_t)__builtin_ctzll(left)];
            for (uint32_t i = p->first_sample; i < p->first_sample + p->samples; i++) {
                if (q->pair->near[side][i].triangle == FLR_NONE) continue;
                samples[count++] = i;
                if (count < FLR_FIT_EIGHT) continue;
                inside |= note_some(q, side, samples, count, apart, contacts, capacity, result);
                count = 0;
            }
        }
    if (count) inside |= note_some(q, side, samples, count, apart, contacts, capacity, result);
    return inside;
}

void flr_fit_note_samples(flr_fit_query *q, flr_fit_contact *contacts, uint32_t capacity,
                          flr_fit_result *result)
{
    bool interfere = q->found && q->best.distance2 == 0;
    /* all triangles nearer than q->least were measured */
    const bool apart = q->params.max_distance > 0 && q->least > 0 && q->skipped2 == INFINITY;
    flr_fit_forget_shells(q->pair);
    for (int side = 0; side < 2; side++)
        interfere |= note_near(q, side, apart, contacts, capacity, result);
    if (!interfere && !q->params.outside)
        interfere = flr_fit_contains_shell(q, 0) || flr_fit_contains_shell(q, 1);
    if (!interfere) return;
    for (int side = 0; side < 2; side++)
        if (!note_all_deep(q, side, contacts, capacity, result)) result->complete = false;
}
