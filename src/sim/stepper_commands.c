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
    if (!f->notices) return; /* a run without an engine */
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

/* An undo step, as the command's row has it: of the part at `index` or of all, and of those that move by themselves. */
static void remember_step(flr_stepper *f, flr_sim_command_kind kind, uint32_t index)
{
    const flr_world_instance *instance = f->instance;
    flr_sim_command_undo undo = flr_sim_command_row_of(kind)->undo;
    if (undo == FLR_SIM_COMMAND_UNDO_NONE) return;
    begin_step(&f->undo);
    for (uint32_t i = 0; i < instance->count; i++)
        if (instance->kinds[i] != FLR_PART_STATIC &&
            (undo == FLR_SIM_COMMAND_UNDO_ALL || i == index || instance->kinds[i] == FLR_PART_FREE))
            remember(&f->undo, instance->ids[i], flr_world_body(instance->world, i)->T_world_part);
}

/* ---- the world: what a recording must know of to be run again ---- */

static void world_release(flr_stepper *f, uint32_t hand)
{
    if (!f->instance->world) return;
    flr_recording_tap_entry(
        f, (flr_journal_entry){.kind = FLR_JOURNAL_RELEASE, .as.release = {.hand = hand}});
    flr_world_release(f->instance->world, hand);
}

/* `T_world_hand` NULL: where it was seen last. */
static bool world_grab(flr_stepper *f, uint32_t hand, uint32_t index, const flr_pose *T_world_hand)
{
    flr_journal_entry entry = {.kind = FLR_JOURNAL_GRAB,
                               .as.grab = {.hand = hand, .part = flr_recording_tap_part(f, index)}};
    if (T_world_hand) entry.as.grab.T_world_hand = (flr_noted_optional_pose){true, *T_world_hand};
    flr_recording_tap_entry(f, entry);
    return T_world_hand ? flr_world_grab_at(f->instance->world, hand, index, *T_world_hand)
                        : flr_world_grab(f->instance->world, hand, index);
}

static void world_place(flr_stepper *f, uint32_t index, flr_pose pose)
{
    flr_recording_tap_entry(
        f, (flr_journal_entry){
               .kind = FLR_JOURNAL_PLACE,
               .as.place = {.part = flr_recording_tap_part(f, index), .T_world_part = pose}});
    flr_world_place(f->instance->world, index, pose);
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

bool flr_stepper_grab(flr_stepper *f, uint32_t hand, uint32_t index, const flr_pose *T_world_hand,
                      bool by_button)
{
    flr_stepper_hand *h = &f->hands[hand];
    if (!f->instance->world || index >= f->instance->count) return false;
    flr_stepper_release(f, hand);
    remember_step(f, FLR_SIM_COMMAND_GRAB, index);
    if (!world_grab(f, hand, index, T_world_hand)) return false;
    h->held = f->instance->ids[index];
    h->by_button = by_button;
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_GRABBED, .hand = hand, .part = h->held});
    return true;
}

/* ---- commands: apply_NAME for each row of commands.def ---- */

/* What stays as one, if it still stays where it was merged. */
static bool set_merged(flr_stepper *f, const flr_static_scene *merged)
{
    const flr_world_instance *instance = f->instance;
    if (!instance->world) return false;
    bool right = true;
    for (uint32_t i = 0; i < merged->count && right; i++) {
        uint32_t at = flr_world_instance_find(instance, merged->ids[i]);
        right = at < instance->count && instance->shapes[at] == merged->shapes[i];
        if (!right) break;
        flr_pose now = flr_world_body(instance->world, at)->T_world_part;
        right = memcmp(&now, &merged->poses[i], sizeof now) == 0;
        for (uint32_t h = 0; h < f->hand_count; h++)
            right &= flr_world_held(instance->world, h) != at;
        f->scratch[i] = at;
    }
    flr_pairs_merged how = {.shape = merged->touch,
                            .T_world_voxmap = flr_pose_identity(),
                            .parts = f->scratch,
                            .part_count = merged->count};
    return right && flr_world_set_merged(instance->world, &how);
}

static void apply_static_scene(flr_stepper *f, const flr_loop_static_scene *c)
{
    flr_static_scene *merged = c->scene;
    bool taken = set_merged(f, merged);
    flr_static_scene *out = taken ? f->merged : merged;
    if (taken) f->merged = merged;
    if (taken)
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_STATIC_SCENE,
                                   .as.static_scene = {.parts = {.scene = merged}}});
    if (out)
        flr_stepper_notify(
            f,
            (flr_notice){.kind = FLR_NOTICE_STATIC_SCENE, .refused = !taken, .what.merged = out});
}

/* The parts are where they were, in a scene that has been turned; so is where undo takes them back to. */
static void turn_scene(flr_stepper *f, const flr_world_instance *old)
{
    flr_world_instance *instance = f->instance;
    flr_undo *u = &f->undo;
    const flr_pose turn = {.q = flr_turn_between(old->turned, instance->turned)};
    for (uint32_t i = 0; i < instance->count; i++)
        if (instance->before[i] < old->count && instance->kinds[i] != FLR_PART_STATIC) {
            flr_pose pose =
                flr_pose_mul(turn, flr_world_body(old->world, instance->before[i])->T_world_part);
            pose.q = flr_quat_normalize(pose.q);
            flr_world_place(instance->world, i, pose);
        }
    const uint64_t first =
        u->steps ? u->first[(u->step_count - u->steps) % FLR_ENGINE_UNDO] : u->next;
    for (uint64_t i = first; i < u->next; i++) {
        flr_pose *pose = &u->entries[i % FLR_UNDO_ENTRIES].T_world_part;
        *pose = flr_pose_mul(turn, *pose);
    }
}

static void apply_instance(flr_stepper *f, const flr_loop_instance *c)
{
    flr_world_instance *instance = c->instance, *old = f->instance;
    bool same = old->scene == instance->scene;
    const bool turned = same && memcmp(&old->turned, &instance->turned, sizeof old->turned) != 0;
    for (uint32_t h = 0; turned && h < f->hand_count; h++) flr_stepper_release(f, h);
    for (uint32_t i = 0; i < instance->count; i++)
        instance->before[i] = same ? flr_world_instance_find(old, instance->ids[i]) : FLR_NO_PART;
    f->instance = instance;
    if (instance->world) {
        if (old->world) flr_world_adopt(instance->world, old->world, instance->before);
        if (old->world && turned) turn_scene(f, old);
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
    if (f->merged && !set_merged(f, f->merged)) {
        flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_STATIC_SCENE,
                                           .refused = true,
                                           .what.merged = f->merged});
        f->merged = NULL;
    }
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_INSTANCE, .what.instance = old});
}

static void let_all_go(flr_stepper *f)
{
    for (uint32_t h = 0; h < f->hand_count; h++) flr_stepper_release(f, h);
}

static void apply_reset(flr_stepper *f, const flr_msg_reset *c)
{
    (void)c;
    if (!f->instance->world) return;
    let_all_go(f);
    remember_step(f, FLR_SIM_COMMAND_RESET, FLR_ENGINE_NONE);
    for (uint32_t i = 0; i < f->instance->count; i++)
        if (f->instance->kinds[i] != FLR_PART_STATIC) world_place(f, i, f->instance->starts[i]);
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
}

static void apply_undo(flr_stepper *f, const flr_msg_undo *c)
{
    flr_undo *u = &f->undo;
    bool some = f->instance->world && u->steps > 0;
    uint32_t steps = c->steps;
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
    if (steps > 0) flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_UNDONE, .partly = some});
}

static void apply_place(flr_stepper *f, const flr_msg_place *c)
{
    uint32_t at = flr_world_instance_find(f->instance, c->part);
    if (at >= f->instance->count || !f->instance->world) return;
    remember_step(f, FLR_SIM_COMMAND_PLACE, at);
    world_place(f, at, c->T_world_part);
    flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_PLACED});
}

/* What the hand holds is taken anew where the hand is now. */
static void apply_base(flr_stepper *f, const flr_loop_base *c)
{
    flr_stepper_hand *h = &f->hands[c->hand];
    const bool clutch = h->map.held;
    h->map = flr_mapping_make(&c->map);
    h->map.held = clutch;
    h->grab_button = c->grab_button;
    if (h->firm != c->firm && f->instance->world) {
        flr_recording_tap_entry(f,
                                (flr_journal_entry){.kind = FLR_JOURNAL_FIRM,
                                                    .as.firm = {.hand = c->hand, .firm = c->firm}});
        flr_world_set_firm(f->instance->world, c->hand, c->firm);
    }
    h->firm = c->firm;
    if (h->held == FLR_ENGINE_NONE || !f->instance->world) return;
    uint32_t at = flr_world_instance_find(f->instance, h->held);
    world_release(f, c->hand);
    h->anew = true;
    if (at >= f->instance->count || !world_grab(f, c->hand, at, NULL))
        flr_stepper_release(f, c->hand);
}

static void apply_mapping(flr_stepper *f, const flr_loop_mapping *c)
{
    flr_mapping_change(&f->hands[c->hand].map, &c->map);
    f->hands[c->hand].map.held = c->clutch;
}

static void apply_grab(flr_stepper *f, const flr_msg_grab *c)
{
    flr_stepper_hand *h = &f->hands[c->hand];
    if (c->has_pose) {
        h->T_world_hand = c->T_world_hand;
        h->present = true;
        if (c->part == FLR_ENGINE_NONE) h->touched = flr_stepper_find_touched(f, c->T_world_hand.p);
    }
    uint32_t at =
        c->part == FLR_ENGINE_NONE ? h->touched : flr_world_instance_find(f->instance, c->part);
    if (at < f->instance->count)
        flr_stepper_grab(f, c->hand, at, c->has_pose ? &c->T_world_hand : NULL, false);
}

static void apply_release(flr_stepper *f, const flr_msg_release *c)
{
    flr_stepper_release(f, c->hand);
}

static void apply_leave(flr_stepper *f, const flr_loop_leave *c)
{
    flr_stepper_release(f, c->hand);
    f->hands[c->hand].present = false;
}

static void apply_pause(flr_stepper *f, const flr_msg_pause *c) { f->paused = c->paused; }

static void apply_parameters(flr_stepper *f, const flr_loop_parameters *c)
{
    f->params = c->world;
    f->reach = c->reach;
    flr_recording_tap_entry(
        f, (flr_journal_entry){.kind = FLR_JOURNAL_PARAMS, .as.params = {.params = f->params}});
    if (f->instance->world) flr_world_set_params(f->instance->world, &f->params);
}

static void apply_tool(flr_stepper *f, const flr_msg_tool *c)
{
    if (c->tool != FLR_TOOL_GRIP) flr_stepper_release(f, c->hand);
    flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_TOOL,
                                                   .as.tool = {.hand = c->hand, .tool = c->tool}});
    if (f->instance->world) flr_world_set_tool(f->instance->world, c->hand, (flr_tool)c->tool);
}

static void apply_guide(flr_stepper *f, const flr_msg_guide *c)
{
    flr_noted_guide noted = {c->on, {c->from, c->to, c->share}};
    if (!c->on) noted.guide = (flr_world_guide){0};
    flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_GUIDE,
                                                   .as.guide = {.hand = c->hand, .guide = noted}});
    if (f->instance->world)
        flr_world_set_guide(f->instance->world, c->hand, c->on ? &noted.guide : NULL);
}

static void apply_couple(flr_stepper *f, const flr_loop_couple *c)
{
    if (c->set) flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_COUPLING});
    flr_stepper_couple(f, c);
}

static void apply_solid(flr_stepper *f, const flr_loop_solid *c)
{
    uint32_t index = flr_world_instance_find(f->instance, c->part);
    flr_recording_tap_entry(
        f, (flr_journal_entry){
               .kind = FLR_JOURNAL_SOLID,
               .as.solid = {.solid = c->solid, .part = flr_recording_tap_part(f, index)}});
    if (f->instance->world) flr_world_set_solid(f->instance->world, index, c->solid);
}

static void apply_record(flr_stepper *f, const flr_loop_record *c)
{
    if (f->tap) flr_stepper_notify(f, (flr_notice){.kind = FLR_NOTICE_TAPE, .what.tap = f->tap});
    f->tap = c->tap;
    flr_recording_tap_begin(f);
}

void flr_stepper_take(void *stepper, const void *given)
{
    flr_stepper *f = stepper;
    const flr_sim_command *command = given;
    switch (command->kind) {
        /* clang-format off */
#define FLR_COMMAND(id, NAME, name, control, UNDO, SHARE, LATE, journal, doc) case FLR_SIM_COMMAND_##NAME: apply_##name(f, &command->as.name); break;
#define FLR_LOOP_COMMAND(NAME, name, LATE, journal, doc) case FLR_SIM_COMMAND_##NAME: apply_##name(f, &command->as.name); break;
#include "protocol/command_rows.h"
        /* clang-format on */
    case FLR_SIM_COMMANDS:
        break;
    }
}
