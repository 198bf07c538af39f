/* a client: checks what it sends, queues what it receives */
#include "server/client_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

flr_client_session *flr_client_session_open(flr_hub *hub, const char *from, bool local, int64_t now)
{
    flr_client_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->hub = hub;
    session->number = ++hub->next_number;
    session->local = local;
    session->opened = now;
    session->minor = FLR_PROTOCOL_MINOR;
    session->near_vertex = UINT32_MAX;
    snprintf(session->from, sizeof session->from, "%s", from);
    session->next = hub->sessions;
    hub->sessions = session;
    hub->session_count++;
    return session;
}

static void free_frames(flr_client_session *session)
{
    for (flr_queued_frame *frame = session->first, *next; frame; frame = next) {
        next = frame->next;
        free(frame);
    }
    session->first = session->last = NULL;
    session->queued = 0;
}

void flr_client_session_close(flr_client_session *session)
{
    if (!session) return;
    flr_hub *hub = session->hub;
    for (flr_client_session **at = &hub->sessions; *at; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            break;
        }
    }
    hub->session_count--;
    /* nobody is left to let go of what it held */
    for (uint32_t i = 0; i < FLR_ENGINE_HANDS; i++) {
        if (session->hands & 1u << i) flr_engine_leave(hub->def.engine, flr_hand(i), NULL);
    }
    for (int i = 0; i < FLR_CLIENT_SESSION_UPLOADS; i++) {
        if (!session->uploads[i]) continue;
        hub->upload_bytes -= flr_upload_size(session->uploads[i]);
        flr_upload_abandon(session->uploads[i]);
    }
    flr_client_session_forget_meshes(session);
    free(session->transfers);
    free(session->sent);
    free(session->known);
    free_frames(session);
    flr_log_write(hub->def.log, FLR_LOG_INFO, "client %u from %s is gone", session->number,
                  session->from);
    free(session);
}

flr_client_session *flr_client_session_find(const flr_hub *hub, uint32_t number)
{
    for (flr_client_session *session = hub->sessions; session; session = session->next) {
        if (session->number == number) return session;
    }
    return NULL;
}

bool flr_client_session_welcome(const flr_client_session *session)
{
    return session->state == FLR_CLIENT_SESSION_TALKING;
}

/* ---- what it receives ---- */

static bool enqueue(flr_client_session *session, const void *bytes, size_t size)
{
    flr_queued_frame *frame = malloc(sizeof *frame + size);
    if (!frame) return false;
    frame->next = NULL;
    frame->size = size;
    memcpy(frame->bytes, bytes, size);
    if (session->last)
        session->last->next = frame;
    else
        session->first = frame;
    session->last = frame;
    session->queued += size;
    return true;
}

void flr_client_session_queue(flr_client_session *session, const void *bytes, size_t size)
{
    if (session->state == FLR_CLIENT_SESSION_ENDING || size == 0) return;
    if (session->queued + size > session->hub->def.limits.queue)
        flr_client_session_end(session, FLR_TOO_LARGE, "you do not read what is sent to you");
    else if (!enqueue(session, bytes, size))
        flr_client_session_end(session, FLR_NO_MEMORY, "the controller has no memory left");
}

void flr_client_session_send(flr_client_session *session, const flr_message *message)
{
    flr_hub *hub = session->hub;
    if (session->state == FLR_CLIENT_SESSION_ENDING) return;
    flr_client_session_queue(
        session, hub->scratch,
        flr_client_session_encode(session, message, hub->scratch, hub->scratch_size));
}

void flr_client_session_done(flr_client_session *session, uint32_t request, uint32_t value)
{
    flr_message done = {.id = FLR_MSG_DONE, .request = request};
    done.as.done.value = value;
    flr_client_session_send(session, &done);
}

void flr_client_session_fail(flr_client_session *session, const flr_message *command,
                             const flr_error *error)
{
    flr_message answer = {.id = FLR_MSG_ERROR, .request = command->request};
    answer.as.error.code = (uint8_t)error->code;
    answer.as.error.about = command->id;
    answer.as.error.sentence = flr_wire_text_of(error->message);
    flr_client_session_send(session, &answer);
}

void flr_client_session_answer(flr_client_session *session, const flr_message *command,
                               flr_result result, uint32_t value, const flr_error *error)
{
    if (result == FLR_OK)
        flr_client_session_done(session, command->request, value);
    else
        flr_client_session_fail(session, command, error);
}

/* `level`: of the line in the log. */
static void end(flr_client_session *session, flr_result code, const char *sentence,
                flr_log_level level)
{
    if (session->state == FLR_CLIENT_SESSION_ENDING) return;
    /* nothing that waits is of use any more to one that does not read */
    if (code != FLR_OK) free_frames(session);
    flr_message bye = {.id =
                           session->state == FLR_CLIENT_SESSION_NEW ? FLR_MSG_ERROR : FLR_MSG_BYE};
    if (session->state == FLR_CLIENT_SESSION_NEW) {
        bye.as.error.code = (uint8_t)code;
        bye.as.error.sentence = flr_wire_text_of(sentence);
    } else {
        bye.as.bye.code = (uint8_t)code;
        bye.as.bye.sentence = flr_wire_text_of(sentence);
    }
    size_t size =
        flr_client_session_encode(session, &bye, session->hub->scratch, session->hub->scratch_size);
    if (size > 0) enqueue(session, session->hub->scratch, size);
    bool met = session->state != FLR_CLIENT_SESSION_NEW;
    session->state = FLR_CLIENT_SESSION_ENDING;
    if (code == FLR_OK || code == FLR_CLOSED) return;
    /* anybody can fail at the door as often as they like: the same words each time, which the log counts */
    if (met)
        flr_log_write(session->hub->def.log, level, "client %u from %s is dropped: %s",
                      session->number, session->from, sentence);
    else
        flr_log_write(session->hub->def.log, level, "a client from %s is dropped: %s",
                      session->from, sentence);
}

void flr_client_session_end(flr_client_session *session, flr_result code, const char *sentence)
{
    end(session, code, sentence, FLR_LOG_WARNING);
}

bool flr_client_session_take(flr_client_session *session, void *bytes, size_t capacity,
                             size_t *size)
{
    flr_queued_frame *frame = session->first;
    if (!frame || frame->size > capacity) return false;
    *size = frame->size;
    memcpy(bytes, frame->bytes, frame->size);
    session->first = frame->next;
    if (!session->first) session->last = NULL;
    session->queued -= frame->size;
    free(frame);
    return true;
}

bool flr_client_session_next(flr_client_session *session, int64_t now, void *bytes, size_t capacity,
                             size_t *size)
{
    size_t count = 0;
    if (session->behind && !session->first && session->state == FLR_CLIENT_SESSION_TALKING)
        flr_client_session_resync(session);
    if (flr_client_session_take(session, bytes, capacity, size)) return true;
    if (session->state == FLR_CLIENT_SESSION_TALKING) {
        if (flr_client_session_state_due(session, now))
            count = flr_client_session_state(session, 0, false, now, bytes, capacity);
        if (session->guests_due && count == 0)
            count = flr_client_session_guests(session, bytes, capacity);
        if (count == 0 && flr_client_session_near_due(session))
            count = flr_client_session_near(session, bytes, capacity);
        if (count == 0 && flr_client_session_mesh_due(session))
            count = flr_client_session_mesh(session, bytes, capacity);
    }
    *size = count;
    return count > 0;
}

int64_t flr_client_session_due(flr_client_session *session, int64_t now)
{
    if (session->first) return now;
    if (session->state != FLR_CLIENT_SESSION_TALKING) return INT64_MAX;
    if (session->behind || session->guests_due || flr_client_session_mesh_due(session) ||
        flr_client_session_near_due(session))
        return now;
    bool states = session->wants & FLR_WIRE_WANT_STATE && session->period > 0;
    return states ? session->due : INT64_MAX;
}

bool flr_client_session_crowded(const flr_client_session *session)
{
    return session->queued > session->hub->def.limits.queue / 4;
}

bool flr_client_session_ending(const flr_client_session *session)
{
    return session->state == FLR_CLIENT_SESSION_ENDING;
}

bool flr_client_session_over(const flr_client_session *session)
{
    return session->state == FLR_CLIENT_SESSION_ENDING && !session->first;
}

/* ---- what it says ---- */

size_t flr_client_session_allows(const flr_client_session *session, const void *bytes, size_t size)
{
    if (session->state == FLR_CLIENT_SESSION_ENDING) return 0;
    flr_protocol_head head;
    uint16_t id;
    if (size < FLR_PROTOCOL_HEAD) return flr_wire_max_frame(FLR_TO_CONTROLLER);
    memcpy(&head.size, bytes, sizeof head.size);
    memcpy(&id, (const uint8_t *)bytes + 4, sizeof id);
    /* before the handshake only a hello is heard; one of a later version may be somewhat longer */
    if (session->state == FLR_CLIENT_SESSION_NEW) id = FLR_MSG_HELLO;
    const flr_wire_message *type = flr_wire_message_find(id);
    size_t max_size = type ? flr_wire_max_size(type) : 0;
    if (max_size < 4096) max_size = 4096;
    return head.size <= max_size ? head.size : 0;
}

void flr_client_session_refuse(flr_client_session *session, const char *sentence)
{
    flr_client_session_end(session, FLR_TOO_LARGE, sentence);
}

static void welcome(flr_client_session *session, const flr_msg_hello *hello)
{
    flr_hub *hub = session->hub;
    uint32_t granted = FLR_WIRE_ABILITY_PACKED;
    if (hello->role != FLR_WIRE_ROLE_WATCHER) {
        granted |= FLR_WIRE_ABILITY_COMMAND | FLR_WIRE_ABILITY_HAND | FLR_WIRE_ABILITY_UPLOAD |
                   FLR_WIRE_ABILITY_RECORD;
        /* names of files are for those who sit at this machine */
        if (session->local) granted |= FLR_WIRE_ABILITY_LOAD;
    }
    session->role = hello->role;
    session->abilities = hello->abilities & granted;
    session->state = FLR_CLIENT_SESSION_TALKING;
    session->period = INT64_C(1000000000) / hub->def.limits.state_rate;
    flr_message message = {.id = FLR_MSG_WELCOME};
    message.as.welcome.session = session->number;
    message.as.welcome.abilities = session->abilities;
    message.as.welcome.loop_rate = (uint32_t)hub->def.loop_rate;
    message.as.welcome.state_rate = hub->def.limits.state_rate;
    message.as.welcome.name = flr_wire_text_of(hub->def.name);
    flr_client_session_send(session, &message);
    flr_client_session_send_scene(session);
    static const char *const roles[] = {"viewer", "host", "watcher"};
    flr_log_write(hub->def.log, FLR_LOG_INFO, "client %u from %s: %s, \"%s\"", session->number,
                  session->from, roles[hello->role], hello->name.size ? hello->name.bytes : "");
}

static void take_hello(flr_client_session *session, const void *bytes, size_t size)
{
    flr_hub *hub = session->hub;
    flr_error error = {FLR_OK, ""};
    flr_protocol_head head;
    flr_message message;
    flr_result result = flr_protocol_read_head(bytes, size, &head, &error);
    if (result == FLR_OK && head.id != FLR_MSG_HELLO)
        result = flr_fail(&error, FLR_BAD_INPUT, "the first message of a client is a hello");
    if (result == FLR_OK) result = flr_protocol_agree(&head, &session->minor, &error);
    if (result == FLR_OK)
        result = flr_protocol_decode(bytes, size, FLR_TO_CONTROLLER, hub->decode_buffer,
                                     hub->decode_size, &message, &error);
    bool asks =
        false; /* the page comes without a token first, and asks the person when the controller wants one */
    if (result == FLR_OK && !flr_access_token(hub->def.access, message.as.hello.token.bytes,
                                              message.as.hello.token.size)) {
        asks = message.as.hello.token.size == 0;
        result = flr_fail(&error, FLR_DENIED,
                          "%s; it is at the end of the address that feeler serve printed, or the "
                          "first line of its --token-file",
                          asks ? "a token is needed" : "the token is not right");
    }
    if (result == FLR_OK && flr_hub_clients(hub) >= hub->def.limits.clients)
        result = flr_fail(&error, FLR_AGAIN,
                          "there are %u clients already; close one, or start feeler serve with a "
                          "larger --clients",
                          flr_hub_clients(hub));
    if (result != FLR_OK)
        end(session, result, error.message, asks ? FLR_LOG_INFO : FLR_LOG_WARNING);
    else
        welcome(session, &message.as.hello);
}

/* too many in one second; false: it is dropped */
static bool count_message(flr_client_session *session, int64_t now)
{
    if (now - session->second >= INT64_C(1000000000)) {
        session->second = now;
        session->this_second = 0;
    }
    if (++session->this_second <= session->hub->def.limits.per_second) return true;
    flr_client_session_end(session, FLR_TOO_LARGE, "you send too many messages");
    return false;
}

void flr_client_session_receive(flr_client_session *session, const void *bytes, size_t size,
                                int64_t now)
{
    if (session->state == FLR_CLIENT_SESSION_ENDING) return;
    if (session->state == FLR_CLIENT_SESSION_NEW) {
        take_hello(session, bytes, size);
        return;
    }
    if (!count_message(session, now)) return;
    flr_hub *hub = session->hub;
    flr_error error;
    flr_protocol_head head = {0};
    flr_message message;
    flr_result result = flr_protocol_read_head(bytes, size, &head, &error);
    if (result == FLR_OK)
        result = flr_protocol_decode(bytes, size, FLR_TO_CONTROLLER, hub->decode_buffer,
                                     hub->decode_size, &message, &error);
    if (result == FLR_OK) {
        flr_client_session_command(session, &message, now);
        return;
    }
    /* a message of a version to come is no offence */
    bool newer = result == FLR_UNSUPPORTED && head.major == FLR_PROTOCOL_MAJOR;
    if (newer && head.request == 0) return;
    flr_message about = {.id = head.id, .request = head.request};
    flr_client_session_fail(session, &about, &error);
    if (!newer && ++session->malformed >= hub->def.limits.malformed)
        flr_client_session_end(session, FLR_BAD_INPUT, "too many of your messages cannot be read");
}
