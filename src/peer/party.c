/* a party: making it, what its user does, looking at it */
#include "peer/party.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "peer/party_inside.h"

flr_party_def flr_default_party_def(void)
{
    return (flr_party_def){.colour = UINT32_MAX,
                           .name = "",
                           .rate = 100,
                           .band = 1e-5,
                           .absence = 10,
                           .forget = 600,
                           .lines = flr_default_lines_def()};
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

flr_result flr_party_create(const flr_party_def *def, flr_party **party, flr_error *error)
{
    if (!(def->rate >= 20 && def->rate <= 1000))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a rate of %g states per second: it is from 20 to 1000", def->rate);
    if (!(def->absence >= 0) || !(def->forget >= def->absence) || !(def->band >= 0))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "absence and band of a party are 0 or more, forget no less than absence");
    flr_party *p = calloc(1, sizeof *p);
    if (!p) return flr_fail(error, FLR_NO_MEMORY, "no memory for a shared session");
    p->def = *def;
    p->scene = def->scene;
    p->has_scene = def->has_scene;
    flr_party_copy_name(p->name, def->name && def->name[0] ? def->name : "guest", FLR_PARTY_NAME);
    flr_lines_def lines = def->lines;
    lines.env = def->env;
    lines.local = def->local;
    lines.token = def->token;
    p->def.token = p->def.name = NULL;
    flr_result result = flr_lines_create(&lines, &p->lines, error);
    if (result != FLR_OK) {
        free(p);
        return result;
    }
    p->nonce = chance(def->env);
    flr_lines_set_hello(p->lines, &p->nonce, sizeof p->nonce);
    *party = p;
    return FLR_OK;
}

void flr_party_destroy(flr_party *party)
{
    if (!party) return;
    flr_lines_destroy(party->lines);
    free(party->places);
    free(party);
}

void flr_party_lead(flr_party *p)
{
    if (p->phase != FLR_PHASE_NONE) return;
    p->session = chance(p->def.env);
    p->self = p->top = 1;
    p->phase = FLR_PHASE_IN;
    p->roll = (flr_roll){.epoch = {1, 1}, .relay = p->def.relay};
    flr_roll_add(&p->roll, 1, p->nonce);
    p->peers[p->peer_count++] =
        (flr_peer){.member = 1, .role = p->def.role, .colour = p->def.colour, .nonce = p->nonce};
    snprintf(p->peers[0].name, sizeof p->peers[0].name, "%s", p->name);
    if (p->peers[0].colour == UINT32_MAX) p->peers[0].colour = 0x4c9be8;
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_IN, .member = 1, .scene = p->scene});
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LEADER, .member = 1});
    flr_party_roll_changed(p);
}

void flr_party_join(flr_party *p, flr_address address)
{
    if (p->phase != FLR_PHASE_NONE) return;
    p->phase = FLR_PHASE_JOINING;
    p->target = p->host = address;
    p->began_ns = flr_party_now(p);
}

flr_socket *flr_party_socket(const flr_party *party) { return flr_lines_socket(party->lines); }

flr_address flr_party_address(const flr_party *party) { return flr_lines_address(party->lines); }

flr_lines *flr_party_lines(flr_party *party) { return party->lines; }

/* ---- for its own files ---- */

void flr_party_copy_name(char to[FLR_PARTY_NAME + 1], const char *name, size_t most)
{
    size_t size = strlen(name), kept = 0;
    while (kept < size) {
        size_t step = flr_utf8_size(name + kept, size - kept, NULL);
        if (kept + (step ? step : 1) > most) break;
        kept += step ? step : 1;
    }
    memmove(to, name, kept);
    to[kept] = 0;
    flr_text_clean(to, kept);
}

int64_t flr_party_now(const flr_party *party) { return flr_clock_ns(party->def.env); }

flr_peer *flr_party_peer(flr_party *p, uint16_t member)
{
    for (uint32_t i = 0; i < p->peer_count; i++)
        if (p->peers[i].member == member) return &p->peers[i];
    return NULL;
}

flr_peer *flr_party_peer_of_line(flr_party *p, uint32_t line)
{
    for (uint32_t i = 0; line && i < p->peer_count; i++)
        if (p->peers[i].line == line) return &p->peers[i];
    return NULL;
}

double flr_party_delay(double told) { return told > 0 ? told < 10 ? told : 10 : 0; }

void flr_party_tell(flr_party *p, flr_party_event event)
{
    // what is not taken for so long is told by looking: the oldest gets lost
    if (p->event_count == FLR_PARTY_EVENTS) {
        p->event_first = (p->event_first + 1) % FLR_PARTY_EVENTS;
        p->event_count--;
    }
    p->events[(p->event_first + p->event_count++) % FLR_PARTY_EVENTS] = event;
}

void flr_party_news(flr_party *p, const char *format, ...)
{
    flr_party_event event = {.kind = FLR_PARTY_NEWS};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.sentence, sizeof event.sentence, format, arguments);
    va_end(arguments);
    flr_party_tell(p, event);
}

int64_t flr_party_service(flr_party *p)
{
    int64_t now = flr_party_now(p);
    flr_party_lead_service(p, now);
    flr_party_talk_service(p, now);
    flr_party_state_service(p, now);
    int64_t wake = flr_lines_service(p->lines);
    if (p->event_count) return now;
    bool in = p->phase == FLR_PHASE_IN, asks = !in && p->phase != FLR_PHASE_NONE;
    if (in && wake > p->claim_ns) wake = p->claim_ns;
    if (in && p->shown_anew && wake > p->state_ns) wake = p->state_ns;
    if (asks && wake > p->join_ns) wake = p->join_ns;
    return wake;
}

/* ---- what the user does ---- */

void flr_party_set_scene(flr_party *p, flr_hash scene)
{
    p->scene = scene;
    p->has_scene = true;
}

void flr_party_ready(flr_party *p, bool ready)
{
    if (p->ready == ready) return;
    p->ready = ready;
    p->claim_now = true;
    flr_party_own_deeds(p);
}

/* The deed about a part; NULL: none, and no room for one. */
static flr_party_deed *deed_about(flr_party *p, uint32_t part)
{
    for (uint32_t i = 0; i < p->deed_count; i++)
        if (p->deeds[i].part == part) return &p->deeds[i];
    if (p->deed_count == FLR_PARTY_DEEDS) return NULL;
    p->deeds[p->deed_count] = (flr_party_deed){.part = part, .T_world_part = flr_pose_identity()};
    return &p->deeds[p->deed_count++];
}

static void do_deed(flr_party *p, uint32_t part, bool holds, flr_pose pose)
{
    flr_party_deed *deed = p->phase == FLR_PHASE_IN ? deed_about(p, part) : NULL;
    if (!deed) {
        if (holds) flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LOST, .part = part});
        return;
    }
    *deed = (flr_party_deed){part, ++p->serial, holds, pose};
    p->claim_now = true;
    flr_party_own_deeds(p);
}

void flr_party_set_place(flr_party *p, uint32_t part, flr_pose T_world_part)
{
    flr_pose known;
    if (!flr_party_place(p, part, &known)) flr_party_put_place(p, part, 0, T_world_part);
}

bool flr_party_may_hold(const flr_party *p, uint32_t part)
{
    const flr_roll_part *entry = flr_roll_part_find((flr_roll *)&p->roll, part);
    if (flr_party_claims(p, part)) return true;
    if (p->phase != FLR_PHASE_IN || p->def.role != FLR_WIRE_PEER_HAND) return false;
    if (entry) return !entry->frozen && p->deed_count < FLR_PARTY_DEEDS;
    // what is said here and not yet in the roll needs room there, too
    return p->deed_count + p->roll.part_count < flr_roll_most(&p->roll);
}

void flr_party_hold(flr_party *p, uint32_t part)
{
    if (!flr_party_claims(p, part)) do_deed(p, part, true, flr_pose_identity());
}

void flr_party_release(flr_party *p, uint32_t part, flr_pose T_world_part)
{
    if (flr_party_claims(p, part)) do_deed(p, part, false, T_world_part);
}

void flr_party_settle(flr_party *p, uint32_t part, uint32_t number)
{
    const flr_roll_part *entry = flr_roll_part_find(&p->roll, part);
    if (p->phase != FLR_PHASE_IN || !entry || entry->number != number ||
        !flr_roll_owes(entry, p->self))
        return;
    for (uint32_t i = 0; i < p->settled_count; i++)
        if (p->settled[i].part == part && p->settled[i].number == number) return;
    if (p->settled_count == FLR_PARTY_DEEDS) return;
    p->settled[p->settled_count++] = (flr_wire_peer_settled){part, number};
    p->claim_now = true;
    flr_party_own_deeds(p);
}

void flr_party_move(flr_party *p, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    if (!flr_party_leads(p)) return;
    flr_roll_move(&p->roll, part, number, T_world_part);
    if (p->roll.changed) flr_party_roll_changed(p);
}

flr_result flr_party_send(flr_party *p, uint16_t member, const flr_message *message)
{
    flr_result result = member ? FLR_CLOSED : FLR_OK;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const flr_peer *peer = &p->peers[i];
        if (!peer->line || (member && peer->member != member)) continue;
        bool sent = flr_party_push(p, peer->line, message, true);
        if (member || !sent) result = sent ? FLR_OK : FLR_AGAIN;
    }
    return result;
}

/* ---- looking ---- */

uint32_t flr_party_count(const flr_party *p) { return p->roll.member_count; }

bool flr_party_person_at(const flr_party *p, uint32_t index, flr_party_person *person)
{
    if (index >= p->roll.member_count) return false;
    const flr_roll_member *m = &p->roll.members[index];
    *person = (flr_party_person){.member = m->member,
                                 .colour = 0x808080,
                                 .self = m->member == p->self,
                                 .leader = m->member == p->roll.epoch.leader,
                                 .ready = m->ready,
                                 .away = m->away};
    const flr_peer *peer = flr_party_peer((flr_party *)p, m->member);
    if (!peer) return true; /* its card has not come yet */
    snprintf(person->name, sizeof person->name, "%s", peer->name);
    person->colour = peer->colour;
    person->role = peer->role;
    flr_lines_info info;
    if (peer->line && flr_lines_get(p->lines, peer->line, &info)) {
        person->direct = true;
        person->line = peer->line;
        person->delay = info.rtt / 2;
        person->loss = info.loss_in;
        person->bytes_in = info.bytes_in;
        person->bytes_out = info.bytes_out;
        person->packets_in = info.packets_in;
        person->packets_out = info.packets_out;
    }
    const flr_peer *leader = flr_party_peer((flr_party *)p, p->roll.epoch.leader);
    bool through = leader && leader != peer && (p->roll.relay || !person->direct);
    if (through && !person->self && flr_lines_get(p->lines, leader->line, &info))
        person->delay = peer->delay + info.rtt / 2;
    return true;
}

bool flr_party_person_find(const flr_party *p, uint16_t member, flr_party_person *person)
{
    for (uint32_t i = 0; i < p->roll.member_count; i++)
        if (p->roll.members[i].member == member) return flr_party_person_at(p, i, person);
    return false;
}

bool flr_party_part(const flr_party *p, uint32_t part, flr_roll_part *out)
{
    const flr_roll_part *found = flr_roll_part_find((flr_roll *)&p->roll, part);
    if (found) *out = *found;
    return found;
}

bool flr_party_claims(const flr_party *p, uint32_t part)
{
    for (uint32_t i = 0; i < p->deed_count; i++)
        if (p->deeds[i].part == part) return p->deeds[i].holds;
    return false;
}

bool flr_party_owns(const flr_party *p, uint32_t part)
{
    const flr_roll_member *self = flr_roll_member_find((flr_roll *)&p->roll, p->self);
    const flr_roll_part *entry = flr_roll_part_find((flr_roll *)&p->roll, part);
    if (p->phase != FLR_PHASE_IN || !self || !entry || flr_roll_owner(entry) != p->self)
        return false;
    // one that was let go of and taken again is owned when the roll knows of both
    for (uint32_t i = 0; i < p->deed_count; i++)
        if (p->deeds[i].part == part) return p->deeds[i].holds && p->deeds[i].serial <= self->seen;
    return false;
}

bool flr_party_place(const flr_party *p, uint32_t part, flr_pose *T_world_part)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->places[i].part == part) {
            *T_world_part = p->places[i].T_world_part;
            return true;
        }
    return false;
}

bool flr_party_is_in(const flr_party *p) { return p->phase == FLR_PHASE_IN; }

bool flr_party_leads(const flr_party *p)
{
    return p->self && p->phase == FLR_PHASE_IN && p->roll.epoch.leader == p->self;
}

uint16_t flr_party_self(const flr_party *p) { return p->self; }

flr_epoch flr_party_epoch(const flr_party *p) { return p->roll.epoch; }

const flr_roll *flr_party_roll(const flr_party *p) { return &p->roll; }

uint32_t flr_party_changes(const flr_party *p) { return p->changes; }
