/* parameters of a shared session: the same for all members, in the order in which the leader received them. A member that
 * sets one applies it at once and sends it to the leader, which sends it to all members, the sender included. Until its own
 * comes back, a member ignores what others set before. So values never alternate, and in the end all have the last one. */
#include <math.h>
#include <string.h>

#include "collab/share_internal.h"

static uint32_t count_of(const flr_share *s)
{
    uint32_t count = flr_engine_parameters(s->def.engine);
    return count < FLR_SHARE_PARAMS ? count : FLR_SHARE_PARAMS;
}

static double value_of(const flr_share *s, uint32_t index)
{
    flr_engine_parameter parameter = {0};
    (void)flr_engine_parameter_at(s->def.engine, index, &parameter);
    return parameter.value;
}

/* FLR_SHARE_PARAMS: there is none, as when the other runs another version. */
static uint32_t find(const flr_share *s, const char *name)
{
    flr_engine_parameter parameter;
    for (uint32_t i = 0; i < count_of(s) && flr_engine_parameter_at(s->def.engine, i, &parameter);
         i++)
        if (strcmp(parameter.name, name) == 0) return i;
    return FLR_SHARE_PARAMS;
}

/* `to` 0: everybody. `origin`: who has set it. */
static flr_result tell(flr_share *s, uint16_t to, uint32_t index, uint16_t origin)
{
    flr_engine_parameter parameter;
    if (!flr_engine_parameter_at(s->def.engine, index, &parameter)) return FLR_OK;
    flr_message m = {.id = FLR_MSG_PEER_SET};
    m.as.peer_set.name = flr_wire_text_of(parameter.name);
    m.as.peer_set.value = parameter.value;
    m.as.peer_set.member = origin;
    m.as.peer_set.count = flr_session_epoch(s->session).count;
    return flr_session_send(s->session, to, &m);
}

/* As others want it. One may change another with it; neither is news from here. */
static void apply(flr_share *s, const flr_msg_peer_set *set)
{
    double before[FLR_SHARE_PARAMS];
    uint32_t count = count_of(s);
    for (uint32_t i = 0; i < count; i++) before[i] = value_of(s, i);
    if (flr_engine_set(s->def.engine, set->name.bytes, set->value, NULL) != FLR_OK) return;
    for (uint32_t i = 0; i < count; i++)
        if (value_of(s, i) != before[i]) s->params[i].known = value_of(s, i);
}

/* Nobody has got them, as far as is known. */
static void tell_all_again(flr_share *s)
{
    s->informed_count = 0;
    s->params_owed = true;
}

void flr_share_params_begin(flr_share *s)
{
    for (uint32_t i = 0; i < count_of(s); i++)
        s->params[i] = (flr_shared_param){.known = value_of(s, i)};
    tell_all_again(s);
}

static bool may_set(const flr_share *s, uint16_t member)
{
    flr_session_person person;
    return flr_session_person_find(s->session, member, &person) &&
           person.role != FLR_WIRE_PEER_WATCHER;
}

bool flr_share_params_message(flr_share *s, uint16_t member, const flr_message *m)
{
    if (m->id != FLR_MSG_PEER_SET) return false;
    const flr_msg_peer_set *set = &m->as.peer_set;
    if (!set->name.size || !flr_share_ready(s)) return true;
    uint32_t index = find(s, set->name.bytes);
    if (index == FLR_SHARE_PARAMS) return true;
    flr_shared_param *p = &s->params[index];
    if (flr_session_hosts(s->session)) {
        // an impossible value is answered with the one in use here
        if (may_set(s, member)) apply(s, set);
        if (tell(s, 0, index, member) != FLR_OK) tell_all_again(s);
        return true;
    }
    // who leads from now on may be heard before the membership says so
    flr_epoch claimed = {set->count, member}, known = flr_session_epoch(s->session);
    if (member == known.leader || flr_epoch_compare(claimed, known) > 0) {
        if (set->member == flr_session_self(s->session) && p->pending) p->pending--;
        // what was set here and is still to be sent comes after it
        bool told_all = value_of(s, index) == p->known;
        if (!told_all) s->params_new = true;
        if (told_all && !p->pending) apply(s, set);
    }
    return true;
}

/* The leader or the connection to it has changed: what has not come back is sent again. */
static void change_connection(flr_share *s, uint16_t leader, uint32_t connection)
{
    s->params_leader = leader;
    s->params_connection = connection;
    tell_all_again(s);
    for (uint32_t i = 0; i < count_of(s); i++) {
        if (!s->params[i].pending) continue;
        s->params[i] = (flr_shared_param){.known = NAN};
        s->params_new = true;
    }
}

static void tell_own(flr_share *s, uint16_t leader)
{
    bool leads = flr_session_hosts(s->session);
    s->params_new = false;
    for (uint32_t i = 0; i < count_of(s); i++) {
        flr_shared_param *p = &s->params[i];
        double value = value_of(s, i);
        if (value == p->known) continue;
        if (tell(s, leads ? 0 : leader, i, flr_session_self(s->session)) != FLR_OK) {
            s->params_new = true; /* later */
            continue;
        }
        p->known = value;
        p->pending += !leads;
    }
}

/* Has this member got all, on the connection that there is now? `ready` false: it will have to. */
static bool is_informed(flr_share *s, const flr_session_person *person, bool ready)
{
    for (uint32_t i = 0; i < s->informed_count; i++) {
        if (s->informed[i].member != person->member) continue;
        bool current = ready && s->informed[i].connection == person->connection;
        if (!current) s->informed[i] = s->informed[--s->informed_count];
        return current;
    }
    return false;
}

/* Numbers of those who are gone do not come again. */
static void forget_gone(flr_share *s)
{
    flr_session_person person;
    for (uint32_t i = s->informed_count; i > 0; i--)
        if (!flr_session_person_find(s->session, s->informed[i - 1].member, &person))
            s->informed[i - 1] = s->informed[--s->informed_count];
}

/* Who has become ready gets all of them: they may be others than those of the scene. */
static void tell_newcomers(flr_share *s)
{
    flr_session_person person;
    uint32_t changes = flr_session_changes(s->session);
    // only somebody who is new, or whose connection is, may not have them
    if (!s->params_owed && changes == s->params_changes) return;
    s->params_changes = changes;
    s->params_owed = false;
    if (s->informed_count == FLR_SESSION_MEMBERS) forget_gone(s);
    for (uint32_t k = 0; flr_session_person_at(s->session, k, &person); k++) {
        bool ready = person.ready && !person.away && !person.self && person.direct;
        if (is_informed(s, &person, ready) || !ready || s->informed_count == FLR_SESSION_MEMBERS)
            continue;
        flr_result result = FLR_OK;
        for (uint32_t i = 0; i < count_of(s) && result == FLR_OK; i++)
            result = tell(s, person.member, i, flr_session_self(s->session));
        if (result == FLR_OK)
            s->informed[s->informed_count++] =
                (flr_share_informed){person.member, person.connection};
        else
            s->params_owed = true; /* the rest later */
    }
}

void flr_share_params_service(flr_share *s)
{
    uint16_t leader = flr_session_epoch(s->session).leader;
    flr_session_person person = {0};
    if (!flr_share_ready(s)) return;
    (void)flr_session_person_find(s->session, leader, &person);
    if (leader != s->params_leader || person.connection != s->params_connection)
        change_connection(s, leader, person.connection);
    if (s->params_new) tell_own(s, leader);
    if (flr_session_hosts(s->session)) tell_newcomers(s);
}
