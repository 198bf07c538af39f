/* feeler info: what a mesh or a scene is, in words, as JSON, as a picture */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "convert_csv.h"
#include "feeler/assembly.h"
#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "feeler/voxels.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "picture/picture.h"
#include "picture/voxels.h"
#include "scene/scene.h"

typedef struct info_values {
    flr_common common;
    flr_input input;
    flr_info_options options;
    const char *png;
    const char *size;
    int view;
} info_values;

/* what was loaded from one file: a mesh, or a scene with the meshes of its parts */
typedef struct loaded {
    flr_scene *scene; /* NULL for a mesh */
    flr_part_list parts;
    flr_resolution chosen;
    flr_mesh **meshes; /* [count]: of a scene the parts' */
    size_t count;
    flr_mesh_report report; /* of a mesh */
    flr_assembly *assembly; /* the tree of a foreign file; NULL: none */
} loaded;

static void unload(loaded *file)
{
    if (!file->scene && file->count) flr_mesh_destroy(file->meshes[0]);
    flr_part_list_free(&file->parts);
    free(file->meshes);
    flr_assembly_destroy(file->assembly);
    flr_scene_destroy(file->scene);
}

/* Where the parts of a scene are read. */
typedef struct info_reading {
    flr_cli *cli;
    const flr_scene *scene;
} info_reading;

static bool begin_part(void *context, uint32_t part, double *voxel, flr_mesh_options *options)
{
    const info_reading *r = context;
    (void)voxel, (void)options;
    flr_progress(r->cli, part, r->scene->part_count, "reading part %s", r->scene->parts[part].name);
    return true;
}

static void end_part(void *context, uint32_t part, const flr_mesh_report *report)
{
    const info_reading *r = context;
    flr_warn_left_out(r->cli, r->scene->parts[part].file, report);
}

static flr_result load_scene(flr_cli *cli, const flr_mesh_options *options, loaded *file,
                             flr_error *error)
{
    info_reading reading = {cli, file->scene};
    flr_parts_def def = {.env = cli->env,
                         .scene = file->scene,
                         .options = options,
                         .begin = begin_part,
                         .end = end_part,
                         .context = &reading};
    /* the exact engine needs no voxels: none are chosen */
    if (file->scene->contact.engine != FLR_ENGINE_EXACT) def.chosen = &file->chosen;
    flr_result result = flr_part_list_read(&def, &file->parts, error);
    for (size_t i = 0; result == FLR_OK && i < file->parts.count; i++)
        file->meshes[file->count++] = file->parts.list[i].shape->mesh->mesh;
    return result;
}

/* a foreign file is read once, as a tree */
static flr_result load_foreign(flr_cli *cli, const char *path, const flr_mesh_options *options,
                               loaded *file, flr_error *error)
{
    flr_error why;
    flr_result result =
        flr_assembly_open(cli->env, path, options, &file->assembly, &file->report, error);
    if (result != FLR_OK) return result;
    result = flr_assembly_mesh(file->assembly, options->weld, UINT64_MAX, &file->meshes[0], &why);
    if (result != FLR_OK) return flr_fail(error, result, "%s: %s", path, why.message);
    for (uint32_t i = 0; i < file->assembly->note_count; i++)
        flr_warn(cli, "%s: %s", path, file->assembly->notes[i]);
    return FLR_OK;
}

static flr_result load(flr_cli *cli, const char *path, const flr_mesh_options *options,
                       loaded *file, flr_error *error)
{
    memset(file, 0, sizeof *file);
    flr_result result = FLR_OK;
    if (flr_is_scene(path)) result = flr_scene_read(cli->env, path, &file->scene, error);
    if (result != FLR_OK) return result;
    file->meshes = calloc(file->scene ? file->scene->part_count : 1, sizeof(flr_mesh *));
    if (!file->meshes) {
        result = flr_fail_memory(error);
    } else if (file->scene) {
        result = load_scene(cli, options, file, error);
    } else {
        result = flr_import_knows(path) ? load_foreign(cli, path, options, file, error)
                                        : flr_mesh_open(cli->env, path, options, &file->meshes[0],
                                                        &file->report, error);
        if (result == FLR_OK) flr_warn_left_out(cli, path, &file->report), file->count = 1;
    }
    flr_progress_end(cli);
    if (result != FLR_OK) unload(file);
    return result;
}

/* ---- pictures ---- */

static const char *const views[] = {"iso", "front", "back", "left", "right", "top", "bottom", NULL};
/* the directions the camera looks along; iso is the picture's own default */
static const flr_vec3 view_directions[] = {{0, 0, 0},  {0, 1, 0},  {0, -1, 0}, {1, 0, 0},
                                           {-1, 0, 0}, {0, 0, -1}, {0, 0, 1}};

/* "960x640" */
static bool read_picture_size(const char *text, uint32_t *width, uint32_t *height)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return false;
    unsigned long w = strtoul(text, &end, 10);
    if (*end != 'x' || end[1] < '0' || end[1] > '9') return false;
    unsigned long h = strtoul(end + 1, &end, 10);
    if (*end || !w || !h || w > FLR_PICTURE_MAX_SIZE || h > FLR_PICTURE_MAX_SIZE) return false;
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return true;
}

static flr_colour colour_of(const loaded *file, size_t part)
{
    return flr_picture_colour(file->scene ? file->scene->parts[part].colour : FLR_SCENE_NO_COLOUR,
                              part);
}

/* what to draw: the parts of a scene, the groups of a mesh in their own colours, or the mesh */
typedef struct picture_parts {
    flr_picture_part *parts;
    flr_mesh **own; /* [count], groups taken out of the mesh; NULL entries where borrowed */
    size_t count;
} picture_parts;

static void free_parts(picture_parts *list)
{
    for (size_t i = 0; list->own && i < list->count; i++) flr_mesh_destroy(list->own[i]);
    free(list->own);
    free(list->parts);
}

static flr_result collect_parts(const loaded *file, picture_parts *list, flr_error *error)
{
    const flr_mesh *mesh = file->meshes[0];
    bool groups = !file->scene && mesh->group_count > 1;
    size_t most = groups ? mesh->group_count : file->count;
    memset(list, 0, sizeof *list);
    list->parts = calloc(most, sizeof *list->parts);
    list->own = calloc(most, sizeof(flr_mesh *));
    flr_result result = FLR_OK;
    if (!list->parts || !list->own) result = flr_fail_memory(error);
    for (size_t i = 0; result == FLR_OK && i < most; i++) {
        if (groups && !mesh->groups[i].triangle_count) continue;
        flr_picture_part *part = &list->parts[list->count];
        part->T_world_part = groups        ? mesh->groups[i].T_mesh_group
                             : file->scene ? file->scene->parts[i].T_world_part
                                           : flr_pose_identity();
        part->colour = colour_of(file, i);
        part->mesh = file->meshes[groups ? 0 : i];
        if (groups) {
            result = flr_mesh_extract_group(mesh, (uint32_t)i, &list->own[list->count], error);
            part->mesh = list->own[list->count];
        }
        if (result == FLR_OK) list->count++;
    }
    if (result != FLR_OK) free_parts(list);
    return result;
}

static flr_result draw(flr_cli *cli, const info_values *values, const loaded *file,
                       flr_error *error)
{
    picture_parts list;
    flr_progress(cli, 0, 1, "drawing %s", values->png);
    flr_result result = collect_parts(file, &list, error);
    if (result != FLR_OK) return result;
    flr_picture_def def = flr_default_picture_def();
    def.parts = list.parts;
    def.part_count = list.count;
    if (values->size) read_picture_size(values->size, &def.width, &def.height);
    // a view asked for, else the scene's own camera, else the picture's default
    if (values->view > 0)
        def.direction = view_directions[values->view];
    else if (file->scene && file->scene->camera.given)
        def.direction = flr_vec3_sub(file->scene->camera.target, file->scene->camera.eye);

    flr_picture picture = {0};
    result = flr_picture_render(&def, &picture, error);
    flr_progress_end(cli);
    if (result == FLR_OK) {
        flr_hold_signals();
        result = flr_picture_write_png(cli->env, values->png, &picture, error);
        flr_release_signals();
    }
    flr_picture_free(&picture);
    free_parts(&list);
    return result;
}

/* ---- pictures of voxels ---- */

static flr_result draw_voxels(flr_cli *cli, const info_values *values, const flr_voxmap *voxmap,
                              flr_error *error)
{
    flr_voxel_picture_def def = flr_default_voxel_picture_def();
    if (values->size) read_picture_size(values->size, &def.width, &def.height);
    if (values->view > 0) def.direction = view_directions[values->view];
    flr_picture picture = {0};
    flr_progress(cli, 0, 1, "drawing %s", values->png);
    flr_result result = flr_picture_voxels(voxmap, &def, &picture, error);
    flr_progress_end(cli);
    if (result == FLR_OK) {
        flr_hold_signals();
        result = flr_picture_write_png(cli->env, values->png, &picture, error);
        flr_release_signals();
    }
    flr_picture_free(&picture);
    return result;
}

/* of a voxel file, which has been described already, or of a mesh at the size of --voxel */
static flr_result draw_voxels_of(flr_cli *cli, const info_values *values, const char *path,
                                 const flr_mesh *mesh, flr_error *error)
{
    flr_voxmap *voxmap;
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = values->options.voxel;
    flr_result result =
        mesh ? flr_voxelize(cli->env, mesh, &def, &voxmap, NULL, NULL, error)
             : flr_voxfile_open(cli->env, path, FLR_VOXFILE_VERIFY, &voxmap, NULL, error);
    if (result != FLR_OK) return result;
    result = draw_voxels(cli, values, voxmap, error);
    if (result == FLR_OK) result = flr_voxfile_verify(voxmap, 0, error);
    flr_voxmap_destroy(voxmap);
    return result;
}

/* ---- the command ---- */

/* the picture that goes with one file; `file` NULL: voxels */
static flr_result tell_picture(flr_cli *cli, const info_values *values, const char *path,
                               const loaded *file, json_t *entry, flr_error *error)
{
    bool as_voxels = file && !file->scene && values->options.voxel > 0 && !values->options.features;
    flr_result result = file && !as_voxels ? draw(cli, values, file, error)
                                           : draw_voxels_of(cli, values, path,
                                                            file ? file->meshes[0] : NULL, error);
    if (result != FLR_OK) return result;
    flr_print(cli, "  picture     %s\n", FLR_SAFE(values->png));
    flr_json_set(entry, "picture", flr_json_text(values->png));
    return FLR_OK;
}

/* one file; its exit code. With an error, `*entry` is {"file", "error"}. */
static int tell_trouble(flr_cli *cli, const char *path, int code, const flr_error *error,
                        json_t **entry)
{
    flr_complain(cli, error);
    *entry = flr_json_object();
    flr_json_set(*entry, "file", flr_json_text(path));
    flr_json_set(*entry, "error", flr_json_error(error, code));
    return code;
}

static int tell_file(flr_cli *cli, const info_values *values, const char *path, json_t **entry)
{
    flr_error error;
    loaded file;
    if (flr_is_recording(path)) {
        flr_result result = flr_info_recording(cli, path, entry, &error);
        return result == FLR_OK ? FLR_EXIT_OK
                                : tell_trouble(cli, path, flr_exit_of_input(result), &error, entry);
    }
    bool voxels = flr_is_voxels(path);
    flr_mesh_options options = flr_input_mesh_options(&values->input, values->options.voxel);
    flr_result result = voxels ? flr_info_voxels(cli, path, entry, &error)
                               : load(cli, path, &options, &file, &error);
    if (result != FLR_OK) flr_hint_scene(cli->env, path, &error);
    int code = flr_exit_of_input(result);
    bool loaded_mesh = result == FLR_OK && !voxels;
    if (result == FLR_OK) {
        if (!voxels)
            result = file.scene ? flr_info_scene(cli, file.scene, file.meshes, &values->options,
                                                 entry, &error)
                                : flr_info_mesh(cli, path, file.meshes[0], &file.report,
                                                &values->options, entry, &error);
        if (result == FLR_OK && loaded_mesh && file.scene) {
            result = flr_info_contact(cli, file.scene, &file.parts, &file.chosen, *entry, &error);
            if (result != FLR_OK) json_decref(*entry);
        }
        if (result == FLR_OK && !voxels && file.assembly) flr_info_tree(cli, file.assembly, *entry);
        if (result == FLR_OK && values->png) {
            result = tell_picture(cli, values, path, voxels ? NULL : &file, *entry, &error);
            if (result != FLR_OK) json_decref(*entry);
        }
        if (result != FLR_OK)
            code = result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE ? FLR_EXIT_USAGE
                                                                         : FLR_EXIT_FAILED;
    }
    if (loaded_mesh) unload(&file);
    return result == FLR_OK ? code : tell_trouble(cli, path, code, &error, entry);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const info_values *values = given;
    uint32_t width, height;
    if (values->size && !read_picture_size(values->size, &width, &height))
        return FLR_REFUSE(cli, "--size %s: write WIDTHxHEIGHT in pixels, at most %dx%d",
                          values->size, FLR_PICTURE_MAX_SIZE, FLR_PICTURE_MAX_SIZE);
    if (!values->png && (values->size || values->view > 0))
        return FLR_REFUSE(cli, "--%s is about a picture: add --png FILE",
                          values->size ? "size" : "view");
    if (values->png && count > 1)
        return FLR_REFUSE(cli,
                          "--png draws one file, but there are %d; call feeler info once "
                          "for each",
                          count);
    if (values->png && flr_same_file(values->png, arguments[0]))
        return FLR_REFUSE(cli, "--png %s would replace the input", values->png);
    if (values->png && flr_is_recording(arguments[0]))
        return FLR_REFUSE(cli, "%s is a recording; feeler report %s --out FILE.html draws it",
                          arguments[0], arguments[0]);
    for (int i = 0; i < count; i++)
        if (values->options.features && !(values->options.voxel > 0) &&
            !flr_is_scene(arguments[i]) && !flr_is_voxels(arguments[i]) &&
            !flr_is_recording(arguments[i]))
            return FLR_REFUSE(cli, "--features depend on the size of a voxel: add --voxel 1mm");

    // a bad file does not keep the others from being described
    int worst = FLR_EXIT_OK;
    json_t *files = flr_json_array();
    for (int i = 0; i < count; i++) {
        json_t *entry = NULL;
        if (i) flr_print(cli, "\n");
        flr_progress(cli, (uint64_t)i, (uint64_t)count, "reading %s", arguments[i]);
        int code = tell_file(cli, values, arguments[i], &entry);
        flr_json_push(files, entry);
        if (code > worst) worst = code;
    }
    json_t *document = flr_json_object();
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
    return worst;
}

static const info_values defaults = {.options = {.density = 1000}};
static const char *const usage[] = {"FILE... [options]", NULL};
static const flr_option options[] = {
    FLR_INPUT_OPTIONS(info_values),
    FLR_TOLERANT_OPTION(info_values),
    FLR_OPTION(NUMBER, offsetof(info_values, options.density), "density", "N",
               "kg/m3, for mass and inertia; default 1000", .min = 1e-6, .max = 1e6),
    FLR_SWITCH(offsetof(info_values, options.features), "features",
               "also merge nearly flat neighbours and count polygons, edges and vertices, as the "
               "voxels will see them; needs --voxel, or a scene that has one"),
    FLR_OPTION(SIZE, offsetof(info_values, options.voxel), "voxel", "SIZE",
               "advanced: edge length of a voxel, for --features; without --features, --png draws "
               "the voxels "
               "of a mesh instead of the mesh",
               .min = 1e-9),
    FLR_OPTION(PATH, offsetof(info_values, png), "png", "FILE",
               "draw the mesh, the whole scene, or the voxels: slices and cubes"),
    FLR_OPTION(CHOICE, offsetof(info_values, view), "view", "NAME",
               "from where: iso (default), front, back, left, right, top, bottom",
               .choices = views),
    FLR_OPTION(TEXT, offsetof(info_values, size), "size", "WxH",
               "pixels of the picture; default 960x640, of voxels 1200x900"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler info ball/ball.stl", "one mesh"},
    {"feeler info ball/scene.json --png ball.png", "a scene, with a picture"},
    {"feeler info ball/socket.stl --png top.png --view top --size 320x240", "seen from above"},
    {"feeler info ball/ball.stl --features --voxel 0.35mm", "what the voxels will see"},
    {"feeler info ball/ball.stl --voxel 1mm --png voxels.png", "its voxels, as slices and cubes"},
    {"feeler info ball/*.stl --json", "several files, for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "all files were described"},
    {FLR_EXIT_FAILED, "the picture could not be written, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "a file cannot be used: missing, unreadable or broken"},
    {0, NULL},
};

const flr_command flr_cmd_info = {
    .name = "info",
    .summary = "tell what a mesh or a scene is, with a picture if wanted",
    .usage = usage,
    .description =
        "For a mesh: format, unit, triangles, vertices, groups, components, whether it is closed, "
        "size, area, volume, centre of mass and inertia. For a scene (.json): its parts, where "
        "they stand and which of them move, the contact engine, the voxel size that feeler "
        "chooses if none is given, which parts start in each other, and gaps below 1 mm. For "
        "voxels (.flrvox): what they were made from and how, and what was found; all checksums "
        "are compared. Every mesh format that feeler reads will do. A file that cannot be used "
        "does not stop the others; the exit code is that of the worst one.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = -1,
    .argument_missing = "a mesh or a scene file",
    .values_size = sizeof(info_values),
    .defaults = &defaults,
    .run = run,
};
