/* blocks from the file into slots: several under way at once, each compared with its checksum before it counts */
#include "pager/pager.h"
#include "voxel/voxfile_format.h"

static const int64_t retry_ns =
    5000000; /* after trouble, the first time; then twice as long each time */
static const int64_t retry_most_ns = 250000000;
enum {
    DAMAGED_PASSES = 500
}; /* so long what is damaged is left alone, for the sake of all others */

/* ---- trouble ---- */

/* Several that were under way together fail together: that is one trouble. */
static void note_trouble(flr_pager *p, flr_result result, const flr_error *why)
{
    int64_t now = flr_clock_ns(p->def.env);
    if (now >= p->retry_at) {
        p->retry_after = p->retry_after ? 2 * p->retry_after : retry_ns;
        if (p->retry_after > retry_most_ns) p->retry_after = retry_most_ns;
        p->retry_at = now + p->retry_after;
    }
    flr_count(&p->counts.failures, 1);
    pthread_mutex_lock(&p->mutex);
    if (p->damaged == UINT64_MAX) {
        p->result = result;
        p->trouble = *why;
    }
    pthread_mutex_unlock(&p->mutex);
}

/* What is wrong with the file itself does not pass: others go on, and this block is hardly ever tried again. */
static void note_damage(flr_pager *p, uint64_t block, const flr_error *why)
{
    p->asked[block - p->blocks.first_block] = p->pass + DAMAGED_PASSES;
    flr_count(&p->counts.failures, 1);
    pthread_mutex_lock(&p->mutex);
    p->result = FLR_BAD_INPUT;
    p->trouble = *why;
    p->damaged = block;
    pthread_mutex_unlock(&p->mutex);
}

static void end_request(flr_pager *p, flr_request *r)
{
    flr_slot *s = &p->slots[r->slot];
    s->coming = false;
    r->block = UINT64_MAX;
}

/* Its slot is free again. */
static void give_up(flr_pager *p, flr_request *r)
{
    p->where[r->block - p->blocks.first_block] = FLR_NOWHERE;
    p->slots[r->slot].block = UINT64_MAX;
    p->free_slots[p->free_count++] = r->slot;
    end_request(p, r);
}

/* ---- asking ---- */

static uint64_t offset_of(const flr_pager *p, uint64_t block)
{
    return p->data + block * FLR_VOXFILE_BLOCK;
}

static uint8_t *bytes_of(const flr_pager *p, uint32_t slot)
{
    return p->paging.pool + (size_t)slot * FLR_VOXFILE_BLOCK;
}

static bool add(flr_pager *p, flr_request *r)
{
    return flr_reads_add(p->reads, (uint64_t)(r - p->requests), offset_of(p, r->block) + r->done,
                         bytes_of(p, r->slot) + r->done, r->size - r->done);
}

static flr_request *free_request(flr_pager *p)
{
    for (uint32_t i = 0; i < p->def.depth; i++)
        if (p->requests[i].block == UINT64_MAX) return &p->requests[i];
    return NULL;
}

static bool ask(flr_pager *p, uint64_t block)
{
    flr_request *r = free_request(p);
    if (!r) return false;
    uint64_t left = p->file_size - offset_of(p, block);
    *r = (flr_request){.block = block,
                       .slot = p->free_slots[p->free_count - 1],
                       .size = left < FLR_VOXFILE_BLOCK ? (size_t)left : FLR_VOXFILE_BLOCK,
                       .begin_ns = flr_clock_ns(p->def.env)};
    if (!add(p, r)) {
        r->block = UINT64_MAX;
        return false;
    }
    p->free_count--;
    p->slots[r->slot] = (flr_slot){
        .block = block, .used = p->pass, .at = flr_blocks_place(&p->blocks, block), .coming = true};
    p->where[block - p->blocks.first_block] = r->slot;
    return true;
}

void flr_fetch_ask(flr_pager *p, uint32_t limit)
{
    /* after trouble one is tried, and the others when that has come */
    if (p->retry_after && flr_clock_ns(p->def.env) < p->retry_at) return;
    if (p->retry_after) limit = 1;
    uint32_t next = 0;
    bool room = true;
    while (next < p->list_count && flr_reads_under_way(p->reads) < limit) {
        const flr_wanted *w = &p->list[next];
        room = p->free_count > 0 || flr_ahead_make_room(p, w->distance);
        if (!room || !ask(p, w->block)) break;
        p->slots[p->where[w->block - p->blocks.first_block]].distance = w->distance;
        next++;
    }
    atomic_store(&p->counts.refused, room ? 0 : p->list_count - next);
}

/* ---- taking ---- */

/* It is there, whole and right. */
static void put_in_place(flr_pager *p, flr_request *r)
{
    int64_t took = flr_clock_ns(p->def.env) - r->begin_ns;
    flr_blocks_put(&p->blocks, p->table, r->block, r->slot);
    p->retry_after = p->retry_at = 0;
    flr_count(&p->counts.blocks_read, 1);
    flr_count(&p->counts.bytes_read, r->size);
    atomic_fetch_add(&p->counts.resident, 1);
    if (took > atomic_load(&p->counts.slowest_ns)) atomic_store(&p->counts.slowest_ns, took);
    pthread_mutex_lock(&p->mutex);
    if (p->damaged == r->block) p->damaged = UINT64_MAX;
    if (p->damaged == UINT64_MAX) p->result = FLR_OK;
    pthread_mutex_unlock(&p->mutex);
    end_request(p, r);
}

/* All its bytes have come. True: and they are right. */
static bool check(flr_pager *p, flr_request *r)
{
    if (flr_hash_equal(flr_hash_bytes(bytes_of(p, r->slot), r->size), p->hashes[r->block])) {
        put_in_place(p, r);
        return true;
    }
    flr_error why;
    flr_fail(&why, FLR_BAD_INPUT,
             "%s: damaged: the checksum at byte %llu is wrong; build it again with feeler voxelize",
             p->path, (unsigned long long)offset_of(p, r->block));
    /* it may come from the way here: it is read once more */
    if (!r->again) {
        r->again = true;
        r->done = 0;
        flr_count(&p->counts.failures, 1);
        if (add(p, r)) return false;
    }
    note_damage(p, r->block, &why);
    give_up(p, r);
    return false;
}

/* What became of a read. True: a block is new in the table. */
static bool settle(flr_pager *p, flr_request *r, flr_result result, size_t got, flr_error *why)
{
    if (result == FLR_OK && got == 0) {
        flr_fail(why, FLR_BAD_INPUT,
                 "%s: has become shorter while it was in use; build it again with feeler voxelize",
                 p->path);
        note_damage(p, r->block, why);
        give_up(p, r);
        return false;
    }
    if (result != FLR_OK) {
        note_trouble(p, result, why);
        give_up(p, r);
        return false;
    }
    r->done += got;
    if (r->done == r->size) return check(p, r);
    if (!add(p, r)) give_up(p, r); /* there is room: its own */
    return false;
}

uint32_t flr_fetch_take(flr_pager *p, int64_t deadline_ns)
{
    uint32_t fresh = 0, most = flr_reads_under_way(p->reads);
    for (uint32_t i = 0; i < most; i++) {
        flr_error why;
        uint64_t id;
        size_t got;
        flr_result result = flr_reads_take(p->reads, i == 0 ? deadline_ns : 0, &id, &got, &why);
        if (result == FLR_TIMEOUT) break;
        fresh += settle(p, &p->requests[id], result, got, &why);
    }
    return fresh;
}
