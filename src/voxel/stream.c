/* building a voxel file that is larger than memory: up to the plan */
#include "voxel/stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "feeler/base.h"
#include "voxel/tile.h"

enum {
    SCAN_BATCH = 512, /* hyperchunks: 15 kB of masks each, 160 kB at worst */
    MIN_BATCH = 1 << 20,
    MAX_BATCH = 32 << 20
};

/* ---- memory ---- */

size_t flr_stream_batch(const flr_stream *s)
{
    uint64_t some = s->limit / 32;
    return some < MIN_BATCH ? MIN_BATCH : some > MAX_BATCH ? MAX_BATCH : (size_t)some;
}

/* What stays in memory for all of the file, so far. */
static uint64_t lasting_bytes(const flr_stream *s)
{
    const flr_build *b = &s->build;
    uint64_t bytes = (uint64_t)s->mesh->vertex_count * 2 * sizeof(flr_vec3) +
                     (uint64_t)s->mesh->triangle_count * sizeof(flr_triangle);
    bytes += s->lists.edge_count * sizeof(flr_edge) + s->lists.corner_count * sizeof(uint32_t);
    if (b->hyper_count) {
        const flr_build_hyper *last = &b->hypers[b->hyper_count - 1];
        bytes += ((uint64_t)last->first_primitive + last->primitive_count) * sizeof(uint32_t);
    }
    bytes += (uint64_t)b->hyper_count *
             (sizeof *b->hypers + sizeof(uint64_t) + sizeof(uint32_t) + sizeof(flr_shell_hyper));
    bytes += (uint64_t)b->node_count * sizeof *b->nodes;
    for (int field = 0; field < FLR_FIELD_COUNT; field++)
        bytes += s->plan.place[field].hyper_count * sizeof(flr_field_hyper) +
                 s->plan.place[field].node_count * 512 * sizeof(uint32_t);
    bytes += s->plan.chunk_place.node_count * 512 * sizeof(uint32_t) +
             s->plan.chunk_place.plane_count * 256;
    return bytes + s->file_size / FLR_VOXFILE_BLOCK * sizeof(flr_hash);
}

/* Cuts slabs that leave room for the rest. */
static flr_result cut_slabs(flr_stream *s)
{
    uint64_t lasting = lasting_bytes(s);
    lasting += 3 * (uint64_t)flr_stream_batch(s) +
               flr_parallel_threads(s->def->threads) * (uint64_t)(2 * sizeof(flr_tile));
    lasting += s->limit / 16; /* what allocating takes beside what is asked for */
    uint64_t room = s->limit > lasting ? s->limit - lasting : 1;
    uint64_t bytes = s->slab_bytes ? s->slab_bytes : room;
    flr_result result = flr_slabs_cut(&s->slabs, bytes, s->error);
    if (result != FLR_OK || s->slab_bytes || s->slabs.largest <= room) return result;
    return flr_fail(s->error, FLR_TOO_LARGE,
                    "voxels of %s need at least %.3g GiB, even when they are built slab by slab, "
                    "and there are %.3g; use larger voxels or allow more memory",
                    FLR_SIZE_TEXT(s->def->voxel), (double)(lasting + s->slabs.largest) / 0x1p30,
                    (double)s->limit / 0x1p30);
}

/* ---- the stages ---- */

/* Where a stage has runs the share of each is not that of the whole. */
static bool goes_on(void *context, double share)
{
    flr_stream *s = context;
    flr_build_watch watch = flr_stages_watch(&s->stages);
    return watch.go_on(watch.context, s->share < 0 ? share : s->share);
}

static flr_result check(flr_stream *s, flr_box3 *box)
{
    flr_result result = flr_voxelize_check(s->def, s->error);
    if (result != FLR_OK) return result;
    *box = flr_voxelize_bounds(s->mesh, s->def->T_voxmap_mesh);
    uint64_t room;
    result = flr_voxelize_check_size(*box, s->def, s->error);
    if (result == FLR_OK) result = flr_path_room(s->env, s->path, &room, s->error);
    if (result != FLR_OK) return result;
    /* refused is what cannot fit; the rest will be known when it is planned. The estimate is rather too much, for large smooth
     * parts without points five times */
    s->estimate = flr_voxelize_result_bytes(s->mesh, *box, s->def);
    double need = s->estimate / 6;
    if (need <= (double)room && !flr_voxelize_is_wide(*box, s->def)) return FLR_OK;
    char other[FLR_SIZE_TEXT_SIZE];
    return flr_fail(s->error, FLR_TOO_LARGE,
                    "voxels of %s need %.3g GiB or more, and there are %.3g on the disk; try "
                    "voxels of %s",
                    FLR_SIZE_TEXT(s->def->voxel), need / 0x1p30, (double)room / 0x1p30,
                    flr_size_print_tight(
                        flr_voxelize_larger(*box, s->def, fmin(1, (double)room / need)), other));
}

static flr_result scan(flr_stream *s)
{
    flr_build *build = &s->build;
    flr_result result = flr_build_sort(build, s->def->T_voxmap_mesh, s->error);
    if (result == FLR_OK)
        result = flr_slabs_begin(s->env, s->path, build, flr_marks_reach(s->header.range),
                                 &s->slabs, s->error);
    uint64_t chunks = 0, points = 0;
    for (uint32_t first = 0, count; first < build->hyper_count && result == FLR_OK;
         first += count) {
        count = build->hyper_count - first < SCAN_BATCH ? build->hyper_count - first : SCAN_BATCH;
        result = flr_build_scan_some(build, first, count, s->error);
        if (result != FLR_OK) break;
        flr_count_layers(build, first, count, &s->header.stats);
        for (uint32_t i = first; i < first + count; i++)
            flr_shell_measure(&build->hypers[i], &chunks, &points);
        result = flr_slabs_take(&s->slabs, count, s->error);
        s->work_size = s->slabs.places[s->slabs.stored];
    }
    if (result == FLR_OK && s->points) result = flr_shell_check_count(points, s->error);
    memcpy(s->header.roots, build->roots, sizeof s->header.roots);
    s->shell = flr_shell_begin_header(build, s->def);
    s->shell.hyper_count = build->hyper_count;
    s->shell.chunk_count = (uint32_t)chunks;
    s->shell.point_count = (uint32_t)points;
    flr_shell_lay_out(&s->shell);
    return result;
}

static flr_result plan(flr_stream *s)
{
    unsigned fields = s->header.features ? FLR_FIELD_COUNT : 1;
    bool masks = s->header.range < FLR_CHUNK_SIDE;
    flr_planning *planning =
        flr_planning_begin(&s->build, fields, s->header.hollow, s->header.range);
    if (!planning) return flr_fail(s->error, FLR_NO_MEMORY, "not enough memory to plan the voxels");
    flr_result result = FLR_OK;
    for (size_t i = 0; i < s->slabs.count && result == FLR_OK; i++) {
        const flr_slab *slab = &s->slabs.list[i];
        if (masks) result = flr_slabs_enter(&s->slabs, slab, s->error);
        if (result == FLR_OK)
            result = flr_planning_roots(planning, slab->first_root, slab->root_count);
        if (masks) flr_slabs_leave(&s->slabs, NULL);
    }
    flr_result ended = flr_planning_end(planning, result == FLR_OK ? &s->plan : NULL);
    if (result == FLR_OK) result = ended;
    if (result == FLR_NO_MEMORY) flr_fail(s->error, result, "not enough memory to plan the voxels");
    return result;
}

/* All sizes are known: is there room on the disk? */
static flr_result lay_out(flr_stream *s)
{
    flr_voxmap_lay_out(&s->plan, &s->header);
    s->section_count = s->points ? 2 : 1;
    s->sections[0] = (flr_voxfile_section){.kind = FLR_SECTION_VOXMAP, .size = s->header.size};
    s->sections[1] = (flr_voxfile_section){.kind = FLR_SECTION_SHELL, .size = s->shell.size};
    s->file_size = flr_voxfile_lay_out(s->sections, s->section_count);
    uint64_t room;
    flr_result result = flr_path_room(s->env, s->path, &room, s->error);
    if (result != FLR_OK || s->file_size <= room) return result;
    s->told = true;
    return flr_fail(s->error, FLR_IO,
                    "%s needs %.3g GB, and the disk has room for %.3g; make room, or use larger "
                    "voxels",
                    s->path, 1e-9 * (double)s->file_size, 1e-9 * (double)room);
}

static flr_result run(flr_stream *s, flr_box3 box)
{
    const flr_voxelize_def *def = s->def;
    flr_voxelize_report *r = &s->report;
    s->header = flr_voxelize_begin_header(s->mesh, def, box);
    s->watch = (flr_build_watch){goes_on, s};
    flr_result result = flr_stages_next(&s->stages, NULL, 0.05, "features");
    if (result == FLR_OK && def->features)
        result =
            flr_list_features(s->mesh, def->voxel, def->threads, &s->watch, &s->lists, s->error);
    s->header.stats.polygons = s->lists.polygon_count;
    if (result == FLR_OK)
        result = flr_stages_next(&s->stages, &r->seconds.features, 0.2, "triangles");

    s->build = (flr_build){.mesh = s->mesh,
                           .watch = &s->watch,
                           .grid = s->header.grid,
                           .threads = def->threads,
                           .edges = s->lists.edges,
                           .edge_count = s->lists.edge_count,
                           .corners = s->lists.corners,
                           .corner_count = s->lists.corner_count};
    if (result == FLR_OK) result = scan(s);
    if (result == FLR_OK) result = cut_slabs(s);
    if (result == FLR_OK) result = flr_stages_next(&s->stages, &r->seconds.scan, 0.25, "interior");
    if (result == FLR_OK && !def->hollow) result = flr_slabs_fill(&s->slabs, s->error);
    if (result == FLR_OK) result = flr_stages_next(&s->stages, &r->seconds.fill, 1, "chunks");
    if (result == FLR_OK) result = plan(s);
    if (result == FLR_OK) result = lay_out(s);
    if (result == FLR_OK) result = cut_slabs(s);
    if (result == FLR_OK) result = flr_stream_write(s);
    return result;
}

/* ---- the whole ---- */

/* A disk that is full: how much it takes. */
static void tell_needs(flr_stream *s)
{
    uint64_t room;
    if (flr_path_room(s->env, s->path, &room, NULL) != FLR_OK || room > 1 << 20) return;
    double all = 1e-9 * (double)s->file_size, work = 1e-9 * (double)s->work_size;
    if (s->file_size)
        flr_fail(s->error, FLR_IO,
                 "%s: the disk is full; it needs %.3g GB, and %.3g GB for the work; make room, or "
                 "use larger voxels",
                 s->path, all, work);
    else
        flr_fail(s->error, FLR_IO,
                 "%s: the disk is full after %.3g GB of temporary data; it may take up to %.3g GB; "
                 "make room, or use larger voxels",
                 s->path, work, 1.1e-9 * s->estimate);
}

static void free_stream(flr_stream *s)
{
    flr_slabs_end(&s->slabs);
    flr_field_free_plan(&s->plan);
    flr_build_free(&s->build);
    flr_free_features(&s->lists);
    free(s->shell_hypers);
}

flr_result flr_stream_build(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                            const char *path, bool points, uint64_t slab_bytes,
                            flr_voxelize_report *report, flr_error *error)
{
    flr_box3 box;
    flr_stream s = {.env = env,
                    .path = path,
                    .mesh = mesh,
                    .def = def,
                    .points = points,
                    .slab_bytes = slab_bytes,
                    .share = -1,
                    .error = error};
    s.limit = def->memory_limit;
    if (!s.limit) s.limit = flr_memory_look(flr_env_real()).limit / 2;
    s.stages = flr_stages_begin(env, def, error);
    flr_result result = check(&s, &box);
    if (result == FLR_OK) result = run(&s, box);
    if (result == FLR_IO && !s.told) tell_needs(&s);
    if (result == FLR_CANCELLED) flr_fail(error, result, "voxelizing was stopped");
    free_stream(&s);
    if (result != FLR_OK) return result;
    s.report.voxels = s.header.stats;
    s.report.seconds.total = (double)(flr_clock_ns(env) - s.stages.begin) * 1e-9;
    if (report) *report = s.report;
    return FLR_OK;
}

flr_result flr_voxelize_file(flr_env *env, const flr_mesh *mesh, const flr_voxelize_def *def,
                             const char *path, bool shell, flr_voxelize_report *report,
                             flr_error *error)
{
    FLR_ASSERT(env && mesh && def && path);
    return flr_stream_build(env, mesh, def, path, shell, 0, report, error);
}
