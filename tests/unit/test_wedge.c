/* a part forced into a narrow wedge: it neither sinks nor buzzes */
#include "feeler/step.h"
#include "support/rig.h"

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
    const double angles[] = {5, 10, 20, 45, 90}, rates[] = {250, 1000, 4000};
    for (int a = 0; a < 5; a++)
        for (int r = 0; r < 3; r++)
            for (int m = 0; m < 2; m++) {
                flr_test_rig rig;
                begin(&rig, angles[a], m ? 0.5 : 0.012);
                rig.params.dt = 1 / rates[r];
                outcome out = force_in(&rig);
                print_message("%2g deg, %4g Hz, %5g kg: depth %.4f voxels, buzz %.1e m/s, %.3f N, %u iterations\n",
                              angles[a], rates[r], rig.body.inertia.mass, out.deepest / VOXEL,
                              out.buzz, out.force, rig.result.iterations);
                assert_true(out.deepest < 0.55 * VOXEL);
                assert_true(out.buzz < 1e-4);
                assert_within(out.force, 0.5, 0.01); /* the clamp: all of the pull is carried */
                assert_int_equal(rig.result.faults, 0);
                flr_test_rig_end(&rig);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stops_and_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
