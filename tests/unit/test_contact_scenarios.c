/* the fast engine against the reference on whole scenarios and on real assemblies
 *
 * Every scenario's moving parts against its other parts, and neighbouring parts of the shared assemblies: near the pose they
 * are assembled in, along the prepared motions, anywhere around, and where shell points fall exactly onto the sides of
 * voxels. FLR_CONTACT_POSES sets how many poses in all (default 1,600); from 20,000 on the large scenarios take part. */
#include <math.h>

#include "feeler/mesh.h"
#include "models/models.h"
#include "support/fixtures.h"

#ifdef FLR_SANITIZED
enum { POSES = 320 };
#else
enum { POSES = 1600 };
#endif
enum { LARGE = 20000, PER_ASSEMBLY = 8, CONTACTS = 256 };

/* two placed meshes that may touch; borrowed */
typedef struct couple {
    const flr_mesh *moving, *fixed;
    flr_pose T_world_moving, T_world_fixed;
    const flr_timed_pose *path; /* of the moving one; may be NULL */
    size_t path_count;
    const char *name;
} couple;

typedef struct counts {
    uint64_t poses, touching, contacts;
} counts;

static uint64_t wanted(void)
{
    const char *text = getenv("FLR_CONTACT_POSES");
    return text ? strtoull(text, NULL, 10) : POSES;
}

static double extent(const flr_mesh *mesh)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < mesh->vertex_count; i++) box = flr_box3_add(box, mesh->vertices[i]);
    flr_vec3 size = flr_vec3_sub(box.high, box.low);
    return fmax(size.x, fmax(size.y, size.z));
}

static void voxelize(const flr_mesh *mesh, double voxel, flr_voxmap **voxmap, flr_shell **shell)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    flr_error error;
    assert_ok(flr_voxelize(flr_env_real(), mesh, &def, voxmap, shell, NULL, &error), error);
}

/* ---- poses ---- */

/* One of the 24 turns that take axes to axes, exactly. */
static flr_quat axis_turn(flr_test_random *random)
{
    flr_quat q = {1, 0, 0, 0};
    const double h = 0.7071067811865476;
    const flr_quat quarter[3] = {{h, h, 0, 0}, {h, 0, h, 0}, {h, 0, 0, h}};
    for (int i = 0; i < 3; i++)
        for (uint32_t n = flr_test_random_below(random, 4); n; n--) q = flr_quat_mul(q, quarter[i]);
    return flr_quat_normalize(q);
}

static flr_pose near_to(flr_test_random *random, flr_pose T, double distance, double angle)
{
    flr_pose off = flr_test_random_pose(random, distance);
    flr_vec3 axis = flr_test_random_pose(random, angle).p;
    off.q = flr_quat_normalize((flr_quat){1, axis.x / 2, axis.y / 2, axis.z / 2});
    T.p = flr_vec3_add(T.p, off.p);
    T.q = flr_quat_normalize(flr_quat_mul(off.q, T.q));
    return T;
}

static flr_pose some_pose(flr_test_random *random, const couple *c, double voxel, double size)
{
    flr_pose T = c->T_world_moving;
    switch (flr_test_random_below(random, 5)) {
    case 0: /* assembled, more or less */
        return near_to(random, T, 3 * voxel, 0.05);
    case 1: /* on the way out */
        if (c->path_count) {
            T = c->path[flr_test_random_below(random, (uint32_t)c->path_count)].T_world_part;
            return near_to(random, T, 2 * voxel, 0.02);
        }
        return near_to(random, T, size / 4, 0.5);
    case 2: /* somewhere around */
        return flr_pose_mul(c->T_world_fixed, flr_test_random_pose(random, size / 2));
    case 3: /* along the voxels: many points lie on their sides */
    {
        flr_pose T_fixed_moving = {{voxel / 2 * floor(flr_test_random_range(random, -30, 30)),
                                    voxel / 2 * floor(flr_test_random_range(random, -30, 30)),
                                    voxel / 2 * floor(flr_test_random_range(random, -30, 30))},
                                   axis_turn(random)};
        return flr_pose_mul(c->T_world_fixed, T_fixed_moving);
    }
    default: /* as it stands, off by next to nothing */
        return near_to(random, T, 1e-9 * voxel, 1e-12);
    }
}

/* ---- comparing ---- */

static void compare(flr_test_random *random, const couple *c, uint64_t poses, counts *n)
{
    double small = fmin(extent(c->moving), extent(c->fixed)),
           size = fmax(extent(c->moving), extent(c->fixed));
    double voxel = fmax(small / 32, size / 400), points = voxel * 0.9;
    flr_voxmap *voxmap;
    flr_shell *shell;
    voxelize(c->fixed, voxel, &voxmap, NULL);
    voxelize(c->moving, points, NULL, &shell);
    flr_contact_pair *pairs[FLR_SIMD_NEON] = {0};
    flr_contact_pair_def def = flr_default_contact_pair_def();
    flr_error error;
    def.shell = shell, def.voxmap = voxmap, def.capacity = CONTACTS;
    for (int i = 0; i < FLR_SIMD_NEON; i++) {
        def.simd = (flr_simd)(FLR_SIMD_SCALAR + i);
        flr_result made = flr_contact_pair_create(&def, &pairs[i], &error);
        if (made != FLR_UNSUPPORTED) assert_ok(made, error);
    }
    static flr_contact contacts[CONTACTS];
    for (uint64_t i = 0; i < poses; i++) {
        flr_pose T = some_pose(random, c, voxel, size);
        flr_contact_params params = flr_default_contact_params();
        params.force_layer = flr_test_random_below(random, 4);
        params.awareness = i % 2 == 0;
        params.displacement = i % 8 == 7 ? flr_test_random_range(random, -voxel, voxel) : 0;
        params.motion.linear = flr_vec3_make(0.2, 0.1, -0.1);
        flr_contact_result fast, plain;
        flr_contact_reference(shell, voxmap, T, c->T_world_fixed, &params, contacts, CONTACTS,
                              &plain);
        n->poses++;
        n->touching += plain.contacts > 0;
        n->contacts += plain.contacts;
        for (int k = 0; k < FLR_SIMD_NEON; k++) {
            if (!pairs[k]) continue;
            flr_contact_query(pairs[k], T, c->T_world_fixed, &params, &fast);
            bool same = fast.contacts == plain.contacts && fast.near == plain.near &&
                        fast.penetrations == plain.penetrations && fast.listed == plain.listed &&
                        flr_vec3_equal(fast.wrench.force, plain.wrench.force) &&
                        flr_vec3_equal(fast.wrench.torque, plain.wrench.torque) &&
                        flr_vec3_equal(fast.braking, plain.braking) &&
                        flr_vec3_equal(fast.braking_turn, plain.braking_turn) &&
                        fast.lower <= plain.upper && plain.lower <= fast.upper;
            for (uint32_t m = 0; same && m < plain.listed; m++)
                same = contacts[m].index == flr_contact_list(pairs[k])[m].index &&
                       contacts[m].depth == flr_contact_list(pairs[k])[m].depth;
            if (!same)
                fail_msg("%s, pose %llu of this pair, %s: %u contacts, the reference has %u",
                         c->name, (unsigned long long)i, flr_contact_pair_simd(pairs[k]),
                         fast.contacts, plain.contacts);
        }
    }
    for (int i = 0; i < FLR_SIMD_NEON; i++) flr_contact_pair_destroy(pairs[i]);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
}

static void report(const char *what, size_t pairs, const counts *n)
{
    print_message("%s: %zu pairs, %llu poses, %llu of them touching, %llu contacts: all the same\n",
                  what, pairs, (unsigned long long)n->poses, (unsigned long long)n->touching,
                  (unsigned long long)n->contacts);
    assert_gt(n->touching, n->poses / 10);
}

/* ---- the scenarios ---- */

static const flr_mesh *mesh_of(const flr_model *model, const flr_scene_part *part)
{
    return flr_model_find_mesh(model, part->file);
}

/* Each moving part against some of the others. */
static size_t couples_of(const flr_model *model, const char *name, couple *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < model->part_count; i++)
        for (size_t k = 0; k < model->part_count && count < most; k++) {
            const flr_scene_part *moving = &model->parts[i], *fixed = &model->parts[k];
            if (!moving->moving || i == k || (fixed->moving && k < i)) continue;
            couple *c = &out[count++];
            *c = (couple){mesh_of(model, moving),
                          mesh_of(model, fixed),
                          moving->T_world_part,
                          fixed->T_world_part,
                          NULL,
                          0,
                          name};
            for (size_t p = 0; p < model->path_count; p++)
                if (strcmp(model->paths[p].part, moving->name) == 0) {
                    c->path = model->paths[p].poses;
                    c->path_count = model->paths[p].count;
                }
        }
    return count;
}

static void scenarios(void **state)
{
    (void)state;
    flr_test_random random = flr_test_random_begin("scenarios");
    uint64_t poses = wanted() / 2;
    bool large = wanted() >= LARGE;
    counts n = {0};
    size_t pairs = 0, used = 0;
    for (size_t s = 0; s < flr_scenario_count(); s++) {
        const char *name = flr_scenario_at(s)->name;
        used += large || (strcmp(name, "gear") != 0 && strcmp(name, "aircraft") != 0);
    }
    for (size_t s = 0; s < flr_scenario_count(); s++) {
        const flr_scenario *scenario = flr_scenario_at(s);
        if (!large &&
            (strcmp(scenario->name, "gear") == 0 || strcmp(scenario->name, "aircraft") == 0))
            continue;
        flr_model model = {0};
        flr_error error;
        assert_ok(flr_scenario_build(scenario, NULL, &model, &error), error);
        couple found[4];
        size_t count = couples_of(&model, scenario->name, found, 4);
        for (size_t i = 0; i < count; i++) compare(&random, &found[i], poses / used / count, &n);
        pairs += count;
        flr_model_free(&model);
    }
    report("scenarios", pairs, &n);
}

/* ---- the assemblies ---- */

typedef struct placed_mesh {
    flr_mesh *mesh;
    flr_pose T;
    flr_box3 box; /* world */
} placed_mesh;

/* Reads `id file r00 … tz` lines. A part with scaling or mirroring is left out. */
static size_t read_assembly(const char *folder, placed_mesh *parts, size_t most)
{
    char path[2048], line[1024], id[128], file[256];
    snprintf(path, sizeof path, "%s/assembly.txt", folder);
    FILE *in = fopen(path, "r");
    size_t count = 0;
    while (in && count < most && fgets(line, sizeof line, in)) {
        double m[12];
        if (line[0] == '#' ||
            sscanf(line, "%127s %255s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", id, file,
                   &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7], &m[8], &m[9], &m[10],
                   &m[11]) != 14)
            continue;
        flr_mat3 r = {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}};
        placed_mesh *p = &parts[count];
        flr_error error;
        flr_mesh_options options = flr_default_mesh_options();
        options.unit = 1; /* as in the file, as the poses are */
        snprintf(path, sizeof path, "%s/%s", folder, file);
        assert_ok(flr_mesh_read(flr_env_real(), path, &options, &p->mesh, NULL, &error), error);
        p->T = (flr_pose){{m[3], m[7], m[11]}, flr_quat_normalize(flr_quat_from_mat3(r))};
        p->box = flr_box3_empty();
        for (uint32_t i = 0; i < p->mesh->vertex_count; i++)
            p->box = flr_box3_add(p->box, flr_pose_apply(p->T, p->mesh->vertices[i]));
        count++;
    }
    if (in) fclose(in);
    return count;
}

static void assemblies(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    static const char *const names[] = {"asap_beam",
                                        "cycloidal_drive",
                                        "factory_gears",
                                        "factory_m16_nut_bolt",
                                        "factory_peg_hole_8mm",
                                        "furniture_drawer",
                                        "furniture_lamp",
                                        "wrs2020_drive_unit"};
    enum { NAMES = sizeof names / sizeof *names };
    flr_test_random random = flr_test_random_begin("assemblies");
    uint64_t poses = wanted() / 2;
    size_t most = wanted() >= LARGE ? PER_ASSEMBLY : 1, pairs = 0;
    counts n = {0};
    for (size_t a = 0; a < NAMES; a++) {
        char folder[1024];
        snprintf(folder, sizeof folder, "%s/assembly/%s", models, names[a]);
        placed_mesh parts[16] = {0};
        size_t count = read_assembly(folder, parts, 16);
        assert_ge(count, 2);
        for (size_t used = 0, tries = 0; used < most && tries < 1000; tries++) {
            size_t i = flr_test_random_below(&random, (uint32_t)count),
                   k = flr_test_random_below(&random, (uint32_t)count);
            if (i == k || !flr_box3_overlap(parts[i].box, parts[k].box)) continue;
            couple c = {parts[i].mesh, parts[k].mesh, parts[i].T, parts[k].T, NULL, 0, names[a]};
            compare(&random, &c, poses / NAMES / most, &n);
            used++, pairs++;
        }
        for (size_t i = 0; i < count; i++) flr_mesh_destroy(parts[i].mesh);
    }
    report("assemblies", pairs, &n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenarios),
        cmocka_unit_test(assemblies),
    };
    return cmocka_run_group_tests_name("contact_scenarios", tests, NULL, NULL);
}
