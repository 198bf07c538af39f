/* members: who is known, letting in, being let in */
#include <stdio.h>
#include <string.h>

#include "session/session_internal.h"

/* told apart at a glance, on light and on dark */
static const uint32_t colours[] = {0x4c9be8, 0xe8824c, 0x4cc38a, 0xc36bd6, 0xd6b24c, 0x4cc3c9,
                                   0xd65c7a, 0x8a8fe8, 0x9bb84c, 0xb8805c, 0x5c9b9b, 0xc98ab8};

static void hash_words(flr_hash hash, uint32_t words[4])
{
    words[0] = (uint32_t)hash.low;
    words[1] = (uint32_t)(hash.low >> 32);
    words[2] = (uint32_t)hash.high;
    words[3] = (uint32_t)(hash.high >> 32);
}

static flr_hash words_hash(const uint32_t *words)
{
    return (flr_hash){.low = words[0] | (uint64_t)words[1] << 32,
                      .high = words[2] | (uint64_t)words[3] << 32};
}

/* ---- who is who ---- */

void flr_session_forget_gone(flr_session *p)
{
    uint32_t kept = 0, count = p->membership.member_count;
    uint16_t last = count ? p->membership.members[count - 1].member : 0;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        // the card of a new one may come before the membership that has it
        bool coming = peer->member > last && !flr_session_hosts(p);
        if (!coming && !flr_membership_member_find(&p->membership, peer->member)) {
            flr_session_close_connection(p, peer->connection ? peer->connection : peer->calling,
                                         "you are not a member any more");
            continue;
        }
        if (kept != i) p->peers[kept] = *peer;
        kept++;
    }
    p->peer_count = kept;
}

static flr_peer *know(flr_session *p, uint16_t member)
{
    flr_peer *peer = flr_session_peer(p, member);
    if (peer || p->peer_count == FLR_SESSION_MEMBERS) return peer;
    peer = &p->peers[p->peer_count++];
    *peer = (flr_peer){.member = member};
    snprintf(peer->name, sizeof peer->name, "member %u", member);
    // the younger side connects first: it knows that the older one can be reached
    peer->connect_ns = flr_session_now(p) + (member > p->self ? FLR_SESSION_S : 0);
    return peer;
}

void flr_session_know_as(flr_session *p, uint16_t member, uint64_t nonce)
{
    flr_peer *peer = know(p, member);
    if (!peer || peer->nonce == nonce) return;
    if (peer->nonce) {
        peer->connection = 0;
        p->changes++;
        peer->address.family = 0;
        peer->claim_ns = 0;
    }
    peer->nonce = nonce;
}

static void send_card(flr_session *p, uint32_t connection, const flr_peer *about)
{
    char address[FLR_ADDRESS_TEXT_SIZE] = "";
    if (about->address.family) flr_address_print(about->address, address);
    flr_message m = {.id = FLR_MSG_PEER_CARD};
    m.as.peer_card = (flr_msg_peer_card){.member = about->member,
                                         .role = about->role,
                                         .colour = about->colour,
                                         .nonce = about->nonce,
                                         .name = flr_wire_text_of(about->name),
                                         .address = flr_wire_text_of(address)};
    flr_session_push(p, connection, &m, true);
}

void flr_session_on_card(flr_session *p, uint32_t connection, const flr_msg_peer_card *card)
{
    flr_peer *from = flr_session_peer_of_connection(p, connection);
    bool welcome =
        connection ==
        p->target_connection; /* cards may come before the membership that names the leader */
    if (!card->member || (!welcome && (!from || from->member != p->membership.epoch.leader)))
        return;
    flr_peer *peer = know(p, card->member);
    if (!peer) return;
    peer->role = card->role;
    peer->colour = card->colour;
    peer->nonce = card->nonce;
    snprintf(peer->name, sizeof peer->name, "%.*s", (int)card->name.size,
             card->name.size ? card->name.bytes : "");
    flr_address address;
    flr_connections_info info;
    if (card->address.size && flr_address_parse(card->address.bytes, 0, &address, NULL) == FLR_OK &&
        address.port) {
        peer->address = address;
    } else if (from == peer && flr_connections_get(p->connections, connection, &info)) {
        peer->address = info.address;
    }
    flr_session_bind(p);
    flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_PEOPLE, .member = card->member});
}

/* ---- being let in ---- */

static void refuse(flr_session *p, uint32_t connection, flr_result code, const char *address,
                   const char *sentence)
{
    flr_message m = {.id = FLR_MSG_PEER_REFUSED};
    m.as.peer_refused = (flr_msg_peer_refused){.code = (uint8_t)code,
                                               .address = flr_wire_text_of(address),
                                               .sentence = flr_wire_text_of(sentence)};
    flr_session_push(p, connection, &m, true);
}

/* Tells where everything is, in as many messages as it takes. */
static void welcome(flr_session *p, uint32_t connection, uint16_t member)
{
    enum { SESSION_JOIN_AT_ONCE = 512 };
    static _Thread_local flr_wire_peer_place places[SESSION_JOIN_AT_ONCE];
    uint32_t words[4], sent = 0;
    hash_words(p->scene, words);
    do {
        uint32_t count = 0;
        for (; count < SESSION_JOIN_AT_ONCE && sent < p->place_count; count++, sent++) {
            const flr_place *place = &p->places[sent];
            places[count] = (flr_wire_peer_place){.part = place->part,
                                                  .bits = FLR_WIRE_PEER_REST,
                                                  .number = place->number,
                                                  .T_world_part = place->T_world_part};
        }
        flr_message m = {.id = FLR_MSG_PEER_WELCOME};
        m.as.peer_welcome =
            (flr_msg_peer_welcome){.session = p->session,
                                   .member = member,
                                   .bits = p->membership.relay ? FLR_WIRE_PEER_RELAY : 0,
                                   .count = p->membership.epoch.count,
                                   .leader = p->self,
                                   .number = p->membership.number + 1,
                                   .scene = words,
                                   .scene_count = p->has_scene ? 4 : 0,
                                   .places = places,
                                   .places_count = count,
                                   .more = sent < p->place_count};
        if (!flr_session_push(p, connection, &m, true)) {
            // it asks again when nothing came
            flr_session_close_connection(p, connection,
                                         "there is no room for a welcome; try again");
            return;
        }
    } while (sent < p->place_count);
}

void flr_session_give_connection(flr_session *p, flr_peer *peer, uint32_t connection)
{
    flr_connections_info info;
    if (peer->calling && peer->calling != connection)
        flr_connections_close(p->connections, peer->calling, NULL);
    peer->calling = 0;
    peer->connection = connection;
    p->changes++;
    peer->bye = false;
    if (flr_connections_get(p->connections, connection, &info)) peer->address = info.address;
}

/* Where the session is full, who has been away longest is not expected back. */
static void make_room(flr_session *p)
{
    const flr_peer *longest = NULL;
    if (p->membership.member_count < FLR_SESSION_MEMBERS) return;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const flr_membership_member *m =
            flr_membership_member_find(&p->membership, p->peers[i].member);
        if (m && m->away && (!longest || p->peers[i].away_ns < longest->away_ns))
            longest = &p->peers[i];
    }
    if (!longest) return;
    flr_membership_remove(&p->membership, longest->member, p->def.where, p->def.context);
    flr_session_forget_gone(p);
}

/* Nobody has the name of another who is here: the second Ada is "Ada 2". */
static void name_apart(flr_session *p, flr_peer *peer, flr_wire_text name)
{
    char wanted[FLR_SESSION_NAME + 1];
    snprintf(wanted, sizeof wanted, "%.*s", (int)name.size, name.size ? name.bytes : "");
    bool taken = true;
    for (uint32_t n = 1; taken && n <= FLR_SESSION_MEMBERS; n++) {
        // room for the number is made between characters
        flr_session_copy_name(peer->name, wanted, n == 1 ? FLR_SESSION_NAME : FLR_SESSION_NAME - 3);
        if (n > 1) snprintf(peer->name + strlen(peer->name), 4, " %u", n);
        taken = false;
        for (uint32_t i = 0; i < p->peer_count && !taken; i++) {
            const flr_peer *other = &p->peers[i];
            const flr_membership_member *entry =
                flr_membership_member_find(&p->membership, other->member);
            taken = other != peer && entry && !entry->away && !strcmp(other->name, peer->name);
        }
    }
}

void flr_session_on_join(flr_session *p, uint32_t connection, const flr_msg_peer_join *join)
{
    if (p->phase == FLR_PHASE_SEEKING) {
        refuse(p, connection, FLR_AGAIN, "", "the controller there is coming back to its session");
        return;
    }
    if (p->phase != FLR_PHASE_IN) {
        refuse(p, connection, FLR_NOT_FOUND, "",
               "the controller there is in no session itself; ask one that shares");
        return;
    }
    const flr_membership_member *own = flr_membership_member_find(&p->membership, p->self);
    if (flr_session_hosts(p) && own && !own->ready) {
        refuse(p, connection, FLR_AGAIN, "",
               "the session's scene is being loaded there; it comes when that is done");
        return;
    }
    if (!flr_session_hosts(p)) {
        char address[FLR_ADDRESS_TEXT_SIZE] = "";
        const flr_peer *leader = flr_session_peer(p, p->membership.epoch.leader);
        if (p->phase == FLR_PHASE_IN && leader && leader->connection && leader->address.family)
            flr_address_print(leader->address, address);
        refuse(p, connection, FLR_AGAIN, address,
               address[0] ? "this member does not lead the session; ask its leader"
                          : "the leader of the session cannot be reached; another member takes "
                            "over in some seconds");
        return;
    }
    if (join->scene_count && p->has_scene && !flr_hash_equal(words_hash(join->scene), p->scene)) {
        refuse(p, connection, FLR_BAD_INPUT, "",
               "the session has another scene; join without one, and it is sent");
        return;
    }
    // one that asks again, because no answer came, or because it was away
    flr_peer *peer = NULL;
    for (uint32_t i = 0; i < p->peer_count && !peer; i++)
        if (p->peers[i].nonce == join->nonce && p->peers[i].member != p->self) peer = &p->peers[i];
    bool again = peer;
    if (!peer) {
        make_room(p);
        if (p->membership.part_count * (p->membership.member_count + 1) >
            FLR_MEMBERSHIP_UNSETTLED) {
            refuse(p, connection, FLR_AGAIN, "",
                   "very many parts are on their way in the session; it comes when they lie");
            return;
        }
        if (p->top == UINT16_MAX || p->peer_count == FLR_SESSION_MEMBERS ||
            !flr_membership_add(&p->membership, (uint16_t)(p->top + 1), join->nonce)) {
            refuse(p, connection, FLR_TOO_LARGE, "",
                   "the session is full; somebody must leave first");
            return;
        }
        peer = know(p, ++p->top);
    }
    peer->role = join->role;
    peer->nonce = join->nonce;
    peer->colour = join->colour != UINT32_MAX
                       ? join->colour & 0xFFFFFF
                       : colours[(peer->member - 1u) % (sizeof colours / sizeof *colours)];
    name_apart(p, peer, join->name);
    flr_session_give_connection(p, peer, connection);
    const flr_membership_member *entry = flr_membership_member_find(&p->membership, peer->member);
    bool was_away = entry && entry->away;
    if (again) {
        // it comes with empty hands, whether we had missed it or not; it may still believe that it owns something
        for (uint32_t i = 0; i < p->membership.part_count && !was_away; i++)
            if (flr_membership_owner(&p->membership.parts[i]) == peer->member) {
                p->membership.epoch.count++;
                break;
            }
        flr_membership_away(&p->membership, peer->member, p->def.where, p->def.context);
        flr_membership_back(&p->membership, peer->member);
    }
    welcome(p, connection, peer->member);
    for (uint32_t i = 0; i < p->peer_count; i++) {
        send_card(p, connection, &p->peers[i]);
        if (p->peers[i].connection && p->peers[i].connection != connection)
            send_card(p, p->peers[i].connection, peer);
    }
    flr_session_news(p,
                     was_away ? "%s is back"
                     : again  ? "%s is here again"
                              : "%s has joined",
                     peer->name);
    flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_PEOPLE, .member = peer->member});
    flr_session_membership_changed(p);
}

/* Nothing that this side held before counts any more. */
static void drop_commands(flr_session *p)
{
    for (uint32_t i = 0; i < p->command_count; i++)
        if (p->commands[i].holds)
            flr_session_tell(
                p, (flr_session_event){.kind = FLR_SESSION_LOST, .part = p->commands[i].part});
    p->command_count = p->settled_count = 0;
}

void flr_session_on_welcome(flr_session *p, uint32_t connection,
                            const flr_msg_peer_welcome *welcome)
{
    if (connection != p->target_connection || !welcome->member) return;
    bool first = p->phase == FLR_PHASE_JOINING || p->phase == FLR_PHASE_SEEKING;
    if (first) {
        bool again = p->phase == FLR_PHASE_SEEKING;
        drop_commands(p);
        p->place_count = 0;
        p->peer_count = 0;
        p->session = welcome->session;
        p->self = welcome->member;
        if (p->top < p->self) p->top = p->self;
        // memberships from before do not have this side
        p->membership = (flr_membership){.epoch = {welcome->count, welcome->leader},
                                         .number = welcome->number ? welcome->number - 1 : 0};
        p->ahead_ns = 0;
        p->scene = welcome->scene_count ? words_hash(welcome->scene) : p->scene;
        p->has_scene = p->has_scene || welcome->scene_count;
        p->phase = FLR_PHASE_IN;
        p->leader_lost_ns = 0;
        // stands for the membership until one comes, so that cards and claims of the leader are believed
        flr_peer *leader = know(p, welcome->leader);
        flr_session_give_connection(p, leader, connection);
        flr_peer *self = know(p, p->self);
        self->nonce = p->nonce;
        snprintf(self->name, sizeof self->name, "%s", p->name);
        flr_session_tell(
            p, (flr_session_event){.kind = FLR_SESSION_IN, .member = p->self, .scene = p->scene});
        if (again)
            flr_session_news(p, "together with the others again: parts are as they have them");
        p->claim_now = true;
    }
    if (p->phase != FLR_PHASE_IN || welcome->session != p->session) return;
    for (uint32_t i = 0; i < welcome->places_count; i++) {
        const flr_wire_peer_place *place = &welcome->places[i];
        flr_session_put_place(p, place->part, place->number, place->T_world_part);
        flr_session_tell(p, (flr_session_event){.kind = FLR_SESSION_PLACE,
                                                .part = place->part,
                                                .T_world_part = place->T_world_part});
    }
}

void flr_session_on_refused(flr_session *p, uint32_t connection,
                            const flr_msg_peer_refused *refused)
{
    if (connection != p->target_connection ||
        (p->phase != FLR_PHASE_JOINING && p->phase != FLR_PHASE_SEEKING))
        return;
    flr_address address;
    p->target_connection = 0;
    p->join_ns = flr_session_now(p) + FLR_SESSION_S / 2;
    if (refused->code == FLR_AGAIN) {
        if (refused->address.size &&
            flr_address_parse(refused->address.bytes, 0, &address, NULL) == FLR_OK &&
            !flr_address_equal(address, flr_session_address(p)))
            p->target = address, p->join_ns = 0, p->sent_on_ns = flr_session_now(p);
        // reports once what may take long
        if (!p->waits && !refused->address.size && refused->sentence.size)
            flr_session_news(p, "%s", refused->sentence.bytes);
        p->waits = p->waits || !refused->address.size;
        return;
    }
    flr_session_event event = {.kind = FLR_SESSION_REFUSED};
    snprintf(event.sentence, sizeof event.sentence, "%.*s", (int)refused->sentence.size,
             refused->sentence.size ? refused->sentence.bytes : "");
    flr_session_tell(p, event);
    if (p->phase == FLR_PHASE_JOINING) p->phase = FLR_PHASE_NONE;
}

bool flr_session_is_sent_on(const flr_session *p, int64_t now)
{
    return p->phase == FLR_PHASE_JOINING && !flr_address_equal(p->target, p->host) &&
           now - p->began_ns < FLR_SESSION_JOIN_S * FLR_SESSION_S;
}

/* It was sent on to a leader that does not let it in within the time of a handshake and some more: who sent it on hears nothing
 * of that one either by now, and knows better. */
static void turn_back(flr_session *p, int64_t now)
{
    flr_connections_info info;
    double wait = 2.5;
    for (uint32_t i = 0; i < p->open_count; i++)
        if (flr_address_equal(p->open[i].address, p->host) &&
            flr_connections_get(p->connections, p->open[i].connection, &info))
            wait += 6 * info.rtt;
    if (!flr_session_is_sent_on(p, now) || now - p->sent_on_ns < (int64_t)(wait * 1e9)) return;
    if (p->target_connection) flr_session_close_connection(p, p->target_connection, NULL);
    p->target_connection = 0;
    p->target = p->host;
    p->join_ns = now;
}

void flr_session_ask(flr_session *p, int64_t now)
{
    turn_back(p, now);
    if (now < p->join_ns) return;
    flr_connections_info info;
    bool is =
        p->target_connection && flr_connections_get(p->connections, p->target_connection, &info);
    if (!is) {
        // a connection that stands to that address already will do
        p->target_connection = 0;
        for (uint32_t i = 0; i < p->open_count && !p->target_connection; i++)
            if (flr_address_equal(p->open[i].address, p->target))
                p->target_connection = p->open[i].connection;
        if (!p->target_connection)
            p->target_connection =
                flr_connections_connect(p->connections, p->target, &p->nonce, sizeof p->nonce);
        is = p->target_connection &&
             flr_connections_get(p->connections, p->target_connection, &info);
    }
    if (!is || !info.open) {
        p->join_ns = now + 50 * FLR_SESSION_MS;
        return;
    }
    uint32_t words[4];
    hash_words(p->scene, words);
    flr_message m = {.id = FLR_MSG_PEER_JOIN};
    m.as.peer_join = (flr_msg_peer_join){.session = p->session,
                                         .nonce = p->nonce,
                                         .member = p->self,
                                         .role = p->def.role,
                                         .colour = p->def.colour,
                                         .name = flr_wire_text_of(p->name),
                                         .scene = words,
                                         .scene_count = p->has_scene ? 4 : 0};
    (void)flr_session_push(p, p->target_connection, &m, true);
    p->join_ns = now + 5 * FLR_SESSION_S;
}

void flr_session_seek(flr_session *p, uint16_t leader, uint32_t connection)
{
    const flr_peer *to = flr_session_peer(p, leader);
    if (p->phase == FLR_PHASE_SEEKING) return;
    flr_connections_info info;
    p->phase = FLR_PHASE_SEEKING;
    p->seek_ns = flr_session_now(p);
    p->ahead_ns = 0;
    p->join_ns = 0;
    p->target_connection = to && to->connection ? to->connection : connection;
    if (flr_connections_get(p->connections, p->target_connection, &info)) p->target = info.address;
}
