/* building a voxel file that is larger than memory: writing it, slab by slab */
#include <stdlib.h>

#include "voxel/stream.h"

enum { X, Y, Z, STREAM_WRITE_AXES };

/* the parts of the file that are under way all the time */
typedef struct stream_write_writing {
    flr_stream *s;
    flr_voxfile_writer *writer;
    flr_marks marks;
    uint8_t *batch; /* [room] bytes */
    size_t room;
    flr_voxfile_part planes[FLR_FIELD_COUNT];
    uint64_t planned[FLR_FIELD_COUNT]; /* planned hyperchunks that are written */
    flr_voxfile_part chunks, xyz[STREAM_WRITE_AXES], normals;
    uint32_t chunk_count, point_count; /* of the shell that are written */
    uint64_t written, all;             /* bytes, for the progress */
} stream_write_writing;

static unsigned field_count(const flr_stream *s)
{
    return s->header.features ? FLR_FIELD_COUNT : 1;
}

/* A part of the voxmap, or of the shell. */
static flr_voxfile_part part_of(const flr_stream *s, unsigned section, uint64_t at, uint64_t size)
{
    return flr_voxfile_part_at(s->sections[section].offset + at, size);
}

/* All of a part at once. */
static flr_result put_all(stream_write_writing *w, unsigned section, uint64_t at, const void *bytes,
                          uint64_t size)
{
    flr_voxfile_part part = part_of(w->s, section, at, size);
    return flr_voxfile_put(w->writer, &part, bytes, size, w->s->error);
}

/* ---- the directory: all from the plan ---- */

static flr_result put_entries(stream_write_writing *w, unsigned field)
{
    flr_stream *s = w->s;
    const flr_tree_place *place = &s->header.fields[field];
    const uint64_t size = 512 * sizeof(uint32_t), most = w->room / size;
    flr_voxfile_part part = part_of(s, 0, place->hypers, place->hyper_count * size);
    uint32_t *entries = (uint32_t *)w->batch;
    flr_result result = FLR_OK;
    for (uint64_t i = 0, count; i < place->hyper_count && result == FLR_OK; i += count) {
        count = place->hyper_count - i < most ? place->hyper_count - i : most;
        for (uint64_t k = 0; k < count; k++)
            flr_marks_entries(&s->plan.hypers[field][i + k], entries + k * 512);
        result = flr_voxfile_put(w->writer, &part, entries, count * size, s->error);
    }
    return result;
}

static flr_result put_tree(stream_write_writing *w, const flr_tree_place *place,
                           const uint32_t *root, const uint32_t *nodes)
{
    const uint32_t *n = w->s->build.roots;
    flr_result result = put_all(w, 0, place->root, root, (uint64_t)n[0] * n[1] * n[2] * 4);
    if (result != FLR_OK) return result;
    return put_all(w, 0, place->nodes, nodes, place->node_count * 512 * sizeof *nodes);
}

static flr_result put_directory(stream_write_writing *w)
{
    flr_stream *s = w->s;
    const flr_field_plan *plan = &s->plan;
    flr_result result = FLR_OK;
    for (unsigned field = 0; field < field_count(s) && result == FLR_OK; field++) {
        result = put_tree(w, &s->header.fields[field], plan->root[field], plan->nodes[field]);
        if (result == FLR_OK) result = put_entries(w, field);
    }
    const flr_tree_place *chunks = &s->header.chunks;
    if (result == FLR_OK) result = put_tree(w, chunks, plan->chunk_root, plan->chunk_nodes);
    if (result == FLR_OK)
        result = put_all(w, 0, chunks->planes, plan->chunk_planes, chunks->plane_count * 256);
    return result;
}

/* ---- one slab ---- */

static size_t root_of(const flr_build *build, const uint32_t at[3])
{
    return (at[0] >> 3) + build->roots[0] * ((at[1] >> 3) + build->roots[1] * (size_t)(at[2] >> 3));
}

static void note_written(stream_write_writing *w, uint64_t bytes)
{
    w->written += bytes;
    w->s->share = w->all ? (double)w->written / (double)w->all : 1;
}

/* The planes of a field in a slab, a batch at a time. */
static flr_result put_planes(stream_write_writing *w, unsigned field, const flr_slab *slab)
{
    flr_stream *s = w->s;
    const flr_field_hyper *hypers = s->plan.hypers[field];
    const uint64_t all = s->plan.place[field].hyper_count, size = 64 * s->header.bits;
    uint64_t *next = &w->planned[field];
    flr_result result = FLR_OK;
    while (result == FLR_OK) {
        uint64_t count = 0, planes = 0;
        for (; *next + count < all; count++) {
            const flr_field_hyper *hyper = &hypers[*next + count];
            uint64_t more = flr_mask_count(&hyper->stored);
            if (root_of(&s->build, hyper->at) - slab->first_root >= slab->root_count ||
                (planes + more) * size > w->room)
                break;
            planes += more;
        }
        if (count == 0) break;
        result = flr_marks_fill(&w->marks, (flr_field)field, *next, count, w->batch);
        if (result == FLR_NO_MEMORY)
            flr_fail(s->error, result, "not enough memory for the voxels; try a larger voxel size");
        if (result == FLR_OK)
            result =
                flr_voxfile_put(w->writer, &w->planes[field], w->batch, planes * size, s->error);
        *next += count;
        note_written(w, planes * size);
    }
    return result;
}

/* Puts the shell of a run of hyperchunks behind those before it. */
static flr_result put_shell(stream_write_writing *w, uint32_t first, const flr_shell *run)
{
    flr_stream *s = w->s;
    flr_error *error = s->error;
    flr_shell_hyper *hypers = s->shell_hypers + first;
    flr_shell_chunk *chunks = (flr_shell_chunk *)(uintptr_t)run->chunks;
    memcpy(hypers, run->hypers, run->hyper_count * sizeof *hypers);
    for (uint32_t i = 0; i < run->hyper_count; i++) hypers[i].first_chunk += w->chunk_count;
    for (uint32_t i = 0; i < run->chunk_count; i++) chunks[i].first += w->point_count;
    w->chunk_count += run->chunk_count;
    w->point_count += run->point_count;
    s->shell.total += run->total;
    for (int label = 0; label < FLR_LABEL_COUNT; label++)
        s->shell.by_label[label] += run->by_label[label];

    const uint16_t *xyz[STREAM_WRITE_AXES] = {run->x, run->y, run->z};
    size_t points = run->point_count;
    flr_result result =
        flr_voxfile_put(w->writer, &w->chunks, chunks, run->chunk_count * sizeof *chunks, error);
    for (int axis = 0; axis < STREAM_WRITE_AXES && result == FLR_OK; axis++)
        result =
            flr_voxfile_put(w->writer, &w->xyz[axis], xyz[axis], points * sizeof *xyz[0], error);
    if (result == FLR_OK)
        result = flr_voxfile_put(w->writer, &w->normals, run->normal, points * sizeof *run->normal,
                                 error);
    note_written(w, points * 10);
    return result;
}

static flr_result put_points(stream_write_writing *w, const flr_slab *slab)
{
    flr_stream *s = w->s;
    const uint32_t end = slab->first_hyper + slab->hyper_count;
    flr_result result = FLR_OK;
    for (uint32_t i = slab->first_hyper, count; i < end && result == FLR_OK; i += count) {
        uint64_t chunks = 0, points = 0;
        for (count = 0; i + count < end; count++) {
            flr_shell_measure(&s->build.hypers[i + count], &chunks, &points);
            if (count > 0 && points * 10 + chunks * sizeof(flr_shell_chunk) > w->room) break;
        }
        flr_shell *run;
        result = flr_shell_make(&s->build, s->def, i, count, &run, s->error);
        if (result != FLR_OK) break;
        result = put_shell(w, i, run);
        flr_shell_destroy(run);
    }
    return result;
}

/* Marks and points take turns in the same stretch of the whole. */
static flr_result change_stage(flr_stream *s, double *seconds, const char *name)
{
    s->stages.to = s->stages.from;
    return flr_stages_next(&s->stages, seconds, 1, name);
}

static flr_result put_slab(stream_write_writing *w, const flr_slab *slab)
{
    flr_stream *s = w->s;
    double *seconds = &s->report.seconds.fields;
    flr_result result = flr_slabs_enter(&s->slabs, slab, s->error);
    for (unsigned field = 0; field < field_count(s) && result == FLR_OK; field++)
        result = put_planes(w, field, slab);
    if (result == FLR_OK && s->points) {
        result = change_stage(s, seconds, "points");
        if (result == FLR_OK) result = put_points(w, slab);
        seconds = &s->report.seconds.shell;
    }
    if (result == FLR_OK) result = change_stage(s, seconds, "chunks");
    flr_slabs_leave(&s->slabs, NULL);
    return result;
}

/* ---- the whole ---- */

static flr_result prepare(stream_write_writing *w)
{
    flr_stream *s = w->s;
    const flr_shell_header *shell = &s->shell;
    for (unsigned field = 0; field < field_count(s); field++) {
        const flr_tree_place *place = &s->header.fields[field];
        uint64_t size = place->plane_count * 64 * s->header.bits;
        w->planes[field] = part_of(s, 0, place->planes, size);
        w->all += size;
    }
    if (s->points) {
        const uint64_t points = shell->point_count,
                       at[STREAM_WRITE_AXES] = {shell->x, shell->y, shell->z};
        w->chunks = part_of(s, 1, shell->chunks, shell->chunk_count * sizeof(flr_shell_chunk));
        for (int axis = 0; axis < STREAM_WRITE_AXES; axis++)
            w->xyz[axis] = part_of(s, 1, at[axis], points * sizeof(uint16_t));
        w->normals = part_of(s, 1, shell->normal, points * sizeof(uint32_t));
        w->all += points * 10;
    }
    /* a batch has room for one hyperchunk at least */
    size_t least = 512 * (size_t)64 * s->header.bits;
    w->room = flr_stream_batch(s);
    if (w->room < least) w->room = least;
    w->batch = malloc(w->room);
    s->shell_hypers = calloc(s->build.hyper_count + (size_t)1, sizeof *s->shell_hypers);
    flr_result result = flr_marks_begin(&w->marks, &s->build, &s->plan, &s->header, NULL);
    if (result != FLR_OK || !w->batch || !s->shell_hypers)
        return flr_fail(s->error, FLR_NO_MEMORY, "not enough memory to write the voxels");
    return flr_voxfile_begin(s->env, s->path, s->sections, s->section_count, s->def->threads,
                             &w->writer, s->error);
}

/* What is known only now. */
static flr_result put_headers(stream_write_writing *w)
{
    flr_stream *s = w->s;
    flr_marks_count(&w->marks, &s->header.stats);
    flr_result result = put_all(w, 0, 0, &s->header, sizeof s->header);
    if (result != FLR_OK || !s->points) return result;
    flr_shell_enclose_all(s->shell_hypers, s->shell.hyper_count, s->shell.centre, &s->shell.radius);
    result = put_all(w, 1, 0, &s->shell, sizeof s->shell);
    if (result == FLR_OK)
        result = put_all(w, 1, s->shell.hypers, s->shell_hypers,
                         s->shell.hyper_count * sizeof *s->shell_hypers);
    return result;
}

flr_result flr_stream_write(flr_stream *s)
{
    stream_write_writing w = {.s = s};
    flr_result result = prepare(&w);
    if (result == FLR_OK) result = put_directory(&w);
    s->share = 0;
    for (size_t i = 0; i < s->slabs.count && result == FLR_OK; i++)
        result = put_slab(&w, &s->slabs.list[i]);
    if (result == FLR_OK) result = put_headers(&w);
    flr_marks_end(&w.marks);
    free(w.batch);
    /* the masks are no longer needed; the file needs the disk */
    flr_slabs_end(&s->slabs);
    s->share = 1;
    if (result == FLR_OK) result = flr_stages_next(&s->stages, NULL, 1, "done");
    if (result == FLR_OK) return flr_voxfile_commit(w.writer, s->error);
    flr_voxfile_abandon(w.writer);
    return result;
}
