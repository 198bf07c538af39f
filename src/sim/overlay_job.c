/* overlays that a worker gathers: a part with millions of voxels takes longer than the control thread has */
#include <stdlib.h>

#include "base/text.h"
#include "sim/engine_internal.h"
#include "sim/overlay.h"

/* shared by whoever asked and the job: whoever is last frees it */
struct flr_overlay_request {
    atomic_uint users;
    atomic_bool done, unwanted;
    flr_result result; /* from here on: the worker's until it is done */
    flr_error error;
    flr_overlay *overlay;
};

typedef struct overlay_job {
    flr_job job;
    flr_overlay_request *request;
    flr_env *env;
    flr_shape *shape; /* used */
    flr_engine_part part;
    char name[FLR_ENGINE_NAME_SIZE];
    uint8_t kind;
    uint32_t limit;
} overlay_job;

static void drop_request(flr_overlay_request *request)
{
    if (atomic_fetch_sub(&request->users, 1) != 1) return;
    flr_overlay_free(request->overlay);
    free(request);
}

/* Voxels that are paged come from their file. */
static flr_result gather(overlay_job *w, flr_overlay_request *request)
{
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_engine_part part = w->part;
    flr_result result = FLR_OK;
    if (w->shape->pager) {
        result = flr_shape_map(w->env, w->shape, &voxmap, &shell, &request->error);
        part.voxmap = voxmap, part.shell = shell;
    }
    if (result == FLR_OK)
        result = flr_overlay_make(&part, w->kind, w->limit, &request->overlay, &request->error);
    flr_voxmap_destroy(voxmap);
    flr_shell_destroy(shell);
    return result;
}

static void overlay_work(flr_job *job)
{
    overlay_job *w = (overlay_job *)job;
    flr_overlay_request *request = w->request;
    if (atomic_load(&request->unwanted))
        request->result = flr_fail(&request->error, FLR_CANCELLED, "cancelled");
    else
        request->result = gather(w, request);
    atomic_store(&request->done, true);
}

static void overlay_done(flr_engine *e, flr_job *job)
{
    (void)job;
    e->overlays--;
}

static void overlay_drop(flr_job *job)
{
    overlay_job *w = (overlay_job *)job;
    drop_request(w->request);
    flr_shape_release(w->shape);
    free(w);
}

flr_result flr_overlay_begin(flr_engine *e, flr_part_id part, uint8_t kind, uint32_t limit,
                             flr_overlay_request **request, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (flr_shape_is_bare(member->shape))
        return flr_fail(error, FLR_AGAIN, "%s has no voxels yet", member->name);
    /* those that nobody wants any more count, too, until a worker has passed them over */
    if (e->overlays == FLR_ENGINE_OVERLAYS)
        return flr_fail(error, FLR_AGAIN, "%d overlays are being gathered already; try again soon",
                        FLR_ENGINE_OVERLAYS);
    overlay_job *w = calloc(1, sizeof *w);
    flr_overlay_request *made = calloc(1, sizeof *made);
    if (!w || !made) {
        free(w);
        free(made);
        return flr_engine_no_memory(error);
    }
    atomic_init(&made->users, 2);
    atomic_init(&made->done, false);
    atomic_init(&made->unwanted, false);
    w->request = made;
    w->env = e->def.env;
    w->shape = flr_shape_retain(member->shape);
    flr_text_copy(w->name, sizeof w->name, member->name);
    w->part = (flr_engine_part){.part = part,
                                .name = w->name,
                                .voxmap = member->shape->voxmap,
                                .shell = member->shape->shell};
    w->kind = kind;
    w->limit = limit;
    w->job =
        (flr_job){.quick = true, .work = overlay_work, .done = overlay_done, .drop = overlay_drop};
    *request = made;
    e->overlays++;
    return flr_engine_post(e, &w->job, 0, part, NULL, NULL);
}

flr_result flr_overlay_get(const flr_overlay_request *request, const flr_overlay **overlay,
                           flr_error *error)
{
    if (!atomic_load(&request->done)) return FLR_AGAIN;
    if (request->result == FLR_OK)
        *overlay = request->overlay;
    else
        *error = request->error;
    return request->result;
}

void flr_overlay_end(flr_overlay_request *request)
{
    if (!request) return;
    atomic_store(&request->unwanted, true);
    drop_request(request);
}
