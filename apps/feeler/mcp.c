/* messages of the Model Context Protocol */
#include "mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/version.h"
#include "output.h"

enum { PARSE_ERROR = -32700, BAD_REQUEST = -32600, NO_METHOD = -32601, BAD_PARAMS = -32602 };

/* revisions that are spoken, the newest first */
static const char *const revisions[] = {"2025-06-18", "2025-03-26", "2024-11-05", NULL};

static char *write_line(json_t *message)
{
    char *line = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(message);
    return line;
}

static json_t *begin(const json_t *id)
{
    json_t *message = flr_json_object();
    flr_json_set(message, "jsonrpc", json_string("2.0"));
    flr_json_set(message, "id", id ? json_deep_copy(id) : json_null());
    return message;
}

static char *answer(const json_t *id, json_t *result)
{
    json_t *message = begin(id);
    flr_json_set(message, "result", result);
    return write_line(message);
}

static char *refuse(const json_t *id, int code, const char *sentence)
{
    json_t *message = begin(id), *error = flr_json_object();
    flr_json_set(error, "code", json_integer(code));
    flr_json_set(error, "message", json_string(sentence));
    flr_json_set(message, "error", error);
    return write_line(message);
}

/* ---- initialize ---- */

static json_t *initialize(const json_t *params)
{
    const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
    const char *revision = revisions[0];
    for (const char *const *r = revisions; *r; r++)
        if (asked && !strcmp(asked, *r)) revision = *r;
    json_t *result = flr_json_object(), *can = flr_json_object(), *who = flr_json_object();
    flr_json_set(result, "protocolVersion", json_string(revision));
    flr_json_set(can, "tools", flr_json_object());
    flr_json_set(result, "capabilities", can);
    flr_json_set(who, "name", json_string("feeler"));
    flr_json_set(who, "version", json_string(FLR_VERSION));
    flr_json_set(result, "serverInfo", who);
    flr_json_set(result, "instructions",
                 json_string("Tells how much room there is between CAD parts: clashes, clearances, "
                             "removal paths. Lengths are texts with a unit, such as 0.5mm; results "
                             "are in metres."));
    return result;
}

/* ---- tools/call ---- */

static char *encode(const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    if (!text) return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < size ? bytes[i + 2] : 0);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *to++ = i + 2 < size ? digits[three & 63] : '=';
    }
    *to = 0;
    return text;
}

static void add_text(json_t *content, const char *text, size_t size)
{
    json_t *item = flr_json_object();
    json_t *value = json_stringn(text, size);
    if (!value) value = json_string("(what the command printed is not UTF-8)");
    flr_json_set(item, "type", json_string("text"));
    flr_json_set(item, "text", value);
    flr_json_push(content, item);
}

/* a picture, or a page or path as an embedded resource */
static void add_file(json_t *content, const flr_mcp_call *call, const flr_mcp_outcome *outcome)
{
    json_t *item = flr_json_object();
    if (!strcmp(call->mime, "image/png")) {
        char *data = encode(outcome->file, outcome->file_size);
        flr_json_set(item, "type", json_string("image"));
        flr_json_set(item, "data", json_string(data ? data : ""));
        flr_json_set(item, "mimeType", json_string(call->mime));
        free(data);
    } else {
        json_t *resource = flr_json_object();
        json_t *text = json_stringn((const char *)outcome->file, outcome->file_size);
        flr_json_set(resource, "uri", json_sprintf("feeler:///%s", strrchr(call->file, '/') + 1));
        flr_json_set(resource, "mimeType", json_string(call->mime));
        flr_json_set(resource, "text", text ? text : json_string(""));
        flr_json_set(item, "type", json_string("resource"));
        flr_json_set(item, "resource", resource);
    }
    flr_json_push(content, item);
}

/* Does the command report a failure? Findings also end with 1. */
static bool failed(const flr_mcp_outcome *outcome)
{
    if (outcome->code == FLR_EXIT_OK) return false;
    if (outcome->code != FLR_EXIT_FAILED || !outcome->size) return true;
    json_t *printed = json_loadb(outcome->output, outcome->size, 0, NULL);
    const bool is = !printed || json_object_get(printed, "error");
    json_decref(printed);
    return is;
}

/* The progress of steps that count anew becomes one number that grows: items that are done, and one for each step that has
 * begun. */
void flr_mcp_tell(flr_mcp_watch *w, const char *line, size_t size)
{
    json_t *now = w->token ? json_loadb(line, size, 0, NULL) : NULL;
    const char *step = json_string_value(json_object_get(now, "step"));
    const double done = json_number_value(json_object_get(now, "done")),
                 total = json_number_value(json_object_get(now, "total"));
    if (step) {
        if (done < w->done || total != w->total)
            w->before += (w->total > w->done ? w->total : w->done) + 1;
        w->done = done, w->total = total;
        if (w->before + done > w->told) {
            json_t *note = flr_json_object(), *params = flr_json_object();
            w->told = w->before + done;
            flr_json_set(params, "progressToken", json_deep_copy(w->token));
            flr_json_set(params, "progress", json_real(w->told));
            if (total > 0) flr_json_set(params, "total", json_real(w->before + total));
            flr_json_set(params, "message", json_string(step));
            flr_json_set(note, "jsonrpc", json_string("2.0"));
            flr_json_set(note, "method", json_string("notifications/progress"));
            flr_json_set(note, "params", params);
            char *text = write_line(note);
            if (text) w->client->send(w->client->context, text);
            free(text);
        }
    }
    json_decref(now);
}

/* NULL: the client does not want the result any more. */
static json_t *call_tool(flr_mcp *mcp, const json_t *id, const json_t *token, const char *name,
                         const json_t *arguments)
{
    flr_mcp_call call;
    flr_mcp_outcome outcome = {0};
    flr_mcp_watch watch = {.client = &mcp->client, .id = id, .token = token};
    flr_error error;
    json_t *result = flr_json_object(), *content = flr_json_array();
    flr_result done = flr_mcp_prepare(mcp, name, arguments, &call, &error);
    if (done == FLR_OK) done = mcp->run(&mcp->limits, &call, &watch, &outcome, &error);
    if (done == FLR_OK) {
        add_text(content, outcome.output ? outcome.output : "", outcome.size);
        if (outcome.cut) {
            const char *cut = "(the rest was too long and is left out)";
            add_text(content, cut, strlen(cut));
        }
        if (outcome.file) add_file(content, &call, &outcome);
    } else {
        add_text(content, error.message, strlen(error.message));
    }
    flr_json_set(result, "content", content);
    flr_json_set(result, "isError", json_boolean(done != FLR_OK || failed(&outcome)));
    flr_mcp_outcome_free(&outcome);
    flr_mcp_call_free(&call);
    if (done != FLR_CANCELLED) return result;
    json_decref(result);
    return NULL;
}

/* ---- a message ---- */

static char *answer_call(flr_mcp *mcp, const json_t *id, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    const json_t *arguments = json_object_get(params, "arguments");
    if (!name) return refuse(id, BAD_PARAMS, "tools/call needs the name of a tool");
    if (arguments && !json_is_object(arguments))
        return refuse(id, BAD_PARAMS, "the arguments of a tool are an object");
    bool known = false;
    json_t *list = flr_mcp_list(), *tool;
    size_t i;
    json_array_foreach(list, i, tool) known |=
        !strcmp(json_string_value(json_object_get(tool, "name")), name);
    json_decref(list);
    if (!known) return refuse(id, BAD_PARAMS, "there is no such tool; tools/list names them");
    const json_t *token = json_object_get(json_object_get(params, "_meta"), "progressToken");
    if (!json_is_string(token) && !json_is_integer(token)) token = NULL;
    json_t *result = call_tool(mcp, id, token, name, arguments);
    return result ? answer(id, result) : NULL;
}

static char *answer_request(flr_mcp *mcp, const json_t *request)
{
    const json_t *id = json_object_get(request, "id");
    const char *method = json_string_value(json_object_get(request, "method"));
    const json_t *params = json_object_get(request, "params");
    const char *version = json_string_value(json_object_get(request, "jsonrpc"));
    if (!version || strcmp(version, "2.0") != 0 ||
        (id && !json_is_string(id) && !json_is_integer(id)))
        return refuse(NULL, BAD_REQUEST, "this is no JSON-RPC 2.0 request");
    if (!method) /* an answer to a question that was never asked, or nothing at all */
        return id && !json_object_get(request, "result") && !json_object_get(request, "error")
                   ? refuse(id, BAD_REQUEST, "the request has no method")
                   : NULL;
    if (!id) return NULL; /* a notification */
    if (params && !json_is_object(params))
        return refuse(id, BAD_PARAMS, "the parameters of a request are an object");
    if (!strcmp(method, "initialize")) return answer(id, initialize(params));
    if (!strcmp(method, "ping")) return answer(id, flr_json_object());
    if (!strcmp(method, "tools/list")) {
        json_t *result = flr_json_object();
        flr_json_set(result, "tools", flr_mcp_list());
        return answer(id, result);
    }
    if (!strcmp(method, "tools/call")) return answer_call(mcp, id, params);
    return refuse(id, NO_METHOD, "feeler does not know this method");
}

char *flr_mcp_answer(flr_mcp *mcp, const char *line, size_t size)
{
    json_error_t why;
    if (size > FLR_MCP_MAX_LINE)
        return refuse(NULL, BAD_REQUEST, "the message is longer than 1 MiB");
    json_t *request = json_loadb(line, size, JSON_REJECT_DUPLICATES, &why);
    if (!request) return refuse(NULL, PARSE_ERROR, "the line is no JSON");
    char *text = json_is_object(request)
                     ? answer_request(mcp, request)
                     : refuse(NULL, BAD_REQUEST, "a message is one object on one line");
    json_decref(request);
    return text;
}
