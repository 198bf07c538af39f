/* sockets: one thread, many clients, none of them waited for */
#include "server/service.h"

#include <stdlib.h>
#include <string.h>

#include "feeler/version.h"
#include "protocol/codec.h"
#include "server/service_internal.h"
#include "server/upload.h"

enum {
    TICK_US = 20000,   /* the engine is served at least this often */
    MIN_TICK_US = 1000 /* … and at most */
};

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

/* ---- the round ---- */

/* Wakes clients that have something to send; drops those that take nothing. Returns when to come again. */
static int64_t look_around(flr_service *service)
{
    int64_t now = flr_service_now(service);
    int64_t wanted = flr_hub_pump(service->hub, now);
    int64_t next = now + INT64_C(1000) * TICK_US;
    if (wanted < next) next = wanted;
    for (flr_service_connection *c = service->connections, *following; c; c = following) {
        following = c->next;
        int64_t due = flr_service_connection_look(c, now);
        if (due < next) next = due;
    }
    return next;
}

static void tick(lws_sorted_usec_list_t *timer)
{
    flr_service *service = lws_container_of(timer, flr_service, tick);
    int64_t wait = (look_around(service) - flr_service_now(service)) / 1000;
    if (wait < MIN_TICK_US) wait = MIN_TICK_US;
    if (wait > TICK_US) wait = TICK_US;
    lws_sul_schedule(service->context, 0, timer, tick, wait);
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    flr_service *service = lws_context_user(lws_get_context(wsi));
    flr_service_connection *connection = user;
    /* `user` is a connection with these reasons alone: with some of TLS it is OpenSSL's */
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION:
        flr_service_connection_make_room(service, (lws_sockfd_type)(intptr_t)in);
        return 0;
    case LWS_CALLBACK_RAW_SKT_BIND_PROTOCOL:
        flr_service_connection_begin(service, connection, wsi);
        return 0;
    case LWS_CALLBACK_RAW_SKT_DROP_PROTOCOL:
    case LWS_CALLBACK_RAW_CLOSE:
        if (connection) flr_service_connection_end(connection);
        return 0;
    case LWS_CALLBACK_RAW_RX:
        return flr_service_connection_receive(connection, in, size);
    case LWS_CALLBACK_RAW_WRITEABLE:
        return flr_service_connection_writable(connection);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (service && service->hub) look_around(service);
        return 0;
    default:
        return 0;
    }
}

static bool has_clients(const flr_service *service)
{
    for (const flr_service_connection *c = service->connections; c; c = c->next)
        if (c->session || (c->stage == FLR_SERVICE_CONNECTION_CLOSING && !c->lingers)) return true;
    return false;
}

void flr_service_run(flr_service *service, bool (*stop)(void *context), void *context)
{
    lws_sul_schedule(service->context, 0, &service->tick, tick, 1);
    while (!stop(context)) lws_service(service->context, 0);
    /* a short time for goodbyes */
    flr_hub_close(service->hub, FLR_CLOSED, "the controller ends");
    int64_t end = flr_service_now(service) + INT64_C(500000000);
    while (has_clients(service) && flr_service_now(service) < end) lws_service(service->context, 0);
    lws_sul_cancel(&service->tick);
}

/* ---- opening ---- */

static const struct lws_protocols protocols[] = {
    {.name = "feeler",
     .callback = callback,
     .per_session_data_size = sizeof(flr_service_connection),
     .rx_buffer_size = FLR_SERVICE_READ},
    {.name = NULL},
};

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
    /* lws does sockets, TLS and the event loop. Its parsers are kept out: with pipelined bodies, Upgrade: h2c and refused
       requests that of 4.1 loops, asserts or uses what it has freed. */
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG;
    info.listen_accept_role = "raw-skt";
    info.listen_accept_protocol = protocols[0].name;
    if (def->address.family == 4) info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    info.timeout_secs = 10;
    info.ka_time = 60, info.ka_probes = 3, info.ka_interval = 10;
    info.fd_limit_per_thread = def->limits.clients + FLR_SERVICE_SPARE;
    info.pt_serv_buf_size = FLR_SERVICE_READ;
    if (def->certificate) {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = def->certificate;
        info.ssl_private_key_filepath = def->key;
        info.alpn = "http/1.1";
    }
    lws_set_log_level(0, NULL);
    service->context = lws_create_context(&info);
    if (!service->context && def->certificate)
        return flr_fail(error, FLR_BAD_INPUT,
                        "cannot listen on %s with TLS: are %s and %s a certificate and its key, "
                        "as PEM?",
                        FLR_ADDRESS_TEXT(def->address), def->certificate, def->key);
    if (!service->context)
        return flr_fail(error, FLR_DENIED, "cannot listen on %s; choose another address or port",
                        FLR_ADDRESS_TEXT(def->address));
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
    made->buffer = malloc(LWS_PRE + FLR_WS_MAX_HEAD + made->buffer_size);
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
    for (flr_service_connection *c = service->connections; c; c = c->next)
        lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    while (service->connections) flr_service_connection_end(service->connections);
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
