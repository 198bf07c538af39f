/* parts whose voxels are read from the cache as they are needed: what is reported about it, and reading where there are no
 * workers */
#include <stdio.h>
#include <string.h>

#include "sim/engine_internal.h"

/* Why they did not come, as far as a pager knows. */
static void find_reason(const flr_engine *e, char *to, size_t size)
{
    flr_error why;
    snprintf(to, size, "the disk is too slow or too busy");
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_pager *pager = e->members.list[i].shape->pager;
        if (!pager) continue;
        flr_result result = flr_pager_trouble(pager, &why);
        /* a damaged file of the cache does not mend: without it the next controller that opens the scene builds it again */
        if (result == FLR_BAD_INPUT &&
            flr_path_remove(e->def.env, flr_pager_path(pager), NULL) == FLR_OK) {
            snprintf(to, size,
                     "%.*s; it has been removed from the cache: open the scene again, and it is "
                     "built anew",
                     (int)strcspn(why.message, ";"), why.message);
            return;
        }
        if (result != FLR_OK) {
            snprintf(to, size, "%.400s", why.message);
            return;
        }
        const flr_pager_stats stats = flr_pager_get_stats(pager);
        if (stats.refused > 0 && stats.reach > stats.slots)
            snprintf(
                to, size,
                "what can be reached at once takes %llu MiB, and %llu MiB are its share of the "
                "memory given; give more with --memory",
                (unsigned long long)flr_pager_least(&stats) >> 20,
                (unsigned long long)stats.slots * FLR_PAGER_BLOCK >> 20);
    }
}

void flr_engine_tell_waiting(flr_engine *e, bool there)
{
    char reason[FLR_ERROR_MESSAGE_SIZE];
    if (there) {
        FLR_ENGINE_NOTE(e, "the voxels are there now: it can go on");
        return;
    }
    find_reason(e, reason, sizeof reason);
    FLR_ENGINE_WARN(
        e,
        "paused: voxels did not come from the disk within 2 s (%s); nothing is lost, go "
        "on when they are there",
        reason);
}

void flr_engine_tell_paged(flr_engine *e, const char *name, const flr_shape *shape)
{
    const flr_pager_stats stats = flr_pager_get_stats(shape->pager);
    FLR_ENGINE_NOTE(
        e,
        "part \"%s\": %.0f MB of voxels, read as they are needed: %.0f MB of memory for "
        "them, and %.0f MB beside it for the directory",
        name, 1e-6 * (double)stats.blocks * FLR_PAGER_BLOCK,
        1e-6 * (double)stats.slots * FLR_PAGER_BLOCK, 1e-6 * (double)stats.directory);
}

void flr_engine_page(flr_engine *e)
{
    if (e->def.workers > 0) return; /* pagers have threads of their own */
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].shape->pager) flr_pager_poll(e->members.list[i].shape->pager);
}
