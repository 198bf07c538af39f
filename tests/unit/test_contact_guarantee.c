/* the guarantee: with force layer 2 exact surfaces cannot meet without a potential penetration being told
 *
 * A part comes nearer along a random line, in a random orientation; by bisection we find the place where the engine first
 * tells a penetration. At every pose on the way where it tells none, the triangles of the two parts must not
 * intersect: so most poses are as near as the engine lets them come. FLR_CONTACT_LINES sets how many lines. */
#include <math.h>

#include "mesh/triangle.h"
#include "support/fixtures.h"

#ifdef FLR_SANITIZED
enum { LINES = 600 };
#else
enum { LINES = 8000 };
#endif
enum { STEPS = 13, TRIANGLES = 512 };

static const double voxel = 0.0008;

typedef struct placed {
    flr_vec3 corners[TRIANGLES][3];
    flr_box3 boxes[TRIANGLES];
    flr_box3 box;
    uint32_t count;
} placed;

static void place(const flr_mesh *mesh, flr_pose T, placed *p)
{
    assert_le(mesh->triangle_count, TRIANGLES);
    p->count = mesh->triangle_count;
    p->box = flr_box3_empty();
    for (uint32_t t = 0; t < p->count; t++) {
        p->boxes[t] = flr_box3_empty();
        for (int i = 0; i < 3; i++) {
            p->corners[t][i] = flr_pose_apply(T, mesh->vertices[mesh->triangles[t].v[i]]);
            p->boxes[t] = flr_box3_add(p->boxes[t], p->corners[t][i]);
        }
        p->box = flr_box3_union(p->box, p->boxes[t]);
    }
}

static bool intersect(const placed *a, const placed *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (!flr_box3_overlap(a->boxes[i], b->box)) continue;
        for (uint32_t k = 0; k < b->count; k++)
            if (flr_box3_overlap(a->boxes[i], b->boxes[k]) &&
                flr_triangles_meet(a->corners[i], b->corners[k], 0, NULL) != FLR_TRIANGLES_APART)
                return true;
    }
    return false;
}

typedef struct counts {
    uint64_t poses, exact, told, aware_exact, aware_missed;
} counts;

/* One line: from apart to well within, halved STEPS times. */
static void come_nearer(flr_test_random *random, const flr_test_part *moving, const placed *fixed,
                        flr_contact_pair *pair, counts *n)
{
    flr_contact_params params = flr_default_contact_params();
    flr_pose T = flr_test_random_pose(random, 0), from = flr_test_random_pose(random, 1);
    flr_vec3 aside = flr_test_random_pose(random, 0.008).p;
    flr_vec3 way = flr_vec3_scale(from.p, 0.05 / flr_vec3_length(from.p));
    double apart = 1, within = 0;
    placed *now = malloc(sizeof *now);
    for (int step = 0; step < STEPS; step++) {
        double at = (apart + within) / 2;
        T.p = flr_vec3_add_scaled(aside, at, way);
        flr_contact_result r, aware;
        params.awareness = false;
        flr_contact_query(pair, T, flr_pose_identity(), &params, &r);
        params.awareness = true;
        flr_contact_query(pair, T, flr_pose_identity(), &params, &aware);
        bool told = r.penetrations > 0, meet = false;
        n->poses++;
        n->told += told;
        if (!told || aware.penetrations == 0) {
            place(flr_test_shape_mesh((flr_test_shape *)&moving->shape), T, now);
            meet = intersect(now, fixed);
        }
        if (!told) {
            n->exact++;
            if (meet) fail_msg("surfaces meet unnoticed at %g of the way", at);
        } else if (aware.penetrations == 0) {
            n->aware_exact++;
            n->aware_missed += meet;
        }
        if (told)
            within = at;
        else
            apart = at;
    }
    free(now);
}

static void surfaces_do_not_meet_unnoticed(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("surfaces_do_not_meet_unnoticed");
    const char *wanted = getenv("FLR_CONTACT_LINES");
    uint64_t lines = wanted ? strtoull(wanted, NULL, 10) : LINES;
    counts n = {0};
    placed *fixed_at = malloc(sizeof *fixed_at);
    flr_test_part parts[FLR_TEST_SOLID_COUNT];
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++)
        flr_test_part_make(&parts[i], (flr_test_solid)i, 1, voxel, true);
    enum { PAIRS = FLR_TEST_SOLID_COUNT * FLR_TEST_SOLID_COUNT };
    for (int i = 0; i < PAIRS; i++) {
        flr_test_part *fixed = &parts[i / FLR_TEST_SOLID_COUNT],
                      *moving = &parts[i % FLR_TEST_SOLID_COUNT];
        flr_contact_pair_def def = flr_default_contact_pair_def();
        def.shell = moving->shell;
        def.voxmap = fixed->voxmap;
        flr_contact_pair *pair;
        flr_error error;
        assert_ok(flr_contact_pair_create(&def, &pair, &error), error);
        place(flr_test_shape_mesh(&fixed->shape), flr_pose_identity(), fixed_at);
        for (uint64_t line = 0; line < lines / PAIRS; line++)
            come_nearer(&random, moving, fixed_at, pair, &n);
        flr_contact_pair_destroy(pair);
    }
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) flr_test_part_free(&parts[i]);
    free(fixed_at);
    print_message(
        "%llu poses: %llu with potential penetrations; in the other %llu no surfaces "
        "meet. With awareness %llu of the former are reported as free, and in %llu of these "
        "surfaces meet\n",
        (unsigned long long)n.poses, (unsigned long long)n.told, (unsigned long long)n.exact,
        (unsigned long long)n.aware_exact, (unsigned long long)n.aware_missed);
    assert_gt(n.exact, n.poses / 5);
    assert_gt(n.told, n.poses / 5);
}

/* The search for intersections finds what there is. */
static void intersections_are_found(void **state)
{
    (void)state;
    flr_test_part part;
    flr_test_part_make(&part, FLR_TEST_BOX, 1, voxel, false);
    placed *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    flr_pose T = flr_pose_identity();
    place(flr_test_shape_mesh(&part.shape), T, a);
    T.p = flr_vec3_make(0.0239, 0.003, 0.002);
    place(flr_test_shape_mesh(&part.shape), T, b);
    assert_true(intersect(a, b));
    T.p.x = 0.0241;
    place(flr_test_shape_mesh(&part.shape), T, b);
    assert_false(intersect(a, b));
    free(a);
    free(b);
    flr_test_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intersections_are_found),
        cmocka_unit_test(surfaces_do_not_meet_unnoticed),
    };
    return cmocka_run_group_tests_name("contact_guarantee", tests, NULL, NULL);
}
