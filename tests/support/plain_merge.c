#include "support/plain_merge.h"

#include <stdlib.h>

#include "voxel/overlap.h"
#include "voxel/voxmap_format.h"

flr_voxmap *flr_test_merged(const flr_merge_def *def, const flr_merge_part *parts, int count,
                            unsigned which)
{
    flr_merge *merge;
    flr_voxmap *voxmap;
    flr_error error;
    uint32_t id;
    assert_ok(flr_merge_create(def, &merge, &error), error);
    for (int i = 0; i < count; i++)
        if (which >> i & 1) assert_ok(flr_merge_add(merge, &parts[i], &id, &error), error);
    assert_ok(flr_merge_build(merge, NULL, &voxmap, NULL, &error), error);
    flr_merge_destroy(merge);
    return voxmap;
}

typedef struct plain {
    int n[3];
    size_t total;
    uint8_t *kind[FLR_TEST_MERGE_PARTS]; /* per part and voxel: 0 outside, 1 interior, 2 surface */
    uint8_t *marks;
} plain;

static size_t cell_of(const plain *p, int x, int y, int z)
{
    return ((size_t)z * (size_t)p->n[1] + (size_t)y) * (size_t)p->n[0] + (size_t)x;
}

static void plain_flood(const plain *p, uint8_t *kind)
{
    uint32_t *stack = malloc(p->total * sizeof *stack);
    uint8_t *seen = calloc(p->total, 1);
    size_t depth = 0;
    stack[depth++] = 0;
    seen[0] = 1;
    while (depth) {
        int i = (int)stack[--depth];
        int c[3] = {i % p->n[0], i / p->n[0] % p->n[1], i / p->n[0] / p->n[1]};
        for (int d = 0; d < 6; d++) {
            int u[3] = {c[0], c[1], c[2]}, axis = d / 2;
            u[axis] += d % 2 ? 1 : -1;
            if (u[axis] < 0 || u[axis] >= p->n[axis]) continue;
            size_t j = cell_of(p, u[0], u[1], u[2]);
            if (seen[j] || kind[j] == FLR_MARK_SURFACE) continue;
            seen[j] = 1;
            stack[depth++] = (uint32_t)j;
        }
    }
    for (size_t i = 0; i < p->total; i++)
        if (!seen[i] && kind[i] != FLR_MARK_SURFACE) kind[i] = FLR_MARK_INTERIOR;
    free(stack);
    free(seen);
}

static void plain_part(const flr_grid *grid, const flr_merge_part *part, const plain *p,
                       uint8_t *kind)
{
    for (uint32_t t = 0; t < part->mesh->triangle_count; t++) {
        flr_vec3 v[3];
        for (int k = 0; k < 3; k++)
            v[k] = flr_grid_corner(
                grid, flr_pose_apply(part->T_voxmap_part,
                                     part->mesh->vertices[part->mesh->triangles[t].v[k]]));
        flr_overlap o = flr_overlap_prepare(v[0], v[1], v[2]);
        for (int z = o.low[2]; z <= o.high[2]; z++)
            for (int y = o.low[1]; y <= o.high[1]; y++)
                for (int x = o.low[0]; x <= o.high[0]; x++)
                    if (flr_overlap_voxel(&o, x, y, z)) kind[cell_of(p, x, y, z)] = 2;
    }
    if (!part->hollow) plain_flood(p, kind);
}

/* Gives the free voxels their chessboard distance to the seeds (mark 2), by growing one by one. */
static void plain_distances(const plain *p, unsigned range)
{
    uint8_t *grown = calloc(p->total, 1), *next = calloc(p->total, 1);
    for (size_t i = 0; i < p->total; i++) grown[i] = p->marks[i] == FLR_MARK_SURFACE;
    for (unsigned d = 1; d <= range; d++) {
        for (int axis = 0; axis < 3; axis++) {
            /* rows of the axis lie `step` apart, in blocks of `step` rows */
            size_t n = (size_t)p->n[axis], step = 1;
            for (int k = 0; k < axis; k++) step *= (size_t)p->n[k];
            for (size_t row = 0; row < p->total; row += n * step)
                for (size_t place = 0; place < n; place++) {
                    const uint8_t *from = grown + row + place * step;
                    uint8_t *to = next + row + place * step;
                    for (size_t i = 0; i < step; i++)
                        to[i] = from[i] | (place > 0 ? *(from + i - step) : 0) |
                                (place + 1 < n ? from[i + step] : 0);
                }
            uint8_t *swap = grown;
            grown = next;
            next = swap;
        }
        for (size_t i = 0; i < p->total; i++)
            if (grown[i] && p->marks[i] == FLR_MARK_FREE) p->marks[i] = (uint8_t)(2 + d);
    }
    free(grown);
    free(next);
}

/* Compares all marks of a field; seeds other than the surface come from the parts' own voxmaps. */
static void compare_field(const flr_voxmap *voxmap, const plain *p, const flr_merge_part *parts,
                          int count, const flr_merge_def *def, flr_field field)
{
    const flr_voxmap_header *h = voxmap->header;
    flr_voxmap *own[FLR_TEST_MERGE_PARTS] = {0};
    for (int i = 0; field != FLR_FIELD_SURFACE && i < count; i++)
        own[i] = flr_test_merged(def, &parts[i], 1, 1);
    for (int z = 0; z < p->n[2]; z++)
        for (int y = 0; y < p->n[1]; y++)
            for (int x = 0; x < p->n[0]; x++) {
                size_t cell = cell_of(p, x, y, z);
                flr_vec3 centre =
                    flr_grid_to_metres(&h->grid, flr_vec3_make(x + 0.5, y + 0.5, z + 0.5));
                uint8_t mark = FLR_MARK_FREE;
                for (int i = 0; i < count; i++) {
                    bool seed = own[i] ? flr_voxmap_mark(own[i], field, centre) == 2
                                       : p->kind[i][cell] == 2;
                    if (seed && mark == FLR_MARK_FREE) mark = FLR_MARK_SURFACE;
                    if (p->kind[i][cell] == 1) mark = FLR_MARK_INTERIOR;
                }
                p->marks[cell] = mark;
            }
    plain_distances(p, h->range);
    uint64_t counts[256] = {0};
    for (int z = 0; z < p->n[2]; z++)
        for (int y = 0; y < p->n[1]; y++)
            for (int x = 0; x < p->n[0]; x++) {
                unsigned mark = flr_voxmap_mark_at(voxmap, field, x, y, z),
                         expected = p->marks[cell_of(p, x, y, z)];
                counts[mark]++;
                if (mark != expected)
                    fail_msg("field %d, voxel %d %d %d: mark %u, by brute force %u", (int)field, x,
                             y, z, mark, expected);
            }
    if (field == FLR_FIELD_SURFACE) {
        uint64_t marked = 0;
        for (int i = 3; i < 256; i++) marked += counts[i];
        assert_int_equal(h->stats.interior_voxels, counts[1]);
        assert_int_equal(h->stats.surface_voxels, counts[2]);
        assert_int_equal(h->stats.field_voxels, marked);
    }
    for (int i = 0; i < count; i++) flr_voxmap_destroy(own[i]);
}

void flr_test_plain_merge_compare(const flr_merge_def *def, const flr_merge_part *parts, int count)
{
    flr_voxmap *voxmap = flr_test_merged(def, parts, count, ~0u);
    plain p = {.total = 1};
    for (int i = 0; i < 3; i++) {
        p.n[i] = (int)voxmap->header->grid.hypers[i] * 64;
        p.total *= (size_t)p.n[i];
    }
    p.marks = calloc(p.total, 1);
    for (int i = 0; i < count; i++) {
        p.kind[i] = calloc(p.total, 1);
        plain_part(&voxmap->header->grid, &parts[i], &p, p.kind[i]);
    }
    for (int field = 0; field < (def->features ? FLR_FIELD_COUNT : 1); field++)
        compare_field(voxmap, &p, parts, count, def, (flr_field)field);
    for (int i = 0; i < count; i++) free(p.kind[i]);
    free(p.marks);
    flr_voxmap_destroy(voxmap);
}
