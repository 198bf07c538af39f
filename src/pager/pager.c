/* the pager: opening a file, and passes by a thread or by those who have none */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/large_pages.h"
#include "feeler/base.h"
#include "pager/pager.h"
#include "voxel/voxfile_format.h"

enum { TOUCH_SLOTS = 256 };             /* at once: 16 MiB */
static const int64_t pass_ns = 1000000; /* between two passes that find nothing to do */

flr_pager_def flr_default_pager_def(void)
{
    return (flr_pager_def){
        .budget = UINT64_C(1) << 30, .horizon = 0.25, .margin = 0.02, .depth = 16};
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
    /* whoever reads a block is the first to touch its slot; a step never is */
    p->paging.pool = flr_pages_alloc(slots * FLR_VOXFILE_BLOCK);
    p->paging.lacks = calloc(cells, sizeof *p->paging.lacks);
    p->paging.view = flr_latest_create(sizeof(flr_paging_view));
    p->requests = calloc(p->def.depth, sizeof *p->requests);
    p->slots = calloc(slots, sizeof *p->slots);
    p->free_slots = calloc(slots, sizeof *p->free_slots);
    p->where = calloc(blocks + 1, sizeof *p->where);
    p->asked = calloc(blocks + 1, sizeof *p->asked);
    p->seen = calloc(cells, sizeof *p->seen);
    p->needed = calloc(blocks + 1, sizeof *p->needed);
    p->list = calloc(FLR_PAGER_WANTED, sizeof *p->list);
    if (!p->paging.pool || !p->paging.lacks || !p->paging.view || !p->requests || !p->slots ||
        !p->free_slots || !p->where || !p->asked || !p->needed || !p->seen || !p->list)
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to page it: lower the budget",
                        p->path);
    for (uint32_t i = 0; i < p->slot_count; i++) {
        p->slots[i].block = UINT64_MAX;
        p->free_slots[i] = p->slot_count - 1 - i;
    }
    for (uint32_t i = 0; i < p->def.depth; i++) p->requests[i].block = UINT64_MAX;
    memset(p->where, 0xFF, (blocks + 1) * sizeof *p->where);
    p->bytes = slots * (FLR_VOXFILE_BLOCK + sizeof(flr_slot) + 4) + cells * 10 + blocks * 20 +
               FLR_PAGER_WANTED * sizeof(flr_wanted) + flr_blocks_bytes(&p->blocks);
    return FLR_OK;
}

/* Of the file's, what is in memory: checksums, directory and chunk distances. */
static uint64_t directory_bytes(const flr_pager *p)
{
    const flr_voxmap_header *h = p->voxmap->header;
    const flr_tree_place *chunks = &h->chunks;
    uint64_t bytes = p->data + chunks->node_count * 2048 + chunks->plane_count * 256;
    for (unsigned i = 0; i < p->blocks.field_count; i++)
        bytes += (h->fields[i].node_count + h->fields[i].hyper_count) * 2048;
    return bytes;
}

static flr_result open_file(flr_pager *p, flr_error *error)
{
    const unsigned flags = FLR_VOXFILE_DIRECTORY | (p->def.features ? 0 : FLR_VOXFILE_SURFACE);
    flr_result result = flr_voxfile_open(p->def.env, p->path, flags, &p->voxmap, NULL, error);
    if (result == FLR_OK)
        result = flr_file_open(p->def.env, p->path, FLR_FILE_READ, &p->file, error);
    if (result == FLR_OK) result = flr_reads_open(p->file, p->def.depth, &p->reads, error);
    if (result != FLR_OK) return result;
    /* the header is our own, read into memory: without features the other fields are not there */
    if (!p->def.features) ((flr_voxmap_header *)(uintptr_t)p->voxmap->header)->features = 0;
    const flr_voxfile *file = p->voxmap->file;
    const flr_voxfile_header *header = (const flr_voxfile_header *)file->bytes;
    uint64_t at = (uint64_t)((const uint8_t *)p->voxmap->header - file->bytes) - header->data;
    p->data = header->data;
    p->file_size = header->size;
    p->pass = 1;
    p->damaged = UINT64_MAX;
    p->hashes = (const flr_hash *)(header + 1);
    p->paging.voxmap = p->voxmap;
    flr_error why;
    result = flr_blocks_create(p->voxmap, at / FLR_VOXFILE_BLOCK, at % FLR_VOXFILE_BLOCK,
                               &p->blocks, &why);
    if (result != FLR_OK) return flr_fail(error, result, "%s: %s", p->path, why.message);
    result = allocate(p, error);
    if (result != FLR_OK) return result;
    lack_everything(p);
    result = flr_contact_table_create_paged(&p->paging, p->blocks.pieces, &p->table, error);
    if (result == FLR_OK) p->bytes += flr_contact_table_bytes(p->table) + directory_bytes(p);
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
    if (def->depth < 1 || def->depth > FLR_MAX_READS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: 1 to %d reads at once", def->path,
                        FLR_MAX_READS);
    flr_pager *p = calloc(1, sizeof *p);
    if (!p || !(p->path = strdup(def->path))) {
        free(p);
        return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory to page it", def->path);
    }
    p->def = *def;
    p->def.path = p->path;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_mutex_init(&p->paging.looking, NULL);
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
    flr_reads_close(p->reads); /* reads into the pool */
    flr_contact_table_destroy(p->table);
    flr_blocks_free(&p->blocks);
    flr_voxmap_destroy(p->voxmap);
    flr_file_close(p->file);
    flr_pages_free(p->paging.pool, (size_t)p->slot_count * FLR_VOXFILE_BLOCK);
    flr_latest_destroy(p->paging.view);
    free(p->paging.lacks);
    free(p->requests);
    free(p->slots);
    free(p->free_slots);
    free(p->where);
    free(p->asked);
    free(p->needed);
    free(p->seen);
    free(p->list);
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->paging.looking);
    free(p->path);
    free(p);
}

const flr_voxmap *flr_pager_voxmap(const flr_pager *pager) { return pager->voxmap; }
const flr_contact_table *flr_pager_table(const flr_pager *pager) { return pager->table; }
const char *flr_pager_path(const flr_pager *pager) { return pager->path; }

static flr_pager_place place_of(uint32_t mark)
{
    if (mark == FLR_MARK_SURFACE) return FLR_PAGER_UNKNOWN;
    return mark == FLR_MARK_INTERIOR ? FLR_PAGER_INSIDE : FLR_PAGER_FREE;
}

flr_pager_place flr_pager_look(const flr_pager *p, flr_vec3 at)
{
    const uint32_t *hypers = p->voxmap->header->grid.hypers;
    int32_t low[3], high[3];
    if (!flr_paging_box(p->voxmap, at, 0, low, high)) return FLR_PAGER_FREE;
    const uint32_t piece =
        p->blocks
            .pieces[FLR_FIELD_SURFACE]
                   [((size_t)low[2] * hypers[1] + (size_t)low[1]) * hypers[0] + (size_t)low[0]];
    if (piece & FLR_UNIFORM) return place_of(piece & ~FLR_UNIFORM);
    const flr_vec3 v = flr_grid_to_voxels(&p->voxmap->header->grid, at);
    const double in[3] = {v.x, v.y, v.z};
    unsigned chunk = 0;
    for (int axis = 2; axis >= 0; axis--)
        chunk = chunk * 8 + ((unsigned)(in[axis] - FLR_HYPER_SIDE * low[axis]) / 8 & 7);
    /* what has a plane changes as blocks come and go; what has none never does */
    const uint32_t entry = __atomic_load_n(flr_paging_entries(p->voxmap, FLR_FIELD_SURFACE) +
                                               (size_t)piece * 512 + chunk,
                                           __ATOMIC_RELAXED);
    return flr_paging_has_plane(entry) ? FLR_PAGER_UNKNOWN : place_of(entry & 255);
}

/* ---- running ---- */

static void *run(void *context)
{
    flr_pager *p = context;
    /* what it reads is needed within a fraction of a second: before ordinary work, where that may be asked for. It sleeps most
     * of the time */
    prctl(PR_SET_NAME, (unsigned long)"feeler-pager", 0, 0, 0);
    (void)setpriority(PRIO_PROCESS, 0, -15); /* of this thread alone */
    while (!atomic_load(&p->stop)) {
        flr_ahead_look(p);
        flr_fetch_ask(p, p->def.depth);
        /* what is under way is waited for no longer than until parts have moved on */
        int64_t next = flr_clock_ns(p->def.env) + pass_ns;
        if (flr_reads_under_way(p->reads) == 0)
            flr_sleep_until(p->def.env, next);
        else
            flr_fetch_take(p, next);
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
    uint32_t read = 0;
    for (;;) {
        uint32_t left =
            blocks && blocks - read < pager->def.depth ? blocks - read : pager->def.depth;
        flr_ahead_look(pager);
        flr_fetch_ask(pager, left);
        if (flr_reads_under_way(pager->reads) == 0) return read;
        read += flr_fetch_take(pager, INT64_MAX);
        if (blocks && read >= blocks) return read;
    }
}

uint32_t flr_pager_poll(flr_pager *pager)
{
    FLR_ASSERT(!pager->started);
    flr_ahead_look(pager);
    flr_fetch_ask(pager, pager->def.depth);
    return flr_fetch_take(pager, 0);
}

flr_result flr_pager_trouble(flr_pager *pager, flr_error *error)
{
    pthread_mutex_lock(&pager->mutex);
    flr_result result = pager->result;
    if (result != FLR_OK && error) *error = pager->trouble;
    pthread_mutex_unlock(&pager->mutex);
    return result;
}

flr_pager_stats flr_pager_get_stats(const flr_pager *p)
{
    const flr_pager_counts *c = &p->counts;
    return (flr_pager_stats){.steps = atomic_load(&p->paging.steps) / 2,
                             .suspended = atomic_load(&p->paging.missed),
                             .needed = atomic_load(&c->needed),
                             .hits = atomic_load(&c->hits),
                             .blocks_read = atomic_load(&c->blocks_read),
                             .bytes_read = atomic_load(&c->bytes_read),
                             .evicted = atomic_load(&c->evicted),
                             .failures = atomic_load(&c->failures),
                             .refused = atomic_load(&c->refused),
                             .resident = atomic_load(&c->resident),
                             .slots = p->slot_count,
                             .blocks = p->blocks.end_block - p->blocks.first_block,
                             .reach = atomic_load(&c->reach),
                             .bytes = p->bytes,
                             .directory = p->bytes - (uint64_t)p->slot_count * FLR_PAGER_BLOCK,
                             .slowest_ns = atomic_load(&c->slowest_ns),
                             .at_once = flr_reads_at_once(p->reads)};
}

void flr_pager_stats_add(flr_pager_stats *to, const flr_pager_stats *one)
{
    to->steps += one->steps, to->suspended += one->suspended;
    to->needed += one->needed, to->hits += one->hits;
    to->blocks_read += one->blocks_read, to->bytes_read += one->bytes_read;
    to->evicted += one->evicted, to->failures += one->failures, to->refused += one->refused;
    to->at_once = one->at_once && (to->at_once || to->slots == 0);
    to->resident += one->resident, to->slots += one->slots;
    to->blocks += one->blocks, to->bytes += one->bytes;
    to->reach += one->reach, to->directory += one->directory;
    if (one->slowest_ns > to->slowest_ns) to->slowest_ns = one->slowest_ns;
}

uint64_t flr_pager_least(const flr_pager_stats *stats)
{
    const uint64_t each = (1 << 20) / FLR_PAGER_BLOCK, whole = (stats->reach + each - 1) / each;
    return (whole ? whole : 1) << 20;
}

double flr_pager_hit_rate(const flr_pager_stats *stats)
{
    return stats->needed ? (double)stats->hits / (double)stats->needed : 1;
}

double flr_pager_waits_note(flr_pager_waits *w, bool missing, int64_t now_ns)
{
    if (missing && !w->waiting) {
        w->count++;
        w->since_ns = now_ns;
    } else if (w->waiting) {
        w->total += 1e-9 * (double)(now_ns - w->last_ns);
    }
    double lasts = missing || w->waiting ? 1e-9 * (double)(now_ns - w->since_ns) : 0;
    w->longest = fmax(w->longest, lasts);
    w->ended = missing ? 0 : lasts;
    w->steps += missing;
    w->waiting = missing;
    w->last_ns = now_ns;
    return missing ? lasts : 0;
}
