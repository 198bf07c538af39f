/* what the loop shows of a frame, raw: see snapshot.h. All of this runs in the loop's thread: nothing here allocates, locks, waits
 * or calls the system, and what it costs depends on what moves and touches, not on how many parts there are */
#include <math.h>
#include <string.h>

#include "sim/snapshot.h"

static void set_hit(flr_snapshot *s, uint32_t index)
{
    s->hit[index / 64] |= UINT64_C(1) << index % 64;
}

static void copy_contacts(const flr_stepper *f, flr_snapshot *s)
{
    const flr_world *world = f->instance->world;
    const flr_contact_params *how = &f->params.contact;
    uint32_t pair_count, contact_count;
    const flr_pair_result *pairs = flr_pairs_results(flr_world_pairs(world), &pair_count);
    const flr_contact *contacts = flr_pairs_contacts(flr_world_pairs(world), &contact_count);
    for (uint32_t i = 0; i < pair_count; i++) {
        const flr_pair_result *p = &pairs[i];
        if (p->contact.contacts == 0) continue;
        bool merged = p->pair.voxmap == FLR_PAIRS_MERGED;
        set_hit(s, p->pair.shell);
        if (!merged) set_hit(s, p->pair.voxmap);
        double share = how->stiffness;
        if (how->full > 0 && p->contact.contacts > how->full)
            share *= (double)how->full / p->contact.contacts;
        for (uint32_t k = 0; k < p->contact.listed && s->contact_count < FLR_ENGINE_CONTACTS; k++) {
            const flr_contact *c = &contacts[p->first + k];
            s->contacts[s->contact_count++] =
                (flr_snapshot_contact){.point = c->point,
                                       .normal = c->normal,
                                       .depth = c->depth,
                                       .stiffness = share,
                                       .part = p->pair.shell,
                                       .other = merged ? FLR_SNAPSHOT_STATIC : p->pair.voxmap};
        }
    }
}

static void add_contact(flr_snapshot *s, flr_snapshot_contact contact)
{
    set_hit(s, contact.part);
    set_hit(s, contact.other);
    if (s->contact_count < FLR_ENGINE_CONTACTS) s->contacts[s->contact_count++] = contact;
}

/* Contacts of the sphere engine. */
static void copy_impacts(const flr_stepper *f, flr_snapshot *s)
{
    uint32_t count;
    const flr_world_impact *c = flr_world_impacts(f->instance->world, &count);
    for (uint32_t i = 0; i < count; i++, c++)
        add_contact(s, (flr_snapshot_contact){.point = c->point,
                                              .normal = c->normal,
                                              .depth = c->depth,
                                              .stiffness = f->params.contact.stiffness,
                                              .part = c->part_a,
                                              .other = c->part_b});
}

/* Contacts of the exact engine: deep is what is nearer than the clearance. */
static void copy_touches(const flr_stepper *f, flr_snapshot *s)
{
    uint32_t count;
    const flr_world_touch *c = flr_world_touches(f->instance->world, &count);
    for (uint32_t i = 0; i < count; i++, c++) {
        const double depth = fmax(f->params.exact.onset - c->distance, 1e-9);
        add_contact(s, (flr_snapshot_contact){.point = c->point,
                                              .normal = c->normal,
                                              .depth = depth,
                                              .stiffness = c->force / depth,
                                              .part = c->part,
                                              .other = c->other});
    }
}

/* The nearest of those that the exact engine knows; where they are was before the step, by less than a point moves in a frame. */
static void copy_gaps(const flr_stepper *f, flr_snapshot *s)
{
    uint32_t count;
    const flr_world_gap *gaps = flr_world_gaps(f->instance->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_gap *g = &gaps[i];
        /* without time to measure it, the middle of what is proven */
        const double distance = g->complete ? g->distance : 0.5 * (g->lower + g->upper);
        const bool full = s->gap_count == FLR_ENGINE_GAPS;
        if (!isfinite(g->lower) || !isfinite(g->upper)) continue;
        if (full && s->gaps[s->gap_count - 1].distance <= distance) continue;
        uint32_t at = full ? s->gap_count - 1 : s->gap_count++;
        for (; at > 0 && s->gaps[at - 1].distance > distance; at--) s->gaps[at] = s->gaps[at - 1];
        s->gaps[at] = (flr_snapshot_gap){.part = g->part_a,
                                         .other = g->part_b,
                                         .distance = distance,
                                         .lower = g->lower,
                                         .upper = g->upper,
                                         .from = g->point_a,
                                         .to = g->point_b};
    }
}

static void copy_overlaps(const flr_stepper *f, flr_snapshot *s)
{
    uint32_t count;
    const flr_world_overlap *overlaps = flr_world_overlaps(f->instance->world, &count);
    for (uint32_t i = 0; i < count && s->overlap_count < FLR_ENGINE_OVERLAPS; i++)
        s->overlaps[s->overlap_count++] = overlaps[i];
}

/* What only the exact engine finds. */
static void copy_exact(const flr_stepper *f, flr_snapshot *s)
{
    copy_touches(f, s);
    copy_gaps(f, s);
    copy_overlaps(f, s);
}

static void copy_hands(const flr_stepper *f, const flr_loop_frame *frame, flr_snapshot *s)
{
    const flr_world *world = f->instance->world;
    s->hand_count = f->hand_count;
    for (uint32_t h = 0; h < f->hand_count; h++) {
        const flr_stepper_hand *hand = &f->hands[h];
        flr_snapshot_hand *to = &s->hands[h];
        to->held = hand->held;
        to->touched = hand->touched;
        to->buttons = hand->buttons;
        to->present = hand->present;
        to->T_world_hand = hand->T_world_hand;
        to->map = hand->map;
        to->sent = frame->sent[h];
        to->grips = world && flr_world_grip(world, h, &to->T_part_hand);
        const flr_world_point *proxy = world ? flr_world_proxy(world, h) : NULL;
        to->points = proxy;
        if (proxy) to->proxy = *proxy;
    }
}

/* This buffer has some parts as they were some frames ago: those that have changed since are written. */
static void copy_parts(flr_stepper *f, flr_snapshot *s)
{
    const flr_world_instance *instance = f->instance;
    if (instance != f->published_instance) f->serial++;
    f->published_instance = instance;
    if (!instance->world) return;
    if (s->serial != f->serial) s->generation = 0;
    s->serial = f->serial;
    f->parts_copied += flr_world_read_parts(instance->world, &s->generation, s->parts);
}

void flr_stepper_publish(flr_stepper *f, const flr_loop_frame *frame)
{
    flr_snapshot *s = frame->state;
    const flr_world_instance *instance = f->instance;
    s->number = ++f->published;
    s->retired = f->retired;
    s->frame = frame->number;
    s->time_ns = frame->time_ns - f->first_ns;
    s->instance = instance;
    s->merged = f->merged;
    s->in_force = instance->world && flr_pairs_has_merged(flr_world_pairs(instance->world));
    s->world = f->frame;
    s->skipped = f->skipped;
    s->undo = f->undo.steps;
    s->compute_last_us = f->last_us;
    s->paused = f->paused;
    s->waiting = f->waits.waiting || f->given_up;
    s->recording = f->tap != NULL;
    s->waits = f->waits;
    s->contact_count = s->coupling_count = s->gap_count = s->overlap_count = 0;
    memset(s->hit, 0, (instance->count + 63) / 64 * sizeof *s->hit);
    if (instance->world) {
        copy_contacts(f, s);
        if (f->params.engine == FLR_ENGINE_SPHERES) copy_impacts(f, s);
        if (f->params.engine == FLR_ENGINE_EXACT) copy_exact(f, s);
    }
    copy_hands(f, frame, s);
    if (f->coupling_end) flr_stepper_copy_couplings(f, s);
    copy_parts(f, s);
}
