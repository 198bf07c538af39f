/* two fits: distance, contacts and motion against the plain reference */
#include <math.h>
#include <string.h>

#include "feeler/fit.h"
#include "feeler/mesh.h"
#include "fit/fit_query.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

enum { CAPACITY = 20000 };
static flr_fit_contact want[CAPACITY], got[CAPACITY];

typedef struct both {
    const flr_mesh *meshes[2];
    flr_fit *fits[2];
    flr_fit_pair *pair;
} both;

static both begin(const flr_mesh *a, const flr_mesh *b, double spacing)
{
    both p = {.meshes = {a, b}};
    flr_fit_def def = flr_default_fit_def();
    flr_error error;
    def.spacing = spacing;
    for (int i = 0; i < 2; i++)
        assert_ok(flr_fit_build(p.meshes[i], &def, &p.fits[i], &error), error);
    assert_ok(flr_fit_pair_create(p.fits[0], p.fits[1], &p.pair, &error), error);
    return p;
}

static void end(both *p)
{
    flr_fit_pair_destroy(p->pair);
    for (int i = 0; i < 2; i++) flr_fit_destroy(p->fits[i]);
}

static int by_sample(const void *x, const void *y)
{
    const flr_fit_contact *a = x, *b = y;
    if (a->side != b->side) return a->side < b->side ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static void assert_contact(const flr_fit_contact *a, const flr_fit_contact *b)
{
    assert_true(a->sample == b->sample && a->side == b->side);
    if (a->distance != b->distance)
        fail_msg("sample %u of %u: %.17g, by all triangles %.17g", a->sample, a->side, a->distance,
                 b->distance);
    assert_true(a->triangle[0] == b->triangle[0] && a->triangle[1] == b->triangle[1]);
    assert_true(a->area == b->area && flr_vec3_equal(a->normal, b->normal));
    assert_true(flr_vec3_equal(a->point, b->point) && flr_vec3_equal(a->nearest, b->nearest));
}

/* The whole answer equals that of comparing all with all. Returns the distance. */
static double check_pose(both *p, flr_pose T, double reach)
{
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r, plain;
    params.reach = reach;
    flr_fit_reference_pair(p->fits[0], p->meshes[0], p->fits[1], p->meshes[1], T, &params, want,
                           CAPACITY, &plain);
    flr_fit_pair_query(p->pair, T, &params, got, CAPACITY, &r);
    assert_true(r.complete && r.found && plain.found && r.meet == plain.meet);
    if (r.distance != plain.distance)
        fail_msg("distance %.17g, by all pairs %.17g", r.distance, plain.distance);
    assert_true(r.lower <= plain.distance && r.upper >= plain.distance);
    assert_int_equal(r.contact_total, plain.contact_total);
    assert_int_equal(r.contact_count, plain.contact_count);
    qsort(want, plain.contact_count, sizeof *want, by_sample);
    qsort(got, r.contact_count, sizeof *got, by_sample);
    for (uint32_t i = 0; i < r.contact_count; i++) assert_contact(&got[i], &want[i]);
    return r.distance;
}

/* Limits, tolerance and budget keep what they promise; instruction sets give the same bits. */
static void check_variants(both *p, flr_pose T, double reach)
{
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r, other;
    params.reach = reach;
    const flr_fit_track track = flr_fit_pair_save(p->pair);
    flr_fit_pair_query(p->pair, T, &params, want, CAPACITY, &r);
    const flr_simd sets[] = {FLR_SIMD_SCALAR, FLR_SIMD_AVX2, FLR_SIMD_AVX512, FLR_SIMD_NEON};
    for (int i = 0; i < 4; i++) {
        if (!flr_simd_has(sets[i])) continue;
        p->pair->kernel = flr_fit_choose_kernel(sets[i]);
        memset(got, 0, r.contact_count * sizeof *got);
        flr_fit_pair_restore(p->pair, &track); /* so that the work is the same, too */
        flr_fit_pair_query(p->pair, T, &params, got, CAPACITY, &other);
        assert_true(!memcmp(&r, &other, sizeof r));
        for (uint32_t k = 0; k < r.contact_count; k++) assert_contact(&got[k], &want[k]);
    }
    p->pair->kernel = flr_fit_choose_kernel(FLR_SIMD_BEST);
    params.tolerance = 0.01 * fabs(r.distance);
    flr_fit_pair_query(p->pair, T, &params, NULL, 0, &other);
    assert_true(other.contact_total == r.contact_total && other.contact_count == 0);
    assert_true(other.distance >= r.distance && other.lower <= r.distance);
    assert_true(other.distance <= r.distance + params.tolerance + 1e-12);
    params.tolerance = 0;
    for (params.budget = 1; params.budget < 3000; params.budget *= 4) {
        flr_fit_pair_query(p->pair, T, &params, NULL, 0, &other);
        if (r.distance > 0) assert_true(other.lower <= r.distance);
        assert_true(other.complete || other.lower <= 0 || r.distance > 0);
        if (other.complete && r.distance > 0) assert_true(other.distance == r.distance);
    }
    if (!(r.distance > 0)) return;
    params = flr_default_fit_params();
    params.reach = -1;
    params.max_distance = 0.99 * r.distance;
    flr_fit_pair_query(p->pair, T, &params, NULL, 0, &other);
    assert_true(!other.found && other.complete && other.lower == params.max_distance);
    params.max_distance = 1.01 * r.distance;
    flr_fit_pair_query(p->pair, T, &params, NULL, 0, &other);
    assert_true(other.found && other.distance == r.distance && other.contact_total == 0);
}

static void solids_equal_all_pairs(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("solids equal all pairs");
    unsigned inside = 0, apart = 0;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++)
        for (int k = 0; k < FLR_TEST_SOLID_COUNT; k++) {
            flr_test_part a, b;
            flr_test_part_make(&a, (flr_test_solid)i, 1, 0.002, false);
            flr_test_part_make(&b, (flr_test_solid)k, k == 2 ? 0.3 : 1, 0.002, false);
            both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape), 0.004);
            for (int n = 0; n < 6; n++) {
                const flr_pose T = flr_test_random_pose(&random, n % 2 ? 0.02 : 0.008);
                const double d = check_pose(&p, T, n % 3 ? 0.001 : 0);
                inside += d < 0;
                apart += d > 0;
                check_variants(&p, T, 0.002);
            }
            end(&p);
            flr_test_part_free(&a);
            flr_test_part_free(&b);
        }
    assert_true(inside > 5 && apart > 5);
}

/* A box wholly inside another, and in the hollow of one. */
static void containment_is_interference(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.1, 0.1, 0.1), 4);
    flr_test_shape_box(&b, flr_vec3_make(0.01, 0.01, 0.01), 2);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0);
    const double d = check_pose(&p, flr_pose_identity(), 0);
    assert_true(fabs(d + 0.045) < 0.006);
    end(&p);
    /* the inner wall of a hollow turns inwards */
    const uint32_t vertex = a.vertex_count, triangle = a.triangle_count;
    flr_test_shape_box(&a, flr_vec3_make(0.06, 0.06, 0.06), 4);
    (void)vertex;
    flr_test_shape_turn(&a, triangle);
    p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0);
    assert_true(fabs(check_pose(&p, flr_pose_identity(), 0) - 0.025) < 1e-12);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* A shaft in a bore, all around near. */
static void a_tight_fit_is_exact(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("a tight fit is exact");
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_cylinder(&a, 0.008, 0.03, 48, 6);
    flr_test_shape_cylinder(&b, 0.00795, 0.02, 40, 5);
    flr_test_shape_turn(&a, 0);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0.002);
    for (int i = 0; i < 12; i++) {
        flr_pose T = {flr_vec3_make(flr_test_random_range(&random, -2e-5, 2e-5),
                                    flr_test_random_range(&random, -2e-5, 2e-5),
                                    flr_test_random_range(&random, -2e-3, 2e-3)),
                      flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1),
                                               flr_test_random_range(&random, -3, 3))};
        check_pose(&p, T, 3e-5);
        check_variants(&p, T, 3e-5);
    }
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* Without samples, and by a caller who knows that no part is inside the other, the same distance is found; and less is done. */
static void less_can_be_asked(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("less can be asked");
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_cylinder(&a, 0.008, 0.03, 48, 6);
    flr_test_shape_cylinder(&b, 0.004, 0.02, 40, 5);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0.002);
    uint64_t work[3] = {0};
    for (int i = 0; i < 24; i++) {
        const double aside = i % 2 ? 11.9e-3 : 12.1e-3; /* the former meet */
        flr_pose T = {flr_vec3_make(aside, flr_test_random_range(&random, -1e-4, 1e-4),
                                    flr_test_random_range(&random, -2e-3, 2e-3)),
                      flr_quat_identity()};
        flr_fit_params ask = flr_default_fit_params();
        flr_fit_result all, distance, outside;
        flr_fit_pair_query(p.pair, T, &ask, got, CAPACITY, &all);
        ask.reach = -1;
        flr_fit_pair_query(p.pair, T, &ask, NULL, 0, &distance);
        ask.outside = all.distance > 0;
        flr_fit_pair_query(p.pair, T, &ask, NULL, 0, &outside);
        assert_true(all.complete && distance.complete && outside.complete);
        assert_true(all.distance == distance.distance && all.distance == outside.distance);
        assert_true(all.lower == distance.lower && all.lower == outside.lower);
        assert_true(all.meet == distance.meet && all.meet == outside.meet);
        if (!(all.distance > 0)) continue;
        work[0] += all.work, work[1] += distance.work, work[2] += outside.work;
    }
    print_message("work: %llu, %llu without samples, %llu known to be outside\n",
                  (unsigned long long)work[0], (unsigned long long)work[1],
                  (unsigned long long)work[2]);
    assert_true(work[0] > 0 && work[1] <= work[0] && work[2] <= work[1]);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

static void invalid_poses_find_nothing(void **state)
{
    (void)state;
    flr_test_shape a = {0};
    flr_test_shape_tetrahedron(&a, 1, 1, 1);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&a), 0);
    flr_fit_result r;
    flr_pose T = flr_pose_identity();
    T.p.x = NAN;
    flr_fit_pair_query(p.pair, T, NULL, got, CAPACITY, &r);
    assert_true(!r.found && !r.complete && r.lower == 0 && r.contact_total == 0);
    flr_fit_motion motion = {.from = T, .to = flr_pose_identity()};
    flr_fit_motion_result m;
    flr_fit_pair_motion(p.pair, &motion, NULL, &m);
    assert_true(!m.complete && m.free == 0);
    /* and a query takes no memory */
    flr_fail_alloc_at(0);
    flr_fit_pair_query(p.pair, flr_pose_identity(), NULL, got, CAPACITY, &r);
    motion.from = flr_pose_identity();
    flr_fit_pair_motion(p.pair, &motion, NULL, &m);
    assert_int_equal(flr_fail_alloc_asked(), 0);
    assert_true(flr_fit_pair_bytes(p.pair) > 100);
    end(&p);
    flr_test_shape_free(&a);
}

/* ---- motion ---- */

/* Nothing comes nearer than the clearance up to `free`, and a little later something does. Returns what is free. */
static double check_motion(both *p, const flr_fit_motion *motion, double clearance)
{
    flr_fit_motion_params params = flr_default_fit_motion_params();
    flr_fit_params query = flr_default_fit_params();
    flr_fit_motion_result m;
    flr_fit_result r;
    params.clearance = clearance;
    query.reach = -1;
    flr_fit_pair_query(p->pair, motion->from, &query, NULL, 0, &r);
    if (!(r.distance > clearance)) return 0;
    flr_fit_pair_motion(p->pair, motion, &params, &m);
    assert_true(m.complete && m.free >= 0 && m.free <= 1 && m.blocked == (m.free < 1));
    for (int i = 0; i <= 60; i++) {
        flr_fit_pair_query(p->pair, flr_fit_motion_pose(motion, m.free * i / 60), &query, NULL, 0,
                           &r);
        if (!(r.distance >= clearance - 1e-12) || r.meet)
            fail_msg("%g m apart at %d/60 of %g", r.distance, i, m.free);
    }
    if (m.blocked) assert_true(r.distance <= clearance + 2 * params.tolerance);
    return m.free;
}

static void motions_stop_in_time(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("motions stop in time");
    unsigned blocked = 0, free = 0;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part a, b;
        flr_test_part_make(&a, (flr_test_solid)i, 1, 0.002, false);
        flr_test_part_make(&b, FLR_TEST_TETRAHEDRON, 0.7, 0.002, false);
        both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape), 0);
        for (int n = 0; n < 25; n++) {
            flr_fit_motion motion = {.from = flr_test_random_pose(&random, 0.03),
                                     .centre = flr_vec3_make(0.004, 0.003, 0.002)};
            motion.to = flr_test_random_pose(&random, 0.03);
            if (n % 2) motion.to.q = motion.from.q;
            const double f = check_motion(&p, &motion, n % 3 ? 1e-4 : 0);
            blocked += f > 0 && f < 1;
            free += f == 1;
        }
        end(&p);
        flr_test_part_free(&a);
        flr_test_part_free(&b);
    }
    assert_true(blocked > 10 && free > 5);
}

/* A box slides on another at 1 um without being stopped, however far; and does not go through a thin sheet. */
static void sliding_is_free(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.1, 0.1, 0.01), 8);
    flr_test_shape_box(&b, flr_vec3_make(0.02, 0.02, 0.02), 4);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0);
    flr_fit_motion motion = {.from = flr_pose_identity(), .to = flr_pose_identity()};
    motion.from.p = flr_vec3_make(-0.03, 0.001, 0.015001);
    motion.to.p = flr_vec3_make(0.03, 0.02, 0.015001);
    assert_true(check_motion(&p, &motion, 0) == 1);
    motion.to.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.5);
    assert_true(check_motion(&p, &motion, 0) == 1);
    /* what is nearer than the clearance may leave, and slide, but not come nearer */
    flr_fit_motion_params params = {.clearance = 1e-5, .tolerance = 1e-7};
    flr_fit_motion_result m;
    flr_fit_pair_motion(p.pair, &motion, &params, &m);
    assert_true(m.free == 1);
    motion.to = motion.from;
    motion.to.p.z = 0.1;
    flr_fit_pair_motion(p.pair, &motion, &params, &m);
    assert_true(m.free == 1);
    motion.to.p.z = -0.1;
    flr_fit_pair_motion(p.pair, &motion, &params, &m);
    assert_true(m.blocked && m.free * 0.115 < 2e-7 && m.normal.z > 0.999);
    /* through a slab ten times thinner than the step */
    motion.from.p.z = 0.1;
    const double f = check_motion(&p, &motion, 0);
    assert_true(f < 0.43 && f > 0.42);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* A plate tilts on a spike that it is hardly apart from. Its corners come down by a thousand times that, but nothing comes nearer. */
static void rolling_is_free(void **state)
{
    (void)state;
    flr_test_shape spike = {0}, plate = {0};
    const double gap = 2e-7;
    const flr_vec3 foot = {-0.003, -0.004, -0.001};
    flr_test_shape_tetrahedron(&spike, 0.001, 0.001, 0.01);
    flr_test_shape_move(&spike, 0,
                        (flr_pose){.q = flr_quat_identity(), .p = flr_vec3_make(0, 0, -0.01)}, 1);
    flr_test_shape_box(&plate, flr_vec3_make(0.04, 0.04, 0.002), 1);
    both p = begin(flr_test_shape_mesh(&spike), flr_test_shape_mesh(&plate), 0);
    flr_fit_motion motion = {.from = flr_pose_identity(), .centre = foot};
    flr_fit_motion_params params = {.clearance = 1e-7, .tolerance = 1e-7, .start = gap};
    flr_fit_motion_result m;
    motion.centre.z -= gap;
    for (int i = 0; i < 8; i++) {
        const flr_vec3 axis = flr_vec3_make(cos(i), sin(i), 0);
        motion.from.p = flr_vec3_neg(motion.centre);
        motion.to.q = flr_quat_from_axis_angle(axis, 0.015);
        motion.to.p = flr_vec3_neg(flr_quat_rotate(motion.to.q, motion.centre));
        assert_true(check_motion(&p, &motion, 1e-7) == 1);
        flr_fit_pair_motion(p.pair, &motion, &params, &m);
        assert_true(m.free == 1 && m.meeting == 0);
    }
    end(&p);
    flr_test_shape_free(&spike);
    flr_test_shape_free(&plate);
}

/* A real peg in its hole. */
static void a_peg_equals_all_pairs(void **state)
{
    (void)state;
    const char *dir = flr_test_models_dir();
    if (!dir) skip();
    static const char *const names[] = {"factory_round_hole_8mm_subdiv_3x.obj",
                                        "factory_round_peg_8mm_loose.obj"};
    flr_mesh *meshes[2];
    flr_error error;
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = 1;
    for (int i = 0; i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/assembly/factory_peg_hole_8mm/%s", dir, names[i]);
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &meshes[i], NULL, &error), error);
    }
    both p = begin(meshes[0], meshes[1], 0.002);
    flr_test_random random = flr_test_random_begin("a peg in its hole");
    for (int i = 0; i < 3; i++) {
        flr_pose T = flr_pose_identity();
        T.p = flr_vec3_make(flr_test_random_range(&random, -3e-5, 3e-5),
                            flr_test_random_range(&random, -3e-5, 3e-5),
                            flr_test_random_range(&random, 0.001, 0.01));
        check_pose(&p, T, 4e-5);
    }
    end(&p);
    for (int i = 0; i < 2; i++) flr_mesh_destroy(meshes[i]);
}

/* Adds a box around a point. */
static void add_box(flr_test_shape *shape, flr_vec3 size, uint32_t n, flr_vec3 at)
{
    const uint32_t first = shape->vertex_count;
    flr_test_shape_box(shape, size, n);
    flr_test_shape_move(shape, first, flr_pose_make(at, flr_quat_identity()), 1);
}

/* A closed mesh of two boxes that cross, and a part of four boxes, each wholly outside or inside of it: the side of a shell is that of
 * all its samples, and not that of other shells. */
static void shells_have_sides(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("shells have sides");
    flr_test_shape a = {0}, b = {0};
    add_box(&a, flr_vec3_make(0.04, 0.04, 0.01), 6, flr_vec3_zero());
    add_box(&a, flr_vec3_make(0.01, 0.01, 0.04), 6, flr_vec3_zero());
    add_box(&b, flr_vec3_make(0.008, 0.008, 0.004), 3, flr_vec3_make(0.012, 0.012, 0.0072));
    add_box(&b, flr_vec3_make(0.004, 0.004, 0.002), 3, flr_vec3_make(0.012, 0, 0.0038));
    add_box(&b, flr_vec3_make(0.003, 0.003, 0.001), 3, flr_vec3_make(0, 0, 0.0042));
    add_box(&b, flr_vec3_make(0.004, 0.004, 0.004), 3, flr_vec3_make(0, -0.0225, 0.001));
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b), 0.002);
    assert_true(flr_fit_is_closed(p.fits[0]) && !flr_fit_get_info(p.fits[0]).solid);
    for (int i = 0; i < 12; i++) {
        const flr_vec3 turn = flr_vec3_make(flr_test_random_range(&random, -5e-3, 5e-3),
                                            flr_test_random_range(&random, -5e-3, 5e-3),
                                            flr_test_random_range(&random, -5e-3, 5e-3)),
                       shift = flr_vec3_make(flr_test_random_range(&random, -5e-5, 5e-5),
                                             flr_test_random_range(&random, -5e-5, 5e-5),
                                             flr_test_random_range(&random, -5e-5, 5e-5));
        const flr_pose T = flr_pose_make(shift, flr_quat_from_rotation_vector(turn));
        check_pose(&p, T, 0.001);
        flr_fit_params params = flr_default_fit_params();
        flr_fit_result r;
        uint32_t inside = 0, outside = 0;
        params.reach = 0.001;
        flr_fit_pair_query(p.pair, T, &params, got, CAPACITY, &r);
        for (uint32_t k = 0; k < r.contact_count; k++)
            inside += got[k].distance<0, outside += got[k].distance> 0;
        assert_true(r.distance < 0 && !r.meet && inside > 20 && outside > 20);
    }
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* Beside a part whose faces do not all face the same way, samples of one patch may be inside and outside, and so may pieces of a
 * patch that hang on nothing. The depth is that of the deepest sample all the same. */
static void open_parts_interfere_as_deep(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("open parts interfere as deep");
    flr_test_shape open = {0}, pieces = {0};
    add_box(&open, flr_vec3_make(0.02, 0.02, 0.01), 3, flr_vec3_zero());
    const uint32_t second = open.triangle_count;
    add_box(&open, flr_vec3_make(0.02, 0.02, 0.01), 3, flr_vec3_make(0, 0, 0.01));
    flr_test_shape_turn(&open, second);
    open.triangle_count -= 20;
    for (int i = 0; i < 60; i++) {
        const double x = flr_test_random_range(&random, -0.01, 0.01),
                     y = flr_test_random_range(&random, -0.01, 0.01),
                     z = flr_test_random_range(&random, -0.01, 0.01);
        flr_test_shape_triangle(&pieces, flr_test_shape_vertex(&pieces, x, y, z),
                                flr_test_shape_vertex(&pieces, x + 0.0004, y, z),
                                flr_test_shape_vertex(&pieces, x, y + 0.0004, z));
    }
    flr_test_part box;
    flr_test_part_make(&box, (flr_test_solid)0, 0.5, 0.002, false);
    flr_mesh_def def = flr_default_mesh_def();
    flr_mesh *tidy;
    flr_error error;
    def.vertices = open.vertices, def.vertex_count = open.vertex_count;
    def.triangles = open.triangles, def.triangle_count = open.triangle_count;
    assert_ok(flr_mesh_create(&def, &tidy, &error), error);
    const flr_mesh *meshes[3] = {tidy, flr_test_shape_mesh(&pieces),
                                 flr_test_shape_mesh(&box.shape)};
    unsigned inside = 0;
    for (int k = 0; k < 9; k++) {
        both p = begin(meshes[k / 3], meshes[k % 3], 0.002);
        for (int i = 0; i < 10; i++)
            inside += check_pose(&p, flr_test_random_pose(&random, 0.012), i % 2 ? 1e-5 : 0) < 0;
        end(&p);
    }
    assert_true(inside > 20);
    flr_test_shape_free(&open);
    flr_mesh_destroy(tidy);
    flr_test_shape_free(&pieces);
    flr_test_part_free(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_equal_all_pairs),
        cmocka_unit_test(containment_is_interference),
        cmocka_unit_test(a_tight_fit_is_exact),
        cmocka_unit_test(less_can_be_asked),
        cmocka_unit_test(invalid_poses_find_nothing),
        cmocka_unit_test(motions_stop_in_time),
        cmocka_unit_test(sliding_is_free),
        cmocka_unit_test(rolling_is_free),
        cmocka_unit_test(a_peg_equals_all_pairs),
        cmocka_unit_test(shells_have_sides),
        cmocka_unit_test(open_parts_interfere_as_deep),
    };
    return cmocka_run_group_tests_name("fit pair", tests, NULL, NULL);
}
