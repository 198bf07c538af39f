/* removal paths: found where there is one, checked again by force, and never found where there is none */
#include "feeler/plan.h"
#include "support/fixtures.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BOXES = 8 };

/* boxes given by their corners, as one mesh */
typedef struct solid {
    flr_vec3 v[8 * MAX_BOXES];
    flr_triangle t[12 * MAX_BOXES];
    uint32_t boxes;
} solid;

static void add_box(solid *s, double x0, double x1, double y0, double y1, double z0, double z1)
{
    static const uint32_t t[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                      {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                      {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    const uint32_t n = s->boxes++;
    for (uint32_t i = 0; i < 8; i++)
        s->v[8 * n + i] = (flr_vec3){i & 1 ? x1 : x0, i & 2 ? y1 : y0, i & 4 ? z1 : z0};
    for (uint32_t i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++) s->t[12 * n + i].v[k] = 8 * n + t[i][k];
}

static flr_fit *fit_of(const solid *s)
{
    return flr_test_fit_of(s->v, 8 * s->boxes, s->t, 12 * s->boxes);
}

static flr_fit *one_box(double x0, double x1, double y0, double y1, double z0, double z1)
{
    solid s = {.boxes = 0};
    add_box(&s, x0, x1, y0, y1, z0, z1);
    return fit_of(&s);
}

static flr_plan_result find_path_by(flr_env *env, const flr_plan_def *def,
                                    const flr_plan_search *search)
{
    flr_plan_result result;
    flr_error error;
    assert_ok(flr_plan_find(env, def, search, &result, &error), error);
    return result;
}

static flr_plan_result find_path(const flr_plan_def *def, const flr_plan_search *search)
{
    return find_path_by(flr_env_real(), def, search);
}

/* No pose of the path, far more finely spaced, is nearer than the clearance. */
static void check_again(const flr_plan_def *def, const flr_plan_result *r)
{
    enum { FINE = 3000 };
    flr_error error;
    for (uint32_t o = 0; o < def->obstacle_count; o++) {
        flr_fit_pair *pair;
        double start = 0;
        assert_ok(flr_fit_pair_create(def->obstacles[o].fit, def->moving[0].fit, &pair, &error),
                  error);
        for (int k = 0; k <= FINE; k++) {
            const double where = (double)(r->pose_count - 1) * k / FINE;
            const size_t i = (size_t)fmin(where, (double)(r->pose_count - 2));
            const flr_pose T =
                flr_pose_interpolate(r->poses[i], r->poses[i + 1], where - (double)i);
            flr_fit_result q;
            flr_fit_pair_query(pair, flr_pose_mul(flr_pose_inverse(def->obstacles[o].T), T), NULL,
                               NULL, 0, &q);
            if (k == 0) start = q.distance;
            // rounding, and what a fit may lose
            if (!(q.distance >= fmin(def->clearance, 0.95 * start) - 1e-12))
                fail_msg("%.9g at %g of %zu, started at %.9g", q.distance, where, r->pose_count,
                         start);
        }
        flr_fit_pair_destroy(pair);
    }
    assert_true(r->verdict.free);
}

static flr_plan_def def_of(const flr_plan_part *moving, const flr_plan_part *obstacles,
                           uint32_t count, double clearance)
{
    flr_plan_def def = flr_default_plan_def();
    def.moving = moving, def.moving_count = 1;
    def.obstacles = obstacles, def.obstacle_count = count, def.clearance = clearance;
    return def;
}

static flr_plan_search short_search(double seconds)
{
    flr_plan_search search = flr_default_plan_search();
    search.from = flr_pose_identity();
    search.seconds = seconds;
    search.threads = 2;
    return search;
}

/* a block in a box without lid comes out upwards; with an L-shaped slot it takes two moves */
static void straight_and_legs(void **state)
{
    (void)state;
    solid cup = {.boxes = 0};
    add_box(&cup, -0.03, 0.03, -0.03, 0.03, -0.03, -0.0105);
    add_box(&cup, -0.03, -0.0105, -0.03, 0.03, -0.0105, 0.03);
    add_box(&cup, 0.0105, 0.03, -0.03, 0.03, -0.0105, 0.03);
    add_box(&cup, -0.0105, 0.0105, -0.03, -0.0105, -0.0105, 0.03);
    add_box(&cup, -0.0105, 0.0105, 0.0105, 0.03, -0.0105, 0.03);
    flr_fit *walls = fit_of(&cup), *block = one_box(-0.01, 0.01, -0.01, 0.01, -0.01, 0.01);
    const flr_plan_part moving = {block, flr_pose_identity()},
                        stands = {walls, flr_pose_identity()};
    flr_plan_def def = def_of(&moving, &stands, 1, 0.0002);
    flr_plan_search search = short_search(60);
    flr_plan_result r = find_path(&def, &search);
    assert_int_equal(r.method, FLR_PLAN_STRAIGHT);
    assert_true(r.poses[r.pose_count - 1].p.z > 0.03);
    assert_true(r.verdict.lower > 0.00049);
    check_again(&def, &r);
    flr_plan_result_free(&r);
    // a slot to the side, below a lid with a hole at its end
    solid slot = {.boxes = 0};
    add_box(&slot, -0.03, 0.1, -0.03, 0.03, -0.03, -0.0105);
    add_box(&slot, -0.03, 0.1, -0.03, -0.0105, -0.0105, 0.03);
    add_box(&slot, -0.03, 0.1, 0.0105, 0.03, -0.0105, 0.03);
    add_box(&slot, -0.03, -0.0105, -0.0105, 0.0105, -0.0105, 0.03);
    add_box(&slot, 0.08, 0.1, -0.0105, 0.0105, -0.0105, 0.03);
    add_box(&slot, -0.0105, 0.055, -0.0105, 0.0105, 0.0105, 0.03);
    flr_fit *lid = fit_of(&slot);
    const flr_plan_part closed = {lid, flr_pose_identity()};
    def = def_of(&moving, &closed, 1, 0.0002);
    r = find_path(&def, &search);
    assert_int_equal(r.method, FLR_PLAN_LEGS);
    check_again(&def, &r);
    flr_plan_result again = find_path(&def, &search);
    assert_int_equal(again.pose_count, r.pose_count);
    assert_memory_equal(again.poses, r.poses, r.pose_count * sizeof *r.poses);
    flr_plan_result_free(&again);
    flr_plan_result_free(&r);
    flr_fit_destroy(walls);
    flr_fit_destroy(block);
    flr_fit_destroy(lid);
}

/* six plates around a block: none comes out; without the one that is not as firm as the others it does */
static void blocked(void **state)
{
    (void)state;
    flr_fit *block = one_box(-0.01, 0.01, -0.01, 0.01, -0.01, 0.01),
            *plate = one_box(-0.03, 0.03, -0.03, 0.03, -0.002, 0.002);
    const flr_quat along[3] = {flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), 1.5707963267948966),
                               flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), 1.5707963267948966),
                               flr_quat_identity()};
    const flr_plan_part moving = {block, flr_pose_identity()};
    flr_plan_part plates[6];
    for (int i = 0; i < 6; i++) {
        const double by = i % 2 ? -0.014 : 0.014;
        const flr_vec3 p = {i / 2 == 0 ? by : 0, i / 2 == 1 ? by : 0, i / 2 == 2 ? by : 0};
        plates[i] = (flr_plan_part){plate, {p, along[i / 2]}};
    }
    flr_plan_def def = def_of(&moving, plates, 6, 0);
    flr_plan_search search = short_search(0.2);
    search.threads = 1;
    flr_plan_result r = find_path_by(flr_test_counting_env(), &def, &search);
    assert_null(r.poses);
    assert_int_equal(r.method, FLR_PLAN_NONE);
    assert_true(r.blocker_count >= 1 && r.reached < 0.01);
    for (uint32_t i = 0; i < r.blocker_count && i < 4; i++) assert_true(r.blockers[i].sole);
    flr_plan_result_free(&r);
    // a second wall behind all plates but one: that one alone is to blame
    for (uint32_t weak = 0; weak < 6; weak++) {
        flr_plan_part all[11];
        uint32_t count = 6;
        for (uint32_t i = 0; i < 6; i++) {
            all[i] = plates[i];
            if (i == weak) continue;
            all[count] = plates[i];
            all[count++].T.p = flr_vec3_scale(plates[i].T.p, 1.5);
        }
        def = def_of(&moving, all, count, 0);
        r = find_path_by(flr_test_counting_env(), &def, &search);
        assert_null(r.poses);
        assert_true(r.blocker_count >= 1);
        assert_true(r.blockers[0].sole);
        assert_int_equal(r.blockers[0].obstacle, weak);
        if (r.blocker_count > 1) assert_false(r.blockers[1].sole);
        flr_plan_result_free(&r);
    }
    flr_fit_destroy(block);
    flr_fit_destroy(plate);
}

/* a bar has to turn to pass the window of a wall, and goes to a given pose behind it */
static void turn_through_window(void **state)
{
    (void)state;
    solid wall = {.boxes = 0};
    add_box(&wall, -0.1, 0.1, -0.1, 0.1, 0.03, 0.034);
    wall.boxes = 0;
    add_box(&wall, -0.1, -0.01, -0.1, 0.1, 0.03, 0.034);
    add_box(&wall, 0.01, 0.1, -0.1, 0.1, 0.03, 0.034);
    add_box(&wall, -0.01, 0.01, -0.1, -0.01, 0.03, 0.034);
    add_box(&wall, -0.01, 0.01, 0.01, 0.1, 0.03, 0.034);
    flr_fit *window = fit_of(&wall), *bar = one_box(-0.025, 0.025, -0.005, 0.005, -0.005, 0.005);
    const flr_plan_part moving = {bar, flr_pose_identity()}, stands = {window, flr_pose_identity()};
    flr_plan_def def = def_of(&moving, &stands, 1, 0.0005);
    flr_plan_search search = short_search(120);
    search.to_given = true;
    search.to = (flr_pose){{0, 0, 0.07}, {1, 0, 0, 0}};
    flr_plan_result r = find_path(&def, &search);
    assert_non_null(r.poses);
    const flr_pose end = r.poses[r.pose_count - 1];
    assert_true(flr_vec3_distance(end.p, search.to.p) < 1e-9 &&
                flr_quat_angle(end.q, search.to.q) < 1e-6);
    check_again(&def, &r);
    flr_plan_result_free(&r);
    // whoever knows the way by and large saves the search
    const flr_quat upright = flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), 1.5707963267948966);
    const flr_pose via[] = {{{0, 0, 0}, upright}, {{0, 0, 0.07}, upright}};
    search.via = via, search.via_count = 2;
    r = find_path(&def, &search);
    assert_true(r.poses && r.method == FLR_PLAN_LEGS);
    check_again(&def, &r);
    flr_plan_result_free(&r);
    search.via = NULL, search.via_count = 0;
    // a goal within the wall is refused
    flr_error error;
    search.to.p = flr_vec3_make(0.05, 0, 0.032);
    assert_int_equal(flr_plan_find(flr_env_real(), &def, &search, &r, &error), FLR_BAD_ARGUMENT);
    flr_fit_destroy(window);
    flr_fit_destroy(bar);
}

/* ---- rails ---- */

enum { ARC_PIECES = 12, SECTIONS = 2 * (ARC_PIECES + 2) };

/* A bar of 10 x 10 mm that is straight in the middle and bends upwards at both ends, by 80 degrees with a radius of 40 mm. */
static flr_fit *bent_bar(void)
{
    flr_vec3 v[4 * SECTIONS];
    flr_triangle t[8 * (SECTIONS - 1) + 4];
    uint32_t count = 0;
    for (int i = 0; i < SECTIONS; i++) {
        const int side = i < SECTIONS / 2 ? -1 : 1,
                  from_middle = side > 0 ? i - SECTIONS / 2 : SECTIONS / 2 - 1 - i;
        const double angle = 1.3962634 * fmin(from_middle, ARC_PIECES) / ARC_PIECES,
                     beyond = from_middle > ARC_PIECES ? 0.03 : 0;
        for (int k = 0; k < 4; k++) {
            const double y = k & 1 ? 0.005 : -0.005, out = k & 2 ? 0.005 : -0.005, r = 0.04 + out;
            v[4 * i + k] = flr_vec3_make(side * (0.03 + r * sin(angle) + beyond * cos(angle)), y,
                                         0.04 - r * cos(angle) + beyond * sin(angle));
        }
    }
    static const uint32_t around[4] = {0, 1, 3, 2};
    for (uint32_t i = 0; i + 1 < SECTIONS; i++)
        for (int k = 0; k < 4; k++) {
            const uint32_t a = 4 * i + around[k], b = 4 * i + around[(k + 1) % 4];
            t[count++] = (flr_triangle){{a, b, a + 4}};
            t[count++] = (flr_triangle){{b, b + 4, a + 4}};
        }
    const uint32_t last = 4 * (SECTIONS - 1);
    t[count++] = (flr_triangle){{0, 3, 1}}, t[count++] = (flr_triangle){{0, 2, 3}};
    t[count++] = (flr_triangle){{last, last + 1, last + 3}};
    t[count++] = (flr_triangle){{last, last + 3, last + 2}};
    return flr_test_fit_of(v, 4 * SECTIONS, t, count);
}

/* A ring with a long arm on the bar, and its half width inside. */
static flr_fit *ring_with_arm(double half)
{
    solid ring = {.boxes = 0};
    add_box(&ring, -0.004, 0.004, -0.009, -half, -0.009, 0.009);
    add_box(&ring, -0.004, 0.004, half, 0.009, -0.009, 0.009);
    add_box(&ring, -0.004, 0.004, -half, half, -0.009, -half);
    add_box(&ring, -0.004, 0.004, -half, half, half, 0.009);
    add_box(&ring, -0.004, 0.004, -0.150, -0.009, -0.004, 0.004);
    return fit_of(&ring);
}

/* It follows the bends of the bar without a random search. Where a piece ends by a micrometre decides whether the next one gets past a
 * bend, so most of several plays have to come off, not all. */
static void ring_on_a_bent_bar(void **state)
{
    (void)state;
    enum { PLAYS = 5 };
    flr_fit *bar = bent_bar();
    uint32_t found = 0;
    for (int i = 0; i < PLAYS; i++) {
        flr_fit *arm = ring_with_arm(0.006 + 3e-5 * (i - PLAYS / 2));
        const flr_plan_part moving = {arm, flr_pose_identity()},
                            stands = {bar, flr_pose_identity()};
        flr_plan_def def = def_of(&moving, &stands, 1, 0.0002);
        flr_plan_search search = short_search(600);
        search.effort = FLR_PLAN_AXES_ONLY;
        flr_plan_result r = find_path(&def, &search);
        assert_true(!r.poses && !r.blocker_count);
        assert_int_equal(r.moves, 26);
        flr_plan_result_free(&r);
        search.effort = FLR_PLAN_QUICK;
        r = find_path(&def, &search);
        if (r.poses) {
            found++;
            assert_int_equal(r.method, FLR_PLAN_LEGS);
            check_again(&def, &r);
        }
        flr_plan_result_free(&r);
        flr_fit_destroy(arm);
    }
    assert_ge(found, 3);
    flr_fit_destroy(bar);
}

static bool stop_now(void *context, const flr_plan_progress *now)
{
    assert_true(now->seconds >= 0 && now->reached >= 0);
    ++*(int *)context;
    return false;
}

/* A peg in a hole of the same radius, whose facets are in the wall: it slides out, and not aside. */
static void nominal_fits_come_out(void **state)
{
    (void)state;
    enum { AROUND = 32 };
    flr_test_shape shapes[2] = {{0}, {0}};
    flr_fit *fits[2];
    flr_error error;
    const double pi = acos(-1), overlap = 0.005 * (1 - cos(pi / AROUND));
    flr_test_shape_tube(&shapes[0], 0.005, 0.008, 0.02, AROUND);
    flr_test_shape_cylinder(&shapes[1], 0.005, 0.03, AROUND, 1);
    for (int i = 0; i < 2; i++) fits[i] = flr_test_fit(flr_test_shape_mesh(&shapes[i]));
    const flr_plan_part bush = {fits[0], flr_pose_identity()}, peg = {fits[1], flr_pose_identity()};
    flr_plan_def def = flr_default_plan_def();
    flr_plan_search search = flr_default_plan_search();
    def.moving = &peg, def.moving_count = 1;
    def.obstacles = &bush, def.obstacle_count = 1;
    search.from.p = flr_vec3_make(0, 0, 0.001);
    search.from.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), pi / AROUND);
    search.threads = 1;
    flr_plan_result r = find_path(&def, &search);
    assert_non_null(r.poses);
    assert_int_equal(r.method, FLR_PLAN_STRAIGHT);
    assert_int_equal(r.verdict.fit_count, 1);
    assert_within(r.verdict.fits[0].start, -overlap, 1e-8);
    assert_lt(r.moves, 20);
    flr_fit_pair *pair;
    assert_ok(flr_fit_pair_create(fits[0], fits[1], &pair, &error), error);
    for (int k = 0; k <= 400; k++) {
        flr_fit_result q;
        const flr_pose T = flr_pose_interpolate(r.poses[0], r.poses[r.pose_count - 1], k / 400.0);
        flr_fit_pair_query(pair, T, NULL, NULL, 0, &q);
        assert_ge(q.distance, -1.501 * overlap);
    }
    flr_fit_pair_destroy(pair);
    flr_plan_result_free(&r);
    // straight through the wall
    flr_plan_space *space;
    flr_plan_verdict verdict;
    const flr_pose way[2] = {search.from, {flr_vec3_make(0.1, 0, 0.001), search.from.q}};
    assert_ok(flr_plan_space_create(&def, &space, &error), error);
    assert_ok(flr_plan_verify(space, way, 2, &verdict, &error), error);
    assert_false(verdict.free);
    assert_lt(verdict.violation.at, 0.01);
    assert_lt(verdict.violation.distance, -overlap);
    assert_lt(verdict.violation.normal.x, -0.9);
    flr_plan_space_destroy(space);
    for (int i = 0; i < 2; i++) {
        flr_fit_destroy(fits[i]);
        flr_test_shape_free(&shapes[i]);
    }
}

static void stops_when_asked(void **state)
{
    (void)state;
    solid shell = {.boxes = 0};
    add_box(&shell, -0.03, 0.03, -0.03, 0.03, -0.03, -0.011);
    add_box(&shell, -0.03, 0.03, -0.03, 0.03, 0.011, 0.03);
    flr_fit *block = one_box(-0.01, 0.01, -0.01, 0.01, -0.01, 0.01), *walls = fit_of(&shell);
    const flr_plan_part moving = {block, flr_pose_identity()},
                        stands = {walls, flr_pose_identity()};
    const flr_plan_def def = def_of(&moving, &stands, 1, 0);
    flr_plan_search search = short_search(60);
    int calls = 0;
    search.progress = stop_now, search.progress_context = &calls;
    flr_plan_result r = find_path(&def, &search);
    assert_true(r.stopped && calls == 1 && !r.poses);
    flr_plan_result_free(&r);
    flr_fit_destroy(block);
    flr_fit_destroy(walls);
}

/* Rigid groups move as one, the chosen part that leads has the frame, else the first, and what others pass through is in nobody's way. */
static void what_moves_and_what_stands(void **state)
{
    (void)state;
    enum { COUNT = 7 };
    flr_plan_member members[COUNT] = {{.rigid = 1},
                                      {.rigid = 0},
                                      {.rigid = 2, .passes = true},
                                      {.rigid = 1, .moves = true},
                                      {.rigid = 2},
                                      {.rigid = 0, .passes = true},
                                      {.rigid = 1, .moves = true}};
    const flr_quat turned = flr_quat_from_axis_angle(flr_vec3_make(0.6, 0, 0.8), 1);
    for (uint32_t i = 0; i < COUNT; i++)
        members[i].T_world_part = (flr_pose){{i, 2, 3}, i == 3 ? turned : flr_pose_identity().q};
    assert_int_equal(flr_plan_count_bodies(members, COUNT), 1);
    uint32_t order[COUNT];
    flr_plan_part parts[COUNT];
    const flr_plan_roles roles = flr_plan_sort(members, COUNT, order, parts);
    static const uint32_t wanted[] = {3, 6, 0, 1, 4};
    assert_int_equal(roles.moving, 3);
    assert_int_equal(roles.standing, 2);
    assert_memory_equal(order, wanted, sizeof wanted);
    for (uint32_t i = 0; i < 5; i++) {
        const flr_pose T_world_part =
            i < 3 ? flr_pose_mul(members[3].T_world_part, parts[i].T) : parts[i].T;
        assert_true(flr_vec3_distance(T_world_part.p, members[order[i]].T_world_part.p) < 1e-12);
    }
    // the second of the chosen ones leads; one that is not chosen does not
    members[0].leads = members[6].leads = true;
    assert_int_equal(flr_plan_sort(members, COUNT, order, parts).moving, 3);
    assert_true(order[0] == 6 && order[1] == 3 && order[2] == 0);
    assert_true(flr_vec3_length(parts[0].T.p) <= 0);
    assert_true(flr_vec3_distance(flr_pose_mul(members[6].T_world_part, parts[1].T).p,
                                  members[3].T_world_part.p) < 1e-12);
    members[1].moves = members[2].moves = true;
    assert_int_equal(flr_plan_count_bodies(members, COUNT), 3);
    // nothing chosen: nothing moves
    for (uint32_t i = 0; i < COUNT; i++) members[i].moves = false;
    assert_int_equal(flr_plan_sort(members, COUNT, order, parts).moving, 0);
    assert_int_equal(flr_plan_count_bodies(members, COUNT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_and_what_stands),
        cmocka_unit_test(straight_and_legs),
        cmocka_unit_test(blocked),
        cmocka_unit_test(turn_through_window),
        cmocka_unit_test(nominal_fits_come_out),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(ring_on_a_bent_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
