/* how jobs make parts: colours, sizes of voxels, voxels with progress, and putting them into the cache */
#include "sim/build_job.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define BUILD_JOB_FINE                                                                             \
    200.0 /* voxels across a part whose size of voxels nobody has said, at most … */
#define POINTS           5e5  /* … and surface voxels that it has then, about */
#define BUILD_JOB_COARSE 50.0 /* voxels across a part with the scene's size of them, at least */

/* muted colours that can be told apart, for parts without one */
static const uint32_t colours[] = {0x8ea3b8, 0xd9a05b, 0x7fb08a, 0xb58db6, 0xc7b46a, 0x6fa8b5};
enum { COLOURS = sizeof colours / sizeof *colours };

uint32_t flr_build_job_colour(uint32_t given, uint32_t part)
{
    return given <= 0xffffff ? given : colours[part % COLOURS];
}

/* Fine enough to tell the part's features, and no more points than a frame has time for. */
static double fitting_voxel(const flr_mesh *mesh)
{
    flr_vec3 size = flr_box3_size(mesh->bounds);
    return fmax(fmax(size.x, fmax(size.y, size.z)) / BUILD_JOB_FINE,
                sqrt(flr_mesh_area(mesh) / POINTS));
}

double flr_build_job_voxel(double asked, double scene, double common, const flr_mesh *mesh)
{
    if (asked > 0) return asked;
    double usual = scene > 0 ? scene : common;
    if (!(usual > 0)) return fitting_voxel(mesh);
    flr_vec3 size = flr_box3_size(mesh->bounds);
    double across = fmax(size.x, fmax(size.y, size.z)) / BUILD_JOB_COARSE;
    return across > 0 ? fmin(usual, across) : usual;
}

/* ---- voxels with progress ---- */

static bool tell_progress(void *context, double done, const char *stage)
{
    const flr_build_job_progress *p = context;
    return flr_job_progress(p->job, p->from + (p->to - p->from) * done, "%s: voxels of %.3g mm, %s",
                            p->name, 1e3 * p->voxel, stage);
}

#define FIT_SHARE 0.3 /* of the way to a part: its exact geometry */

static bool tell_fit(void *context, double done)
{
    const flr_build_job_progress *p = context;
    return flr_job_progress(p->job, p->from + (p->to - p->from) * FIT_SHARE * done,
                            "%s: exact geometry", p->name);
}

flr_maker flr_maker_of(const flr_engine *e)
{
    flr_maker made = {.env = e->def.env,
                      .cache = e->cache,
                      .threads = e->def.threads,
                      .on_surface = e->tuning.world.contact.model == FLR_FORCE_SMOOTH,
                      .how = e->how,
                      .reads = e->def.workers > 0,
                      .exact = e->tuning.world.engine == FLR_ENGINE_EXACT};
    made.cache.later = true; /* nobody waits for the disk */
    return made;
}

/* One part may take half of the memory that this process may: others are there, too, and a controller that is killed for want of
 * it lets go of the hand at a device. */
flr_result flr_build_job_shape(const flr_maker *m, flr_mesh_asset *mesh, double voxel, bool hollow,
                               flr_build_job_progress *p, flr_shape **shape, flr_error *error)
{
    flr_shape_def def = {.env = m->env,
                         .cache = &m->cache,
                         .mesh = mesh,
                         .voxel = voxel,
                         .hollow = hollow,
                         .on_surface = m->on_surface,
                         .threads = m->threads,
                         .memory = m->memory,
                         .most = flr_memory_look(flr_env_real()).limit / 2,
                         .reads = m->reads,
                         .progress = tell_progress,
                         .context = p};
    p->voxel = voxel;
    flr_error inner;
    const flr_fit *fit;
    flr_result result = FLR_OK;
    if (m->exact && !tell_fit(p, 0))
        result = flr_fail(&inner, FLR_CANCELLED, "cancelled");
    else if (m->exact)
        result = flr_mesh_asset_fit_shown(mesh, m->env, &m->cache, tell_fit, p, &fit, &inner);
    if (m->exact) p->from += FIT_SHARE * (p->to - p->from);
    if (result == FLR_OK) result = flr_shape_make(&def, shape, &inner);
    if (result != FLR_OK) flr_fail(error, result, "part \"%s\": %s", p->name, inner.message);
    return result;
}

bool flr_build_job_goes_on(void *job) { return !atomic_load(&((flr_job *)job)->cancelled); }

/* ---- what all parts have in common ---- */

void flr_engine_set_voxel(flr_engine *e)
{
    const double finest = flr_part_list_voxel(&e->members),
                 coarsest = flr_part_list_coarsest_voxel(&e->members);
    flr_parameters_set_voxels(&e->tuning, finest, coarsest);
    flr_parameters_set_voxels(&e->preset, finest, coarsest);
}

/* ---- into the cache ---- */

typedef struct store_job {
    flr_job job;
    flr_maker maker;
    flr_shape *shape; /* used */
} store_job;

static void store_work(flr_job *job)
{
    store_job *s = (store_job *)job;
    flr_voxelize_def how = flr_shape_how(s->shape, s->shape->shell->on_surface);
    job->result = flr_cache_store(s->maker.env, &s->maker.cache, s->shape->mesh->mesh, &how,
                                  s->shape->voxmap, s->shape->shell, &job->error);
}

static void store_done(flr_engine *e, flr_job *job)
{
    if (job->result == FLR_OK || e->unstored) return;
    e->unstored = true; /* once is enough: the others have the same trouble */
    FLR_ENGINE_WARN(e, "voxels have to be made again the next time: %s", job->error.message);
}

static void store_drop(flr_job *job)
{
    flr_shape_release(((store_job *)job)->shape);
    free(job);
}

void flr_build_job_name_upload(char *message, size_t size, const char *file, const char *name)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const char *at = strstr(message, base);
    char rest[FLR_ERROR_MESSAGE_SIZE];
    if (!at) return;
    flr_text_copy(rest, sizeof rest, at + strlen(base));
    snprintf(message, size, "%s%s", name, rest);
}

/* Nothing is wrong with the part, but perhaps with the disk: whoever looks after the machine wants to know. */
static void warn_of_damage(flr_engine *e, const flr_shape *shape)
{
    const char *name = "";
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].shape == shape) name = e->members.list[i].name;
    FLR_ENGINE_WARN(e, "part \"%s\": %s", name, shape->report.broken);
}

void flr_engine_store(flr_engine *e, flr_shape *shape)
{
    if (*shape->report.broken) warn_of_damage(e, shape);
    store_job *s = shape->fresh ? calloc(1, sizeof *s) : NULL;
    if (!s) return; /* there already; or no memory: then the next time makes it again */
    s->maker = flr_maker_of(e);
    s->shape = flr_shape_retain(shape);
    s->job = (flr_job){.work = store_work, .done = store_done, .drop = store_drop};
    flr_engine_post(e, &s->job, 0, FLR_NO_PART_ID, NULL, NULL);
}
