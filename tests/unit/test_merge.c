/* several parts in one voxmap: against a brute-force union, and against itself by other ways */
#include "feeler/merge.h"

#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"
#include "support/plain_merge.h"
#include "voxel/voxmap_format.h"

#ifdef FLR_SANITIZED
enum { STEPS = 5 }; /* the sanitizers take their time */
#else
enum { STEPS = 20 };
#endif

/* ---- sets of parts ---- */

typedef struct part_set {
    flr_test_shape shapes[FLR_TEST_MERGE_PARTS];
    flr_merge_part parts[FLR_TEST_MERGE_PARTS];
    int count;
} part_set;

static flr_test_shape *next_shape(part_set *set, flr_pose T)
{
    set->parts[set->count] = flr_default_merge_part();
    set->parts[set->count].T_voxmap_part = T;
    return &set->shapes[set->count++];
}

/* Call when no shape changes any more. */
static void close_set(part_set *set)
{
    for (int i = 0; i < set->count; i++) set->parts[i].mesh = flr_test_shape_mesh(&set->shapes[i]);
}

static void free_set(part_set *set)
{
    for (int i = 0; i < set->count; i++) flr_test_shape_free(&set->shapes[i]);
}

static flr_pose at(double x, double y, double z)
{
    return flr_pose_make(flr_vec3_make(x, y, z), flr_quat_identity());
}

static flr_pose random_pose(flr_test_random *random, double reach)
{
    flr_quat q = {flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1),
                  flr_test_random_range(random, -1, 1), flr_test_random_range(random, -1, 1)};
    return flr_pose_make(flr_vec3_make(flr_test_random_range(random, -reach, reach),
                                       flr_test_random_range(random, -reach, reach),
                                       flr_test_random_range(random, -reach, reach)),
                         flr_quat_normalize(q));
}

static flr_merge_def small_def(double voxel)
{
    flr_merge_def def = flr_default_merge_def();
    def.voxel = voxel;
    def.threads = 2;
    return def;
}

static flr_merge *begin(const flr_merge_def *def)
{
    flr_merge *merge;
    flr_error error;
    assert_ok(flr_merge_create(def, &merge, &error), error);
    return merge;
}

static uint32_t add(flr_merge *merge, const flr_merge_part *part)
{
    uint32_t id;
    flr_error error;
    assert_ok(flr_merge_add(merge, part, &id, &error), error);
    return id;
}

static flr_voxmap *build(flr_merge *merge, const flr_voxmap *before, flr_merge_report *report)
{
    flr_voxmap *voxmap;
    flr_error error;
    assert_ok(flr_merge_build(merge, before, &voxmap, report, &error), error);
    return voxmap;
}

static void assert_same(const flr_voxmap *a, const flr_voxmap *b)
{
    assert_int_equal(a->header->size, b->header->size);
    if (memcmp(a->header, b->header, a->header->size) == 0) return;
    size_t i = 0;
    while (((const uint8_t *)a->header)[i] == ((const uint8_t *)b->header)[i]) i++;
    fail_msg("byte %zu of %zu differs; the header has %zu", i, (size_t)a->header->size,
             sizeof *a->header);
}

/* A box without its top: two triangles fewer. */
static void open_box(flr_test_shape *shape, double size)
{
    flr_test_shape_box(shape, flr_vec3_make(size, size, size), 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shape->triangle_count; i++) {
        const uint32_t *v = shape->triangles[i].v;
        bool top = true;
        for (int k = 0; k < 3; k++) top = top && shape->vertices[v[k]].z > size / 4;
        if (!top) shape->triangles[kept++] = shape->triangles[i];
    }
    assert_int_equal(kept, 10);
    shape->triangle_count = kept;
}

/* ---- tests ---- */

enum { DISJOINT, TOUCHING, NESTED, IDENTICAL, CROSSING, OPENED, HOLLOW, CAVITY, TURNED, KINDS };

static void make_set(part_set *set, int kind, flr_test_random *random)
{
    switch (kind) {
    case DISJOINT:
        flr_test_shape_sphere(next_shape(set, at(-0.02, 0, 0)), 0.012, 16, 8);
        flr_test_shape_box(next_shape(set, at(0.025, 0.003, 0)), flr_vec3_make(0.02, 0.01, 0.02),
                           1);
        break;
    case TOUCHING: /* a face in common, all of it and a part of it */
        flr_test_shape_box(next_shape(set, at(0, 0, 0)), flr_vec3_make(0.02, 0.02, 0.02), 1);
        flr_test_shape_box(next_shape(set, at(0.02, 0, 0)), flr_vec3_make(0.02, 0.02, 0.02), 1);
        flr_test_shape_box(next_shape(set, at(0, 0.015, 0)), flr_vec3_make(0.01, 0.01, 0.01), 1);
        break;
    case NESTED: /* one inside, one in the one inside */
        flr_test_shape_sphere(next_shape(set, at(0, 0, 0)), 0.025, 24, 12);
        flr_test_shape_box(next_shape(set, at(0.002, 0, 0)), flr_vec3_make(0.02, 0.02, 0.02), 1);
        flr_test_shape_torus(next_shape(set, at(0, 0.001, 0)), 0.006, 0.002, 12, 8);
        break;
    case IDENTICAL:
        for (int i = 0; i < 2; i++)
            flr_test_shape_torus(next_shape(set, at(0, 0, 0)), 0.02, 0.008, 24, 12);
        break;
    case CROSSING:
        flr_test_shape_cylinder(next_shape(set, at(0, 0, 0)), 0.008, 0.05, 16, 1);
        flr_test_shape_box(next_shape(set, at(0.003, 0, 0.01)), flr_vec3_make(0.04, 0.012, 0.01),
                           1);
        flr_test_shape_sphere(next_shape(set, at(0, 0, 0.02)), 0.012, 16, 8);
        break;
    case OPENED: /* leaks on its own; a lid does not make it solid, a solid inside stays one */
        open_box(next_shape(set, at(0, 0, 0)), 0.03);
        flr_test_shape_box(next_shape(set, at(0, 0, 0.0175)), flr_vec3_make(0.03, 0.03, 0.005), 1);
        flr_test_shape_sphere(next_shape(set, at(0, 0, -0.005)), 0.006, 12, 8);
        break;
    case HOLLOW:
        flr_test_shape_sphere(next_shape(set, at(0, 0, 0)), 0.02, 16, 8);
        flr_test_shape_box(next_shape(set, at(0.015, 0, 0)), flr_vec3_make(0.02, 0.01, 0.01), 1);
        set->parts[0].hollow = true;
        break;
    case CAVITY: /* six plates around nothing */
        for (int i = 0; i < 6; i++) {
            double d = i % 2 ? 0.0125 : -0.0125;
            flr_vec3 size = flr_vec3_make(0.03, 0.03, 0.03);
            if (i / 2 == 0) size.x = 0.005;
            if (i / 2 == 1) size.y = 0.005;
            if (i / 2 == 2) size.z = 0.005;
            flr_pose T = at(i / 2 == 0 ? d : 0, i / 2 == 1 ? d : 0, i / 2 == 2 ? d : 0);
            flr_test_shape_box(next_shape(set, T), size, 1);
        }
        break;
    default:
        for (int i = 0; i < 3; i++)
            flr_test_shape_box(next_shape(set, random_pose(random, 0.015)),
                               flr_vec3_make(0.03, 0.02, 0.01), 1);
        flr_test_shape_torus(next_shape(set, random_pose(random, 0.02)), 0.02, 0.005, 24, 12);
    }
    close_set(set);
}

static void merged_equals_brute_force(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("merged_equals_brute_force");
    for (int kind = 0; kind < KINDS; kind++) {
        part_set set = {0};
        make_set(&set, kind, &random);
        bool wide = kind == CROSSING || kind == TURNED;
        flr_merge_def def = small_def(wide ? 0.001 : 0.0015);
        def.features = kind == TOUCHING || kind == NESTED || kind == OPENED;
        /* most within few hyperchunks, some across the sides of many */
        if (!wide) def.origin = flr_vec3_make(-0.048, -0.048, -0.048);
        if (kind == DISJOINT) def.bits = 8, def.range = 11;
        if (kind == IDENTICAL) def.range = 3;
        if (kind == OPENED) def.origin = flr_vec3_make(0.0123, -5.0004, 0.7);
        flr_test_plain_merge_compare(&def, set.parts, set.count);
        free_set(&set);
    }
}

/* Six plates enclose free space: no interior is made there. */
static void a_cavity_between_parts_stays_free(void **state)
{
    (void)state;
    part_set set = {0};
    make_set(&set, CAVITY, NULL);
    flr_merge_def def = small_def(0.001);
    flr_voxmap *voxmap = flr_test_merged(&def, set.parts, set.count, ~0u);
    assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, flr_vec3_zero()), FLR_MARK_FREE);
    assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, flr_vec3_make(0.0125, 0, 0)),
                     FLR_MARK_INTERIOR);
    flr_voxmap_destroy(voxmap);
    free_set(&set);
}

/* Of what a part has within another, nothing is left: neither in hyperchunks that the other one touches nor in
 * those, nor in whole root cells, that it fills. A cube of n voxels a side has faces within voxels: n + 1. */
static void what_is_within_another_is_buried(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
#ifdef FLR_SANITIZED
        if (large) break;
#endif
        uint64_t n = large ? 1100 : 220;
        double s = 0.001, side = (double)n * s, c = large ? -0.2 : 0;
        part_set set = {0};
        flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(side, side, side), 1);
        flr_test_shape_box(next_shape(&set, at(c, c, c)), flr_vec3_make(0.04, 0.04, 0.04), 1);
        flr_test_shape_sphere(next_shape(&set, at(side / 2 - 0.03, 0, 0)), 0.02, 24, 12);
        close_set(&set);
        flr_merge_def def = small_def(s);
        def.bits = 2;
        flr_voxmap *voxmap = flr_test_merged(&def, set.parts, set.count, ~0u);
        flr_voxmap_info info = flr_voxmap_get_info(voxmap);
        uint64_t all = (n + 1) * (n + 1) * (n + 1), inside = (n - 1) * (n - 1) * (n - 1);
        assert_int_equal(info.stats.interior_voxels, inside);
        assert_int_equal(info.stats.surface_voxels, all - inside);
        assert_int_equal(info.stats.vertex_voxels, 8);
        for (int field = 0; field < FLR_FIELD_COUNT; field++) {
            flr_vec3 inner = flr_vec3_make(c + 0.02, c + 0.005, c + 0.001),
                     between = flr_vec3_make(side / 2 - 0.01, 0.05, 0.05);
            assert_int_equal(flr_voxmap_mark(voxmap, (flr_field)field, inner), FLR_MARK_INTERIOR);
            assert_int_equal(flr_voxmap_mark(voxmap, (flr_field)field, between), FLR_MARK_INTERIOR);
        }
        flr_voxmap_destroy(voxmap);
        free_set(&set);
    }
}

static void order_and_threads_do_not_matter(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("order_and_threads_do_not_matter");
    part_set set = {0};
    make_set(&set, TURNED, &random);
    flr_merge_def def = small_def(0.0003);
    flr_voxmap *voxmap = flr_test_merged(&def, set.parts, set.count, ~0u);
    for (int turn = 0; turn < 3; turn++) {
        flr_merge_part turned[FLR_TEST_MERGE_PARTS];
        for (int i = 0; i < set.count; i++) turned[(i * 3 + turn) % set.count] = set.parts[i];
        def.threads = 1u << turn;
        flr_voxmap *other = flr_test_merged(&def, turned, set.count, ~0u);
        assert_same(voxmap, other);
        flr_voxmap_destroy(other);
    }
    flr_voxmap_destroy(voxmap);
    free_set(&set);
}

/* Adds and removes at random, each time from the voxmap before; every result is that of starting anew. */
static void any_history_gives_the_same_bytes(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("any_history_gives_the_same_bytes");
    for (int turn = 0; turn < 4; turn++) {
        part_set set = {0};
        flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(0.1, 0.08, 0.07), 1);
        flr_test_shape_sphere(next_shape(&set, at(0.04, 0, 0)), 0.03, 24, 12);
        flr_test_shape_sphere(next_shape(&set, at(0, 0, 0)), 0.01, 24, 12); /* buried */
        open_box(next_shape(&set, at(0.05, 0.03, 0)), 0.05);
        flr_test_shape_torus(next_shape(&set, random_pose(&random, 0.1)), 0.03, 0.01, 24, 12);
        flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(0.1, 0.08, 0.07), 1);
        flr_test_shape_sphere(next_shape(&set, at(-0.2, 0, 0)), 0.01, 12, 8);
        set.parts[5].hollow = true; /* the first one again, without inside */
        close_set(&set);
        flr_merge_def def = small_def(0.0015);
        if (turn == 1) def.bits = 2, def.offset = 2;
        if (turn == 2) def.bits = 8, def.range = 12, def.features = false;
        if (turn == 3) def.range = 2;

        flr_merge *merge = begin(&def);
        uint32_t ids[FLR_TEST_MERGE_PARTS] = {0};
        unsigned which = 0;
        flr_voxmap *before = NULL;
        for (int step = 0; step < STEPS; step++) {
            int i = (int)flr_test_random_below(&random, (uint32_t)set.count);
            flr_error error;
            if (which >> i & 1)
                assert_ok(flr_merge_remove(merge, ids[i], &error), error);
            else
                ids[i] = add(merge, &set.parts[i]);
            which ^= 1u << i;
            if (!which || flr_test_random_below(&random, 4) == 0) continue;
            flr_merge_report report;
            flr_voxmap *now = build(merge, before, &report);
            flr_voxmap *anew = flr_test_merged(&def, set.parts, set.count, which);
            assert_same(now, anew);
            assert_le(report.recomputed, report.hyperchunks);
            flr_voxmap_destroy(anew);
            flr_voxmap_destroy(before);
            before = now;
        }
        flr_voxmap_destroy(before);
        flr_merge_destroy(merge);
        free_set(&set);
    }
}

/* Only the neighbourhood of a change is computed anew; nothing at all when a buried part goes. */
static void only_what_changed_is_computed(void **state)
{
    (void)state;
    part_set set = {0};
    flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(0.5, 0.3, 0.3), 1);
    flr_test_shape_sphere(next_shape(&set, at(0, 0, 0)), 0.02, 24, 12);   /* buried */
    flr_test_shape_sphere(next_shape(&set, at(0.4, 0, 0)), 0.02, 24, 12); /* beside */
    close_set(&set);
    flr_merge_def def = small_def(0.001);
    flr_merge *merge = begin(&def);
    uint32_t ids[3];
    flr_error error;
    for (int i = 0; i < 3; i++) ids[i] = add(merge, &set.parts[i]);
    assert_int_equal(flr_merge_part_count(merge), 3);
    flr_merge_report report;
    flr_voxmap *first = build(merge, NULL, &report);
    assert_int_equal(report.recomputed, report.hyperchunks);
    assert_gt(report.hyperchunks, 100);

    /* nothing happened, but that the voxmap went through a file */
    char *folder = flr_test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/first.flrvox", folder);
    flr_voxmap *read;
    assert_ok(flr_voxfile_write(flr_env_real(), path, first, NULL, &error), error);
    assert_ok(flr_voxfile_open(flr_env_real(), path, 0, &read, NULL, &error), error);
    flr_voxmap *same = build(merge, read, &report);
    assert_int_equal(report.recomputed, 0);
    assert_same(first, same);
    flr_voxmap_destroy(same);
    flr_voxmap_destroy(read);
    flr_test_folder_remove(folder);

    assert_ok(flr_merge_remove(merge, ids[1], &error), error);
    flr_voxmap *second = build(merge, first, &report);
    flr_voxmap_destroy(first);
    assert_int_equal(report.recomputed, 0);

    assert_ok(flr_merge_remove(merge, ids[2], &error), error);
    flr_voxmap *third = build(merge, second, &report);
    assert_le(report.recomputed, 8);
    assert_gt(report.hyperchunks, 100);

    /* a voxmap of another state is of no use, and does no harm */
    add(merge, &set.parts[2]);
    flr_voxmap *fourth = build(merge, second, &report);
    assert_int_equal(report.recomputed, report.hyperchunks);
    flr_voxmap *anew = flr_test_merged(&def, set.parts, 3, 5);
    assert_same(fourth, anew);
    flr_voxmap_destroy(second);
    flr_voxmap_destroy(third);
    flr_voxmap_destroy(fourth);
    flr_voxmap_destroy(anew);
    flr_merge_destroy(merge);
    free_set(&set);
}

static double level(double x, double y)
{
    (void)x, (void)y;
    return 0;
}

/* A sheet lies in the last layer of a hyperchunk, and so does the bottom of a solid. When the solid goes, no voxel
 * that a surface touches changes, but the space above turns from inside to outside. */
static void what_nothing_touches_may_change(void **state)
{
    (void)state;
    part_set set = {0};
    double s = 0.001, z = (63.5 + 0.25) * s;
    flr_test_shape_box(next_shape(&set, at(0, 0, z + 0.15)), flr_vec3_make(0.4, 0.4, 0.3), 1);
    flr_test_shape *sheet = next_shape(&set, at(-0.3, -0.3, z));
    flr_test_shape_sheet(sheet, 0.6, 0.6, 1, 1, level);
    close_set(&set);
    flr_merge_def def = small_def(s);
    def.features = false;
    flr_merge *merge = begin(&def);
    uint32_t solid = add(merge, &set.parts[0]);
    add(merge, &set.parts[1]);
    flr_voxmap *before = build(merge, NULL, NULL);
    flr_vec3 above = flr_vec3_make(0.0321, 0.0321, z + 3 * s);
    assert_int_equal(flr_voxmap_mark(before, FLR_FIELD_SURFACE, above), FLR_MARK_INTERIOR);
    flr_error error;
    assert_ok(flr_merge_remove(merge, solid, &error), error);
    flr_voxmap *after = build(merge, before, NULL);
    flr_voxmap *anew = flr_test_merged(&def, set.parts, 2, 2);
    assert_int_equal(flr_voxmap_mark(after, FLR_FIELD_SURFACE, above), 5);
    assert_same(after, anew);
    flr_voxmap_destroy(before);
    flr_voxmap_destroy(after);
    flr_voxmap_destroy(anew);
    flr_merge_destroy(merge);
    free_set(&set);
}

/* Reads the placed parts of an assembly, up to `most`; returns how many. */
static int read_assembly(const char *folder, double unit, flr_merge_part *parts, int most)
{
    char path[8192], line[1024];
    snprintf(path, sizeof path, "%s/assembly.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int count = 0;
    while (count < most && fgets(line, sizeof line, file)) {
        char id[256], name[256];
        double m[12];
        if (line[0] == '#' ||
            sscanf(line, "%255s %255s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", id, name,
                   &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7], &m[8], &m[9], &m[10],
                   &m[11]) != 14)
            continue;
        flr_mesh_options options = flr_default_mesh_options();
        options.tolerant = true;
        options.unit = unit;
        flr_mesh *mesh;
        flr_error error;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &mesh, NULL, &error), error);
        flr_mat3 R = {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}};
        parts[count] = flr_default_merge_part();
        parts[count].mesh = mesh;
        parts[count++].T_voxmap_part = flr_pose_make(
            flr_vec3_scale(flr_vec3_make(m[3], m[7], m[11]), unit), flr_quat_from_mat3(R));
    }
    fclose(file);
    return count;
}

static void an_assembly_is_taken_apart(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    char folder[4096 + 64];
    snprintf(folder, sizeof folder, "%s/assembly/wrs2020_drive_unit", models);
    flr_merge_part parts[FLR_TEST_MERGE_PARTS];
    int count = read_assembly(folder, 1e-3, parts, FLR_TEST_MERGE_PARTS);
    assert_gt(count, 5);
    flr_merge_def def = small_def(0.0008);
    flr_merge *merge = begin(&def);
    uint32_t ids[FLR_TEST_MERGE_PARTS];
    for (int i = 0; i < count; i++) ids[i] = add(merge, &parts[i]);
    flr_voxmap *before = build(merge, NULL, NULL);
    unsigned which = (1u << count) - 1;
    for (int i = count - 1; i > 0; i -= 3) {
        flr_error error;
        flr_merge_report report;
        assert_ok(flr_merge_remove(merge, ids[i], &error), error);
        which &= ~(1u << i);
        flr_voxmap *now = build(merge, before, &report);
        flr_voxmap *anew = flr_test_merged(&def, parts, count, which);
        assert_same(now, anew);
        flr_voxmap_destroy(before);
        flr_voxmap_destroy(anew);
        before = now;
    }
    flr_voxmap_destroy(before);
    flr_merge_destroy(merge);
    for (int i = 0; i < count; i++) flr_mesh_destroy((flr_mesh *)(uintptr_t)parts[i].mesh);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    part_set set = {0};
    flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(0.02, 0.02, 0.02), 1);
    close_set(&set);
    flr_error error;
    flr_merge *merge = NULL;
    flr_merge_def def = flr_default_merge_def();
    assert_int_equal(flr_merge_create(&def, &merge, &error), FLR_BAD_ARGUMENT);
    def.voxel = 0.001;
    def.origin.y = NAN;
    assert_int_equal(flr_merge_create(&def, &merge, &error), FLR_BAD_ARGUMENT);
    def.origin.y = 0;
    def.range = 200;
    assert_int_equal(flr_merge_create(&def, &merge, &error), FLR_BAD_ARGUMENT);
    assert_null(merge);
    def.range = 8;
    merge = begin(&def);

    flr_voxmap *voxmap = NULL;
    uint32_t id = 77;
    assert_int_equal(flr_merge_build(merge, NULL, &voxmap, NULL, &error), FLR_BAD_ARGUMENT);
    assert_int_equal(flr_merge_remove(merge, 1, &error), FLR_NOT_FOUND);
    flr_merge_part part = flr_default_merge_part();
    assert_int_equal(flr_merge_add(merge, &part, &id, &error), FLR_BAD_ARGUMENT);
    part = set.parts[0];
    part.T_voxmap_part.p.x = NAN;
    assert_int_equal(flr_merge_add(merge, &part, &id, &error), FLR_BAD_ARGUMENT);
    /* alone it may lie anywhere; two may not be a thousand kilometres apart */
    uint32_t first = add(merge, &set.parts[0]);
    part.T_voxmap_part.p.x = 1e6;
    assert_int_equal(flr_merge_add(merge, &part, &id, &error), FLR_TOO_LARGE);
    part.T_voxmap_part.p.x = 1e300;
    assert_int_equal(flr_merge_add(merge, &part, &id, &error), FLR_TOO_LARGE);
    assert_int_equal(id, 77);
    assert_int_equal(flr_merge_part_count(merge), 1);
    /* numbers are not used again */
    assert_ok(flr_merge_remove(merge, first, &error), error);
    assert_int_equal(flr_merge_remove(merge, first, &error), FLR_NOT_FOUND);
    assert_ne(add(merge, &set.parts[0]), first);
    flr_merge_destroy(merge);

    /* the parts together must fit into memory */
    def.memory_limit = 3000000;
    merge = begin(&def);
    flr_result result = FLR_OK;
    for (int i = 0; i < 50 && result == FLR_OK; i++)
        result = flr_merge_add(merge, &set.parts[0], &id, &error);
    assert_int_equal(result, FLR_TOO_LARGE);
    assert_gt(flr_merge_part_count(merge), 0);
    flr_merge_destroy(merge);
    free_set(&set);
}

/* A part smaller than a voxel is a voxel. */
static void a_tiny_part_counts(void **state)
{
    (void)state;
    part_set set = {0};
    flr_test_shape_box(next_shape(&set, at(0, 0, 0)), flr_vec3_make(0.02, 0.02, 0.02), 1);
    flr_test_shape_box(next_shape(&set, at(0.02, 0, 0)), flr_vec3_make(0.0002, 0.0002, 0.0002), 1);
    close_set(&set);
    flr_merge_def def = small_def(0.001);
    flr_voxmap *voxmap = flr_test_merged(&def, set.parts, 2, 3);
    assert_int_equal(flr_voxmap_mark(voxmap, FLR_FIELD_VERTEX, flr_vec3_make(0.02, 0, 0)), 2);
    flr_voxmap_destroy(voxmap);
    free_set(&set);
}

static flr_result everything_once(void *context, flr_error *error)
{
    const part_set *set = context;
    flr_merge_def def = small_def(0.006);
    def.threads = 1;
    flr_merge *merge = NULL;
    flr_voxmap *first = NULL, *second = NULL;
    uint32_t ids[2] = {0};
    flr_result result = flr_merge_create(&def, &merge, error);
    for (int i = 0; result == FLR_OK && i < 2; i++)
        result = flr_merge_add(merge, &set->parts[i], &ids[i], error);
    if (result == FLR_OK) result = flr_merge_build(merge, NULL, &first, NULL, error);
    if (result == FLR_OK) result = flr_merge_remove(merge, ids[0], error);
    if (result == FLR_OK) result = flr_merge_build(merge, first, &second, NULL, error);
    if (result != FLR_OK) assert_null(second);
    flr_voxmap_destroy(first);
    flr_voxmap_destroy(second);
    flr_merge_destroy(merge);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    part_set set = {0};
    make_set(&set, DISJOINT, NULL);
    assert_gt(flr_fail_alloc_each(everything_once, &set), 20);
    free_set(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_equals_brute_force),
        cmocka_unit_test(a_cavity_between_parts_stays_free),
        cmocka_unit_test(what_is_within_another_is_buried),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(any_history_gives_the_same_bytes),
        cmocka_unit_test(only_what_changed_is_computed),
        cmocka_unit_test(what_nothing_touches_may_change),
        cmocka_unit_test(an_assembly_is_taken_apart),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_tiny_part_counts),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
