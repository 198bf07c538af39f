/* commands: asked, and waited for */
#include "client/client_requests.h"

#include <stdlib.h>
#include <string.h>

#include "client/client_internal.h"
#include "feeler/base.h"
#include "feeler/env.h"

/* ---- one command ---- */

/* Sends `message` and waits for its answer, with both locks held. client->request is prepared by the caller, except for its
 * number. */
static flr_result ask(flr_client *client, flr_message *message, flr_error *error)
{
    flr_client_request *r = &client->request;
    if (!client->welcomed)
        return flr_fail(error, FLR_CLOSED, "there is no connection to %s now%s", client->label,
                        client->reconnect ? "; it is being tried again" : "");
    client->next_request = client->next_request % (FLR_CLIENT_WATCH - 1) + 1;
    r->number = message->request = client->next_request;
    r->answered = false;
    flr_result result = flr_client_put(client, message, error);
    if (result != FLR_OK) {
        r->number = 0;
        return result;
    }
    int64_t until = flr_client_deadline(client->timeout);
    bool in_time = true;
    while (in_time && !r->answered) in_time = flr_client_wait(client, until);
    r->number = 0;
    if (!r->answered)
        return flr_fail(error, FLR_TIMEOUT, "%s has not answered within %g s", client->label,
                        client->timeout);
    if (r->result != FLR_OK)
        return flr_fail(error, r->result, "%s",
                        r->sentence[0] ? r->sentence : "the controller has refused that");
    return FLR_OK;
}

static void begin(flr_client *client)
{
    FLR_ASSERT(client);
    pthread_mutex_lock(&client->commands);
    pthread_mutex_lock(&client->lock);
    memset(&client->request, 0, sizeof client->request);
}

static void end(flr_client *client)
{
    pthread_mutex_unlock(&client->lock);
    pthread_mutex_unlock(&client->commands);
}

/* a command that is done or not, and perhaps gives a number */
static flr_result simple(flr_client *client, flr_message message, uint32_t *value, flr_error *error)
{
    begin(client);
    flr_result result = ask(client, &message, error);
    if (result == FLR_OK && value) *value = client->request.value;
    end(client);
    return result;
}

/* Parts of a scene that is gone are refused here: on the wire their index could name another one. With the lock held. */
static flr_result check_part(const flr_client *client, flr_part_id part, flr_error *error)
{
    if (!flr_is_part(part) || part.generation == client->scene) return FLR_OK;
    return flr_fail(error, FLR_NOT_FOUND,
                    "part %u is of a scene that is gone; look it up in the new one", part.index);
}

/* a command about a part */
static flr_result about(flr_client *client, flr_part_id part, flr_message message, flr_error *error)
{
    begin(client);
    flr_result result = check_part(client, part, error);
    if (result == FLR_OK) result = ask(client, &message, error);
    end(client);
    return result;
}

flr_result flr_client_grab(flr_client *client, flr_hand_id hand, flr_part_id part, flr_error *error)
{
    flr_message message = {
        .id = FLR_MSG_GRAB,
        .as.grab = {.hand = hand.index, .part = part.index, .T_world_hand = flr_pose_identity()}};
    return about(client, part, message, error);
}

flr_result flr_client_grab_at(flr_client *client, flr_hand_id hand, flr_part_id part,
                              flr_pose T_world_hand, flr_error *error)
{
    enum { SINCE = 3 }; /* minor version of the protocol */
    pthread_mutex_lock(&client->lock);
    bool knows = client->minor >= SINCE;
    pthread_mutex_unlock(&client->lock);
    if (!knows)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the controller is too old to take a part at a pose; send the pose with "
                        "flr_client_hand(), then flr_client_grab()");
    flr_message message = {.id = FLR_MSG_GRAB,
                           .as.grab = {.hand = hand.index,
                                       .part = part.index,
                                       .has_pose = true,
                                       .T_world_hand = T_world_hand}};
    return about(client, part, message, error);
}

flr_result flr_client_release(flr_client *client, flr_hand_id hand, flr_error *error)
{
    return simple(client, (flr_message){.id = FLR_MSG_RELEASE, .as.release = {.hand = hand.index}},
                  NULL, error);
}

flr_result flr_client_reset(flr_client *client, flr_error *error)
{
    return simple(client, (flr_message){.id = FLR_MSG_RESET}, NULL, error);
}

flr_result flr_client_undo(flr_client *client, uint32_t steps, flr_error *error)
{
    return simple(client, (flr_message){.id = FLR_MSG_UNDO, .as.undo = {.steps = steps}}, NULL,
                  error);
}

flr_result flr_client_place(flr_client *client, flr_part_id part, flr_pose T_world_part,
                            flr_error *error)
{
    flr_message message = {.id = FLR_MSG_PLACE,
                           .as.place = {.part = part.index, .T_world_part = T_world_part}};
    return about(client, part, message, error);
}

flr_result flr_client_remove(flr_client *client, flr_part_id part, flr_error *error)
{
    return about(client, part,
                 (flr_message){.id = FLR_MSG_REMOVE, .as.remove = {.part = part.index}}, error);
}

/* ---- parameters, clearance ---- */

flr_result flr_client_get(flr_client *client, const char *name, double *value, flr_error *error)
{
    FLR_ASSERT(name && value);
    begin(client);
    client->request.parameter = name;
    flr_message message = {.id = FLR_MSG_PARAMETERS_ASK};
    flr_result result = ask(client, &message, error);
    if (result == FLR_OK && !client->request.found)
        result = flr_fail(error, FLR_NOT_FOUND, "the controller has no parameter \"%.60s\"", name);
    if (result == FLR_OK) *value = client->request.number_value;
    client->request.parameter = NULL;
    end(client);
    return result;
}

flr_result flr_client_set(flr_client *client, const char *name, double value, flr_error *error)
{
    FLR_ASSERT(name);
    flr_message message = {.id = FLR_MSG_SET,
                           .as.set = {.value = value, .name = flr_wire_text_of(name)}};
    return simple(client, message, NULL, error);
}

flr_result flr_client_get_clearance(flr_client *client, flr_part_id part, flr_part_id other,
                                    bool exact, flr_client_clearance *clearance, flr_error *error)
{
    FLR_ASSERT(clearance);
    begin(client);
    flr_message message = {
        .id = FLR_MSG_CLEARANCE_ASK,
        .as.clearance_ask = {.part = part.index, .other = other.index, .exact = exact}};
    flr_result result = check_part(client, part, error);
    if (result == FLR_OK) result = check_part(client, other, error);
    if (result == FLR_OK) result = ask(client, &message, error);
    const flr_msg_clearance *c = &client->request.clearance;
    if (result == FLR_OK)
        *clearance = (flr_client_clearance){flr_client_part_id(client, c->other), c->lower,
                                            c->upper, c->from, c->to};
    end(client);
    return result;
}

/* ---- what takes a worker ---- */

static const flr_client_job *job_of(const flr_client *client, uint32_t number)
{
    for (size_t i = 0; i < FLR_CLIENT_JOBS; i++)
        if (client->jobs[i].job == number && client->jobs[i].ended) return &client->jobs[i];
    return NULL;
}

/* Waits until the job of the last command has ended, with both locks held. */
static flr_result wait_job(flr_client *client, int64_t until, uint32_t *part, flr_error *error)
{
    uint32_t number = client->request.value;
    const flr_client_job *job = NULL;
    bool in_time = true;
    while (in_time && client->welcomed && !(job = job_of(client, number)))
        in_time = flr_client_wait(client, until);
    if (!client->welcomed)
        return flr_fail(error, FLR_CLOSED, "the connection to %s was lost meanwhile",
                        client->label);
    if (!job)
        return flr_fail(error, FLR_TIMEOUT, "the controller is still at work on it; wait longer");
    if (job->result != FLR_OK)
        return flr_fail(error, job->result, "%s",
                        job->sentence[0] ? job->sentence : "the controller could not do it");
    *part = job->part;
    return FLR_OK;
}

/* pieces of the mesh, first all vertices, then all triangles */
static flr_result send_pieces(flr_client *client, const flr_client_mesh *mesh, uint32_t upload,
                              flr_error *error)
{
    flr_result result = FLR_OK;
    const uint32_t most = FLR_CLIENT_PIECE / 3;
    for (uint32_t i = 0; i < mesh->vertex_count && result == FLR_OK; i += most) {
        flr_message piece = {.id = FLR_MSG_UPLOAD_TRIANGLES};
        uint32_t count = mesh->vertex_count - i < most ? mesh->vertex_count - i : most;
        piece.as.upload_triangles.upload = upload;
        piece.as.upload_triangles.first_vertex = i;
        piece.as.upload_triangles.vertices = mesh->vertices + 3 * (size_t)i;
        piece.as.upload_triangles.vertices_count = 3 * count;
        result = ask(client, &piece, error);
    }
    for (uint32_t i = 0; i < mesh->triangle_count && result == FLR_OK; i += most) {
        flr_message piece = {.id = FLR_MSG_UPLOAD_TRIANGLES};
        uint32_t count = mesh->triangle_count - i < most ? mesh->triangle_count - i : most;
        piece.as.upload_triangles.upload = upload;
        piece.as.upload_triangles.first_vertex = mesh->vertex_count;
        piece.as.upload_triangles.first_triangle = i;
        piece.as.upload_triangles.indices = mesh->indices + 3 * (size_t)i;
        piece.as.upload_triangles.indices_count = 3 * count;
        result = ask(client, &piece, error);
    }
    return result;
}

static flr_result check_mesh(const flr_client_mesh *mesh, flr_error *error)
{
    if (!mesh->vertex_count || !mesh->triangle_count)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the mesh \"%.60s\" has no triangles", mesh->name);
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        if (mesh->indices[i] >= mesh->vertex_count)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "the mesh \"%.60s\": triangle %zu names vertex %u of %u", mesh->name,
                            i / 3, mesh->indices[i], mesh->vertex_count);
    return FLR_OK;
}

flr_result flr_client_add_mesh(flr_client *client, const flr_client_mesh *mesh, double seconds,
                               flr_part_id *part, flr_error *error)
{
    FLR_ASSERT(client && mesh && mesh->name && mesh->vertices && mesh->indices);
    flr_result result = check_mesh(mesh, error);
    if (result != FLR_OK) return result;
    begin(client);
    int64_t until = flr_client_deadline(seconds > 0 ? seconds : 60);
    flr_message upload = {.id = FLR_MSG_UPLOAD};
    upload.as.upload.vertices = mesh->vertex_count;
    upload.as.upload.triangles = mesh->triangle_count;
    upload.as.upload.unit = mesh->unit > 0 ? mesh->unit : 1;
    upload.as.upload.name = flr_wire_text_of(mesh->name);
    result = ask(client, &upload, error);
    uint32_t number = client->request.value, made = UINT32_MAX;
    if (result == FLR_OK) result = send_pieces(client, mesh, number, error);
    if (result == FLR_OK) {
        flr_message last = {.id = FLR_MSG_UPLOAD_END};
        last.as.upload_end.upload = number;
        last.as.upload_end.kind = (uint8_t)mesh->kind;
        last.as.upload_end.colour = mesh->colour;
        last.as.upload_end.voxel = mesh->voxel;
        last.as.upload_end.T_world_part = mesh->T_world_part;
        result = ask(client, &last, error);
    }
    if (result == FLR_OK) result = wait_job(client, until, &made, error);

    // it is a part when it can be touched
    const flr_client_part *there = NULL;
    bool in_time = true;
    while (
        result == FLR_OK && in_time && client->welcomed &&
        !((there = flr_client_part_of(client, flr_client_part_id(client, made))) && there->ready))
        in_time = flr_client_wait(client, until);
    if (result == FLR_OK && !(there && there->ready))
        result = flr_fail(error, FLR_TIMEOUT, "the part \"%.60s\" has not become ready in time",
                          mesh->name);
    if (result == FLR_OK && part) *part = there->part;
    end(client);
    return result;
}

/* ---- recordings ---- */

flr_result flr_client_record_start(flr_client *client, const char *name, uint32_t *recording,
                                   flr_error *error)
{
    flr_message message = {.id = FLR_MSG_RECORD_START,
                           .as.record_start = {.name = flr_wire_text_of(name ? name : "")}};
    return simple(client, message, recording, error);
}

flr_result flr_client_record_stop(flr_client *client, flr_error *error)
{
    return simple(client, (flr_message){.id = FLR_MSG_RECORD_STOP}, NULL, error);
}

/* one piece from `offset` on into `room`; `*got` bytes of a file of `*total` */
static flr_result fetch_piece(flr_client *client, uint32_t recording, uint64_t offset,
                              unsigned char *room, size_t size, size_t *got, uint64_t *total,
                              flr_error *error)
{
    begin(client);
    client->request.piece = room;
    client->request.piece_room = size;
    flr_message message = {
        .id = FLR_MSG_RECORD_FETCH,
        .as.record_fetch = {.recording = recording, .size = (uint32_t)size, .offset = offset}};
    flr_result result = ask(client, &message, error);
    *got = client->request.piece_size;
    *total = client->request.total;
    client->request.piece = NULL;
    end(client);
    return result;
}

flr_result flr_client_record_fetch(flr_client *client, uint32_t recording, const char *path,
                                   flr_error *error)
{
    FLR_ASSERT(client && path);
    const size_t size = 262144;
    unsigned char *room = malloc(size);
    if (!room) return flr_fail(error, FLR_NO_MEMORY, "no memory to fetch a recording");
    flr_output *output = NULL;
    flr_result result = flr_output_begin(flr_env_real(), path, &output, error);
    uint64_t offset = 0, total = 1;
    while (result == FLR_OK && offset < total) {
        size_t got = 0;
        result = fetch_piece(client, recording, offset, room, size, &got, &total, error);
        if (result == FLR_OK && got == 0 && offset < total)
            result = flr_fail(error, FLR_IO, "the recording ends after %llu of %llu bytes",
                              (unsigned long long)offset, (unsigned long long)total);
        if (result == FLR_OK) result = flr_output_write(output, room, got, error);
        offset += got;
    }
    free(room);
    return flr_output_end(output, result, error);
}
