/* feeler completion */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output.h"

static size_t shell_words(const char **words, size_t capacity)
{
    size_t count = 0;
    while (flr_shells[count] && count < capacity) words[count] = flr_shells[count], count++;
    return count;
}

static int run(flr_cli *cli, const void *values, int count, char **arguments)
{
    (void)values, (void)count;
    const char *const *shell = flr_shells;
    while (*shell && strcmp(*shell, arguments[0]) != 0) shell++;
    if (!*shell)
        return FLR_REFUSE(cli, "no completion for \"%s\"; there are bash, zsh and fish",
                          arguments[0]);
    char *script = flr_completion_script(*shell);
    if (!script) return flr_fail_saying(cli, FLR_EXIT_FAILED, FLR_NO_MEMORY, "out of memory");
    flr_print(cli, "%s", script);
    json_t *document = flr_json_object();
    flr_json_set(document, "shell", flr_json_text(*shell));
    flr_json_set(document, "script", flr_json_text(script));
    flr_json_print(cli, document);
    free(script);
    return FLR_EXIT_OK;
}

static const char *const usage[] = {"bash|zsh|fish", NULL};
static const flr_example examples[] = {
    {"feeler completion bash", "the script for bash"},
    {"feeler completion zsh > _feeler", "a file for a folder of zsh's fpath"},
    {"feeler completion fish > feeler.fish", "a file for ~/.config/fish/completions"},
    {NULL, NULL},
};

const flr_command flr_cmd_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .usage = usage,
    .description =
        "Prints a script that lets the shell complete feeler's commands, options and values with "
        "the Tab key. An installed feeler has put the scripts in place already. To try one in "
        "the running shell:\n"
        "\n"
        "  bash   source <(feeler completion bash)\n"
        "  zsh    source <(feeler completion zsh)\n"
        "  fish   feeler completion fish | source",
    .examples = examples,
    .argument = FLR_ARGUMENT_WORD,
    .words = shell_words,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a shell: bash, zsh or fish",
    .values_size = sizeof(flr_common),
    .run = run,
};
