/* feeler doctor: what this machine is, what it can do, and what could be better */
#include "doctor.h"

#include <string.h>

#include "output.h"

struct flr_doctor {
    flr_cli *cli;
    json_t *checks;
    unsigned better;
    bool problems_only;
};

typedef struct doctor_values {
    flr_common common;
    bool problems;
} doctor_values;

void flr_doctor_say(flr_doctor *doctor, const char *name, bool fine, const char *value,
                    const char *advice, json_t *numbers)
{
    flr_cli *cli = doctor->cli;
    flr_progress_end(cli);
    if (!fine) doctor->better++;
    if (!fine || !doctor->problems_only) {
        flr_print(cli, "%s%-7s%s %-11s %s\n", fine ? flr_green(cli) : flr_yellow(cli),
                  fine ? "ok" : "better", flr_plain(cli), name, FLR_SAFE(value));
        if (!fine) flr_print(cli, "%20s%s\n", "", FLR_SAFE(advice));
    }
    json_t *check = flr_json_object();
    flr_json_set(check, "name", flr_json_text(name));
    flr_json_set(check, "state", flr_json_text(fine ? "ok" : "better"));
    flr_json_set(check, "value", flr_json_text(value));
    flr_json_set(check, "advice", fine ? json_null() : flr_json_text(advice));
    flr_json_set(check, "numbers", numbers ? numbers : flr_json_object());
    flr_json_push(doctor->checks, check);
}

static int run(flr_cli *cli, const void *values, int count, char **arguments)
{
    (void)count, (void)arguments;
    const doctor_values *options = values;
    flr_doctor doctor = {
        .cli = cli, .checks = flr_json_array(), .problems_only = options->problems || cli->quiet};

    // one line each, from the machine to what feeler needs of it
    static void (*const checks[])(flr_doctor *, flr_env *) = {
        flr_doctor_system,     flr_doctor_processor, flr_doctor_simd,     flr_doctor_memory,
        flr_doctor_huge_pages, flr_doctor_realtime,  flr_doctor_locked,   flr_doctor_clock,
        flr_doctor_timer,      flr_doctor_kernel,    flr_doctor_governor, flr_doctor_isolated,
        flr_doctor_cache,      flr_doctor_import,    flr_doctor_devices,  flr_doctor_share,
        flr_doctor_terminal};
    const size_t total = sizeof checks / sizeof checks[0];
    for (size_t i = 0; i < total; i++) {
        flr_progress(cli, i, total, "looking at this machine");
        checks[i](&doctor, cli->env);
    }

    if (doctor.better)
        flr_print_note(cli, "\nfeeler works here; %u thing%s could be better.\n", doctor.better,
                       flr_noun(doctor.better, "", "s"));
    else
        flr_print_note(cli, "\nfeeler works here, and nothing is left to improve.\n");
    json_t *document = flr_json_object();
    flr_json_set(document, "checks", doctor.checks);
    flr_json_set(document, "better", flr_json_count(doctor.better));
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

static const char *const usage[] = {"[options]", NULL};
static const flr_option options[] = {
    FLR_SWITCH(offsetof(doctor_values, problems), "problems", "show only what could be better"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler doctor", "look at this machine"},
    {"feeler doctor --problems", "only what could be better, and how"},
    {"feeler doctor --json", "for a bug report"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "looked, whatever was found"},
    {FLR_EXIT_FAILED, "standard output could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong"},
    {0, NULL},
};

const flr_command flr_cmd_doctor = {
    .name = "doctor",
    .summary = "tell what this machine can do and what could be better",
    .usage = usage,
    .description =
        "Looks at processor, memory, large pages, the right to run with real-time priority and "
        "to lock memory, clock and kernel, the cache folder, the import helper and the devices "
        "(SpaceMouse, force devices, plugins in the folder that FEELER_DEVICES names), whether a "
        "session can be shared from here, "
        "and runs an "
        "empty loop for a second to see how late it wakes up: a rate is held when that costs a "
        "quarter of a frame at most, 99 times of 100. Each line begins with ok or better; where "
        "something could be better, the next line says how. It changes nothing and takes about "
        "two seconds.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .values_size = sizeof(doctor_values),
    .run = run,
};
