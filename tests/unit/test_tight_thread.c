/* a nut on its bolt: turned, pulled, hammered, loaded
 *
 * FLR_TEST_FITS=1: longer runs. */
#include <math.h>

#include "feeler/mesh_check.h"
#include "support/fixtures.h"
#include "support/thread.h"
#include "support/tight_rig.h"

static const double pi = 3.14159265358979323846;
static bool thorough(void) { return getenv("FLR_TEST_FITS") != NULL; }

static flr_pose on_helix(const flr_test_thread *t, double z)
{
    flr_pose T = flr_pose_identity();
    T.p.z = z;
    T.q = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 2 * pi * z / t->pitch);
    return T;
}

/* Bolt and nut, the nut `up` its thread. */
static flr_test_tight make(const flr_test_thread *t, flr_part_kind kind, double up)
{
    flr_test_tight rig = flr_test_tight_begin();
    flr_kit bolt = flr_kit_begin(1), nut = flr_kit_begin(1);
    flr_test_thread_bolt(t, &bolt);
    flr_test_thread_nut(t, &nut);
    flr_test_tight_add(&rig, &bolt, FLR_PART_STATIC, flr_pose_identity());
    flr_test_tight_add(&rig, &nut, kind, on_helix(t, up));
    return rig;
}

static void the_thread_is_closed_and_fits(void **state)
{
    (void)state;
    flr_test_thread t = flr_test_thread_m16();
    flr_test_tight rig = make(&t, FLR_PART_MOVABLE, 7.3e-3);
    flr_test_tight_make(&rig, 1);
    double distance = flr_test_tight_distance(&rig, 0, 1);
    print_message("%u and %u triangles, %.1f um apart\n", rig.meshes[0]->triangle_count,
                  rig.meshes[1]->triangle_count, 1e6 * distance);
    assert_true(distance > 80e-6 && distance < 101e-6);
    flr_test_tight_end(&rig);
}

/* A hand that only turns: it leaves the nut where it is along its axis. */
static void a_turned_nut_goes_its_pitch(void **state)
{
    (void)state;
    flr_test_thread t = flr_test_thread_m16();
    flr_test_tight rig = make(&t, FLR_PART_MOVABLE, 10e-3);
    flr_test_tight_make(&rig, 1);
    int frames = thorough() ? 12000 : 1500, off = 0;
    double turned = 0, speed = 2 * pi / 1000, first = 0, first_turn = 0, worst = 0;
    for (int i = 0; i < frames; i++) {
        flr_pose T = flr_world_body(rig.world, 1)->T_world_part;
        flr_pose hand = {.p = T.p};
        turned += speed;
        hand.q =
            flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 2 * pi * 10e-3 / t.pitch + turned);
        double begin = flr_test_thread_seconds();
        flr_test_tight_step(&rig, hand);
        worst = fmax(worst, flr_test_thread_seconds() - begin);
        assert_int_equal(rig.frame.faults, 0);
        if (i % 10 == 0) assert_false(flr_test_tight_meet(&rig, 0, 1));
        if (i == 300) first = T.p.z, first_turn = turned;
        if (T.p.z > t.bolt + 1e-4 && !off) off = i;
    }
    double z = flr_world_body(rig.world, 1)->T_world_part.p.z;
    double pitch = (z - first) / (turned - first_turn) * 2 * pi;
    print_message("%.4f mm per turn, at %.2f mm, worst frame %.0f us, off at %d\n", pitch * 1e3,
                  z * 1e3, worst * 1e6, off);
    if (!thorough()) assert_within(pitch / t.pitch, 1, 0.01);
    if (thorough()) assert_true(off > 0);
    flr_test_tight_end(&rig);
}

/* A short thread to its end: the hand only turns until the nut has left the bolt, and then nothing holds it. */
static void a_turned_nut_comes_off(void **state)
{
    (void)state;
    flr_test_thread t = flr_test_thread_m16();
    t.bolt = 5e-3, t.nut = 3e-3, t.sides = 40, t.nut_sides = 36;
    const double from = 3.2e-3;
    flr_test_tight rig = make(&t, FLR_PART_MOVABLE, from);
    flr_test_tight_make(&rig, 1);
    const flr_vec3 axis = flr_vec3_make(0, 0, 1);
    double turned = 2 * pi * from / t.pitch;
    flr_pose hand = flr_pose_identity();
    for (int i = 0; i < 900; i++) {
        hand.p = flr_world_body(rig.world, 1)->T_world_part.p;
        hand.q = flr_quat_from_axis_angle(axis, turned += 2 * pi / 600);
        flr_test_tight_step(&rig, hand);
        assert_int_equal(rig.frame.faults, 0);
        if (i % 10 == 0) assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    const double left = flr_world_body(rig.world, 1)->T_world_part.p.z;
    /* no turn any more: lifted straight, as a nut on its thread cannot be */
    for (int i = 0; i < 300; i++) {
        hand.p.z += 1e-5;
        flr_test_tight_step(&rig, hand);
        if (i % 10 == 0) assert_false(flr_test_tight_meet(&rig, 0, 1));
    }
    const double lifted = flr_world_body(rig.world, 1)->T_world_part.p.z;
    print_message("turned from %.2f to %.2f mm of %.2f, then lifted to %.2f\n", from * 1e3,
                  left * 1e3, t.bolt * 1e3, lifted * 1e3);
    assert_true(left > t.bolt - t.pitch / 4);
    assert_true(lifted > t.bolt + t.pitch / 2);
    flr_test_tight_end(&rig);
}

/* Pulled along the axis by 200 N, tapped, hammered, shaken, at all rates: it stays on its thread. */
static void a_pulled_nut_stays_on(void **state)
{
    (void)state;
    flr_test_thread t = flr_test_thread_m16();
    flr_test_random rng = flr_test_random_begin("pulled");
    const double rates[] = {250, 1000, 4000};
    for (int r = 0; r < 3; r++) {
        flr_test_tight rig = make(&t, FLR_PART_MOVABLE, 8e-3);
        rig.dt = 1 / rates[r];
        rig.params.exact.strength = 20;
        rig.mass = 0.1;
        flr_test_tight_make(&rig, 1);
        int frames = thorough() ? 4000 : 300;
        for (int i = 0; i < frames; i++) {
            flr_pose hand = on_helix(&t, 8e-3);
            double pull = i / 100 % 2 ? 1 : -1;
            hand.p.z += pull * 0.15; /* 0.1 m of stretch are 200 N */
            if (i / 50 % 3 == 1)     /* taps and blows, from all sides */
                hand.p =
                    flr_vec3_add(hand.p, flr_vec3_make(flr_test_random_range(&rng, -0.2, 0.2),
                                                       flr_test_random_range(&rng, -0.2, 0.2),
                                                       flr_test_random_range(&rng, -0.4, 0.4)));
            flr_test_tight_step(&rig, hand);
            if (i % 5 == 0 && flr_test_tight_meet(&rig, 0, 1))
                fail_msg("%g Hz, frame %d: triangles meet", rates[r], i);
            double z = flr_world_body(rig.world, 1)->T_world_part.p.z;
            flr_vec3 turn = flr_quat_to_rotation_vector(
                flr_quat_mul(flr_world_body(rig.world, 1)->T_world_part.q,
                             flr_quat_conjugate(on_helix(&t, 8e-3).q)));
            double play = fabs(z - 8e-3 - t.pitch * turn.z / (2 * pi));
            if (!(play < 0.4e-3))
                fail_msg("%g Hz, frame %d: the nut is off its helix by %g m", rates[r], i, play);
        }
        flr_test_tight_end(&rig);
    }
}

/* Loaded by 100 N and free: from which friction on does it stay? */
static double fall(const flr_test_thread *t, double friction)
{
    flr_test_tight rig = make(t, FLR_PART_FREE, 5e-3);
    double mass = rig.parts[1].body.inertia.mass;
    rig.params.friction = friction;
    rig.params.step.gravity = flr_vec3_make(0, 0, -100 / mass);
    flr_test_tight_make(&rig, FLR_NO_PART);
    for (int i = 0; i < 80; i++) {
        flr_test_tight_step(&rig, flr_pose_identity());
        assert_int_equal(rig.frame.faults, 0);
    }
    double speed = flr_world_body(rig.world, 1)->twist.angular.z;
    flr_test_tight_end(&rig);
    return fabs(speed);
}

static void a_loaded_nut_locks_itself(void **state)
{
    (void)state;
    flr_test_thread t = flr_test_thread_m16();
    t.bolt = 14e-3, t.nut = 5e-3;
    t.sides = 120, t.nut_sides = 113; /* or facets catch each other, all at once */
    t.crest = t.nut_crest = 0.15e-3;  /* so that all bears at one radius */
    double theory = flr_test_thread_locks(&t), low = 0.8 * theory, high = 1.25 * theory;
    for (int k = 0; k < (thorough() ? 7 : 5); k++) {
        double middle = (low + high) / 2;
        if (fall(&t, middle) > 0.02)
            low = middle;
        else
            high = middle;
    }
    print_message("locks itself from %.4f on; theory says %.4f\n", high, theory);
    assert_within((low + high) / 2 / theory, 1, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thread_is_closed_and_fits),
        cmocka_unit_test(a_turned_nut_goes_its_pitch), cmocka_unit_test(a_turned_nut_comes_off),
        cmocka_unit_test(a_pulled_nut_stays_on), cmocka_unit_test(a_loaded_nut_locks_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
