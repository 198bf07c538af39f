/* the table of commands, and the way from argv to one of them */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "options.h"
#include "output.h"

const flr_command *const flr_commands[] = {
    &flr_cmd_demo,       &flr_cmd_serve, &flr_cmd_join,     &flr_cmd_make,
    &flr_cmd_scene,      &flr_cmd_clash, &flr_cmd_plan,     &flr_cmd_verify,
    &flr_cmd_study,      &flr_cmd_check, &flr_cmd_voxelize, &flr_cmd_contacts,
    &flr_cmd_probe,      &flr_cmd_sweep, &flr_cmd_run,      &flr_cmd_replay,
    &flr_cmd_report,     &flr_cmd_cache, &flr_cmd_info,     &flr_cmd_convert,
    &flr_cmd_mcp,        &flr_cmd_bench, &flr_cmd_device,   &flr_cmd_doctor,
    &flr_cmd_completion, &flr_cmd_help,  &flr_cmd_version,  NULL,
};

#define COMMON(field) offsetof(flr_common, field)

const flr_option flr_common_options[] = {
    FLR_SWITCH(COMMON(json), "json", "one JSON document on standard output instead of text"),
    FLR_SWITCH(COMMON(quiet), "quiet", "only results and errors: no notes, no progress",
               .letter = 'q'),
    FLR_SWITCH(COMMON(verbose), "verbose",
               "say on standard error when each step began, and what all took", .letter = 'v'),
    FLR_SWITCH(COMMON(progress), "progress",
               "progress as lines of JSON on standard error, for programs"),
    FLR_SWITCH(COMMON(help), "help", "show this help", .letter = 'h'),
    FLR_SWITCH(COMMON(version), "version", "show the version of feeler"),
    {.name = NULL},
};

const flr_exit_text flr_default_exits[] = {
    {FLR_EXIT_OK, "done"},
    {FLR_EXIT_FAILED, "failed: something could not be written, or memory ran out"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "an input cannot be used: missing, unreadable or broken"},
    {0, NULL},
};

const flr_command *flr_command_find(const char *name)
{
    for (const flr_command *const *c = flr_commands; *c; c++)
        if (!strcmp((*c)->name, name)) return *c;
    return NULL;
}

static int unknown_command(flr_cli *cli, const char *name)
{
    const char *names[FLR_WORDS_MAX];
    size_t count = 0;
    for (const flr_command *const *c = flr_commands; *c && count < FLR_WORDS_MAX; c++)
        names[count++] = (*c)->name;
    const char *near = flr_suggest(name, names, count);
    if (near) return FLR_REFUSE(cli, "no command \"%s\"; did you mean feeler %s?", name, near);
    return FLR_REFUSE(cli, "no command \"%s\"; see feeler --help", name);
}

/* What the build and the tests ask for: man pages, completion, and all examples one per line. */
static int generate(flr_cli *cli, int argc, char **argv)
{
    flr_error error;
    if (argc == 2 && (!strcmp(argv[0], "man") || !strcmp(argv[0], "completion"))) {
        flr_result result = argv[0][0] == 'm' ? flr_man_write(cli->env, argv[1], &error)
                                              : flr_completion_write(cli->env, argv[1], &error);
        return result == FLR_OK ? FLR_EXIT_OK : flr_fail_with(cli, FLR_EXIT_FAILED, &error);
    }
    if (argc == 1 && !strcmp(argv[0], "examples")) {
        for (const flr_command *const *c = flr_commands; *c; c++)
            for (const flr_example *e = (*c)->examples; e->line; e++) puts(e->line);
        return FLR_EXIT_OK;
    }
    return FLR_REFUSE(cli, "--generate knows: man FOLDER, completion FOLDER, examples");
}

static int run_command(flr_cli *cli, const flr_command *command, int argc, char **argv)
{
    _Alignas(max_align_t) char values[FLR_VALUES_MAX];
    flr_error error;
    int count = 0;
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (!arguments) return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_NO_MEMORY, "out of memory");

    cli->command = command;
    int code;
    if (flr_options_parse(command, argc, argv, values, arguments, &count, &error) != FLR_OK) {
        code = flr_fail_with(cli, FLR_EXIT_USAGE, &error);
    } else {
        const flr_common *common = (const flr_common *)values;
        cli->quiet = common->quiet;
        cli->verbose = common->verbose;
        cli->progress_lines = common->progress && !common->quiet;
        cli->progress = cli->progress && !common->quiet && !common->progress;
        if (common->help) {
            flr_help_command(cli, command);
            code = FLR_EXIT_OK;
        } else if (common->version) {
            code = flr_cmd_version.run(cli, values, 0, arguments);
        } else {
            code = command->run(cli, values, count, arguments);
            flr_tell_cost(cli);
        }
    }
    free(arguments);
    return code;
}

int flr_command_main(flr_cli *cli, int argc, char **argv)
{
    cli->json = flr_options_has_flag(argc, argv, "json");
    cli->start_ns = flr_clock_ns(cli->env);
    if (argc < 2) {
        flr_error error;
        flr_fail(&error, FLR_BAD_ARGUMENT, "no command given; see feeler --help");
        flr_complain(cli, &error);
        return FLR_EXIT_USAGE;
    }
    const char *first = argv[1];
    if (!strcmp(first, "--generate")) return generate(cli, argc - 2, argv + 2);

    // feeler --help and feeler --version, also with --json before or after
    if (first[0] == '-') {
        bool version = flr_options_has_flag(argc, argv, "version");
        bool help = flr_options_has_flag(argc, argv, "help") || !strcmp(first, "-h");
        if (version) return run_command(cli, &flr_cmd_version, 0, NULL);
        if (help) return run_command(cli, &flr_cmd_help, 0, NULL);
        return FLR_REFUSE(cli,
                          "unknown option %s before a command; write feeler COMMAND "
                          "[options], and see feeler --help",
                          first);
    }
    const flr_command *command = flr_command_find(first);
    if (!command) return unknown_command(cli, first);
    return run_command(cli, command, argc - 2, argv + 2);
}
