/* clashes of real assemblies next to brute force over all their triangles; FLR_CLASH_WORK=N: so many pairs of triangles of two parts
 * at most (default 5e6), larger pairs of parts are left out */
#include "feeler/assembly.h"
#include "feeler/clash.h"
#include "support/test.h"

#include <math.h>
#include <unistd.h>

#include "mesh/nearest.h"

#define HELPER FLR_BINARY_DIR "/feeler-import"
enum { MAX_PARTS = 96 };

typedef struct model {
    flr_mesh *mesh[MAX_PARTS]; /* owned; of an assembly that was opened, its own */
    const flr_mesh *shape[MAX_PARTS];
    flr_pose T[MAX_PARTS];
    uint32_t count;
    flr_assembly *assembly;
} model;

static flr_mesh_options options(void)
{
    flr_mesh_options o = flr_default_mesh_options();
    o.helper = HELPER;
    return o;
}

/* lines "id file r00 r01 r02 tx r10 … tz" */
static bool read_list(const char *folder, model *m)
{
    char path[4500], line[1024], file[256];
    snprintf(path, sizeof path, "%.4000s/assembly.txt", folder);
    FILE *list = fopen(path, "r");
    *m = (model){.count = 0};
    while (list && m->count < MAX_PARTS && fgets(line, sizeof line, list)) {
        double r[12];
        if (line[0] == '#' ||
            sscanf(line, "%*s %255s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", file, r,
                   r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7, r + 8, r + 9, r + 10,
                   r + 11) != 13)
            continue;
        flr_mesh_options o = options();
        flr_error error;
        o.unit = 1e-3, o.tolerant = true;
        snprintf(path, sizeof path, "%.4000s/%s", folder, file);
        assert_ok(flr_mesh_open(flr_env_real(), path, &o, &m->mesh[m->count], NULL, &error), error);
        m->shape[m->count] = m->mesh[m->count];
        const flr_mat3 turn = {{{r[0], r[1], r[2]}, {r[4], r[5], r[6]}, {r[8], r[9], r[10]}}};
        m->T[m->count++] = (flr_pose){flr_vec3_scale((flr_vec3){r[3], r[7], r[11]}, 1e-3),
                                      flr_quat_from_mat3(turn)};
    }
    if (list) fclose(list);
    return m->count > 1;
}

static bool read_cad(const char *path, model *m)
{
    flr_mesh_options o = options();
    flr_error error;
    *m = (model){.count = 0};
    if (access(path, R_OK) != 0 || access(HELPER, X_OK) != 0) return false;
    assert_ok(flr_assembly_open(flr_env_real(), path, &o, &m->assembly, NULL, &error), error);
    for (uint32_t i = 0; i < m->assembly->node_count && m->count < MAX_PARTS; i++) {
        const flr_assembly_node *node = &m->assembly->nodes[i];
        if (node->shape == FLR_ASSEMBLY_NONE) continue;
        m->shape[m->count] = m->assembly->shapes[node->shape];
        m->T[m->count++] = node->T_root_node;
    }
    return m->count > 1;
}

/* ---- brute force ---- */

typedef struct placed {
    flr_vec3 t[3];
    flr_box3 box;
} placed;

static double box_gap2(const flr_box3 *a, const flr_box3 *b)
{
    const flr_vec3 d = {fmax(0, fmax(a->low.x - b->high.x, b->low.x - a->high.x)),
                        fmax(0, fmax(a->low.y - b->high.y, b->low.y - a->high.y)),
                        fmax(0, fmax(a->low.z - b->high.z, b->low.z - a->high.z))};
    return flr_vec3_length2(d);
}

/* Triangles in the frame of a, as flr_clash_find() compares them, that are no farther than `reach` from a box. */
static placed *near_box(const flr_mesh *mesh, flr_pose T, const flr_box3 *box, double reach,
                        uint32_t *count)
{
    placed *list = calloc(mesh->triangle_count, sizeof *list);
    assert_non_null(list);
    *count = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        placed p = {.box = flr_box3_empty()};
        for (int k = 0; k < 3; k++) {
            p.t[k] = flr_pose_apply(T, mesh->vertices[mesh->triangles[i].v[k]]);
            p.box.low = flr_vec3_min(p.box.low, p.t[k]);
            p.box.high = flr_vec3_max(p.box.high, p.t[k]);
        }
        if (box_gap2(&p.box, box) <= reach * reach) list[(*count)++] = p;
    }
    return list;
}

/* The least distance of two surfaces if it is below `reach`, else INFINITY; -1: too many triangles. */
static double brute_force(const model *m, uint32_t a, uint32_t b, double reach, double limit)
{
    const flr_pose T = flr_pose_mul(flr_pose_inverse(m->T[a]), m->T[b]);
    const flr_box3 box_b = flr_box3_transform(T, m->shape[b]->bounds);
    if (box_gap2(&m->shape[a]->bounds, &box_b) > reach * reach) return INFINITY;
    uint32_t count[2];
    placed *one = near_box(m->shape[a], flr_pose_identity(), &box_b, reach, &count[0]);
    placed *other = near_box(m->shape[b], T, &m->shape[a]->bounds, reach, &count[1]);
    flr_nearest nearest = {.distance2 = reach * reach};
    bool found = false;
    const bool too_much = (double)count[0] * count[1] > limit;
    for (uint32_t i = 0; !too_much && i < count[0] && nearest.distance2 > 0; i++)
        for (uint32_t k = 0; k < count[1] && nearest.distance2 > 0; k++)
            if (box_gap2(&one[i].box, &other[k].box) < nearest.distance2)
                found |= flr_triangles_nearest(one[i].t, other[k].t, &nearest);
    free(one);
    free(other);
    return too_much ? -1 : found ? sqrt(nearest.distance2) : INFINITY;
}

static void compare(const char *name, model *m)
{
    const char *work = getenv("FLR_CLASH_WORK");
    const double limit = work ? strtod(work, NULL) : 5e6;
    flr_clash_part parts[MAX_PARTS];
    flr_box3 all = flr_box3_empty();
    flr_error error;
    for (uint32_t i = 0; i < m->count; i++) {
        flr_fit *fit;
        assert_ok(flr_fit_build(m->shape[i], NULL, &fit, &error), error);
        parts[i] = (flr_clash_part){.fit = fit, .T_world_part = m->T[i]};
        const flr_box3 box = flr_box3_transform(m->T[i], m->shape[i]->bounds);
        all.low = flr_vec3_min(all.low, box.low);
        all.high = flr_vec3_max(all.high, box.high);
    }
    flr_clash_def def = flr_default_clash_def();
    flr_clash_list list;
    def.parts = parts, def.part_count = m->count;
    def.clearance = 0.01 * flr_vec3_length(flr_box3_size(all)), def.touch = 0;
    assert_ok(flr_clash_find(&def, &list, &error), error);
    uint32_t compared = 0, left_out = 0, near = 0;
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t b = a + 1; b < m->count; b++) {
            const double wanted = brute_force(m, a, b, def.clearance, limit);
            const flr_clash_pair *found = NULL;
            for (size_t i = 0; i < list.pair_count; i++)
                if (list.pairs[i].a == a && list.pairs[i].b == b) found = &list.pairs[i];
            if (wanted < 0) {
                left_out++;
                continue;
            }
            compared++;
            near += wanted < def.clearance;
            // one part may be in the other as a whole, with surfaces far apart
            const bool within = found && found->state == FLR_CLASH_OVERLAP;
            const double is = found ? found->distance : INFINITY;
            if ((wanted < def.clearance) != (found != NULL) ? !within
                                                            : !within && fabs(is - wanted) > 1e-12)
                fail_msg("%s, parts %u and %u: %.9g m, %.9g by brute force", name, a, b, is,
                         wanted);
            if (found && found->state == FLR_CLASH_NEAR) assert_true(wanted > 0);
        }
    print_message("%s: %u parts, %u pairs equal, %u of them nearer than %.3g mm, %u left out\n",
                  name, m->count, compared, near, 1e3 * def.clearance, left_out);
    flr_clash_list_free(&list);
    for (uint32_t i = 0; i < m->count; i++) {
        flr_fit_destroy((flr_fit *)(uintptr_t)parts[i].fit);
        flr_mesh_destroy(m->mesh[i]);
    }
    flr_assembly_destroy(m->assembly);
}

static void shared_assemblies(void **state)
{
    (void)state;
    const char *models = flr_test_models_dir();
    if (!models) skip();
    static const char *const folders[] = {"asap_beam",
                                          "cycloidal_drive",
                                          "factory_gears",
                                          "factory_m16_nut_bolt",
                                          "factory_peg_hole_8mm",
                                          "furniture_drawer",
                                          "furniture_lamp",
                                          "wrs2020_drive_unit"};
    static const char *const files[] = {"as1-oc-214.stp", "IndexPnP.step"};
    char path[4096];
    model m;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/assembly/%s", models, folders[i]);
        if (read_list(path, &m)) compare(folders[i], &m);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/cad/%s", models, files[i]);
        if (read_cad(path, &m)) compare(files[i], &m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_assemblies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
