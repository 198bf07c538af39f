/* pairs of fits that remember: the same bits as those that do not, all along a way */
#include <math.h>
#include <string.h>

#include "feeler/fit.h"
#include "fit/fit_query.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

enum { CAPACITY = 20000 };
static flr_fit_contact want[CAPACITY], got[CAPACITY];

typedef struct both {
    const flr_mesh *meshes[2];
    flr_fit *fits[2];
    flr_fit_pair *warm, *cold;
} both;

static both begin(const flr_mesh *a, const flr_mesh *b)
{
    both p = {.meshes = {a, b}, .fits = {flr_test_fit(a), flr_test_fit(b)}};
    flr_error error;
    assert_ok(flr_fit_pair_create(p.fits[0], p.fits[1], &p.warm, &error), error);
    assert_ok(flr_fit_pair_create(p.fits[0], p.fits[1], &p.cold, &error), error);
    return p;
}

static void end(both *p)
{
    flr_fit_pair_destroy(p->warm);
    flr_fit_pair_destroy(p->cold);
    for (int i = 0; i < 2; i++) flr_fit_destroy(p->fits[i]);
}

/* The same query of a pair that remembers, one that knows nothing, and now and then the plain reference. */
static void check_query(both *p, flr_pose T, double reach, bool plainly)
{
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r, plain;
    params.reach = reach;
    flr_fit_pair_query(p->warm, T, &params, got, CAPACITY, &r);
    flr_fit_pair_restore(p->cold, NULL);
    flr_fit_pair_query(p->cold, T, &params, want, CAPACITY, &plain);
    assert_true(r.complete && plain.complete);
    r.work = plain.work = 0;
    assert_true(!memcmp(&r, &plain, sizeof r));
    assert_true(!memcmp(got, want, r.contact_count * sizeof *got));
    if (!plainly) return;
    flr_fit_reference_pair(p->fits[0], p->meshes[0], p->fits[1], p->meshes[1], T, &params, want,
                           CAPACITY, &plain);
    assert_true(r.distance == plain.distance && r.contact_total == plain.contact_total);
}

/* A step of a way: mostly small, now and then far, or a turn about an axis with a shift along it. */
static flr_pose next_pose(flr_test_random *random, flr_pose T, double size, int kind)
{
    const double small = size * (kind == 1 ? 0.002 : 0.0003);
    for (int k = 0; k < 3; k++) (&T.p.x)[k] += flr_test_random_range(random, -small, small);
    const flr_vec3 turn = kind == 2 ? flr_vec3_make(0, 0, 0.01)
                                    : flr_vec3_make(flr_test_random_range(random, -1e-3, 1e-3),
                                                    flr_test_random_range(random, -1e-3, 1e-3),
                                                    flr_test_random_range(random, -1e-3, 1e-3));
    if (kind == 2) T.p.z += 0.01 * size / 20;
    T.q = flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(turn), T.q));
    return T;
}

static void memory_changes_nothing(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("memory changes nothing");
    unsigned met = 0, apart = 0;
    for (int i = 0; i < FLR_TEST_SOLID_COUNT; i++) {
        flr_test_part a, b;
        flr_test_part_make(&a, (flr_test_solid)i, 1, 0.002, false);
        flr_test_part_make(&b, (flr_test_solid)((i + 1) % FLR_TEST_SOLID_COUNT), 0.6, 0.002, false);
        both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape));
        const double size = flr_fit_get_info(p.fits[0]).size;
        for (int kind = 0; kind < 3; kind++) {
            flr_pose T = flr_test_random_pose(&random, 0.012);
            for (int n = 0; n < 25; n++) {
                T = n % 12 == 11 ? flr_test_random_pose(&random, 0.012)
                                 : next_pose(&random, T, size, kind);
                check_query(&p, T, n % 2 ? 0.0005 : 0, n % 8 == 0);
                flr_fit_result r;
                flr_fit_pair_query(p.warm, T, NULL, NULL, 0, &r);
                met += r.distance <= 0, apart += r.distance > 0;
            }
        }
        end(&p);
        flr_test_part_free(&a);
        flr_test_part_free(&b);
    }
    assert_true(met > 20 && apart > 20);
}

/* A ring of boxes around a box, all sides near: what a tight fit looks like. */
static void tracks_are_restored(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.04, 0.04, 0.01), 12);
    flr_test_shape_box(&b, flr_vec3_make(0.02, 0.02, 0.02), 10);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
    flr_fit_params params = flr_default_fit_params();
    flr_pose T = flr_pose_identity();
    T.p = flr_vec3_make(-0.005, 0.001, 0.015010);
    params.reach = 2e-5;
    params.tolerance = 1e-7;
    for (int i = 0; i < 60; i++) {
        flr_fit_result r, other;
        T.p.x += 2e-4, T.p.z += (i % 3 - 1) * 1e-6;
        const flr_fit_track track = flr_fit_pair_save(p.warm);
        flr_fit_pair_restore(p.cold, &track);
        const flr_fit_track again = flr_fit_pair_save(p.cold);
        assert_true(!memcmp(&track, &again, sizeof track));
        flr_fit_pair_query(p.warm, T, &params, got, CAPACITY, &r);
        flr_fit_pair_query(p.cold, T, &params, want, CAPACITY, &other);
        assert_true(!memcmp(&r, &other, sizeof r) && r.contact_count > 10);
        assert_true(!memcmp(got, want, r.contact_count * sizeof *got));
    }
    /* tracks that cannot be true are forgotten */
    flr_fit_track wrong = flr_fit_pair_save(p.warm);
    wrong.nearest[0] = 1u << 30;
    flr_fit_pair_restore(p.cold, &wrong);
    const flr_fit_track none = flr_fit_pair_save(p.cold);
    assert_true(none.cover[0] == 0 && none.nearest[0] == 0);
    wrong = flr_fit_pair_save(p.warm);
    wrong.cover[3] = NAN;
    flr_fit_pair_restore(p.cold, &wrong);
    assert_true(flr_fit_pair_save(p.cold).nearest[0] == 0);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* How many lists a step of a motion made: those whose reference pose is another one. */
static unsigned lists_made(const flr_fit_track *before, const flr_fit_track *now)
{
    unsigned count = 0;
    for (int g = 0; g < FLR_FIT_GROUPS; g++)
        count +=
            memcmp(&before->reference[g], &now->reference[g], sizeof before->reference[g]) != 0;
    return count;
}

/* Along an even motion every step makes about as many lists as any other, so that none takes much longer. */
static void lists_are_made_evenly(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.04, 0.04, 0.01), 24);
    flr_test_shape_box(&b, flr_vec3_make(0.02, 0.02, 0.02), 24);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
    flr_fit_params params = flr_default_fit_params();
    params.reach = 2e-5, params.max_distance = 1e-4;
    flr_fit_motion m = {.from = flr_pose_identity()};
    m.from.p = flr_vec3_make(-0.009, 0.001, 0.015010);
    unsigned most = 0, least = FLR_FIT_GROUPS, all = 0;
    enum { STEPS = 120, SETTLED = 40 };
    for (int i = 0; i < STEPS; i++) {
        flr_fit_motion_result way;
        flr_fit_result r;
        const flr_fit_track before = flr_fit_pair_save(p.warm);
        m.to = m.from, m.to.p.x += 1.5e-4;
        flr_fit_pair_sweep(p.warm, &m, NULL, &params, got, CAPACITY, &way, &r);
        assert_true(way.free == 1 && r.complete);
        const flr_fit_track now = flr_fit_pair_save(p.warm);
        const unsigned made = lists_made(&before, &now);
        m.from = m.to;
        if (i < SETTLED) continue;
        most = made > most ? made : most;
        least = made < least ? made : least;
        all += made;
    }
    printf("  %u to %u lists a step, %.2f on average\n", least, most,
           (double)all / (STEPS - SETTLED));
    assert_true(all > STEPS - SETTLED && most <= least + 1);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* Lists whose cover is lost in rounding hold nothing for sure, even before anything has moved. */
static void lists_far_from_everything_are_refused(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.04, 0.04, 0.01), 4);
    flr_test_shape_box(&b, flr_vec3_make(0.02, 0.02, 0.02), 4);
    const double limits[2] = {1e-3, 1e6};
    for (int i = 0; i < 2; i++) {
        both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
        const flr_fit_params params = flr_default_fit_params();
        flr_pose T = flr_pose_identity();
        T.p.z = 0.05;
        flr_fit_query q = flr_fit_begin_query(p.warm, T, &params);
        assert_int_equal(flr_fit_follow(&q, limits[i], NULL), i == 0);
        end(&p);
    }
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* What a sweep calls free is free at poses in between, by all pairs of triangles; its query is that at the end. */
static void sweeps_are_free(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("sweeps are free");
    unsigned free = 0, blocked = 0;
    flr_test_part a, b;
    flr_test_part_make(&a, (flr_test_solid)0, 1, 0.002, false);
    flr_test_part_make(&b, FLR_TEST_TETRAHEDRON, 0.7, 0.002, false);
    both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape));
    flr_fit_params params = flr_default_fit_params(), touch = params;
    touch.reach = -1;
    params.reach = 0.0005;
    flr_fit_motion motion = {.from = flr_test_random_pose(&random, 0.03),
                             .centre = flr_vec3_make(0.004, 0.003, 0.002)};
    for (int n = 0; n < 60; n++) {
        flr_fit_motion_params check = flr_default_fit_motion_params();
        flr_fit_motion_result way;
        flr_fit_result r, plain;
        motion.to =
            n % 3 ? next_pose(&random, motion.from, 0.5, 0) : flr_test_random_pose(&random, 0.02);
        check.clearance = n % 2 ? 1e-6 : 0;
        check.deviation = n % 4 ? 0 : 1e-7;
        flr_fit_pair_query(p.warm, motion.from, &touch, NULL, 0, &r);
        if (!(r.distance > 2e-6)) {
            motion.from = flr_test_random_pose(&random, 0.03);
            continue;
        }
        check.start = n % 5 ? r.lower : 0;
        flr_fit_pair_sweep(p.warm, &motion, &check, &params, got, CAPACITY, &way, &r);
        assert_true(way.complete && (way.free == 1) == r.complete);
        for (int i = 0; i <= 12; i++) {
            const flr_pose T = flr_fit_motion_pose(&motion, way.free * i / 12);
            flr_fit_reference_pair(p.fits[0], p.meshes[0], p.fits[1], p.meshes[1], T, &touch, NULL,
                                   0, &plain);
            assert_true(!plain.meet && plain.distance >= check.clearance - 1e-12);
        }
        if (way.free == 1) {
            flr_fit_pair_restore(p.cold, NULL);
            flr_fit_pair_query(p.cold, motion.to, &params, want, CAPACITY, &plain);
            r.work = plain.work = 0;
            assert_true(!memcmp(&r, &plain, sizeof r));
            motion.from = motion.to;
        }
        free += way.free == 1, blocked += way.free < 1;
    }
    assert_true(free > 10 && blocked > 3);
    end(&p);
    flr_test_part_free(&a);
    flr_test_part_free(&b);
}

/* metres: from a point to the nearest box around a patch, by all of them */
static double box_distance(const flr_fit *fit, flr_vec3 p)
{
    const double at[3] = {p.x, p.y, p.z};
    double least2 = INFINITY;
    for (uint32_t i = 0; i < fit->counts.patches; i++) {
        const flr_fit_boxes *b = &fit->level[0][i / FLR_FIT_WIDE];
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const double gap = fmax(fmax((double)b->low[k][i % FLR_FIT_WIDE] - at[k],
                                         at[k] - (double)b->high[k][i % FLR_FIT_WIDE]),
                                    0);
            sum += gap * gap;
        }
        least2 = fmin(least2, sum);
    }
    return sqrt(least2);
}

/* What is remembered of balls changes no answer, and the answers are right. */
static void balls_are_near_boxes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("balls are near boxes");
    const flr_fit_params params = flr_default_fit_params();
    flr_test_part a, b;
    flr_test_part_make(&a, (flr_test_solid)0, 1, 0.001, false);
    flr_test_part_make(&b, FLR_TEST_TETRAHEDRON, 0.7, 0.001, false);
    both p = begin(flr_test_shape_mesh(&a.shape), flr_test_shape_mesh(&b.shape));
    flr_fit_lists *l = &p.warm->lists;
    unsigned near = 0, far = 0;
    const double size = flr_fit_get_info(p.fits[0]).size;
    flr_pose T = flr_pose_identity();
    for (int n = 0; n < 400; n++) {
        T = n % 50 ? next_pose(&random, T, 50 * size, 0) : flr_test_random_pose(&random, size);
        const flr_fit_query q = flr_fit_begin_query(p.warm, T, &params);
        const double within = flr_test_random_range(&random, 0, 0.1 * size);
        for (uint32_t i = 0; i < p.fits[1]->counts.patches; i++) {
            flr_fit_ball *ball = n % 2 ? &l->balls[i] : &l->eights[i / FLR_FIT_WIDE], fresh = *ball;
            fresh.distance = (flr_fit_bounds){NAN, NAN};
            const double beyond =
                box_distance(p.fits[0], flr_pose_apply(T, ball->centre)) - ball->radius - within;
            const bool answer = flr_fit_ball_is_near(&q, ball, within);
            assert_true(answer == flr_fit_ball_is_near(&q, &fresh, within));
            assert_true(answer ? beyond < 1e-6 : beyond > -1e-6);
            near += answer, far += !answer;
        }
    }
    assert_true(near > 100 && far > 100);
    end(&p);
    flr_test_part_free(&a);
    flr_test_part_free(&b);
}

static flr_result make_pair(void *context, flr_error *error)
{
    const both *p = context;
    flr_fit_pair *pair;
    const flr_result result = flr_fit_pair_create(p->fits[0], p->fits[1], &pair, error);
    if (result == FLR_OK) flr_fit_pair_destroy(pair);
    return result;
}

/* Only the making of a pair takes memory, and it fails in one piece. */
static void nothing_is_allocated_later(void **state)
{
    (void)state;
    flr_test_shape a = {0}, b = {0};
    flr_test_shape_box(&a, flr_vec3_make(0.04, 0.04, 0.01), 6);
    flr_test_shape_box(&b, flr_vec3_make(0.02, 0.02, 0.02), 5);
    both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
    assert_true(flr_fail_alloc_each(make_pair, &p) > 5);
    flr_fail_alloc_at(0);
    flr_pose T = flr_pose_identity();
    for (int i = 0; i < 20; i++) {
        flr_fit_motion_result way;
        flr_fit_result r;
        flr_fit_motion motion = {.from = T, .to = T};
        motion.from.p = flr_vec3_make(0.001 * i, 0, 0.01501);
        motion.to.p = flr_vec3_make(0.001 * i + 0.001, 0, 0.01501);
        flr_fit_pair_sweep(p.warm, &motion, NULL, NULL, got, CAPACITY, &way, &r);
        assert_true(way.free == 1 && r.distance > 0);
        const flr_fit_track track = flr_fit_pair_save(p.warm);
        flr_fit_pair_restore(p.cold, &track);
    }
    assert_int_equal(flr_fail_alloc_asked(), 0);
    end(&p);
    flr_test_shape_free(&a);
    flr_test_shape_free(&b);
}

/* metres: how far two patches are apart at a pose, by all their triangles */
static double apart_at(const both *p, uint32_t a, uint32_t b, flr_pose T)
{
    const flr_fit_patch *of_a = &p->fits[0]->patches[a], *of_b = &p->fits[1]->patches[b];
    flr_nearest near = {.distance2 = INFINITY};
    for (uint32_t i = 0; i < of_a->faces; i++)
        for (uint32_t k = 0; k < of_b->faces; k++) {
            flr_vec3 t[3], u[3];
            flr_fit_triangle(p->fits[0], p->fits[0]->faces[of_a->first_face + i].triangle, t);
            flr_fit_triangle(p->fits[1], p->fits[1]->faces[of_b->first_face + k].triangle, u);
            for (int j = 0; j < 3; j++) u[j] = flr_pose_apply(T, u[j]);
            flr_triangles_nearest(t, u, &near);
        }
    return sqrt(near.distance2);
}

/* what bounds of one step came to */
typedef struct tightness {
    uint32_t curves, close; /* how many; how many of them are within 5 um */
    uint32_t all, sure;     /* entries; those of which something is known after the way */
    uint32_t overhang; /* are apart although their bounds do not tell: those of what overhangs */
} tightness;

/* What is called apart but for what overhangs is apart at both poses and in between, for some distances below and above that of the
 * patches. */
static void check_overhang(const both *p, const flr_fit_query *const q[2], flr_fit_guest guests[2],
                           uint32_t patch, uint32_t entry, const double at[3], tightness *t)
{
    const flr_fit_entry *e = &p->warm->lists.entries[entry];
    const double radii = (double)p->fits[0]->patches[e->patch].radius +
                         (double)p->fits[1]->patches[patch].radius,
                 travel = flr_vec3_distance(q[0]->T_a_b.p, q[1]->T_a_b.p),
                 least = fmin(at[0], fmin(at[1], at[2])),
                 bound = fmin(flr_fit_bound(q[0], &guests[0], patch, entry),
                              flr_fit_bound(q[1], &guests[1], patch, entry));
    for (double share = 0.1; share < 1.3; share += 0.1) {
        const double apart = share * least,
                     need = apart + flr_fit_between(q[0], e, patch, travel, 0);
        const float limit = (float)((apart + FLR_FIT_SINGLE * (2 * radii + 1e-3)) * (1 + 1e-6));
        if (!flr_fit_overhang_is_free(q, guests, patch, entry, limit, need)) continue;
        for (int i = 0; i < 3; i++) assert_le(apart, at[i] + 1e-12);
        t->overhang += bound < need ? 1 : 0;
    }
}

/* The bounds of some entries at two poses, and on a straight way between them. */
static void check_bounds(both *p, flr_pose from, flr_pose to, uint32_t step, tightness *t)
{
    const flr_fit_params params = {.reach = -1, .max_distance = -1};
    const double travel = flr_vec3_distance(from.p, to.p);
    flr_pose middle = from;
    middle.p = flr_vec3_lerp(from.p, to.p, 0.5);
    flr_fit_query q = flr_fit_begin_query(p->warm, from, &params),
                  end_query = flr_fit_begin_query(p->warm, to, &params);
    assert_true(flr_fit_follow(&q, 2e-4, NULL));
    flr_fit_set_turned(&end_query);
    flr_fit_recall(&end_query);
    flr_fit_move_on(&end_query);
    const flr_fit_lists *l = &p->warm->lists;
    for (uint32_t i = step % 9; i < p->fits[1]->counts.patches; i += 9) {
        if (!l->count[i]) continue;
        flr_fit_guest guests[2] = {{.received = false}, {.received = false}};
        for (uint32_t k = 0; k < l->count[i]; k++) {
            const uint32_t at = l->first[i] + k;
            const flr_fit_entry *e = &l->entries[at];
            const double begins = flr_fit_bound(&q, &guests[0], i, at),
                         ends = flr_fit_bound(&end_query, &guests[1], i, at);
            const double begin_at = apart_at(p, e->patch, i, from),
                         end_at = apart_at(p, e->patch, i, to);
            assert_le(begins, begin_at + 1e-12);
            assert_le(ends, end_at + 1e-12);
            t->all++;
            t->sure += isfinite(l->sure[at]) ? 1 : 0;
            assert_le((double)l->sure[at] - (double)end_query.odometer[i], ends + 1e-12);
            assert_le(fmin(begins, ends) - flr_fit_between(&q, e, i, travel, 0),
                      apart_at(p, e->patch, i, middle) + 1e-12);
            if (e->keeper != FLR_FIT_CURVE_A && e->keeper != FLR_FIT_CURVE_B) continue;
            t->curves++;
            t->close += begins > begin_at - 5e-6;
            const flr_fit_query *const queries[2] = {&q, &end_query};
            const double distances[3] = {begin_at, end_at, apart_at(p, e->patch, i, middle)};
            check_overhang(p, queries, guests, i, at, distances, t);
        }
    }
}

/* A shaft in a bore, and a ball in a bowl, 50 um apart: no bound is more than the distance, and curves come close to it. */
static void bounds_hold(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("bounds hold");
    for (int kind = 0; kind < 2; kind++) {
        flr_test_shape a = {0}, b = {0};
        if (kind == 0) {
            flr_test_shape_cylinder(&a, 0.005, 0.008, 160, 1);
            flr_test_shape_cylinder(&b, 0.00495, 0.01, 144, 2);
        } else {
            flr_test_shape_sphere(&a, 0.005, 120, 60);
            flr_test_shape_sphere(&b, 0.00495, 128, 56);
        }
        flr_test_shape_turn(&a, 0);
        both p = begin(flr_test_shape_mesh(&a), flr_test_shape_mesh(&b));
        flr_pose T = flr_pose_identity();
        tightness t = {0, 0, 0, 0, 0};
        for (uint32_t step = 0; step < 5; step++) {
            flr_pose to = T;
            for (int k = 0; k < 3; k++) (&to.p.x)[k] += flr_test_random_range(&random, -8e-6, 8e-6);
            check_bounds(&p, T, to, step, &t);
            T = next_pose(&random, to, 0.01, 0);
            T.p = flr_vec3_scale(T.p, 0.3);
        }
        print_message("%u of %u curves come within 5 um\n", t.close, t.curves);
        print_message("of %u of %u entries bounds are known after a way\n", t.sure, t.all);
        print_message("%u times only what overhangs seems to be near\n", t.overhang);
        assert_gt(t.sure * 10, t.all * 7);
        if (kind == 1) assert_gt(t.curves, 100);
        if (kind == 1) assert_gt(t.overhang, 20);
        if (kind == 1) assert_gt(t.close * 16, t.curves);
        end(&p);
        flr_test_shape_free(&a);
        flr_test_shape_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_changes_nothing),
                                       cmocka_unit_test(bounds_hold),
                                       cmocka_unit_test(tracks_are_restored),
                                       cmocka_unit_test(lists_are_made_evenly),
                                       cmocka_unit_test(sweeps_are_free),
                                       cmocka_unit_test(balls_are_near_boxes),
                                       cmocka_unit_test(lists_far_from_everything_are_refused),
                                       cmocka_unit_test(nothing_is_allocated_later)};
    return cmocka_run_group_tests_name("fit track", tests, NULL, NULL);
}
