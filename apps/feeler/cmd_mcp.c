/* feeler mcp: a Model Context Protocol server on standard input and output */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp.h"
#include "output.h"

typedef struct mcp_values {
    flr_common common;
    double time;
    uint64_t memory;
} mcp_values;

/* The folders, each once, as absolute paths. */
static flr_result take_folders(flr_mcp_limits *limits, int count, char **given, flr_error *error)
{
    for (int i = 0; i < count; i++) {
        struct stat info;
        char *real = realpath(given[i], NULL);
        if (!real || stat(real, &info) != 0 || !S_ISDIR(info.st_mode)) {
            free(real);
            return flr_fail(error, FLR_NOT_FOUND, "%s: is no folder that can be opened", given[i]);
        }
        limits->folders[limits->folder_count++] = real;
    }
    return FLR_OK;
}

/* Answers a line without its end, unless it is empty. */
static bool answer(const flr_mcp *mcp, const char *line, size_t size)
{
    char *text = size ? flr_mcp_answer(mcp, line, size) : NULL;
    const bool written =
        !text || (fputs(text, stdout) >= 0 && putchar('\n') != EOF && fflush(stdout) == 0);
    free(text);
    return written;
}

/* Answers line by line until the input ends. A line that is too long is answered and skipped; the last needs no end. */
static int serve(const flr_mcp *mcp)
{
    char *line = NULL;
    size_t room = 0, size = 0;
    bool skipping = false, written = true;
    while (written) {
        if (size == room) {
            char *more = room <= FLR_MCP_MAX_LINE ? realloc(line, room ? 2 * room : 4096) : NULL;
            if (more) {
                line = more;
                room = room ? 2 * room : 4096;
            } else {
                skipping = true; /* what is longer than a message is none */
                size = 0;
            }
        }
        ssize_t got = read(STDIN_FILENO, line + size, room - size);
        if (got <= 0) break;
        size += (size_t)got;
        for (char *end; written && (end = memchr(line, '\n', size));) {
            const size_t used = (size_t)(end - line) + 1;
            written = answer(mcp, line, skipping ? FLR_MCP_MAX_LINE + 1 : used - 1);
            skipping = false;
            memmove(line, line + used, size - used);
            size -= used;
        }
    }
    if (written && (skipping || size))
        written = answer(mcp, line, skipping ? FLR_MCP_MAX_LINE + 1 : size);
    free(line);
    return written ? FLR_EXIT_OK : FLR_EXIT_FAILED;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const mcp_values *v = given;
    flr_mcp mcp = {
        .env = cli->env, .limits = {.seconds = v->time, .memory = v->memory}, .run = flr_mcp_run};
    flr_error error;
    flr_result result = take_folders(&mcp.limits, count, arguments, &error);
    int code = result == FLR_OK ? serve(&mcp) : flr_fail_with(cli, FLR_EXIT_INPUT, &error);
    for (int i = 0; i < mcp.limits.folder_count; i++) free(mcp.limits.folders[i]);
    return code;
}

static const mcp_values defaults = {.time = 120, .memory = UINT64_C(4) << 30};
static const char *const usage[] = {"DIR... [options]", NULL};
#define MCP_AT(field) offsetof(mcp_values, field)
static const flr_option options[] = {
    FLR_OPTION(NUMBER, MCP_AT(time), "time", "SECONDS", "a tool may take so long; default 120",
               .min = 0.1, .max = 86400),
    FLR_OPTION(BYTES, MCP_AT(memory), "memory", "SIZE",
               "a tool may take so much memory; default 4GiB"),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler mcp ball < /dev/null", "tools for the files in the folder ball"},
    {.line = NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "the input ended"},
    {FLR_EXIT_FAILED, "an answer could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "a folder cannot be opened"},
    {0, NULL},
};

const flr_command flr_cmd_mcp = {
    .name = "mcp",
    .summary = "tools for programs that speak the Model Context Protocol",
    .usage = usage,
    .description =
        "Answers requests of the Model Context Protocol on standard input and output, one JSON-RPC "
        "message on each line, so that assistants and scripts can ask about assemblies: "
        "open_assembly, clashes, clash_report, removal_path, check_mesh, picture, "
        "recording_report.\n\n"
        "Tools read files of the given folders only; file names count from the first of them. Each "
        "call runs in a process of its own, which the system keeps from other files where it can "
        "(Linux with landlock), with the limits of time and memory. Nothing is written but the "
        "cache. Scenes may name only files in these folders.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = FLR_MCP_MAX_FOLDERS,
    .argument_missing = "a folder whose files may be read",
    .values_size = sizeof(mcp_values),
    .defaults = &defaults,
    .run = run,
};
