#include "support/test.h"

#include <math.h>

#include "feeler/mesh_check.h"
#include "models/models.h"
#include "support/clearance.h"

static flr_model build(const char *name, uint64_t seed, uint32_t number)
{
    const flr_scenario *scenario = flr_scenario_find(name);
    assert_non_null(scenario);
    flr_scenario_options options = flr_default_scenario_options();
    options.seed = seed, options.number = number;
    flr_model model;
    flr_error error;
    assert_ok(flr_scenario_build(scenario, &options, &model, &error), error);
    return model;
}

static flr_hash model_hash(const flr_model *model)
{
    flr_hasher hasher = flr_hasher_begin();
    for (size_t i = 0; i < model->mesh_count; i++) {
        flr_hash hash = flr_mesh_hash(model->meshes[i].mesh);
        flr_hasher_add(&hasher, &hash, sizeof hash);
    }
    for (size_t i = 0; i < model->part_count; i++)
        flr_hasher_add(&hasher, &model->parts[i].T_world_part, sizeof(flr_pose));
    for (size_t i = 0; i < model->path_count; i++)
        flr_hasher_add(&hasher, model->paths[i].poses,
                       model->paths[i].count * sizeof *model->paths[i].poses);
    return flr_hasher_end(&hasher);
}

/* closed, outward, no defects; solids may overlap, as in an assembly */
static void check_mesh(const char *file, const flr_mesh *mesh)
{
    flr_check_report report;
    flr_error error;
    assert_ok(flr_check_mesh(mesh, NULL, NULL, &report, &error), error);
    for (uint32_t i = 0; i < report.finding_count; i++) {
        const flr_check_finding *finding = &report.findings[i];
        switch (finding->kind) {
        case FLR_CHECK_OVERLAPPING_COMPONENTS:
        case FLR_CHECK_NESTING:
        case FLR_CHECK_SLIVER:
            break;
        default:
            fail_msg("%s: %s", file, finding->sentence);
        }
    }
}

static const char *const names[] = {"bay",    "ball",  "axle",     "falling",
                                    "probes", "probe", "approach", "pair"};
enum { NAMES = sizeof names / sizeof names[0] };

/* these change when a recipe does; nothing else may change them: not compiler, not machine */
static const char *const golden[] = {
    "c64675cf3eb499e79c52e4357b1c4649", "d2811503aff92cf77a1ca3ea3e5274a9",
    "4851f52e684b732aa1e60ee6998d117b", "f4a3b21caea55f842654e658cec8caeb",
    "892cdc9cbf97f4c9a0951f21fb8d189b", "e50e9bc43ec42849724bb4d39d0a7f5f",
    "749fe802fb4bebb0a540d3251e9a2d13", "c4cf72ce79dc2e04c6e3c9f6abbf75ce",
};

static void every_mesh_is_closed_and_outward(void **state)
{
    (void)state;
    for (size_t k = 0; k < NAMES; k++) {
        flr_model model = build(names[k], 1, 0);
        for (size_t i = 0; i < model.mesh_count; i++)
            check_mesh(model.meshes[i].file, model.meshes[i].mesh);
        flr_model_free(&model);
    }
}

static void the_same_bits_everywhere(void **state)
{
    (void)state;
    int different = 0;
    for (size_t k = 0; k < NAMES; k++) {
        flr_model model = build(names[k], 1, 0);
        char text[FLR_HASH_TEXT_SIZE];
        flr_hash_print(model_hash(&model), text);
        if (strcmp(text, golden[k]) != 0) {
            print_message("%s is %s\n", names[k], text);
            different++;
        }
        flr_model_free(&model);
    }
    assert_int_equal(different, 0);
}

/* what is written is a scene that opens, with every mesh and path it names */
static void written_models_open(void **state)
{
    (void)state;
    flr_env *env = flr_env_real();
    flr_error error;
    char *folder = flr_test_folder(), path[600];
    for (size_t k = 0; k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        assert_ok(flr_scenario_make(env, flr_scenario_find(names[k]), NULL, path, &error), error);
        snprintf(path, sizeof path, "%s/%s/scene.json", folder, names[k]);
        flr_scene *scene = NULL;
        assert_ok(flr_scene_read(env, path, &scene, &error), error);
        assert_string_equal(scene->name, names[k]);
        assert_gt(scene->voxel, 0);
        for (size_t i = 0; i < scene->part_count; i++) {
            flr_mesh *mesh = NULL;
            assert_ok(flr_scene_load_part(env, scene, i, NULL, &mesh, NULL, &error), error);
            flr_mesh_destroy(mesh);
        }
        for (size_t i = 0; i < scene->path_count; i++) {
            char *file = flr_scene_file(scene, scene->paths[i].poses);
            flr_pose_list list;
            assert_ok(flr_pose_list_read(env, file, scene->unit, &list, &error), error);
            flr_pose_list_free(&list);
            free(file);
        }
        flr_scene_destroy(scene);
    }
    // the ball's second scene
    snprintf(path, sizeof path, "%s/ball/scene_fine.json", folder);
    flr_scene *fine = NULL;
    assert_ok(flr_scene_read(env, path, &fine, &error), error);
    assert_lt(fabs(fine->voxel - 0.15e-3), 1e-18);
    assert_int_equal(fine->part_count, 2);
    flr_scene_destroy(fine);
    flr_test_folder_remove(folder);
}

/* triangles of different components that pass through each other */
static uint64_t overlaps(const flr_mesh *mesh)
{
    flr_check_report report;
    flr_error error;
    assert_ok(flr_check_mesh(mesh, NULL, NULL, &report, &error), error);
    const flr_check_finding *finding = flr_check_find(&report, FLR_CHECK_OVERLAPPING_COMPONENTS);
    return finding ? finding->count : 0;
}

/* all parts in their places as one mesh */
static flr_mesh *put_together(const flr_model *model)
{
    uint32_t vertices = 0, triangles = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        const flr_mesh *mesh = flr_model_find_mesh(model, model->parts[i].file);
        vertices += mesh->vertex_count, triangles += mesh->triangle_count;
    }
    flr_vec3 *points = calloc(vertices, sizeof *points);
    flr_triangle *faces = calloc(triangles, sizeof *faces);
    uint32_t at_vertex = 0, at_triangle = 0;
    for (size_t i = 0; i < model->part_count; i++) {
        const flr_mesh *mesh = flr_model_find_mesh(model, model->parts[i].file);
        for (uint32_t k = 0; k < mesh->vertex_count; k++)
            points[at_vertex + k] = flr_pose_apply(model->parts[i].T_world_part, mesh->vertices[k]);
        for (uint32_t k = 0; k < mesh->triangle_count; k++)
            for (int c = 0; c < 3; c++)
                faces[at_triangle + k].v[c] = mesh->triangles[k].v[c] + at_vertex;
        at_vertex += mesh->vertex_count, at_triangle += mesh->triangle_count;
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = points, def.vertex_count = vertices;
    def.triangles = faces, def.triangle_count = triangles;
    flr_mesh *whole;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &whole, &error), error);
    free(points);
    free(faces);
    return whole;
}

/* put together, no more triangles cross than within the parts themselves */
static void parts_are_apart_at_the_start(void **state)
{
    (void)state;
    for (size_t k = 0; k < NAMES; k++) {
        flr_model model = build(names[k], 1, 0);
        uint64_t within = 0;
        for (size_t i = 0; i < model.mesh_count; i++) within += overlaps(model.meshes[i].mesh);
        flr_mesh *whole = put_together(&model);
        uint64_t together = overlaps(whole);
        // rounding in a new place decides anew which pairs only touch: a few more or less
        if (together > within + within / 1000)
            fail_msg("%s: %llu crossing triangles, %llu within the parts", names[k],
                     (unsigned long long)together, (unsigned long long)within);
        flr_mesh_destroy(whole);
        flr_model_free(&model);
    }
}

/* Table 1 of 2005: counts, and a ball that seats with a small clearance all around */
static void the_ball_seats(void **state)
{
    (void)state;
    flr_model model = build("ball", 1, 0);
    const flr_mesh *ball = flr_model_find_mesh(&model, "ball.stl");
    const flr_mesh *socket = flr_model_find_mesh(&model, "socket.stl");
    assert_int_equal(ball->triangle_count, 2048);
    assert_int_equal(socket->triangle_count, 2176);
    double largest = 0, nearest = INFINITY;
    for (uint32_t i = 0; i < ball->vertex_count; i++)
        largest = fmax(largest, flr_vec3_length(ball->vertices[i]));
    // the nearest point of the socket lies on a facet, not at a corner
    for (uint32_t t = 0; t < socket->triangle_count; t++) {
        flr_vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = socket->vertices[socket->triangles[t].v[k]];
        for (int i = 0; i <= 8; i++)
            for (int j = 0; i + j <= 8; j++) {
                double a = i / 8.0, b = j / 8.0, c = 1 - a - b;
                flr_vec3 q = {a * p[0].x + b * p[1].x + c * p[2].x,
                              a * p[0].y + b * p[1].y + c * p[2].y,
                              a * p[0].z + b * p[1].z + c * p[2].z};
                nearest = fmin(nearest, flr_vec3_length(q));
            }
    }
    assert_lt(fabs(largest - 12.5e-3), 1e-9);
    assert_gt(nearest - largest, 0.04e-3);
    assert_lt(nearest - largest, 0.1e-3);
    assert_eq(model.scene.voxel, 0.35e-3);
    flr_model_free(&model);
}

/* appendix C of Kim's thesis: triangles within 1 %, voxels at 0.6096 cm from volume and area */
static void the_axle_is_as_large_as_kims(void **state)
{
    (void)state;
    const struct {
        const char *file;
        uint32_t triangles, voxels;
    } table[] = {{"axle_base.stl", 26365, 227968},   {"driveline.stl", 1418, 1736},
                 {"ring_cap.stl", 6836, 1483},       {"ring.stl", 2168, 1458},
                 {"housing_holder.stl", 4350, 8396}, {"driveline_housing.stl", 4796, 23211},
                 {"right_cap.stl", 6304, 20998},     {"left_cap.stl", 6325, 19875}};
    flr_model model = build("axle", 1, 0);
    assert_int_equal(model.mesh_count, 8);
    assert_lt(fabs(model.scene.voxel - 0.6096e-2), 1e-9);
    double s = model.scene.voxel, total = 0;
    for (size_t i = 0; i < 8; i++) {
        const flr_mesh *mesh = flr_model_find_mesh(&model, table[i].file);
        assert_non_null(mesh);
        assert_lt(fabs((double)mesh->triangle_count / table[i].triangles - 1), 0.01);
        double volume = 0, area = 0;
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            const uint32_t *v = mesh->triangles[t].v;
            flr_vec3 a = mesh->vertices[v[0]], b = mesh->vertices[v[1]], c = mesh->vertices[v[2]];
            volume += flr_vec3_dot(a, flr_vec3_cross(b, c)) / 6;
            area += flr_vec3_length(flr_vec3_cross(flr_vec3_sub(b, a), flr_vec3_sub(c, a))) / 2;
        }
        // surface voxels are 1.5 A / s^2, half of them outside; overlapping solids count twice
        double voxels = volume / (s * s * s) + 0.75 * area / (s * s);
        if (!(voxels > 0.7 * table[i].voxels && voxels < 1.5 * table[i].voxels))
            fail_msg("%s: about %.0f voxels, not %u", table[i].file, voxels, table[i].voxels);
        total += voxels;
    }
    assert_gt(total, 0.85 * 305098);
    assert_lt(total, 1.25 * 305098);
    flr_model_free(&model);
}

static double farthest(const flr_mesh *mesh)
{
    double most = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        most = fmax(most, flr_vec3_length(mesh->vertices[i]));
    return most;
}

static void as_many_fall_as_are_asked_for(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {1, 20, 100};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const uint32_t number = numbers[k];
        flr_model model = build("falling", 7, number);
        assert_int_equal(model.part_count, number + 1);
        assert_int_equal(model.mesh_count, number < 20 ? number + 1 : 21); // shapes come again
        assert_eq(model.scene.gravity.z, -9.81);
        for (size_t i = 1; i < model.part_count; i++) assert_true(model.parts[i].moving);
        flr_model_free(&model);
    }
    flr_scenario_options options = flr_default_scenario_options();
    options.number = 101;
    flr_model model;
    flr_error error;
    assert_int_equal(flr_scenario_build(flr_scenario_find("falling"), &options, &model, &error),
                     FLR_BAD_ARGUMENT);
    options.number = 3; // which ball does not take
    assert_int_equal(flr_scenario_build(flr_scenario_find("ball"), &options, &model, &error),
                     FLR_BAD_ARGUMENT);

    // another seed, other poses; parts are apart whatever they are turned to
    flr_model one = build("falling", 1, 0), other = build("falling", 2, 0);
    assert_false(flr_hash_equal(model_hash(&one), model_hash(&other)));
    for (size_t i = 1; i < one.part_count; i++)
        for (size_t k = 1; k < i; k++) {
            double reach = farthest(one.meshes[i].mesh) + farthest(one.meshes[k].mesh);
            flr_vec3 way = flr_vec3_sub(one.parts[i].T_world_part.p, one.parts[k].T_world_part.p);
            if (flr_vec3_length(way) <= reach)
                fail_msg("%s may touch %s", one.parts[i].name, one.parts[k].name);
        }
    flr_model_free(&one);
    flr_model_free(&other);
}

static void probes_have_the_papers_counts(void **state)
{
    (void)state;
    const struct {
        const char *file;
        uint32_t triangles;
    } table[] = {{"probe_5k.stl", 5000},
                 {"probe_7k.stl", 7000},
                 {"probe_12k.stl", 12000},
                 {"probe_18k.stl", 18000},
                 {"probe_79k.stl", 79000}};
    flr_model model = build("probes", 1, 0);
    for (size_t i = 0; i < 5; i++) {
        const flr_mesh *mesh = flr_model_find_mesh(&model, table[i].file);
        assert_non_null(mesh);
        assert_int_equal(mesh->triangle_count, table[i].triangles);
    }
    flr_model_free(&model);
}

/* distance of a point from the knot's middle line, in the frame of the knot */
static double from_knot(flr_vec3 p)
{
    double least = INFINITY;
    for (int i = 0; i < 720; i++) {
        double t = 2 * M_PI * i / 720, radius = 36e-3 + 17e-3 * cos(3 * t);
        flr_vec3 q = {radius * cos(2 * t), radius * sin(2 * t), 17e-3 * sin(3 * t)};
        least = fmin(least, flr_vec3_length(flr_vec3_sub(p, q)));
    }
    return least;
}

/* every way begins apart and ends in contact, straight and at constant speed */
static void ways_lead_into_contact(void **state)
{
    (void)state;
    flr_model model = build("approach", 3, 12);
    assert_int_equal(model.path_count, 12);
    const flr_mesh *bracket = flr_model_find_mesh(&model, "bracket.stl");
    for (size_t k = 0; k < model.path_count; k++) {
        const flr_model_path *path = &model.paths[k];
        flr_pose first = path->poses[0].T_world_part;
        flr_pose last = path->poses[path->count - 1].T_world_part;
        double start = INFINITY, end = INFINITY;
        for (uint32_t i = 0; i < bracket->vertex_count; i += 3) {
            start = fmin(start, from_knot(flr_pose_apply(first, bracket->vertices[i])));
            end = fmin(end, from_knot(flr_pose_apply(last, bracket->vertices[i])));
        }
        assert_gt(start, 20e-3);
        assert_lt(end, 9e-3);
        for (size_t i = 1; i < path->count; i++) {
            flr_vec3 step =
                flr_vec3_sub(path->poses[i].T_world_part.p, path->poses[i - 1].T_world_part.p);
            assert_lt(fabs(flr_vec3_length(step) - 0.18 / 200), 1e-12);
        }
    }
    flr_model_free(&model);
}

/* the demonstration's pump comes out with more than the force layer on all sides, and only when it
 * is turned: as it stands the gate is too narrow for it */
static void the_pump_comes_out_of_its_bay(void **state)
{
    (void)state;
    flr_model model = build("bay", 1, 0);
    const flr_mesh *bay = flr_model_find_mesh(&model, "bay.stl");
    const flr_mesh *pump = flr_model_find_mesh(&model, "pump.stl");
    const flr_model_path *path = &model.paths[0];
    assert_memory_equal(&path->poses[0].T_world_part, &model.parts[1].T_world_part,
                        sizeof(flr_pose));
    flr_clearance *clearance = flr_clearance_create(bay, bay->bounds, 0.01);
    size_t point_count;
    flr_vec3 *points = flr_test_surface_points(pump, 0.005, &point_count);
    for (size_t i = 0; i < path->count; i += 8) {
        double least = 1;
        for (size_t k = 0; k < point_count; k++) {
            flr_vec3 p = flr_pose_apply(path->poses[i].T_world_part, points[k]);
            least = fmin(least, flr_clearance_at(clearance, p));
        }
        if (least < 4.5e-3) fail_msg("%.1f mm at %g s", 1e3 * least, path->poses[i].t);
    }
    flr_pose straight = path->poses[0].T_world_part;
    straight.p.y = -0.17, straight.p.z = 0.136;
    double caught = 1;
    for (size_t k = 0; k < point_count; k++)
        caught = fmin(caught, flr_clearance_at(clearance, flr_pose_apply(straight, points[k])));
    assert_lt(caught, 2e-3);
    free(points);
    flr_clearance_destroy(clearance);
    flr_model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mesh_is_closed_and_outward),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(written_models_open),
        cmocka_unit_test(parts_are_apart_at_the_start),
        cmocka_unit_test(the_ball_seats),
        cmocka_unit_test(the_axle_is_as_large_as_kims),
        cmocka_unit_test(as_many_fall_as_are_asked_for),
        cmocka_unit_test(probes_have_the_papers_counts),
        cmocka_unit_test(ways_lead_into_contact),
        cmocka_unit_test(the_pump_comes_out_of_its_bay),
    };
    return cmocka_run_group_tests_name("models_small", tests, NULL, NULL);
}
