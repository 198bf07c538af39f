/* adjacency, mass and features over all shared models, against the index that comes with them
 *
 * The index was counted by another reader. It and feeler agree on all definitions: a component hangs
 * together by vertices, a collapsed triangle has no edges, an edge with two sides in one
 * direction is flipped, one with three sides or more is non-manifold. Its signed volume is the
 * plain sum over the triangles about the origin; for closed meshes that is feeler's.
 *
 * In three files the readers differ, not the counts: see `better`. */
#include "feeler/mesh.h"
#include "feeler/mesh_check.h"
#include "support/test.h"

/* one line of the index */
typedef struct row {
    const char *file; /* in the line */
    unsigned long triangles, vertices, components, border, nonmanifold, flipped;
    double signed_volume;
} row;

/* fields are separated by tabs; "-" stands for unknown: such rows have no triangles */
static bool parse_row(char *line, row *r)
{
    char *field[16] = {0};
    int count = 0;
    for (char *next = line; next && count < 16; count++) {
        field[count] = next;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
    if (count < 14) return false;
    r->file = field[0];
    r->triangles = strtoul(field[2], NULL, 10);
    r->vertices = strtoul(field[3], NULL, 10);
    r->components = strtoul(field[4], NULL, 10);
    r->border = strtoul(field[5], NULL, 10);
    r->nonmanifold = strtoul(field[6], NULL, 10);
    r->flipped = strtoul(field[7], NULL, 10);
    r->signed_volume = strtod(field[13], NULL);
    return r->triangles > 0;
}

/* where feeler reads more of the file than the index's reader did */
static const row better[] = {
    /* an ASCII file without its first line; the index has what binary facets its text would be */
    {"dirty/cgal_invalid_header.stl", 1, 3, 1, 3, 0, 0, 0},
    /* coordinates beyond the 32 bits that the index keeps: 30 vertices are not the same after all */
    {"dirty/manifold_Offset1.obj", 4418, 2285, 39, 0, 4, 0, 0},
    /* faces that go on in the next line after a backslash; with them the wall is closed */
    {"dirty/trimesh_wallhole.obj", 66, 35, 1, 0, 0, 0, 1066.6666666666667},
};

static void apply_better(row *r)
{
    for (size_t i = 0; i < sizeof better / sizeof *better; i++)
        if (strcmp(r->file, better[i].file) == 0) *r = better[i];
}

static unsigned long differences; /* counted, so that one run shows all of them */

static void compare(const row *r, const char *what, unsigned long got, unsigned long expected)
{
    if (got == expected) return;
    differences++;
    print_error("%s: %s %lu, index says %lu\n", r->file, what, got, expected);
}

static void check_counts(const row *r, const flr_mesh *mesh, const flr_adjacency *a)
{
    compare(r, "triangles", mesh->triangle_count, r->triangles);
    compare(r, "vertices", mesh->vertex_count, r->vertices);
    compare(r, "components", a->component_count, r->components);
    compare(r, "border edges", a->border_count, r->border);
    compare(r, "non-manifold edges", a->nonmanifold_count, r->nonmanifold);
    compare(r, "flipped edges", a->flipped_count, r->flipped);
}

static void check_mass(const row *r, const flr_mesh *mesh, const flr_adjacency *a)
{
    flr_mass mass;
    flr_error error;
    flr_result result = flr_mass_compute(mesh, a, 1000, &mass, &error);
    if (result == FLR_BAD_INPUT) { /* only where there is no area indeed */
        assert_non_null(strstr(error.message, "no area"));
        print_message("%s: %s\n", r->file, error.message);
        return;
    }
    assert_int_equal(result, FLR_OK);
    if (!flr_inertia_is_valid(mass.inertia)) fail_msg("%s: not a body's inertia", r->file);

    /* the centre of a body lies within its box */
    flr_box3 box = flr_box3_grow(mesh->bounds, 1e-6 * flr_vec3_length(flr_box3_size(mesh->bounds)));
    assert_true(flr_box3_contains(box, mass.inertia.centre));
    if (!mass.closed) return;
    /* the index gives four digits */
    if (fabs(mass.signed_volume - r->signed_volume) > 1e-3 * fabs(r->signed_volume)) {
        differences++;
        print_error("%s: volume %g, index says %g\n", r->file, mass.signed_volume,
                    r->signed_volume);
    }
}

static void check_features(const row *r, const flr_mesh *mesh, const flr_adjacency *a)
{
    double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    uint32_t before = UINT32_MAX;
    for (double parts = 1000; parts >= 1 && size > 0; parts /= 10) {
        flr_features *f;
        flr_error error;
        assert_ok(flr_features_create(mesh, a, size / parts, &f, &error), error);
        assert_gt(f->polygon_count, 0);
        assert_le(f->polygon_count, mesh->triangle_count);
        assert_le(f->edge_count, a->edge_count);
        assert_le(f->vertex_count, mesh->vertex_count);
        /* coarser voxels, fewer features, until they are as coarse as the part itself */
        if (parts > 5 && f->vertex_count > before)
            fail_msg("%s: %u vertices at 1/%g, %u before", r->file, f->vertex_count, parts, before);
        before = f->vertex_count;
        flr_features_destroy(f);
    }
}

static void test_index(void **state)
{
    (void)state;
    const char *folder = flr_test_models_dir();
    if (!folder) skip();
    char path[1400];
    snprintf(path, sizeof path, "%s/INDEX.tsv", folder);
    FILE *index = fopen(path, "r");
    if (!index) skip();

    char line[2048];
    unsigned read = 0, refused = 0;
    differences = 0;
    flr_mesh_options options = flr_default_mesh_options();
    options.unit = 1; /* so that volumes are those of the index */
    options.tolerant = true;
    while (fgets(line, sizeof line, index)) {
        row r;
        if (!parse_row(line, &r)) continue;
        apply_better(&r);
        if (snprintf(path, sizeof path, "%s/%s", folder, r.file) >= (int)sizeof path) continue;
        flr_mesh *mesh;
        flr_adjacency *a;
        flr_error error;
        if (flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error) != FLR_OK) {
            print_message("%s\n", error.message);
            refused++;
            continue;
        }
        assert_ok(flr_adjacency_create(mesh, &a, &error), error);
        check_counts(&r, mesh, a);
        check_mass(&r, mesh, a);
        check_features(&r, mesh, a);
        flr_adjacency_destroy(a);
        flr_mesh_destroy(mesh);
        read++;
    }
    fclose(index);
    print_message("%u meshes compared, %u refused\n", read, refused);
    assert_int_equal(differences, 0);
    assert_gt(read, 200);
    assert_le(refused, 1); /* coordinates of 3e38 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_index)};
    return cmocka_run_group_tests_name("mesh index", tests, NULL, NULL);
}
