/* connections: which there are, what they may cost, and when they are heard */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server/service_internal.h"

/* until a request must be there; time a client has to take a goodbye; a WebSocket that is silent is pinged, and
 * closed when it stays silent */
static const int64_t request_ns = INT64_C(10000000000), farewell_ns = INT64_C(3000000000);
static const int64_t linger_ns = INT64_C(1000000000);
static const int64_t ping_ns = INT64_C(30000000000), silence_ns = INT64_C(60000000000);

int64_t flr_service_now(flr_service *service) { return flr_clock_ns(service->def.engine.env); }

void flr_service_connection_ask(flr_service_connection *connection, int64_t now)
{
    if (!connection->asked) {
        connection->asked = true;
        connection->since = now;
    }
    lws_callback_on_writable(connection->wsi);
}

/* ---- how many there may be ---- */

static void address_of(lws_sockfd_type socket, char text[64], uint8_t network[16])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    const void *bytes = NULL;
    snprintf(text, 64, "somewhere");
    flr_access_network(0, NULL, network);
    if (getpeername(socket, (struct sockaddr *)&address, &size) != 0) return;
    if (address.ss_family == AF_INET) bytes = &((struct sockaddr_in *)&address)->sin_addr;
    if (address.ss_family == AF_INET6) bytes = &((struct sockaddr_in6 *)&address)->sin6_addr;
    if (!bytes) return;
    inet_ntop(address.ss_family, bytes, text, 64);
    flr_access_network(address.ss_family == AF_INET ? 4 : 6, bytes, network);
}

/* a client has shown the token, where one is needed; all others may have to make way */
static bool is_client(const flr_service_connection *c)
{
    return c->stage == FLR_SERVICE_CONNECTION_WEBSOCKET && flr_client_session_welcome(c->session);
}

void flr_service_connection_make_room(flr_service *service, lws_sockfd_type socket)
{
    address_of(socket, service->arriving, service->arriving_network);
    // what waits in the kernel for a slow client is old when it arrives: states are rather left out
    int unsent = FLR_SERVICE_UNSENT;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    unsigned all = 0, same = 0;
    /* the list begins with the youngest: what is found last is the oldest */
    flr_service_connection *oldest = NULL, *oldest_same = NULL;
    for (flr_service_connection *c = service->connections; c; c = c->next) {
        if (is_client(c)) continue;
        all++;
        oldest = c;
        if (memcmp(c->network, service->arriving_network, sizeof c->network) != 0) continue;
        same++;
        oldest_same = c;
    }
    if (same >= FLR_SERVICE_PER_ADDRESS)
        flr_service_connection_cut(oldest_same);
    else if (all >= FLR_SERVICE_SPARE - 4)
        flr_service_connection_cut(oldest);
}

void flr_service_connection_begin(flr_service *service, flr_service_connection *connection,
                                  struct lws *wsi)
{
    *connection = (flr_service_connection){.service = service, .wsi = wsi};
    memcpy(connection->from, service->arriving, sizeof connection->from);
    memcpy(connection->network, service->arriving_network, sizeof connection->network);
    connection->opened = flr_service_now(service);
    connection->deadline = connection->opened + request_ns;
    connection->next = service->connections;
    service->connections = connection;
}

void flr_service_connection_end(flr_service_connection *connection)
{
    flr_service *service = connection->service;
    if (!service) return;
    for (flr_service_connection **at = &service->connections; *at; at = &(*at)->next) {
        if (*at == connection) {
            *at = connection->next;
            break;
        }
    }
    connection->service = NULL;
    if (connection->session) flr_socket_end(connection);
    flr_http_end(connection);
    flr_http_free(&connection->reader);
    free(connection->input);
    connection->input = NULL;
}

void flr_service_connection_cut(flr_service_connection *connection)
{
    flr_service *service = connection->service;
    struct lws *wsi = connection->wsi;
    connection->stage = FLR_SERVICE_CONNECTION_CLOSING;
    /* the first time lws says goodbye and waits for the other side; the second time it closes */
    for (int i = 0; i < 2; i++) {
        bool there = false;
        for (flr_service_connection *c = service->connections; c; c = c->next)
            there = there || c == connection;
        if (!there) return;
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
    }
}

/* ---- bytes ---- */

/* is something to be done first, before more of what it sent is looked at? */
static bool is_busy(const flr_service_connection *c)
{
    return c->stage == FLR_SERVICE_CONNECTION_HTTP
               ? c->answering
               : c->stage == FLR_SERVICE_CONNECTION_WEBSOCKET && c->held_back;
}

/* Looks at what came until there is no more, or the rest must wait. */
static int feed(flr_service_connection *c, uint8_t *bytes, size_t size, size_t *used)
{
    for (*used = 0; *used < size && !is_busy(c);) {
        if (c->stage == FLR_SERVICE_CONNECTION_CLOSING) {
            *used = size;
        } else if (c->stage == FLR_SERVICE_CONNECTION_WEBSOCKET) {
            *used += flr_socket_read(c, bytes + *used, size - *used);
        } else {
            ptrdiff_t count = flr_http_feed(c, bytes + *used, size - *used);
            if (count < 0) return -1;
            *used += (size_t)count;
        }
    }
    return 0;
}

static void set_reading(flr_service_connection *c, bool reading)
{
    if (c->stopped != reading) return;
    c->stopped = !reading;
    lws_rx_flow_control(c->wsi, reading);
}

int flr_service_connection_receive(flr_service_connection *c, uint8_t *bytes, size_t size)
{
    size_t used = 0;
    /* lws starts a timeout with the TLS handshake and does not end it with it: the connection would be closed in the midst of work */
    if (!c->timed) lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
    c->timed = true;
    /* lws may hand on what it had read before it was asked to stop */
    if (!c->input_size && feed(c, bytes, size, &used) < 0) return -1;
    if (used == size) return 0;
    uint8_t *more = realloc(c->input, c->input_size + size - used);
    if (!more) return -1;
    memcpy(more + c->input_size, bytes + used, size - used);
    c->input = more;
    c->input_size += size - used;
    set_reading(c, false);
    return 0;
}

/* What waited is looked at; when nothing is left, more is read. */
static int go_on(flr_service_connection *c)
{
    if (is_busy(c)) return 0;
    if (c->input_size) {
        size_t used;
        if (feed(c, c->input, c->input_size, &used) < 0) return -1;
        c->input_size -= used;
        if (c->input_size) {
            memmove(c->input, c->input + used, c->input_size);
        } else {
            free(c->input);
            c->input = NULL;
        }
    }
    if (!c->input_size) set_reading(c, true);
    return 0;
}

/* All is written. Closing now would reset the connection where something of the client is still unread, and the client would lose
 * what it was just sent: so it gets a moment to close first, and what it sends is thrown away. */
static int linger(flr_service_connection *c)
{
    if (c->lingers) return 0;
    bool socket = c->session;
    if (socket) flr_socket_end(c); /* hands let go now */
    if (lws_partial_buffered(c->wsi)) {
        flr_service_connection_ask(c, flr_service_now(c->service));
        return 0;
    }
    /* only lws can end TLS properly, and then it closes */
    bool tls = c->service->def.certificate;
    if (tls && !socket) return -1;
    if (!tls) shutdown(lws_get_socket_fd(c->wsi), SHUT_WR);
    c->lingers = true;
    c->deadline = flr_service_now(c->service) + linger_ns;
    free(c->input);
    c->input = NULL;
    c->input_size = 0;
    set_reading(c, true);
    return 0;
}

int flr_service_connection_writable(flr_service_connection *c)
{
    c->asked = false;
    int result = c->session ? flr_socket_writable(c) : flr_http_writable(c);
    if (result < 0) return -1;
    if (c->stage == FLR_SERVICE_CONNECTION_CLOSING) return linger(c);
    if (c->session) c->held_back = flr_socket_must_wait(c, flr_service_now(c->service));
    return go_on(c);
}

/* ---- time ---- */

static int64_t look_at_socket(flr_service_connection *c, int64_t now)
{
    if (now - c->heard > ping_ns && !c->pinged) {
        c->pinged = c->ping_due = true;
        flr_service_connection_ask(c, now);
    }
    if (c->held_back && !flr_socket_must_wait(c, now)) {
        c->held_back = false;
        if (go_on(c) < 0) {
            flr_service_connection_cut(c);
            return INT64_MAX;
        }
    }
    if (c->asked) return INT64_MAX;
    int64_t due = flr_client_session_due(c->session, now);
    if (due > now && !flr_client_session_ending(c->session)) return due;
    flr_service_connection_ask(c, now);
    return INT64_MAX;
}

int64_t flr_service_connection_look(flr_service_connection *c, int64_t now)
{
    int64_t stall = (int64_t)(c->service->def.stall_seconds * 1e9);
    bool ending = c->session ? flr_client_session_ending(c->session) : false;
    if (c->stage == FLR_SERVICE_CONNECTION_CLOSING || ending) stall = farewell_ns;
    if (c->asked && now - c->since > stall) {
        if (c->session)
            flr_client_session_end(c->session, FLR_TIMEOUT, "it took nothing that was sent");
        flr_service_connection_cut(c);
        return INT64_MAX;
    }
    bool late = c->stage == FLR_SERVICE_CONNECTION_HTTP        ? !c->answering && now > c->deadline
                : c->stage == FLR_SERVICE_CONNECTION_WEBSOCKET ? now - c->heard > silence_ns
                                                               : c->lingers && now > c->deadline;
    if (late) {
        flr_service_connection_cut(c);
        return INT64_MAX;
    }
    return c->stage == FLR_SERVICE_CONNECTION_WEBSOCKET ? look_at_socket(c, now) : INT64_MAX;
}
