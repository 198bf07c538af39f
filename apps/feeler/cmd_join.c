/* feeler join: a controller of one's own in somebody's shared session */
#include "command.h"
#include "serve.h"

typedef struct join_values {
    flr_common common;
    flr_serve_options options;
} join_values;

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    flr_serve_options options = ((const join_values *)given)->options;
    (void)count;
    options.share = true;
    options.join = arguments[0];
    /* who only looks has no hand that a device could move */
    options.no_devices = options.no_devices || options.watch;
    return flr_serve(cli, &options, NULL, NULL, NULL);
}

static const join_values defaults = {
    .options = {.hands = 2,
                .clients = 64,
                .workers = 2,
                .cpu = -1,
                .engine = -1,
                .onset = -1,
                .overlap = -1,
                .upload_limit = (uint64_t)512 << 20,
                .rate = 1000,
                .state_rate = 100},
};
static const char *const usage[] = {"HOST[:PORT] --token-file FILE [options]",
                                    "HOST[:PORT] --token TOKEN [options]", NULL};
#define JOIN_AT(field) offsetof(join_values, options.field)
static const flr_option options[] = {
    FLR_OPTION(PATH, JOIN_AT(share_token_file), "token-file", "FILE",
               "the token of the session is the first line of this file"),
    FLR_OPTION(
        TEXT, JOIN_AT(share_token), "token", "TOKEN",
        "the token itself; others on this machine can read command lines, so a file is better"),
    FLR_SHARE_OPTIONS(JOIN_AT),
    FLR_OPTION(BYTES, JOIN_AT(scene_limit), "scene-limit", "SIZE",
               "how large the scene that the host sends may be, all files together; default 2GiB"),
    FLR_OPTION(
        SIZE, JOIN_AT(voxel), "voxel", "SIZE",
        "advanced: voxels of this size here, whatever the session has: larger ones for a "
        "slower machine; forces then differ between the two sides, and feeler warns everybody",
        .min = 1e-9),
    FLR_SERVE_MEMORY(JOIN_AT(memory)),
    FLR_ENGINE_OPTIONS(JOIN_AT, ", for everybody in the session; the page can change it",
                       "the host's"),
    FLR_SWITCH(JOIN_AT(watch), "watch", "only watch: grab no parts"),
    FLR_OPTION(INTEGER, JOIN_AT(port), "port", "N",
               "port of this controller's page and clients; default: any that is free",
               .letter = 'p', .max = 65535),
    FLR_SERVE_LOOP(JOIN_AT,
                   "a device that moves the first hand from the beginning, as for feeler serve"),
    FLR_NO_CACHE_OPTION(JOIN_AT(no_cache)),
    FLR_SERVE_SECONDS(JOIN_AT(seconds)),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler join localhost --token 0123456789abcdef0123456789abcdef --seconds 1",
     "join the session that feeler serve --share started on this machine"},
    {"feeler join --help", "the options"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "it was stopped, or its time was over"},
    {FLR_EXIT_FAILED, "no answer, a wrong token, a scene that differs, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the token file cannot be used, or the host is not known"},
    {FLR_EXIT_STALLED, "its control thread did nothing for 2 s: forces were brought to zero first"},
    {0, NULL},
};

const flr_command flr_cmd_join = {
    .name = "join",
    .summary = "join a session that feeler serve --share started",
    .usage = usage,
    .description =
        "Joins the shared session of the controller at HOST (port 7879 by default), downloads the "
        "scene, voxelizes it, and serves the viewer's page on this machine. The loop and the "
        "forces "
        "are computed here; what hands do on either side is sent to the others.\n\n"
        "feeler serve --share prints the command to type. Traffic between controllers is always "
        "encrypted with the token; a wrong token gets no answer.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_NONE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a host: feeler join HOST[:PORT]",
    .values_size = sizeof(join_values),
    .defaults = &defaults,
    .run = run,
};
