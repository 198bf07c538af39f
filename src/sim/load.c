/* a scene: its meshes are read, then their voxels are made */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "models/models.h"
#include "scene/pose_file.h"
#include "scene/scene_import.h"
#include "sim/build_job.h"
#include "sim/resolution.h"
#include "sim/review.h"
#include "sim/setup.h"
#include "sim/stage.h"

#define READING 0.05 /* of a scene's loading, until its parts are seen */

/* First the meshes are read, and all parts are there to be looked at; then voxels are made, shape by shape, of what stays
 * first, so that nothing can be moved through what is not ready yet. */
typedef struct load_job {
    flr_job job;
    flr_maker maker;
    bool contact_chosen; /* whatever the scene says */
    flr_mesh_options options;
    double common;         /* voxel */
    double instead;        /* … of all parts, whatever the scene says; 0: as it says */
    flr_resolution chosen; /* where neither says anything */
    char path[FLR_CACHE_PATH_SIZE], scratch[FLR_CACHE_PATH_SIZE];
    char origin[FLR_CACHE_PATH_SIZE]; /* as given: a CAD file becomes a scene first */
    char label[FLR_ENGINE_NAME_SIZE]; /* the file's name, for progress */
    flr_axis up;                      /* of a CAD file: as asked for, then as it was imported */
    const char *moves, *fixes;        /* patterns, as of flr_scene_import_def */
    bool imported;                    /* it is a CAD file */
    bool append;                      /* beside what is there */
    bool first;                       /* … which was nothing: it may choose the engine */
    flr_pose T_world_file;            /* … and moved by this */
    char remove[FLR_CACHE_PATH_SIZE]; /* an upload's file, which goes when it was read; "": none */
    char *notes;                      /* what a CAD file had to leave out; NULL: nothing */
    flr_part_list members;            /* read; the engine's once it has taken them */
    flr_group_list groups;            /* likewise */
    uint32_t first_mesh;              /* number of the first mesh */
    double unit;                      /* of an upload's file; 0: as it says */
    flr_scene *scene;
    char hash[FLR_HASH_TEXT_SIZE]; /* of what the scene says */
    bool taken;                    /* by the engine, as … */
    uint32_t number;               /* … this scene */
    struct bare {
        flr_shape *shape; /* used */
        const char *name; /* of a part that has it; the scene's */
        double density;   /* … and how it weighs */
        double work;      /* that it will be, in some unit */
        bool stays;       /* no part that has it ever moves: may be paged */
    } * bare;             /* [bare_count]: all shapes, in the order in which voxels are made */
    uint32_t bare_count, next, staying;
    uint64_t memory; /* bytes, for all that stay together; 0: as much as it takes */
    double work, done;
    flr_shape *made;  /* the voxels of the last one; NULL: it failed */
    uint32_t failed;  /* shapes without voxels … */
    flr_error reason; /* … and why the first has none */
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

static bool import_progress(void *context, double done, const char *stage)
{
    load_job *l = context;
    return flr_job_progress(&l->job, READING * done, "%s: %s", l->label, stage);
}

/* A CAD file becomes a scene in a folder of its own first. */
static flr_result import_file(load_job *l, flr_error *error)
{
    if (!flr_scene_can_import(l->path)) return FLR_OK;
    if (!l->scratch[0])
        return flr_fail(error, FLR_UNSUPPORTED,
                        "%s: there is no folder to make a scene in; write one by feeler scene",
                        l->path);
    char out[FLR_CACHE_PATH_SIZE], folder[FLR_CACHE_PATH_SIZE];
    const char *file = l->path;
    // one folder for each name of a file, so that opening it again replaces what was there
    char hash[FLR_HASH_TEXT_SIZE];
    flr_hash_print(flr_hash_bytes(l->path, strlen(l->path)), hash);
    snprintf(folder, sizeof folder, "%.3900s/import-%.16s", l->scratch, hash);
    snprintf(out, sizeof out, "%.4000s/scene.json", folder);
    flr_scene_import_report report;
    flr_scene_import_def def = {.env = l->maker.env,
                                .files = &file,
                                .file_count = 1,
                                .name = l->remove[0] ? l->label : NULL,
                                .out = out,
                                .up = l->up,
                                .move = l->moves,
                                .fix = l->fixes,
                                .options = l->options,
                                .progress = import_progress,
                                .context = l};
    if (l->unit > 0) def.options.unit = l->unit;
    flr_result result = flr_path_make_folder(l->maker.env, folder, error);
    if (result == FLR_OK) result = flr_scene_import(&def, &report, error);
    if (result != FLR_OK) return result;
    l->notes = report.notes;
    l->up = report.up;
    l->imported = true;
    memcpy(l->path, out, sizeof out);
    return FLR_OK;
}

/* Where a part should get to: the end of its path. */
static void find_goal(const load_job *l, flr_part_entry *member)
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

static bool begin_part(void *context, uint32_t part, double *voxel, flr_mesh_options *options)
{
    load_job *l = context;
    (void)voxel, (void)options;
    return flr_job_progress(&l->job, READING * part / (double)l->scene->part_count, "%s: reading",
                            l->scene->parts[part].name);
}

/* Each shape once. */
static void add_bare(load_job *l, bool moving)
{
    for (uint32_t i = 0; i < l->members.count; i++) {
        const flr_part_entry *m = &l->members.list[i];
        bool known = (m->kind != FLR_PART_STATIC) != moving;
        for (uint32_t k = 0; k < l->bare_count && !known; k++) known = l->bare[k].shape == m->shape;
        if (known) continue;
        flr_vec3 size = flr_box3_size(m->shape->mesh->mesh->bounds);
        double area = size.x * size.y + size.y * size.z + size.z * size.x;
        double work = 1e4 + area / (m->shape->voxel * m->shape->voxel);
        bool stays = l->scene->contact.engine == FLR_ENGINE_SHELL;
        for (uint32_t k = 0; k < l->members.count; k++)
            stays = stays && (l->members.list[k].shape != m->shape ||
                              l->members.list[k].kind == FLR_PART_STATIC);
        l->staying += stays;
        l->bare[l->bare_count++] = (struct bare){
            flr_shape_retain(m->shape), l->scene->parts[m->part].name, m->density, work, stays};
        l->work += work;
    }
}

/* Nobody has chosen an engine, and voxels cannot resolve what is there. */
static void choose_engine(load_job *l)
{
    flr_scene_contact *contact = &l->scene->contact;
    if ((l->append && !l->first) || l->contact_chosen || flr_scene_chooses_engine(contact) ||
        l->memory || !l->chosen.exact)
        return;
    contact->engine = FLR_ENGINE_EXACT;
    l->maker.exact = true;
    flr_resolution_take_exact(&l->chosen);
}

static bool read_groups(load_job *l)
{
    uint32_t *of_part = calloc(l->scene->part_count + 1, sizeof *of_part);
    bool ok = of_part && flr_group_list_read(l->scene, &l->groups, of_part);
    for (uint32_t i = 0; ok && i < l->members.count; i++)
        l->members.list[i].group = of_part[l->members.list[i].part];
    free(of_part);
    return ok;
}

static void read_work(load_job *l)
{
    flr_job *job = &l->job;
    flr_error *error = &job->error;
    job->result = make_scenario(l, error);
    if (job->result == FLR_OK) job->result = import_file(l, error);
    if (job->result != FLR_OK && l->remove[0])
        flr_build_job_name_upload(error->message, sizeof error->message, l->origin, l->label);
    if (job->result == FLR_OK)
        job->result = flr_scene_read(l->maker.env, l->path, &l->scene, error);
    if (job->result == FLR_OK) job->result = flr_setup_hash_scene(l->scene, l->hash, error);
    if (job->result != FLR_OK) return;
    if (l->scene->part_count > FLR_ENGINE_PARTS) {
        job->result = flr_fail(error, FLR_TOO_LARGE, "%s: %zu parts; %d at most", l->path,
                               l->scene->part_count, FLR_ENGINE_PARTS);
        return;
    }
    if (l->scene->contact.engine == FLR_ENGINE_SHELL &&
        l->scene->contact.force_layer > FLR_SHAPE_FORCE_LAYER) {
        job->result = flr_fail(error, FLR_UNSUPPORTED,
                               "%s: force layer %u: a session holds layers up to %d; use larger "
                               "voxels, or feeler run",
                               l->path, l->scene->contact.force_layer, FLR_SHAPE_FORCE_LAYER);
        return;
    }
    l->maker.on_surface = l->scene->contact.model == FLR_FORCE_SMOOTH;
    if (!l->contact_chosen) l->maker.exact = l->scene->contact.engine == FLR_ENGINE_EXACT;
    flr_parts_def def = {.env = l->maker.env,
                         .scene = l->scene,
                         .options = &l->options,
                         .voxel = l->instead,
                         .moving_voxel = l->instead,
                         .common = l->common,
                         .chosen = &l->chosen,
                         .cache = &l->maker.cache,
                         .first_mesh = l->first_mesh,
                         .begin = begin_part,
                         .context = l};
    job->result = flr_part_list_read(&def, &l->members, error);
    if (job->result != FLR_OK) return;
    choose_engine(l);
    if (!read_groups(l)) {
        job->result = flr_engine_no_memory(error);
        return;
    }
    for (uint32_t i = 0; i < l->members.count; i++) find_goal(l, &l->members.list[i]);
    if (!(l->bare = calloc((size_t)l->members.count + 1, sizeof *l->bare))) {
        job->result = flr_engine_no_memory(error);
        return;
    }
    add_bare(l, false);
    add_bare(l, true);
    job->more = true; /* also where nothing is left: the job ends when all is there */
}

static void load_work(flr_job *job)
{
    load_job *l = (load_job *)job;
    if (!l->taken) {
        read_work(l);
        return;
    }
    job->result = FLR_OK;
    if (l->next == l->bare_count) return;
    const struct bare *b = &l->bare[l->next];
    double from = READING + (1 - READING) * l->done / l->work,
           to = READING + (1 - READING) * (l->done + b->work) / l->work;
    flr_build_job_progress p = {.job = job, .name = b->name, .from = from, .to = to};
    flr_maker maker = l->maker;
    if (b->stays) maker.memory = l->memory / l->staying;
    job->result = flr_build_job_shape(&maker, b->shape->mesh, b->shape->voxel, b->shape->hollow, &p,
                                      &l->made, &job->error);
    if (job->result == FLR_OK)
        flr_mesh_asset_inertia(b->shape->mesh, b->density); /* will be asked for */
    job->more = l->next + 1 < l->bare_count && job->result != FLR_CANCELLED;
}

/* The meshes are read: their parts take the place of what is there. */
static void take_scene(flr_engine *e, load_job *l)
{
    flr_jobs_cancel(e->jobs, e->loading); /* voxels of a scene that is gone */
    e->loading = l->job.info.job;
    flr_engine_discard(e, NULL, &e->members);
    e->members = l->members;
    memset(&l->members, 0, sizeof l->members);
    flr_group_list_free(&e->groups);
    e->groups = l->groups;
    memset(&l->groups, 0, sizeof l->groups);
    l->taken = true;
    l->number = ++e->scene;
    if (!flr_review_read(e->review, l->scene, l->number))
        FLR_ENGINE_WARN(e, "no memory for all of the notes and allowed pairs of the scene");
    e->next_part = e->members.count;
    e->next_mesh = 0;
    for (uint32_t i = 0; i < e->members.count; i++)
        if (e->members.list[i].shape->mesh->number >= e->next_mesh)
            e->next_mesh = e->members.list[i].shape->mesh->number + 1;
    e->voxel = l->scene->voxel;
    e->unit_metres = l->scene->unit;
    e->camera = l->scene->camera;
    e->up = l->imported && l->up != FLR_AXIS_NONE ? l->up : FLR_AXIS_Z;
    e->turned = flr_quat_identity();
    const char *unit = l->scene->unit == 1 ? "m" : l->scene->unit == 0.0254 ? "in" : "mm";
    flr_text_copy(e->unit, sizeof e->unit, unit);
    flr_text_copy(e->name, sizeof e->name, l->scene->name);
    flr_text_copy(e->path, sizeof e->path, l->path);
    memcpy(e->file_hash, l->hash, sizeof l->hash);
    e->altered = false;
    e->how = flr_asset_how_of(&l->scene->contact);
    e->devices = l->scene->devices, e->barrier = l->scene->barrier;
    flr_sources_read(&e->sources, e->def.env, flr_scene_can_import(l->origin) ? l->origin : l->path,
                     l->scene);
    e->tuning.world = flr_scene_params(l->scene);
    flr_engine_choose_contact(&e->def, &e->tuning.world);
    e->tuning.world.step.gravity = l->scene->gravity;
    e->tuning.world.step.travel = flr_default_parameters().world.step.travel;
    e->preset = e->tuning;
    flr_engine_set_voxel(e);
    const double onset = e->def.onset >= 0 ? e->def.onset : l->scene->contact.onset;
    if (onset >= 0) {
        flr_parameters_set_onset(&e->tuning.world, e->tuning.voxel, onset);
        e->preset.world.contact.force_layer = e->tuning.world.contact.force_layer;
        e->preset.world.contact.onset = e->tuning.world.contact.onset;
        flr_engine_set_voxel(e);
    }
    flr_engine_send_tuning(e);
    for (uint32_t h = 0; h < e->def.hands; h++) {
        e->tools[h] = flr_scene_tool(l->scene, h);
        e->probes |= e->tools[h] == FLR_TOOL_POINT;
        e->firm[h] = flr_scene_firm(l->scene, h);
        const flr_scene_hand *mapped = flr_scene_mapped_hand(l->scene, h);
        if (mapped && !e->def.mapping)
            e->mappings[h] = (flr_engine_mapping){.scale = mapped->scale,
                                                  .axes = (uint8_t)mapped->axes,
                                                  .boundary = (uint8_t)mapped->boundary,
                                                  .clutch_button = mapped->clutch};
        flr_engine_send_base(e, h);
    }
    e->dirty = true;
    flr_engine_tell(e, FLR_ENGINE_EVENT_SCENE);
    if (l->chosen.sentence[0]) FLR_ENGINE_NOTE(e, "%s", l->chosen.sentence);
    for (uint32_t i = 0; i < flr_parameters_count(); i++)
        flr_engine_tell(e, FLR_ENGINE_EVENT_PARAMETER)->index = i;
}

/* A name that no part of the scene has yet. */
static void make_unique(const flr_engine *e, char name[FLR_ENGINE_NAME_SIZE])
{
    char first[FLR_ENGINE_NAME_SIZE - 16];
    flr_text_copy(first, sizeof first, name);
    for (uint32_t number = 2, i = 0; i < e->members.count; i++)
        if (strcmp(e->members.list[i].name, name) == 0) {
            snprintf(name, FLR_ENGINE_NAME_SIZE, "%s:%u", first, number++);
            i = UINT32_MAX; /* the new name is compared with all again */
        }
}

/* The groups of a file beside those that are there; `indices` says where each is now. */
static bool append_groups(flr_engine *e, const flr_group_list *groups, uint32_t *indices)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        char name[FLR_ENGINE_NAME_SIZE];
        flr_text_copy(name, sizeof name, groups->list[i].name);
        for (uint32_t number = 2; flr_group_list_find(&e->groups, name) != FLR_ENGINE_NONE;
             number++)
            snprintf(name, sizeof name, "%.230s:%u", groups->list[i].name, number);
        indices[i] = flr_group_list_make(&e->groups, name, FLR_ENGINE_NONE);
        if (indices[i] == FLR_ENGINE_NONE) return false;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        uint32_t in = groups->list[i].in;
        e->groups.list[indices[i]].in = in == FLR_ENGINE_NONE ? in : indices[in];
        e->groups.list[indices[i]].rigid = groups->list[i].rigid;
    }
    return true;
}

/* The first assembly of an empty scene is treated as a scene is: where nobody has chosen an engine, what fits tightly gets the
 * exact one. */
static void adopt_engine(flr_engine *e, const load_job *l)
{
    if (!l->first || !l->maker.exact || e->members.count > l->members.count ||
        e->tuning.world.engine != FLR_ENGINE_SHELL)
        return;
    e->preset.world.engine = FLR_ENGINE_EXACT;
    if (flr_engine_set(e, "engine", FLR_ENGINE_EXACT, NULL) != FLR_OK) return;
    FLR_ENGINE_NOTE(e, "feeler chose the exact engine: parts of %.80s touch or fit tightly",
                    l->label);
}

/* The parts of a file stand beside those that are there. */
static flr_result append_parts(flr_engine *e, load_job *l, flr_error *error)
{
    uint32_t *indices = calloc(l->groups.count + 1u, sizeof *indices);
    if (e->members.count + l->members.count > FLR_ENGINE_PARTS) {
        free(indices);
        return flr_fail(error, FLR_TOO_LARGE, "a scene has %d parts at most", FLR_ENGINE_PARTS);
    }
    if (!indices || !append_groups(e, &l->groups, indices)) {
        free(indices);
        return flr_engine_no_memory(error);
    }
    const bool tied = flr_part_list_add_joints(
        &e->members, l->members.joints, l->members.joint_count, e->next_part, l->T_world_file);
    if (!tied) {
        free(indices);
        return flr_engine_no_memory(error);
    }
    flr_engine_take_up(e, l->T_world_file.q);
    for (uint32_t i = 0; i < l->members.count; i++) {
        flr_part_entry member = l->members.list[i];
        member.part = e->next_part;
        member.T_start = flr_pose_mul(l->T_world_file, member.T_start);
        if (member.group != FLR_ENGINE_NONE) member.group = indices[member.group];
        make_unique(e, member.name);
        if (!flr_part_list_add(&e->members, &member)) break; /* the rest is dropped with the job */
        flr_shape_retain(member.shape);
        e->next_part++;
        flr_engine_tell_part(e, flr_part_list_find(&e->members, member.part));
    }
    free(indices);
    flr_group_list_set_rigid(&e->groups, &e->members);
    l->taken = true;
    l->number = e->scene;
    e->loading = l->job.info.job;
    e->dirty = e->altered = true;
    flr_engine_set_voxel(e);
    adopt_engine(e, l);
    flr_engine_tell(e, FLR_ENGINE_EVENT_GROUPS);
    return FLR_OK;
}

/* What a CAD file had to leave out is reported, line by line. */
static void tell_notes(flr_engine *e, load_job *l)
{
    enum { MAX_TOLD = 50 };
    uint32_t count = 0;
    for (char *line = l->notes, *end; line && *line; line = end, count++) {
        end = strchr(line, '\n');
        if (end) *end++ = 0;
        if (count >= MAX_TOLD) continue;
        char sentence[FLR_ERROR_MESSAGE_SIZE];
        flr_text_copy(sentence, sizeof sentence, line);
        const char *slash = strrchr(l->origin, '/');
        flr_build_job_name_upload(sentence, sizeof sentence, l->origin,
                                  l->remove[0] ? l->label
                                  : slash      ? slash + 1
                                               : l->origin);
        FLR_ENGINE_WARN(e, "%s", sentence);
    }
    if (count > MAX_TOLD)
        FLR_ENGINE_WARN(e, "%u more parts have faces that were left out; feeler scene lists them",
                        count - MAX_TOLD);
}

/* Voxels of one shape more are there: parts that still wait for them get them. */
static void take_shape(flr_engine *e, load_job *l)
{
    flr_shape *bare = l->bare[l->next].shape;
    l->done += l->bare[l->next++].work;
    if (l->job.result != FLR_OK) {
        if (l->failed++ == 0) l->reason = l->job.error;
        return;
    }
    for (uint32_t i = 0; i < e->members.count; i++) e->dirty |= e->members.list[i].shape == bare;
    flr_part_list_replace(&e->members, bare, l->made);
    flr_engine_store(e, l->made);
    if (l->made->pager) flr_engine_tell_paged(e, l->bare[l->next - 1].name, l->made);
    flr_shape_release(l->made);
    l->made = NULL;
}

/* All voxels that could be had are there: what is left is reported. */
static void end_load(flr_engine *e, load_job *l)
{
    flr_job *job = &l->job;
    uint32_t bare = 0;
    for (uint32_t i = 0; i < e->members.count; i++)
        bare += flr_shape_is_bare(e->members.list[i].shape);
    if (e->loading == job->info.job) e->loading = 0;
    if (l->failed == 0) return;
    job->result = l->reason.code;
    flr_fail(&job->error, l->reason.code,
             "%s; %u of %u parts have no voxels: they are shown, but nothing touches them",
             l->reason.message, bare, e->members.count);
}

static void load_done(flr_engine *e, flr_job *job)
{
    load_job *l = (load_job *)job;
    if (!l->taken) {
        if (job->result != FLR_OK) return;
        if (l->append)
            job->result = append_parts(e, l, &job->error);
        else
            take_scene(e, l);
        if (job->result == FLR_OK)
            tell_notes(e, l);
        else
            job->more = false;
        return;
    }
    if (l->number != e->scene) {
        job->more = false;
        job->result = flr_fail(&job->error, FLR_CANCELLED, "another scene was loaded meanwhile");
        return;
    }
    if (l->next < l->bare_count) take_shape(e, l);
    if (!job->more) end_load(e, l);
}

static void load_drop(flr_job *job)
{
    load_job *l = (load_job *)job;
    for (uint32_t i = 0; i < l->bare_count; i++) flr_shape_release(l->bare[i].shape);
    free(l->bare);
    flr_shape_release(l->made);
    flr_part_list_free(&l->members);
    flr_group_list_free(&l->groups);
    flr_scene_destroy(l->scene);
    if (l->remove[0]) flr_path_remove(l->maker.env, l->remove, NULL);
    free(l->notes);
    free(l);
}

/* A job that reads `path`; NULL with a sentence where there cannot be one. */
static load_job *make_load_job(flr_engine *e, const char *path, flr_error *error)
{
    if (!path[0] || strlen(path) >= FLR_CACHE_PATH_SIZE) {
        flr_fail(error, FLR_BAD_ARGUMENT, "\"%.60s\" is no name of a scene", path);
        return NULL;
    }
    if (flr_engine_can_post(e, error) != FLR_OK) return NULL;
    load_job *l = calloc(1, sizeof *l);
    if (!l) {
        flr_engine_no_memory(error);
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    flr_text_copy(l->label, sizeof l->label, slash ? slash + 1 : path);
    l->maker = flr_maker_of(e);
    l->contact_chosen = e->def.contact != 0;
    if (l->contact_chosen) l->maker.exact = e->def.contact == 1 + FLR_ENGINE_EXACT;
    l->memory = e->def.memory;
    l->options = e->def.options;
    l->up = e->def.up;
    l->options.go_on = flr_build_job_goes_on;
    l->options.context = &l->job;
    l->common = e->def.voxel;
    l->instead = e->def.voxel_of_all ? e->def.voxel : 0;
    memcpy(l->path, path, strlen(path) + 1);
    memcpy(l->origin, path, strlen(path) + 1);
    if (e->def.scratch) flr_text_copy(l->scratch, sizeof l->scratch, e->def.scratch);
    l->job = (flr_job){.work = load_work, .done = load_done, .drop = load_drop};
    return l;
}

flr_result flr_engine_load(flr_engine *e, const char *path, uint32_t *number, flr_error *error)
{
    flr_error why;
    load_job *l = make_load_job(e, path, &why);
    if (l) return flr_engine_post(e, &l->job, FLR_WIRE_JOB_LOAD, FLR_NO_PART_ID, path, number);
    if (error) *error = why;
    return why.code;
}

flr_result flr_engine_add_assembly(flr_engine *e, const flr_engine_add_def *def, uint32_t *number,
                                   flr_error *error)
{
    flr_error why;
    load_job *l = make_load_job(e, def->file, &why);
    if (!l) {
        if (error) *error = why;
        return why.code;
    }
    l->append = true;
    l->first = e->members.count == 0 && e->tuning.world.engine == FLR_ENGINE_SHELL;
    l->T_world_file = def->T_world_part;
    l->unit = def->unit;
    l->up = FLR_AXIS_Z; /* T_world_part says how it stands */
    if (def->kind == FLR_PART_STATIC) l->fixes = "*";
    if (def->remove_file) flr_text_copy(l->remove, sizeof l->remove, def->file);
    flr_text_copy(l->label, sizeof l->label, def->name && def->name[0] ? def->name : "assembly");
    // numbers of meshes are not used again, and other parts may come while it is read
    l->first_mesh = e->next_mesh;
    e->next_mesh += FLR_ENGINE_PARTS;
    return flr_engine_post(e, &l->job, FLR_WIRE_JOB_IMPORT, FLR_NO_PART_ID, l->label, number);
}
