/* two engines on simulated machines, and samples that go between them late, lost and out of order: parts follow, smoothly,
 * and lie in the end where they lie at the other side */
#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"

enum { LINE = 256 };

/* samples of one side's block on their way to the other's remote coupling 5 */
typedef struct side {
    flr_test_engine stand;
    struct {
        flr_engine_coupling_sample sample;
        int64_t due_ns;
    } line[LINE];
    uint32_t sent;
    bool holds; /* sends its block; the other is coupled to it */
} side;

typedef struct session {
    side sides[2];
    double delay, jitter, loss;
    uint64_t frame;
    flr_test_random random;
} session;

static const flr_vec3 at_block = {0, 0, 0.03};

static session *open_session(double delay, double jitter, double loss)
{
    session *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->delay = delay;
    s->jitter = jitter;
    s->loss = loss;
    s->random = flr_test_random_begin("engine ties");
    for (int i = 0; i < 2; i++) {
        flr_test_engine_make(&s->sides[i].stand, true, NULL);
        flr_test_engine_move(&s->sides[i].stand, 0, at_block, 0, 100);
    }
    return s;
}

static void close_session(session *s)
{
    for (int i = 0; i < 2; i++) flr_test_engine_free(&s->sides[i].stand);
    free(s);
}

static flr_engine_coupling_state tie_of(flr_test_engine *stand)
{
    const flr_engine_state *state = flr_engine_view(stand->engine);
    for (uint32_t i = 0; i < state->coupling_count; i++)
        if (state->couplings[i].coupling == 5) return state->couplings[i];
    return (flr_engine_coupling_state){.coupling = FLR_ENGINE_NONE};
}

static void send(session *s, side *from)
{
    flr_engine_part_state now = flr_test_engine_part(&from->stand, from->stand.block);
    int64_t clock = flr_clock_ns(from->stand.env);
    double late = s->delay + flr_test_random_range(&s->random, 0, s->jitter);
    if (flr_test_random_range(&s->random, 0, 1) < s->loss) return;
    from->line[from->sent % LINE].due_ns = clock + (int64_t)(1e9 * late);
    from->line[from->sent++ % LINE].sample =
        (flr_engine_coupling_sample){.sent_ns = clock,
                                     .T_world_part = now.T_world_part,
                                     .twist = now.twist,
                                     .put = tie_of(&from->stand).put};
}

static void receive(session *s, int i)
{
    side *from = &s->sides[!i];
    int64_t now = flr_clock_ns(s->sides[i].stand.env);
    for (uint32_t k = from->sent > LINE ? from->sent - LINE : 0; k < from->sent; k++)
        if (from->line[k % LINE].due_ns <= now) {
            assert_int_equal(flr_engine_coupling_input(s->sides[i].stand.engine, 5,
                                                       &from->line[k % LINE].sample, NULL),
                             FLR_OK);
            from->line[k % LINE].due_ns = INT64_MAX;
        }
}

/* Frames on both sides, one by one; a sample every 10. */
static void pass(session *s, int frames)
{
    for (int f = 0; f < frames; f++, s->frame++) {
        for (int i = 0; i < 2; i++) {
            if (s->frame % 10 == 0 && s->sides[i].holds) send(s, &s->sides[i]);
            receive(s, i);
            flr_engine_run(s->sides[i].stand.engine, 1);
            if (s->frame % 10 == 0) flr_engine_service(s->sides[i].stand.engine);
        }
    }
}

static void hand_at(session *s, int i, flr_vec3 at, uint32_t buttons)
{
    flr_engine_hand_input(s->sides[i].stand.engine, flr_hand(0),
                          flr_pose_make(at, flr_quat_identity()), buttons, NULL);
}

static void coupling(session *s, int i, bool mutual)
{
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    def.mutual = mutual;
    assert_int_equal(
        flr_engine_set_coupling(s->sides[i].stand.engine, 5, s->sides[i].stand.block, &def, NULL),
        FLR_OK);
}

static flr_pose block_of(session *s, int i)
{
    return flr_test_engine_part(&s->sides[i].stand, s->sides[i].stand.block).T_world_part;
}

/* ---- one holds it ---- */

/* The other side sees it go as smoothly as it goes, whatever the line does; and in the end it lies at the same bits. */
static void follows_and_settles(void **state)
{
    (void)state;
    const double lines[][3] = {{0, 0, 0}, {0.02, 0.015, 0.1}, {0.12, 0.03, 0.2}};
    for (int k = 0; k < 3; k++) {
        session *s = open_session(lines[k][0], lines[k][1], lines[k][2]);
        s->sides[0].holds = true;
        coupling(s, 1, false);
        hand_at(s, 0, at_block, 1);
        pass(s, 200);
        assert_part_equal(flr_engine_view(s->sides[0].stand.engine)->hands[0].held,
                          s->sides[0].stand.block);
        /* 0.1 m/s, 100 micrometres a frame */
        double last = block_of(s, 1).p.y, most = 0;
        for (int f = 0; f < 400; f++) {
            hand_at(s, 0, flr_vec3_make(0, 1e-4 * f, 0.03), 1);
            pass(s, 1);
            double now = block_of(s, 1).p.y;
            if (f > 250) most = fmax(most, fabs(now - last - 1e-4));
            last = now;
        }
        assert_lt(most, 1.01e-4); /* where three in a row are lost, it stands */
        pass(s, 300 + (int)(2000 * s->delay));
        flr_pose here = block_of(s, 0), there = block_of(s, 1);
        assert_lt(flr_vec3_distance(here.p, there.p), 2e-5);
        /* let go: released, but not released there before it lies as it does here */
        hand_at(s, 0, flr_vec3_make(0, 0.04, 0.03), 0);
        pass(s, 20);
        here = block_of(s, 0);
        flr_remote_coupling_def rest = flr_default_remote_coupling_def();
        rest.rest = true;
        rest.T_world_rest = here;
        assert_int_equal(flr_engine_set_coupling(s->sides[1].stand.engine, 5,
                                                 s->sides[1].stand.block, &rest, NULL),
                         FLR_OK);
        pass(s, 300);
        assert_true(tie_of(&s->sides[1].stand).settled);
        there = block_of(s, 1);
        assert_memory_equal(&here, &there, sizeof here);
        assert_int_equal(
            flr_engine_set_coupling(s->sides[1].stand.engine, 5, FLR_NO_PART_ID, NULL, NULL),
            FLR_OK);
        pass(s, 1000);
        assert_int_equal(tie_of(&s->sides[1].stand).coupling, FLR_ENGINE_NONE);
        /* what stays is one again */
        assert_true(flr_engine_view(s->sides[1].stand.engine)->merged);
        there = block_of(s, 1);
        assert_memory_equal(&here, &there, sizeof here);
        close_session(s);
    }
}

/* ---- both hold it ---- */

static void both_hold_it(void **state)
{
    (void)state;
    session *s = open_session(0.06, 0.02, 0.1);
    for (int i = 0; i < 2; i++) {
        s->sides[i].holds = true;
        hand_at(s, i, at_block, 1);
        coupling(s, i, true);
    }
    pass(s, 300);
    for (int f = 0; f < 600; f++) {
        double z = 0.03 + 0.02 * sin(0.01 * f);
        for (int i = 0; i < 2; i++) hand_at(s, i, flr_vec3_make(0, 0, i ? 0.03 : z), 1);
        pass(s, 1);
    }
    for (int i = 0; i < 2; i++) hand_at(s, i, at_block, 1);
    pass(s, 1200);
    assert_lt(flr_vec3_distance(block_of(s, 0).p, block_of(s, 1).p), 1e-5);
    for (int i = 0; i < 2; i++) {
        flr_engine_coupling_state t = tie_of(&s->sides[i].stand);
        assert_true(t.begun);
        assert_false(t.diverged);
        assert_gt(t.put, 0);
        assert_gt(t.got, 0);
        assert_gt(t.delay, 0.055);
        assert_lt(t.delay, 0.085);
        assert_lt(t.stiffness, 950);
        assert_gt(t.stiffness, 880);
        assert_lt(flr_engine_view(s->sides[i].stand.engine)->energy, 1e-7);
    }
    close_session(s);
}

/* ---- single things ---- */

static flr_engine_coupling_sample sample_at(const flr_test_engine *s, flr_vec3 at)
{
    return (flr_engine_coupling_sample){.sent_ns = flr_clock_ns(s->env),
                                        .T_world_part = flr_pose_make(at, flr_quat_identity())};
}

static void samples_find_their_tie(void **state)
{
    (void)state;
    flr_test_engine s;
    flr_error error;
    flr_test_engine_make(&s, true, NULL);
    flr_remote_coupling_def def = flr_default_remote_coupling_def();
    flr_engine_coupling_sample to = sample_at(&s, flr_vec3_make(0, 0, 0.06));
    /* what is wrong is said */
    assert_int_equal(flr_engine_set_coupling(s.engine, 5, s.plate, &def, &error), FLR_DENIED);
    assert_int_equal(
        flr_engine_set_coupling(s.engine, 5, flr_engine_part_id(s.engine, 999), &def, &error),
        FLR_NOT_FOUND);
    assert_int_equal(
        flr_engine_set_coupling(s.engine, FLR_WORLD_REMOTE_COUPLINGS, s.block, &def, &error),
        FLR_BAD_ARGUMENT);
    def.stiffness = -1;
    assert_int_equal(flr_engine_set_coupling(s.engine, 5, s.block, &def, &error), FLR_BAD_ARGUMENT);
    def.stiffness = 0;
    assert_int_equal(flr_engine_coupling_input(s.engine, FLR_WORLD_REMOTE_COUPLINGS, &to, &error),
                     FLR_BAD_ARGUMENT);
    flr_engine_coupling_sample bad = to;
    bad.T_world_part.p.x = NAN;
    assert_int_equal(flr_engine_coupling_input(s.engine, 5, &bad, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(
        flr_engine_set_solid(s.engine, flr_engine_part_id(s.engine, 999), false, &error),
        FLR_NOT_FOUND);
    /* a sample that comes at once with the remote coupling is not lost, though no other follows */
    assert_int_equal(flr_engine_set_coupling(s.engine, 5, s.block, &def, NULL), FLR_OK);
    assert_int_equal(flr_engine_coupling_input(s.engine, 5, &to, NULL), FLR_OK);
    flr_test_engine_pass(&s, 400);
    assert_lt(fabs(flr_test_engine_part(&s, s.block).T_world_part.p.z - 0.06), 1e-5);
    /* an older one counts nothing */
    to = sample_at(&s, flr_vec3_make(0, 0, 0.1));
    to.sent_ns -= 1000000000;
    assert_int_equal(flr_engine_coupling_input(s.engine, 5, &to, NULL), FLR_OK);
    flr_test_engine_pass(&s, 200);
    assert_lt(fabs(flr_test_engine_part(&s, s.block).T_world_part.p.z - 0.06), 1e-5);
    /* nor one that was for another part */
    assert_int_equal(flr_engine_coupling_input(s.engine, 5, &to, NULL), FLR_OK);
    assert_int_equal(flr_engine_set_coupling(s.engine, 5, s.ball, &def, NULL), FLR_OK);
    flr_test_engine_pass(&s, 200);
    assert_false(tie_of(&s).begun);
    assert_eq(flr_test_engine_part(&s, s.ball).T_world_part.p.z, 0.03);
    /* a part that goes takes its remote coupling along; another one keeps its own */
    def.rest = true;
    def.T_world_rest = flr_pose_make(flr_vec3_make(0, 0, -0.03), flr_quat_identity());
    assert_int_equal(flr_engine_set_coupling(s.engine, 6, s.block, &def, NULL), FLR_OK);
    flr_test_engine_pass(&s, 1500);
    assert_int_equal(flr_engine_view(s.engine)->coupling_count, 2);
    assert_int_equal(flr_engine_remove(s.engine, s.ball, NULL), FLR_OK);
    flr_test_engine_settle(&s);
    const flr_engine_state *now = flr_engine_view(s.engine);
    assert_int_equal(now->coupling_count, 1);
    assert_int_equal(now->couplings[0].coupling, 6);
    /* the plate is in its way until its physics is off */
    assert_true(now->couplings[0].diverged);
    assert_false(now->couplings[0].settled);
    assert_int_equal(flr_engine_set_solid(s.engine, s.block, false, NULL), FLR_OK);
    flr_test_engine_pass(&s, 1000);
    assert_true(flr_engine_view(s.engine)->couplings[0].settled);
    assert_false(flr_test_engine_part(&s, s.block).solid);
    assert_eq(flr_test_engine_part(&s, s.block).T_world_part.p.z, -0.03);
    flr_test_engine_free(&s);
}

static void no_memory(void **state)
{
    (void)state;
    for (int at = 1, done = 0; !done; at++) {
        flr_engine_def def = flr_threadless_engine_def(flr_env_real());
        flr_engine *engine = NULL;
        flr_fail_alloc_at((uint64_t)at);
        flr_result result = flr_engine_create(&def, &engine, NULL);
        flr_fail_alloc_at(0);
        done = result == FLR_OK;
        if (done) flr_engine_destroy(engine);
        assert_true(done || result == FLR_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_and_settles),
        cmocka_unit_test(both_hold_it),
        cmocka_unit_test(samples_find_their_tie),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
