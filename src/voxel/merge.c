/* several parts as one voxmap
 *
 * Every part is scanned and filled once, on a grid of its own whose corner lies on a common lattice of hyperchunks. A
 * build unites the masks of all parts (union.c), compares them with those of the build before, and makes a voxmap as
 * from a single mesh, but for the marks that have not changed: those are copied. */
#include "feeler/merge.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "feeler/base.h"
#include "voxel/field.h"
#include "voxel/merge.h"
#include "voxel/union.h"
#include "voxel/voxelize.h"

/* planes between voxels lie this far beside the origin, in voxels */
static const double beside = 0.25;

/* one part as it was added */
typedef struct merge_part {
    flr_placed voxels;
    flr_hash hash; /* of mesh, pose and kind */
    uint64_t triangles, polygons;
    double bytes; /* estimated */
    uint32_t id;
} merge_part;

struct flr_merge {
    flr_voxelize_def def; /* of the whole; no mesh's pose */
    flr_vec3 corner;      /* of the lattice: low corner of hyperchunk (0, 0, 0), metres */
    merge_part **parts;   /* by rising id */
    uint32_t count, capacity;
    uint32_t last_id;
    flr_placed built;    /* the united masks of the last voxmap; empty before the first */
    flr_hash built_hash; /* what it stands for */
};

/* ---- making one ---- */

flr_merge_def flr_default_merge_def(void)
{
    flr_voxelize_def usual = flr_default_voxelize_def();
    flr_merge_def def = {.bits = usual.bits, .range = usual.range, .features = usual.features};
    return def;
}

flr_merge_part flr_default_merge_part(void)
{
    flr_merge_part part = {.mesh = NULL};
    part.T_voxmap_part = flr_pose_identity();
    return part;
}

flr_result flr_merge_create(const flr_merge_def *def, flr_merge **merge, flr_error *error)
{
    flr_voxelize_def checked = flr_default_voxelize_def();
    checked.voxel = def->voxel;
    checked.bits = def->bits;
    checked.range = def->range;
    checked.offset = def->offset;
    checked.features = def->features;
    checked.threads = def->threads;
    checked.memory_limit = def->memory_limit;
    flr_result result = flr_voxelize_check(&checked, error);
    if (result != FLR_OK) return result;
    if (!flr_vec3_is_finite(def->origin))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the origin of the voxels is not a point");
    flr_merge *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory to merge parts");
    made->def = checked;
    double shift = beside * def->voxel;
    made->corner = flr_vec3_add(def->origin, flr_vec3_make(shift, shift, shift));
    *merge = made;
    return FLR_OK;
}

static void destroy_part(merge_part *part)
{
    if (!part) return;
    flr_build_free(&part->voxels.build);
    free(part);
}

void flr_merge_destroy(flr_merge *merge)
{
    if (!merge) return;
    for (uint32_t i = 0; i < merge->count; i++) destroy_part(merge->parts[i]);
    flr_build_free(&merge->built.build);
    free(merge->parts);
    free(merge);
}

uint32_t flr_merge_part_count(const flr_merge *merge) { return merge->count; }

/* ---- places on the lattice ---- */

/* hyperchunks by lattice coordinates, both ends included */
typedef struct merge_extent {
    int64_t low[3], high[3];
} merge_extent;

/* The hyperchunks in reach of what lies in the box; false when they are too far out to count. */
static bool extent_of(const flr_merge *merge, flr_box3 box, unsigned range, merge_extent *e)
{
    double hyper = merge->def.voxel * FLR_HYPER_SIDE;
    double margin = (range + 1.0) / FLR_HYPER_SIDE; /* a triangle may touch the voxel next to it */
    const double low[3] = {box.low.x, box.low.y, box.low.z},
                 high[3] = {box.high.x, box.high.y, box.high.z},
                 corner[3] = {merge->corner.x, merge->corner.y, merge->corner.z};
    for (int axis = 0; axis < 3; axis++) {
        double from = (low[axis] - corner[axis]) / hyper - margin,
               to = (high[axis] - corner[axis]) / hyper + margin;
        if (!(fabs(from) < 1e12 && fabs(to) < 1e12)) return false;
        e->low[axis] = (int64_t)floor(from);
        e->high[axis] = (int64_t)floor(to);
    }
    return true;
}

static merge_extent extent_of_placed(const flr_placed *placed)
{
    merge_extent e;
    for (int axis = 0; axis < 3; axis++) {
        e.low[axis] = placed->low[axis];
        e.high[axis] = placed->low[axis] + placed->build.grid.hypers[axis] - 1;
    }
    return e;
}

static merge_extent extent_union(merge_extent a, merge_extent b)
{
    for (int axis = 0; axis < 3; axis++) {
        if (b.low[axis] < a.low[axis]) a.low[axis] = b.low[axis];
        if (b.high[axis] > a.high[axis]) a.high[axis] = b.high[axis];
    }
    return a;
}

static flr_placed place(const flr_merge *merge, merge_extent e)
{
    flr_placed placed = {.build = {.threads = merge->def.threads}};
    double hyper = merge->def.voxel * FLR_HYPER_SIDE;
    placed.build.grid.voxel = merge->def.voxel;
    placed.build.grid.origin = flr_vec3_add_scaled(
        merge->corner, hyper, flr_vec3_make((double)e.low[0], (double)e.low[1], (double)e.low[2]));
    for (int axis = 0; axis < 3; axis++) {
        placed.low[axis] = e.low[axis];
        placed.build.grid.hypers[axis] = (uint32_t)(e.high[axis] - e.low[axis] + 1);
    }
    return placed;
}

/* Is the directory of a grid of this extent of a size that can be kept? */
static bool fits(merge_extent e)
{
    double roots = 1;
    for (int axis = 0; axis < 3; axis++) {
        double hypers = (double)(e.high[axis] - e.low[axis] + 1);
        if (hypers > 1e6 / FLR_HYPER_SIDE + 2) return false;
        roots *= ceil(hypers / 8);
    }
    return roots <= 8e6;
}

/* ---- adding and taking out ---- */

static flr_hash hash_part(const flr_merge_part *part)
{
    flr_hasher hasher = flr_hasher_begin();
    flr_hash mesh = flr_mesh_hash(part->mesh);
    const flr_pose *T = &part->T_voxmap_part;
    const double pose[7] = {T->p.x, T->p.y, T->p.z, T->q.w, T->q.x, T->q.y, T->q.z};
    uint64_t hollow = part->hollow;
    flr_hasher_add(&hasher, &mesh, sizeof mesh);
    flr_hasher_add(&hasher, pose, sizeof pose);
    flr_hasher_add(&hasher, &hollow, sizeof hollow);
    return flr_hasher_end(&hasher);
}

/* Is there room for one part more? */
static flr_result check_part(const flr_merge *merge, const flr_merge_part *part, flr_box3 box,
                             merge_extent *own, double *bytes, flr_error *error)
{
    flr_voxelize_def def = merge->def;
    double held = 0,
           limit = def.memory_limit ? (double)def.memory_limit : flr_voxelize_default_limit();
    for (uint32_t i = 0; i < merge->count; i++) held += merge->parts[i]->bytes;
    def.memory_limit = limit - held > 1 ? (uint64_t)(limit - held) : 1;
    flr_voxelize_needs needs;
    flr_result result = flr_voxelize_check_room(part->mesh, box, &def, &needs, error);
    *bytes = (double)needs.memory;
    if (result != FLR_OK) return result;

    flr_voxmap_header header = flr_voxelize_header(&def);
    bool near = extent_of(merge, box, header.range, own);
    if (near) {
        merge_extent all = *own;
        for (uint32_t i = 0; i < merge->count; i++)
            all = extent_union(all, extent_of_placed(&merge->parts[i]->voxels));
        near = fits(all);
    }
    if (near) return FLR_OK;
    return flr_fail(error, FLR_TOO_LARGE,
                    "the parts lie too far apart for voxels of %s; check their poses and units, or "
                    "give a larger voxel",
                    FLR_SIZE_TEXT(def.voxel));
}

/* Scans and fills a part; afterwards the mesh is not needed any more. */
static flr_result voxelize_part(const flr_merge *merge, const flr_merge_part *part,
                                merge_part *made, flr_error *error)
{
    flr_feature_lists lists = {0};
    flr_build *build = &made->voxels.build;
    flr_result result = FLR_OK;
    if (merge->def.features)
        result = flr_list_features(part->mesh, merge->def.voxel, merge->def.threads, NULL, &lists,
                                   error);
    build->mesh = part->mesh;
    build->edges = lists.edges;
    build->edge_count = lists.edge_count;
    build->corners = lists.corners;
    build->corner_count = lists.corner_count;
    if (result == FLR_OK) result = flr_build_scan(build, part->T_voxmap_part, error);
    if (result == FLR_OK && !part->hollow) result = flr_build_fill(build, error);
    made->polygons = lists.polygon_count;
    flr_free_features(&lists);
    free(build->vertices);
    free(build->primitives);
    build->vertices = NULL;
    build->primitives = NULL;
    build->mesh = NULL;
    build->edges = NULL;
    build->corners = NULL;
    build->edge_count = build->corner_count = 0;
    return result;
}

static flr_result make_part(const flr_merge *merge, const flr_merge_part *part, merge_part **made,
                            flr_error *error)
{
    flr_box3 box = flr_voxelize_bounds(part->mesh, part->T_voxmap_part);
    merge_extent own;
    double bytes;
    flr_result result = check_part(merge, part, box, &own, &bytes, error);
    if (result != FLR_OK) return result;
    merge_part *p = malloc(sizeof *p);
    if (!p) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for another part");
    *p = (merge_part){.voxels = place(merge, own),
                      .hash = hash_part(part),
                      .triangles = part->mesh->triangle_count,
                      .bytes = bytes};
    p->voxels.hollow = part->hollow;
    result = voxelize_part(merge, part, p, error);
    if (result != FLR_OK) {
        destroy_part(p);
        return result;
    }
    *made = p;
    return FLR_OK;
}

flr_result flr_merge_add(flr_merge *merge, const flr_merge_part *part, uint32_t *id,
                         flr_error *error)
{
    if (!part->mesh) return flr_fail(error, FLR_BAD_ARGUMENT, "a part needs a mesh");
    if (!flr_pose_is_valid(part->T_voxmap_part))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the pose of the part is not a pose");
    if (merge->last_id == UINT32_MAX)
        return flr_fail(error, FLR_TOO_LARGE, "all numbers for parts are used up");
    if (merge->count == merge->capacity) {
        uint32_t capacity = merge->capacity ? merge->capacity * 2 : 16;
        merge_part **parts = realloc(merge->parts, capacity * sizeof(merge_part *));
        if (!parts) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for another part");
        merge->parts = parts;
        merge->capacity = capacity;
    }
    merge_part *made = NULL;
    flr_result result = make_part(merge, part, &made, error);
    if (result != FLR_OK) return result;
    made->id = ++merge->last_id;
    merge->parts[merge->count++] = made;
    *id = made->id;
    return FLR_OK;
}

flr_result flr_merge_remove(flr_merge *merge, uint32_t id, flr_error *error)
{
    uint32_t at = 0;
    while (at < merge->count && merge->parts[at]->id != id) at++;
    if (at == merge->count)
        return flr_fail(error, FLR_NOT_FOUND, "there is no part %u to take out", id);
    destroy_part(merge->parts[at]);
    merge->count--;
    memmove(&merge->parts[at], &merge->parts[at + 1], (merge->count - at) * sizeof *merge->parts);
    return FLR_OK;
}

/* ---- marks that have not changed ---- */

typedef struct copying {
    const flr_voxmap *before;
    const flr_placed *now;
    flr_changes changes;
    int64_t shift[3]; /* from coordinates of the new grid to those of the old */
    bool hollow;
    atomic_uint_fast64_t copied; /* hyperchunks of the surface field */
} copying;

/* The entries of the old voxmap's hyperchunk; NULL where it had none of its own. */
static const uint32_t *old_entries(const flr_voxmap *voxmap, flr_field field, const int64_t at[3])
{
    const flr_voxmap_header *h = voxmap->header;
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < 0 || at[axis] >= h->grid.hypers[axis]) return NULL;
    const flr_tree_place *p = &h->fields[field];
    size_t root = (size_t)(at[0] >> 3) +
                  h->roots[0] * ((size_t)(at[1] >> 3) + h->roots[1] * (size_t)(at[2] >> 3));
    uint32_t entry = flr_voxmap_u32(voxmap, p->root)[root];
    if (entry & FLR_UNIFORM) return NULL;
    unsigned cell = flr_cell(at[0] & 7, at[1] & 7, at[2] & 7);
    entry = flr_voxmap_u32(voxmap, p->nodes)[(size_t)entry * 512 + cell];
    if (entry & FLR_UNIFORM) return NULL;
    return flr_voxmap_u32(voxmap, p->hypers) + (size_t)entry * 512;
}

/* Voxels with a mark other than 0. */
static uint64_t count_marked(const uint8_t *plane, unsigned bits)
{
    uint64_t count = 0;
    uint64_t lowest = bits == 2   ? UINT64_C(0x5555555555555555)
                      : bits == 4 ? UINT64_C(0x1111111111111111)
                                  : UINT64_C(0x0101010101010101);
    for (unsigned i = 0; i < 64 * bits; i += 8) {
        uint64_t word;
        memcpy(&word, plane + i, sizeof word);
        for (unsigned shift = 1; shift < bits; shift *= 2) word |= word >> shift;
        count += (uint64_t)__builtin_popcountll(word & lowest);
    }
    return count;
}

/* Copies the marks of a planned hyperchunk if they are what they were. */
static bool take_old(void *context, flr_field field, const flr_field_hyper *hyper, uint8_t *planes,
                     uint64_t *interior, uint64_t *reached)
{
    copying *c = context;
    int64_t now[3], old[3];
    for (int axis = 0; axis < 3; axis++) {
        now[axis] = hyper->at[axis];
        old[axis] = now[axis] + c->shift[axis];
    }
    if (flr_changes_has(&c->changes, now[0], now[1], now[2])) return false;
    const uint32_t *entries = old_entries(c->before, field, old);
    if (!entries) return false;
    /* what nothing touches may have turned from inside to outside: then its entries are others */
    for (unsigned cell = 0; cell < 512; cell++) {
        bool stored = flr_mask_get(&hyper->stored, cell);
        bool inner = flr_mask_get(&hyper->interior, cell);
        uint32_t uniform = FLR_UNIFORM | (inner ? FLR_MARK_INTERIOR : FLR_MARK_FREE);
        if (stored ? !!(entries[cell] & FLR_UNIFORM) : entries[cell] != uniform) return false;
    }

    const flr_voxmap_header *h = c->before->header;
    uint64_t marked = 0, uniform = 0; /* voxels in stored chunks, interior voxels in others */
    for (unsigned cell = 0; cell < 512; cell++) {
        if (!flr_mask_get(&hyper->stored, cell)) {
            uniform += flr_mask_get(&hyper->interior, cell) ? 512 : 0;
            continue;
        }
        const uint8_t *plane =
            (const uint8_t *)h + h->fields[field].planes + (uint64_t)entries[cell] * 64 * h->bits;
        memcpy(planes, plane, 64 * h->bits);
        planes += 64 * h->bits;
        if (field == FLR_FIELD_SURFACE) marked += count_marked(plane, h->bits);
    }
    if (field != FLR_FIELD_SURFACE) return true;
    uint64_t inside = c->hollow ? 0 : flr_union_interior(&c->now->build, now[0], now[1], now[2]);
    *interior += inside;
    *reached += marked + uniform - inside;
    atomic_fetch_add_explicit(&c->copied, 1, memory_order_relaxed);
    return true;
}

/* ---- building ---- */

static int compare_hashes(const void *a, const void *b)
{
    const flr_hash *x = a, *y = b;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

/* What the voxmap of these parts stands for, whatever their order. `hashes` is scratch for all. */
static flr_hash hash_all(const flr_merge *merge, flr_hash *hashes)
{
    const flr_voxelize_def *def = &merge->def;
    const double lengths[4] = {def->voxel, merge->corner.x, merge->corner.y, merge->corner.z};
    const uint32_t kinds[4] = {def->bits, def->range, def->offset, def->features};
    for (uint32_t i = 0; i < merge->count; i++) hashes[i] = merge->parts[i]->hash;
    qsort(hashes, merge->count, sizeof *hashes, compare_hashes);
    flr_hasher hasher = flr_hasher_begin();
    flr_hasher_add(&hasher, lengths, sizeof lengths);
    flr_hasher_add(&hasher, kinds, sizeof kinds);
    flr_hasher_add(&hasher, hashes, merge->count * sizeof *hashes);
    return flr_hasher_end(&hasher);
}

/* Unites the masks of all parts; `hash` tells what they stand for. */
static flr_result unite(const flr_merge *merge, flr_placed *all, flr_hash *hash)
{
    const flr_placed **parts = malloc(merge->count * sizeof *parts);
    flr_hash *hashes = malloc(merge->count * sizeof *hashes);
    flr_result result = FLR_NO_MEMORY;
    if (parts && hashes) {
        *hash = hash_all(merge, hashes);
        merge_extent e = extent_of_placed(&merge->parts[0]->voxels);
        for (uint32_t i = 0; i < merge->count; i++) {
            parts[i] = &merge->parts[i]->voxels;
            e = extent_union(e, extent_of_placed(parts[i]));
        }
        *all = place(merge, e);
        result = flr_union_make(parts, merge->count, all);
    }
    free(parts);
    free(hashes);
    return result;
}

/* bytes that a part's masks take */
static double bytes_of(const flr_build *build)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < build->hyper_count; i++) {
        const flr_build_hyper *hyper = &build->hypers[i];
        bytes += sizeof *hyper + sizeof(flr_mask) * flr_mask_count(&hyper->used[FLR_LAYER_SURFACE]);
        for (int layer = 0; layer < FLR_LAYER_COUNT; layer++)
            bytes += sizeof(flr_mask) * flr_mask_count(&hyper->used[layer]);
    }
    return (double)bytes;
}

flr_result flr_merge_join(flr_merge *merge, flr_error *error)
{
    if (merge->count < 2) return FLR_OK;
    merge_part *all = calloc(1, sizeof *all);
    if (!all || unite(merge, &all->voxels, &all->hash) != FLR_OK) {
        destroy_part(all);
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory to join %u parts; try a larger voxel", merge->count);
    }
    free(all->voxels.build.primitives);
    all->voxels.build.primitives = NULL;
    all->voxels.hollow = true;
    all->bytes = bytes_of(&all->voxels.build);
    all->id = merge->parts[0]->id;
    for (uint32_t i = 0; i < merge->count; i++) {
        merge_part *part = merge->parts[i];
        all->voxels.hollow = all->voxels.hollow && part->voxels.hollow;
        all->triangles += part->triangles;
        all->polygons += part->polygons;
        destroy_part(part);
    }
    merge->parts[0] = all;
    merge->count = 1;
    return FLR_OK;
}

static flr_voxmap_header make_header(const flr_merge *merge, const flr_placed *all, flr_hash hash)
{
    flr_voxmap_header header = flr_voxelize_header(&merge->def);
    header.mesh_hash = hash;
    header.grid = all->build.grid;
    header.hollow = true;
    memcpy(header.roots, all->build.roots, sizeof header.roots);
    for (uint32_t i = 0; i < merge->count; i++) {
        header.hollow = header.hollow && merge->parts[i]->voxels.hollow;
        header.stats.triangles += merge->parts[i]->triangles;
        header.stats.polygons += merge->parts[i]->polygons;
    }
    flr_count_layers(&all->build, 0, all->build.hyper_count, &header.stats);
    return header;
}

/* Makes the voxmap of the united masks, with what is unchanged in `before` (NULL: nothing). */
static flr_result make_voxmap(const flr_merge *merge, const flr_voxmap *before,
                              const flr_placed *all, flr_hash hash, flr_voxmap **voxmap,
                              flr_merge_report *report)
{
    flr_voxmap_header header = make_header(merge, all, hash);
    copying c = {.before = before, .now = all, .hollow = header.hollow};
    flr_field_source source = {.take = take_old, .context = &c};
    bool compared = true;
    if (before) {
        for (int axis = 0; axis < 3; axis++)
            c.shift[axis] = all->low[axis] - merge->built.low[axis];
        compared = flr_union_compare(&merge->built, all, header.range, &c.changes);
    }
    flr_result result = compared
                            ? flr_voxmap_make(&all->build, &header, before ? &source : NULL, voxmap)
                            : FLR_NO_MEMORY;
    if (result == FLR_OK && report) {
        report->hyperchunks = header.fields[FLR_FIELD_SURFACE].hyper_count;
        report->recomputed = report->hyperchunks - atomic_load(&c.copied);
    }
    flr_changes_free(&c.changes);
    return result;
}

flr_result flr_merge_build(flr_merge *merge, const flr_voxmap *before, flr_voxmap **voxmap,
                           flr_merge_report *report, flr_error *error)
{
    if (merge->count == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "there is no part to make a voxmap of");
    bool known = before && merge->built.build.hypers &&
                 flr_hash_equal(before->header->mesh_hash, merge->built_hash);
    flr_placed all = {.low = {0}};
    flr_hash hash;
    flr_result result = unite(merge, &all, &hash);
    if (result == FLR_OK)
        result = make_voxmap(merge, known ? before : NULL, &all, hash, voxmap, report);
    if (result != FLR_OK) {
        flr_build_free(&all.build);
        return flr_fail(error, result, "not enough memory to merge %u parts; try a larger voxel",
                        merge->count);
    }
    flr_build_free(&merge->built.build);
    merge->built = all;
    merge->built_hash = hash;
    return FLR_OK;
}
