/* serve.h: a controller run by a command: feeler serve, and whatever else wants one */
#ifndef FLR_SERVE_H
#define FLR_SERVE_H

#include "command.h"
#include "server/service.h"

/* What a command line can say about it. Begin with FLR_SERVE_DEFAULTS. */
typedef struct flr_serve_options {
    int64_t port, hands, clients, workers, cpu, threads;
    uint64_t upload_limit, memory, scene_limit; /* scene_limit 0: the default */
    int engine;                                 /* flr_world_engine; -1: the scene's */
    double clearance, strength;                 /* of the exact engine; 0: the scene's */
    double rate, voxel, seconds;                /* seconds 0: until it is stopped */
    const char *listen, *token_file, *certificate, *key, *name, *origin, *recordings, *device;
    bool no_cache, no_devices;
    /* a shared session */
    bool share, relay, barrier, watch;
    int64_t share_port;
    double state_rate;
    const char *share_listen, *user;
    const char *join;                           /* HOST[:PORT]: joins that one; NULL: begins one */
    const char *share_token, *share_token_file; /* of who joins */
} flr_serve_options;

enum { FLR_SHARE_PORT = 7879 };

/* Its initializer. */
#define FLR_SERVE_DEFAULTS                                                                         \
    {                                                                                              \
        .port = FLR_SERVICE_PORT, .hands = 2, .clients = 64, .workers = 2, .cpu = -1,              \
        .engine = -1, .upload_limit = (uint64_t)512 << 20, .rate = 1000,                           \
        .share_port = FLR_SHARE_PORT, .state_rate = 100                                            \
    }

/* How much memory voxels may take; for tables of options. */
#define FLR_SERVE_MEMORY(at)                                                                       \
    {                                                                                              \
        .name = "memory", .type = FLR_OPTION_BYTES, .argument = "SIZE",                            \
        .help = "so much memory for the voxels of the scene's parts that never move, 1MiB to "     \
                "8GiB; the rest is read from the cache when parts come near; default: all of "     \
                "them are in memory",                                                              \
        .offset = at                                                                               \
    }

/* When it ends by itself; for tables of options. */
#define FLR_SERVE_SECONDS(at)                                                                      \
    {                                                                                              \
        .name = "seconds", .type = FLR_OPTION_NUMBER, .argument = "N",                             \
        .help = "end by itself after this time; default: only when it is stopped", .offset = at,   \
        .min = 0, .max = 1e9                                                                       \
    }

/* Recordings, hands, devices, loop and workers; for tables of options. `AT(field)`: where options.field is. */
#define FLR_SERVE_LOOP(AT, device_help)                                                            \
    {.name = "recordings",                                                                         \
     .type = FLR_OPTION_FOLDER,                                                                    \
     .argument = "FOLDER",                                                                         \
     .help = "where recordings are; default: feeler/recordings among the user's data",             \
     .offset = AT(recordings)},                                                                    \
        {.name = "hands",                                                                          \
         .type = FLR_OPTION_INTEGER,                                                               \
         .argument = "N",                                                                          \
         .help = "how many hands there are; default 2",                                            \
         .offset = AT(hands),                                                                      \
         .min = 1,                                                                                 \
         .max = 8},                                                                                \
        {.name = "device",                                                                         \
         .type = FLR_OPTION_TEXT,                                                                  \
         .argument = "NAME",                                                                       \
         .help = device_help,                                                                      \
         .offset = AT(device)},                                                                    \
        {.name = "no-devices",                                                                     \
         .help = "do not look for devices on this machine",                                        \
         .offset = AT(no_devices)},                                                                \
        {.name = "rate",                                                                           \
         .type = FLR_OPTION_NUMBER,                                                                \
         .argument = "HZ",                                                                         \
         .help = "frames of the loop in a second, 250 to 10000; default 1000",                     \
         .offset = AT(rate),                                                                       \
         .min = 250,                                                                               \
         .max = 10000},                                                                            \
        {.name = "cpu",                                                                            \
         .type = FLR_OPTION_INTEGER,                                                               \
         .argument = "N",                                                                          \
         .help = "the processor that the loop stays on; default: any",                             \
         .offset = AT(cpu),                                                                        \
         .min = -1,                                                                                \
         .max = 4095},                                                                             \
        {.name = "threads",                                                                        \
         .letter = 't',                                                                            \
         .type = FLR_OPTION_INTEGER,                                                               \
         .argument = "N",                                                                          \
         .help =                                                                                   \
             "threads that share a contact query; default 1; the result does not depend on it",    \
         .offset = AT(threads),                                                                    \
         .min = 1,                                                                                 \
         .max = 64},                                                                               \
    {                                                                                              \
        .name = "workers", .type = FLR_OPTION_INTEGER, .argument = "N",                            \
        .help = "threads that read and voxelize; default 2", .offset = AT(workers), .min = 1,      \
        .max = 64                                                                                  \
    }

/* What both sides of a shared session can say; for tables of options. `AT(field)`: where options.field is. */
#define FLR_SHARE_OPTIONS(AT)                                                                      \
    {.name = "user",                                                                               \
     .type = FLR_OPTION_TEXT,                                                                      \
     .argument = "NAME",                                                                           \
     .help = "how others in a shared session see you; default: the name you logged in with",       \
     .offset = AT(user)},                                                                          \
        {.name = "share-listen",                                                                   \
         .type = FLR_OPTION_TEXT,                                                                  \
         .argument = "ADDRESS",                                                                    \
         .help = "an address of this machine for other controllers, 0.0.0.0 for all",              \
         .offset = AT(share_listen)},                                                              \
        {.name = "state-rate",                                                                     \
         .type = FLR_OPTION_NUMBER,                                                                \
         .argument = "HZ",                                                                         \
         .help = "how often hands and parts are sent to others, 20 to 1000; default 100",          \
         .offset = AT(state_rate),                                                                 \
         .min = 20,                                                                                \
         .max = 1000},                                                                             \
    {                                                                                              \
        .name = "barrier", .help = "tell them in step with frames of the loop, not by the clock",  \
        .offset = AT(barrier)                                                                      \
    }

/* Does what was given make sense on this machine? All that can be known before anything begins: processor, names, files,
 * folders. A folder for recordings that is missing is made where its parent is there. The sentence names the option. */
flr_result flr_serve_check(flr_env *env, const flr_serve_options *options, flr_error *error);

/* Serves `scene` (a file, the name of a scenario, or NULL: an empty one) until Ctrl-C, SIGTERM or the time given, and returns
 * the exit code. Says where on standard output. `ready`, which may be NULL, is called with the address of the page once the
 * port is open. */
int flr_serve(flr_cli *cli, const flr_serve_options *options, const char *scene,
              void (*ready)(void *context, const char *url), void *context);

#endif
