/* a few contacts act as many do: wrench and stiffness, over random sets */
#include "world/tight_reduce.h"

#include "dynamics/mat6.h"
#include "support/test.h"

enum { MAX_POINTS = 12000 };

/* one contact */
typedef struct point {
    flr_vec3 arm, normal;
    double away, depth, limit, stiffness, room;
} point;

static point points[MAX_POINTS];
static flr_tight_points columns;
static flr_tight_bins bins;
static uint32_t kept[FLR_TIGHT_SOFT];
static double stiffness[FLR_TIGHT_SOFT];

static const flr_tight_points *side_by_side(uint32_t count)
{
    if (!columns.capacity) assert_true(flr_tight_points_create(&columns, MAX_POINTS));
    columns.count = count;
    for (uint32_t i = 0; i < count; i++) {
        const point *p = &points[i];
        const flr_vec6 j = flr_vec6_from(flr_vec3_cross(p->arm, p->normal), p->normal);
        columns.arm[0][i] = (float)p->arm.x;
        columns.arm[1][i] = (float)p->arm.y;
        columns.arm[2][i] = (float)p->arm.z;
        for (int k = 0; k < 6; k++) columns.j[k][i] = (float)j.v[k];
        columns.away[i] = (float)p->away;
        columns.depth[i] = (float)p->depth;
        columns.limit[i] = (float)p->limit;
        columns.stiffness[i] = (float)p->stiffness;
        columns.room[i] = (float)p->room;
    }
    return &columns;
}

/* the sums that a body feels, arms by `size` */
static void add(const point *p, double k, double size, flr_vec6 *wrench, flr_mat6 *sum)
{
    flr_vec6 j =
        flr_vec6_from(flr_vec3_scale(flr_vec3_cross(p->arm, p->normal), 1 / size), p->normal);
    *wrench = flr_vec6_add_scaled(*wrench, k * fmax(0, p->depth), j);
    flr_mat6_add_outer(sum, k, j);
}

static double norm(flr_vec6 a) { return sqrt(flr_vec6_dot(a, a)); }

static double norm6(const flr_mat6 *m)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) sum += (i == k ? 1 : 2) * m->m[i][k] * m->m[i][k];
    return sqrt(sum);
}

/* Reduces, and says how far both sums are off, as a share of their size. */
static uint32_t reduce(uint32_t count, double size, double *wrench_error, double *stiff_error)
{
    flr_vec6 w0 = {0}, w1 = {0};
    flr_mat6 k0 = {0}, k1 = {0};
    for (uint32_t i = 0; i < count; i++) add(&points[i], points[i].stiffness, size, &w0, &k0);
    uint32_t used = flr_tight_reduce(side_by_side(count), &bins, kept, stiffness);
    for (uint32_t i = 0; i < used; i++) {
        assert_true(kept[i] < count && stiffness[i] >= 0);
        add(&points[kept[i]], stiffness[i], size, &w1, &k1);
    }
    /* by the sum of all pushes, since opposite ones cancel */
    double pushes = 0;
    for (uint32_t i = 0; i < count; i++) pushes += points[i].stiffness * fmax(0, points[i].depth);
    flr_mat6 off = k1;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i; k++) off.m[i][k] -= k0.m[i][k];
    *wrench_error = norm(flr_vec6_add_scaled(w1, -1, w0)) / fmax(norm(w0), 0.05 * pushes);
    *stiff_error = norm6(&off) / norm6(&k0);
    return used;
}

static flr_vec3 any_direction(flr_test_random *rng)
{
    flr_vec3 v;
    do
        v = flr_vec3_make(flr_test_random_range(rng, -1, 1), flr_test_random_range(rng, -1, 1),
                          flr_test_random_range(rng, -1, 1));
    while (flr_vec3_length2(v) < 0.01);
    return flr_vec3_normalize(v);
}

/* points everywhere; on a ring as in a thread; on a plane; in a corner of three planes */
static void fill(flr_test_random *rng, uint32_t count, int kind)
{
    for (uint32_t i = 0; i < count; i++) {
        double x = flr_test_random_range(rng, -1, 1), y = flr_test_random_range(rng, -1, 1),
               z = flr_test_random_range(rng, -1, 1), at = 3.14159265 * x;
        point *p = &points[i];
        *p = (point){.depth = 5e-6 * flr_test_random_range(rng, -0.3, 1),
                     .limit = 4e-6,
                     .stiffness = flr_test_random_range(rng, 0, 1)};
        p->room = p->limit - p->depth;
        if (kind == 0)
            p->arm = flr_vec3_make(0.01 * x, 0.02 * y, 0.03 * z), p->normal = any_direction(rng);
        if (kind == 1) {
            p->arm = flr_vec3_make(0.008 * cos(at), 0.008 * sin(at), 0.006 * z);
            p->normal = flr_vec3_normalize(
                flr_vec3_make(0.5 * cos(at), 0.5 * sin(at), y > 0 ? 0.87 : -0.87));
        }
        if (kind == 2)
            p->arm = flr_vec3_make(0.1 * x, 0.1 * y, 0.02), p->normal = flr_vec3_make(0, 0, 1);
        if (kind == 3) {
            p->arm = flr_vec3_make(i % 3 == 0 ? 0 : 0.02 * x, i % 3 == 1 ? 0 : 0.02 * y,
                                   i % 3 == 2 ? 0 : 0.02 * z);
            p->normal = flr_vec3_make(i % 3 == 0, i % 3 == 1, i % 3 == 2);
        }
    }
}

static void few_act_as_many(void **state)
{
    (void)state;
    double worst_wrench = 0, worst_stiffness = 0;
    flr_test_random rng = flr_test_random_begin("few_act_as_many");
    for (int seed = 1; seed <= 60; seed++) {
        uint32_t count = 130 + (uint32_t)flr_test_random_range(&rng, 0, MAX_POINTS - 131);
        fill(&rng, count, seed % 4);
        double wrench, stiff;
        uint32_t used = reduce(count, 0.02, &wrench, &stiff);
        if (!(wrench < 0.01 && stiff < 0.01))
            fail_msg("set %d: %u of %u contacts, wrench off by %g, stiffness by %g", seed, used,
                     count, wrench, stiff);
        assert_true(used <= FLR_TIGHT_SOFT);
        worst_wrench = fmax(worst_wrench, wrench);
        worst_stiffness = fmax(worst_stiffness, stiff);
    }
    print_message("off by at most: wrench %.2g, stiffness %.2g\n", worst_wrench, worst_stiffness);
}

static void few_enough_stay_as_they_are(void **state)
{
    (void)state;
    flr_test_random rng = flr_test_random_begin("few_enough");
    fill(&rng, FLR_TIGHT_SOFT, 0);
    for (uint32_t i = 0; i < FLR_TIGHT_SOFT; i += 3) points[i].stiffness = 0;
    uint32_t used = flr_tight_reduce(side_by_side(FLR_TIGHT_SOFT), &bins, kept, stiffness);
    uint32_t at = 0;
    for (uint32_t i = 0; i < FLR_TIGHT_SOFT; i++) {
        if (points[i].stiffness == 0) continue;
        assert_int_equal(kept[at], i);
        assert_true(stiffness[at++] == (double)(float)points[i].stiffness);
    }
    assert_int_equal(used, at);
    assert_int_equal(flr_tight_reduce(side_by_side(0), &bins, kept, stiffness), 0);
}

/* what a motion leaves each of them, next to the formula */
static void a_motion_is_measured(void **state)
{
    (void)state;
    flr_test_random rng = flr_test_random_begin("a_motion_is_measured");
    const flr_twist twist = {.angular = flr_vec3_make(1, -2, 3), .linear = {-4, 5, 6}};
    for (uint32_t count = 1; count < 40; count++) {
        fill(&rng, count, 0);
        for (uint32_t i = 0; i < count; i++) points[i].away = flr_test_random_range(&rng, -1, 1);
        side_by_side(count);
        if (count > 3) columns.limit[3] = INFINITY;
        double least = flr_tight_points_measure(&columns, twist, 1e-3), want = INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            const point *p = &points[i];
            double speed = flr_vec3_dot(p->normal, flr_twist_velocity(twist, p->arm)) - p->away;
            double room = p->limit - p->depth + 1e-3 * speed;
            if (i == 3) room = INFINITY;
            if (i != 3) assert_within((double)columns.room[i], room, 2e-9);
            want = fmin(want, room);
        }
        assert_within(least, want, 2e-9);
    }
}

/* the point nearest to its limit is always kept, and so is one of each corner of a plate */
static void the_nearest_are_kept(void **state)
{
    (void)state;
    flr_test_random rng = flr_test_random_begin("the_nearest_are_kept");
    for (int seed = 1; seed <= 20; seed++) {
        fill(&rng, 5000, seed % 4);
        uint32_t nearest = 0, found = 0;
        for (uint32_t i = 1; i < 5000; i++)
            if (points[i].depth > points[nearest].depth) nearest = i;
        uint32_t used = flr_tight_nearest(side_by_side(5000), INFINITY, &bins, kept);
        assert_true(used > 0 && used <= FLR_TIGHT_HARD);
        for (uint32_t i = 0; i < used; i++) found += kept[i] == nearest;
        assert_int_equal(found, 1);
        for (int corner = 0; seed % 4 == 2 && corner < 4; corner++) {
            double best = -1;
            for (uint32_t i = 0; i < used; i++)
                best = fmax(best, points[kept[i]].arm.x * (corner & 1 ? 1 : -1) +
                                      points[kept[i]].arm.y * (corner & 2 ? 1 : -1));
            assert_true(best > 0.15);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_act_as_many), cmocka_unit_test(few_enough_stay_as_they_are),
        cmocka_unit_test(a_motion_is_measured), cmocka_unit_test(the_nearest_are_kept)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    flr_tight_points_destroy(&columns);
    return failed;
}
