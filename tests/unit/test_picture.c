#include "support/test.h"

#include <math.h>
#include <png.h>
#include <sys/stat.h>

#include "feeler/base.h"
#include "feeler/sim.h"
#include "picture/palette.h"
#include "picture/picture.h"
#include "support/fail_alloc.h"

/* a mesh over given arrays; the renderer reads nothing else */
static flr_mesh mesh_of(const flr_vec3 *vertices, uint32_t vertex_count,
                        const flr_triangle *triangles, uint32_t triangle_count)
{
    return (flr_mesh){.vertices = vertices,
                      .vertex_count = vertex_count,
                      .triangles = triangles,
                      .triangle_count = triangle_count};
}

static const flr_vec3 cube_vertices[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                          {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const flr_triangle cube_triangles[12] = {{{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
                                                {{0, 1, 5}}, {{0, 5, 4}}, {{2, 6, 7}}, {{2, 7, 3}},
                                                {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}};

/* plain pictures: straight from above, no effects, so that pixels can be foretold */
static flr_picture_def plain_def(const flr_picture_part *parts, size_t count)
{
    flr_picture_def def = flr_default_picture_def();
    def.parts = parts, def.part_count = count;
    def.width = def.height = 64, def.samples = 1;
    def.direction = (flr_vec3){0, 0, -1};
    def.view_angle = 0, def.margin = 0;
    def.ground = def.shadows = def.occlusion = def.outlines = def.background = false;
    return def;
}

static const uint8_t *pixel(const flr_picture *picture, uint32_t x, uint32_t y)
{
    return picture->rgb + ((size_t)y * picture->width + x) * 3;
}

static bool is_white(const uint8_t *p) { return p[0] == 255 && p[1] == 255 && p[2] == 255; }

static void a_triangle_covers_its_pixels(void **state)
{
    (void)state;
    /* seen from above: x right, y up in the picture, fits the window exactly */
    const flr_vec3 vertices[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const flr_triangle triangle = {{0, 1, 2}};
    const flr_mesh mesh = mesh_of(vertices, 3, &triangle, 1);
    const flr_picture_part part = {&mesh, flr_pose_identity(), {0.8f, 0.2f, 0.2f}, false};
    flr_picture_def def = plain_def(&part, 1);
    flr_picture picture;
    flr_error error;
    assert_ok(flr_picture_render(&def, &picture, &error), error);
    for (uint32_t y = 0; y < 64; y++)
        for (uint32_t x = 0; x < 64; x++) {
            if (x == y) continue; /* on the edge itself: either */
            assert_int_equal(is_white(pixel(&picture, x, y)), x > y);
        }
    flr_picture_free(&picture);
    assert_null(picture.rgb);
    flr_picture_free(NULL);
}

static void neighbours_neither_overlap_nor_leave_gaps(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("neighbours");
    for (int round = 0; round < 20; round++) {
        /* a fan around a point inside the unit square fills it whole */
        flr_vec3 vertices[5] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 0}};
        vertices[4].x = flr_test_random_range(&random, 0.01, 0.99);
        vertices[4].y = flr_test_random_range(&random, 0.01, 0.99);
        const flr_triangle triangles[4] = {{{0, 1, 4}}, {{1, 2, 4}}, {{2, 3, 4}}, {{3, 0, 4}}};
        const flr_mesh mesh = mesh_of(vertices, 5, triangles, 4);
        const flr_picture_part part = {&mesh, flr_pose_identity(), {0.5f, 0.5f, 0.5f}, false};
        flr_picture_def def = plain_def(&part, 1);
        flr_picture picture;
        assert_int_equal(flr_picture_render(&def, &picture, NULL), FLR_OK);
        for (uint32_t i = 0; i < 64 * 64; i++) assert_false(is_white(picture.rgb + i * 3));
        flr_picture_free(&picture);
    }
}

static void nearer_hides_farther(void **state)
{
    (void)state;
    const flr_vec3 low[3] = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}};
    const flr_triangle triangle = {{0, 1, 2}};
    const flr_mesh mesh = mesh_of(low, 3, &triangle, 1);
    const flr_pose above = {{0, 0, 0.5}, flr_quat_identity()};
    const flr_picture_part parts[2] = {{&mesh, flr_pose_identity(), {1, 0, 0}, false},
                                       {&mesh, above, {0, 1, 0}, false}};
    const flr_picture_part swapped[2] = {parts[1], parts[0]};
    for (int perspective = 0; perspective < 2; perspective++) {
        flr_picture_def def = plain_def(parts, 2);
        def.view_angle = perspective ? 30 : 0;
        flr_picture first, second;
        flr_error error;
        assert_ok(flr_picture_render(&def, &first, &error), error);
        def.parts = swapped;
        assert_ok(flr_picture_render(&def, &second, &error), error);
        const uint8_t *p = pixel(&first, 16, 48);
        assert_gt(p[1], p[0] + 60); /* the green one is above */
        assert_memory_equal(first.rgb, second.rgb, 64 * 64 * 3);
        flr_picture_free(&first);
        flr_picture_free(&second);
    }
}

static void an_inverted_mesh_looks_the_same(void **state)
{
    (void)state;
    flr_triangle inverted[12];
    for (int i = 0; i < 12; i++)
        inverted[i] = (flr_triangle){
            {cube_triangles[i].v[0], cube_triangles[i].v[2], cube_triangles[i].v[1]}};
    const flr_mesh out = mesh_of(cube_vertices, 8, cube_triangles, 12);
    const flr_mesh in = mesh_of(cube_vertices, 8, inverted, 12);
    flr_picture_part part = {&out, flr_pose_identity(), flr_picture_palette(1), false};
    flr_picture_def def = flr_default_picture_def();
    def.parts = &part, def.part_count = 1, def.width = 90, def.height = 60;
    flr_picture first, second;
    flr_error error;
    assert_ok(flr_picture_render(&def, &first, &error), error);
    part.mesh = &in;
    assert_ok(flr_picture_render(&def, &second, &error), error);
    assert_memory_equal(first.rgb, second.rgb, 90 * 60 * 3);
    flr_picture_free(&first);
    flr_picture_free(&second);
}

static void nothing_gives_the_background(void **state)
{
    (void)state;
    flr_picture_def def = flr_default_picture_def();
    def.width = 30, def.height = 20;
    flr_picture picture;
    flr_error error;
    assert_ok(flr_picture_render(&def, &picture, &error), error);
    for (uint32_t y = 0; y < 20; y++)
        for (uint32_t x = 1; x < 30; x++)
            assert_memory_equal(pixel(&picture, x, y), pixel(&picture, 0, y), 3);
    assert_gt(pixel(&picture, 0, 0)[0], pixel(&picture, 0, 19)[0]); /* the gradient */
    flr_picture_free(&picture);
}

static void odd_meshes_are_drawn_without_harm(void **state)
{
    (void)state;
    /* zero-area, far away, huge beside tiny, and a fan with very many triangles at one vertex */
    enum { MANY = 200 };
    flr_vec3 vertices[MANY + 5];
    flr_triangle triangles[MANY + 3];
    for (int i = 0; i < MANY; i++) {
        const double a = 6.283185307 * i / MANY;
        vertices[i] = (flr_vec3){1e8 + cos(a), 1e8 + sin(a), 1e8};
        triangles[i] = (flr_triangle){{(uint32_t)i, (uint32_t)((i + 1) % MANY), MANY}};
    }
    vertices[MANY] = (flr_vec3){1e8, 1e8, 1e8 + 1};
    vertices[MANY + 1] = vertices[MANY + 2] = vertices[MANY];
    vertices[MANY + 3] = (flr_vec3){1e8 + 1e5, 1e8, 1e8};
    vertices[MANY + 4] = (flr_vec3){1e8, 1e8 + 1e5, 1e8};
    triangles[MANY] = (flr_triangle){{MANY, MANY + 1, MANY + 2}};
    triangles[MANY + 1] = (flr_triangle){{0, 0, 0}};
    triangles[MANY + 2] = (flr_triangle){{MANY, MANY + 3, MANY + 4}};
    const flr_box3 near = {{1e8 - 1, 1e8 - 1, 1e8}, {1e8 + 1, 1e8 + 1, 1e8 + 1}};
    for (uint32_t count = 1; count <= MANY + 3; count += MANY + 2)
        for (int mode = 0; mode < 6; mode++) {
            const flr_mesh mesh = mesh_of(vertices, MANY + 5, triangles, count);
            const flr_picture_part part = {&mesh, flr_pose_identity(), {1, 1, 1}, mode == 5};
            flr_picture_def def = flr_default_picture_def();
            def.parts = &part, def.part_count = 1;
            def.width = 48, def.height = 32, def.samples = 2;
            def.view_angle = mode % 2 ? 0 : 60;
            if (mode > 1) def.focus = &near; /* the far corners are behind the eye */
            if (mode > 3) {
                def.cut = true;
                def.cut_point = vertices[MANY];
                def.cut_normal = (flr_vec3){0.5, -1, 0};
            }
            if (mode == 3) def.direction = (flr_vec3){0, 0, 5};
            flr_picture picture;
            flr_error error;
            assert_ok(flr_picture_render(&def, &picture, &error), error);
            flr_picture_free(&picture);
        }

    /* one point only: no extent at all */
    const flr_triangle dot = {{0, 0, 0}};
    const flr_mesh mesh = mesh_of(vertices, 1, &dot, 1);
    const flr_picture_part part = {&mesh, flr_pose_identity(), {1, 1, 1}, false};
    flr_picture_def def = flr_default_picture_def();
    def.parts = &part, def.part_count = 1, def.width = 16, def.height = 16;
    flr_picture picture;
    flr_error error;
    assert_ok(flr_picture_render(&def, &picture, &error), error);
    flr_picture_free(&picture);
}

static void a_section_shows_a_flat_cap(void **state)
{
    (void)state;
    /* from the front, the front half is cut off: the cap fills the same square as the cube did,
     * and it is nowhere as dark as the inside would be */
    const flr_mesh mesh = mesh_of(cube_vertices, 8, cube_triangles, 12);
    flr_picture_part part = {&mesh, flr_pose_identity(), {0.2f, 0.2f, 0.2f}, false};
    flr_picture_def def = plain_def(&part, 1);
    def.direction = (flr_vec3){0, 1, 0};
    flr_picture whole, cut;
    flr_error error;
    assert_ok(flr_picture_render(&def, &whole, &error), error);
    def.cut = true;
    def.cut_point = (flr_vec3){0.5, 0.5, 0.5};
    def.cut_normal = (flr_vec3){0, -3, 0};
    assert_ok(flr_picture_render(&def, &cut, &error), error);
    unsigned light = 0;
    for (uint32_t i = 0; i < 64 * 64; i++) {
        assert_false(is_white(cut.rgb + i * 3));
        light += cut.rgb[i * 3] > whole.rgb[i * 3];
    }
    assert_gt(light, 64 * 64 / 2);

    /* a part that is kept whole looks as before */
    part.whole = true;
    flr_picture kept;
    assert_ok(flr_picture_render(&def, &kept, &error), error);
    assert_memory_equal(kept.rgb, whole.rgb, 64 * 64 * 3);
    flr_picture_free(&whole);
    flr_picture_free(&cut);
    flr_picture_free(&kept);
}

static void the_same_twice(void **state)
{
    (void)state;
    const flr_mesh mesh = mesh_of(cube_vertices, 8, cube_triangles, 12);
    const flr_picture_part part = {&mesh, flr_pose_identity(), flr_picture_palette(0), false};
    flr_picture_def def = flr_default_picture_def();
    def.parts = &part, def.part_count = 1, def.width = 120, def.height = 80;
    flr_hash hashes[2];
    for (int i = 0; i < 2; i++) {
        flr_picture picture;
        flr_error error;
        assert_ok(flr_picture_render(&def, &picture, &error), error);
        hashes[i] = flr_hash_bytes(picture.rgb, 120 * 80 * 3);
        flr_picture_free(&picture);
    }
    assert_true(flr_hash_equal(hashes[0], hashes[1]));
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    flr_picture picture;
    flr_error error;
    struct {
        flr_picture_def def;
        const char *word;
    } cases[7];
    for (int i = 0; i < 7; i++) cases[i].def = flr_default_picture_def();
    cases[0].def.width = 0, cases[0].word = "0 x 640";
    cases[1].def.height = 100000, cases[1].word = "100000";
    cases[2].def.samples = 9, cases[2].word = "samples";
    cases[3].def.view_angle = NAN, cases[3].word = "angle";
    cases[4].def.margin = 0.5, cases[4].word = "margin";
    cases[5].def.direction = (flr_vec3){0, 0, 0}, cases[5].word = "direction";
    cases[6].def.cut = true, cases[6].word = "normal";
    for (int i = 0; i < 7; i++) {
        assert_int_equal(flr_picture_render(&cases[i].def, &picture, &error), FLR_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, cases[i].word));
    }
}

static void a_png_can_be_read_again(void **state)
{
    (void)state;
    const flr_mesh mesh = mesh_of(cube_vertices, 8, cube_triangles, 12);
    const flr_picture_part part = {&mesh, flr_pose_identity(), flr_picture_palette(3), false};
    flr_picture_def def = flr_default_picture_def();
    def.parts = &part, def.part_count = 1, def.width = 120, def.height = 80;
    flr_picture picture;
    flr_error error;
    assert_ok(flr_picture_render(&def, &picture, &error), error);
    char *folder = flr_test_folder(), path[1200];
    snprintf(path, sizeof path, "%s/cube.png", folder);
    assert_ok(flr_picture_write_png(flr_env_real(), path, &picture, &error), error);

    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, 120);
    assert_int_equal(image.height, 80);
    image.format = PNG_FORMAT_RGB;
    uint8_t *rgb = malloc(120 * 80 * 3);
    assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    for (int i = 0; i < 120 * 80 * 3; i++) assert_lt(abs(rgb[i] - picture.rgb[i]), 12);
    free(rgb);

    /* into a folder that is not there: a sentence with the path, and nothing left behind */
    snprintf(path, sizeof path, "%s/none/cube.png", folder);
    assert_int_not_equal(flr_picture_write_png(flr_env_real(), path, &picture, &error), FLR_OK);
    assert_non_null(strstr(error.message, "cube.png"));
    struct stat info;
    assert_int_not_equal(stat(path, &info), 0);
    flr_picture_free(&picture);
    flr_test_folder_remove(folder);
}

static void few_colours_are_kept_and_many_are_near(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    uint8_t *rgb = malloc(COUNT * 3), *indices = malloc(COUNT);
    flr_palette palette;
    flr_error error;
    /* 200 colours, then a smooth field with thousands */
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t k = i * 7 % 200;
            rgb[3 * i] = (uint8_t)(round ? i % 316 * 255 / 316 : k);
            rgb[3 * i + 1] = (uint8_t)(round ? i / 316 * 255 / 317 : k * k % 251);
            rgb[3 * i + 2] = (uint8_t)(round ? 99 : 255 - k);
        }
        assert_ok(flr_palette_make(rgb, COUNT, &palette, indices, &error), error);
        assert_int_equal(palette.count, round ? 256 : 200);
        const int most = round ? 16 : 0;
        for (uint32_t i = 0; i < COUNT; i++)
            for (int c = 0; c < 3; c++)
                assert_le(abs(palette.rgb[indices[i]][c] - rgb[3 * i + (uint32_t)c]), most);
    }
    free(rgb);
    free(indices);
}

static void a_disk_that_fails_leaves_nothing(void **state)
{
    (void)state;
    uint8_t rgb[3 * 64 * 64];
    flr_test_random random = flr_test_random_begin("noise");
    for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)flr_test_random_u64(&random);
    const flr_picture picture = {64, 64, rgb};
    const flr_sim_def def = flr_default_sim_def();
    for (uint64_t n = 1;; n++) {
        flr_sim *sim = flr_sim_create(&def);
        flr_address address;
        flr_error error;
        assert_ok(flr_address_parse("10.0.0.1:1", 0, &address, &error), error);
        flr_env *env = flr_sim_node(sim, address);
        flr_sim_disk disk = def.disk;
        disk.fail_at = n;
        flr_sim_set_disk(env, &disk);
        error.message[0] = 0;
        const flr_result result = flr_picture_write_png(env, "noise.png", &picture, &error);
        disk.fail_at = 0;
        flr_sim_set_disk(env, &disk);
        flr_path_info info;
        assert_ok(flr_path_look(env, "noise.png", &info, &error), error);
        const bool through = result == FLR_OK && info.kind == FLR_PATH_FILE;
        flr_sim_destroy(sim);
        if (through && n > 3) break;
        if (result != FLR_OK) assert_gt(strlen(error.message), 5);
        assert_lt(n, 100);
    }
}

static flr_result render_and_write(void *context, flr_error *error)
{
    const flr_mesh mesh = mesh_of(cube_vertices, 8, cube_triangles, 12);
    const flr_picture_part part = {&mesh, flr_pose_identity(), flr_picture_palette(3), false};
    flr_picture_def def = flr_default_picture_def();
    def.parts = &part, def.part_count = 1, def.width = 30, def.height = 20;
    flr_picture picture;
    flr_result result = flr_picture_render(&def, &picture, error);
    if (result != FLR_OK) return result;
    result = flr_picture_write_png(flr_env_real(), context, &picture, error);
    flr_picture_free(&picture);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    char *folder = flr_test_folder(), path[1200];
    snprintf(path, sizeof path, "%s/cube.png", folder);
    assert_gt(flr_fail_alloc_each(render_and_write, path), 10);
    flr_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_triangle_covers_its_pixels),
        cmocka_unit_test(neighbours_neither_overlap_nor_leave_gaps),
        cmocka_unit_test(nearer_hides_farther),
        cmocka_unit_test(an_inverted_mesh_looks_the_same),
        cmocka_unit_test(nothing_gives_the_background),
        cmocka_unit_test(odd_meshes_are_drawn_without_harm),
        cmocka_unit_test(a_section_shows_a_flat_cap),
        cmocka_unit_test(the_same_twice),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(a_png_can_be_read_again),
        cmocka_unit_test(few_colours_are_kept_and_many_are_near),
        cmocka_unit_test(a_disk_that_fails_leaves_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
