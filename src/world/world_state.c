/* all that changes in a world, as bytes; and going on in another world */
#include <math.h>
#include <string.h>

#include "world/world_internal.h"

size_t flr_world_tight_offset(const flr_world *w)
{
    size_t plain =
        sizeof(flr_world_state) + w->def.part_count * (sizeof(flr_body) + sizeof(double) + 1);
    return (plain + 7) & ~(size_t)7;
}

size_t flr_world_state_size(const flr_world *w) { return w->state_size; }

void flr_world_save(const flr_world *w, void *state) { memcpy(state, w->state, w->state_size); }

/* ---- what others wrote ---- */

/* Where a hand and a remote coupling have what is true or false: as bytes from outside they may be neither, which C does not allow. */
#define HAND(member) offsetof(flr_world_hand_state, member)
static const size_t hand_flags[] = {HAND(seen),
                                    HAND(waiting),
                                    HAND(firm),
                                    HAND(coupling.pulled),
                                    HAND(passivity.begun),
                                    HAND(point.proxy.placed),
                                    HAND(point.proxy.touching),
                                    HAND(point.shown.touching),
                                    HAND(point.shown.sticking),
                                    HAND(point.shown.pinched)};
#define TIE(member) offsetof(flr_coupled, member)
static const size_t tie_flags[] = {
    TIE(set),         TIE(heard),          TIE(fresh),         TIE(def.mutual),     TIE(def.rest),
    TIE(shown.begun), TIE(shown.diverged), TIE(shown.settled), TIE(coupling.pulled)};

static bool are_flags(const uint8_t *bytes, const size_t *places, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) fine = fine && bytes[places[i]] <= 1;
    return fine;
}

/* Are these doubles numbers? */
static bool are_numbers(const void *from, size_t bytes)
{
    bool fine = true;
    for (size_t i = 0; i + sizeof(double) <= bytes; i += sizeof(double)) {
        double value;
        memcpy(&value, (const uint8_t *)from + i, sizeof value);
        fine = fine && isfinite(value);
    }
    return fine;
}

static bool hand_is_valid(const flr_world *w, const uint8_t *bytes)
{
    flr_world_hand_state hand;
    if (!are_flags(bytes, hand_flags, sizeof hand_flags / sizeof *hand_flags)) return false;
    memcpy(&hand, bytes, sizeof hand);
    if (hand.part != FLR_NO_PART &&
        (hand.part >= w->def.part_count || w->kinds[hand.part] == FLR_PART_STATIC))
        return false;
    /* one that waits takes its part with the next input */
    if (hand.waiting && (hand.part == FLR_NO_PART || hand.tool != FLR_TOOL_GRIP)) return false;
    return (hand.tool == FLR_TOOL_GRIP || hand.tool == FLR_TOOL_POINT) &&
           flr_point_is_valid(&hand.point, w->def.part_count) &&
           flr_pose_is_valid(hand.handle.T_world_handle) &&
           are_numbers(&hand.handle.twist, sizeof hand.handle.twist) &&
           are_numbers(&hand.coupling, offsetof(flr_coupling, pulled)) &&
           are_numbers(&hand.wrench, sizeof hand.wrench) &&
           are_numbers(&hand.passivity, offsetof(flr_passivity, held_count));
}

bool flr_world_load(flr_world *w, const void *from, size_t size)
{
    if (size != w->state_size) return false;
    const uint8_t *bytes = from;
    if (!are_numbers(bytes + offsetof(flr_world_state, travel), sizeof(double))) return false;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        flr_body body;
        memcpy(&body, bytes + sizeof(flr_world_state) + i * sizeof body, sizeof body);
        if (!flr_body_is_valid(&body)) return false;
    }
    for (size_t i = 0; i < FLR_WORLD_HANDS; i++)
        if (!hand_is_valid(w, bytes + offsetof(flr_world_state, hands) +
                                  i * sizeof(flr_world_hand_state)))
            return false;
    for (int i = 0; i < FLR_WORLD_REMOTE_COUPLINGS; i++) {
        flr_coupled coupling;
        const uint8_t *at =
            bytes + offsetof(flr_world_state, couplings) + (size_t)i * sizeof coupling;
        if (!are_flags(at, tie_flags, sizeof tie_flags / sizeof *tie_flags)) return false;
        memcpy(&coupling, at, sizeof coupling);
        if (!flr_coupled_is_valid(w, &coupling)) return false;
    }
    uint32_t end;
    memcpy(&end, bytes + offsetof(flr_world_state, coupling_end), sizeof end);
    if (end > FLR_WORLD_REMOTE_COUPLINGS) return false;
    if (w->tight && !flr_tight_state_is_valid(w->tight, bytes + flr_world_tight_offset(w)))
        return false;
    if (!flr_links_state_is_valid(w->links, bytes + size - flr_links_state_size(w->links)))
        return false;
    const uint8_t *ghosts =
        bytes + sizeof(flr_world_state) + w->def.part_count * (sizeof(flr_body) + sizeof(double));
    for (uint32_t i = 0; i < w->def.part_count; i++) flr_world_set_solid(w, i, !ghosts[i]);
    memcpy(w->state, from, size);
    flr_tight_loaded(w);
    for (uint32_t i = 0; i < w->def.part_count; i++) flr_world_tell_pairs(w, i);
    flr_pairs_reset_coherent(w->pairs);
    return true;
}

/* Ties of parts that are gone are not set any more. */
static void adopt_ties(flr_world *w, const flr_world *from, const uint32_t *before)
{
    const uint8_t *ghosts = flr_world_ghosts(from->state, from->def.part_count);
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (before[i] < from->def.part_count && ghosts[before[i]]) flr_world_set_solid(w, i, false);
    for (uint32_t t = 0; t < from->state->coupling_end; t++) {
        flr_coupled *coupling = &w->state->couplings[t];
        uint32_t part = 0;
        *coupling = from->state->couplings[t];
        while (part < w->def.part_count && before[part] != coupling->def.part) part++;
        coupling->set &= part < w->def.part_count && w->kinds[part] != FLR_PART_STATIC;
        coupling->def.part = coupling->shown.part = part;
    }
    w->state->coupling_end = from->state->coupling_end;
}

void flr_world_adopt(flr_world *w, const flr_world *from, const uint32_t *before)
{
    const flr_world_state *old = from->state;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        if (before[i] >= from->def.part_count || w->kinds[i] == FLR_PART_STATIC) continue;
        w->state->bodies[i].T_world_part = old->bodies[before[i]].T_world_part;
        w->state->bodies[i].twist = old->bodies[before[i]].twist;
    }
    uint32_t hands =
        w->def.hand_count < from->def.hand_count ? w->def.hand_count : from->def.hand_count;
    for (uint32_t h = 0; h < hands; h++) {
        flr_world_hand_state *hand = &w->state->hands[h];
        *hand = old->hands[h];
        hand->point = flr_point_none(); /* begins anew where the hand is */
        w->guides[h] = from->guides[h];
        w->guided[h] = from->guided[h];
        uint32_t part = 0;
        if (hand->part == FLR_NO_PART) continue;
        while (part < w->def.part_count && before[part] != hand->part) part++;
        bool still = part < w->def.part_count && w->kinds[part] != FLR_PART_STATIC;
        hand->part = still ? part : FLR_NO_PART;
        if (still) continue;
        hand->waiting = false;
        hand->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    }
    adopt_ties(w, from, before);
    flr_tight_adopt(w, from, before);
    flr_links_adopt(w, from);
    w->state->number = old->number;
    w->state->hash = old->hash;
    w->state->travel = old->travel;
    for (uint32_t i = 0; i < w->def.part_count; i++) flr_world_tell_pairs(w, i);
}
