/* the loops of exact contact give the same bits in every instruction set */
#include "fit/fit_query.h"

#include <string.h>

#include "support/test.h"

enum { CASES = 400, FACES = FLR_FIT_LANES };

typedef struct fit_kernel_case {
    flr_fit_lanes points;
    flr_fit_plane planes[FACES];
    flr_fit_face faces[FACES];
    flr_fit_patch patch;
    flr_fit_boxes boxes;
    flr_fit_move move;
    float shift[3], limit, limit2[FLR_FIT_LANES];
} fit_kernel_case;

typedef struct fit_kernel_answers {
    flr_fit_lanes moved;
    float low[3], high[3], moved_low[4], moved_high[4], best[FLR_FIT_LANES], heights[2], extent,
        over[2];
    float d2[FACES][FLR_FIT_LANES], box2[FLR_FIT_WIDE];
    int32_t at[FLR_FIT_LANES];
    uint32_t sides, corners[FACES], apart[2], within, near, boxes, near_boxes;
    uint32_t below[FLR_FIT_LANES + 1], unsure[FLR_FIT_LANES + 1];
    uint16_t nearer[FACES];
    flr_fit_masks masks;
} fit_kernel_answers;

static float any(flr_test_random *r, double reach)
{
    return (float)flr_test_random_range(r, -reach, reach);
}

static void make_case(flr_test_random *r, fit_kernel_case *c)
{
    const double thin = flr_test_random_below(r, 2) ? 1 : 0.05;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        c->points.x[i] = any(r, 1), c->points.y[i] = any(r, 1), c->points.z[i] = any(r, thin);
        c->limit2[i] = (float)flr_test_random_range(r, 0, 0.5);
        c->patch.corners[i] =
            (uint16_t)(1u << flr_test_random_below(r, 16) | 1u << flr_test_random_below(r, 16));
    }
    for (int f = 0; f < FACES; f++) {
        for (int k = 0; k < 3; k++) {
            c->planes[f].n[k] = any(r, 0.7), c->faces[f].height[k] = any(r, 0.5) + 0.6f;
            c->faces[f].u[k] = any(r, 1), c->faces[f].v[k] = any(r, 1);
        }
        c->planes[f].o = any(r, 1.5);
        c->faces[f].u0 = any(r, 1), c->faces[f].v0 = any(r, 1);
    }
    for (int k = 0; k < 3; k++) {
        c->shift[k] = any(r, 0.2), c->move.shift[k] = any(r, 1);
        c->patch.low[k] = any(r, 0.5) - 0.5f, c->patch.high[k] = any(r, 0.5) + 0.5f;
        for (int i = 0; i < 3; i++) {
            c->move.turn[k][i] = any(r, 1);
            c->patch.axes[k][i] = any(r, 0.7);
        }
        for (int i = 0; i < FLR_FIT_WIDE; i++) {
            c->boxes.low[k][i] = any(r, 1);
            c->boxes.high[k][i] = c->boxes.low[k][i] + any(r, 0.5) + 0.5f;
        }
    }
    for (int i = 0; i < 5; i++) c->patch.curve.k[i] = any(r, 0.3);
    c->limit = (float)flr_test_random_range(r, 0, 0.4);
}

static void answer(const flr_fit_kernel *k, const fit_kernel_case *c, fit_kernel_answers *a)
{
    memset(a, 0, sizeof *a);
    k->move(&c->move, &c->points, &a->moved);
    k->bounds(&c->points, a->low, a->high);
    k->extents(&c->move, &c->points, a->moved_low, a->moved_high);
    a->sides = k->sides(c->planes, c->faces, FACES, &c->points, c->shift, c->limit, &a->masks);
    for (int f = 0; f < FACES; f++)
        a->corners[f] = k->corners(c->patch.corners, a->masks.beyond[f]);
    for (int all = 0; all < 2; all++)
        a->apart[all] = k->apart(&c->patch, &c->points, c->shift, c->limit, all);
    a->within = k->within(&c->patch, &c->points, c->limit);
    a->near = k->near(c->planes, c->faces, FACES, &c->points, c->limit2, a->d2, a->best, a->at);
    k->nearer(a->near, (const float(*)[FLR_FIT_LANES])a->d2, c->limit2, a->at, a->nearer);
    for (uint32_t count = 1; count <= FLR_FIT_LANES; count++)
        a->unsure[count] = k->unsure(c->points.x, c->points.y, count, c->limit, c->shift[0],
                                     c->shift[1], &a->below[count]);
    for (int f = 0; f < FACES; f++) /* only what is below the limits is promised */
        for (int i = 0; i < FLR_FIT_LANES; i++)
            if (!(a->near >> f & 1) || !(a->d2[f][i] < c->limit2[i])) a->d2[f][i] = 0;
    for (int down = 0; down < 2; down++) {
        const float side = down ? -1 : 1;
        a->heights[down] = k->heights((const float(*)[3])c->patch.axes, c->patch.curve.k,
                                      &c->points, c->shift, side, c->limit);
        a->over[down] = k->over(c->planes, FACES, &c->points, c->shift, side);
    }
    a->extent = k->extent(c->patch.axes[0], &c->points, c->shift);
    a->boxes = k->boxes(&c->boxes, c->patch.low, c->patch.high);
    a->near_boxes = k->box_distances(&c->boxes, c->shift, c->limit, a->box2);
}

static void every_instruction_set(void **state)
{
    (void)state;
    static fit_kernel_case c;
    static fit_kernel_answers plain, other;
    flr_test_random r = flr_test_random_begin("fit_kernel");
    unsigned near = 0, sides = 0, steep = 0;
    for (int i = 0; i < CASES; i++) {
        make_case(&r, &c);
        answer(&flr_fit_kernel_scalar, &c, &plain);
        near += plain.near != 0, sides += plain.sides != 0xffff;
        steep += plain.heights[0] < -1e30f;
        for (flr_simd simd = FLR_SIMD_AVX2; simd <= FLR_SIMD_NEON; simd++) {
            if (!flr_simd_has(simd)) continue;
            answer(flr_fit_choose_kernel(simd), &c, &other);
            if (memcmp(&other, &plain, sizeof plain) != 0)
                fail_msg("case %d: %s gives other bits than scalar", i, flr_simd_name(simd));
        }
    }
    assert_gt(near, CASES / 2);
    assert_gt(sides, CASES / 20);
    assert_gt(steep, CASES / 20);
    assert_lt(steep, CASES);
}

static double any_share(flr_test_random *r) { return flr_test_random_range(r, -1, 1); }

/* Long triangles, of which two sides are parallel but for a little; 16 pairs of them. */
static void make_slivers(flr_test_random *r, float a[9][FLR_FIT_LANES], float b[9][FLR_FIT_LANES])
{
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const double length = flr_test_random_range(r, 1e-3, 2e-2),
                     gap = flr_test_random_range(r, 5e-6, 1e-4),
                     askew = flr_test_random_below(r, 3) ? 0 : flr_test_random_range(r, 0, 1e-5),
                     shift = flr_test_random_range(r, -1, 1) * length;
        const flr_vec3 up = flr_vec3_normalize(
                           flr_vec3_make(any_share(r), any_share(r), any_share(r))),
                       along = flr_vec3_perpendicular(up), side = flr_vec3_cross(up, along);
        const double at[6][3] = {{0, 0, 0},
                                 {length, 0, 0},
                                 {length * flr_test_random_range(r, 0, 1), 0, -1e-4},
                                 {shift, gap, 0},
                                 {shift + length, gap + askew, 0},
                                 {shift, gap + 1e-4, 1e-4}};
        for (int k = 0; k < 6; k++) {
            const flr_vec3 p = flr_vec3_add_scaled(
                flr_vec3_add_scaled(flr_vec3_scale(along, at[k][0]), at[k][1], side), at[k][2], up);
            float(*to)[FLR_FIT_LANES] = k < 3 ? a : b;
            to[3 * (k % 3)][i] = (float)p.x, to[3 * (k % 3) + 1][i] = (float)p.y;
            to[3 * (k % 3) + 2][i] = (float)p.z;
        }
    }
}

/* What 16 pairs are apart at least is no more than they are apart, and little less even where sides are parallel. */
static void triangles_are_bounded(void **state)
{
    (void)state;
    static float a[9][FLR_FIT_LANES], b[9][FLR_FIT_LANES], least2[FLR_FIT_LANES];
    flr_test_random r = flr_test_random_begin("triangles");
    unsigned close = 0, all = 0;
    for (int round = 0; round < CASES; round++) {
        make_slivers(&r, a, b);
        flr_fit_triangles16((const float(*)[FLR_FIT_LANES])a, (const float(*)[FLR_FIT_LANES])b,
                            least2);
        for (int i = 0; i < FLR_FIT_LANES; i++) {
            flr_nearest near = {.distance2 = INFINITY};
            flr_vec3 p[3], q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = flr_vec3_make((double)a[3 * k][i], (double)a[3 * k + 1][i],
                                     (double)a[3 * k + 2][i]);
                q[k] = flr_vec3_make((double)b[3 * k][i], (double)b[3 * k + 1][i],
                                     (double)b[3 * k + 2][i]);
            }
            flr_triangles_nearest(p, q, &near);
            const double exact = sqrt(near.distance2), bound = sqrt((double)least2[i]);
            assert_le(bound, exact + 2e-6 * 4e-2);
            all++;
            close += bound > 0.97 * exact;
        }
    }
    printf("%u of %u bounds are close\n", close, all);
    assert_gt(close, all * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_set),
                                       cmocka_unit_test(triangles_are_bounded)};
    return cmocka_run_group_tests_name("fit_kernel", tests, NULL, NULL);
}
