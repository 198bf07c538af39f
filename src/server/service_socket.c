/* WebSockets: messages are put together for the session, frames written when there is room */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "server/service_internal.h"

enum {
    FRAMES_AT_ONCE = 16, /* written to one client before the next has its turn */
    LARGE_FRAME = 65536, /* of these one */
    GOING_AWAY = 1001,   /* close codes of RFC 6455 */
    NORMAL = 1000
};

/* What a client asks for takes a quarter of the thread at most, over any time much longer than this. */
static const int64_t credit_ns = INT64_C(20000000);
enum { SERVICE_SOCKET_SHARE = 4 };

static bool is_loopback(const char *from)
{
    const char *plain = !strncmp(from, "::ffff:", 7) ? from + 7 : from;
    return !strncmp(plain, "127.", 4) || !strcmp(plain, "::1");
}

int flr_socket_begin(flr_service_connection *connection)
{
    flr_service *service = connection->service;
    int64_t now = flr_service_now(service);
    /* what a proxy at this machine hands on comes from somebody elsewhere */
    const flr_http_head *head = &connection->reader.head;
    bool local = is_loopback(connection->from) && !head->forwarded &&
                 flr_access_is_local(head->header[FLR_HTTP_HOST], head->header[FLR_HTTP_ORIGIN]);
    connection->session = flr_client_session_open(service->hub, connection->from, local, now);
    if (!connection->session) return -1;
    flr_http_free(&connection->reader);
    connection->stage = FLR_SERVICE_CONNECTION_WEBSOCKET;
    connection->heard = now;
    return 0;
}

void flr_socket_end(flr_service_connection *connection)
{
    flr_client_session_close(connection->session);
    connection->session = NULL;
    free(connection->message);
    connection->message = NULL;
}

static bool keep_piece(flr_service_connection *connection, const void *bytes, size_t size)
{
    size_t wanted = connection->message_size + size;
    if (size == 0) return true;
    if (wanted > connection->message_capacity) {
        size_t capacity = 2 * connection->message_capacity;
        if (capacity < wanted) capacity = wanted;
        if (!flr_array_resize(&connection->message, capacity, 1)) return false;
        connection->message_capacity = capacity;
    }
    memcpy(connection->message + connection->message_size, bytes, size);
    connection->message_size = wanted;
    return true;
}

/* Reading from a client pauses while it does not take answers, or while its requests would make others wait. */
bool flr_socket_must_wait(const flr_service_connection *connection, int64_t now)
{
    return flr_client_session_crowded(connection->session) || connection->paid - now > credit_ns;
}

/* A message is whole. */
static void take_message(flr_service_connection *connection, int64_t now)
{
    if (!connection->refused) {
        static const uint8_t none[1];
        flr_client_session_receive(connection->session,
                                   connection->message_size ? connection->message : none,
                                   connection->message_size, now);
        if (connection->paid < now) connection->paid = now;
        connection->paid += SERVICE_SOCKET_SHARE * (flr_service_now(connection->service) - now);
    }
    connection->message_size = 0;
    /* what a large one needed is given back */
    if (connection->message_capacity > FLR_SERVICE_READ) {
        free(connection->message);
        connection->message = NULL;
        connection->message_capacity = 0;
    }
}

/* A piece of a message came. What is longer than the table allows is not kept, from its head on. */
static void take_piece(flr_service_connection *connection, const flr_ws_event *event, int64_t now)
{
    flr_client_session *session = connection->session;
    if (event->first) {
        connection->message_size = 0;
        connection->refused = !event->binary;
        if (connection->refused) flr_client_session_refuse(session, "messages are binary frames");
    }
    if (!connection->refused && !keep_piece(connection, event->bytes, event->size)) {
        connection->refused = true;
        flr_client_session_refuse(session, "the controller has no memory left");
    }
    if (!connection->refused && connection->message_size) {
        size_t allowed =
            flr_client_session_allows(session, connection->message, connection->message_size);
        if (connection->message_size > allowed) {
            connection->refused = true;
            flr_client_session_refuse(session, "a message is longer than it may be");
        }
    }
    if (event->last) take_message(connection, now);
    connection->held_back = flr_socket_must_wait(connection, now);
    if (flr_client_session_due(session, now) <= now || flr_client_session_ending(session))
        flr_service_connection_ask(connection, now);
}

size_t flr_socket_read(flr_service_connection *connection, uint8_t *bytes, size_t size)
{
    int64_t now = flr_service_now(connection->service);
    flr_ws_event event;
    size_t used = flr_ws_read(&connection->frames, bytes, size, &event);
    connection->heard = now;
    connection->pinged = false;
    switch (event.kind) {
    case FLR_WS_DATA:
        take_piece(connection, &event, now);
        break;
    case FLR_WS_PING:
        /* of several pings that come at once the last is answered, as RFC 6455 allows */
        connection->pong_size = (uint8_t)event.size;
        if (event.size) memcpy(connection->pong, event.bytes, event.size);
        connection->pong_due = true;
        flr_service_connection_ask(connection, now);
        break;
    case FLR_WS_CLOSE:
    case FLR_WS_BAD:
        connection->close_code = event.code == 1005 ? NORMAL : event.code;
        connection->stage = FLR_SERVICE_CONNECTION_CLOSING;
        flr_service_connection_ask(connection, now);
        break;
    case FLR_WS_PONG:
    case FLR_WS_MORE:
        break;
    }
    return used;
}

/* ---- writing ---- */

/* Writes a frame whose payload lies behind LWS_PRE + FLR_WS_MAX_HEAD bytes of the buffer. */
static bool write_frame(flr_service_connection *connection, uint8_t opcode, size_t size)
{
    uint8_t head[FLR_WS_MAX_HEAD];
    size_t count = flr_ws_head(opcode, size, head);
    uint8_t *begin = connection->service->buffer + LWS_PRE + FLR_WS_MAX_HEAD - count;
    memcpy(begin, head, count);
    return lws_write(connection->wsi, begin, count + size, LWS_WRITE_RAW) >= (int)(count + size);
}

static int write_close(flr_service_connection *connection, uint16_t code, const char *reason)
{
    uint8_t *payload = connection->service->buffer + LWS_PRE + FLR_WS_MAX_HEAD;
    size_t size = strlen(reason);
    payload[0] = (uint8_t)(code >> 8), payload[1] = (uint8_t)code;
    memcpy(payload + 2, reason, size);
    connection->close_code = 0;
    connection->stage = FLR_SERVICE_CONNECTION_CLOSING;
    return write_frame(connection, FLR_WS_CLOSING, size + 2) ? 0 : -1;
}

int flr_socket_writable(flr_service_connection *connection)
{
    flr_service *service = connection->service;
    flr_client_session *session = connection->session;
    int64_t now = flr_service_now(service);
    if (connection->close_code) return write_close(connection, connection->close_code, "");
    if (connection->stage == FLR_SERVICE_CONNECTION_CLOSING) return 0;
    uint8_t *payload = service->buffer + LWS_PRE + FLR_WS_MAX_HEAD;
    if (connection->pong_due) {
        memcpy(payload, connection->pong, connection->pong_size);
        connection->pong_due = false;
        if (!write_frame(connection, FLR_WS_PONGING, connection->pong_size)) return -1;
    }
    if (connection->ping_due) {
        connection->ping_due = false;
        if (!write_frame(connection, FLR_WS_PINGING, 0)) return -1;
    }
    for (int i = 0; i < FRAMES_AT_ONCE && !lws_send_pipe_choked(connection->wsi); i++) {
        size_t size;
        if (!flr_client_session_next(session, now, payload, service->buffer_size, &size)) break;
        if (!write_frame(connection, FLR_WS_BINARY, size)) return -1;
        if (size > LARGE_FRAME) break;
    }
    if (flr_client_session_over(session)) return write_close(connection, GOING_AWAY, "goodbye");
    if (flr_client_session_due(session, now) <= now) flr_service_connection_ask(connection, now);
    return 0;
}
