/* what parts can reach soon, the nearest first; and what may go */
#include <stdlib.h>

#include "pager/pager.h"

enum { EVICT_AT_ONCE = 64 }; /* so that a step is waited for once and not for each */

/* what has not been within reach for a second may go as if it were so much farther away; passes are about a millisecond
 * apart */
static const double metres_per_pass = 1e-4;

/* ---- what is wanted ---- */

/* Of what a step can look at: was it there in time? Counted when it comes within reach, from the first step on. */
static void count_need(flr_pager *p, size_t index)
{
    if (p->needed[index] + 1 < p->pass && atomic_load(&p->paging.begun)) {
        uint32_t where = p->where[index];
        p->needs++;
        p->hits += where != FLR_NOWHERE && !p->slots[where].coming;
    }
    p->reach += p->needed[index] != p->pass;
    p->needed[index] = p->pass;
}

static void want(flr_pager *p, uint64_t block, double distance)
{
    size_t index = (size_t)(block - p->blocks.first_block);
    if (distance == 0) count_need(p, index);
    if (p->where[index] != FLR_NOWHERE) {
        flr_slot *slot = &p->slots[p->where[index]];
        if (slot->used != p->pass) slot->distance = distance;
        slot->used = p->pass;
        return;
    }
    if (p->asked[index] >= p->pass || p->list_count == FLR_PAGER_WANTED) return;
    p->asked[index] = p->pass;
    p->list[p->list_count++] = (flr_wanted){block, distance};
}

static void want_cell(flr_pager *p, size_t cell, double distance)
{
    if (p->seen[cell] == p->pass) return;
    p->seen[cell] = p->pass;
    uint64_t first, end;
    for (unsigned field = 0; field < p->blocks.field_count; field++)
        if (flr_blocks_of_cell(&p->blocks, field, cell, &first, &end))
            for (uint64_t block = first; block < end; block++) want(p, block, distance);
}

static void want_sphere(flr_pager *p, flr_vec3 centre, double radius, double distance)
{
    const uint32_t *hypers = p->voxmap->header->grid.hypers;
    int32_t low[3], high[3];
    if (!flr_paging_box(p->voxmap, centre, radius, low, high)) return;
    for (int32_t z = low[2]; z <= high[2]; z++)
        for (int32_t y = low[1]; y <= high[1]; y++)
            for (int32_t x = low[0]; x <= high[0]; x++)
                want_cell(p, ((size_t)z * hypers[1] + (size_t)y) * hypers[0] + (size_t)x, distance);
}

/* What a hyperchunk of a part's points can reach: now, with the margin, and where it goes, wider the farther ahead. In
 * this order: a cell counts for the first that touches it. */
static void want_hyper(flr_pager *p, const flr_paging_part *part, const flr_shell_hyper *hyper,
                       int stage)
{
    flr_vec3 at = flr_pose_apply(part->T_voxmap_shell,
                                 flr_vec3_make((double)hyper->centre[0], (double)hyper->centre[1],
                                               (double)hyper->centre[2]));
    double radius = (double)hyper->radius + part->reach;
    if (stage == 0) {
        want_sphere(p, at, radius, 0);
        return;
    }
    flr_vec3 arm = flr_vec3_sub(at, part->T_voxmap_shell.p);
    flr_vec3 speed = flr_vec3_add(part->motion.linear, flr_vec3_cross(part->motion.angular, arm));
    double way = flr_vec3_length(speed) * p->def.horizon * 0.25 * stage;
    if (!(way < 100)) return; /* also what is no number */
    flr_vec3 middle = flr_vec3_add_scaled(at, 0.125 * stage * p->def.horizon, speed);
    double beyond = p->def.margin + way;
    want_sphere(p, middle, radius + p->def.margin + way / 2, beyond > 0 ? beyond : 1e-9);
}

/* A small shell's own sphere is looked at, too, at its centre (flr_paging_ready()): that of a ring has more in it than those of
 * its hyperchunks. */
static void want_whole(flr_pager *p, const flr_paging_part *part)
{
    const flr_shell *shell = part->shell;
    if (!flr_paging_is_small(p->voxmap, shell)) return;
    flr_vec3 centre =
        flr_vec3_make((double)shell->centre[0], (double)shell->centre[1], (double)shell->centre[2]);
    want_sphere(p, flr_pose_apply(part->T_voxmap_shell, centre),
                (double)shell->radius + part->reach, 0);
}

static int nearer(const void *a, const void *b)
{
    const flr_wanted *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

void flr_ahead_look(flr_pager *p)
{
    const flr_paging_view *view = flr_paging_see(&p->paging);
    p->pass++;
    p->list_count = 0;
    p->needs = p->hits = p->reach = 0;
    for (int stage = 0; stage <= 4; stage++)
        for (uint32_t i = 0; i < view->count; i++) {
            const flr_paging_part *part = &view->parts[i];
            if (stage == 0) want_whole(p, part);
            for (uint32_t k = 0; k < part->shell->hyper_count; k++)
                want_hyper(p, part, &part->shell->hypers[k], stage);
        }
    flr_paging_seen(&p->paging);
    qsort(p->list, p->list_count, sizeof *p->list, nearer);
    flr_count(&p->counts.needed, p->needs);
    flr_count(&p->counts.hits, p->hits);
    atomic_store(&p->counts.reach, p->reach);
}

/* ---- what may go ---- */

/* Waits until no step looks that began before now. */
static void wait_for_step(flr_pager *p)
{
    uint64_t now = atomic_load(&p->paging.steps);
    while (now % 2 && atomic_load(&p->paging.steps) == now && !atomic_load(&p->stop))
        flr_sleep_until(p->def.env, flr_clock_ns(p->def.env) + 50000);
}

/* How far what a slot holds is from the nearest part, metres. */
static double distance_of(const flr_paging_view *view, flr_vec3 at)
{
    double least = 1e9;
    for (uint32_t i = 0; i < view->count; i++) {
        const flr_paging_part *part = &view->parts[i];
        const float *c = part->shell->centre;
        flr_vec3 centre = flr_pose_apply(part->T_voxmap_shell,
                                         flr_vec3_make((double)c[0], (double)c[1], (double)c[2]));
        double away =
            flr_vec3_length(flr_vec3_sub(at, centre)) - (double)part->shell->radius - part->reach;
        if (away < least) least = away;
    }
    return least;
}

/* The more, the sooner it goes; negative: it stays. What is out of reach goes by distance and by how long it has been so; of
 * what is within reach only what is farther than what is wanted. */
static double worth_leaving(const flr_pager *p, const flr_paging_view *view, const flr_slot *s,
                            double wanted)
{
    if (s->block == UINT64_MAX || s->coming) return -1;
    if (s->used >= p->pass) return s->distance > wanted ? s->distance : -1;
    double away = distance_of(view, s->at);
    /* always before what is within reach: that is less than 1000 m away */
    return 1000 + (away > 0 ? away : 0) + metres_per_pass * (double)(p->pass - s->used);
}

bool flr_ahead_make_room(flr_pager *p, double wanted)
{
    /* kept sorted, the one that goes last at the end */
    struct {
        uint32_t slot;
        double worth;
    } out[EVICT_AT_ONCE];
    const flr_paging_view *view = flr_paging_see(&p->paging);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->slot_count; i++) {
        double worth = worth_leaving(p, view, &p->slots[i], wanted);
        if (worth < 0 || (count == EVICT_AT_ONCE && out[count - 1].worth >= worth)) continue;
        uint32_t at = count < EVICT_AT_ONCE ? count++ : count - 1;
        for (; at > 0 && out[at - 1].worth < worth; at--) out[at] = out[at - 1];
        out[at].slot = i;
        out[at].worth = worth;
    }
    flr_paging_seen(&p->paging);
    /* of what is within reach no more than is needed at once */
    for (uint32_t i = 1; i < count; i++)
        if (out[i].worth < 1000) count = i;
    if (count) atomic_fetch_add(&p->paging.withdrawn, 1);
    for (uint32_t i = 0; i < count; i++)
        flr_blocks_withdraw(&p->blocks, p->table, p->slots[out[i].slot].block);
    if (count) wait_for_step(p);
    for (uint32_t i = 0; i < count; i++) {
        flr_slot *s = &p->slots[out[i].slot];
        flr_blocks_forget(&p->blocks, p->table, s->block);
        p->where[s->block - p->blocks.first_block] = FLR_NOWHERE;
        s->block = UINT64_MAX;
        p->free_slots[p->free_count++] = out[i].slot;
    }
    flr_count(&p->counts.evicted, count);
    atomic_fetch_sub(&p->counts.resident, count);
    return count > 0;
}
