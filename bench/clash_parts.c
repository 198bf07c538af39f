/* assemblies for `feeler bench clash`: a few shapes, many instances */
#include "bench/clash_parts.h"

#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"

enum { PART_AROUND = 128 /* points around a turned part */ };

#define MM 1e-3

/* ---- shapes ---- */

enum clash_shape {
    PART_BLOCK,
    PART_BUSH,
    PART_BOLT,
    PART_ROD,
    PART_COLLAR,
    PART_BAR,
    PART_DOOR,
    PART_POST
};

static const flr_clash_solid shapes[FLR_CLASH_SHAPES] = {
    [PART_BLOCK] = {.size = {40 * MM, 40 * MM, 10 * MM}},
    [PART_BUSH] = {.count = 4,
                   .r = {4.2 * MM, 6 * MM, 6 * MM, 4.2 * MM},
                   .z = {0, 0, 12 * MM, 12 * MM}},
    [PART_BOLT] = {.count = 6,
                   .r = {0, 4 * MM, 4 * MM, 6 * MM, 6 * MM, 0},
                   .z = {0, 0, 11.5 * MM, 11.5 * MM, 15.5 * MM, 15.5 * MM}},
    [PART_ROD] = {.count = 4,
                  .r = {0, 3 * MM, 3 * MM, 0},
                  .z = {-19 * MM, -19 * MM, 19 * MM, 19 * MM}},
    [PART_COLLAR] = {.count = 4,
                     .r = {3.3 * MM, 6 * MM, 6 * MM, 3.3 * MM},
                     .z = {-4 * MM, -4 * MM, 4 * MM, 4 * MM}},
    [PART_BAR] = {.size = {38 * MM, 6 * MM, 4 * MM}},
    [PART_DOOR] = {.size = {300 * MM, 200 * MM, 12 * MM}},
    [PART_POST] = {.count = 4, .r = {0, 8 * MM, 8 * MM, 0}, .z = {0, 0, 120 * MM, 120 * MM}},
};

/* A turned part: every point of the profile goes around, those on the axis do not. */
static flr_result make_turned(const flr_clash_solid *s, flr_mesh **mesh, flr_error *error)
{
    flr_vec3 v[FLR_CLASH_PROFILE * PART_AROUND];
    flr_triangle t[2 * FLR_CLASH_PROFILE * PART_AROUND];
    uint32_t first[FLR_CLASH_PROFILE], n = 0, count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t points = s->r[i] > 0 ? PART_AROUND : 1;
        first[i] = n;
        for (uint32_t k = 0; k < points; k++) {
            const double angle = FLR_TWO_PI * k / PART_AROUND;
            v[n++] = flr_vec3_make(s->r[i] * cos(angle), s->r[i] * sin(angle), s->z[i]);
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t next = (i + 1) % s->count;
        const bool here = s->r[i] > 0, there = s->r[next] > 0;
        for (uint32_t k = 0; k < PART_AROUND; k++) {
            const uint32_t after = (k + 1) % PART_AROUND;
            const uint32_t a = first[i] + (here ? k : 0), b = first[i] + (here ? after : 0);
            const uint32_t c = first[next] + (there ? k : 0), d = first[next] + (there ? after : 0);
            if (here) t[count++] = (flr_triangle){{a, b, d}};
            if (there) t[count++] = (flr_triangle){{a, d, c}};
        }
    }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = v, def.vertex_count = n;
    def.triangles = t, def.triangle_count = count;
    return flr_mesh_create(&def, mesh, error);
}

static flr_result make_shape(uint32_t at, flr_clash_parts *parts, flr_error *error)
{
    const flr_clash_solid *s = &parts->solids[at];
    flr_result result =
        s->count ? make_turned(s, &parts->meshes[at], error)
                 : flr_bench_make_box(s->size, flr_vec3_zero(), &parts->meshes[at], error);
    if (result != FLR_OK) return result;
    return flr_fit_build(parts->meshes[at], NULL, &parts->fits[at], error);
}

/* ---- places ---- */

static double any(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* A part of a unit: where it is in it, and how it stands. */
static const struct place {
    enum clash_shape shape;
    double x, y, z; /* mm */
    bool lies;      /* its axis along x */
} unit[FLR_CLASH_UNIT] = {
    {PART_BLOCK, 0, 0, 0, false},      {PART_BUSH, -12, 10, 5.3, false},
    {PART_BUSH, 0, 10, 5.3, false},    {PART_BUSH, 12.2, 10, 5.3, false},
    {PART_BOLT, -12, 10, 6.2, false},  {PART_BOLT, 0, 10, 6.2, false},
    {PART_BOLT, 12.2, 10, 6.2, false}, {PART_ROD, 0, -4, 12, true},
    {PART_COLLAR, 3, -4, 12, true},    {PART_BAR, 0, -14.5, 7.4, false},
};

static void place_all(flr_clash_parts *parts, uint64_t seed)
{
    const flr_quat askew = flr_quat_from_axis_angle(flr_vec3_make(0.48, 0.6, 0.64), 0.7),
                   lying = flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), FLR_TWO_PI / 4);
    const flr_pose T_world_floor = flr_pose_make(flr_vec3_zero(), askew);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct place *p = &unit[i % FLR_CLASH_UNIT];
        const uint32_t row = i / FLR_CLASH_UNIT / 10, column = i / FLR_CLASH_UNIT % 10;
        const double shift = p->shape == PART_BOLT && any(&seed) < 0.05 ? 0.35 : 0;
        const double x = p->x + 40.7 * column + shift + 0.1 * any(&seed),
                     y = p->y + 40.7 * row + 0.1 * any(&seed), z = p->z + 0.1 * any(&seed);
        parts->shape[i] = p->shape;
        parts->poses[i] =
            flr_pose_mul(T_world_floor, flr_pose_make(flr_vec3_make(x * MM, y * MM, z * MM),
                                                      p->lies ? lying : flr_quat_identity()));
        parts->triangles += parts->meshes[p->shape]->triangle_count;
    }
}

flr_result flr_clash_parts_make(uint32_t count, uint64_t seed, flr_clash_parts *parts,
                                flr_error *error)
{
    *parts = (flr_clash_parts){.count = count};
    parts->shape = calloc(count, sizeof *parts->shape);
    parts->poses = calloc(count, sizeof *parts->poses);
    flr_result result = FLR_OK;
    if (!parts->shape || !parts->poses)
        result = flr_fail(error, FLR_NO_MEMORY, "no memory for %u parts", count);
    for (uint32_t i = 0; i < FLR_CLASH_SHAPES && result == FLR_OK; i++) {
        parts->solids[i] = shapes[i];
        result = make_shape(i, parts, error);
    }
    if (result == FLR_OK)
        place_all(parts, seed);
    else
        flr_clash_parts_free(parts);
    return result;
}

void flr_clash_parts_free(flr_clash_parts *parts)
{
    for (uint32_t i = 0; i < FLR_CLASH_SHAPES; i++) {
        flr_fit_destroy(parts->fits[i]);
        flr_mesh_destroy(parts->meshes[i]);
    }
    free(parts->shape);
    free(parts->poses);
    *parts = (flr_clash_parts){0};
}
