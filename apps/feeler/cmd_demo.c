/* feeler demo: a scenario, a controller, a viewer; nothing to prepare */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "models/models.h"
#include "output.h"
#include "scenarios.h"
#include "serve.h"

extern char **environ;

typedef struct demo_values {
    flr_common common;
    flr_serve_options options;
    bool list, no_browser;
} demo_values;

/* what there is to try in a scenario, where there is something to say */
typedef struct hint {
    const char *name, *sentence;
} hint;

static const hint hints[] = {
    {"bay", "Take the blue pump out of its bay: lift it off its rails, turn it, draw it out."},
    {"probe", "Press on the butterfly: the point stays on its surface and slides as you drag."},
    {"ball", "Take the ball, put it into the socket and turn it there."},
    {"gear", "Take the actuator out of the landing gear. The first time its voxels take a while."},
    {"axle", "Put the axle together: seven parts lie on the bench."},
    {"falling", "Parts fall into a tray; take one and push the others about."},
};

static const char *hint_of(const char *name)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (strcmp(hints[i].name, name) == 0) return hints[i].sentence;
    return "Take a part with the mouse and move it.";
}

/* ---- the browser ---- */

/* Where a program is in PATH; false: nowhere. */
static bool find_program(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        if (length > 0 && length + strlen(name) + 2 <= size) {
            memcpy(path, folders, length);
            path[length] = '/';
            memcpy(path + length + 1, name, strlen(name) + 1);
            if (access(path, X_OK) == 0) return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Shows the page where there is a screen; says nothing where not: the address was printed. */
static void open_browser(const char *url)
{
    char path[4096];
    const char *programs[] = {"xdg-open", "sensible-browser", "x-www-browser"};
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (!find_program(programs[i], path, sizeof path)) continue;
        char *arguments[] = {(char *)programs[i], (char *)url, NULL};
        posix_spawn_file_actions_t actions;
        if (posix_spawn_file_actions_init(&actions) != 0) return;
        /* what a browser says is not what was asked for */
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        pid_t process;
        posix_spawn(&process, path, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        return;
    }
}

/* ---- the command ---- */

typedef struct show {
    flr_cli *cli;
    const demo_values *values;
    const char *name;
} show;

static void ready(void *context, const char *url)
{
    const show *s = context;
    flr_print_note(s->cli, "%s\n", hint_of(s->name));
    fflush(stdout);
    if (!s->values->no_browser && !s->cli->json) open_browser(url);
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const demo_values *values = given;
    if (values->list && count > 0) {
        flr_error error;
        flr_fail(&error, FLR_BAD_ARGUMENT,
                 "--list stands alone; feeler demo %s shows that scenario", arguments[0]);
        return flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    }
    if (values->list) return flr_scenarios_list(cli);
    show s = {cli, values, count > 0 ? arguments[0] : "bay"};
    if (!flr_scenario_find(s.name)) return flr_scenarios_unknown(cli, s.name);
    return flr_serve(cli, &values->options, s.name, ready, &s);
}

static const demo_values defaults = {.options = FLR_SERVE_DEFAULTS};
static const char *const usage[] = {"[NAME] [options]", "--list", NULL};
#define DEMO_AT(field) offsetof(demo_values, field)
static const flr_option options[] = {
    FLR_SWITCH(DEMO_AT(list), "list", "which there are", .letter = 'l'),
    FLR_SWITCH(DEMO_AT(no_browser), "no-browser",
               "print the address only; without a screen that is so anyway"),
    FLR_OPTION(INTEGER, DEMO_AT(options.port), "port", "N",
               "where the page is; 0: any that is free; default 7878", .letter = 'p', .max = 65535),
    FLR_SERVE_MEMORY(DEMO_AT(options.memory)),
    FLR_SERVE_SECONDS(DEMO_AT(options.seconds)),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler demo --port 0 --seconds 1", "the bay with its pump, on any free port, for a second"},
    {"feeler demo --list", "what there is to be shown"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "it was stopped, or its time was over"},
    {FLR_EXIT_FAILED, "the port cannot be had, or memory ran out"},
    {FLR_EXIT_USAGE, "there is no such scenario, or the command line is wrong; nothing was done"},
    {FLR_EXIT_STALLED, "its control thread did nothing for 2 s: forces were brought to zero first"},
    {0, NULL},
};

const flr_command flr_cmd_demo = {
    .name = "demo",
    .summary = "a scene, a controller, a viewer: nothing to prepare",
    .usage = usage,
    .description =
        "Makes a scenario (default: bay, a pump to be taken out of an equipment bay), runs it as "
        "feeler serve does, and opens the viewer in the browser where there is a screen. Drag a "
        "part with the mouse: it touches, slides, jams and comes free.\n\n"
        "Voxels are kept in the cache, so the second time is faster. feeler serve has more "
        "options, "
        "and takes scenes of your own.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_WORD,
    .words = flr_scenarios_words,
    .min_arguments = 0,
    .max_arguments = 1,
    .argument_missing = "a scenario",
    .values_size = sizeof(demo_values),
    .defaults = &defaults,
    .run = run,
};
