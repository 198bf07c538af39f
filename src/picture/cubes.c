/* surface voxels as cubes */
#include "picture/cubes.h"

#include <stdlib.h>
#include <string.h>

#include "voxel/voxmap_format.h"

/* ---- walking through a voxmap by chunks ---- */

/* Calls `visit` with the place (in chunks) of every cell of the surface field that is not free throughout, and its side
 * in chunks: 1 for a stored chunk, more for a uniform cell. */
typedef void (*visitor)(void *context, const uint64_t at[3], uint64_t side, uint32_t entry);

static void walk_entries(const flr_voxmap *voxmap, uint32_t entry, unsigned level,
                         const uint64_t at[3], visitor visit, void *context)
{
    /* level 2: a root cell of 64 chunks, 1: a hyperchunk of 8, 0: a chunk */
    uint64_t side = UINT64_C(1) << 3 * level;
    if (entry == (FLR_UNIFORM | FLR_MARK_FREE)) return;
    if ((entry & FLR_UNIFORM) || level == 0) {
        visit(context, at, side, entry);
        return;
    }
    const flr_tree_place *place = &voxmap->header->fields[FLR_FIELD_SURFACE];
    const uint32_t *below =
        flr_voxmap_u32(voxmap, level == 2 ? place->nodes : place->hypers) + (size_t)entry * 512;
    for (unsigned cell = 0; cell < 512; cell++) {
        const uint64_t child[3] = {at[0] + (cell & 7) * (side / 8),
                                   at[1] + (cell >> 3 & 7) * (side / 8),
                                   at[2] + (cell >> 6) * (side / 8)};
        walk_entries(voxmap, below[cell], level - 1, child, visit, context);
    }
}

static void walk(const flr_voxmap *voxmap, visitor visit, void *context)
{
    const flr_voxmap_header *h = voxmap->header;
    const uint32_t *root = flr_voxmap_u32(voxmap, h->fields[FLR_FIELD_SURFACE].root);
    for (uint64_t z = 0; z < h->roots[2]; z++)
        for (uint64_t y = 0; y < h->roots[1]; y++)
            for (uint64_t x = 0; x < h->roots[0]; x++) {
                const uint64_t at[3] = {x * 64, y * 64, z * 64};
                walk_entries(voxmap, *root++, 2, at, visit, context);
            }
}

typedef struct bounds {
    const flr_voxmap *voxmap;
    uint64_t low[3], high[3];
} bounds;

/* by chunks */
static void add_chunks(void *context, const uint64_t at[3], uint64_t side, uint32_t entry)
{
    (void)entry;
    bounds *b = context;
    for (int i = 0; i < 3; i++) {
        if (at[i] < b->low[i]) b->low[i] = at[i];
        if (at[i] + side > b->high[i]) b->high[i] = at[i] + side;
    }
}

typedef struct tight_bounds {
    const bounds *chunks;
    bounds voxels;
} tight_bounds;

/* by voxels, where a chunk lies at the rim */
static void add_voxels(void *context, const uint64_t at[3], uint64_t side, uint32_t entry)
{
    tight_bounds *t = context;
    bool rim = false;
    for (int i = 0; i < 3; i++)
        rim |= at[i] == t->chunks->low[i] || at[i] + side == t->chunks->high[i];
    if (!rim) return;
    const uint64_t first[3] = {at[0] * 8, at[1] * 8, at[2] * 8};
    if (entry & FLR_UNIFORM) {
        add_chunks(&t->voxels, first, side * 8, entry);
        return;
    }
    for (unsigned cell = 0; cell < 512; cell++) {
        const uint64_t v[3] = {first[0] + (cell & 7), first[1] + (cell >> 3 & 7),
                               first[2] + (cell >> 6)};
        if (flr_voxmap_mark_at(t->chunks->voxmap, FLR_FIELD_SURFACE, (int64_t)v[0], (int64_t)v[1],
                               (int64_t)v[2]) != FLR_MARK_FREE)
            add_chunks(&t->voxels, v, 1, entry);
    }
}

bool flr_voxels_bounds(const flr_voxmap *voxmap, uint64_t low[3], uint64_t high[3])
{
    const bounds none = {voxmap, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 0}};
    bounds b = none;
    walk(voxmap, add_chunks, &b);
    tight_bounds t = {&b, none};
    walk(voxmap, add_voxels, &t);
    memcpy(low, t.voxels.low, sizeof t.voxels.low);
    memcpy(high, t.voxels.high, sizeof t.voxels.high);
    return b.high[0] > 0;
}

/* ---- blocks ---- */

enum {
    EMPTY,
    CUBES_SOLID,
    FIRST_LABEL
}; /* what a block holds: nothing, interior, FIRST_LABEL + label */

typedef struct blocks {
    const flr_voxmap *voxmap;
    unsigned side;    /* voxels */
    uint64_t low[3];  /* voxels */
    uint64_t size[3]; /* blocks */
    uint8_t *cells;
} blocks;

static uint8_t *cell_at(const blocks *b, uint64_t x, uint64_t y, uint64_t z)
{
    return &b->cells[x + b->size[0] * (y + b->size[1] * z)];
}

static void raise_cell(const blocks *b, const uint64_t voxel[3], uint8_t value)
{
    uint8_t *cell = cell_at(b, (voxel[0] - b->low[0]) / b->side, (voxel[1] - b->low[1]) / b->side,
                            (voxel[2] - b->low[2]) / b->side);
    if (value > *cell) *cell = value;
}

static uint8_t label_of(const flr_voxmap *voxmap, const uint64_t v[3])
{
    int64_t x = (int64_t)v[0], y = (int64_t)v[1], z = (int64_t)v[2];
    if (flr_voxmap_mark_at(voxmap, FLR_FIELD_VERTEX, x, y, z) == FLR_MARK_SURFACE)
        return FIRST_LABEL + FLR_CUBE_VERTEX;
    if (flr_voxmap_mark_at(voxmap, FLR_FIELD_EDGE, x, y, z) == FLR_MARK_SURFACE)
        return FIRST_LABEL + FLR_CUBE_EDGE;
    return FIRST_LABEL + FLR_CUBE_FACE;
}

static void fill_blocks(void *context, const uint64_t at[3], uint64_t side, uint32_t entry)
{
    const blocks *b = context;
    bool uniform = entry & FLR_UNIFORM;
    uint64_t step = !uniform ? 1 : b->side < 8 ? b->side : 8; /* voxels: every block is met */
    uint64_t v[3];
    for (v[2] = at[2] * 8; v[2] < (at[2] + side) * 8; v[2] += step)
        for (v[1] = at[1] * 8; v[1] < (at[1] + side) * 8; v[1] += step)
            for (v[0] = at[0] * 8; v[0] < (at[0] + side) * 8; v[0] += step) {
                unsigned mark =
                    uniform ? entry & 255
                            : flr_voxmap_mark_at(b->voxmap, FLR_FIELD_SURFACE, (int64_t)v[0],
                                                 (int64_t)v[1], (int64_t)v[2]);
                if (mark == FLR_MARK_INTERIOR) raise_cell(b, v, CUBES_SOLID);
                if (mark == FLR_MARK_SURFACE) raise_cell(b, v, label_of(b->voxmap, v));
            }
}

/* As fine as `most` cubes and the memory for a dense array allow. */
static bool make_blocks(const flr_voxmap *voxmap, uint64_t most, blocks *b)
{
    enum { CUBES_CAPACITY = 64 << 20 };
    uint64_t high[3], total = 0;
    *b = (blocks){.voxmap = voxmap, .side = 1};
    if (!flr_voxels_bounds(voxmap, b->low, high))
        for (int i = 0; i < 3; i++) b->low[i] = high[i] = 0;
    for (int i = 0; i < 3; i++) { /* uniform cells are met by whole chunks */
        b->low[i] = b->low[i] / 8 * 8;
        high[i] = (high[i] + 7) / 8 * 8;
    }
    for (uint64_t surface = voxmap->header->stats.surface_voxels;; b->side *= 2, surface /= 4) {
        total = 1;
        for (int i = 0; i < 3; i++) {
            b->size[i] = (high[i] - b->low[i] + b->side - 1) / b->side;
            total *= b->size[i];
        }
        if (surface <= most && total <= CUBES_CAPACITY) break;
    }
    b->cells = calloc(total ? total : 1, 1);
    if (!b->cells) return false;
    walk(voxmap, fill_blocks, b);
    return true;
}

/* ---- faces ---- */

static bool is_hidden(const blocks *b, int64_t x, int64_t y, int64_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= (int64_t)b->size[0] || y >= (int64_t)b->size[1] ||
        z >= (int64_t)b->size[2])
        return false;
    return *cell_at(b, (uint64_t)x, (uint64_t)y, (uint64_t)z) != EMPTY;
}

/* the vertices and triangles of one mesh in the making; NULL: only counted */
typedef struct faces {
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t count;
} faces;

/* The face of a block on the high or low side of an axis. */
static void add_face(const blocks *b, faces *f, const uint64_t at[3], int axis, int high)
{
    uint32_t n = f->count++;
    if (!f->vertices) return;
    const flr_grid *grid = &b->voxmap->header->grid;
    for (uint32_t k = 0; k < 4; k++) {
        double p[3];
        for (int i = 0; i < 3; i++) p[i] = (double)at[i];
        p[axis] += high;
        p[(axis + 1) % 3] += k == 1 || k == 2;
        p[(axis + 2) % 3] += k >= 2;
        flr_vec3 v = {(double)b->low[0] + p[0] * b->side, (double)b->low[1] + p[1] * b->side,
                      (double)b->low[2] + p[2] * b->side};
        f->vertices[4 * n + k] = flr_grid_to_metres(grid, v);
    }
    uint32_t second = high ? 1 : 3, fourth = high ? 3 : 1;
    f->triangles[2 * n] = (flr_triangle){{4 * n, 4 * n + second, 4 * n + 2}};
    f->triangles[2 * n + 1] = (flr_triangle){{4 * n, 4 * n + 2, 4 * n + fourth}};
}

static void add_faces(const blocks *b, faces (*lists)[2])
{
    for (uint64_t z = 0; z < b->size[2]; z++)
        for (uint64_t y = 0; y < b->size[1]; y++)
            for (uint64_t x = 0; x < b->size[0]; x++) {
                uint8_t value = *cell_at(b, x, y, z);
                if (value < FIRST_LABEL) continue;
                faces *list = &lists[value - FIRST_LABEL][(x + y + z) & 1];
                const uint64_t at[3] = {x, y, z};
                for (int side = 0; side < 6; side++) {
                    int64_t n[3] = {(int64_t)x, (int64_t)y, (int64_t)z};
                    n[side / 2] += side % 2 ? 1 : -1;
                    if (!is_hidden(b, n[0], n[1], n[2])) add_face(b, list, at, side / 2, side % 2);
                }
            }
}

static bool make_meshes(const blocks *b, flr_cubes *cubes)
{
    faces lists[FLR_CUBE_LABELS][2] = {{{NULL, NULL, 0}}};
    add_faces(b, lists);
    bool ok = true;
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) {
        faces *f = &lists[i / 2][i % 2];
        flr_mesh *mesh = &cubes->meshes[i / 2][i % 2];
        size_t count = f->count + 1u;
        f->vertices = malloc(4 * count * sizeof *f->vertices);
        f->triangles = malloc(2 * count * sizeof *f->triangles);
        *mesh = (flr_mesh){.vertices = f->vertices,
                           .triangles = f->triangles,
                           .vertex_count = 4 * f->count,
                           .triangle_count = 2 * f->count};
        ok = ok && f->vertices && f->triangles;
        f->count = 0;
    }
    if (!ok) return false;
    add_faces(b, lists);
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) {
        flr_mesh *mesh = &cubes->meshes[i / 2][i % 2];
        mesh->bounds = flr_box3_empty();
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            mesh->bounds = flr_box3_add(mesh->bounds, mesh->vertices[v]);
    }
    return true;
}

flr_result flr_cubes_make(const flr_voxmap *voxmap, uint64_t most, flr_cubes *cubes,
                          flr_error *error)
{
    memset(cubes, 0, sizeof *cubes);
    blocks b;
    bool ok = make_blocks(voxmap, most, &b) && make_meshes(&b, cubes);
    cubes->block = b.side;
    free(b.cells);
    if (ok) return FLR_OK;
    flr_cubes_free(cubes);
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory to draw voxels");
}

void flr_cubes_free(flr_cubes *cubes)
{
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) {
        free((void *)cubes->meshes[i / 2][i % 2].vertices);
        free((void *)cubes->meshes[i / 2][i % 2].triangles);
    }
    memset(cubes, 0, sizeof *cubes);
}
