/* sockets: one thread, many clients, none of them waited for */
#include "controller/service.h"

#include <stdlib.h>
#include <string.h>

#include "controller/service_inside.h"
#include "controller/upload.h"
#include "feeler/version.h"
#include "protocol/codec.h"

enum {
    TICK_US = 20000,      /* the engine is served at least this often */
    LEAST_TICK_US = 1000, /* … and at most */
    RECEIVE = 65536,      /* bytes that are read at once */
    FRAMES_AT_ONCE = 16,  /* written to one client before the next has its turn */
    LARGE_FRAME = 65536,  /* of these one */
    SPARE_SOCKETS = 64    /* connections beside clients: pages being loaded */
};

static const int64_t farewell_ns = INT64_C(3000000000);

/* What a client asks for takes a quarter of the thread at most, over any time much longer than this. */
static const int64_t credit_ns = INT64_C(20000000);
enum { SHARE = 4 };

flr_service_def flr_default_service_def(void)
{
    flr_service_def def = {.engine = flr_default_engine_def(),
                           .address = {.family = 4, .ip = {127, 0, 0, 1}, .port = FLR_SERVICE_PORT},
                           .limits = flr_default_hub_limits(),
                           .stall_seconds = 30};
    return def;
}

void flr_service_wake(void *context)
{
    flr_service *service = context;
    if (service->context) lws_cancel_service(service->context);
}

flr_engine *flr_service_engine(flr_service *service) { return service->engine; }
flr_hub *flr_service_hub(flr_service *service) { return service->hub; }
flr_address flr_service_address(const flr_service *service) { return service->address; }

static int64_t clock_of(flr_service *service) { return flr_clock_ns(service->def.engine.env); }

/* ---- clients ---- */

static void ask_to_write(flr_connection *connection, int64_t now)
{
    if (!connection->asked) {
        connection->asked = true;
        connection->since = now;
    }
    lws_callback_on_writable(connection->wsi);
}

static bool is_loopback(struct lws *wsi, char from[64])
{
    if (!lws_get_peer_simple(wsi, from, 64)) snprintf(from, 64, "somewhere");
    const char *plain = !strncmp(from, "::ffff:", 7) ? from + 7 : from;
    return !strncmp(plain, "127.", 4) || !strcmp(plain, "::1");
}

static int begin_client(flr_service *service, flr_connection *connection, struct lws *wsi)
{
    *connection = (flr_connection){.service = service, .wsi = wsi};
    char from[64];
    bool loopback = is_loopback(wsi, from);
    connection->session = flr_session_open(service->hub, from, loopback, clock_of(service));
    if (!connection->session) return -1;
    connection->next = service->connections;
    service->connections = connection;
    return 0;
}

static void end_client(flr_service *service, flr_connection *connection)
{
    for (flr_connection **at = &service->connections; *at; at = &(*at)->next) {
        if (*at == connection) {
            *at = connection->next;
            break;
        }
    }
    flr_session_close(connection->session);
    connection->session = NULL;
    free(connection->frame);
    connection->frame = NULL;
}

static bool keep_piece(flr_connection *connection, const void *bytes, size_t size)
{
    size_t wanted = connection->frame_size + size;
    if (wanted > connection->frame_capacity) {
        size_t capacity = 2 * connection->frame_capacity;
        if (capacity < wanted) capacity = wanted;
        uint8_t *more = realloc(connection->frame, capacity);
        if (!more) return false;
        connection->frame = more;
        connection->frame_capacity = capacity;
    }
    memcpy(connection->frame + connection->frame_size, bytes, size);
    connection->frame_size = wanted;
    return true;
}

/* who does not take answers is not heard until it does, nor who asks so much that others would wait */
static bool must_wait(const flr_connection *connection, int64_t now)
{
    return flr_session_crowded(connection->session) || connection->paid - now > credit_ns;
}

static void hear_again(flr_connection *connection, int64_t now)
{
    if (!connection->held_back || must_wait(connection, now)) return;
    connection->held_back = false;
    lws_rx_flow_control(connection->wsi, 1);
}

/* A piece of a message came. What is longer than the table allows is not kept, from its head on. */
static void receive(flr_service *service, flr_connection *connection, const void *bytes,
                    size_t size)
{
    struct lws *wsi = connection->wsi;
    flr_session *session = connection->session;
    if (lws_is_first_fragment(wsi)) {
        connection->frame_size = 0;
        connection->refused = !lws_frame_is_binary(wsi);
        if (connection->refused) flr_session_refuse(session, "messages are binary frames");
    }
    if (!connection->refused && !keep_piece(connection, bytes, size)) {
        connection->refused = true;
        flr_session_refuse(session, "the controller has no memory left");
    }
    if (!connection->refused) {
        size_t allowed = flr_session_allows(session, connection->frame, connection->frame_size);
        if (connection->frame_size > allowed) {
            connection->refused = true;
            flr_session_refuse(session, "a message is longer than it may be");
        }
    }
    int64_t now = clock_of(service);
    if (lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi)) {
        if (!connection->refused) {
            flr_session_receive(session, connection->frame, connection->frame_size, now);
            if (connection->paid < now) connection->paid = now;
            connection->paid += SHARE * (clock_of(service) - now);
        }
        connection->frame_size = 0;
        /* what a large one needed is given back */
        if (connection->frame_capacity > RECEIVE) {
            free(connection->frame);
            connection->frame = NULL;
            connection->frame_capacity = 0;
        }
    }
    if (!connection->held_back && must_wait(connection, now)) {
        connection->held_back = true;
        lws_rx_flow_control(wsi, 0);
    }
    if (flr_session_due(session, now) <= now || flr_session_ending(session))
        ask_to_write(connection, now);
}

static int say_goodbye(flr_connection *connection)
{
    static const char reason[] = "goodbye";
    lws_close_reason(connection->wsi, LWS_CLOSE_STATUS_GOINGAWAY, (uint8_t *)(uintptr_t)reason,
                     sizeof reason - 1);
    return -1;
}

static int write_frames(flr_service *service, flr_connection *connection)
{
    flr_session *session = connection->session;
    int64_t now = clock_of(service);
    connection->asked = false;
    for (int i = 0; i < FRAMES_AT_ONCE && !lws_send_pipe_choked(connection->wsi); i++) {
        size_t size;
        if (!flr_session_next(session, now, service->buffer + LWS_PRE, service->buffer_size, &size))
            break;
        if (lws_write(connection->wsi, service->buffer + LWS_PRE, size, LWS_WRITE_BINARY) <
            (int)size)
            return -1;
        if (size > LARGE_FRAME) break;
    }
    hear_again(connection, now);
    if (flr_session_over(session)) return say_goodbye(connection);
    if (flr_session_due(session, now) <= now) ask_to_write(connection, now);
    return 0;
}

/* ---- the round ---- */

/* Wakes those who have something to be told; drops those who take nothing. Returns when to come again. */
static int64_t look_around(flr_service *service)
{
    int64_t now = clock_of(service);
    int64_t wanted = flr_hub_pump(service->hub, now);
    int64_t stall = (int64_t)(service->def.stall_seconds * 1e9);
    int64_t next = now + INT64_C(1000) * TICK_US;
    if (wanted < next) next = wanted;
    for (flr_connection *c = service->connections, *following; c; c = following) {
        following = c->next;
        bool ending = flr_session_ending(c->session);
        if (c->asked && now - c->since > (ending ? farewell_ns : stall)) {
            flr_session_end(c->session, FLR_TIMEOUT, "it took nothing that was sent");
            lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
            continue;
        }
        hear_again(c, now);
        if (c->asked) continue;
        int64_t due = flr_session_due(c->session, now);
        if (due <= now || ending)
            ask_to_write(c, now);
        else if (due < next)
            next = due;
    }
    return next;
}

static void tick(lws_sorted_usec_list_t *timer)
{
    flr_service *service = lws_container_of(timer, flr_service, tick);
    int64_t wait = (look_around(service) - clock_of(service)) / 1000;
    if (wait < LEAST_TICK_US) wait = LEAST_TICK_US;
    if (wait > TICK_US) wait = TICK_US;
    lws_sul_schedule(service->context, 0, timer, tick, wait);
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    flr_service *service = lws_context_user(lws_get_context(wsi));
    flr_connection *connection = user;
    /* `user` is a connection with these reasons alone: with some of TLS it is OpenSSL's */
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        connection->service = service;
        connection->wsi = wsi;
        return flr_http_request(connection, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return flr_http_writable(connection);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return flr_http_upgrade(service, wsi);
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
        if (connection) flr_http_end(connection);
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        return begin_client(service, connection, wsi);
    case LWS_CALLBACK_CLOSED:
        if (connection->session) end_client(service, connection);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        if (connection->session) receive(service, connection, in, size);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return connection->session ? write_frames(service, connection) : 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (service && service->hub) look_around(service);
        return 0;
    default:
        return 0;
    }
}

void flr_service_run(flr_service *service, bool (*stop)(void *context), void *context)
{
    lws_sul_schedule(service->context, 0, &service->tick, tick, 1);
    while (!stop(context)) lws_service(service->context, 0);
    /* a short time for goodbyes */
    flr_hub_close(service->hub, FLR_CLOSED, "the controller ends");
    int64_t end = clock_of(service) + INT64_C(500000000);
    while (service->connections && clock_of(service) < end) lws_service(service->context, 0);
    lws_sul_cancel(&service->tick);
}

/* ---- opening ---- */

static const struct lws_protocols protocols[] = {
    {.name = "feeler",
     .callback = callback,
     .per_session_data_size = sizeof(flr_connection),
     .rx_buffer_size = RECEIVE},
    {.name = NULL},
};

/* pings after half a minute without a word, the end after another */
static const lws_retry_bo_t idle = {.secs_since_valid_ping = 30, .secs_since_valid_hangup = 60};

static flr_result check_file(flr_env *env, const char *path, const char *what, flr_error *error)
{
    flr_file *file;
    flr_result result = flr_file_open(env, path, FLR_FILE_READ, &file, error);
    if (result != FLR_OK)
        return flr_fail(error, FLR_BAD_INPUT, "the %s for TLS cannot be used: %s", what,
                        error ? error->message : "");
    flr_file_close(file);
    return FLR_OK;
}

/* tries the port by itself first, since lws does not say why it cannot have one */
static flr_result check_port(const flr_service_def *def, flr_error *error)
{
    flr_socket *socket;
    flr_error why;
    flr_result result = flr_tcp_listen(def->engine.env, def->address, &socket, &why);
    if (result == FLR_OK) {
        flr_socket_close(socket);
        return FLR_OK;
    }
    /* an address that this machine lacks is not the port's fault */
    if (result == FLR_NOT_FOUND)
        return flr_fail(error, FLR_DENIED, "%s; ip address lists those that it has", why.message);
    return flr_fail(error, FLR_DENIED,
                    "%s. Is another feeler serve running? --port says which, --port 0 takes any "
                    "that is free",
                    why.message);
}

static flr_result check_def(const flr_service_def *def, flr_error *error)
{
    flr_result result = FLR_OK;
    if (!flr_address_is_loopback(def->address) && !def->access.token[0])
        return flr_fail(error, FLR_DENIED, "an address that others can reach needs a token");
    if (!def->certificate != !def->key)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "TLS needs a certificate and its key: --tls-cert and --tls-key");
    if (def->certificate)
        result = check_file(def->engine.env, def->certificate, "certificate", error);
    if (result == FLR_OK && def->key) result = check_file(def->engine.env, def->key, "key", error);
    return result == FLR_OK ? check_port(def, error) : result;
}

static flr_result open_port(flr_service *service, flr_error *error)
{
    const flr_service_def *def = &service->def;
    char host[FLR_ADDRESS_TEXT_SIZE];
    flr_address bare = def->address;
    bare.port = 0;
    flr_address_print(bare, host);
    char *end = strrchr(host, ':');
    if (end) *end = 0;
    char *begin = host[0] == '[' ? host + 1 : host;
    if (begin != host) begin[strlen(begin) - 1] = 0;
    static const uint8_t any[16];
    bool everywhere = !memcmp(def->address.ip, any, def->address.family == 6 ? 16 : 4);
    struct lws_context_creation_info info = {0};
    info.port = def->address.port;
    info.iface = everywhere ? NULL : begin;
    info.protocols = protocols;
    info.user = service;
    info.server_string = "feeler";
    info.vhost_name = "feeler";
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
    if (def->address.family == 4) info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    info.timeout_secs = 10;
    info.keepalive_timeout = 30;
    info.ka_time = 60, info.ka_probes = 3, info.ka_interval = 10;
    info.retry_and_idle_policy = &idle;
    info.fd_limit_per_thread = def->limits.clients + SPARE_SOCKETS;
    info.max_http_header_data = 8192;
    info.pt_serv_buf_size = RECEIVE;
    if (def->certificate) {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = def->certificate;
        info.ssl_private_key_filepath = def->key;
        info.alpn = "http/1.1";
    }
    lws_set_log_level(0, NULL);
    service->context = lws_create_context(&info);
    char text[FLR_ADDRESS_TEXT_SIZE];
    if (!service->context && def->certificate)
        return flr_fail(error, FLR_BAD_INPUT,
                        "cannot listen on %s with TLS: are %s and %s a certificate and its key, "
                        "as PEM?",
                        flr_address_print(def->address, text), def->certificate, def->key);
    if (!service->context)
        return flr_fail(error, FLR_DENIED, "cannot listen on %s; choose another address or port",
                        flr_address_print(def->address, text));
    service->address = def->address;
    int port = lws_get_vhost_listen_port(lws_get_vhost_by_name(service->context, "feeler"));
    if (port > 0) service->address.port = (uint16_t)port;
    return FLR_OK;
}

static flr_result make_hub(flr_service *service, flr_error *error)
{
    flr_hub_def hub = {.env = service->def.engine.env,
                       .engine = service->engine,
                       .access = &service->def.access,
                       .log = service->def.log,
                       .uploads = service->uploads[0] ? service->uploads : NULL,
                       .name = "feeler " FLR_VERSION,
                       .loop_rate = service->def.engine.rate,
                       .limits = service->def.limits,
                       .levels = flr_default_levels_def(),
                       .seen = service->def.seen,
                       .context = service->def.context};
    hub.levels.wake = flr_service_wake;
    hub.levels.context = service;
    return flr_hub_create(&hub, &service->hub, error);
}

flr_result flr_service_create(const flr_service_def *def, flr_service **service, flr_error *error)
{
    flr_error spare;
    if (!error) error = &spare;
    flr_result result = check_def(def, error);
    if (result != FLR_OK) return result;
    flr_service *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to serve clients");
    made->known = sched_getaffinity(0, sizeof made->processors, &made->processors) == 0;
    made->def = *def;
    made->buffer_size = flr_wire_max_frame(FLR_TO_CLIENT);
    made->buffer = malloc(LWS_PRE + made->buffer_size);
    if (!made->buffer)
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory to serve clients");
    if (result == FLR_OK) result = open_port(made, error);
    if (result == FLR_OK && def->uploads)
        result = flr_upload_folder(def->engine.env, def->uploads, made->uploads,
                                   sizeof made->uploads, &made->uploads_lock, error);
    made->def.engine.wake = flr_service_wake;
    made->def.engine.wake_context = made;
    if (result == FLR_OK) result = flr_engine_create(&made->def.engine, &made->engine, error);
    if (result == FLR_OK) {
        flr_engine_keep_off(made->engine);
        result = make_hub(made, error);
    }
    if (result == FLR_OK)
        *service = made;
    else
        flr_service_destroy(made);
    return result;
}

void flr_service_destroy(flr_service *service)
{
    if (!service) return;
    /* clients go first, so that hands let go; nobody wakes us once the engine and its workers have ended */
    if (service->engine) flr_engine_stop(service->engine);
    struct lws_context *context = service->context;
    for (flr_connection *c = service->connections; c; c = c->next)
        lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    while (service->connections) end_client(service, service->connections);
    flr_service_end_share(service);
    flr_hub_destroy(service->hub);
    service->hub = NULL;
    flr_engine_destroy(service->engine);
    if (context) lws_context_destroy(context);
    if (service->uploads_lock)
        flr_upload_folder_remove(service->def.engine.env, service->uploads, service->uploads_lock);
    if (service->known) sched_setaffinity(0, sizeof service->processors, &service->processors);
    free(service->buffer);
    free(service);
}
