/* feeler contacts: does a part touch others, pose by pose, and how hard? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contacts.h"
#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "scene/scene.h"
#include "scene/scene_path.h"
#include "sim/stage.h"
#include "touch.h"

static const char *const view_choices[] = {"8", "64", "512", NULL};

enum { MAX_LAYER = 252 }; /* of voxels, in which force may begin */

typedef struct contacts_values {
    flr_common common;
    flr_input input;
    flr_touch_options touch;
    const char *poses, *path;
    double pose_unit, voxel, moving_voxel; /* 0: not given */
    int64_t tests;                         /* 0: not given */
    int64_t threads, level, budget;
    int engine, view;
    bool no_cache, sweep;
    bool exact;
    double tolerance; /* below 0: not given */
    double onset;     /* metres; below 0: not given */
} contacts_values;

static bool needs_meshes(const contacts_values *values)
{
    return values->exact || values->tolerance >= 0;
}

static void free_job(flr_contacts_job *j)
{
    for (size_t i = 0; i < j->obstacle_count; i++) {
        flr_contact_pair_destroy(j->obstacles[i].pair);
        flr_coherent_destroy(j->obstacles[i].coherent);
        flr_fit_pair_destroy(j->obstacles[i].fits);
        flr_shape_release(j->obstacles[i].shape);
    }
    flr_spheres_destroy(j->spheres);
    free(j->obstacles);
    free(j->answers);
    flr_pose_list_free(&j->poses);
    flr_shape_release(j->moving);
}

/* ---- loading ---- */

static flr_result no_voxel(const char *name, flr_error *error)
{
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "%s is a mesh, so the size of a voxel must be known: add --voxel 1mm", name);
}

/* What the voxels cannot hold of the force layer is given to the points. Sphere trees know no layers. */
static flr_result split_layer(const contacts_values *values, flr_contact_params *params,
                              unsigned *points_layer, flr_error *error)
{
    *points_layer = 0;
    if (values->engine == FLR_CONTACTS_SPHERES) return FLR_OK;
    return flr_shape_split_layer(params->force_layer, &params->force_layer, points_layer, error);
}

/* Where force begins, as a length: in the nearest layer of voxels of this size that is no nearer. */
static flr_result take_onset(const contacts_values *values, double voxel,
                             flr_contact_params *params, flr_error *error)
{
    if (!(values->onset >= 0) || !(voxel > 0)) return FLR_OK;
    const double layer = ceil(values->onset / voxel - 1e-9);
    if (layer > MAX_LAYER)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--onset: at most %.4g mm with voxels of %.4g mm; give a smaller one, or a "
                        "larger --voxel",
                        1e3 * MAX_LAYER * voxel, 1e3 * voxel);
    params->force_layer = (unsigned)layer;
    if (layer <= FLR_SHAPE_FORCE_LAYER)
        params->onset = values->onset; /* beyond, points lie in a free layer */
    return FLR_OK;
}

/* Distances and depths are then those of points that lie outside the part. */
static void warn_layer(flr_cli *cli, unsigned layer)
{
    if (layer > 0)
        flr_warn(
            cli,
            "the moving part's points lie %u %s outside it, to give the force layer asked for: "
            "contacts, distances and where surfaces may meet are those of these points",
            layer, flr_noun(layer, "voxel", "voxels"));
}

/* Points of the part that moves, voxels of others, by way of the cache. */
static flr_result make_shape(flr_cli *cli, const contacts_values *values, const char *name,
                             const flr_shape *bare, flr_force_model model, unsigned layer,
                             bool moves, flr_shape **shape, flr_error *error)
{
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (!values->no_cache && flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    bool both = moves && values->engine == FLR_CONTACTS_SPHERES;
    flr_shape_def def = {.env = cli->env,
                         .cache = &cache,
                         .mesh = bare->mesh,
                         .voxel = bare->voxel,
                         .hollow = bare->hollow,
                         .on_surface = model == FLR_FORCE_SMOOTH,
                         .no_voxels = moves && !both,
                         .no_points = !moves,
                         .layer = moves ? layer : 0};
    flr_progress(cli, 0, 1, "voxelizing %s", name);
    flr_result result = flr_shape_make(&def, shape, error);
    if (result != FLR_OK) return result;
    const flr_cache_report *report = &(*shape)->report;
    if (*report->broken) flr_warn(cli, "%s", report->broken);
    if (*report->not_stored)
        flr_warn(cli, "%s: its voxels have to be made again the next time: %s", name,
                 report->not_stored);
    return FLR_OK;
}

/* A mesh file or a voxel file. */
static flr_result load_file(flr_cli *cli, const contacts_values *values, const char *path,
                            double voxel, flr_force_model model, unsigned layer, bool moves,
                            flr_shape **shape, flr_error *error)
{
    if (flr_is_voxels(path) && needs_meshes(values))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s holds voxels without triangles; --exact and --tolerance need the mesh",
                        path);
    if (flr_is_voxels(path)) return flr_shape_open(cli->env, path, moves, shape, error);
    flr_mesh_options options = flr_input_mesh_options(&values->input, voxel);
    flr_mesh_report report;
    flr_mesh *mesh;
    flr_mesh_asset *asset = NULL;
    flr_progress(cli, 0, 1, "reading %s", path);
    flr_result result = flr_mesh_open(cli->env, path, &options, &mesh, &report, error);
    if (result != FLR_OK) {
        flr_hint_scene(cli->env, path, error);
        return result;
    }
    flr_warn_left_out(cli, path, &report);
    if ((result = flr_mesh_asset_make(mesh, 0, &asset, error)) != FLR_OK) return result;
    const flr_shape bare = {.mesh = asset, .voxel = voxel};
    result = voxel > 0 ? make_shape(cli, values, path, &bare, model, layer, moves, shape, error)
                       : no_voxel(path, error);
    flr_mesh_asset_release(asset);
    return result;
}

static flr_result load_pair(flr_cli *cli, const contacts_values *values, char **arguments,
                            flr_contacts_job *j, flr_error *error)
{
    j->params = flr_default_contact_params();
    flr_touch_apply(&values->touch, &j->params);
    double unit = values->pose_unit > 0    ? values->pose_unit
                  : values->input.unit > 0 ? values->input.unit
                                           : 1e-3;
    flr_result result = flr_pose_list_read(cli->env, values->poses, unit, &j->poses, error);
    if (result != FLR_OK) return result;
    if (!(j->obstacles = calloc(1, sizeof *j->obstacles))) return flr_fail_memory(error);
    j->obstacle_count = 1;
    j->obstacles->T_world_voxmap = flr_pose_identity();
    result = load_file(cli, values, arguments[0], values->voxel, j->params.model, 0, false,
                       &j->obstacles->shape, error);
    if (result == FLR_OK)
        result = take_onset(values, flr_voxmap_get_info(j->obstacles->shape->voxmap).voxel,
                            &j->params, error);
    if (result != FLR_OK) return result;
    unsigned layer = 0;
    if (!flr_is_voxels(arguments[0]) && !flr_is_voxels(arguments[1]) &&
        (result = split_layer(values, &j->params, &layer, error)) != FLR_OK)
        return result;
    warn_layer(cli, layer);
    double voxel = values->moving_voxel > 0 ? values->moving_voxel : values->voxel;
    result = load_file(cli, values, arguments[1], voxel, j->params.model, layer, true, &j->moving,
                       error);
    if (result == FLR_OK && !j->moving->shell)
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s holds no points; write it again without --no-shell", arguments[1]);
    return result;
}

/* How the parts of a scene are read. */
typedef struct scene_reading {
    flr_cli *cli;
    const contacts_values *values;
    const flr_scene *scene;
    const char *moving;
} scene_reading;

static double voxel_of(const scene_reading *r, uint32_t i)
{
    bool moves = !strcmp(r->scene->parts[i].name, r->moving);
    if (moves && r->values->moving_voxel > 0) return r->values->moving_voxel;
    return r->values->voxel > 0 ? r->values->voxel : flr_scene_part_voxel(r->scene, i);
}

static bool begin_part(void *context, uint32_t i, double *voxel, flr_mesh_options *options)
{
    const scene_reading *r = context;
    flr_progress(r->cli, i, r->scene->part_count, "reading %s", r->scene->parts[i].name);
    *voxel = voxel_of(r, i);
    *options = flr_input_mesh_options(&r->values->input, *voxel);
    return true;
}

static void end_part(void *context, uint32_t i, const flr_mesh_report *report)
{
    const scene_reading *r = context;
    flr_warn_left_out(r->cli, r->scene->parts[i].name, report);
}

/* Every part of the scene but the one that the path moves stands where it is. */
static flr_result load_parts(flr_cli *cli, const contacts_values *values, const flr_scene *scene,
                             const char *moving, flr_contacts_job *j, flr_error *error)
{
    scene_reading r = {cli, values, scene, moving};
    flr_resolution chosen = {0};
    flr_parts_def def = {.env = cli->env,
                         .scene = scene,
                         .voxel = values->voxel,
                         .moving_voxel =
                             values->moving_voxel > 0 ? values->moving_voxel : values->voxel,
                         .chosen = &chosen,
                         .begin = begin_part,
                         .end = end_part,
                         .context = &r};
    flr_part_list parts = {0};
    unsigned layer = 0;
    if (!(j->obstacles = calloc(scene->part_count, sizeof *j->obstacles)))
        return flr_fail_memory(error);
    flr_result result = flr_part_list_read(&def, &parts, error);
    if (result == FLR_OK && chosen.voxel > 0) flr_print_note(cli, "%s\n", chosen.sentence);
    double finest = INFINITY;
    for (uint32_t i = 0; i < parts.count; i++)
        if (strcmp(scene->parts[i].name, moving) != 0)
            finest = fmin(finest, parts.list[i].shape->voxel);
    if (result == FLR_OK && isfinite(finest))
        result = take_onset(values, finest, &j->params, error);
    if (result == FLR_OK) result = split_layer(values, &j->params, &layer, error);
    if (result == FLR_OK) warn_layer(cli, layer);
    for (uint32_t i = 0; i < parts.count && result == FLR_OK; i++) {
        const flr_part_entry *part = &parts.list[i];
        bool moves = !strcmp(scene->parts[i].name, moving);
        flr_obstacle *o = &j->obstacles[j->obstacle_count];
        o->T_world_voxmap = part->T_start;
        result = make_shape(cli, values, part->name, part->shape, j->params.model, layer, moves,
                            moves ? &j->moving : &o->shape, error);
        j->obstacle_count += !moves && result == FLR_OK;
    }
    flr_part_list_free(&parts);
    if (result == FLR_OK && j->obstacle_count == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s has no other part than %s", scene->path, moving);
    return result;
}

static flr_result load_scene(flr_cli *cli, const contacts_values *values, const char *file,
                             flr_contacts_job *j, flr_error *error)
{
    flr_scene *scene;
    flr_result result = flr_scene_read(cli->env, file, &scene, error);
    if (result != FLR_OK) return result;
    j->params = flr_scene_params(scene).contact;
    flr_touch_apply(&values->touch, &j->params);
    const flr_scene_path *path;
    result = flr_scene_path_read(cli->env, scene, values->path, &path, &j->poses, error);
    if (result == FLR_OK) result = load_parts(cli, values, scene, path->part, j, error);
    flr_scene_destroy(scene);
    return result;
}

/* ---- asking ---- */

/* Can force begin in that layer of these voxels? Marks of 2 bits have one layer, which was built in; it is taken where none was
 * asked for. */
static flr_result check_layer(const contacts_values *values, const flr_voxmap *voxmap,
                              flr_contact_params *params, flr_error *error)
{
    const flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    if (values->engine == FLR_CONTACTS_SPHERES) return FLR_OK;
    if (info.bits == 2) {
        if (values->touch.force_layer >= 0 && (unsigned)values->touch.force_layer != info.offset)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "--force-layer %lld: these voxels have marks of 2 bits with force "
                            "layer %u built in; voxelize --bits 2 --offset %lld makes others",
                            (long long)values->touch.force_layer, info.offset,
                            (long long)values->touch.force_layer);
        params->force_layer = info.offset;
        return FLR_OK;
    }
    if (params->force_layer < info.range) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT,
                    "force layer %u: these voxels have force layers up to %u; voxelize --bits 8 "
                    "--range %u makes voxels with more",
                    params->force_layer, info.range - 1, params->force_layer + 1);
}

static flr_result prepare(const contacts_values *values, flr_contacts_job *j, flr_error *error)
{
    j->engine = (flr_contacts_engine)values->engine;
    j->tests = (double)values->tests;
    j->threads = (unsigned)values->threads;
    j->view = (flr_sphere_view)(FLR_SPHERE_OCTREE + values->view);
    j->search = flr_default_spheres_params();
    j->search.level = (unsigned)values->level;
    j->search.budget = (uint64_t)values->budget;
    j->sweep = values->sweep;
    j->exact = values->exact;
    j->tolerance = values->tolerance;
    for (size_t i = 0; i < j->obstacle_count; i++) {
        flr_result result = check_layer(values, j->obstacles[i].shape->voxmap, &j->params, error);
        if (result == FLR_OK) result = flr_contacts_make_engine(j, &j->obstacles[i], error);
        if (result != FLR_OK) return result;
    }
    if (!(j->answers = calloc(j->poses.count, sizeof *j->answers))) return flr_fail_memory(error);
    return FLR_OK;
}

/* Points that are moved along their normals may open gaps. */
static void warn_opening(flr_cli *cli, double by, const flr_shell *shell)
{
    double opening = flr_shell_opening(shell, by);
    if (opening > 1.5)
        flr_warn(
            cli,
            "--displace %.4gmm moves neighbouring points %.3g voxels apart in places: something "
            "thin can slip between them unnoticed; a smaller --moving-voxel closes the gaps",
            1e3 * by, opening);
}

/* What is finer than the points can slip between them: the guarantee of force layer 2 needs points as dense as the voxels. */
static void warn_coarse(flr_cli *cli, const flr_contacts_job *j)
{
    double finest = INFINITY;
    for (size_t i = 0; i < j->obstacle_count; i++)
        finest = fmin(finest, flr_voxmap_get_info(j->obstacles[i].shape->voxmap).voxel);
    if (j->moving->shell->voxel > finest * (1 + 1e-9))
        flr_warn(cli,
                 "the moving part's points are %.4g mm apart, and there are voxels of %.4g mm: "
                 "something thin can slip between the points unnoticed; add --moving-voxel %.4gmm",
                 1e3 * j->moving->shell->voxel, 1e3 * finest, 1e3 * finest);
}

/* All poses ask for the same displacement: it is done once. Points that do not fit are displaced in each query. */
static flr_result displace(flr_cli *cli, flr_contacts_job *j, flr_error *error)
{
    double by = j->displaced = j->params.displacement;
    flr_shell *moved;
    if (by == 0) return FLR_OK;
    warn_opening(cli, by, j->moving->shell);
    flr_result result = flr_shell_displace(j->moving->shell, by, &moved, error);
    if (result != FLR_OK) return result == FLR_TOO_LARGE ? FLR_OK : result;
    flr_shell_destroy(j->moving->shell);
    j->moving->shell = moved;
    j->params.displacement = 0;
    return FLR_OK;
}

/* ---- the command ---- */

static int check_arguments(flr_cli *cli, const contacts_values *values, int count, char **arguments)
{
    bool scene = flr_is_scene(arguments[0]);
    const char *wrong = NULL;
    if (scene && count > 1)
        wrong = "a scene names all parts: give it alone, with --path NAME";
    else if (scene && !values->path)
        wrong = "a scene needs --path NAME, the motion to look at; feeler info lists its paths";
    else if (scene && (values->poses || values->pose_unit > 0))
        wrong = "a scene has paths of its own: --path NAME in place of --poses and --pose-unit";
    else if (!scene && values->path)
        wrong = "--path is for scenes; two parts need --poses FILE";
    else if (!scene && count < 2)
        wrong = "feeler contacts needs two parts, the one that stands and the one that moves";
    else if (!scene && flr_is_scene(arguments[1]))
        wrong = "a scene names all parts: give it alone, with --path NAME";
    else if (!scene && !values->poses)
        wrong = "feeler contacts needs the poses of the moving part: add --poses FILE";
    else if (values->onset >= 0 && values->touch.force_layer >= 0)
        wrong =
            "--onset and --force-layer say the same, as a length and in voxels: give one of them";
    else if (values->onset >= 0 && values->engine == FLR_CONTACTS_SPHERES)
        wrong = "--onset has no effect with --engine spheres, which compares the voxels themselves";
    else if ((values->view || values->level || values->budget) &&
             values->engine != FLR_CONTACTS_SPHERES)
        wrong = "--view, --level and --budget are for --engine spheres; add it, or leave them out";
    else if (values->tests > 0 && values->engine != FLR_CONTACTS_COHERENT)
        wrong = "--tests is for --engine coherent: the other engines have no limit";
    return wrong ? FLR_REFUSE(cli, "%s", wrong) : FLR_EXIT_OK;
}

static int exit_of(flr_result result)
{
    return result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE ? FLR_EXIT_USAGE
                                                                 : flr_exit_of_input(result);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const contacts_values *values = given;
    int code = check_arguments(cli, values, count, arguments);
    if (code != FLR_EXIT_OK) return code;

    flr_error error;
    flr_contacts_job j = {0};
    flr_result result = flr_is_scene(arguments[0])
                            ? load_scene(cli, values, arguments[0], &j, &error)
                            : load_pair(cli, values, arguments, &j, &error);
    if (result == FLR_OK) result = displace(cli, &j, &error);
    if (result == FLR_OK) result = prepare(values, &j, &error);
    if (result == FLR_OK) {
        warn_coarse(cli, &j);
        flr_contacts_ask(cli, &j);
        if (j.sweep) flr_contacts_sweep(cli, &j);
        if (needs_meshes(values)) result = flr_contacts_measure(cli, &j, &error);
    }
    if (result == FLR_OK && j.incomplete)
        flr_warn(cli,
                 "%llu of the answers end at cubes larger than voxels, as --level or --budget say: "
                 "contacts are pairs of cubes there, and some may be none",
                 (unsigned long long)j.incomplete);
    if (result == FLR_OK) result = flr_contacts_tell(cli, &j, &error);
    flr_progress_end(cli);
    code = flr_contacts_within(&j) ? FLR_EXIT_FAILED : FLR_EXIT_OK;
    free_job(&j);
    return result == FLR_OK ? code : flr_fail_with(cli, exit_of(result), &error);
}

static const contacts_values defaults = {
    .touch = FLR_TOUCH_NOT_GIVEN, .tolerance = -1, .onset = -1};
static const char *const usage[] = {"STATIC MOVING --poses FILE [options]",
                                    "SCENE --path NAME [options]", NULL};
static const flr_option options[] = {
    FLR_WAY_OPTIONS(contacts_values,
                    "where the moving part is: one line t x y z qw qx qy qz for each pose",
                    "a path of the scene: its part moves, all others stand"),
    FLR_OPTION(SIZE, offsetof(contacts_values, moving_voxel), "moving-voxel", "SIZE",
               "spacing of the moving part's points; default: that of --voxel", .min = 1e-9),
    FLR_OPTION(
        CHOICE, offsetof(contacts_values, engine), "engine", "culled|reference|coherent|spheres",
        "culled (default) skips what is far, reference tests every point, coherent remembers "
        "what was far and limits the travel; these give the same. spheres compares the voxels "
        "of both parts: pairs that intersect in place of points",
        .choices = flr_contacts_engines),
    FLR_OPTION(INTEGER, offsetof(contacts_values, tests), "tests", "N",
               "coherent: tests that a frame has time for; default: as many as fit into 0.5 ms",
               .min = 1, .max = 1000000000),
    FLR_OPTION(
        INTEGER, offsetof(contacts_values, threads), "threads", "N",
        "threads that share a query of the default engine or of sphere trees; default 1; the "
        "result does not depend on it",
        .letter = 't', .min = 1, .max = 64),
    FLR_OPTION(CHOICE, offsetof(contacts_values, view), "view", "8|64|512",
               "spheres: children of a cube in the tree; default 8", .choices = view_choices),
    FLR_OPTION(INTEGER, offsetof(contacts_values, level), "level", "N",
               "spheres: do not look into cubes of less than 2^N voxels a side; default 0",
               .min = 0, .max = 20),
    FLR_OPTION(INTEGER, offsetof(contacts_values, budget), "budget", "N",
               "spheres: end the descent after N tests of two spheres, with cubes in place of "
               "voxels; default: as many as it takes",
               .min = 1, .max = 1000000000000),
    FLR_TOUCH_OPTIONS(contacts_values),
    FLR_OPTION(
        SIZE, offsetof(contacts_values, onset), "onset", "SIZE",
        "force begins this far before surfaces meet, rounded up to a whole number of voxels; in "
        "place of --force-layer",
        .min = 0, .max = 1),
    FLR_SWITCH(offsetof(contacts_values, sweep), "sweep",
               "look at the motions between the poses, too: how much of each is free"),
    FLR_SWITCH(offsetof(contacts_values, exact), "exact",
               "measure the triangles, too: the least distance, the nearest points, and what they "
               "lie on"),
    FLR_OPTION(SIZE, offsetof(contacts_values, tolerance), "tolerance", "SIZE",
               "say for each pose whether the parts are this near, by their triangles; exit code 1 "
               "when they ever are",
               .min = 0),
    FLR_NO_CACHE_OPTION(offsetof(contacts_values, no_cache)),
    FLR_INPUT_OPTIONS(contacts_values),
    FLR_TOLERANT_OPTION(contacts_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler contacts ball/scene.json --path seat --exact --tolerance 1um",
     "how near the ball comes, exactly, and between which points"},
    {"feeler contacts ball/scene.json --path seat", "a ball comes to rest in its socket"},
    {"feeler contacts ball/scene.json --path seat --force-layer 2 --displace 0mm",
     "the same with the usual law of contact in place of the scene's"},
    {"feeler contacts ball/socket.stl ball/ball.stl --voxel 0.5mm --poses ball/turn.txt "
     "--json",
     "two meshes and a pose file, for a program"},
    {"feeler contacts ball/scene.json --path seat --voxel 1mm --engine reference",
     "every point, to compare"},
    {"feeler contacts ball/scene.json --path seat --voxel 1mm --engine coherent --tests 2000",
     "with the travel limit that a processor of 2005 asked for"},
    {"feeler contacts ball/scene.json --path seat --voxel 1mm --engine spheres",
     "voxels against voxels: which of both parts intersect"},
    {"feeler contacts ball/scene.json --path seat --voxel 1mm --model smooth",
     "forces that do not jump from voxel to voxel"},
    {"feeler contacts ball/scene.json --path seat --voxel 1mm --sweep",
     "does something touch between the poses?"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done, whether or not something touches"},
    {FLR_EXIT_FAILED,
     "with --tolerance: the parts came that near; memory ran out, or the output could not be "
     "written"},
    {FLR_EXIT_USAGE, "the command line is wrong, or a voxel size does not suit; nothing was done"},
    {FLR_EXIT_INPUT,
     "a part, the scene or the poses cannot be used: missing, unreadable or broken"},
    {0, NULL},
};

const flr_command flr_cmd_contacts = {
    .name = "contacts",
    .summary = "does a part touch others, pose by pose, and how hard",
    .usage = usage,
    .description =
        "Parts are meshes, which are voxelized by way of the cache, or voxel files (.flrvox). For "
        "each pose one line tells: how many points touch; how many are so deep that exact "
        "surfaces may meet; force and torque on the moving part (world's axes; the torque about "
        "the moving part's origin); between which bounds the least distance of the surfaces "
        "lies; how many lookups it took, and how long. The last line sums up.\n\n"
        "The part that stands is at the origin. In a scene every part but the one that the path "
        "moves stands at its place; their forces add up.\n\n"
        "Force begins in the force layer. With layer 2, the default, points no farther apart than "
        "the voxels are large, and awareness off, surfaces cannot meet unnoticed; layer 0 lets "
        "parts come as near as their voxels allow.\n\n"
        "The coherent engine allows a part to move only so far from frame to frame. Where two "
        "poses "
        "are farther apart, it takes steps between them, up to 1000, or jumps and looks at "
        "everything again; the last line tells how many.\n\n"
        "With --sweep the part moves straight and turns evenly from pose to pose, and every point "
        "is followed on its way: the last column is the part of the motion before which no point "
        "comes into layer 1 (layer 0 with --force-layer 0), or deeper where it was in it already; "
        "1 where all of it is free.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 2,
    .argument_missing = "two parts, or a scene",
    .values_size = sizeof(contacts_values),
    .defaults = &defaults,
    .run = run,
};
