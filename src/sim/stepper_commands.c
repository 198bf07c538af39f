/* what commands do to the running simulation: control sends them, the loop applies them between two frames. All of this runs in
 * the loop's thread: nothing here allocates, locks, waits or calls the system; what was made elsewhere comes in commands, what
 * is not needed any more goes back in notices */
#include <string.h>

#include "sim/engine_internal.h"

/* What is only news is left out, and counted, before it takes the room of things that go back: those that can be on their way
 * are few. */
void flr_stepper_notify(flr_stepper *f, flr_notice notice)
{
    enum { KEPT_FREE = 64 };
    bool news = notice.kind == FLR_NOTICE_GRABBED || notice.kind == FLR_NOTICE_RELEASED ||
                notice.kind == FLR_NOTICE_FAULT || notice.kind == FLR_NOTICE_WAITING ||
                notice.kind == FLR_NOTICE_PLACED || notice.kind == FLR_NOTICE_UNDONE;
    if (news && flr_ring_count(f->notices) + KEPT_FREE > flr_ring_capacity(f->notices)) {
        atomic_fetch_add_explicit(&f->notices_lost, 1, memory_order_relaxed);
        return;
    }
    f->retired += flr_notice_retires(&notice);
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

void flr_stepper_release(flr_stepper *f, uint32_t hand)
{
    flr_stepper_hand *h = &f->hands[hand];
    world_release(f, hand);
    if (h->held != FLR_ENGINE_NONE)
        flr_stepper_notify(
            f, (flr_notice){.kind = FLR_NOTICE_RELEASED, .hand = hand, .part = h->held});
    h->held = FLR_ENGINE_NONE;
    h->by_button = false;
}

bool flr_stepper_grab(flr_stepper *f, uint32_t hand, uint32_t place, bool by_button)
{
    flr_stepper_hand *h = &f->hands[hand];
    if (!f->instance->world || place >= f->instance->count) return false;
    flr_stepper_release(f, hand);
    remember_step(f, place);
    if (!world_grab(f, hand, place)) return false;
    h->held = f->instance->ids[place];
    h->by_button = by_button;
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_GRABBED, .hand = hand, .part = h->held});
    return true;
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
        flr_stepper_notify(
            f, (flr_notice){.kind = FLR_NOTICE_STATIC_SCENE, .flag = !taken, .what.ground = out});
}

static void change_cast(flr_stepper *f, flr_world_instance *instance)
{
    flr_world_instance *old = f->instance;
    bool same = old->scene == instance->scene;
    for (uint32_t i = 0; i < instance->count; i++)
        instance->before[i] = same ? flr_world_instance_find(old, instance->ids[i]) : FLR_NO_PART;
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
        if (lost && f->hands[h].held != FLR_ENGINE_NONE) flr_stepper_release(f, h);
    }
    flr_stepper_keep_couplings(f);
    if (!same) f->undo.steps = 0;
    flr_recording_tap_rebuild(f);
    if (f->ground && !set_ground(f, f->ground)) {
        flr_stepper_notify(
            f,
            (flr_notice){.kind = FLR_NOTICE_STATIC_SCENE, .flag = true, .what.ground = f->ground});
        f->ground = NULL;
    }
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_INSTANCE, .what.instance = old});
}

static void let_all_go(flr_stepper *f)
{
    for (uint32_t h = 0; h < f->hand_count; h++) flr_stepper_release(f, h);
}

static void reset(flr_stepper *f)
{
    if (!f->instance->world) return;
    let_all_go(f);
    remember_step(f, FLR_ENGINE_NONE);
    for (uint32_t i = 0; i < f->instance->count; i++)
        if (f->instance->kinds[i] != FLR_PART_STATIC) world_place(f, i, f->instance->starts[i]);
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
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
    if (some) flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
    if (steps > 0) flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_UNDONE, .flag = some});
}

static void place(flr_stepper *f, uint32_t part, flr_pose T_world_part)
{
    uint32_t at = flr_world_instance_find(f->instance, part);
    if (at >= f->instance->count || !f->instance->world) return;
    remember_step(f, at);
    world_place(f, at, T_world_part);
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
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
    if (at >= f->instance->count || !world_grab(f, order->hand, at))
        flr_stepper_release(f, order->hand);
}

static void grab(flr_stepper *f, uint32_t hand, uint32_t part)
{
    uint32_t at = part == FLR_ENGINE_NONE ? f->hands[hand].touched
                                          : flr_world_instance_find(f->instance, part);
    if (at < f->instance->count) flr_stepper_grab(f, hand, at, false);
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
        if (f->tap)
            flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_TAPE, .what.tap = f->tap});
        f->tap = order->what.tap;
        flr_recording_tap_begin(f);
        break;
    case FLR_SIM_COMMAND_GRAB:
        grab(f, order->hand, order->part);
        break;
    case FLR_SIM_COMMAND_RELEASE:
        flr_stepper_release(f, order->hand);
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
        if (order->steps != FLR_TOOL_GRIP) flr_stepper_release(f, order->hand);
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
