/* messages of the Model Context Protocol, line by line; commands are not run */
#include <stdlib.h>
#include <string.h>

#include "mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static flr_result pretend(const flr_mcp_limits *limits, const flr_mcp_call *call,
                          flr_mcp_outcome *outcome, flr_error *error)
{
    (void)limits, (void)error;
    /* the command is one of the table, and nothing but the last argument is a file of the client's choice */
    if (call->count < 3 || strcmp(call->arguments[call->count - 2], "--") != 0) abort();
    for (int i = 1; i < call->count - 2; i++)
        if (strncmp(call->arguments[i], "--", 2) != 0) abort();
    *outcome = (flr_mcp_outcome){0};
    return FLR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[] = "/usr/include";
    const flr_mcp mcp = {.env = flr_env_real(),
                         .limits = {.folders = {folder}, .folder_count = 1, .seconds = 1},
                         .run = pretend};
    for (size_t at = 0; at < size;) {
        const char *line = (const char *)bytes + at, *end = memchr(line, '\n', size - at);
        const size_t used = end ? (size_t)(end - line) : size - at;
        char *answer = flr_mcp_answer(&mcp, line, used);
        if (answer && strchr(answer, '\n')) abort(); /* one line for one line */
        free(answer);
        at += used + 1;
    }
    return 0;
}
