/* from triangles to voxels and surface points: the stages in order */
#include "feeler/voxels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "feeler/base.h"
#include "feeler/mesh_check.h"
#include "mesh/adjacency.h"
#include "mesh/features.h"
#include "voxel/field.h"
#include "voxel/shell.h"
#include "voxel/voxelize.h"

flr_voxelize_def flr_default_voxelize_def(void)
{
    flr_voxelize_def def = {.bits = 4, .range = 8, .features = true};
    def.T_voxmap_mesh = flr_pose_identity();
    return def;
}

/* ---- checking what is asked, before any work ---- */

flr_result flr_voxelize_check(const flr_voxelize_def *def, flr_error *error)
{
    if (!isfinite(def->voxel) || def->voxel <= 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "the voxel size must be greater than 0");
    if (def->bits != 2 && def->bits != 4 && def->bits != 8)
        return flr_fail(error, FLR_BAD_ARGUMENT, "marks have 2, 4 or 8 bits, not %u", def->bits);
    unsigned most = def->bits == 4 ? FLR_RANGE_MAX_4BIT : FLR_RANGE_MAX_8BIT;
    if (def->bits != 2 && (def->range < 1 || def->range > most))
        return flr_fail(error, FLR_BAD_ARGUMENT, "with %u bits the range is 1 to %u voxels, not %u",
                        def->bits, most, def->range);
    if (def->offset > 7 || (def->offset && def->bits != 2))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "an offset is for marks of 2 bits, and at most 7 layers; with %u bits "
                        "choose the force layer "
                        "when asking",
                        def->bits);
    if (!flr_pose_is_valid(def->T_voxmap_mesh))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the pose of the mesh is not a pose");
    return FLR_OK;
}

flr_box3 flr_voxelize_bounds(const flr_mesh *mesh, flr_pose T_voxmap_mesh)
{
    const flr_pose none = flr_pose_identity();
    if (memcmp(&T_voxmap_mesh, &none, sizeof none) == 0) return mesh->bounds;
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        box = flr_box3_add(box, flr_pose_apply(T_voxmap_mesh, mesh->vertices[i]));
    return box;
}

/* Two significant digits, rounded up: a size one would type. */
static double round_up(double size)
{
    double step = pow(10, floor(log10(size)) - 1);
    return ceil(size / step - 1e-9) * step;
}

flr_result flr_voxelize_check_size(flr_box3 box, const flr_voxelize_def *def, flr_error *error)
{
    flr_vec3 size = flr_box3_size(box);
    double largest = fmax(size.x, fmax(size.y, size.z)), s = def->voxel;
    if (s <= largest) return FLR_OK;
    return flr_fail(
        error, FLR_BAD_ARGUMENT,
        "the voxel (%s) is larger than the whole part (%s); take a smaller one, or give the "
        "unit of the part's file if that is another",
        FLR_SIZE_TEXT(s), FLR_SIZE_TEXT(largest));
}

bool flr_voxelize_is_wide(flr_box3 box, const flr_voxelize_def *def)
{
    /* hyperchunks have 32-bit numbers, 512 to a root cell; the margin counts, too */
    flr_vec3 size = flr_box3_size(box);
    double margin = 2.0 * (def->range + def->offset) + 2, s = def->voxel;
    double roots = ceil((size.x / s + margin) / 512) * ceil((size.y / s + margin) / 512) *
                   ceil((size.z / s + margin) / 512);
    return fmax(size.x, fmax(size.y, size.z)) / s > 1e6 || roots > 8e6;
}

double flr_voxelize_result_bytes(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def)
{
    flr_voxelize_needs needs;
    flr_voxelize_measure(mesh, box, def, flr_voxelize_default_limit(), &needs);
    return (double)needs.result;
}

double flr_voxelize_larger(flr_box3 box, const flr_voxelize_def *def, double part)
{
    flr_vec3 size = flr_box3_size(box);
    double largest = fmax(size.x, fmax(size.y, size.z));
    return round_up(fmax(def->voxel / sqrt(part) * 1.05, largest / 1e5));
}

/* The memory is that of this process, also where its files are those of a simulated machine. */
double flr_voxelize_default_limit(void)
{
    return 0.9 * (double)flr_memory_look(flr_env_real()).limit;
}

double flr_voxelize_memory_limit(const flr_voxelize_def *def)
{
    return def->memory_limit ? (double)def->memory_limit : flr_voxelize_default_limit();
}

/* A size whose voxels fit; what was measured at another size is a guess for this one, so it is measured, too. */
static double size_that_fits(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                             double need, double limit)
{
    enum { VOXELIZE_TRIES = 8 };
    flr_voxelize_def other = *def;
    flr_voxelize_needs needs;
    for (int i = 0; i < VOXELIZE_TRIES; i++) {
        other.voxel = flr_voxelize_larger(box, &other, fmin(1, limit / need));
        if (flr_voxelize_measure(mesh, box, &other, limit, &needs) != FLR_OK) break;
        need = (double)needs.memory;
        if (need <= limit && !flr_voxelize_is_wide(box, &other)) break;
    }
    return other.voxel;
}

flr_result flr_voxelize_check_room(const flr_mesh *mesh, flr_box3 box, const flr_voxelize_def *def,
                                   flr_voxelize_needs *needs, flr_error *error)
{
    char other[FLR_SIZE_TEXT_SIZE];
    double s = def->voxel;
    double limit = flr_voxelize_memory_limit(def);
    if (flr_voxelize_measure(mesh, box, def, limit, needs) != FLR_OK)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for voxels");
    double need = (double)needs->memory;
    if (need <= limit && !flr_voxelize_is_wide(box, def)) return FLR_OK;
    double better = size_that_fits(mesh, box, def, need, limit);
    return flr_fail(error, FLR_TOO_LARGE,
                    "voxels of %s need about %.3g GiB, and there are %.3g; try voxels of %s",
                    FLR_SIZE_TEXT(s), need / 0x1p30, limit / 0x1p30,
                    flr_size_print_tight(better, other));
}

static flr_result check_all(const flr_mesh *mesh, const flr_voxelize_def *def, flr_box3 *box,
                            flr_voxelize_needs *needs, flr_error *error)
{
    flr_result result = flr_voxelize_check(def, error);
    if (result != FLR_OK) return result;
    *box = flr_voxelize_bounds(mesh, def->T_voxmap_mesh);
    if ((result = flr_voxelize_check_size(*box, def, error)) != FLR_OK) return result;
    if (def->memory_limit == UINT64_MAX && !flr_voxelize_is_wide(*box, def)) return FLR_OK;
    return flr_voxelize_check_room(mesh, *box, def, needs, error);
}

flr_result flr_voxelize_estimate(const flr_mesh *mesh, const flr_voxelize_def *def,
                                 flr_voxelize_needs *needs, flr_error *error)
{
    flr_box3 box;
    flr_voxelize_needs found;
    flr_result result = check_all(mesh, def, &box, &found, error);
    if (result == FLR_OK) *needs = found;
    return result;
}

/* ---- features as the scan wants them ---- */

/* `share` of that stage is done. */
static flr_result still_listing(const flr_build_watch *watch, double share)
{
    return !watch || watch->go_on(watch->context, share) ? FLR_OK : FLR_CANCELLED;
}

flr_result flr_list_features(const flr_mesh *mesh, double voxel, unsigned threads,
                             const flr_build_watch *watch, flr_feature_lists *lists,
                             flr_error *error)
{
    flr_adjacency *adjacency = NULL;
    flr_features *features = NULL;
    flr_result result = flr_adjacency_create_edges(mesh, threads, &adjacency, error);
    if (result == FLR_OK) result = still_listing(watch, 0.4);
    if (result == FLR_OK)
        result = flr_features_create_threads(mesh, adjacency, voxel, threads, &features, error);
    if (result == FLR_OK) result = still_listing(watch, 0.9);
    if (result == FLR_OK) {
        lists->edges = malloc((features->edge_count + 1u) * sizeof *lists->edges);
        lists->corners = malloc((features->vertex_count + 1u) * sizeof *lists->corners);
        if (!lists->edges || !lists->corners)
            result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for features");
    }
    if (result == FLR_OK) {
        lists->polygon_count = features->polygon_count;
        for (uint32_t i = 0; i < features->edge_total; i++)
            if (features->edge_flags[i]) lists->edges[lists->edge_count++] = adjacency->edges[i];
        for (uint32_t i = 0; i < features->vertex_total; i++)
            if (features->vertex_flags[i]) lists->corners[lists->corner_count++] = i;
    }
    flr_features_destroy(features);
    flr_adjacency_destroy(adjacency);
    return result;
}

void flr_free_features(flr_feature_lists *lists)
{
    free(lists->edges);
    free(lists->corners);
    *lists = (flr_feature_lists){0};
}

void flr_count_layers(const flr_build *build, uint32_t first, uint32_t count,
                      flr_voxmap_stats *stats)
{
    uint64_t counts[FLR_LAYER_COUNT] = {0};
    for (uint32_t i = first; i < first + count; i++)
        for (int layer = 0; layer < FLR_LAYER_COUNT; layer++)
            for (unsigned k = flr_mask_count(&build->hypers[i].used[layer]); k--;)
                counts[layer] += flr_mask_count(&build->hypers[i].masks[layer][k]);
    stats->surface_voxels += counts[FLR_LAYER_SURFACE];
    stats->edge_voxels += counts[FLR_LAYER_EDGE];
    stats->vertex_voxels += counts[FLR_LAYER_VERTEX];
    stats->hyperchunks += count;
}

flr_voxmap_header flr_voxelize_header(const flr_voxelize_def *def)
{
    flr_voxmap_header header = {.magic = {'f', 'l', 'r', 'v', 'o', 'x', 'm', '\n'},
                                .version = FLR_VOXMAP_VERSION,
                                .byte_order = 0x01020304};
    header.bits = def->bits;
    header.range = def->bits == 2 ? 1 + def->offset : def->range;
    header.offset = def->bits == 2 ? def->offset : 0;
    header.features = def->features;
    header.hollow = def->hollow;
    header.T_voxmap_mesh = def->T_voxmap_mesh;
    return header;
}

flr_voxmap_header flr_voxelize_begin_header(const flr_mesh *mesh, const flr_voxelize_def *def,
                                            flr_box3 box)
{
    flr_voxmap_header header = flr_voxelize_header(def);
    header.mesh_hash = flr_mesh_hash(mesh);
    header.stats.triangles = mesh->triangle_count;
    header.grid = flr_grid_around(box, def->voxel, header.range);
    return header;
}

/* ---- the stages ---- */

static bool stage_goes_on(void *context, double share)
{
    const flr_stages *s = context;
    return !s->def->progress ||
           s->def->progress(s->def->context, s->from + share * (s->to - s->from), s->name);
}

flr_stages flr_stages_begin(flr_env *env, const flr_voxelize_def *def, flr_error *error)
{
    int64_t now = flr_clock_ns(env);
    return (flr_stages){.env = env, .def = def, .error = error, .begin = now, .last = now};
}

flr_build_watch flr_stages_watch(flr_stages *s) { return (flr_build_watch){stage_goes_on, s}; }

flr_result flr_stages_next(flr_stages *s, double *seconds, double to, const char *name)
{
    int64_t now = flr_clock_ns(s->env);
    if (seconds) *seconds += (double)(now - s->last) * 1e-9;
    s->last = now;
    s->from = s->to;
    s->to = to;
    s->name = name;
    return stage_goes_on(s, 0) ? FLR_OK : FLR_CANCELLED;
}

static flr_result run_stages(flr_stages *s, const flr_mesh *mesh, flr_box3 box, flr_build *build,
                             flr_feature_lists *lists, flr_voxmap **voxmap, flr_shell **shell,
                             flr_voxelize_report *report)
{
    const flr_voxelize_def *def = s->def;
    flr_voxmap_header header = flr_voxelize_begin_header(mesh, def, box);
    const flr_build_watch watch = flr_stages_watch(s);
    flr_result result = flr_stages_next(s, NULL, 0.1, "features");
    if (result == FLR_OK && def->features)
        result = flr_list_features(mesh, def->voxel, def->threads, &watch, lists, s->error);
    header.stats.polygons = lists->polygon_count;
    if (result == FLR_OK) result = flr_stages_next(s, &report->seconds.features, 0.3, "triangles");

    *build = (flr_build){.mesh = mesh,
                         .watch = &watch,
                         .grid = header.grid,
                         .threads = def->threads,
                         .edges = lists->edges,
                         .edge_count = lists->edge_count,
                         .corners = lists->corners,
                         .corner_count = lists->corner_count};
    if (result == FLR_OK) result = flr_build_scan(build, def->T_voxmap_mesh, s->error);
    if (result == FLR_OK) {
        memcpy(header.roots, build->roots, sizeof header.roots);
        flr_count_layers(build, 0, build->hyper_count, &header.stats);
        result = flr_stages_next(s, &report->seconds.scan, 0.4, "interior");
    }
    if (result == FLR_OK && !def->hollow) result = flr_build_fill(build, s->error);
    if (result == FLR_OK) result = flr_stages_next(s, &report->seconds.fill, 0.8, "chunks");

    flr_voxmap *made = NULL;
    if (result == FLR_OK && voxmap &&
        (result = flr_voxmap_make(build, &header, NULL, &made)) != FLR_OK)
        flr_fail(s->error, result, "not enough memory for the voxels; try a larger voxel size");
    if (result == FLR_OK) result = flr_stages_next(s, &report->seconds.fields, 1, "points");
    if (result == FLR_OK && shell)
        result = flr_shell_make(build, def, 0, build->hyper_count, shell, s->error);
    if (result == FLR_OK) flr_stages_next(s, &report->seconds.shell, 1, "done");
    if (result == FLR_CANCELLED) flr_fail(s->error, result, "voxelizing was stopped");
    if (result != FLR_OK) {
        flr_voxmap_destroy(made);
        return result;
    }
    report->voxels = made ? made->header->stats : header.stats;
    if (voxmap) *voxmap = made;
    return FLR_OK;
}

flr_result flr_voxelize(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                        flr_voxmap **voxmap, flr_shell **shell, flr_voxelize_report *report,
                        flr_error *error)
{
    flr_box3 box;
    flr_voxelize_needs needs;
    flr_result result = check_all(mesh, def, &box, &needs, error);
    if (result != FLR_OK) return result;

    flr_voxelize_report ours = {0};
    flr_build build = {0};
    flr_feature_lists lists = {0};
    flr_stages s = flr_stages_begin(env, def, error);
    result = run_stages(&s, mesh, box, &build, &lists, voxmap, shell, &ours);
    flr_build_free(&build);
    flr_free_features(&lists);
    if (result != FLR_OK) return result;
    ours.seconds.total = (double)(flr_clock_ns(env) - s.begin) * 1e-9;
    if (report) *report = ours;
    return FLR_OK;
}
