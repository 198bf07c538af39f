#include "support/sessions.h"

double flr_test_sessions_now(const flr_test_sessions *s)
{
    return (double)flr_sim_now(s->sim) * 1e-9;
}

static bool where(void *context, uint32_t part, flr_pose *pose)
{
    flr_test_session *s = context;
    if (part < FLR_TEST_SESSION_PARTS) *pose = s->parts[part];
    return part < FLR_TEST_SESSION_PARTS;
}

void flr_test_session_start(flr_test_session *s)
{
    flr_session_def def = flr_default_session_def();
    flr_error error;
    def.env = s->env;
    def.local = s->address;
    def.token = FLR_TEST_SESSION_TOKEN;
    def.where = where;
    def.context = s;
    def.name = s->name;
    def.connections.patience = 8;
    assert_ok(flr_session_create(&def, &s->session, &error), error);
    for (int i = 0; i < FLR_TEST_SESSION_PARTS; i++) {
        s->parts[i] = flr_pose_identity();
        s->wanted[i] = 0;
    }
    s->in_ns = 0;
    s->up = true;
}

void flr_test_session_join(flr_test_session *s)
{
    flr_test_sessions *all = s->network;
    const flr_test_session *to;
    do {
        to = &all->sites[flr_test_random_below(&all->random, all->count)];
    } while (to == s || !to->up);
    flr_session_join(s->session, to->address);
}

static void on_part(flr_test_session *s, uint32_t part)
{
    flr_membership_part entry;
    bool in = flr_session_part(s->session, part, &entry);
    s->wanted[part] = in && entry.rest ? entry.number : 0;
    // bringing it there takes a while
    s->settle_ns[part] = flr_clock_ns(s->env) +
                         (int64_t)flr_test_random_below(&s->network->random, 300) * FLR_SIM_MS;
}

static void settle(flr_test_session *s, uint32_t part)
{
    flr_membership_part entry;
    if (!s->wanted[part] || flr_clock_ns(s->env) < s->settle_ns[part]) return;
    if (!flr_session_part(s->session, part, &entry) || entry.number != s->wanted[part]) return;
    s->parts[part] = entry.T_world_part;
    flr_session_settle(s->session, part, entry.number);
    s->wanted[part] = 0;
}

/* Takes something, moves what it has, lets go. */
static void play(flr_test_session *s)
{
    flr_test_random *r = &s->network->random;
    uint32_t part = flr_test_random_below(r, FLR_TEST_SESSION_PARTS);
    if (flr_session_claims(s->session, part)) {
        s->parts[part].p.x += flr_test_random_range(r, -0.1, 0.1);
        if (flr_test_random_below(r, 3) == 0) flr_session_release(s->session, part, s->parts[part]);
    } else if (flr_test_random_below(r, 2)) {
        flr_session_hold(s->session, part);
        s->network->grabs++;
    }
}

static int64_t run(void *context, flr_env *env)
{
    flr_test_session *s = context;
    flr_session_event event;
    if (!s->up) return flr_clock_ns(env) + 20 * FLR_SIM_MS; /* somebody may start it */
    while (flr_session_next(s->session, &event)) {
        switch (event.kind) {
        case FLR_SESSION_IN:
            s->in_ns = flr_clock_ns(env);
            for (uint32_t i = 0; flr_session_hosts(s->session) && i < FLR_TEST_SESSION_PARTS; i++)
                flr_session_set_place(s->session, i, s->parts[i]);
            flr_session_ready(s->session, !s->loads);
            break;
        case FLR_SESSION_NEWS:
            s->news++;
            break;
        case FLR_SESSION_PLACE:
            s->parts[event.part] = event.T_world_part;
            break;
        case FLR_SESSION_PART:
            on_part(s, event.part);
            break;
        case FLR_SESSION_REFUSED:
            // the user tries again, somewhere else
            s->refused++;
            flr_test_session_join(s);
            break;
        case FLR_SESSION_LOST:
            s->lost++;
            break;
        case FLR_SESSION_LEADER:
            s->network->takeovers++;
            break;
        default:
            break;
        }
    }
    int64_t now = flr_clock_ns(env);
    for (uint32_t i = 0; i < FLR_TEST_SESSION_PARTS; i++) settle(s, i);
    if (s->network->busy && now >= (int64_t)s->due_ns && flr_session_is_in(s->session)) {
        play(s);
        s->due_ns = (uint64_t)now +
                    (100 + flr_test_random_below(&s->network->random, 900)) * (uint64_t)FLR_SIM_MS;
    }
    flr_wire_peer_hand hand = {.held = UINT32_MAX, .T_world_hand = flr_pose_identity()};
    hand.T_world_hand.p.x = flr_test_sessions_now(s->network);
    flr_session_show(s->session, &hand, 1, NULL, 0, NULL, 0);
    int64_t wake = flr_session_service(s->session);
    return wake < now + 20 * FLR_SIM_MS ? wake : now + 20 * FLR_SIM_MS;
}

void flr_test_sessions_begin(flr_test_sessions *s, uint64_t seed, const flr_sim_network *network,
                             uint32_t count)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    def.network = *network;
    *s = (flr_test_sessions){.seed = seed, .count = count, .random = {seed * 2654435761u + 1}};
    s->sim = flr_sim_create(&def);
    assert_non_null(s->sim);
    for (uint32_t i = 0; i < count; i++) {
        flr_test_session *t = &s->sites[i];
        t->network = s;
        t->address = (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(i + 1)}, .port = 7000};
        t->env = flr_sim_node(s->sim, t->address);
        flr_sim_set_program(t->env, run, t);
    }
    flr_test_session_start(&s->sites[0]);
    flr_session_lead(s->sites[0].session);
}

void flr_test_sessions_end(flr_test_sessions *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->sites[i].up) flr_session_destroy(s->sites[i].session);
    flr_sim_destroy(s->sim);
}

/* Never two who take themselves for the owner of a part in one epoch. */
static void check_owners(flr_test_sessions *s)
{
    for (uint32_t part = 0; part < FLR_TEST_SESSION_PARTS; part++) {
        flr_epoch epochs[FLR_TEST_SESSION_CAPACITY];
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->count; i++) {
            const flr_test_session *t = &s->sites[i];
            if (!t->up || !flr_session_owns(t->session, part)) continue;
            epochs[count++] = flr_session_epoch(t->session);
            for (uint32_t k = 0; k + 1 < count; k++)
                parties_check(s, flr_epoch_compare(epochs[k], epochs[count - 1]) != 0);
        }
    }
}

void flr_test_sessions_pass(flr_test_sessions *s, double seconds)
{
    int64_t until = flr_sim_now(s->sim) + (int64_t)(seconds * 1e9);
    while (flr_sim_now(s->sim) < until) {
        int64_t next = flr_sim_now(s->sim) + 20 * FLR_SIM_MS;
        flr_sim_run(s->sim, next < until ? next : until);
        check_owners(s);
    }
}

bool flr_test_sessions_agree(flr_test_sessions *s)
{
    const flr_test_session *first = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const flr_test_session *t = &s->sites[i];
        if (!t->up) continue;
        if (!flr_session_is_in(t->session) || flr_session_membership(t->session)->part_count)
            return false;
        if (!first) first = t;
        if (flr_epoch_compare(flr_session_epoch(t->session), flr_session_epoch(first->session)))
            return false;
        if (memcmp(t->parts, first->parts, sizeof t->parts) != 0) return false;
    }
    return true;
}

void flr_test_sessions_let_go(flr_test_sessions *s)
{
    s->busy = false;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t part = 0; s->sites[i].up && part < FLR_TEST_SESSION_PARTS; part++)
            flr_session_release(s->sites[i].session, part, s->sites[i].parts[part]);
}

void flr_test_sessions_join(flr_test_sessions *s)
{
    for (uint32_t i = 1; i < s->count; i++) {
        if (s->sites[i].up) continue;
        flr_test_session_start(&s->sites[i]);
        flr_test_session_join(&s->sites[i]);
        flr_test_sessions_pass(s, flr_test_random_range(&s->random, 0, 1));
    }
}

uint32_t flr_test_session_members(const flr_test_session *t)
{
    uint32_t here = 0;
    flr_session_person person;
    for (uint32_t i = 0; flr_session_person_at(t->session, i, &person); i++) here += !person.away;
    return here;
}
