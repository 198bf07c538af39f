/* what happens in a frame of the engine. All of this runs in the loop's thread: nothing here allocates, locks, waits or
 * calls the system; what was made elsewhere comes in orders, what is not needed any more goes back in notices */
#include <math.h>
#include <string.h>

#include "sim/engine_internal.h"

/* Contacts with the ground are given to parts by looking at all that are merged: so many looks in a frame. */
enum { RESOLVES = 4096 };

#define PATIENCE 2.0 /* s: for voxels from the disk */

static const flr_wrench no_wrench = {{0, 0, 0}, {0, 0, 0}};

/* What is only news is left out, and counted, before it takes the room of things that go back: those that can be on their way
 * are few. */
static void notify(flr_stepper *f, flr_notice notice)
{
    enum { KEPT_FREE = 64 };
    bool news = notice.kind == FLR_NOTICE_GRABBED || notice.kind == FLR_NOTICE_RELEASED ||
                notice.kind == FLR_NOTICE_FAULT || notice.kind == FLR_NOTICE_WAITING ||
                notice.kind == FLR_NOTICE_PLACED || notice.kind == FLR_NOTICE_UNDONE;
    if (news && flr_ring_count(f->notices) + KEPT_FREE > flr_ring_capacity(f->notices)) {
        atomic_fetch_add_explicit(&f->notices_lost, 1, memory_order_relaxed);
        return;
    }
    notice.frame = f->frame.number;
    (void)flr_ring_push(f->notices, &notice);
}

/* ---- what was where, for undo ---- */

static void begin_step(flr_undo *u)
{
    u->first[u->step_count++ % FLR_ENGINE_UNDO] = u->next;
    if (u->steps < FLR_ENGINE_UNDO) u->steps++;
}

static void remember(flr_undo *u, uint32_t part, flr_pose pose)
{
    u->entries[u->next++ % FLR_UNDO_ENTRIES] = (flr_undo_entry){part, pose};
    // steps whose entries are overwritten cannot be taken back any more
    while (u->steps > 0 &&
           u->next - u->first[(u->step_count - u->steps) % FLR_ENGINE_UNDO] > FLR_UNDO_ENTRIES)
        u->steps--;
}

/* A step in which this part is going to move (FLR_ENGINE_NONE: all of them), and those that move by themselves. */
static void remember_step(flr_stepper *f, uint32_t place)
{
    const flr_world_instance *instance = f->instance;
    begin_step(&f->undo);
    for (uint32_t i = 0; i < instance->count; i++)
        if (instance->kinds[i] != FLR_PART_STATIC &&
            (place == FLR_ENGINE_NONE || i == place || instance->kinds[i] == FLR_PART_FREE))
            remember(&f->undo, instance->ids[i], flr_world_body(instance->world, i)->T_world_part);
}

/* ---- the world: what a recording must know of to be run again ---- */

static void world_release(flr_stepper *f, uint32_t hand)
{
    if (!f->instance->world) return;
    flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_RELEASE, .hand = hand});
    flr_world_release(f->instance->world, hand);
}

static bool world_grab(flr_stepper *f, uint32_t hand, uint32_t place)
{
    flr_recording_tap_entry(
        f, (flr_journal_entry){.kind = FLR_JOURNAL_GRAB, .hand = hand, .part = place});
    return flr_world_grab(f->instance->world, hand, place);
}

static void world_place(flr_stepper *f, uint32_t place, flr_pose pose)
{
    flr_recording_tap_entry(
        f, (flr_journal_entry){.kind = FLR_JOURNAL_PLACE, .part = place, .pose = pose});
    flr_world_place(f->instance->world, place, pose);
}

/* ---- hands ---- */

static void let_go(flr_stepper *f, uint32_t hand)
{
    flr_stepper_hand *h = &f->hands[hand];
    world_release(f, hand);
    if (h->held != FLR_ENGINE_NONE)
        notify(f, (flr_notice){.kind = FLR_NOTICE_RELEASED, .hand = hand, .part = h->held});
    h->held = FLR_ENGINE_NONE;
    h->by_button = false;
}

static bool take(flr_stepper *f, uint32_t hand, uint32_t place, bool by_button)
{
    flr_stepper_hand *h = &f->hands[hand];
    if (!f->instance->world || place >= f->instance->count) return false;
    let_go(f, hand);
    remember_step(f, place);
    if (!world_grab(f, hand, place)) return false;
    h->held = f->instance->ids[place];
    h->by_button = by_button;
    notify(f, (flr_notice){.kind = FLR_NOTICE_GRABBED, .hand = hand, .part = h->held});
    return true;
}

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
static uint32_t find_touched(const flr_stepper *f, flr_vec3 point)
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
                     ? find_touched(f, h->T_world_hand.p)
                     : FLR_ENGINE_NONE;
    if (released && h->by_button) let_go(f, hand);
    if (!pressed || h->touched == FLR_ENGINE_NONE) return;
    take(f, hand, h->touched, true);
    h->touched = FLR_ENGINE_NONE;
}

/* ---- orders ---- */

/* What stays as one, if it still stays where it was merged. */
static bool set_ground(flr_stepper *f, const flr_static_scene *ground)
{
    const flr_world_instance *instance = f->instance;
    if (!instance->world) return false;
    bool right = true;
    for (uint32_t i = 0; i < ground->count && right; i++) {
        uint32_t at = flr_world_instance_find(instance, ground->ids[i]);
        right = at < instance->count && instance->shapes[at] == ground->shapes[i];
        if (!right) break;
        flr_pose now = flr_world_body(instance->world, at)->T_world_part;
        right = memcmp(&now, &ground->poses[i], sizeof now) == 0;
        for (uint32_t h = 0; h < f->hand_count; h++)
            right &= flr_world_held(instance->world, h) != at;
        f->scratch[i] = at;
    }
    flr_pairs_ground how = {.shape = ground->touch,
                            .T_world_voxmap = flr_pose_identity(),
                            .parts = f->scratch,
                            .part_count = ground->count};
    return right && flr_world_set_ground(instance->world, &how);
}

static void change_ground(flr_stepper *f, flr_static_scene *ground)
{
    bool taken = set_ground(f, ground);
    flr_static_scene *out = taken ? f->ground : ground;
    if (taken) f->ground = ground;
    if (taken)
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_STATIC_SCENE, .what.ground = ground});
    if (out)
        notify(f,
               (flr_notice){.kind = FLR_NOTICE_STATIC_SCENE, .flag = !taken, .what.ground = out});
}

static void change_cast(flr_stepper *f, flr_world_instance *instance)
{
    flr_world_instance *old = f->instance;
    bool same = old->scene == instance->scene;
    for (uint32_t i = 0; i < instance->count; i++) {
        uint32_t was = instance->before[i] =
            same ? flr_world_instance_find(old, instance->ids[i]) : FLR_NO_PART;
        instance->shown[i] = was < old->count && old->shown[was];
    }
    f->instance = instance;
    if (instance->world) {
        if (old->world) flr_world_adopt(instance->world, old->world, instance->before);
        flr_world_set_params(instance->world, &f->params);
    }
    for (uint32_t h = 0; instance->world && h < f->hand_count; h++)
        flr_world_set_firm(instance->world, h, f->hands[h].firm);
    for (uint32_t h = 0; h < f->hand_count; h++) {
        uint32_t held = instance->world ? flr_world_held(instance->world, h) : FLR_NO_PART;
        f->hands[h].touched = FLR_ENGINE_NONE;
        f->hands[h].anew = true;
        bool lost = held >= instance->count || instance->kinds[held] == FLR_PART_STATIC;
        if (lost && f->hands[h].held != FLR_ENGINE_NONE) let_go(f, h);
    }
    flr_stepper_keep_couplings(f);
    if (!same) f->undo.steps = 0;
    flr_recording_tap_rebuild(f);
    if (f->ground && !set_ground(f, f->ground)) {
        notify(f, (flr_notice){
                      .kind = FLR_NOTICE_STATIC_SCENE, .flag = true, .what.ground = f->ground});
        f->ground = NULL;
    }
    notify(f, (flr_notice){.kind = FLR_NOTICE_INSTANCE, .what.instance = old});
}

static void let_all_go(flr_stepper *f)
{
    for (uint32_t h = 0; h < f->hand_count; h++) let_go(f, h);
}

static void reset(flr_stepper *f)
{
    if (!f->instance->world) return;
    let_all_go(f);
    remember_step(f, FLR_ENGINE_NONE);
    for (uint32_t i = 0; i < f->instance->count; i++)
        if (f->instance->kinds[i] != FLR_PART_STATIC) world_place(f, i, f->instance->starts[i]);
    notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
}

static void undo(flr_stepper *f, uint32_t steps)
{
    flr_undo *u = &f->undo;
    bool some = f->instance->world && u->steps > 0;
    for (; some && steps > 0 && u->steps > 0; steps--, u->steps--) {
        uint64_t first = u->first[--u->step_count % FLR_ENGINE_UNDO];
        let_all_go(f);
        while (u->next > first) {
            const flr_undo_entry *e = &u->entries[--u->next % FLR_UNDO_ENTRIES];
            uint32_t at = flr_world_instance_find(f->instance, e->part);
            if (at < f->instance->count) world_place(f, at, e->T_world_part);
        }
    }
    if (some) notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
    if (steps > 0) notify(f, (flr_notice){.kind = FLR_NOTICE_UNDONE, .flag = some});
}

static void place(flr_stepper *f, uint32_t part, flr_pose T_world_part)
{
    uint32_t at = flr_world_instance_find(f->instance, part);
    if (at >= f->instance->count || !f->instance->world) return;
    remember_step(f, at);
    world_place(f, at, T_world_part);
    notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
}

/* A device stands somewhere else: what it holds is taken anew where the hand is now. */
static void change_base(flr_stepper *f, const flr_sim_command *order)
{
    flr_stepper_hand *h = &f->hands[order->hand];
    h->T_world_base = order->pose;
    h->scale = order->scale;
    h->grab_button = order->grab_button;
    if (h->firm != order->flag && f->instance->world) {
        flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_FIRM,
                                                       .hand = order->hand,
                                                       .part = order->flag});
        flr_world_set_firm(f->instance->world, order->hand, order->flag);
    }
    h->firm = order->flag;
    if (h->held == FLR_ENGINE_NONE || !f->instance->world) return;
    uint32_t at = flr_world_instance_find(f->instance, h->held);
    world_release(f, order->hand);
    h->anew = true;
    if (at >= f->instance->count || !world_grab(f, order->hand, at)) let_go(f, order->hand);
}

static void grab(flr_stepper *f, uint32_t hand, uint32_t part)
{
    uint32_t at = part == FLR_ENGINE_NONE ? f->hands[hand].touched
                                          : flr_world_instance_find(f->instance, part);
    if (at < f->instance->count) take(f, hand, at, false);
}

void flr_stepper_take(void *stepper, const void *given)
{
    flr_stepper *f = stepper;
    const flr_sim_command *order = given;
    switch (order->kind) {
    case FLR_SIM_COMMAND_INSTANCE:
        change_cast(f, order->what.instance);
        break;
    case FLR_SIM_COMMAND_STATIC_SCENE:
        change_ground(f, order->what.ground);
        break;
    case FLR_SIM_COMMAND_TAPE:
        if (f->tap) notify(f, (flr_notice){.kind = FLR_NOTICE_TAPE, .what.tap = f->tap});
        f->tap = order->what.tap;
        flr_recording_tap_begin(f);
        break;
    case FLR_SIM_COMMAND_GRAB:
        grab(f, order->hand, order->part);
        break;
    case FLR_SIM_COMMAND_RELEASE:
        let_go(f, order->hand);
        if (order->flag) f->hands[order->hand].present = false;
        break;
    case FLR_SIM_COMMAND_RESET:
        reset(f);
        break;
    case FLR_SIM_COMMAND_UNDO:
        undo(f, order->steps);
        break;
    case FLR_SIM_COMMAND_PLACE:
        place(f, order->part, order->pose);
        break;
    case FLR_SIM_COMMAND_PAUSE:
        f->paused = order->flag;
        break;
    case FLR_SIM_COMMAND_TUNING:
        f->params = order->what.tuning.world;
        f->reach = order->what.tuning.reach;
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_PARAMS, .what.params = f->params});
        if (f->instance->world) flr_world_set_params(f->instance->world, &f->params);
        break;
    case FLR_SIM_COMMAND_TOOL:
        if (order->steps != FLR_TOOL_GRIP) let_go(f, order->hand);
        flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_TOOL,
                                                       .hand = order->hand,
                                                       .part = order->steps});
        if (f->instance->world)
            flr_world_set_tool(f->instance->world, order->hand, (flr_tool)order->steps);
        break;
    case FLR_SIM_COMMAND_BASE:
        change_base(f, order);
        break;
    case FLR_SIM_COMMAND_TIE:
        if (order->flag)
            flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_COUPLING});
        flr_stepper_couple(f, order);
        break;
    case FLR_SIM_COMMAND_SOLID:
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_SOLID,
                                   .part = flr_world_instance_find(f->instance, order->part),
                                   .hand = order->flag});
        flr_stepper_couple(f, order);
        break;
    }
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
    notify(f, (flr_notice){.kind = FLR_NOTICE_WAITING});
}

/* Paused for them, until they are there or somebody goes on. */
static void look_for_voxels(flr_stepper *f)
{
    if (f->paused && !(f->instance->world && flr_world_ready(f->instance->world))) return;
    if (f->paused) notify(f, (flr_notice){.kind = FLR_NOTICE_WAITING, .flag = true});
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
        // frames of a loop that runs free take no time, and the disk takes its own
        flr_pager_waits_note(&f->waits, f->frame.missing, f->paced ? frame->time_ns : began);
        if (f->frame.missing) wait_for_voxels(f);
        f->faults = f->frame.faults;
        if (f->faults & ~before)
            notify(f, (flr_notice){.kind = FLR_NOTICE_FAULT, .part = f->faults & ~before});
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
