/* levels that were made, and the worker that makes them */
#include "server/mesh_levels.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_ENTRIES = 4096 };

typedef struct mesh_levels_entry {
    flr_hash hash;
    uint32_t number;
    bool packed;
    enum { MESH_LEVELS_WANTED, MAKING, READY, FAILED } state;
    flr_mesh_asset *kept; /* until it is made */
    flr_level *level;
    uint32_t users;
    uint64_t used; /* when it was last asked for */
} mesh_levels_entry;

struct flr_levels {
    flr_levels_def def;
    pthread_mutex_t lock; /* over all below; the worker holds it only to take and give */
    pthread_cond_t work;
    pthread_t worker;
    bool running, stop;
    mesh_levels_entry *entries[MAX_ENTRIES];
    uint32_t count;
    uint64_t clock;
    size_t bytes; /* of levels that are ready */
};

flr_levels_def flr_default_levels_def(void)
{
    return (flr_levels_def){.threaded = true, .limit = (size_t)512 << 20};
}

static void make(flr_levels *levels, mesh_levels_entry *e)
{
    flr_level *level = NULL;
    flr_result result =
        flr_level_make(flr_mesh_asset_mesh(e->kept), e->hash, e->number, e->packed, &level);
    flr_mesh_asset_release(e->kept);
    pthread_mutex_lock(&levels->lock);
    e->kept = NULL;
    e->level = level;
    e->state = result == FLR_OK ? READY : FAILED;
    if (level) levels->bytes += level->bytes;
    pthread_mutex_unlock(&levels->lock);
}

/* the coarsest first, so that everything is seen soon; among those the oldest */
static mesh_levels_entry *next_wanted(flr_levels *levels)
{
    mesh_levels_entry *best = NULL;
    for (uint32_t i = 0; i < levels->count; i++) {
        mesh_levels_entry *e = levels->entries[i];
        if (e->state == MESH_LEVELS_WANTED && (!best || e->number > best->number)) best = e;
    }
    return best;
}

static void *work(void *context)
{
    flr_levels *levels = context;
    pthread_mutex_lock(&levels->lock);
    while (!levels->stop) {
        mesh_levels_entry *e = next_wanted(levels);
        if (!e) {
            pthread_cond_wait(&levels->work, &levels->lock);
            continue;
        }
        e->state = MAKING;
        pthread_mutex_unlock(&levels->lock);
        make(levels, e);
        if (levels->def.wake) levels->def.wake(levels->def.context);
        pthread_mutex_lock(&levels->lock);
    }
    pthread_mutex_unlock(&levels->lock);
    return NULL;
}

flr_result flr_levels_create(const flr_levels_def *def, flr_levels **levels, flr_error *error)
{
    flr_levels *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for levels of detail");
    made->def = *def;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    if (def->threaded && pthread_create(&made->worker, NULL, work, made) != 0) {
        pthread_mutex_destroy(&made->lock);
        pthread_cond_destroy(&made->work);
        free(made);
        return flr_fail(error, FLR_NO_MEMORY, "no thread for levels of detail can be had");
    }
    made->running = def->threaded;
    *levels = made;
    return FLR_OK;
}

static void free_entry(flr_levels *levels, uint32_t index)
{
    mesh_levels_entry *e = levels->entries[index];
    if (e->level) levels->bytes -= e->level->bytes;
    flr_mesh_asset_release(e->kept);
    flr_level_free(e->level);
    free(e);
    levels->entries[index] = levels->entries[--levels->count];
}

void flr_levels_destroy(flr_levels *levels)
{
    if (!levels) return;
    if (levels->running) {
        pthread_mutex_lock(&levels->lock);
        levels->stop = true;
        pthread_cond_signal(&levels->work);
        pthread_mutex_unlock(&levels->lock);
        pthread_join(levels->worker, NULL);
    }
    while (levels->count > 0) free_entry(levels, levels->count - 1);
    pthread_mutex_destroy(&levels->lock);
    pthread_cond_destroy(&levels->work);
    free(levels);
}

/* lets go of what nobody uses, the longest unused first, until there is room */
static void trim(flr_levels *levels)
{
    while (levels->bytes > levels->def.limit || levels->count == MAX_ENTRIES) {
        uint32_t oldest = UINT32_MAX;
        for (uint32_t i = 0; i < levels->count; i++) {
            const mesh_levels_entry *e = levels->entries[i];
            if (e->users > 0 || e->state == MESH_LEVELS_WANTED || e->state == MAKING) continue;
            if (oldest == UINT32_MAX || e->used < levels->entries[oldest]->used) oldest = i;
        }
        if (oldest == UINT32_MAX) return;
        free_entry(levels, oldest);
    }
}

static mesh_levels_entry *find(flr_levels *levels, flr_hash hash, uint32_t number, bool packed)
{
    for (uint32_t i = 0; i < levels->count; i++) {
        mesh_levels_entry *e = levels->entries[i];
        if (e->number == number && e->packed == packed && flr_hash_equal(e->hash, hash)) return e;
    }
    return NULL;
}

static mesh_levels_entry *add(flr_levels *levels, flr_engine *engine, flr_mesh_id mesh,
                              flr_hash hash, uint32_t number, bool packed)
{
    trim(levels);
    if (levels->count == MAX_ENTRIES) return NULL;
    mesh_levels_entry *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    *e = (mesh_levels_entry){.hash = hash, .number = number, .packed = packed};
    e->kept = flr_engine_retain_mesh(engine, mesh);
    if (!e->kept) {
        free(e);
        return NULL;
    }
    levels->entries[levels->count++] = e;
    return e;
}

flr_result flr_levels_get(flr_levels *levels, flr_engine *engine, flr_mesh_id mesh,
                          uint32_t max_triangles, bool packed, const flr_level **level)
{
    flr_hash hash;
    const flr_mesh *geometry = flr_engine_mesh(engine, mesh, &hash);
    if (!geometry) return FLR_NOT_FOUND;
    uint32_t number = flr_level_choose(geometry->triangle_count, max_triangles);
    pthread_mutex_lock(&levels->lock);
    mesh_levels_entry *e = find(levels, hash, number, packed);
    bool fresh = !e;
    if (!e) e = add(levels, engine, mesh, hash, number, packed);
    if (fresh && e && levels->running) pthread_cond_signal(&levels->work);
    bool here = e && !levels->running && e->state == MESH_LEVELS_WANTED;
    if (here) e->state = MAKING;
    pthread_mutex_unlock(&levels->lock);
    if (!e) return FLR_NO_MEMORY;
    if (here) make(levels, e);

    pthread_mutex_lock(&levels->lock);
    flr_result result = FLR_AGAIN;
    e->used = ++levels->clock;
    if (e->state == READY) {
        e->users++;
        *level = e->level;
        result = FLR_OK;
    } else if (e->state == FAILED) {
        /* forgotten, so that it is tried again when there may be memory */
        for (uint32_t i = 0; i < levels->count; i++) {
            if (levels->entries[i] == e) {
                free_entry(levels, i);
                break;
            }
        }
        result = FLR_NO_MEMORY;
    }
    pthread_mutex_unlock(&levels->lock);
    return result;
}

void flr_levels_release(flr_levels *levels, const flr_level *level)
{
    if (!level) return;
    pthread_mutex_lock(&levels->lock);
    for (uint32_t i = 0; i < levels->count; i++) {
        if (levels->entries[i]->level == level) levels->entries[i]->users--;
    }
    trim(levels);
    pthread_mutex_unlock(&levels->lock);
}
