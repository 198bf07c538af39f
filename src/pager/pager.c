/* the pager: what parts can reach soon is read, checked and put in place; what is out of reach longest goes
 *
 * A pass looks at where the parts are (the newest view of a step), collects the blocks within their reach, and reads those
 * that are missing, the nearest first. All state but the table's and the numbers shown belongs to the one thread
 * that makes passes. */
#include "feeler/pager.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "feeler/assert.h"
#include "pager/blocks.h"
#include "voxel/voxfile_format.h"

enum {
    WANTED = 65536,    /* blocks that one pass may ask for: 4 GiB */
    EVICT_AT_ONCE = 64 /* so that a step is waited for once and not for each */
};
#define NOWHERE UINT32_MAX
static const int64_t pass_ns = 1000000; /* between two passes that find nothing to do */
static const int64_t retry_ns =
    5000000; /* after trouble, the first time; then twice as long each time */
static const int64_t retry_most_ns = 250000000;

typedef struct wanted {
    uint64_t block;
    double distance; /* metres beyond what a step looks at: the less the sooner */
} wanted;

typedef struct slot {
    uint64_t block; /* UINT64_MAX: free */
    uint64_t used;  /* the pass that last had it within reach */
} slot;

struct flr_pager {
    flr_pager_def def;
    char *path;
    flr_file *file;
    flr_voxmap *voxmap;
    flr_contact_table *table;
    flr_paging paging;
    flr_blocks blocks;
    uint64_t data;          /* where block 0 begins in the file */
    uint64_t file_size;     /* when it was opened */
    const flr_hash *hashes; /* of blocks */
    uint8_t *buffer;        /* [FLR_VOXFILE_BLOCK] */
    slot *slots;            /* [slot_count] */
    uint32_t slot_count, free_count;
    uint32_t *free_slots; /* [free_count] */
    uint32_t *where;      /* [end_block - first_block]: slot, or NOWHERE */
    uint64_t *asked;      /* [end_block - first_block]: the pass that asked for it */
    uint64_t *seen;       /* [cells]: the pass that looked at it */
    wanted *list;         /* [WANTED] */
    uint32_t list_count;
    uint64_t pass;
    int64_t retry_at, retry_after; /* 0: no trouble */
    pthread_t thread;
    bool started;
    atomic_bool stop;
    pthread_mutex_t mutex; /* of what follows */
    flr_pager_stats stats;
    flr_result result;
    flr_error trouble;
    bool for_good;
};

flr_pager_def flr_default_pager_def(void)
{
    return (flr_pager_def){.budget = UINT64_C(1) << 30, .horizon = 0.25, .margin = 0.02};
}

/* ---- opening ---- */

/* What each cell of the grid lacks at first: all of it. */
static void lack_everything(flr_pager *p)
{
    const size_t cells = (size_t)flr_grid_hyper_count(&p->voxmap->header->grid);
    for (size_t cell = 0; cell < cells; cell++) {
        uint64_t count = 0, first, end;
        for (unsigned field = 0; field < p->blocks.field_count; field++)
            if (flr_blocks_of_cell(&p->blocks, field, cell, &first, &end)) count += end - first;
        atomic_init(&p->paging.lacks[cell], (uint16_t)count);
    }
}

static flr_result allocate(flr_pager *p, flr_error *error)
{
    const size_t cells = (size_t)flr_grid_hyper_count(&p->voxmap->header->grid);
    const size_t blocks = (size_t)(p->blocks.end_block - p->blocks.first_block);
    uint64_t slots = p->def.budget / FLR_VOXFILE_BLOCK;
    if (slots > blocks) slots = blocks ? blocks : 1;
    p->slot_count = p->free_count = (uint32_t)slots;
    p->paging.pool = flr_pages_alloc(slots * FLR_VOXFILE_BLOCK);
    p->paging.lacks = calloc(cells, sizeof *p->paging.lacks);
    p->paging.view = flr_latest_create(sizeof(flr_paging_view));
    p->buffer = malloc(FLR_VOXFILE_BLOCK);
    p->slots = calloc(slots, sizeof *p->slots);
    p->free_slots = calloc(slots, sizeof *p->free_slots);
    p->where = calloc(blocks + 1, sizeof *p->where);
    p->asked = calloc(blocks + 1, sizeof *p->asked);
    p->seen = calloc(cells, sizeof *p->seen);
    p->list = calloc(WANTED, sizeof *p->list);
    if (!p->paging.pool || !p->paging.lacks || !p->paging.view || !p->buffer || !p->slots ||
        !p->free_slots || !p->where || !p->asked || !p->seen || !p->list)
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to page it: lower the budget",
                        p->path);
    memset(p->paging.pool, 0, slots * FLR_VOXFILE_BLOCK); /* touched now, not in a step */
    for (uint32_t i = 0; i < p->slot_count; i++) {
        p->slots[i].block = UINT64_MAX;
        p->free_slots[i] = p->slot_count - 1 - i;
    }
    memset(p->where, 0xFF, (blocks + 1) * sizeof *p->where);
    p->stats.slots = p->slot_count;
    p->stats.blocks = blocks;
    p->stats.bytes = slots * (FLR_VOXFILE_BLOCK + sizeof(slot) + 4) + cells * 10 + blocks * 12 +
                     WANTED * sizeof(wanted) + flr_blocks_bytes(&p->blocks);
    return FLR_OK;
}

static flr_result open_file(flr_pager *p, flr_error *error)
{
    flr_result result =
        flr_voxfile_open(p->def.env, p->path, FLR_VOXFILE_DIRECTORY, &p->voxmap, NULL, error);
    if (result == FLR_OK)
        result = flr_file_open(p->def.env, p->path, FLR_FILE_READ, &p->file, error);
    if (result != FLR_OK) return result;
    const flr_voxfile *file = p->voxmap->file;
    const flr_voxfile_header *header = (const flr_voxfile_header *)file->bytes;
    uint64_t at = (uint64_t)((const uint8_t *)p->voxmap->header - file->bytes) - header->data;
    p->data = header->data;
    p->file_size = header->size;
    p->hashes = (const flr_hash *)(header + 1);
    p->paging.voxmap = p->voxmap;
    flr_error why;
    result = flr_blocks_create(p->voxmap, at / FLR_VOXFILE_BLOCK, at % FLR_VOXFILE_BLOCK,
                               &p->blocks, &why);
    if (result != FLR_OK) return flr_fail(error, result, "%s: %s", p->path, why.message);
    result = allocate(p, error);
    if (result != FLR_OK) return result;
    lack_everything(p);
    result = flr_contact_table_create_paged(&p->paging, at / FLR_VOXFILE_BLOCK,
                                            at % FLR_VOXFILE_BLOCK, &p->table, error);
    if (result == FLR_OK)
        p->stats.bytes += flr_contact_table_bytes(p->table) + p->voxmap->header->directory;
    return result;
}

flr_result flr_pager_open(const flr_pager_def *def, flr_pager **pager, flr_error *error)
{
    FLR_ASSERT(def && def->env && def->path && pager);
    const uint64_t most = (UINT64_C(1) << 33) - FLR_VOXFILE_BLOCK;
    if (def->budget < 1 << 20 || def->budget > most)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: a budget of 1 MiB to 8 GiB can be paged with",
                        def->path);
    if (!(def->horizon >= 0 && def->horizon <= 10 && def->margin >= 0 && def->margin <= 100))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: the horizon must be 0 to 10 s, the margin 0 to 100 m", def->path);
    flr_pager *p = calloc(1, sizeof *p);
    if (!p || !(p->path = strdup(def->path))) {
        free(p);
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to page it", def->path);
    }
    p->def = *def;
    p->def.path = p->path;
    pthread_mutex_init(&p->mutex, NULL);
    flr_result result = open_file(p, error);
    if (result != FLR_OK) {
        flr_pager_close(p);
        return result;
    }
    *pager = p;
    return FLR_OK;
}

void flr_pager_close(flr_pager *p)
{
    if (!p) return;
    if (p->started) {
        atomic_store(&p->stop, true);
        pthread_join(p->thread, NULL);
    }
    flr_contact_table_destroy(p->table);
    flr_blocks_free(&p->blocks);
    flr_voxmap_destroy(p->voxmap);
    flr_file_close(p->file);
    flr_pages_free(p->paging.pool, (size_t)p->slot_count * FLR_VOXFILE_BLOCK);
    flr_latest_destroy(p->paging.view);
    free(p->paging.lacks);
    free(p->buffer);
    free(p->slots);
    free(p->free_slots);
    free(p->where);
    free(p->asked);
    free(p->seen);
    free(p->list);
    pthread_mutex_destroy(&p->mutex);
    free(p->path);
    free(p);
}

const flr_voxmap *flr_pager_voxmap(const flr_pager *pager) { return pager->voxmap; }
const flr_contact_table *flr_pager_table(const flr_pager *pager) { return pager->table; }

/* ---- what is wanted ---- */

static void want(flr_pager *p, uint64_t block, double distance)
{
    size_t index = (size_t)(block - p->blocks.first_block);
    if (p->where[index] != NOWHERE) {
        p->slots[p->where[index]].used = p->pass;
        return;
    }
    if (p->asked[index] == p->pass || p->list_count == WANTED) return;
    p->asked[index] = p->pass;
    p->list[p->list_count++] = (wanted){block, distance};
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

/* What a hyperchunk of a part's points can reach: now, with the margin, and where it goes. In this order: a cell counts
 * for the first that touches it. */
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
    want_sphere(p, middle, radius + p->def.margin + way / 2, p->def.margin + way);
}

static int nearer(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static void look_ahead(flr_pager *p)
{
    const flr_paging_view *view = flr_latest_view(p->paging.view, NULL);
    p->pass++;
    p->list_count = 0;
    for (int stage = 0; stage <= 4; stage++)
        for (uint32_t i = 0; i < view->count; i++) {
            const flr_paging_part *part = &view->parts[i];
            for (uint32_t k = 0; k < part->shell->hyper_count; k++)
                want_hyper(p, part, &part->shell->hypers[k], stage);
        }
    qsort(p->list, p->list_count, sizeof *p->list, nearer);
}

/* ---- room ---- */

/* Waits until no step looks that began before now. */
static void wait_for_step(flr_pager *p)
{
    uint64_t now = atomic_load(&p->paging.steps);
    while (now % 2 && atomic_load(&p->paging.steps) == now && !atomic_load(&p->stop))
        flr_sleep_until(p->def.env, flr_clock_ns(p->def.env) + 50000);
}

/* Lets go of up to EVICT_AT_ONCE blocks that are out of reach, those longest so first. */
static bool make_room(flr_pager *p)
{
    /* kept sorted, the one that was used last at the end */
    uint32_t out[EVICT_AT_ONCE], count = 0;
    for (uint32_t i = 0; i < p->slot_count; i++) {
        if (p->slots[i].block == UINT64_MAX || p->slots[i].used >= p->pass) continue;
        if (count == EVICT_AT_ONCE && p->slots[out[count - 1]].used <= p->slots[i].used) continue;
        uint32_t at = count < EVICT_AT_ONCE ? count++ : count - 1;
        for (; at > 0 && p->slots[out[at - 1]].used > p->slots[i].used; at--) out[at] = out[at - 1];
        out[at] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        flr_blocks_withdraw(&p->blocks, p->table, p->slots[out[i]].block);
    if (count) wait_for_step(p);
    for (uint32_t i = 0; i < count; i++) {
        slot *s = &p->slots[out[i]];
        flr_blocks_forget(&p->blocks, p->table, s->block);
        p->where[s->block - p->blocks.first_block] = NOWHERE;
        s->block = UINT64_MAX;
        p->free_slots[p->free_count++] = out[i];
    }
    pthread_mutex_lock(&p->mutex);
    p->stats.evicted += count;
    p->stats.resident -= count;
    pthread_mutex_unlock(&p->mutex);
    return count > 0;
}

/* ---- reading ---- */

static void note_trouble(flr_pager *p, flr_result result, const flr_error *why, bool for_good)
{
    p->retry_after = p->retry_after ? 2 * p->retry_after : retry_ns;
    if (p->retry_after > retry_most_ns) p->retry_after = retry_most_ns;
    p->retry_at = flr_clock_ns(p->def.env) + p->retry_after;
    pthread_mutex_lock(&p->mutex);
    p->result = result;
    p->trouble = *why;
    p->for_good = for_good;
    p->stats.failures++;
    pthread_mutex_unlock(&p->mutex);
}

/* The bytes of a block, whole. `*lost`: there is no hope. */
static flr_result read_block(flr_pager *p, uint64_t block, size_t *size, bool *lost,
                             flr_error *error)
{
    uint64_t offset = p->data + block * FLR_VOXFILE_BLOCK, left = p->file_size - offset;
    *size = left < FLR_VOXFILE_BLOCK ? (size_t)left : FLR_VOXFILE_BLOCK;
    *lost = false;
    for (size_t done = 0, got; done < *size; done += got) {
        flr_result result =
            flr_file_read(p->file, offset + done, p->buffer + done, *size - done, &got, error);
        if (result != FLR_OK) return result;
        if (got > 0) continue;
        *lost = true;
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: has become shorter while it was in use; build it again with feeler "
                        "voxelize",
                        p->path);
    }
    return FLR_OK;
}

static bool fetch(flr_pager *p, uint64_t block)
{
    flr_error error;
    size_t size = 0;
    bool lost = false;
    int64_t begin = flr_clock_ns(p->def.env);
    flr_result result = FLR_OK;
    /* a wrong checksum may come from the way here: it is looked at once more */
    for (int attempt = 0; attempt < 2; attempt++) {
        result = read_block(p, block, &size, &lost, &error);
        if (result != FLR_OK) break;
        if (flr_hash_equal(flr_hash_bytes(p->buffer, size), p->hashes[block])) break;
        lost = attempt == 1;
        result = flr_fail(&error, FLR_BAD_INPUT,
                          "%s: damaged: the checksum at byte %llu is wrong; build it again with "
                          "feeler voxelize",
                          p->path, (unsigned long long)(p->data + block * FLR_VOXFILE_BLOCK));
    }
    int64_t took = flr_clock_ns(p->def.env) - begin;
    if (result != FLR_OK) {
        note_trouble(p, result, &error, lost);
        return false;
    }
    p->retry_after = 0;
    uint32_t at = p->free_slots[--p->free_count];
    memcpy(p->paging.pool + (size_t)at * FLR_VOXFILE_BLOCK, p->buffer, size);
    p->slots[at] = (slot){.block = block, .used = p->pass};
    p->where[block - p->blocks.first_block] = at;
    flr_blocks_put(&p->blocks, p->table, block, at);
    pthread_mutex_lock(&p->mutex);
    p->stats.blocks_read++;
    p->stats.bytes_read += size;
    p->stats.resident++;
    if (took > p->stats.slowest_ns) p->stats.slowest_ns = took;
    if (!p->for_good) p->result = FLR_OK;
    pthread_mutex_unlock(&p->mutex);
    return true;
}

/* One pass. Ends early after `limit` blocks (0: none). */
static uint32_t make_pass(flr_pager *p, uint32_t limit)
{
    if (p->retry_after && flr_clock_ns(p->def.env) < p->retry_at) return 0;
    look_ahead(p);
    uint32_t read = 0;
    while (read < p->list_count && (limit == 0 || read < limit) && !atomic_load(&p->stop)) {
        if (p->free_count == 0 && !make_room(p)) break;
        if (!fetch(p, p->list[read].block)) break;
        read++;
    }
    pthread_mutex_lock(&p->mutex);
    p->stats.refused = p->free_count == 0 ? p->list_count - read : 0;
    pthread_mutex_unlock(&p->mutex);
    return read;
}

/* ---- running ---- */

static void *run(void *context)
{
    flr_pager *p = context;
    while (!atomic_load(&p->stop)) {
        /* few at a time: the parts have moved on meanwhile */
        if (make_pass(p, 16) == 0) flr_sleep_until(p->def.env, flr_clock_ns(p->def.env) + pass_ns);
    }
    return NULL;
}

flr_result flr_pager_start(flr_pager *pager, flr_error *error)
{
    FLR_ASSERT(!pager->started);
    int code = pthread_create(&pager->thread, NULL, run, pager);
    if (code)
        return flr_fail(error, FLR_NO_MEMORY, "no thread for paging %s: %s", pager->path,
                        strerror(code));
    pager->started = true;
    return FLR_OK;
}

uint32_t flr_pager_service(flr_pager *pager, uint32_t blocks)
{
    FLR_ASSERT(!pager->started);
    return make_pass(pager, blocks);
}

flr_result flr_pager_trouble(flr_pager *pager, flr_error *error)
{
    pthread_mutex_lock(&pager->mutex);
    flr_result result = pager->result;
    if (result != FLR_OK && error) *error = pager->trouble;
    pthread_mutex_unlock(&pager->mutex);
    return result;
}

flr_pager_stats flr_pager_get_stats(const flr_pager *pager)
{
    flr_pager *p = (flr_pager *)pager;
    pthread_mutex_lock(&p->mutex);
    flr_pager_stats stats = p->stats;
    pthread_mutex_unlock(&p->mutex);
    stats.steps = atomic_load(&p->paging.steps) / 2;
    stats.suspended = atomic_load(&p->paging.missed);
    return stats;
}
