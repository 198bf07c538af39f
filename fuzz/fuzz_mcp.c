/* messages of the Model Context Protocol, line by line; commands are not run */
#include <stdlib.h>
#include <string.h>

#include "mcp_inbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool goes_on(void *context, const json_t *id)
{
    (void)context, (void)id;
    return true;
}

static void check_line(void *context, const char *line)
{
    (void)context;
    if (strchr(line, '\n')) abort(); /* one line for one line */
}

static flr_result pretend(const flr_mcp_limits *limits, const flr_mcp_call *call,
                          flr_mcp_watch *watch, flr_mcp_outcome *outcome, flr_error *error)
{
    static const char told[] = "{\"step\":\"checking\",\"done\":3,\"total\":4}";
    (void)limits, (void)error;
    flr_mcp_tell(watch, told, sizeof told - 1);
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
    flr_mcp mcp = {.env = flr_env_real(),
                   .limits = {.folders = {folder}, .folder_count = 1, .seconds = 1},
                   .run = pretend,
                   .client = {.input = -1, .look = goes_on, .send = check_line}};
    flr_mcp_inbox inbox = {0};
    json_t *running = size % 2 ? json_integer(1) : NULL; /* a tool runs, or none does */
    flr_mcp_inbox_add(&inbox, (const char *)bytes, size, running, &mcp);
    flr_mcp_inbox_end(&inbox, &mcp);
    for (flr_mcp_waiting *line; (line = flr_mcp_inbox_take(&inbox)); free(line)) {
        char *answer = flr_mcp_answer(&mcp, line->line, line->size);
        if (answer) check_line(NULL, answer);
        free(answer);
    }
    flr_mcp_inbox_free(&inbox);
    json_decref(running);
    return 0;
}
