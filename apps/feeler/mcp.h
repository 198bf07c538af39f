/* mcp.h: a Model Context Protocol server: programs that talk to people ask it about assemblies.
 *
 * Messages are JSON-RPC 2.0, one on each line (protocol revisions 2024-11-05 to 2025-06-18). A tool is a command of feeler with
 * some of its options: the schema that a client sees comes from the command's option table, and a call runs the command in a
 * process of its own, with limits of time and memory and access to certain folders alone.
 *
 *   mcp.c        messages: what is asked, what is answered
 *   mcp_inbox.c  what waits for its answer, and what is cancelled
 *   mcp_tools.c  the tools, their schemas, arguments to a command line
 *   mcp_run.c    a command in a confined process
 *   cmd_mcp.c    standard input and output
 */
#ifndef FLR_APPS_MCP_H
#define FLR_APPS_MCP_H

#include <jansson.h>

#include "command.h"

enum {
    FLR_MCP_MAX_LINE = 1 << 20,   /* bytes of a message */
    FLR_MCP_MAX_OUTPUT = 1 << 22, /* bytes that are kept of what a command prints */
    FLR_MCP_MAX_FILE = 1 << 25,   /* bytes of a picture or page */
    FLR_MCP_MAX_FOLDERS = 16,
    FLR_MCP_MAX_ARGUMENTS = 64,
    FLR_MCP_MAX_IMPORT = 8
};

/* Which files and how much of the machine the tools may use. */
typedef struct flr_mcp_limits {
    char *folders[FLR_MCP_MAX_FOLDERS]; /* absolute, links resolved */
    int folder_count;
    double seconds;
    uint64_t memory; /* bytes */
} flr_mcp_limits;

/* A command line, and what it writes. */
typedef struct flr_mcp_call {
    const char
        *import[FLR_MCP_MAX_IMPORT]; /* that makes its scene first; NULL-ended, none: empty */
    const char *arguments[FLR_MCP_MAX_ARGUMENTS + 1]; /* after "feeler", NULL-ended */
    int count;
    char *texts[FLR_MCP_MAX_ARGUMENTS]; /* that were made for it */
    int text_count;
    char folder[64];  /* for its output and scratch; "": none */
    char file[96];    /* that it writes; "": none */
    const char *mime; /* of that file */
} flr_mcp_call;

/* What a command printed and wrote. Free with flr_mcp_outcome_free(). */
typedef struct flr_mcp_outcome {
    int code; /* its exit code */
    char *output;
    size_t size;
    bool cut; /* there was more */
    uint8_t *file;
    size_t file_size;
} flr_mcp_outcome;

void flr_mcp_outcome_free(flr_mcp_outcome *outcome);

/* The client while a tool runs. */
typedef struct flr_mcp_client {
    int input; /* a file descriptor that becomes readable when it sends something; -1: it does not */
    /* Reads what it sent; false: the request with this id is cancelled. */
    bool (*look)(void *context, const json_t *id);
    void (*send)(void *context, const char *line); /* a line without its end */
    void *context;
} flr_mcp_client;

/* A call that runs: whom to tell of it. */
typedef struct flr_mcp_watch {
    flr_mcp_client *client;
    const json_t *id, *token; /* of the request; token NULL: no progress is wanted */
    double before;            /* items of the steps that are done */
    double done, total;       /* of this step, as the command counts */
    double told;              /* the progress that the client knows */
} flr_mcp_watch;

/* Tells the client what a command printed about its progress (--progress): a line without its end. */
void flr_mcp_tell(flr_mcp_watch *watch, const char *line, size_t size);

/* Runs a command. FLR_TIMEOUT, FLR_NO_MEMORY, FLR_CRASHED with a sentence; FLR_CANCELLED. */
typedef flr_result (*flr_mcp_runner)(const flr_mcp_limits *limits, const flr_mcp_call *call,
                                     flr_mcp_watch *watch, flr_mcp_outcome *outcome,
                                     flr_error *error);
flr_result flr_mcp_run(const flr_mcp_limits *limits, const flr_mcp_call *call, flr_mcp_watch *watch,
                       flr_mcp_outcome *outcome, flr_error *error);
/* Does the system keep commands from other files? */
bool flr_mcp_confines(void);

/* A server. Plain data. */
typedef struct flr_mcp {
    flr_env *env;
    flr_mcp_limits limits;
    flr_mcp_runner run;
    flr_mcp_client client;
} flr_mcp;

/* Answers one message, a line without its end; NULL: there is nothing to answer (a notification, a request that was cancelled). The
 * caller frees the line that is returned. Never fails: what is no message gets an error in answer. */
char *flr_mcp_answer(flr_mcp *mcp, const char *line, size_t size);

/* The list of tools, with schemas. */
json_t *flr_mcp_list(void);

/* Makes the command line of a tool. FLR_NOT_FOUND: no such tool; FLR_BAD_ARGUMENT, FLR_DENIED with a sentence. Free with
 * flr_mcp_call_free(), also on failure. */
flr_result flr_mcp_prepare(const flr_mcp *mcp, const char *tool, const json_t *arguments,
                           flr_mcp_call *call, flr_error *error);
void flr_mcp_call_free(flr_mcp_call *call);

#endif
