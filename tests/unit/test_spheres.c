/* sphere trees against brute force: the same pairs, whatever the view, the options and the number of threads */
#include "feeler/spheres.h"

#include <math.h>

#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/golden.h"
#include "support/quiet.h"

/* ---- brute force ---- */

/* a part's voxels, one after the other */
typedef struct cloud {
    uint32_t (*at)[3];
    size_t count;
    flr_voxmap_info info;
} cloud;

static cloud cloud_of(const flr_voxmap *voxmap, bool surface_only)
{
    cloud c = {.info = flr_voxmap_get_info(voxmap)};
    size_t room = 0;
    for (uint32_t z = 0; z < c.info.size[2]; z++)
        for (uint32_t y = 0; y < c.info.size[1]; y++)
            for (uint32_t x = 0; x < c.info.size[0]; x++) {
                unsigned mark = flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, x, y, z);
                if (mark != FLR_MARK_SURFACE && (surface_only || mark != FLR_MARK_INTERIOR))
                    continue;
                if (c.count == room) c.at = realloc(c.at, (room = 2 * room + 64) * sizeof *c.at);
                c.at[c.count][0] = x, c.at[c.count][1] = y, c.at[c.count][2] = z;
                c.count++;
            }
    return c;
}

static flr_vec3 centre_of(const cloud *c, size_t i, flr_pose T)
{
    double s = c->info.voxel;
    return flr_pose_apply(T, flr_vec3_make(c->info.origin.x + s * (c->at[i][0] + 0.5),
                                           c->info.origin.y + s * (c->at[i][1] + 0.5),
                                           c->info.origin.z + s * (c->at[i][2] + 0.5)));
}

/* The largest gap between two cubes along any of the fifteen axes, metres: below 0 they intersect. */
static double gap_of(const flr_mat3 *A, const flr_mat3 *B, double a, double b, flr_vec3 way)
{
    double gap = -INFINITY;
    for (int n = 0; n < 15; n++) {
        flr_vec3 axis = n < 3   ? flr_mat3_column(*A, n)
                        : n < 6 ? flr_mat3_column(*B, n - 3)
                                : flr_vec3_cross(flr_mat3_column(*A, (n - 6) / 3),
                                                 flr_mat3_column(*B, (n - 6) % 3));
        double length = flr_vec3_length(axis);
        if (length < 1e-6) continue;
        double reach = 0;
        for (int i = 0; i < 3; i++)
            reach += 0.5 * a * fabs(flr_vec3_dot(axis, flr_mat3_column(*A, i))) +
                     0.5 * b * fabs(flr_vec3_dot(axis, flr_mat3_column(*B, i)));
        gap = fmax(gap, (fabs(flr_vec3_dot(axis, way)) - reach) / length);
    }
    return gap;
}

static uint64_t key_of(const uint32_t a[3], const uint32_t b[3])
{
    uint64_t key = 0;
    for (int i = 0; i < 3; i++) key = key << 10 | a[i];
    for (int i = 0; i < 3; i++) key = key << 10 | b[i];
    return key;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef struct keys {
    uint64_t *keys; /* lowest bit: so near to touching that either answer is right */
    size_t count;
} keys;

static keys brute(const cloud *a, const cloud *b, flr_pose T_a, flr_pose T_b)
{
    keys found = {0};
    size_t room = 0;
    flr_mat3 A = flr_quat_to_mat3(T_a.q), B = flr_quat_to_mat3(T_b.q);
    double sa = a->info.voxel, sb = b->info.voxel, most = 0.75 * (sa + sb) * (sa + sb) * (1 + 1e-6);
    flr_vec3 *of_b = malloc(b->count * sizeof *of_b);
    for (size_t k = 0; k < b->count; k++) of_b[k] = centre_of(b, k, T_b);
    for (size_t i = 0; i < a->count; i++) {
        flr_vec3 c = centre_of(a, i, T_a);
        for (size_t k = 0; k < b->count; k++) {
            flr_vec3 way = flr_vec3_sub(of_b[k], c);
            if (flr_vec3_dot(way, way) > most) continue;
            double gap = gap_of(&A, &B, sa, sb, way);
            if (gap > 1e-6 * sa) continue;
            if (found.count == room)
                found.keys = realloc(found.keys, (room = 2 * room + 64) * sizeof *found.keys);
            found.keys[found.count++] = key_of(a->at[i], b->at[k]) << 1 | (gap > -1e-6 * sa);
        }
    }
    free(of_b);
    if (found.count) qsort(found.keys, found.count, sizeof *found.keys, by_key);
    return found;
}

/* ---- the trees ---- */

static flr_sphere_tree *tree_of(const flr_test_part *part, flr_sphere_view view, bool surface_only)
{
    flr_sphere_tree_def def = flr_default_sphere_tree_def();
    def.voxmap = part->voxmap, def.shell = part->shell;
    def.view = view, def.surface_only = surface_only;
    flr_sphere_tree *tree;
    flr_error error;
    assert_ok(flr_sphere_tree_create(&def, &tree, &error), error);
    return tree;
}

static flr_spheres *room_for(uint32_t pairs, unsigned threads)
{
    flr_spheres_def def = flr_default_spheres_def();
    def.pairs = def.listed = pairs;
    def.threads = threads;
    flr_spheres *spheres;
    flr_error error;
    assert_ok(flr_spheres_create(&def, &spheres, &error), error);
    return spheres;
}

static keys keys_of(const flr_spheres *spheres, uint32_t count)
{
    const flr_voxel_pair *list = flr_spheres_list(spheres);
    keys k = {malloc((count + 1) * sizeof *k.keys), count};
    for (uint32_t i = 0; i < count; i++) k.keys[i] = key_of(list[i].a, list[i].b) << 1;
    if (count) qsort(k.keys, count, sizeof *k.keys, by_key);
    return k;
}

static void assert_same(keys right, keys told)
{
    size_t k = 0;
    for (size_t i = 0; i < right.count; i++) {
        bool there = k < told.count && told.keys[k] >> 1 == right.keys[i] >> 1;
        if (!there && !(right.keys[i] & 1)) fail_msg("a pair is missing");
        k += there;
    }
    if (k != told.count) fail_msg("%zu pairs too many", told.count - k);
}

/* Whether each pair of voxels lies in some pair of cubes, as large as the answer says. */
static void assert_covers(const flr_spheres *spheres, const flr_spheres_result *result,
                          const double voxel[2], const keys *voxels)
{
    assert_int_equal(result->listed, result->pairs);
    assert_eq(result->resolution, fmax(result->side_a, result->side_b));
    const double wide[2] = {result->side_a / voxel[0], result->side_b / voxel[1]};
    uint64_t within = 0; /* the bits that say where in its cube a voxel is */
    for (int side = 0; side < 2; side++) {
        uint64_t width = (uint64_t)(wide[side] + 0.5);
        assert_lt(fabs(wide[side] - (double)width), 1e-9);
        assert_eq((width & (width - 1)), 0);
        for (int axis = 0; axis < 3; axis++) within = within << 10 | (width - 1);
    }
    keys cubes = keys_of(spheres, result->listed);
    for (size_t i = 0; i < voxels->count; i++) {
        if (voxels->keys[i] & 1) continue;
        uint64_t key = voxels->keys[i] & ~(within << 1);
        if (!cubes.count || !bsearch(&key, cubes.keys, cubes.count, sizeof key, by_key))
            fail_msg("a pair of voxels is in no pair of cubes");
    }
    free(cubes.keys);
}

/* Ends early, at a level and then by budget: coarser, but nothing is missing. */
static void assert_early(flr_spheres *spheres, const flr_spheres_side *a, const flr_spheres_side *b,
                         flr_spheres_params params, flr_test_random *random, const keys *right)
{
    const flr_spheres_side *sides[2] = {a, b};
    flr_spheres_result result;
    flr_spheres_query(spheres, a, b, &params, &result);
    uint64_t tests = result.tests;
    params.level = 1 + flr_test_random_below(random, 4);
    flr_spheres_query(spheres, a, b, &params, &result);
    double voxel[2], side[2];
    for (int i = 0; i < 2; i++) {
        flr_sphere_tree_info info = flr_sphere_tree_get_info(sides[i]->tree);
        unsigned steps = (params.level + info.view - 1) / info.view;
        if (steps > info.levels) steps = info.levels;
        voxel[i] = info.voxel;
        side[i] = info.voxel * (double)(1u << info.view * steps);
    }
    /* where nothing is near there is nothing coarse about the answer */
    if (result.pairs) assert_true(result.side_a == side[0] && result.side_b == side[1]);
    assert_eq(result.complete, (result.pairs == 0));
    assert_covers(spheres, &result, voxel, right);

    params.level = 0, params.budget = 1 + tests / 2;
    flr_spheres_query(spheres, a, b, &params, &result);
    assert_le(result.tests, params.budget);
    assert_covers(spheres, &result, voxel, right);
}

static void assert_same_result(const flr_spheres_result *a, const flr_spheres_result *b)
{
    assert_eq(a->pairs, b->pairs);
    assert_eq(a->listed, b->listed);
    assert_eq(a->complete, b->complete);
    assert_eq(a->side_a, b->side_a);
    assert_eq(a->side_b, b->side_b);
    assert_eq(a->resolution, b->resolution);
    assert_eq(a->tests, b->tests);
    assert_eq(a->steps, b->steps);
    assert_eq(a->out_of_room, b->out_of_room);
    assert_eq(a->out_of_budget, b->out_of_budget);
}

static void the_pairs_are_those_of_brute_force(void **state)
{
    (void)state;
    const char *scale = getenv("FLR_SPHERES_ROUNDS");
    unsigned rounds = scale ? (unsigned)atoi(scale) : 40, poses = 12;
    flr_test_random random = flr_test_random_begin("spheres");
    flr_spheres *spheres = room_for(200000, 1), *many = room_for(200000, 3);
    uint64_t pairs = 0, touching = 0, shared = 0;
    for (unsigned round = 0; round < rounds; round++) {
        flr_test_part part[2];
        cloud clouds[2];
        flr_sphere_tree *trees[2];
        double size = 0;
        for (int i = 0; i < 2; i++) {
            double part_scale = flr_test_random_range(&random, 0.5, 1);
            double voxel = flr_test_random_range(&random, 0.0014, 0.004);
            uint32_t solid = flr_test_random_below(&random, FLR_TEST_SOLID_COUNT);
            flr_test_part_make(&part[i], (flr_test_solid)solid, part_scale, voxel, false);
            bool surface_only = flr_test_random_below(&random, 4) > 0;
            clouds[i] = cloud_of(part[i].voxmap, surface_only);
            trees[i] = tree_of(&part[i], (flr_sphere_view)(1 + flr_test_random_below(&random, 3)),
                               surface_only);
            size += 0.008 * part_scale;
        }
        for (unsigned i = 0; i < poses; i++) {
            flr_spheres_side a = {.tree = trees[0],
                                  .T_world_part = flr_test_random_pose(&random, 0.1)},
                             b = {.tree = trees[1], .T_world_part = a.T_world_part};
            flr_pose by = flr_test_random_pose(&random, size);
            if (i % 4 == 3) by.q = flr_quat_identity(); /* edges that are parallel */
            b.T_world_part = flr_pose_mul(a.T_world_part, by);
            flr_spheres_params params = flr_default_spheres_params();
            params.one_child = i & 1, params.side = i & 2;
            flr_spheres_result result;
            flr_spheres_query(spheres, &a, &b, &params, &result);
            assert_true(result.complete);
            keys told = keys_of(spheres, result.listed),
                 right = brute(&clouds[0], &clouds[1], a.T_world_part, b.T_world_part);
            assert_same(right, told);
            pairs += right.count, touching += right.count > 0;
            flr_spheres_result other;
            flr_spheres_query(many, &a, &b, &params, &other);
            assert_same_result(&result, &other);
            assert_memory_equal(flr_spheres_list(spheres), flr_spheres_list(many),
                                result.listed * sizeof(flr_voxel_pair));
            shared += result.tests > 5000; /* enough for several threads */
            assert_early(i % 2 ? spheres : many, &a, &b, params, &random, &right);
            free(told.keys);
            free(right.keys);
        }
        for (int i = 0; i < 2; i++) {
            flr_sphere_tree_destroy(trees[i]);
            flr_test_part_free(&part[i]);
            free(clouds[i].at);
        }
    }
    print_message("%u poses, %llu of them touching, %llu pairs, %llu shared between threads\n",
                  rounds * poses, (unsigned long long)touching, (unsigned long long)pairs,
                  (unsigned long long)shared);
    assert_gt(touching, rounds * poses / 4);
    assert_gt(shared, rounds * poses / 20);
    flr_spheres_destroy(spheres);
    flr_spheres_destroy(many);
}

/* ---- two parts that touch ---- */

typedef struct subject {
    flr_test_part part[2];
    flr_sphere_tree *trees[4]; /* octree, 64, 512 of the first; octree of the second */
    flr_spheres *spheres;
} subject;

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_test_part_make(&s->part[0], FLR_TEST_TORUS, 1, 0.0005, false);
    flr_test_part_make(&s->part[1], FLR_TEST_BOX, 1, 0.0007, false);
    for (int i = 0; i < 3; i++) s->trees[i] = tree_of(&s->part[0], (flr_sphere_view)(i + 1), true);
    s->trees[3] = tree_of(&s->part[1], FLR_SPHERE_OCTREE, true);
    s->spheres = room_for(50000, 1);
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    for (int i = 0; i < 4; i++) flr_sphere_tree_destroy(s->trees[i]);
    for (int i = 0; i < 2; i++) flr_test_part_free(&s->part[i]);
    flr_spheres_destroy(s->spheres);
    free(s);
    return 0;
}

static const double above = 0.0095; /* the torus lies on the box, a little in it */

static void sides(const subject *s, int view, flr_spheres_side *a, flr_spheres_side *b)
{
    *a = (flr_spheres_side){.tree = s->trees[view], .T_world_part = flr_pose_identity()};
    *b = (flr_spheres_side){.tree = s->trees[3], .T_world_part = flr_pose_identity()};
    a->T_world_part = flr_pose_make(flr_vec3_make(0.001, 0.0005, above),
                                    flr_quat_from_axis_angle(flr_vec3_make(0.1, 0.2, 1), 0.4));
}

static void optimisations_save_tests_and_change_nothing(void **state)
{
    subject *s = *state;
    for (int view = 0; view < 3; view++) {
        flr_spheres_side a, b;
        sides(s, view, &a, &b);
        uint64_t tests[4];
        keys first = {0};
        for (int i = 0; i < 4; i++) {
            flr_spheres_params params = flr_default_spheres_params();
            params.one_child = i & 1, params.side = i & 2;
            flr_spheres_result result;
            flr_spheres_query(s->spheres, &a, &b, &params, &result);
            assert_true(result.complete);
            assert_gt(result.pairs, 100);
            tests[i] = result.tests;
            keys told = keys_of(s->spheres, result.listed);
            if (i == 0) first = told;
            assert_int_equal(told.count, first.count);
            assert_memory_equal(told.keys, first.keys, told.count * sizeof *told.keys);
            if (i) free(told.keys);
        }
        free(first.keys);
        assert_lt(tests[2], tests[0]);
        assert_le(tests[3], tests[2]);
        assert_le(tests[1], tests[0]);
    }
}

static void threads_give_the_same_bits(void **state)
{
    subject *s = *state;
    flr_spheres *many = room_for(50000, 4);
    for (int view = 0; view < 3; view++)
        for (unsigned level = 0; level < 3; level++) {
            flr_spheres_side a, b;
            sides(s, view, &a, &b);
            flr_spheres_params params = flr_default_spheres_params();
            params.level = level;
            flr_spheres_result one, other;
            flr_spheres_query(s->spheres, &a, &b, &params, &one);
            flr_spheres_query(many, &a, &b, &params, &other);
            assert_same_result(&one, &other);
            assert_memory_equal(flr_spheres_list(s->spheres), flr_spheres_list(many),
                                one.listed * sizeof(flr_voxel_pair));
        }
    flr_spheres_destroy(many);
}

/* The same with every compiler, build and instruction set. */
static void answers_are_golden(void **state)
{
    subject *s = *state;
    static const char *const names[3] = {"octree", "64-tree", "512-tree"};
    bool all = true;
    for (int view = 0; view < 3; view++) {
        flr_spheres_side a, b;
        sides(s, view, &a, &b);
        flr_spheres_params params = flr_default_spheres_params();
        flr_spheres_result result;
        flr_spheres_query(s->spheres, &a, &b, &params, &result);
        all &= flr_test_golden_has(
            "spheres.txt", names[view],
            flr_hash_bytes(flr_spheres_list(s->spheres), result.listed * sizeof(flr_voxel_pair)));
    }
    assert_true(all);
}

static void an_early_end_says_how_coarse_it_is(void **state)
{
    subject *s = *state;
    flr_spheres_side a, b;
    sides(s, 0, &a, &b);
    flr_spheres_params params = flr_default_spheres_params();
    flr_spheres_result fine, coarse;
    flr_spheres_query(s->spheres, &a, &b, &params, &fine);
    keys voxels = keys_of(s->spheres, fine.listed);
    const double voxel[2] = {0.0005, 0.0007};
    assert_eq(fine.resolution, voxel[1]);
    assert_true(fine.complete);

    /* by level */
    params.level = 3;
    flr_spheres_query(s->spheres, &a, &b, &params, &coarse);
    assert_false(coarse.complete || coarse.out_of_room || coarse.out_of_budget);
    assert_lt(fabs(coarse.side_a - 8 * 0.0005), 1e-12);
    assert_lt(fabs(coarse.side_b - 8 * 0.0007), 1e-12);
    assert_covers(s->spheres, &coarse, voxel, &voxels);

    /* by budget */
    params.level = 0, params.budget = fine.tests / 4;
    flr_spheres_query(s->spheres, &a, &b, &params, &coarse);
    assert_true(coarse.out_of_budget);
    assert_false(coarse.complete);
    assert_le(coarse.tests, params.budget);
    assert_covers(s->spheres, &coarse, voxel, &voxels);

    /* by room, with any number of threads */
    params.budget = 0;
    flr_spheres_result results[2];
    for (unsigned threads = 1; threads <= 2; threads++) {
        flr_spheres *small = room_for(fine.pairs / 2, threads);
        flr_spheres_query(small, &a, &b, &params, &results[threads - 1]);
        assert_true(results[0].out_of_room);
        assert_false(results[0].complete);
        flr_spheres_destroy(small);
    }
    assert_same_result(&results[0], &results[1]);
    free(voxels.keys);
}

static void pairs_say_where_and_how(void **state)
{
    subject *s = *state;
    flr_spheres_side a, b;
    sides(s, 0, &a, &b);
    a.T_world_part = flr_pose_make(flr_vec3_make(0.001, 0, above + 0.0003),
                                   flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.4));
    a.twist = flr_twist_make(flr_vec3_make(0, 0, 2), flr_vec3_make(0.1, 0, -0.3));
    a.centre = a.T_world_part.p;
    b.twist = flr_twist_make(flr_vec3_zero(), flr_vec3_make(0, 0, 0.2));
    flr_spheres_params params = flr_default_spheres_params();
    flr_spheres_result result;
    flr_spheres_query(s->spheres, &a, &b, &params, &result);
    assert_gt(result.pairs, 50);
    const flr_voxel_pair *list = flr_spheres_list(s->spheres);
    unsigned inner = 0;
    for (uint32_t i = 0; i < result.listed; i++) {
        const flr_voxel_pair *p = &list[i];
        assert_lt(fabs(flr_vec3_length(p->normal) - 1), 1e-9);
        /* away from its edges the box's top faces up, the torus' underside down */
        if (fabs(p->centre_b.x) < 0.010 && fabs(p->centre_b.y) < 0.008) {
            assert_gt(p->normal.z, 0.5);
            assert_gt(p->normal_b.z, 0.9);
            assert_lt(p->normal_a.z, -0.3);
            assert_lt(fabs(p->centre_b.z - 0.006), 0.001);
            inner++;
        }
        assert_gt(p->depth, 0);
        assert_lt(p->depth, 0.0012 * sqrt(3));
        assert_lt(fabs(p->velocity.z + 0.5), 1e-9);
        double x = 0.5 * (p->centre_a.x + p->centre_b.x), y = 0.5 * (p->centre_a.y + p->centre_b.y);
        assert_lt(fabs(p->velocity.x - (0.1 - 2 * (y - a.centre.y))), 1e-9);
        assert_lt(fabs(p->velocity.y - 2 * (x - a.centre.x)), 1e-9);
    }
    assert_gt(inner, 20);
}

static void nonsense_touches_nothing(void **state)
{
    subject *s = *state;
    flr_spheres_side a, b;
    sides(s, 0, &a, &b);
    flr_spheres_params params = flr_default_spheres_params();
    flr_spheres_result result;
    const flr_pose wrong[] = {{{NAN, 0, 0}, {1, 0, 0, 0}},
                              {{0, 0, 0}, {0, 0, 0, 0}},
                              {{1e12, 0, 0}, {1, 0, 0, 0}},
                              {{0, INFINITY, 0}, {1, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        a.T_world_part = wrong[i];
        flr_spheres_query(s->spheres, &a, &b, &params, &result);
        assert_eq(result.pairs, 0);
        assert_eq(result.listed, 0);
        assert_true(result.complete);
        flr_spheres_query(s->spheres, &b, &a, &params, &result);
        assert_eq(result.pairs, 0);
    }
    flr_sphere_tree *tree = NULL;
    flr_sphere_tree_def def = flr_default_sphere_tree_def();
    flr_error error;
    assert_int_equal(flr_sphere_tree_create(&def, &tree, &error), FLR_BAD_ARGUMENT);
    def.voxmap = s->part[0].voxmap, def.view = (flr_sphere_view)4;
    assert_int_equal(flr_sphere_tree_create(&def, &tree, &error), FLR_BAD_ARGUMENT);
    flr_spheres *spheres = NULL;
    flr_spheres_def room = flr_default_spheres_def();
    room.pairs = 0;
    assert_int_equal(flr_spheres_create(&room, &spheres, &error), FLR_BAD_ARGUMENT);
    assert_null(tree);
    assert_null(spheres);
}

static uint64_t ask(void *context)
{
    const subject *s = context;
    uint64_t found = 0;
    for (int view = 0; view < 3; view++)
        for (int i = 0; i < 4; i++) {
            flr_spheres_side a, b;
            sides(s, view, &a, &b);
            flr_spheres_params params = flr_default_spheres_params();
            params.one_child = i & 1, params.side = i & 2, params.budget = i == 3 ? 1000 : 0;
            flr_spheres_result result;
            flr_spheres_query(s->spheres, &a, &b, &params, &result);
            found += result.pairs;
        }
    return found;
}

static void asking_is_quiet(void **state) { flr_test_quiet(ask, *state, NULL); }

static flr_result make_all(void *context, flr_error *error)
{
    const subject *s = context;
    flr_sphere_tree_def def = flr_default_sphere_tree_def();
    def.voxmap = s->part[1].voxmap;
    flr_sphere_tree *tree;
    flr_result result = flr_sphere_tree_create(&def, &tree, error);
    if (result != FLR_OK) return result;
    flr_spheres_def room = {.pairs = 1000, .listed = 100, .threads = 2};
    flr_spheres *spheres;
    result = flr_spheres_create(&room, &spheres, error);
    if (result == FLR_OK) {
        flr_spheres_destroy(spheres);
    }
    flr_sphere_tree_destroy(tree);
    return result;
}

static void lack_of_memory_is_told(void **state) { flr_fail_alloc_each(make_all, *state); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pairs_are_those_of_brute_force),
        cmocka_unit_test(optimisations_save_tests_and_change_nothing),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(answers_are_golden),
        cmocka_unit_test(an_early_end_says_how_coarse_it_is),
        cmocka_unit_test(pairs_say_where_and_how),
        cmocka_unit_test(nonsense_touches_nothing),
        cmocka_unit_test(asking_is_quiet),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("spheres", tests, begin, end);
}
