/* a shared session, as clients see it: who is in it, where their hands are, what they hold */
#include <string.h>

#include "server/client_session.h"
#include "sim/commands.h"

void flr_hub_set_share(flr_hub *hub, flr_share *share)
{
    hub->share = share;
    hub->people_at = INT64_MIN;
}

/* ---- what may not be done ---- */

static bool is_watcher(flr_share *share)
{
    flr_session *session = flr_share_session(share);
    flr_session_person self;
    return flr_session_person_find(session, flr_session_self(session), &self) &&
           self.role == FLR_WIRE_PEER_WATCHER;
}

flr_result flr_hub_check_share(const flr_hub *hub, uint16_t id, flr_error *error)
{
    const flr_sim_command_row *row = flr_sim_command_find(id);
    bool changes = id == FLR_MSG_SET || (row && row->share != FLR_SIM_COMMAND_SHARE_NONE);
    if (changes && is_watcher(hub->share))
        return flr_fail(error, FLR_DENIED,
                        "this controller only watches the shared session; join it without --watch "
                        "to move parts and to change parameters");
    switch (id) {
    case FLR_MSG_LOAD:
    case FLR_MSG_UPLOAD:
    case FLR_MSG_UPLOAD_END:
    case FLR_MSG_REMOVE:
    case FLR_MSG_VOXELIZE:
    case FLR_MSG_KIND:
    case FLR_MSG_USE:
    case FLR_MSG_REGROUP:
    case FLR_MSG_JOINT_SET:
    case FLR_MSG_UP_SET:
    case FLR_MSG_RELOAD:
        return flr_fail(error, FLR_DENIED,
                        "the session is shared: its parts stay as they are. Begin another session "
                        "to change them");
    default:
        return FLR_OK;
    }
}

/* ---- people ---- */

static void tell_person(flr_hub *hub, const flr_session_person *person, bool gone)
{
    flr_message message = {.id = FLR_MSG_PERSON};
    message.as.person = (flr_msg_person){
        .member = person->member,
        .bits = (person->self ? FLR_WIRE_PERSON_SELF : 0u) |
                (person->leader ? FLR_WIRE_PERSON_LEADER : 0u) |
                (person->ready ? FLR_WIRE_PERSON_READY : 0u) |
                (person->away ? FLR_WIRE_PERSON_AWAY : 0u) |
                (person->role == FLR_WIRE_PEER_WATCHER ? FLR_WIRE_PERSON_WATCHER : 0u) |
                (gone ? FLR_WIRE_PERSON_GONE : 0u),
        .colour = person->colour & 0xFFFFFF,
        .delay = (float)person->delay,
        .loss = (float)person->loss,
        .bytes_in = (float)person->bytes_in,
        .bytes_out = (float)person->bytes_out,
        .name = flr_wire_text_of(person->name)};
    for (flr_client_session *session = hub->sessions; session; session = session->next) {
        if (session->state == FLR_CLIENT_SESSION_TALKING && session->wants & FLR_WIRE_WANT_EVENTS)
            flr_client_session_send(session, &message);
    }
}

static void tell_people(flr_hub *hub)
{
    const flr_session *session = flr_share_session(hub->share);
    flr_session_person person;
    uint16_t now[FLR_SESSION_MEMBERS];
    uint32_t count = 0;
    while (count < FLR_SESSION_MEMBERS && flr_session_person_at(session, count, &person)) {
        now[count++] = person.member;
        tell_person(hub, &person, false);
    }
    for (uint32_t i = 0; i < hub->people_count; i++) {
        bool still = false;
        for (uint32_t k = 0; k < count; k++) still = still || now[k] == hub->people[i];
        if (still) continue;
        person = (flr_session_person){.member = hub->people[i]};
        tell_person(hub, &person, true);
    }
    memcpy(hub->people, now, count * sizeof now[0]);
    hub->people_count = count;
}

int64_t flr_hub_pump_share(flr_hub *hub, int64_t now)
{
    int64_t next = flr_share_service(hub->share);
    uint32_t changes = flr_share_changes(hub->share);
    bool due = hub->people_at == INT64_MIN || now - hub->people_at >= INT64_C(1000000000);
    if (due || changes != hub->people_changes) {
        hub->people_at = now;
        hub->people_changes = changes;
        tell_people(hub);
    }
    return next;
}

/* ---- hands ---- */

static uint32_t bits_of(const flr_share_part *part)
{
    return (part->diverged ? FLR_WIRE_GUEST_DIVERGED : 0u) |
           (part->frozen ? FLR_WIRE_GUEST_FROZEN : 0u) |
           (part->homing ? FLR_WIRE_GUEST_HOMING : 0u) | (part->ghost ? FLR_WIRE_GUEST_GHOST : 0u);
}

static uint32_t gather_hands(flr_hub *hub)
{
    flr_share_hand hand;
    uint32_t count = 0;
    while (count < FLR_HUB_GUEST_HANDS && flr_share_hand_at(hub->share, count, &hand))
        hub->guest_hands[count++] = (flr_wire_guest_hand){.member = hand.member,
                                                          .hand = (uint16_t)hand.hand,
                                                          .held = hand.held.index,
                                                          .T_world_hand = hand.T_world_hand};
    return count;
}

static uint32_t gather_parts(flr_hub *hub)
{
    uint16_t self = flr_session_self(flr_share_session(hub->share));
    flr_share_part part;
    uint32_t count = 0;
    for (uint32_t i = 0; flr_share_part_at(hub->share, i, &part); i++) {
        bool others = false;
        for (uint32_t k = 0; k < part.holder_count && count < FLR_HUB_GUEST_PARTS; k++) {
            if (part.holders[k] == self) continue;
            others = true;
            hub->guest_parts[count++] = (flr_wire_guest_part){
                .part = part.part.index, .member = part.holders[k], .bits = bits_of(&part)};
        }
        if (!others && bits_of(&part) && count < FLR_HUB_GUEST_PARTS)
            hub->guest_parts[count++] =
                (flr_wire_guest_part){.part = part.part.index, .bits = bits_of(&part)};
    }
    return count;
}

static uint32_t gather_instances(flr_hub *hub)
{
    flr_share_instance found[FLR_HUB_GUEST_INSTANCES];
    uint32_t count = flr_share_instances(hub->share, found, FLR_HUB_GUEST_INSTANCES);
    for (uint32_t i = 0; i < count; i++)
        hub->guest_instances[i] = (flr_wire_guest_instance){.part = found[i].part.index,
                                                            .member = found[i].member,
                                                            .T_world_part = found[i].T_world_part};
    return count;
}

size_t flr_client_session_guests(flr_client_session *session, void *bytes, size_t capacity)
{
    flr_hub *hub = session->hub;
    session->guests_due = false;
    if (!hub->share) return 0;
    flr_message message = {.id = FLR_MSG_GUESTS};
    message.as.guests = (flr_msg_guests){.hands = hub->guest_hands,
                                         .hands_count = gather_hands(hub),
                                         .parts = hub->guest_parts,
                                         .parts_count = gather_parts(hub),
                                         .instances = hub->guest_instances,
                                         .instances_count = gather_instances(hub)};
    bool some = message.as.guests.hands_count || message.as.guests.parts_count;
    /* report once that there are none any more */
    if (!some && !session->guests_shown) return 0;
    session->guests_shown = some;
    return flr_client_session_encode(session, &message, bytes, capacity);
}
