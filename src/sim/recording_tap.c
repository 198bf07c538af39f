/* what the loop gives to a recording: frames, and what was done to the world between them. All of this runs in the loop's
 * thread, as stepper.c does, and keeps to the same rules */
#include "sim/recording_tap.h"

#include "base/search.h"
#include "sim/snapshot.h"

enum { RECORDING_TAP_RECORDED = 16 };

/* What the recording calls a part: its index among those that were there when it began. */
static uint32_t number_of(const flr_stepper *f, uint32_t part)
{
    const flr_recording_tap *tap = f->tap;
    const uint32_t count = tap->scene == f->instance->scene ? tap->all : 0;
    uint32_t i;
    FLR_BISECT(i, count, tap->numbers[i] < part);
    return i < count && tap->numbers[i] == part ? i : FLR_ENGINE_NONE;
}

uint32_t flr_recording_tap_part(const flr_stepper *f, uint32_t index)
{
    return f->tap && index < f->instance->count ? number_of(f, f->instance->ids[index])
                                                : FLR_ENGINE_NONE;
}

/* ---- journal entries ---- */

void flr_recording_tap_entry(flr_stepper *f, flr_journal_entry entry)
{
    if (!f->tap) return;
    entry.frame = f->tap->frames;
    flr_static_scene *scene =
        entry.kind == FLR_JOURNAL_STATIC_SCENE ? entry.as.static_scene.parts.scene : NULL;
    if (scene) flr_static_scene_retain(scene); /* the writer's */
    if (!flr_ring_push(f->tap->entries, &entry) && scene)
        flr_static_scene_release(scene); /* the loop has it still: nothing is freed here */
}

static void map(flr_stepper *f)
{
    for (uint32_t i = 0; i < f->tap->count; i++)
        f->tap->indices[i] = f->tap->scene == f->instance->scene
                                 ? flr_world_instance_find(f->instance, f->tap->ids[i])
                                 : FLR_ENGINE_NONE;
}

void flr_recording_tap_begin(flr_stepper *f)
{
    flr_recording_tap *tap = f->tap;
    flr_world *world = f->instance->world;
    f->tape_ns = -1;
    if (!tap) return;
    map(f);
    if (tap->stride) return; /* frames are left out, so that it can be shown, not run again */
    /* without this it cannot be run again: parts have come or gone while it was on its way here */
    bool same = world && tap->scene == f->instance->scene && tap->all == f->instance->count;
    for (uint32_t i = 0; same && i < tap->all; i++) same = tap->numbers[i] == f->instance->ids[i];
    if (!same || flr_world_state_size(world) > tap->state_room) return;
    tap->state_size = flr_world_state_size(world);
    flr_world_save(world, tap->state);
    flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_START});
    flr_recording_tap_entry(
        f, (flr_journal_entry){.kind = FLR_JOURNAL_PARAMS, .as.params = {.params = f->params}});
    for (uint32_t h = 0; h < f->hand_count; h++) {
        const flr_world_guide *guide = flr_world_get_guide(world, h);
        if (!guide) continue;
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_GUIDE,
                                   .as.guide = {.hand = h, .guide = {true, *guide}}});
    }
    if (f->coupling_end > 0)
        flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_COUPLING});
    if (f->merged && flr_pairs_has_merged(flr_world_pairs(world)))
        flr_recording_tap_entry(
            f, (flr_journal_entry){.kind = FLR_JOURNAL_STATIC_SCENE,
                                   .as.static_scene = {.parts = {.scene = f->merged}}});
}

void flr_recording_tap_rebuild(flr_stepper *f)
{
    if (!f->tap) return;
    flr_recording_tap_entry(f, (flr_journal_entry){.kind = FLR_JOURNAL_INSTANCE});
    map(f);
}

/* ---- frames ---- */

flr_record_frame flr_recorded_frame(const flr_world_frame *step, const flr_pager_stats *paging,
                                    double waited)
{
    return (flr_record_frame){.frame = step->number,
                              .points_tested = step->points_tested,
                              .contacts = step->contacts,
                              .penetrations = step->penetrations,
                              .lower = step->lower,
                              .upper = step->upper,
                              .energy = step->energy,
                              .travel_limited = step->limited > 0,
                              .stopped = step->stopped > 0,
                              .faults = step->faults,
                              .hash = step->hash.low,
                              .waited_us = 1e6 * waited,
                              .paged_needed = paging->needed,
                              .paged_hits = paging->hits,
                              .paged_read = paging->bytes_read,
                              .paged_resident = (uint64_t)paging->resident * FLR_PAGER_BLOCK,
                              .paged_directory = paging->directory};
}

flr_record_hand flr_recorded_hand(const flr_world_input *input)
{
    return (flr_record_hand){.T_world_hand = input->T_world_hand,
                             .twist = input->twist,
                             .has_twist = input->has_twist,
                             .fresh = input->fresh,
                             .has_sent = input->has_sent,
                             .sent = input->sent};
}

/* Where parts are now; true: one is not where the last recorded frame has it. */
static bool take_parts(const flr_stepper *f)
{
    flr_recording_tap *tap = f->tap;
    bool moved = false;
    for (uint32_t i = 0; i < tap->count; i++) {
        if (tap->indices[i] >= f->instance->count) continue; /* gone: where it was */
        const flr_body *body = flr_world_body(f->instance->world, tap->indices[i]);
        const flr_pose *is = &body->T_world_part, *was = &tap->parts[i].T_world_part;
        moved |= is->p.x != was->p.x || is->p.y != was->p.y || is->p.z != was->p.z ||
                 is->q.w != was->q.w || is->q.x != was->q.x || is->q.y != was->q.y ||
                 is->q.z != was->q.z;
    }
    return moved;
}

/* Of a recording that is to be small: frames between those that it keeps, and those in which nothing moves. */
static bool left_out(const flr_stepper *f)
{
    flr_recording_tap *tap = f->tap;
    if (!tap->stride) return false;
    bool changed = tap->frames == 0;
    for (uint32_t h = 0; h < f->hand_count; h++) changed |= tap->held[h] != f->hands[h].held;
    if (!changed && (++tap->since < tap->stride || !take_parts(f))) return true;
    for (uint32_t h = 0; h < f->hand_count; h++) tap->held[h] = f->hands[h].held;
    tap->since = 0;
    return false;
}

void flr_recording_tap_frame(flr_stepper *f, const flr_loop_frame *frame,
                             const flr_world_input *inputs, int64_t began)
{
    flr_recording_tap *tap = f->tap;
    const flr_snapshot *s = frame->state;
    const flr_pager_stats paging = flr_world_instance_paging(f->instance);
    if (f->tape_ns < 0) f->tape_ns = frame->time_ns;
    if (left_out(f)) return;
    tap->last_ns = frame->time_ns - f->tape_ns;
    flr_record_frame head = flr_recorded_frame(&f->frame, &paging, f->waits.ended);
    head.frame = tap->frames++;
    head.time_ns = tap->last_ns;
    head.compute_us = f->last_us;
    head.wakeup_us = f->paced ? (double)(began - frame->time_ns) * 1e-3 : 0;
    flr_record_hand hands[FLR_ENGINE_HANDS];
    for (uint32_t h = 0; h < f->hand_count; h++) {
        hands[h] = flr_recorded_hand(&inputs[h]);
        hands[h].buttons = f->hands[h].buttons;
        hands[h].part = number_of(f, f->hands[h].held);
        hands[h].wrench = flr_world_wrench(f->instance->world, h);
    }
    for (uint32_t i = 0; i < tap->count; i++) {
        if (tap->indices[i] >= f->instance->count) continue; /* gone: where it was */
        const flr_body *body = flr_world_body(f->instance->world, tap->indices[i]);
        tap->parts[i] = (flr_record_part){body->T_world_part, body->twist};
    }
    flr_record_contact list[RECORDING_TAP_RECORDED];
    for (uint32_t i = 0; i < s->contact_count && i < RECORDING_TAP_RECORDED; i++) {
        const flr_snapshot_contact *c = &s->contacts[i];
        flr_vec3 force = flr_vec3_scale(c->normal, c->stiffness * c->depth);
        list[head.contacts_given++] = (flr_record_contact){
            c->point, flr_vec3_normalize(force), c->depth, number_of(f, f->instance->ids[c->part])};
    }
    flr_recorder_push(tap->recorder, &head, hands, tap->parts, list);
}
