/* lines of a client that wait for their answers */
#include "mcp_inbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const flr_mcp_waiting *w)
{
    return w->size > FLR_MCP_MAX_LINE ? 0 : w->size;
}

bool flr_mcp_inbox_is_full(const flr_mcp_inbox *inbox)
{
    return inbox->count >= FLR_MCP_MAX_WAITING || inbox->bytes >= FLR_MCP_MAX_WAITING_BYTES;
}

/* Unlinks a line; the caller frees it. */
static flr_mcp_waiting *unlink_line(flr_mcp_inbox *inbox, flr_mcp_waiting **link)
{
    flr_mcp_waiting *w = *link;
    *link = w->next;
    inbox->count--;
    inbox->bytes -= bytes_of(w);
    return w;
}

static const char *method_of(const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    return method ? method : "";
}

/* A request that waits is not begun; one that was answered or never came is nobody's. */
static void drop_request(flr_mcp_inbox *inbox, const json_t *id)
{
    for (flr_mcp_waiting **link = &inbox->first; *link;) {
        json_t *request = json_loadb((*link)->line, bytes_of(*link), 0, NULL);
        if (json_equal(json_object_get(request, "id"), id))
            free(unlink_line(inbox, link));
        else
            link = &(*link)->next;
        json_decref(request);
    }
}

/* Is this the cancellation of the running request? A ping is answered, and a cancellation of others obeyed. `*done`: the line
 * needs no more. */
static bool look_at(flr_mcp_inbox *inbox, const char *line, size_t size, const json_t *running,
                    flr_mcp *mcp, bool *done)
{
    json_t *message = json_loadb(line, size, 0, NULL);
    bool cancelled = false;
    if (!strcmp(method_of(message), "notifications/cancelled")) {
        const json_t *id = json_object_get(json_object_get(message, "params"), "requestId");
        cancelled = running && json_equal(id, running);
        if (id && !cancelled) drop_request(inbox, id);
        *done = true;
    } else if (running && !strcmp(method_of(message), "ping")) {
        char *answer = flr_mcp_answer(mcp, line, size);
        if (answer) mcp->client.send(mcp->client.context, answer);
        free(answer);
        *done = true;
    }
    json_decref(message);
    return cancelled;
}

static void wait_for_answer(flr_mcp_inbox *inbox, const char *line, size_t size)
{
    flr_mcp_waiting *w = malloc(sizeof *w + (size > FLR_MCP_MAX_LINE ? 0 : size));
    flr_mcp_waiting **link = &inbox->first;
    if (!w) {
        fputs("feeler: out of memory\n", stderr);
        exit(FLR_EXIT_FAILED);
    }
    *w = (flr_mcp_waiting){.size = size};
    memcpy(w->line, line, bytes_of(w));
    while (*link) link = &(*link)->next;
    *link = w;
    inbox->count++;
    inbox->bytes += bytes_of(w);
}

/* A line is whole. Returns whether it cancels the running request. */
static bool end_line(flr_mcp_inbox *inbox, const json_t *running, flr_mcp *mcp)
{
    bool done = false, cancelled = false;
    if (inbox->skipping)
        wait_for_answer(inbox, "", FLR_MCP_MAX_LINE + 1);
    else if (inbox->size) {
        cancelled = look_at(inbox, inbox->line, inbox->size, running, mcp, &done);
        if (!done) wait_for_answer(inbox, inbox->line, inbox->size);
    }
    inbox->size = 0;
    inbox->skipping = false;
    return cancelled;
}

static void keep(flr_mcp_inbox *inbox, const char *bytes, size_t size)
{
    if (inbox->skipping || !size) return;
    if (inbox->size + size > inbox->capacity) {
        size_t capacity = inbox->capacity ? inbox->capacity : 4096;
        while (capacity < inbox->size + size) capacity *= 2;
        char *line = inbox->size + size <= FLR_MCP_MAX_LINE ? realloc(inbox->line, capacity) : NULL;
        if (!line) {
            inbox->skipping = true; /* what is longer than a message is none */
            return;
        }
        inbox->line = line;
        inbox->capacity = capacity;
    }
    memcpy(inbox->line + inbox->size, bytes, size);
    inbox->size += size;
}

bool flr_mcp_inbox_add(flr_mcp_inbox *inbox, const char *bytes, size_t size, const json_t *running,
                       flr_mcp *mcp)
{
    bool cancelled = false;
    for (const char *end; size && (end = memchr(bytes, '\n', size));) {
        keep(inbox, bytes, (size_t)(end - bytes));
        if (end_line(inbox, running, mcp)) cancelled = true;
        size -= (size_t)(end + 1 - bytes);
        bytes = end + 1;
    }
    if (size) keep(inbox, bytes, size);
    return cancelled;
}

void flr_mcp_inbox_end(flr_mcp_inbox *inbox, flr_mcp *mcp) { end_line(inbox, NULL, mcp); }

flr_mcp_waiting *flr_mcp_inbox_take(flr_mcp_inbox *inbox)
{
    return inbox->first ? unlink_line(inbox, &inbox->first) : NULL;
}

void flr_mcp_inbox_free(flr_mcp_inbox *inbox)
{
    while (inbox->first) free(unlink_line(inbox, &inbox->first));
    free(inbox->line);
    *inbox = (flr_mcp_inbox){0};
}
