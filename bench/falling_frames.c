/* falling frames: the falling parts as `feeler run` moves them, with dynamics, motion checks and all: what a whole frame costs */
#include "bench/falling_frames.h"

#include <stdlib.h>
#include <string.h>

#include "feeler/world.h"
#include "models/models.h"

enum { FALLING_FRAMES = 2000, FALLING_MAX_PARTS = 100 };

typedef struct falling_case {
    uint32_t parts;
    double voxel; /* metres */
    unsigned threads;
} falling_case;

static const falling_case cases[] = {{5, 1e-3, 1},  {10, 1e-3, 1},  {15, 1e-3, 1}, {20, 1e-3, 1},
                                     {20, 1e-3, 2}, {100, 2e-3, 1}, {100, 2e-3, 2}};
enum { FALLING_CASES = sizeof cases / sizeof *cases };

/* Parts of the same file are one shape. */
static flr_result make_parts(const flr_model *model, double voxel, flr_part **shapes,
                             flr_world_part *parts, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < model->part_count && result == FLR_OK; i++) {
        const flr_scene_part *p = &model->parts[i];
        size_t first = 0;
        while (strcmp(model->parts[first].file, p->file) != 0) first++;
        flr_part_def def = flr_default_part_def();
        def.voxelize.voxel = voxel;
        def.density = 2700;
        if (first == i)
            result = flr_part_create(flr_env_real(), flr_model_find_mesh(model, p->file), &def,
                                     &shapes[i], error);
        if (result == FLR_OK)
            parts[i] = flr_part_in_world(shapes[first], p->moving ? FLR_PART_FREE : FLR_PART_STATIC,
                                         p->T_world_part);
    }
    return result;
}

static flr_result fall(const falling_case *c, const flr_world_part *parts, size_t frames,
                       double *us, flr_error *error)
{
    flr_world_def def = flr_default_world_def();
    def.parts = parts;
    def.part_count = c->parts + 1;
    def.hand_count = 0;
    def.threads = c->threads;
    def.params.step.gravity = flr_vec3_make(0, 0, -9.81);
    flr_world *world;
    flr_result result = flr_world_create(&def, &world, error);
    if (result != FLR_OK) return result;
    for (size_t f = 0; f < frames; f++) {
        double begin = c->threads > 1 ? flr_bench_wall_us() : flr_bench_processor_us();
        flr_world_step(world, NULL, NULL);
        us[f] = (c->threads > 1 ? flr_bench_wall_us() : flr_bench_processor_us()) - begin;
    }
    flr_world_destroy(world);
    return FLR_OK;
}

static flr_result measure(const falling_case *c, size_t frames, double *us, flr_error *error)
{
    flr_part *shapes[FALLING_MAX_PARTS + 1] = {0};
    flr_world_part parts[FALLING_MAX_PARTS + 1];
    flr_model model = {0};
    flr_scenario_options how = flr_default_scenario_options();
    how.number = c->parts;
    flr_result result = flr_scenario_build(flr_scenario_find("falling"), &how, &model, error);
    if (result == FLR_OK) result = make_parts(&model, c->voxel, shapes, parts, error);
    if (result == FLR_OK) result = fall(c, parts, frames, us, error);
    for (size_t i = 0; i <= FALLING_MAX_PARTS; i++) flr_part_destroy(shapes[i]);
    flr_model_free(&model);
    return result;
}

static void print_case(const falling_case *c, const double v[3], bool json, bool first, FILE *out)
{
    if (json)
        fprintf(out,
                "%s\n  {\"parts\": %u, \"voxel\": %.6g, \"threads\": %u, \"us\": {\"p50\": %.1f, "
                "\"p99\": %.1f, \"max\": %.1f}}",
                first ? "" : ",", c->parts, c->voxel, c->threads, v[0], v[1], v[2]);
    else
        fprintf(out, "%6u %7g %8u %9.1f %9.1f %9.1f %9.0f\n", c->parts, 1e3 * c->voxel, c->threads,
                v[0], v[1], v[2], 1e6 / v[1]);
}

flr_result flr_bench_falling_frames(const flr_bench_options *options, FILE *out, flr_error *error)
{
    size_t frames = FALLING_FRAMES / options->divide ? FALLING_FRAMES / options->divide : 1;
    double *us = malloc(frames * sizeof *us);
    if (!us) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (!options->json)
        fprintf(
            out,
            "\nwhole frames, with dynamics and motion checks: %zu of 1 ms; one thread: processor "
            "time, several: wall clock\n%6s %7s %8s %9s %9s %9s %9s\n",
            frames, "parts", "mm", "threads", "p50 [us]", "p99 [us]", "max [us]", "Hz (p99)");
    flr_result result = FLR_OK;
    for (size_t i = 0; i < FALLING_CASES && result == FLR_OK; i++) {
        result = measure(&cases[i], frames, us, error);
        if (result != FLR_OK) break;
        const double v[3] = {flr_bench_percentile(us, frames, 0.5),
                             flr_bench_percentile(us, frames, 0.99),
                             flr_bench_percentile(us, frames, 1)};
        print_case(&cases[i], v, options->json, i == 0, out);
        fflush(out);
    }
    free(us);
    return result;
}
