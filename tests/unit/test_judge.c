/* the test of one segment and one triangle: true for coordinates as they are
 *
 * With small whole numbers all products fit into 64 bits, so that integers tell the truth. */
#include "probe/judge.h"

#include <math.h>

#include "probe/exact_segment.h"
#include "support/test.h"

#ifdef FLR_SANITIZED
enum { CASES = 20000 };
#else
enum { CASES = 100000 };
#endif

typedef struct whole {
    int64_t x, y, z;
} whole;

static whole minus(whole a, whole b) { return (whole){a.x - b.x, a.y - b.y, a.z - b.z}; }

static int64_t volume(whole p, whole q, whole r, whole d)
{
    whole a = minus(p, d), b = minus(q, d), c = minus(r, d);
    return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
           a.z * (b.x * c.y - b.y * c.x);
}

static int sign(int64_t v) { return (v > 0) - (v < 0); }

/* Do two segments in a plane, seen along an axis, have a point in common? Those of no length included. */
static int64_t turn(whole p, whole q, whole r, int axis)
{
    whole a = minus(q, p), b = minus(r, p);
    return axis == 0   ? a.y * b.z - a.z * b.y
           : axis == 1 ? a.z * b.x - a.x * b.z
                       : a.x * b.y - a.y * b.x;
}

static bool between(whole p, whole a, whole b)
{
    return p.x >= (a.x < b.x ? a.x : b.x) && p.x <= (a.x < b.x ? b.x : a.x) &&
           p.y >= (a.y < b.y ? a.y : b.y) && p.y <= (a.y < b.y ? b.y : a.y) &&
           p.z >= (a.z < b.z ? a.z : b.z) && p.z <= (a.z < b.z ? b.z : a.z);
}

static bool segments_meet(whole a, whole b, whole p, whole q, int axis)
{
    int s1 = sign(turn(a, b, p, axis)), s2 = sign(turn(a, b, q, axis));
    int s3 = sign(turn(p, q, a, axis)), s4 = sign(turn(p, q, b, axis));
    if (s1 * s2 < 0 && s3 * s4 < 0) return true;
    return (s1 == 0 && between(p, a, b)) || (s2 == 0 && between(q, a, b)) ||
           (s3 == 0 && between(a, p, q)) || (s4 == 0 && between(b, p, q));
}

static bool truth(const whole v[3], whole a, whole b)
{
    whole e = minus(v[1], v[0]), f = minus(v[2], v[0]);
    int64_t n[3] = {e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x};
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) return false; /* no area */
    int64_t above = volume(v[0], v[1], v[2], a), below = volume(v[0], v[1], v[2], b);
    if (sign(above) * sign(below) > 0) return false;
    if (above != 0 || below != 0) {
        int s[3];
        for (int i = 0; i < 3; i++) s[i] = sign(volume(v[i], v[(i + 1) % 3], b, a));
        bool left = s[0] > 0 || s[1] > 0 || s[2] > 0, right = s[0] < 0 || s[1] < 0 || s[2] < 0;
        return !(left && right);
    }
    int axis = n[0] != 0 ? 0 : n[1] != 0 ? 1 : 2;
    int whole_turn = sign(turn(v[0], v[1], v[2], axis));
    bool inside = true;
    for (int i = 0; i < 3; i++)
        inside &= sign(turn(v[i], v[(i + 1) % 3], a, axis)) * whole_turn >= 0;
    for (int i = 0; i < 3; i++) inside |= segments_meet(a, b, v[i], v[(i + 1) % 3], axis);
    return inside;
}

static flr_vec3 scaled(whole w, double by, flr_vec3 from)
{
    return flr_vec3_make(from.x + (double)w.x * by, from.y + (double)w.y * by,
                         from.z + (double)w.z * by);
}

static whole any_whole(flr_test_random *r, uint32_t range, bool flat)
{
    int64_t half = range / 2;
    return (whole){flr_test_random_below(r, range) - half, flr_test_random_below(r, range) - half,
                   flat ? 0 : flr_test_random_below(r, range) - half};
}

/* On a small lattice every second case is degenerate in some way; scaled by powers of two and moved by whole numbers, the
 * coordinates stay exact, and the answer the same. */
static void equals_integers(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("equals_integers");
    const double scales[] = {1, 0x1p-40, 0x1p30, 0x1p-300, 0x1p300, 0x1p-500};
    uint64_t hits = 0, flat_hits = 0;
    for (int i = 0; i < CASES; i++) {
        uint32_t range = i % 3 ? 5 : 1000;
        bool flat = i % 5 == 0;
        whole v[3], a = any_whole(&r, range, flat), b = any_whole(&r, range, flat);
        for (int k = 0; k < 3; k++) v[k] = any_whole(&r, range, flat);
        double scale = scales[flr_test_random_below(&r, 6)];
        /* far out doubles are coarse, but these whole numbers are still exact there */
        flr_vec3 from =
            scale == 1 && i % 2 ? flr_vec3_make(0x1p40, -0x1p45, 0x1p42) : flr_vec3_zero();
        flr_vec3 p[3], pa = scaled(a, scale, from), pb = scaled(b, scale, from);
        for (int k = 0; k < 3; k++) p[k] = scaled(v[k], scale, from);
        double t = -1, back = -1;
        bool wanted = truth(v, a, b), got = flr_judge(p, pa, pb, &t),
             turned = flr_judge(p, pb, pa, &back);
        if (got != wanted || turned != wanted)
            fail_msg("case %d: %d and %d, in truth %d", i, got, turned, wanted);
        if (!got) continue;
        hits++;
        flat_hits += flat;
        assert_ge(t, 0);
        assert_le(t, 1);
        assert_ge(back, 0);
        assert_le(back, 1);
        if (volume(v[0], v[1], v[2], a) || volume(v[0], v[1], v[2], b))
            assert_lt(fabs(t + back - 1), 1e-8);
        else
            assert_le(t, 1 - back + 1e-8); /* where it enters is not behind where it leaves */
    }
    assert_gt(hits, CASES / 20);
    assert_gt(flat_hits, CASES / 100);
}

/* The exact values against 128-bit integers, where two large numbers almost cancel. */
static void volumes_are_exact(void **state)
{
    (void)state;
    flr_test_random r = flr_test_random_begin("volumes_are_exact");
    for (int i = 0; i < CASES / 10; i++) {
        whole p[4];
        for (int k = 0; k < 4; k++)
            p[k] = (whole){(int64_t)(flr_test_random_u64(&r) >> 25) - (1ll << 38),
                           (int64_t)(flr_test_random_u64(&r) >> 25) - (1ll << 38),
                           (int64_t)(flr_test_random_u64(&r) >> 25) - (1ll << 38)};
        /* almost in one plane */
        if (i % 2)
            p[3] = (whole){p[0].x + p[1].x - p[2].x, p[0].y + p[1].y - p[2].y,
                           p[0].z + p[1].z - p[2].z + flr_test_random_below(&r, 3) - 1};
        whole a = minus(p[0], p[3]), b = minus(p[1], p[3]), c = minus(p[2], p[3]);
        __int128 x = (__int128)b.y * c.z - (__int128)b.z * c.y,
                 y = (__int128)b.z * c.x - (__int128)b.x * c.z,
                 z = (__int128)b.x * c.y - (__int128)b.y * c.x, sum = x * a.x + y * a.y + z * a.z;
        long double got =
            flr_exact_volume(scaled(p[0], 1, flr_vec3_zero()), scaled(p[1], 1, flr_vec3_zero()),
                             scaled(p[2], 1, flr_vec3_zero()), scaled(p[3], 1, flr_vec3_zero()));
        long double wanted = (long double)sum;
        assert_true(got == wanted || fabsl(got - wanted) <= fabsl(wanted) * 0x1p-60l);
        assert_eq((got > 0), (sum > 0));
        assert_eq((got < 0), (sum < 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_integers),
        cmocka_unit_test(volumes_are_exact),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
