/* feeler make: writes a procedural scenario, or a fit with a gap of your choice */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "command.h"
#include "feeler/math.h"
#include "files.h"
#include "models/fits.h"
#include "models/models.h"
#include "output.h"
#include "scenarios.h"

typedef struct make_values {
    flr_common common;
    const char *out;
    int64_t seed, number;
    double gap, chord;
    const char *size;
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
    char path[FLR_PATH_MAX + FLR_MODEL_NAME_SIZE];
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
        flr_print_note(cli, "  %-28s %10s  %9s triangles  %s\n", FLR_SAFE(path),
                       FLR_BYTES_TEXT(info.size), FLR_COUNT_TEXT(mesh->triangle_count),
                       FLR_EXTENT_TEXT(extents));
    } else {
        flr_print_note(cli, "  %-28s %10s\n", FLR_SAFE(path), FLR_BYTES_TEXT(info.size));
    }
    flr_json_push(files, entry);
}

/* lists what was written, and completes and prints `document` */
static void tell(flr_cli *cli, const flr_model *model, const make_values *values, json_t *document)
{
    json_t *files = flr_json_array();
    for (size_t i = 0; i < model->mesh_count; i++)
        tell_file(cli, files, values->out, model->meshes[i].file, model->meshes[i].mesh);
    for (size_t i = 0; i < model->path_count; i++)
        tell_file(cli, files, values->out, model->paths[i].file, NULL);
    for (size_t i = 0; i < model->text_count; i++)
        tell_file(cli, files, values->out, model->texts[i].file, NULL);
    tell_file(cli, files, values->out, "scene.json", NULL);
    flr_print_note(cli, "Next: feeler info %s/scene.json\n", FLR_SAFE(values->out));

    flr_json_set(document, "folder", flr_json_text(values->out));
    flr_json_set(document, "parts", flr_json_count(model->part_count));
    flr_json_set(document, "files", files);
    flr_json_print(cli, document);
}

/* ---- fits ---- */

static size_t fit_words(const char **words, size_t capacity)
{
    size_t count = 0;
    for (; count < flr_model_fit_count() && count < capacity; count++)
        words[count] = flr_model_fit_at(count)->name;
    return count;
}

static int list_fits(flr_cli *cli)
{
    json_t *list = flr_json_array();
    for (size_t i = 0; i < flr_model_fit_count(); i++) {
        const flr_model_fit *fit = flr_model_fit_at(i);
        flr_print(cli, "%s%-11s%s %s; size: %s, %g to %g mm, default %g\n", flr_bold(cli),
                  fit->name, flr_plain(cli), fit->summary, fit->measure, fit->min_size * 1e3,
                  fit->max_size * 1e3, fit->size * 1e3);
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(fit->name));
        flr_json_set(entry, "summary", flr_json_text(fit->summary));
        flr_json_set(entry, "size_is", flr_json_text(fit->measure));
        flr_json_set(entry, "size", flr_json_number(fit->size));
        flr_json_set(entry, "min_size", flr_json_number(fit->min_size));
        flr_json_set(entry, "max_size", flr_json_number(fit->max_size));
        flr_json_push(list, entry);
    }
    json_t *document = flr_json_object();
    flr_json_set(document, "fits", list);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

static int unknown_fit(flr_cli *cli, const char *name)
{
    const char *words[FLR_WORDS_MAX];
    const char *near = flr_suggest(name, words, fit_words(words, FLR_WORDS_MAX));
    return FLR_REFUSE(
        cli, near ? "no fit \"%s\"; did you mean %s?" : "no fit \"%s\"; see feeler make fit %s",
        name, near ? near : "--list");
}

static flr_result fit_options(const make_values *make, flr_model_fit_options *options,
                              flr_error *error)
{
    *options = (flr_model_fit_options){.gap = make->gap, .chord = make->chord};
    if (make->number)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a fit always has two parts; leave --number away");
    if (!make->size) return FLR_OK;
    flr_result result = flr_model_fit_parse_size(make->size, &options->size, error);
    if (result == FLR_OK && options->size == 0) /* which would ask for the usual one */
        result = flr_fail(error, FLR_BAD_ARGUMENT, "--size must be greater than 0");
    return result;
}

static void tell_fit(flr_cli *cli, const flr_model_fit *fit, const flr_model_fit_options *options,
                     const flr_model *model, double measured, const make_values *make)
{
    flr_model_fit_options all = flr_model_fit_complete(fit, options);
    json_t *document = flr_json_object();
    flr_json_set(document, "scenario", flr_json_text("fit"));
    flr_json_set(document, "fit", flr_json_text(fit->name));
    flr_json_set(document, "size", flr_json_number(all.size));
    flr_json_set(document, "gap", flr_json_number(all.gap));
    flr_json_set(document, "measured_gap", flr_json_number(measured));
    flr_json_set(document, "chord", flr_json_number(all.chord));
    flr_print_note(cli, "%s%s%s of %g mm: %s\n", flr_bold(cli), fit->name, flr_plain(cli),
                   all.size * 1e3, fit->summary);
    flr_print_note(cli, "  gap %g mm; measured between the meshes: %.5f mm\n", all.gap * 1e3,
                   measured * 1e3);
    tell(cli, model, make, document);
}

static int make_fit(flr_cli *cli, const make_values *make, const char *name)
{
    if (make->list) return list_fits(cli);
    if (!name)
        return FLR_REFUSE(cli, "feeler make fit needs the name of a fit; see feeler make fit "
                               "--list");
    const flr_model_fit *fit = flr_model_fit_find(name);
    if (!fit) return unknown_fit(cli, name);
    if (!make->out)
        return FLR_REFUSE(cli, "where to? write feeler make fit %s --out %s", fit->name, fit->name);
    flr_error error;
    flr_model_fit_options options;
    flr_model model = {0};
    double measured = 0;
    if (flr_folder_check(cli->env, make->out, make->force, &error) != FLR_OK)
        return flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    flr_progress(cli, 0, 2, "building %s", fit->name);
    flr_result result = fit_options(make, &options, &error);
    if (result == FLR_OK) result = flr_model_fit_build(fit, &options, &model, &error);
    if (result == FLR_OK) result = flr_model_fit_measure(&model, 0, &measured, &error);
    if (result == FLR_OK) {
        flr_progress(cli, 1, 2, "writing %s", make->out);
        flr_hold_signals();
        result = write_model(cli, &model, make, &error);
        flr_release_signals();
    }
    flr_progress_end(cli);
    if (result == FLR_OK) tell_fit(cli, fit, &options, &model, measured, make);
    flr_model_free(&model);
    if (result == FLR_OK) return FLR_EXIT_OK;
    bool usage = result == FLR_BAD_ARGUMENT || result == FLR_BAD_INPUT;
    return flr_fail_with(cli, usage ? FLR_EXIT_USAGE : FLR_EXIT_FAILED, &error);
}

/* ---- the command ---- */

/* what is given although it is for fits alone, NULL: nothing */
static const char *for_fits(const make_values *make)
{
    return make->gap > 0 ? "--gap" : make->size ? "--size" : make->chord > 0 ? "--chord" : NULL;
}

static size_t make_words(const char **words, size_t capacity)
{
    size_t count = flr_scenarios_words(words, capacity);
    if (count < capacity) words[count++] = "fit";
    return count + fit_words(words + count, capacity - count);
}

static int run(flr_cli *cli, const void *values, int count, char **arguments)
{
    const make_values *make = values;
    if (count > 0 && !strcmp(arguments[0], "fit"))
        return make_fit(cli, make, count > 1 ? arguments[1] : NULL);
    if (make->list) return flr_scenarios_list(cli);
    if (count == 0)
        return FLR_REFUSE(cli, "feeler make needs the name of a scenario; see feeler make --list");
    const flr_scenario *scenario = flr_scenario_find(arguments[0]);
    if (!scenario && flr_model_fit_find(arguments[0]))
        return FLR_REFUSE(cli, "%s is a fit: write feeler make fit %s", arguments[0], arguments[0]);
    if (!scenario) return flr_scenarios_unknown(cli, arguments[0]);
    if (count > 1)
        return FLR_REFUSE(cli, "feeler make writes one scenario; what is \"%s\"?", arguments[1]);
    if (for_fits(make))
        return FLR_REFUSE(cli, "%s is for feeler make fit; %s has its own sizes", for_fits(make),
                          scenario->name);
    if (!make->out)
        return FLR_REFUSE(cli, "where to? write feeler make %s --out %s", scenario->name,
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
    if (result == FLR_OK) {
        json_t *document = flr_json_object();
        flr_json_set(document, "scenario", flr_json_text(scenario->name));
        flr_json_set(document, "seed", flr_json_count((uint64_t)make->seed));
        flr_print_note(cli, "%s%s%s: %s\n", flr_bold(cli), scenario->name, flr_plain(cli),
                       scenario->summary);
        tell(cli, &model, make, document);
    }
    flr_model_free(&model);
    return result == FLR_OK ? FLR_EXIT_OK : flr_fail_with(cli, FLR_EXIT_FAILED, &error);
}

static const char *const usage[] = {"NAME --out DIR [options]",
                                    "fit NAME --gap 0.05mm --out DIR [--size SIZE]", "--list",
                                    "fit --list", NULL};
static const flr_option options[] = {
    FLR_OPTION(FOLDER, offsetof(make_values, out), "out", "DIR",
               "folder to write; must be empty or not exist", .letter = 'o'),
    FLR_OPTION(INTEGER, offsetof(make_values, seed), "seed", "N",
               "for what is left to chance; the same seed gives the same bytes; default 1",
               .min = 0, .max = 9e15),
    FLR_OPTION(INTEGER, offsetof(make_values, number), "number", "N",
               "how many parts (falling, up to 100) or paths (approach, up to 1000)", .letter = 'n',
               .min = 1, .max = 1000),
    FLR_OPTION(SIZE, offsetof(make_values, gap), "gap", "SIZE",
               "of a fit: the least distance of the two parts, from 0.01mm; default 0.1mm",
               .letter = 'g', .min = 1e-5),
    FLR_OPTION(TEXT, offsetof(make_values, size), "size", "SIZE",
               "of a fit: M3 to M20 for a thread, else a length; feeler make fit --list tells what "
               "it measures"),
    FLR_OPTION(SIZE, offsetof(make_values, chord), "chord", "SIZE",
               "of a fit: how far its polygons may stray from round surfaces; default: the gap / "
               "150, but at least 0.00025mm",
               .min = 5e-8),
    FLR_SWITCH(offsetof(make_values, list), "list", "list the scenarios, or the fits"),
    FLR_SWITCH(offsetof(make_values, force), "force",
               "write into a folder that is not empty; files of the same name are replaced"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler make --list", "which scenarios are there?"},
    {"feeler make ball --out another-ball", "a ball in a socket"},
    {"feeler make ball --out ball --force --json", "again into the same folder"},
    {"feeler make fit --list", "which fits are there?"},
    {"feeler make fit thread --size M8 --gap 0.05mm --out m8", "a nut on a bolt"},
    {"feeler make fit round-peg --out peg --json", "a peg in a hole, for a program"},
    {NULL, NULL},
};
static const make_values defaults = {.seed = 1};

const flr_command flr_cmd_make = {
    .name = "make",
    .summary = "write a procedural scenario or a fit: meshes and scene.json",
    .usage = usage,
    .description =
        "Writes one of feeler's own scenarios, those of the published tables among them: one "
        "binary STL file per mesh in millimetres, recorded paths, and scene.json, which says "
        "where the parts stand and which of them move. A new folder appears whole or not at all; "
        "one that exists gets file by file. "
        "The same seed gives the same bytes on every machine.\n\n"
        "fit NAME writes two parts, one in the other with a gap of your choice, and the path "
        "`removal` that takes them apart. The gap is the least distance of the meshes all along "
        "that path, from the assembled pose until the moving part is out. Round surfaces are "
        "polygons that never add material, so the gap of the meshes is the one asked for or, by "
        "at most twice the chord error, a little more.",
    .options = options,
    .examples = examples,
    .argument = FLR_ARGUMENT_WORD,
    .words = make_words,
    .max_arguments = 2,
    .values_size = sizeof(make_values),
    .defaults = &defaults,
    .run = run,
};
