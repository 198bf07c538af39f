/* where a held part is stable: stiffness x mass x rate, resting, sliding and in a slot
 *
 * FLR_TEST_GRID=N makes the grid N times finer in each direction and prints it; the default is a coarse one. */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

typedef enum scene { REST, SLIDE, SLOT, DROP, SCENES } scene;

static const char *const NAMES[] = {"rest", "slide", "slot", "drop"};

static void begin(flr_test_rig *rig, scene kind, double stiffness, double mass, double rate,
                  flr_integrator integrator)
{
    flr_test_rig_begin(rig, mass, flr_vec3_make(0.04, 0.02, 0.02));
    flr_test_rig_plane(rig, flr_vec3_make(0, 0, 1), -0.0102);
    if (kind == SLOT) { /* narrower than the part by a tenth of a millimetre on either side */
        flr_test_rig_plane(rig, flr_vec3_make(0, 1, 0), -0.0099);
        flr_test_rig_plane(rig, flr_vec3_make(0, -1, 0), -0.0099);
    }
    rig->params.dt = 1 / rate;
    rig->params.integrator = integrator;
    rig->asked.stiffness = stiffness;
    rig->limit = 0.0005;
    rig->layer = 0.001;
    flr_coupling_def def = flr_default_coupling_def();
    def.stiffness = stiffness;
    flr_test_rig_grab(rig, &def, flr_vec3_make(0.005, 0, 0.01));
}

/* Presses 0.3 mm beyond the table, which is within the clamp. Returns how much is still going on at the end, per step:
 * change of the felt force by its limit, or way of the body (across the slide) by half a voxel, whichever is more;
 * INFINITY when it left the scene. */
static double restless(scene kind, double stiffness, double mass, double rate,
                       flr_integrator integrator)
{
    flr_test_rig rig;
    begin(&rig, kind, stiffness, mass, rate, integrator);
    int steps = (int)(rate * 0.4), lift = steps / 2;
    double last = 0, worst = 0;
    flr_vec3 home = rig.handle.T_world_handle.p;
    for (int i = 0; i < steps; i++) {
        double t = (double)i / steps, press = fmin(1, 3 * t) * 0.0005;
        flr_vec3 p = flr_vec3_make(home.x, home.y, home.z - press),
                 was = rig.handle.T_world_handle.p;
        if (kind == SLIDE) p.x += 0.03 * fmax(0, t - 0.4);
        if (kind == DROP && i == lift) rig.plane_count = 0; /* the table is gone, and comes back */
        if (kind == DROP && i == lift + steps / 20) rig.plane_count = 1;
        rig.handle.T_world_handle.p = p;
        rig.handle.twist.linear = flr_vec3_scale(flr_vec3_sub(p, was), rate);
        flr_test_rig_step(&rig);
        double change = fabs(rig.felt.force.z - last) / rig.coupling.force_limit;
        change = fmax(change, fabs(rig.body.twist.linear.z) / rate / 0.0005);
        change = fmax(change, fabs(rig.body.twist.linear.y) / rate / 0.0005);
        if (i > steps * 5 / 6) worst = fmax(worst, change);
        last = rig.felt.force.z;
        if (!(flr_vec3_length(rig.body.T_world_part.p) < 0.05)) worst = INFINITY;
    }
    flr_test_rig_end(&rig);
    return worst;
}

/* The implicit step is quiet everywhere. */
static void implicit_has_no_limit(void **state)
{
    (void)state;
    const char *finer = getenv("FLR_TEST_GRID");
    int n = finer ? atoi(finer) : 1;
    const double rates[] = {250, 1000, 2500, 10000};
    for (int kind = 0; kind < SCENES; kind++)
        for (int r = 0; r < (finer ? 4 : 3); r++) {
            double worst = 0;
            for (int k = 0; k <= 4 * n; k++)
                for (int m = 0; m <= 2 * n; m++) {
                    double stiffness = pow(10, 2 + 1.0 * k / n), mass = pow(10, -2.2 + 1.2 * m / n);
                    /* a heavy part on a weak spring is not there yet after half a second */
                    if (sqrt(mass / stiffness) > 0.01) continue;
                    double q =
                        restless((scene)kind, stiffness, mass, rates[r], FLR_INTEGRATOR_IMPLICIT);
                    if (!(q < 0.01))
                        print_message("%s, %g Hz, %.3g N/m, %.3g kg: %.2e\n", NAMES[kind], rates[r],
                                      stiffness, mass, q);
                    worst = fmax(worst, q);
                }
            print_message("%-5s %5g Hz: at most %.1e a step\n", NAMES[kind], rates[r], worst);
            assert_lt(worst, 0.01);
        }
}

/* The explicit one is as long as dt^2 k / m is small, and not where it is large: the measure can tell. */
static void explicit_has_one(void **state)
{
    (void)state;
    double low = INFINITY, high = 0;
    for (int k = 0; k <= 16; k++) {
        double stiffness = pow(10, 2 + 0.25 * k), mass = 0.05;
        double q = restless(REST, stiffness, mass, 1000, FLR_INTEGRATOR_EXPLICIT);
        double ratio = stiffness * 1e-6 / mass;
        if (q < 0.01) high = fmax(high, ratio);
        if (!(q < 0.01)) low = fmin(low, ratio);
    }
    print_message("explicit: quiet up to dt^2 k/m = %.2g, restless from %.2g on\n", high, low);
    assert_gt(high, 0.01);
    assert_lt(low, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(implicit_has_no_limit),
        cmocka_unit_test(explicit_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
