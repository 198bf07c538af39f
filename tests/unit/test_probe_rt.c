/* queries and the proxy neither allocate nor lock nor call the system */
#include <math.h>

#include "feeler/probe.h"
#include "support/fixtures.h"
#include "support/quiet.h"

enum { QUERIES = 2000 };

typedef struct subject {
    flr_test_shape shape;
    flr_probe_model *models[3 * FLR_SIMD_NEON];
    int count;
} subject;

static int begin(void **state)
{
    subject *s = calloc(1, sizeof *s);
    flr_test_shape_torus(&s->shape, 2, 0.7, 24, 16);
    for (int i = 0; i < 3 * FLR_SIMD_NEON; i++) {
        flr_probe_def def = flr_default_probe_def();
        def.mesh = flr_test_shape_mesh(&s->shape);
        def.method = (flr_probe_method)(FLR_PROBE_GRID + i % 3);
        def.simd = (flr_simd)(FLR_SIMD_SCALAR + i / 3);
        def.shading = true;
        if (flr_probe_model_create(&def, &s->models[s->count], NULL) == FLR_OK) s->count++;
    }
    *state = s;
    return 0;
}

static int end(void **state)
{
    subject *s = *state;
    for (int i = 0; i < s->count; i++) flr_probe_model_destroy(s->models[i]);
    flr_test_shape_free(&s->shape);
    free(s);
    return 0;
}

/* Everything that may be asked in the loop; segments through vertices and in planes, too, for what is judged exactly. */
static uint64_t ask(void *context)
{
    const subject *s = context;
    const flr_mesh *mesh = &s->shape.mesh;
    uint64_t hits = 0;
    flr_proxy proxy = flr_proxy_none();
    flr_proxy_params params = flr_default_proxy_params();
    params.static_friction = 0.6, params.dynamic_friction = 0.4, params.shading = true;
    for (int i = 0; i < QUERIES; i++) {
        const flr_probe_model *model = s->models[i % s->count];
        flr_probe_witness witness = {(uint32_t)i % mesh->triangle_count};
        flr_probe_hit hit;
        flr_proxy_result result;
        flr_vec3 a = {3 * sin(i), 3 * cos(0.7 * i), sin(0.3 * i)};
        flr_vec3 b = mesh->vertices[(uint32_t)i * 7 % mesh->vertex_count];
        if (i % 50 == 0) a.x = 1e300;
        hits += flr_probe_first(model, a, b, &witness, &hit);
        hits += flr_probe_any(model, b, a, &witness);
        hits += flr_probe_touch(model, a, flr_vec3_scale(a, 0.3), &witness).intersection;
        hits += flr_probe_reference(mesh, a, b, &hit);
        flr_proxy_step(&proxy, model, flr_vec3_make(3 * sin(0.01 * i), 3 * cos(0.013 * i), 0.1),
                       &params, &result);
        hits += result.touching;
    }
    return hits;
}

static void asking_is_quiet(void **state) { flr_test_quiet(ask, *state, NULL); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_is_quiet),
    };
    return cmocka_run_group_tests_name("probe_rt", tests, begin, end);
}
