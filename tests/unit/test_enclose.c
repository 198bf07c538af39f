/* the spheres around a cube's children: they enclose, all masks, and the octree's are the least there are */
#include <math.h>

#include "feeler/voxels.h"
#include "spheres/enclose.h"
#include "spheres/tree.h"
#include "support/fixtures.h"

/* The sphere around the children that are set; `side` of them along an edge: 2, 4 or 8. */
typedef struct mask_sphere {
    flr_vec3 centre;
    double radius;
} mask_sphere;

static mask_sphere sphere_of(const uint64_t *mask, unsigned side)
{
    static flr_enclose enclose;
    if (enclose.balls[255].r == 0) flr_enclose_fill(&enclose);
    flr_ball ball = side == 2   ? enclose.balls[mask[0]]
                    : side == 4 ? flr_enclose_64(&enclose, mask[0])
                                : flr_enclose_512(&enclose, mask);
    return (mask_sphere){flr_vec3_make(ball.x, ball.y, ball.z), ball.r};
}

/* Corners of the children that are set, in half sides from the middle; `side` children along an edge. */
static size_t corners_of(const uint64_t *mask, unsigned side, flr_vec3 *corners)
{
    size_t count = 0;
    for (unsigned i = 0; i < side * side * side; i++) {
        if (!(mask[i / 64] >> i % 64 & 1)) continue;
        for (unsigned c = 0; c < 8; c++)
            corners[count++] = flr_vec3_make(2.0 * (i % side + (c & 1)) / side - 1,
                                             2.0 * (i / side % side + (c >> 1 & 1)) / side - 1,
                                             2.0 * (i / side / side + (c >> 2)) / side - 1);
    }
    return count;
}

static double farthest(flr_vec3 from, const flr_vec3 *points, size_t count)
{
    double far = 0;
    for (size_t i = 0; i < count; i++)
        far = fmax(far, flr_vec3_length(flr_vec3_sub(points[i], from)));
    return far;
}

/* Is the point a mixture of these two, three or four, none with a share below zero? */
static bool is_between(flr_vec3 c, const flr_vec3 *p, unsigned count)
{
    flr_vec3 to = flr_vec3_sub(c, p[0]), d[3] = {{0}};
    double share[3] = {0};
    for (unsigned i = 1; i < count; i++) d[i - 1] = flr_vec3_sub(p[i], p[0]);
    if (count == 4) {
        flr_mat3 inverse;
        if (!flr_mat3_inverse(flr_mat3_from_columns(d[0], d[1], d[2]), &inverse)) return false;
        flr_vec3 s = flr_mat3_apply(inverse, to);
        share[0] = s.x, share[1] = s.y, share[2] = s.z;
    } else if (count == 3) {
        double aa = flr_vec3_dot(d[0], d[0]), ab = flr_vec3_dot(d[0], d[1]),
               bb = flr_vec3_dot(d[1], d[1]), at = flr_vec3_dot(d[0], to),
               bt = flr_vec3_dot(d[1], to), det = aa * bb - ab * ab;
        if (det < 1e-12) return false;
        share[0] = (at * bb - bt * ab) / det;
        share[1] = (bt * aa - at * ab) / det;
    } else {
        share[0] = flr_vec3_dot(d[0], to) / flr_vec3_dot(d[0], d[0]);
    }
    flr_vec3 at = p[0];
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        if (share[i] < -1e-9) return false;
        sum += share[i];
        at = flr_vec3_add_scaled(at, share[i], d[i]);
    }
    return sum <= 1 + 1e-9 && flr_vec3_length(flr_vec3_sub(at, c)) < 1e-9;
}

/* A sphere is the least if and only if its centre lies between points that it touches. */
static bool is_least(mask_sphere sphere, const flr_vec3 *corners, size_t count)
{
    flr_vec3 on[64], some[4];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++) known |= flr_vec3_equal(on[k], corners[i]);
        double way = flr_vec3_length(flr_vec3_sub(corners[i], sphere.centre));
        if (!known && fabs(way - sphere.radius) < 1e-9) on[n++] = corners[i];
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            some[0] = on[a], some[1] = on[b];
            if (is_between(sphere.centre, some, 2)) return true;
            for (size_t c = b + 1; c < n; c++) {
                some[2] = on[c];
                if (is_between(sphere.centre, some, 3)) return true;
                for (size_t d = c + 1; d < n; d++) {
                    some[3] = on[d];
                    if (is_between(sphere.centre, some, 4)) return true;
                }
            }
        }
    return false;
}

static void octree_masks_have_the_least_spheres(void **state)
{
    (void)state;
    unsigned shrunk = 0;
    for (uint64_t mask = 1; mask < 256; mask++) {
        flr_vec3 corners[64];
        size_t count = corners_of(&mask, 2, corners);
        mask_sphere sphere = sphere_of(&mask, 2);
        double far = farthest(sphere.centre, corners, count);
        if (far > sphere.radius + 1e-12) fail_msg("mask %02x is not enclosed", (unsigned)mask);
        if (!is_least(sphere, corners, count))
            fail_msg("mask %02x has a smaller sphere", (unsigned)mask);
        shrunk += sphere.radius < sqrt(3) - 1e-9;
    }
    assert_int_equal(shrunk, 78); /* not 85, as printed */
    assert_eq(sphere_of(&(uint64_t){0}, 2).radius, 0);
}

/* The paper's root radius does not enclose; this one does. */
static void the_root_is_enclosed(void **state)
{
    (void)state;
    const uint64_t full = 255;
    flr_vec3 corners[64];
    size_t count = corners_of(&full, 2, corners);
    assert_gt(farthest(flr_vec3_zero(), corners, count), 1 / sqrt(3) + 1);
    assert_lt(fabs(sphere_of(&full, 2).radius - sqrt(3)), 1e-15);
}

static void wider_masks_are_enclosed(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("wider_masks");
    flr_vec3 *corners = malloc(512 * 8 * sizeof *corners);
    unsigned shrunk[2] = {0}, rounds = 4000;
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t mask[8] = {0};
        unsigned wide = round & 1, side = wide ? 8 : 4,
                 bits = 1 + flr_test_random_below(&random, 12);
        /* some children within some box */
        unsigned low[3], size[3];
        for (int k = 0; k < 3; k++) {
            low[k] = flr_test_random_below(&random, side);
            size[k] = 1 + flr_test_random_below(&random, side - low[k]);
        }
        for (unsigned i = 0; i < bits; i++) {
            unsigned x = low[0] + flr_test_random_below(&random, size[0]),
                     y = low[1] + flr_test_random_below(&random, size[1]),
                     z = low[2] + flr_test_random_below(&random, size[2]),
                     child = x + side * (y + side * z);
            mask[child / 64] |= UINT64_C(1) << child % 64;
        }
        size_t count = corners_of(mask, side, corners);
        mask_sphere s = sphere_of(mask, side);
        assert_le(farthest(s.centre, corners, count), s.radius + 1e-12);
        assert_le(s.radius, sqrt(3) + 1e-15);
        if (count == 8) assert_lt(fabs(s.radius - sqrt(3) / side), 1e-15);
        shrunk[wide] += s.radius < sqrt(3) - 1e-9;
    }
    assert_gt(shrunk[0], rounds / 4);
    assert_gt(shrunk[1], rounds / 4);
    free(corners);
}

/* Every cube of every level encloses all voxels below it. */
static void check_cubes(const flr_sphere_tree *tree, unsigned height, uint32_t cube,
                        const uint32_t low[3], flr_vec3 *centres, double *radii, uint64_t *seen)
{
    const unsigned shift = tree->shift, part = (1u << shift) - 1;
    for (unsigned up = height; up <= tree->height && height == 0; up++) {
        if (up == 0) continue;
        for (unsigned c = 0; c < 8; c++) {
            flr_vec3 corner =
                flr_vec3_make(low[0] + (c & 1), low[1] + (c >> 1 & 1), low[2] + (c >> 2));
            double way = flr_vec3_length(flr_vec3_sub(corner, centres[up]));
            if (way > radii[up] * (1 + 1e-12))
                fail_msg("a voxel reaches out of its cube of level %u", up);
        }
    }
    if (height == 0) {
        ++*seen;
        return;
    }
    const flr_sphere_level *level = &tree->levels[height];
    uint64_t one = shift == 1 ? flr_tree_mask8(level, cube) : level->masks[cube];
    const uint64_t *mask = shift == 3 ? &level->masks[(size_t)cube * 8] : &one;
    mask_sphere s = sphere_of(mask, 1u << shift);
    double half = 0.5 * (double)(1u << shift * height);
    centres[height] =
        flr_vec3_make(low[0] + half * (1 + s.centre.x), low[1] + half * (1 + s.centre.y),
                      low[2] + half * (1 + s.centre.z));
    radii[height] = half * s.radius;
    uint32_t child = level->first[cube];
    for (unsigned i = 0; i < 1u << 3 * shift; i++) {
        if (!(mask[i / 64] >> i % 64 & 1)) continue;
        const unsigned scale = shift * (height - 1);
        const uint32_t at[3] = {low[0] + ((i & part) << scale),
                                low[1] + ((i >> shift & part) << scale),
                                low[2] + ((i >> 2 * shift & part) << scale)};
        check_cubes(tree, height - 1, child++, at, centres, radii, seen);
    }
}

static void trees_enclose_their_voxels_at_every_level(void **state)
{
    (void)state;
    for (int solid = 0; solid < FLR_TEST_SOLID_COUNT; solid++) {
        flr_test_part part;
        flr_test_part_make(&part, (flr_test_solid)solid, 1, 0.0011, false);
        for (int view = FLR_SPHERE_OCTREE; view <= FLR_SPHERE_TREE512; view++)
            for (int whole = 0; whole < 2; whole++) {
                flr_sphere_tree_def def = flr_default_sphere_tree_def();
                def.voxmap = part.voxmap, def.view = (flr_sphere_view)view;
                def.surface_only = !whole, def.normals = false;
                flr_sphere_tree *tree;
                flr_error error;
                assert_ok(flr_sphere_tree_create(&def, &tree, &error), error);
                flr_voxmap_stats stats = flr_voxmap_get_info(part.voxmap).stats;
                flr_sphere_tree_info info = flr_sphere_tree_get_info(tree);
                assert_int_equal(info.voxels,
                                 stats.surface_voxels + (whole ? stats.interior_voxels : 0));
                assert_int_equal(info.cubes[info.levels], 1);
                flr_vec3 centres[FLR_SPHERE_LEVELS];
                double radii[FLR_SPHERE_LEVELS];
                const uint32_t low[3] = {0};
                uint64_t seen = 0;
                check_cubes(tree, tree->height, 0, low, centres, radii, &seen);
                assert_int_equal(seen, info.voxels);
                flr_sphere_tree_destroy(tree);
            }
        flr_test_part_free(&part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octree_masks_have_the_least_spheres),
        cmocka_unit_test(the_root_is_enclosed),
        cmocka_unit_test(wider_masks_are_enclosed),
        cmocka_unit_test(trees_enclose_their_voxels_at_every_level),
    };
    return cmocka_run_group_tests_name("enclose", tests, NULL, NULL);
}
