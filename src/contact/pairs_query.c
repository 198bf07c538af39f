/* queries of all pairs: one context for all of them or one a thread, sums per part in a fixed order */
#include <string.h>

#include "contact/pairs_internal.h"

void flr_pairs_forget_answers(flr_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->answered; i++) {
        flr_pair pair = pairs->results[i].pair;
        pairs->totals[pair.shell] = flr_no_part_total;
        pairs->totals[pair.voxmap == FLR_PAIRS_MERGED ? pairs->def.parts : pair.voxmap] =
            flr_no_part_total;
    }
    pairs->answered = pairs->contact_count = 0;
}

/* A pair that is near is remembered from now on, where there is room. */
static void remember(flr_pairs *pairs, uint32_t index)
{
    pairs_slot *at = &pairs->slots[pairs->current][index];
    const flr_pair pair = pairs->lists[pairs->current][index];
    const pairs_place *a = place_of(pairs, pair.shell), *b = place_of(pairs, pair.voxmap);
    if (at->slot != FLR_NO_MEMORY_SLOT) return;
    at->slot = flr_chunk_memories_take(pairs->memories, a->part.shape.shell->chunk_count);
    at->shell = a->generation;
    at->voxmap = b->generation;
}

static void add_total(flr_part_total *total, const flr_contact_result *r, flr_wrench wrench,
                      flr_wrench braking)
{
    total->wrench = flr_wrench_add(total->wrench, wrench);
    total->braking = flr_vec3_add(total->braking, braking.force);
    total->braking_turn = flr_vec3_add(total->braking_turn, braking.torque);
    total->pairs++;
    total->contacts += r->contacts;
    total->penetrations += r->penetrations;
    total->near += r->near;
    total->lower = r->lower < total->lower ? r->lower : total->lower;
    total->upper = r->upper < total->upper ? r->upper : total->upper;
}

/* From one part of a pair to the other: from where to where torques are moved. */
static flr_vec3 centre_to_centre(const flr_pairs_part *a, const flr_pairs_part *b)
{
    return flr_vec3_sub(flr_pose_apply(b->T_world_part, b->centre),
                        flr_pose_apply(a->T_world_part, a->centre));
}

/* The next query of a context notes what is near for the pair with this index, in what is left of its chunks. */
static flr_near_notes *begin_notes(flr_pairs *pairs, uint32_t index, flr_pair_memory *memory,
                                   uint32_t chunks_used)
{
    flr_near_notes *notes = &pairs->notes[index];
    *notes = (flr_near_notes){.capacity = index < NOTED ? FLR_NEAR_CHUNKS - chunks_used : 0,
                              .chunks = memory->chunks + chunks_used};
    flr_pair_memory_use_notes(memory, notes);
    return notes;
}

/* Chunks that are used with those that were noted last. Once there was no room, there is none for the pairs behind. */
static uint32_t chunks_after(const flr_near_notes *notes, uint32_t used)
{
    if (notes->full || (notes->known && notes->count > FLR_NEAR_CHUNKS - used))
        return FLR_NEAR_CHUNKS;
    return notes->known ? used + notes->count : used;
}

/* Of a pair for which there is no room. */
static uint32_t forget_notes(flr_near_notes *notes, uint32_t chunks_used)
{
    notes->known = false;
    return chunks_used;
}

static void query_coherent(flr_coherent *engine, const flr_pairs_part *a, const flr_pairs_part *b,
                           const flr_contact_params *params, flr_pair_result *told)
{
    flr_coherent_result r;
    flr_coherent_query(engine, a->T_world_part, b->T_world_part, params, &r);
    told->contact = r.contact;
    told->waiting = r.waiting;
    told->late = r.late;
    told->max_travel = r.max_travel;
}

/* Queries the pair with this index; its motion may be NULL: at rest. Writes its result and notes, where its contacts are, and
 * nothing else. Returns how many chunks are used then. */
static uint32_t query_pair(flr_pairs *pairs, uint32_t index, unsigned worker,
                           flr_contact_pair *context, uint32_t chunks_used,
                           const flr_contact **list)
{
    const flr_pair pair = pairs->lists[pairs->current][index];
    const flr_pairs_part *a = &place_of(pairs, pair.shell)->part,
                         *b = &place_of(pairs, pair.voxmap)->part;
    const flr_twist *motion = pairs->motion;
    flr_contact_params params = pairs->def.params;
    params.centre = a->centre;
    params.motion = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    if (motion && a->moving) params.motion = motion[pair.shell];
    if (motion && b->moving) {
        flr_twist of_b = flr_twist_move(motion[pair.voxmap], flr_vec3_neg(centre_to_centre(a, b)));
        params.motion = flr_twist_add(params.motion, flr_twist_scale(of_b, -1));
    }
    flr_pair_memory *memory = flr_contact_pair_memory(context);
    flr_near_notes *notes =
        begin_notes(pairs, index < NOTED ? index : NOTED + worker, memory, chunks_used);
    flr_pair_result *told = &pairs->results[index];
    told->pair = pair;
    told->waiting = 0;
    told->late = false;
    told->max_travel = INFINITY;
    flr_coherent *coherent = pairs->coherent ? flr_pairs_coherent_of(pairs, pair) : NULL;
    if (flr_pairs_is_clear(pairs, index, &params, &told->contact)) {
        flr_contact_note_nothing(context, a->shape.shell, b->shape.table, a->T_world_part,
                                 b->T_world_part, &params);
        *list = flr_contact_list(context);
        return index < NOTED ? chunks_after(notes, chunks_used) : forget_notes(notes, chunks_used);
    }
    flr_contact_pair_aim(context, a->shape.shell, b->shape.table);
    memory->rooms =
        flr_chunk_memories_at(pairs->memories, pairs->slots[pairs->current][index].slot);
    if (coherent) {
        query_coherent(coherent, a, b, &params, told);
        *list = flr_coherent_list(coherent);
    } else {
        flr_contact_query(context, a->T_world_part, b->T_world_part, &params, &told->contact);
        flr_pairs_note_clear(pairs, index, memory->room, &told->contact);
        *list = flr_contact_list(context);
    }
    return index < NOTED ? chunks_after(notes, chunks_used) : forget_notes(notes, chunks_used);
}

/* Adds what a query found to the two parts, and its contacts behind those of the pairs before. */
static void add_result(flr_pairs *pairs, uint32_t index, const flr_contact *contacts)
{
    flr_pair_result *told = &pairs->results[index];
    flr_contact_result *r = &told->contact;
    const flr_pairs_part *a = &place_of(pairs, told->pair.shell)->part,
                         *b = &place_of(pairs, told->pair.voxmap)->part;
    const uint32_t other =
        told->pair.voxmap == FLR_PAIRS_MERGED ? pairs->def.parts : told->pair.voxmap;
    const flr_vec3 a_to_b = centre_to_centre(a, b);
    told->opposite = flr_wrench_move(flr_wrench_scale(r->wrench, -1), a_to_b);
    flr_wrench braking = flr_wrench_make(r->braking_turn, r->braking);
    add_total(&pairs->totals[told->pair.shell], r, r->wrench, braking);
    add_total(&pairs->totals[other], r, told->opposite,
              flr_wrench_move(flr_wrench_scale(braking, -1), a_to_b));
    uint32_t room = pairs->def.contacts - pairs->contact_count;
    if (r->listed > room) r->listed = room;
    told->first = pairs->contact_count;
    memcpy(pairs->contacts + told->first, contacts, r->listed * sizeof *pairs->contacts);
    pairs->contact_count += r->listed;
    if (!r->far && !pairs->coherent) remember(pairs, index);
}

/* One of several threads: its contacts and notes stay with it until all are done. It takes pairs in ascending order, so it has
 * room for as many contacts as the list. */
static void query_shared(flr_pairs *pairs, uint32_t item, unsigned worker)
{
    pairs_worker *w = &pairs->workers[worker];
    flr_contact_result *r = &pairs->results[item].contact;
    const flr_contact *list;
    w->chunks_used = query_pair(pairs, item, worker, w->query_context, w->chunks_used, &list);
    uint32_t room = pairs->def.contacts - w->contact_count;
    if (r->listed > room) r->listed = room;
    pairs->results[item].first = w->contact_count;
    memcpy(w->contacts + w->contact_count, list, r->listed * sizeof *w->contacts);
    w->contact_count += r->listed;
    pairs->worker_of[item] = (uint8_t)worker;
}

/* Threads share the pairs. What comes out is what one thread would have found, to the bit. */
static void query_together(flr_pairs *pairs)
{
    for (unsigned i = 0; i < pairs->def.threads; i++)
        pairs->workers[i].contact_count = pairs->workers[i].chunks_used = 0;
    flr_worker_pool_run(pairs->pool, pairs->count);
    flr_contact_pair_memory(pairs->query_context)->check->known = false; /* as after any query */
    uint32_t used = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        const pairs_worker *w = &pairs->workers[pairs->worker_of[i]];
        add_result(pairs, i, w->contacts + pairs->results[i].first);
        /* one thread would have had room for so many */
        if (i >= NOTED) continue;
        flr_near_notes *notes = &pairs->notes[i];
        const uint32_t after = chunks_after(notes, used);
        notes->known = notes->known && notes->count <= FLR_NEAR_CHUNKS - used;
        used = after;
    }
}

static bool touches(const flr_pair_result *r) { return r->contact.contacts || r->contact.near; }

/* Where the two of a pair are. */
static void places_of(const flr_pairs *pairs, flr_pair pair, uint32_t places[2])
{
    places[0] = pair.shell;
    places[1] = pair.voxmap == FLR_PAIRS_MERGED ? pairs->def.parts : pair.voxmap;
}

/* Lists for each part the pairs in which it touches something. */
static void list_touching(flr_pairs *pairs)
{
    uint32_t *first = pairs->touching_first, places[2], total = 0;
    memset(first, 0, ((size_t)pairs->def.parts + 2) * sizeof *first);
    for (uint32_t i = 0; i < pairs->answered; i++) {
        if (!touches(&pairs->results[i])) continue;
        places_of(pairs, pairs->results[i].pair, places);
        first[places[0] + 1]++;
        first[places[1] + 1]++;
    }
    /* each counts up from where its list begins to where the next one does */
    for (uint32_t i = 1; i <= pairs->def.parts + 1; i++) {
        const uint32_t count = first[i];
        first[i] = total;
        total += count;
    }
    for (uint32_t i = 0; i < pairs->answered; i++) {
        if (!touches(&pairs->results[i])) continue;
        places_of(pairs, pairs->results[i].pair, places);
        pairs->touching[first[places[0] + 1]++] = i;
        pairs->touching[first[places[1] + 1]++] = i;
    }
}

void flr_pairs_query(flr_pairs *pairs, const flr_twist *motion)
{
    flr_pairs_forget_answers(pairs);
    pairs->motion = motion;
    if (pairs->pool && pairs->count >= SHARED_PAIRS) {
        query_together(pairs);
    } else {
        uint32_t used = 0;
        for (uint32_t i = 0; i < pairs->count; i++) {
            const flr_contact *list;
            used = query_pair(pairs, i, 0, pairs->query_context, used, &list);
            add_result(pairs, i, list);
        }
    }
    pairs->answered = pairs->count;
    list_touching(pairs);
}

/* The index of a pair for which it was noted what is near, or NOTED. The list is sorted. */
static uint32_t find_notes(const flr_pairs *pairs, flr_pair pair)
{
    const flr_pair *list = pairs->lists[pairs->current];
    const uint64_t key = flr_pair_key(pair);
    uint32_t low = 0, high = pairs->answered < NOTED ? pairs->answered : NOTED;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (flr_pair_key(list[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < pairs->answered && low < NOTED && list[low].shell == pair.shell &&
                       list[low].voxmap == pair.voxmap;
    return found ? low : NOTED;
}

/* In this context, which may remember the last check of the same pair. */
static void check_motion(const flr_pairs *pairs, flr_contact_pair *context,
                         const flr_pair_motion *motion, const flr_motion_check_params *params,
                         flr_motion_check_result *result)
{
    const flr_pair pair = motion->pair;
    bool merged = pair.voxmap == FLR_PAIRS_MERGED;
    const pairs_place *of_a = place_of(pairs, pair.shell), *of_b = place_of(pairs, pair.voxmap);
    const flr_pairs_part *a = &of_a->part, *b = &of_b->part;
    flr_motion_check_params check = *params;
    check.centre = a->centre;
    check.displacement = pairs->def.params.displacement;
    flr_pose_span of_shell = {a->T_world_part, motion->T_world_shell},
                  of_voxmap = {b->T_world_part, merged ? b->T_world_part : motion->T_world_voxmap};
    const uint32_t index = find_notes(pairs, pair);
    *result = (flr_motion_check_result){.fraction = 1};
    if (flr_pairs_passes(&pairs->notes[index], of_a, of_b, of_shell.to, of_voxmap.to, &check,
                         &result->travel))
        return;
    flr_contact_pair_aim(context, a->shape.shell, b->shape.table);
    flr_pair_memory *memory = flr_contact_pair_memory(context);
    flr_pair_memory_use_notes(memory, &pairs->notes[index]);
    if (index < NOTED)
        memory->rooms =
            flr_chunk_memories_at(pairs->memories, pairs->slots[pairs->current][index].slot);
    flr_contact_check_motion(context, of_shell, of_voxmap, &check, result);
}

void flr_pairs_check_motion(flr_pairs *pairs, flr_pair pair, flr_pose T_world_shell,
                            flr_pose T_world_voxmap, const flr_motion_check_params *params,
                            flr_motion_check_result *result)
{
    const flr_pair_motion motion = {pair, T_world_shell, T_world_voxmap};
    if (flr_pair_key(pair) != flr_pair_key(pairs->checked_last))
        flr_contact_pair_memory(pairs->query_context)->check->known = false;
    pairs->checked_last = pair;
    check_motion(pairs, pairs->query_context, &motion, params, result);
}

static void check_shared(const flr_pairs *pairs, uint32_t item, unsigned worker)
{
    flr_contact_pair *context = pairs->workers[worker].query_context;
    flr_contact_pair_memory(context)->check->known = false;
    check_motion(pairs, context, &pairs->checks[item], pairs->check_params, &pairs->checked[item]);
}

void flr_pairs_work(void *context, uint32_t item, unsigned worker)
{
    flr_pairs *pairs = context;
    if (pairs->checks)
        check_shared(pairs, item, worker);
    else
        query_shared(pairs, item, worker);
}

void flr_pairs_check_motions(flr_pairs *pairs, const flr_pair_motion *motions, uint32_t count,
                             const flr_motion_check_params *params,
                             flr_motion_check_result *results)
{
    for (uint32_t i = 0; !pairs->pool && i < count; i++)
        flr_pairs_check_motion(pairs, motions[i].pair, motions[i].T_world_shell,
                               motions[i].T_world_voxmap, params, &results[i]);
    if (!pairs->pool || count == 0) return;
    pairs->checks = motions;
    pairs->check_params = params;
    pairs->checked = results;
    flr_worker_pool_run(pairs->pool, count);
    pairs->checks = NULL;
}

const flr_pair_result *flr_pairs_results(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->answered;
    return pairs->results;
}

const uint32_t *flr_pairs_touching(const flr_pairs *pairs, uint32_t index, uint32_t *count)
{
    const uint32_t *first =
        pairs->touching_first + (index == FLR_PAIRS_MERGED ? pairs->def.parts : index);
    *count = pairs->answered ? first[1] - first[0] : 0;
    return pairs->touching + first[0];
}

const flr_part_total *flr_pairs_total(const flr_pairs *pairs, uint32_t index)
{
    return &pairs->totals[index == FLR_PAIRS_MERGED ? pairs->def.parts : index];
}

const flr_contact *flr_pairs_contacts(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->contact_count;
    return pairs->contacts;
}
