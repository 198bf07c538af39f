/* feeler info: how the parts of a scene touch: engine, voxels, exact geometry, and what is near or in each other at the start */

#include "feeler/fit.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "scene/scene_joint.h"
#include "sim/gaps.h"
#include "sim/resolution.h"

enum {
    INFO_GAPS = 16,              /* pairs that are listed */
    INFO_MAX_TRIANGLES = 300000, /* of a part that is measured */
};
#define INFO_NEAR 1e-3 /* metres: nearer pairs are listed */

/* ---- exact geometry ---- */

typedef struct fit_sum {
    size_t bytes, parts;
    double seconds;
    uint32_t found; /* in the cache */
} fit_sum;

static bool show_fit(void *context, double done)
{
    flr_progress(context, (uint64_t)(100 * done), 100, "building exact geometry");
    return !flr_stop_wanted();
}

/* Of each shape once: what the exact engine needs of it, and how long that takes. */
static flr_result sum_fits(flr_cli *cli, const flr_part_list *parts, fit_sum *sum, flr_error *error)
{
    char folder[FLR_CACHE_PATH_SIZE];
    flr_cache cache = {0};
    if (flr_find_cache(NULL, folder, NULL) == FLR_OK) cache.folder = folder;
    for (uint32_t i = 0; i < parts->count; i++) {
        flr_fit_def def = flr_default_fit_def();
        flr_fit *fit;
        flr_fit_report report;
        if (!flr_part_list_is_first(parts, i)) continue;
        def.progress = show_fit;
        def.progress_context = cli;
        int64_t begin = flr_clock_ns(cli->env);
        flr_result result = flr_fit_open(cli->env, &cache, parts->list[i].shape->mesh->mesh, &def,
                                         &fit, &report, error);
        if (result != FLR_OK) return result;
        sum->seconds += 1e-9 * (double)(flr_clock_ns(cli->env) - begin);
        sum->bytes += flr_fit_get_info(fit).bytes;
        sum->found += report.found;
        sum->parts++;
        flr_fit_destroy(fit);
    }
    return FLR_OK;
}

static flr_result tell_fits(flr_cli *cli, const flr_part_list *parts, json_t *facts,
                            flr_error *error)
{
    fit_sum sum = {0};
    flr_result result = sum_fits(cli, parts, &sum, error);
    flr_progress_end(cli);
    if (result != FLR_OK) return result;
    flr_print(cli, "  geometry    %s for exact contact, %s in %.3g s\n", FLR_BYTES_TEXT(sum.bytes),
              sum.found == sum.parts ? "read from the cache" : "built", sum.seconds);
    json_t *o = flr_json_object();
    flr_json_set(o, "bytes", flr_json_count(sum.bytes));
    flr_json_set(o, "seconds", flr_json_number(sum.seconds));
    flr_json_set(o, "cached", json_boolean(sum.found == sum.parts));
    flr_json_set(facts, "exact_geometry", o);
    return FLR_OK;
}

/* ---- gaps ---- */

static json_t *gap_json(const flr_part_list *parts, const flr_gap *g)
{
    json_t *o = flr_json_object(), *names = flr_json_array(), *points = flr_json_array();
    flr_json_push(names, flr_json_text(parts->list[g->a].name));
    flr_json_push(names, flr_json_text(parts->list[g->b].name));
    flr_json_push(points, flr_json_vec3(g->from));
    flr_json_push(points, flr_json_vec3(g->to));
    flr_json_set(o, "parts", names);
    flr_json_set(o, "distance", flr_json_number(g->distance));
    flr_json_set(o, "error", flr_json_number(g->error));
    flr_json_set(o, "points", points);
    return o;
}

static void tell_gap(flr_cli *cli, const flr_part_list *parts, const flr_gap *g, double tolerated)
{
    flr_print(cli, "    %s and %s: %s at %.4g %.4g %.4g mm%s\n", FLR_SAFE(parts->list[g->a].name),
              FLR_SAFE(parts->list[g->b].name), FLR_GAP_TEXT(g->distance, g->error),
              1e3 * g->from.x, 1e3 * g->from.y, 1e3 * g->from.z,
              -g->distance > tolerated ? ", deeper than is tolerated" : "");
}

/* Leaves out pairs that never touch: parts of a rigid group, and parts that a joint ties. */
static flr_result leave_tied(const flr_scene *scene, flr_gap *gaps, uint32_t *count,
                             flr_error *error)
{
    flr_mechanism *mechanism;
    flr_result result = flr_scene_mechanism(scene, &mechanism, error);
    if (result != FLR_OK || !mechanism) return result;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (flr_mechanism_may_touch(mechanism, gaps[i].a, gaps[i].b)) gaps[kept++] = gaps[i];
    *count = kept;
    flr_mechanism_destroy(mechanism);
    return FLR_OK;
}

/* What is in each other at the start, and what is near. */
static flr_result tell_gaps(flr_cli *cli, const flr_scene *scene, const flr_part_list *parts,
                            json_t *facts, flr_error *error)
{
    flr_gaps_def def = {
        .env = cli->env, .parts = parts, .within = INFO_NEAR, .max_triangles = INFO_MAX_TRIANGLES};
    flr_gap gaps[INFO_GAPS];
    uint32_t count = 0, overlaps = 0;
    flr_progress(cli, 0, 1, "measuring gaps");
    flr_result result = flr_gaps_measure(&def, gaps, INFO_GAPS, &count, error);
    flr_progress_end(cli);
    if (result == FLR_OK) result = leave_tied(scene, gaps, &count, error);
    if (result != FLR_OK) return result;
    json_t *within = flr_json_array(), *near = flr_json_array();
    while (overlaps < count && gaps[overlaps].distance <= 0) overlaps++;
    if (overlaps > 0)
        flr_print(cli, "  overlaps    %u at the start; the exact engine tolerates %.4g mm\n",
                  overlaps, 1e3 * scene->contact.overlap);
    for (uint32_t i = 0; i < count; i++) {
        if (i == overlaps)
            flr_print(cli, "  gaps        %u below 1 mm at the start\n", count - overlaps);
        tell_gap(cli, parts, &gaps[i], scene->contact.overlap);
        flr_json_push(i < overlaps ? within : near, gap_json(parts, &gaps[i]));
    }
    flr_json_set(facts, "overlaps", within);
    flr_json_set(facts, "gaps", near);
    return FLR_OK;
}

flr_result flr_info_contact(flr_cli *cli, const flr_scene *scene, const flr_part_list *parts,
                            const flr_resolution *chosen, json_t *facts, flr_error *error)
{
    flr_resolution r = *chosen;
    const bool takes = !flr_scene_chooses_engine(&scene->contact) && r.exact;
    const bool exact = takes || scene->contact.engine == FLR_ENGINE_EXACT;
    const char *engine = flr_scene_engines[exact ? FLR_ENGINE_EXACT : scene->contact.engine];
    if (takes) flr_resolution_take_exact(&r);
    flr_print(cli, "  engine      %s%s\n", engine,
              exact ? ": exact distances, without voxels" : "");
    flr_json_set(facts, "engine", flr_json_text(engine));
    if (takes) {
        flr_print(cli, "              %s\n", r.sentence);
        flr_json_set(facts, "chosen_because", flr_json_text(r.sentence));
    }
    if (chosen->voxel > 0 && !exact) {
        flr_print(cli, "  voxel       %s\n", chosen->sentence);
        flr_json_set(facts, "chosen_voxel", flr_json_number(chosen->voxel));
        flr_json_set(facts, "chosen_because", flr_json_text(chosen->sentence));
    }
    flr_result result = exact ? tell_fits(cli, parts, facts, error) : FLR_OK;
    return result == FLR_OK ? tell_gaps(cli, scene, parts, facts, error) : result;
}
