/* feeler verify: do paths keep their clearance, everywhere and not only at their poses? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "convert_csv.h"
#include "output.h"
#include "plan_scene.h"
#include "scene/scene_path.h"
#include "verify_recording.h"

typedef struct verify_values {
    flr_common common;
    flr_input input;
    const char *part, *path;
    double clearance, overlap, pose_unit;
    int64_t threads;
} verify_values;

typedef struct checked_path {
    const char *name; /* of a path of the scene, or of a file */
    char *part;       /* of a recording: the one that moves; else NULL */
    flr_pose_list list;
    flr_pose *poses;
    flr_plan_verdict verdict;
} checked_path;

typedef struct path_check {
    flr_cli *cli;
    const verify_values *values;
    flr_plan_scene scene;
    checked_path *paths;
    size_t count;
    unsigned workers;
    flr_plan_space **spaces; /* [workers] */
    double seconds;
} path_check;

static void free_job(path_check *j)
{
    for (size_t i = 0; j->paths && i < j->count; i++) {
        flr_pose_list_free(&j->paths[i].list);
        free(j->paths[i].poses);
        free(j->paths[i].part);
    }
    for (unsigned i = 0; j->spaces && i < j->workers; i++) flr_plan_space_destroy(j->spaces[i]);
    free(j->spaces);
    free(j->paths);
    flr_plan_scene_free(&j->scene);
}

/* ---- paths ---- */

static const flr_scene_path *scene_path(const flr_scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->path_count; i++)
        if (strcmp(scene->paths[i].name, name) == 0) return &scene->paths[i];
    return NULL;
}

static flr_result read_path(path_check *j, checked_path *path, flr_error *error)
{
    const flr_scene *scene = j->scene.scene;
    const flr_scene_path *of_scene = scene_path(scene, path->name);
    flr_result result = FLR_OK;
    if (path->part) { // its poses were read with it
    } else if (of_scene) {
        result = flr_scene_path_read(j->cli->env, scene, path->name, &of_scene, &path->list, error);
    } else {
        const double unit = j->values->pose_unit > 0 ? j->values->pose_unit : scene->unit;
        result = flr_pose_list_read(j->cli->env, path->name, unit, &path->list, error);
    }
    if (result != FLR_OK) return result;
    path->poses = calloc(path->list.count, sizeof *path->poses);
    if (!path->poses) return flr_fail_memory(error);
    for (size_t i = 0; i < path->list.count; i++) path->poses[i] = path->list.poses[i].T_world_part;
    return FLR_OK;
}

/* The part that moves: the one given, that of the scene's paths, or the only movable one. */
static flr_result choose_part(path_check *j, flr_error *error)
{
    const char *part = j->values->part;
    for (size_t i = 0; i < j->count; i++) {
        flr_recorded_path recorded;
        if (!flr_is_recording(j->paths[i].name)) continue;
        // of several parts that move as one, the poses are those of the first
        char first[256];
        snprintf(first, sizeof first, "%.*s", part ? (int)strcspn(part, ",") : 0, part ? part : "");
        flr_result result = flr_verify_read_recording(j->cli->env, j->paths[i].name,
                                                      part ? first : NULL, &recorded, error);
        if (result != FLR_OK) return result;
        j->paths[i].list = recorded.list;
        j->paths[i].part = recorded.part;
        if (!part) part = recorded.part;
    }
    for (size_t i = 0; !part && i < j->count; i++) {
        const flr_scene_path *path = scene_path(j->scene.scene, j->paths[i].name);
        if (path) part = path->part;
    }
    for (size_t i = 0; !j->values->part && i < j->count; i++) {
        const flr_scene_path *path = scene_path(j->scene.scene, j->paths[i].name);
        if (path && strcmp(path->part, part) != 0)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "paths %s and %s move different parts: check them one after the other",
                            j->paths[0].name, path->name);
    }
    return flr_plan_scene_choose(&j->scene, part, error);
}

static flr_result check_one(void *context, size_t piece, unsigned worker)
{
    path_check *j = context;
    checked_path *path = &j->paths[piece];
    flr_error error;
    if (worker == 0) flr_progress(j->cli, piece, j->count, "checking %s", path->name);
    return flr_plan_verify(j->spaces[worker], path->poses, path->list.count, &path->verdict,
                           &error);
}

static flr_result check(path_check *j, flr_error *error)
{
    j->workers = flr_parallel_threads((unsigned)j->values->threads);
    j->spaces = calloc(j->workers, sizeof(flr_plan_space *));
    if (!j->spaces) return flr_fail_memory(error);
    flr_plan_def def = flr_plan_scene_def(&j->scene, j->values->clearance);
    if (j->values->overlap >= 0) def.overlap = j->values->overlap;
    for (unsigned i = 0; i < j->workers; i++) {
        flr_result result = flr_plan_space_create(&def, &j->spaces[i], error);
        if (result != FLR_OK) return result;
    }
    const int64_t begin = flr_clock_ns(j->cli->env);
    flr_result result = flr_parallel_for(j->workers, j->count, check_one, j);
    j->seconds = (double)(flr_clock_ns(j->cli->env) - begin) * 1e-9;
    flr_progress_end(j->cli);
    return result == FLR_OK ? FLR_OK : flr_fail(error, result, "no memory to check the paths");
}

/* ---- results ---- */

/* seconds, of the pose file */
static double time_at(const checked_path *path, double at)
{
    const size_t count = path->list.count;
    size_t i = (size_t)at;
    if (i + 1 >= count) return path->list.poses[count - 1].t;
    const double before = path->list.poses[i].t, after = path->list.poses[i + 1].t;
    return before + (at - (double)i) * (after - before);
}

static flr_vec3 middle(const flr_plan_place *place)
{
    return flr_vec3_lerp(place->point[0], place->point[1], 0.5);
}

static void tell_path(flr_cli *cli, const path_check *j, const checked_path *path)
{
    const flr_plan_verdict *v = &path->verdict;
    const flr_plan_place *place = v->free ? &v->nearest : &v->violation;
    char name[FLR_SAFE_SIZE], part[FLR_SAFE_SIZE];
    const flr_vec3 at = flr_vec3_scale(middle(place), 1e3);
    flr_safe(path->name, name);
    flr_safe(flr_plan_scene_obstacle(&j->scene, place->obstacle), part);
    if (!v->free)
        flr_print(cli, "%s: %snot free%s: %.6g mm from %s at t = %.4f s, at %.4g %.4g %.4g mm\n",
                  name, flr_red(cli), flr_plain(cli), 1e3 * place->distance, part,
                  time_at(path, place->at), at.x, at.y, at.z);
    else if (place->obstacle == FLR_NONE)
        flr_print(cli, "%s: %sfree%s\n", name, flr_green(cli), flr_plain(cli));
    else
        flr_print(cli,
                  "%s: %sfree%s: at least %.6g mm apart; nearest %.6g mm, to %s at t = %.4f s, at "
                  "%.4g %.4g %.4g mm\n",
                  name, flr_green(cli), flr_plain(cli), 1e3 * v->lower, 1e3 * v->upper, part,
                  time_at(path, place->at), at.x, at.y, at.z);
    for (uint32_t i = 0; i < v->fit_count; i++) {
        const flr_plan_fit *fit = &v->fits[i];
        flr_safe(flr_plan_scene_obstacle(&j->scene, fit->obstacle), part);
        flr_print(cli, "  starts %.6g mm %s %s; limit %.6g mm%s; near until t = %.4f s\n",
                  1e3 * fabs(fit->start), fit->start < 0 ? "deep in" : "from", part,
                  1e3 * fabs(fit->floor), fit->floor < 0 ? " of depth" : "",
                  time_at(path, fit->until));
    }
}

static json_t *place_json(const path_check *j, const checked_path *path,
                          const flr_plan_place *place)
{
    if (place->obstacle == FLR_NONE) return json_null();
    json_t *object = flr_json_object();
    flr_json_set(object, "part",
                 flr_json_text(flr_plan_scene_obstacle(&j->scene, place->obstacle)));
    flr_json_set(object, "moving", flr_json_text(flr_plan_scene_moving(&j->scene, place->moving)));
    flr_json_set(object, "distance", flr_json_number(place->distance));
    flr_json_set(object, "pose", flr_json_number(place->at));
    flr_json_set(object, "time", flr_json_number(time_at(path, place->at)));
    flr_json_set(object, "at", flr_json_vec3(middle(place)));
    json_t *points = flr_json_array();
    for (int i = 0; i < 2; i++) flr_json_push(points, flr_json_vec3(place->point[i]));
    flr_json_set(object, "points", points);
    return object;
}

static json_t *path_json(const path_check *j, const checked_path *path)
{
    const flr_plan_verdict *v = &path->verdict;
    json_t *object = flr_json_object(), *fits = flr_json_array();
    flr_json_set(object, "path", flr_json_text(path->name));
    flr_json_set(object, "poses", flr_json_count(path->list.count));
    flr_json_set(object, "free", json_boolean(v->free));
    flr_json_set(object, "lower", flr_json_number(v->free ? v->lower : NAN));
    flr_json_set(object, "upper", flr_json_number(v->free ? v->upper : NAN));
    flr_json_set(object, "nearest", place_json(j, path, &v->nearest));
    flr_json_set(object, "violation", place_json(j, path, &v->violation));
    for (uint32_t i = 0; i < v->fit_count; i++) {
        json_t *fit = flr_json_object();
        flr_json_set(fit, "part",
                     flr_json_text(flr_plan_scene_obstacle(&j->scene, v->fits[i].obstacle)));
        flr_json_set(fit, "moving",
                     flr_json_text(flr_plan_scene_moving(&j->scene, v->fits[i].moving)));
        flr_json_set(fit, "start", flr_json_number(v->fits[i].start));
        flr_json_set(fit, "floor", flr_json_number(v->fits[i].floor));
        flr_json_set(fit, "until", flr_json_number(time_at(path, v->fits[i].until)));
        flr_json_push(fits, fit);
    }
    flr_json_set(object, "fits", fits);
    return object;
}

static int finish(flr_cli *cli, const path_check *j)
{
    size_t free_paths = 0;
    json_t *paths = flr_json_array(), *document = flr_json_object();
    for (size_t i = 0; i < j->count; i++) {
        free_paths += j->paths[i].verdict.free;
        tell_path(cli, j, &j->paths[i]);
        if (cli->json) flr_json_push(paths, path_json(j, &j->paths[i]));
    }
    if (j->count > 1) flr_print(cli, "%zu of %zu paths are free\n", free_paths, j->count);
    flr_json_set(document, "scene", flr_json_text(j->scene.path));
    flr_json_set(document, "clearance", flr_json_number(j->values->clearance));
    flr_json_set(document, "free", flr_json_count(free_paths));
    flr_json_set(document, "seconds", flr_json_number(j->seconds));
    flr_json_set(document, "paths", paths);
    flr_json_print(cli, document);
    return free_paths == j->count ? FLR_EXIT_OK : FLR_EXIT_FAILED;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    path_check j = {.cli = cli, .values = given};
    const bool named = j.values->path != NULL;
    j.count = (size_t)(count - 1) + named;
    if (!j.count) return FLR_REFUSE(cli, "feeler verify needs a path: add --path NAME|FILE");
    j.paths = calloc(j.count, sizeof *j.paths);
    if (!j.paths) return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_NO_MEMORY, "out of memory");
    if (named) j.paths[0].name = j.values->path;
    for (int i = 1; i < count; i++) j.paths[i - 1 + named].name = arguments[i];
    const flr_mesh_options options = flr_input_mesh_options(&j.values->input, 0);
    flr_error error;
    flr_result result = flr_plan_scene_read(cli, arguments[0], &options,
                                            (unsigned)j.values->threads, &j.scene, &error);
    if (result == FLR_OK) result = choose_part(&j, &error);
    for (size_t i = 0; i < j.count && result == FLR_OK; i++)
        result = read_path(&j, &j.paths[i], &error);
    if (result == FLR_OK) result = check(&j, &error);
    flr_progress_end(cli);
    int code = result == FLR_OK             ? finish(cli, &j)
               : result == FLR_BAD_ARGUMENT ? flr_fail_with(cli, FLR_EXIT_USAGE, &error)
                                            : flr_fail_with(cli, flr_exit_of_input(result), &error);
    free_job(&j);
    return code;
}

static const verify_values defaults = {.overlap = -1};
static const char *const usage[] = {"SCENE|FILE --path NAME|FILE [FILE...] [options]", NULL};
#define VERIFY_AT(field) offsetof(verify_values, field)
static const flr_option options[] = {
    FLR_OPTION(
        TEXT, VERIFY_AT(path), "path", "NAME|FILE",
        "a path of the scene, a pose file (t x y z qw qx qy qz) or a recording (*.mcap); more "
        "files may follow"),
    FLR_OPTION(
        TEXT, VERIFY_AT(part), "part", "NAME",
        "what moves: parts or groups, separated by commas, as one body; the poses are those "
        "of the first part. Default: the path's part, the one held in the recording, else the "
        "only movable one"),
    FLR_OPTION(SIZE, VERIFY_AT(clearance), "clearance", "SIZE",
               "stay this far from all other parts; default 0mm: do not touch them", .letter = 'c'),
    FLR_OPTION(SIZE, VERIFY_AT(overlap), "overlap", "SIZE",
               "parts that touch or overlap at the first pose may go this much deeper; default: "
               "half their depth, and at least 1/10000 of the moving part's size"),
    FLR_OPTION(UNIT, VERIFY_AT(pose_unit), "pose-unit", "UNIT",
               "unit of x, y and z in the pose files; default: the scene's",
               .choices = flr_unit_choices),
    FLR_THREADS_OPTION(VERIFY_AT(threads)),
    FLR_INPUT_OPTIONS(verify_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler verify ball/scene.json --path turn || true", "does a path of a scene touch anything?"},
    {"feeler verify ball/scene.json --path ball/turn.txt ball/seat.txt --clearance 0.2mm --json "
     "|| true",
     "several pose files at once, for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "all paths are free"},
    {FLR_EXIT_FAILED, "a path is not free, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a mesh or a path cannot be used"},
    {0, NULL},
};

const flr_command flr_cmd_verify = {
    .name = "verify",
    .summary = "check exactly whether paths keep a clearance everywhere",
    .usage = usage,
    .description =
        "Checks paths from any source: recorded by hand, planned by feeler or another program. "
        "Between two poses the part's origin moves along a straight line while the part turns "
        "evenly. The check is continuous and exact, triangle against triangle: a free path keeps "
        "the clearance everywhere, and feeler proves a lower bound of its distance. Otherwise "
        "feeler reports the first place that is too near.\n\n"
        "Parts that are nearer than the clearance at the first pose may stay that near, but not "
        "come nearer. Parts that touch or overlap there may not go deeper by more than --overlap. "
        "feeler lists these fits, and until when they are near.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = -1,
    .argument_missing = "a scene or a CAD file",
    .values_size = sizeof(verify_values),
    .defaults = &defaults,
    .run = run,
};
