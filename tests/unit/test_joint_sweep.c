/* joints that are swept: the first contact is where it should be, and nothing is missed */
#include "world/joint_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixtures.h"
#include "support/test.h"
#include "swept_mesh.h"

static const double pi = 3.14159265358979323846;
static flr_error error;

enum { MAX_PARTS = 8 };

/* Boxes, some of which joints move. */
typedef struct rig {
    flr_test_shape shapes[MAX_PARTS];
    flr_fit *fits[MAX_PARTS];
    flr_pose poses[MAX_PARTS];
    flr_vec3 centres[MAX_PARTS];
    bool fixed[MAX_PARTS];
    uint32_t count;
    flr_mechanism *mechanism;
    flr_joint_sweep_def def;
    flr_joint_travel travels[4];
    uint32_t first[3];
} rig;

static void add_box(rig *r, flr_vec3 size, flr_vec3 at, bool fixed)
{
    const uint32_t i = r->count++;
    flr_test_shape_box(&r->shapes[i], size, 1);
    r->fits[i] = flr_test_fit(flr_test_shape_mesh(&r->shapes[i]));
    r->poses[i] = flr_pose_make(at, flr_quat_identity());
    r->fixed[i] = fixed;
}

static void tie(rig *r, const flr_joint *joints, uint32_t count)
{
    flr_mechanism_def def = {.part_count = r->count,
                             .joint_count = count,
                             .T_world_part = r->poses,
                             .centres = r->centres,
                             .fixed = r->fixed,
                             .joints = joints};
    assert_ok(flr_mechanism_create(&def, &r->mechanism, &error), error);
    r->def = flr_default_joint_sweep_def();
    r->def.mechanism = r->mechanism;
    r->def.fits = (const flr_fit *const *)r->fits;
    r->def.T_world_part = r->poses;
    r->def.travels = r->travels;
    r->def.first = r->first;
    r->def.stage_count = 1;
    r->def.samples = 13;
}

static void free_rig(rig *r)
{
    flr_mechanism_destroy(r->mechanism);
    for (uint32_t i = 0; i < r->count; i++) {
        flr_fit_destroy(r->fits[i]);
        flr_test_shape_free(&r->shapes[i]);
    }
}

static flr_joint joint(flr_joint_kind kind, uint32_t a, uint32_t b, flr_vec3 point, flr_vec3 axis)
{
    flr_joint j = flr_default_joint();
    j.kind = kind, j.a = a, j.b = b, j.point = point, j.axis = axis, j.pitch = 0.01;
    return j;
}

/* a thin arm of 0.2 m along x turns about z towards a wall: its end face's corner meets it at a known angle */
static void finds_the_angle(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.2, 0.02, 0.02), flr_vec3_make(0.1, 0, 0), false);
    add_box(&r, flr_vec3_make(0.5, 0.02, 0.5), flr_vec3_make(0, 0.16, 0),
            true); /* its face at y = 0.15 */
    const flr_joint j =
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 0, 1));
    tie(&r, &j, 1);
    r.travels[0] = (flr_joint_travel){.joint = 0, .to = 120 * pi / 180};
    r.first[1] = 1;
    flr_joint_sweep found;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_true(found.blocked && !found.locked);
    assert_int_equal(found.part[0], 0);
    assert_int_equal(found.part[1], 1);
    /* the corner (0.2, 0.01): |c| sin(a + a0) = 0.15 */
    const double expected = asin(0.15 / hypot(0.2, 0.01)) - atan2(0.01, 0.2);
    const double angle = found.share * 120 * pi / 180;
    assert_lt(fabs(angle - expected), 1e-5); /* 0.0006 degrees */
    assert_le(angle, expected + 1e-12);
    assert_within(found.point[1].y, 0.15, 1e-6);
    /* the clearance falls to nothing, and each value is exact */
    assert_int_equal(found.sample_count, 13);
    assert_within(found.samples[0].clearance, 0.14, 1e-9);
    assert_lt(found.samples[12].clearance, 1e-6);
    for (uint32_t i = 0; i < 13; i++) {
        const double a = found.samples[i].share * 120 * pi / 180;
        assert_within(found.samples[i].clearance,
                      0.15 - hypot(0.2, 0.01) * sin(a + atan2(0.01, 0.2)), 1e-8);
    }
    flr_joint_sweep_free(&found);

    /* a required clearance stops it earlier */
    r.def.clearance = 0.01;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    const double earlier = asin(0.14 / hypot(0.2, 0.01)) - atan2(0.01, 0.2);
    assert_lt(fabs(found.share * 120 * pi / 180 - earlier), 1e-5);
    flr_joint_sweep_free(&found);
    free_rig(&r);
}

/* a thin plate is not jumped over, however far the motion goes */
static void misses_nothing(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.02, 0.02, 0.02), flr_vec3_make(0, 0, 0), false);
    add_box(&r, flr_vec3_make(1e-5, 0.02, 0.02), flr_vec3_make(3, 0, 0), true);
    const flr_joint j =
        joint(FLR_JOINT_PRISMATIC, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(1, 0, 0));
    tie(&r, &j, 1);
    r.travels[0] = (flr_joint_travel){.joint = 0, .to = 10};
    r.first[1] = 1;
    flr_joint_sweep found;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_true(found.blocked);
    assert_lt(fabs(found.share * 10 - (3 - 0.5e-5 - 0.01)), 1e-5);
    flr_joint_sweep_free(&found);
    r.travels[0].to = -10;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_false(found.blocked);
    assert_eq(found.share, 1);
    flr_joint_sweep_free(&found);
    free_rig(&r);
}

/* two joints at once, in a chain: the same place as bisection on exact distances finds */
static void moves_together(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.2, 0.02, 0.02), flr_vec3_make(0.1, 0, 0), false);
    add_box(&r, flr_vec3_make(0.2, 0.02, 0.02), flr_vec3_make(0.3, 0, 0), false);
    add_box(&r, flr_vec3_make(0.02, 0.02, 0.1), flr_vec3_make(0.05, 0.21, 0), true);
    const flr_vec3 z = {0, 0, 1};
    const flr_joint j[] = {joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), z),
                           joint(FLR_JOINT_REVOLUTE, 0, 1, flr_vec3_make(0.2, 0, 0), z)};
    tie(&r, j, 2);
    r.travels[0] = (flr_joint_travel){.joint = 0, .to = 60 * pi / 180};
    r.travels[1] = (flr_joint_travel){.joint = 1, .to = 110 * pi / 180};
    r.first[1] = 2;
    flr_joint_sweep found;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_true(found.blocked);
    /* bisection, from the distances at poses */
    flr_fit_pair *pair;
    flr_pose T[MAX_PARTS];
    double low = 0, high = 1;
    assert_ok(flr_fit_pair_create(r.fits[2], r.fits[1], &pair, &error), error);
    for (int i = 0; i <= 200; i++) { /* the first place at which they meet, coarsely */
        flr_fit_result at;
        flr_joint_sweep_pose(&r.def, 0, i / 200.0, T);
        flr_fit_pair_query(pair, flr_pose_mul(flr_pose_inverse(T[2]), T[1]), NULL, NULL, 0, &at);
        if (at.distance <= 0) {
            low = (i - 1) / 200.0, high = i / 200.0;
            break;
        }
    }
    for (int i = 0; i < 40; i++) {
        flr_fit_result at;
        const double middle = 0.5 * (low + high);
        flr_joint_sweep_pose(&r.def, 0, middle, T);
        flr_fit_pair_query(pair, flr_pose_mul(flr_pose_inverse(T[2]), T[1]), NULL, NULL, 0, &at);
        if (at.distance <= 0)
            high = middle;
        else
            low = middle;
    }
    flr_fit_pair_destroy(pair);
    assert_lt(fabs(found.share - low), 1e-4);
    assert_le(found.share, high + 1e-9);
    assert_int_equal(found.part[0], 1);
    flr_joint_sweep_free(&found);

    /* in sequence: the first joint alone is free, the second one then is not, at another place */
    r.first[1] = 1, r.first[2] = 2;
    r.def.stage_count = 2;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_true(found.blocked);
    assert_int_equal(found.stage, 1);
    assert_int_equal(found.sample_count, 26);
    flr_joint_sweep_free(&found);
    free_rig(&r);
}

/* a linkage: the other bars follow; where it cannot, it locks */
static void follows_loops(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.02, 0.02, 0.1), flr_vec3_make(0, 0, 0.05), false);
    add_box(&r, flr_vec3_make(0.1, 0.02, 0.02), flr_vec3_make(0.05, 0.03, 0.1), false);
    add_box(&r, flr_vec3_make(0.02, 0.02, 0.2), flr_vec3_make(0.1, 0.06, 0.1), false);
    const flr_vec3 y = {0, 1, 0};
    /* a crank of 0.1, a coupler of 0.1 and a rocker of 0.1 on a base of 0.1: turned past 90 degrees it would need more */
    const flr_joint j[] = {
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_make(0, 0, 0), y),
        joint(FLR_JOINT_REVOLUTE, 0, 1, flr_vec3_make(0, 0, 0.1), y),
        joint(FLR_JOINT_REVOLUTE, 1, 2, flr_vec3_make(0.1, 0, 0.1), y),
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 2, flr_vec3_make(0.15, 0, 0), y)};
    tie(&r, j, 4);
    r.travels[0] = (flr_joint_travel){.joint = 0, .to = -20 * pi / 180};
    r.first[1] = 1;
    flr_pose T[MAX_PARTS];
    assert_lt(flr_joint_sweep_pose(&r.def, 0, 1, T), 1e-9);
    r.travels[0].to = -150 * pi / 180;
    flr_joint_sweep found;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_true(found.blocked && found.locked);
    assert_gt(found.share, 0.1);
    assert_lt(found.share, 1);
    /* at the lock, coupler and rocker are in line: the crank's end is their length from the fourth joint */
    const double a = found.share * -150 * pi / 180;
    const double reach = hypot(0.15 - 0.1 * sin(a), 0.1 * cos(a));
    assert_within(reach, 0.1 + hypot(0.05, 0.1), 1e-4);
    flr_joint_sweep_free(&found);
    r.travels[0].joint = 3;
    assert_int_equal(flr_joint_sweep_run(&r.def, &found, &error), FLR_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "loop"));
    free_rig(&r);
}

/* the border of a swept box encloses it, is closed, and is as near as it says */
static void makes_a_volume(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.05, 0.02, 0.02), flr_vec3_make(0.06, 0, 0), false);
    const flr_joint j =
        joint(FLR_JOINT_PRISMATIC, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 1, 0));
    tie(&r, &j, 1);
    r.travels[0] = (flr_joint_travel){.joint = 0, .to = 0.1};
    r.first[1] = 1;
    const flr_mesh *meshes[1] = {flr_test_shape_mesh(&r.shapes[0])};
    char path[64] = "/tmp/flr_swept_XXXXXX.ply";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    flr_swept_mesh_def def = {.env = flr_env_real(),
                              .sweep = &r.def,
                              .meshes = meshes,
                              .stages = 1,
                              .share = 1,
                              .tolerance = 3e-3,
                              .path = path};
    flr_swept_mesh_report report;
    assert_ok(flr_swept_mesh_write(&def, &report, &error), error);
    assert_within(report.volume, 0.05 * 0.12 * 0.02, 0.15 * 0.05 * 0.12 * 0.02);
    flr_mesh *mesh;
    flr_mesh_options options = flr_default_mesh_options();
    assert_ok(flr_mesh_open(flr_env_real(), path, &options, &mesh, NULL, &error), error);
    remove(path);
    /* every vertex is outside the box that is swept, or on it, and within the tolerance */
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const flr_vec3 p = mesh->vertices[i];
        const double x = fmax(0.035 - p.x, p.x - 0.085), y = fmax(-0.01 - p.y, p.y - 0.11),
                     z = fmax(-0.01 - p.z, p.z - 0.01);
        assert_lt(fmax(x, fmax(y, z)), 3e-3);
        assert_gt(fmax(x, fmax(y, z)), -1e-3);
    }
    /* closed, outwards: its volume by the divergence theorem is that of the box and a margin */
    double volume = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        volume += flr_vec3_dot(mesh->vertices[v[0]],
                               flr_vec3_cross(mesh->vertices[v[1]], mesh->vertices[v[2]])) /
                  6;
    }
    assert_gt(volume, 0.05 * 0.12 * 0.02 * 0.98);
    assert_lt(volume, 0.056 * 0.126 * 0.026);
    flr_mesh_destroy(mesh);
    free_rig(&r);
}

/* a block that lies on a floor of several triangles slides along it, up to the wall; one that begins in the wall comes out */
static void leaves_what_it_meets(void **state)
{
    (void)state;
    for (int within = 0; within < 2; within++) {
        rig r = {0};
        add_box(&r, flr_vec3_make(0.02, 0.02, 0.02), flr_vec3_make(within ? 0.17 : -0.1, 0, 0.01),
                false);
        add_box(&r, flr_vec3_make(0.5, 0.1, 0.02), flr_vec3_make(0, 0, -0.01), true);
        add_box(&r, flr_vec3_make(0.02, 0.1, 0.1), flr_vec3_make(0.17, 0, 0.05), true);
        const flr_joint j =
            joint(FLR_JOINT_PRISMATIC, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(1, 0, 0));
        tie(&r, &j, 1);
        r.travels[0] = (flr_joint_travel){.joint = 0, .to = within ? -0.2 : 0.3};
        r.first[1] = 1;
        flr_joint_sweep found;
        assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
        assert_int_equal(found.start_count, within ? 2 : 1);
        assert_int_equal(found.blocked, !within);
        if (!within) {
            assert_int_equal(found.part[1], 2);
            assert_within(0.3 * found.share, 0.25, 1e-6); /* from x = -0.09 to the face at 0.16 */
        }
        flr_joint_sweep_free(&found);
        free_rig(&r);
    }
}

/* a bar that begins in a post comes out, goes round and is stopped on its other side */
static void meets_again(void **state)
{
    (void)state;
    rig r = {0};
    add_box(&r, flr_vec3_make(0.1, 0.004, 0.004), flr_vec3_make(0.05, 0, 0), false);
    add_box(&r, flr_vec3_make(0.01, 0.01, 0.01), flr_vec3_make(0.05, 0.04, 0), true);
    const flr_joint j =
        joint(FLR_JOINT_REVOLUTE, FLR_JOINT_WORLD, 0, flr_vec3_zero(), flr_vec3_make(0, 0, 1));
    tie(&r, &j, 1);
    r.travels[0] = (flr_joint_travel){.joint = 0, .from = 40 * pi / 180, .to = 420 * pi / 180};
    r.first[1] = 1;
    flr_joint_sweep found;
    assert_ok(flr_joint_sweep_run(&r.def, &found, &error), error);
    assert_int_equal(found.start_count, 1);
    assert_true(found.blocked);
    /* the upper face of the bar meets the post's corner at (55, 35) mm */
    const double expected = atan2(0.035, 0.055) - asin(0.002 / hypot(0.055, 0.035)) + 2 * pi;
    assert_within(flr_joint_travel_at(&r.travels[0], found.share), expected, 1e-5);
    flr_joint_sweep_free(&found);
    free_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_what_it_meets), cmocka_unit_test(meets_again),
        cmocka_unit_test(finds_the_angle),      cmocka_unit_test(misses_nothing),
        cmocka_unit_test(moves_together),       cmocka_unit_test(follows_loops),
        cmocka_unit_test(makes_a_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
