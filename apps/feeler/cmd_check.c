/* feeler check: what is wrong with a mesh, where, and whether it matters for voxels */
#include "feeler/mesh_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "feeler/base.h"
#include "feeler/mesh.h"
#include "files.h"
#include "output.h"
#include "scene/pose_file.h"
#include "scene/scene.h"

typedef struct check_values {
    flr_common common;
    flr_input input;
    double voxel;
    bool fast;
} check_values;

/* ---- one mesh ---- */

typedef struct watch {
    flr_cli *cli;
    const char *name;
} watch;

static bool show_progress(void *context, double done)
{
    const watch *w = context;
    flr_progress(w->cli, (uint64_t)(100 * done), 100, "checking %s", w->name);
    return true;
}

static const char *colour_of(const flr_cli *cli, flr_check_severity severity)
{
    return severity == FLR_CHECK_SERIOUS   ? flr_red(cli)
           : severity == FLR_CHECK_WARNING ? flr_yellow(cli)
                                           : flr_green(cli);
}

/* other commands leave nothing out: they refuse a file in which the reader found trouble */
static bool is_usable(const flr_mesh_report *read) { return !read->first_trouble[0]; }

static void tell_text(flr_cli *cli, const char *name, const flr_mesh *mesh,
                      const flr_mesh_report *read, const flr_check_report *report)
{
    flr_check_severity worst = flr_check_worst(report);
    bool usable = is_usable(read);
    const char *verdict = !usable                      ? "cannot be used as it is"
                          : worst == FLR_CHECK_SERIOUS ? "serious"
                          : worst == FLR_CHECK_WARNING ? "usable with care"
                          : report->finding_count      ? "good for voxels"
                                                       : "nothing wrong";
    flr_print(cli, "%s%s%s: %s%s%s (%s triangle%s, %s component%s, %s closed)\n", flr_bold(cli),
              FLR_SAFE(name), flr_plain(cli), colour_of(cli, usable ? worst : FLR_CHECK_SERIOUS),
              verdict, flr_plain(cli), FLR_COUNT_TEXT(mesh->triangle_count),
              flr_noun(mesh->triangle_count, "", "s"), FLR_COUNT_TEXT(report->component_count),
              flr_noun(report->component_count, "", "s"),
              FLR_COUNT_TEXT(report->closed_component_count));
    if (cli->quiet) return;
    for (uint32_t i = 0; i < report->finding_count; i++) {
        const flr_check_finding *f = &report->findings[i];
        flr_print(cli, "  %s%-8s%s ", colour_of(cli, f->severity),
                  flr_check_severity_name(f->severity), flr_plain(cli));
        flr_print_wrapped(cli, -11, "%s", f->sentence);
        if (f->effect[0]) flr_print_wrapped(cli, 11, "%s", f->effect);
    }
    if (report->cut_short)
        flr_print_wrapped(cli, 11,
                          "The search for triangles that pass through each other was cut "
                          "short; there may be more.");
}

static json_t *finding_json(const flr_check_finding *f)
{
    json_t *entry = flr_json_object();
    flr_json_set(entry, "kind", flr_json_text(flr_check_kind_name(f->kind)));
    flr_json_set(entry, "severity", flr_json_text(flr_check_severity_name(f->severity)));
    flr_json_set(entry, "count", flr_json_count(f->count));
    flr_json_set(entry, "place", f->has_place ? flr_json_vec3(f->place) : json_null());
    flr_json_set(entry, "triangle",
                 f->triangle == FLR_NONE ? json_null() : flr_json_count(f->triangle));
    flr_json_set(entry, "extent", f->extent > 0 ? flr_json_number(f->extent) : json_null());
    flr_json_set(entry, "message", flr_json_text(f->sentence));
    flr_json_set(entry, "matters", json_boolean(f->matters));
    flr_json_set(entry, "effect", flr_json_text(f->effect));
    return entry;
}

static json_t *report_json(const flr_mesh *mesh, const flr_mesh_report *read,
                           const flr_check_report *report, int code)
{
    json_t *entry = flr_json_object();
    flr_json_set(entry, "exit", flr_json_count((uint64_t)code));
    flr_json_set(entry, "format", flr_json_text(read->format_name));
    flr_json_set(entry, "triangles", flr_json_count(mesh->triangle_count));
    flr_json_set(entry, "components", flr_json_count(report->component_count));
    flr_json_set(entry, "closed_components", flr_json_count(report->closed_component_count));
    flr_json_set(entry, "holes", flr_json_count(report->border_loop_count));
    flr_json_set(entry, "largest_gap", flr_json_number(report->largest_gap));
    flr_json_set(entry, "cut_short", json_boolean(report->cut_short));
    json_t *findings = flr_json_array();
    for (uint32_t i = 0; i < report->finding_count; i++)
        flr_json_push(findings, finding_json(&report->findings[i]));
    flr_json_set(entry, "findings", findings);
    return entry;
}

/* checks and tells; on success the exit code goes to `*code`, the JSON to `*entry` */
static flr_result check_mesh(flr_cli *cli, const char *name, const flr_mesh *mesh,
                             const flr_mesh_report *read, flr_check_options options, int *code,
                             json_t **entry, flr_error *error)
{
    watch context = {cli, name};
    options.progress = show_progress;
    options.context = &context;
    flr_check_report *report = malloc(sizeof *report);
    if (!report) return flr_fail_memory(error);
    flr_result result = flr_check_mesh(mesh, read, &options, report, error);
    flr_progress_end(cli);
    if (result == FLR_OK) {
        *code = !is_usable(read)                               ? FLR_EXIT_INPUT
                : flr_check_worst(report) == FLR_CHECK_SERIOUS ? FLR_EXIT_FAILED
                                                               : FLR_EXIT_OK;
        tell_text(cli, name, mesh, read, report);
        *entry = report_json(mesh, read, report, *code);
        if (!is_usable(read)) {
            flr_error trouble;
            flr_fail(&trouble, FLR_BAD_INPUT, "%s: %s", name, read->first_trouble);
            flr_complain(cli, &trouble);
            flr_json_set(*entry, "error", flr_json_error(&trouble, *code));
        }
    }
    free(report);
    return result;
}

/* ---- files ---- */

/* adds the result of one file, or of one part or path of a scene (`kind`, `name`; NULL), to the
 * list; returns its exit code */
static int add_result(flr_cli *cli, json_t *files, const char *file, const char *kind,
                      const char *name, flr_result result, int code, json_t *entry,
                      const flr_error *error)
{
    if (result != FLR_OK) {
        code = flr_exit_of_input(result);
        flr_complain(cli, error);
        entry = flr_json_object();
        flr_json_set(entry, "exit", flr_json_count((uint64_t)code));
        flr_json_set(entry, "error", flr_json_error(error, code));
    }
    flr_json_set(entry, "file", flr_json_text(file));
    if (kind) flr_json_set(entry, kind, flr_json_text(name));
    flr_json_push(files, entry);
    return code;
}

static int check_file(flr_cli *cli, const char *path, const flr_mesh_options *reading,
                      flr_check_options options, json_t *files)
{
    flr_error error;
    flr_mesh *mesh;
    flr_mesh_report read = {0};
    json_t *entry = NULL;
    int code = FLR_EXIT_OK;
    flr_progress(cli, 0, 100, "reading %s", path);
    flr_result result = flr_mesh_open(cli->env, path, reading, &mesh, &read, &error);
    if (result != FLR_OK) {
        flr_hint_scene(cli->env, path, &error);
    } else {
        result = check_mesh(cli, path, mesh, &read, options, &code, &entry, &error);
        flr_mesh_destroy(mesh);
    }
    return add_result(cli, files, path, NULL, NULL, result, code, entry, &error);
}

/* can the pose file be used? one that can is not worth a word */
static int check_path(flr_cli *cli, const char *path, const flr_scene *scene, size_t index,
                      json_t *files)
{
    flr_error error, why;
    flr_pose_list poses = {0};
    const flr_scene_path *motion = &scene->paths[index];
    char *file = flr_scene_file(scene, motion->poses);
    flr_result result = file ? flr_pose_list_read(cli->env, file, scene->unit, &poses, &why)
                             : flr_fail_memory(&why);
    free(file);
    flr_pose_list_free(&poses);
    if (result == FLR_OK) return FLR_EXIT_OK;
    flr_fail(&error, result, "%s:%u:%u: path %s: %s", path, motion->line, motion->column,
             motion->name, why.message);
    return add_result(cli, files, path, "path", motion->name, result, 0, NULL, &error);
}

/* every part with its own voxel size, unless one was given; then the paths */
static int check_scene(flr_cli *cli, const char *path, const flr_mesh_options *reading,
                       flr_check_options options, json_t *files)
{
    flr_error error;
    flr_scene *scene;
    flr_result result = flr_scene_read(cli->env, path, &scene, &error);
    if (result != FLR_OK) return add_result(cli, files, path, NULL, NULL, result, 0, NULL, &error);
    int worst = FLR_EXIT_OK;
    flr_scene_loader loader = flr_scene_loader_begin(cli->env, scene, reading);
    for (size_t i = 0; i < scene->part_count; i++) {
        const flr_scene_part *part = &scene->parts[i];
        flr_check_options own = options;
        if (!(own.voxel > 0)) own.voxel = flr_scene_part_voxel(scene, i);
        char name[FLR_PATH_MAX];
        snprintf(name, sizeof name, "%s, part %s", path, part->name);
        flr_mesh *mesh;
        flr_mesh_report read = {0};
        json_t *entry = NULL;
        int code = FLR_EXIT_OK;
        flr_progress(cli, 0, 100, "reading %s", part->file);
        result = flr_scene_loader_load(&loader, i, &mesh, &read, &error);
        if (result == FLR_OK) {
            result = check_mesh(cli, name, mesh, &read, own, &code, &entry, &error);
            flr_mesh_destroy(mesh);
        }
        code = add_result(cli, files, path, "part", part->name, result, code, entry, &error);
        if (code > worst) worst = code;
    }
    for (size_t i = 0; i < scene->path_count; i++) {
        int code = check_path(cli, path, scene, i, files);
        if (code > worst) worst = code;
    }
    flr_scene_loader_end(&loader);
    flr_scene_destroy(scene);
    return worst;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const check_values *values = given;
    flr_mesh_options reading = flr_input_mesh_options(&values->input, values->voxel);
    reading.tolerant = true; // so that NaN and bad faces can be counted and shown
    flr_check_options options = flr_default_check_options();
    options.voxel = values->voxel;
    options.skip_crossings = values->fast;

    // a bad file does not keep the others from being checked
    int worst = FLR_EXIT_OK;
    json_t *files = flr_json_array();
    for (int i = 0; i < count; i++) {
        int code = flr_is_scene(arguments[i])
                       ? check_scene(cli, arguments[i], &reading, options, files)
                       : check_file(cli, arguments[i], &reading, options, files);
        if (code > worst) worst = code;
    }
    json_t *document = flr_json_object();
    flr_json_set(document, "exit", flr_json_count((uint64_t)worst));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
    return worst;
}

static const char *const usage[] = {"FILE... [options]", NULL};
static const flr_option options_table[] = {
    FLR_OPTION(
        SIZE, offsetof(check_values, voxel), "voxel", "SIZE",
        "edge length of a voxel: gaps smaller than it do not matter; default: what the scene "
        "says, else not known",
        .min = 1e-9),
    FLR_SWITCH(offsetof(check_values, fast), "fast",
               "do not look for triangles that pass through each other, which takes the most time"),
    FLR_INPUT_OPTIONS(check_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler check ball/ball.stl", "one mesh"},
    {"feeler check ball/scene.json", "all parts of a scene, for its voxel size"},
    {"feeler check ball/*.stl --voxel 0.35mm", "do the gaps matter at this size?"},
    {"feeler check ball/socket.stl --json", "for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "nothing serious in any file"},
    {FLR_EXIT_FAILED, "a serious finding, or the result could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "a file cannot be used: missing, unreadable, broken, or with coordinates that "
                     "are not finite"},
    {0, NULL},
};

const flr_command flr_cmd_check = {
    .name = "check",
    .summary = "tell what is wrong with a mesh, and whether it matters",
    .usage = usage,
    .description =
        "Looks for open borders, edges with too many triangles, flipped and inside-out parts, "
        "triangles without area, doubled triangles, components that pass through each other, "
        "coordinates that are not numbers, and sizes that hint at a wrong unit. Each finding is "
        "a sentence with a place, followed by what it means for voxels: most faults do no harm, "
        "a hole wider than a voxel does.\n"
        "\n"
        "Takes meshes and scenes (.json), with their pose files. A file that cannot be used does "
        "not stop the others; "
        "the exit code is that of the worst one.",
    .options = options_table,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = -1,
    .argument_missing = "a mesh or a scene file",
    .values_size = sizeof(check_values),
    .run = run,
};
