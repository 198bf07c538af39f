/* what a controller says, as the client remembers it */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/client_internal.h"

/* ---- parts ---- */

flr_part_id flr_client_part_id(const flr_client *client, uint32_t index)
{
    return index == UINT32_MAX ? FLR_NO_PART_ID : (flr_part_id){index, client->scene};
}

flr_client_part *flr_client_part_of(flr_client *client, flr_part_id part)
{
    for (size_t i = 0; i < client->part_count; i++)
        if (flr_same_part(client->parts[i].part, part)) return &client->parts[i];
    return NULL;
}

static flr_client_part *part_at(flr_client *client, uint32_t index)
{
    return flr_client_part_of(client, flr_client_part_id(client, index));
}

static void copy_text(char *to, size_t size, flr_wire_text text)
{
    flr_text_copy(to, size, text.size ? text.bytes : "");
}

static bool take_part(flr_client *client, const flr_msg_part *m)
{
    flr_client_part *part = part_at(client, m->part);
    if (!part && client->part_count == client->part_room) {
        size_t room = client->part_room ? 2 * client->part_room : 64;
        flr_client_part *more = realloc(client->parts, room * sizeof *more);
        if (!more) {
            flr_fail(&client->why, FLR_NO_MEMORY, "no memory for %zu parts", room);
            return false;
        }
        client->parts = more;
        client->part_room = room;
    }
    if (!part) {
        part = &client->parts[client->part_count++];
        memset(part, 0, sizeof *part);
    }
    part->part = flr_client_part_id(client, m->part);
    part->kind = (flr_client_kind)m->kind;
    part->ready = m->ready;
    part->voxel = m->voxel;
    part->T_world_part = m->T_world_part;
    copy_text(part->name, sizeof part->name, m->name);
    return true;
}

static void take_gone(flr_client *client, uint32_t number)
{
    flr_client_part *part = part_at(client, number);
    if (!part) return;
    size_t after = (size_t)(client->parts + client->part_count - (part + 1));
    memmove(part, part + 1, after * sizeof *part);
    client->part_count--;
}

static void take_scene(flr_client *client, const flr_msg_scene *m)
{
    client->scene = m->scene;
    client->expected = m->parts;
    client->part_count = 0;
    client->contact_count = 0;
    client->scene_known = true;
}

/* ---- the newest frame ---- */

static flr_vec3 vec3(flr_wire_vec3f v) { return flr_vec3_make(v.x, v.y, v.z); }

static void take_state(flr_client *client, const flr_msg_state *m)
{
    if (m->scene != client->scene) return; // of a scene that is no more
    flr_client_frame_state *f = &client->frame;
    *f = (flr_client_frame_state){.frame = m->frame,
                                  .scene = m->scene,
                                  .contacts = m->contact_count,
                                  .lower = m->lower,
                                  .upper = m->upper,
                                  .compute_p99 = (double)m->compute.p99,
                                  .rate_held = m->rate_held,
                                  .recording = m->recording};
    for (uint32_t i = 0; i < m->hands_count && i < FLR_CLIENT_HANDS; i++) {
        const flr_wire_hand_state *h = &m->hands[i];
        f->hands[f->hand_count++] =
            (flr_client_hand_state){.held = flr_client_part_id(client, h->held),
                                    .touched = flr_client_part_id(client, h->touched),
                                    .buttons = h->buttons,
                                    .T_world_hand = h->T_world_hand,
                                    .T_world_ghost = h->T_world_ghost,
                                    .wrench = h->wrench};
    }
    for (uint32_t i = 0; i < m->parts_count; i++) {
        flr_client_part *part = part_at(client, m->parts[i].part);
        if (!part) continue;
        part->T_world_part = m->parts[i].T_world_part;
        part->colliding = m->parts[i].look == FLR_WIRE_LOOK_COLLIDING;
    }
    for (size_t i = 0; i < client->part_count; i++) client->parts[i].held = false;
    for (uint32_t i = 0; i < f->hand_count; i++) {
        flr_client_part *part = flr_client_part_of(client, f->hands[i].held);
        if (part) part->held = true;
    }
    client->contact_count = 0;
    for (uint32_t i = 0; i < m->contacts_count && i < FLR_CLIENT_CONTACTS; i++) {
        const flr_wire_contact *c = &m->contacts[i];
        client->contacts[client->contact_count++] = (flr_client_contact){
            vec3(c->point), vec3(c->force), (double)c->depth, flr_client_part_id(client, c->part),
            flr_client_part_id(client, c->other)};
    }
    client->frames++;
}

/* ---- jobs and answers ---- */

static void take_job(flr_client *client, const flr_msg_job *m)
{
    flr_client_job *job = NULL;
    for (size_t i = 0; i < FLR_CLIENT_JOBS && !job; i++)
        if (client->jobs[i].job == m->job) job = &client->jobs[i];
    if (!job) {
        job = &client->jobs[client->job_next++ % FLR_CLIENT_JOBS];
        memset(job, 0, sizeof *job);
    }
    job->job = m->job;
    if (m->part != UINT32_MAX) job->part = m->part;
    job->ended = m->state == FLR_WIRE_JOB_ENDED;
    job->result = (flr_result)m->result;
    copy_text(job->sentence, sizeof job->sentence, m->sentence);
}

static void answer(flr_client *client, flr_result result, uint32_t value, flr_wire_text sentence)
{
    flr_client_request *r = &client->request;
    r->answered = true;
    r->result = result;
    r->value = value;
    copy_text(r->sentence, sizeof r->sentence, sentence);
}

/* what belongs to the command that waits */
static void take_answer(flr_client *client, const flr_message *m)
{
    flr_client_request *r = &client->request;
    static const flr_wire_text nothing = {NULL, 0};
    switch (m->id) {
    case FLR_MSG_DONE:
        answer(client, (flr_result)m->as.done.code, m->as.done.value, m->as.done.sentence);
        break;
    case FLR_MSG_ERROR:
        answer(client, (flr_result)m->as.error.code, 0, m->as.error.sentence);
        break;
    case FLR_MSG_CLEARANCE:
        r->clearance = m->as.clearance;
        answer(client, FLR_OK, 0, nothing);
        break;
    case FLR_MSG_PARAMETER:
        if (r->parameter && m->as.parameter.name.size == strlen(r->parameter) &&
            !memcmp(m->as.parameter.name.bytes, r->parameter, m->as.parameter.name.size)) {
            r->found = true;
            r->number_value = m->as.parameter.value;
        }
        break;
    case FLR_MSG_RECORD_DATA:
        if (m->as.record_data.bytes_count <= r->piece_room) {
            r->piece_size = m->as.record_data.bytes_count;
            if (r->piece_size) memcpy(r->piece, m->as.record_data.bytes, r->piece_size);
            r->total = m->as.record_data.total;
        }
        answer(client, FLR_OK, 0, nothing);
        break;
    default:
        break;
    }
}

/* ---- the connection ---- */

static void take_welcome(flr_client *client, const flr_message *m)
{
    client->minor = m->minor < FLR_PROTOCOL_MINOR ? m->minor : FLR_PROTOCOL_MINOR;
    client->welcomed = true;
    client->scene_known = false;
    client->connections++;
    flr_message watch = {.id = FLR_MSG_WATCH, .request = FLR_CLIENT_WATCH};
    watch.as.watch.wants = FLR_WIRE_WANT_STATE | FLR_WIRE_WANT_CONTACTS | FLR_WIRE_WANT_JOBS;
    watch.as.watch.state_rate = client->state_rate;
    flr_client_put(client, &watch, NULL);
}

/* a sentence from the other side becomes the reason why the connection ends */
static bool turned_away(flr_client *client, unsigned code, flr_wire_text sentence)
{
    char text[FLR_ERROR_MESSAGE_SIZE];
    copy_text(text, sizeof text, sentence);
    flr_fail(&client->why, code ? (flr_result)code : FLR_CLOSED, "%s: %s", client->label,
             text[0] ? text : "the controller ends the connection");
    return false;
}

void flr_client_lost(flr_client *client)
{
    client->welcomed = false;
    if (client->request.number && !client->request.answered)
        answer(client, FLR_CLOSED, 0,
               flr_wire_text_of("the connection was lost before the answer came"));
    for (size_t i = 0; i < FLR_CLIENT_JOBS; i++) client->jobs[i] = (flr_client_job){0};
    for (size_t i = 0; i < FLR_CLIENT_HANDS; i++) client->hand_waits[i] = false;
}

bool flr_client_take(flr_client *client, const void *bytes, size_t size)
{
    size_t wanted = FLR_PROTOCOL_CAPACITY(size);
    if (wanted > client->room_size) {
        free(client->room);
        client->room = malloc(2 * wanted);
        client->room_size = client->room ? 2 * wanted : 0;
        if (!client->room) {
            flr_fail(&client->why, FLR_NO_MEMORY, "no memory for a message");
            return false;
        }
    }
    flr_message m;
    flr_error why;
    flr_result result =
        flr_protocol_decode(bytes, size, FLR_TO_CLIENT, client->room, client->room_size, &m, &why);
    if (result == FLR_UNSUPPORTED && client->welcomed) return true; // newer than we are
    if (result != FLR_OK) {
        flr_fail(&client->why, result, "%s: %s", client->label, why.message);
        return false;
    }
    bool fine = true;
    if (m.id == FLR_MSG_WELCOME)
        take_welcome(client, &m);
    else if (m.id == FLR_MSG_ERROR && !client->welcomed)
        fine = turned_away(client, m.as.error.code, m.as.error.sentence);
    else if (m.id == FLR_MSG_BYE)
        fine = turned_away(client, m.as.bye.code, m.as.bye.sentence);
    else if (m.id == FLR_MSG_SCENE)
        take_scene(client, &m.as.scene);
    else if (m.id == FLR_MSG_PART)
        fine = take_part(client, &m.as.part);
    else if (m.id == FLR_MSG_PART_GONE)
        take_gone(client, m.as.part_gone.part);
    else if (m.id == FLR_MSG_STATE)
        take_state(client, &m.as.state);
    else if (m.id == FLR_MSG_JOB)
        take_job(client, &m.as.job);
    else if (m.id == FLR_MSG_PING) {
        flr_message pong = {.id = FLR_MSG_PONG, .request = m.request};
        pong.as.pong.stamp = m.as.ping.stamp;
        flr_client_put(client, &pong, NULL);
    }
    if (m.request && m.request == client->request.number && !client->request.answered)
        take_answer(client, &m);
    pthread_cond_broadcast(&client->news);
    return fine;
}
