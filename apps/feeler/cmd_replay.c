/* feeler replay: a recording run again, and compared frame by frame */
#include <stdio.h>
#include <string.h>

#include "feeler/version.h"
#include "feeler/voxel_file.h"
#include "files.h"
#include "output.h"
#include "recorded.h"
#include "run_report.h"
#include "sim/replay.h"

typedef struct replay_values {
    flr_common common;
    bool anyway, no_cache;
    uint64_t memory;
} replay_values;

typedef struct replay_job {
    flr_recorded from;
    flr_stage *stage;
    flr_hand_log motion;
    flr_replay_result result;
} replay_job;

static void free_job(replay_job *j)
{
    flr_hand_log_free(&j->motion);
    flr_stage_destroy(j->stage);
    flr_recorded_close(&j->from);
}

static bool show_run(void *context, uint64_t done)
{
    flr_progress(context, done, 0, "frames");
    return !flr_stop_wanted();
}

/* ---- making it ready ---- */

static flr_result make_stage(flr_cli *cli, const replay_values *values, const char *scene,
                             replay_job *j, flr_error *error)
{
    flr_result result = flr_recorded_scene(cli, &j->from, scene, error);
    if (result != FLR_OK) return result;
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (!values->no_cache && flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    flr_stage_def like = flr_default_stage_def();
    like.cache = &cache;
    like.memory = values->memory;
    const bool live = j->from.setup.live;
    if (live && like.memory)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "--memory: a recording that feeler serve made is run again with all voxels "
                        "in memory; leave it out");
    result = flr_check_memory(like.memory, &cache, &j->from.setup.params, error);
    if (result != FLR_OK) return result;
    like.progress = flr_run_show_stage;
    like.warn = flr_warn_about;
    like.context = cli;
    result = flr_replay_stage(cli->env, &j->from.setup, j->from.recording, j->from.scene,
                              &j->motion, &like, &j->stage, error);
    if (result != FLR_OK) return result;
    flr_error why;
    result = flr_setup_compare(j->from.recording, j->from.scene, &j->stage->parts,
                               &j->from.scene_changed, &why);
    if (result == FLR_OK) return FLR_OK;
    if (values->anyway && result == FLR_BAD_INPUT)
        flr_warn(cli, "%s", why.message);
    else
        return flr_fail(error, result, "%s; --anyway %s all the same", why.message,
                        live ? "runs it" : "replays the hand's way");
    uint32_t held = flr_stage_find(j->stage, j->from.setup.part);
    if (j->from.setup.tool == FLR_TOOL_POINT || live) return FLR_OK;
    return held != UINT32_MAX && flr_stage_moves(j->stage, held)
               ? FLR_OK
               : flr_fail(error, FLR_BAD_INPUT, "%s has no part \"%s\" that moves",
                          j->from.scene->path, j->from.setup.part);
}

/* ---- what to say ---- */

static void tell_what_is_missing(flr_cli *cli, const replay_job *j)
{
    const flr_hand_log *m = &j->motion;
    unsigned long long count = m->count, behind = j->result.behind;
    flr_error lost;
    if (flr_recording_damaged(j->from.recording, &lost)) flr_warn(cli, "%s", lost.message);
    if (j->result.why[0])
        flr_warn(cli, "%s: the last %llu %s not run again: %s", j->from.path, behind,
                 flr_noun(behind, "frame was", "frames were"), j->result.why);
    else if (m->gap)
        flr_warn(cli,
                 "%s lacks frames behind frame %llu, so the %llu that follow cannot be replayed",
                 j->from.path, count - 1, behind);
    else if (!m->complete)
        flr_warn(cli, "%s was not ended properly; it is whole up to its frame %llu", j->from.path,
                 count - 1);
}

static void print_result(flr_cli *cli, const replay_job *j)
{
    const flr_replay_result *r = &j->result;
    if (r->same) {
        flr_print(cli, "%ssame%s: %llu %s, hash %s\n", flr_green(cli), flr_plain(cli),
                  (unsigned long long)r->compared, flr_noun(r->compared, "frame", "frames"),
                  FLR_HASH_TEXT(r->run.hash));
        return;
    }
    flr_print(cli,
              "%sdiffers%s from frame %llu on, %.6g s into the motion: hash %016llx, not %016llx\n",
              flr_red(cli), flr_plain(cli), (unsigned long long)r->first,
              (double)r->first / j->from.setup.rate, (unsigned long long)r->now,
              (unsigned long long)r->then);
    const char *version = flr_recording_text(j->from.recording, "version");
    if (version && strcmp(version, FLR_VERSION) != 0)
        flr_print(cli, "  it was recorded by feeler %s; this is " FLR_VERSION "\n", version);
    if (j->from.scene_changed)
        flr_print(cli, "  the scene file has changed since it was recorded\n");
}

static json_t *difference_json(uint64_t frame, uint64_t recorded, uint64_t now)
{
    char text[20];
    json_t *o = flr_json_object();
    flr_json_set(o, "frame", flr_json_count(frame));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)recorded);
    flr_json_set(o, "recorded", flr_json_text(text));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)now);
    flr_json_set(o, "now", flr_json_text(text));
    return o;
}

static json_t *result_json(const replay_job *j)
{
    const flr_replay_result *r = &j->result;
    json_t *o = flr_json_object();
    const char *version = flr_recording_text(j->from.recording, "version");
    flr_json_set(o, "recording", flr_json_text(j->from.path));
    flr_json_set(o, "version", version ? flr_json_text(version) : json_null());
    flr_json_set(o, "complete", json_boolean(j->motion.complete));
    flr_json_set(o, "frames", flr_json_count(r->compared));
    flr_json_set(o, "not_replayed", flr_json_count(r->behind));
    flr_json_set(o, "scene_changed", json_boolean(j->from.scene_changed));
    flr_json_set(o, "same", json_boolean(r->same));
    flr_json_set(o, "first_difference",
                 r->same ? json_null() : difference_json(r->first, r->then, r->now));
    flr_json_set(o, "hash", flr_json_text(FLR_HASH_TEXT(r->run.hash)));
    flr_json_set(o, "run",
                 j->from.setup.live
                     ? json_null()
                     : flr_run_json(j->stage, flr_stage_find(j->stage, j->from.setup.part),
                                    j->from.setup.rate, &r->run));
    return o;
}

static int fail_with(flr_cli *cli, flr_result did, const flr_error *error)
{
    return flr_fail_with(cli,
                         did == FLR_CANCELLED      ? FLR_EXIT_STOPPED
                         : did == FLR_BAD_ARGUMENT ? FLR_EXIT_USAGE
                         : did == FLR_TIMEOUT      ? FLR_EXIT_FAILED
                                                   : flr_exit_of_input(did),
                         error);
}

/* ---- the command ---- */

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const replay_values *values = given;
    flr_error error;
    replay_job j = {0};
    flr_catch_stop();
    flr_result did = flr_recorded_open(cli, arguments[0], &j.from, &error);
    if (did == FLR_OK) did = flr_hand_log_read(j.from.recording, arguments[0], &j.motion, &error);
    if (did == FLR_OK) did = make_stage(cli, values, count > 1 ? arguments[1] : NULL, &j, &error);
    if (did == FLR_OK)
        did = flr_replay_run(cli->env, &j.from.setup, j.stage, &j.motion, show_run, cli, &j.result,
                             &error);
    flr_progress_end(cli);
    int code = FLR_EXIT_OK;
    if (did == FLR_OK) {
        tell_what_is_missing(cli, &j);
        print_result(cli, &j);
        if (cli->json) flr_json_print(cli, result_json(&j));
        code = j.result.run.stopped ? FLR_EXIT_STOPPED
               : j.result.same      ? FLR_EXIT_OK
                                    : FLR_EXIT_FAILED;
    }
    free_job(&j);
    return did == FLR_OK ? code : fail_with(cli, did, &error);
}

static const char *const usage[] = {"RECORDING [SCENE] [options]", NULL};
static const flr_option options[] = {
    FLR_SWITCH(
        offsetof(replay_values, anyway), "anyway",
        "also when parts have changed since: the hand goes the same way, and feeler reports where "
        "things begin to differ"),
    FLR_NO_CACHE_OPTION(offsetof(replay_values, no_cache)),
    FLR_MEMORY_OPTION(offsetof(replay_values, memory)),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler replay turn.mcap", "does the same come out, to the bit?"},
    {"feeler replay turn.mcap --memory 8MiB", "where the voxels are larger than the memory"},
    {"feeler replay turn.mcap ball/scene.json --json",
     "with the scene where it is now, for a program"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "every frame is the same"},
    {FLR_EXIT_FAILED, "a frame differs; memory ran out, the output could not be written, or "
                      "voxels did not come from the disk"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT,
     "the recording or its scene cannot be used, or parts have changed since it was made"},
    {FLR_EXIT_STOPPED,
     "stopped by Ctrl-C; all frames up to there were the same, or the difference is reported"},
    {0, NULL},
};

const flr_command flr_cmd_replay = {
    .name = "replay",
    .summary = "run a recording again, and tell whether the same comes out",
    .usage = usage,
    .description =
        "Scene, parameters and what the device said in each frame are taken from the recording; "
        "everything else is computed anew. The state after each frame has a hash, which must be "
        "the one that was recorded; the first frame that differs is reported.\n\n"
        "A recording that feeler serve made is run again in the same way, with all that was done "
        "meanwhile: parts taken, let go of and placed, parameters changed, what stays merged. It "
        "ends where parts came, went or got other voxels: those are not in the file.\n\n"
        "A recording whose writer was killed is replayed up to its last chunk. The scene is the "
        "file that the recording names, or SCENE where it has moved.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 2,
    .argument_missing = "a recording",
    .values_size = sizeof(replay_values),
    .run = run,
};
