/* many parts against all pairs one by one; grounds; poses that make no sense; nothing depends on history */
#include "feeler/pairs.h"

#include <math.h>

#include "feeler/merge.h"
#include "support/fail_alloc.h"
#include "support/fixtures.h"

enum { SHAPES = 5, PARTS = 14 };

typedef struct kit {
    flr_test_part parts[SHAPES];
    flr_contact_table *tables[SHAPES];
    flr_pairs_shape shapes[SHAPES];
} kit;

/* The last one is coarser than the others: its points are too far apart for their voxels. */
static int begin(void **state)
{
    kit *k = calloc(1, sizeof *k);
    for (int i = 0; i < SHAPES; i++) {
        flr_test_solid solid = (flr_test_solid)(i % FLR_TEST_SOLID_COUNT);
        flr_test_part_make(&k->parts[i], solid, 1, i == 4 ? 0.002 : 0.001, i != 2);
        assert_int_equal(flr_contact_table_create(k->parts[i].voxmap, &k->tables[i], NULL), FLR_OK);
        k->shapes[i] = flr_pairs_shape_make(k->parts[i].shell, k->tables[i]);
    }
    *state = k;
    return 0;
}

static int end(void **state)
{
    kit *k = *state;
    for (int i = 0; i < SHAPES; i++) {
        flr_contact_table_destroy(k->tables[i]);
        flr_test_part_free(&k->parts[i]);
    }
    free(k);
    return 0;
}

static flr_pairs *make_shared(uint32_t parts, unsigned threads)
{
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = parts;
    def.threads = threads;
    flr_pairs *pairs;
    flr_error error;
    assert_ok(flr_pairs_create(&def, &pairs, &error), error);
    return pairs;
}

static flr_pairs *make(uint32_t parts) { return make_shared(parts, 1); }

/* Every third one is static; all centres are somewhere else than the origin. */
static flr_pairs_part nth(const kit *k, uint32_t i)
{
    flr_pairs_part part = flr_default_pairs_part();
    part.shape = k->shapes[i % SHAPES];
    part.moving = i % 3 != 0;
    part.centre = flr_vec3_make(0.001 * i, -0.002, 0.003);
    return part;
}

/* The rule of the header, written down once more. */
static flr_pair expected_roles(const kit *k, uint32_t i, uint32_t j)
{
    const flr_shell *a = k->parts[i % SHAPES].shell, *b = k->parts[j % SHAPES].shell;
    bool a_coarse = i % SHAPES == 4, b_coarse = j % SHAPES == 4;
    flr_pair ij = {i, j}, ji = {j, i};
    if (a_coarse != b_coarse) return a_coarse ? ji : ij;
    return a->total <= b->total ? ij : ji;
}

static const flr_pair_result *find(const flr_pairs *pairs, flr_pair pair)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(pairs, &count);
    for (uint32_t i = 0; i < count; i++)
        if (results[i].pair.shell == pair.shell && results[i].pair.voxmap == pair.voxmap)
            return &results[i];
    return NULL;
}

static void random_poses(flr_test_random *random, uint32_t count, double reach, flr_pose *poses)
{
    for (uint32_t i = 0; i < count; i++) poses[i] = flr_test_random_pose(random, reach);
}

/* Whatever the reference finds, the pairs find, to the bit; the two wrenches cancel out. */
static void compare(const kit *k, const flr_pairs *pairs, const flr_pose *poses, double range,
                    uint64_t *touching, uint64_t *apart)
{
    flr_contact_params params = flr_default_contact_params();
    for (uint32_t j = 1; j < PARTS; j++)
        for (uint32_t i = 0; i < j; i++) {
            if (i % 3 == 0 && j % 3 == 0) continue;
            flr_pair pair = expected_roles(k, i, j);
            params.centre = nth(k, pair.shell).centre;
            flr_contact_result r;
            flr_contact_reference(k->parts[pair.shell % SHAPES].shell,
                                  k->parts[pair.voxmap % SHAPES].voxmap, poses[pair.shell],
                                  poses[pair.voxmap], &params, NULL, 0, &r);
            const flr_pair_result *found = find(pairs, pair);
            bool near = r.contacts || r.near || r.penetrations || r.upper <= range;
            if (near) assert_non_null(found);
            *touching += r.contacts > 0;
            *apart += !found;
            if (!found) continue;
            assert_int_equal(found->contact.contacts, r.contacts);
            assert_int_equal(found->contact.penetrations, r.penetrations);
            assert_memory_equal(&found->contact.wrench, &r.wrench, sizeof r.wrench);
            flr_vec3 from = flr_pose_apply(poses[pair.voxmap], nth(k, pair.voxmap).centre);
            flr_vec3 to = flr_pose_apply(poses[pair.shell], params.centre);
            flr_wrench sum =
                flr_wrench_add(r.wrench, flr_wrench_move(found->opposite, flr_vec3_sub(to, from)));
            assert_eq(flr_vec3_length(sum.force), 0);
            assert_le(flr_vec3_length(sum.torque), 1e-12 * (1 + r.contacts));
        }
}

static void equals_all_pairs(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin("equals_all_pairs");
    flr_pose poses[PARTS], fixed[PARTS];
    uint64_t touching = 0, apart = 0;
    for (int round = 0; round < 6; round++) {
        flr_pairs *pairs = make(PARTS);
        random_poses(&random, PARTS, 0.05, poses);
        for (uint32_t i = 0; i < PARTS; i++) {
            flr_pairs_part part = nth(k, i);
            part.T_world_part = fixed[i] = poses[i];
            flr_pairs_set(pairs, i, &part);
        }
        double range = round % 2 ? 0.006 : 0;
        for (int frame = 0; frame < 8; frame++) {
            /* small steps, and now and then a jump; what is said of static parts is not heard */
            for (uint32_t i = 0; i < PARTS; i++) {
                poses[i].p = flr_vec3_add(
                    poses[i].p, flr_test_random_pose(&random, frame == 5 ? 0.03 : 0.002).p);
                if (i % 3 == 0 && frame < 7) poses[i].p.x = NAN;
            }
            flr_pairs_update(pairs, poses, range, NULL);
            flr_pairs_query(pairs, NULL);
            for (uint32_t i = 0; i < PARTS; i += 3) poses[i] = fixed[i];
            compare(k, pairs, poses, range, &touching, &apart);
        }
        flr_pairs_destroy(pairs);
    }
    assert_gt(touching, 120);
    assert_gt(apart, 120);
}

/* All results and totals of two, but for what their bounds and costs may differ by. */
static void assert_same(const flr_pairs *a, const flr_pairs *b)
{
    uint32_t counts[2], contacts[2];
    const flr_pair_result *ra = flr_pairs_results(a, &counts[0]),
                          *rb = flr_pairs_results(b, &counts[1]);
    const flr_contact *ca = flr_pairs_contacts(a, &contacts[0]),
                      *cb = flr_pairs_contacts(b, &contacts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_int_equal(contacts[0], contacts[1]);
    assert_memory_equal(ca, cb, contacts[0] * sizeof *ca);
    uint32_t listed, next[PARTS + 1] = {0};
    for (uint32_t i = 0; i < counts[0]; i++) {
        for (int k = 0; (ra[i].contact.contacts || ra[i].contact.near) && k < 2; k++) {
            const uint32_t part = k ? ra[i].pair.voxmap : ra[i].pair.shell;
            const uint32_t *touching = flr_pairs_touching(a, part, &listed);
            uint32_t *to = &next[part < PARTS ? part : PARTS];
            assert_lt(*to, listed);
            assert_int_equal(touching[(*to)++], i);
        }
        assert_int_equal(ra[i].first, rb[i].first);
        assert_memory_equal(&ra[i].opposite, &rb[i].opposite, sizeof ra[i].opposite);
        assert_int_equal(ra[i].contact.near, rb[i].contact.near);
        assert_memory_equal(&ra[i].contact.braking, &rb[i].contact.braking, sizeof(flr_vec3));
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        flr_pairs_touching(a, i, &listed);
        assert_int_equal(next[i], listed);
    }
    for (uint32_t i = 0; i < PARTS; i++)
        assert_memory_equal(&flr_pairs_total(a, i)->wrench, &flr_pairs_total(b, i)->wrench,
                            sizeof(flr_wrench));
}

static uint64_t points_of(const flr_pairs *pairs)
{
    uint32_t count;
    uint64_t points = 0;
    const flr_pair_result *results = flr_pairs_results(pairs, &count);
    for (uint32_t i = 0; i < count; i++) points += results[i].contact.points_tested;
    return points;
}

static void give_parts(const kit *k, flr_pairs *pairs, const flr_pose *poses)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        flr_pairs_part part = nth(k, i);
        part.T_world_part = poses[i];
        flr_pairs_set(pairs, i, &part);
    }
}

/* What a pair lets pass without a look is free by all points, too. Returns whether it was such a motion. */
static bool check_pass(const kit *k, flr_pair pair, const flr_pose *poses, flr_pose to,
                       flr_motion_check_params params, const flr_motion_check_result *found)
{
    if (found->spent > 0 || pair.voxmap == FLR_PAIRS_MERGED) return false;
    flr_contact_pair_def def = flr_default_contact_pair_def();
    def.shell = k->parts[pair.shell % SHAPES].shell;
    def.voxmap = k->parts[pair.voxmap % SHAPES].voxmap;
    params.centre = nth(k, pair.shell).centre;
    flr_contact_pair *alone;
    flr_error error;
    assert_ok(flr_contact_pair_create(&def, &alone, &error), error);
    flr_motion_check_result all;
    flr_contact_check_motion(alone, (flr_pose_span){poses[pair.shell], to},
                             (flr_pose_span){poses[pair.voxmap], poses[pair.voxmap]}, &params,
                             &all);
    assert_eq(found->fraction, 1);
    assert_eq(all.fraction, 1);
    assert_ge(found->travel * (1 + 1e-9) + 1e-12, all.travel);
    flr_contact_pair_destroy(alone);
    return true;
}

/* Motions from here of up to a few voxels, or of less than half of one: neither what is remembered nor threads change how far
 * they are free and what that costs. All: with memory, without, with threads. */
static void check_ways(const kit *k, flr_test_random *random, flr_pairs *const all[],
                       const flr_pose *poses, bool small, uint32_t *stops, uint32_t *passed)
{
    static flr_pair_motion motions[PARTS * PARTS];
    static flr_motion_check_result shared[PARTS * PARTS];
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(all[0], &count);
    flr_motion_check_params params = flr_default_motion_check_params();
    params.unchecked = 0, params.planes = small, params.margin = small || *stops % 2 ? 0.875 : 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_pair pair = results[i].pair;
        const flr_pose by = flr_test_random_pose(random, (small ? 0.00003 : 0.0005) * (1 + i % 6));
        const flr_vec3 turn = flr_vec3_scale(by.p, i % 3 * 10.0);
        flr_pose *to = &motions[i].T_world_shell;
        motions[i] = (flr_pair_motion){pair, poses[pair.shell], poses[pair.voxmap]};
        *to = (flr_pose){flr_vec3_add(to->p, by.p),
                         flr_quat_mul(flr_quat_from_rotation_vector(turn), to->q)};
    }
    flr_pairs_check_motions(all[2], motions, count, &params, shared);
    for (uint32_t i = 0; i < count; i++) {
        const flr_pair_motion *m = &motions[i];
        flr_motion_check_result one, two;
        flr_pairs_check_motion(all[0], m->pair, m->T_world_shell, m->T_world_voxmap, &params, &one);
        flr_pairs_check_motion(all[1], m->pair, m->T_world_shell, m->T_world_voxmap, &params, &two);
        const flr_motion_check_result others[] = {two, shared[i]};
        for (int o = 0; o < 2; o++)
            assert_true(one.fraction == others[o].fraction && one.stopped == others[o].stopped &&
                        one.spent == others[o].spent);
        *stops += one.stopped;
        if (*passed < 500) *passed += check_pass(k, m->pair, poses, m->T_world_shell, params, &one);
    }
}

/* Slow motion with a jump and a change of shape now and then: memory and threads change no contact and no check of a motion, and
 * save points. The bounds stay bounds. */
static void remembers(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin("remembers");
    flr_pose poses[PARTS];
    flr_twist motion[PARTS];
    random_poses(&random, PARTS, 0.03, poses);
    flr_pairs *slow = make(PARTS), *shared = make_shared(PARTS, 3), *coherent = make(PARTS);
    give_parts(k, slow, poses);
    give_parts(k, shared, poses);
    give_parts(k, coherent, poses);
    bool may_move[PARTS];
    flr_error error;
    for (uint32_t i = 0; i < PARTS; i++) may_move[i] = i % 3 != 0;
    assert_ok(flr_pairs_make_coherent(coherent, may_move, 1000, &error), error);
    uint32_t limits = 0, stops = 0, passed = 0;
    uint64_t touching = 0, apart = 0, seldom = 0, often = 0;
    for (int frame = 0; frame < 120; frame++) {
        for (uint32_t i = 0; i < PARTS; i++) {
            if (i % 3 == 0) continue;
            flr_pose by = flr_test_random_pose(&random, frame % 50 == 49 ? 0.02 : 0.0002);
            flr_vec3 turn = flr_test_random_pose(&random, 0.01).p;
            poses[i].p = flr_vec3_add(poses[i].p, by.p);
            poses[i].q = flr_quat_mul(flr_quat_from_rotation_vector(turn), poses[i].q);
            motion[i] = flr_twist_make(turn, by.p);
        }
        if (frame % 40 == 39) give_parts(k, slow, poses), give_parts(k, shared, poses);
        flr_pairs *fresh = make(PARTS);
        give_parts(k, fresh, poses);
        flr_pairs *const all[] = {slow, fresh, shared, coherent};
        for (int i = 0; i < 4; i++) {
            flr_pairs_update(all[i], poses, 0.006, NULL);
            flr_pairs_query(all[i], motion);
        }
        assert_same(slow, fresh);
        assert_same(slow, shared);
        assert_same(slow, coherent);
        if (frame % 8 == 0) compare(k, slow, poses, 0.006, &touching, &apart);
        for (int small = 0; small < 2; small++)
            check_ways(k, &random, all, poses, small, &stops, &passed);
        uint32_t count;
        const flr_pair_result *now = flr_pairs_results(slow, &count),
                              *anew = flr_pairs_results(fresh, &count);
        for (uint32_t i = 0; i < count; i++) {
            assert_le(now[i].contact.lower, anew[i].contact.upper);
            assert_le(anew[i].contact.lower, now[i].contact.upper);
            assert_true(now[i].max_travel == INFINITY);
            limits += flr_pairs_results(coherent, &count)[i].max_travel < INFINITY;
        }
        seldom += points_of(slow);
        often += points_of(fresh);
        flr_pairs_destroy(fresh);
    }
    assert_gt(touching, 50);
    assert_lt(5 * seldom, 4 * often);
    assert_gt(limits, 1000);
    assert_true(stops > 200 && passed >= 500);
    flr_pairs_reset_coherent(coherent);
    flr_pairs_destroy(coherent);
    flr_pairs_destroy(slow);
    flr_pairs_destroy(shared);
}

/* Totals are the sums over the pairs in their order; contacts lie one pair after the other. */
static void totals(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin("totals");
    flr_pose poses[PARTS];
    flr_twist motion[PARTS];
    flr_pairs *pairs = make(PARTS);
    random_poses(&random, PARTS, 0.025, poses);
    for (uint32_t i = 0; i < PARTS; i++) {
        flr_pairs_part part = nth(k, i);
        part.moving = true;
        flr_pairs_set(pairs, i, &part);
        motion[i] = flr_twist_make(flr_test_random_pose(&random, 3).p,
                                   flr_test_random_pose(&random, 0.2).p);
    }
    flr_pairs_update(pairs, poses, 0, NULL);
    flr_pairs_query(pairs, motion);
    uint32_t count, contacts, listed = 0, braked = 0;
    const flr_pair_result *results = flr_pairs_results(pairs, &count);
    const flr_contact *list = flr_pairs_contacts(pairs, &contacts);
    flr_part_total sums[PARTS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        flr_pair pair = results[i].pair;
        const flr_contact_result *r = &results[i].contact;
        assert_int_equal(results[i].first, listed);
        for (uint32_t c = 0; c < r->listed; c++) assert_gt(list[listed + c].depth, 0);
        listed += r->listed;
        flr_part_total *a = &sums[pair.shell], *b = &sums[pair.voxmap];
        a->wrench = flr_wrench_add(a->wrench, r->wrench);
        b->wrench = flr_wrench_add(b->wrench, results[i].opposite);
        a->braking = flr_vec3_add(a->braking, r->braking);
        b->braking = flr_vec3_sub(b->braking, r->braking);
        a->contacts += r->contacts, b->contacts += r->contacts;
        /* seen from the voxmap's side the motion is the same: braking is against the approach of the two */
        flr_contact_params params = flr_default_contact_params();
        flr_vec3 ca = nth(k, pair.shell).centre, cb = nth(k, pair.voxmap).centre;
        flr_vec3 b_to_a = flr_vec3_sub(flr_pose_apply(poses[pair.shell], ca),
                                       flr_pose_apply(poses[pair.voxmap], cb));
        params.centre = ca;
        params.motion = flr_twist_add(
            motion[pair.shell], flr_twist_scale(flr_twist_move(motion[pair.voxmap], b_to_a), -1));
        flr_contact_result plain;
        flr_contact_reference(k->parts[pair.shell % SHAPES].shell,
                              k->parts[pair.voxmap % SHAPES].voxmap, poses[pair.shell],
                              poses[pair.voxmap], &params, NULL, 0, &plain);
        assert_lt(flr_vec3_distance(plain.braking, r->braking), 1e-9);
        braked += flr_vec3_length(r->braking) > 0;
    }
    assert_int_equal(listed, contacts);
    assert_gt(contacts, 100);
    assert_gt(braked, 3);
    for (uint32_t i = 0; i < PARTS; i++) {
        const flr_part_total *total = flr_pairs_total(pairs, i);
        assert_memory_equal(&total->wrench, &sums[i].wrench, sizeof sums[i].wrench);
        assert_memory_equal(&total->braking, &sums[i].braking, sizeof sums[i].braking);
        assert_int_equal(total->contacts, sums[i].contacts);
    }
    flr_pairs_destroy(pairs);
}

/* The same poses give the same list and the same bits, whatever was before. */
static void no_history(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin("no_history");
    flr_pairs *old = make(PARTS);
    for (int round = 0; round < 30; round++) {
        flr_pairs *fresh = make(PARTS);
        flr_pose poses[PARTS];
        flr_pairs_report a, b;
        for (int step = 0; step < 3; step++) {
            random_poses(&random, PARTS, 0.04, poses);
            for (uint32_t i = 0; i < PARTS; i++) {
                flr_pairs_part part = nth(k, i);
                part.T_world_part = poses[i];
                if (step == 2) flr_pairs_set(fresh, i, &part);
                flr_pairs_set(old, i, &part);
            }
            flr_pairs_update(old, poses, 0, &a);
            flr_pairs_query(old, NULL);
        }
        flr_pairs_update(fresh, poses, 0, &b);
        flr_pairs_query(fresh, NULL);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.pairs, b.pairs, a.count * sizeof *a.pairs);
        uint32_t count;
        const flr_pair_result *one = flr_pairs_results(old, &count),
                              *two = flr_pairs_results(fresh, &count);
        for (uint32_t i = 0; i < count; i++) {
            assert_memory_equal(&one[i].contact.wrench, &two[i].contact.wrench, sizeof(flr_wrench));
            assert_memory_equal(&one[i].opposite, &two[i].opposite, sizeof(flr_wrench));
        }
        flr_pairs_destroy(fresh);
    }
    flr_pairs_destroy(old);
}

static void poses_without_sense(void **state)
{
    const kit *k = *state;
    flr_pairs *pairs = make(3);
    flr_pose poses[3];
    for (uint32_t i = 0; i < 3; i++) {
        flr_pairs_part part = nth(k, 1);
        poses[i] = flr_pose_identity();
        flr_pairs_set(pairs, i, &part);
    }
    flr_pairs_report report;
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(report.count, 3);
    assert_int_equal(report.entered, 3);
    const flr_pose good = flr_pose_identity();
    flr_pose bad[5] = {good, good, good, good, good};
    bad[0].p.y = NAN, bad[1].p.z = -INFINITY, bad[2].q.w = NAN, bad[3].q.w = 2, bad[4].p.x = 1e10;
    for (int i = 0; i < 5; i++) {
        poses[1] = bad[i];
        flr_pairs_update(pairs, poses, i % 2 ? INFINITY : 0, &report);
        flr_pairs_query(pairs, NULL);
        assert_int_equal(report.count, 1);
        assert_int_equal(report.left, 2);
        assert_int_equal(flr_pairs_total(pairs, 1)->pairs, 0);
        assert_true(isinf(flr_pairs_total(pairs, 1)->lower));
        assert_gt(flr_pairs_total(pairs, 0)->contacts, 0);
        poses[1] = good;
        flr_pairs_update(pairs, poses, NAN, &report);
        assert_int_equal(report.count, 3);
    }
    /* however far apart: with an endless range all are pairs */
    poses[1].p.x = 1e8, poses[2].p.y = -1e8;
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(report.count, 0);
    flr_pairs_update(pairs, poses, INFINITY, &report);
    assert_int_equal(report.count, 3);
    /* a displacement that is no number: nothing touches */
    flr_contact_params params = flr_default_contact_params();
    params.displacement = NAN;
    flr_pairs_set_params(pairs, &params);
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(report.count, 0);
    flr_pairs_destroy(pairs);
}

/* None, one, a thousand in one place (with too little room), then in a wide grid. */
static void numbers(void **state)
{
    const kit *k = *state;
    static flr_pose poses[1000];
    for (uint32_t count = 0; count <= 1000; count = count ? count * 1000 : 1) {
        flr_pairs *pairs = make(count);
        for (uint32_t i = 0; i < count; i++) {
            flr_pairs_part part = nth(k, 1);
            poses[i] = flr_pose_identity();
            flr_pairs_set(pairs, i, &part);
        }
        flr_pairs_report report;
        flr_pairs_update(pairs, poses, 0, &report);
        uint32_t all = count ? count * (count - 1) / 2 : 0;
        assert_int_equal(report.count + report.dropped, all);
        for (uint32_t i = 0; i < count; i++)
            poses[i].p = flr_vec3_make(i % 10 * 0.022, i / 10 % 10 * 0.022, i / 100 * 0.022);
        flr_pairs_update(pairs, poses, 0, &report);
        flr_pairs_query(pairs, NULL);
        assert_int_equal(report.dropped, 0);
        /* neighbours in all 13 directions: boxes of 20 mm, 2 mm apart, and three layers of 1 mm */
        assert_int_equal(report.count, count > 1 ? 2700 + 2 * 3 * 810 + 4 * 729 : 0);
        assert_int_equal(flr_pairs_total(pairs, 0)->pairs, count > 1 ? 7 : 0);
        flr_pairs_destroy(pairs);
    }
    flr_pairs *pairs;
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = FLR_PAIRS_MAX_PARTS + 1;
    assert_int_equal(flr_pairs_create(&def, &pairs, NULL), FLR_BAD_ARGUMENT);
}

/* Which pairs there are, as bits: i with j, and i with the merged static scene as 3. */
static unsigned who(const flr_pairs_report *report)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < report->count; i++) {
        uint32_t a = report->pairs[i].shell, b = report->pairs[i].voxmap;
        b = b == FLR_PAIRS_MERGED ? 3 : b;
        bits |= 1u << (a * 4 + b) | 1u << (b * 4 + a);
    }
    return bits;
}

#define WITH(a, b) (1u << ((a)*4 + (b)) | 1u << ((b)*4 + (a)))

/* Two static boxes side by side and a sphere on both: by a merged static scene, and while it is not true. */
static void grabbing(void **state)
{
    const kit *k = *state;
    flr_pose poses[3] = {flr_pose_identity(), flr_pose_identity(), flr_pose_identity()};
    poses[1].p.x = 0.024, poses[2].p = flr_vec3_make(0.012, 0, 0.0155);
    flr_pairs *pairs = make(3);
    flr_merge *merge;
    flr_merge_def merge_def = flr_default_merge_def();
    merge_def.voxel = 0.001;
    flr_error error;
    assert_ok(flr_merge_create(&merge_def, &merge, &error), error);
    for (uint32_t i = 0; i < 3; i++) {
        flr_pairs_part part = flr_default_pairs_part();
        part.shape = k->shapes[i == 2 ? FLR_TEST_SPHERE : FLR_TEST_BOX];
        part.T_world_part = poses[i];
        part.moving = i == 2;
        flr_pairs_set(pairs, i, &part);
        flr_merge_part merged = flr_default_merge_part();
        merged.mesh = flr_test_shape_mesh((flr_test_shape *)&k->parts[FLR_TEST_BOX].shape);
        merged.T_voxmap_part = poses[i];
        uint32_t id;
        if (i < 2) assert_ok(flr_merge_add(merge, &merged, &id, &error), error);
    }
    flr_voxmap *voxmap;
    flr_contact_table *table;
    assert_ok(flr_merge_build(merge, NULL, &voxmap, NULL, &error), error);
    assert_ok(flr_contact_table_create(voxmap, &table, &error), error);

    /* one by one */
    flr_pairs_report report;
    flr_pairs_update(pairs, poses, 0, &report);
    flr_pairs_query(pairs, NULL);
    assert_int_equal(who(&report), WITH(2, 0) | WITH(2, 1));
    double lift = flr_pairs_total(pairs, 2)->wrench.force.z;
    assert_gt(lift, 0);

    /* by the merged static scene: about the same force, one pair */
    const uint32_t both[2] = {0, 1};
    flr_pairs_merged merged = {flr_pairs_shape_make(NULL, table), flr_pose_identity(), both, 2};
    assert_true(flr_pairs_set_merged(pairs, &merged));
    flr_pairs_update(pairs, poses, 0, &report);
    flr_pairs_query(pairs, NULL);
    assert_int_equal(who(&report), WITH(2, 3));
    assert_int_equal(report.unfelt, 0);
    assert_gt(flr_pairs_total(pairs, 2)->wrench.force.z, 0.3 * lift);
    assert_eq(flr_pairs_total(pairs, FLR_PAIRS_MERGED)->wrench.force.z,
              -flr_pairs_total(pairs, 2)->wrench.force.z);

    /* one is picked up: at once both are there by themselves */
    flr_pairs_set_moving(pairs, 1, true);
    assert_false(flr_pairs_has_merged(pairs));
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(who(&report), WITH(2, 0) | WITH(2, 1) | WITH(1, 0));
    assert_false(flr_pairs_set_merged(pairs, &merged)); /* it would be wrong */

    /* carried up and put down: it stays there */
    poses[1].p.z = 0.1;
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(who(&report), WITH(2, 0));
    flr_pairs_set_moving(pairs, 1, false);
    poses[1].p.z = 0;
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(who(&report), WITH(2, 0));

    /* a merged static scene that stands for one of them; taking that one away ends it */
    merged.part_count = 1;
    assert_true(flr_pairs_set_merged(pairs, &merged));
    flr_pairs_set(pairs, 0, NULL);
    flr_pairs_update(pairs, poses, 0, &report);
    assert_int_equal(report.count, 0);
    assert_false(flr_pairs_set_merged(pairs, &merged));

    flr_pairs_destroy(pairs);
    flr_contact_table_destroy(table);
    flr_voxmap_destroy(voxmap);
    flr_merge_destroy(merge);
}

/* Parts that have points or voxels only. */
static void half_parts(void **state)
{
    const kit *k = *state;
    flr_pose poses[3] = {flr_pose_identity(), flr_pose_identity(), flr_pose_identity()};
    flr_pairs *pairs = make(3);
    flr_pairs_report report;
    /* what 0 and 1 have (points 1, voxels 2), whether there is a pair */
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < 4; b++) {
            flr_pairs_part part = flr_default_pairs_part();
            const flr_test_part *solid = &k->parts[FLR_TEST_SPHERE];
            flr_contact_table *table = k->tables[FLR_TEST_SPHERE];
            part.shape = flr_pairs_shape_make(a & 1 ? solid->shell : NULL, a & 2 ? table : NULL);
            flr_pairs_set(pairs, 0, &part);
            part.moving = true;
            part.shape = flr_pairs_shape_make(b & 1 ? solid->shell : NULL, b & 2 ? table : NULL);
            flr_pairs_set(pairs, 1, &part);
            flr_pairs_update(pairs, poses, 0, &report);
            bool can = ((a & 1) && (b & 2)) || ((b & 1) && (a & 2));
            assert_int_equal(report.count, can);
            assert_int_equal(report.unfelt, b && !can);
            flr_pairs_query(pairs, NULL);
            assert_int_equal(flr_pairs_total(pairs, 1)->contacts > 0, can);
        }
    flr_pairs_destroy(pairs);
}

/* Layers reach farthest beyond a corner, along its diagonal: a part with points only around a coarse and turned box. Whatever
 * has a point in some layer that counts is in the list; what is far is not. */
static void reach(void **state)
{
    const kit *k = *state;
    flr_test_random random = flr_test_random_begin("reach");
    flr_pairs *pairs = make(2);
    uint32_t listed = 0, near = 0;
    for (int i = 0; i < 1200; i++) {
        uint32_t fine = flr_test_random_below(&random, 4);
        flr_pairs_part part = flr_default_pairs_part();
        flr_pose T[2] = {flr_test_random_pose(&random, 1), flr_test_random_pose(&random, 0.03)};
        /* every second time along an axis and not turned: the world's boxes are tight there */
        if (i % 4 < 2) {
            T[0].q = T[1].q = flr_quat_identity();
            T[1].p = flr_vec3_make(T[1].p.x * 1.4, T[1].p.y * 0.1, T[1].p.z * 0.1);
        }
        T[1].p = flr_vec3_add(T[0].p, T[1].p);
        part.shape = i % 2 ? k->shapes[4] : flr_pairs_shape_make(NULL, k->tables[4]);
        part.T_world_part = T[0];
        flr_pairs_set(pairs, 0, &part);
        part.shape = flr_pairs_shape_make(k->parts[fine].shell, NULL);
        part.moving = true;
        flr_pairs_set(pairs, 1, &part);
        flr_contact_params params = flr_default_contact_params();
        params.force_layer = flr_test_random_below(&random, 5);
        params.awareness = false;
        params.displacement = i % 3 ? 0 : flr_test_random_range(&random, -0.001, 0.002);
        flr_pairs_set_params(pairs, &params);
        flr_pairs_report report;
        flr_pairs_update(pairs, T, 0, &report);
        flr_contact_result r;
        flr_contact_reference(k->parts[fine].shell, k->parts[4].voxmap, T[1], T[0], &params, NULL,
                              0, &r);
        bool counts = r.contacts || r.near || r.penetrations;
        if (counts) assert_int_equal(report.count, 1);
        near += counts;
        listed += report.count;
    }
    assert_gt(near, 400);
    assert_lt(listed, 1150);
    assert_lt(listed, 1.6 * near);
    flr_pairs_destroy(pairs);
}

static flr_result create(void *context, flr_error *error)
{
    (void)context;
    flr_pairs_def def = flr_default_pairs_def();
    def.parts = 10;
    def.threads = 2;
    flr_pairs *pairs;
    flr_result result = flr_pairs_create(&def, &pairs, error);
    if (result == FLR_OK) flr_pairs_destroy(pairs);
    return result;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_gt(flr_fail_alloc_each(create, NULL), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_all_pairs), cmocka_unit_test(totals),
        cmocka_unit_test(no_history),       cmocka_unit_test(poses_without_sense),
        cmocka_unit_test(numbers),          cmocka_unit_test(grabbing),
        cmocka_unit_test(half_parts),       cmocka_unit_test(reach),
        cmocka_unit_test(memory_runs_out),  cmocka_unit_test(remembers),
    };
    return cmocka_run_group_tests_name("pairs", tests, begin, end);
}
