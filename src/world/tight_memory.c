/* what pairs of parts remember from step to step: slots for those that are near, and their part of the world's state */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "world/tight_internal.h"

enum {
    SLOTS_EACH = 32, /* for the same two fits, at most */
    SLOTS_MORE = 64, /* of all, besides the first for the same two fits */
    SLOTS_MEGABYTES = 512,
    PATIENCE = 256, /* steps after which a larger onset is tried again */
    ENOUGH =
        25000, /* units of work: a pair that takes more is measured more coarsely for display */
    FINER = 64 /* steps after which one that takes much less is measured more finely */
};

#define USUAL   5e-6 /* metres: an onset that is no larger is never made smaller */
#define LARGEST 1e-3 /* metres: one that is larger is cut to this */

/* ---- making ---- */

static bool may_meet(const flr_tight *e, const flr_world_part *parts, uint32_t a, uint32_t b)
{
    return a != b && e->parts[a].fit && e->parts[b].fit && parts[b].kind != FLR_PART_STATIC;
}

/* How many pairs of parts each pair of fits stands for. */
static void count_pairs(flr_tight *e, const flr_world_part *parts)
{
    for (uint32_t b = 0; b < e->part_count; b++)
        for (uint32_t a = 0; a < e->part_count; a++) {
            flr_tight_shelf *shelf =
                &e->shelves[e->parts[a].kind * e->kind_count + e->parts[b].kind];
            if (may_meet(e, parts, a, b) && shelf->count < SLOTS_EACH) shelf->count++;
        }
}

static const flr_fit *fit_of(const flr_tight *e, uint32_t kind)
{
    uint32_t i = 0;
    while (!e->parts[i].fit || e->parts[i].kind != kind) i++;
    return e->parts[i].fit;
}

/* Fills a shelf; only its first slot, when there are enough of others. */
static flr_result fill_shelf(flr_tight *e, uint32_t number, uint64_t *bytes, flr_error *error)
{
    flr_tight_shelf *shelf = &e->shelves[number];
    const flr_fit *a = fit_of(e, number / e->kind_count), *b = fit_of(e, number % e->kind_count);
    shelf->first = e->slot_count;
    for (uint32_t i = 0; i < shelf->count; i++) {
        flr_fit_pair **fits = &e->slots[e->slot_count].fits;
        flr_result result = flr_fit_pair_create(a, b, fits, error);
        if (result != FLR_OK) return result;
        *bytes += flr_fit_pair_bytes(*fits);
        e->slot_count++;
        if (*bytes > (uint64_t)SLOTS_MEGABYTES << 20) shelf->count = i + 1;
    }
    return FLR_OK;
}

/* Besides the first of each shelf there are SLOTS_MORE in all: as many for each shelf as it can use, but for none more than for
 * others that lack some. Returns how many there are. */
static uint32_t share_slots(flr_tight *e)
{
    const uint32_t shelves = e->kind_count * e->kind_count;
    uint32_t each = 1, more = 0, wanted = 0;
    for (; each < SLOTS_EACH; each++) {
        uint32_t next = more;
        for (uint32_t i = 0; i < shelves; i++) next += e->shelves[i].count > each;
        if (next > SLOTS_MORE) break;
        more = next;
    }
    for (uint32_t i = 0; i < shelves; i++) {
        if (e->shelves[i].count > each) e->shelves[i].count = each;
        wanted += e->shelves[i].count;
    }
    return wanted;
}

flr_result flr_tight_make_slots(flr_tight *e, const flr_world_part *parts, flr_error *error)
{
    const uint32_t shelves = e->kind_count * e->kind_count;
    uint64_t bytes = 0;
    e->shelves = calloc(shelves ? shelves : 1, sizeof *e->shelves);
    if (!e->shelves) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for exact contact");
    count_pairs(e, parts);
    const uint32_t wanted = share_slots(e);
    e->slots = flr_prefaulted_calloc(wanted ? wanted : 1, sizeof *e->slots);
    if (!e->slots) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for exact contact");
    for (uint32_t i = 0; i < shelves; i++) {
        flr_result result = e->shelves[i].count ? fill_shelf(e, i, &bytes, error) : FLR_OK;
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

void flr_tight_free_slots(flr_tight *e)
{
    for (uint32_t i = 0; i < e->slot_count; i++) flr_fit_pair_destroy(e->slots[i].fits);
    free(e->slots);
    free(e->shelves);
}

/* ---- using ---- */

static const flr_tight_shelf *shelf_of(const flr_tight *e, uint32_t a, uint32_t b)
{
    return &e->shelves[e->parts[a].kind * e->kind_count + e->parts[b].kind];
}

flr_fit_pair *flr_tight_any_slot(const flr_tight *e, uint32_t a, uint32_t b)
{
    return e->slots[shelf_of(e, a, b)->first].fits;
}

static uint64_t key_of(uint32_t a, uint32_t b) { return ((uint64_t)a << 32 | b) + 1; }

flr_fit_contact *flr_tight_room(flr_tight *e, uint32_t *capacity)
{
    const uint32_t left = FLR_TIGHT_SPOTS - e->raw_count;
    *capacity = left < FLR_TIGHT_RAW ? left : FLR_TIGHT_RAW;
    return e->raw[1] + e->raw_count;
}

/* After a state was loaded: what the slot knew when it was saved. The pair is asked again what it was asked at the end of the
 * step before; that is not to be remembered. */
static void recall(flr_world *w, flr_tight_slot *slot, const flr_tight_memory *m, uint32_t a,
                   uint32_t b)
{
    flr_tight *e = w->tight;
    slot->stale = false;
    slot->ahead.known = false;
    flr_fit_pair_restore(slot->fits, &m->track);
    if (!m->known) return;
    flr_fit_params ask = flr_default_fit_params();
    uint32_t capacity;
    flr_fit_contact *list = flr_tight_room(e, &capacity);
    ask.reach = m->listed ? m->reach : -1;
    ask.max_distance = m->range;
    ask.tolerance = m->tolerance;
    slot->ahead = (flr_tight_ahead){.T_a_b = flr_tight_between(w->poses[a], w->poses[b]),
                                    .reach = m->reach,
                                    .range = m->range,
                                    .tolerance = m->tolerance,
                                    .listed = m->listed,
                                    .recent = true,
                                    .first = e->raw_count};
    flr_fit_pair_query(slot->fits, slot->ahead.T_a_b, &ask, list, capacity, &slot->ahead.result);
    slot->ahead.known = slot->ahead.result.complete;
    e->raw_count += slot->ahead.result.contact_count;
    flr_fit_pair_restore(slot->fits, &m->track);
}

uint32_t flr_tight_take_slot(flr_world *w, uint32_t a, uint32_t b)
{
    flr_tight *e = w->tight;
    flr_tight_memory *memory = flr_tight_memories(w, w->state);
    const flr_tight_shelf *shelf = shelf_of(e, a, b);
    uint32_t best = shelf->first;
    for (uint32_t i = shelf->first; i < shelf->first + shelf->count; i++) {
        if (memory[i].key == key_of(a, b)) {
            memory[i].used = w->state->number + 1;
            if (e->slots[i].stale) recall(w, &e->slots[i], &memory[i], a, b);
            return i;
        }
        if (memory[i].used < memory[best].used) best = i;
    }
    e->slots[best].stale = e->slots[best].ahead.known = false;
    flr_fit_pair_restore(e->slots[best].fits, NULL);
    // pairs that drive each other out of a slot in each step would lack time forever
    const uint64_t debt = memory[best].used >= w->state->number ? memory[best].debt : 0;
    memory[best] =
        (flr_tight_memory){.key = key_of(a, b), .used = w->state->number + 1, .debt = debt};
    return best;
}

/* Does what is known of a pair hold where it is now? Samples of a pair that stays are taken along. */
static bool still_known(flr_world *w, const flr_tight_near *n, flr_tight_ahead *ahead)
{
    flr_tight *e = w->tight;
    const flr_body *bodies = w->state->bodies;
    if (!ahead->known ||
        !flr_tight_same_pose(
            ahead->T_a_b, flr_tight_between(bodies[n->a].T_world_part, bodies[n->b].T_world_part)))
        return false;
    if (ahead->recent) return true;
    uint32_t capacity, count = ahead->result.contact_count;
    flr_fit_contact *list = flr_tight_room(e, &capacity);
    if (count > capacity) return false;
    if (count) memcpy(list, e->raw[0] + ahead->first, count * sizeof *list);
    ahead->recent = true;
    ahead->first = e->raw_count;
    e->raw_count += count;
    return true;
}

bool flr_tight_onset_is_large(const flr_world *w) { return w->params.exact.onset > USUAL; }

/* Each step without enough time brings it four times nearer, until it is as usual. */
double flr_tight_find_onset(const flr_world *w)
{
    const flr_tight_memory *memory = flr_tight_memories(w, w->state);
    double onset = w->params.exact.onset;
    if (!flr_tight_onset_is_large(w)) return onset;
    uint64_t most = 0;
    for (uint32_t i = 0; i < w->tight->slot_count; i++)
        if (memory[i].key != 0 && memory[i].used == w->state->number && memory[i].debt > most)
            most = memory[i].debt;
    onset = fmin(onset, LARGEST);
    for (uint64_t i = 0; i < most && i < FLR_TIGHT_NEARER; i++) onset = fmax(onset / 4, USUAL);
    return onset;
}

/* What a pair lacks after a step. An onset that came nearer stays so for a while, or forces would come and go. What a pair may spend
 * stays so, too: pairs of one part that lack time in turns would hold it forever. */
static uint64_t debt_after(const flr_world *w, uint64_t debt, bool exhausted)
{
    if (exhausted) return debt < FLR_TIGHT_DEBT ? debt + 1 : FLR_TIGHT_DEBT;
    if (debt == 0) return 0;
    if (flr_tight_onset_is_large(w) && debt > FLR_TIGHT_NEARER) return FLR_TIGHT_NEARER;
    return w->state->number % PATIENCE == 0 ? debt - 1 : debt;
}

/* How coarsely a pair is measured for display after a step that took so much work. */
static uint64_t coarseness_after(const flr_world *w, uint64_t coarseness, uint64_t work)
{
    if (work > ENOUGH) return coarseness < FLR_TIGHT_COARSEST ? coarseness + 1 : coarseness;
    const bool finer = coarseness > 0 && work < ENOUGH / 4 && w->state->number % FINER == 0;
    return finer ? coarseness - 1 : coarseness;
}

void flr_tight_keep_memory(flr_world *w)
{
    const flr_tight *e = w->tight;
    flr_tight_memory *memory = flr_tight_memories(w, w->state);
    for (uint32_t i = 0; i < e->near_count; i++) {
        const flr_tight_near *n = &e->nears[i];
        flr_tight_slot *slot = &e->slots[n->slot];
        flr_tight_memory *m = &memory[n->slot];
        if (m->key != key_of(n->a, n->b)) continue;
        slot->ahead.known = still_known(w, n, &slot->ahead);
        m->track = flr_fit_pair_save(slot->fits);
        m->debt = debt_after(w, m->debt,
                             n->exhausted || n->result.contact_total > n->result.contact_count);
        m->coarseness = coarseness_after(w, m->coarseness, n->work);
        m->distance = fmin(fmax(n->result.distance, 0), w->params.exact.range);
        m->approach = slot->ahead.known ? 0 : flr_tight_may_come(w, n);
        m->outside = n->outside;
        m->T_a_b = flr_tight_between(w->state->bodies[n->a].T_world_part,
                                     w->state->bodies[n->b].T_world_part);
        m->known = slot->ahead.known;
        m->listed = slot->ahead.known && slot->ahead.listed;
        m->reach = slot->ahead.known ? slot->ahead.reach : 0;
        m->range = slot->ahead.known ? slot->ahead.range : 0;
        m->tolerance = slot->ahead.known ? slot->ahead.tolerance : 0;
    }
}

/* ---- the state ---- */

static size_t memories_at(uint32_t part_count)
{
    return (sizeof(flr_tight_state) + part_count + 7) & ~(size_t)7;
}

size_t flr_tight_state_size(const flr_tight *e)
{
    return memories_at(e->part_count) + e->slot_count * sizeof(flr_tight_memory);
}

flr_tight_memory *flr_tight_memories(const flr_world *w, void *state)
{
    uint8_t *at = (uint8_t *)flr_world_tight(w, state);
    return (flr_tight_memory *)(void *)(at + memories_at(w->def.part_count));
}

bool flr_tight_memories_are_valid(const flr_tight *e, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < e->slot_count; i++) {
        flr_tight_memory m;
        memcpy(&m, bytes + memories_at(e->part_count) + i * sizeof m, sizeof m);
        const uint64_t pair = m.key - 1;
        if (m.known > 1 || m.listed > 1 || m.outside > 1 || m.debt > FLR_TIGHT_DEBT ||
            m.coarseness > FLR_TIGHT_COARSEST || !isfinite(m.distance) || !isfinite(m.approach) ||
            !isfinite(m.reach) || !isfinite(m.range) || !(m.tolerance >= 0) ||
            !isfinite(m.tolerance))
            return false;
        if (m.key != 0 && (pair >> 32 >= e->part_count || (uint32_t)pair >= e->part_count))
            return false;
    }
    return true;
}

void flr_tight_loaded(flr_world *w)
{
    for (uint32_t i = 0; w->tight && i < w->tight->slot_count; i++) w->tight->slots[i].stale = true;
}
