/* feeler make: writes a procedural scenario */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "feeler/math.h"
#include "files.h"
#include "models/models.h"
#include "output.h"
#include "scenarios.h"
#include "scene/scene.h"

typedef struct make_values {
    flr_common common;
    const char *out;
    int64_t seed, number;
    bool list, force;
} make_values;

static flr_result write_model(flr_cli *cli, const flr_model *model, const make_values *values,
                              flr_error *error)
{
    flr_folder folder;
    flr_result result = flr_folder_begin(cli->env, values->out, values->force, &folder, error);
    if (result != FLR_OK) return result;
    result = flr_model_write(cli->env, model, folder.writing, error);
    if (result == FLR_OK) return flr_folder_commit(cli->env, &folder, error);
    flr_folder_abandon(cli->env, &folder, error);
    return result;
}

/* one file that was written, as a line and as JSON */
static void tell_file(flr_cli *cli, json_t *files, const char *folder, const char *file,
                      const flr_mesh *mesh)
{
    char path[FLR_PATH_MAX + FLR_MODEL_NAME_SIZE], safe[FLR_SAFE_SIZE];
    char count[FLR_COUNT_TEXT_SIZE], bytes[FLR_COUNT_TEXT_SIZE], extent[FLR_EXTENT_TEXT_SIZE];
    size_t size = strlen(folder);
    snprintf(path, sizeof path, "%s%s%s", folder, size && folder[size - 1] == '/' ? "" : "/", file);
    flr_path_info info = {0};
    flr_path_look(cli->env, path, &info, NULL);

    json_t *entry = flr_json_object();
    flr_json_set(entry, "file", flr_json_text(path));
    flr_json_set(entry, "bytes", flr_json_count(info.size));
    if (mesh) {
        flr_vec3 extents = flr_vec3_sub(mesh->bounds.high, mesh->bounds.low);
        flr_json_set(entry, "triangles", flr_json_count(mesh->triangle_count));
        flr_json_set(entry, "size", flr_json_vec3(extents));
        flr_print_note(cli, "  %-28s %10s  %9s triangles  %s\n", flr_safe(path, safe),
                       flr_bytes_print(info.size, bytes),
                       flr_count_print(mesh->triangle_count, count),
                       flr_extent_print(extents, extent));
    } else {
        flr_print_note(cli, "  %-28s %10s\n", flr_safe(path, safe),
                       flr_bytes_print(info.size, bytes));
    }
    flr_json_push(files, entry);
}

static void tell(flr_cli *cli, const flr_scenario *scenario, const flr_model *model,
                 const make_values *values)
{
    char safe[FLR_SAFE_SIZE];
    flr_print_note(cli, "%s%s%s: %s\n", flr_bold(cli), scenario->name, flr_plain(cli),
                   scenario->summary);
    json_t *files = flr_json_array();
    for (size_t i = 0; i < model->mesh_count; i++)
        tell_file(cli, files, values->out, model->meshes[i].file, model->meshes[i].mesh);
    for (size_t i = 0; i < model->path_count; i++)
        tell_file(cli, files, values->out, model->paths[i].file, NULL);
    for (size_t i = 0; i < model->text_count; i++)
        tell_file(cli, files, values->out, model->texts[i].file, NULL);
    tell_file(cli, files, values->out, "scene.json", NULL);
    flr_print_note(cli, "Next: feeler info %s/scene.json\n", flr_safe(values->out, safe));

    json_t *document = flr_json_object();
    flr_json_set(document, "scenario", flr_json_text(scenario->name));
    flr_json_set(document, "seed", flr_json_count((uint64_t)values->seed));
    flr_json_set(document, "folder", flr_json_text(values->out));
    flr_json_set(document, "parts", flr_json_count(model->part_count));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
}

static int run(flr_cli *cli, const void *values, int count, char **arguments)
{
    const make_values *make = values;
    if (make->list) return flr_scenarios_list(cli);
    if (count == 0)
        return flr_fail_saying(cli, FLR_EXIT_USAGE, FLR_BAD_ARGUMENT,
                               "feeler make needs the name of a scenario; see feeler make --list");
    const flr_scenario *scenario = flr_scenario_find(arguments[0]);
    if (!scenario) return flr_scenarios_unknown(cli, arguments[0]);
    if (!make->out)
        return flr_fail_saying(cli, FLR_EXIT_USAGE, FLR_BAD_ARGUMENT,
                               "where to? write feeler make %s --out %s", scenario->name,
                               scenario->name);

    flr_error error;
    if (flr_folder_check(cli->env, make->out, make->force, &error) != FLR_OK)
        return flr_fail_with(cli, FLR_EXIT_FAILED, &error);

    flr_scenario_options options = flr_default_scenario_options();
    options.seed = (uint64_t)make->seed;
    options.number = (uint32_t)make->number;
    flr_model model = {0};
    flr_progress(cli, 0, 2, "building %s", scenario->name);
    flr_result result = flr_scenario_build(scenario, &options, &model, &error);
    if (result != FLR_OK)
        return flr_fail_with(cli, result == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE : FLR_EXIT_FAILED,
                             &error);
    flr_progress(cli, 1, 2, "writing %s", make->out);
    flr_hold_signals();
    result = write_model(cli, &model, make, &error);
    flr_release_signals();
    flr_progress_end(cli);
    if (result == FLR_OK) tell(cli, scenario, &model, make);
    flr_model_free(&model);
    return result == FLR_OK ? FLR_EXIT_OK : flr_fail_with(cli, FLR_EXIT_FAILED, &error);
}

static const char *const usage[] = {"NAME --out DIR [options]", "--list", NULL};
static const flr_option options[] = {
    {.name = "out",
     .letter = 'o',
     .type = FLR_OPTION_FOLDER,
     .argument = "DIR",
     .help = "folder to write; must be empty or not exist",
     .offset = offsetof(make_values, out)},
    {.name = "seed",
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "for what is left to chance; the same seed gives the same bytes; default 1",
     .offset = offsetof(make_values, seed),
     .min = 0,
     .max = 9e15},
    {.name = "number",
     .letter = 'n',
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "how many parts (falling, up to 20) or paths (approach, up to 1000)",
     .offset = offsetof(make_values, number),
     .min = 1,
     .max = 1000},
    {.name = "list", .help = "list the scenarios", .offset = offsetof(make_values, list)},
    {.name = "force",
     .help = "write into a folder that is not empty; files of the same name are replaced",
     .offset = offsetof(make_values, force)},
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler make --list", "which scenarios are there?"},
    {"feeler make ball --out another-ball", "a ball in a socket"},
    {"feeler make ball --out ball --force --json", "again into the same folder"},
    {NULL, NULL},
};
static const make_values defaults = {.seed = 1};

const flr_command flr_cmd_make = {
    .name = "make",
    .summary = "write a procedural scenario: meshes and scene.json",
    .usage = usage,
    .description =
        "Writes one of feeler's own scenarios, those of the published tables among them: one "
        "binary STL file per mesh in millimetres, recorded paths, and scene.json, which says "
        "where the parts stand and which of them move. A new folder appears whole or not at all; "
        "one that exists gets file by file. "
        "The same seed gives the same bytes on every machine.",
    .options = options,
    .examples = examples,
    .argument = FLR_ARGUMENT_WORD,
    .words = flr_scenarios_words,
    .max_arguments = 1,
    .values_size = sizeof(make_values),
    .defaults = &defaults,
    .run = run,
};
