/* the client: connecting, and what a host asks for without waiting */
#include "feeler/client.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/client_internal.h"
#include "client/client_requests.h"
#include "feeler/base.h"

flr_client_def flr_default_client_def(void)
{
    return (flr_client_def){.address = "127.0.0.1:7878",
                            .name = "host",
                            .reconnect = true,
                            .timeout = 10,
                            .state_rate = 60};
}

/* ---- the address ---- */

/* "[ws://|wss://]host[:port][/path]", a host of IPv6 in brackets */
static flr_result read_address(flr_client *client, const char *text, flr_error *error)
{
    const char *at = text;
    client->tls = strncmp(at, "wss://", 6) == 0;
    if (client->tls)
        at += 6;
    else if (strncmp(at, "ws://", 5) == 0)
        at += 5;
    bool bracket = *at == '[';
    size_t length = bracket ? strcspn(at + 1, "]") : strcspn(at, ":/");
    const char *after = bracket ? at + 1 + length + (at[1 + length] == ']') : at + length;
    client->host = strndup(at + bracket, length);
    long port = 7878;
    char *end = (char *)(uintptr_t)after;
    if (*after == ':') {
        port = isdigit((unsigned char)after[1]) ? strtol(after + 1, &end, 10) : 0;
        if (port < 1) end = (char *)(uintptr_t)after;
    }
    if (length == 0 || port < 1 || port > 65535 || (*end && *end != '/'))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "\"%.80s\" is no address of a controller; write host:port, ws://host:port "
                        "or wss://host:port",
                        text);
    client->port = (int)port;
    client->path = strdup(*end ? end : "/");
    size_t size = length + 16;
    client->label = malloc(size);
    if (!client->host || !client->path || !client->label)
        return flr_fail(error, FLR_NO_MEMORY, "no memory for a client");
    snprintf(client->label, size, bracket ? "[%s]:%d" : "%s:%d", client->host, client->port);
    return FLR_OK;
}

/* ---- beginning and end ---- */

static void free_client(flr_client *client)
{
    free(client->host), free(client->path), free(client->token), free(client->name);
    free(client->ca_file), free(client->label), free(client->in), free(client->room);
    free(client->parts);
    pthread_cond_destroy(&client->news);
    pthread_mutex_destroy(&client->lock);
    pthread_mutex_destroy(&client->commands);
    free(client);
}

static flr_result make_client(const flr_client_def *def, flr_client **made, flr_error *error)
{
    flr_client *client = calloc(1, sizeof *client);
    if (!client) return flr_fail(error, FLR_NO_MEMORY, "no memory for a client");
    pthread_mutex_init(&client->lock, NULL);
    pthread_mutex_init(&client->commands, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&client->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    client->reconnect = def->reconnect;
    client->any_certificate = def->any_certificate;
    client->timeout = def->timeout;
    client->state_rate = def->state_rate;
    client->token = strdup(def->token ? def->token : "");
    client->name = strdup(def->name ? def->name : "");
    client->ca_file = def->ca_file ? strdup(def->ca_file) : NULL;
    flr_result result = read_address(client, def->address, error);
    if (result == FLR_OK && (!client->token || !client->name || (def->ca_file && !client->ca_file)))
        result = flr_fail(error, FLR_NO_MEMORY, "no memory for a client");
    if (result == FLR_OK && (strlen(client->token) > 256 || strlen(client->name) > 128))
        result = flr_fail(error, FLR_BAD_ARGUMENT,
                          "a token has at most 256 bytes, a program's name 128");
    if (result != FLR_OK)
        free_client(client);
    else
        *made = client;
    return result;
}

bool flr_client_wait(flr_client *client, int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    return pthread_cond_timedwait(&client->news, &client->lock, &until) != ETIMEDOUT;
}

int64_t flr_client_deadline(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + (int64_t)(1e9 * fmin(seconds, 1e6));
}

flr_result flr_client_connect(const flr_client_def *def, flr_client **made, flr_error *error)
{
    FLR_ASSERT(def && def->address && made);
    if (!(def->timeout > 0 && def->timeout <= 1e6))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a timeout of %g s; it has to be above 0",
                        def->timeout);
    flr_client *client = NULL;
    flr_result result = make_client(def, &client, error);
    if (result != FLR_OK) return result;
    result = flr_client_start(client, error);
    if (result == FLR_OK) {
        int64_t until = flr_client_deadline(def->timeout);
        bool in_time = true;
        pthread_mutex_lock(&client->lock);
        while (in_time && !client->failed &&
               !(client->scene_known && client->part_count >= client->expected))
            in_time = flr_client_wait(client, until);
        if (client->failed)
            result = flr_fail(error, client->why.code, "%s", client->why.message);
        else if (!in_time)
            result = flr_fail(error, FLR_TIMEOUT,
                              "%s does not answer as a controller within %g s; is that feeler "
                              "serve, and is its address right?",
                              client->label, def->timeout);
        pthread_mutex_unlock(&client->lock);
    }
    if (result != FLR_OK) {
        flr_client_stop(client);
        free_client(client);
        return result;
    }
    *made = client;
    return FLR_OK;
}

void flr_client_close(flr_client *client)
{
    if (!client) return;
    flr_client_stop(client);
    free_client(client);
}

/* ---- without waiting ---- */

bool flr_client_connected(flr_client *client)
{
    FLR_ASSERT(client);
    pthread_mutex_lock(&client->lock);
    bool connected = client->welcomed;
    pthread_mutex_unlock(&client->lock);
    return connected;
}

uint32_t flr_client_connections(flr_client *client)
{
    FLR_ASSERT(client);
    pthread_mutex_lock(&client->lock);
    uint32_t connections = client->connections;
    pthread_mutex_unlock(&client->lock);
    return connections;
}

size_t flr_client_part_count(flr_client *client)
{
    FLR_ASSERT(client);
    pthread_mutex_lock(&client->lock);
    size_t count = client->part_count;
    pthread_mutex_unlock(&client->lock);
    return count;
}

bool flr_client_part_at(flr_client *client, size_t index, flr_client_part *part)
{
    FLR_ASSERT(client && part);
    pthread_mutex_lock(&client->lock);
    bool there = index < client->part_count;
    if (there) *part = client->parts[index];
    pthread_mutex_unlock(&client->lock);
    return there;
}

flr_part_id flr_client_find(flr_client *client, const char *name)
{
    FLR_ASSERT(client && name);
    flr_part_id found = FLR_NO_PART_ID;
    pthread_mutex_lock(&client->lock);
    for (size_t i = 0; i < client->part_count && !flr_is_part(found); i++)
        if (strcmp(client->parts[i].name, name) == 0) found = client->parts[i].part;
    pthread_mutex_unlock(&client->lock);
    return found;
}

bool flr_client_pose(flr_client *client, flr_part_id id, flr_pose *T_world_part)
{
    FLR_ASSERT(client && T_world_part);
    pthread_mutex_lock(&client->lock);
    const flr_client_part *part = flr_client_part_of(client, id);
    if (part) *T_world_part = part->T_world_part;
    pthread_mutex_unlock(&client->lock);
    return part != NULL;
}

bool flr_client_frame(flr_client *client, flr_client_frame_state *frame)
{
    FLR_ASSERT(client && frame);
    pthread_mutex_lock(&client->lock);
    bool newer = client->frames > client->shown;
    client->shown = client->frames;
    *frame = client->frame;
    pthread_mutex_unlock(&client->lock);
    return newer;
}

size_t flr_client_contacts(flr_client *client, flr_client_contact *list, size_t capacity)
{
    FLR_ASSERT(client && (list || capacity == 0));
    pthread_mutex_lock(&client->lock);
    size_t count = client->contact_count < capacity ? client->contact_count : capacity;
    if (count) memcpy(list, client->contacts, count * sizeof *list);
    pthread_mutex_unlock(&client->lock);
    return count;
}

bool flr_client_hand(flr_client *client, flr_hand_id id, flr_pose T_world_hand, uint32_t buttons)
{
    FLR_ASSERT(client);
    const uint32_t hand = id.index;
    if (hand >= FLR_CLIENT_HANDS || !flr_pose_is_valid(T_world_hand)) return false;
    uint64_t now_us = (uint64_t)(flr_client_deadline(0) / 1000);
    pthread_mutex_lock(&client->lock);
    client->hand[hand] = (flr_msg_hand_input){
        .hand = hand, .buttons = buttons, .time_us = now_us, .T_world_hand = T_world_hand};
    bool wake = client->welcomed && !client->hand_waits[hand];
    client->hand_waits[hand] = client->welcomed;
    pthread_mutex_unlock(&client->lock);
    if (wake) lws_cancel_service(client->context);
    return true;
}
