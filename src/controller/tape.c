/* what the loop gives to a recording: frames, and what was done to the world between them. All of this runs in the loop's
 * thread, as frame.c does, and keeps to the same rules */
#include "controller/inside.h"

enum { RECORDED = 16 };

/* What the recording calls a part: its place among those that were there when it began. */
static uint32_t number_of(const flr_framer *f, uint32_t part)
{
    const flr_tape *tape = f->tape;
    uint32_t low = 0, high = tape->scene == f->cast->scene ? tape->all : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tape->numbers[middle] == part) return middle;
        if (tape->numbers[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return FLR_ENGINE_NONE;
}

/* ---- deeds ---- */

void flr_tape_deed(flr_framer *f, flr_deed deed)
{
    if (!f->tape) return;
    deed.frame = f->tape->frames;
    if (deed.kind == FLR_DEED_GRAB || deed.kind == FLR_DEED_PLACE || deed.kind == FLR_DEED_SOLID)
        deed.part =
            deed.part < f->cast->count ? number_of(f, f->cast->ids[deed.part]) : FLR_ENGINE_NONE;
    if (deed.kind == FLR_DEED_GROUND) flr_ground_use(deed.what.ground); /* the writer's */
    if (!flr_ring_push(f->tape->deeds, &deed) && deed.kind == FLR_DEED_GROUND)
        flr_ground_drop(deed.what.ground); /* the loop has it still: nothing is freed here */
}

static void map(flr_framer *f)
{
    for (uint32_t i = 0; i < f->tape->count; i++)
        f->tape->places[i] = f->tape->scene == f->cast->scene
                                 ? flr_cast_find(f->cast, f->tape->ids[i])
                                 : FLR_ENGINE_NONE;
}

void flr_tape_begin(flr_framer *f)
{
    flr_tape *tape = f->tape;
    flr_world *world = f->cast->world;
    f->tape_ns = -1;
    if (!tape) return;
    map(f);
    /* without this it cannot be run again: parts have come or gone while it was on its way here */
    bool same = world && tape->scene == f->cast->scene && tape->all == f->cast->count;
    for (uint32_t i = 0; same && i < tape->all; i++) same = tape->numbers[i] == f->cast->ids[i];
    if (!same || flr_world_state_size(world) > tape->state_room) return;
    tape->state_size = flr_world_state_size(world);
    flr_world_save(world, tape->state);
    flr_tape_deed(f, (flr_deed){.kind = FLR_DEED_START});
    flr_tape_deed(f, (flr_deed){.kind = FLR_DEED_PARAMS, .what.params = f->params});
    if (f->tie_end > 0) flr_tape_deed(f, (flr_deed){.kind = FLR_DEED_TIE});
    if (f->ground && flr_pairs_has_ground(flr_world_pairs(world)))
        flr_tape_deed(f, (flr_deed){.kind = FLR_DEED_GROUND, .what.ground = f->ground});
}

void flr_tape_recast(flr_framer *f)
{
    if (!f->tape) return;
    flr_tape_deed(f, (flr_deed){.kind = FLR_DEED_CAST});
    map(f);
}

/* ---- frames ---- */

void flr_tape_frame(flr_framer *f, const flr_loop_frame *frame, const flr_world_input *inputs,
                    int64_t began)
{
    flr_tape *tape = f->tape;
    const flr_engine_state *s = frame->state;
    const flr_world_frame *w = &f->frame;
    if (f->tape_ns < 0) f->tape_ns = frame->time_ns;
    tape->last_ns = frame->time_ns - f->tape_ns;
    flr_record_frame head = {.frame = tape->frames++,
                             .time_ns = frame->time_ns - f->tape_ns,
                             .compute_us = f->last_us,
                             .wakeup_us = f->paced ? (double)(began - frame->time_ns) * 1e-3 : 0,
                             .points_tested = w->points_tested,
                             .contacts = w->contacts,
                             .penetrations = w->penetrations,
                             .lower = w->lower,
                             .upper = w->upper,
                             .energy = w->energy,
                             .travel_limited = w->limited > 0,
                             .stopped = w->stopped > 0,
                             .faults = w->faults,
                             .hash = w->hash.low,
                             .waited_us = 1e6 * f->waits.ended,
                             .paged_needed = s->paging.needed,
                             .paged_hits = s->paging.hits,
                             .paged_read = s->paging.bytes_read,
                             .paged_resident = (uint64_t)s->paging.resident * FLR_PAGER_BLOCK,
                             .paged_directory = s->paging.directory};
    flr_record_hand hands[FLR_ENGINE_HANDS];
    for (uint32_t h = 0; h < f->hand_count; h++)
        hands[h] = (flr_record_hand){.T_world_hand = f->hands[h].T_world_hand,
                                     .twist = inputs[h].twist,
                                     .has_twist = inputs[h].has_twist,
                                     .fresh = inputs[h].fresh,
                                     .buttons = f->hands[h].buttons,
                                     .part = number_of(f, f->hands[h].held),
                                     .wrench = flr_world_wrench(f->cast->world, h),
                                     .has_sent = inputs[h].has_sent,
                                     .sent = inputs[h].sent};
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->places[i] >= f->cast->count) continue; /* gone: where it was */
        const flr_body *body = flr_world_body(f->cast->world, tape->places[i]);
        tape->parts[i] = (flr_record_part){body->T_world_part, body->twist};
    }
    flr_record_contact list[RECORDED];
    for (uint32_t i = 0; i < s->contacts_given && i < RECORDED; i++) {
        const flr_engine_contact *c = &s->contacts[i];
        list[head.contacts_given++] = (flr_record_contact){c->point, flr_vec3_normalize(c->force),
                                                           c->depth, number_of(f, c->part)};
    }
    flr_recorder_push(tape->recorder, &head, hands, tape->parts, list);
}
