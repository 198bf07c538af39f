/* from a scene to the meshes it names */
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

char *flr_scene_file(const flr_scene *scene, const char *file)
{
    const char *slash = scene->path ? strrchr(scene->path, '/') : NULL;
    if (*file == '/' || !slash) return strdup(file);
    size_t folder = (size_t)(slash + 1 - scene->path), length = strlen(file) + 1;
    char *joined = malloc(folder + length);
    if (!joined) return NULL;
    memcpy(joined, scene->path, folder);
    memcpy(joined + folder, file, length);
    return joined;
}

/* "FILE:LINE:COLUMN: part "x": " before the sentence that is in `why` */
static flr_result fail_part(const flr_scene *scene, const flr_scene_part *part,
                            const flr_error *why, flr_error *error)
{
    if (scene->path && part->line)
        return flr_fail(error, why->code, "%s:%u:%u: part \"%.60s\": %s", scene->path, part->line,
                        part->column, part->name, why->message);
    return flr_fail(error, why->code, "part \"%.60s\": %s", part->name, why->message);
}

/* the group of this name as a mesh of its own */
static flr_result take_group(const char *name, const char *file, const flr_mesh *whole,
                             flr_mesh **mesh, flr_error *error)
{
    uint32_t count = whole->group_count, found = 0;
    while (found < count && strcmp(flr_mesh_group_name(whole, found), name) != 0) found++;
    if (found < count) return flr_mesh_extract_group(whole, found, mesh, error);
    const char *meant = NULL;
    for (uint32_t i = 0; i < count && !meant; i++) {
        const char *known = flr_mesh_group_name(whole, i);
        meant = flr_suggest(name, &known, 1);
    }
    if (meant)
        return flr_fail(error, FLR_NOT_FOUND, "%s has no group \"%.60s\"; did you mean \"%.60s\"?",
                        file, name, meant);
    return flr_fail(error, FLR_NOT_FOUND, "%s has no group \"%.60s\"; feeler info lists its %u %s",
                    file, name, count, flr_noun(count, "group", "groups"));
}

double flr_scene_part_voxel(const flr_scene *scene, size_t part)
{
    return scene->parts[part].voxel > 0 ? scene->parts[part].voxel : scene->voxel;
}

/* ---- loading ---- */

flr_scene_loader flr_scene_loader_begin(flr_env *env, const flr_scene *scene,
                                        const flr_mesh_options *options)
{
    return (flr_scene_loader){
        .env = env, .scene = scene, .options = options ? *options : flr_default_mesh_options()};
}

void flr_scene_loader_end(flr_scene_loader *loader)
{
    flr_mesh_destroy(loader->mesh);
    free(loader->file);
    loader->mesh = NULL;
    loader->file = NULL;
}

/* Is this a mesh of a scene that was saved: NAME_parts/ and the hash of its mesh? Then it goes to `hash`. */
static bool named_by_content(const char *file, char hash[FLR_HASH_TEXT_SIZE])
{
    static const char folder[] = "_parts";
    const char *slash = strrchr(file, '/');
    if (!slash || (size_t)(slash - file) < sizeof folder - 1 ||
        memcmp(slash - (sizeof folder - 1), folder, sizeof folder - 1) != 0)
        return false;
    const char *name = slash + 1;
    if (strspn(name, "0123456789abcdef") != FLR_HASH_TEXT_SIZE - 1 ||
        strcmp(name + FLR_HASH_TEXT_SIZE - 1, ".ply") != 0)
        return false;
    memcpy(hash, name, FLR_HASH_TEXT_SIZE - 1);
    hash[FLR_HASH_TEXT_SIZE - 1] = 0;
    return true;
}

/* A saved mesh is in metres and was welded before: what is read in another way is read once more, to be compared. */
static flr_result check_content(const flr_scene_loader *loader, const flr_mesh_options *options,
                                flr_error *error)
{
    char wanted[FLR_HASH_TEXT_SIZE], found[FLR_HASH_TEXT_SIZE];
    if (!named_by_content(loader->file, wanted)) return FLR_OK;
    flr_mesh *plain = NULL;
    flr_result result = FLR_OK;
    if (options->unit != 1 || options->weld > 0) {
        flr_mesh_options as_saved = *options;
        as_saved.unit = 1;
        as_saved.weld = 0;
        result = flr_mesh_open(loader->env, loader->file, &as_saved, &plain, NULL, error);
    }
    if (result != FLR_OK) return result;
    flr_hash_print(flr_mesh_hash(plain ? plain : loader->mesh), found);
    flr_mesh_destroy(plain);
    if (strcmp(found, wanted) == 0) return FLR_OK;
    return flr_fail(
        error, FLR_BAD_INPUT,
        "%s: damaged: it is not the mesh that was saved under this name; take a copy of "
        "it if there is one, or rename it to use it as it is",
        loader->file);
}

/* makes loader->mesh the whole of `file`, which is taken over; opens it unless it is that already */
static flr_result keep_file(flr_scene_loader *loader, char *file, const flr_mesh_options *options,
                            flr_error *error)
{
    if (loader->mesh && strcmp(loader->file, file) == 0 && loader->unit == options->unit &&
        loader->chord == options->chord) {
        free(file);
        return FLR_OK;
    }
    flr_scene_loader_end(loader);
    loader->file = file;
    loader->unit = options->unit;
    loader->chord = options->chord;
    flr_result result =
        flr_mesh_open(loader->env, file, options, &loader->mesh, &loader->report, error);
    if (result == FLR_OK) result = check_content(loader, options, error);
    if (result != FLR_OK) {
        flr_mesh_destroy(loader->mesh);
        loader->mesh = NULL;
    }
    return result;
}

bool flr_scene_same_mesh(const flr_scene *scene, size_t a, size_t b)
{
    const flr_scene_part *one = &scene->parts[a], *other = &scene->parts[b];
    if (one->unit != other->unit || !one->group != !other->group) return false;
    /* the chord comes from the voxels */
    return flr_scene_part_voxel(scene, a) == flr_scene_part_voxel(scene, b) &&
           strcmp(one->file, other->file) == 0 &&
           (!one->group || strcmp(one->group, other->group) == 0);
}

flr_result flr_scene_loader_load(flr_scene_loader *loader, size_t part, flr_mesh **mesh,
                                 flr_mesh_report *report, flr_error *error)
{
    const flr_scene_part *wanted = &loader->scene->parts[part];
    flr_mesh_options own = loader->options;
    if (wanted->unit > 0) own.unit = wanted->unit;
    if (!(own.chord > 0)) own.chord = flr_mesh_chord(flr_scene_part_voxel(loader->scene, part));
    char *file = flr_scene_file(loader->scene, wanted->file);
    if (!file) return flr_fail(error, FLR_NO_MEMORY, "no memory to open a part");

    flr_error why = {0};
    flr_result result = keep_file(loader, file, &own, &why);
    if (report) *report = loader->report;
    if (result == FLR_OK && wanted->group) {
        result = take_group(wanted->group, loader->file, loader->mesh, mesh, &why);
    } else if (result == FLR_OK) {
        *mesh = loader->mesh; // the whole is given away, not copied
        loader->mesh = NULL;
    }
    if (result != FLR_OK) return fail_part(loader->scene, wanted, &why, error);
    return FLR_OK;
}

flr_result flr_scene_load_part(flr_env *env, const flr_scene *scene, size_t part,
                               const flr_mesh_options *options, flr_mesh **mesh,
                               flr_mesh_report *report, flr_error *error)
{
    flr_scene_loader loader = flr_scene_loader_begin(env, scene, options);
    flr_result result = flr_scene_loader_load(&loader, part, mesh, report, error);
    flr_scene_loader_end(&loader);
    return result;
}
