/* the kernels: all instruction sets give the same bits; boxes are never missed, and rarely met for nothing */
#include "probe/probe_kernel.h"

#include <math.h>

#include "support/test.h"

#ifdef FLR_SANITIZED
enum { CASES = 1000 };
#else
enum { CASES = 20000 };
#endif

static float any(flr_test_random *r, double low, double high)
{
    return (float)flr_test_random_range(r, low, high);
}

/* The segment cut to the box, slab by slab, in double precision: how much of it is left, at a box grown by `grown`; below 0:
 * nothing. Another way than separating axes. */
static double cut(const double m[3], const double w[3], const double t[3], double grown)
{
    double from = -1, to = 1;
    for (int i = 0; i < 3; i++) {
        double half = t[i] + grown;
        if (half < 0) return -1;
        if (w[i] == 0) {
            if (fabs(m[i]) > half) return -1;
            continue;
        }
        double a = (-half - m[i]) / w[i], b = (half - m[i]) / w[i];
        from = fmax(from, fmin(a, b)), to = fmin(to, fmax(a, b));
    }
    return to - from;
}

/* Sixteen boxes of all shapes, in all orientations. */
static void make_node(flr_test_random *r, flr_probe_node *node)
{
    for (int i = 0; i < FLR_PROBE_LANES; i++) {
        flr_quat q = flr_quat_from_rotation_vector(flr_vec3_make(flr_test_random_range(r, -3, 3),
                                                                 flr_test_random_range(r, -3, 3),
                                                                 flr_test_random_range(r, -3, 3)));
        flr_mat3 m = i % 5 ? flr_quat_to_mat3(q) : flr_mat3_identity();
        for (int axis = 0; axis < 3; axis++) {
            node->centre[axis][i] = any(r, -0.5, 0.5);
            node->half[axis][i] =
                flr_test_random_below(r, 4) ? (float)pow(10, any(r, -4, -0.5)) : 4e-6f;
            for (int part = 0; part < 3; part++) node->axis[axis][part][i] = (float)m.m[part][axis];
        }
        if (flr_test_random_below(r, 16) == 0) node->half[i % 3][i] = -3e37f; /* no box */
        node->child[i] = (uint32_t)i;
    }
}

/* Slack that the tree adds to every half length for a model of size 1; without it the box is the true one. */
static const double slack = 4e-6;

static void boxes(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("boxes");
    int met = 0, for_nothing = 0;
    for (int i = 0; i < CASES; i++) {
        flr_probe_node node;
        flr_probe_span span;
        make_node(&r, &node);
        double length = pow(10, flr_test_random_range(&r, -6, -0.3)), longest = 0;
        uint32_t near = flr_test_random_below(&r, FLR_PROBE_LANES); /* about this box */
        for (int k = 0; k < 3; k++) {
            double about = fmax(length, fabs((double)node.half[k][near]));
            span.middle[k] = node.centre[k][near] + any(&r, -1, 1) * (float)fmin(about, 0.4);
            span.half[k] = flr_test_random_below(&r, 6) ? any(&r, -length, length) : 0;
            longest = fmax(longest, fabs((double)span.half[k]));
        }
        span.slack = (float)longest * 2e-6f;
        uint32_t mask = flr_node_scalar(&node, &span);
        if (flr_simd_has(FLR_SIMD_AVX2)) assert_int_equal(flr_node_avx2(&node, &span), mask);
        if (flr_simd_has(FLR_SIMD_AVX512)) assert_int_equal(flr_node_avx512(&node, &span), mask);
        if (flr_simd_has(FLR_SIMD_NEON)) assert_int_equal(flr_node_neon(&node, &span), mask);
        for (int lane = 0; lane < FLR_PROBE_LANES; lane++) {
            double m[3], w[3], t[3];
            for (int axis = 0; axis < 3; axis++) {
                m[axis] = w[axis] = 0;
                for (int part = 0; part < 3; part++) {
                    double u = (double)node.axis[axis][part][lane];
                    m[axis] += u * ((double)span.middle[part] - (double)node.centre[part][lane]);
                    w[axis] += u * (double)span.half[part];
                }
                t[axis] = (double)node.half[axis][lane];
            }
            bool got = mask >> lane & 1;
            met += got;
            if (cut(m, w, t, -slack) >= 0 && !got) fail_msg("case %d: a box was missed", i);
            for_nothing += got && cut(m, w, t, slack) < 0;
        }
    }
    print_message("%d boxes met, %d of them for nothing\n", met, for_nothing);
    assert_gt(met, CASES / 10);
    assert_lt(for_nothing, met / 100);
}

static void blocks(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("blocks");
    int found = 0;
    for (int i = 0; i < CASES; i++) {
        flr_probe_block block[3];
        for (size_t k = 0; k < sizeof block; k++)
            ((uint8_t *)block)[k] = (uint8_t)flr_test_random_u64(&r);
        for (int b = 0; b < 3; b++)
            for (int lane = 0; lane < FLR_PROBE_LANES; lane++) {
                block[b].offset[lane] /= 8;
                block[b].side_low[lane] /= 4, block[b].side_high[lane] /= 4;
                if (b == 2) flr_probe_block_end(&block[b], 0);
                for (int axis = 0; axis < 3 && b < 2; axis++) {
                    block[b].box[axis][lane] /= 2, block[b].box[3 + axis][lane] /= 2;
                    /* as long as a unit vector may be */
                    block[b].normal[axis][lane] /= 2, block[b].side[axis][lane] /= 2;
                }
            }
        flr_probe_local local;
        int32_t reach = i % 2 ? 1200 : 3000;
        for (int k = 0; k < 4; k++) {
            local.a[k] = k < 3 ? (int32_t)flr_test_random_range(&r, -reach, reach) : 0;
            local.b[k] = k < 3 ? (int32_t)flr_test_random_range(&r, -reach, reach) : 0;
        }
        uint32_t lists[2][FLR_PROBE_CAPACITY];
        uint32_t count = flr_gather_scalar(block, 3, &local, lists[0]);
        found += count > 0;
        for (uint32_t k = 0; k < count; k++) /* nothing is in the last one */
            assert_ne(lists[0][k], FLR_PROBE_NONE);
        if (flr_simd_has(FLR_SIMD_AVX2)) {
            assert_int_equal(flr_gather_avx2(block, 3, &local, lists[1]), count);
            assert_memory_equal(lists[1], lists[0], count * sizeof **lists);
        }
        if (flr_simd_has(FLR_SIMD_AVX512)) {
            assert_int_equal(flr_gather_avx512(block, 3, &local, lists[1]), count);
            assert_memory_equal(lists[1], lists[0], count * sizeof **lists);
        }
        if (flr_simd_has(FLR_SIMD_NEON)) {
            assert_int_equal(flr_gather_neon(block, 3, &local, lists[1]), count);
            assert_memory_equal(lists[1], lists[0], count * sizeof **lists);
        }
    }
    assert_gt(found, CASES / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests_name("probe_kernel", tests, NULL, NULL);
}
