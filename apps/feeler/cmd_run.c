/* feeler run: a scene, a hand and a number of frames, without a person */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "feeler/cache.h"
#include "feeler/hand.h"
#include "feeler/units.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "run_report.h"
#include "scene/hand.h"
#include "scene/run.h"
#include "scene/scene.h"
#include "scene/stage.h"

static const char *const integrator_choices[] = {"implicit", "explicit", "quasi-static", NULL};
static const char *const model_choices[] = {"tangent", "smooth", NULL};

typedef struct run_values {
    flr_common common;
    flr_input input;
    const char *hand, *part, *record, *poses;
    int64_t frames, seed, force_layer; /* -1: not given */
    double rate, voxel, moving_voxel, speed, reach, friction, stiffness, displace;
    int integrator, model;
    bool paced, exact_hand, no_braking, no_cache, no_march, awareness_off;
} run_values;

/* what a run is made from */
typedef struct job {
    flr_scene *scene;
    flr_stage *stage;
    uint32_t part;
    flr_script *script;
    flr_device *device;
    uint64_t frames;
    flr_pose *poses;
    uint32_t moving;
} job;

static void free_job(job *j)
{
    flr_device_close(j->device);
    flr_script_destroy(j->script);
    flr_stage_destroy(j->stage);
    flr_scene_destroy(j->scene);
    free(j->poses);
}

/* ---- the scene ---- */

static bool show_stage(void *context, size_t part, const char *what)
{
    flr_progress(context, part, 0, "%s", what);
    return !flr_stop_wanted();
}

static flr_result make_stage(flr_cli *cli, const run_values *values, const char *file, job *j,
                             flr_error *error)
{
    flr_result result = flr_scene_read(cli->env, file, &j->scene, error);
    if (result != FLR_OK) return result;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (!values->no_cache && flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    flr_stage_def def = flr_default_stage_def();
    def.scene = j->scene;
    def.options = flr_input_mesh_options(&values->input, values->voxel);
    def.cache = &cache;
    def.voxel = values->voxel;
    def.moving_voxel = values->moving_voxel > 0 ? values->moving_voxel : values->voxel;
    def.on_surface = values->model == 1;
    def.dt = 1 / values->rate;
    def.progress = show_stage;
    def.context = cli;
    def.params.step.integrator = (flr_integrator)values->integrator;
    def.params.step.braking = values->no_braking ? 0 : 1;
    def.params.friction = values->friction;
    def.params.contact.stiffness = values->stiffness;
    def.params.contact.displacement = values->displace;
    def.params.contact.model = values->model == 1 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
    def.params.contact.awareness = !values->awareness_off;
    if (values->force_layer >= 0) def.params.contact.force_layer = (unsigned)values->force_layer;
    if (values->no_march) def.params.unchecked = INFINITY;
    result = flr_stage_create(cli->env, &def, &j->stage, error);
    if (result != FLR_OK) return result;
    j->part = flr_stage_find(j->stage, values->part);
    if (j->part == UINT32_MAX || !j->stage->parts[j->part].moving)
        return values->part
                   ? flr_fail(error, FLR_BAD_ARGUMENT,
                              "%s has no part \"%s\" that moves; feeler info lists its parts", file,
                              values->part)
                   : flr_fail(error, FLR_BAD_INPUT, "%s: no part is marked as \"moving\"", file);
    for (uint32_t i = 0; i < j->stage->part_count; i++) j->moving += j->stage->parts[i].moving;
    return FLR_OK;
}

/* ---- the hand ---- */

static flr_result make_script(flr_cli *cli, const run_values *values, job *j, flr_error *error)
{
    const flr_stage_part *part = &j->stage->parts[j->part];
    flr_vec3 size = flr_box3_size(part->mesh->bounds);
    flr_script_def def = flr_default_script_def();
    def.start = part->T_start;
    /* as far as the part is large */
    def.reach = values->reach > 0 ? values->reach : fmax(size.x, fmax(size.y, size.z));
    def.speed = values->speed;
    def.seed = (uint64_t)values->seed;
    flr_result result =
        flr_scene_hand_make(cli->env, j->scene, part->name, values->hand, &def, &j->script, error);
    if (result != FLR_OK) return result;
    double seconds = flr_script_duration(j->script);
    if (values->frames > 0)
        j->frames = (uint64_t)values->frames;
    else
        j->frames = isfinite(seconds) ? (uint64_t)((seconds + 0.5) * values->rate) : 10000;
    return FLR_OK;
}

static flr_result make_hand(flr_cli *cli, const run_values *values, job *j, flr_error *error)
{
    flr_result result = make_script(cli, values, j, error);
    if (result != FLR_OK) return result;
    flr_target target = flr_script_target(j->script);
    flr_hand_def hand = flr_default_hand_def();
    hand.target = target;
    return values->exact_hand ? flr_device_open(&flr_script_driver, &target, &j->device, error)
                              : flr_device_open(&flr_hand_driver, &hand, &j->device, error);
}

/* ---- running ---- */

static bool show_run(void *context, uint64_t done)
{
    flr_cli *cli = context;
    flr_progress(cli, done, 0, "frames");
    return !flr_stop_wanted();
}

/* What a replay must know to do the same again: the command line, as key and value. */
static void describe(const run_values *values, const char *scene, const job *j,
                     flr_run_texts *texts)
{
    flr_run_texts_begin(texts);
    flr_run_texts_add(texts, "scene", "%s", scene);
    flr_run_texts_add(texts, "part", "%s", j->stage->parts[j->part].name);
    flr_run_texts_add(texts, "rate", "%.17g", values->rate);
    flr_run_texts_add(texts, "voxel", "%.17g", values->voxel);
    flr_run_texts_add(texts, "moving-voxel", "%.17g", values->moving_voxel);
    flr_run_texts_add(texts, "integrator", "%s", integrator_choices[values->integrator]);
    flr_run_texts_add(texts, "model", "%s", model_choices[values->model]);
    flr_run_texts_add(texts, "force-layer", "%lld", (long long)values->force_layer);
    flr_run_texts_add(texts, "friction", "%.17g", values->friction);
    flr_run_texts_add(texts, "stiffness", "%.17g", values->stiffness);
    flr_run_texts_add(texts, "displace", "%.17g", values->displace);
    flr_run_texts_add(texts, "braking", "%d", !values->no_braking);
    flr_run_texts_add(texts, "march", "%d", !values->no_march);
    flr_run_texts_add(texts, "awareness", "%d", !values->awareness_off);
    uint32_t number = 0;
    for (uint32_t i = 0; i < j->stage->part_count; i++) {
        char key[32];
        if (!j->stage->parts[i].moving) continue;
        snprintf(key, sizeof key, "part.%u", number++);
        flr_run_texts_add(texts, key, "%s", j->stage->parts[i].name);
    }
}

static flr_result write_poses(flr_cli *cli, const run_values *values, const job *j, uint64_t frames,
                              flr_error *error)
{
    flr_output *out;
    flr_result result = flr_output_begin(cli->env, values->poses, &out, error);
    if (result != FLR_OK) return result;
    double unit = j->scene->unit;
    result = flr_output_print(out, error, "# t x y z qw qx qy qz, in units of %g m\n", unit);
    uint32_t number = 0;
    for (uint32_t i = 0; i < j->stage->part_count && result == FLR_OK; i++) {
        if (!j->stage->parts[i].moving) continue;
        char safe[FLR_SAFE_SIZE];
        if (j->moving > 1)
            result = flr_output_print(out, error, "# part %s\n",
                                      flr_safe(j->stage->parts[i].name, safe));
        for (uint64_t k = 0; k < frames && result == FLR_OK; k++) {
            flr_pose T = j->poses[k * j->moving + number];
            result =
                flr_output_print(out, error, "%.9g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
                                 (double)k / values->rate, T.p.x / unit, T.p.y / unit, T.p.z / unit,
                                 T.q.w, T.q.x, T.q.y, T.q.z);
        }
        number++;
    }
    if (result != FLR_OK) {
        flr_output_abandon(out);
        return result;
    }
    return flr_output_commit(out, error);
}

static flr_result run_job(flr_cli *cli, const run_values *values, const char *scene, job *j,
                          flr_run_result *result, flr_error *error)
{
    if (values->poses) {
        j->poses = calloc(j->frames * j->moving, sizeof *j->poses);
        if (!j->poses)
            return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the poses of %llu frames",
                            (unsigned long long)j->frames);
    }
    flr_run_texts texts;
    describe(values, scene, j, &texts);
    flr_run_def def = flr_default_run_def();
    def.env = cli->env;
    def.stage = j->stage;
    def.part = j->part;
    def.device = j->device;
    def.frames = j->frames;
    def.rate = values->rate;
    def.paced = values->paced;
    def.record = values->record;
    def.texts = texts.list;
    def.poses = j->poses;
    def.progress = show_run;
    def.context = cli;
    flr_result did = flr_run(&def, result, error);
    if (did == FLR_OK && values->poses) did = write_poses(cli, values, j, result->frames, error);
    return did;
}

static int exit_of(flr_result result)
{
    return result == FLR_CANCELLED ? FLR_EXIT_STOPPED
           : result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE || result == FLR_NOT_FOUND
               ? FLR_EXIT_USAGE
               : flr_exit_of_input(result);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    const run_values *values = given;
    flr_error error;
    job j = {0};
    flr_run_result result;
    flr_catch_stop();
    flr_result did = make_stage(cli, values, arguments[0], &j, &error);
    int code = exit_of(did == FLR_NOT_FOUND ? FLR_BAD_INPUT : did);
    if (did == FLR_OK) {
        did = make_hand(cli, values, &j, &error);
        if (did == FLR_OK) did = run_job(cli, values, arguments[0], &j, &result, &error);
        code = exit_of(did);
    }
    flr_progress_end(cli);
    if (did == FLR_OK) {
        flr_run_print(cli, j.stage, j.part, values->rate, &result);
        if (cli->json) flr_json_print(cli, flr_run_json(j.stage, j.part, values->rate, &result));
    }
    bool stopped = did == FLR_OK && result.stopped;
    free_job(&j);
    if (did != FLR_OK) return flr_fail_with(cli, code, &error);
    return stopped ? FLR_EXIT_STOPPED : FLR_EXIT_OK;
}

static const run_values defaults = {.hand = "builtin:idle",
                                    .seed = 1,
                                    .force_layer = -1,
                                    .rate = 1000,
                                    .speed = 1,
                                    .stiffness = 1000};
static const char *const usage[] = {
    "SCENE [--hand builtin:NAME|path:NAME|FILE] [--frames N] [options]", NULL};
static const flr_option options[] = {
    {.name = "hand",
     .type = FLR_OPTION_TEXT,
     .argument = "HAND",
     .help =
         "builtin:idle (default), builtin:slide, builtin:aggressive, builtin:wedge, "
         "builtin:removal (along the scene's path of the part), path:NAME (a path of the scene), "
         "or a file of poses",
     .offset = offsetof(run_values, hand)},
    {.name = "frames",
     .letter = 'n',
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "how many; default: to the end of the path, or 10000",
     .offset = offsetof(run_values, frames),
     .min = 1,
     .max = 1e12},
    {.name = "part",
     .type = FLR_OPTION_TEXT,
     .argument = "NAME",
     .help = "what the hand holds; default: the scene's first part that moves",
     .offset = offsetof(run_values, part)},
    {.name = "poses",
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "write the poses of every moving part, one line a frame, in the scene's unit",
     .offset = offsetof(run_values, poses)},
    {.name = "record",
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "record every frame (MCAP); the file must not exist yet",
     .offset = offsetof(run_values, record)},
    {.name = "rate",
     .type = FLR_OPTION_NUMBER,
     .argument = "HZ",
     .help = "frames per second of simulated time, 250 to 10000; default 1000",
     .offset = offsetof(run_values, rate),
     .min = 250,
     .max = 10000},
    {.name = "paced",
     .help = "by the clock, as with a person; else as fast as it goes",
     .offset = offsetof(run_values, paced)},
    {.name = "exact-hand",
     .help = "the hand is where its script says, whatever it feels; else it has mass and gives way",
     .offset = offsetof(run_values, exact_hand)},
    {.name = "speed",
     .type = FLR_OPTION_NUMBER,
     .argument = "X",
     .help = "the hand's script runs so many times faster; default 1",
     .offset = offsetof(run_values, speed),
     .min = 0.01,
     .max = 100},
    {.name = "reach",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "how far a built-in hand goes from the start; default: as far as the part is large",
     .offset = offsetof(run_values, reach),
     .min = 1e-6,
     .max = 100},
    {.name = "seed",
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "of what a built-in hand leaves to chance; default 1",
     .offset = offsetof(run_values, seed),
     .min = 0,
     .max = 1e15},
    {.name = "voxel",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "edge length of a voxel; default: the scene's own",
     .offset = offsetof(run_values, voxel),
     .min = 1e-9},
    {.name = "moving-voxel",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "spacing of the points of moving parts; default: that of --voxel, else the scene's",
     .offset = offsetof(run_values, moving_voxel),
     .min = 1e-9},
    {.name = "force-layer",
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "voxels before the surface at which force begins; default 2",
     .offset = offsetof(run_values, force_layer),
     .min = 0,
     .max = 252},
    {.name = "displace",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "move the points outward by this, or inward where it is less than 0",
     .offset = offsetof(run_values, displace),
     .min = -1,
     .max = 1},
    {.name = "stiffness",
     .type = FLR_OPTION_NUMBER,
     .argument = "N/m",
     .help = "of one contact; default 1000",
     .offset = offsetof(run_values, stiffness),
     .min = 1e-3,
     .max = 1e9},
    {.name = "friction",
     .type = FLR_OPTION_NUMBER,
     .argument = "X",
     .help = "coefficient of friction; default 0",
     .offset = offsetof(run_values, friction),
     .min = 0,
     .max = 10},
    {.name = "integrator",
     .type = FLR_OPTION_CHOICE,
     .argument = "implicit|explicit|quasi-static",
     .help = "how bodies are moved on; default implicit",
     .offset = offsetof(run_values, integrator),
     .choices = integrator_choices},
    {.name = "model",
     .type = FLR_OPTION_CHOICE,
     .argument = "tangent|smooth",
     .help = "the law of contact: tangent planes (default), or continuous across voxels",
     .offset = offsetof(run_values, model),
     .choices = model_choices},
    {.name = "no-braking",
     .help = "do not slow down what approaches a contact",
     .offset = offsetof(run_values, no_braking)},
    {.name = "no-check",
     .help = "do not check that the way of a part is free; then fast motion can pass through",
     .offset = offsetof(run_values, no_march)},
    {.name = "no-awareness",
     .help = "test every point against the surface, not only what can matter",
     .offset = offsetof(run_values, awareness_off)},
    {.name = "no-cache",
     .help = "neither look for voxels in the cache nor store them there",
     .offset = offsetof(run_values, no_cache)},
    FLR_INPUT_OPTIONS(run_values),
    FLR_TOLERANT_OPTION(run_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler run ball/scene.json --hand builtin:aggressive --frames 2000",
     "throw the ball about in its socket"},
    {"feeler run ball/scene.json --hand builtin:removal --frames 500 --poses out.txt --json",
     "take it out, and keep the way it really went"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done"},
    {FLR_EXIT_FAILED, "memory ran out, or an output could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong, or a voxel size does not suit; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a part or a file of poses cannot be used"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; the recording is whole up to there"},
    {0, NULL},
};

const flr_command flr_cmd_run = {
    .name = "run",
    .summary = "move a part through a scene by a simulated hand, headless",
    .usage = usage,
    .description =
        "A hand takes a part of the scene and moves it: touching, sliding, jamming. The loop, the "
        "bodies, the contacts and the output guard are those that serve a person at a device. "
        "Without --paced the frames follow each other as fast as they can, and the same command "
        "gives the same hash.\n\n"
        "Told are the times of a frame, the points tested, contacts, potential penetrations of "
        "exact surfaces and their ratio (frames with one to frames with contact), the least "
        "distance, the largest force and torque at the device, and the hash of all that happened.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a scene",
    .values_size = sizeof(run_values),
    .defaults = &defaults,
    .run = run,
};
