/* HTTP: requests are read, refused or handed on, and answered piece by piece */
#include <string.h>
#include <strings.h>

#include "server/service_internal.h"

enum { SERVICE_HTTP_PIECE = FLR_SERVICE_READ };

/* a client has so long for a request, and between two */
static const int64_t request_ns = INT64_C(10000000000);

/* only what came from here runs; styles may stand in the page, since its panels set them; wasm unpacks meshes. The page may
 * call back where it came from, and nobody may frame it. */
static const char policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "connect-src 'self' %s://%s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* ---- answers ---- */

static const char *phrase(unsigned status)
{
    static const struct {
        unsigned status;
        const char *text;
    } phrases[] = {
        {101, "Switching Protocols"},
        {200, "OK"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {426, "Upgrade Required"},
        {431, "Request Header Fields Too Large"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (phrases[i].status == status) return phrases[i].text;
    return "Internal Server Error";
}

static void print(flr_reply *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = sizeof r->text - r->size;
    int size = vsnprintf(r->text + r->size, left, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= left)
        r->full = true;
    else
        r->size += (size_t)size;
}

void flr_reply_add(flr_reply *reply, const char *name, const char *value)
{
    print(reply, "%s: %s\r\n", name, value);
}

void flr_reply_begin(flr_reply *reply, flr_service_connection *connection, unsigned status)
{
    reply->connection = connection;
    reply->size = 0;
    reply->full = false;
    print(reply, "HTTP/1.1 %u %s\r\n", status, phrase(status));
    flr_reply_add(reply, "server", "feeler");
    if (status == 101) return;
    char text[1024];
    const flr_service_def *def = &connection->service->def;
    const char *host = connection->reader.head.header[FLR_HTTP_HOST];
    if (!flr_access_host(&def->access, host) || strlen(host) > 255) host = "localhost";
    snprintf(text, sizeof text, policy, def->certificate ? "wss" : "ws", host);
    flr_reply_add(reply, "content-security-policy", text);
    flr_reply_add(reply, "x-content-type-options", "nosniff");
    flr_reply_add(reply, "referrer-policy", "no-referrer");
    flr_reply_add(reply, "cross-origin-resource-policy", "same-origin");
    flr_reply_add(reply, "cross-origin-opener-policy", "same-origin");
}

/* The last byte of an answer is written. */
static int end_answer(flr_service_connection *connection)
{
    flr_http_end(connection);
    /* the next request is looked at in the next round, so that a pipelined flood does not keep others waiting */
    int64_t now = flr_service_now(connection->service);
    connection->deadline = now + request_ns;
    if (!connection->keep_alive) connection->stage = FLR_SERVICE_CONNECTION_CLOSING;
    flr_service_connection_ask(connection, now);
    return 0;
}

/* Writes the next piece of the body behind `used` bytes that are in the buffer already. */
static int write_piece(flr_service_connection *connection, uint8_t *buffer, size_t used)
{
    flr_http_body *body = &connection->body;
    size_t count = body->size - body->at < SERVICE_HTTP_PIECE ? (size_t)(body->size - body->at)
                                                              : SERVICE_HTTP_PIECE;
    if (count && body->file) {
        size_t got = 0;
        if (flr_file_read(body->file, body->at, buffer + LWS_PRE + used, count, &got, NULL) !=
                FLR_OK ||
            got == 0)
            return -1;
        count = got;
    } else if (count) {
        memcpy(buffer + LWS_PRE + used, body->bytes + body->at, count);
    }
    size_t all = used + count;
    if (lws_write(connection->wsi, buffer + LWS_PRE, all, LWS_WRITE_RAW) < (int)all) return -1;
    body->at += count;
    if (body->at == body->size) return end_answer(connection);
    flr_service_connection_ask(connection, flr_service_now(connection->service));
    return 0;
}

static uint8_t *answer_buffer(void)
{
    static uint8_t
        buffer[LWS_PRE + FLR_REPLY_HEADERS + SERVICE_HTTP_PIECE]; /* of the control thread */
    return buffer;
}

int flr_reply_finish(flr_reply *reply, uint64_t size, bool with_body)
{
    flr_service_connection *connection = reply->connection;
    print(reply, "content-length: %llu\r\nconnection: %s\r\n\r\n", (unsigned long long)size,
          connection->keep_alive ? "keep-alive" : "close");
    if (reply->full) return -1;
    if (!with_body) flr_http_end(connection);
    connection->answering = true;
    uint8_t *buffer = answer_buffer();
    memcpy(buffer + LWS_PRE, reply->text, reply->size);
    return write_piece(connection, buffer, reply->size);
}

int flr_reply_say(flr_service_connection *connection, unsigned status, const char *sentence)
{
    flr_reply r;
    flr_reply_begin(&r, connection, status);
    flr_reply_add(&r, "content-type", "text/plain; charset=utf-8");
    flr_reply_add(&r, "cache-control", "no-store");
    if (status == 405) flr_reply_add(&r, "allow", "GET, HEAD");
    if (status == 401) flr_reply_add(&r, "www-authenticate", "Bearer");
    if (status == 426) flr_reply_add(&r, "sec-websocket-version", "13");
    connection->body =
        (flr_http_body){.bytes = (const uint8_t *)sentence, .size = strlen(sentence)};
    return flr_reply_finish(&r, connection->body.size,
                            connection->reader.head.method != FLR_HTTP_HEAD);
}

void flr_http_end(flr_service_connection *connection)
{
    free(connection->body.owned);
    flr_file_close(connection->body.file);
    connection->body = (flr_http_body){0};
}

int flr_http_writable(flr_service_connection *connection)
{
    if (!connection->answering) return 0;
    if (connection->body.at < connection->body.size)
        return write_piece(connection, answer_buffer(), 0);
    connection->answering = false;
    flr_http_restart(&connection->reader);
    return 0;
}

/* ---- requests ---- */

/* answers, and whatever comes behind it is not read */
static int refuse(flr_service_connection *connection, unsigned status, const char *why)
{
    connection->keep_alive = false;
    return flr_reply_say(connection, status, why);
}

static const char *parser_says(unsigned status)
{
    switch (status) {
    case 413:
        return "A request may not have a body. Files are uploaded by WebSocket; the page does "
               "that.\n";
    case 431:
        return "The headers of a request may have 8 KiB at most.\n";
    case 500:
        return "The controller has no memory left.\n";
    case 505:
        return "Only HTTP/1.1 and HTTP/1.0 are spoken here.\n";
    default:
        return "That is not a request of HTTP/1.1.\n";
    }
}

/* why a request is not answered; NULL: it is */
static const char *refusal(const flr_service_connection *connection, unsigned *status)
{
    const flr_http_head *head = &connection->reader.head;
    *status = 403;
    if (!flr_access_host(&connection->service->def.access, head->header[FLR_HTTP_HOST]))
        return "This controller does not go by that name. Use its number, or start feeler serve "
               "with --name NAME.\n";
    *status = 405;
    if (head->method == FLR_HTTP_OTHER) return "Only GET and HEAD are answered here.\n";
    return NULL;
}

/* why a WebSocket is not opened; NULL: it is */
static const char *upgrade_refusal(const flr_service_connection *connection, unsigned *status,
                                   char accept[FLR_WS_ACCEPT_SIZE])
{
    const flr_http_head *head = &connection->reader.head;
    const char *const *header = head->header;
    const char *origin = header[FLR_HTTP_ORIGIN], *version = header[FLR_HTTP_WS_VERSION];
    *status = 403;
    if (!flr_access_origin(&connection->service->def.access, origin, header[FLR_HTTP_HOST]))
        return "A page from elsewhere may not call this controller; start feeler serve with "
               "--origin to allow it.\n";
    *status = 400;
    /* in particular not h2c: HTTP/2 is not spoken here */
    if (strcasecmp(header[FLR_HTTP_UPGRADE], "websocket") != 0)
        return "The only upgrade is to websocket.\n";
    if (head->method != FLR_HTTP_GET || !head->keep_alive ||
        !flr_http_lists(header[FLR_HTTP_CONNECTION], "upgrade") || !header[FLR_HTTP_WS_KEY] ||
        !flr_ws_accept(header[FLR_HTTP_WS_KEY], accept))
        return "That is not how a WebSocket is opened; RFC 6455 says how.\n";
    *status = 426;
    if (!version || strcmp(version, "13") != 0)
        return "Only version 13 of WebSocket is spoken here.\n";
    return NULL;
}

static int upgrade(flr_service_connection *connection)
{
    unsigned status;
    char accept[FLR_WS_ACCEPT_SIZE];
    const char *why = upgrade_refusal(connection, &status, accept);
    if (why) return refuse(connection, status, why);
    flr_reply r;
    flr_reply_begin(&r, connection, 101);
    flr_reply_add(&r, "upgrade", "websocket");
    flr_reply_add(&r, "connection", "Upgrade");
    flr_reply_add(&r, "sec-websocket-accept", accept);
    if (flr_http_lists(connection->reader.head.header[FLR_HTTP_WS_PROTOCOL], "feeler"))
        flr_reply_add(&r, "sec-websocket-protocol", "feeler");
    print(&r, "\r\n");
    uint8_t *buffer = answer_buffer();
    memcpy(buffer + LWS_PRE, r.text, r.size);
    if (r.full || lws_write(connection->wsi, buffer + LWS_PRE, r.size, LWS_WRITE_RAW) < (int)r.size)
        return -1;
    return flr_socket_begin(connection);
}

ptrdiff_t flr_http_feed(flr_service_connection *connection, const uint8_t *bytes, size_t size)
{
    unsigned status;
    flr_http_reader *reader = &connection->reader;
    size_t used = flr_http_read(reader, (const char *)bytes, size, &status);
    if (status == FLR_HTTP_MORE) return (ptrdiff_t)used;
    connection->keep_alive = reader->head.keep_alive;
    int result;
    const char *why = NULL;
    if (status != FLR_HTTP_DONE)
        why = parser_says(status);
    else
        why = refusal(connection, &status);
    if (why)
        result = refuse(connection, status, why);
    else if (reader->head.header[FLR_HTTP_UPGRADE])
        result = upgrade(connection);
    else
        result = flr_page_request(connection, &reader->head);
    return result < 0 ? -1 : (ptrdiff_t)used;
}
