/* feeler serve: the controller for a scene, its viewer and its clients */
#include "command.h"
#include "files.h"
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
    FLR_OPTION(INTEGER, SERVE_AT(port), "port", "N",
               "port of the page and the clients; 0: any that is free; default 7878", .letter = 'p',
               .max = 65535),
    FLR_OPTION(TEXT, SERVE_AT(listen), "listen", "ADDRESS",
               "an address of this machine that others can reach, 0.0.0.0 for all; clients "
               "then need a token, which is generated and printed; default: this machine alone"),
    FLR_OPTION(
        PATH, SERVE_AT(token_file), "token-file", "FILE",
        "the token is the first line of this file; clients on this machine need it, too, and "
        "the page asks for it: it is not printed"),
    FLR_SWITCH(SERVE_AT(https), "https",
               "all connections use TLS, with a certificate that feeler makes and explains; "
               "headsets (WebXR) and other machines' browsers need it"),
    FLR_OPTION(PATH, SERVE_AT(certificate), "tls-cert", "FILE",
               "certificate (PEM): all connections use TLS"),
    FLR_OPTION(PATH, SERVE_AT(key), "tls-key", "FILE", "its key (PEM)"),
    FLR_OPTION(TEXT, SERVE_AT(name), "name", "NAME",
               "another name of this machine, besides localhost and its host name"),
    FLR_OPTION(
        TEXT, SERVE_AT(origin), "origin", "URL",
        "a page from elsewhere that may connect to this controller, such as http://localhost:5173"),
    FLR_OPTION(INTEGER, SERVE_AT(clients), "clients", "N",
               "how many clients may connect at once; default 64", .min = 1, .max = 1000),
    FLR_OPTION(BYTES, SERVE_AT(upload_limit), "upload-limit", "SIZE",
               "how large an uploaded file may be; default 512MiB"),
    FLR_SERVE_LOOP(
        SERVE_AT, "a device that moves the first hand from the beginning: spacemouse, openhaptics, "
                  "forcedimension, haply, or a plugin's, with its options as NAME:key=value,…"),
    FLR_OPTION(CHOICE, SERVE_AT(up), "up", "auto|x|y|z",
               "which axis of a CAD file is up; default: the axis that the file states, or the "
               "most likely one",
               .choices = flr_axis_choices),
    FLR_OPTION(
        SIZE, SERVE_AT(voxel), "voxel", "SIZE",
        "advanced: edge length of voxels of parts that have none of their own; default: feeler "
        "chooses one from the sizes of the parts, the gap between them and the memory, and says "
        "which",
        .min = 1e-9),
    FLR_ENGINE_OPTIONS(SERVE_AT, ", whatever the scene says; the page can change it",
                       "the scene's"),
    FLR_SERVE_MEMORY(SERVE_AT(memory)),
    {.name = "watch",
     .help = "notice when a file of the scene changes; the page then offers to read it again, and "
             "its parts keep everything but the shape",
     .offset = SERVE_AT(watch_files)},
    FLR_NO_CACHE_OPTION(SERVE_AT(no_cache)),
    FLR_SHARE_OPTIONS(SERVE_AT),
    FLR_SWITCH(SERVE_AT(share), "share",
               "share the scene: others can join with the command that feeler prints"),
    FLR_OPTION(INTEGER, SERVE_AT(share_port), "share-port", "N",
               "port for other controllers (UDP); 0: any that is free; default 7879", .max = 65535),
    FLR_SWITCH(
        SERVE_AT(relay), "relay",
        "send the hands and parts of all members through this controller, for members who cannot "
        "reach each other"),
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
    {FLR_EXIT_FAILED, "the port is not available, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the scene, a certificate or the token file cannot be used"},
    {FLR_EXIT_STALLED, "its control thread did nothing for 2 s: forces were brought to zero first"},
    {0, NULL},
};

const flr_command flr_cmd_serve = {
    .name = "serve",
    .summary = "a scene, its 1000 Hz loop, and a viewer in the browser",
    .usage = usage,
    .description =
        "Loads a scene (a scene file, a CAD or mesh file such as pump.step, a robot description "
        "such as robot.urdf, or the name of a scenario of feeler make), voxelizes it, runs the "
        "loop "
        "and the devices, and serves the viewer's page and all clients on one port. Without a "
        "scene "
        "it starts empty; the page or an application can add parts.\n\n"
        "Only this machine can reach it, unless --listen opens it to others. Everybody then needs "
        "the "
        "token, which is printed at the end of the address or read from --token-file. Use "
        "--tls-cert "
        "and --tls-key on a network that you do not trust. docs/serve.md says what is exposed, and "
        "how to do that safely.\n\n"
        "With --share, other controllers can join the scene with feeler join. They communicate "
        "over "
        "UDP, always encrypted with a token: that of --token-file, or one that is generated and "
        "printed. docs/collaboration.md says what they share.",
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
