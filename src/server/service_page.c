/* the page's files, how the controller is, recordings */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "feeler/version.h"
#include "server/page_assets.h"
#include "server/service_internal.h"

/* ---- the page ---- */

static const flr_asset *find_asset(const char *path)
{
    if (!strcmp(path, "/")) path = "/index.html";
    for (const flr_asset *asset = flr_assets; asset->path; asset++) {
        if (!strcmp(asset->path, path)) return asset;
    }
    return NULL;
}

static int send_asset(flr_service_connection *connection, const flr_http_head *head,
                      const flr_asset *asset)
{
    char etag[64];
    const char *accepted = head->header[FLR_HTTP_ACCEPT_ENCODING];
    const char *known = head->header[FLR_HTTP_IF_NONE_MATCH];
    bool gzip = asset->gzip && accepted && strstr(accepted, "gzip");
    snprintf(etag, sizeof etag, "\"%s%s\"", asset->etag, gzip ? "-gz" : "");
    bool same = known && strstr(known, etag);
    flr_reply r;
    flr_reply_begin(&r, connection, same ? 304 : 200);
    flr_reply_add(&r, "content-type", asset->type);
    flr_reply_add(&r, "etag", etag);
    flr_reply_add(&r, "vary", "accept-encoding");
    /* files below /assets/ carry their content in their names */
    bool named = !strncmp(asset->path, "/assets/", 8);
    flr_reply_add(&r, "cache-control", named ? "public, max-age=31536000, immutable" : "no-cache");
    if (gzip) flr_reply_add(&r, "content-encoding", "gzip");
    connection->body = (flr_http_body){.bytes = gzip ? asset->gzip : asset->bytes,
                                       .size = gzip ? asset->gzip_size : asset->size};
    return flr_reply_finish(&r, same ? 0 : connection->body.size,
                            !same && head->method == FLR_HTTP_GET);
}

/* ---- what is behind the token ---- */

static bool has_token(const flr_access *access, const flr_http_head *head)
{
    char text[FLR_TOKEN_SIZE];
    if (!access->token[0]) return true;
    const char *token = head->header[FLR_HTTP_AUTHORIZATION];
    if (token)
        token = !strncmp(token, "Bearer ", 7) ? token + 7 : NULL;
    else if (flr_http_argument(head->query, "token", text, sizeof text))
        token = text;
    return token && flr_access_token(access, token, strlen(token));
}

static json_t *times(const flr_percentiles *p)
{
    return json_pack("{s:f,s:f,s:f}", "p50", (double)p->p50 * 1e-3, "p99", (double)p->p99 * 1e-3,
                     "max", (double)p->max * 1e-3);
}

/* The shared session: how it stands, and what packets were refused and why. */
static json_t *share_health(flr_share *share)
{
    flr_session *session = flr_share_session(share);
    const flr_share_stats *stats = flr_share_get_stats(share);
    flr_percentiles arrival = flr_histogram_percentiles(&stats->arrival);
    flr_connections_rejected r = flr_connections_get_rejected(flr_session_connections(session));
    uint64_t all = r.malformed + r.unknown + r.forged + r.replayed + r.old + r.flood + r.broken;
    json_t *rejected =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "all", (json_int_t)all, "malformed",
                  (json_int_t)r.malformed, "unknown", (json_int_t)r.unknown, "forged",
                  (json_int_t)r.forged, "replayed", (json_int_t)r.replayed, "old",
                  (json_int_t)r.old, "flood", (json_int_t)r.flood, "broken", (json_int_t)r.broken);
    return json_pack("{s:b,s:b,s:i,s:I,s:o,s:o}", "ready", flr_share_ready(share), "leads",
                     flr_session_hosts(session), "members", (int)flr_session_count(session),
                     "heard", (json_int_t)stats->heard, "arrival_us", times(&arrival), "rejected",
                     rejected);
}

static char *health_text(flr_service *service)
{
    flr_engine_health h;
    flr_engine_scene scene;
    flr_engine_get_health(service->engine, &h);
    flr_engine_get_scene(service->engine, &scene);
    json_t *json = json_pack(
        "{s:s,s:s,s:b,s:s,s:s,s:f,s:I,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:I,s:I,s:o,s:o}", "version",
        FLR_VERSION, "scene", scene.name ? scene.name : "", "rate_held", h.rate_held, "sentence",
        h.sentence, "rights", h.rights, "uptime", h.uptime, "frames", (json_int_t)h.loop.frames,
        "overruns", (json_int_t)h.loop.overruns, "skipped", (json_int_t)h.loop.skipped, "served",
        (json_int_t)h.loop.served, "faulty", (json_int_t)h.loop.faulty, "parts", (int)scene.parts,
        "clients", (int)flr_hub_clients(service->hub), "jobs", (int)h.jobs, "memory",
        (json_int_t)h.memory, "heap", (json_int_t)flr_memory_heap(), "compute_us",
        times(&h.loop.compute), "wakeup_us", times(&h.loop.wakeup));
    if (json && service->share) {
        json_t *share = share_health(service->share);
        json_object_set_new(share, "membership", flr_service_membership(service));
        json_object_set_new(json, "share", share);
    }
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    return text;
}

static int send_health(flr_service_connection *connection, const flr_http_head *head)
{
    char *text = health_text(connection->service);
    if (!text) return flr_reply_say(connection, 500, "The controller has no memory left.\n");
    flr_reply r;
    flr_reply_begin(&r, connection, 200);
    flr_reply_add(&r, "content-type", "application/json");
    flr_reply_add(&r, "cache-control", "no-store");
    connection->body =
        (flr_http_body){.bytes = (const uint8_t *)text, .owned = text, .size = strlen(text)};
    return flr_reply_finish(&r, connection->body.size, head->method == FLR_HTTP_GET);
}

/* a name that a header and a folder can hold */
static void safe_name(const char *name, char *out, size_t size)
{
    size_t at = 0;
    for (const char *c = name; *c && at + 1 < size; c++) {
        bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        out[at++] = fine ? *c : '_';
    }
    out[at] = 0;
}

static int send_recording(flr_service_connection *connection, const flr_http_head *head,
                          const char *number)
{
    flr_engine *engine = connection->service->engine;
    char *end;
    unsigned long wanted = strtoul(number, &end, 10);
    flr_engine_recording recording;
    bool found = false;
    if (end != number && !strcmp(end, ".mcap"))
        for (uint32_t i = 0; !found && flr_engine_recording_at(engine, i, &recording); i++)
            found = recording.recording == wanted;
    if (!found) return flr_reply_say(connection, 404, "There is no such recording.\n");
    if (!recording.finished)
        return flr_reply_say(connection, 409, "This recording has not ended yet.\n");
    flr_file *file;
    uint64_t size;
    if (flr_file_open(connection->service->def.engine.env, recording.path, FLR_FILE_READ, &file,
                      NULL) != FLR_OK)
        return flr_reply_say(connection, 404, "The file of this recording is gone.\n");
    if (flr_file_size(file, &size, NULL) != FLR_OK) {
        flr_file_close(file);
        return flr_reply_say(connection, 500, "The file of this recording cannot be read.\n");
    }
    char name[160], text[256];
    safe_name(recording.name, name, sizeof name);
    snprintf(text, sizeof text, "attachment; filename=\"%s.mcap\"", name);
    flr_reply r;
    flr_reply_begin(&r, connection, 200);
    flr_reply_add(&r, "content-type", "application/octet-stream");
    flr_reply_add(&r, "content-disposition", text);
    flr_reply_add(&r, "cache-control", "no-store");
    connection->body = (flr_http_body){.file = file, .size = size};
    return flr_reply_finish(&r, size, head->method == FLR_HTTP_GET);
}

/* a report of clashes, or about a recording, that a job has written */
static int send_report(flr_service_connection *connection, const flr_http_head *head,
                       const char *number)
{
    flr_engine *engine = connection->service->engine;
    char *end, name[160], text[256];
    uint8_t format;
    const char *what;
    flr_blob file;
    flr_engine_scene scene;
    unsigned long wanted = strtoul(number, &end, 10);
    bool found = end != number && wanted <= UINT32_MAX &&
                 flr_engine_get_report(engine, (uint32_t)wanted, &format, &what, &file);
    static const struct {
        const char *ending, *type;
    } kinds[] = {[FLR_WIRE_REPORT_HTML] = {".html", "text/html; charset=utf-8"},
                 [FLR_WIRE_REPORT_CSV] = {".csv", "text/csv; charset=utf-8"},
                 [FLR_WIRE_REPORT_PDF] = {".pdf", "application/pdf"}};
    if (!found || strcmp(end, kinds[format].ending) != 0)
        return flr_reply_say(connection, 404,
                             "There is no such report, or newer ones have taken its place.\n");
    uint8_t *bytes = malloc(file.size + 1);
    if (!bytes) return flr_reply_say(connection, 500, "The controller has no memory left.\n");
    memcpy(bytes, file.bytes, file.size);
    flr_engine_get_scene(engine, &scene);
    safe_name(scene.name, name, sizeof name);
    snprintf(text, sizeof text, "attachment; filename=\"%s-%s%s\"", name, what,
             kinds[format].ending);
    flr_reply r;
    flr_reply_begin(&r, connection, 200);
    flr_reply_add(&r, "content-type", kinds[format].type);
    flr_reply_add(&r, "content-disposition", text);
    flr_reply_add(&r, "cache-control", "no-store");
    connection->body = (flr_http_body){.bytes = bytes, .owned = (char *)bytes, .size = file.size};
    return flr_reply_finish(&r, file.size, head->method == FLR_HTTP_GET);
}

int flr_page_request(flr_service_connection *connection, const flr_http_head *head)
{
    const flr_asset *asset = find_asset(head->path);
    if (asset) return send_asset(connection, head, asset);
    bool health = !strcmp(head->path, "/health");
    bool recording = !strncmp(head->path, "/recordings/", 12);
    bool report = !strncmp(head->path, "/reports/", 9);
    if (!health && !recording && !report)
        return flr_reply_say(
            connection, 404,
            "There is nothing here. The viewer is at /, how the controller is at /health.\n");
    if (!has_token(&connection->service->def.access, head))
        return flr_reply_say(connection, 401,
                             "A token is needed, as \"Authorization: Bearer TOKEN\" or "
                             "\"?token=TOKEN\"; feeler serve printed it.\n");
    if (report) return send_report(connection, head, head->path + 9);
    return health ? send_health(connection, head)
                  : send_recording(connection, head, head->path + 12);
}
