/* mcp_inbox.h: what a client has sent and nobody has answered yet: bytes become lines, and requests that are cancelled before
 * they begin disappear. */
#ifndef FLR_APPS_MCP_INBOX_H
#define FLR_APPS_MCP_INBOX_H

#include "mcp.h"

enum {
    FLR_MCP_MAX_WAITING = 256,           /* lines, above which no more are read */
    FLR_MCP_MAX_WAITING_BYTES = 4 << 20, /* of all of them */
};

typedef struct flr_mcp_waiting {
    struct flr_mcp_waiting *next;
    size_t size;
    char line[]; /* [size]; nothing when size is above FLR_MCP_MAX_LINE: it was too long */
} flr_mcp_waiting;

/* Zero-initialise; free with flr_mcp_inbox_free(). */
typedef struct flr_mcp_inbox {
    char *line; /* that has no end yet */
    size_t size, capacity;
    bool skipping; /* it is too long, or there was no memory for it */
    flr_mcp_waiting *first;
    size_t count, bytes;
} flr_mcp_inbox;

/* No more bytes should be read before lines are taken. */
bool flr_mcp_inbox_is_full(const flr_mcp_inbox *inbox);

/* Adds bytes that were read. While a tool runs, `running` is the id of its request; NULL: none does. A ping is answered at once then,
 * by client->send. Returns whether that request was cancelled. */
bool flr_mcp_inbox_add(flr_mcp_inbox *inbox, const char *bytes, size_t size, const json_t *running,
                       flr_mcp *mcp);

/* The input has ended: what lies there without its end is a line. */
void flr_mcp_inbox_end(flr_mcp_inbox *inbox, flr_mcp *mcp);

/* Takes the oldest line, which the caller frees; NULL: none waits. */
flr_mcp_waiting *flr_mcp_inbox_take(flr_mcp_inbox *inbox);

void flr_mcp_inbox_free(flr_mcp_inbox *inbox);

#endif
