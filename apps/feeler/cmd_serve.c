/* feeler serve: the controller for a scene, its viewer and its clients */
#include "command.h"
#include "scene/scene.h"
#include "serve.h"

typedef struct serve_values {
    flr_common common;
    flr_serve_options options;
} serve_values;

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const serve_values *values = given;
    return flr_serve(cli, &values->options, count > 0 ? arguments[0] : NULL, NULL, NULL);
}

static const serve_values defaults = {.options = FLR_SERVE_DEFAULTS};
static const char *const usage[] = {"[SCENE|FILE] [options]", NULL};
#define SERVE_AT(field) offsetof(serve_values, options.field)
static const flr_option options[] = {
    {.name = "port",
     .letter = 'p',
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "where the page and the clients come to; 0: any that is free; default 7878",
     .offset = SERVE_AT(port),
     .max = 65535},
    {.name = "listen",
     .type = FLR_OPTION_TEXT,
     .argument = "ADDRESS",
     .help = "an address of this machine that others can reach, 0.0.0.0 for all; then a token is "
             "needed, which is made and printed; default: this machine alone",
     .offset = SERVE_AT(listen)},
    {.name = "token-file",
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "the token is the first line of this file; clients on this machine need it, too, and "
             "the page asks for it: it is not printed",
     .offset = SERVE_AT(token_file)},
    {.name = "tls-cert",
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "certificate (PEM): the page and all else go through TLS",
     .offset = SERVE_AT(certificate)},
    {.name = "tls-key",
     .type = FLR_OPTION_PATH,
     .argument = "FILE",
     .help = "its key (PEM)",
     .offset = SERVE_AT(key)},
    {.name = "name",
     .type = FLR_OPTION_TEXT,
     .argument = "NAME",
     .help = "a name that this machine goes by beside localhost and its host name",
     .offset = SERVE_AT(name)},
    {.name = "origin",
     .type = FLR_OPTION_TEXT,
     .argument = "URL",
     .help = "a page from elsewhere that may call this controller, such as http://localhost:5173",
     .offset = SERVE_AT(origin)},
    {.name = "clients",
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "how many at once; default 64",
     .offset = SERVE_AT(clients),
     .min = 1,
     .max = 1000},
    {.name = "upload-limit",
     .type = FLR_OPTION_BYTES,
     .argument = "SIZE",
     .help = "how large an uploaded file may be; default 512MiB",
     .offset = SERVE_AT(upload_limit)},
    FLR_SERVE_LOOP(
        SERVE_AT, "a device that moves the first hand from the beginning: spacemouse, openhaptics, "
                  "forcedimension, or a plugin's, with its options as NAME:key=value,…"),
    {.name = "voxel",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "of parts that have none of their own; default: what fits the part",
     .offset = SERVE_AT(voxel),
     .min = 1e-9},
    {.name = "engine",
     .type = FLR_OPTION_CHOICE,
     .argument = "shell|spheres|exact",
     .help = "how contact is found, whatever the scene says; exact: for tight fits; the page can "
             "change it; default: the scene's, else shell",
     .offset = SERVE_AT(engine),
     .choices = flr_scene_engines},
    {.name = "clearance",
     .type = FLR_OPTION_SIZE,
     .argument = "SIZE",
     .help = "of the exact engine: force begins this far before surfaces meet; default: the "
             "scene's, else 0.005mm",
     .offset = SERVE_AT(clearance),
     .min = 1e-9,
     .max = 1},
    {.name = "strength",
     .type = FLR_OPTION_NUMBER,
     .argument = "X",
     .help = "of the exact engine: how hard a hand pulls, as a share of 10 N and 0.5 N m; default: "
             "the scene's, else 1",
     .offset = SERVE_AT(strength),
     .min = 0.01,
     .max = 100},
    FLR_SERVE_MEMORY(SERVE_AT(memory)),
    FLR_NO_CACHE_OPTION(SERVE_AT(no_cache)),
    FLR_SHARE_OPTIONS(SERVE_AT),
    {.name = "share",
     .help = "others can join: the scene is a shared session; the line that they type is printed",
     .offset = SERVE_AT(share)},
    {.name = "share-port",
     .type = FLR_OPTION_INTEGER,
     .argument = "N",
     .help = "where other controllers come to (UDP); 0: any that is free; default 7879",
     .offset = SERVE_AT(share_port),
     .max = 65535},
    {.name = "relay",
     .help = "hands and parts of all go through this controller, for members who cannot reach each "
             "other",
     .offset = SERVE_AT(relay)},
    FLR_SERVE_SECONDS(SERVE_AT(seconds)),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler serve ball/scene.json --port 0 --seconds 1",
     "the controller for a scene, on any free port, for a second"},
    {"feeler serve ball/scene.json --share --share-port 0 --port 0 --seconds 1",
     "a scene that others can join"},
    {"feeler serve ball/ball.stl --port 0 --seconds 1", "a CAD or mesh file, opened directly"},
    {"feeler serve --port 0 --seconds 1 --json",
     "an empty scene, for an application that brings its own"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "it was stopped, or its time was over"},
    {FLR_EXIT_FAILED, "the port cannot be had, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a certificate or the file of the token cannot be used"},
    {FLR_EXIT_STALLED, "its control thread did nothing for 2 s: forces were brought to zero first"},
    {0, NULL},
};

const flr_command flr_cmd_serve = {
    .name = "serve",
    .summary = "a scene, its 1000 Hz loop, and a viewer in the browser",
    .usage = usage,
    .description =
        "Loads a scene (a scene file, a CAD or mesh file such as pump.step, or the name of a "
        "scenario "
        "that feeler make knows), makes its "
        "voxels, runs the loop and the devices, and serves the viewer's page and all clients on "
        "one "
        "port. Without a scene it begins empty; parts can be brought by the page or by an "
        "application.\n\n"
        "Only this machine can reach it, unless --listen says otherwise. Then everybody needs the "
        "token: it is printed at the end of the address, or is that of --token-file; use "
        "--tls-cert and --tls-key on a "
        "network "
        "that is not yours alone. docs/serve.md tells what is exposed, and how to do that "
        "safely.\n\n"
        "With --share other controllers join the scene: feeler join. They talk by UDP, always "
        "sealed with a token: the one of --token-file, or one that is made and printed. "
        "docs/collaboration.md tells what they share.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 0,
    .max_arguments = 1,
    .argument_missing = "a scene",
    .values_size = sizeof(serve_values),
    .defaults = &defaults,
    .run = run,
};
