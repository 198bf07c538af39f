/* the n-th allocation fails, for every n: load → weld → adjacency → features, for all formats */
#include <unistd.h>

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"

typedef struct job {
    const char *name;
    flr_test_bytes file;
    double weld;
    bool from_disk;
} job;

static flr_result load_and_label(void *context, flr_error *error)
{
    job *j = context;
    flr_mesh_options options = flr_default_mesh_options();
    options.weld = j->weld;
    options.tolerant = true;
    flr_mesh *mesh = NULL;
    flr_adjacency *adjacency = NULL;
    flr_features *features = NULL;
    flr_result result =
        j->from_disk
            ? flr_mesh_read(flr_env_real(), j->name, &options, &mesh, NULL, error)
            : flr_mesh_parse(j->name, j->file.bytes, j->file.size, &options, &mesh, NULL, error);
    if (result == FLR_OK) result = flr_adjacency_create(mesh, &adjacency, error);
    if (result == FLR_OK) result = flr_features_create(mesh, adjacency, 1e-4, &features, error);
    flr_features_destroy(features);
    flr_adjacency_destroy(adjacency);
    flr_mesh_destroy(mesh);
    return result;
}

/* a wavy sheet of quads, enough for every array to grow */
enum { SIDE = 24, POINTS = (SIDE + 1) * (SIDE + 1) };

static flr_vec3 point(unsigned i)
{
    double x = i % (SIDE + 1), y = i / (SIDE + 1);
    return flr_vec3_make(x, y, (double)(i * 7 % 5));
}

static void quad(unsigned i, unsigned corners[4])
{
    unsigned a = i / SIDE * (SIDE + 1) + i % SIDE;
    corners[0] = a;
    corners[1] = a + 1;
    corners[2] = a + SIDE + 2;
    corners[3] = a + SIDE + 1;
}

static void put_soup(flr_test_bytes *file, const char *before, const char *corner,
                     const char *after)
{
    static const unsigned halves[2][3] = {{0, 1, 2}, {0, 2, 3}};
    for (unsigned i = 0; i < 2 * SIDE * SIDE; i++) {
        unsigned corners[4];
        quad(i / 2, corners);
        flr_test_put_text(file, "%s", before);
        for (unsigned k = 0; k < 3; k++) {
            flr_vec3 p = point(corners[halves[i % 2][k]]);
            flr_test_put_text(file, "%s %g %g %g\n", corner, p.x, p.y, p.z);
        }
        flr_test_put_text(file, "%s", after);
    }
}

static job make_ascii_stl(void)
{
    job j = {.name = "a.stl"};
    flr_test_put_text(&j.file, "solid one\n");
    put_soup(&j.file, "facet\nouter loop\n", "vertex", "endloop\nendfacet\n");
    flr_test_put_text(&j.file,
                      "endsolid\nsolid two\nfacet\nouter loop\nvertex 0 0 9\nvertex 1 0 9\n"
                      "vertex 0 1 9\nendloop\nendfacet\nendsolid\n");
    return j;
}

static job make_obj(void)
{
    job j = {.name = "a.obj"};
    for (unsigned i = 0; i < POINTS; i++) {
        flr_vec3 p = point(i);
        flr_test_put_text(&j.file, "v %g %g %g\n", p.x, p.y, p.z);
    }
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        unsigned c[4];
        quad(i, c);
        if (i % 4 == 0) flr_test_put_text(&j.file, "g group number %u\n", i);
        flr_test_put_text(&j.file, "f %u %u %u %u\n", c[0] + 1, c[1] + 1, c[2] + 1, c[3] + 1);
    }
    // one that needs ears
    flr_test_put_text(&j.file, "v 0 0 9\nv 4 0 9\nv 4 4 9\nv 2 1 9\nv 0 4 9\nf -2 -1 -5 -4 -3\n");
    return j;
}

static job make_ply(void)
{
    job j = {.name = "a.ply"};
    flr_test_put_text(
        &j.file,
        "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\n"
        "property float z\nelement face %d\nproperty list uchar int vertex_indices\n"
        "end_header\n",
        POINTS, SIDE * SIDE);
    for (unsigned i = 0; i < POINTS; i++) {
        flr_vec3 p = point(i);
        flr_test_put_text(&j.file, "%g %g %g\n", p.x, p.y, p.z);
    }
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        unsigned c[4];
        quad(i, c);
        flr_test_put_text(&j.file, "4 %u %u %u %u\n", c[0], c[1], c[2], c[3]);
    }
    return j;
}

static job make_itri(void)
{
    job j = {.name = "a.itri"};
    flr_test_put_text(&j.file, "%d\n", 2 * SIDE * SIDE);
    put_soup(&j.file, "", "", "");
    return j;
}

static void run(job j)
{
    uint64_t allocations = flr_fail_alloc_each(load_and_label, &j);
    print_message("%s: %llu allocations\n", j.name, (unsigned long long)allocations);
    assert_gt(allocations, 8);
    free(j.file.bytes);
}

static void ascii_stl(void **state)
{
    (void)state;
    run(make_ascii_stl());
}

static void obj(void **state)
{
    (void)state;
    run(make_obj());
}

static void ply(void **state)
{
    (void)state;
    run(make_ply());
}

static void itri(void **state)
{
    (void)state;
    run(make_itri());
}

static void welded_within_a_distance(void **state)
{
    (void)state;
    job j = make_itri();
    j.weld = 1e-6;
    run(j);
}

/* ---- binary STL, from the disk, and back to it ---- */

typedef struct writing {
    char path[1200];
    const flr_mesh *mesh;
} writing;

static flr_result write_mesh(void *context, flr_error *error)
{
    writing *w = context;
    return flr_mesh_write(flr_env_real(), w->path, w->mesh, 0, error);
}

static void files(void **state)
{
    (void)state;
    static const char *const endings[] = {"stl", "obj", "ply", "itri"};
    job source = make_obj();
    flr_mesh *mesh = flr_test_parse(source.name, source.file.bytes, source.file.size, false, NULL);
    free(source.file.bytes);
    for (unsigned i = 0; i < 4; i++) {
        char *folder = flr_test_folder();
        writing w = {.mesh = mesh};
        snprintf(w.path, sizeof w.path, "%s/a.%s", folder, endings[i]);
        flr_fail_alloc_each(write_mesh, &w);
        run((job){.name = w.path, .from_disk = true});
        // a failed write leaves nothing beside the file
        assert_int_equal(unlink(w.path), 0);
        assert_int_equal(rmdir(folder), 0);
        free(folder);
    }
    flr_mesh_destroy(mesh);
}

/* ---- from arrays ---- */

static flr_result create_and_extract(void *context, flr_error *error)
{
    const flr_mesh_def *def = context;
    flr_mesh *mesh = NULL, *part = NULL;
    flr_result result = flr_mesh_create(def, &mesh, error);
    if (result == FLR_OK) result = flr_mesh_extract_group(mesh, 1, &part, error);
    flr_mesh_destroy(part);
    flr_mesh_destroy(mesh);
    return result;
}

static void arrays(void **state)
{
    (void)state;
    const flr_vec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const flr_triangle triangles[] = {{{0, 1, 2}}, {{1, 2, 3}}};
    const flr_mesh_group groups[] = {
        {.triangle_count = 1, .T_mesh_group = flr_pose_identity()},
        {.first_triangle = 1,
         .triangle_count = 1,
         .T_mesh_group = flr_pose_make(flr_vec3_make(1, 2, 3), flr_quat_identity())}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices;
    def.vertex_count = 4;
    def.triangles = triangles;
    def.triangle_count = 2;
    def.groups = groups;
    def.group_count = 2;
    def.names = "";
    def.names_size = 1;
    assert_gt(flr_fail_alloc_each(create_and_extract, &def), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_stl),
        cmocka_unit_test(obj),
        cmocka_unit_test(ply),
        cmocka_unit_test(itri),
        cmocka_unit_test(welded_within_a_distance),
        cmocka_unit_test(files),
        cmocka_unit_test(arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
