/* a held part on real voxels: pressed, dragged, in every pose; walls for corners; the way checked before it is gone */
#include "feeler/dynamics.h"
#include "support/fixtures.h"

static const double VOXEL = 0.0005;

typedef struct bench {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
    flr_contact_params asked;
    flr_step *step;
    flr_step_params params;
    flr_body body;
    flr_coupling coupling;
    flr_handle handle;
    bool walls, check;
    flr_vec3 wall[1024];
    flr_contact_result contact;
    flr_step_result result;
    flr_wrench felt;
} bench;

static void begin(bench *b, flr_test_solid solid, double tilt)
{
    flr_error error;
    *b = (bench){.asked = flr_default_contact_params(), .params = flr_default_step_params()};
    flr_test_part_make(&b->moving, solid, 1, VOXEL, true);
    flr_test_part_make(&b->fixed, FLR_TEST_BOX, 3, VOXEL, true); /* its top is at 18 mm */
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = b->moving.shell, def.voxmap = b->fixed.voxmap;
    assert_ok(flr_contact_pair_create(&def, &b->pair, &error), error);
    assert_ok(flr_step_create(1024, &b->step, &error), error);
    flr_body_def body;
    const flr_mesh *mesh = flr_test_shape_mesh(&b->moving.shape);
    assert_ok(flr_body_def_from_mesh(mesh, 1000, &body, &error), error);
    body.mass = 0.012;
    body.T_world_part = flr_pose_make(flr_vec3_make(0, 0, 0.04),
                                      flr_quat_from_axis_angle(flr_vec3_make(1, 0.3, 0.2), tilt));
    assert_ok(flr_body_make(&body, &b->body, &error), error);
    b->asked.model = FLR_FORCE_SMOOTH;
    b->asked.centre = body.inertia.centre;
    b->params.travel = VOXEL / 2;
    b->walls = true;
    flr_coupling_def coupling = flr_default_coupling_def();
    coupling.stretch = VOXEL / 2;
    b->handle.T_world_handle = flr_pose_make(flr_body_centre(&b->body), flr_quat_identity());
    assert_ok(flr_coupling_grab(&coupling, &b->body, &b->handle, &b->coupling, &error), error);
}

static void end(bench *b)
{
    flr_step_destroy(b->step);
    flr_contact_pair_destroy(b->pair);
    flr_test_part_free(&b->moving);
    flr_test_part_free(&b->fixed);
}

static void step_to(bench *b, flr_vec3 p)
{
    double dt = b->params.dt;
    flr_vec3 way = flr_vec3_sub(p, b->handle.T_world_handle.p);
    b->handle.twist.linear = flr_vec3_scale(way, 1 / dt);
    b->handle.T_world_handle.p = p;
    b->asked.motion = b->body.twist;
    flr_pose fixed = flr_pose_identity();
    flr_contact_query(b->pair, b->body.T_world_part, fixed, &b->asked, &b->contact);
    const flr_contact *list = flr_contact_list(b->pair);
    flr_wall_normals(b->fixed.voxmap, fixed, list, b->contact.listed, b->wall);
    flr_touches touches = {.list = list,
                           .walls = b->walls ? b->wall : NULL,
                           .result = &b->contact,
                           .asked = &b->asked,
                           .centre = flr_body_centre(&b->body),
                           .limit = 0.45 * VOXEL};
    flr_step_begin(b->step, &b->body, &b->params);
    flr_step_touch(b->step, &touches);
    flr_step_pull(b->step, &b->coupling, &b->handle);
    flr_step_solve(b->step, &b->result);
    double fraction = b->result.fraction;
    if (b->check) {
        flr_motion_check_params check = flr_default_motion_check_params();
        flr_motion_check_result way_free;
        check.centre = b->asked.centre;
        flr_pose to = flr_motion_apply(&b->body, b->result.motion, fraction);
        flr_contact_check_motion(b->pair, (flr_pose_span){b->body.T_world_part, to},
                                 (flr_pose_span){fixed, fixed}, &check, &way_free);
        fraction *= way_free.fraction;
    }
    flr_step_move(&b->result, fraction, &b->body);
    b->felt = flr_coupling_feel(&b->coupling, &b->body, &b->handle, b->result.touching > 0, dt);
}

/* Down for 0.2 s to well below the table, hold, to and fro for 1 s. */
static flr_vec3 press_and_slide(flr_vec3 from, double t)
{
    double x = t < 0.4 ? 0 : 0.01 * sin(6.283185307179586 * (t - 0.4));
    return flr_vec3_make(from.x + x, from.y, from.z - 0.03 * fmin(1, t / 0.2));
}

/* Every solid, level and tilted: quiet, no deeper than half a voxel, never through. */
static void a_part_slides_on_a_table(void **state)
{
    (void)state;
    for (int solid = 0; solid < FLR_TEST_SOLID_COUNT; solid++)
        for (int tilted = 0; tilted < 2; tilted++) {
            bench b;
            begin(&b, (flr_test_solid)solid, tilted ? 0.3 : 0);
            flr_vec3 from = b.handle.T_world_handle.p;
            double last = 0, change = 0, sum = 0, deepest = 0;
            int penetrations = 0;
            for (int i = 0; i < 1400; i++) {
                step_to(&b, press_and_slide(from, i * 0.001));
                assert_int_equal(b.result.faults, 0);
                penetrations += b.contact.penetrations > 0;
                deepest = fmax(deepest, b.result.deepest);
                if (i > 400) {
                    change = fmax(change, fabs(b.felt.force.z - last));
                    sum += fabs(b.felt.force.z - last);
                    assert_gt(b.contact.contacts, 0);
                }
                last = b.felt.force.z;
            }
            print_message("solid %d%s: force changes by %.4f N a step at most, %.5f in the mean; "
                          "depth %.2f voxels, %d potential penetrations\n",
                          solid, tilted ? ", tilted" : "", change, sum / 1000, deepest / VOXEL,
                          penetrations);
            assert_lt(change, 0.1);
            assert_lt(sum / 1000, 0.001);
            assert_lt(deepest, 0.6 * VOXEL);
            end(&b);
        }
}

/* The normal of a box's corner points into its middle; the table's is up, whatever the corner's. */
static void walls_are_those_of_the_voxmap(void **state)
{
    (void)state;
    bench b;
    begin(&b, FLR_TEST_BOX, 0.3);
    flr_vec3 from = b.handle.T_world_handle.p;
    int looked = 0;
    for (int i = 0; i < 400; i++) {
        step_to(&b, press_and_slide(from, i * 0.001));
        for (uint32_t k = 0; k < b.contact.listed; k++) {
            const flr_contact *c = &flr_contact_list(b.pair)[k];
            if (c->label == FLR_LABEL_FACE) continue;
            assert_gt(b.wall[k].z, 0.999);
            looked += c->normal.z < 0.9;
        }
    }
    assert_gt(looked, 100);
    end(&b);
}

/* Thrown at 5 m/s, ten voxels a step, without a travel limit: the motion check keeps it out. */
static void a_fast_part_does_not_pass(void **state)
{
    (void)state;
    bench b;
    begin(&b, FLR_TEST_SPHERE, 0);
    b.params.travel = INFINITY;
    b.check = true;
    flr_vec3 from = b.handle.T_world_handle.p;
    for (int i = 0; i < 200; i++) {
        double down = fmin(0.08, 0.005 * (i % 100));
        step_to(&b, flr_vec3_make(from.x, from.y, from.z - down));
        assert_gt(b.body.T_world_part.p.z, 0.018 + 0.010 - VOXEL); /* the exact surfaces */
    }
    end(&b);
}

/* A hand of 0.5 kg on a spring and a damper presses through the device: the loop settles, and gives out no more
 * energy than it got. */
static void a_hand_in_the_loop_comes_to_rest(void **state)
{
    (void)state;
    for (int control = 0; control < 2; control++) {
        bench b;
        begin(&b, FLR_TEST_BOX, 0.1);
        flr_passivity port = {0};
        flr_passivity_params params = flr_default_passivity_params();
        params.control = control;
        flr_vec3 p = b.handle.T_world_handle.p, v = {0};
        double mass = 0.5, stiffness = 300, damping = 10, dt = b.params.dt, quiet = 0;
        double goal = p.z - 0.02;
        for (int i = 0; i < 3000; i++) {
            flr_wrench out = flr_passivity_pass(&port, &params,
                                                flr_pose_make(p, flr_quat_identity()), b.felt, dt);
            double pull = stiffness * (goal - p.z) - damping * v.z + out.force.z;
            v.z += dt * pull / mass;
            p.z += dt * v.z;
            step_to(&b, p);
            if (i > 2500) quiet = fmax(quiet, fabs(v.z));
        }
        print_message("hand: %.1e m/s at the end; account %.2e J, deficit %.2e J\n", quiet,
                      port.account, port.deficit);
        assert_lt(quiet, 1e-4);
        assert_lt(port.deficit, 1e-5);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_slides_on_a_table),
        cmocka_unit_test(walls_are_those_of_the_voxmap),
        cmocka_unit_test(a_fast_part_does_not_pass),
        cmocka_unit_test(a_hand_in_the_loop_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
