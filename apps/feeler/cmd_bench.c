/* feeler bench: measures on this machine what we promise */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "bench/bench.h"
#include "command.h"
#include "output.h"

typedef struct bench_values {
    flr_common common;
    int64_t repeat, divide, frames, seed, seconds;
    const char *scratch, *plots, *scene, *models, *engine;
    bool list;
} bench_values;

static const struct subject {
    const char *name, *summary;
    flr_bench_subject *run;
} subjects[] = {
    {"mesh", "reading and welding of mesh files: seconds, MB/s, memory", flr_bench_mesh},
    {"voxelize", "voxelizing the scenarios: seconds, memory, counts beside the papers' numbers",
     flr_bench_voxelize},
    {"contact",
     "contact along the scenarios' motions: microseconds, lookups, points per millisecond",
     flr_bench_contact},
    {"falling", "1 to 20 parts fall into a tray: microseconds per frame, pairs, contacts",
     flr_bench_falling},
    {"smooth", "the smooth force model beside the tangent plane: microseconds, force along a slide",
     flr_bench_smooth},
    {"motion-check", "the continuous check of motions of 0.25 to 100 voxels: microseconds, lookups",
     flr_bench_motion_check},
    {"distance", "the exact distance along the scenarios' motions: microseconds, work",
     flr_bench_distance},
    {"fit-distance",
     "exact contact geometry of tight fits: microseconds, accuracy, memory, build rate",
     flr_bench_fit},
    {"loop", "the 1000 Hz loop: microseconds of a frame, how late it begins at several rates",
     flr_bench_loop},
    {"serve", "what viewers, a recording and voxelizing cost the loop of a controller",
     flr_bench_serve},
    {"collaboration",
     "two controllers with a delay of 0 to 1000 ms: force jumps, agreement; what users and the "
     "barrier cost",
     flr_bench_collaboration},
    {"probes", "a hand strokes models of 5k to 79k triangles: microseconds a query, by method",
     flr_bench_probes},
    {"approach",
     "sphere trees on random paths into contact: pairs, microseconds, tests; the shell beside",
     flr_bench_approach},
    {"motion",
     "whole motions: rough hands, a ball turned in its socket, the actuator taken out; penetration",
     flr_bench_motions},
    {"stability",
     "does a held part buzz: rest, slide, wedge, slot, hole ..., by stiffness, mass and rate",
     flr_bench_stability},
    {"parts",
     "1 to 1000 movable parts, idle or one of them carried: microseconds a frame and an "
     "iteration of control",
     flr_bench_parts},
    {"travel",
     "parts of the axle carried against its base by temporal coherence: travel limit and speed",
     flr_bench_travel},
    {"queries",
     "collision queries by voxel size, axle and table: microseconds; FCL, ODE, Bullet beside",
     flr_bench_queries},
    {"structures", "physics and network in one thread or two, with a slow network: milliseconds",
     flr_bench_structures},
    {"haptics", "a hand presses while steps take 1 to 10 ms: force with and without local models",
     flr_bench_haptics},
    {"fits",
     "a hand takes tight fits apart: microseconds of a frame, distances; FCL, ODE, Bullet beside",
     flr_bench_fits},
    {"rough-fits",
     "rough hands pull, hit and twist parts in tight fits: frames in which triangles meet, threads "
     "strip",
     flr_bench_rough_fits},
    {"accuracy",
     "distances of the exact engine next to brute force, at random poses of fits and dirty meshes",
     flr_bench_accuracy},
    {"clash",
     "all pairs of 1000 parts, 24 parts at 13 poses, a hinge: seconds; FCL and OpenCASCADE beside",
     flr_bench_clash},
    {"plan",
     "removal problems, feeler's own fits and those of --models: how many are solved, seconds",
     flr_bench_plan},
    {"papers",
     "the papers' tables and figures, each beside ours: runs eleven of the subjects above",
     flr_bench_papers},
};
enum { BENCH_SUBJECTS = sizeof subjects / sizeof subjects[0] };

static size_t subject_words(const char **words, size_t capacity)
{
    size_t count = 0;
    while (count < BENCH_SUBJECTS && count < capacity) words[count] = subjects[count].name, count++;
    return count;
}

static int list_subjects(flr_cli *cli)
{
    json_t *list = flr_json_array();
    for (size_t i = 0; i < BENCH_SUBJECTS; i++) {
        flr_print(cli, "%s%-13s%s %s\n", flr_bold(cli), subjects[i].name, flr_plain(cli),
                  subjects[i].summary);
        json_t *entry = flr_json_object();
        flr_json_set(entry, "name", flr_json_text(subjects[i].name));
        flr_json_set(entry, "summary", flr_json_text(subjects[i].summary));
        flr_json_push(list, entry);
    }
    json_t *document = flr_json_object();
    flr_json_set(document, "subjects", list);
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

/* text is shown as it comes; JSON is held back, so that a failure leaves one whole document */
static int run_subject(flr_cli *cli, const struct subject *subject,
                       const flr_bench_options *options)
{
    flr_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli->json ? open_memstream(&text, &size) : stdout;
    if (!out) return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_NO_MEMORY, "out of memory");
    flr_result result = subject->run(cli->env, options, out, &error);
    if (cli->json) {
        if (fclose(out) != 0 && result == FLR_OK) result = flr_fail_memory(&error);
        if (result == FLR_OK) fwrite(text, 1, size, stdout);
        free(text);
    }
    if (result == FLR_OK) return FLR_EXIT_OK;
    return flr_fail_with(cli, result == FLR_CANCELLED ? FLR_EXIT_STOPPED : FLR_EXIT_FAILED, &error);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const bench_values *values = given;
    if (values->list) return list_subjects(cli);
    if (count == 0) return FLR_REFUSE(cli, "feeler bench needs a subject; see feeler bench --list");
    const struct subject *subject = NULL;
    for (size_t i = 0; i < BENCH_SUBJECTS; i++)
        if (!strcmp(subjects[i].name, arguments[0])) subject = &subjects[i];
    if (!subject) {
        const char *words[FLR_WORDS_MAX];
        const char *near = flr_suggest(arguments[0], words, subject_words(words, FLR_WORDS_MAX));
        return FLR_REFUSE(cli,
                          near ? "no benchmark \"%s\"; did you mean %s?"
                               : "no benchmark \"%s\"; see feeler bench %s",
                          arguments[0], near ? near : "--list");
    }
    flr_bench_options options = flr_default_bench_options();
    options.json = cli->json;
    options.repeat = (unsigned)values->repeat;
    options.divide = (unsigned)values->divide;
    options.scratch = values->scratch;
    options.plots = values->plots;
    options.scene = values->scene;
    options.models = values->models;
    options.engine = values->engine;
    options.frames = (uint64_t)values->frames;
    options.seed = (uint64_t)values->seed;
    if (values->seconds > 0) options.end_us = flr_bench_wall_us() + 1e6 * (double)values->seconds;
    return run_subject(cli, subject, &options);
}

static const char *const usage[] = {"SUBJECT [options]", "--list", NULL};
static const flr_option options[] = {
    FLR_OPTION(INTEGER, offsetof(bench_values, repeat), "repeat", "N",
               "how often each measurement is repeated; default 5", .min = 1, .max = 1000),
    FLR_OPTION(INTEGER, offsetof(bench_values, divide), "divide", "N",
               "divide the sizes by this, for a quick look; default 1", .min = 1, .max = 10000),
    FLR_OPTION(FOLDER, offsetof(bench_values, scratch), "scratch", "DIR",
               "folder for files of up to 1 GB, which are removed again; default: the system's "
               "temporary folder"),
    FLR_OPTION(
        FOLDER, offsetof(bench_values, plots), "plots", "DIR",
        "existing folder for plots (SVG), where the subject has some; papers also writes papers.md "
        "there, with all tables and plots"),
    FLR_OPTION(PATH, offsetof(bench_values, scene), "scene", "SCENE",
               "scene file or name of a scenario, for serve (default bay); folder with an "
               "assembly.txt, for fit-distance. For fits: only those whose names begin with this"),
    FLR_OPTION(FOLDER, offsetof(bench_values, models), "models", "DIR",
               "folder of the shared models, for fits and plan; default ../shared/models; missing "
               "assemblies are left out"),
    FLR_OPTION(
        TEXT, offsetof(bench_values, engine), "engine", "ENGINE",
        "measure this engine alone, for fits: shell, smooth, spheres or exact; for stability: "
        "shell or exact"),
    FLR_OPTION(
        INTEGER, offsetof(bench_values, frames), "frames", "N",
        "frames for each fit, shared among three rates, for rough-fits; default 3000. For "
        "accuracy: poses in all; default 20000. For plan: random poses of each path found that are "
        "measured again by brute force; default 0",
        .min = 0, .max = 1000000000),
    FLR_OPTION(INTEGER, offsetof(bench_values, seed), "seed", "N",
               "seed of random poses and motions, and with which fit to begin, for accuracy and "
               "rough-fits; default 1. Totals of runs with different seeds may be added up",
               .min = 1, .max = 1000000000),
    FLR_OPTION(INTEGER, offsetof(bench_values, seconds), "seconds", "N",
               "accuracy and rough-fits: end after this time, with the totals so far; default 0: "
               "when all is done",
               .min = 0, .max = 1000000),
    FLR_SWITCH(offsetof(bench_values, list), "list", "list the subjects"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler bench --list", "what can be measured?"},
    {"feeler bench mesh --divide 100 --repeat 1", "a quick look"},
    {"feeler bench mesh --divide 100 --repeat 2 --json", "for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done"},
    {FLR_EXIT_FAILED, "failed: something could not be written, memory ran out, accuracy found a "
                      "distance that is off by more than feeler promises, or rough-fits found "
                      "triangles that meet or a thread that was stripped"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; no file is left behind"},
    {0, NULL},
};
static const bench_values defaults = {.repeat = 5, .divide = 1, .seed = 1};

const flr_command flr_cmd_bench = {
    .name = "bench",
    .summary = "measure on this machine what feeler promises",
    .usage = usage,
    .description =
        "Measures one subject and prints the numbers beside the bounds that feeler promises, "
        "with processor, compiler and date. A missed bound is shown, and is an error only for "
        "accuracy and rough-fits. For "
        "numbers that mean something, close other programs.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_WORD,
    .words = subject_words,
    .max_arguments = 1,
    .values_size = sizeof(bench_values),
    .defaults = &defaults,
    .run = run,
};
