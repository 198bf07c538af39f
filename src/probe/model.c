/* making a mesh ready to be probed */
#include <math.h>
#include <stdlib.h>

#include "base/large_pages.h"
#include "probe/probe_kernel.h"

/* In a hybrid, cells with more triangles than this hold trees: two blocks are scanned faster than a tree is walked. */
enum { CROWDED = 32 };

flr_probe_def flr_default_probe_def(void)
{
    flr_probe_def def = {.method = FLR_PROBE_BEST, .simd = FLR_SIMD_BEST, .crease = 0.7};
    return def;
}

static void choose_kernels(flr_probe_model *model, flr_simd simd)
{
    simd = flr_simd_resolve(simd);
    model->gather = simd == FLR_SIMD_AVX512 ? flr_gather_avx512
                    : simd == FLR_SIMD_AVX2 ? flr_gather_avx2
                    : simd == FLR_SIMD_NEON ? flr_gather_neon
                                            : flr_gather_scalar;
    model->near = simd == FLR_SIMD_AVX512 ? flr_near_avx512
                  : simd == FLR_SIMD_AVX2 ? flr_near_avx2
                  : simd == FLR_SIMD_NEON ? flr_near_neon
                                          : flr_near_scalar;
    model->meet = simd == FLR_SIMD_AVX512 ? flr_node_avx512
                  : simd == FLR_SIMD_AVX2 ? flr_node_avx2
                  : simd == FLR_SIMD_NEON ? flr_node_neon
                                          : flr_node_scalar;
    model->info.simd = flr_simd_name(simd);
}

/* What is near in a model without triangles, and in a tree, which has no cells to tell. */
static uint32_t near_nothing(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                             uint32_t *list)
{
    (void)model, (void)a, (void)b, (void)list;
    return 0;
}

static uint32_t near_unknown(const flr_probe_model *model, const flr_vec3 *a, const flr_vec3 *b,
                             uint32_t *list)
{
    (void)model, (void)a, (void)b, (void)list;
    return FLR_PROBE_NONE;
}

static flr_result make(flr_probe_model *model, const flr_probe_def *def, flr_error *error)
{
    model->info.method = def->method == FLR_PROBE_BEST ? FLR_PROBE_GRID : def->method;
    choose_kernels(model, def->simd);
    if (!def->mesh || def->mesh->triangle_count == 0) {
        model->near = near_nothing;
        return FLR_OK;
    }
    model->mesh = def->mesh;
    model->centre = flr_box3_centre(def->mesh->bounds);
    model->size = flr_vec3_length(flr_box3_size(def->mesh->bounds));
    flr_result result =
        model->info.method == FLR_PROBE_TREE
            ? flr_probe_make_tree(model, error)
            : flr_probe_make_grid(model, def->grain,
                                  model->info.method == FLR_PROBE_HYBRID ? CROWDED : UINT32_MAX,
                                  error);
    if (model->info.references == 0)
        model->mesh = NULL; /* triangles without area: as if there were none */
    if (!model->slots) model->near = model->mesh ? near_unknown : near_nothing;
    if (result == FLR_OK && model->mesh && def->shading)
        result = flr_probe_make_shading(model, def->crease, error);
    return result;
}

static size_t table_bytes(const flr_probe_model *model)
{
    return model->slots ? ((size_t)model->mask + 1) * sizeof *model->slots : 0;
}

static size_t block_bytes(const flr_probe_model *m) { return m->block_count * sizeof *m->blocks; }
static size_t node_bytes(const flr_probe_model *m) { return m->node_count * sizeof *m->nodes; }
static size_t frame_bytes(const flr_probe_model *m)
{
    return m->frames ? m->block_count * sizeof *m->frames : 0;
}

flr_result flr_probe_model_create(const flr_probe_def *def, flr_probe_model **model,
                                  flr_error *error)
{
    if (!(def->grain >= 0 && def->grain < INFINITY) || !(def->crease >= 0))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a grain must be 0 or a length, and a crease 0 or an angle");
    if (!flr_simd_has(def->simd))
        return flr_fail(error, FLR_UNSUPPORTED, "this processor or this build has no %s",
                        flr_simd_name(def->simd));
    flr_probe_model *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to probe a mesh");
    flr_result result = make(made, def, error);
    if (result != FLR_OK) {
        flr_probe_model_destroy(made);
        return result;
    }
    made->info.grain = made->slots ? made->cell : 0;
    made->info.nodes = made->node_count;
    made->info.bytes = sizeof *made + table_bytes(made) + block_bytes(made) + frame_bytes(made) +
                       node_bytes(made) +
                       (made->corner_normals ? 36 * (size_t)def->mesh->triangle_count : 0);
    *model = made;
    return FLR_OK;
}

void flr_probe_model_destroy(flr_probe_model *model)
{
    if (!model) return;
    flr_pages_free(model->slots, table_bytes(model));
    flr_pages_free(model->blocks, block_bytes(model));
    flr_pages_free(model->frames, frame_bytes(model));
    flr_pages_free(model->nodes, node_bytes(model));
    free(model->corner_normals);
    free(model);
}

flr_probe_info flr_probe_model_info(const flr_probe_model *model) { return model->info; }
const flr_mesh *flr_probe_model_mesh(const flr_probe_model *model) { return model->mesh; }
double flr_probe_model_size(const flr_probe_model *model) { return model->size; }
