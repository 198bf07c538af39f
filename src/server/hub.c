/* all clients together: each receives what happens in the engine */
#include "server/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "server/client_session.h"
#include "sim/way.h"

enum { MAX_NEWS = 500 }; /* in a second */

flr_hub_limits flr_default_hub_limits(void)
{
    return (flr_hub_limits){
        .clients = 64,
        .upload = (uint64_t)512 << 20,
        .uploads = (uint64_t)2 << 30,
        .queue = (size_t)8 << 20,
        .malformed = 16,
        .per_second = 20000,
        .hello_seconds = 10,
        .state_rate = 60,
        .max_state_rate = 1000,
    };
}

flr_result flr_hub_create(const flr_hub_def *def, flr_hub **hub, flr_error *error)
{
    flr_hub *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to serve clients");
    made->def = *def;
    made->def.uploads = def->uploads ? strdup(def->uploads) : NULL;
    made->def.name = strdup(def->name);
    made->scratch_size = flr_wire_max_frame(FLR_TO_CLIENT);
    made->scratch = malloc(made->scratch_size);
    made->decode_size = FLR_PROTOCOL_CAPACITY(flr_wire_max_frame(FLR_TO_CONTROLLER));
    made->decode_buffer = malloc(made->decode_size);
    made->began = flr_clock_ns(def->env);
    made->health_at = INT64_MIN;
    bool had = made->def.name && made->scratch && made->decode_buffer &&
               (made->def.uploads || !def->uploads);
    flr_result result = had ? flr_levels_create(&def->levels, &made->levels, error)
                            : flr_fail(error, FLR_NO_MEMORY, "not enough memory to serve clients");
    if (result == FLR_OK)
        *hub = made;
    else
        flr_hub_destroy(made);
    return result;
}

void flr_hub_destroy(flr_hub *hub)
{
    if (!hub) return;
    while (hub->sessions) flr_client_session_close(hub->sessions);
    flr_levels_destroy(hub->levels);
    free(hub->scratch);
    free(hub->decode_buffer);
    free(hub->uploads);
    free((char *)(uintptr_t)hub->def.uploads);
    free((char *)(uintptr_t)hub->def.name);
    free(hub);
}

uint32_t flr_hub_clients(const flr_hub *hub)
{
    uint32_t count = 0;
    for (const flr_client_session *session = hub->sessions; session; session = session->next)
        count += session->state == FLR_CLIENT_SESSION_TALKING;
    return count;
}

void flr_hub_close(flr_hub *hub, flr_result code, const char *sentence)
{
    for (flr_client_session *session = hub->sessions; session; session = session->next)
        flr_client_session_end(session, code, sentence);
}

/* percentiles take some time to gather, and nobody sees the difference of a tenth of a second */
const flr_engine_health *flr_hub_health(flr_hub *hub, int64_t now)
{
    if (hub->health_at == INT64_MIN || now - hub->health_at > INT64_C(100000000)) {
        flr_engine_get_health(hub->def.engine, &hub->health);
        hub->health_at = now;
    }
    return &hub->health;
}

/* Tells all who want to know that something has happened. */
static void tell_all(flr_hub *hub, uint8_t kind, flr_part_id part, flr_hand_id hand,
                     const char *sentence)
{
    flr_message message = {.id = FLR_MSG_EVENT};
    message.as.event.kind = kind;
    message.as.event.frame = flr_engine_view(hub->def.engine)->frame;
    message.as.event.part = part.index;
    message.as.event.hand = hand.index;
    message.as.event.sentence = flr_wire_text_of(sentence);
    for (flr_client_session *session = hub->sessions; session; session = session->next) {
        if (session->state == FLR_CLIENT_SESSION_TALKING && session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send(session, &message);
    }
}

static void send_clearance(flr_client_session *session, uint32_t request,
                           const flr_engine_clearance *c)
{
    flr_message answer = {.id = FLR_MSG_CLEARANCE, .request = request};
    answer.as.clearance.part = c->part.index;
    answer.as.clearance.other = c->other.index;
    answer.as.clearance.lower = c->lower;
    answer.as.clearance.upper = c->upper;
    answer.as.clearance.from = c->from;
    answer.as.clearance.to = c->to;
    answer.as.clearance.known = c->known;
    answer.as.clearance.distance = c->distance;
    answer.as.clearance.error = c->error;
    answer.as.clearance.frame = c->frame;
    flr_client_session_send(session, &answer);
}

static flr_wire_clash_pair wire_pair(const flr_clash_pair *pair, bool allowed)
{
    return (flr_wire_clash_pair){.part = pair->a,
                                 .other = pair->b,
                                 .state = (uint8_t)pair->state,
                                 .allowed = allowed,
                                 .distance = pair->distance,
                                 .depth = pair->depth,
                                 .volume = pair->volume,
                                 .from = pair->point[0],
                                 .to = pair->point[1]};
}

static flr_result send_clashes(flr_hub *hub, flr_client_session *session, uint32_t request,
                               uint32_t token, flr_error *error)
{
    const flr_engine_clashes *c = flr_engine_clashes_of(hub->def.engine, token);
    flr_wire_clash_pair *pairs = c ? calloc(c->pair_count + 1u, sizeof *pairs) : NULL;
    if (!pairs) return flr_fail(error, FLR_NO_MEMORY, "the controller has no memory left");
    for (uint32_t i = 0; i < c->pair_count; i++)
        pairs[i] = wire_pair(&c->pairs[i], c->is_allowed[i]);
    flr_message answer = {.id = FLR_MSG_CLASHES, .request = request};
    answer.as.clashes = (flr_msg_clashes){.scene = c->scene,
                                          .clearance = c->clearance,
                                          .overlaps = c->overlaps,
                                          .contacts = c->contacts,
                                          .near = c->near,
                                          .allowed = c->allowed,
                                          .left_out = c->left_out,
                                          .seconds = c->seconds,
                                          .pairs = pairs,
                                          .pairs_count = c->pair_count,
                                          .least_touch = c->least_touch,
                                          .most_touch = c->most_touch};
    flr_client_session_send(session, &answer);
    free(pairs);
    return FLR_OK;
}

static flr_wire_measured wire_measured(const flr_engine_measured *m)
{
    return (flr_wire_measured){.part = m->part.index,
                               .kind = m->kind,
                               .hollow = m->hollow,
                               .size = m->size,
                               .radius = m->radius,
                               .point = m->point,
                               .direction = m->direction};
}

static void send_measure(flr_client_session *session, uint32_t request, const flr_engine_measure *m)
{
    flr_message answer = {.id = FLR_MSG_MEASURE, .request = request};
    answer.as.measure = (flr_msg_measure){.first = wire_measured(&m->of[0]),
                                          .second = wire_measured(&m->of[1]),
                                          .distance = m->distance,
                                          .from = m->from,
                                          .to = m->to,
                                          .has_angle = m->has_angle,
                                          .angle = m->angle,
                                          .has_between = m->has_between,
                                          .between = m->between};
    flr_client_session_send(session, &answer);
}

static void send_gap_map(flr_client_session *session, uint32_t request, const flr_gap_map *map)
{
    flr_message answer = {.id = FLR_MSG_GAP_MAP, .request = request};
    if (!map) return;
    answer.as.gap_map = (flr_msg_gap_map){.part = map->part.index,
                                          .reach = map->reach,
                                          .least = map->least,
                                          .vertices = map->vertices,
                                          .vertices_count = 9 * map->triangle_count,
                                          .distances = map->distances,
                                          .distances_count = 3 * map->triangle_count};
    flr_client_session_send(session, &answer);
}

static flr_message way_message(uint32_t request, const flr_engine_way *way, double *poses,
                               flr_wire_way_blocker *blockers)
{
    flr_message answer = {.id = FLR_MSG_WAY, .request = request};
    for (uint32_t i = 0; i < way->pose_count; i++) {
        const flr_pose *T = &way->poses[i];
        const double row[7] = {T->p.x, T->p.y, T->p.z, T->q.w, T->q.x, T->q.y, T->q.z};
        memcpy(poses + 7 * (size_t)i, row, sizeof row);
    }
    for (uint32_t i = 0; i < way->blocker_count; i++) {
        const flr_engine_way_blocker *b = &way->blockers[i];
        blockers[i] = (flr_wire_way_blocker){
            .part = b->part.index, .sole = b->sole, .stops = b->stops, .at = b->at};
    }
    answer.as.way = (flr_msg_way){.part = way->part.index,
                                  .found = way->found,
                                  .stopped = way->stopped,
                                  .method = (uint8_t)way->method,
                                  .clearance = way->clearance,
                                  .lower = way->lower,
                                  .upper = way->upper,
                                  .nearest = way->nearest.index,
                                  .length = way->length,
                                  .turn = way->turn,
                                  .reached = way->reached,
                                  .wanted = way->wanted,
                                  .moves = way->moves,
                                  .seconds = way->seconds,
                                  .poses = poses,
                                  .poses_count = 7 * way->pose_count,
                                  .blockers = blockers,
                                  .blockers_count = way->blocker_count};
    return answer;
}

static flr_result send_way(flr_client_session *session, uint32_t request, const flr_engine_way *way,
                           flr_error *error)
{
    flr_wire_way_blocker blockers[FLR_PLAN_MAX_BLOCKERS];
    if (!way) return flr_fail(error, FLR_NOT_FOUND, "the way is not there any more");
    double *poses = malloc((7 * (size_t)way->pose_count + 1) * sizeof *poses);
    if (!poses) return flr_fail_memory(error);
    const flr_message answer = way_message(request, way, poses, blockers);
    flr_client_session_send(session, &answer);
    free(poses);
    return FLR_OK;
}

/* Only to who asked. */
static void send_way_progress(flr_hub *hub, const flr_engine_event *event)
{
    for (int i = 0; i < FLR_HUB_QUESTIONS; i++) {
        const flr_question *question = &hub->questions[i];
        if (question->token == 0 || question->token != event->token) continue;
        flr_client_session *session = flr_client_session_find(hub, question->session);
        if (!session || flr_client_session_fell_behind(session)) return;
        flr_message message = {.id = FLR_MSG_WAY_PROGRESS, .request = question->request};
        message.as.way_progress = (flr_msg_way_progress){.job = event->index,
                                                         .part = event->part.index,
                                                         .seconds = event->way.seconds,
                                                         .poses = event->way.poses,
                                                         .reached = event->way.reached,
                                                         .farthest = event->way.farthest};
        flr_client_session_send(session, &message);
        return;
    }
}

static bool is_answer(const flr_engine_event *event)
{
    return event->kind == FLR_ENGINE_EVENT_CLEARANCE || event->kind == FLR_ENGINE_EVENT_CLASHES ||
           event->kind == FLR_ENGINE_EVENT_MEASURE || event->kind == FLR_ENGINE_EVENT_GAP_MAP ||
           event->kind == FLR_ENGINE_EVENT_WAY;
}

/* what a worker found out for somebody, or why not */
static void answer_question(flr_hub *hub, const flr_engine_event *event)
{
    flr_question question = {0};
    for (int i = 0; i < FLR_HUB_QUESTIONS && question.token == 0; i++) {
        if (hub->questions[i].token == 0 || hub->questions[i].token != event->token) continue;
        question = hub->questions[i];
        hub->questions[i].token = 0;
    }
    flr_client_session *session = flr_client_session_find(hub, question.session);
    if (question.token == 0 || !session) return;
    flr_error error = {.code = event->result};
    snprintf(error.message, sizeof error.message, "%s", event->sentence);
    flr_result result = event->result;
    if (result == FLR_OK && event->kind == FLR_ENGINE_EVENT_CLEARANCE)
        send_clearance(session, question.request, &event->clearance);
    else if (result == FLR_OK && event->kind == FLR_ENGINE_EVENT_MEASURE)
        send_measure(session, question.request, &event->measure);
    else if (result == FLR_OK && event->kind == FLR_ENGINE_EVENT_GAP_MAP)
        send_gap_map(session, question.request,
                     flr_engine_gap_map_of(hub->def.engine, question.token));
    else if (result == FLR_OK && event->kind == FLR_ENGINE_EVENT_WAY)
        result = send_way(session, question.request,
                          flr_engine_way_of(hub->def.engine, question.token), &error);
    else if (result == FLR_OK)
        result = send_clashes(hub, session, question.request, question.token, &error);
    if (result == FLR_OK) return;
    flr_message command = {.id = question.command, .request = question.request};
    flr_client_session_fail(session, &command, &error);
}

/* Is it part of what flr_client_session_resync() sends? */
static bool can_wait(const flr_engine_event *event)
{
    return event->kind == FLR_ENGINE_EVENT_SCENE || event->kind == FLR_ENGINE_EVENT_RESYNC ||
           event->kind == FLR_ENGINE_EVENT_PART || event->kind == FLR_ENGINE_EVENT_PART_GONE ||
           event->kind == FLR_ENGINE_EVENT_GROUPS || event->kind == FLR_ENGINE_EVENT_NOTES ||
           event->kind == FLR_ENGINE_EVENT_JOINTS || event->kind == FLR_ENGINE_EVENT_UP ||
           event->kind == FLR_ENGINE_EVENT_FILES || event->kind == FLR_ENGINE_EVENT_PARAMETER ||
           event->kind == FLR_ENGINE_EVENT_DEVICE || event->kind == FLR_ENGINE_EVENT_RECORDING ||
           (event->kind == FLR_ENGINE_EVENT_JOB && event->job.state != FLR_WIRE_JOB_ENDED);
}

static void hand_on(flr_hub *hub, flr_client_session *session, const flr_engine_event *event)
{
    flr_engine_part part;
    flr_engine_scene scene;
    flr_message message = {0};
    if (can_wait(event) && flr_client_session_fell_behind(session)) return;
    switch (event->kind) {
    case FLR_ENGINE_EVENT_SCENE:
        flr_engine_get_scene(hub->def.engine, &scene);
        if (session->known_scene != scene.scene) flr_client_session_send_scene(session);
        break;
    case FLR_ENGINE_EVENT_RESYNC:
        flr_client_session_resync(session);
        break;
    case FLR_ENGINE_EVENT_PART:
        if (flr_engine_get_part(hub->def.engine, event->part, &part, NULL) == FLR_OK)
            flr_client_session_send_part(session, &part);
        break;
    case FLR_ENGINE_EVENT_GROUPS:
        flr_client_session_send_groups(session);
        break;
    case FLR_ENGINE_EVENT_NOTES:
        flr_client_session_send_notes(session);
        break;
    case FLR_ENGINE_EVENT_UP:
        flr_client_session_send_up(session);
        break;
    case FLR_ENGINE_EVENT_JOINTS:
        flr_client_session_send_joints(session);
        break;
    case FLR_ENGINE_EVENT_FILES:
        flr_client_session_send_files(session);
        break;
    case FLR_ENGINE_EVENT_PART_GONE:
        flr_client_session_send_gone(session, event->part.index);
        break;
    case FLR_ENGINE_EVENT_JOB:
        if (session->wants & FLR_WIRE_WANT_JOBS) flr_client_session_send_job(session, &event->job);
        break;
    case FLR_ENGINE_EVENT_PARAMETER:
        if (session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send_parameter(session, 0, event->index);
        break;
    case FLR_ENGINE_EVENT_DEVICE:
        if (session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send_device(session, 0, event->index);
        break;
    case FLR_ENGINE_EVENT_RECORDING:
        if (session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send_recording(session, 0, event->index);
        break;
    case FLR_ENGINE_EVENT_NEWS:
        if (!(session->wants & FLR_WIRE_WANT_EVENTS)) break;
        message.id = FLR_MSG_EVENT;
        message.as.event.kind = event->news;
        message.as.event.frame = event->frame;
        message.as.event.part = event->part.index;
        message.as.event.hand = event->hand.index;
        message.as.event.sentence = flr_wire_text_of(event->sentence);
        flr_client_session_send(session, &message);
        break;
    case FLR_ENGINE_EVENT_ALLOWED:
        if (!(session->wants & FLR_WIRE_WANT_EVENTS)) break;
        message.id = FLR_MSG_ALLOWED;
        message.as.allowed.rules = flr_engine_allow_rules(hub->def.engine);
        flr_client_session_send(session, &message);
        break;
    case FLR_ENGINE_EVENT_CLEARANCE:
    case FLR_ENGINE_EVENT_CLASHES:
    case FLR_ENGINE_EVENT_MEASURE:
    case FLR_ENGINE_EVENT_GAP_MAP:
    case FLR_ENGINE_EVENT_WAY:
    case FLR_ENGINE_EVENT_WAY_PROGRESS:
    case FLR_ENGINE_EVENT_REPLAY:
        break;
    }
}

static void log_event(flr_hub *hub, const flr_engine_event *event)
{
    if (event->kind == FLR_ENGINE_EVENT_NEWS)
        flr_log_write(hub->def.log,
                      event->news == FLR_WIRE_EVENT_WARNING || event->news == FLR_WIRE_EVENT_FAULT
                          ? FLR_LOG_WARNING
                          : FLR_LOG_INFO,
                      "%s", event->sentence);
    if (event->kind == FLR_ENGINE_EVENT_JOB && event->job.state == FLR_WIRE_JOB_ENDED &&
        event->job.result != FLR_OK && event->job.result != FLR_CANCELLED) {
        /* most sentences name the file or the part, which is often the name */
        const flr_engine_job *job = &event->job;
        bool named = strstr(job->sentence, job->name);
        flr_log_write(hub->def.log, FLR_LOG_WARNING, "%s%s%s", named ? "" : job->name,
                      named ? "" : ": ", job->sentence);
    }
    if (event->kind == FLR_ENGINE_EVENT_RESYNC && event->index > 0)
        flr_log_write(hub->def.log, FLR_LOG_ERROR,
                      "out of memory: %u events about jobs and measurements did not reach clients",
                      event->index);
}

void flr_client_session_send_replay(flr_client_session *session)
{
    flr_engine_replay_state now;
    flr_engine_get_replay(session->hub->def.engine, &now);
    flr_message message = {.id = FLR_MSG_REPLAYING};
    message.as.replaying.recording = now.active ? now.recording : FLR_ENGINE_NONE;
    message.as.replaying.playing = now.playing;
    message.as.replaying.seconds = now.seconds;
    message.as.replaying.length = now.length;
    message.as.replaying.speed = now.speed;
    flr_client_session_send(session, &message);
}

void flr_hub_tell_replay(flr_hub *hub)
{
    flr_engine_replay_state now;
    flr_engine_get_replay(hub->def.engine, &now);
    for (flr_client_session *session = hub->sessions; session; session = session->next) {
        if (session->state == FLR_CLIENT_SESSION_TALKING && session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send_replay(session);
    }
    hub->replaying = now.active;
    hub->replay_at = flr_clock_ns(hub->def.env);
}

/* it has been read, or has ended */
static void take_replay(flr_hub *hub)
{
    flr_engine_replay_state now;
    flr_engine_get_replay(hub->def.engine, &now);
    if (hub->wanting && now.active && now.recording == hub->wanted.recording) {
        hub->wanting = false;
        flr_engine_replay_seek(hub->def.engine, hub->wanted.seconds, NULL);
        flr_engine_replay_play(hub->def.engine, hub->wanted.playing, hub->wanted.speed, NULL);
    }
    flr_hub_tell_replay(hub);
}

void flr_hub_count_upload(flr_hub *hub, uint32_t job, uint64_t bytes)
{
    if (!FLR_GROW(hub->uploads, hub->upload_count, hub->upload_capacity, 16)) return;
    hub->uploads[hub->upload_count++] = (flr_hub_upload){job, bytes};
    hub->upload_bytes += bytes;
}

static void discount_upload(flr_hub *hub, uint32_t job)
{
    for (uint32_t i = 0; i < hub->upload_count; i++) {
        if (hub->uploads[i].job != job) continue;
        hub->upload_bytes -= hub->uploads[i].bytes;
        hub->uploads[i] = hub->uploads[--hub->upload_count];
        return;
    }
}

/* Somebody who grabs and lets go ten thousand times a second shall not fill everybody's line with it: all are sent how many
 * events they do not see. */
static void begin_second_of_news(flr_hub *hub, int64_t now)
{
    if (now - hub->news_at < INT64_C(1000000000)) return;
    uint32_t left_out = hub->news_left_out;
    hub->news_at = now;
    hub->news = hub->news_left_out = 0;
    if (left_out == 0) return;
    char sentence[FLR_ERROR_MESSAGE_SIZE];
    snprintf(sentence, sizeof sentence,
             "%u events were left out: more than %d happened in one second", left_out, MAX_NEWS);
    flr_log_write(hub->def.log, FLR_LOG_WARNING, "%s", sentence);
    tell_all(hub, FLR_WIRE_EVENT_WARNING, FLR_NO_PART_ID, FLR_NO_HAND_ID, sentence);
}

static bool count_news(flr_hub *hub)
{
    if (hub->news++ < MAX_NEWS) return true;
    hub->news_left_out++;
    return false;
}

int64_t flr_hub_pump(flr_hub *hub, int64_t now)
{
    flr_stall_doing before =
        flr_engine_doing(hub->def.engine, "taking over what workers have made", "");
    flr_engine_service(hub->def.engine);
    flr_engine_doing(hub->def.engine, "passing on what has happened", "");
    flr_engine_event *event = &hub->event;
    begin_second_of_news(hub, now);
    while (flr_engine_next(hub->def.engine, event)) {
        if (hub->share) flr_share_event(hub->share, event);
        if (event->kind == FLR_ENGINE_EVENT_NEWS && !count_news(hub)) continue;
        if (!hub->def.seen || !hub->def.seen(hub->def.context, event)) log_event(hub, event);
        if (is_answer(event)) answer_question(hub, event);
        if (event->kind == FLR_ENGINE_EVENT_WAY_PROGRESS) send_way_progress(hub, event);
        if (event->kind == FLR_ENGINE_EVENT_REPLAY) take_replay(hub);
        if (event->kind == FLR_ENGINE_EVENT_JOB && event->job.state == FLR_WIRE_JOB_ENDED)
            discount_upload(hub, event->job.job);
        for (flr_client_session *session = hub->sessions; session; session = session->next) {
            if (session->state == FLR_CLIENT_SESSION_TALKING) hand_on(hub, session, event);
        }
    }
    if (hub->replaying && now - hub->replay_at > INT64_C(250000000)) flr_hub_tell_replay(hub);
    /* what is near is looked for only while somebody wants to see it */
    uint32_t wants = 0;
    int64_t patience = (int64_t)(hub->def.limits.hello_seconds * 1e9);
    for (flr_client_session *session = hub->sessions; session; session = session->next) {
        if (session->state == FLR_CLIENT_SESSION_TALKING) wants |= session->wants;
        if (session->state == FLR_CLIENT_SESSION_NEW && now - session->opened > patience)
            flr_client_session_end(session, FLR_TIMEOUT, "there was no hello");
    }
    flr_engine_want_near(hub->def.engine, wants & FLR_WIRE_WANT_PROXIMITY,
                         wants & FLR_WIRE_WANT_VOXELS);
    flr_engine_want_gaps(hub->def.engine, wants & FLR_WIRE_WANT_GAPS);
    flr_engine_doing(hub->def.engine, "serving the shared session", "");
    int64_t next = hub->share ? flr_hub_pump_share(hub, now) : INT64_MAX;
    flr_engine_doing(hub->def.engine, before.doing, before.what);
    return next;
}
