/* serve.h: a controller run by a command: feeler serve, and whatever else wants one */
#ifndef FLR_SERVE_H
#define FLR_SERVE_H

#include "command.h"
#include "scene/scene.h"
#include "server/service.h"
#include "touch.h"

/* What a command line can say about it. Begin with FLR_SERVE_DEFAULTS. */
typedef struct flr_serve_options {
    int64_t port, hands, clients, workers, cpu, threads;
    int up;                                     /* of a CAD file: flr_axis */
    bool watch_files;                           /* of the scene */
    uint64_t upload_limit, memory, scene_limit; /* scene_limit 0: the default */
    int engine;                                 /* flr_world_engine; -1: the scene's */
    double onset, strength, overlap;            /* as in flr_engine_def */
    double tests;                               /* as in flr_engine_def; 0: the scene's */
    double rate, voxel, seconds;                /* seconds 0: until it is stopped */
    const char *listen, *token_file, *certificate, *key, *name, *origin, *recordings, *device,
        *mapping;
    bool no_cache, no_devices, every_frame, local_haptics, https;
    /* a shared session */
    bool share, relay, barrier, watch;
    int64_t share_port;
    double state_rate;
    const char *share_listen, *user;
    const char *join;                           /* HOST[:PORT]: joins that one; NULL: begins one */
    const char *share_token, *share_token_file; /* of the session */
} flr_serve_options;

enum { FLR_SHARE_PORT = 7879 };

/* Its initializer. */
#define FLR_SERVE_DEFAULTS                                                                         \
    {                                                                                              \
        .port = FLR_SERVICE_PORT, .hands = 2, .clients = 64, .workers = 2, .cpu = -1,              \
        .engine = -1, .onset = -1, .overlap = -1, .upload_limit = (uint64_t)512 << 20,             \
        .rate = 1000, .share_port = FLR_SHARE_PORT, .state_rate = 100                              \
    }

/* How much memory voxels may take; for tables of options. */
#define FLR_SERVE_MEMORY(at)                                                                       \
    FLR_OPTION(BYTES, at, "memory", "SIZE",                                                        \
               "memory for the voxels of the scene's parts that never move, 1MiB to 8GiB; the "    \
               "rest is read from the cache when parts come near; default: all of them are in "    \
               "memory")

/* When it ends by itself; for tables of options. */
#define FLR_SERVE_SECONDS(at)                                                                      \
    FLR_OPTION(NUMBER, at, "seconds", "N",                                                         \
               "end by itself after this time; default: only when it is stopped", .min = 0,        \
               .max = 1e9)

/* Recordings, hands, devices, loop and workers; for tables of options. `AT(field)`: where options.field is. */
#define FLR_SERVE_LOOP(AT, device_help)                                                            \
    FLR_OPTION(FOLDER, AT(recordings), "recordings", "FOLDER",                                     \
               "where recordings are; default: feeler/recordings among the user's data"),          \
        FLR_SWITCH(AT(every_frame), "every-frame",                                                 \
                   "record every frame of the loop, so that feeler replay can run a recording "    \
                   "again, bit for bit; up to 100 MB a minute instead of 10"),                     \
        FLR_OPTION(INTEGER, AT(hands), "hands", "N", "how many hands there are; default 2",        \
                   .min = 1, .max = 8),                                                            \
        FLR_OPTION(TEXT, AT(device), "device", "NAME", device_help),                               \
        FLR_OPTION(TEXT, AT(mapping), "mapping", "KEY=VALUE,...",                                  \
                   "how devices move hands, before what the scene says: scale=2 (metres in the "   \
                   "scene for a metre of the device), axes=view|world, "                           \
                   "boundary=none|drift|bubble, clutch=BUTTON"),                                   \
        FLR_SWITCH(AT(no_devices), "no-devices", "do not look for devices on this machine"),       \
        FLR_OPTION(NUMBER, AT(rate), "rate", "HZ",                                                 \
                   "frames of the loop in a second, 250 to 10000; default 1000", .min = 250,       \
                   .max = 10000),                                                                  \
        FLR_SWITCH(AT(local_haptics), "local-haptics",                                             \
                   "serve devices at the full rate from the contacts of the last step, by a "      \
                   "thread of their own, also while a step takes longer than a frame"),            \
        FLR_OPTION(INTEGER, AT(cpu), "cpu", "N",                                                   \
                   "the processor that the loop stays on; default: any", .min = -1, .max = 4095),  \
        FLR_OPTION(INTEGER, AT(workers), "workers", "N",                                           \
                   "threads that read and voxelize; default 2", .min = 1, .max = 64)

/* What both sides of a shared session can say; for tables of options. `AT(field)`: where options.field is. */
#define FLR_SHARE_OPTIONS(AT)                                                                      \
    FLR_OPTION(TEXT, AT(user), "user", "NAME",                                                     \
               "how others in a shared session see you; default: the name you logged in with"),    \
        FLR_OPTION(TEXT, AT(share_listen), "share-listen", "ADDRESS",                              \
                   "an address of this machine for other controllers, 0.0.0.0 for all"),           \
        FLR_OPTION(NUMBER, AT(state_rate), "state-rate", "HZ",                                     \
                   "how often hands and parts are sent to others, 20 to 1000; default 100",        \
                   .min = 20, .max = 1000),                                                        \
        FLR_SWITCH(AT(barrier), "barrier",                                                         \
                   "send them in step with frames of the loop, not by the clock")

/* Does what was given make sense on this machine? All that can be known before anything begins: processor, names, files,
 * folders. A folder for recordings that is missing is made where its parent is there. The sentence names the option. */
flr_result flr_serve_check(flr_env *env, const flr_serve_options *options, flr_error *error);

/* Serves `scene` (a file, the name of a scenario, or NULL: an empty one) until Ctrl-C, SIGTERM or the time given, and returns
 * the exit code. Says where on standard output. `ready`, which may be NULL, is called with the address of the page once the
 * port is open. */
int flr_serve(flr_cli *cli, const flr_serve_options *options, const char *scene,
              void (*ready)(void *context, const char *url), void *context);

#endif
