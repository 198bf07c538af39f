/* a session: creation, what its user does, queries */
#include "session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/session_internal.h"

flr_session_def flr_default_session_def(void)
{
    return (flr_session_def){.colour = UINT32_MAX,
                             .name = "",
                             .rate = 100,
                             .band = 1e-5,
                             .absence = 10,
                             .forget = 600,
                             .connections = flr_default_connections_def()};
}

/* A number by chance that every reader can hold, and that is not 0. */
static uint64_t chance(flr_env *env)
{
    uint64_t number = 0;
    while (number == 0) {
        flr_random_bytes(env, &number, sizeof number);
        number &= ((uint64_t)1 << 53) - 1;
    }
    return number;
}

flr_result flr_session_create(const flr_session_def *def, flr_session **session, flr_error *error)
{
    if (!(def->rate >= 20 && def->rate <= 1000))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a rate of %g states per second: it is from 20 to 1000", def->rate);
    if (!(def->absence >= 0) || !(def->forget >= def->absence) || !(def->band >= 0))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "absence and band of a session are 0 or more, forget no less than absence");
    flr_session *p = calloc(1, sizeof *p);
    if (!p) return flr_fail(error, FLR_NO_MEMORY, "no memory for a shared session");
    p->def = *def;
    p->scene = def->scene;
    p->has_scene = def->has_scene;
    flr_session_copy_name(p->name, def->name && def->name[0] ? def->name : "guest",
                          FLR_SESSION_NAME);
    flr_connections_def connections = def->connections;
    connections.env = def->env;
    connections.local = def->local;
    connections.token = def->token;
    p->def.token = p->def.name = NULL;
    flr_result result = flr_connections_create(&connections, &p->connections, error);
    if (result != FLR_OK) {
        free(p);
        return result;
    }
    p->nonce = chance(def->env);
    flr_connections_set_hello(p->connections, &p->nonce, sizeof p->nonce);
    *session = p;
    return FLR_OK;
}

void flr_session_destroy(flr_session *session)
{
    if (!session) return;
    flr_connections_destroy(session->connections);
    free(session->places);
    free(session);
}

void flr_session_lead(flr_session *p)
{
    if (p->phase != FLR_PHASE_NONE) return;
    p->session = chance(p->def.env);
    p->self = p->top = 1;
    p->phase = FLR_PHASE_IN;
    p->membership = (flr_membership){.epoch = {1, 1}, .relay = p->def.relay};
    flr_membership_add(&p->membership, 1, p->nonce);
    p->peers[p->peer_count++] =
        (flr_peer){.member = 1, .role = p->def.role, .colour = p->def.colour, .nonce = p->nonce};
    snprintf(p->peers[0].name, sizeof p->peers[0].name, "%s", p->name);
    if (p->peers[0].colour == UINT32_MAX) p->peers[0].colour = 0x4c9be8;
    flr_session_tell(p,
                     (flr_session_event){.kind = FLR_SESSION_IN, .member = 1, .scene = p->scene});
    flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_LEADER, .member = 1});
    flr_session_membership_changed(p);
}

void flr_session_join(flr_session *p, flr_address address)
{
    if (p->phase != FLR_PHASE_NONE) return;
    p->phase = FLR_PHASE_JOINING;
    p->target = p->host = address;
    p->began_ns = flr_session_now(p);
}

flr_socket *flr_session_socket(const flr_session *session)
{
    return flr_connections_socket(session->connections);
}

flr_address flr_session_address(const flr_session *session)
{
    return flr_connections_address(session->connections);
}

flr_connections *flr_session_connections(flr_session *session) { return session->connections; }

/* ---- for its own files ---- */

void flr_session_copy_name(char to[FLR_SESSION_NAME + 1], const char *name, size_t max_size)
{
    size_t size = strlen(name), kept = 0;
    while (kept < size) {
        size_t step = flr_utf8_size(name + kept, size - kept, NULL);
        if (kept + (step ? step : 1) > max_size) break;
        kept += step ? step : 1;
    }
    memmove(to, name, kept);
    to[kept] = 0;
    flr_text_clean(to, kept);
}

int64_t flr_session_now(const flr_session *session) { return flr_clock_ns(session->def.env); }

flr_peer *flr_session_peer(flr_session *p, uint16_t member)
{
    for (uint32_t i = 0; i < p->peer_count; i++)
        if (p->peers[i].member == member) return &p->peers[i];
    return NULL;
}

flr_peer *flr_session_peer_of_connection(flr_session *p, uint32_t connection)
{
    for (uint32_t i = 0; connection && i < p->peer_count; i++)
        if (p->peers[i].connection == connection) return &p->peers[i];
    return NULL;
}

double flr_session_delay(double seconds) { return seconds > 0 ? seconds < 10 ? seconds : 10 : 0; }

void flr_session_tell(flr_session *p, flr_session_event event)
{
    // whoever does not take them for so long can look: the oldest gets lost
    if (p->event_count == FLR_SESSION_EVENTS) {
        p->event_first = (p->event_first + 1) % FLR_SESSION_EVENTS;
        p->event_count--;
    }
    p->events[(p->event_first + p->event_count++) % FLR_SESSION_EVENTS] = event;
}

void flr_session_news(flr_session *p, const char *format, ...)
{
    flr_session_event event = {.kind = FLR_SESSION_NEWS};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.sentence, sizeof event.sentence, format, arguments);
    va_end(arguments);
    flr_session_tell(p, event);
}

int64_t flr_session_service(flr_session *p)
{
    int64_t now = flr_session_now(p);
    flr_session_lead_service(p, now);
    flr_session_messages_service(p, now);
    flr_session_state_service(p, now);
    int64_t wake = flr_connections_service(p->connections);
    if (p->event_count) return now;
    bool in = p->phase == FLR_PHASE_IN, asks = !in && p->phase != FLR_PHASE_NONE;
    if (in && wake > p->claim_ns) wake = p->claim_ns;
    if (in && p->shown_anew && wake > p->state_ns) wake = p->state_ns;
    if (asks && wake > p->join_ns) wake = p->join_ns;
    return wake;
}

/* ---- what the user does ---- */

void flr_session_set_scene(flr_session *p, flr_hash scene)
{
    p->scene = scene;
    p->has_scene = true;
}

void flr_session_ready(flr_session *p, bool ready)
{
    if (p->ready == ready) return;
    p->ready = ready;
    p->claim_now = true;
    flr_session_own_commands(p);
}

/* The command about a part; NULL: none, and no room for one. */
static flr_session_command *command_about(flr_session *p, uint32_t part)
{
    for (uint32_t i = 0; i < p->command_count; i++)
        if (p->commands[i].part == part) return &p->commands[i];
    if (p->command_count == FLR_SESSION_COMMANDS) return NULL;
    p->commands[p->command_count] =
        (flr_session_command){.part = part, .T_world_part = flr_pose_identity()};
    return &p->commands[p->command_count++];
}

static void do_command(flr_session *p, uint32_t part, bool holds, flr_pose pose)
{
    flr_session_command *command = p->phase == FLR_PHASE_IN ? command_about(p, part) : NULL;
    if (!command) {
        if (holds) flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_LOST, .part = part});
        return;
    }
    *command = (flr_session_command){part, ++p->serial, holds, pose};
    p->claim_now = true;
    flr_session_own_commands(p);
}

void flr_session_set_place(flr_session *p, uint32_t part, flr_pose T_world_part)
{
    flr_pose known;
    if (!flr_session_place(p, part, &known)) flr_session_put_place(p, part, 0, T_world_part);
}

bool flr_session_may_hold(const flr_session *p, uint32_t part)
{
    const flr_membership_part *entry =
        flr_membership_part_find((flr_membership *)&p->membership, part);
    if (flr_session_claims(p, part)) return true;
    if (p->phase != FLR_PHASE_IN || p->def.role != FLR_WIRE_PEER_HAND) return false;
    if (entry) return !entry->frozen && p->command_count < FLR_SESSION_COMMANDS;
    // commands that are not yet in the membership need a place there, too
    return p->command_count + p->membership.part_count < flr_membership_max_parts(&p->membership);
}

void flr_session_hold(flr_session *p, uint32_t part)
{
    if (!flr_session_claims(p, part)) do_command(p, part, true, flr_pose_identity());
}

void flr_session_release(flr_session *p, uint32_t part, flr_pose T_world_part)
{
    if (flr_session_claims(p, part)) do_command(p, part, false, T_world_part);
}

void flr_session_settle(flr_session *p, uint32_t part, uint32_t number)
{
    const flr_membership_part *entry = flr_membership_part_find(&p->membership, part);
    if (p->phase != FLR_PHASE_IN || !entry || entry->number != number ||
        !flr_membership_owes(entry, p->self))
        return;
    for (uint32_t i = 0; i < p->settled_count; i++)
        if (p->settled[i].part == part && p->settled[i].number == number) return;
    if (p->settled_count == FLR_SESSION_COMMANDS) return;
    p->settled[p->settled_count++] = (flr_wire_peer_settled){part, number};
    p->claim_now = true;
    flr_session_own_commands(p);
}

void flr_session_move(flr_session *p, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    if (!flr_session_hosts(p)) return;
    flr_membership_move(&p->membership, part, number, T_world_part);
    if (p->membership.changed) flr_session_membership_changed(p);
}

flr_result flr_session_send(flr_session *p, uint16_t member, const flr_message *message)
{
    flr_result result = member ? FLR_CLOSED : FLR_OK;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const flr_peer *peer = &p->peers[i];
        if (!peer->connection || (member && peer->member != member)) continue;
        bool sent = flr_session_push(p, peer->connection, message, true);
        if (member || !sent) result = sent ? FLR_OK : FLR_AGAIN;
    }
    return result;
}

/* ---- looking ---- */

uint32_t flr_session_count(const flr_session *p) { return p->membership.member_count; }

bool flr_session_person_at(const flr_session *p, uint32_t index, flr_session_person *person)
{
    if (index >= p->membership.member_count) return false;
    const flr_membership_member *m = &p->membership.members[index];
    *person = (flr_session_person){.member = m->member,
                                   .colour = 0x808080,
                                   .self = m->member == p->self,
                                   .leader = m->member == p->membership.epoch.leader,
                                   .ready = m->ready,
                                   .away = m->away};
    const flr_peer *peer = flr_session_peer((flr_session *)p, m->member);
    if (!peer) return true; /* its card has not come yet */
    snprintf(person->name, sizeof person->name, "%s", peer->name);
    person->colour = peer->colour;
    person->role = peer->role;
    flr_connections_info info;
    if (peer->connection && flr_connections_get(p->connections, peer->connection, &info)) {
        person->direct = true;
        person->connection = peer->connection;
        person->delay = info.rtt / 2;
        person->loss = info.loss_in;
        person->bytes_in = info.bytes_in;
        person->bytes_out = info.bytes_out;
        person->packets_in = info.packets_in;
        person->packets_out = info.packets_out;
    }
    const flr_peer *leader = flr_session_peer((flr_session *)p, p->membership.epoch.leader);
    bool through = leader && leader != peer && (p->membership.relay || !person->direct);
    if (through && !person->self && flr_connections_get(p->connections, leader->connection, &info))
        person->delay = peer->delay + info.rtt / 2;
    return true;
}

bool flr_session_person_find(const flr_session *p, uint16_t member, flr_session_person *person)
{
    for (uint32_t i = 0; i < p->membership.member_count; i++)
        if (p->membership.members[i].member == member) return flr_session_person_at(p, i, person);
    return false;
}

bool flr_session_part(const flr_session *p, uint32_t part, flr_membership_part *out)
{
    const flr_membership_part *found =
        flr_membership_part_find((flr_membership *)&p->membership, part);
    if (found) *out = *found;
    return found;
}

bool flr_session_claims(const flr_session *p, uint32_t part)
{
    for (uint32_t i = 0; i < p->command_count; i++)
        if (p->commands[i].part == part) return p->commands[i].holds;
    return false;
}

bool flr_session_owns(const flr_session *p, uint32_t part)
{
    const flr_membership_member *self =
        flr_membership_member_find((flr_membership *)&p->membership, p->self);
    const flr_membership_part *entry =
        flr_membership_part_find((flr_membership *)&p->membership, part);
    if (p->phase != FLR_PHASE_IN || !self || !entry || flr_membership_owner(entry) != p->self)
        return false;
    // one that was let go of and taken again is owned when the membership knows of both
    for (uint32_t i = 0; i < p->command_count; i++)
        if (p->commands[i].part == part)
            return p->commands[i].holds && p->commands[i].serial <= self->seen;
    return false;
}

bool flr_session_place(const flr_session *p, uint32_t part, flr_pose *T_world_part)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->places[i].part == part) {
            *T_world_part = p->places[i].T_world_part;
            return true;
        }
    return false;
}

bool flr_session_is_in(const flr_session *p) { return p->phase == FLR_PHASE_IN; }

bool flr_session_hosts(const flr_session *p)
{
    return p->self && p->phase == FLR_PHASE_IN && p->membership.epoch.leader == p->self;
}

uint16_t flr_session_self(const flr_session *p) { return p->self; }

flr_epoch flr_session_epoch(const flr_session *p) { return p->membership.epoch; }

const flr_membership *flr_session_membership(const flr_session *p) { return &p->membership; }

uint32_t flr_session_changes(const flr_session *p) { return p->changes; }
