/* what happens in a frame of the engine. All of this runs in the loop's thread: nothing here allocates, locks, waits or
 * calls the system; what was made elsewhere comes in orders, what is not needed any more goes back in notices */
#include "sim/snapshot.h"

#define STEPPER_PATIENCE 2.0 /* s: for voxels from the disk */

static const flr_wrench no_wrench = {{0, 0, 0}, {0, 0, 0}};

/* ---- hands ---- */

/* Voxels from a point to the surface of a part, 0 also inside; -1: it is not within reach. */
static int nearness(const flr_stepper *f, uint32_t index, flr_vec3 point)
{
    const flr_shape *shape = f->instance->shapes[index];
    flr_vec3 at =
        flr_pose_apply_inverse(flr_world_body(f->instance->world, index)->T_world_part, point);
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
    const flr_world *world = f->instance->world;
    if (!world) return found; /* no part, no world */
    for (uint32_t i = 0; (i = flr_world_next_near(world, i, point, f->reach)) < f->instance->count;
         i++) {
        if (f->instance->kinds[i] == FLR_PART_STATIC) continue;
        int voxels = nearness(f, i, point);
        if (voxels < 0 || (found != FLR_ENGINE_NONE && voxels >= least)) continue;
        found = i;
        least = voxels;
    }
    return found;
}

/* Where the hand is. */
static flr_pose in_world(flr_stepper_hand *h, const flr_device_sample *sample)
{
    const double dt = 1e-9 * (double)(sample->time_ns - h->sampled_ns);
    if (h->base == FLR_HAND_FRAME_WORLD) return sample->T_base_grip;
    h->sampled_ns = sample->time_ns;
    if (h->base == FLR_HAND_FRAME_RELATIVE && !h->map.begun) {
        flr_mapping_follow(&h->map, sample->T_base_grip, 0, 0);
        flr_mapping_put(&h->map, h->T_start);
    }
    return flr_mapping_follow(&h->map, sample->T_base_grip, sample->buttons, dt);
}

/* A wrench in the world that the device got in its base frame. The hand there goes `scale` times as far, so that the force with the
 * same power is the smaller by that: accounts of energy stay those of the device, at any scale. */
static flr_wrench wrench_in_world(const flr_stepper_hand *h, const flr_wrench *wrench)
{
    flr_quat q = h->map.def.T_world_base.q;
    if (h->base == FLR_HAND_FRAME_WORLD) return *wrench;
    return (flr_wrench){flr_quat_rotate(q, wrench->torque),
                        flr_vec3_scale(flr_quat_rotate(q, wrench->force), 1 / h->map.def.scale)};
}

static flr_twist twist_in_world(const flr_stepper_hand *h, const flr_twist *twist)
{
    flr_quat q = h->map.def.T_world_base.q;
    if (h->base == FLR_HAND_FRAME_WORLD) return *twist;
    if (h->map.clutched) return (flr_twist){{0, 0, 0}, {0, 0, 0}};
    return (flr_twist){flr_quat_rotate(q, twist->angular),
                       flr_vec3_scale(flr_quat_rotate(q, twist->linear), h->map.def.scale)};
}

/* What the device of a hand says, for the world. */
static flr_world_input read_hand(flr_stepper_hand *h, const flr_device_sample *sample,
                                 const flr_wrench *sent)
{
    bool fresh = sample->number != h->seen && sample->number > 0;
    // another device that has said nothing yet
    if (sample->number == 0) h->present = h->map.begun = h->map.moved = false;
    h->seen_before = h->seen;
    h->seen = sample->number;
    if (fresh) {
        h->T_world_hand = in_world(h, sample);
        h->present = true;
    }
    flr_world_input input = {.T_world_hand = h->T_world_hand,
                             .has_twist = sample->has_twist && fresh,
                             .fresh = fresh,
                             .has_sent = true,
                             .sent = wrench_in_world(h, sent)};
    if (input.has_twist) input.twist = twist_in_world(h, &sample->twist);
    if (h->anew && h->present) input.fresh = true;
    h->anew = false;
    return input;
}

/* Grabs and releases by the button; notes what the hand could grab. */
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

/* ---- voxels from the disk ---- */

/* The step did not happen, because they are not there yet: nothing moves, forces fade, and it is tried again with what hands do
 * then. After a while it is paused, with a notice. */
static void wait_for_voxels(flr_stepper *f)
{
    for (uint32_t h = 0; h < f->hand_count; h++) f->hands[h].anew = true;
    if (1e-9 * (double)(f->waits.last_ns - f->waits.since_ns) < STEPPER_PATIENCE) return;
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

/* ---- the stages of a frame ---- */

/* Reads the frame's time and what the loop skipped; writes the time of the first frame, the count of skipped ones, and whether it
 * still waits for voxels. */
static void begin_frame(flr_stepper *f, const flr_loop_frame *frame)
{
    if (!f->begun) f->first_ns = frame->time_ns;
    f->begun = true;
    f->skipped += frame->skipped;
    if (f->given_up) look_for_voxels(f);
}

/* Reads the samples of the devices; writes where hands are, and the inputs of the world. */
static void read_hands(flr_stepper *f, const flr_loop_frame *frame, flr_world_input *inputs)
{
    for (uint32_t h = 0; h < f->hand_count; h++)
        inputs[h] = read_hand(&f->hands[h], &frame->samples[h], &frame->sent[h]);
    if (!f->said) return;
    inputs[0].has_sent = f->said->has_sent;
    inputs[0].sent = f->said->sent;
}

/* Reads buttons and where parts are; writes what hands touch, and grabs and releases parts. */
static void use_hands(flr_stepper *f, const flr_loop_frame *frame)
{
    for (uint32_t h = 0; h < f->hand_count; h++) use_hand(f, h, frame->samples[h].buttons);
}

/* Reads the inputs and the remote couplings; writes the world and what it reports of this step. A new fault, and voxels that are
 * missing for too long, become notices. */
static void step_world(flr_stepper *f, const flr_loop_frame *frame, int64_t began,
                       const flr_world_input *inputs)
{
    uint32_t before = f->faults;
    flr_world_step(f->instance->world, inputs, &f->frame);
    // frames of a loop that runs free take no time, and the disk takes its own
    flr_pager_waits_note(&f->waits, f->frame.missing, f->paced ? frame->time_ns : began);
    if (f->frame.missing && !f->stepped) wait_for_voxels(f);
    f->faults = f->frame.faults;
    if (f->faults & ~before)
        flr_stepper_notify(f,
                           (flr_notice){.kind = FLR_NOTICE_FAULT, .faults = f->faults & ~before});
}

/* Reads what hands touch in the world; writes the models from which their devices are served until the next step. */
static void give_models(const flr_stepper *f, flr_loop_frame *frame)
{
    for (uint32_t h = 0; h < f->hand_count; h++) {
        const flr_stepper_hand *hand = &f->hands[h];
        flr_loop_model *to = &frame->models[h];
        flr_world_local(f->instance->world, h, &to->model);
        to->passivity = flr_world_get_params(f->instance->world)->passivity;
        if (hand->base == FLR_HAND_FRAME_WORLD) continue;
        to->world_base = hand->map.def.T_world_base.q;
        to->scale = hand->map.clutched ? 1e-12 : hand->map.def.scale; /* the clutch holds it */
    }
}

/* Reads what hands feel in the world; writes the wrenches of their devices. */
static void give_forces(const flr_stepper *f, flr_loop_frame *frame)
{
    for (uint32_t h = 0; h < f->hand_count; h++) {
        flr_wrench given = flr_world_wrench(f->instance->world, h);
        flr_quat q = f->hands[h].map.def.T_world_base.q;
        frame->wrenches[h] = given;
        if (f->hands[h].base != FLR_HAND_FRAME_WORLD)
            frame->wrenches[h] = (flr_wrench){flr_quat_rotate_inverse(q, given.torque),
                                              flr_quat_rotate_inverse(q, given.force)};
    }
}

/* In place of the last two, while nothing moves: writes no forces, and a report of nothing. */
static void stand_still(flr_stepper *f, flr_loop_frame *frame)
{
    for (uint32_t h = 0; h < f->hand_count; h++) frame->wrenches[h] = no_wrench;
    f->frame.points_tested = f->frame.contacts = f->frame.limited = f->frame.stopped = 0;
    f->frame.missing = false;
}

/* Commands were applied before (stepper_commands.c); what was decided there and here is in force from this frame on. */
bool flr_stepper_step(void *stepper, flr_loop_frame *frame)
{
    flr_stepper *f = stepper;
    int64_t began = flr_clock_ns(f->env);
    flr_world_input inputs[FLR_ENGINE_HANDS];
    begin_frame(f, frame);
    read_hands(f, frame, inputs);
    if (!f->paused) use_hands(f, frame);
    if (f->instance->world && !f->paused) {
        if (f->coupling_end) flr_stepper_follow(f, began); /* remote couplings: remote_samples.c */
        step_world(f, frame, began, inputs);
        give_forces(f, frame);
        if (frame->models) give_models(f, frame);
        if (f->stepped) f->stepped(f->run, frame, inputs, began); /* run.c */
    } else {
        stand_still(f, frame);
    }
    if (frame->state) flr_stepper_publish(f, frame); /* snapshot.c */
    bool missing = f->instance->world && f->frame.missing;
    if (f->tap && f->instance->world && !f->paused && !missing)
        flr_recording_tap_frame(f, frame, inputs, began); /* recording_tap.c */
    frame->notes[0] = f->frame.points_tested;
    frame->notes[1] = f->frame.contacts;
    f->last_us = (double)(flr_clock_ns(f->env) - began) * 1e-3;
    return !missing;
}
