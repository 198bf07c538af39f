/* one part: new, with other voxels, or with points for another model of force */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "sim/build_job.h"
#include "sim/resolution.h"

/* A new part is there to be looked at when its mesh was read; then its voxels are made. */
typedef struct part_job {
    flr_job job;
    flr_maker maker;
    flr_mesh_options options;
    char name[FLR_ENGINE_NAME_SIZE], file[FLR_CACHE_PATH_SIZE];
    bool remove_file;
    flr_mesh_report report; /* of the file */
    flr_mesh *mesh;         /* given, or read from the file, or made of these: */
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t vertex_count, triangle_count;
    flr_mesh_asset *asset; /* of the part that gets other voxels */
    double voxel, scene_voxel, common;
    flr_part_list
        around; /* the parts that are there, where they are; only where feeler has to choose a size */
    flr_resolution chosen; /* … and what it chose */
    bool hollow;
    uint32_t scene;
    flr_part_entry member; /* a new one */
    bool is_new, taken;
    bool replaces;    /* … which is there, and gets another mesh */
    flr_shape *shape; /* made */
    flr_shape *old;   /* used: the new shape takes its place; NULL: whatever the part has */
} part_job;

flr_engine_add_def flr_default_engine_add_def(void)
{
    return (flr_engine_add_def){
        .colour = FLR_ENGINE_NONE, .T_world_part = flr_pose_identity(), .replaces = FLR_NO_PART_ID};
}

static flr_result make_mesh(part_job *p, flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = p->vertices;
    def.vertex_count = p->vertex_count;
    def.triangles = p->triangles;
    def.triangle_count = p->triangle_count;
    def.scale = p->options.unit;
    flr_result result = flr_mesh_create(&def, &p->mesh, error);
    free(p->vertices);
    free(p->triangles);
    p->vertices = NULL, p->triangles = NULL;
    return result;
}

/* Nobody says how large its voxels are. */
static flr_result choose_voxel(part_job *p, flr_error *error)
{
    flr_part_entry new = p->member;
    new.part = FLR_ENGINE_NONE; /* the last in the list */
    new.shape = flr_shape_bare(p->asset, 0, p->hollow);
    bool *wanted = calloc((size_t)p->around.count + 1, sizeof *wanted);
    if (!new.shape || !wanted || !flr_part_list_add(&p->around, &new)) {
        flr_shape_release(new.shape);
        free(wanted);
        return flr_engine_no_memory(error);
    }
    wanted[p->around.count - 1] = true;
    p->chosen = flr_resolution_choose(p->maker.env, &p->maker.cache, &p->around, wanted,
                                      flr_memory_look(flr_env_real()).limit);
    p->voxel = p->chosen.voxel;
    free(wanted);
    flr_part_list_free(&p->around);
    return FLR_OK;
}

/* The mesh of a new part. */
static void read_part(part_job *p)
{
    flr_job *job = &p->job;
    if (p->vertices) {
        flr_job_progress(job, 0, "%s: reading", p->name);
        job->result = make_mesh(p, &job->error);
        if (job->result != FLR_OK) return;
    }
    if (!p->mesh) {
        flr_job_progress(job, 0, "%s: reading", p->name);
        job->result =
            flr_mesh_open(p->maker.env, p->file, &p->options, &p->mesh, &p->report, &job->error);
        if (p->remove_file) flr_path_remove(p->maker.env, p->file, NULL);
        if (job->result != FLR_OK) {
            if (p->remove_file)
                flr_build_job_name_upload(job->error.message, sizeof job->error.message, p->file,
                                          p->name);
            return;
        }
    }
    flr_mesh *mesh = p->mesh;
    p->mesh = NULL;
    job->result = flr_mesh_asset_make(mesh, 0, &p->asset, &job->error);
    if (job->result != FLR_OK) return;
    p->asset->how = p->maker.how;
    if (!(p->voxel > 0) && !(p->scene_voxel > 0) && !(p->common > 0))
        job->result = choose_voxel(p, &job->error);
    if (job->result != FLR_OK) return;
    p->voxel = flr_build_job_voxel(p->voxel, p->scene_voxel, p->common, p->asset->mesh);
    p->old = flr_shape_bare(p->asset, p->voxel, p->hollow);
    if (!p->old) job->result = flr_engine_no_memory(&job->error);
    job->more = job->result == FLR_OK;
}

static void part_work(flr_job *job)
{
    part_job *p = (part_job *)job;
    if (p->is_new && !p->taken) {
        read_part(p);
        return;
    }
    flr_build_job_progress how = {
        .job = job, .name = p->name, .from = p->file[0] ? 0.3 : 0, .to = 1};
    job->result =
        flr_build_job_shape(&p->maker, p->asset, p->voxel, p->hollow, &how, &p->shape, &job->error);
    if (job->result == FLR_OK && p->is_new) flr_mesh_asset_inertia(p->asset, p->member.density);
}

static bool is_taken(const flr_engine *e, const char *name)
{
    for (uint32_t i = 0; i < e->members.count; i++)
        if (strcmp(e->members.list[i].name, name) == 0) return true;
    return false;
}

/* A scene that is saved, a recording and people tell parts apart by their names: "plug", "plug 2", … */
static void name_part(const flr_engine *e, flr_part_entry *m)
{
    char base[FLR_ENGINE_NAME_SIZE];
    memcpy(base, m->name, sizeof base);
    for (unsigned n = 2; is_taken(e, m->name); n++)
        snprintf(m->name, sizeof m->name, "%.240s %u", base, n);
}

/* What of a file is not in the scene. */
static void tell_left_out(flr_engine *e, const part_job *p)
{
    const flr_mesh_report *r = &p->report;
    flr_part_id part = flr_engine_part_id(e, p->member.part);
    unsigned long long faces = r->faces_skipped,
                       triangles = r->dropped_nonfinite + r->dropped_malformed;
    if (faces)
        flr_engine_news(e, FLR_WIRE_EVENT_WARNING, part, FLR_NO_HAND_ID,
                        "%s: %llu face%s cannot be meshed and %s left out", p->member.name, faces,
                        faces == 1 ? "" : "s", faces == 1 ? "is" : "are");
    if (triangles)
        flr_engine_news(e, FLR_WIRE_EVENT_WARNING, part, FLR_NO_HAND_ID,
                        "%s: %llu damaged triangle%s left out; the first: %s", p->member.name,
                        triangles, triangles == 1 ? " is" : "s are", r->first_trouble);
}

/* The mesh of a new part was read. */
static void take_part(flr_engine *e, part_job *p)
{
    flr_engine_take_up(e, p->member.T_start.q);
    name_part(e, &p->member);
    p->member.shape = flr_shape_retain(p->old);
    p->member.chord = flr_mesh_facet_chord(p->asset->mesh);
    if (!flr_part_list_add(&e->members, &p->member)) {
        flr_shape_release(p->member.shape);
        p->job.more = false;
        p->job.result = flr_engine_no_memory(&p->job.error);
        return;
    }
    p->taken = true;
    p->asset->number = e->next_mesh++; /* nobody else knows this mesh yet */
    e->altered = true;
    flr_engine_set_voxel(e);
    flr_engine_tell_part(e, flr_part_list_find(&e->members, p->member.part));
    tell_left_out(e, p);
    if (p->chosen.voxel > 0)
        flr_engine_news(e, FLR_WIRE_EVENT_NOTE, flr_engine_part_id(e, p->member.part),
                        FLR_NO_HAND_ID, "%s", p->chosen.sentence);
}

/* The mesh and the voxels of another revision are there. */
static void replace_part(flr_engine *e, part_job *p)
{
    flr_part_entry *member = flr_part_list_find(&e->members, p->member.part);
    flr_job *job = &p->job;
    if (job->result != FLR_OK) {
        flr_error why = job->error;
        flr_fail(&job->error, why.code, "%s; \"%.100s\" stays as it was", why.message,
                 p->member.name);
        return;
    }
    if (!member) return;
    flr_shape_release(member->shape);
    member->shape = flr_shape_retain(p->shape);
    member->chord = flr_mesh_facet_chord(p->asset->mesh);
    flr_engine_store(e, p->shape);
    flr_engine_tell_part(e, member);
    flr_engine_suspect_overlaps(e);
    e->dirty = e->altered = true;
}

static void add_done(flr_engine *e, flr_job *job)
{
    part_job *p = (part_job *)job;
    if (p->scene != e->scene) {
        job->more = false;
        if (job->result == FLR_OK)
            job->result =
                flr_fail(&job->error, FLR_CANCELLED, "another scene was loaded meanwhile");
        return;
    }
    if (!p->taken && p->replaces && job->result == FLR_OK) {
        p->taken = true;
        p->asset->number = e->next_mesh++;
        return;
    }
    if (p->replaces) {
        replace_part(e, p);
        return;
    }
    if (!p->taken) {
        if (job->result == FLR_OK) take_part(e, p);
        return;
    }
    flr_part_entry *member = flr_part_list_find(&e->members, p->member.part);
    if (!member || member->shape != p->old) return; /* gone, or got others meanwhile */
    if (job->result != FLR_OK) {
        flr_error why = job->error;
        flr_fail(&job->error, why.code, "%s; it is shown, but nothing touches it", why.message);
        return;
    }
    flr_shape_release(member->shape);
    member->shape = flr_shape_retain(p->shape);
    flr_engine_store(e, p->shape);
    e->dirty = true;
}

static void revoxelize_done(flr_engine *e, flr_job *job)
{
    part_job *p = (part_job *)job;
    flr_part_entry *member =
        p->scene == e->scene ? flr_part_list_find(&e->members, job->info.part.index) : NULL;
    if (job->result != FLR_OK || !member || member->shape->mesh != p->asset) return;
    flr_shape_release(member->shape);
    member->shape = flr_shape_retain(p->shape);
    flr_engine_store(e, p->shape);
    flr_engine_set_voxel(e);
    e->dirty = true;
    flr_engine_tell_part(e, member);
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
        FLR_ENGINE_WARN(e, "the model of force stays as it was: %s", job->error.message);
        return;
    }
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_part_entry *member = &e->members.list[i];
        if (member->shape != p->old) continue;
        flr_shape_release(member->shape);
        member->shape = flr_shape_retain(p->shape);
        flr_engine_tell_part(e, member);
    }
    flr_engine_store(e, p->shape);
    e->dirty = true;
}

static void part_drop(flr_job *job)
{
    part_job *p = (part_job *)job;
    /* a job that was cancelled before it began has not read it */
    if (p->remove_file) flr_path_remove(p->maker.env, p->file, NULL);
    flr_mesh_destroy(p->mesh);
    free(p->vertices);
    free(p->triangles);
    flr_mesh_asset_release(p->asset);
    flr_shape_release(p->shape);
    flr_shape_release(p->old);
    flr_part_list_free(&p->around);
    free(p);
}

static part_job *make_part_job(flr_engine *e, void (*done)(flr_engine *, flr_job *))
{
    part_job *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->maker = flr_maker_of(e);
    p->options = e->def.options;
    p->options.go_on = flr_build_job_goes_on;
    p->options.context = &p->job;
    p->scene_voxel = e->voxel;
    p->common = e->def.voxel;
    p->scene = e->scene;
    p->job = (flr_job){.work = part_work, .done = done, .drop = part_drop};
    return p;
}

/* What is there now: a new part may have to fit. Without memory for it, the part is alone. */
void flr_engine_look_around(flr_engine *e, flr_part_list *around)
{
    flr_engine_view(e);
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_engine_part now;
        flr_part_entry m = e->members.list[i];
        flr_engine_part_at(e, i, &now);
        m.T_start = now.T_world_part;
        flr_shape_retain(m.shape);
        if (flr_part_list_add(around, &m)) continue;
        flr_shape_release(m.shape);
        return;
    }
    flr_part_list_add_joints(around, e->members.joints, e->members.joint_count, 0,
                             flr_pose_identity());
}

flr_result flr_engine_add(flr_engine *e, const flr_engine_add_def *def, flr_part_id *part,
                          uint32_t *number, flr_error *error)
{
    flr_result result = FLR_OK;
    bool file = !def->mesh && def->file && def->file[0];
    bool raw = !def->mesh && !file && def->vertices && def->triangles;
    flr_part_entry *replaced = NULL;
    if (!def->mesh && !file && !raw)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a part needs a mesh or a file");
    else if (file && strlen(def->file) >= FLR_CACHE_PATH_SIZE)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a file name that is too long");
    else if (!flr_engine_is_pose(def->T_world_part))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "that is no pose for a part");
    else if (!(def->voxel >= 0) || !(def->unit >= 0))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "voxel and unit of a part must not be negative");
    else if (flr_is_part(def->replaces))
        result = flr_engine_find_id(e, def->replaces, &replaced, error);
    else if (e->members.count + flr_jobs_count(e->jobs) >= FLR_ENGINE_PARTS)
        result = flr_fail(error, FLR_TOO_LARGE, "a scene has %d parts at most", FLR_ENGINE_PARTS);
    part_job *p = result == FLR_OK ? make_part_job(e, add_done) : NULL;
    if (!p) {
        flr_mesh_destroy(def->mesh);
        free(def->vertices);
        free(def->triangles);
        return result == FLR_OK ? flr_engine_no_memory(error) : result;
    }
    p->mesh = def->mesh;
    p->vertices = def->vertices, p->vertex_count = def->vertex_count;
    p->triangles = def->triangles, p->triangle_count = def->triangle_count;
    if (file) memcpy(p->file, def->file, strlen(def->file) + 1);
    p->remove_file = def->remove_file;
    p->options.unit = def->unit > 0 ? def->unit : p->options.unit;
    p->voxel = def->voxel;
    p->hollow = def->hollow;
    p->is_new = true;
    const char *name = def->name && def->name[0] ? def->name : "part";
    flr_text_copy(p->name, sizeof p->name, name);
    if (replaced) {
        p->replaces = true;
        p->member = *replaced;
        p->voxel = replaced->shape->voxel;
        p->hollow = replaced->shape->hollow;
    } else {
        p->member = (flr_part_entry){.group = FLR_ENGINE_NONE,
                                     .part = e->next_part++,
                                     .kind = def->kind,
                                     .T_start = def->T_world_part};
        p->member.colour = flr_build_job_colour(def->colour, p->member.part);
        memcpy(p->member.name, p->name, sizeof p->name);
    }
    if (part) *part = flr_engine_part_id(e, p->member.part);
    if (!(p->voxel > 0) && !(p->scene_voxel > 0) && !(p->common > 0))
        flr_engine_look_around(e, &p->around);
    uint8_t kind = file || raw ? FLR_WIRE_JOB_IMPORT : FLR_WIRE_JOB_VOXELIZE;
    return flr_engine_post(e, &p->job, kind, flr_engine_part_id(e, p->member.part), p->name,
                           number);
}

flr_result flr_engine_voxelize(flr_engine *e, flr_part_id part, double voxel, uint32_t *number,
                               flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    if (result != FLR_OK) return result;
    if (!(voxel > 0 && isfinite(voxel)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "voxels of %g m cannot be", voxel);
    if ((result = flr_engine_can_post(e, error)) != FLR_OK) return result;
    part_job *p = make_part_job(e, revoxelize_done);
    if (!p) return flr_engine_no_memory(error);
    p->asset = flr_mesh_asset_retain(member->shape->mesh);
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
    const flr_part_entry *member = NULL;
    for (uint32_t i = 0; i < e->members.count && !e->shaping && !member; i++) {
        const flr_shape *shape = e->members.list[i].shape;
        if (shape->shell && shape->shell->on_surface != on_surface) member = &e->members.list[i];
    }
    part_job *p = member ? make_part_job(e, reshape_done) : NULL;
    if (!p) return; /* nothing to do, or no memory: the next service tries again */
    p->old = flr_shape_retain(member->shape);
    p->asset = flr_mesh_asset_retain(member->shape->mesh);
    p->voxel = member->shape->voxel;
    p->hollow = member->shape->hollow;
    memcpy(p->name, member->name, sizeof p->name);
    e->shaping = true;
    flr_engine_post(e, &p->job, FLR_WIRE_JOB_VOXELIZE, flr_engine_part_id(e, member->part), p->name,
                    NULL);
}
