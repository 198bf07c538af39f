/* how the roll comes about: joining, claims, who leads */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer/party_inside.h"

/* told apart at a glance, on light and on dark */
static const uint32_t colours[] = {0x4c9be8, 0xe8824c, 0x4cc38a, 0xc36bd6, 0xd6b24c, 0x4cc3c9,
                                   0xd65c7a, 0x8a8fe8, 0x9bb84c, 0xb8805c, 0x5c9b9b, 0xc98ab8};

static bool leads(const flr_party *p) { return flr_party_leads(p); }

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

bool flr_party_put_place(flr_party *p, uint32_t part, uint32_t number, flr_pose T_world_part)
{
    for (uint32_t i = 0; i < p->place_count; i++)
        if (p->places[i].part == part) {
            p->places[i] = (flr_place){part, number, T_world_part};
            return true;
        }
    if (p->place_count == p->place_room) {
        uint32_t room = p->place_room ? 2 * p->place_room : 64;
        flr_place *places = realloc(p->places, room * sizeof *places);
        if (!places) return false;
        p->places = places;
        p->place_room = room;
    }
    p->places[p->place_count++] = (flr_place){part, number, T_world_part};
    return true;
}

/* ---- who is who ---- */

/* A member that the roll does not have is not known any more, but for who is about to be put in. */
static void forget_gone(flr_party *p)
{
    uint32_t kept = 0, count = p->roll.member_count;
    uint16_t last = count ? p->roll.members[count - 1].member : 0;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        // the card of a new one may come before the roll that has it
        bool coming = peer->member > last && !leads(p);
        if (!coming && !flr_roll_member_find(&p->roll, peer->member)) {
            flr_party_close_line(p, peer->line ? peer->line : peer->calling,
                                 "you are not a member any more");
            continue;
        }
        if (kept != i) p->peers[kept] = *peer;
        kept++;
    }
    p->peer_count = kept;
}

static flr_peer *know(flr_party *p, uint16_t member)
{
    flr_peer *peer = flr_party_peer(p, member);
    if (peer || p->peer_count == FLR_PARTY_MEMBERS) return peer;
    peer = &p->peers[p->peer_count++];
    *peer = (flr_peer){.member = member};
    snprintf(peer->name, sizeof peer->name, "member %u", member);
    // who is younger calls first: it knows that the older one can be reached
    peer->call_ns = flr_party_now(p) + (member > p->self ? FLR_PARTY_S : 0);
    return peer;
}

/* The member of this number is the one who chose this nonce, whoever had the number on this side before. */
static void know_as(flr_party *p, uint16_t member, uint64_t nonce)
{
    flr_peer *peer = know(p, member);
    if (!peer || peer->nonce == nonce) return;
    if (peer->nonce) {
        peer->line = 0;
        peer->address.family = 0;
        peer->claim_ns = 0;
    }
    peer->nonce = nonce;
}

static void send_card(flr_party *p, uint32_t line, const flr_peer *about)
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
    flr_party_push(p, line, &m, true);
}

void flr_party_on_card(flr_party *p, uint32_t line, const flr_msg_peer_card *card)
{
    flr_peer *from = flr_party_peer_of_line(p, line);
    bool welcome =
        line == p->target_line; /* cards may come before the roll that names the leader */
    if (!card->member || (!welcome && (!from || from->member != p->roll.epoch.leader))) return;
    flr_peer *peer = know(p, card->member);
    if (!peer) return;
    peer->role = card->role;
    peer->colour = card->colour;
    peer->nonce = card->nonce;
    snprintf(peer->name, sizeof peer->name, "%.*s", (int)card->name.size,
             card->name.size ? card->name.bytes : "");
    flr_address address;
    flr_lines_info info;
    if (card->address.size && flr_address_parse(card->address.bytes, 0, &address, NULL) == FLR_OK &&
        address.port) {
        peer->address = address;
    } else if (from == peer && flr_lines_get(p->lines, line, &info)) {
        peer->address = info.address;
    }
    flr_party_bind(p);
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PEOPLE, .member = card->member});
}

/* ---- being let in ---- */

static void refuse(flr_party *p, uint32_t line, flr_result code, const char *address,
                   const char *sentence)
{
    flr_message m = {.id = FLR_MSG_PEER_REFUSED};
    m.as.peer_refused = (flr_msg_peer_refused){.code = (uint8_t)code,
                                               .address = flr_wire_text_of(address),
                                               .sentence = flr_wire_text_of(sentence)};
    flr_party_push(p, line, &m, true);
}

/* Tells where everything is, in as many messages as it takes. */
static void welcome(flr_party *p, uint32_t line, uint16_t member)
{
    enum { AT_ONCE = 512 };
    static _Thread_local flr_wire_peer_place places[AT_ONCE];
    uint32_t words[4], sent = 0;
    hash_words(p->scene, words);
    do {
        uint32_t count = 0;
        for (; count < AT_ONCE && sent < p->place_count; count++, sent++) {
            const flr_place *place = &p->places[sent];
            places[count] = (flr_wire_peer_place){.part = place->part,
                                                  .bits = FLR_WIRE_PEER_REST,
                                                  .number = place->number,
                                                  .T_world_part = place->T_world_part};
        }
        flr_message m = {.id = FLR_MSG_PEER_WELCOME};
        m.as.peer_welcome = (flr_msg_peer_welcome){.session = p->session,
                                                   .member = member,
                                                   .bits = p->roll.relay ? FLR_WIRE_PEER_RELAY : 0,
                                                   .count = p->roll.epoch.count,
                                                   .leader = p->self,
                                                   .number = p->roll.number + 1,
                                                   .scene = words,
                                                   .scene_count = p->has_scene ? 4 : 0,
                                                   .places = places,
                                                   .places_count = count,
                                                   .more = sent < p->place_count};
        if (!flr_party_push(p, line, &m, true)) {
            // it asks again when nothing came
            flr_party_close_line(p, line, "there is no room for a welcome; try again");
            return;
        }
    } while (sent < p->place_count);
}

/* The member's line is this one from now on. */
static void bind_line(flr_party *p, flr_peer *peer, uint32_t line)
{
    flr_lines_info info;
    if (peer->calling && peer->calling != line) flr_lines_close(p->lines, peer->calling, NULL);
    peer->calling = 0;
    peer->line = line;
    peer->bye = false;
    if (flr_lines_get(p->lines, line, &info)) peer->address = info.address;
}

/* Where the session is full, who has been away longest is not expected back. */
static void make_room(flr_party *p)
{
    const flr_peer *longest = NULL;
    if (p->roll.member_count < FLR_PARTY_MEMBERS) return;
    for (uint32_t i = 0; i < p->peer_count; i++) {
        const flr_roll_member *m = flr_roll_member_find(&p->roll, p->peers[i].member);
        if (m && m->away && (!longest || p->peers[i].away_ns < longest->away_ns))
            longest = &p->peers[i];
    }
    if (!longest) return;
    flr_roll_remove(&p->roll, longest->member, p->def.where, p->def.context);
    forget_gone(p);
}

/* Nobody has the name of another who is here: the second Ada is "Ada 2". */
static void name_apart(flr_party *p, flr_peer *peer, flr_wire_text name)
{
    char wanted[FLR_PARTY_NAME + 1];
    snprintf(wanted, sizeof wanted, "%.*s", (int)name.size, name.size ? name.bytes : "");
    bool taken = true;
    for (uint32_t n = 1; taken && n <= FLR_PARTY_MEMBERS; n++) {
        // room for the number is made between characters
        flr_party_copy_name(peer->name, wanted, n == 1 ? FLR_PARTY_NAME : FLR_PARTY_NAME - 3);
        if (n > 1) snprintf(peer->name + strlen(peer->name), 4, " %u", n);
        taken = false;
        for (uint32_t i = 0; i < p->peer_count && !taken; i++) {
            const flr_peer *other = &p->peers[i];
            const flr_roll_member *entry = flr_roll_member_find(&p->roll, other->member);
            taken = other != peer && entry && !entry->away && !strcmp(other->name, peer->name);
        }
    }
}

void flr_party_on_join(flr_party *p, uint32_t line, const flr_msg_peer_join *join)
{
    if (p->phase == FLR_PHASE_SEEKING) {
        refuse(p, line, FLR_AGAIN, "", "the controller there is coming back to its session");
        return;
    }
    if (p->phase != FLR_PHASE_IN) {
        refuse(p, line, FLR_NOT_FOUND, "",
               "the controller there is in no session itself; ask one that shares");
        return;
    }
    const flr_roll_member *own = flr_roll_member_find(&p->roll, p->self);
    if (leads(p) && own && !own->ready) {
        refuse(p, line, FLR_AGAIN, "",
               "the session's scene is being loaded there; it comes when that is done");
        return;
    }
    if (!leads(p)) {
        char address[FLR_ADDRESS_TEXT_SIZE] = "";
        const flr_peer *leader = flr_party_peer(p, p->roll.epoch.leader);
        if (p->phase == FLR_PHASE_IN && leader && leader->line && leader->address.family)
            flr_address_print(leader->address, address);
        refuse(p, line, FLR_AGAIN, address, "this member does not lead; ask the one who does");
        return;
    }
    if (join->scene_count && p->has_scene && !flr_hash_equal(words_hash(join->scene), p->scene)) {
        refuse(p, line, FLR_BAD_INPUT, "",
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
        if (p->top == UINT16_MAX || p->peer_count == FLR_PARTY_MEMBERS ||
            !flr_roll_add(&p->roll, (uint16_t)(p->top + 1), join->nonce)) {
            refuse(p, line, FLR_TOO_LARGE, "", "the session is full; somebody must leave first");
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
    bind_line(p, peer, line);
    const flr_roll_member *entry = flr_roll_member_find(&p->roll, peer->member);
    bool was_away = entry && entry->away;
    if (again) {
        // it comes with empty hands, whether we had missed it or not; it may still believe that it owns something
        for (uint32_t i = 0; i < p->roll.part_count && !was_away; i++)
            if (flr_roll_owner(&p->roll.parts[i]) == peer->member) {
                p->roll.epoch.count++;
                break;
            }
        flr_roll_away(&p->roll, peer->member, p->def.where, p->def.context);
        flr_roll_back(&p->roll, peer->member);
    }
    welcome(p, line, peer->member);
    for (uint32_t i = 0; i < p->peer_count; i++) {
        send_card(p, line, &p->peers[i]);
        if (p->peers[i].line && p->peers[i].line != line) send_card(p, p->peers[i].line, peer);
    }
    flr_party_news(p,
                   was_away ? "%s is back"
                   : again  ? "%s is here again"
                            : "%s has joined",
                   peer->name);
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PEOPLE, .member = peer->member});
    flr_party_roll_changed(p);
}

/* Nothing that this side held before counts any more. */
static void drop_deeds(flr_party *p)
{
    for (uint32_t i = 0; i < p->deed_count; i++)
        if (p->deeds[i].holds)
            flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LOST, .part = p->deeds[i].part});
    p->deed_count = p->settled_count = 0;
}

void flr_party_on_welcome(flr_party *p, uint32_t line, const flr_msg_peer_welcome *welcome)
{
    if (line != p->target_line || !welcome->member) return;
    bool first = p->phase == FLR_PHASE_JOINING || p->phase == FLR_PHASE_SEEKING;
    if (first) {
        bool again = p->phase == FLR_PHASE_SEEKING;
        drop_deeds(p);
        p->place_count = 0;
        p->peer_count = 0;
        p->session = welcome->session;
        p->self = welcome->member;
        if (p->top < p->self) p->top = p->self;
        // rolls from before do not have this side
        p->roll = (flr_roll){.epoch = {welcome->count, welcome->leader},
                             .number = welcome->number ? welcome->number - 1 : 0};
        p->ahead_ns = 0;
        p->scene = welcome->scene_count ? words_hash(welcome->scene) : p->scene;
        p->has_scene = p->has_scene || welcome->scene_count;
        p->phase = FLR_PHASE_IN;
        p->leader_lost_ns = 0;
        // stands for the roll until one comes, so that cards and claims of the leader are believed
        flr_peer *leader = know(p, welcome->leader);
        bind_line(p, leader, line);
        flr_peer *self = know(p, p->self);
        self->nonce = p->nonce;
        snprintf(self->name, sizeof self->name, "%s", p->name);
        flr_party_tell(
            p, (flr_party_event){.kind = FLR_PARTY_IN, .member = p->self, .scene = p->scene});
        if (again) flr_party_news(p, "together with the others again: parts are as they have them");
        p->claim_now = true;
    }
    if (p->phase != FLR_PHASE_IN || welcome->session != p->session) return;
    for (uint32_t i = 0; i < welcome->places_count; i++) {
        const flr_wire_peer_place *place = &welcome->places[i];
        flr_party_put_place(p, place->part, place->number, place->T_world_part);
        flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PLACE,
                                            .part = place->part,
                                            .T_world_part = place->T_world_part});
    }
}

void flr_party_on_refused(flr_party *p, uint32_t line, const flr_msg_peer_refused *refused)
{
    if (line != p->target_line || (p->phase != FLR_PHASE_JOINING && p->phase != FLR_PHASE_SEEKING))
        return;
    flr_address address;
    p->target_line = 0;
    p->join_ns = flr_party_now(p) + FLR_PARTY_S / 2;
    if (refused->code == FLR_AGAIN) {
        if (refused->address.size &&
            flr_address_parse(refused->address.bytes, 0, &address, NULL) == FLR_OK &&
            !flr_address_equal(address, flr_party_address(p)))
            p->target = address, p->join_ns = 0;
        // what may take long is said, once
        if (!p->waits && !refused->address.size && refused->sentence.size)
            flr_party_news(p, "%s", refused->sentence.bytes);
        p->waits = p->waits || !refused->address.size;
        return;
    }
    flr_party_event event = {.kind = FLR_PARTY_REFUSED};
    snprintf(event.sentence, sizeof event.sentence, "%.*s", (int)refused->sentence.size,
             refused->sentence.size ? refused->sentence.bytes : "");
    flr_party_tell(p, event);
    if (p->phase == FLR_PHASE_JOINING) p->phase = FLR_PHASE_NONE;
}

/* Asks to be let in, where there is a line; otherwise calls. */
static void ask(flr_party *p, int64_t now)
{
    if (now < p->join_ns) return;
    flr_lines_info info;
    bool is = p->target_line && flr_lines_get(p->lines, p->target_line, &info);
    if (!is) {
        // a line that stands to that address already will do
        p->target_line = 0;
        for (uint32_t i = 0; i < p->open_count && !p->target_line; i++)
            if (flr_address_equal(p->open[i].address, p->target)) p->target_line = p->open[i].line;
        if (!p->target_line)
            p->target_line = flr_lines_call(p->lines, p->target, &p->nonce, sizeof p->nonce);
        is = p->target_line && flr_lines_get(p->lines, p->target_line, &info);
    }
    if (!is || !info.open) {
        p->join_ns = now + 50 * FLR_PARTY_MS;
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
    (void)flr_party_push(p, p->target_line, &m, true);
    p->join_ns = now + 5 * FLR_PARTY_S;
}

/* Another side of the session has won: ask its leader, or whoever told. */
static void seek(flr_party *p, uint16_t leader, uint32_t line)
{
    const flr_peer *to = flr_party_peer(p, leader);
    if (p->phase == FLR_PHASE_SEEKING) return;
    flr_lines_info info;
    p->phase = FLR_PHASE_SEEKING;
    p->seek_ns = flr_party_now(p);
    p->ahead_ns = 0;
    p->join_ns = 0;
    p->target_line = to && to->line ? to->line : line;
    if (flr_lines_get(p->lines, p->target_line, &info)) p->target = info.address;
}

/* ---- the roll ---- */

/* What of this side's deeds is in the roll. */
static void match_deeds(flr_party *p)
{
    const flr_roll_member *self = flr_roll_member_find(&p->roll, p->self);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->deed_count; i++) {
        const flr_deed *deed = &p->deeds[i];
        const flr_roll_part *part = flr_roll_part_find(&p->roll, deed->part);
        bool done = self && self->seen >= deed->serial;
        bool held = part && flr_roll_holds(part, p->self);
        if (done && deed->holds && !held)
            flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LOST, .part = deed->part});
        if (done && !(deed->holds && held)) continue;
        p->deeds[kept++] = *deed;
    }
    p->deed_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_roll_part *part = flr_roll_part_find(&p->roll, p->settled[i].part);
        if (part && part->number == p->settled[i].number && flr_roll_owes(part, p->self))
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

static bool same_part(const flr_roll_part *a, const flr_roll_part *b)
{
    return a->rest == b->rest && a->frozen == b->frozen && a->number == b->number &&
           a->holder_count == b->holder_count && a->unsettled_count == b->unsettled_count &&
           memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0 &&
           memcmp(a->holders, b->holders, a->holder_count * sizeof *a->holders) == 0 &&
           memcmp(a->unsettled, b->unsettled, a->unsettled_count * sizeof *a->unsettled) == 0;
}

static void tell_part(flr_party *p, uint32_t part)
{
    flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PART, .part = part});
}

/* Tells the user what is different from what it was told before. */
static void tell_changes(flr_party *p)
{
    const flr_roll *a = &p->told, *b = &p->roll;
    uint32_t i = 0, k = 0;
    while (i < a->part_count || k < b->part_count) {
        if (k == b->part_count || (i < a->part_count && a->parts[i].part < b->parts[k].part)) {
            tell_part(p, a->parts[i++].part);
        } else if (i == a->part_count || b->parts[k].part < a->parts[i].part) {
            tell_part(p, b->parts[k++].part);
        } else {
            if (!same_part(&a->parts[i], &b->parts[k])) tell_part(p, a->parts[i].part);
            i++, k++;
        }
    }
    bool members = a->member_count != b->member_count;
    for (i = 0; i < b->member_count && !members; i++)
        members = a->members[i].member != b->members[i].member ||
                  a->members[i].away != b->members[i].away ||
                  a->members[i].ready != b->members[i].ready;
    if (members) flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_PEOPLE});
    if (a->epoch.leader != b->epoch.leader) {
        const flr_peer *leader = flr_party_peer(p, b->epoch.leader);
        flr_party_tell(p, (flr_party_event){.kind = FLR_PARTY_LEADER, .member = b->epoch.leader});
        if (a->epoch.leader && leader)
            flr_party_news(p, "%s leads the session now",
                           leader->member == p->self ? "this controller" : leader->name);
    }
    p->told = p->roll;
}

void flr_party_roll_changed(flr_party *p)
{
    if (leads(p)) flr_roll_publish(&p->roll);
    for (uint32_t i = 0; i < p->roll.member_count; i++)
        if (p->top < p->roll.members[i].member) p->top = p->roll.members[i].member;
    for (uint32_t i = 0; i < p->roll.part_count; i++) {
        const flr_roll_part *part = &p->roll.parts[i];
        if (part->rest) flr_party_put_place(p, part->part, part->number, part->T_world_part);
    }
    match_deeds(p);
    forget_gone(p);
    tell_changes(p);
    // who leads tells everybody at once, the others that they have it
    for (uint32_t i = 0; i < p->peer_count; i++) p->peers[i].roll_ns = 0;
    p->claim_now = true;
}

/* What is settled at a place that another leader has put elsewhere, perhaps under the same number, is not. */
static void drop_moved(flr_party *p, flr_roll *newer)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->settled_count; i++) {
        const flr_roll_part *a = flr_roll_part_find(&p->roll, p->settled[i].part);
        const flr_roll_part *b = flr_roll_part_find(newer, p->settled[i].part);
        if (a && b && memcmp(&a->T_world_part, &b->T_world_part, sizeof a->T_world_part) == 0)
            p->settled[kept++] = p->settled[i];
    }
    p->settled_count = kept;
}

void flr_party_on_roll(flr_party *p, uint32_t line, const flr_msg_peer_roll *message)
{
    static _Thread_local flr_roll roll;
    if (p->phase != FLR_PHASE_IN || message->session != p->session) return;
    if (flr_roll_read(message, &roll, NULL) != FLR_OK) return;
    if (flr_roll_compare(&roll, &p->roll) <= 0) return;
    const flr_roll_member *self = flr_roll_member_find(&roll, p->self);
    // a roll that knows this side, and not somebody who got the same number from another leader; of its own leader or of one
    // who took over from it
    if (self && self->nonce == p->nonce && !self->away &&
        !(leads(p) && roll.epoch.leader != p->self)) {
        drop_moved(p, &roll);
        p->roll = roll;
        p->ahead_ns = 0;
        for (uint32_t i = 0; i < roll.member_count; i++)
            know_as(p, roll.members[i].member, roll.members[i].nonce);
        flr_party_bind(p);
        flr_peer *leader = flr_party_peer(p, roll.epoch.leader);
        p->leader_lost_ns = leader && leader->line ? 0 : flr_party_now(p);
        flr_party_roll_changed(p);
        return;
    }
    seek(p, roll.epoch.leader, line);
}

/* ---- claims ---- */

/* What a member does goes into the roll, each deed once. */
static void enter(flr_party *p, flr_roll_member *m, const flr_wire_peer_deed *deeds, uint32_t count,
                  uint32_t serial, bool all)
{
    const flr_peer *peer = flr_party_peer(p, m->member);
    bool may = peer && peer->role == FLR_WIRE_PEER_HAND; /* who only looks moves nothing */
    for (uint32_t i = 0; i < count && may; i++) {
        const flr_wire_peer_deed *deed = &deeds[i];
        if (deed->serial <= m->seen) continue;
        if (!(deed->bits & FLR_WIRE_PEER_HOLDS))
            flr_roll_release(&p->roll, m->member, deed->part, deed->T_world_part);
        else
            (void)flr_roll_hold(&p->roll, m->member, deed->part);
    }
    // a roll that is older than what its member was told before may have it hold what it has let go of
    // (but not what an old claim, late on its way, does not know of)
    for (uint32_t i = 0; all && serial >= m->seen && i < p->roll.part_count; i++) {
        flr_roll_part *part = &p->roll.parts[i];
        bool told = !flr_roll_holds(part, m->member);
        for (uint32_t k = 0; k < count && !told; k++) told = deeds[k].part == part->part;
        flr_pose pose = part->T_world_part;
        if (told) continue;
        if (p->def.where) (void)p->def.where(p->def.context, part->part, &pose);
        flr_roll_release(&p->roll, m->member, part->part, pose);
    }
    if (serial > m->seen) {
        m->seen = serial;
        p->roll.changed = true;
    }
}

void flr_party_own_deeds(flr_party *p)
{
    static _Thread_local flr_wire_peer_deed deeds[FLR_PARTY_DEEDS];
    flr_roll_member *self = flr_roll_member_find(&p->roll, p->self);
    if (!leads(p) || !self) return;
    for (uint32_t i = 0; i < p->deed_count; i++)
        deeds[i] = (flr_wire_peer_deed){.part = p->deeds[i].part,
                                        .serial = p->deeds[i].serial,
                                        .bits = p->deeds[i].holds ? FLR_WIRE_PEER_HOLDS : 0,
                                        .T_world_part = p->deeds[i].T_world_part};
    enter(p, self, deeds, p->deed_count, p->serial, true);
    for (uint32_t i = 0; i < p->settled_count; i++)
        flr_roll_settle(&p->roll, p->self, p->settled[i].part, p->settled[i].number);
    flr_roll_ready(&p->roll, p->self, p->ready);
    if (p->roll.changed) flr_party_roll_changed(p);
}

/* Somebody is in another epoch. Who is behind gets the roll; when a newer one does not come, this side asks for it by
 * asking to be let in. */
static void hear_epoch(flr_party *p, uint32_t line, flr_epoch epoch)
{
    int64_t now = flr_party_now(p);
    int newer = flr_epoch_compare(epoch, p->roll.epoch);
    if (newer < 0 && !flr_party_peer_of_line(p, line) && now >= p->stranger_ns) {
        flr_peer stranger = {.line = line};
        flr_party_send_roll(p, &stranger, now);
        p->stranger_ns = now + 100 * FLR_PARTY_MS;
    }
    if (newer <= 0 || epoch.leader == p->roll.epoch.leader) return;
    if (!p->ahead_ns)
        p->ahead_ns = now;
    else if (now - p->ahead_ns > 2 * FLR_PARTY_S)
        seek(p, epoch.leader, line);
}

void flr_party_on_claim(flr_party *p, uint32_t line, const flr_msg_peer_claim *claim)
{
    if (p->phase != FLR_PHASE_IN || claim->session != p->session || claim->member == p->self)
        return;
    flr_epoch epoch = {claim->count, claim->leader};
    hear_epoch(p, line, epoch);
    flr_peer *peer = flr_party_peer(p, claim->member);
    if (!peer) return;
    if (peer->line != line) {
        const flr_open *open = flr_party_open_line(p, line);
        if (flr_party_peer_of_line(p, line) || !open || open->nonce != peer->nonce) return;
        bind_line(p, peer, line);
    }
    peer->claim_ns = flr_party_now(p);
    peer->epoch = epoch;
    peer->number = claim->number;
    peer->heard_ms = claim->heard;
    peer->delay = flr_party_delay(claim->delay);
    flr_roll_member *m = flr_roll_member_find(&p->roll, claim->member);
    if (!leads(p) || !m || m->away || claim->leader != p->self) return;
    enter(p, m, claim->deeds, claim->deeds_count, claim->serial,
          !(claim->bits & FLR_WIRE_PEER_MORE));
    // a place may have been given by another leader under the same number
    bool same = claim->count == p->roll.epoch.count;
    for (uint32_t i = 0; same && i < claim->settled_count; i++)
        flr_roll_settle(&p->roll, m->member, claim->settled[i].part, claim->settled[i].number);
    flr_roll_ready(&p->roll, m->member, claim->bits & FLR_WIRE_PEER_READY);
    if (p->roll.changed) flr_party_roll_changed(p);
}

/* ---- who is not heard any more ---- */

static void lose(flr_party *p, flr_peer *peer, bool bye)
{
    const flr_roll_member *m = flr_roll_member_find(&p->roll, peer->member);
    if (!m || (m->away && !bye)) return;
    flr_party_news(p, bye ? "%s has left" : "%s is not heard any more: what it held is frozen",
                   peer->name);
    p->roll.epoch.count++;
    p->roll.changed = true;
    peer->away_ns = flr_party_now(p);
    if (bye)
        flr_roll_remove(&p->roll, peer->member, p->def.where, p->def.context);
    else
        flr_roll_away(&p->roll, peer->member, p->def.where, p->def.context);
    flr_party_roll_changed(p);
}

void flr_party_on_closed(flr_party *p, uint32_t line, flr_lines_cause cause, const char *why)
{
    int64_t now = flr_party_now(p);
    if (line == p->target_line) {
        p->target_line = 0;
        p->join_ns = now + FLR_PARTY_S / 2;
        // it was sent on to a leader that is not there any more: the others will notice, too
        bool sent_on =
            !flr_address_equal(p->target, p->host) && now - p->began_ns < 30 * FLR_PARTY_S;
        if (p->phase == FLR_PHASE_JOINING && sent_on) {
            p->target = p->host;
        } else if (p->phase == FLR_PHASE_JOINING && cause != FLR_LINES_REPLACED) {
            flr_party_event event = {.kind = FLR_PARTY_REFUSED};
            snprintf(event.sentence, sizeof event.sentence, "%s", why);
            flr_party_tell(p, event);
            p->phase = FLR_PHASE_NONE;
        }
    }
    for (uint32_t i = 0; i < p->peer_count; i++) {
        flr_peer *peer = &p->peers[i];
        if (peer->calling == line) {
            peer->calling = 0;
            peer->call_ns = now + FLR_PARTY_S;
        }
        if (peer->line != line) continue;
        peer->line = 0;
        peer->call_ns = now + (cause == FLR_LINES_BYE ? 2 : 0) * FLR_PARTY_S;
        if (cause == FLR_LINES_REPLACED) return; /* another one opens */
        peer->bye = cause == FLR_LINES_BYE;
        if (leads(p))
            lose(p, peer, peer->bye);
        else if (peer->member == p->roll.epoch.leader)
            p->leader_lost_ns = now;
        return;
    }
}

/* Is this side the one to lead, now that the leader is not heard? */
static bool should_lead(const flr_party *p, int64_t now)
{
    const flr_peer *leader = flr_party_peer((flr_party *)p, p->roll.epoch.leader);
    bool left = leader && leader->bye;
    // one without the scene has nothing to give to who joins; it goes on calling
    if (!p->ready) return false;
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member *m = &p->roll.members[i];
        const flr_peer *peer = flr_party_peer((flr_party *)p, m->member);
        if (m->away || m->member == p->self || !peer || !peer->line) continue;
        if (m->member < p->self && m->ready) return false; /* an older one is there */
        if (peer->claim_ns == 0 || left) continue;
        // somebody hears the leader: then this side is the one who is cut off
        int64_t heard = peer->heard_ms * FLR_PARTY_MS + (now - peer->claim_ns);
        if (heard < 2 * FLR_PARTY_S) return false;
        // it has a newer roll, and sends it
        if (flr_epoch_compare(peer->epoch, p->roll.epoch) == 0 && peer->number > p->roll.number &&
            now - p->leader_lost_ns < FLR_PARTY_S)
            return false;
    }
    return true;
}

static void take_over(flr_party *p, int64_t now)
{
    flr_epoch epoch = {p->roll.epoch.count + 1, p->self};
    uint16_t gone[FLR_PARTY_MEMBERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member *m = &p->roll.members[i];
        flr_peer *peer = flr_party_peer(p, m->member);
        if (m->member == p->self || (peer && peer->line)) continue;
        if (peer && !m->away) peer->away_ns = now;
        gone[count++] = m->member;
    }
    p->roll.epoch = epoch;
    p->roll.changed = true;
    p->leader_lost_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_peer *peer = flr_party_peer(p, gone[i]);
        if (peer && peer->bye)
            flr_roll_remove(&p->roll, gone[i], p->def.where, p->def.context);
        else
            flr_roll_away(&p->roll, gone[i], p->def.where, p->def.context);
    }
    flr_party_roll_changed(p);
    flr_party_own_deeds(p);
}

void flr_party_lead_service(flr_party *p, int64_t now)
{
    if (p->phase == FLR_PHASE_JOINING || p->phase == FLR_PHASE_SEEKING) ask(p, now);
    // the one who was to let it in is gone again: then things are as they were before
    if (p->phase == FLR_PHASE_SEEKING && now - p->seek_ns > 8 * FLR_PARTY_S)
        p->phase = FLR_PHASE_IN;
    if (p->phase != FLR_PHASE_IN || p->roll.member_count == 0) return;
    if (!leads(p)) {
        const flr_peer *leader = flr_party_peer(p, p->roll.epoch.leader);
        if (leader && leader->line)
            p->leader_lost_ns = 0;
        else if (!p->leader_lost_ns)
            p->leader_lost_ns = now;
        // one that is only called the first time may take its time
        int64_t wait = leader && leader->bye ? 0 : leader && leader->claim_ns ? 0 : 5 * FLR_PARTY_S;
        if (p->leader_lost_ns && now - p->leader_lost_ns >= wait && should_lead(p, now))
            take_over(p, now);
        return;
    }
    for (uint32_t i = 0; i < p->roll.member_count; i++) {
        const flr_roll_member m = p->roll.members[i];
        flr_peer *peer = flr_party_peer(p, m.member);
        if (peer && !m.away && m.member != p->self && !peer->line) {
            // one line was to take another's place, and did not
            if (!peer->lineless_ns) peer->lineless_ns = now;
            if (now - peer->lineless_ns > 3 * FLR_PARTY_S) {
                peer->lineless_ns = 0;
                lose(p, peer, false);
                break;
            }
        } else if (peer) {
            peer->lineless_ns = 0;
        }
        if (!m.away || !peer) continue;
        double away = (double)(now - peer->away_ns) * 1e-9;
        if (away > p->def.absence) flr_roll_thaw(&p->roll, m.member);
        if (away > p->def.forget) flr_roll_remove(&p->roll, m.member, p->def.where, p->def.context);
        if (!p->roll.changed) continue;
        flr_party_roll_changed(p);
        break;
    }
}
