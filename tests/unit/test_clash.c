/* clashes of an assembly: states, bounds, and no missed pair */
#include "feeler/clash.h"
#include "support/fixtures.h"

#include <math.h>

#include "mesh/nearest.h"

static flr_mesh *box(double x, double y, double z)
{
    flr_vec3 v[8];
    for (int i = 0; i < 8; i++) v[i] = (flr_vec3){i & 1 ? x : 0, i & 2 ? y : 0, i & 4 ? z : 0};
    static const flr_triangle t[12] = {{{0, 2, 1}}, {{1, 2, 3}}, {{4, 5, 6}}, {{5, 7, 6}},
                                       {{0, 1, 4}}, {{1, 5, 4}}, {{2, 6, 3}}, {{3, 6, 7}},
                                       {{0, 4, 2}}, {{2, 4, 6}}, {{1, 3, 5}}, {{3, 7, 5}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = 8, def.triangles = t, def.triangle_count = 12;
    flr_mesh *mesh;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    return mesh;
}

static flr_fit *fit_of(double x, double y, double z)
{
    flr_mesh *mesh = box(x, y, z);
    flr_fit *fit = flr_test_fit(mesh);
    flr_mesh_destroy(mesh);
    return fit;
}

static flr_pose at(double x, double y, double z) { return (flr_pose){{x, y, z}, {1, 0, 0, 0}}; }

static flr_clash_list find(const flr_clash_part *parts, uint32_t count, double clearance, bool all)
{
    flr_clash_def def = flr_default_clash_def();
    flr_clash_list list;
    flr_error error;
    def.parts = parts, def.part_count = count, def.clearance = clearance, def.all = all;
    assert_ok(flr_clash_find(&def, &list, &error), error);
    return list;
}

static flr_clash_part solid(const flr_fit *fit, flr_pose T_world_part)
{
    return (flr_clash_part){.fit = fit, .T_world_part = T_world_part};
}

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.9g is not %.9g", value, wanted);
}

/* Two cubes of this edge, with this gap along x; below 0: so deep in each other. */
static flr_clash_pair apart(double edge, double gap, double clearance)
{
    flr_fit *cube = fit_of(edge, edge, edge);
    const flr_clash_part parts[2] = {solid(cube, at(0, 0, 0)), solid(cube, at(edge + gap, 0, 0))};
    flr_clash_list list = find(parts, 2, clearance, true);
    assert_int_equal(list.pair_count, 1);
    const flr_clash_pair pair = list.pairs[0];
    assert_true(list.least_touch == pair.touch && list.most_touch == pair.touch);
    flr_clash_list_free(&list);
    flr_fit_destroy(cube);
    return pair;
}

/* What counts as contact depends on the size of the parts. */
static void contact_is_a_share_of_the_size(void **state)
{
    (void)state;
    const double diagonal = sqrt(3);
    static const struct {
        double edge, gap;
        flr_clash_state state;
    } cases[] = {
        {1e-6, 1e-6, FLR_CLASH_NEAR},     {1e-6, 1e-8, FLR_CLASH_NEAR},
        {1e-6, 1e-9, FLR_CLASH_CONTACT},  {1e-6, -1e-9, FLR_CLASH_CONTACT},
        {1e-6, -2e-7, FLR_CLASH_OVERLAP}, {1e-3, 1e-6, FLR_CLASH_CONTACT},
        {1e-3, 5e-6, FLR_CLASH_NEAR},     {0.01, 9e-6, FLR_CLASH_CONTACT},
        {100, 9e-6, FLR_CLASH_CONTACT},   {100, 2e-5, FLR_CLASH_NEAR},
        {100, -9e-6, FLR_CLASH_CONTACT},  {100, -1e-4, FLR_CLASH_OVERLAP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const flr_clash_pair pair = apart(cases[i].edge, cases[i].gap, 1e-3);
        if (pair.state != cases[i].state)
            fail_msg("cubes of %g m, %g m apart: %s", cases[i].edge, cases[i].gap,
                     flr_clash_state_name(pair.state));
        const double touch = fmin(1e-5, 1e-3 * diagonal * cases[i].edge);
        near(pair.touch, touch, 1e-9 * touch);
        if (cases[i].gap > 0) near(pair.distance, cases[i].gap, 1e-6 * cases[i].gap + 1e-13);
    }
    // of two sizes the smaller one counts; the list names the range
    flr_fit *large = fit_of(0.1, 0.1, 0.1), *small = fit_of(1e-6, 1e-6, 1e-6);
    const flr_clash_part parts[3] = {solid(large, at(0, 0, 0)), solid(small, at(0.1 + 5e-6, 0, 0)),
                                     solid(large, at(-0.1 - 5e-6, 0, 0))};
    flr_clash_list list = find(parts, 3, 1e-5, true);
    assert_int_equal(list.pair_count, 2);
    assert_int_equal(list.pairs[0].state, FLR_CLASH_CONTACT);
    assert_int_equal(list.pairs[1].state, FLR_CLASH_NEAR);
    near(list.least_touch, 1e-9 * diagonal, 1e-15);
    near(list.most_touch, 1e-5, 0);
    flr_clash_list_free(&list);
    // one length for all, where somebody says so
    flr_clash_def def = flr_default_clash_def();
    flr_error error;
    def.parts = parts, def.part_count = 3, def.touch = 1e-5;
    assert_ok(flr_clash_find(&def, &list, &error), error);
    assert_int_equal(list.pair_count, 2);
    assert_int_equal(list.pairs[1].state, FLR_CLASH_CONTACT);
    near(list.least_touch, 1e-5, 0);
    flr_clash_list_free(&list);
    def.touch = NAN;
    assert_int_equal(flr_clash_find(&def, &list, &error), FLR_BAD_ARGUMENT);
    flr_fit_destroy(large);
    flr_fit_destroy(small);
}

/* a cube of 10 mm beside, on, in and within another */
static void states(void **state)
{
    (void)state;
    flr_fit *cube = fit_of(0.01, 0.01, 0.01), *small = fit_of(0.002, 0.002, 0.002);
    static const struct {
        double x;
        flr_clash_state state;
        double distance, depth, volume;
    } cases[] = {{0.0125, FLR_CLASH_OK, INFINITY, 0, 0},
                 {0.0105, FLR_CLASH_NEAR, 0.0005, 0, 0},
                 {0.01, FLR_CLASH_CONTACT, 0, 0, 0},
                 {0.009, FLR_CLASH_OVERLAP, 0, 0.001, 1e-7},
                 {0.005, FLR_CLASH_OVERLAP, 0, 0.005, 5e-7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        flr_clash_part parts[2] = {solid(cube, at(1, 2, 3)), solid(cube, at(1 + cases[i].x, 2, 3))};
        flr_clash_list list = find(parts, 2, 0.001, true);
        assert_int_equal(list.checked, 1);
        if (cases[i].state == FLR_CLASH_OK) {
            assert_int_equal(list.pair_count, 0);
        } else {
            assert_int_equal(list.pair_count, 1);
            assert_int_equal(list.pairs[0].state, cases[i].state);
            near(list.pairs[0].distance, cases[i].distance, 1e-12);
            near(list.pairs[0].volume, cases[i].volume, 0.25 * cases[i].volume);
            if (cases[i].depth > 0) assert_true(list.pairs[0].depth > 0.45 * cases[i].depth);
        }
        flr_clash_list_free(&list);
    }
    // wholly inside, surfaces far apart
    flr_clash_part within[2] = {solid(cube, at(0, 0, 0)), solid(small, at(0.004, 0.004, 0.004))};
    flr_clash_list list = find(within, 2, 0, false);
    assert_int_equal(list.pair_count, 1);
    assert_int_equal(list.pairs[0].state, FLR_CLASH_OVERLAP);
    near(list.pairs[0].volume, 8e-9, 2e-9);
    flr_clash_list_free(&list);
    flr_fit_destroy(cube);
    flr_fit_destroy(small);
}

/* a part that stands twice in the same place: no point of one surface is inside the other */
static void one_in_place_of_other(void **state)
{
    (void)state;
    flr_fit *cube = fit_of(0.01, 0.01, 0.01), *sheet = fit_of(0.1, 0.1, 0.001);
    const flr_quat turned = flr_quat_from_axis_angle(flr_vec3_make(0.6, 0, 0.8), 1);
    for (int i = 0; i < 4; i++) {
        flr_fit *fit = i % 2 ? sheet : cube;
        flr_pose place = i < 2 ? at(1, 2, 3) : (flr_pose){{1, 2, 3}, turned};
        flr_clash_part parts[2] = {solid(fit, place), solid(fit, place)};
        parts[1].T_world_part.p.x += i == 2 ? 3e-6 : i == 3 ? 2e-5 : 0;
        flr_clash_list list = find(parts, 2, 0, false);
        assert_int_equal(list.pair_count, 1);
        assert_int_equal(list.pairs[0].state, FLR_CLASH_OVERLAP);
        assert_true(list.pairs[0].depth > (i % 2 ? 0.0002 : 0.004));
        near(list.pairs[0].volume, i % 2 ? 1e-5 : 1e-6, i % 2 ? 1e-6 : 1e-7);
        flr_clash_list_free(&list);
    }
    flr_fit_destroy(cube);
    flr_fit_destroy(sheet);
}

/* a part of two pieces, of which one is far away and the other deep in a block */
static void volume_of_a_piece(void **state)
{
    (void)state;
    flr_mesh *piece = box(0.005, 0.005, 0.005);
    flr_vec3 v[16];
    flr_triangle t[24];
    for (int i = 0; i < 16; i++) {
        double by = i < 8 ? 0.2 : 0.04;
        v[i] = flr_vec3_add(piece->vertices[i % 8], flr_vec3_make(by, i < 8 ? 0 : by, 0.04));
    }
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 3; k++) t[i].v[k] = piece->triangles[i % 12].v[k] + (i < 12 ? 0 : 8);
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = 16, def.triangles = t, def.triangle_count = 24;
    flr_mesh *mesh;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    flr_fit *fit = flr_test_fit(mesh), *block = fit_of(0.1, 0.1, 0.1);
    flr_clash_part parts[2] = {solid(block, at(0, 0, 0)), solid(fit, at(0, 0, 0))};
    flr_clash_list list = find(parts, 2, 0, false);
    assert_int_equal(list.pair_count, 1);
    assert_int_equal(list.pairs[0].state, FLR_CLASH_OVERLAP);
    near(list.pairs[0].volume, 1.25e-7, 2.5e-8);
    flr_clash_list_free(&list);
    flr_mesh_destroy(mesh);
    flr_mesh_destroy(piece);
    flr_fit_destroy(fit);
    flr_fit_destroy(block);
}

/* thin bars that cross between their samples */
static void crossing_bars(void **state)
{
    (void)state;
    flr_fit *one = fit_of(0.1, 0.001, 0.001), *other = fit_of(0.001, 0.1, 0.001);
    flr_clash_part parts[2] = {solid(one, at(0, 0, 0)), solid(other, at(0.0503, -0.0503, 0.0004))};
    flr_clash_list list = find(parts, 2, 0, false);
    assert_int_equal(list.pair_count, 1);
    assert_int_equal(list.pairs[0].state, FLR_CLASH_OVERLAP);
    flr_clash_list_free(&list);
    flr_fit_destroy(one);
    flr_fit_destroy(other);
}

static flr_pose any_pose(flr_test_random *rng, double range)
{
    flr_vec3 p, axis;
    double *all[] = {&p.x, &p.y, &p.z, &axis.x, &axis.y, &axis.z};
    for (int i = 0; i < 6; i++) *all[i] = flr_test_random_range(rng, -1, 1);
    const double angle = flr_test_random_range(rng, 0, 6);
    return flr_pose_make(flr_vec3_scale(p, range),
                         flr_quat_from_axis_angle(flr_vec3_normalize(axis), angle));
}

/* distance of two axis-parallel boxes */
static double gap(flr_vec3 a, flr_vec3 sa, flr_vec3 b, flr_vec3 sb)
{
    double x = fmax(0, fmax(b.x - a.x - sa.x, a.x - b.x - sb.x));
    double y = fmax(0, fmax(b.y - a.y - sa.y, a.y - b.y - sb.y));
    double z = fmax(0, fmax(b.z - a.z - sa.z, a.z - b.z - sb.z));
    return sqrt(x * x + y * y + z * z);
}

/* random assemblies of boxes: no pair below the clearance is missed, none is invented */
static void no_missed_pair(void **state)
{
    (void)state;
    enum { PARTS = 12, ROUNDS = 10000, SHAPES = 4 };
    const double clearance = 0.002;
    static const flr_vec3 sizes[SHAPES] = {
        {0.01, 0.01, 0.01}, {0.03, 0.004, 0.004}, {0.005, 0.02, 0.008}, {0.002, 0.002, 0.04}};
    flr_fit *fits[SHAPES];
    for (int i = 0; i < SHAPES; i++) fits[i] = fit_of(sizes[i].x, sizes[i].y, sizes[i].z);
    flr_test_random rng = flr_test_random_begin("no_missed_pair");
    for (int round = 0; round < ROUNDS; round++) {
        flr_clash_part parts[PARTS], placed[PARTS];
        int shape[PARTS];
        // the whole assembly stands askew, so that boxes around its parts are larger than these
        const flr_pose stands = any_pose(&rng, 0.2);
        for (int i = 0; i < PARTS; i++) {
            shape[i] = (int)flr_test_random_below(&rng, SHAPES);
            parts[i] = solid(fits[shape[i]], at(flr_test_random_range(&rng, 0, 0.1),
                                                flr_test_random_range(&rng, 0, 0.1),
                                                flr_test_random_range(&rng, 0, 0.1)));
            placed[i] = parts[i];
            placed[i].T_world_part = flr_pose_mul(stands, parts[i].T_world_part);
        }
        flr_clash_list list = find(placed, PARTS, clearance, false);
        for (uint32_t a = 0; a < PARTS; a++)
            for (uint32_t b = a + 1; b < PARTS; b++) {
                double wanted = gap(parts[a].T_world_part.p, sizes[shape[a]],
                                    parts[b].T_world_part.p, sizes[shape[b]]);
                const flr_clash_pair *found = NULL;
                for (size_t i = 0; i < list.pair_count; i++)
                    if (list.pairs[i].a == a && list.pairs[i].b == b) found = &list.pairs[i];
                if ((wanted < clearance) != (found != NULL))
                    fail_msg("round %d, %u and %u: %g m apart", round, a, b, wanted);
                if (found) near(found->distance, wanted, 1e-12);
            }
        flr_clash_list_free(&list);
    }
    for (int i = 0; i < SHAPES; i++) flr_fit_destroy(fits[i]);
}

/* parts at random angles, next to brute force over all their triangles */
static void turned_parts_equal_brute_force(void **state)
{
    (void)state;
    enum { PARTS = 8, ROUNDS = 200, SHAPES = 3 };
    const double clearance = 0.003;
    static const flr_vec3 sizes[SHAPES] = {
        {0.01, 0.01, 0.01}, {0.03, 0.004, 0.004}, {0.005, 0.02, 0.008}};
    flr_fit *fits[SHAPES];
    flr_mesh *meshes[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        fits[i] = fit_of(sizes[i].x, sizes[i].y, sizes[i].z);
        meshes[i] = box(sizes[i].x, sizes[i].y, sizes[i].z);
    }
    flr_test_random rng = flr_test_random_begin("turned_parts");
    for (int round = 0; round < ROUNDS; round++) {
        flr_clash_part parts[PARTS];
        int shape[PARTS];
        for (int i = 0; i < PARTS; i++) {
            shape[i] = (int)flr_test_random_below(&rng, SHAPES);
            parts[i] = solid(fits[shape[i]], any_pose(&rng, 0.03));
        }
        flr_clash_list list = find(parts, PARTS, clearance, false);
        for (uint32_t a = 0; a < PARTS; a++)
            for (uint32_t b = a + 1; b < PARTS; b++) {
                const flr_mesh *one = meshes[shape[a]], *other = meshes[shape[b]];
                const flr_pose T =
                    flr_pose_mul(flr_pose_inverse(parts[a].T_world_part), parts[b].T_world_part);
                double wanted = INFINITY;
                bool meet = false;
                for (uint32_t i = 0; i < one->triangle_count; i++)
                    for (uint32_t k = 0; k < other->triangle_count; k++) {
                        flr_vec3 p[3], q[3];
                        for (int v = 0; v < 3; v++) {
                            p[v] = one->vertices[one->triangles[i].v[v]];
                            q[v] = flr_pose_apply(T, other->vertices[other->triangles[k].v[v]]);
                        }
                        flr_nearest nearest = {.distance2 = INFINITY};
                        flr_triangles_nearest(p, q, &nearest);
                        meet |= nearest.distance2 == 0;
                        wanted = fmin(wanted, sqrt(nearest.distance2));
                    }
                const flr_clash_pair *found = NULL;
                for (size_t i = 0; i < list.pair_count; i++)
                    if (list.pairs[i].a == a && list.pairs[i].b == b) found = &list.pairs[i];
                // one may be in the other as a whole, with surfaces apart
                const bool overlap = found && found->state == FLR_CLASH_OVERLAP;
                if ((wanted < clearance && !found) || (found && !overlap && wanted >= clearance) ||
                    (meet && found->distance > 0))
                    fail_msg("round %d, %u and %u: %g m apart", round, a, b, wanted);
                if (found && !overlap) near(found->distance, wanted, 1e-12);
            }
        flr_clash_list_free(&list);
    }
    for (int i = 0; i < SHAPES; i++) {
        flr_fit_destroy(fits[i]);
        flr_mesh_destroy(meshes[i]);
    }
}

static bool odd(void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return (a + b) % 2 == 1;
}

static void pairs_can_be_left_out(void **state)
{
    (void)state;
    flr_fit *cube = fit_of(0.01, 0.01, 0.01);
    flr_clash_part parts[3] = {solid(cube, at(0, 0, 0)), solid(cube, at(0.005, 0, 0)),
                               solid(cube, at(0.003, 0, 0))};
    flr_clash_def def = flr_default_clash_def();
    flr_clash_list list;
    flr_error error;
    def.parts = parts, def.part_count = 3, def.skip = odd;
    assert_ok(flr_clash_find(&def, &list, &error), error);
    assert_int_equal(list.pair_count, 1);
    assert_int_equal(list.pairs[0].a, 0);
    assert_int_equal(list.pairs[0].b, 2);
    assert_int_equal(list.skipped, 2);
    assert_int_equal(list.checked, 1);
    flr_clash_list_free(&list);
    def.clearance = -1;
    assert_int_equal(flr_clash_find(&def, &list, &error), FLR_BAD_ARGUMENT);
    flr_fit_destroy(cube);
}

/* only what is in a zone is listed, and zones may be in each other */
static void zones(void **state)
{
    (void)state;
    flr_fit *cube = fit_of(0.01, 0.01, 0.01);
    flr_clash_part parts[4] = {{.fit = cube, .T_world_part = at(0, 0, 0), .keep_out = true},
                               {.fit = cube, .T_world_part = at(0.005, 0, 0), .keep_out = true},
                               {.fit = cube, .T_world_part = at(0.0125, 0, 0)},
                               {.fit = cube, .T_world_part = at(-0.01, 0, 0)}};
    flr_clash_list list = find(parts, 4, 0.005, false);
    assert_int_equal(list.pair_count, 1);
    assert_int_equal(list.pairs[0].a, 1);
    assert_int_equal(list.pairs[0].b, 2);
    assert_int_equal(list.pairs[0].state, FLR_CLASH_OVERLAP);
    flr_clash_list_free(&list);
    flr_fit_destroy(cube);
}

/* ---- facets ---- */

enum { MAX_SIDES = 64 };

/* solids in one mesh */
typedef struct solids {
    flr_vec3 v[4 * MAX_SIDES + 8];
    flr_triangle t[8 * MAX_SIDES + 12];
    uint32_t vertices, triangles;
} solids;

static void add_quad(solids *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    s->t[s->triangles++] = (flr_triangle){{a, b, c}};
    s->t[s->triangles++] = (flr_triangle){{a, c, d}};
}

/* A prism of a circle's polygon from z0 to z1, its corners on the circle; with a hole, of another polygon, when `hole` is above 0.
 * Uneven: corners are not equally spaced. */
static void add_prism(solids *s, uint32_t sides, double radius, double hole, double turn,
                      bool uneven, double z0, double z1)
{
    const uint32_t first = s->vertices;
    for (uint32_t i = 0; i < sides; i++) {
        const double part = i + (uneven && i % 3 == 1 ? 0.4 : 0),
                     angle = turn + 2 * FLR_PI * part / sides;
        for (uint32_t k = 0; k < 4; k++) {
            const double r = k < 2 ? radius : hole;
            s->v[s->vertices++] = (flr_vec3){r * cos(angle), r * sin(angle), k % 2 ? z1 : z0};
        }
    }
    for (uint32_t i = 0; i < sides; i++) {
        const uint32_t a = first + 4 * i, b = first + 4 * ((i + 1) % sides);
        add_quad(s, a, b, b + 1, a + 1);                       // outside
        if (hole > 0) add_quad(s, a + 2, a + 3, b + 3, b + 2); // the hole
        add_quad(s, a + 1, b + 1, b + 3, a + 3);               // above
        add_quad(s, a, a + 2, b + 2, b);                       // below
    }
}

/* a box by its middle and half of its sides */
static void add_box(solids *s, flr_vec3 c, flr_vec3 x, flr_vec3 y, flr_vec3 z)
{
    const uint32_t f = s->vertices;
    for (int i = 0; i < 8; i++) {
        const double a = i & 1 ? 1 : -1, b = i & 2 ? 1 : -1, d = i & 4 ? 1 : -1;
        s->v[s->vertices++] =
            (flr_vec3){c.x + a * x.x + b * y.x + d * z.x, c.y + a * x.y + b * y.y + d * z.y,
                       c.z + a * x.z + b * y.z + d * z.z};
    }
    add_quad(s, f, f + 2, f + 3, f + 1);
    add_quad(s, f + 4, f + 5, f + 7, f + 6);
    add_quad(s, f, f + 1, f + 5, f + 4);
    add_quad(s, f + 2, f + 6, f + 7, f + 3);
    add_quad(s, f, f + 4, f + 6, f + 2);
    add_quad(s, f + 1, f + 3, f + 7, f + 5);
}

static flr_fit *fit_of_solids(const solids *s)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = s->v, def.vertex_count = s->vertices;
    def.triangles = s->t, def.triangle_count = s->triangles;
    flr_mesh *mesh;
    flr_fit *fit;
    flr_error error;
    assert_ok(flr_mesh_create(&def, &mesh, &error), error);
    assert_ok(flr_fit_build(mesh, NULL, &fit, &error), error);
    flr_mesh_destroy(mesh);
    return fit;
}

static flr_fit *prism(uint32_t sides, double radius, double hole, double turn, bool uneven,
                      double z0, double z1)
{
    solids s = {.vertices = 0};
    add_prism(&s, sides, radius, hole, turn, uneven, z0, z1);
    return fit_of_solids(&s);
}

static flr_clash_part imported(const flr_fit *fit, flr_pose T_world_part, double chord)
{
    return (flr_clash_part){.fit = fit, .T_world_part = T_world_part, .chord = chord};
}

static flr_clash_pair one_pair(flr_clash_part a, flr_clash_part b)
{
    flr_clash_part parts[2] = {a, b};
    flr_clash_list list = find(parts, 2, 0, false);
    assert_int_equal(list.pair_count, 1);
    flr_clash_pair pair = list.pairs[0];
    flr_clash_list_free(&list);
    return pair;
}

/* A rod in a hole of the same diameter overlaps with the hole's facets: no clash. What is deeper than facets reach is one, however
 * coarse the import was. */
static void facets_explain_nominal_fits(void **state)
{
    (void)state;
    const double radius = 0.005, chord = 2e-4;
    flr_test_random rng = flr_test_random_begin("facets_explain_nominal_fits");
    for (int round = 0; round < 60; round++) {
        const uint32_t sides = 16 + flr_test_random_below(&rng, 20),
                       other = 16 + flr_test_random_below(&rng, 20);
        const bool uneven = round % 2;
        // the widest facets of an uneven polygon span 1.4 times the angle of an even one
        const double sag = radius * (1 - cos(FLR_PI * (uneven ? 1.4 : 1) / sides));
        const double turn = flr_test_random_range(&rng, 0, 1);
        flr_pose place = any_pose(&rng, 0.1);
        flr_fit *ring = prism(sides, 3 * radius, radius, 0, uneven, 0, 0.01);
        flr_fit *rod = prism(other, radius, 0, turn, false, -0.01, 0.02);
        flr_clash_pair pair = one_pair(imported(ring, place, chord), imported(rod, place, chord));
        if (pair.state != FLR_CLASH_CONTACT)
            fail_msg("round %d: %u and %u sides, %g deep of %g", round, sides, other, pair.depth,
                     sag);
        assert_true(pair.facets <= 1.2 * sag + 1e-9 && pair.depth <= sag + 1e-9);
        assert_true((pair.facets > 0) == (pair.depth > 0));
        // nobody said that the triangles stand for something else
        if (pair.depth > 1e-5)
            assert_int_equal(one_pair(solid(ring, place), solid(rod, place)).state,
                             FLR_CLASH_OVERLAP);
        // a rod that is too thick by more than the facets reach, and by far less than the chords
        const double more = 1.25 * sag + 1.2e-5;
        flr_fit *thick = prism(other, radius + more, 0, turn, false, -0.01, 0.02);
        pair = one_pair(imported(ring, place, 0.002), imported(thick, place, 0.002));
        if (pair.state != FLR_CLASH_OVERLAP)
            fail_msg("round %d: %u and %u sides, too thick by %g, %g deep, facets %g", round, sides,
                     other, more, pair.depth, pair.facets);
        assert_true(pair.facets <= 0 && pair.depth >= more - 1e-5);
        // nor do facets explain more than the chords of both
        flr_clash_part fine[2] = {imported(ring, place, 1e-7), imported(rod, place, 1e-7)};
        pair = one_pair(fine[0], fine[1]);
        assert_true(pair.depth <= 1.03e-5 || pair.state == FLR_CLASH_OVERLAP);
        flr_fit_destroy(ring);
        flr_fit_destroy(rod);
        flr_fit_destroy(thick);
    }
}

/* Flat faces have no facets: they overlap by 20 micrometres, although the import strayed by ten times as much; also beside a
 * hole in which a rod sits as designed. */
static void facets_hide_no_flat_overlap(void **state)
{
    (void)state;
    const double chord = 2e-4, sunk = 2e-5;
    flr_fit *cube = fit_of(0.01, 0.01, 0.01);
    flr_clash_pair pair = one_pair(imported(cube, at(0, 0, 0), chord),
                                   imported(cube, at(0.01 - sunk, 0.001, 0.002), chord));
    assert_int_equal(pair.state, FLR_CLASH_OVERLAP);
    near(pair.depth, sunk, 1e-9);
    flr_fit *ring = prism(24, 0.015, 0.005, 0, false, 0, 0.01),
            *rod = prism(24, 0.005, 0, 0.1, false, -0.01, 0.02);
    assert_int_equal(
        one_pair(imported(ring, at(0, 0, 0), chord), imported(rod, at(0, 0, 0), chord)).state,
        FLR_CLASH_CONTACT);
    // a washer around the rod, sunk into the ring
    flr_fit *washer = prism(20, 0.009, 0.005, 0.2, false, 0, 0.002);
    pair = one_pair(imported(ring, at(0, 0, 0), chord),
                    imported(washer, at(0, 0, 0.01 - sunk), chord));
    assert_int_equal(pair.state, FLR_CLASH_OVERLAP);
    assert_true(pair.facets <= 0);
    // the convex side of a wheel is within it: a wheel pressed into a wall
    flr_fit *wheel = prism(24, 0.01, 0, 0, false, 0, 0.01);
    pair = one_pair(imported(cube, at(0, 0, 0), chord),
                    imported(wheel, at(0.02 - sunk, 0.005, 0), chord));
    assert_int_equal(pair.state, FLR_CLASH_OVERLAP);
    flr_fit_destroy(cube);
    flr_fit_destroy(ring);
    flr_fit_destroy(rod);
    flr_fit_destroy(washer);
    flr_fit_destroy(wheel);
}

/* The corners lie on the exact surfaces: where those of a hole are inside a rod, the rod is too thick, also when its facets
 * are parallel to those of the hole, which reach farther in than that. */
static void facets_hide_no_press_fit(void **state)
{
    (void)state;
    const double radius = 0.005, chord = 2e-4;
    flr_test_random rng = flr_test_random_begin("facets_hide_no_press_fit");
    for (uint32_t sides = 16; sides < 32; sides += 5) {
        const double sag = radius * (1 - cos(FLR_PI / sides)),
                     more = flr_test_random_range(&rng, 2e-5, 0.9 * sag);
        const flr_pose place = any_pose(&rng, 0.1);
        flr_fit *ring = prism(sides, 3 * radius, radius, 0, false, 0, 0.01),
                *rod = prism(sides, radius + more, 0, 0, false, -0.01, 0.02);
        flr_clash_pair pair = one_pair(imported(ring, place, chord), imported(rod, place, chord));
        assert_true(pair.depth > 1.5e-5 && pair.depth < sag);
        if (pair.state != FLR_CLASH_OVERLAP)
            fail_msg("%u sides, too thick by %g, facets %g", sides, more, pair.facets);
        assert_true(pair.facets <= 0);
        flr_fit_destroy(ring);
        flr_fit_destroy(rod);
    }
}

/* A rod sits in its hole as designed, and elsewhere an edge of one part crosses an edge of the other, so that no corner is inside:
 * a clash. */
static void facets_hide_no_crossing_edges(void **state)
{
    (void)state;
    const double chord = 2e-4, half = sqrt(0.5) * 0.003;
    flr_test_random rng = flr_test_random_begin("facets_hide_no_crossing_edges");
    for (int round = 0; round < 20; round++) {
        // below 0: apart
        const double deep = round % 5 ? flr_test_random_range(&rng, 3e-5, 1e-3) : -2e-5;
        const flr_pose place = any_pose(&rng, 0.1);
        solids ring = {.vertices = 0}, rod = {.vertices = 0};
        add_prism(&ring, 24, 0.015, 0.005, 0, false, 0, 0.01);
        add_box(&ring, (flr_vec3){0.04013, 0.00007, 0.03}, (flr_vec3){0.01, 0, 0},
                (flr_vec3){0, half, half}, (flr_vec3){0, -half, half});
        add_prism(&rod, 24, 0.005, 0, 0.1, false, -0.01, 0.02);
        add_box(&rod, (flr_vec3){0.04, 0, 0.03 + 4 * half - deep}, (flr_vec3){half, 0, half},
                (flr_vec3){0, 0.01, 0}, (flr_vec3){-half, 0, half});
        flr_fit *a = fit_of_solids(&ring), *b = fit_of_solids(&rod);
        for (int swapped = 0; swapped < 2; swapped++) {
            const flr_clash_pair pair = one_pair(imported(swapped ? b : a, place, chord),
                                                 imported(swapped ? a : b, place, chord));
            if (pair.state != (deep > 0 ? FLR_CLASH_OVERLAP : FLR_CLASH_CONTACT))
                fail_msg("edges %g deep: state %d, %g deep, facets %g", deep, (int)pair.state,
                         pair.depth, pair.facets);
        }
        flr_fit_destroy(a);
        flr_fit_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(contact_is_a_share_of_the_size),
        cmocka_unit_test(one_in_place_of_other),
        cmocka_unit_test(volume_of_a_piece),
        cmocka_unit_test(crossing_bars),
        cmocka_unit_test(no_missed_pair),
        cmocka_unit_test(turned_parts_equal_brute_force),
        cmocka_unit_test(pairs_can_be_left_out),
        cmocka_unit_test(zones),
        cmocka_unit_test(facets_explain_nominal_fits),
        cmocka_unit_test(facets_hide_no_flat_overlap),
        cmocka_unit_test(facets_hide_no_press_fit),
        cmocka_unit_test(facets_hide_no_crossing_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
