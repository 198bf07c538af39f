/* what happens in a frame of the engine. All of this runs in the loop's thread: nothing here allocates, locks, waits or
 * calls the system; what was made elsewhere comes in orders, what is not needed any more goes back in notices */
#include <math.h>
#include <string.h>

#include "sim/engine_internal.h"

/* Contacts with the ground are given to parts by looking at all that are merged: so many looks in a frame. */
enum { RESOLVES = 4096 };

#define PATIENCE 2.0 /* s: for voxels from the disk */

static const flr_wrench no_wrench = {{0, 0, 0}, {0, 0, 0}};

/* ---- hands ---- */

/* Voxels from a point to the surface of a part, 0 also inside; -1: it is not within reach. */
static int nearness(const flr_stepper *f, uint32_t place, flr_vec3 point)
{
    const flr_shape *shape = f->instance->shapes[place];
    flr_vec3 at =
        flr_pose_apply_inverse(flr_world_body(f->instance->world, place)->T_world_part, point);
    if (flr_vec3_distance(at, shape->touch.middle) > shape->touch.radius + f->reach) return -1;
    unsigned mark = flr_voxmap_mark(shape->voxmap, FLR_FIELD_SURFACE, at);
    if (mark == FLR_MARK_FREE) return -1;
    int voxels = mark <= FLR_MARK_SURFACE ? 0 : (int)mark - FLR_MARK_SURFACE;
    return voxels == 0 || (voxels - 1) * shape->voxel <= f->reach ? voxels : -1;
}

/* The part that a hand would take: the nearest of those that its grip is in or near. */
uint32_t flr_stepper_find_touched(const flr_stepper *f, flr_vec3 point)
{
    uint32_t found = FLR_ENGINE_NONE;
    int least = 0;
    for (uint32_t i = 0; f->instance->world && i < f->instance->count; i++) {
        if (f->instance->kinds[i] == FLR_PART_STATIC) continue;
        int voxels = nearness(f, i, point);
        if (voxels < 0 || (found != FLR_ENGINE_NONE && voxels >= least)) continue;
        found = i;
        least = voxels;
    }
    return found;
}

static flr_pose in_world(const flr_stepper_hand *h, flr_pose T_base_grip)
{
    T_base_grip.p = flr_vec3_scale(T_base_grip.p, h->scale);
    return flr_pose_mul(h->T_world_base, T_base_grip);
}

static void read_hand(flr_stepper *f, uint32_t hand, const flr_device_sample *sample,
                      const flr_wrench *sent, flr_world_input *input)
{
    flr_stepper_hand *h = &f->hands[hand];
    bool fresh = sample->number != h->seen && sample->number > 0;
    if (sample->number == 0) h->present = false; /* another device that has said nothing yet */
    h->seen = sample->number;
    if (fresh) {
        h->T_world_hand = in_world(h, sample->T_base_grip);
        h->present = true;
    }
    flr_quat q = h->T_world_base.q;
    *input = (flr_world_input){
        .T_world_hand = h->T_world_hand,
        .has_twist = sample->has_twist && fresh,
        .fresh = fresh,
        .has_sent = true,
        .sent = {flr_quat_rotate(q, sent->torque), flr_quat_rotate(q, sent->force)}};
    if (input->has_twist)
        input->twist =
            (flr_twist){flr_quat_rotate(q, sample->twist.angular),
                        flr_vec3_scale(flr_quat_rotate(q, sample->twist.linear), h->scale)};
}

/* Takes and lets go by the button, tells what is ready. */
static void use_hand(flr_stepper *f, uint32_t hand, uint32_t buttons)
{
    flr_stepper_hand *h = &f->hands[hand];
    uint32_t bit = 1u << h->grab_button;
    bool pressed = buttons & ~h->buttons & bit, released = ~buttons & h->buttons & bit;
    h->buttons = buttons;
    bool grips = f->instance->world && flr_world_tool(f->instance->world, hand) == FLR_TOOL_GRIP;
    h->touched = h->held == FLR_ENGINE_NONE && h->present && grips
                     ? flr_stepper_find_touched(f, h->T_world_hand.p)
                     : FLR_ENGINE_NONE;
    if (released && h->by_button) flr_stepper_release(f, hand);
    if (!pressed || h->touched == FLR_ENGINE_NONE) return;
    flr_stepper_grab(f, hand, h->touched, NULL, true);
    h->touched = FLR_ENGINE_NONE;
}

/* ---- what is shown ---- */

/* Which of the merged parts a point touches; `looks` is what may still be spent. */
static uint32_t resolve(const flr_stepper *f, flr_vec3 point, uint32_t *looks)
{
    const flr_static_scene *g = f->ground;
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

static void show_contacts(flr_stepper *f, flr_engine_state *s)
{
    const flr_world_instance *instance = f->instance;
    const flr_contact_params *how = &f->params.contact;
    uint32_t pair_count, contact_count, looks = RESOLVES;
    const flr_pair_result *pairs = flr_pairs_results(flr_world_pairs(instance->world), &pair_count);
    const flr_contact *contacts =
        flr_pairs_contacts(flr_world_pairs(instance->world), &contact_count);
    memset(instance->hit, 0, instance->count * sizeof *instance->hit);
    for (uint32_t i = 0; i < pair_count; i++) {
        const flr_pair_result *p = &pairs[i];
        if (p->contact.contacts == 0) continue;
        bool ground = p->pair.voxmap == FLR_PAIRS_GROUND;
        instance->hit[p->pair.shell] = true;
        if (!ground) instance->hit[p->pair.voxmap] = true;
        double share = how->stiffness;
        if (how->full > 0 && p->contact.contacts > how->full)
            share *= (double)how->full / p->contact.contacts;
        for (uint32_t k = 0; k < p->contact.listed && s->contacts_given < FLR_ENGINE_CONTACTS;
             k++) {
            const flr_contact *c = &contacts[p->first + k];
            uint32_t other = ground ? resolve(f, c->point, &looks) : instance->ids[p->pair.voxmap];
            if (ground && other != FLR_ENGINE_NONE) {
                uint32_t at = flr_world_instance_find(instance, other);
                if (at < instance->count) instance->hit[at] = true;
            }
            s->contacts[s->contacts_given++] =
                (flr_engine_contact){.point = c->point,
                                     .force = flr_vec3_scale(c->normal, share * c->depth),
                                     .depth = c->depth,
                                     .part = instance->ids[p->pair.shell],
                                     .other = other};
        }
    }
}

/* Contacts of the other engine. */
static void show_impacts(flr_stepper *f, flr_engine_state *s)
{
    const flr_world_instance *instance = f->instance;
    uint32_t count;
    const flr_world_impact *impacts = flr_world_impacts(instance->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_impact *c = &impacts[i];
        instance->hit[c->part_a] = instance->hit[c->part_b] = true;
        if (s->contacts_given < FLR_ENGINE_CONTACTS)
            s->contacts[s->contacts_given++] = (flr_engine_contact){
                .point = c->point,
                .force = flr_vec3_scale(c->normal, f->params.contact.stiffness * c->depth),
                .depth = c->depth,
                .part = instance->ids[c->part_a],
                .other = instance->ids[c->part_b]};
    }
}

static void show_point(const flr_stepper *f, uint32_t hand, flr_engine_state *s)
{
    const flr_world_point *point =
        f->instance->world ? flr_world_proxy(f->instance->world, hand) : NULL;
    if (!point) return;
    flr_engine_proxy *to = &s->proxies[s->proxy_count++];
    *to = (flr_engine_proxy){
        .hand = hand,
        .part = point->part < f->instance->count ? f->instance->ids[point->part] : FLR_ENGINE_NONE,
        .point = point->position,
        .normal = point->normal,
        .force = point->force,
        .depth = point->depth,
        .sticking = point->sticking};
    s->hands[hand].bits |= FLR_WIRE_HAND_POINT;
}

static void show_hands(const flr_stepper *f, const flr_loop_frame *frame, flr_engine_state *s)
{
    for (uint32_t h = 0; h < f->hand_count; h++) {
        const flr_stepper_hand *hand = &f->hands[h];
        flr_quat q = hand->T_world_base.q;
        flr_pose T_part_hand;
        flr_engine_hand_state *to = &s->hands[h];
        *to = (flr_engine_hand_state){.held = hand->held,
                                      .touched = hand->touched < f->instance->count
                                                     ? f->instance->ids[hand->touched]
                                                     : FLR_ENGINE_NONE,
                                      .bits = hand->present ? FLR_WIRE_HAND_PRESENT : 0,
                                      .buttons = hand->buttons,
                                      .T_world_hand = hand->T_world_hand,
                                      .T_world_ghost = hand->T_world_hand,
                                      .T_part_hand = flr_pose_identity(),
                                      .wrench = {flr_quat_rotate(q, frame->sent[h].torque),
                                                 flr_quat_rotate(q, frame->sent[h].force)}};
        if (!f->instance->world || !flr_world_grip(f->instance->world, h, &T_part_hand)) continue;
        to->T_part_hand = T_part_hand;
        to->T_world_ghost = flr_pose_mul(hand->T_world_hand, flr_pose_inverse(T_part_hand));
    }
    s->hand_count = f->hand_count;
}

static uint32_t look_of(const flr_stepper *f, uint32_t place)
{
    if (f->instance->hit[place]) return FLR_WIRE_LOOK_COLLIDING;
    uint32_t look = FLR_WIRE_LOOK_PLAIN;
    for (uint32_t h = 0; h < f->hand_count; h++) {
        if (f->hands[h].held == f->instance->ids[place]) return FLR_WIRE_LOOK_HELD;
        if (f->hands[h].touched == place) look = FLR_WIRE_LOOK_READY;
    }
    return look;
}

/* What may move; and static parts once they were touched, from then on, so that everybody sees how they look again
 * afterwards. */
static void show_parts(const flr_stepper *f, flr_engine_state *s)
{
    for (uint32_t i = 0; f->instance->world && i < f->instance->count; i++) {
        f->instance->shown[i] |= f->instance->hit[i] || f->instance->kinds[i] != FLR_PART_STATIC;
        if (!f->instance->shown[i]) continue;
        const flr_body *body = flr_world_body(f->instance->world, i);
        s->parts[s->part_count++] =
            (flr_engine_part_state){.part = f->instance->ids[i],
                                    .look = look_of(f, i),
                                    .T_world_part = body->T_world_part,
                                    .twist = body->twist,
                                    .moves = flr_world_moves(f->instance->world, i),
                                    .solid = flr_world_is_solid(f->instance->world, i)};
    }
}

/* What pagers did, each once: parts of one shape have the same. */
static void show_paging(const flr_world_instance *instance, flr_engine_state *s)
{
    for (uint32_t i = 0; i < instance->count; i++) {
        const flr_pager *pager = instance->shapes[i]->pager;
        bool again = false;
        for (uint32_t k = 0; pager && k < i && !again; k++)
            again = instance->shapes[k]->pager == pager;
        if (!pager || again) continue;
        flr_pager_stats one = flr_pager_get_stats(pager);
        flr_pager_stats_add(&s->paging, &one);
    }
}

static void show(flr_stepper *f, const flr_loop_frame *frame)
{
    flr_engine_state *s = frame->state;
    const flr_world_frame *w = &f->frame;
    memset(s, 0, offsetof(flr_engine_state, hands));
    s->frame = frame->number;
    s->time_ns = frame->time_ns - f->first_ns;
    s->scene = f->instance->scene;
    s->points_tested = w->points_tested;
    s->contact_count = w->contacts;
    s->lower = w->lower;
    s->upper = w->upper;
    s->deepest = w->deepest;
    s->limited = w->limited;
    s->stopped = w->stopped;
    s->faults = w->faults;
    s->energy = w->energy;
    s->hash = w->hash;
    s->skipped = f->skipped;
    s->compute_last_us = f->last_us;
    s->paused = f->paused;
    s->waiting = f->waits.waiting || f->given_up;
    s->waits = f->waits;
    show_paging(f->instance, s);
    s->recording = f->tap != NULL;
    s->undo = f->undo.steps;
    s->ground = f->instance->world && flr_pairs_has_ground(flr_world_pairs(f->instance->world));
    if (f->instance->world) show_contacts(f, s);
    if (f->instance->world) show_impacts(f, s);
    show_hands(f, frame, s);
    for (uint32_t h = 0; h < f->hand_count; h++) show_point(f, h, s);
    flr_stepper_show_couplings(f, s);
    show_parts(f, s);
}

/* ---- voxels from the disk ---- */

/* The step did not happen, because they are not there yet: nothing moves, forces fade, and it is tried again with what hands do
 * then. After a while it is paused, with a word. */
static void wait_for_voxels(flr_stepper *f)
{
    for (uint32_t h = 0; h < f->hand_count; h++) f->hands[h].anew = true;
    if (1e-9 * (double)(f->waits.last_ns - f->waits.since_ns) < PATIENCE) return;
    f->paused = f->given_up = true;
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_WAITING});
}

/* Paused for them, until they are there or somebody goes on. */
static void look_for_voxels(flr_stepper *f)
{
    if (f->paused && !(f->instance->world && flr_world_ready(f->instance->world))) return;
    if (f->paused) flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_WAITING, .there = true});
    f->given_up = f->waits.waiting = false;
}

/* ---- the frame ---- */

bool flr_stepper_step(void *stepper, flr_loop_frame *frame)
{
    flr_stepper *f = stepper;
    int64_t began = flr_clock_ns(f->env);
    flr_world_input inputs[FLR_ENGINE_HANDS];
    flr_world *world = f->instance->world;
    if (!f->begun) f->first_ns = frame->time_ns;
    f->begun = true;
    f->skipped += frame->skipped;
    if (f->given_up) look_for_voxels(f);
    for (uint32_t h = 0; h < f->hand_count; h++) {
        read_hand(f, h, &frame->samples[h], &frame->sent[h], &inputs[h]);
        if (f->hands[h].anew && f->hands[h].present) inputs[h].fresh = true;
        f->hands[h].anew = false;
        if (!f->paused) use_hand(f, h, frame->samples[h].buttons);
    }
    if (world && !f->paused) {
        uint32_t before = f->faults;
        flr_stepper_follow(f, began);
        flr_world_step(world, inputs, &f->frame);
        flr_pager_waits_note(&f->waits, f->frame.missing, frame->time_ns);
        if (f->frame.missing) wait_for_voxels(f);
        f->faults = f->frame.faults;
        if (f->faults & ~before)
            flr_stepper_notify(
                f, (flr_notice){.kind = FLR_NOTICE_FAULT, .faults = f->faults & ~before});
        for (uint32_t h = 0; h < f->hand_count; h++) {
            flr_wrench given = flr_world_wrench(world, h);
            flr_quat q = f->hands[h].T_world_base.q;
            frame->wrenches[h] = (flr_wrench){flr_quat_rotate_inverse(q, given.torque),
                                              flr_quat_rotate_inverse(q, given.force)};
        }
    } else {
        for (uint32_t h = 0; h < f->hand_count; h++) frame->wrenches[h] = no_wrench;
        f->frame.points_tested = f->frame.contacts = f->frame.limited = f->frame.stopped = 0;
        f->frame.missing = false;
    }
    frame->notes[0] = f->frame.points_tested;
    frame->notes[1] = f->frame.contacts;
    show(f, frame);
    bool missing = world && f->frame.missing;
    if (f->tap && world && !f->paused && !missing) flr_recording_tap_frame(f, frame, inputs, began);
    f->last_us = (double)(flr_clock_ns(f->env) - began) * 1e-3;
    return !missing;
}
