/* what clients see: made of the newest snapshot of the loop, in control's thread, once for a frame and only when somebody asks.
 * Contacts with the merged static scene get the names of their parts here */
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "sim/snapshot.h"

/* Contacts with the merged static scene are given to parts by looking at all that are merged: so many looks for a view. */
enum { RESOLVES = 4096 };

static flr_part_id id_at(const flr_world_instance *instance, uint32_t index)
{
    return flr_part_id_of(instance->scene,
                          index < instance->count ? instance->ids[index] : FLR_ENGINE_NONE);
}

/* ---- contacts ---- */

/* Which of the merged parts a point touches; `looks` is what may still be spent. */
static uint32_t resolve(const flr_static_scene *g, flr_vec3 point, uint32_t *looks)
{
    uint32_t found = FLR_ENGINE_NONE;
    int least = 0;
    for (uint32_t i = 0; g && i<g->count && * looks> 0; i++, --*looks) {
        const flr_shape *shape = g->shapes[i];
        flr_vec3 at = flr_pose_apply_inverse(g->poses[i], point);
        if (flr_vec3_distance(at, shape->touch.middle) > shape->touch.radius + 16 * shape->voxel)
            continue;
        int mark = (int)flr_voxmap_mark(shape->voxmap, FLR_FIELD_SURFACE, at);
        if (mark == FLR_MARK_FREE || (found != FLR_ENGINE_NONE && mark >= least)) continue;
        found = g->ids[i];
        least = mark;
    }
    return found;
}

static bool is_hit(const uint64_t *hit, uint32_t index)
{
    return hit[index / 64] >> index % 64 & 1;
}

/* Names the contacts; what they are with counts as hit, too. */
static void show_contacts(const flr_snapshot *from, uint64_t *hit, flr_engine_state *to)
{
    const flr_world_instance *instance = from->instance;
    uint32_t looks = RESOLVES;
    for (uint32_t i = 0; i < from->contact_count; i++) {
        const flr_snapshot_contact *c = &from->contacts[i];
        bool merged = c->other == FLR_SNAPSHOT_STATIC;
        uint32_t other = merged ? resolve(from->merged, c->point, &looks) : instance->ids[c->other];
        uint32_t at = merged && other != FLR_ENGINE_NONE ? flr_world_instance_find(instance, other)
                                                         : FLR_ENGINE_NONE;
        if (at < instance->count) hit[at / 64] |= UINT64_C(1) << at % 64;
        to->contacts[i] =
            (flr_engine_contact){.point = c->point,
                                 .force = flr_vec3_scale(c->normal, c->stiffness * c->depth),
                                 .depth = c->depth,
                                 .part = id_at(instance, c->part),
                                 .other = flr_part_id_of(instance->scene, other)};
    }
    to->contacts_given = from->contact_count;
}

/* ---- hands and remote couplings ---- */

static void show_hands(const flr_snapshot *from, flr_engine_state *to)
{
    to->hand_count = from->hand_count;
    for (uint32_t h = 0; h < from->hand_count; h++) {
        const flr_snapshot_hand *hand = &from->hands[h];
        const flr_quat base = hand->map.def.T_world_base.q;
        flr_engine_hand_state *out = &to->hands[h];
        *out = (flr_engine_hand_state){.held = flr_part_id_of(from->instance->scene, hand->held),
                                       .touched = id_at(from->instance, hand->touched),
                                       .bits = hand->present ? FLR_WIRE_HAND_PRESENT : 0,
                                       .buttons = hand->buttons,
                                       .T_world_hand = hand->T_world_hand,
                                       .T_world_ghost = hand->T_world_hand,
                                       .T_part_hand = flr_pose_identity(),
                                       .wrench = {flr_quat_rotate(base, hand->sent.torque),
                                                  flr_quat_rotate(base, hand->sent.force)}};
        if (hand->grips) {
            out->T_part_hand = hand->T_part_hand;
            out->T_world_ghost =
                flr_pose_mul(hand->T_world_hand, flr_pose_inverse(hand->T_part_hand));
        }
        if (!hand->points) continue;
        out->bits |= FLR_WIRE_HAND_POINT;
        to->proxies[to->proxy_count++] =
            (flr_engine_proxy){.hand = flr_hand(h),
                               .part = id_at(from->instance, hand->proxy.part),
                               .point = hand->proxy.position,
                               .normal = hand->proxy.normal,
                               .force = hand->proxy.force,
                               .depth = hand->proxy.depth,
                               .sticking = hand->proxy.sticking};
    }
}

static void show_couplings(const flr_snapshot *from, flr_engine_state *to)
{
    to->coupling_count = from->coupling_count;
    for (uint32_t i = 0; i < from->coupling_count; i++) {
        const flr_snapshot_coupling *c = &from->couplings[i];
        const flr_remote_coupling *w = &c->is;
        to->couplings[i] =
            (flr_engine_coupling_state){.coupling = c->coupling,
                                        .part = flr_part_id_of(from->instance->scene, c->part),
                                        .stretch = w->stretch,
                                        .angle = flr_vec3_length(w->turn),
                                        .delay = c->delay,
                                        .stiffness = w->stiffness,
                                        .force = flr_vec3_length(w->wrench.force),
                                        .put = w->put,
                                        .got = w->got,
                                        .taken = w->taken,
                                        .account = w->account,
                                        .damping = w->damping,
                                        .gain = w->gain,
                                        .begun = w->begun,
                                        .diverged = w->diverged,
                                        .settled = w->settled};
    }
}

/* ---- distances ---- */

static bool moves(const flr_snapshot *from, uint32_t index)
{
    return index < from->instance->count && from->instance->kinds[index] != FLR_PART_STATIC;
}

/* What the exact engine knows; of two parts the one that may move comes first. */
static void show_gaps(const flr_snapshot *from, flr_engine_state *to)
{
    for (uint32_t i = 0; i < from->gap_count; i++) {
        const flr_snapshot_gap *g = &from->gaps[i];
        const bool turn = !moves(from, g->part);
        to->gaps[to->gap_count++] =
            (flr_engine_gap){.part = id_at(from->instance, turn ? g->other : g->part),
                             .other = id_at(from->instance, turn ? g->part : g->other),
                             .distance = g->distance,
                             .error = fmax(0, fmax(g->upper - g->distance, g->distance - g->lower)),
                             .from = turn ? g->to : g->from,
                             .to = turn ? g->from : g->to};
    }
    for (uint32_t i = 0; i < from->overlap_count; i++) {
        const flr_world_overlap *o = &from->overlaps[i];
        const bool turn = !moves(from, o->part_a);
        to->overlaps[to->overlap_count++] =
            (flr_engine_overlap_state){.part = id_at(from->instance, turn ? o->part_b : o->part_a),
                                       .other = id_at(from->instance, turn ? o->part_a : o->part_b),
                                       .depth = o->depth,
                                       .tolerated = o->tolerated,
                                       .point = o->point};
    }
}

/* ---- parts ---- */

static uint32_t look_of(const flr_snapshot *from, const uint64_t *hit, uint32_t index)
{
    if (is_hit(hit, index)) return FLR_WIRE_LOOK_COLLIDING;
    uint32_t look = FLR_WIRE_LOOK_PLAIN;
    for (uint32_t h = 0; h < from->hand_count; h++) {
        if (from->hands[h].held == from->instance->ids[index]) return FLR_WIRE_LOOK_HELD;
        if (from->hands[h].touched == index) look = FLR_WIRE_LOOK_READY;
    }
    return look;
}

/* Another world instance: static parts that were shown have other indices, or none. */
static void find_shown(flr_view *view, const flr_snapshot *from)
{
    const flr_world_instance *instance = from->instance;
    if (view->serial == from->serial) return;
    if (view->state.scene != instance->scene) view->shown_count = 0;
    memset(view->shown, 0, sizeof view->shown);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < view->shown_count; i++) {
        uint32_t at = flr_world_instance_find(instance, view->shown_ids[i]);
        if (at >= instance->count) continue;
        view->shown[at] = true;
        view->shown_ids[kept++] = view->shown_ids[i];
    }
    view->shown_count = kept;
    view->serial = from->serial;
}

/* What may move; and static parts once they were touched, from then on, so that everybody sees how they look again
 * afterwards. */
static void show_parts(flr_view *view, const flr_snapshot *from, const uint64_t *hit)
{
    const flr_world_instance *instance = from->instance;
    flr_engine_state *to = &view->state;
    for (uint32_t i = 0; instance->world && i < instance->count; i++) {
        bool is_static = instance->kinds[i] == FLR_PART_STATIC;
        if (is_static && !view->shown[i]) {
            if (!is_hit(hit, i)) continue;
            view->shown[i] = true;
            view->shown_ids[view->shown_count++] = instance->ids[i];
        }
        const flr_world_part_state *part = &from->parts[i];
        to->parts[to->part_count++] = (flr_engine_part_state){.part = id_at(instance, i),
                                                              .look = look_of(from, hit, i),
                                                              .T_world_part = part->T_world_part,
                                                              .twist = part->twist,
                                                              .moves = part->moves,
                                                              .solid = part->solid};
    }
}

flr_pager_stats flr_world_instance_paging(const flr_world_instance *instance)
{
    flr_pager_stats all = {0};
    for (uint32_t i = 0; i < instance->count; i++) {
        const flr_pager *pager = instance->shapes[i]->pager;
        bool again = false;
        for (uint32_t k = 0; pager && k < i && !again; k++)
            again = instance->shapes[k]->pager == pager;
        if (!pager || again) continue;
        flr_pager_stats one = flr_pager_get_stats(pager);
        flr_pager_stats_add(&all, &one);
    }
    return all;
}

/* ---- the whole view ---- */

static void derive(flr_view *view, const flr_snapshot *from)
{
    uint64_t hit[FLR_SNAPSHOT_WORDS];
    flr_engine_state *to = &view->state;
    const flr_world_frame *w = &from->world;
    memcpy(hit, from->hit, (from->instance->count + 63) / 64 * sizeof *hit);
    find_shown(view, from);
    memset(to, 0, offsetof(flr_engine_state, hands));
    to->frame = from->frame;
    to->time_ns = from->time_ns;
    to->scene = from->instance->scene;
    to->points_tested = w->points_tested;
    to->contact_count = w->contacts;
    to->lower = w->lower;
    to->upper = w->upper;
    to->deepest = w->deepest;
    to->limited = w->limited;
    to->stopped = w->stopped;
    to->faults = w->faults;
    to->queued = w->waiting;
    to->late = w->late;
    to->max_travel = w->max_travel;
    to->energy = w->energy;
    to->hash = w->hash;
    to->skipped = from->skipped;
    to->compute_last_us = from->compute_last_us;
    to->paused = from->paused;
    to->waiting = from->waiting;
    to->waits = from->waits;
    to->paging = flr_world_instance_paging(from->instance);
    to->recording = from->recording;
    to->undo = from->undo;
    to->merged = from->in_force;
    show_contacts(from, hit, to);
    show_hands(from, to);
    show_couplings(from, to);
    show_gaps(from, to);
    show_parts(view, from, hit);
    view->number = from->number;
    view->overlaid = false;
    view->derived++;
}

const flr_snapshot *flr_engine_snapshot(flr_engine *e) { return flr_loop_look(e->loop); }

/* From the orientation of the parts in the view to that of the scene: the loop's parts are turned a little later. */
static void turn_parts(flr_engine *e, flr_quat from)
{
    flr_engine_state *to = &e->view->state;
    const flr_pose turn = {.q = flr_turn_between(from, e->turned)};
    for (uint32_t i = 0; i < to->part_count; i++) {
        flr_engine_part_state *part = &to->parts[i];
        part->T_world_part = flr_pose_mul(turn, part->T_world_part);
        part->twist.linear = flr_pose_apply_vector(turn, part->twist.linear);
        part->twist.angular = flr_pose_apply_vector(turn, part->twist.angular);
    }
    e->view->turned = e->turned;
}

static bool is_turned(const flr_engine *e, flr_quat from)
{
    return memcmp(&from, &e->turned, sizeof from) != 0;
}

void flr_view_turn(flr_engine *e)
{
    if (e->view->number && e->view->state.scene == e->scene && is_turned(e, e->view->turned))
        turn_parts(e, e->view->turned);
}

bool flr_engine_refresh(flr_engine *e)
{
    const flr_snapshot *newest = flr_engine_snapshot(e);
    if (!newest) return false;
    if (newest->number == e->view->number && !e->view->overlaid) return true;
    derive(e->view, newest);
    e->view->turned = newest->instance->turned;
    flr_view_turn(e);
    return true;
}

/* Nothing has been published yet. */
static void show_nothing(flr_engine *e)
{
    flr_engine_state *s = &e->view->state;
    s->hand_count = e->def.hands;
    s->lower = s->upper = INFINITY;
    for (uint32_t h = 0; h < e->def.hands; h++) {
        s->hands[h].held = s->hands[h].touched = FLR_NO_PART_ID;
        s->hands[h].T_world_hand = s->hands[h].T_world_ghost = flr_pose_identity();
    }
}

/* Which faults a hand's guard has seen since the view before, or since this one was made. */
static void look_at_guard(flr_engine *e, uint32_t hand)
{
    static const uint32_t limits = FLR_FAULT_FORCE_LIMIT | FLR_FAULT_TORQUE_LIMIT | FLR_FAULT_SLEW;
    flr_engine_hand_state *to = &e->view->state.hands[hand];
    const flr_pointer *device = &e->pointers[e->selected[hand]];
    to->bits &= ~(uint32_t)(FLR_WIRE_HAND_FORCE | FLR_WIRE_HAND_LIMITED);
    if (!device->device || !(flr_device_get_info(device->device)->force > 0))
        return; /* a device without force cannot fail to give it */
    to->bits |= FLR_WIRE_HAND_FORCE;
    flr_guard_stats now = flr_guard_get_stats(flr_loop_guard(e->loop, hand));
    for (unsigned i = 0; i < FLR_FAULT_COUNT; i++)
        if (now.counts[i] > e->guards[hand].counts[i]) to->faults |= 1u << i;
    if (to->faults & limits) to->bits |= FLR_WIRE_HAND_LIMITED;
    e->guards[hand] = now;
}

static flr_engine_workspace workspace_of(uint32_t hand, const flr_mapping *map)
{
    flr_engine_workspace workspace = {.hand = flr_hand(hand),
                                      .T_world_workspace = map->def.T_world_base,
                                      .scale = map->def.scale,
                                      .clutched = map->clutched,
                                      .outside = map->outside};
    flr_mapping_workspace(map, &workspace.T_world_workspace, &workspace.half);
    return workspace;
}

/* Of hands that a device moves; while another one is on its way, still of the one before. */
static void show_workspaces(flr_engine *e)
{
    flr_engine_state *to = &e->view->state;
    const flr_snapshot *from = flr_engine_snapshot(e);
    to->workspace_count = 0;
    for (uint32_t h = 0; from && h < to->hand_count && h < from->hand_count; h++)
        if (!e->pointers[e->selected[h]].remote && from->hands[h].present)
            to->workspaces[to->workspace_count++] = workspace_of(h, &from->hands[h].map);
}

const flr_engine_state *flr_engine_view(flr_engine *e)
{
    if (!flr_engine_refresh(e)) show_nothing(e);
    for (uint32_t h = 0; h < e->def.hands; h++) look_at_guard(e, h);
    show_workspaces(e);
    e->view->overlaid = flr_engine_show_replay(e, &e->view->state);
    if (e->view->overlaid) e->view->state.gap_count = 0; /* of the loop, which is held */
    flr_engine_show_gaps(e, &e->view->state);
    flr_engine_show_overlaps(e, &e->view->state);
    return &e->view->state;
}

uint32_t flr_engine_state_find(const flr_engine_state *state, flr_part_id part)
{
    const uint32_t count = state->scene == part.generation ? state->part_count : 0;
    uint32_t i;
    FLR_BISECT(i, count, state->parts[i].part.index < part.index);
    return i < count && state->parts[i].part.index == part.index ? i : FLR_ENGINE_NONE;
}
