/* feeler run: a scene, a hand and a number of frames, without a person */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "doctor.h"
#include "feeler/base.h"
#include "feeler/device.h"
#include "feeler/hand.h"
#include "feeler/version.h"
#include "feeler/voxel_file.h"
#include "files.h"
#include "output.h"
#include "run_report.h"
#include "scene/scene.h"
#include "scene/scene_hand.h"
#include "sim/mapping.h"
#include "sim/run.h"
#include "sim/setup.h"
#include "sim/stage.h"
#include "touch.h"

#define RUN_MAX_FRAMES 1e12
#define STATE_FILE     "run.flrstate" /* of a run that waited in vain for voxels */

static const char *const integrator_choices[] = {"implicit", "explicit", "quasi-static", NULL};

typedef struct run_values {
    flr_common common;
    flr_input input;
    flr_touch_options touch;
    const char *hand, *part, *record, *poses, *device, *mapping, *state, *resume;
    int64_t frames, seed, slow;
    double rate, voxel, moving_voxel, speed, reach;
    double friction, restitution, tests, max_time; /* NAN: not given; likewise the next three */
    double onset, strength, overlap;
    int integrator, engine, tool; /* engine, tool -1: not given */
    bool local;
    bool firm, paced, exact_hand, no_braking, no_cache, no_motion_check;
    uint64_t memory;
    int64_t threads;
} run_values;

/* what a run is made from */
typedef struct run_job {
    flr_scene *scene;
    flr_setup setup;
    flr_stage *stage;
    uint32_t part;
    flr_script *script;
    flr_device *device;
    flr_mapping_def map; /* of the device */
    uint64_t frames;
    flr_pose *poses;
    uint32_t moving;
    bool bad_resume; /* the file of --resume cannot be used */
} run_job;

static void free_job(run_job *j)
{
    flr_device_close(j->device);
    flr_script_destroy(j->script);
    flr_stage_destroy(j->stage);
    flr_scene_destroy(j->scene);
    free(j->poses);
}

/* ---- the scene ---- */

/* The command line as a setup; the scene says what is not given. */
static flr_setup setup_of(const run_values *values, const flr_scene *scene)
{
    flr_setup setup = flr_default_setup();
    setup.scene = scene->path;
    setup.part = values->part;
    setup.options = flr_input_mesh_options(&values->input, values->voxel);
    setup.rate = values->rate;
    setup.voxel = values->voxel;
    setup.moving_voxel = values->moving_voxel > 0 ? values->moving_voxel : values->voxel;
    setup.params = flr_scene_params(scene);
    flr_touch_apply(&values->touch, &setup.params.contact);
    if (!isnan(values->friction)) setup.params.friction = values->friction;
    if (!isnan(values->restitution)) setup.params.restitution = values->restitution;
    if (!isnan(values->tests)) setup.params.tests = values->tests;
    setup.onset = isnan(values->onset) ? scene->contact.onset : values->onset;
    if (!isnan(values->overlap)) setup.params.exact.overlap = values->overlap;
    if (!isnan(values->strength)) setup.params.exact.strength = values->strength;
    if (values->engine >= 0) setup.params.engine = (flr_world_engine)values->engine;
    flr_point_touch(&setup.params);
    setup.tool = values->tool >= 0   ? (flr_tool)values->tool
                 : scene->hand_count ? scene->hands[0].tool
                                     : FLR_TOOL_GRIP;
    setup.params.coupling.firm = values->firm || flr_scene_firm(scene, 0);
    setup.params.step.integrator = (flr_integrator)values->integrator;
    setup.params.step.braking = values->no_braking ? 0 : 1;
    if (values->no_motion_check) setup.params.unchecked = INFINITY;
    return setup;
}

/* nobody holds a device faster than the clock goes */
static bool paced(const run_values *values) { return values->paced || values->device; }

/* Options of an engine that is not the one of this run would have no effect. */
static flr_result check_options(const run_values *values, flr_world_engine engine, flr_error *error)
{
    const struct {
        const char *name;
        bool given;
        flr_world_engine of;
    } some[] = {{"strength", !isnan(values->strength), FLR_ENGINE_EXACT},
                {"overlap", !isnan(values->overlap), FLR_ENGINE_EXACT},
                {"restitution", !isnan(values->restitution), FLR_ENGINE_SPHERES}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i].given && engine != some[i].of)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "--%s has no effect with the engine %s; leave it out, or add --engine "
                            "%s",
                            some[i].name, flr_scene_engines[engine], flr_scene_engines[some[i].of]);
    return FLR_OK;
}

static flr_result make_stage(flr_cli *cli, const run_values *values, const char *file, run_job *j,
                             flr_error *error)
{
    flr_result result = flr_scene_read(cli->env, file, &j->scene, error);
    if (result != FLR_OK) return result;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (!values->no_cache && flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    flr_stage_def like = flr_default_stage_def();
    like.cache = &cache;
    like.memory = values->memory;
    like.contact_threads = (unsigned)values->threads;
    like.progress = flr_run_show_stage;
    like.warn = flr_warn_about;
    like.context = cli;
    j->setup = setup_of(values, j->scene);
    like.choose_engine =
        values->engine < 0 && !flr_scene_chooses_engine(&j->scene->contact) && !values->memory;
    result = flr_check_memory(like.memory, &cache, &j->setup.params, error);
    if (result != FLR_OK) return result;
    if (j->setup.params.engine == FLR_ENGINE_COHERENT && (values->state || values->resume))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the queues of the coherent engine are in no state file; leave out --state "
                        "and --resume, or use --engine shell");
    const bool local = values->local || j->scene->local_haptics;
    if (local && (values->state || values->resume))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the local models of devices are in no state file; leave out --state and "
                        "--resume, or %s",
                        values->local ? "--local-haptics" : "\"haptics\" of the scene");
    if (values->slow > 1 && paced(values))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--slow says how long a step takes in simulated time; by the clock it "
                        "takes as long as it does: leave out --slow, or %s",
                        values->paced ? "--paced" : "--device");
    const bool limit = !isnan(values->tests) || !isnan(values->max_time);
    if (limit && j->setup.params.engine != FLR_ENGINE_COHERENT)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s is for --engine coherent: the other engines have no limit",
                        isnan(values->tests) ? "--max-time" : "--tests");
    if (!isnan(values->tests) && !isnan(values->max_time))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--tests and --max-time say the same in two ways; give one of them");
    if (j->setup.tool == FLR_TOOL_POINT && values->part)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a point holds no part; leave out --part, or --tool grip takes one");
    result = flr_setup_stage(cli->env, &j->setup, j->scene, &like, &j->stage, error);
    if (result != FLR_OK) return result;
    /* as a recording should tell them */
    const flr_world_params *made = flr_world_get_params(j->stage->world);
    j->setup.params.contact.force_layer = made->contact.force_layer;
    j->setup.params.contact.onset = made->contact.onset;
    j->setup.params.exact.onset = made->exact.onset;
    j->setup.params.engine = made->engine;
    if (!isnan(values->max_time)) {
        j->setup.params.tests =
            flr_world_calibrate(j->stage->world, cli->env, values->max_time * 1e-6);
        flr_print_note(cli, "%.0f point tests take %g us on this processor\n",
                       j->setup.params.tests, values->max_time);
    }
    j->setup.common = j->stage->resolution.voxel;
    if (j->stage->resolution.sentence[0])
        flr_print_note(cli, "%s\n", j->stage->resolution.sentence);
    result = check_options(values, made->engine, error);
    if (result != FLR_OK) return result;
    for (uint32_t i = 0; i < j->stage->parts.count; i++) j->moving += flr_stage_moves(j->stage, i);
    j->part = UINT32_MAX;
    if (j->setup.tool == FLR_TOOL_POINT) return FLR_OK;
    j->part = flr_stage_find(j->stage, values->part);
    if (j->part == UINT32_MAX || !flr_stage_moves(j->stage, j->part))
        return values->part
                   ? flr_fail(error, FLR_BAD_ARGUMENT,
                              "%s has no part \"%s\" that moves; feeler info lists its parts", file,
                              values->part)
                   : flr_fail(error, FLR_BAD_INPUT,
                              "%s: no part is marked as \"moving\"; "
                              "--tool point touches those that stay",
                              file);
    return FLR_OK;
}

/* ---- the hand ---- */

/* Where a point begins: where the scene says, else above all parts; `*size` is that of them all. */
static flr_pose start_of_point(const run_job *j, flr_vec3 *size)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < j->stage->parts.count; i++) {
        const flr_part_entry *part = &j->stage->parts.list[i];
        box =
            flr_box3_union(box, flr_box3_transform(part->T_start, part->shape->mesh->mesh->bounds));
    }
    *size = flr_box3_size(box);
    flr_pose T = flr_pose_identity();
    T.p = flr_box3_centre(box);
    T.p.z = box.high.z + 0.1 * size->z;
    if (j->scene->hand_count && j->scene->hands[0].placed) T.p = j->scene->hands[0].position;
    return T;
}

static flr_result make_script(flr_cli *cli, const run_values *values, run_job *j, flr_error *error)
{
    const flr_part_entry *part = j->part == UINT32_MAX ? NULL : &j->stage->parts.list[j->part];
    flr_vec3 size = flr_vec3_zero();
    flr_script_def def = flr_default_script_def();
    if (part) {
        size = flr_box3_size(part->shape->mesh->mesh->bounds);
        def.start = part->T_start;
    } else {
        def.start = start_of_point(j, &size);
    }
    /* as far as the part is large */
    def.reach = values->reach > 0 ? values->reach : fmax(size.x, fmax(size.y, size.z));
    def.speed = values->speed;
    def.seed = (uint64_t)values->seed;
    flr_result result = flr_scene_hand_make(cli->env, j->scene, part ? part->name : NULL,
                                            values->hand, &def, &j->script, error);
    if (result != FLR_OK) return result;
    double seconds = flr_script_duration(j->script);
    double frames = isfinite(seconds) ? (seconds + 0.5) * values->rate : 10000;
    if (values->frames == 0 && !(frames <= RUN_MAX_FRAMES))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the hand's way takes %g s, which is too long to run to its end; say how "
                        "far with --frames",
                        seconds);
    j->frames = values->frames > 0 ? (uint64_t)values->frames : (uint64_t)frames;
    return FLR_OK;
}

/* How the device reaches into the scene: as the option says, else the scene, else such that it reaches everything. There is no view, so
 * that its axes are the world's. */
static flr_result map_device(const run_values *values, run_job *j, flr_error *error)
{
    const flr_scene_hand *hand = flr_scene_mapped_hand(j->scene, 0);
    flr_engine_mapping asked = flr_default_engine_mapping();
    flr_box3 all = flr_box3_empty();
    for (uint32_t i = 0; i < j->stage->parts.count; i++) {
        const flr_part_entry *part = &j->stage->parts.list[i];
        all =
            flr_box3_union(all, flr_box3_transform(part->T_start, part->shape->mesh->mesh->bounds));
    }
    if (hand) asked.scale = hand->scale, asked.clutch_button = hand->clutch;
    if (hand) asked.boundary = (uint8_t)hand->boundary;
    flr_result result = FLR_OK;
    if (values->mapping) result = flr_engine_mapping_parse(values->mapping, &asked, error);
    j->map = flr_default_mapping_def();
    j->map.workspace = flr_device_get_info(j->device)->workspace;
    j->map.scale = asked.scale > 0 ? asked.scale : flr_mapping_scale(j->map.workspace, all);
    j->map.boundary = (flr_mapping_boundary)asked.boundary;
    j->map.clutch_button = asked.clutch_button;
    return result;
}

/* A device that somebody holds. */
static flr_result open_device(const run_values *values, run_job *j, flr_error *error)
{
    flr_result result = flr_device_plugins_load(NULL, NULL, error);
    if (result == FLR_OK) result = flr_device_open_named(values->device, &j->device, error);
    if (result == FLR_OK) result = map_device(values, j, error);
    j->frames = values->frames > 0 ? (uint64_t)values->frames : 10000;
    return result;
}

/* A hand takes the part where the part stands. Where its way begins elsewhere, it holds the part with that offset. */
static void tell_offset(flr_cli *cli, const run_job *j, flr_target target)
{
    if (j->part == UINT32_MAX) return;
    const flr_part_entry *part = &j->stage->parts.list[j->part];
    flr_pose begin = target.at(target.context, 0);
    double way = flr_vec3_length(flr_vec3_sub(begin.p, part->T_start.p));
    flr_quat turn = flr_quat_mul(begin.q, flr_quat_conjugate(part->T_start.q));
    double angle = flr_vec3_length(flr_quat_to_rotation_vector(turn));
    const double voxel = j->stage->voxel > 0 ? j->stage->voxel : 2e-5; /* exact contact has none */
    if (way < 0.5 * voxel && angle < 0.01) return;
    flr_warn(
        cli,
        "the hand's way begins %.4g mm and %.3g degrees from where \"%s\" stands, and holds it "
        "with that offset all along; let it begin at the part's pose to move the part itself "
        "along the way",
        1e3 * way, angle / FLR_DEGREE, FLR_SAFE(part->name));
}

static flr_result make_hand(flr_cli *cli, const run_values *values, run_job *j, flr_error *error)
{
    if (values->device) return open_device(values, j, error);
    if (values->mapping)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--mapping says how a device moves the hand; give --device, too");
    flr_result result = make_script(cli, values, j, error);
    if (result != FLR_OK) return result;
    flr_target target = flr_script_target(j->script);
    tell_offset(cli, j, target);
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

/* What a replay must know to do the same again, and what a report tells of the circumstances. */
static flr_result describe(const run_values *values, run_job *j, flr_texts *texts, flr_error *error)
{
    char *scene = realpath(j->scene->path, NULL), machine[FLR_MACHINE_TEXT_SIZE];
    if (!scene) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a run");
    const flr_device_info *device = flr_device_get_info(j->device);
    j->setup.scene = scene;
    j->setup.part = j->part == UINT32_MAX ? "" : j->stage->parts.list[j->part].name;
    j->setup.device_force = device->force;
    j->setup.device_torque = device->torque;
    j->setup.dead_man = device->dead_man;
    flr_texts_add(texts, "version", "%s", FLR_VERSION);
    flr_result result = flr_setup_write(&j->setup, j->scene, j->stage, texts, error);
    flr_texts_add(texts, "device", "%s", device->name);
    flr_texts_add(texts, "hand", "%s", values->device ? values->device : values->hand);
    flr_texts_add(texts, "hand.speed", "%g", values->speed);
    flr_texts_add(texts, "hand.seed", "%lld", (long long)values->seed);
    flr_texts_add(texts, "paced", "%s", paced(values) ? "true" : "false");
    flr_texts_add(texts, "machine", "%s", flr_machine_print(machine));
    if (result == FLR_OK) result = flr_texts_end(texts, error);
    j->setup.scene = j->scene->path;
    free(scene);
    return result;
}

/* All that determines what happens, as one hash: what goes on must be the same run. */
static flr_result identify(const run_values *values, const run_job *j, flr_hash *identity,
                           flr_error *error)
{
    flr_texts texts = {0};
    flr_result result = flr_setup_write(&j->setup, j->scene, j->stage, &texts, error);
    flr_texts_add(&texts, "hand", "%s %s %.17g %.17g %lld %d %d",
                  values->device ? values->device : "", values->hand, values->speed, values->reach,
                  (long long)values->seed, values->exact_hand, paced(values));
    if (result == FLR_OK) result = flr_texts_end(&texts, error);
    flr_hasher hasher = flr_hasher_begin();
    for (size_t i = 0; i < texts.count; i++) {
        /* where the scene's file is does not matter */
        const char *text = i > 0 && !strcmp(texts.list[i - 1], "scene") ? "" : texts.list[i];
        flr_hasher_add(&hasher, text, strlen(text) + 1);
    }
    *identity = flr_hasher_end(&hasher);
    flr_texts_free(&texts);
    return result;
}

static flr_result run_one(flr_cli *cli, const run_values *values, run_job *j,
                          flr_run_result *result, flr_error *error)
{
    if (values->poses) {
        j->poses = calloc(j->frames * j->moving + 1, sizeof *j->poses);
        if (!j->poses)
            return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the poses of %llu frames",
                            (unsigned long long)j->frames);
    }
    /* report a file that cannot be written before the work, not after */
    flr_output *poses = NULL;
    flr_texts texts = {0};
    flr_result did = FLR_OK;
    if (values->poses) did = flr_output_begin(cli->env, values->poses, &poses, error);
    if (did == FLR_OK && values->record) did = describe(values, j, &texts, error);
    flr_run_def def = flr_default_run_def();
    def.env = cli->env;
    def.stage = j->stage;
    def.part = j->part;
    def.device = j->device;
    def.frames = j->frames;
    def.rate = values->rate;
    def.paced = paced(values);
    def.local = values->local || j->scene->local_haptics;
    def.slow = (unsigned)values->slow;
    def.relative = values->device != NULL;
    def.map = values->device ? &j->map : NULL;
    flr_vec3 size;
    if (j->part == UINT32_MAX) def.T_point = start_of_point(j, &size);
    def.record = values->record;
    def.texts = (const char *const *)texts.list;
    def.poses = j->poses;
    def.resume = values->resume;
    def.bad_resume = &j->bad_resume;
    def.state = values->state ? values->state : values->memory ? STATE_FILE : NULL;
    def.only_if_given_up = !values->state;
    if (did == FLR_OK) did = identify(values, j, &def.identity, error);
    def.progress = show_run;
    def.context = cli;
    if (did == FLR_OK) did = flr_run(&def, result, error);
    flr_texts_free(&texts);
    if (did == FLR_OK && poses)
        did = flr_run_write_poses(
            &(flr_run_poses){j->stage, j->scene->unit, j->setup.rate, j->poses, j->moving}, poses,
            result->frames, error);
    return poses ? flr_output_end(poses, did, error) : did;
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
    run_job j = {0};
    flr_run_result result;
    flr_catch_stop();
    flr_result did = make_stage(cli, values, arguments[0], &j, &error);
    int code = exit_of(did == FLR_NOT_FOUND ? FLR_BAD_INPUT : did);
    if (did == FLR_OK) {
        did = make_hand(cli, values, &j, &error);
        /* a word that is not known is a slip on the command line; a missing file is not */
        bool word = values->device || !strncmp(values->hand, "builtin:", 8) ||
                    !strncmp(values->hand, "path:", 5);
        code = exit_of(did == FLR_NOT_FOUND && !word ? FLR_BAD_INPUT : did);
    }
    if (did == FLR_OK) {
        did = run_one(cli, values, &j, &result, &error);
        code = j.bad_resume ? FLR_EXIT_INPUT : FLR_EXIT_FAILED;
    }
    flr_progress_end(cli);
    if (did == FLR_OK) flr_run_print_overlaps(cli, j.stage);
    if (did == FLR_OK && result.sunk != UINT32_MAX)
        flr_warn(cli,
                 "part \"%s\" starts nearer to another (%g mm or less) than force begins: give a "
                 "smaller --onset, or feel it with --engine exact",
                 j.stage->parts.list[result.sunk].name, result.gap * 1e3);
    if (did == FLR_OK) {
        flr_run_print(cli, j.stage, j.part, values->rate, &result);
        if (cli->json) flr_json_print(cli, flr_run_json(j.stage, j.part, values->rate, &result));
    }
    bool stopped = did == FLR_OK && result.stopped;
    bool faulty = did == FLR_OK && result.frames > 0 && result.faulty_frames == result.frames;
    free_job(&j);
    if (did != FLR_OK) return flr_fail_with(cli, code, &error);
    if (faulty)
        return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_BAD_INPUT,
                               "every frame was faulty, so nothing moved as it should: look at the "
                               "poses of the hand and at the masses and sizes of the parts");
    return stopped ? FLR_EXIT_STOPPED : FLR_EXIT_OK;
}

static const run_values defaults = {.hand = "builtin:idle",
                                    .tool = -1,
                                    .seed = 1,
                                    .touch = FLR_TOUCH_NOT_GIVEN,
                                    .friction = NAN,
                                    .restitution = NAN,
                                    .tests = NAN,
                                    .max_time = NAN,
                                    .onset = NAN,
                                    .overlap = NAN,
                                    .strength = NAN,
                                    .engine = -1,
                                    .rate = 1000,
                                    .slow = 1,
                                    .speed = 1};
static const char *const usage[] = {
    "SCENE [--hand builtin:NAME|path:NAME|FILE] [--frames N] [options]", NULL};
#define RUN_AT(field) offsetof(run_values, field)
static const flr_option options[] = {
    FLR_OPTION(TEXT, offsetof(run_values, hand), "hand", "HAND",
               "builtin:idle (default), builtin:slide, builtin:aggressive, builtin:wedge, "
               "builtin:removal (the scene's path of the part, outward), path:NAME (a path of the "
               "scene), "
               "or a file of poses"),
    FLR_OPTION(TEXT, offsetof(run_values, device), "device", "NAME[:OPTIONS]",
               "a device that you hold, in place of a simulated hand, by the clock: spacemouse, "
               "openhaptics, forcedimension, or a plugin's; feeler doctor tells which can be used"),
    FLR_OPTION(TEXT, offsetof(run_values, mapping), "mapping", "KEY=VALUE,...",
               "how the device moves the hand, before what the scene says: scale=2 (metres in the "
               "scene for a metre of the device), boundary=none|drift|bubble, clutch=BUTTON"),
    FLR_OPTION(INTEGER, offsetof(run_values, frames), "frames", "N",
               "how many frames; default: to the end of the path, or 10000", .letter = 'n',
               .min = 1, .max = RUN_MAX_FRAMES),
    FLR_OPTION(
        CHOICE, offsetof(run_values, tool), "tool", "grip|point",
        "grip: the hand takes a part; point: it touches the exact triangles of all parts with a "
        "point; default: the scene's, else grip",
        .choices = flr_scene_tools),
    FLR_SWITCH(
        offsetof(run_values, firm), "firm",
        "the hand keeps the orientation of what it holds, as if it felt no torque; default: as "
        "the scene says"),
    FLR_OPTION(TEXT, offsetof(run_values, part), "part", "NAME",
               "the part that the hand holds; default: the scene's first part that moves"),
    FLR_OPTION(PATH, offsetof(run_values, poses), "poses", "FILE",
               "write the poses of every moving part, one line a frame, in the scene's unit"),
    FLR_OPTION(PATH, offsetof(run_values, record), "record", "FILE",
               "record every frame (MCAP); the file must not exist yet"),
    FLR_OPTION(NUMBER, offsetof(run_values, rate), "rate", "HZ",
               "frames per second of simulated time, 250 to 10000; default 1000", .min = 250,
               .max = 10000),
    FLR_SWITCH(offsetof(run_values, paced), "paced",
               "run by the clock, as with a person; default: as fast as possible"),
    FLR_SWITCH(offsetof(run_values, local), "local-haptics",
               "serve the device at the full rate from the contacts of the last step, also while a "
               "step takes longer than a frame; default: as the scene says"),
    FLR_OPTION(INTEGER, offsetof(run_values, slow), "slow", "N",
               "a step takes N frames of simulated time, to try --local-haptics; default 1",
               .min = 1, .max = 100),
    FLR_SWITCH(
        offsetof(run_values, exact_hand), "exact-hand",
        "the hand is where its script says, whatever it feels; else it has mass and gives way"),
    FLR_OPTION(NUMBER, offsetof(run_values, speed), "speed", "X",
               "how many times faster the hand's script runs; default 1", .min = 0.01, .max = 100),
    FLR_OPTION(SIZE, offsetof(run_values, reach), "reach", "SIZE",
               "how far a built-in hand goes from the start; default: the size of the part",
               .min = 1e-6, .max = 100),
    FLR_OPTION(INTEGER, offsetof(run_values, seed), "seed", "N",
               "seed of a built-in hand's random motion; default 1", .min = 0, .max = 1e15),
    FLR_OPTION(
        SIZE, offsetof(run_values, voxel), "voxel", "SIZE",
        "advanced: edge length of a voxel; default: the scene's own, else feeler chooses one from "
        "the sizes of the parts, the gap between them and the memory, and says which",
        .min = 1e-9),
    FLR_OPTION(
        SIZE, offsetof(run_values, moving_voxel), "moving-voxel", "SIZE",
        "advanced: spacing of the points of moving parts; default: that of --voxel, else the "
        "scene's",
        .min = 1e-9),
    FLR_TOUCH_OPTIONS(run_values),
    FLR_OPTION(NUMBER, offsetof(run_values, friction), "friction", "X",
               "coefficient of friction; default: the scene's, else 0", .min = 0, .max = 10),
    FLR_ENGINE_OPTIONS(RUN_AT, "", "the scene's"),
    FLR_OPTION(NUMBER, offsetof(run_values, restitution), "restitution", "X",
               "of --engine spheres: 0, parts that meet stay together, to 1, they leave as fast as "
               "they came; default: the scene's, else 0",
               .min = 0, .max = 1),
    FLR_OPTION(
        NUMBER, offsetof(run_values, max_time), "max-time", "US",
        "of --engine coherent: microseconds that contact may take in a frame; feeler measures "
        "how many --tests that is, and recordings keep the number",
        .min = 1, .max = 1e6),
    FLR_OPTION(CHOICE, offsetof(run_values, integrator), "integrator",
               "implicit|explicit|quasi-static", "how bodies are moved; default implicit",
               .choices = integrator_choices),
    FLR_SWITCH(offsetof(run_values, no_braking), "no-braking",
               "do not slow down what approaches a contact"),
    FLR_SWITCH(offsetof(run_values, no_motion_check), "no-check",
               "do not check motions between frames; fast parts can then pass through others"),
    FLR_NO_CACHE_OPTION(offsetof(run_values, no_cache)),
    FLR_MEMORY_OPTION(offsetof(run_values, memory)),
    FLR_OPTION(
        PATH, offsetof(run_values, state), "state", "FILE",
        "write the state at the end of the run, for --resume, also when it is stopped; default: "
        "run.flrstate where voxels did not come from the disk, else none"),
    FLR_OPTION(
        PATH, offsetof(run_values, resume), "resume", "FILE",
        "continue from the state of a run with the same scene, hand and options, to the end or to "
        "--frames, counted from its beginning; without --paced, the hash is that of one run"),
    FLR_INPUT_OPTIONS(run_values),
    FLR_TOLERANT_OPTION(run_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler run ball/scene.json --hand builtin:aggressive --frames 2000",
     "throw the ball about in its socket"},
    {"feeler run ball/scene.json --hand builtin:removal --frames 500 --poses out.txt --json",
     "take it out, and write the path that it really took"},
    {"feeler run ball/scene.json --hand path:turn --record turn.mcap",
     "turn it in its socket, and record that for feeler replay and feeler report"},
    {"feeler run ball/scene.json --tool point --hand builtin:slide --frames 2000",
     "stroke the ball and its socket with a point"},
    {"feeler run ball/scene.json --hand path:turn --frames 500 --state turn.flrstate",
     "the first half second, and keep the state"},
    {"feeler run ball/scene.json --hand path:turn --resume turn.flrstate",
     "and go on from there, to the same hash as in one go"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done"},
    {FLR_EXIT_FAILED, "memory ran out, an output could not be written, every frame was faulty, or "
                      "voxels did not come from the disk within 2 s: then the state is kept"},
    {FLR_EXIT_USAGE, "the command line is wrong, or a voxel size does not suit; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a part, a file of poses or the state of --resume cannot be used"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; the recording is whole up to there"},
    {0, NULL},
};

const flr_command flr_cmd_run = {
    .name = "run",
    .summary = "move a part through a scene by a simulated hand, headless",
    .usage = usage,
    .description =
        "A simulated hand grabs a part of the scene and moves it: it touches, slides, jams. The "
        "loop, "
        "bodies, contacts and output guard are the ones that a person at a device uses. "
        "Without --paced the frames run as fast as possible, and the same command "
        "gives the same hash. With --tool point the hand holds nothing: it touches the "
        "exact triangles of all parts with a point that stays outside, and feels a force without "
        "torque.\n\n"
        "Reports the times of a frame, the points tested, contacts, potential penetrations of "
        "exact surfaces and their ratio (frames with one to frames with contact), the least "
        "distance, the largest force and torque at the device, and the hash of all states.",
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
