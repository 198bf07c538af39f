/* parts that are in each other at the start: recorded, tolerated, and forgotten when they have come free */
#include <math.h>
#include <string.h>

#include "world/tight_internal.h"

#define PLAY 0.25 /* of an overlap: it may grow by so much while a part is moved out … */

static bool is_pair(const flr_world_overlap *o, uint32_t a, uint32_t b)
{
    return (o->part_a == a && o->part_b == b) || (o->part_a == b && o->part_b == a);
}

static flr_world_overlap *find(flr_tight_state *state, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < state->overlap_count; i++)
        if (is_pair(&state->overlaps[i], a, b)) return &state->overlaps[i];
    return NULL;
}

double flr_tight_tolerated(const flr_world *w, uint32_t a, uint32_t b)
{
    const flr_world_overlap *o = find(flr_world_tight(w, w->state), a, b);
    return o ? o->tolerated : 0;
}

/* metres: how deep two parts were in each other when the world was made. */
static double designed(const flr_world *w, uint32_t a, uint32_t b)
{
    const flr_tight *e = w->tight;
    for (uint32_t i = 0; i < e->design_count; i++)
        if ((e->designs[i].a == a && e->designs[i].b == b) ||
            (e->designs[i].a == b && e->designs[i].b == a))
            return e->designs[i].depth;
    return 0;
}

/* … and by what keeps parts apart where they are not in each other */
static double play_of(const flr_world *w, double depth)
{
    return PLAY * depth + 2 * w->params.exact.onset + 2 * FLR_TIGHT_FLOOR;
}

/* Keeps an overlap, in place of an older one of the same parts. */
static double keep(flr_world *w, uint32_t a, uint32_t b, const flr_fit_result *r)
{
    flr_tight_state *state = flr_world_tight(w, w->state);
    flr_world_overlap *o = find(state, a, b);
    if (!o && state->overlap_count == FLR_WORLD_OVERLAPS) return 0;
    if (!o) o = &state->overlaps[state->overlap_count++];
    double depth = r->distance < 0 ? -r->distance : 0;
    const double design = designed(w, a, b);
    if (depth <= design + play_of(w, design)) depth = fmax(depth, design);
    const double play = play_of(w, depth);
    *o =
        (flr_world_overlap){.part_a = a,
                            .part_b = b,
                            .depth = depth,
                            .tolerated = fmin(w->params.exact.overlap, depth + play),
                            .point = flr_pose_apply(w->state->bodies[a].T_world_part, r->point[0])};
    return o->tolerated;
}

double flr_tight_note(flr_world *w, uint32_t a, uint32_t b, const flr_fit_result *r)
{
    flr_tight_state *state = flr_world_tight(w, w->state);
    flr_world_overlap *o = find(state, a, b);
    if (!r->complete) return o ? o->tolerated : 0;
    bool within = r->distance < FLR_TIGHT_FLOOR; /* surfaces that meet are no gap to be kept */
    if (within && (state->fresh[a] || state->fresh[b])) return keep(w, a, b, r);
    if (o && r->lower > FLR_TIGHT_FLOOR) o->tolerated = 0;
    return o ? o->tolerated : 0;
}

void flr_tight_settle(flr_world *w)
{
    flr_tight_state *state = flr_world_tight(w, w->state);
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (w->plans[i].moves) state->fresh[i] = 0;
}

static void record(flr_world *w, uint32_t a, uint32_t b, const flr_fit_result *r)
{
    flr_tight *e = w->tight;
    const double most = w->params.exact.overlap,
                 edges = flr_tight_depth(e->parts[a].fit, e->parts[b].fit,
                                         flr_tight_between(w->poses[a], w->poses[b]), most);
    if (e->design_count < FLR_WORLD_OVERLAPS)
        e->designs[e->design_count++] = (flr_tight_design){a, b, fmax(edges, -r->distance)};
    keep(w, a, b, r);
}

void flr_tight_record(flr_world *w)
{
    flr_tight *e = w->tight;
    for (uint32_t b = 0; e && b < e->part_count; b++)
        for (uint32_t a = 0; a < e->part_count; a++) {
            const flr_tight_part *pa = &e->parts[a], *pb = &e->parts[b];
            bool twice = w->kinds[a] != FLR_PART_STATIC && a > b;
            if (a == b || twice || w->kinds[b] == FLR_PART_STATIC || !pa->fit || !pb->fit) continue;
            if (!flr_links_may_touch(w, a, b)) continue;
            flr_pose T_a = w->poses[a], T_b = w->poses[b];
            flr_box3 box_a = flr_box3_transform(T_a, flr_fit_get_info(pa->fit).bounds),
                     box_b = flr_box3_transform(T_b, flr_fit_get_info(pb->fit).bounds);
            if (!flr_box3_overlap(box_a, box_b)) continue;
            flr_fit_params ask = flr_default_fit_params();
            flr_fit_result r;
            ask.reach = -1;
            ask.max_distance = FLR_TIGHT_FLOOR;
            flr_fit_pair *fits = flr_tight_any_slot(e, a, b);
            flr_fit_pair_query(fits, flr_tight_between(T_a, T_b), &ask, NULL, 0, &r);
            flr_fit_pair_restore(fits, NULL);
            if (r.distance < FLR_TIGHT_FLOOR) record(w, a, b, &r);
        }
}

void flr_tight_renew(flr_world *w, uint32_t part)
{
    flr_tight_state *state = flr_world_tight(w, w->state);
    if (!state) return;
    state->fresh[part] = 1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->overlap_count; i++)
        if (state->overlaps[i].part_a != part && state->overlaps[i].part_b != part)
            state->overlaps[kept++] = state->overlaps[i];
    state->overlap_count = kept;
}

bool flr_tight_state_is_valid(const flr_tight *e, const void *bytes)
{
    const uint8_t *at = bytes, *fresh = at + offsetof(flr_tight_state, fresh);
    uint32_t count, unused;
    memcpy(&count, at, sizeof count);
    memcpy(&unused, at + offsetof(flr_tight_state, unused), sizeof unused);
    if (count > FLR_WORLD_OVERLAPS || unused != 0) return false;
    for (uint32_t i = 0; i < count; i++) {
        flr_world_overlap o;
        memcpy(&o, at + offsetof(flr_tight_state, overlaps) + i * sizeof o, sizeof o);
        if (o.part_a >= e->part_count || o.part_b >= e->part_count || o.part_a == o.part_b ||
            !(o.depth >= 0) || !isfinite(o.depth) || !(o.tolerated >= 0) ||
            !isfinite(o.tolerated) || !flr_vec3_is_finite(o.point))
            return false;
    }
    for (uint32_t i = 0; i < e->part_count; i++)
        if (fresh[i] > 1) return false;
    return flr_tight_memories_are_valid(e, at);
}

static uint32_t number_of(const flr_world *w, const uint32_t *before, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (before[i] == part) return i;
    return FLR_NO_PART;
}

void flr_tight_adopt(flr_world *w, const flr_world *from, const uint32_t *before)
{
    flr_tight_state *state = flr_world_tight(w, w->state);
    if (!state) return;
    const flr_tight_state *old = flr_world_tight(from, from->state);
    /* new parts are where they are put; what was recorded when this world was made is of other places */
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (w->kinds[i] != FLR_PART_STATIC) flr_tight_renew(w, i);
    for (uint32_t i = 0; old && i < old->overlap_count; i++) {
        flr_world_overlap o = old->overlaps[i];
        o.part_a = number_of(w, before, o.part_a);
        o.part_b = number_of(w, before, o.part_b);
        if (o.part_a == FLR_NO_PART || o.part_b == FLR_NO_PART) continue;
        state->overlaps[state->overlap_count++] = o;
    }
    for (uint32_t i = 0; old && i < w->def.part_count; i++)
        if (before[i] < from->def.part_count) state->fresh[i] = old->fresh[before[i]];
}

const flr_world_overlap *flr_world_overlaps(const flr_world *w, uint32_t *count)
{
    const flr_tight_state *state = flr_world_tight(w, w->state);
    *count = state ? state->overlap_count : 0;
    return *count ? state->overlaps : NULL;
}
