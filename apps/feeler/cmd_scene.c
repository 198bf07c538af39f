/* feeler scene: a scene from CAD files, with their trees, names, placements and colours */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "output.h"
#include "scene/scene_import.h"

typedef struct scene_values {
    flr_common common;
    flr_input input;
    const char *out, *move, *fix;
    int up;
    double voxel;
    bool force;
} scene_values;

static bool tell_progress(void *context, double done, const char *stage)
{
    flr_progress(context, (uint64_t)(100 * done), 100, "%s", stage);
    return !flr_stop_wanted();
}

/* a scene file of the user's is not replaced without being asked */
static flr_result check_out(flr_cli *cli, const scene_values *values, flr_error *error)
{
    flr_path_info info;
    if (!values->out)
        return flr_fail(error, FLR_BAD_ARGUMENT, "say where the scene goes: --out scene.json");
    if (!flr_is_scene(values->out))
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the name of a scene ends in .json",
                        values->out);
    flr_result result = flr_path_look(cli->env, values->out, &info, error);
    if (result == FLR_OK && info.kind != FLR_PATH_NONE && !values->force)
        return flr_fail(error, FLR_DENIED, "%s is there already; --force replaces it", values->out);
    return result;
}

static void tell_notes(flr_cli *cli, char *notes, json_t *list)
{
    for (char *line = notes; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        flr_warn(cli, "%s", line);
        flr_json_push(list, flr_json_text(line));
        line = end ? end + 1 : NULL;
    }
}

static void tell(flr_cli *cli, const char *out, flr_scene_import_report *report)
{
    json_t *facts = flr_json_object(), *notes = flr_json_array();
    tell_notes(cli, report->notes, notes);
    flr_print_note(cli, "%s: %zu %s, %zu of them can be picked up", FLR_SAFE(out), report->parts,
                   flr_noun(report->parts, "part", "parts"), report->moving);
    if (report->hidden) flr_print_note(cli, ", %zu hidden", report->hidden);
    flr_print_note(cli, "\n  %zu %s, %zu distinct %s with %s triangles, %s is up\n", report->groups,
                   flr_noun(report->groups, "group", "groups"), report->shapes,
                   flr_noun(report->shapes, "shape", "shapes"), FLR_COUNT_TEXT(report->triangles),
                   flr_axis_choices[report->up]);
    flr_json_set(facts, "scene", flr_json_text(out));
    flr_json_set(facts, "parts", flr_json_count(report->parts));
    flr_json_set(facts, "moving", flr_json_count(report->moving));
    flr_json_set(facts, "hidden", flr_json_count(report->hidden));
    flr_json_set(facts, "groups", flr_json_count(report->groups));
    flr_json_set(facts, "shapes", flr_json_count(report->shapes));
    flr_json_set(facts, "triangles", flr_json_count(report->triangles));
    flr_json_set(facts, "up", flr_json_text(flr_axis_choices[report->up]));
    flr_json_set(facts, "faces_skipped", flr_json_count(report->faces_skipped));
    flr_json_set(facts, "notes", notes);
    flr_json_print(cli, facts);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const scene_values *values = given;
    flr_error error;
    flr_result result = check_out(cli, values, &error);
    if (result != FLR_OK) return flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    flr_catch_stop();
    flr_scene_import_report report;
    flr_scene_import_def def = {.env = cli->env,
                                .files = (const char *const *)arguments,
                                .file_count = (size_t)count,
                                .out = values->out,
                                .move = values->move,
                                .fix = values->fix,
                                .up = (flr_axis)values->up,
                                .voxel = values->voxel,
                                .options = flr_input_mesh_options(&values->input, values->voxel),
                                .progress = tell_progress,
                                .context = cli};
    result = flr_scene_import(&def, &report, &error);
    flr_progress_end(cli);
    if (result == FLR_CANCELLED) return FLR_EXIT_STOPPED;
    if (result != FLR_OK) return flr_fail_with(cli, flr_exit_of_input(result), &error);
    tell(cli, values->out, &report);
    free(report.notes);
    return FLR_EXIT_OK;
}

static const char *const usage[] = {"FILE... --out SCENE [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(PATH, offsetof(scene_values, out), "out", "SCENE",
               "the scene file to write; the meshes of plan.json go into plan_parts beside it",
               .letter = 'o'),
    FLR_OPTION(
        TEXT, offsetof(scene_values, move), "move", "NAMES",
        "parts or groups that can be picked up, separated by commas, with * ? [a-z]; the others "
        "are fixed; default: all but the largest of several",
        .letter = 'm'),
    FLR_OPTION(TEXT, offsetof(scene_values, fix), "fix", "NAMES",
               "parts or groups that stay where they are; the others can be picked up"),
    FLR_OPTION(CHOICE, offsetof(scene_values, up), "up", "auto|x|y|z",
               "which axis of the files is up; default: the axis that the file states, or the most "
               "likely one",
               .choices = flr_axis_choices),
    FLR_OPTION(SIZE, offsetof(scene_values, voxel), "voxel", "SIZE",
               "advanced: voxel size of the scene; default: none, so feeler chooses one",
               .min = 1e-9),
    FLR_SWITCH(offsetof(scene_values, force), "force", "replace an existing scene file",
               .letter = 'f'),
    FLR_INPUT_OPTIONS(scene_values),
    FLR_TOLERANT_OPTION(scene_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler scene ball/socket.stl ball/ball.stl --out pair.json --move ball",
     "a scene of two files, one of which can be picked up"},
    {"feeler scene ball/ball.stl --out single.json --up y", "a part that was drawn with y up"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "the scene is written; what had to be left out is listed"},
    {FLR_EXIT_FAILED, "it cannot be written, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "a file cannot be read, or a name matches nothing"},
    {0, NULL},
};

const flr_command flr_cmd_scene = {
    .name = "scene",
    .summary = "a scene from CAD files, with their trees, names and colours",
    .usage = usage,
    .description =
        "Reads files of any format that feeler knows and writes a scene. The tree of an assembly "
        "(STEP, IGES, glTF, DAE) becomes the groups of the scene. Names, placements, colours and "
        "hidden parts are kept; a shape that occurs several times is stored once. Parts with "
        "equal names are numbered: bolt:1, bolt:2.\n\n"
        "A pattern matches the name of a part, of a group around it, or both as a path: pump, "
        "'bolt*', 'pump/bolt*'.\n\n"
        "Faces that cannot be meshed are healed, or left out and listed.\n\n"
        "A robot description, URDF or MJCF, becomes a scene with joints: its base stays, all other "
        "links move.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = -1,
    .argument_missing = "a CAD or mesh file",
    .values_size = sizeof(scene_values),
    .run = run,
};
