/* what a hand feels along a slide: no samples, no facets, no voxels */
#include <math.h>

#include "support/fixtures.h"
#include "support/tight_rig.h"

enum { FRAMES = 1200, SETTLED = 400 };

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

/* how rough a force is, as a share of its mean */
typedef struct roughness {
    double mean;   /* N */
    double ripple; /* r.m.s. about the straight line through all of it */
    double change; /* the largest from one step to the next */
} roughness;

static roughness roughness_of(const double *force, int count)
{
    double sum = 0, slope = 0, norm = 0, square = 0;
    roughness r = {0};
    for (int i = 0; i < count; i++) sum += force[i];
    r.mean = sum / count;
    for (int i = 0; i < count; i++) {
        double x = i - (count - 1) / 2.0;
        slope += x * (force[i] - r.mean), norm += x * x;
    }
    slope /= norm;
    for (int i = 0; i < count; i++) {
        double off = force[i] - r.mean - slope * (i - (count - 1) / 2.0);
        square += off * off;
        if (i) r.change = fmax(r.change, fabs(force[i] - force[i - 1]) / r.mean);
    }
    r.ripple = sqrt(square / count) / r.mean;
    return r;
}

/* Slides along `path`, which begins in the air and presses from SETTLED / 2 on. */
static roughness slide(flr_test_tight *rig, flr_pose (*path)(int frame))
{
    static double force[FRAMES];
    flr_test_tight_make(rig, 1);
    for (int i = 0; i < FRAMES; i++) {
        flr_test_tight_step(rig, path(i));
        force[i] = flr_vec3_length(flr_world_wrench(rig->world, 0).force);
        assert_int_equal(rig->frame.faults, 0);
        if (i % 20 == 0) assert_false(flr_test_tight_meet(rig, 0, 1));
    }
    return roughness_of(force + SETTLED, FRAMES - SETTLED);
}

static void check(const char *what, roughness r)
{
    print_message("%-24s %.3f N, ripple %.3f %%, largest change in a step %.3f %%\n", what, r.mean,
                  100 * r.ripple, 100 * r.change);
    assert_true(r.mean > 1);
    assert_true(r.ripple < 0.02);
    assert_true(r.change < 0.005);
}

/* 0 … 1 in the first 200 frames */
static double pressed(int i) { return fmin(1, i / 200.0); }

/* ---- a box on a plane that is tilted to all axes ---- */

static flr_quat tilt(void)
{
    return flr_quat_from_axis_angle(flr_vec3_normalize(flr_vec3_make(1, 0.7, 0.2)), 0.4);
}

static flr_pose on_plane(int i)
{
    flr_vec3 p = flr_vec3_make(-10e-3 + 15e-6 * i, 3e-3, 10.05e-3 - 1.05e-3 * pressed(i));
    return flr_pose_make(flr_quat_rotate(tilt(), p), tilt());
}

static void a_plane_is_smooth(void **state)
{
    (void)state;
    for (int friction = 0; friction < 2; friction++) {
        flr_test_tight rig = flr_test_tight_begin();
        rig.params.friction = 0.2 * friction;
        flr_kit kit = flr_kit_begin(1);
        flr_kit_box(&kit, at(0, 0, -5e-3), 50e-3, 50e-3, 10e-3, 0);
        flr_test_tight_add(&rig, &kit, FLR_PART_STATIC, flr_pose_make(flr_vec3_zero(), tilt()));
        kit = flr_kit_begin(1);
        flr_kit_box(&kit, flr_pose_identity(), 10e-3, 10e-3, 20e-3, 0);
        flr_test_tight_add(&rig, &kit, FLR_PART_MOVABLE, on_plane(0));
        check(friction ? "tilted plane, rough" : "tilted plane", slide(&rig, on_plane));
        flr_test_tight_end(&rig);
    }
}

/* ---- a cylinder in a bore, drawn along and around it ---- */

static flr_pose in_bore(int i)
{
    flr_pose T = at(1.05e-3 * pressed(i), 0, 12e-3 + 10e-6 * i);
    T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 1e-3 * i);
    return T;
}

static void a_bore_is_smooth(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    static flr_kit_outline outline;
    flr_kit kit = flr_kit_begin(1);
    kit.chord = 2e-6;
    flr_outline_clear(&outline);
    flr_outline_circle(&kit, &outline, 0, 0, 12e-3);
    flr_outline_circle(&kit, &outline, 0, 0, 6.05e-3);
    flr_kit_prism(&kit, flr_pose_identity(), &outline, 40e-3);
    flr_test_tight_add(&rig, &kit, FLR_PART_STATIC, flr_pose_identity());
    kit = flr_kit_begin(1);
    kit.chord = 2e-6;
    flr_outline_clear(&outline);
    flr_outline_circle(&kit, &outline, 0, 0, 6e-3);
    flr_kit_prism(&kit, at(0, 0, -10e-3), &outline, 20e-3);
    flr_test_tight_add(&rig, &kit, FLR_PART_MOVABLE, in_bore(0));
    check("cylinder in a bore", slide(&rig, in_bore));
    flr_test_tight_end(&rig);
}

/* ---- a ball on a ball ---- */

/* half a circle turned about z */
static void ball(flr_kit *kit, double radius, int sides)
{
    static flr_kit_outline outline;
    flr_outline_clear(&outline);
    for (int i = 0; i <= sides / 2; i++)
        flr_outline_point(&outline,
                          i == 0 || i == sides / 2 ? 0 : radius * flr_kit_sin((double)i / sides),
                          -radius * flr_kit_cos((double)i / sides));
    flr_outline_close(&outline);
    flr_kit_revolve(kit, flr_pose_identity(), &outline, sides);
}

static flr_pose on_ball(int i)
{
    double a = 0.3 + 4e-4 * i, r = 22.05e-3 - 1.05e-3 * pressed(i);
    return at(r * cos(a) * 0.8, r * cos(a) * 0.6, r * sin(a));
}

static void a_ball_is_smooth(void **state)
{
    (void)state;
    flr_test_tight rig = flr_test_tight_begin();
    flr_kit kit = flr_kit_begin(1);
    ball(&kit, 12e-3, 96);
    flr_test_tight_add(&rig, &kit, FLR_PART_STATIC, flr_pose_identity());
    kit = flr_kit_begin(1);
    ball(&kit, 10e-3, 96);
    flr_test_tight_add(&rig, &kit, FLR_PART_MOVABLE, on_ball(0));
    check("ball on a ball", slide(&rig, on_ball));
    flr_test_tight_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_plane_is_smooth),
                                       cmocka_unit_test(a_bore_is_smooth),
                                       cmocka_unit_test(a_ball_is_smooth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
