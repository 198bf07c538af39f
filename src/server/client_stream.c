/* states, what is near, meshes: made when there is room to send them */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "server/client_session.h"

enum { PROXIMITY_PIECE = 65536, VOXEL_PIECE = 16384, OVERLAY_PIECE = 16384 };

size_t flr_client_session_encode(const flr_client_session *session, const flr_message *message,
                                 void *bytes, size_t capacity)
{
    size_t size = 0;
    flr_error error;
    if (flr_protocol_encode(message, session->minor, bytes, capacity, &size, &error) == FLR_OK)
        return size;
    /* the engine gave what the table does not allow: worth knowing, but nobody's end */
    flr_log_write(session->hub->def.log, FLR_LOG_ERROR, "not sent to client %u: %s",
                  session->number, error.message);
    return 0;
}

/* ---- states ---- */

bool flr_client_session_state_due(const flr_client_session *session, int64_t now)
{
    return session->wants & FLR_WIRE_WANT_STATE && session->period > 0 && now >= session->due;
}

static bool same_part(const flr_engine_part_state *a, const flr_engine_part_state *b)
{
    return flr_same_part(a->part, b->part) && a->look == b->look &&
           memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0;
}

/* which parts go into the frame; remembers them. Where memory is short, the frame is whole. */
static uint32_t choose_parts(flr_client_session *session, const flr_engine_state *view, bool *whole,
                             flr_wire_part_state *parts)
{
    if (view->part_count > session->sent_capacity &&
        flr_array_resize(&session->sent, view->part_count, sizeof *session->sent))
        session->sent_capacity = view->part_count;
    bool known = session->shown && session->scene == view->scene &&
                 session->sent_count == view->part_count &&
                 view->part_count <= session->sent_capacity;
    for (uint32_t i = 0; known && i < view->part_count; i++)
        known = flr_same_part(session->sent[i].part, view->parts[i].part);
    *whole = *whole || !known;
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->part_count; i++) {
        const flr_engine_part_state *part = &view->parts[i];
        if (!*whole && same_part(&session->sent[i], part)) continue;
        parts[count++] = (flr_wire_part_state){.part = part->part.index,
                                               .look = (uint8_t)part->look,
                                               .T_world_part = part->T_world_part};
        if (i < session->sent_capacity) session->sent[i] = *part;
    }
    bool kept = view->part_count <= session->sent_capacity;
    session->sent_count = kept ? view->part_count : 0;
    return count;
}

static void fill_hand(const flr_engine_hand_state *from, flr_wire_hand_state *to)
{
    *to = (flr_wire_hand_state){.held = from->held.index,
                                .touched = from->touched.index,
                                .bits = from->bits,
                                .buttons = from->buttons,
                                .faults = from->faults,
                                .T_world_hand = from->T_world_hand,
                                .T_world_ghost = from->T_world_ghost,
                                .wrench = from->wrench};
}

static flr_wire_vec3f narrow(flr_vec3 v)
{
    return (flr_wire_vec3f){(float)v.x, (float)v.y, (float)v.z};
}

static void fill_proxy(const flr_engine_proxy *from, flr_wire_proxy_state *to)
{
    *to = (flr_wire_proxy_state){.hand = from->hand.index,
                                 .part = from->part.index,
                                 .point = from->point,
                                 .normal = narrow(from->normal),
                                 .force = narrow(from->force),
                                 .depth = (float)from->depth,
                                 .sticking = from->sticking};
}

static void fill_numbers(flr_client_session *session, const flr_engine_state *view, int64_t now,
                         flr_msg_state *body)
{
    const flr_engine_health *health = flr_hub_health(session->hub, now);
    body->frame = view->frame;
    body->time_us = view->time_ns > 0 ? (uint64_t)view->time_ns / 1000 : 0;
    body->points_tested = view->points_tested;
    body->scene = view->scene;
    body->contact_count = view->contact_count;
    body->lower = view->lower > 0 ? view->lower : 0;
    body->upper = view->upper > 0 ? view->upper : 0;
    body->deepest = view->deepest;
    body->limited = view->limited;
    body->stopped = view->stopped;
    body->faults = view->faults;
    body->queued = view->queued;
    body->late = view->late;
    body->max_travel = view->max_travel > 0 ? view->max_travel : INFINITY;
    body->skipped = view->skipped;
    body->compute = flr_timing_of(&health->loop.compute);
    body->wakeup = flr_timing_of(&health->loop.wakeup);
    body->compute_last = (float)view->compute_last_us;
    body->rate_held = health->rate_held;
    body->recording = view->recording;
    body->paused = view->paused;
    body->waiting = view->waiting;
    body->waits = (uint32_t)view->waits.count;
    body->waited = (float)view->waits.total;
    body->longest_wait = (float)view->waits.longest;
    body->paged_hits = (float)flr_pager_hit_rate(&view->paging);
    body->paged_memory = (uint64_t)view->paging.slots * FLR_PAGER_BLOCK;
    body->paged_resident = (uint64_t)view->paging.resident * FLR_PAGER_BLOCK;
    body->paged_read = view->paging.bytes_read;
    body->paged_directory = view->paging.directory;
}

static uint32_t fill_gaps(const flr_engine_state *view, flr_wire_gap_state *gaps)
{
    for (uint32_t i = 0; i < view->gap_count; i++) {
        const flr_engine_gap *from = &view->gaps[i];
        gaps[i] = (flr_wire_gap_state){.part = from->part.index,
                                       .other = from->other.index,
                                       .distance = from->distance,
                                       .error = (float)from->error,
                                       .from = from->from,
                                       .to = from->to};
    }
    return view->gap_count;
}

static uint32_t fill_overlaps(const flr_engine_state *view, flr_wire_overlap_state *overlaps)
{
    for (uint32_t i = 0; i < view->overlap_count; i++) {
        const flr_engine_overlap_state *from = &view->overlaps[i];
        overlaps[i] = (flr_wire_overlap_state){.part = from->part.index,
                                               .other = from->other.index,
                                               .depth = (float)from->depth,
                                               .tolerated = (float)from->tolerated,
                                               .point = from->point};
    }
    return view->overlap_count;
}

static uint32_t fill_workspaces(const flr_engine_state *view, flr_wire_workspace_state *workspaces)
{
    for (uint32_t i = 0; i < view->workspace_count; i++) {
        const flr_engine_workspace *from = &view->workspaces[i];
        workspaces[i] =
            (flr_wire_workspace_state){.hand = from->hand.index,
                                       .bits = (from->clutched ? FLR_WIRE_WORKSPACE_CLUTCHED : 0) |
                                               (from->outside ? FLR_WIRE_WORKSPACE_OUTSIDE : 0),
                                       .scale = (float)from->scale,
                                       .T_world_workspace = from->T_world_workspace,
                                       .half = narrow(from->half)};
    }
    return view->workspace_count;
}

size_t flr_client_session_state(flr_client_session *session, uint32_t request, bool whole,
                                int64_t now, void *bytes, size_t capacity)
{
    flr_hub *hub = session->hub;
    const flr_engine_state *view = flr_engine_view(hub->def.engine);
    if (request == 0) {
        /* on the grid of its own rate, but never several at once after a pause */
        session->due += session->period;
        if (session->due <= now) session->due = now + session->period;
        if (session->shown && session->frame == view->frame && session->scene == view->scene)
            return 0;
    }
    flr_wire_hand_state hands[FLR_ENGINE_HANDS];
    flr_wire_proxy_state proxies[FLR_ENGINE_HANDS];
    flr_wire_gap_state gaps[FLR_ENGINE_GAPS];
    flr_wire_overlap_state overlaps[FLR_ENGINE_OVERLAPS];
    flr_wire_workspace_state workspaces[FLR_ENGINE_HANDS];
    flr_message message = {.id = FLR_MSG_STATE, .request = request};
    flr_msg_state *body = &message.as.state;
    fill_numbers(session, view, now, body);
    for (uint32_t i = 0; i < view->hand_count; i++) fill_hand(&view->hands[i], &hands[i]);
    body->hands = hands;
    body->hands_count = view->hand_count;
    for (uint32_t i = 0; i < view->proxy_count; i++) fill_proxy(&view->proxies[i], &proxies[i]);
    body->proxies = proxies;
    body->proxies_count = view->proxy_count;
    body->gaps = gaps;
    if (session->wants & FLR_WIRE_WANT_GAPS || request) body->gaps_count = fill_gaps(view, gaps);
    body->workspaces = workspaces;
    body->workspaces_count = fill_workspaces(view, workspaces);
    body->overlaps = overlaps;
    body->overlaps_count = fill_overlaps(view, overlaps);
    body->parts = hub->parts;
    body->parts_count = choose_parts(session, view, &whole, hub->parts);
    body->whole = whole;
    if (session->wants & FLR_WIRE_WANT_CONTACTS || request) {
        for (uint32_t i = 0; i < view->contacts_given; i++) {
            const flr_engine_contact *contact = &view->contacts[i];
            hub->contacts[i] = (flr_wire_contact){.point = narrow(contact->point),
                                                  .force = narrow(contact->force),
                                                  .depth = (float)contact->depth,
                                                  .part = contact->part.index,
                                                  .other = contact->other.index};
        }
        body->contacts = hub->contacts;
        body->contacts_count = view->contacts_given;
    }
    session->shown = true;
    session->frame = view->frame;
    session->scene = view->scene;
    session->guests_due = hub->share;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

/* ---- what is near ---- */

static bool proximity_due(flr_client_session *session, const flr_engine_near *near)
{
    if (!(session->wants & FLR_WIRE_WANT_PROXIMITY) || !near->distances) return false;
    return session->near_vertex != UINT32_MAX || session->near_number != near->number;
}

static bool voxels_due(const flr_client_session *session, const flr_engine_near *near)
{
    return session->wants & FLR_WIRE_WANT_VOXELS && near->voxels &&
           session->voxels_number != near->number;
}

bool flr_client_session_near_due(flr_client_session *session)
{
    flr_engine_near near;
    if (!(session->wants & (FLR_WIRE_WANT_PROXIMITY | FLR_WIRE_WANT_VOXELS)) ||
        !flr_engine_get_near(session->hub->def.engine, &near))
        return false;
    return proximity_due(session, &near) || voxels_due(session, &near);
}

/* the vertices are numbered as the client got them in level 0 */
static size_t send_proximity(flr_client_session *session, const flr_engine_near *near, void *bytes,
                             size_t capacity)
{
    flr_hub *hub = session->hub;
    flr_engine_part part;
    if (flr_engine_get_part(hub->def.engine, near->part, &part, NULL) != FLR_OK) {
        session->near_number = near->number;
        session->near_vertex = UINT32_MAX;
        return 0;
    }
    if (!flr_same_mesh(session->near_mesh, part.mesh) || !session->near_level) {
        flr_levels_release(hub->levels, session->near_level);
        session->near_level = NULL;
        bool packed = session->abilities & FLR_WIRE_ABILITY_PACKED;
        if (flr_levels_get(hub->levels, hub->def.engine, part.mesh, 0, packed,
                           &session->near_level) != FLR_OK) {
            /* its time comes with the next one */
            session->near_number = near->number;
            session->near_vertex = UINT32_MAX;
            return 0;
        }
        session->near_mesh = part.mesh;
        session->near_vertex = UINT32_MAX;
    }
    const flr_level *level = session->near_level;
    if (session->near_vertex >= level->vertices) session->near_vertex = 0;
    uint32_t first = session->near_vertex;
    uint32_t count = level->vertices - first;
    if (count > PROXIMITY_PIECE) count = PROXIMITY_PIECE;
    float *distances = hub->distances;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t source = level->source[first + i];
        float distance = source < near->vertices ? near->distances[source] : INFINITY;
        distances[i] = distance < (float)near->greatest ? distance : (float)near->greatest;
    }
    flr_message message = {.id = FLR_MSG_PROXIMITY};
    message.as.proximity.frame = near->frame;
    message.as.proximity.part = near->part.index;
    message.as.proximity.first_vertex = first;
    message.as.proximity.greatest = (float)near->greatest;
    message.as.proximity.distances = distances;
    message.as.proximity.distances_count = count;
    session->near_number = near->number;
    session->near_vertex = first + count < level->vertices ? first + count : UINT32_MAX;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

static size_t encode_voxels(flr_client_session *session, const flr_engine_near *near,
                            flr_part_id part, const flr_engine_near_voxel *voxels, uint32_t count,
                            void *bytes, size_t capacity)
{
    float *centres = session->hub->distances;
    for (uint32_t i = 0; i < count; i++)
        memcpy(centres + 3 * (size_t)i, voxels[i].centre, sizeof voxels[i].centre);
    flr_engine_part info;
    bool known = flr_engine_get_part(session->hub->def.engine, part, &info, NULL) == FLR_OK;
    flr_message message = {.id = FLR_MSG_NEAR_VOXELS};
    message.as.near_voxels.frame = near->frame;
    message.as.near_voxels.part = part.index;
    message.as.near_voxels.size = (float)(known && info.voxel > 0 ? info.voxel : near->voxel);
    message.as.near_voxels.centres = centres;
    message.as.near_voxels.centres_count = 3 * count;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

/* One message for each part, by way of the queue; first an empty one for each part that has none any more. */
static size_t send_voxels(flr_client_session *session, const flr_engine_near *near, void *bytes,
                          size_t capacity)
{
    flr_hub *hub = session->hub;
    flr_part_id now_parts[FLR_CLIENT_SESSION_NEAR_PARTS];
    uint32_t now_count = 0;
    session->voxels_number = near->number;
    for (uint32_t i = 0; i < near->voxel_count && now_count < FLR_CLIENT_SESSION_NEAR_PARTS; i++) {
        if (i == 0 || !flr_same_part(near->voxels[i].part, near->voxels[i - 1].part))
            now_parts[now_count++] = near->voxels[i].part;
    }
    for (uint32_t i = 0; i < session->near_part_count; i++) {
        bool still = false;
        for (uint32_t k = 0; k < now_count; k++)
            still = still || flr_same_part(now_parts[k], session->near_parts[i]);
        if (still) continue;
        size_t size = encode_voxels(session, near, session->near_parts[i], NULL, 0, hub->scratch,
                                    hub->scratch_size);
        flr_client_session_queue(session, hub->scratch, size);
    }
    for (uint32_t i = 0, next; i < near->voxel_count; i = next) {
        flr_part_id part = near->voxels[i].part;
        next = i;
        while (next < near->voxel_count && flr_same_part(near->voxels[next].part, part)) next++;
        uint32_t count = next - i < VOXEL_PIECE ? next - i : VOXEL_PIECE;
        size_t size = encode_voxels(session, near, part, near->voxels + i, count, hub->scratch,
                                    hub->scratch_size);
        flr_client_session_queue(session, hub->scratch, size);
    }
    memcpy(session->near_parts, now_parts, now_count * sizeof now_parts[0]);
    session->near_part_count = now_count;
    size_t size = 0;
    return flr_client_session_take(session, bytes, capacity, &size) ? size : 0;
}

size_t flr_client_session_near(flr_client_session *session, void *bytes, size_t capacity)
{
    flr_engine_near near;
    size_t size = 0;
    if (!flr_engine_get_near(session->hub->def.engine, &near)) return 0;
    if (voxels_due(session, &near)) size = send_voxels(session, &near, bytes, capacity);
    if (size == 0 && proximity_due(session, &near))
        size = send_proximity(session, &near, bytes, capacity);
    return size;
}

/* ---- meshes ---- */

static bool add_transfer(flr_client_session *session, flr_transfer transfer)
{
    if (session->transfer_count == FLR_CLIENT_SESSION_TRANSFERS) return false;
    if (!FLR_GROW(session->transfers, session->transfer_count, session->transfer_capacity, 16))
        return false;
    session->transfers[session->transfer_count++] = transfer;
    return true;
}

bool flr_client_session_ask_mesh(flr_client_session *session, uint32_t request, flr_mesh_id mesh,
                                 uint32_t max_triangles)
{
    return add_transfer(
        session, (flr_transfer){.request = request, .mesh = mesh, .max_triangles = max_triangles});
}

bool flr_client_session_can_ask_overlay(const flr_client_session *session)
{
    /* each holds memory, so there are few */
    enum { MAX_AT_ONCE = 4 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->transfer_count; i++)
        count += session->transfers[i].wanted != NULL;
    return count < MAX_AT_ONCE && session->transfer_count < FLR_CLIENT_SESSION_TRANSFERS;
}

bool flr_client_session_ask_overlay(flr_client_session *session, uint32_t request,
                                    flr_overlay_request *wanted)
{
    if (add_transfer(session, (flr_transfer){.request = request, .wanted = wanted})) return true;
    flr_overlay_end(wanted);
    return false;
}

void flr_client_session_forget_meshes(flr_client_session *session)
{
    for (uint32_t i = 0; i < session->transfer_count; i++) {
        flr_levels_release(session->hub->levels, session->transfers[i].level);
        flr_overlay_end(session->transfers[i].wanted);
    }
    session->transfer_count = 0;
    flr_levels_release(session->hub->levels, session->near_level);
    session->near_level = NULL;
    session->near_vertex = UINT32_MAX;
}

static void end_transfer(flr_client_session *session, uint32_t index)
{
    flr_levels_release(session->hub->levels, session->transfers[index].level);
    flr_overlay_end(session->transfers[index].wanted);
    session->transfer_count--;
    memmove(session->transfers + index, session->transfers + index + 1,
            (session->transfer_count - index) * sizeof *session->transfers);
}

/* The first transfer that can go on: the one that was begun, else the first whose level is there. A few are asked for at
 * once, so that the worker has something to do. UINT32_MAX: none. */
static uint32_t ready_transfer(flr_client_session *session)
{
    enum { CLIENT_STREAM_AHEAD = 64 };
    flr_hub *hub = session->hub;
    for (uint32_t i = 0; i < session->transfer_count && i < CLIENT_STREAM_AHEAD; i++) {
        flr_transfer *transfer = &session->transfers[i];
        if (transfer->level || transfer->overlay) return i;
        bool packed = session->abilities & FLR_WIRE_ABILITY_PACKED;
        flr_error error;
        flr_result result = transfer->wanted
                                ? flr_overlay_get(transfer->wanted, &transfer->overlay, &error)
                                : flr_levels_get(hub->levels, hub->def.engine, transfer->mesh,
                                                 transfer->max_triangles, packed, &transfer->level);
        if (result == FLR_OK) return i;
        if (result == FLR_AGAIN) continue;
        flr_message command = {.id = transfer->wanted ? FLR_MSG_OVERLAY_ASK : FLR_MSG_MESH_ASK,
                               .request = transfer->request};
        if (!transfer->wanted) /* else the worker said why */
            flr_fail(&error, result,
                     result == FLR_NOT_FOUND ? "mesh %u is not there any more"
                                             : "not enough memory for mesh %u",
                     transfer->mesh.index);
        end_transfer(session, i--);
        flr_client_session_fail(session, &command, &error);
    }
    return UINT32_MAX;
}

bool flr_client_session_mesh_due(flr_client_session *session)
{
    return session->transfer_count > 0 && ready_transfer(session) != UINT32_MAX;
}

static size_t send_mesh(flr_client_session *session, flr_transfer *transfer, void *bytes,
                        size_t capacity)
{
    const flr_level *level = transfer->level;
    flr_message message = {.id = FLR_MSG_MESH, .request = transfer->request};
    flr_msg_mesh *body = &message.as.mesh;
    body->mesh = transfer->mesh.index;
    body->level = level->level;
    body->vertices = level->vertices;
    body->triangles = level->triangles;
    body->chunks = level->chunk_count;
    body->low = (flr_wire_vec3f){level->low[0], level->low[1], level->low[2]};
    body->high = (flr_wire_vec3f){level->high[0], level->high[1], level->high[2]};
    body->hash = flr_wire_text_of(FLR_HASH_TEXT(level->hash));
    transfer->begun = true;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

static size_t send_chunk(flr_client_session *session, flr_transfer *transfer, void *bytes,
                         size_t capacity)
{
    const flr_level *level = transfer->level;
    const flr_level_chunk *chunk = &level->chunks[transfer->chunk];
    flr_message message = {.id = FLR_MSG_MESH_CHUNK, .request = transfer->request};
    if (level->packed) {
        message.id = FLR_MSG_MESH_PACKED;
        flr_msg_mesh_packed *body = &message.as.mesh_packed;
        body->mesh = transfer->mesh.index;
        body->level = level->level;
        body->chunk = transfer->chunk;
        body->first_vertex = chunk->first_vertex;
        body->vertices = chunk->vertex_count;
        body->indices = chunk->index_count;
        body->index_size = 2;
        body->packed_vertices = chunk->packed_vertices;
        body->packed_vertices_count = chunk->packed_vertices_size;
        body->packed_indices = chunk->packed_indices;
        body->packed_indices_count = chunk->packed_indices_size;
    } else {
        flr_msg_mesh_chunk *body = &message.as.mesh_chunk;
        body->mesh = transfer->mesh.index;
        body->level = level->level;
        body->chunk = transfer->chunk;
        body->first_vertex = chunk->first_vertex;
        body->vertices = chunk->vertices;
        body->vertices_count = 3 * chunk->vertex_count;
        body->indices = chunk->indices;
        body->indices_count = chunk->index_count;
    }
    transfer->chunk++;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

/* at least one piece, so that an empty result is sent, too */
static size_t send_overlay(flr_client_session *session, flr_transfer *transfer, void *bytes,
                           size_t capacity)
{
    const flr_overlay *overlay = transfer->overlay;
    uint32_t count = overlay->count - transfer->chunk;
    if (count > OVERLAY_PIECE) count = OVERLAY_PIECE;
    flr_message message = {.id = FLR_MSG_OVERLAY, .request = transfer->request};
    flr_msg_overlay *body = &message.as.overlay;
    body->part = overlay->part.index;
    body->kind = overlay->kind;
    body->first = transfer->chunk;
    body->count = overlay->count;
    body->total = overlay->total;
    body->size = overlay->size;
    body->positions = overlay->positions + 3 * (size_t)transfer->chunk;
    body->positions_count = 3 * count;
    if (overlay->features) {
        body->features = overlay->features + transfer->chunk;
        body->features_count = count;
    }
    transfer->chunk += count;
    transfer->begun = true;
    return flr_client_session_encode(session, &message, bytes, capacity);
}

size_t flr_client_session_mesh(flr_client_session *session, void *bytes, size_t capacity)
{
    uint32_t index = ready_transfer(session);
    if (index == UINT32_MAX) return 0;
    flr_transfer *transfer = &session->transfers[index];
    const flr_overlay *overlay = transfer->overlay;
    if (overlay && (!transfer->begun || transfer->chunk < overlay->count))
        return send_overlay(session, transfer, bytes, capacity);
    if (!overlay && !transfer->begun) return send_mesh(session, transfer, bytes, capacity);
    if (!overlay && transfer->chunk < transfer->level->chunk_count)
        return send_chunk(session, transfer, bytes, capacity);
    flr_message done = {.id = FLR_MSG_DONE, .request = transfer->request};
    end_transfer(session, index);
    return flr_client_session_encode(session, &done, bytes, capacity);
}
