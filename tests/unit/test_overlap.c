/* triangle against voxel, beside an independent way: cutting the triangle down to the cube */
#include "voxel/overlap.h"
#include "voxel/overlap_rows.h"

#include "support/test.h"

typedef struct polygon {
    long double v[16][3];
    int count;
} polygon;

/* Keeps the part of the polygon on one side of a plane across an axis. */
static void cut(polygon *p, int axis, long double at, int sign)
{
    polygon out = {.count = 0};
    for (int i = 0; i < p->count; i++) {
        const long double *a = p->v[i], *b = p->v[(i + 1) % p->count];
        long double da = sign * (a[axis] - at), db = sign * (b[axis] - at);
        if (da >= 0) memcpy(out.v[out.count++], a, sizeof out.v[0]);
        if ((da > 0 && db < 0) || (da < 0 && db > 0))
            for (int k = 0; k < 3; k++)
                out.v[out.count][k] = a[k] + (b[k] - a[k]) * (da / (da - db));
        if ((da > 0 && db < 0) || (da < 0 && db > 0)) out.count++;
    }
    *p = out;
}

/* Does anything of the triangle lie in the closed cube at (x, y, z), made larger by `more` on each side? */
static bool meets(const flr_vec3 t[3], const int cube[3], long double more)
{
    polygon p = {.count = 3};
    for (int i = 0; i < 3; i++) p.v[i][0] = t[i].x, p.v[i][1] = t[i].y, p.v[i][2] = t[i].z;
    for (int axis = 0; axis < 3 && p.count; axis++) {
        cut(&p, axis, cube[axis] - more, 1);
        if (p.count) cut(&p, axis, cube[axis] + 1 + more, -1);
    }
    return p.count > 0;
}

/* Compares all voxels around a triangle; those that touch within rounding may go either way. */
static void compare(const flr_vec3 t[3], uint64_t *inside, uint64_t *doubtful)
{
    flr_overlap o = flr_overlap_prepare(t[0], t[1], t[2]);
    for (int z = o.low[2] - 1; z <= o.high[2] + 1; z++)
        for (int y = o.low[1] - 1; y <= o.high[1] + 1; y++)
            for (int x = o.low[0] - 1; x <= o.high[0] + 1; x++) {
                const int cube[3] = {x, y, z};
                bool found = flr_overlap_voxel(&o, x, y, z);
                *inside += found;
                if (found == meets(t, cube, 0)) continue;
                ++*doubtful;
                if (found ? !meets(t, cube, 1e-9L) : meets(t, cube, -1e-9L))
                    fail_msg("voxel %d %d %d of (%.17g %.17g %.17g) (%.17g %.17g %.17g) (%.17g "
                             "%.17g %.17g): %d",
                             x, y, z, t[0].x, t[0].y, t[0].z, t[1].x, t[1].y, t[1].z, t[2].x,
                             t[2].y, t[2].z, found);
            }
}

static flr_vec3 random_point(flr_test_random *random, double size, int kind)
{
    double v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = flr_test_random_range(random, -size, size);
        if (kind == 1) v[i] = floor(v[i]);         /* on corners of voxels */
        if (kind == 2) v[i] = floor(v[i] * 2) / 2; /* on corners and middles */
    }
    return flr_vec3_make(v[0], v[1], v[2]);
}

static void random_and_nasty_triangles(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("random_and_nasty_triangles");
    uint64_t inside = 0, doubtful = 0;
    for (int i = 0; i < 20000; i++) {
        int kind = i % 3;
        double size = i % 7 == 0 ? 6 : 2;
        flr_vec3 t[3], far = flr_vec3_make(i % 5 == 0 ? 70000 : 0, 0, i % 5 == 0 ? -30000 : 0);
        for (int k = 0; k < 3; k++) t[k] = flr_vec3_add(random_point(&random, size, kind), far);
        if (i % 11 == 0) t[2] = t[1];                            /* a segment */
        if (i % 13 == 0) t[1] = t[2] = t[0];                     /* a point */
        if (i % 17 == 0) t[2] = flr_vec3_lerp(t[0], t[1], 0.25); /* a sliver */
        if (i % 19 == 0) t[2].z = t[1].z = t[0].z;               /* across an axis */
        compare(t, &inside, &doubtful);
    }
    print_message("%llu voxels touched, %llu within rounding\n", (unsigned long long)inside,
                  (unsigned long long)doubtful);
    assert_gt(inside, 100000);
    assert_lt(doubtful, inside / 1000);
}

/* a block is passed over only when none of its voxels is touched */
static void blocks_lose_no_voxel(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("blocks_lose_no_voxel");
    for (int i = 0; i < 2000; i++) {
        flr_vec3 t[3];
        for (int k = 0; k < 3; k++) t[k] = random_point(&random, 20, i % 3);
        flr_overlap o = flr_overlap_prepare(t[0], t[1], t[2]);
        for (int z = o.low[2]; z <= o.high[2]; z++)
            for (int y = o.low[1]; y <= o.high[1]; y++)
                for (int x = o.low[0]; x <= o.high[0]; x++)
                    if (flr_overlap_voxel(&o, x, y, z))
                        assert_true(flr_overlap_block(&o, x & ~7, y & ~7, z & ~7, 8));
    }
}

/* the rows of a hyperchunk hold the voxels of the whole test and no others, with every instruction set */
static void compare_rows(flr_simd simd, const flr_vec3 t[3], const int32_t base[3],
                         flr_overlap_rows *rows)
{
    if (!flr_simd_has(simd)) return;
    flr_overlap o = flr_overlap_prepare(t[0], t[1], t[2]);
    uint64_t found[64][64] = {{0}};
    flr_overlap_kernel(simd)(t[0], t[1], t[2], base, rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        unsigned y = rows->at[i] & 63, z = rows->at[i] >> 6;
        assert_true(rows->bits[i] != 0 && found[z][y] == 0);
        found[z][y] = rows->bits[i];
    }
    for (int z = 0; z < 64; z++)
        for (int y = 0; y < 64; y++) {
            uint64_t row = 0;
            for (int x = 0; x < 64; x++)
                row |= (uint64_t)flr_overlap_voxel(&o, base[0] + x, base[1] + y, base[2] + z) << x;
            if (row != found[z][y])
                fail_msg("%s: row %d %d is %016llx, not %016llx", flr_simd_name(simd), y, z,
                         (unsigned long long)found[z][y], (unsigned long long)row);
        }
}

static void rows_are_the_same_with_every_instruction_set(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("rows_are_the_same_with_every_instruction_set");
    flr_overlap_rows *rows = malloc(sizeof *rows);
    assert_non_null(rows);
    const int32_t base[3] = {-64, 0, 64};
    for (int i = 0; i < 600; i++) {
        /* from less than a voxel to more than the hyperchunk; some miss it */
        const double size = (const double[]){0.7, 3, 20, 90}[i % 4];
        const flr_vec3 middle =
            flr_vec3_add(random_point(&random, 40, 0), flr_vec3_make(-32, 32, 96));
        flr_vec3 t[3];
        for (int k = 0; k < 3; k++) t[k] = flr_vec3_add(random_point(&random, size, i % 3), middle);
        if (i % 11 == 0) t[2] = t[1];
        if (i % 13 == 0) t[1].z = t[2].z = t[0].z;
        for (int simd = FLR_SIMD_SCALAR; simd <= FLR_SIMD_NEON; simd++)
            compare_rows((flr_simd)simd, t, base, rows);
    }
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_and_nasty_triangles),
        cmocka_unit_test(blocks_lose_no_voxel),
        cmocka_unit_test(rows_are_the_same_with_every_instruction_set),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
