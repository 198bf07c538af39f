/* jobs that make parts: a whole scene, one more part, other voxels; and the scene as a file */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "controller/inside.h"
#include "models/models.h"
#include "scene/poses.h"
#include "scene/setup.h"
#include "scene/stage.h"

#define FINE 100.0 /* voxels across a part whose size of voxels nobody has said */

/* muted colours that can be told apart, for parts without one */
static const uint32_t colours[] = {0x8ea3b8, 0xd9a05b, 0x7fb08a, 0xb58db6, 0xc7b46a, 0x6fa8b5};
enum { COLOURS = sizeof colours / sizeof *colours };

static uint32_t colour_of(uint32_t given, uint32_t part)
{
    return given <= 0xffffff ? given : colours[part % COLOURS];
}

static double voxel_of(double asked, double scene, double common, const flr_mesh *mesh)
{
    if (asked > 0) return asked;
    if (scene > 0) return scene;
    if (common > 0) return common;
    return flr_vec3_length(flr_box3_size(mesh->bounds)) / FINE;
}

/* ---- voxels with progress ---- */

typedef struct progress {
    flr_job *job;
    const char *name;
    double from, to; /* of the job's way */
} progress;

static bool tell_progress(void *context, double done, const char *stage)
{
    const progress *p = context;
    return flr_job_progress(p->job, p->from + (p->to - p->from) * done, "%s: %s", p->name, stage);
}

typedef struct maker {
    flr_env *env;
    flr_cache cache;
    unsigned threads;
    bool on_surface;
} maker;

static maker maker_of(const flr_engine *e)
{
    return (maker){e->def.env, e->cache, e->def.threads,
                   e->tuning.world.contact.model == FLR_FORCE_SMOOTH};
}

static flr_result make_shape(const maker *m, flr_engine_kept *mesh, double voxel, bool hollow,
                             progress *p, flr_shape **shape, flr_error *error)
{
    flr_shape_def def = {.env = m->env,
                         .cache = &m->cache,
                         .mesh = mesh,
                         .voxel = voxel,
                         .hollow = hollow,
                         .on_surface = m->on_surface,
                         .threads = m->threads,
                         .progress = tell_progress,
                         .context = p};
    flr_error inner;
    flr_result result = flr_shape_make(&def, shape, &inner);
    if (result != FLR_OK) flr_fail(error, result, "part \"%s\": %s", p->name, inner.message);
    return result;
}

/* ---- a scene ---- */

typedef struct load_job {
    flr_job job;
    maker maker;
    flr_mesh_options options;
    double common; /* voxel */
    char path[FLR_CACHE_PATH_SIZE], scratch[FLR_CACHE_PATH_SIZE];
    flr_members members;
    flr_scene *scene;
    char hash[FLR_HASH_TEXT_SIZE]; /* of what the scene says */
    uint32_t meshes;
} load_job;

/* A scenario by its name becomes a folder first. */
static flr_result make_scenario(load_job *l, flr_error *error)
{
    const flr_scenario *scenario = flr_scenario_find(l->path);
    if (!scenario) return FLR_OK;
    flr_path_info info;
    flr_result result = flr_path_look(l->maker.env, l->path, &info, error);
    if (result != FLR_OK || info.kind == FLR_PATH_FILE) return result;
    if (!l->scratch[0])
        return flr_fail(error, FLR_UNSUPPORTED,
                        "scenario %s: there is no folder to make it in; write it by feeler make",
                        l->path);
    char folder[FLR_CACHE_PATH_SIZE];
    snprintf(folder, sizeof folder, "%.3900s/%.100s", l->scratch, l->path);
    if (!flr_job_progress(&l->job, 0, "making the scenario %s", l->path))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    result = flr_scenario_make(l->maker.env, scenario, NULL, folder, error);
    if (result == FLR_OK) snprintf(l->path, sizeof l->path, "%.4000s/scene.json", folder);
    return result;
}

/* Where a part should get to: the end of its path. */
static void find_goal(const load_job *l, flr_member *member)
{
    for (size_t i = 0; i < l->scene->path_count && !member->has_goal; i++) {
        const flr_scene_path *path = &l->scene->paths[i];
        if (strcmp(path->part, member->name) != 0) continue;
        char *file = flr_scene_file(l->scene, path->poses);
        flr_pose_list list;
        // a path that cannot be read is no reason not to show the part
        if (file && flr_pose_list_read(l->maker.env, file, l->scene->unit, &list, NULL) == FLR_OK) {
            member->has_goal = true;
            member->T_goal = list.poses[list.count - 1].T_world_part;
            flr_pose_list_free(&list);
        }
        free(file);
    }
}

static flr_result keep_mesh(load_job *l, flr_mesh *mesh, flr_engine_kept **kept, flr_error *error)
{
    flr_hash hash = flr_mesh_hash(mesh);
    for (uint32_t i = 0; i < l->members.count; i++) {
        flr_engine_kept *other = l->members.list[i].shape->mesh;
        if (other->hash.low != hash.low || other->hash.high != hash.high) continue;
        flr_mesh_destroy(mesh);
        *kept = flr_kept_use(other);
        return FLR_OK;
    }
    return flr_kept_make(mesh, l->meshes++, kept, error);
}

static flr_result load_shape(load_job *l, flr_mesh *mesh, uint32_t i, flr_shape **shape,
                             flr_error *error)
{
    const flr_scene_part *from = &l->scene->parts[i];
    double share = 1.0 / (double)l->scene->part_count;
    double voxel = voxel_of(flr_scene_part_voxel(l->scene, i), 0, l->common, mesh);
    flr_engine_kept *kept;
    flr_result result = keep_mesh(l, mesh, &kept, error);
    if (result != FLR_OK) return result;
    for (uint32_t k = 0; k < l->members.count; k++) {
        flr_shape *other = l->members.list[k].shape;
        if (other->mesh != kept || other->voxel != voxel || other->hollow != from->hollow) continue;
        *shape = flr_shape_use(other);
        flr_engine_drop_mesh(kept);
        return FLR_OK;
    }
    progress p = {&l->job, from->name, i * share, (i + 1) * share};
    result = make_shape(&l->maker, kept, voxel, from->hollow, &p, shape, error);
    flr_engine_drop_mesh(kept);
    return result;
}

static flr_result load_part(load_job *l, flr_scene_loader *loader, uint32_t i, flr_error *error)
{
    const flr_scene_part *from = &l->scene->parts[i];
    bool falls = flr_vec3_length2(l->scene->gravity) > 0 || l->scene->contact.spheres;
    flr_member member = {.part = i,
                         .kind = !from->moving ? FLR_PART_STATIC
                                 : falls       ? FLR_PART_FREE
                                               : FLR_PART_MOVABLE,
                         .colour = colour_of(from->colour, i),
                         .density = from->density,
                         .T_start = from->T_world_part};
    flr_text_copy(member.name, sizeof member.name, from->name);
    flr_mesh *mesh;
    if (!flr_job_progress(&l->job, (double)i / (double)l->scene->part_count, "%s: reading",
                          from->name))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    flr_result result = flr_scene_loader_load(loader, i, &mesh, NULL, error);
    if (result == FLR_OK) result = load_shape(l, mesh, i, &member.shape, error);
    if (result != FLR_OK) return result;
    find_goal(l, &member);
    if (flr_members_add(&l->members, &member)) return FLR_OK;
    flr_shape_drop(member.shape);
    return flr_engine_no_memory(error);
}

static void load_work(flr_job *job)
{
    load_job *l = (load_job *)job;
    flr_error *error = &job->error;
    job->result = make_scenario(l, error);
    if (job->result == FLR_OK)
        job->result = flr_scene_read(l->maker.env, l->path, &l->scene, error);
    if (job->result == FLR_OK) job->result = flr_setup_hash_scene(l->scene, l->hash, error);
    if (job->result != FLR_OK) return;
    if (l->scene->part_count > FLR_ENGINE_PARTS) {
        job->result = flr_fail(error, FLR_TOO_LARGE, "%s: %zu parts; %d at most", l->path,
                               l->scene->part_count, FLR_ENGINE_PARTS);
        return;
    }
    l->maker.on_surface = l->scene->contact.model == FLR_FORCE_SMOOTH;
    flr_scene_loader loader = flr_scene_loader_begin(l->maker.env, l->scene, &l->options);
    for (uint32_t i = 0; i < l->scene->part_count && job->result == FLR_OK; i++)
        job->result = load_part(l, &loader, i, error);
    flr_scene_loader_end(&loader);
}

static void set_voxel(flr_engine *e)
{
    double least = 0;
    for (uint32_t i = 0; i < e->members.count; i++) {
        double voxel = e->members.list[i].shape->voxel;
        if (least == 0 || voxel < least) least = voxel;
    }
    flr_tuning_set_voxel(&e->tuning, least);
    flr_tuning_set_voxel(&e->preset, least);
}

static void load_done(flr_engine *e, flr_job *job)
{
    load_job *l = (load_job *)job;
    if (job->result != FLR_OK) return;
    flr_members_free(&e->members);
    e->members = l->members;
    memset(&l->members, 0, sizeof l->members);
    e->scene++;
    e->next_part = e->members.count;
    e->next_mesh = l->meshes;
    e->voxel = l->scene->voxel;
    e->unit_metres = l->scene->unit;
    e->camera = l->scene->camera;
    const char *unit = l->scene->unit == 1 ? "m" : l->scene->unit == 0.0254 ? "in" : "mm";
    flr_text_copy(e->unit, sizeof e->unit, unit);
    flr_text_copy(e->name, sizeof e->name, l->scene->name);
    flr_text_copy(e->path, sizeof e->path, l->path);
    memcpy(e->file_hash, l->hash, sizeof l->hash);
    e->altered = false;
    e->tuning.world = flr_scene_params(l->scene);
    e->tuning.world.step.gravity = l->scene->gravity;
    e->tuning.world.step.travel = flr_default_tuning().world.step.travel;
    e->preset = e->tuning;
    set_voxel(e);
    flr_engine_send_tuning(e);
    for (uint32_t h = 0; h < e->def.hands; h++) {
        e->tools[h] = flr_scene_tool(l->scene, h);
        e->probes |= e->tools[h] == FLR_TOOL_POINT;
    }
    e->dirty = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_SCENE);
    for (uint32_t i = 0; i < flr_tuning_count(); i++)
        flr_engine_tell(e, FLR_ENGINE_EVENT_PARAMETER)->index = i;
}

static void load_drop(flr_job *job)
{
    load_job *l = (load_job *)job;
    flr_members_free(&l->members);
    flr_scene_destroy(l->scene);
    free(l);
}

flr_result flr_engine_load(flr_engine *e, const char *path, uint32_t *number, flr_error *error)
{
    if (!path[0] || strlen(path) >= FLR_CACHE_PATH_SIZE)
        return flr_fail(error, FLR_BAD_ARGUMENT, "\"%.60s\" is no name of a scene", path);
    flr_result result = flr_engine_can_post(e, error);
    if (result != FLR_OK) return result;
    load_job *l = calloc(1, sizeof *l);
    if (!l) return flr_engine_no_memory(error);
    l->maker = maker_of(e);
    l->options = e->def.options;
    l->common = e->def.voxel;
    memcpy(l->path, path, strlen(path) + 1);
    if (e->def.scratch) flr_text_copy(l->scratch, sizeof l->scratch, e->def.scratch);
    l->job.work = load_work;
    l->job.done = load_done;
    l->job.drop = load_drop;
    return flr_engine_post(e, &l->job, FLR_WIRE_JOB_LOAD, FLR_ENGINE_NONE, path, number);
}

/* ---- one part: new, or with other voxels ---- */

typedef struct part_job {
    flr_job job;
    maker maker;
    flr_mesh_options options;
    char name[FLR_ENGINE_NAME_SIZE], file[FLR_CACHE_PATH_SIZE];
    bool remove_file;
    flr_mesh *mesh;        /* given, or read from the file */
    flr_engine_kept *kept; /* of the part that gets other voxels */
    double voxel, scene_voxel, common;
    bool hollow;
    uint32_t scene;
    flr_member member; /* a new one, but for its shape */
    flr_shape *shape;
    flr_shape
        *old; /* used: the new shape is for all parts that have this one; NULL: for one part */
} part_job;

flr_engine_add_def flr_default_engine_add_def(void)
{
    return (flr_engine_add_def){.colour = FLR_ENGINE_NONE, .T_world_part = flr_pose_identity()};
}

/* A sentence about an upload's file names the part instead: nobody who sent it knows that file, nor should. */
static void name_upload(const part_job *p, flr_error *error)
{
    char rest[sizeof error->message];
    const char *slash = strrchr(p->file, '/'), *file = slash ? slash + 1 : p->file;
    const char *at = p->remove_file ? strstr(error->message, file) : NULL;
    if (!at) return;
    flr_text_copy(rest, sizeof rest, at + strlen(file));
    flr_fail(error, error->code, "%s%s", p->name, rest);
}

static void part_work(flr_job *job)
{
    part_job *p = (part_job *)job;
    progress how = {job, p->name, p->file[0] ? 0.3 : 0, 1};
    if (!p->mesh && !p->kept) {
        flr_job_progress(job, 0, "%s: reading", p->name);
        job->result =
            flr_mesh_open(p->maker.env, p->file, &p->options, &p->mesh, NULL, &job->error);
        if (p->remove_file) flr_path_remove(p->maker.env, p->file, NULL);
        if (job->result != FLR_OK) {
            name_upload(p, &job->error);
            return;
        }
    }
    if (!p->kept) {
        flr_mesh *mesh = p->mesh;
        p->mesh = NULL;
        job->result = flr_kept_make(mesh, 0, &p->kept, &job->error);
        if (job->result != FLR_OK) return;
    }
    double voxel = voxel_of(p->voxel, p->scene_voxel, p->common, p->kept->mesh);
    job->result = make_shape(&p->maker, p->kept, voxel, p->hollow, &how, &p->shape, &job->error);
}

static void add_done(flr_engine *e, flr_job *job)
{
    part_job *p = (part_job *)job;
    if (job->result == FLR_OK && p->scene != e->scene)
        job->result = flr_fail(&job->error, FLR_CANCELLED, "another scene was loaded meanwhile");
    if (job->result == FLR_OK) {
        p->member.shape = p->shape;
        p->shape->mesh->number = e->next_mesh++; /* nobody else knows this mesh yet */
        if (flr_members_add(&e->members, &p->member))
            p->shape = NULL, e->altered = true;
        else
            job->result = flr_engine_no_memory(&job->error);
    }
    if (job->result != FLR_OK) {
        job->info.result = job->result;
        flr_text_copy(job->info.sentence, sizeof job->info.sentence, job->error.message);
        return;
    }
    set_voxel(e);
    e->dirty = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_PART)->part = p->member.part;
}

static void revoxelize_done(flr_engine *e, flr_job *job)
{
    part_job *p = (part_job *)job;
    flr_member *member =
        p->scene == e->scene ? flr_members_find(&e->members, job->info.part) : NULL;
    if (job->result != FLR_OK || !member || member->shape->mesh != p->kept) return;
    flr_shape_drop(member->shape);
    member->shape = p->shape;
    p->shape = NULL;
    set_voxel(e);
    e->dirty = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_PART)->part = member->part;
}

/* Points for another model of force: in all parts of this shape. */
static void reshape_done(flr_engine *e, flr_job *job)
{
    part_job *p = (part_job *)job;
    e->shaping = false;
    if (p->scene != e->scene) return;
    if (job->result != FLR_OK) { /* it stays as it is */
        e->tuning.world.contact.model = e->model;
        flr_engine_tell_parameter(e, "model");
        flr_engine_news(e, FLR_WIRE_EVENT_WARNING, FLR_ENGINE_NONE, FLR_ENGINE_NONE,
                        "the model of force stays as it was: %s", job->error.message);
        return;
    }
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_member *member = &e->members.list[i];
        if (member->shape != p->old) continue;
        flr_shape_drop(member->shape);
        member->shape = flr_shape_use(p->shape);
        flr_engine_tell(e, FLR_ENGINE_EVENT_PART)->part = member->part;
    }
    e->dirty = true;
}

static void part_drop(flr_job *job)
{
    part_job *p = (part_job *)job;
    /* a job that was cancelled before it began has not read it */
    if (p->remove_file) flr_path_remove(p->maker.env, p->file, NULL);
    flr_mesh_destroy(p->mesh);
    flr_engine_drop_mesh(p->kept);
    flr_shape_drop(p->shape);
    flr_shape_drop(p->old);
    free(p);
}

static part_job *make_part_job(flr_engine *e, void (*done)(flr_engine *, flr_job *))
{
    part_job *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->maker = maker_of(e);
    p->options = e->def.options;
    p->scene_voxel = e->voxel;
    p->common = e->def.voxel;
    p->scene = e->scene;
    p->job.work = part_work;
    p->job.done = done;
    p->job.drop = part_drop;
    return p;
}

flr_result flr_engine_add(flr_engine *e, const flr_engine_add_def *def, uint32_t *part,
                          uint32_t *number, flr_error *error)
{
    flr_result result = FLR_OK;
    bool file = !def->mesh && def->file && def->file[0];
    if (!def->mesh && !file)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a part needs a mesh or a file");
    else if (file && strlen(def->file) >= FLR_CACHE_PATH_SIZE)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a file name that is too long");
    else if (!flr_pose_is_valid(def->T_world_part))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for a part");
    else if (!(def->voxel >= 0) || !(def->unit >= 0))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "voxel and unit of a part must not be negative");
    else if (e->members.count + flr_jobs_count(e->jobs) >= FLR_ENGINE_PARTS)
        result = flr_fail(error, FLR_TOO_LARGE, "a scene has %d parts at most", FLR_ENGINE_PARTS);
    part_job *p = result == FLR_OK ? make_part_job(e, add_done) : NULL;
    if (!p) {
        flr_mesh_destroy(def->mesh);
        return result == FLR_OK ? flr_engine_no_memory(error) : result;
    }
    p->mesh = def->mesh;
    if (file) memcpy(p->file, def->file, strlen(def->file) + 1);
    p->remove_file = def->remove_file;
    p->options.unit = def->unit > 0 ? def->unit : p->options.unit;
    p->voxel = def->voxel;
    p->hollow = def->hollow;
    p->member =
        (flr_member){.part = e->next_part++, .kind = def->kind, .T_start = def->T_world_part};
    p->member.colour = colour_of(def->colour, p->member.part);
    const char *name = def->name && def->name[0] ? def->name : "part";
    flr_text_copy(p->name, sizeof p->name, name);
    memcpy(p->member.name, p->name, sizeof p->name);
    if (part) *part = p->member.part;
    uint8_t kind = file ? FLR_WIRE_JOB_IMPORT : FLR_WIRE_JOB_VOXELIZE;
    return flr_engine_post(e, &p->job, kind, p->member.part, p->name, number);
}

flr_result flr_engine_voxelize(flr_engine *e, uint32_t part, double voxel, uint32_t *number,
                               flr_error *error)
{
    flr_member *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (!(voxel > 0 && isfinite(voxel)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "voxels of %g m cannot be", voxel);
    if ((result = flr_engine_can_post(e, error)) != FLR_OK) return result;
    part_job *p = make_part_job(e, revoxelize_done);
    if (!p) return flr_engine_no_memory(error);
    p->kept = flr_kept_use(member->shape->mesh);
    p->voxel = voxel;
    p->hollow = member->shape->hollow;
    memcpy(p->name, member->name, sizeof p->name);
    return flr_engine_post(e, &p->job, FLR_WIRE_JOB_VOXELIZE, part, p->name, number);
}

/* The smooth model wants points on the exact surface, the other one in the middle of voxels: where a part has others,
 * they are made, shape by shape. */
void flr_engine_keep_shapes(flr_engine *e)
{
    bool on_surface = e->tuning.world.contact.model == FLR_FORCE_SMOOTH;
    const flr_member *member = NULL;
    for (uint32_t i = 0; i < e->members.count && !e->shaping && !member; i++)
        if (e->members.list[i].shape->shell->on_surface != on_surface) member = &e->members.list[i];
    part_job *p = member ? make_part_job(e, reshape_done) : NULL;
    if (!p) return; /* nothing to do, or no memory: the next service tries again */
    p->old = flr_shape_use(member->shape);
    p->kept = flr_kept_use(member->shape->mesh);
    p->voxel = member->shape->voxel;
    p->hollow = member->shape->hollow;
    memcpy(p->name, member->name, sizeof p->name);
    e->shaping = true;
    flr_engine_post(e, &p->job, FLR_WIRE_JOB_VOXELIZE, member->part, p->name, NULL);
}
