/* a shared engine: parts, hands and remote couplings */
#include "collab/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collab/share_internal.h"

static const double still_s = 0.3; /* a part that moves by itself has come to rest */
static const double slow = 1e-4;   /* m/s, rad/s */
static const double yield_s = 0.3; /* in which a part must get to its place where the leader is */
static const double gives = 2e-7;  /* m, rad */
static const double rounds = 1e-9; /* m, rad: by what joints and rigid groups place a part anew */
static const double stuck = 0.01;  /* m/s, rad/s: slower than this, it will not get there */

flr_share_def flr_default_share_def(void)
{
    return (flr_share_def){.colour = UINT32_MAX,
                           .rate = 100,
                           .patience = 10,
                           .name = "",
                           .scene_limit = (uint64_t)2 << 30};
}

int64_t flr_share_now(const flr_share *share) { return flr_clock_ns(share->def.env); }

static const flr_engine_part_state *state_of(const flr_engine_state *state, flr_part_id id)
{
    uint32_t at = flr_engine_state_find(state, id);
    return at == FLR_ENGINE_NONE ? NULL : &state->parts[at];
}

static bool where(void *context, uint32_t part, flr_pose *pose)
{
    const flr_share *s = context;
    // not as the engine shows it: that may be a recording, or stand still
    if (part < s->part_count) *pose = s->parts[part].seen;
    return part < s->part_count;
}

flr_result flr_share_create(const flr_share_def *def, flr_share **share, flr_error *error)
{
    flr_share *s = calloc(1, sizeof *s);
    if (!s) return flr_fail(error, FLR_NO_MEMORY, "no memory for a shared session");
    s->def = *def;
    flr_session_def session = flr_default_session_def();
    session.env = def->env;
    session.local = def->local;
    session.token = def->token;
    session.name = def->name;
    session.colour = def->colour;
    session.role = def->watcher ? FLR_WIRE_PEER_WATCHER : FLR_WIRE_PEER_HAND;
    session.relay = def->relay;
    session.rate = def->rate;
    session.where = where;
    session.context = s;
    flr_result result = FLR_OK;
    if (def->folder && !(s->folder = strdup(def->folder)))
        result = flr_fail(error, FLR_NO_MEMORY, "no memory for a shared session");
    if (result == FLR_OK) result = flr_session_create(&session, &s->session, error);
    if (result != FLR_OK) {
        free(s->folder);
        free(s);
        return result;
    }
    s->def.token = s->def.name = s->def.folder = NULL;
    if (def->join)
        flr_session_join(s->session, def->host);
    else
        flr_session_lead(s->session);
    *share = s;
    return FLR_OK;
}

void flr_share_destroy(flr_share *share)
{
    if (!share) return;
    flr_session_destroy(share->session);
    flr_share_scene_free(share);
    free(share->folder);
    free(share->parts);
    free(share);
}

flr_socket *flr_share_socket(const flr_share *share) { return flr_session_socket(share->session); }

flr_address flr_share_address(const flr_share *share)
{
    return flr_session_address(share->session);
}

flr_session *flr_share_session(flr_share *share) { return share->session; }

bool flr_share_ready(const flr_share *share)
{
    return share->phase == FLR_SHARE_READY && flr_session_is_in(share->session);
}

bool flr_share_failed(const flr_share *share, const char **sentence)
{
    *sentence = share->sentence;
    return share->phase == FLR_SHARE_FAILED;
}

const flr_share_stats *flr_share_get_stats(const flr_share *share) { return &share->stats; }

uint32_t flr_share_changes(const flr_share *share) { return share->changes; }

/* ---- parts ---- */

/* Parts that move together have the same island, the first of them. Neither groups nor joints change while a session is shared. */
static void find_islands(flr_share *s)
{
    bool *linked = calloc((size_t)s->part_count + 1, sizeof *linked);
    for (uint32_t i = 0; i < s->part_count; i++) s->parts[i].island = i;
    for (uint32_t i = 0; linked && i < s->part_count; i++) {
        if (s->parts[i].island != i || !flr_engine_linked(s->def.engine, i, linked)) continue;
        for (uint32_t k = i; k < s->part_count; k++)
            if (linked[k])
                s->parts[k].island = i, s->parts[k].linked = s->parts[i].linked |= k != i;
    }
    free(linked);
}

void flr_share_take_parts(flr_share *s)
{
    flr_engine_scene scene;
    flr_engine_get_scene(s->def.engine, &scene);
    flr_shared_part *parts = calloc(scene.parts ? scene.parts : 1, sizeof *parts);
    if (!parts) return;
    free(s->parts);
    s->parts = parts;
    s->part_count = 0;
    flr_engine_part part;
    for (uint32_t i = 0; i < scene.parts && flr_engine_part_at(s->def.engine, i, &part); i++) {
        flr_shared_part *p = &s->parts[s->part_count];
        *p = (flr_shared_part){.id = part.part,
                               .leader = flr_engine_body_of(s->def.engine, i),
                               .kind = part.kind,
                               .voxel = part.voxel,
                               .known = part.T_world_part,
                               .seen = part.T_world_part};
        // what has been moved before this side had the scene
        if (flr_session_place(s->session, s->part_count, &p->known)) {
            p->placing = true;
            p->seen = p->known;
            (void)flr_engine_place(s->def.engine, p->id, p->known, NULL);
        }
        s->part_count++;
    }
    find_islands(s);
}

static uint32_t place_of(const flr_share *s, flr_part_id id)
{
    for (uint32_t i = 0; i < s->part_count; i++)
        if (flr_same_part(s->parts[i].id, id)) return i;
    return FLR_ENGINE_NONE;
}

/* Is a part, or one of its rigid group, in a hand here? */
static bool held_here(const flr_share *s, const flr_engine_state *state, uint32_t part)
{
    for (uint32_t h = 0; h < state->hand_count; h++) {
        const uint32_t held = place_of(s, state->hands[h].held);
        if (held != FLR_ENGINE_NONE && s->parts[held].leader == part) return true;
    }
    return false;
}

/* ---- what the engine shows ---- */

/* Places that come from several sites need not fit each other: of parts that were pressed together each was let go where its
 * holder saw it. So all that does not fit comes from one world, the leader's: what cannot get to its place there stays where it is. */
static void yield(flr_share *s, flr_shared_part *p, const flr_membership_part *entry,
                  const flr_engine_part_state *body)
{
    int64_t now = flr_share_now(s);
    double since = 1e-9 * (double)(now - p->moved_ns);
    bool lies =
        flr_vec3_length(body->twist.linear) < stuck && flr_vec3_length(body->twist.angular) < stuck;
    if (!flr_session_hosts(s->session) || since < (lies ? yield_s : 2 * yield_s)) return;
    p->moved_ns = now;
    flr_session_move(s->session, entry->part, entry->number, body->T_world_part);
}

/* While nothing moves here, nothing takes too long. */
static void stand_still(flr_share *s)
{
    for (uint32_t i = 0; i < s->part_count; i++)
        if (s->parts[i].homing_ns) s->parts[i].homing_ns = s->parts[i].moved_ns = flr_share_now(s);
}

/* Reports that a part has arrived where it was released. When that takes too long, contact no longer stops it. */
static void bring_home(flr_share *s, const flr_engine_state *state)
{
    for (uint32_t i = 0; i < state->coupling_count; i++) {
        const flr_engine_coupling_state *t = &state->couplings[i];
        flr_shared_coupling *mine =
            t->coupling < FLR_WORLD_REMOTE_COUPLINGS ? &s->couplings[t->coupling] : NULL;
        if (!mine || !mine->used || !flr_same_part(s->parts[mine->part].id, t->part)) continue;
        flr_shared_part *p = &s->parts[mine->part];
        if (mine->diverged != t->diverged && !mine->rest) {
            mine->diverged = t->diverged;
            flr_share_tell_diverged(s, mine->part);
        }
        flr_membership_part entry;
        if (!mine->rest || !flr_session_part(s->session, mine->part, &entry) ||
            entry.number != mine->number)
            continue;
        const flr_engine_part_state *body = state_of(state, p->id);
        bool there = body && memcmp(&body->T_world_part, &entry.T_world_part,
                                    sizeof body->T_world_part) == 0;
        if (t->settled && there) {
            // and there it stays, though another that is not home yet may push it
            p->known = entry.T_world_part;
            p->placing = true;
            flr_session_settle(s->session, mine->part, entry.number);
            continue;
        }
        if (body && p->homing_ns) yield(s, p, &entry, body);
        if (p->homing_ns && !p->ghost &&
            flr_share_now(s) - p->homing_ns > (int64_t)(s->def.patience * 1e9)) {
            flr_share_set_solid(s, p, false);
            flr_engine_news(s->def.engine, FLR_WIRE_EVENT_WARNING, p->id, FLR_NO_HAND_ID,
                            "the way to where it was let go is not free here: it passes through");
        }
    }
}

static bool is_moving(const flr_engine_part_state *body)
{
    return flr_vec3_length(body->twist.linear) > slow ||
           flr_vec3_length(body->twist.angular) > slow;
}

static bool is_at(const flr_engine_part_state *body, flr_pose place, double within)
{
    return flr_vec3_distance(body->T_world_part.p, place.p) < within &&
           flr_quat_angle(body->T_world_part.q, place.q) < within;
}

/* A part that nobody holds and that is elsewhere than all think: it was placed, or it moves by itself. */
static void notice(flr_share *s, uint32_t part, const flr_engine_part_state *body, int64_t now)
{
    flr_shared_part *p = &s->parts[part];
    flr_membership_part entry;
    // what lies by its own weight gives way by some bits
    bool there = memcmp(&body->T_world_part, &p->known, sizeof p->known) == 0 ||
                 (p->kind == FLR_PART_FREE && is_at(body, p->known, gives)) ||
                 (p->linked && is_at(body, p->known, rounds));
    bool in = flr_session_part(s->session, part, &entry);
    if (in && memcmp(&entry.T_world_part, &p->known, sizeof p->known) != 0) p->placing = false;
    if (p->placing && !there) {
        // the loop may have rounded it; or it did not have the part yet
        there = is_at(body, p->known, 1e-9);
        if (there) p->known = body->T_world_part;
        if (!there && now > p->place_ns) {
            (void)flr_engine_place(s->def.engine, p->id, p->known, NULL);
            p->place_ns = now + INT64_C(100000000);
        }
    }
    if (there && !in) p->placing = false;
    if (p->placing || in) return;
    if (there) return;
    if (p->kind == FLR_PART_FREE && !flr_session_hosts(s->session)) {
        // the leader will send where it falls, and has sent where it lies
        p->placing = !is_moving(body);
        return;
    }
    if (flr_session_may_hold(s->session, part)) {
        flr_session_hold(s->session, part);
        p->kept = true;
        p->still_ns = now;
    } else if (s->def.watcher) {
        // who only looks moves nothing
        p->placing = true;
        p->place_ns = 0;
    }
}

/* Is a part carried by another one of its island? Then it is not moved by itself, and only those who hold the other one tell where
 * it lies, when that lies. */
static bool is_carried(flr_share *s, const flr_engine_state *state, uint32_t part)
{
    flr_shared_part *p = &s->parts[part];
    const flr_membership *membership = flr_session_membership(s->session);
    bool carried = false, ours = false, theirs = false;
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *entry = &membership->parts[i];
        if (entry->part == part || entry->part >= s->part_count ||
            s->parts[entry->part].island != p->island)
            continue;
        carried = true;
        ours |= flr_session_claims(s->session, entry->part);
        theirs |= entry->holder_count > 0;
    }
    for (uint32_t h = 0; h < state->hand_count; h++) {
        const uint32_t held = place_of(s, state->hands[h].held);
        if (held == FLR_ENGINE_NONE || held == part || s->parts[held].island != p->island) continue;
        carried = ours = true;
    }
    if (ours || theirs) p->ours = ours;
    return carried;
}

/* What hands here hold, and what moves by itself, against what the session knows. */
static void tell_holds(flr_share *s, const flr_engine_state *state)
{
    int64_t now = flr_share_now(s);
    for (uint32_t i = 0; i < s->part_count; i++) {
        flr_shared_part *p = &s->parts[i];
        if (p->kind == FLR_PART_STATIC) continue;
        const flr_engine_part_state *body = state_of(state, p->id);
        if (!body) continue;
        if (!state->paused) p->seen = body->T_world_part;
        if (p->leader != i) { // a rigid group is where its first part is
            p->known = body->T_world_part;
            continue;
        }
        bool held = held_here(s, state, i), claims = flr_session_claims(s->session, i);
        if (!held) p->lost = false;
        if (held && !claims && !p->lost) {
            flr_session_hold(s->session, i);
            flr_share_match(s, i);
        } else if (held) {
            p->kept = false;
        } else if (claims) {
            if (!p->kept) p->still_ns = now;
            p->kept = true;
            // one that falls is let go of when it lies
            if (p->kind == FLR_PART_FREE && is_moving(body)) p->still_ns = now;
            bool lies = p->kind != FLR_PART_FREE || now - p->still_ns > (int64_t)(still_s * 1e9);
            if (!lies) continue;
            p->kept = false;
            p->known = body->T_world_part;
            flr_session_release(s->session, i, body->T_world_part);
            flr_share_match(s, i);
        } else if (is_carried(s, state, i)) {
            p->carried = true;
            p->placing = false;
            if (!p->ours) p->known = body->T_world_part;
        } else {
            if (p->carried && !p->ours) p->known = body->T_world_part;
            p->carried = false;
            notice(s, i, body, now);
        }
    }
}

static void show(flr_share *s, const flr_engine_state *state)
{
    flr_wire_peer_hand hands[8];
    static _Thread_local flr_wire_peer_part parts[FLR_SESSION_SHOWN];
    static _Thread_local flr_wire_peer_energy energies[FLR_SESSION_SHOWN];
    uint32_t hand_count = 0, part_count = 0, energy_count = 0;
    for (uint32_t h = 0; h < state->hand_count && hand_count < 8; h++) {
        const flr_engine_hand_state *hand = &state->hands[h];
        if (!(hand->bits & FLR_WIRE_HAND_PRESENT)) continue;
        hands[hand_count++] = (flr_wire_peer_hand){
            .hand = h,
            .held = flr_is_part(hand->held) ? place_of(s, hand->held) : UINT32_MAX,
            .T_world_hand = hand->T_world_hand};
    }
    for (uint32_t i = 0; i < s->part_count && part_count < FLR_SESSION_SHOWN; i++) {
        if (!flr_session_claims(s->session, i)) continue;
        const flr_engine_part_state *body = state_of(state, s->parts[i].id);
        if (!body) continue;
        flr_vec3 w = body->twist.angular, v = body->twist.linear;
        parts[part_count++] = (flr_wire_peer_part){
            .part = i,
            .bits = body->look == FLR_WIRE_LOOK_COLLIDING ? FLR_WIRE_PEER_TOUCHING : 0,
            .T_world_part = body->T_world_part,
            .angular = {(float)w.x, (float)w.y, (float)w.z},
            .linear = {(float)v.x, (float)v.y, (float)v.z},
            .voxel = (float)s->parts[i].voxel};
    }
    for (uint32_t i = 0; i < state->coupling_count && energy_count < FLR_SESSION_SHOWN; i++) {
        const flr_shared_coupling *t = &s->couplings[state->couplings[i].coupling];
        if (t->used && t->mutual)
            energies[energy_count++] = (flr_wire_peer_energy){
                .part = t->part, .member = t->member, .put = state->couplings[i].put};
    }
    flr_session_show(s->session, hands, hand_count, parts, part_count, energies, energy_count);
}

/* ---- what the others do ---- */

static void on_hands(flr_share *s, const flr_session_event *event)
{
    const flr_msg_peer_state *state = event->state;
    if (!state->hands_count && (state->parts_count || state->energies_count)) return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->hand_count; i++)
        if (s->hands[i].member != event->member) s->hands[kept++] = s->hands[i];
    s->hand_count = kept;
    for (uint32_t i = 0; i < state->hands_count && s->hand_count < FLR_SHARE_HANDS; i++) {
        const flr_wire_peer_hand *h = &state->hands[i];
        s->hands[s->hand_count++] = (flr_share_hand){
            .member = event->member,
            .hand = h->hand,
            .held = h->held < s->part_count ? s->parts[h->held].id : FLR_NO_PART_ID,
            .T_world_hand = h->T_world_hand};
    }
}

/* Forces would be unfair where voxels are not of one size (McNeely 2005, section 6.1). */
static void compare_voxels(flr_share *s, uint16_t member, const flr_wire_peer_part *part)
{
    flr_shared_part *p = &s->parts[part->part];
    double there = part->voxel;
    if (p->odd || !(there > 0) || !(p->voxel > 0)) return;
    if (there > 0.999 * p->voxel && there < 1.001 * p->voxel) return;
    flr_session_person person;
    bool known = flr_session_person_find(s->session, member, &person);
    p->odd = true;
    flr_engine_news(s->def.engine, FLR_WIRE_EVENT_WARNING, p->id, FLR_NO_HAND_ID,
                    "%s touches with voxels of %g mm where there are %g mm here: the finer side "
                    "pushes before it is pushed",
                    known ? person.name : "another member", there * 1e3, p->voxel * 1e3);
}

static void on_state(flr_share *s, const flr_session_event *event)
{
    const flr_msg_peer_state *state = event->state;
    uint16_t self = flr_session_self(s->session);
    int64_t age = flr_share_now(s) - event->sent_ns;
    s->stats.heard++;
    flr_histogram_add(&s->stats.arrival, age > 0 ? (uint64_t)age : 0);
    on_hands(s, event);
    for (uint32_t i = 0; i < state->energies_count; i++) {
        const flr_wire_peer_energy *e = &state->energies[i];
        uint32_t at = e->member == self ? flr_share_find_coupling(s, e->part, event->member)
                                        : FLR_WORLD_REMOTE_COUPLINGS;
        if (at < FLR_WORLD_REMOTE_COUPLINGS && e->put > s->couplings[at].put)
            s->couplings[at].put = e->put;
    }
    for (uint32_t i = 0; i < state->parts_count; i++) {
        const flr_wire_peer_part *part = &state->parts[i];
        if (part->part >= s->part_count) continue;
        s->parts[part->part].seen = part->T_world_part;
        uint32_t at = flr_share_find_coupling(s, part->part, event->member);
        if (at == FLR_WORLD_REMOTE_COUPLINGS) continue;
        compare_voxels(s, event->member, part);
        s->couplings[at].T_world_part = part->T_world_part;
        flr_engine_coupling_sample sample = {
            .sent_ns = event->sent_ns,
            .T_world_part = part->T_world_part,
            .twist = {{part->angular.x, part->angular.y, part->angular.z},
                      {part->linear.x, part->linear.y, part->linear.z}},
            .put = s->couplings[at].put};
        (void)flr_engine_coupling_input(s->def.engine, at, &sample, NULL);
    }
}

/* This side may not hold it, or what it did with it is not known to the others. */
static void on_lost(flr_share *s, uint32_t part)
{
    const flr_engine_state *state = flr_engine_view(s->def.engine);
    if (part >= s->part_count) return;
    flr_shared_part *p = &s->parts[part];
    flr_membership_part entry;
    const flr_membership *membership = flr_session_membership(s->session);
    bool in = flr_session_part(s->session, part, &entry), held = false;
    bool full = !in && membership->part_count >= flr_membership_max_parts(membership);
    p->kept = false;
    for (uint32_t h = 0; h < state->hand_count; h++) {
        if (!flr_same_part(state->hands[h].held, p->id)) continue;
        held = p->lost = true;
        (void)flr_engine_release(s->def.engine, flr_hand(h), NULL);
        flr_engine_news(s->def.engine, FLR_WIRE_EVENT_WARNING, p->id, flr_hand(h),
                        "this part cannot be held now: %s",
                        in && entry.frozen ? "who held it before is not heard"
                        : in && entry.holder_count == FLR_SESSION_HOLDERS
                            ? "as many hold it already as can"
                        : full ? "too many parts are held or on their way; take it "
                                 "again when some of them lie"
                               : "this controller was away");
    }
    // it is where the others have it or, when there is room, they receive its pose from whoever notices the difference
    (void)flr_session_place(s->session, part, &p->known);
    if (full && !held)
        flr_engine_news(s->def.engine, FLR_WIRE_EVENT_WARNING, p->id, FLR_NO_HAND_ID,
                        "too many parts are held or on their way: the others see where this one "
                        "lies when some of them have come to rest");
    flr_share_match(s, part);
}

static void on_place(flr_share *s, const flr_session_event *event)
{
    if (event->part >= s->part_count) return;
    flr_shared_part *p = &s->parts[event->part];
    p->known = event->T_world_part;
    p->placing = true;
    (void)flr_engine_place(s->def.engine, p->id, p->known, NULL);
}

static void on_message(flr_share *s, const flr_session_event *event)
{
    const flr_message *m = event->message;
    if (flr_share_scene_message(s, event->member, m) ||
        flr_share_params_message(s, event->member, m))
        return;
    if (m->id == FLR_MSG_PEER_NOTE && m->as.peer_note.sentence.size)
        FLR_ENGINE_NOTE(s->def.engine, "%s", m->as.peer_note.sentence.bytes);
}

/* Somebody who is not there any more has no hands. */
static void drop_hands(flr_share *s)
{
    uint32_t kept = 0;
    flr_session_person person;
    for (uint32_t i = 0; i < s->hand_count; i++)
        if (flr_session_person_find(s->session, s->hands[i].member, &person) && !person.away)
            s->hands[kept++] = s->hands[i];
    s->hand_count = kept;
}

static void take_event(flr_share *s, const flr_session_event *event)
{
    switch (event->kind) {
    case FLR_SESSION_IN:
        s->scene = event->scene;
        flr_share_scene_in(s);
        s->changes++;
        break;
    case FLR_SESSION_REFUSED:
        if (s->phase == FLR_SHARE_NONE) {
            s->phase = FLR_SHARE_FAILED;
            snprintf(s->sentence, sizeof s->sentence, "%s", event->sentence);
        }
        break;
    case FLR_SESSION_PLACE:
        on_place(s, event);
        break;
    case FLR_SESSION_PEOPLE:
    case FLR_SESSION_LEADER:
        drop_hands(s);
        s->changes++;
        break;
    case FLR_SESSION_PART:
        if (event->part < s->part_count) flr_share_match(s, event->part);
        s->changes++;
        break;
    case FLR_SESSION_LOST:
        on_lost(s, event->part);
        break;
    case FLR_SESSION_STATE:
        on_state(s, event);
        break;
    case FLR_SESSION_MESSAGE:
        on_message(s, event);
        break;
    case FLR_SESSION_NEWS:
        FLR_ENGINE_NOTE(s->def.engine, "%s", event->sentence);
        break;
    }
}

void flr_share_event(flr_share *s, const flr_engine_event *event)
{
    if (event->kind == FLR_ENGINE_EVENT_JOB) flr_share_scene_job(s, &event->job);
    if (event->kind == FLR_ENGINE_EVENT_PARAMETER || event->kind == FLR_ENGINE_EVENT_RESYNC)
        s->params_new = true;
}

int64_t flr_share_service(flr_share *s)
{
    flr_session_event event;
    s->stats.rounds++;
    while (flr_session_next(s->session, &event)) take_event(s, &event);
    flr_share_scene_service(s);
    flr_share_params_service(s);
    const flr_engine_state *state = flr_engine_view(s->def.engine);
    bool fresh = state->frame != s->shown_frame;
    if (state->paused || state->replaying) stand_still(s);
    if (flr_share_ready(s) && !state->replaying && (fresh || !s->def.barrier)) {
        bring_home(s, state);
        tell_holds(s, state);
        // remote couplings that did not get through to the loop
        for (uint32_t i = 0; i < flr_session_membership(s->session)->part_count; i++) {
            uint32_t part = flr_session_membership(s->session)->parts[i].part;
            if (part < s->part_count) flr_share_match(s, part);
        }
        if (fresh) show(s, state);
        s->stats.sent += fresh;
        s->shown_frame = state->frame;
    }
    return flr_session_service(s->session);
}

void flr_share_tell_held(flr_share *s, flr_part_id part)
{
    const flr_membership *membership = flr_session_membership(s->session);
    uint16_t self = flr_session_self(s->session);
    for (uint32_t i = 0; i < membership->part_count; i++) {
        const flr_membership_part *entry = &membership->parts[i];
        if (entry->part >= s->part_count) continue;
        flr_part_id id = s->parts[entry->part].id;
        uint32_t k = 0;
        while (k < entry->holder_count && entry->holders[k] == self) k++;
        if (k == entry->holder_count || (flr_is_part(part) && !flr_same_part(part, id))) continue;
        flr_session_person person;
        bool known = flr_session_person_find(s->session, entry->holders[k], &person);
        flr_engine_news(s->def.engine, FLR_WIRE_EVENT_NOTE, id, FLR_NO_HAND_ID,
                        "this part stays where it is: %s holds it",
                        known ? person.name : "another member");
    }
}

/* ---- looking ---- */

bool flr_share_hand_at(const flr_share *s, uint32_t index, flr_share_hand *hand)
{
    if (index >= s->hand_count) return false;
    *hand = s->hands[index];
    return true;
}

bool flr_share_part_at(const flr_share *s, uint32_t index, flr_share_part *part)
{
    const flr_membership *membership = flr_session_membership(s->session);
    if (index >= membership->part_count || membership->parts[index].part >= s->part_count)
        return false;
    const flr_membership_part *entry = &membership->parts[index];
    const flr_shared_part *p = &s->parts[entry->part];
    *part = (flr_share_part){.part = p->id,
                             .holder_count = entry->holder_count,
                             .diverged = p->diverged,
                             .frozen = entry->frozen,
                             .homing = p->homing_ns,
                             .ghost = p->ghost};
    memcpy(part->holders, entry->holders, sizeof part->holders);
    return true;
}

uint32_t flr_share_instances(const flr_share *s, flr_share_instance *instances, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FLR_WORLD_REMOTE_COUPLINGS && count < capacity; i++) {
        const flr_shared_coupling *t = &s->couplings[i];
        if (!t->used || t->rest || !t->diverged) continue;
        instances[count++] = (flr_share_instance){
            .part = s->parts[t->part].id, .member = t->member, .T_world_part = t->T_world_part};
    }
    return count;
}
