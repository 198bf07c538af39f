/* a query neither allocates nor locks nor calls the system */
#include "feeler/contact.h"
#include "feeler/pairs.h"
#include "support/fixtures.h"
#include "support/quiet.h"

enum { QUERIES = 600 };

typedef struct subject {
    flr_test_part moving, fixed;
    flr_contact_pair *pairs[FLR_SIMD_NEON]; /* NULL: not on this processor */
    flr_contact_pair *helped;               /* with worker threads; none in a child process */
    flr_contact_table *table;
    flr_pairs *many; /* eight tori that move, one that does not */
    flr_pairs_shape merged;
    flr_coherent *coherent;
    flr_pose poses[QUERIES];
} subject;

/* Parts of the same shell and table; the last one is static, and the merged static scene. */
static void make_many(subject *s)
{
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = 9;
    flr_pairs_part part = flr_default_pairs_part();
    assert_int_equal(flr_contact_table_create(s->fixed.voxmap, &s->table, NULL), FLR_OK);
    assert_int_equal(flr_pairs_create(&def, &s->many, NULL), FLR_OK);
    part.shape = flr_pairs_shape_make(s->moving.shell, s->table);
    s->merged = flr_pairs_shape_make(NULL, s->table);
    for (uint32_t i = 0; i < 9; i++) {
        part.moving = i < 8;
        flr_pairs_set(s->many, i, &part);
    }
}

/* Moves, asks, picks up and puts down; returns how many parts touched. */
static uint64_t ask_many(const subject *s, int i)
{
    const uint32_t last = 8;
    flr_pairs_merged merged = {s->merged, flr_pose_identity(), &last, 1};
    flr_pairs_set_moving(s->many, last, i % 3 == 0);
    flr_pairs_set_merged(s->many, &merged);
    flr_pairs_update(s->many, s->poses + i, 0, NULL);
    flr_pairs_query(s->many, NULL);
    uint64_t touching = 0;
    for (uint32_t k = 0; k < 9; k++) touching += flr_pairs_total(s->many, k)->contacts > 0;
    return touching;
}

static flr_contact_pair *make_helped(const subject *s)
{
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    def.threads = 3;
    flr_contact_pair *pair = NULL;
    assert_int_equal(flr_contact_pair_create(&def, &pair, NULL), FLR_OK);
    return pair;
}

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_test_part_make(&s->moving, FLR_TEST_TORUS, 1, 0.0005, true);
    flr_test_part_make(&s->fixed, FLR_TEST_BOX, 1, 0.0005, true);
    for (int i = 0; i < FLR_SIMD_NEON; i++) {
        flr_contact_pair_def def = flr_default_contact_pair_def();
        def.shell = s->moving.shell;
        def.voxmap = s->fixed.voxmap;
        def.simd = (flr_simd)(FLR_SIMD_SCALAR + i);
        flr_contact_pair_create(&def, &s->pairs[i], NULL);
    }
    flr_coherent_def def = flr_default_coherent_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    flr_coherent_create(&def, &s->coherent, NULL);
    flr_test_random random = flr_test_random_begin("contact_rt");
    for (int i = 0; i < QUERIES; i++) s->poses[i] = flr_test_random_pose(&random, 0.02);
    make_many(s);
    s->helped = make_helped(s);
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    for (int i = 0; i < FLR_SIMD_NEON; i++) flr_contact_pair_destroy(s->pairs[i]);
    flr_contact_pair_destroy(s->helped);
    flr_pairs_destroy(s->many);
    flr_contact_table_destroy(s->table);
    flr_coherent_destroy(s->coherent);
    flr_test_part_free(&s->moving);
    flr_test_part_free(&s->fixed);
    free(s);
    return 0;
}

/* All engines, all poses, layers and both kinds of awareness; returns how often something touched. */
static uint64_t ask(void *context)
{
    const subject *s = context;
    uint64_t touching = 0;
    for (int i = 0; i < QUERIES; i++) {
        flr_contact_params params = flr_default_contact_params();
        flr_contact_result r;
        params.force_layer = (unsigned)i % 5;
        params.awareness = i % 2 == 0;
        params.model = i / 2 % 2 ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
        params.displacement = i % 3 == 0 ? -0.0002 : 0;
        for (int k = 0; k < FLR_SIMD_NEON; k++) {
            if (!s->pairs[k]) continue;
            flr_contact_query(s->pairs[k], s->poses[i], flr_pose_identity(), &params, &r);
            touching += r.contacts > 0;
            flr_pose here = flr_pose_identity();
            flr_motion_check_params check = flr_default_motion_check_params();
            flr_motion_check_result way;
            if (i % 20) continue;
            flr_contact_check_motion(s->pairs[k], (flr_pose_span){s->poses[i], s->poses[i / 2]},
                                     (flr_pose_span){here, here}, &check, &way);
            touching += way.stopped;
        }
        if (i % 10) continue;
        if (i % 40 == 0) touching += ask_many(s, i % (QUERIES - 9));
        /* a jump, and then a few steps that the queues are good for */
        flr_coherent_result c;
        flr_pose T = s->poses[i];
        for (int k = 0; k < 5; k++, T.p.x += 1e-4)
            flr_coherent_query(s->coherent, T, flr_pose_identity(), &params, &c);
        touching += c.contact.contacts > 0;
        flr_contact_reference(s->moving.shell, s->fixed.voxmap, s->poses[i], flr_pose_identity(),
                              &params, NULL, 0, &r);
        touching += r.contacts > 0;
    }
    return touching;
}

/* The helpers, which sleep, are this child's own; what is forbidden is forbidden to the thread that asks. */
static uint64_t ask_helped(void *context)
{
    const subject *s = context;
    static flr_contact_pair *helped;
    if (!helped) helped = make_helped(s);
    uint64_t touching = 0;
    for (int i = 0; i < QUERIES / 4; i++) {
        flr_contact_params params = flr_default_contact_params();
        flr_contact_result r;
        params.awareness = i % 2 == 0;
        flr_contact_query(helped, s->poses[i], flr_pose_identity(), &params, &r);
        touching += r.contacts > 0;
    }
    return touching;
}

static void asking_is_quiet(void **state) { flr_test_quiet(ask, *state, NULL); }

static void asking_with_helpers_is_quiet(void **state)
{
    assert_int_equal(flr_test_alone(ask_helped, *state, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_is_quiet),
        cmocka_unit_test(asking_with_helpers_is_quiet),
    };
    return cmocka_run_group_tests_name("contact_rt", tests, begin, end);
}
