/* the client's connection: a thread that serves libwebsockets, sends what waits, and connects again */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "client/client_internal.h"

static const lws_usec_t again_us = 250000;

static void attempt(flr_client *client);

static void attempt_again(lws_sorted_usec_list_t *sul)
{
    attempt(lws_container_of(sul, flr_client, again));
}

/* ---- what goes out ---- */

static flr_client_out *make_out(const flr_message *message, uint8_t minor, flr_error *error)
{
    // twice as large until it fits; most messages are small
    for (size_t room = 1024;; room *= 4) {
        flr_client_out *out = malloc(sizeof *out + room);
        if (!out) {
            flr_fail(error, FLR_NO_MEMORY, "no memory for a message");
            return NULL;
        }
        flr_error why;
        flr_result result = flr_protocol_encode(message, minor, out->bytes, room, &out->size, &why);
        if (result == FLR_OK) {
            out->next = NULL;
            return out;
        }
        free(out);
        if (result != FLR_NO_MEMORY || room > FLR_CLIENT_MAX_FRAME) {
            if (error) *error = why;
            return NULL;
        }
    }
}

flr_result flr_client_put(flr_client *client, const flr_message *message, flr_error *error)
{
    flr_client_out *out = make_out(message, client->minor, error);
    if (!out) return error ? error->code : FLR_NO_MEMORY;
    if (client->last)
        client->last->next = out;
    else
        client->first = out;
    client->last = out;
    lws_cancel_service(client->context);
    return FLR_OK;
}

static void drop_out(flr_client *client)
{
    while (client->first) {
        flr_client_out *next = client->first->next;
        free(client->first);
        client->first = next;
    }
    client->last = NULL;
}

/* the newest pose of a hand, as a message in front of nothing; false: none waits */
static bool put_hand(flr_client *client)
{
    for (uint32_t i = 0; i < FLR_CLIENT_HANDS; i++) {
        if (!client->hand_waits[i]) continue;
        client->hand_waits[i] = false;
        flr_message message = {.id = FLR_MSG_HAND_INPUT, .as.hand_input = client->hand[i]};
        return flr_client_put(client, &message, NULL) == FLR_OK;
    }
    return false;
}

static int send_next(flr_client *client, struct lws *socket)
{
    if (!client->first && (!client->welcomed || !put_hand(client))) return 0;
    flr_client_out *out = client->first;
    client->first = out->next;
    if (!client->first) client->last = NULL;
    int sent = lws_write(socket, out->bytes, out->size, LWS_WRITE_BINARY);
    bool whole = sent >= 0 && (size_t)sent >= out->size;
    free(out);
    if (!whole) return -1;
    lws_callback_on_writable(socket);
    return 0;
}

/* ---- what comes in ---- */

static int gather(flr_client *client, struct lws *socket, const void *bytes, size_t size)
{
    if (client->in_size + size > FLR_CLIENT_MAX_FRAME) {
        flr_fail(&client->why, FLR_TOO_LARGE, "%s sends a frame of more than %d bytes",
                 client->label, FLR_CLIENT_MAX_FRAME);
        return -1;
    }
    if (client->in_size + size > client->in_room) {
        size_t room = 2 * (client->in_size + size);
        if (!flr_array_resize(&client->in, room, 1)) return -1;
        client->in_room = room;
    }
    if (size) memcpy(client->in + client->in_size, bytes, size);
    client->in_size += size;
    if (lws_remaining_packet_payload(socket) || !lws_is_final_fragment(socket)) return 0;
    size_t whole = client->in_size;
    client->in_size = 0;
    return flr_client_take(client, client->in, whole) ? 0 : -1;
}

static void say_hello(flr_client *client)
{
    flr_message message = {.id = FLR_MSG_HELLO};
    message.as.hello.role = FLR_WIRE_ROLE_HOST;
    message.as.hello.abilities = FLR_WIRE_ABILITY_COMMAND | FLR_WIRE_ABILITY_HAND |
                                 FLR_WIRE_ABILITY_UPLOAD | FLR_WIRE_ABILITY_RECORD |
                                 FLR_WIRE_ABILITY_LOAD;
    message.as.hello.token = flr_wire_text_of(client->token);
    message.as.hello.name = flr_wire_text_of(client->name);
    client->minor = FLR_PROTOCOL_MINOR;
    drop_out(client);
    flr_client_put(client, &message, NULL);
}

/* the connection is over, or did not come about */
static void ended(flr_client *client, const char *reason)
{
    client->socket = NULL;
    client->in_size = 0;
    if (!client->why.message[0])
        flr_fail(&client->why, FLR_CLOSED, "%s: %s", client->label,
                 reason ? reason : "the connection is closed");
    client->failed = true;
    flr_client_lost(client);
    drop_out(client);
    pthread_cond_broadcast(&client->news);
    if (client->reconnect && client->connections > 0 && !client->closing)
        lws_sul_schedule(client->context, 0, &client->again, attempt_again, again_us);
}

static int serve(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in,
                 size_t size)
{
    (void)user;
    struct lws_context *context = lws_get_context(socket);
    flr_client *client = context ? lws_context_user(context) : NULL;
    if (!client) return 0;
    int result = 0;
    pthread_mutex_lock(&client->lock);
    switch ((int)reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        client->why.message[0] = 0;
        say_hello(client);
        lws_callback_on_writable(socket);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        result = gather(client, socket, in, size);
        break;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        result = send_next(client, socket);
        break;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (client->socket) lws_callback_on_writable(client->socket);
        break;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        client->why.message[0] = 0;
        ended(client, in && size ? (const char *)in : "nobody answers there");
        break;
    case LWS_CALLBACK_CLIENT_CLOSED:
        ended(client, NULL);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&client->lock);
    return result;
}

static const struct lws_protocols protocols[] = {
    {.name = "feeler", .callback = serve, .rx_buffer_size = 65536},
    {.name = NULL},
};

/* ---- the thread ---- */

static void attempt(flr_client *client)
{
    struct lws_client_connect_info info = {0};
    info.context = client->context;
    info.address = client->host;
    info.port = client->port;
    info.path = client->path;
    info.host = client->label;
    info.protocol = protocols[0].name;
    info.local_protocol_name = protocols[0].name;
    info.pwsi = &client->socket;
    if (client->tls) {
        info.ssl_connection = LCCSCF_USE_SSL;
        if (client->any_certificate)
            info.ssl_connection |= LCCSCF_ALLOW_SELFSIGNED | LCCSCF_ALLOW_EXPIRED |
                                   LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK | LCCSCF_ALLOW_INSECURE;
    }
    lws_client_connect_via_info(&info); // where it fails at once, it has called back
}

static void *work(void *context)
{
    flr_client *client = context;
    attempt(client);
    for (;;) {
        pthread_mutex_lock(&client->lock);
        bool closing = client->closing;
        pthread_mutex_unlock(&client->lock);
        if (closing || lws_service(client->context, 0) < 0) return NULL;
    }
}

flr_result flr_client_start(flr_client *client, flr_error *error)
{
    struct lws_context_creation_info info = {0};
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.protocols = protocols;
    info.user = client;
    info.gid = info.uid = -1;
    info.options = client->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
    info.client_ssl_ca_filepath = client->ca_file;
    info.timeout_secs = (unsigned)(client->timeout < 1 ? 1 : client->timeout);
    lws_set_log_level(0, NULL);
    client->context = lws_create_context(&info);
    if (!client->context)
        return flr_fail(error, FLR_NO_MEMORY, "no memory for a connection to %s", client->label);
    int why = pthread_create(&client->thread, NULL, work, client);
    if (why == 0) return FLR_OK;
    lws_context_destroy(client->context);
    client->context = NULL;
    return flr_fail(error, FLR_NO_MEMORY, "no thread for a connection: %s", strerror(why));
}

void flr_client_stop(flr_client *client)
{
    if (!client->context) return;
    pthread_mutex_lock(&client->lock);
    client->closing = true;
    pthread_mutex_unlock(&client->lock);
    lws_cancel_service(client->context);
    pthread_join(client->thread, NULL);
    lws_sul_cancel(&client->again);
    lws_context_destroy(client->context);
    client->context = NULL;
    drop_out(client);
}
