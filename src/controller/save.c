/* the scene as it is now, as a file with its meshes beside it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "controller/inside.h"

typedef struct save_job {
    flr_job job;
    flr_env *env;
    char path[FLR_CACHE_PATH_SIZE];
    char name[FLR_ENGINE_NAME_SIZE];
    double unit, voxel;
    flr_scene_camera camera;
    flr_scene_hand hands[FLR_ENGINE_HANDS]; /* [hand_count]: 0 where all take parts */
    uint32_t hand_count;
    flr_tuning tuning;
    flr_members members; /* T_start: where they are now */
} save_job;

/* "dir/plan.json" has its meshes in "dir/plan_parts". */
static void folder_of(const char *path, char folder[FLR_CACHE_PATH_SIZE])
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int length = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    snprintf(folder, FLR_CACHE_PATH_SIZE, "%.*s_parts", length, path);
}

static flr_result save_part(save_job *s, const char *folder, uint32_t i, char *file,
                            flr_error *error)
{
    char path[2 * FLR_CACHE_PATH_SIZE];
    const char *last = strrchr(folder, '/');
    snprintf(file, FLR_CACHE_PATH_SIZE, "%.4000s/%u.ply", last ? last + 1 : folder,
             s->members.list[i].shape->mesh->number);
    snprintf(path, sizeof path, "%s/%u.ply", folder, s->members.list[i].shape->mesh->number);
    if (!flr_job_progress(&s->job, (double)i / s->members.count, "%s: writing",
                          s->members.list[i].name))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    for (uint32_t k = 0; k < i; k++)
        if (s->members.list[k].shape->mesh == s->members.list[i].shape->mesh) return FLR_OK;
    return flr_mesh_write(s->env, path, s->members.list[i].shape->mesh->mesh, 1, error);
}

static flr_result save_scene(save_job *s, flr_scene_part *parts, char (*files)[FLR_CACHE_PATH_SIZE],
                             flr_error *error)
{
    char folder[FLR_CACHE_PATH_SIZE];
    folder_of(s->path, folder);
    flr_result result = flr_path_make_folder(s->env, folder, error);
    for (uint32_t i = 0; i < s->members.count && result == FLR_OK; i++) {
        const flr_member *m = &s->members.list[i];
        result = save_part(s, folder, i, files[i], error);
        parts[i] = flr_default_scene_part();
        parts[i].name = m->name;
        parts[i].file = files[i];
        parts[i].unit = 1;
        parts[i].T_world_part = m->T_start;
        parts[i].moving = m->kind != FLR_PART_STATIC;
        parts[i].hollow = m->shape->hollow;
        parts[i].colour = m->colour;
        parts[i].voxel = m->shape->voxel;
        parts[i].density = m->density;
    }
    flr_scene scene = flr_default_scene();
    scene.name = s->name[0] ? s->name : "scene";
    scene.unit = s->unit;
    scene.voxel = s->voxel;
    scene.gravity = s->tuning.world.step.gravity;
    scene.contact.force_layer = s->tuning.world.contact.force_layer;
    scene.contact.displace = s->tuning.world.contact.displacement;
    scene.contact.model = s->tuning.world.contact.model;
    scene.contact.stiffness = s->tuning.world.contact.stiffness;
    scene.contact.friction = s->tuning.world.friction;
    scene.contact.spheres = s->tuning.world.engine == FLR_ENGINE_SPHERES;
    scene.contact.restitution = s->tuning.world.restitution;
    scene.contact.awareness = s->tuning.world.contact.awareness;
    scene.parts = parts;
    scene.part_count = s->members.count;
    scene.camera = s->camera;
    scene.hands = s->hand_count ? s->hands : NULL;
    scene.hand_count = s->hand_count;
    return result == FLR_OK ? flr_scene_write(s->env, s->path, &scene, error) : result;
}

/* Somebody who can save must not be able to write over anything but what was saved here: a scene that a person wrote has
 * paths and remarks that would be lost. */
static flr_result check_path(const save_job *s, flr_error *error)
{
    flr_path_info info;
    flr_scene *there;
    flr_error why;
    flr_result result = flr_path_look(s->env, s->path, &info, error);
    if (result != FLR_OK || info.kind == FLR_PATH_NONE) return result;
    if (flr_scene_read(s->env, s->path, &there, &why) != FLR_OK)
        return flr_fail(error, FLR_DENIED, "%s is there and no scene; choose another name",
                        s->path);
    char folder[FLR_CACHE_PATH_SIZE];
    folder_of(s->path, folder);
    const char *last = strrchr(folder, '/');
    last = last ? last + 1 : folder;
    size_t size = strlen(last);
    bool saved = true;
    for (size_t i = 0; i < there->part_count && saved; i++)
        saved = !strncmp(there->parts[i].file, last, size) && there->parts[i].file[size] == '/';
    flr_scene_destroy(there);
    if (saved) return FLR_OK;
    return flr_fail(error, FLR_DENIED,
                    "%s is a scene that was not saved from here, and is not written over; choose "
                    "another name",
                    s->path);
}

static void save_work(flr_job *job)
{
    save_job *s = (save_job *)job;
    if ((job->result = check_path(s, &job->error)) != FLR_OK) return;
    flr_scene_part *parts = calloc(s->members.count, sizeof *parts);
    char(*files)[FLR_CACHE_PATH_SIZE] = calloc(s->members.count, sizeof *files);
    job->result = parts && files ? save_scene(s, parts, files, &job->error)
                                 : flr_engine_no_memory(&job->error);
    free(parts);
    free(files);
}

static void save_drop(flr_job *job)
{
    save_job *s = (save_job *)job;
    flr_members_free(&s->members);
    free(s);
}

flr_result flr_engine_save(flr_engine *e, const char *path, uint32_t *number, flr_error *error)
{
    if (e->members.count == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no part to be saved");
    size_t length = strlen(path);
    if (length < 6 || length + 16 >= FLR_CACHE_PATH_SIZE || strcmp(path + length - 5, ".json") != 0)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "\"%.60s\" is no name for a scene; it ends in .json", path);
    save_job *s = calloc(1, sizeof *s);
    if (!s) return flr_engine_no_memory(error);
    flr_engine_view(e);
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_engine_part now;
        flr_member member = e->members.list[i];
        flr_engine_part_at(e, i, &now);
        member.T_start = now.T_world_part;
        if (!flr_members_add(&s->members, &member)) {
            save_drop(&s->job);
            return flr_engine_no_memory(error);
        }
        flr_shape_use(member.shape);
    }
    s->env = e->def.env;
    memcpy(s->path, path, strlen(path) + 1);
    memcpy(s->name, e->name, sizeof s->name);
    s->unit = e->unit_metres;
    s->voxel = e->voxel;
    s->camera = e->camera;
    for (uint32_t h = 0; h < e->def.hands; h++) {
        s->hands[h].tool = e->tools[h];
        s->hands[h].firm = e->firm[h];
        if (e->tools[h] != FLR_TOOL_GRIP || e->firm[h]) s->hand_count = e->def.hands;
    }
    s->tuning = e->tuning;
    s->job.work = save_work;
    s->job.drop = save_drop;
    return flr_engine_post(e, &s->job, FLR_WIRE_JOB_SAVE, FLR_ENGINE_NONE, path, number);
}

/* ---- by name ---- */

/* A name without folders, that stands for a file of its own. */
static flr_result check_name(const char *name, flr_error *error)
{
    if (!name[0]) return flr_fail(error, FLR_BAD_ARGUMENT, "a scene has a name");
    if (strpbrk(name, "/\\"))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "\"%.60s\": give a name without folders, such as plan.json; scenes are "
                        "saved beside the scene that was opened, or where the controller was "
                        "started",
                        name);
    bool plain = name[0] != '.' && strlen(name) <= 200;
    for (const char *c = name; *c; c++) plain = plain && (unsigned char)*c >= ' ' && *c != 127;
    if (plain) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "\"%.60s\" is no name for a scene: it does not begin with a dot, has at most "
                    "200 bytes and no control characters",
                    name);
}

/* Whether the scene came from a file of the user's, not from the cache, where scenarios and shared scenes are. */
static bool is_users(const flr_engine *e)
{
    const char *scratch = e->def.scratch, *end = scratch ? strrchr(scratch, '/') : NULL;
    if (!e->path[0]) return false;
    return !end || strncmp(e->path, scratch, (size_t)(end - scratch) + 1) != 0;
}

flr_result flr_engine_save_as(flr_engine *e, const char *name, uint32_t *number, flr_error *error)
{
    flr_result result = check_name(name, error);
    if (result != FLR_OK) return result;
    const char *slash = is_users(e) ? strrchr(e->path, '/') : NULL;
    int size = slash ? (int)(slash - e->path) + 1 : 0; /* of the scene's folder, as it was named */
    bool apart = size == 0 || e->path[0] != '/';
    if (apart && !e->def.folder)
        return flr_fail(error, FLR_UNSUPPORTED, "this controller has no folder for scenes");
    char path[FLR_CACHE_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s%s%.*s%s", apart ? e->def.folder : "",
                          apart ? "/" : "", size, e->path, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return flr_fail(error, FLR_TOO_LARGE, "the name of the folder of the scene is too long");
    return flr_engine_save(e, path, number, error);
}
