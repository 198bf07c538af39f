#include "support/fixtures.h"

#include <math.h>

static const char token[] = "a-token-of-24-characters";

double flr_test_sites_now(const flr_test_sites *s) { return (double)flr_sim_now(s->sim) * 1e-9; }

void flr_test_sites_check(flr_test_sites *s, bool holds, const char *condition)
{
    if (holds || s->failed) return;
    s->failed = true;
    printf("%s at %.3f s", condition, flr_test_sites_now(s));
    if (s->by_chance)
        printf("; again: FLR_SHARE_SEEDS=1 FLR_TEST_SEED=%llu build/tests/test_share",
               (unsigned long long)s->seed);
    printf("\n");
}

static void add(flr_test_site *s, const char *name, flr_vec3 size, flr_vec3 at, flr_part_kind kind)
{
    (void)flr_test_engine_add(s->engine, name, size, at, kind, s->session->voxel);
}

void flr_test_site_start(flr_test_site *s, const flr_test_site *host)
{
    flr_error error;
    flr_engine_def def = flr_threadless_engine_def(s->env);
    def.rate = s->session->rate;
    def.paced = false;
    def.hands = 1;
    def.recordings = "/recordings";
    def.merge = false; /* three parts need not be one */
    assert_ok(flr_engine_create(&def, &s->engine, &error), error);
    if (!host) {
        add(s, "plate", flr_vec3_make(0.3, 0.3, 0.02), flr_vec3_make(0, 0, -0.01), FLR_PART_STATIC);
        add(s, "block", flr_vec3_make(0.03, 0.03, 0.03), flr_vec3_make(-0.05, 0, 0.05),
            s->session->kind);
        add(s, "brick", flr_vec3_make(0.03, 0.05, 0.03), flr_vec3_make(0.05, 0, 0.05),
            s->session->kind);
        for (uint32_t i = FLR_TEST_MOVED; i < s->session->moved; i++)
            add(s, "cube", flr_vec3_make(0.01, 0.01, 0.01),
                flr_vec3_make(0.06 * (i % 10), 0.06 * (1 + i / 10), 0.3), s->session->kind);
        // in a scene without gravity nothing falls
        if (s->session->kind == FLR_PART_FREE)
            assert_int_equal(flr_engine_set(s->engine, "gravity_z", -9.81, NULL), FLR_OK);
    }
    flr_share_def share = flr_default_share_def();
    share.engine = s->engine;
    share.env = s->env;
    share.local = s->address;
    share.token = token;
    share.name = "somebody";
    share.join = host;
    if (host) share.host = host->address;
    share.folder = "/shared";
    if (s->scene_limit) share.scene_limit = s->scene_limit;
    assert_ok(flr_share_create(&share, &s->share, &error), error);
    s->up = true;
    s->joined = false;
    s->press = false;
    s->at = s->to = flr_vec3_make(0, 0, 0.2);
    s->frame_ns = s->service_ns = flr_clock_ns(s->env);
    s->due_ns = 0;
}

void flr_test_site_stop(flr_test_site *s)
{
    flr_share_destroy(s->share);
    flr_engine_destroy(s->engine);
    s->up = false;
}

static int64_t run(void *context, flr_env *env)
{
    flr_test_site *s = context;
    int64_t now = flr_clock_ns(env), period = (int64_t)(1e9 / s->session->rate);
    if (!s->up) return now + 50 * FLR_SIM_MS;
    if (s->session->play && now >= s->due_ns) {
        s->session->play(s);
        s->due_ns =
            now + (int64_t)(200 + flr_test_random_below(&s->session->random, 800)) * FLR_SIM_MS;
    }
    if (now >= s->frame_ns) {
        double step = 0.3 / s->session->rate; /* 0.3 m/s */
        flr_vec3 way = flr_vec3_sub(s->to, s->at);
        double length = flr_vec3_length(way);
        s->at = length > step ? flr_vec3_add(s->at, flr_vec3_scale(way, step / length)) : s->to;
        (void)flr_engine_hand_input(s->engine, flr_hand(0),
                                    flr_pose_make(s->at, flr_quat_identity()), s->press, NULL);
        flr_engine_run(s->engine, 1);
        s->session->frames++;
        s->frame_ns += (int64_t)(s->slow * (double)period);
        if (s->frame_ns < now) s->frame_ns = now;
    }
    if (now >= s->service_ns) {
        flr_engine_event event;
        flr_engine_service(s->engine);
        while (flr_engine_next(s->engine, &event)) {
            if (event.kind == FLR_ENGINE_EVENT_NEWS && event.news == FLR_WIRE_EVENT_WARNING)
                memcpy(s->warning, event.sentence, sizeof s->warning);
            if (getenv("FLR_SHARE_TALK") && event.kind == FLR_ENGINE_EVENT_NEWS)
                printf("%.3f site %d: %s\n", flr_test_sites_now(s->session),
                       (int)(s - s->session->sites), event.sentence);
            flr_share_event(s->share, &event);
        }
        flr_engine_part last;
        if (s->session->prepare && s == s->session->sites &&
            flr_engine_part_at(s->engine, s->session->moved, &last)) {
            s->session->prepare(s);
            s->session->prepare = NULL;
        }
        int64_t wake = flr_share_service(s->share);
        const char *sentence;
        sites_check(s->session, !flr_share_failed(s->share, &sentence) || !s->joined);
        s->joined |= flr_share_ready(s->share);
        s->service_ns = wake < now + FLR_SIM_MS ? now + FLR_SIM_MS : wake;
        if (s->service_ns > now + 10 * FLR_SIM_MS) s->service_ns = now + 10 * FLR_SIM_MS;
        const flr_engine_state *state = flr_engine_view(s->engine);
        s->energy = state->energy;
        flr_test_accounts_see(&s->session->accounts, (uint32_t)(s - s->session->sites), s->share,
                              flr_test_sites_now(s->session));
        sites_check(s->session, s->session->accounts.surplus < 1e-9);
        flr_share_part part;
        for (uint32_t i = 0; flr_share_part_at(s->share, i, &part); i++)
            s->session->ghosted |= part.ghost;
    }
    return s->frame_ns < s->service_ns ? s->frame_ns : s->service_ns;
}

static void check_owners(flr_test_sites *s)
{
    for (uint32_t part = 0; part < 1 + FLR_TEST_MOVED; part++)
        for (uint32_t i = 0; i < s->count; i++)
            for (uint32_t k = 0; k < i; k++) {
                const flr_test_site *a = &s->sites[i], *b = &s->sites[k];
                if (!a->up || !b->up) continue;
                flr_session *p = flr_share_session(a->share), *q = flr_share_session(b->share);
                if (flr_session_owns(p, part) && flr_session_owns(q, part))
                    sites_check(s,
                                flr_epoch_compare(flr_session_epoch(p), flr_session_epoch(q)) != 0);
            }
}

/* Somebody else leads within 5 s. */
static void check_takeover(flr_test_sites *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->sites[i].up && flr_session_hosts(flr_share_session(s->sites[i].share)))
            s->leaderless = 0;
    sites_check(s, s->leaderless == 0 || flr_test_sites_now(s) < s->leaderless + 5);
}

void flr_test_sites_pass(flr_test_sites *s, double seconds)
{
    int64_t until = flr_sim_now(s->sim) + (int64_t)(seconds * 1e9);
    while (flr_sim_now(s->sim) < until) {
        int64_t next = flr_sim_now(s->sim) + 20 * FLR_SIM_MS;
        flr_sim_run(s->sim, next < until ? next : until);
        check_owners(s);
        check_takeover(s);
    }
}

void flr_test_sites_begin(flr_test_sites *s, uint64_t seed, const flr_sim_network *network,
                          uint32_t count, double rate)
{
    flr_sim_def def = flr_default_sim_def();
    def.seed = seed;
    def.network = *network;
    *s = (flr_test_sites){.seed = seed,
                          .count = count,
                          .rate = rate,
                          .kind = FLR_PART_MOVABLE,
                          .moved = FLR_TEST_MOVED,
                          .voxel = rate < 1000 ? 0.0075 : 0.005,
                          .random = {seed * 77777 + 5}};
    s->sim = flr_sim_create(&def);
    assert_non_null(s->sim);
    for (uint32_t i = 0; i < count; i++) {
        flr_test_site *t = &s->sites[i];
        t->session = s;
        t->slow = 1;
        t->address = (flr_address){.family = 4, .ip = {10, 0, 0, (uint8_t)(i + 1)}, .port = 7000};
        t->env = flr_sim_node(s->sim, t->address);
        flr_sim_set_program(t->env, run, t);
    }
}

void flr_test_sites_end(flr_test_sites *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->sites[i].up) flr_test_site_stop(&s->sites[i]);
    flr_sim_destroy(s->sim);
    assert_false(s->failed && !s->by_chance);
}

bool flr_test_site_pose(flr_test_site *s, uint32_t index, flr_pose *pose)
{
    *pose = flr_pose_identity();
    flr_engine_part part;
    if (!flr_engine_part_at(s->engine, index, &part)) return false;
    const flr_engine_state *state = flr_engine_view(s->engine);
    for (uint32_t i = 0; i < state->part_count; i++)
        if (flr_same_part(state->parts[i].part, part.part)) {
            *pose = state->parts[i].T_world_part;
            return true;
        }
    return false;
}

double flr_test_sites_apart(flr_test_sites *s, double *turn)
{
    double most = 0;
    *turn = 0;
    for (uint32_t part = 1; part <= s->moved; part++) {
        flr_pose first, other;
        const flr_test_site *known = NULL;
        for (uint32_t i = 0; i < s->count; i++) {
            flr_test_site *t = &s->sites[i];
            if (!t->up || !flr_share_ready(t->share)) continue;
            if (!flr_test_site_pose(t, part, known ? &other : &first)) continue;
            if (known) {
                double dot = fabs(first.q.w * other.q.w + first.q.x * other.q.x +
                                  first.q.y * other.q.y + first.q.z * other.q.z);
                most = fmax(most, flr_vec3_distance(first.p, other.p));
                *turn = fmax(*turn, 2 * acos(fmin(1, dot)));
            }
            known = t;
        }
    }
    return most;
}

bool flr_test_sites_agree(flr_test_sites *s)
{
    double turn, way = flr_test_sites_apart(s, &turn);
    for (uint32_t i = 0; i < s->count; i++) {
        const flr_test_site *t = &s->sites[i];
        if (t->up && (!flr_share_ready(t->share) ||
                      flr_session_membership(flr_share_session(t->share))->part_count))
            return false;
    }
    return way <= 1e-6 && turn <= 1e-6;
}

void flr_test_sites_describe(flr_test_sites *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        flr_test_site *t = &s->sites[i];
        if (!t->up) continue;
        const flr_session *session = flr_share_session(t->share);
        const char *why;
        bool failed = flr_share_failed(t->share, &why);
        printf("site %u: member %u %s %s job %u, ", i, flr_session_self(session),
               flr_share_ready(t->share) ? "ready" : "not ready", failed ? why : "",
               flr_engine_jobs(t->engine));
        flr_test_print_membership(flr_session_membership(session));
        for (uint32_t part = 1; part <= FLR_TEST_MOVED; part++) {
            flr_pose pose;
            if (flr_test_site_pose(t, part, &pose))
                printf("; %u at %.9f %.9f %.9f", part, pose.p.x, pose.p.y, pose.p.z);
        }
        printf("\n");
    }
}

void flr_test_sites_join(flr_test_sites *s)
{
    for (uint32_t i = 1; i < s->count; i++) {
        if (s->sites[i].up) continue;
        flr_test_site_start(&s->sites[i], &s->sites[0]);
        flr_test_sites_pass(s, 0.2);
    }
}

void flr_test_sites_await_ready(flr_test_sites *s, double seconds)
{
    double until = flr_test_sites_now(s) + seconds;
    for (bool all = false; !all && flr_test_sites_now(s) < until;) {
        flr_test_sites_pass(s, 0.1);
        all = true;
        for (uint32_t i = 0; i < s->count; i++)
            all &= !s->sites[i].up || flr_share_ready(s->sites[i].share);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->sites[i].up && !flr_share_ready(s->sites[i].share)) flr_test_sites_describe(s);
        sites_check(s, !s->sites[i].up || flr_share_ready(s->sites[i].share));
    }
}

void flr_test_sites_open(flr_test_sites *s)
{
    flr_test_site_start(&s->sites[0], NULL);
    flr_test_sites_await_ready(s, 5);
    flr_test_sites_join(s);
    flr_test_sites_await_ready(s, 10);
}

double flr_test_site_restitution(const flr_test_site *s)
{
    flr_engine_parameter parameter;
    for (uint32_t i = 0; flr_engine_parameter_at(s->engine, i, &parameter); i++)
        if (strcmp(parameter.name, "restitution") == 0) return parameter.value;
    fail_msg("there is no parameter \"restitution\"");
    return 0;
}

void flr_test_site_set_restitution(flr_test_site *s, double value)
{
    assert_int_equal(flr_engine_set(s->engine, "restitution", value, NULL), FLR_OK);
}
