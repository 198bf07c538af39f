/* which patches of two parts are near each other: patches of one on their way through the tree of the other */
#include <math.h>

#include "fit/fit_query.h"

enum { FIT_LISTED = 512 /* entries of a's tree near eight patches of b, at most */ };

void flr_fit_visit(const flr_fit_query *q, uint32_t patch, flr_fit_visitor *v)
{
    const flr_fit_patch *p = &q->parts[1]->patches[patch];
    v->patch = patch;
    v->centre = flr_pose_apply(q->T_a_b, p->centre);
    q->kernel->move(&q->turn[1], &p->lanes, &v->lanes);
}

/* a box in the frame of a, enlarged by the limit */
typedef struct room {
    float low[3], high[3];
} room;

static room room_of(const flr_fit_query *q, const double centre[3], const double half[3])
{
    room r;
    for (int k = 0; k < 3; k++) {
        const double more = half[k] + q->limit + 1e-6 * (half[k] + fabs(centre[k]));
        /* finite, so that boxes that are not used stay outside */
        r.low[k] = (float)fmax(centre[k] - more, -(double)FLT_MAX);
        r.high[k] = (float)fmin(centre[k] + more, (double)FLT_MAX);
    }
    return r;
}

/* The room that box i of b needs in the frame of a. */
static room turned_room(const flr_fit_query *q, const flr_fit_boxes *b, int i)
{
    double low[3], high[3], half[3];
    for (int k = 0; k < 3; k++)
        low[k] = (double)b->low[k][i], high[k] = (double)b->high[k][i],
        half[k] = 0.5 * (high[k] - low[k]);
    const flr_vec3 middle =
        flr_pose_apply(q->T_a_b, flr_vec3_make(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]),
                                               0.5 * (low[2] + high[2])));
    double wide[3];
    for (int k = 0; k < 3; k++)
        wide[k] = fabs((double)q->turn[1].turn[k][0]) * half[0] +
                  fabs((double)q->turn[1].turn[k][1]) * half[1] +
                  fabs((double)q->turn[1].turn[k][2]) * half[2];
    return room_of(q, (const double[3]){middle.x, middle.y, middle.z}, wide);
}

/* Lists entries of the lowest level but one of a's tree that have something in a room (of the lowest where there is but
 * one level); FIT_LISTED + 1 when there are too many. */
static uint32_t list_entries(flr_fit_query *q, const room *r, uint32_t list[FIT_LISTED])
{
    const flr_fit *a = q->parts[0];
    struct {
        uint32_t level, entry;
    } stack[FLR_FIT_STACK];
    unsigned depth = 1;
    uint32_t count = 0;
    const uint32_t bottom = a->levels > 1 ? 1 : 0;
    stack[0].level = a->levels - 1, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        if (level == bottom) {
            if (count == FIT_LISTED) return FIT_LISTED + 1;
            list[count++] = entry;
            continue;
        }
        q->work++;
        uint32_t kept = q->kernel->boxes(&a->level[level][entry], r->low, r->high);
        for (; kept; kept &= kept - 1) {
            stack[depth].level = level - 1;
            stack[depth++].entry = entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept);
        }
    }
    return count;
}

/* The squared distance that a box of b keeps from the box of a. */
static double bound2_of(const flr_fit_query *q, const room *r)
{
    const flr_box3 box = q->parts[0]->info.bounds;
    const double low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double gap = fmax(
            fmax((double)r->low[k] + q->limit - high[k], low[k] - ((double)r->high[k] - q->limit)),
            0);
        sum += gap * gap;
    }
    return sum;
}

/* One patch of b with up to eight patches of a. */
static void walk_boxes(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, const room *r,
                       const flr_fit_visitor *v)
{
    uint32_t kept = q->kernel->boxes(&q->parts[0]->level[0][entry], r->low, r->high);
    q->work++;
    for (; kept; kept &= kept - 1) meet(q, entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept), v);
}

/* A patch of b, and the room that it needs. */
static room visit_room(const flr_fit_query *q, uint32_t patch, flr_fit_visitor *v)
{
    float low[3], high[3];
    flr_fit_visit(q, patch, v);
    q->kernel->bounds(&v->lanes, low, high);
    double centre[3] = {v->centre.x, v->centre.y, v->centre.z}, half[3];
    for (int k = 0; k < 3; k++) {
        half[k] = 0.5 * ((double)high[k] - (double)low[k]);
        centre[k] += 0.5 * ((double)high[k] + (double)low[k]);
    }
    return room_of(q, centre, half);
}

/* One patch of b with the patches of a in some entries. */
static void walk_patch(flr_fit_query *q, flr_fit_meet meet, uint32_t patch, const uint32_t list[],
                       uint32_t count)
{
    flr_fit_visitor v;
    const room r = visit_room(q, patch, &v);
    q->work += 2;
    for (uint32_t i = 0; i < count; i++) {
        if (q->parts[0]->levels == 1) {
            walk_boxes(q, meet, list[i], &r, &v);
            continue;
        }
        uint32_t kept = q->kernel->boxes(&q->parts[0]->level[1][list[i]], r.low, r.high);
        q->work++;
        for (; kept; kept &= kept - 1)
            walk_boxes(q, meet, list[i] * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(kept), &r, &v);
    }
}

/* Patches of b, up to eight of an entry, given by bits. */
static void walk_patches(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, uint32_t patches,
                         const room *r)
{
    uint32_t list[FIT_LISTED];
    const uint32_t count = list_entries(q, r, list);
    for (; patches; patches &= patches - 1) {
        const uint32_t patch = entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(patches);
        if (count <= FIT_LISTED) {
            walk_patch(q, meet, patch, list, count);
            continue;
        }
        /* too many at once: all of them one after the other */
        const uint32_t each = q->parts[0]->levels > 1 ? FLR_FIT_WIDE * FLR_FIT_WIDE : FLR_FIT_WIDE;
        const uint32_t all = (q->parts[0]->counts.patches + each - 1) / each;
        for (uint32_t k = 0; k < all; k += FIT_LISTED) {
            const uint32_t some = all - k < FIT_LISTED ? all - k : FIT_LISTED;
            for (uint32_t j = 0; j < some; j++) list[j] = k + j;
            walk_patch(q, meet, patch, list, some);
        }
    }
}

/* Bits of the patches of an entry of b's lowest level. */
static uint32_t patches_of(const flr_fit *b, uint32_t entry)
{
    const uint32_t left = b->counts.patches - entry * FLR_FIT_WIDE;
    return ((uint32_t)1 << (left < FLR_FIT_WIDE ? left : FLR_FIT_WIDE)) - 1;
}

static void add_room(room *all, const room *r)
{
    for (int k = 0; k < 3; k++) {
        all->low[k] = r->low[k] < all->low[k] ? r->low[k] : all->low[k];
        all->high[k] = r->high[k] > all->high[k] ? r->high[k] : all->high[k];
    }
}

/* The room of eight boxes. */
static room room_of_eight(const flr_fit_query *q, const flr_fit_boxes *boxes)
{
    room all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < FLR_FIT_WIDE && boxes->low[0][i] <= boxes->high[0][i]; i++) {
        const room r = turned_room(q, boxes, i);
        add_room(&all, &r);
    }
    return all;
}

bool flr_fit_walk_eight(flr_fit_query *q, flr_fit_meet meet, uint32_t entry, double far)
{
    flr_fit_lists *l = &q->pair->lists;
    uint32_t near = 0;
    room all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    q->work += 4;
    if (!flr_fit_ball_is_near(q, &l->eights[entry], far)) return false;
    if (!flr_fit_ball_is_near(q, &l->eights[entry], q->limit)) return true;
    for (uint32_t left = patches_of(q->parts[1], entry); left; left &= left - 1) {
        flr_fit_ball *ball = &l->balls[entry * FLR_FIT_WIDE + (uint32_t)__builtin_ctz(left)];
        q->work++;
        if (!flr_fit_ball_is_near(q, ball, q->limit)) continue;
        const flr_vec3 at = flr_pose_apply(q->T_a_b, ball->centre);
        const room r = room_of(q, (const double[3]){at.x, at.y, at.z},
                               (const double[3]){ball->radius, ball->radius, ball->radius});
        near |= left & -left;
        add_room(&all, &r);
    }
    if (near) walk_patches(q, meet, entry, near, &all);
    return true;
}

void flr_fit_walk(flr_fit_query *q, flr_fit_meet meet)
{
    const flr_fit *a = q->parts[0], *b = q->parts[1];
    struct {
        uint32_t level, entry;
        room room;
    } stack[FLR_FIT_STACK];
    unsigned depth = 1;
    stack[0].level = b->levels, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        const room from = stack[depth].room;
        if (q->work > q->max_work) {
            q->skipped2 = level < b->levels ? fmin(q->skipped2, bound2_of(q, &from)) : 0;
            continue;
        }
        if (level == 0) {
            walk_patches(q, meet, entry, patches_of(b, entry), &from);
            continue;
        }
        /* an entry of level - 1 or, at the top, the only one */
        const flr_fit_boxes *boxes = &b->level[level - 1][entry];
        if (level == 1) {
            stack[depth].level = 0, stack[depth].entry = entry;
            stack[depth++].room = room_of_eight(q, boxes);
            continue;
        }
        for (int i = 0; i < FLR_FIT_WIDE && boxes->low[0][i] <= boxes->high[0][i]; i++) {
            const room r = turned_room(q, boxes, i);
            q->work += 2;
            if (!q->kernel->boxes(&a->level[a->levels - 1][0], r.low, r.high)) continue;
            stack[depth].level = level - 1;
            stack[depth].entry = entry * FLR_FIT_WIDE + (uint32_t)i;
            stack[depth++].room = r;
        }
    }
}
