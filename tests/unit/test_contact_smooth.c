/* the smooth force model: how much may a wrench change when a part moves a little?
 *
 * Poses are chosen so that some point of the shell stands next to a plane between voxels, or between their middles, and then steps
 * over it. The same steps break the tangent-plane model, so the test can fail. */
#include <math.h>

#include "support/fixtures.h"

#ifdef FLR_SANITIZED
enum { STEPS = 320 };
#else
enum { STEPS = 1600 };
#endif

static const double voxel = 0.001;

typedef struct scene {
    flr_test_part moving, fixed;
    flr_contact_pair *pair;
    double radius; /* metres: no point of the moving part is farther from its origin */
} scene;

/* Like flr_test_part_make(), with the points on the exact surface. */
static void lay_points(flr_test_part *part)
{
    flr_shell_destroy(part->shell);
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.on_surface = true;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), flr_test_shape_mesh(&part->shape), &def, NULL,
                           &part->shell, NULL, &error),
              error);
}

static void begin(scene *s, flr_test_solid moving, flr_test_solid fixed)
{
    flr_test_part_make(&s->moving, moving, 1, voxel, true);
    flr_test_part_make(&s->fixed, fixed, 1, voxel, true);
    lay_points(&s->moving);
    const flr_mesh *mesh = flr_test_shape_mesh(&s->moving.shape);
    s->radius = 2 * voxel;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        s->radius = fmax(s->radius, flr_vec3_length(mesh->vertices[i]) + 2 * voxel);
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = s->moving.shell;
    def.voxmap = s->fixed.voxmap;
    flr_error error;
    assert_ok(flr_contact_pair_create(&def, &s->pair, &error), error);
}

static void end(scene *s)
{
    flr_contact_pair_destroy(s->pair);
    flr_test_part_free(&s->moving);
    flr_test_part_free(&s->fixed);
}

static flr_vec3 random_direction(flr_test_random *random)
{
    flr_vec3 d;
    do
        d = flr_vec3_make(flr_test_random_range(random, -1, 1),
                          flr_test_random_range(random, -1, 1),
                          flr_test_random_range(random, -1, 1));
    while (!(flr_vec3_length2(d) > 0.01 && flr_vec3_length2(d) < 1));
    return flr_vec3_scale(d, 1 / flr_vec3_length(d));
}

/* Any orientation, some point of the shell somewhere in the box of the fixed part, `off` voxels from a plane that
 * halves voxels or stands between them. */
static flr_pose at_a_plane(flr_test_random *random, const scene *s, double off)
{
    const flr_shell *shell = s->moving.shell;
    flr_voxmap_info info = flr_voxmap_get_info(s->fixed.voxmap);
    flr_box3 box = flr_test_shape_mesh((flr_test_shape *)&s->fixed.shape)->bounds;
    uint32_t chunk = flr_test_random_below(random, shell->chunk_count),
             point = shell->chunks[chunk].first +
                     flr_test_random_below(random, shell->chunks[chunk].padded);
    flr_vec3 p = flr_shell_point(shell, chunk, point, 0), to;
    double *axes = &to.x;
    for (int axis = 0; axis < 3; axis++)
        axes[axis] = flr_test_random_range(random, (&box.low.x)[axis] - 2 * voxel,
                                           (&box.high.x)[axis] + 2 * voxel);
    unsigned axis = flr_test_random_below(random, 3);
    double origin = (&info.origin.x)[axis];
    axes[axis] = origin + (floor((axes[axis] - origin) / voxel * 2) / 2 + off) * voxel;
    flr_pose T = flr_test_random_pose(random, 0);
    T.p = flr_vec3_sub(to, flr_quat_rotate(T.q, p));
    return T;
}

/* Turned by an angle about an axis through the part's origin, and moved. */
static flr_pose moved(flr_pose T, flr_vec3 by, flr_vec3 axis, double angle)
{
    double half = sin(angle / 2);
    flr_quat turn = {cos(angle / 2), axis.x * half, axis.y * half, axis.z * half};
    return (flr_pose){.p = flr_vec3_add(T.p, by), .q = flr_quat_normalize(flr_quat_mul(turn, T.q))};
}

/* What feeler/contact.h states: newtons that the force may change by, and newton metres. */
static void bounds(const flr_contact_params *params, uint32_t contacts, double radius,
                   double motion, double angle, double *force, double *torque)
{
    double layer = params->force_layer, full = params->full ? params->full : contacts;
    double slope = sqrt(3) + (params->awareness ? 2 * (layer + 1) : 0);
    double most =
        params->stiffness * voxel * full * (layer + 1); /* that the pushes can add up to */
    *force = params->stiffness * slope * (3 * contacts + 2 * full) * motion + most * angle;
    *torque = *force * radius + most * motion;
}

typedef struct tally {
    uint64_t steps, touching, broken;
    double largest; /* change of force, as a part of what is allowed */
} tally;

static void compare(const scene *s, const flr_contact_params *params, flr_pose from, flr_pose to,
                    double motion, double angle, tally *t)
{
    flr_contact_result a, b;
    flr_contact_query(s->pair, from, flr_pose_identity(), params, &a);
    flr_contact_query(s->pair, to, flr_pose_identity(), params, &b);
    uint32_t contacts = a.contacts > b.contacts ? a.contacts : b.contacts;
    double force, torque, df = flr_vec3_length(flr_vec3_sub(b.wrench.force, a.wrench.force)),
                          dt = flr_vec3_length(flr_vec3_sub(b.wrench.torque, a.wrench.torque));
    bounds(params, contacts, s->radius, motion, angle, &force, &torque);
    t->steps++;
    t->touching += contacts > 0;
    t->broken += df > force + 1e-9 || dt > torque + 1e-9;
    if (contacts) t->largest = fmax(t->largest, df / (force + 1e-9));
}

/* Steps of 10^-6 voxels over planes, and longer ones anywhere. */
static tally walk(const scene *s, flr_force_model model, flr_test_random random)
{
    tally t = {0};
    for (int i = 0; i < STEPS; i++) {
        flr_contact_params params = flr_default_contact_params();
        params.model = model;
        params.force_layer = (unsigned)i % 4;
        params.awareness = i / 4 % 2;
        params.full = i / 8 % 4 ? 10 : 0;
        double step = (i % 5 ? 1e-6 : 1e-3) * voxel;
        flr_vec3 by = flr_vec3_scale(random_direction(&random), i % 3 ? step : 0),
                 axis = random_direction(&random);
        double angle = i % 3 == 1 ? 0 : step / s->radius;
        double motion = flr_vec3_length(by) + angle * s->radius;
        flr_pose from = at_a_plane(&random, s, flr_test_random_range(&random, -0.5e-6, 0.5e-6));
        /* there and back, so that it goes over the plane one way or the other */
        compare(s, &params, from, moved(from, by, axis, angle), motion, angle, &t);
        compare(s, &params, from, moved(from, flr_vec3_scale(by, -1), axis, -angle), motion, angle,
                &t);
    }
    return t;
}

static void wrench_is_continuous(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("wrench_is_continuous");
    static const flr_test_solid pairs[][2] = {{FLR_TEST_SPHERE, FLR_TEST_BOX},
                                              {FLR_TEST_BOX, FLR_TEST_BOX},
                                              {FLR_TEST_TETRAHEDRON, FLR_TEST_TORUS}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        scene s;
        begin(&s, pairs[i][0], pairs[i][1]);
        tally smooth = walk(&s, FLR_FORCE_SMOOTH, random),
              tangent = walk(&s, FLR_FORCE_TANGENT, random);
        flr_test_random_u64(&random);
        print_message(
            "%llu steps, %llu in contact: smooth breaks the bound %llu times and comes to "
            "%.2f of it, the tangent plane %llu times\n",
            (unsigned long long)smooth.steps, (unsigned long long)smooth.touching,
            (unsigned long long)smooth.broken, smooth.largest, (unsigned long long)tangent.broken);
        assert_int_equal(smooth.broken, 0);
        assert_gt(smooth.touching, STEPS);
        assert_gt(tangent.broken, STEPS / 10);
        end(&s);
    }
}

/* What the bound rests on: beside each other, distances differ by one at most. */
static void neighbours_differ_by_one(void **state)
{
    (void)state;
    for (int solid = 0; solid < FLR_TEST_SOLID_COUNT; solid++) {
        flr_test_part part;
        flr_test_part_make(&part, (flr_test_solid)solid, 1, voxel, true);
        flr_voxmap_info info = flr_voxmap_get_info(part.voxmap);
        for (int64_t z = 0; z < (int64_t)info.size[2]; z++)
            for (int64_t y = 0; y < (int64_t)info.size[1]; y++)
                for (int64_t x = 0; x < (int64_t)info.size[0]; x++) {
                    int own = (int)flr_voxmap_mark_at(part.voxmap, FLR_FIELD_SURFACE, x, y, z);
                    for (int axis = 0; axis < 3; axis++) {
                        int next =
                            (int)flr_voxmap_mark_at(part.voxmap, FLR_FIELD_SURFACE, x + (axis == 0),
                                                    y + (axis == 1), z + (axis == 2));
                        int free = (int)info.range + 3;
                        if (abs((own ? own : free) - (next ? next : free)) > 1)
                            fail_msg("marks %d and %d at %d %d %d", own, next, (int)x, (int)y,
                                     (int)z);
                    }
                }
        flr_test_part_free(&part);
    }
}

/* A sphere that goes down into a box: it is pushed out, first not at all, then more and more. */
static void push_grows_with_depth(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, FLR_TEST_BOX);
    flr_contact_params params = flr_default_contact_params();
    params.model = FLR_FORCE_SMOOTH;
    params.full = 0;
    double last = 0, top = 0.006 + 0.010;
    for (double z = top + 4 * voxel; z > top - 2 * voxel; z -= 0.01 * voxel) {
        flr_pose T = {.p = flr_vec3_make(0.0001, 0.0002, z), .q = flr_pose_identity().q};
        flr_contact_result r;
        flr_contact_query(s.pair, T, flr_pose_identity(), &params, &r);
        assert_ge(r.wrench.force.z, last * (1 - 1e-12));
        if (z > top + 3 * voxel) assert_int_equal(r.contacts, 0);
        last = r.wrench.force.z;
    }
    assert_gt(last, 1);
    end(&s);
}

/* A model that is none is the tangent plane. */
static void models_that_are_none(void **state)
{
    (void)state;
    scene s;
    begin(&s, FLR_TEST_SPHERE, FLR_TEST_BOX);
    flr_contact_params params = flr_default_contact_params();
    flr_pose T = {.p = flr_vec3_make(0, 0, 0.0155), .q = flr_pose_identity().q};
    flr_contact_result a, b;
    flr_contact_query(s.pair, T, flr_pose_identity(), &params, &a);
    params.model = (flr_force_model)77;
    flr_contact_query(s.pair, T, flr_pose_identity(), &params, &b);
    assert_gt(a.contacts, 0);
    assert_eq(a.contacts, b.contacts);
    assert_true(flr_vec3_equal(a.wrench.force, b.wrench.force));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_differ_by_one),
        cmocka_unit_test(wrench_is_continuous),
        cmocka_unit_test(push_grows_with_depth),
        cmocka_unit_test(models_that_are_none),
    };
    return cmocka_run_group_tests_name("contact_smooth", tests, NULL, NULL);
}
