/* feeler help, feeler version */

#include "base/suggest.h"
#include "command.h"
#include "feeler/version.h"
#include "output.h"

static size_t command_words(const char **words, size_t capacity)
{
    size_t count = 0;
    for (const flr_command *const *c = flr_commands; *c && count < capacity; c++)
        words[count++] = (*c)->name;
    return count;
}

static int run_help(flr_cli *cli, const void *values, int count, char **arguments)
{
    (void)values;
    if (count == 0) {
        flr_help_overview(cli);
        return FLR_EXIT_OK;
    }
    const flr_command *command = flr_command_find(arguments[0]);
    if (!command) {
        const char *words[FLR_WORDS_MAX];
        const char *near = flr_suggest(arguments[0], words, command_words(words, FLR_WORDS_MAX));
        return FLR_REFUSE(
            cli, near ? "no command \"%s\"; did you mean %s?" : "no command \"%s\"; see feeler %s",
            arguments[0], near ? near : "--help");
    }
    flr_help_command(cli, command);
    return FLR_EXIT_OK;
}

static const char *const help_usage[] = {"[COMMAND]", NULL};
static const flr_example help_examples[] = {
    {"feeler help", "all commands"},
    {"feeler help make", "one command"},
    {NULL, NULL},
};

const flr_command flr_cmd_help = {
    .name = "help",
    .summary = "show what feeler can do, or all about one command",
    .usage = help_usage,
    .description = "Without a command it lists all commands. With one it prints the same as "
                   "feeler COMMAND --help. The man pages say the same: man feeler, man "
                   "feeler-make.",
    .examples = help_examples,
    .argument = FLR_ARGUMENT_WORD,
    .words = command_words,
    .max_arguments = 1,
    .values_size = sizeof(flr_common),
    .run = run_help,
};

static int run_version(flr_cli *cli, const void *values, int count, char **arguments)
{
    (void)values, (void)count, (void)arguments;
    flr_print(cli, "feeler " FLR_VERSION "\n");
    json_t *document = flr_json_object();
    flr_json_set(document, "version", flr_json_text(FLR_VERSION));
    flr_json_print(cli, document);
    return FLR_EXIT_OK;
}

static const char *const version_usage[] = {"", NULL};
static const flr_example version_examples[] = {
    {"feeler version", "which feeler is this?"},
    {"feeler version --json", "the same for a program"},
    {NULL, NULL},
};

const flr_command flr_cmd_version = {
    .name = "version",
    .summary = "show the version of feeler",
    .usage = version_usage,
    .description = "Versions follow semantic versioning: a program that was built against "
                   "libfeeler MAJOR.x runs with every later MAJOR.y; while MAJOR is 0, one built "
                   "against 0.x runs with every later 0.x.y.",
    .examples = version_examples,
    .values_size = sizeof(flr_common),
    .run = run_version,
};
