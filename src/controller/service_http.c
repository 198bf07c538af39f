/* HTTP: the page's files, how the controller is, recordings */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "controller/assets.h"
#include "controller/service_inside.h"
#include "feeler/version.h"

enum { HEADERS = 4096, PIECE = 65536, TEXT = 512, BODY_LIMIT = 1 << 20 };

/* only what came from here runs; styles may stand in the page, since its panels set them; wasm unpacks meshes. The page may
 * call back where it came from, and nobody may frame it. */
static const char policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "connect-src 'self' %s://%s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* an answer in the making */
typedef struct reply {
    flr_connection *connection;
    uint8_t buffer[LWS_PRE + HEADERS];
    uint8_t *at, *end;
    bool full;
} reply;

static bool get_header(struct lws *wsi, enum lws_token_indexes token, char *text, int size)
{
    text[0] = 0;
    int length = lws_hdr_total_length(wsi, token);
    return length > 0 && length < size && lws_hdr_copy(wsi, text, size, token) > 0;
}

static void add(reply *r, const char *name, const char *value)
{
    r->full = r->full || lws_add_http_header_by_name(
                             r->connection->wsi, (const unsigned char *)name,
                             (const unsigned char *)value, (int)strlen(value), &r->at, r->end);
}

static void begin(reply *r, flr_connection *connection, unsigned status)
{
    r->connection = connection;
    r->at = r->buffer + LWS_PRE;
    r->end = r->buffer + sizeof r->buffer - 1;
    r->full = lws_add_http_header_status(connection->wsi, status, &r->at, r->end);
    char host[256], text[1024];
    if (!get_header(connection->wsi, WSI_TOKEN_HOST, host, sizeof host) ||
        !flr_access_host(&connection->service->def.access, host))
        snprintf(host, sizeof host, "localhost");
    snprintf(text, sizeof text, policy, connection->service->def.certificate ? "wss" : "ws", host);
    add(r, "content-security-policy:", text);
    add(r, "x-content-type-options:", "nosniff");
    add(r, "referrer-policy:", "no-referrer");
    add(r, "cross-origin-resource-policy:", "same-origin");
    add(r, "cross-origin-opener-policy:", "same-origin");
}

static int finish(reply *r, uint64_t size, bool body)
{
    struct lws *wsi = r->connection->wsi;
    r->full = r->full || lws_add_http_header_content_length(wsi, size, &r->at, r->end);
    if (r->full || lws_finalize_write_http_header(wsi, r->buffer + LWS_PRE, &r->at, r->end))
        return -1;
    if (body && size > 0) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    flr_http_end(r->connection);
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static bool is_head(struct lws *wsi) { return lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0; }

/* a sentence with a status */
static int say(flr_connection *connection, unsigned status, const char *sentence)
{
    reply r;
    begin(&r, connection, status);
    add(&r, "content-type:", "text/plain; charset=utf-8");
    add(&r, "cache-control:", "no-store");
    if (status == 405) add(&r, "allow:", "GET, HEAD");
    if (status == 401) add(&r, "www-authenticate:", "Bearer");
    connection->body =
        (flr_http_body){.bytes = (const uint8_t *)sentence, .size = strlen(sentence)};
    return finish(&r, connection->body.size, !is_head(connection->wsi));
}

void flr_http_end(flr_connection *connection)
{
    free(connection->body.owned);
    flr_file_close(connection->body.file);
    connection->body = (flr_http_body){0};
}

int flr_http_writable(flr_connection *connection)
{
    flr_http_body *body = &connection->body;
    static uint8_t buffer[LWS_PRE + PIECE]; /* of the control thread */
    if (body->at >= body->size) return 0;
    size_t count = body->size - body->at < PIECE ? (size_t)(body->size - body->at) : PIECE;
    if (body->file) {
        size_t got = 0;
        if (flr_file_read(body->file, body->at, buffer + LWS_PRE, count, &got, NULL) != FLR_OK ||
            got == 0)
            return -1;
        count = got;
    } else {
        memcpy(buffer + LWS_PRE, body->bytes + body->at, count);
    }
    bool last = body->at + count == body->size;
    if (lws_write(connection->wsi, buffer + LWS_PRE, count,
                  last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)count)
        return -1;
    body->at += count;
    if (!last) {
        lws_callback_on_writable(connection->wsi);
        return 0;
    }
    flr_http_end(connection);
    return lws_http_transaction_completed(connection->wsi) ? -1 : 0;
}

/* ---- the page ---- */

static const flr_asset *find_asset(const char *path)
{
    if (!strcmp(path, "/")) path = "/index.html";
    for (const flr_asset *asset = flr_assets; asset->path; asset++) {
        if (!strcmp(asset->path, path)) return asset;
    }
    return NULL;
}

static int send_asset(flr_connection *connection, const flr_asset *asset)
{
    char text[TEXT], etag[64];
    struct lws *wsi = connection->wsi;
    bool gzip = asset->gzip && get_header(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, text, sizeof text) &&
                strstr(text, "gzip");
    snprintf(etag, sizeof etag, "\"%s%s\"", asset->etag, gzip ? "-gz" : "");
    bool same =
        get_header(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, text, sizeof text) && strstr(text, etag);
    reply r;
    begin(&r, connection, same ? 304 : 200);
    add(&r, "content-type:", asset->type);
    add(&r, "etag:", etag);
    add(&r, "vary:", "accept-encoding");
    /* files below /assets/ carry their content in their names */
    bool named = !strncmp(asset->path, "/assets/", 8);
    add(&r, "cache-control:", named ? "public, max-age=31536000, immutable" : "no-cache");
    if (gzip) add(&r, "content-encoding:", "gzip");
    connection->body = (flr_http_body){.bytes = gzip ? asset->gzip : asset->bytes,
                                       .size = gzip ? asset->gzip_size : asset->size};
    return finish(&r, same ? 0 : connection->body.size, !same && !is_head(wsi));
}

/* ---- what is behind the token ---- */

static bool has_token(flr_connection *connection)
{
    const flr_access *access = &connection->service->def.access;
    char text[TEXT];
    const char *token;
    if (!access->token[0]) return true;
    if (get_header(connection->wsi, WSI_TOKEN_HTTP_AUTHORIZATION, text, sizeof text) &&
        !strncmp(text, "Bearer ", 7))
        token = text + 7;
    else
        token = lws_get_urlarg_by_name(connection->wsi, "token=", text, sizeof text);
    bool right = token && flr_access_token(access, token, strlen(token));
    memset(text, 0, sizeof text);
    return right;
}

static json_t *times(const flr_percentiles *p)
{
    return json_pack("{s:f,s:f,s:f}", "p50", (double)p->p50 * 1e-3, "p99", (double)p->p99 * 1e-3,
                     "max", (double)p->max * 1e-3);
}

/* The shared session: how it stands, and what packets were refused and why. */
static json_t *share_health(flr_share *share)
{
    flr_party *party = flr_share_party(share);
    const flr_share_stats *stats = flr_share_get_stats(share);
    flr_percentiles arrival = flr_histogram_percentiles(&stats->arrival);
    flr_lines_rejected r = flr_lines_get_rejected(flr_party_lines(party));
    uint64_t all = r.malformed + r.unknown + r.forged + r.replayed + r.old + r.flood + r.broken;
    json_t *rejected =
        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "all", (json_int_t)all, "malformed",
                  (json_int_t)r.malformed, "unknown", (json_int_t)r.unknown, "forged",
                  (json_int_t)r.forged, "replayed", (json_int_t)r.replayed, "old",
                  (json_int_t)r.old, "flood", (json_int_t)r.flood, "broken", (json_int_t)r.broken);
    return json_pack("{s:b,s:b,s:i,s:I,s:o,s:o}", "ready", flr_share_ready(share), "leads",
                     flr_party_leads(party), "members", (int)flr_party_count(party), "heard",
                     (json_int_t)stats->heard, "arrival_us", times(&arrival), "rejected", rejected);
}

static char *health_text(flr_service *service)
{
    flr_engine_health h;
    flr_engine_scene scene;
    flr_engine_get_health(service->engine, &h);
    flr_engine_get_scene(service->engine, &scene);
    json_t *json = json_pack(
        "{s:s,s:s,s:b,s:s,s:s,s:f,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:I,s:o,s:o}", "version", FLR_VERSION,
        "scene", scene.name ? scene.name : "", "rate_held", h.rate_held, "sentence", h.sentence,
        "rights", h.rights, "uptime", h.uptime, "frames", (json_int_t)h.loop.frames, "overruns",
        (json_int_t)h.loop.overruns, "skipped", (json_int_t)h.loop.skipped, "faulty",
        (json_int_t)h.loop.faulty, "parts", (int)scene.parts, "clients",
        (int)flr_hub_clients(service->hub), "jobs", (int)h.jobs, "memory", (json_int_t)h.memory,
        "compute_us", times(&h.loop.compute), "wakeup_us", times(&h.loop.wakeup));
    if (json && service->share) {
        json_t *share = share_health(service->share);
        json_object_set_new(share, "membership", flr_service_membership(service));
        json_object_set_new(json, "share", share);
    }
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    return text;
}

static int send_health(flr_connection *connection)
{
    char *text = health_text(connection->service);
    if (!text) return say(connection, 500, "The controller has no memory left.\n");
    reply r;
    begin(&r, connection, 200);
    add(&r, "content-type:", "application/json");
    add(&r, "cache-control:", "no-store");
    connection->body =
        (flr_http_body){.bytes = (const uint8_t *)text, .owned = text, .size = strlen(text)};
    return finish(&r, connection->body.size, !is_head(connection->wsi));
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

static int send_recording(flr_connection *connection, const char *number)
{
    flr_engine *engine = connection->service->engine;
    char *end;
    unsigned long wanted = strtoul(number, &end, 10);
    flr_engine_recording recording;
    bool found = false;
    if (end != number && !strcmp(end, ".mcap"))
        for (uint32_t i = 0; !found && flr_engine_recording_at(engine, i, &recording); i++)
            found = recording.recording == wanted;
    if (!found) return say(connection, 404, "There is no such recording.\n");
    if (!recording.finished) return say(connection, 409, "This recording has not ended yet.\n");
    flr_file *file;
    uint64_t size;
    if (flr_file_open(connection->service->def.engine.env, recording.path, FLR_FILE_READ, &file,
                      NULL) != FLR_OK)
        return say(connection, 404, "The file of this recording is gone.\n");
    if (flr_file_size(file, &size, NULL) != FLR_OK) {
        flr_file_close(file);
        return say(connection, 500, "The file of this recording cannot be read.\n");
    }
    char name[160], text[256];
    safe_name(recording.name, name, sizeof name);
    snprintf(text, sizeof text, "attachment; filename=\"%s.mcap\"", name);
    reply r;
    begin(&r, connection, 200);
    add(&r, "content-type:", "application/octet-stream");
    add(&r, "content-disposition:", text);
    add(&r, "cache-control:", "no-store");
    connection->body = (flr_http_body){.file = file, .size = size};
    return finish(&r, size, !is_head(connection->wsi));
}

/* ---- what is asked for ---- */

/* why a request is not answered; NULL: it is */
static const char *refusal(flr_connection *connection, unsigned *status)
{
    struct lws *wsi = connection->wsi;
    char text[TEXT];
    *status = 403;
    if (!get_header(wsi, WSI_TOKEN_HOST, text, sizeof text) ||
        !flr_access_host(&connection->service->def.access, text))
        return "This controller does not go by that name. Use its number, or start feeler serve "
               "with --name NAME.\n";
    bool get = lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0 || is_head(wsi);
    uint64_t body = get_header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text, sizeof text)
                        ? strtoull(text, NULL, 10)
                        : 0;
    *status = body > BODY_LIMIT ? 413 : 405;
    if (body > BODY_LIMIT)
        return "That is too much. Files are uploaded by WebSocket; the page does that.\n";
    if (!get) return "Only GET and HEAD are answered here.\n";
    return NULL;
}

int flr_http_request(flr_connection *connection, const char *path)
{
    unsigned status;
    flr_http_end(connection);
    const char *why = refusal(connection, &status);
    if (why) {
        /* what comes behind such a request is not read */
        int result = say(connection, status, why);
        lws_set_timeout(connection->wsi, PENDING_TIMEOUT_HTTP_CONTENT, 2);
        return result;
    }
    const flr_asset *asset = find_asset(path);
    if (asset) return send_asset(connection, asset);
    bool health = !strcmp(path, "/health"), recording = !strncmp(path, "/recordings/", 12);
    if (!health && !recording)
        return say(
            connection, 404,
            "There is nothing here. The viewer is at /, how the controller is at /health.\n");
    if (!has_token(connection))
        return say(connection, 401,
                   "A token is needed, as \"Authorization: Bearer TOKEN\" or \"?token=TOKEN\"; "
                   "feeler serve printed it.\n");
    return health ? send_health(connection) : send_recording(connection, path + 12);
}

int flr_http_upgrade(flr_service *service, struct lws *wsi)
{
    char host[TEXT], origin[TEXT];
    const flr_access *access = &service->def.access;
    bool named = get_header(wsi, WSI_TOKEN_HOST, host, sizeof host);
    int length = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN);
    bool from = get_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin);
    const char *why = NULL;
    if (!named || !flr_access_host(access, host))
        why = "This controller does not go by that name.";
    else if (length > 0 && (!from || !flr_access_origin(access, origin, host)))
        why =
            "A page from elsewhere may not call this controller; start feeler serve with --origin "
            "to allow it.";
    if (!why) return 0;
    lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, why);
    return 1;
}
