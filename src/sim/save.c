/* the scene as it is now, as a file with its meshes beside it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene_import.h"
#include "sim/engine_internal.h"
#include "sim/review.h"

typedef struct save_job {
    flr_job job;
    flr_env *env;
    char path[FLR_CACHE_PATH_SIZE];
    char name[FLR_ENGINE_NAME_SIZE];
    double unit, voxel;
    flr_scene_camera camera;
    flr_scene_hand hands[FLR_ENGINE_HANDS]; /* [hand_count]: 0 where all take parts */
    uint32_t hand_count;
    flr_parameters tuning;
    bool local_haptics;
    flr_asset_how how;
    flr_scene_devices devices;
    bool barrier;
    flr_part_list members;     /* T_start: where they are now */
    flr_scene_group *groups;   /* [group_count], as the scene has them */
    flr_group_list group_list; /* a copy of the engine's */
    flr_scene_joint *
        joints; /* [joint_count], as they are with the parts where they are now; names are in `members` */
    uint32_t joint_count;
    flr_allow_rules rules;  /* likewise */
    flr_scene_allow *allow; /* [rules.count], as the scene has them */
    flr_engine_note *notes; /* [note_count], a copy of the engine's */
    flr_scene_note *noted;  /* [note_count], as the scene has them */
    uint32_t note_count;
    flr_scene *previous; /* what is replaced; NULL: nothing */
    flr_file *lock;      /* of the folder of meshes, while they are written */
    bool locked;         /* it is held: the file system has locks */
    bool reused;         /* a mesh was there already */
    bool named;          /* by a user: the access rights are those of any file */
} save_job;

/* ---- the folder of meshes ----
 *
 * A mesh is named by its content, so nothing that the scene saved before refers to is ever changed. The order is: new
 * meshes, then the scene, which replaces the old one in one step, then what the new one does not refer to is removed.
 * Wherever this ends, the scene that is there has its meshes. */

static const char lock_name[] = ".feeler-save.lock";
static const char mesh_ending[] = ".ply";
static const int64_t lock_pause_ns = INT64_C(20000000);

static const char *last_of(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash ? slash + 1 : folder;
}

/* Opens the file to be locked, made where it is not there. FLR_AGAIN: another came between. */
static flr_result open_lock(flr_env *env, const char *path, flr_file **file, flr_error *error)
{
    flr_path_info info;
    flr_result result =
        flr_file_open_with(env, path, FLR_FILE_UPDATE, FLR_OPEN_NO_LINK, file, error);
    if (result != FLR_NOT_FOUND) return result;
    result = flr_file_open_with(env, path, FLR_FILE_CREATE, FLR_OPEN_NO_LINK | FLR_OPEN_PRIVATE,
                                file, error);
    if (result == FLR_DENIED && flr_path_look_no_link(env, path, &info, NULL) == FLR_OK &&
        info.kind == FLR_PATH_FILE)
        return FLR_AGAIN;
    return result;
}

/* One save at a time writes to a folder, of all controllers: each would take the new meshes of the others for what is
 * not needed any more. Where there are no locks nothing is removed. */
static flr_result lock_folder(save_job *s, const char *folder, flr_error *error)
{
    char path[2 * FLR_CACHE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, lock_name);
    for (;;) {
        flr_result result = open_lock(s->env, path, &s->lock, error);
        if (result == FLR_OK) {
            result = flr_file_lock(s->lock, error);
            s->locked = result == FLR_OK;
            if (result == FLR_OK || result == FLR_UNSUPPORTED) return FLR_OK;
            flr_file_close(s->lock);
            s->lock = NULL;
        }
        if (result != FLR_AGAIN) return result;
        if (!flr_job_progress(&s->job, 0, "waiting for another save to the same place"))
            return flr_fail(error, FLR_CANCELLED, "cancelled");
        flr_sleep_until(s->env, flr_clock_ns(s->env) + lock_pause_ns);
    }
}

static void unlock_folder(save_job *s, const char *folder)
{
    char path[2 * FLR_CACHE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, lock_name);
    // who waits for it finds that it has no name any more, and makes another
    if (s->lock) flr_path_remove(s->env, path, NULL);
    flr_file_close(s->lock);
    s->lock = NULL;
}

/* Writes a mesh, unless it is there already: a file of that name that is damaged is replaced. */
static flr_result save_part(save_job *s, const char *folder, uint32_t i, char *file,
                            flr_error *error)
{
    char path[2 * FLR_CACHE_PATH_SIZE], hash[FLR_HASH_TEXT_SIZE];
    const flr_mesh_asset *mesh = s->members.list[i].shape->mesh;
    flr_hash_print(mesh->hash, hash);
    snprintf(file, FLR_CACHE_PATH_SIZE, "%.4000s/%s%s", last_of(folder), hash, mesh_ending);
    snprintf(path, sizeof path, "%s/%s%s", folder, hash, mesh_ending);
    if (!flr_job_progress(&s->job, (double)i / s->members.count, "%s: writing",
                          s->members.list[i].name))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    for (uint32_t k = 0; k < i; k++)
        if (s->members.list[k].shape->mesh == mesh) return FLR_OK;
    bool same;
    flr_path_info info;
    flr_result result = flr_mesh_is_in_ply(s->env, path, mesh->mesh, 1, &same, error);
    if (result == FLR_OK && same) {
        s->reused = true;
        return FLR_OK;
    }
    // a link in its place would be followed
    if (flr_path_look_no_link(s->env, path, &info, NULL) == FLR_OK && info.kind == FLR_PATH_OTHER)
        flr_path_remove(s->env, path, NULL);
    return flr_mesh_write(s->env, path, mesh->mesh, 1, error);
}

typedef struct clean_up {
    flr_env *env;
    const char *folder;
    const flr_scene *scene, *previous; /* previous: NULL where there was none */
} clean_up;

static bool refers_to(const flr_scene *scene, const char *folder, const char *name)
{
    const char *last = last_of(folder);
    size_t size = strlen(last);
    for (size_t i = 0; scene && i < scene->part_count; i++) {
        const char *file = scene->parts[i].file;
        if (!strncmp(file, last, size) && file[size] == '/' && !strcmp(file + size + 1, name))
            return true;
    }
    return false;
}

/* Whether a file begins as every mesh that was saved here: a user's own file is not removed, whatever it is called. */
static bool was_saved(flr_env *env, const char *path)
{
    static const char begins[] =
        "ply\nformat binary_little_endian 1.0\ncomment by feeler, unit 1 m\n";
    char text[sizeof begins - 1];
    flr_file *file;
    size_t done = 0, got = 1;
    if (flr_file_open_with(env, path, FLR_FILE_READ, FLR_OPEN_NO_LINK, &file, NULL) != FLR_OK)
        return false;
    while (done < sizeof text && got > 0) {
        got = 0;
        if (flr_file_read(file, done, text + done, sizeof text - done, &got, NULL) != FLR_OK) break;
        done += got;
    }
    flr_file_close(file);
    return done == sizeof text && memcmp(text, begins, sizeof text) == 0;
}

/* Removes a mesh that the scene does not refer to: named by its content, or, as older versions did, by a number and
 * then only if the scene that was replaced referred to it. */
static bool remove_unused(void *context, const char *name)
{
    const clean_up *c = context;
    size_t hex = strspn(name, "0123456789abcdef"), digits = strspn(name, "0123456789");
    bool hashed = hex == FLR_HASH_TEXT_SIZE - 1 && !strcmp(name + hex, mesh_ending);
    bool numbered = !hashed && digits > 0 && !strcmp(name + digits, mesh_ending) &&
                    refers_to(c->previous, c->folder, name);
    if ((!hashed && !numbered) || refers_to(c->scene, c->folder, name)) return true;
    char path[2 * FLR_CACHE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    if (was_saved(c->env, path)) flr_path_remove(c->env, path, NULL);
    return true;
}

/* What goes wrong here leaves files that nobody needs; the next save tries again. */
static void remove_left_overs(const save_job *s, const char *folder, const flr_scene *scene)
{
    clean_up c = {s->env, folder, scene, s->previous};
    if (s->locked) flr_path_list(s->env, folder, remove_unused, &c, NULL);
    flr_output_sweep(s->env, folder, NULL);
    char parent[FLR_CACHE_PATH_SIZE];
    memcpy(parent, s->path, sizeof parent);
    char *slash = strrchr(parent, '/');
    if (slash) slash[slash == parent] = 0;
    flr_output_sweep(s->env, slash ? parent : ".", NULL);
}

static void describe(const save_job *s, flr_scene *scene)
{
    scene->name = s->name[0] ? s->name : "scene";
    scene->unit = s->unit;
    scene->voxel = s->voxel;
    scene->gravity = s->tuning.world.step.gravity;
    scene->local_haptics = s->local_haptics;
    scene->devices = s->devices;
    scene->barrier = s->barrier;
    if (s->how.bits) scene->contact.marks = s->how.bits;
    if (s->how.bits == 8) scene->contact.range = s->how.range;
    scene->contact.probe = s->how.probe;
    scene->contact.force_layer = s->tuning.world.contact.force_layer;
    scene->contact.displace = s->tuning.world.contact.displacement;
    scene->contact.model = s->tuning.world.contact.model;
    scene->contact.stiffness = s->tuning.world.contact.stiffness;
    scene->contact.friction = s->tuning.world.friction;
    scene->contact.engine = s->tuning.world.engine;
    /* with voxels of one size, the force layer says it */
    const double exact = s->tuning.world.exact.onset, voxels = s->tuning.world.contact.onset;
    if (scene->contact.engine == FLR_ENGINE_EXACT && exact != flr_default_tight_params().onset)
        scene->contact.onset = exact;
    else if (scene->contact.engine != FLR_ENGINE_EXACT && voxels > 0 &&
             s->tuning.coarsest_voxel > s->tuning.voxel)
        scene->contact.onset = voxels;
    scene->contact.strength = s->tuning.world.exact.strength;
    scene->contact.overlap = s->tuning.world.exact.overlap;
    scene->contact.restitution = s->tuning.world.restitution;
    scene->contact.tests = s->tuning.world.tests;
    scene->contact.awareness = s->tuning.world.contact.awareness;
    scene->camera = s->camera;
    scene->hand_count = s->hand_count;
}

/* All of it with the folder locked. */
static flr_result save_locked(save_job *s, const char *folder, flr_scene_part *parts,
                              char (*files)[FLR_CACHE_PATH_SIZE], flr_error *error)
{
    flr_result result = FLR_OK;
    for (uint32_t i = 0; i < s->members.count && result == FLR_OK; i++) {
        const flr_part_entry *m = &s->members.list[i];
        result = save_part(s, folder, i, files[i], error);
        parts[i] = flr_default_scene_part();
        parts[i].name = m->name;
        parts[i].file = files[i];
        parts[i].unit = 1;
        parts[i].T_world_part = m->T_start;
        parts[i].moving = m->kind != FLR_PART_STATIC;
        parts[i].hollow = m->shape->hollow;
        parts[i].colour = m->colour;
        parts[i].hidden = m->hidden;
        parts[i].use = m->use;
        parts[i].chord = m->chord;
        if (m->group < s->group_list.count) parts[i].in = s->group_list.list[m->group].name;
        parts[i].voxel = m->shape->voxel;
        parts[i].density = m->density;
        parts[i].mass = m->mass;
        parts[i].constraint = &m->constraint;
    }
    // a mesh that was there may have a name that is not on the disk yet
    if (result == FLR_OK && s->reused) result = flr_path_sync_folder(s->env, folder, error);
    if (result == FLR_OK && !flr_job_progress(&s->job, 1, "writing the scene"))
        result = flr_fail(error, FLR_CANCELLED, "cancelled");
    if (result != FLR_OK) return result;
    flr_scene scene = flr_default_scene();
    describe(s, &scene);
    scene.parts = parts;
    scene.part_count = s->members.count;
    scene.hands = s->hand_count ? s->hands : NULL;
    scene.groups = s->group_list.count ? s->groups : NULL;
    scene.group_count = s->group_list.count;
    scene.joints = s->joint_count ? s->joints : NULL;
    scene.joint_count = s->joint_count;
    scene.allow = s->rules.count ? s->allow : NULL;
    scene.allow_count = s->rules.count;
    for (uint32_t i = 0; i < s->note_count; i++) {
        const flr_part_entry *part = flr_part_list_find(&s->members, s->notes[i].part.index);
        s->noted[i] = (flr_scene_note){.text = s->notes[i].text,
                                       .part = part ? part->name : NULL,
                                       .position = s->notes[i].position};
    }
    scene.notes = s->note_count ? s->noted : NULL;
    scene.note_count = s->note_count;
    result = flr_scene_write(s->env, s->path, &scene, error);
    if (result == FLR_OK) remove_left_overs(s, folder, &scene);
    return result;
}

/* Somebody who can save must not be able to write over anything but what was saved here: a scene that a person wrote has
 * paths and remarks that would be lost. */
static flr_result check_path(save_job *s, const char *folder, flr_error *error)
{
    flr_path_info info;
    flr_scene *there;
    flr_error why;
    flr_scene_destroy(s->previous);
    s->previous = NULL;
    flr_result result = flr_path_look(s->env, s->path, &info, error);
    if (result != FLR_OK || info.kind == FLR_PATH_NONE) return result;
    if (flr_scene_read(s->env, s->path, &there, &why) != FLR_OK)
        return flr_fail(error, FLR_DENIED, "%s is there and no scene; choose another name",
                        s->path);
    const char *last = last_of(folder);
    size_t size = strlen(last);
    bool saved = true;
    for (size_t i = 0; i < there->part_count && saved; i++)
        saved = !strncmp(there->parts[i].file, last, size) && there->parts[i].file[size] == '/';
    s->previous = there;
    if (saved) return FLR_OK;
    return flr_fail(error, FLR_DENIED,
                    "%s is a scene that was not saved from here, and is not written over; choose "
                    "another name",
                    s->path);
}

static void save_work(flr_job *job)
{
    save_job *s = (save_job *)job;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_scene_parts_folder(s->path, folder, sizeof folder);
    flr_scene_part *parts = calloc(s->members.count, sizeof *parts);
    char(*files)[FLR_CACHE_PATH_SIZE] = calloc(s->members.count, sizeof *files);
    flr_result result = parts && files ? FLR_OK : flr_engine_no_memory(&job->error);
    if (result == FLR_OK) result = check_path(s, folder, &job->error);
    if (result == FLR_OK && s->named) result = flr_path_make_folder(s->env, folder, &job->error);
    if (result == FLR_OK && !s->named)
        result = flr_path_make_private(s->env, folder, 0, &job->error);
    if (result == FLR_OK) result = lock_folder(s, folder, &job->error);
    // what another save wrote while this one waited counts
    if (result == FLR_OK) result = check_path(s, folder, &job->error);
    if (result == FLR_OK) result = save_locked(s, folder, parts, files, &job->error);
    unlock_folder(s, folder);
    job->result = result;
    free(parts);
    free(files);
}

static void save_drop(flr_job *job)
{
    save_job *s = (save_job *)job;
    flr_part_list_free(&s->members);
    flr_scene_destroy(s->previous);
    flr_group_list_free(&s->group_list);
    flr_allow_rules_free(&s->rules);
    free(s->allow);
    free(s->notes);
    free(s->noted);
    free(s->groups);
    free(s->joints);
    free(s);
}

/* the groups as they are now */
static bool copy_groups(const flr_engine *e, save_job *s)
{
    uint32_t count = e->groups.count;
    s->groups = calloc(count + 1u, sizeof *s->groups);
    s->group_list.list = calloc(count + 1u, sizeof *s->group_list.list);
    if (!s->groups || !s->group_list.list) return false;
    if (count) memcpy(s->group_list.list, e->groups.list, count * sizeof *s->group_list.list);
    s->group_list.count = s->group_list.room = count;
    for (uint32_t i = 0; i < count; i++) {
        const flr_group_entry *group = &s->group_list.list[i];
        s->groups[i].name = group->name;
        if (group->in < count) s->groups[i].in = s->group_list.list[group->in].name;
        s->groups[i].rigid = group->rigid;
    }
    return true;
}

/* the joints with the parts where they are now: that is where they are at 0 when the scene is read */
static bool copy_joints(const flr_engine *e, save_job *s)
{
    if (!flr_part_list_add_joints(&s->members, e->members.joints, e->members.joint_count, 0,
                                  flr_pose_identity()))
        return false;
    s->joints = calloc(s->members.joint_count + 1u, sizeof *s->joints);
    for (uint32_t i = 0; s->joints && i < s->members.joint_count; i++)
        s->joint_count += flr_joint_moved(&s->members.joints[i], &e->members, &s->members,
                                          &s->joints[s->joint_count]);
    return s->joints != NULL;
}

/* the pairs that are allowed and the notes, as they are now */
static bool copy_review(const flr_engine *e, save_job *s)
{
    uint32_t count = flr_engine_notes(e);
    s->notes = calloc(count + 1u, sizeof *s->notes);
    s->noted = calloc(count + 1u, sizeof *s->noted);
    if (!s->notes || !s->noted) return false;
    for (uint32_t i = 0; i < count; i++) s->notes[i] = *flr_engine_note_at(e, i);
    s->note_count = count;
    if (!flr_allow_rules_copy(&e->review->rules, &s->rules)) return false;
    s->allow = calloc(s->rules.count + 1u, sizeof *s->allow);
    for (uint32_t i = 0; s->allow && i < s->rules.count; i++)
        s->allow[i] = (flr_scene_allow){s->rules.list[i].a, s->rules.list[i].b};
    return s->allow;
}

static flr_result save_to(flr_engine *e, const char *path, bool named, uint32_t *number,
                          flr_error *error)
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
    if (!copy_groups(e, s) || !copy_review(e, s)) {
        save_drop(&s->job);
        return flr_engine_no_memory(error);
    }
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_engine_part now;
        flr_part_entry member = e->members.list[i];
        flr_engine_part_at(e, i, &now);
        member.T_start = now.T_world_part;
        if (!flr_part_list_add(&s->members, &member)) {
            save_drop(&s->job);
            return flr_engine_no_memory(error);
        }
        flr_shape_retain(member.shape);
    }
    if (!copy_joints(e, s)) {
        save_drop(&s->job);
        return flr_engine_no_memory(error);
    }
    s->env = e->def.env;
    s->named = named;
    memcpy(s->path, path, strlen(path) + 1);
    memcpy(s->name, e->name, sizeof s->name);
    s->unit = e->unit_metres;
    s->voxel = e->voxel;
    s->camera = e->camera;
    for (uint32_t h = 0; h < e->def.hands; h++) {
        s->hands[h].tool = e->tools[h];
        s->hands[h].firm = e->firm[h];
        const flr_engine_mapping *map = &e->mappings[h], usual = flr_default_engine_mapping();
        s->hands[h].scale = map->scale;
        s->hands[h].axes = map->axes;
        s->hands[h].boundary = map->boundary;
        s->hands[h].clutch = map->clutch_button;
        s->hands[h].mapped = map->scale != usual.scale || map->axes != usual.axes ||
                             map->boundary != usual.boundary ||
                             map->clutch_button != usual.clutch_button;
        if (e->tools[h] != FLR_TOOL_GRIP || e->firm[h] || s->hands[h].mapped)
            s->hand_count = e->def.hands;
    }
    s->tuning = e->tuning;
    s->local_haptics = e->def.local;
    s->how = e->how;
    s->devices = e->devices, s->barrier = e->barrier;
    s->job = (flr_job){.work = save_work, .drop = save_drop};
    return flr_engine_post(e, &s->job, FLR_WIRE_JOB_SAVE, FLR_NO_PART_ID, path, number);
}

/* For a recording or those who join: nobody has named it, and it holds all geometry. */
flr_result flr_engine_save(flr_engine *e, const char *path, uint32_t *number, flr_error *error)
{
    return save_to(e, path, false, number, error);
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
    return save_to(e, path, true, number, error);
}
