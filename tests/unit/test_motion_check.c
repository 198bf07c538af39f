/* the continuous check against a plain one: every point, small steps, double precision */
#include <math.h>

#include "support/fixtures.h"
#include "voxel/voxmap_format.h"

#ifdef FLR_SANITIZED
enum { MOTIONS = 6, SHOTS = 200, PLACES = 50000 };
#else
enum { MOTIONS = 20, SHOTS = 1000, PLACES = 100000 };
#endif

static const double voxel = 0.001;

typedef struct scene {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
} scene;

static void aim(scene *s)
{
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    flr_error error;
    assert_ok(flr_contact_pair_create(&def, &s->pair, &error), error);
}

static void begin(scene *s, flr_test_solid moving, double scale, flr_test_solid fixed)
{
    flr_test_part_make(&s->moving, moving, scale, voxel, false);
    flr_test_part_make(&s->fixed, fixed, 1, voxel, false);
    aim(s);
}

/* The fixed part is a plate, thinner than a voxel, at right angles to z before it is turned. */
static void begin_plate(scene *s, flr_test_solid moving, double scale, flr_quat turn)
{
    flr_test_part_make(&s->moving, moving, scale, voxel, false);
    s->fixed = (flr_test_part){0};
    flr_test_shape_box(&s->fixed.shape, flr_vec3_make(0.04, 0.04, 0.2 * voxel), 1);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.features = false;
    def.T_voxmap_mesh.q = turn;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&s->fixed.shape), &def,
                           &s->fixed.voxmap, NULL, NULL, &error),
              error);
    aim(s);
}

static void end(scene *s)
{
    flr_contact_pair_destroy(s->pair);
    flr_test_part_free(&s->moving);
    flr_test_part_free(&s->fixed);
}

static flr_pose_span still(void)
{
    return (flr_pose_span){flr_pose_identity(), flr_pose_identity()};
}

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

static flr_motion_check_result check(const scene *s, flr_pose_span shell, flr_pose_span voxmap,
                                     const flr_motion_check_params *params)
{
    flr_motion_check_result r;
    memset(&r, 0xAA, sizeof r); /* every field must be written */
    flr_contact_check_motion(s->pair, shell, voxmap, params, &r);
    assert_ge(r.fraction, 0);
    assert_le(r.fraction, 1);
    assert_true(r.stopped || r.exhausted || r.fraction == 1);
    return r;
}

/* ---- the plain one ---- */

/* Is the place in a voxel of these marks, and not only by a hair? */
static bool well_within(const scene *s, flr_vec3 p, unsigned limit)
{
    const double hair = 2e-4 * voxel;
    for (int i = 0; i < 8; i++) {
        flr_vec3 q = flr_vec3_add(
            p, flr_vec3_make(i & 1 ? hair : -hair, i & 2 ? hair : -hair, i & 4 ? hair : -hair));
        unsigned mark = flr_voxmap_mark(s->fixed.voxmap, FLR_FIELD_SURFACE, q);
        if (mark == FLR_MARK_FREE || mark > limit) return false;
    }
    return true;
}

static bool nearly_within(const scene *s, flr_vec3 p, unsigned limit)
{
    const double hair = 2e-3 * voxel;
    bool any = false;
    for (int i = 0; i < 27; i++) {
        flr_vec3 q = flr_vec3_add(
            p, flr_vec3_make((i % 3 - 1) * hair, (i / 3 % 3 - 1) * hair, (i / 9 - 1) * hair));
        unsigned mark = flr_voxmap_mark(s->fixed.voxmap, FLR_FIELD_SURFACE, q);
        any |= mark != FLR_MARK_FREE && mark <= limit;
    }
    return any;
}

/* The interpolated distance of a place to the surface, in voxels; interior is -1, beyond the field one more than its range. */
static double distance_at(const scene *s, flr_vec3 p)
{
    double sum = 0;
    for (int i = 0; i < 8; i++) {
        flr_vec3 corner = flr_vec3_add(p, flr_vec3_make((i & 1 ? 0.5 : -0.5) * voxel,
                                                        (i & 2 ? 0.5 : -0.5) * voxel,
                                                        (i & 4 ? 0.5 : -0.5) * voxel));
        flr_vec3 at = flr_grid_to_voxels(&s->fixed.voxmap->header->grid, p);
        const double x[3] = {at.x, at.y, at.z};
        double weight = 1;
        for (int axis = 0; axis < 3; axis++) {
            double part = x[axis] - 0.5 - floor(x[axis] - 0.5);
            weight *= i >> axis & 1 ? part : 1 - part;
        }
        unsigned mark = flr_voxmap_mark(s->fixed.voxmap, FLR_FIELD_SURFACE, corner);
        sum += weight * (mark == FLR_MARK_FREE ? s->fixed.voxmap->header->range + 1.0 : mark - 2.0);
    }
    return sum;
}

/* The same as stop_of() for a layer with a smooth end. */
static double smooth_stop_of(const scene *s, const flr_pose *T_voxmap_shell, size_t steps,
                             double first, flr_vec3 p, double level)
{
    double least = 0;
    for (size_t i = 0; i <= steps; i++) {
        double height = distance_at(s, flr_pose_apply(T_voxmap_shell[i], p)) - level;
        if (i == 0 && height < 0) least = height > -0.1 ? height : floor(height);
        if (height >= 1) least = 0; /* it has left for sure */
        if (height < least - 0.45) return first + (1 - first) * (double)i / (double)steps;
    }
    return 2;
}

/* The fraction at which one point stops the motion, by steps of a fiftieth of a voxel; 2: it does not. */
static double stop_of(const scene *s, const flr_pose *T_voxmap_shell, size_t steps, double first,
                      flr_vec3 p, unsigned layer)
{
    unsigned limit = FLR_MARK_SURFACE + layer;
    bool within = false;
    for (size_t i = 0; i <= steps; i++) {
        flr_vec3 v = flr_pose_apply(T_voxmap_shell[i], p);
        unsigned mark = flr_voxmap_mark(s->fixed.voxmap, FLR_FIELD_SURFACE, v);
        if (i == 0 && mark != FLR_MARK_FREE && mark <= limit) within = true, limit = mark - 1;
        if (within && (mark == FLR_MARK_FREE || mark > FLR_MARK_SURFACE + layer))
            within = false, limit = FLR_MARK_SURFACE + layer;
        if (mark != FLR_MARK_FREE && mark <= limit && well_within(s, v, limit))
            return first + (1 - first) * (double)i / (double)steps;
    }
    return 2;
}

static double plain_march(const scene *s, flr_pose_span shell, flr_pose_span voxmap,
                          const flr_motion_check_params *params, double travel)
{
    double first = fmin(1, params->unchecked * voxel / travel);
    size_t steps = (size_t)(travel / (0.02 * voxel)) + 1;
    flr_pose *poses = malloc((steps + 1) * sizeof *poses);
    for (size_t i = 0; i <= steps; i++) {
        flr_pose T_world_shell, T_world_voxmap;
        flr_motion_check_poses(shell, voxmap, params->centre,
                               first + (1 - first) * (double)i / (double)steps, &T_world_shell,
                               &T_world_voxmap);
        poses[i] = flr_pose_mul(flr_pose_inverse(T_world_voxmap), T_world_shell);
    }
    double least = 2;
    const flr_shell *points = s->moving.shell;
    for (uint32_t chunk = 0; chunk < points->chunk_count; chunk++) {
        const flr_shell_chunk *c = &points->chunks[chunk];
        for (uint32_t i = 0; i < (uint32_t)c->count[0] + c->count[1] + c->count[2]; i++) {
            flr_vec3 p = flr_shell_point(points, chunk, c->first + i, params->displacement);
            double stop = params->margin > 0 ? smooth_stop_of(s, poses, steps, first, p,
                                                              params->layer + params->margin)
                                             : stop_of(s, poses, steps, first, p, params->layer);
            least = fmin(least, stop);
        }
    }
    free(poses);
    return least;
}

/* Where a motion stops, no point is in a smooth layer that was not in it when checking began. */
static void never_deep(const scene *s, flr_pose_span shell, flr_pose_span voxmap,
                       const flr_motion_check_params *params, double fraction)
{
    flr_pose T[4], first, last;
    flr_motion_check_poses(shell, voxmap, params->centre, 0, &T[0], &T[1]);
    flr_motion_check_poses(shell, voxmap, params->centre, fraction, &T[2], &T[3]);
    first = flr_pose_mul(flr_pose_inverse(T[1]), T[0]);
    last = flr_pose_mul(flr_pose_inverse(T[3]), T[2]);
    const double level = params->layer + params->margin;
    const flr_shell *points = s->moving.shell;
    for (uint32_t chunk = 0; chunk < points->chunk_count; chunk++) {
        const flr_shell_chunk *c = &points->chunks[chunk];
        for (uint32_t i = 0; i < (uint32_t)c->count[0] + c->count[1] + c->count[2]; i++) {
            flr_vec3 p = flr_shell_point(points, chunk, c->first + i, params->displacement);
            if (params->unchecked == 0 && distance_at(s, flr_pose_apply(first, p)) >= level)
                assert_gt(distance_at(s, flr_pose_apply(last, p)), level - 1.01e-4);
        }
    }
}

/* Compares, and returns whether something stopped it. */
static bool compare(const scene *s, flr_pose_span shell, flr_pose_span voxmap,
                    const flr_motion_check_params *params)
{
    flr_motion_check_result r = check(s, shell, voxmap, params);
    double plain = plain_march(s, shell, voxmap, params, r.travel);
    /* it never goes on where the plain one stops… */
    if (!(r.fraction <= plain + 1e-9))
        fail_msg("free up to %.9f, but stopped at %.9f (layer %u, margin %g, unchecked %g, "
                 "displaced %g, %g voxels)",
                 r.fraction, plain, params->layer, params->margin, params->unchecked,
                 params->displacement, r.travel / voxel);
    if (params->margin > 0) never_deep(s, shell, voxmap, params, r.fraction);
    /* …and where it stops, the point it names is at a voxel of the layer */
    if (r.stopped) {
        flr_pose T_world_shell, T_world_voxmap;
        flr_motion_check_poses(shell, voxmap, params->centre, r.fraction, &T_world_shell,
                               &T_world_voxmap);
        flr_vec3 p = flr_pose_apply_inverse(T_world_voxmap, r.point);
        if (params->margin > 0)
            assert_lt(distance_at(s, p), params->layer + params->margin + 2e-3);
        else
            assert_true(nearly_within(s, p, FLR_MARK_SURFACE + params->layer));
        assert_lt(fabs(flr_vec3_length(r.normal) - 1), 1e-9);
        /* it is that point of the shell */
        flr_vec3 own = flr_vec3_zero();
        for (uint32_t chunk = 0; chunk < s->moving.shell->chunk_count; chunk++)
            if (s->moving.shell->chunks[chunk].first <= r.index)
                own = flr_shell_point(s->moving.shell, chunk, r.index, params->displacement);
        assert_lt(flr_vec3_length(flr_vec3_sub(flr_pose_apply(T_world_shell, own), r.point)), 1e-9);
    }
    return r.stopped;
}

/* ---- tests ---- */

static flr_pose random_turn(flr_test_random *random, flr_pose T, double way, double angle)
{
    flr_pose by = flr_test_random_pose(random, way);
    flr_vec3 turn = flr_vec3_scale(flr_quat_to_rotation_vector(by.q), angle / 3.1416);
    return flr_pose_make(flr_vec3_add(T.p, by.p),
                         flr_quat_mul(flr_quat_from_rotation_vector(turn), T.q));
}

static void same_as_the_plain_one(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("same_as_the_plain_one");
    uint32_t stops = 0;
    for (int pair = 0; pair < 2; pair++) {
        scene s;
        begin(&s, pair ? FLR_TEST_BOX : FLR_TEST_TETRAHEDRON, 0.4,
              pair ? FLR_TEST_TORUS : FLR_TEST_BOX);
        for (int i = 0; i < MOTIONS; i++) {
            flr_motion_check_params params = flr_default_motion_check_params();
            params.layer = (unsigned)i % 3;
            params.unchecked = i % 2 ? 0.5 : 0;
            params.margin = i % 4 < 2 ? 0 : i % 3 == 1 ? 0.875 : 0.5;
            params.displacement = i % 7 == 0 ? 0.3 * voxel : 0;
            params.centre = flr_test_random_pose(&random, i % 5 == 0 ? 0.02 : 0).p;
            flr_pose_span shell, voxmap = still();
            shell.from = flr_test_random_pose(&random, 0.02);
            shell.to = random_turn(&random, shell.from, 0.015, i % 3 * 0.7);
            if (i % 8 == 7) { /* turns on the spot */
                shell.to = random_turn(&random, shell.from, 0, 3);
                params.centre = flr_vec3_zero();
            }
            if (i % 4 == 0) {
                voxmap.from = flr_test_random_pose(&random, 0.01);
                voxmap.to = random_turn(&random, voxmap.from, 0.003, 0.2);
                shell.from = flr_pose_mul(voxmap.from, shell.from);
                shell.to = flr_pose_mul(voxmap.to, shell.to);
            }
            stops += compare(&s, shell, voxmap, &params);
        }
        end(&s);
    }
    print_message("%u of %d motions stopped\n", stops, 2 * MOTIONS);
    assert_gt(stops, MOTIONS / 2);
    assert_lt(stops, 2 * MOTIONS);
}

/* A lever of a metre: points move on arcs of up to 50 voxels. */
static void long_levers(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("long_levers");
    scene s;
    begin(&s, FLR_TEST_TETRAHEDRON, 0.3, FLR_TEST_BOX);
    uint32_t stops = 0;
    for (int i = 0; i < MOTIONS / 2; i++) {
        flr_motion_check_params params = flr_default_motion_check_params();
        params.unchecked = 0;
        flr_vec3 axis = flr_test_random_pose(&random, 1).p,
                 arm = flr_test_random_pose(&random, 1).p;
        /* turns about a place a metre away, through a place in the box */
        flr_vec3 hub = flr_vec3_scale(arm, 1 / flr_vec3_length(arm)),
                 through = flr_test_random_pose(&random, 0.01).p;
        double angle = flr_test_random_range(&random, 0.01, 0.05);
        params.centre = hub;
        flr_pose half[2];
        for (int k = 0; k < 2; k++) {
            half[k].q = flr_quat_from_axis_angle(axis, k ? angle / 2 : -angle / 2);
            half[k].p = flr_vec3_add(through, flr_vec3_sub(hub, flr_quat_rotate(half[k].q, hub)));
        }
        stops += compare(&s, (flr_pose_span){half[0], half[1]}, still(), &params);
    }
    assert_gt(stops, 0);
    end(&s);
}

/* From one side of a thin plate to the other at any speed: never. */
static void nothing_tunnels(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("nothing_tunnels");
    for (int tilted = 0; tilted < 3; tilted++) {
        flr_quat turn = tilted ? flr_test_random_pose(&random, 0).q : flr_quat_identity();
        flr_vec3 up = flr_quat_rotate(turn, flr_vec3_make(0, 0, 1));
        scene s;
        begin_plate(&s, FLR_TEST_SPHERE, 0.3, turn);
        for (int i = 0; i < SHOTS; i++) {
            flr_motion_check_params params = flr_default_motion_check_params();
            params.layer = (unsigned)i % 2;
            /* through a place of the plate, from near or far before it to near or far behind it */
            flr_vec3 hit = flr_quat_rotate(
                turn, flr_vec3_make(flr_test_random_range(&random, -0.015, 0.015),
                                    flr_test_random_range(&random, -0.015, 0.015), 0));
            flr_vec3 before = flr_quat_rotate(turn, flr_test_random_pose(&random, 0.01).p);
            before = flr_vec3_add_scaled(before, 0.02 - flr_vec3_dot(before, up), up);
            double fast = exp(flr_test_random_range(&random, -1, 12));
            flr_pose_span shell = {flr_test_random_pose(&random, 0),
                                   flr_test_random_pose(&random, 0)};
            if (i % 2) shell.to.q = shell.from.q;
            shell.from.p = flr_vec3_add(hit, before);
            shell.to.p = flr_vec3_add_scaled(hit, -fast, before);
            flr_motion_check_result r = check(&s, shell, still(), &params);
            assert_true(r.stopped);
            flr_pose T, T_world_voxmap;
            flr_motion_check_poses(shell, still(), params.centre, r.fraction, &T, &T_world_voxmap);
            assert_gt(flr_vec3_dot(T.p, up), 0.002);
        }
        end(&s);
    }
}

/* Parts in contact can leave and slide, but not go deeper. */
static void contact_does_not_hold(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_BOX, 0.5, FLR_TEST_BOX);
    flr_motion_check_params params = flr_default_motion_check_params();
    params.unchecked = 0;
    double touching = 0.006 + 0.003 + 0.2 * voxel; /* in layer 1 or deeper */
    flr_pose_span shell = {at(0, 0, touching), at(0, 0, touching + 0.05)};
    flr_contact_params contact = flr_default_contact_params();
    flr_contact_result c;
    flr_contact_query(s.pair, shell.from, flr_pose_identity(), &contact, &c);
    assert_gt(c.penetrations, 100);
    assert_eq(check(&s, shell, still(), &params).fraction, 1);
    shell.to = at(0.004, 0.003, touching);
    assert_eq(check(&s, shell, still(), &params).fraction, 1);
    shell.to = at(0, 0, touching - 0.05);
    flr_motion_check_result r = check(&s, shell, still(), &params);
    assert_true(r.stopped);
    assert_lt(r.fraction * 0.05, 1.5 * voxel);
    /* with half a voxel unchecked it gets on by at least that */
    params.unchecked = 0.5;
    r = check(&s, shell, still(), &params);
    assert_true(r.stopped);
    assert_ge(r.fraction * r.travel, 0.4999 * voxel);
    /* from wholly inside there is nothing deeper: it may leave */
    params.unchecked = 0;
    end(&s);
    begin(&s, FLR_TEST_SPHERE, 0.2, FLR_TEST_BOX);
    shell = (flr_pose_span){at(0, 0, 0), at(0.1, 0.02, 0.03)};
    assert_eq(check(&s, shell, still(), &params).fraction, 1);
    /* but who has left does not come back */
    shell = (flr_pose_span){at(0, 0, 0.0085), at(0.0001, 0, -0.1)};
    assert_true(check(&s, shell, still(), &params).stopped);
    end(&s);
}

/* What a smooth layer promises: its end is as far from the surface's voxels as the layer's number, and with 0.875 no voxel of
 * the layer reaches out. */
static void smooth_ends(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("smooth_ends");
    scene s;
    begin(&s, FLR_TEST_TETRAHEDRON, 0.4, FLR_TEST_TORUS);
    const flr_grid *grid = &s.fixed.voxmap->header->grid;
    uint32_t near = 0;
    for (int i = 0; i < PLACES; i++) {
        flr_vec3 p = flr_vec3_scale(flr_test_random_pose(&random, 1).p, 0.014);
        double d = distance_at(&s, p);
        unsigned mark = flr_voxmap_mark(s.fixed.voxmap, FLR_FIELD_SURFACE, p);
        if (d >= 1.875) assert_true(mark == FLR_MARK_FREE || mark > FLR_MARK_SURFACE + 1);
        if (d < 1.5 || d > 1.8) continue;
        near++;
        flr_vec3 v = flr_grid_to_voxels(grid, p);
        for (int k = 0; k < 125; k++) { /* of the surface's voxels around, none is within a voxel */
            flr_vec3 low = flr_vec3_make(floor(v.x) + k % 5 - 2, floor(v.y) + k / 5 % 5 - 2,
                                         floor(v.z) + k / 25 - 2);
            flr_vec3 middle =
                flr_grid_to_metres(grid, flr_vec3_make(low.x + 0.5, low.y + 0.5, low.z + 0.5));
            if (flr_voxmap_mark(s.fixed.voxmap, FLR_FIELD_SURFACE, middle) != FLR_MARK_SURFACE)
                continue;
            double x = fmax(0, fmax(low.x - v.x, v.x - low.x - 1)),
                   y = fmax(0, fmax(low.y - v.y, v.y - low.y - 1)),
                   z = fmax(0, fmax(low.z - v.z, v.z - low.z - 1));
            assert_gt(x * x + y * y + z * z, 1 - 1e-9);
        }
    }
    assert_gt(near, 1000);
    end(&s);
}

/* What the query of the beginning noted leads to the same as looking for it; so do planes alone. */
static void after_a_query(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("after_a_query");
    uint32_t stops = 0, cheaper = 0;
    scene s;
    begin(&s, FLR_TEST_BOX, 0.4, FLR_TEST_TORUS);
    flr_contact_params asked = flr_default_contact_params();
    asked.motion.linear.z = 1;
    for (int i = 0; i < 2 * MOTIONS; i++) {
        flr_motion_check_params params = flr_default_motion_check_params();
        params.unchecked = 0;
        params.margin = i % 4 ? 0.875 : 0;
        params.displacement = asked.displacement = i % 7 == 0 ? -0.3 * voxel : 0;
        flr_pose_span shell = {flr_test_random_pose(&random, 0.02), flr_pose_identity()};
        shell.to = random_turn(&random, shell.from, 0.03, 1);
        flr_pose ignored;
        double fraction = check(&s, shell, still(), &params).fraction;
        flr_motion_check_poses(shell, still(), params.centre, 0.999 * fraction, &shell.from,
                               &ignored);
        const double size = (i % 3 ? 0.4 : 2) * voxel;
        shell.to = random_turn(&random, shell.from, size, i % 2 ? size / 0.02 : 0);

        flr_motion_check_result looked = check(&s, shell, still(), &params);
        flr_contact_result contact;
        flr_contact_query(s.pair, shell.from, flr_pose_identity(), &asked, &contact);
        compare(&s, shell, still(), &params);
        flr_motion_check_result noted = check(&s, shell, still(), &params);
        assert_int_equal(looked.stopped, noted.stopped);
        assert_lt(fabs(looked.fraction - noted.fraction) * noted.travel, 0.01 * voxel);
        stops += noted.stopped;
        cheaper += noted.lookups < looked.lookups;
        params.planes = true;
        flr_motion_check_result planes;
        flr_contact_check_motion(s.pair, shell, still(), &params, &planes);
        assert_int_equal(planes.plane_count > 0, noted.plane_count > 0);
        assert_int_equal(planes.fraction < 1, noted.fraction < 1);
    }
    end(&s);
    print_message("%u of %d motions stopped; %u were cheaper\n", stops, 2 * MOTIONS, cheaper);
    assert_gt(stops, MOTIONS / 3);
    assert_gt(cheaper, MOTIONS);
}

static void slow_motion_costs_nothing(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, 1, FLR_TEST_BOX);
    flr_motion_check_params params = flr_default_motion_check_params();
    flr_pose_span shell = {at(0, 0, 0.0155), at(0, 0.0001, 0.0151)};
    flr_motion_check_result r = check(&s, shell, still(), &params);
    assert_eq(r.fraction, 1);
    assert_eq(r.lookups, 0);
    assert_false(r.stopped);
    assert_lt(fabs(r.travel - hypot(0.0001, 0.0004)), 1e-9);
    /* far away one look is enough, however fast */
    shell = (flr_pose_span){at(0, 0, 10), at(4, 0, 10)};
    r = check(&s, shell, still(), &params);
    assert_eq(r.fraction, 1);
    assert_lt(r.lookups, 10);
    end(&s);
}

static void questions_that_make_no_sense(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, 1, FLR_TEST_BOX);
    flr_motion_check_params params = flr_default_motion_check_params();
    flr_pose_span through = {at(0, 0, 0.03), at(0, 0, -0.03)};
    assert_true(check(&s, through, still(), &params).stopped);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, 1e19};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int field = 0; field < 14; field++) {
            flr_pose_span span = through;
            flr_pose *T = field < 7 ? &span.from : &span.to;
            double *fields[7] = {&T->p.x, &T->p.y, &T->p.z, &T->q.w, &T->q.x, &T->q.y, &T->q.z};
            *fields[field % 7] = bad[i];
            assert_eq(check(&s, span, still(), &params).fraction, 1);
            assert_eq(check(&s, still(), span, &params).fraction, 1);
        }
    /* a way of a billion voxels and more is not marched: what is unchecked anyway remains */
    flr_pose_span far = {at(0, 0, 0.03), at(0, 0, -2e6)};
    flr_motion_check_result r = check(&s, far, still(), &params);
    assert_true(r.exhausted);
    assert_false(r.stopped);
    assert_gt(r.fraction, 0);
    assert_lt(r.fraction, 1e-6);
    /* the same where the budget ends */
    params.budget = 20;
    r = check(&s, through, still(), &params);
    assert_true(r.exhausted);
    assert_le(r.lookups, 21);
    assert_lt(r.fraction * r.travel, 0.51 * voxel);
    params.budget = 0;
    params.unchecked = NAN;
    assert_true(check(&s, through, still(), &params).stopped);
    params.unchecked = -1;
    assert_true(check(&s, through, still(), &params).stopped);
    params.unchecked = INFINITY;
    assert_eq(check(&s, through, still(), &params).fraction, 1);
    params = flr_default_motion_check_params();
    params.layer = UINT32_MAX;
    assert_true(check(&s, through, still(), &params).stopped);
    params.displacement = NAN;
    assert_eq(check(&s, through, still(), &params).fraction, 1);

    /* a pair that stands for nothing */
    params = flr_default_motion_check_params();
    flr_contact_pair_destroy(s.pair);
    flr_contact_pair_def def = flr_default_contact_pair_def();
    assert_int_equal(flr_contact_pair_create(&def, &s.pair, NULL), FLR_OK);
    assert_eq(check(&s, through, still(), &params).fraction, 1);
    end(&s);
}

/* Marks of 2 bits know one layer; the offset shifts what they call surface. */
static void two_bits(void **state)
{
    (void)state;
    scene s;
    flr_test_part_make(&s.moving, FLR_TEST_SPHERE, 0.3, voxel, false);
    for (unsigned offset = 0; offset < 4; offset++) {
        s.fixed = (flr_test_part){0};
        flr_test_shape_box(&s.fixed.shape, flr_vec3_make(0.04, 0.04, 0.01), 1);
        flr_voxelize_def def = flr_default_voxelize_def();
        def.voxel = voxel;
        def.bits = 2;
        def.features = false;
        def.offset = offset;
        flr_error error;
        assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&s.fixed.shape), &def,
                               &s.fixed.voxmap, NULL, NULL, &error),
                  error);
        aim(&s);
        for (unsigned layer = 0; layer < 6; layer++) {
            flr_motion_check_params params = flr_default_motion_check_params();
            params.layer = layer;
            flr_motion_check_result r =
                check(&s, (flr_pose_span){at(0, 0, 0.05), at(0, 0, -0.05)}, still(), &params);
            assert_true(r.stopped);
            /* layers that are not told apart: the innermost of them, or what there is */
            double wanted = layer < offset ? offset - 1.0 : fmin(layer, offset + 1.0);
            double height = r.point.z / voxel - 5;
            assert_gt(height, wanted - 0.01);
            assert_lt(height, wanted + 1.51);
        }
        flr_contact_pair_destroy(s.pair);
        flr_test_part_free(&s.fixed);
    }
    flr_test_part_free(&s.moving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_plain_one),
        cmocka_unit_test(long_levers),
        cmocka_unit_test(nothing_tunnels),
        cmocka_unit_test(contact_does_not_hold),
        cmocka_unit_test(smooth_ends),
        cmocka_unit_test(after_a_query),
        cmocka_unit_test(slow_motion_costs_nothing),
        cmocka_unit_test(questions_that_make_no_sense),
        cmocka_unit_test(two_bits),
    };
    return cmocka_run_group_tests_name("contact_march", tests, NULL, NULL);
}
