/* what a query relies on: that everything in a block points to where there is something
 *
 * A checksum tells damage, but anybody can compute one. So that a forged file cannot lead a query astray either, each
 * offset, count and directory entry is looked at before the first query. Arithmetic on numbers from the file is
 * written so that it cannot overflow: counts are compared with what is left of the block, divided. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "voxel/clones.h"
#include "voxel/voxfile_format.h"

/* Do `count` things of `each` bytes fit between `offset` and `end`, beginning at a multiple of `align`? */
static bool fits(uint64_t offset, uint64_t count, uint64_t each, uint64_t align, uint64_t end)
{
    return offset % align == 0 && offset <= end && count <= (end - offset) / each;
}

/* ---- voxmap ---- */

/* one level of a tree; pieces of it are looked at by several threads */
typedef struct level {
    const uint32_t *entries;
    size_t count;
    uint32_t below; /* how many things an entry can name */
    uint32_t marks; /* … or marks */
} level;

enum { VOXFILE_CHECK_PIECE = 1 << 18 }; /* entries: 1 MiB */

/* Is each entry either the number of something or a mark? */
FLR_CLONES static bool entries_fit(const uint32_t *entries, size_t count, uint32_t below,
                                   uint32_t marks)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t limit = entries[i] & FLR_UNIFORM ? marks : below;
        wrong |= (entries[i] & ~FLR_UNIFORM) >= limit;
    }
    return !wrong;
}

static flr_result check_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const level *l = context;
    size_t first = piece * VOXFILE_CHECK_PIECE,
           count = l->count - first < VOXFILE_CHECK_PIECE ? l->count - first : VOXFILE_CHECK_PIECE;
    return entries_fit(l->entries + first, count, l->below, l->marks) ? FLR_OK : FLR_BAD_INPUT;
}

static bool level_fits(const flr_voxmap_header *h, uint64_t offset, uint64_t count, uint64_t below,
                       uint32_t marks)
{
    level l = {.entries = (const uint32_t *)((const uint8_t *)h + offset),
               .count = count,
               .below = (uint32_t)below,
               .marks = marks};
    return flr_parallel_for(0, (count + VOXFILE_CHECK_PIECE - 1) / VOXFILE_CHECK_PIECE, check_piece,
                            &l) == FLR_OK;
}

static uint64_t root_count(const flr_voxmap_header *h)
{
    return (uint64_t)h->roots[0] * h->roots[1] * h->roots[2];
}

static bool tree_fits(const flr_voxmap_header *h, const flr_tree_place *p, bool hypers,
                      uint64_t plane_bytes)
{
    return fits(p->root, root_count(h), sizeof(uint32_t), 64, h->directory) &&
           fits(p->nodes, p->node_count, 512 * sizeof(uint32_t), 64, h->directory) &&
           fits(p->hypers, p->hyper_count, 512 * sizeof(uint32_t), 64, h->directory) &&
           fits(p->planes, p->plane_count, plane_bytes, 64, h->size) && p->root >= sizeof *h &&
           p->nodes >= sizeof *h && p->hypers >= sizeof *h && p->planes >= h->directory &&
           p->node_count < FLR_UNIFORM && p->hyper_count < FLR_UNIFORM &&
           p->plane_count < FLR_UNIFORM && (hypers || p->hyper_count == 0);
}

static bool is_zero(const flr_tree_place *place)
{
    static const flr_tree_place zero;
    return memcmp(place, &zero, sizeof zero) == 0;
}

static bool is_finite(flr_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

const char *flr_voxmap_check_header(const flr_voxmap_header *h, uint64_t size)
{
    if (size < sizeof *h || memcmp(h->magic, FLR_VOXMAP_MAGIC, sizeof h->magic) != 0)
        return "the voxmap has no header";
    if (h->header_size != sizeof *h || h->version != FLR_VOXMAP_VERSION)
        return "the voxmap has another layout";
    if (h->size != size || h->directory < sizeof *h || h->directory > size)
        return "the voxmap has a wrong size";
    if ((h->bits != 2 && h->bits != 4 && h->bits != 8) || h->range < 1 ||
        h->range > (h->bits == 2 ? 1 + h->offset : (1u << h->bits) - 3) ||
        h->offset > (h->bits == 2 ? 7u : 0u) || h->features > 1 || h->hollow > 1)
        return "a parameter of the voxmap is out of range";
    if (!is_finite(h->grid.origin) || !isfinite(h->grid.voxel) || h->grid.voxel <= 0 ||
        !flr_pose_is_valid(h->T_voxmap_mesh))
        return "the place of the voxmap is not a number";
    for (int axis = 0; axis < 3; axis++)
        if (h->grid.hypers[axis] < 1 || h->grid.hypers[axis] > 1u << 24 ||
            h->roots[axis] != (h->grid.hypers[axis] + 7) / 8)
            return "the voxmap's grid is wrong";
    for (int field = 0; field < FLR_FIELD_COUNT; field++) {
        const flr_tree_place *place = &h->fields[field];
        bool there = field == FLR_FIELD_SURFACE || h->features;
        if (there ? !tree_fits(h, place, true, 64 * h->bits) : !is_zero(place))
            return "a field of the voxmap does not fit";
    }
    return tree_fits(h, &h->chunks, false, 256) ? NULL : "the chunk distances do not fit";
}

const char *flr_voxmap_check_upper(const flr_voxmap_header *h, int fields)
{
    for (int field = 0; field < fields && field < (h->features ? FLR_FIELD_COUNT : 1); field++) {
        const flr_tree_place *p = &h->fields[field];
        if (!level_fits(h, p->root, root_count(h), p->node_count, 1u << h->bits) ||
            !level_fits(h, p->nodes, p->node_count * 512, p->hyper_count, 1u << h->bits))
            return "an entry of the voxmap's directory points nowhere";
    }
    const flr_tree_place *p = &h->chunks;
    if (!level_fits(h, p->root, root_count(h), p->node_count, 16) ||
        !level_fits(h, p->nodes, p->node_count * 512, p->plane_count, 16))
        return "an entry of the chunk distances points nowhere";
    return NULL;
}

const char *flr_voxmap_check_entries(const flr_voxmap_header *h, int fields)
{
    const char *wrong = flr_voxmap_check_upper(h, fields);
    if (!h->features && fields > 1) fields = 1;
    for (int field = 0; !wrong && field < fields; field++) {
        const flr_tree_place *p = &h->fields[field];
        if (!level_fits(h, p->hypers, p->hyper_count * 512, p->plane_count, 1u << h->bits))
            wrong = "an entry of a hyperchunk points nowhere";
    }
    return wrong;
}

/* ---- shell ---- */

const char *flr_shell_check_header(const flr_shell_header *h, uint64_t size)
{
    if (size < sizeof *h || memcmp(h->magic, FLR_SHELL_MAGIC, sizeof h->magic) != 0)
        return "the shell has no header";
    if (h->header_size != sizeof *h) return "the shell has another layout";
    if (h->size > size || size - h->size >= FLR_SECTION_ALIGN) return "the shell has a wrong size";
    if (!isfinite(h->voxel) || h->voxel <= 0 || !isfinite(h->step) || h->step <= 0 ||
        h->on_surface > 1 || h->layer > FLR_RANGE_MAX_8BIT)
        return "a parameter of the shell is out of range";
    if (!fits(h->hypers, h->hyper_count, sizeof(flr_shell_hyper), 64, h->x) ||
        !fits(h->chunks, h->chunk_count, sizeof(flr_shell_chunk), 64, h->x) ||
        h->hypers < sizeof *h || h->chunks < sizeof *h || h->x > h->size ||
        !fits(h->x, h->point_count, sizeof(uint16_t), 64, h->size) ||
        !fits(h->y, h->point_count, sizeof(uint16_t), 64, h->size) ||
        !fits(h->z, h->point_count, sizeof(uint16_t), 64, h->size) ||
        !fits(h->normal, h->point_count, sizeof(uint32_t), 64, h->size))
        return "the points of the shell do not fit";
    return NULL;
}

static bool sphere_is_finite(const float centre[3], float radius)
{
    return isfinite(centre[0]) && isfinite(centre[1]) && isfinite(centre[2]) && isfinite(radius) &&
           radius >= 0;
}

typedef struct chunk_job {
    const flr_shell *shell;
    _Atomic uint64_t by_label[FLR_LABEL_COUNT];
} chunk_job;

enum { CHUNKS = 1 << 14 }; /* per piece */

/* Chunks follow one another without gaps, and so do their points. */
static flr_result check_chunks(void *context, size_t number, unsigned worker)
{
    (void)worker;
    chunk_job *job = context;
    const flr_shell *shell = job->shell;
    uint64_t by_label[FLR_LABEL_COUNT] = {0}, begin = (uint64_t)number * CHUNKS;
    for (uint64_t i = begin; i < begin + CHUNKS && i < shell->chunk_count; i++) {
        const flr_shell_chunk *c = &shell->chunks[i];
        uint64_t next = i + 1 < shell->chunk_count ? c[1].first : shell->point_count;
        unsigned sum = 0;
        for (int label = 0; label < FLR_LABEL_COUNT; label++) {
            by_label[label] += c->count[label];
            sum += c->count[label];
        }
        if ((uint64_t)c->first + c->padded != next || (i == 0 && c->first != 0) ||
            c->padded % FLR_SHELL_PAD || sum > c->padded || sum == 0 ||
            !sphere_is_finite(c->centre, c->radius) || !sphere_is_finite(c->corner, 0))
            return FLR_BAD_INPUT;
    }
    for (int label = 0; label < FLR_LABEL_COUNT; label++)
        atomic_fetch_add(&job->by_label[label], by_label[label]);
    return FLR_OK;
}

static bool chunks_fit(const flr_shell *shell)
{
    chunk_job job = {.shell = shell};
    size_t pieces = ((size_t)shell->chunk_count + CHUNKS - 1) / CHUNKS;
    if (flr_parallel_for(0, pieces, check_chunks, &job) != FLR_OK) return false;
    uint64_t total = 0;
    for (int label = 0; label < FLR_LABEL_COUNT; label++) {
        if (job.by_label[label] != shell->by_label[label]) return false;
        total += job.by_label[label];
    }
    return total == shell->total && (shell->chunk_count || shell->point_count == 0);
}

const char *flr_shell_check_entries(const flr_shell_header *header)
{
    const flr_shell shell = flr_shell_view(header);
    uint64_t end = 0;
    for (uint32_t i = 0; i < shell.hyper_count; i++) {
        const flr_shell_hyper *h = &shell.hypers[i];
        if (h->first_chunk != end || !sphere_is_finite(h->centre, h->radius))
            return "a hyperchunk of the shell is wrong";
        end += h->chunk_count;
    }
    if (end != shell.chunk_count || !chunks_fit(&shell)) return "a chunk of the shell is wrong";
    return sphere_is_finite(shell.centre, shell.radius) ? NULL : "the shell's sphere is wrong";
}
