/* a part forced into a narrow wedge: it neither sinks nor buzzes */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

static const double VOXEL = 0.001;

/* The wedge opens upwards, its walls lean by half the angle on either side; the part is a plate on edge. */
static void begin(flr_test_rig *rig, double degrees, double mass)
{
    double half = degrees * 3.14159265358979323846 / 360;
    flr_test_rig_begin(rig, mass, flr_vec3_make(0.04, 0.01, 0.03));
    flr_test_rig_plane(rig, flr_vec3_make(0, cos(half), sin(half)), 0);
    flr_test_rig_plane(rig, flr_vec3_make(0, -cos(half), sin(half)), 0);
    /* just above where its lower edges touch both walls */
    rig->body.T_world_part.p.z = 0.005 / tan(half) + 0.015 + 0.002;
    rig->limit = VOXEL / 2;
    rig->layer = VOXEL;
    flr_coupling_def def = flr_default_coupling_def();
    def.stretch = VOXEL / 2;
    flr_test_rig_grab(rig, &def, rig->body.T_world_part.p);
}

typedef struct outcome {
    double deepest, buzz, force; /* metres, m/s, N */
} outcome;

/* Pushes the handle 50 mm down in 0.2 s, holds it, and looks at the last half second. */
static outcome force_in(flr_test_rig *rig)
{
    outcome out = {0};
    double dt = rig->params.dt;
    flr_vec3 down = rig->handle.T_world_handle.p;
    down.z -= 0.05;
    flr_test_rig_drag(rig, down, (int)(0.2 / dt));
    for (int i = 0; i < (int)(2.5 / dt); i++) {
        flr_test_rig_step(rig);
        if (i * dt < 2.0) continue;
        out.deepest = fmax(out.deepest, rig->result.deepest);
        out.buzz = fmax(out.buzz, flr_vec3_length(rig->body.twist.linear) +
                                      flr_vec3_length(rig->body.twist.angular) * rig->body.reach);
    }
    out.force = rig->felt.force.z;
    return out;
}

static void it_stops_and_is_quiet(void **state)
{
    (void)state;
    const double angles[] = {5, 10, 20, 45, 90}, rates[] = {250, 1000, 2000};
    for (int a = 0; a < 5; a++)
        for (int r = 0; r < 3; r++)
            for (int m = 0; m < 2; m++) {
                flr_test_rig rig;
                begin(&rig, angles[a], m ? 0.5 : 0.012);
                rig.params.dt = 1 / rates[r];
                outcome out = force_in(&rig);
                print_message("%2g deg, %4g Hz, %5g kg: depth %.4f voxels, buzz %.1e m/s, %.3f N, "
                              "%u iterations\n",
                              angles[a], rates[r], rig.body.inertia.mass, out.deepest / VOXEL,
                              out.buzz, out.force, rig.result.iterations);
                assert_lt(out.deepest, 0.55 * VOXEL);
                assert_lt(out.buzz, 1e-4);
                assert_within(out.force, 0.5, 0.01); /* the clamp: all of the pull is carried */
                assert_int_equal(rig.result.faults, 0);
                flr_test_rig_end(&rig);
            }
}

/* Turned in the wedge, gripped off the centre, pulled ten times harder, with friction: the same. */
static void it_stops_in_every_way(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        flr_test_rig rig;
        begin(&rig, k & 1 ? 7 : 30, 0.012);
        if (k & 2) rig.friction = 0.3;
        if (k & 4)
            rig.body.T_world_part.q = flr_quat_from_axis_angle(flr_vec3_make(1, 0.2, 0.5), 0.3);
        rig.body.T_world_part.p.z += 0.01;
        flr_coupling_def def = flr_default_coupling_def();
        def.stretch = 0.005;
        flr_vec3 grip = rig.body.T_world_part.p;
        grip.x += 0.015, grip.z += 0.01;
        flr_test_rig_grab(&rig, &def, grip);
        outcome out = force_in(&rig);
        print_message("%d: depth %.4f voxels, buzz %.1e m/s, %.3f N\n", k, out.deepest / VOXEL,
                      out.buzz, out.force);
        assert_lt(out.deepest, 0.55 * VOXEL);
        assert_lt(out.buzz, 1e-4);
        flr_test_rig_end(&rig);
    }
}

/* The paper's step in the same wedge sinks, as the paper says; bounding by direction keeps it from buzzing. */
static void the_explicit_step_sinks(void **state)
{
    (void)state;
    for (int bounded = 0; bounded < 2; bounded++)
        for (int stiff = 0; stiff < 2; stiff++) {
            flr_test_rig rig;
            begin(&rig, 10, 0.05);
            rig.params.integrator = FLR_INTEGRATOR_EXPLICIT;
            rig.params.bounded = bounded;
            rig.limit = INFINITY;
            if (stiff) rig.asked.stiffness = 1e5;
            rig.body.twist.linear.y = 0.05; /* not quite in the middle */
            outcome out = force_in(&rig);
            print_message("explicit%s, %g N/m: depth %.2f voxels, buzz %.1e m/s\n",
                          bounded ? ", bounded" : "", rig.asked.stiffness, out.deepest / VOXEL,
                          out.buzz);
            bool sound = out.buzz < 1e-3 && fabs(out.force - 0.5) < 0.01;
            assert_int_equal(sound, bounded || !stiff);
            if (!stiff) assert_gt(out.deepest, VOXEL);
            flr_test_rig_end(&rig);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stops_and_is_quiet),
        cmocka_unit_test(it_stops_in_every_way),
        cmocka_unit_test(the_explicit_step_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
