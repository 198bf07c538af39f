/* feeler/mesh_check.h: every kind of finding by a mesh made for it; real files: test_check_files.c */
#include "feeler/mesh_check.h"

#include <math.h>

#include "support/checked.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

static flr_check_report checked(const flr_mesh *mesh) { return flr_test_checked(mesh, NULL, NULL); }

/* welds what a shape has added: shapes always make new vertices */
static flr_mesh *welded(flr_test_shape *shape)
{
    const flr_mesh *loose = flr_test_shape_mesh(shape);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = loose->vertices, def.vertex_count = loose->vertex_count;
    def.triangles = loose->triangles, def.triangle_count = loose->triangle_count;
    flr_mesh *mesh = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    return mesh;
}

/* the report has this finding and no other */
static const flr_check_finding *only(const flr_check_report *report, flr_check_kind kind)
{
    if (report->finding_count != 1)
        for (uint32_t i = 0; i < report->finding_count; i++)
            print_message("%s: %s\n", flr_check_kind_name(report->findings[i].kind),
                          report->findings[i].sentence);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].kind, kind);
    return report->findings;
}

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

/* a box of side 2 r around (x, y, z), added to a shape */
static void add_box(flr_test_shape *shape, double x, double y, double z, double r, uint32_t n)
{
    const uint32_t first = shape->vertex_count;
    flr_test_shape_box(shape, flr_vec3_make(2 * r, 2 * r, 2 * r), n);
    flr_test_shape_move(shape, first, at(x, y, z), 1);
}

/* ---- clean ---- */

static void clean_shapes_have_no_findings(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(0.1, 0.2, 0.3), 5);
    uint32_t first = shape.vertex_count;
    flr_test_shape_sphere(&shape, 0.1, 24, 12);
    flr_test_shape_move(&shape, first, at(1, 0, 0), 1);
    first = shape.vertex_count;
    flr_test_shape_torus(&shape, 0.3, 0.1, 24, 12);
    flr_test_shape_move(&shape, first, at(2, 0, 0), 1);
    first = shape.vertex_count;
    flr_test_shape_cylinder(&shape, 0.1, 0.2, 24, 3);
    flr_test_shape_move(&shape, first, at(3, 0, 0), 1);
    flr_mesh *mesh = welded(&shape);
    const flr_check_report report = checked(mesh);
    assert_int_equal(report.finding_count, 0);
    assert_int_equal(report.component_count, 4);
    assert_int_equal(report.closed_component_count, 4);
    assert_gt(report.pairs_tested, 0);
    assert_false(report.cut_short);
    assert_int_equal(flr_check_worst(&report), FLR_CHECK_NOTE);
    assert_null(flr_check_find(&report, FLR_CHECK_FLIPPED));
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < FLR_CHECK_KIND_COUNT; i++) {
        const char *name = flr_check_kind_name((flr_check_kind)i);
        assert_string_not_equal(name, "unknown");
        for (int k = 0; k < i; k++)
            assert_string_not_equal(name, flr_check_kind_name((flr_check_kind)k));
    }
    assert_string_equal(flr_check_kind_name((flr_check_kind)99), "unknown");
    assert_string_equal(flr_check_severity_name(FLR_CHECK_SERIOUS), "serious");
    assert_string_equal(flr_check_severity_name((flr_check_severity)9), "unknown");
}

/* ---- borders ---- */

/* a box whose top has a square hole of side `hole` in its middle */
static flr_mesh *box_with_hole(double side, double hole, flr_test_shape *shape)
{
    const uint32_t n = 21;
    flr_test_shape_box(shape, flr_vec3_make(side, side, side), n);
    uint32_t kept = 0;
    for (uint32_t t = 0; t < shape->triangle_count; t++) {
        flr_vec3 m = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            m = flr_vec3_add_scaled(m, 1.0 / 3, shape->vertices[shape->triangles[t].v[k]]);
        const bool cut = m.z > 0.49 * side && fabs(m.x) < hole / 2 && fabs(m.y) < hole / 2;
        if (!cut) shape->triangles[kept++] = shape->triangles[t];
    }
    shape->triangle_count = kept;
    return welded(shape);
}

static void a_hole_is_measured_and_placed(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_mesh *mesh = box_with_hole(0.21, 0.05, &shape); /* 5 of 21 squares of 10 mm */
    flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_OPEN_BORDER);
    assert_int_equal(f->count, 20);
    assert_int_equal(report.border_loop_count, 1);
    assert_int_equal(report.closed_component_count, 0);
    assert_lt(fabs(f->extent - 0.05), 1e-9);
    assert_lt(fabs(report.largest_gap - 0.05), 1e-9);
    assert_lt(flr_vec3_distance(f->place, flr_vec3_make(0, 0, 0.105)), 1e-9);
    assert_int_equal(f->severity, FLR_CHECK_SERIOUS); /* a quarter of the part */
    assert_non_null(strstr(f->sentence, "50 mm"));
    assert_non_null(strstr(f->effect, "voxels of 63mm"));

    /* with the voxel known it matters or it does not */
    flr_check_options options = flr_default_check_options();
    options.voxel = 0.06;
    report = flr_test_checked(mesh, NULL, &options);
    assert_int_equal(only(&report, FLR_CHECK_OPEN_BORDER)->severity, FLR_CHECK_NOTE);
    options.voxel = 0.002;
    report = flr_test_checked(mesh, NULL, &options);
    f = only(&report, FLR_CHECK_OPEN_BORDER);
    assert_int_equal(f->severity, FLR_CHECK_SERIOUS);
    assert_non_null(strstr(f->effect, "voxels of 2 mm"));
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);

    /* a hole of one square in 21 is a condition, not a verdict */
    mesh = box_with_hole(0.21, 0.01, &shape);
    report = checked(mesh);
    assert_int_equal(only(&report, FLR_CHECK_OPEN_BORDER)->severity, FLR_CHECK_WARNING);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

/* two halves of a box that do not share vertices where they meet: the gap is between them */
static void a_crack_is_as_wide_as_it_is(void **state)
{
    (void)state;
    const double gaps[] = {0, 1e-9, 1e-5, 5e-4};
    for (int i = 0; i < 4; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_box(&shape, flr_vec3_make(0.1, 0.1, 0.1), 10);
        /* pull the triangles of the upper half up; a copy of each middle vertex for them */
        const uint32_t vertices = shape.vertex_count;
        for (uint32_t v = 0; v < vertices; v++) {
            const flr_vec3 p = shape.vertices[v];
            flr_test_shape_vertex(&shape, p.x, p.y, p.z + gaps[i] + 1e-12);
        }
        for (uint32_t t = 0; t < shape.triangle_count; t++) {
            double z = 0;
            for (int k = 0; k < 3; k++) z += shape.vertices[shape.triangles[t].v[k]].z / 3;
            for (int k = 0; k < 3 && z > 0; k++) shape.triangles[t].v[k] += vertices;
        }
        flr_mesh *mesh = welded(&shape);
        const flr_check_report report = checked(mesh);
        const flr_check_finding *f = only(&report, FLR_CHECK_OPEN_BORDER);
        assert_int_equal(report.border_loop_count, 2);
        assert_int_equal(f->count, 80);
        assert_true(f->extent >= 0.99 * gaps[i] || gaps[i] <= 1e-7);
        assert_le(f->extent, fmax(10 * gaps[i], 1e-6));
        if (gaps[i] <= 1e-9) {
            assert_int_equal(f->severity, FLR_CHECK_NOTE);
            assert_eq(f->extent, 0);
        } else
            assert_int_equal(f->severity, FLR_CHECK_WARNING);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&shape);
    }
}

static double flat(double x, double y)
{
    (void)x, (void)y;
    return 0;
}

static void a_sheet_is_open(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_sheet(&shape, 1, 1, 4, 4, flat);
    flr_mesh *mesh = welded(&shape);
    const flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_OPEN_BORDER);
    assert_int_equal(f->severity, FLR_CHECK_SERIOUS);
    assert_int_equal(f->count, 16);
    assert_lt(fabs(f->extent - 1), 1e-9);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

/* ---- edges and vertices ---- */

static void boxes_that_share_an_edge_are_nonmanifold(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    add_box(&shape, 0, 0, 0, 1, 1);
    add_box(&shape, 2, 2, 0, 1, 1);
    flr_mesh *mesh = welded(&shape);
    flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_NONMANIFOLD_EDGE);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->severity, FLR_CHECK_NOTE);
    assert_lt(flr_vec3_distance(f->place, flr_vec3_make(1, 1, 0)), 1e-12);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);

    /* and in a corner: a vertex */
    add_box(&shape, 0, 0, 0, 1, 1);
    add_box(&shape, 2, 2, 2, 1, 1);
    mesh = welded(&shape);
    report = checked(mesh);
    f = only(&report, FLR_CHECK_NONMANIFOLD_VERTEX);
    assert_int_equal(f->count, 1);
    assert_lt(flr_vec3_distance(f->place, flr_vec3_make(1, 1, 1)), 1e-12);
    assert_int_equal(report.closed_component_count, 1); /* one shared vertex makes one component */
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void flipped_neighbours_are_told_from_inverted_shells(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 3);
    const uint32_t swap = shape.triangles[7].v[1];
    shape.triangles[7].v[1] = shape.triangles[7].v[2];
    shape.triangles[7].v[2] = swap;
    flr_mesh *mesh = welded(&shape);
    flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_FLIPPED);
    assert_int_equal(f->count, 3);
    assert_int_equal(f->severity, FLR_CHECK_WARNING);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);

    /* a whole component turned, beside a right one */
    add_box(&shape, 0, 0, 0, 1, 2);
    const uint32_t first = shape.triangle_count;
    add_box(&shape, 5, 0, 0, 2, 2);
    flr_test_shape_turn(&shape, first);
    mesh = welded(&shape);
    report = checked(mesh);
    f = only(&report, FLR_CHECK_INVERTED_COMPONENT);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->severity, FLR_CHECK_WARNING);
    assert_lt(fabs(f->extent - 4), 1e-12);
    assert_lt(flr_vec3_distance(f->place, flr_vec3_make(5, 0, 0)), 1e-12);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void nested_shells_alternate(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    /* solid, cavity, solid within: right */
    add_box(&shape, 0, 0, 0, 3, 2);
    uint32_t first = shape.triangle_count;
    add_box(&shape, 0, 0, 0, 2, 2);
    flr_test_shape_turn(&shape, first);
    add_box(&shape, 0, 0, 0, 1, 2);
    flr_mesh *mesh = welded(&shape);
    flr_check_report report = checked(mesh);
    assert_int_equal(report.finding_count, 0);
    flr_mesh_destroy(mesh);

    /* one more solid in the innermost solid: wrong */
    add_box(&shape, 0.1, 0, 0, 0.5, 2);
    mesh = welded(&shape);
    report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_NESTING);
    assert_int_equal(f->count, 1);
    assert_lt(fabs(f->extent - 1), 1e-12);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

/* ---- faces ---- */

static void thin_and_double_triangles_are_counted(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    flr_mesh *mesh = welded(&shape);
    /* the same corners again, turned and the other way round */
    const flr_triangle t = mesh->triangles[3], u = mesh->triangles[4];
    flr_triangle triangles[20];
    memcpy(triangles, mesh->triangles, sizeof *triangles * 12);
    triangles[12] = (flr_triangle){{t.v[1], t.v[2], t.v[0]}};
    triangles[13] = (flr_triangle){{u.v[0], u.v[2], u.v[1]}};
    triangles[14] = (flr_triangle){{u.v[2], u.v[1], u.v[0]}};
    triangles[15] = (flr_triangle){{0, 0, 1}};
    triangles[16] = (flr_triangle){{2, 2, 2}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = mesh->vertices, def.vertex_count = mesh->vertex_count;
    def.triangles = triangles, def.triangle_count = 17;
    flr_mesh *dirty = NULL;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &dirty, &error), error);
    const flr_check_report report = checked(dirty);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_DUPLICATE), 3);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_ZERO_AREA), 2);
    assert_int_equal(flr_check_find(&report, FLR_CHECK_DUPLICATE)->triangle, 12);
    assert_int_equal(flr_check_find(&report, FLR_CHECK_ZERO_AREA)->triangle, 15);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_SELF_INTERSECTION), 0);
    flr_mesh_destroy(dirty);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);

    /* a needle, a line with three different corners, and a proper one */
    const uint32_t a = flr_test_shape_vertex(&shape, 0, 0, 0);
    const uint32_t b = flr_test_shape_vertex(&shape, 1, 0, 0);
    flr_test_shape_triangle(&shape, a, b, flr_test_shape_vertex(&shape, 0.5, 2e-5, 0));
    flr_test_shape_triangle(&shape, a, b, flr_test_shape_vertex(&shape, 0.3, 0, 0));
    flr_test_shape_triangle(&shape, a, b, flr_test_shape_vertex(&shape, 0.5, 1, 0));
    mesh = welded(&shape);
    const flr_check_report thin = checked(mesh);
    assert_int_equal(flr_test_check_count(&thin, FLR_CHECK_SLIVER), 1);
    assert_int_equal(flr_check_find(&thin, FLR_CHECK_SLIVER)->triangle, 0);
    assert_int_equal(flr_test_check_count(&thin, FLR_CHECK_ZERO_AREA), 1);
    assert_int_equal(flr_check_find(&thin, FLR_CHECK_ZERO_AREA)->triangle, 1);
    assert_int_equal(flr_test_check_count(&thin, FLR_CHECK_FEW_TRIANGLES), 3);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

/* ---- crossings ---- */

static void overlapping_shells_are_found(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    add_box(&shape, 0, 0, 0, 1, 6);
    add_box(&shape, 1.1, 0.9, 0.7, 1, 7);
    flr_mesh *mesh = welded(&shape);
    flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_OVERLAPPING_COMPONENTS);
    assert_gt(f->count, 20);
    assert_non_null(strstr(f->sentence, "2 components"));
    assert_le(fabs(f->place.x), 2.1);
    assert_ge(f->place.x, -1);

    /* the search can be left out, or cut short */
    flr_check_options options = flr_default_check_options();
    options.skip_crossings = true;
    report = flr_test_checked(mesh, NULL, &options);
    assert_int_equal(report.finding_count, 0);
    assert_int_equal(report.pairs_tested, 0);
    options = flr_default_check_options();
    options.pair_limit = 500;
    report = flr_test_checked(mesh, NULL, &options);
    assert_true(report.cut_short);
    assert_lt(report.pairs_tested, 600);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void contact_is_no_overlap(void **state)
{
    (void)state;
    /* face to face, with different squares; and deep by less than the tolerance */
    const double depths[] = {0, 1e-7, 1e-3};
    for (int i = 0; i < 3; i++) {
        flr_test_shape shape = {0};
        add_box(&shape, 0, 0, 0, 1, 3);
        add_box(&shape, 2 - depths[i], 0.3, 0.2, 1, 4);
        flr_test_shape_move(
            &shape, 0,
            flr_pose_make(flr_vec3_make(0.3, 0.1, 0.2),
                          flr_quat_from_axis_angle(flr_vec3_make(0.6, 0, 0.8), 0.7)),
            1);
        flr_mesh *mesh = welded(&shape);
        flr_check_report report = checked(mesh);
        assert_int_equal(report.finding_count > 0, i == 2);
        flr_check_options options = flr_default_check_options();
        options.tolerance = 0.01;
        report = flr_test_checked(mesh, NULL, &options);
        assert_int_equal(report.finding_count, 0);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&shape);
    }
}

static double folded(double x, double y)
{
    (void)y;
    return x < 0.5 ? 0 : 2 * (x - 0.5);
}

static void a_surface_that_passes_through_itself_is_found(void **state)
{
    (void)state;
    /* a torus that is thicker than its hole */
    flr_test_shape shape = {0};
    flr_test_shape_torus(&shape, 0.5, 1, 20, 20);
    flr_mesh *mesh = welded(&shape);
    flr_check_report report = checked(mesh);
    const flr_check_finding *f = only(&report, FLR_CHECK_SELF_INTERSECTION);
    assert_gt(f->count, 20);
    assert_lt(hypot(f->place.x, f->place.y), 0.1); /* on its axis */
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);

    /* a bent sheet does not; folded back onto itself it does */
    flr_test_shape_sheet(&shape, 1, 1, 4, 4, folded);
    mesh = welded(&shape);
    report = checked(mesh);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_SELF_INTERSECTION), 0);
    flr_mesh_destroy(mesh);
    for (uint32_t v = 0; v < shape.vertex_count; v++) {
        flr_vec3 *p = shape.vertices + v;
        if (p->x > 0.5) p->x = 1.05 - p->x;
        p->z = 0;
    }
    mesh = welded(&shape);
    report = checked(mesh);
    assert_gt(flr_test_check_count(&report, FLR_CHECK_SELF_INTERSECTION), 0);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

/* the tree against testing all pairs of boxes: components of random boxes, which cross or do not */
static void the_search_finds_what_a_plain_one_finds(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("search");
    for (int round = 0; round < 10; round++) {
        enum { BOXES = 30 };
        double p[BOXES][4];
        flr_test_shape shape = {0};
        for (int i = 0; i < BOXES; i++) {
            for (int k = 0; k < 3; k++) p[i][k] = flr_test_random_range(&random, 0, 6);
            p[i][3] = flr_test_random_range(&random, 0.1, 0.9);
            add_box(&shape, p[i][0], p[i][1], p[i][2], p[i][3], 2);
        }
        /* surfaces of boxes cross when the boxes meet and neither is inside the other */
        bool crossing[BOXES] = {false};
        for (int i = 0; i < BOXES; i++)
            for (int j = 0; j < BOXES; j++) {
                bool meet = i != j, within = true, around = true;
                for (int k = 0; k < 3; k++) {
                    const double d = fabs(p[i][k] - p[j][k]);
                    meet = meet && d < p[i][3] + p[j][3];
                    within = within && d < p[j][3] - p[i][3];
                    around = around && d < p[i][3] - p[j][3];
                }
                crossing[i] = crossing[i] || (meet && !within && !around);
            }
        unsigned expected = 0;
        for (int i = 0; i < BOXES; i++) expected += crossing[i];
        flr_mesh *mesh = welded(&shape);
        const flr_check_report report = checked(mesh);
        const flr_check_finding *f = flr_check_find(&report, FLR_CHECK_OVERLAPPING_COMPONENTS);
        assert_int_equal(f ? strtoul(f->sentence, NULL, 10) : 0, expected);
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&shape);
    }
}

/* ---- size, number, reading ---- */

static void absurd_sizes_are_named(void **state)
{
    (void)state;
    const struct {
        double scale, offset;
        flr_check_kind kind;
    } cases[] = {{2e4, 0, FLR_CHECK_HUGE},
                 {5e-6, 0, FLR_CHECK_TINY},
                 {1, 5e3, FLR_CHECK_FAR_AWAY},
                 {0.01, -100, FLR_CHECK_FAR_AWAY}};
    for (int i = 0; i < 4; i++) {
        flr_test_shape shape = {0};
        flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 2);
        flr_test_shape_move(&shape, 0, at(cases[i].offset, 0, 0), cases[i].scale);
        flr_mesh *mesh = welded(&shape);
        const flr_check_report report = checked(mesh);
        const flr_check_finding *f = only(&report, cases[i].kind);
        assert_int_equal(f->severity, cases[i].kind == FLR_CHECK_FAR_AWAY ? FLR_CHECK_WARNING
                                                                          : FLR_CHECK_SERIOUS);
        if (cases[i].kind != FLR_CHECK_FAR_AWAY) assert_non_null(strstr(f->effect, "Read it in"));
        flr_mesh_destroy(mesh);
        flr_test_shape_free(&shape);
    }

    /* with the voxel known, what counts is the step against the voxel */
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 2);
    flr_test_shape_move(&shape, 0, at(5e3, 0, 0), 1);
    flr_mesh *mesh = welded(&shape);
    flr_check_options options = flr_default_check_options();
    options.voxel = 0.05;
    const flr_check_report report = flr_test_checked(mesh, NULL, &options);
    assert_int_equal(report.finding_count, 0);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static void what_the_reader_saw_is_told(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 1);
    flr_mesh *mesh = welded(&shape);
    flr_mesh_report read = {.dropped_nonfinite = 3, .dropped_malformed = 1, .ignored_bytes = 7};
    snprintf(read.first_trouble, sizeof read.first_trouble, "line 12: nan");
    const flr_check_report report = flr_test_checked(mesh, &read, NULL);
    assert_int_equal(report.finding_count, 3);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_NONFINITE), 3);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_MALFORMED), 1);
    assert_int_equal(flr_test_check_count(&report, FLR_CHECK_IGNORED_BYTES), 7);
    for (uint32_t i = 0; i < report.finding_count; i++) // the caller shows it, once
        assert_null(strstr(report.findings[i].sentence, "line 12"));
    assert_int_equal(flr_check_worst(&report), FLR_CHECK_WARNING);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static bool stop(void *context, double done)
{
    double *last = context;
    assert_ge(done, *last);
    assert_le(done, 1);
    *last = done;
    return false;
}

static bool go_on(void *context, double done)
{
    double *last = context;
    assert_ge(done, *last);
    assert_le(done, 1);
    *last = done;
    return true;
}

static void it_can_be_stopped_and_told_nonsense(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_test_shape_box(&shape, flr_vec3_make(1, 1, 1), 60);
    flr_mesh *mesh = welded(&shape);
    double last = 0;
    flr_check_options options = flr_default_check_options();
    options.progress = stop, options.context = &last;
    flr_check_report report = {.finding_count = 77};
    flr_error error;
    assert_int_equal(flr_check_mesh(mesh, NULL, &options, &report, &error), FLR_CANCELLED);
    assert_int_equal(report.finding_count, 77); /* untouched */
    last = 0;
    options.progress = go_on;
    report = flr_test_checked(mesh, NULL, &options);
    assert_eq(last, 1);
    options = flr_default_check_options();
    options.voxel = -1;
    assert_int_equal(flr_check_mesh(mesh, NULL, &options, &report, &error), FLR_BAD_ARGUMENT);
    options.voxel = 0, options.tolerance = NAN;
    assert_int_equal(flr_check_mesh(mesh, NULL, &options, &report, &error), FLR_BAD_ARGUMENT);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

static flr_result check_once(void *context, flr_error *error)
{
    flr_check_report report;
    return flr_check_mesh(context, NULL, NULL, &report, error);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    flr_test_shape shape = {0};
    flr_mesh *mesh = box_with_hole(1, 0.2, &shape);
    assert_gt(flr_fail_alloc_each(check_once, mesh), 10);
    flr_mesh_destroy(mesh);
    flr_test_shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_shapes_have_no_findings),
        cmocka_unit_test(every_kind_has_a_name),
        cmocka_unit_test(a_hole_is_measured_and_placed),
        cmocka_unit_test(a_crack_is_as_wide_as_it_is),
        cmocka_unit_test(a_sheet_is_open),
        cmocka_unit_test(boxes_that_share_an_edge_are_nonmanifold),
        cmocka_unit_test(flipped_neighbours_are_told_from_inverted_shells),
        cmocka_unit_test(nested_shells_alternate),
        cmocka_unit_test(thin_and_double_triangles_are_counted),
        cmocka_unit_test(overlapping_shells_are_found),
        cmocka_unit_test(contact_is_no_overlap),
        cmocka_unit_test(a_surface_that_passes_through_itself_is_found),
        cmocka_unit_test(the_search_finds_what_a_plain_one_finds),
        cmocka_unit_test(absurd_sizes_are_named),
        cmocka_unit_test(what_the_reader_saw_is_told),
        cmocka_unit_test(it_can_be_stopped_and_told_nonsense),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
