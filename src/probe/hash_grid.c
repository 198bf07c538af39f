/* a hash table of cells
 *
 * Cells are numbered as triangles first reach them; the table grows by doubling while they come. Then each cell gets its
 * triangles as blocks, or as a tree where they are many (hybrid). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/large_pages.h"
#include "probe/judge.h"
#include "probe/model.h"

/* Cells nearer to a triangle than this part of their edge have it, too: two fine units; so rounding on the way of a segment
 * from cell to cell, half a fine unit, loses none. */
static const double margin = 1e-3;

/* ---- the grain ---- */

static double mean_edge(const flr_mesh *mesh)
{
    double sum = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        flr_vec3 v[3];
        flr_probe_corners(mesh, t, v);
        for (int i = 0; i < 3; i++) sum += flr_vec3_distance(v[i], v[(i + 1) % 3]);
    }
    return sum / (3.0 * mesh->triangle_count);
}

/* About how many cells of this size the triangles lie in, all together: a triangle is flat, so its two long sides count. */
static double expected_references(const flr_mesh *mesh, double cell)
{
    double sum = 0, per_cell = 1 / cell;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        flr_vec3 v[3];
        flr_probe_corners(mesh, t, v);
        flr_vec3 low = flr_vec3_min(v[0], flr_vec3_min(v[1], v[2])),
                 high = flr_vec3_max(v[0], flr_vec3_max(v[1], v[2])),
                 size = flr_vec3_scale(flr_vec3_sub(high, low), per_cell);
        double least = fmin(size.x, fmin(size.y, size.z));
        sum += (1 + size.x) * (1 + size.y) * (1 + size.z) / (1 + least);
    }
    return sum;
}

/* Cells along the longest axis, at most, unless asked for: a hand's way in a frame should not cross many. */
enum { FINEST = 88 };

/* The cells that suit: by the mean edge, but so that a triangle lies in eight cells or less on the average, and no more
 * than 1024 stand along an axis. */
static double choose_cell(const flr_probe_model *model, double grain, double edges)
{
    const flr_mesh *mesh = model->mesh;
    flr_vec3 size = flr_box3_size(mesh->bounds);
    double longest = fmax(size.x, fmax(size.y, size.z)), cell = grain;
    if (!(grain > 0)) cell = fmax(edges * mean_edge(mesh), longest / FINEST);
    /* a point has no size, but needs a cell; the smallest leaves room for what doubles can tell apart out there */
    double far = fmax(fmax(fabs(mesh->bounds.low.x), fabs(mesh->bounds.high.x)),
                      fmax(fmax(fabs(mesh->bounds.low.y), fabs(mesh->bounds.high.y)),
                           fmax(fabs(mesh->bounds.low.z), fabs(mesh->bounds.high.z))));
    cell = fmax(fmax(cell, longest / (FLR_PROBE_CELLS - 2)), fmax(far * 1e-9, 1e-100));
    if (!(grain > 0))
        while (cell < longest && expected_references(mesh, cell) > 8.0 * mesh->triangle_count)
            cell *= 1.25;
    return cell;
}

/* ---- making ---- */

typedef struct reference {
    uint32_t cell, triangle;
} reference;

typedef struct hash_grid_making {
    flr_probe_model *model;
    uint32_t crowded;
    flr_probe_slot *slots; /* `first` is the number of the cell */
    uint32_t mask, cell_count, cell_room;
    unsigned shift;
    uint32_t *counts; /* [cell_room]: triangles */
    uint32_t *starts; /* [cell_count + 1]: in `sorted` */
    reference *references;
    size_t reference_count, reference_room;
    uint32_t *sorted; /* [reference_count]: triangles cell by cell */
    uint32_t *
        codes; /* [2 fullest]: where triangles of a cell lie on the Morton curve, and room to sort */
    uint32_t *moved; /* [fullest]: room to sort triangles */
    flr_probe_item *items;
} hash_grid_making;

/* A table of twice the size, or the first one. */
static bool grow_table(hash_grid_making *m)
{
    uint32_t size = m->slots ? 2 * (m->mask + 1) : 1024;
    unsigned shift = m->slots ? m->shift - 1 : 22;
    flr_probe_slot *grown = flr_pages_alloc((size_t)size * sizeof *grown);
    if (!grown) return false;
    for (uint32_t i = 0; i < size; i++) grown[i].key = FLR_PROBE_FREE;
    for (uint32_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].key != FLR_PROBE_FREE)
            *flr_probe_find(grown, size - 1, shift, m->slots[i].key) = m->slots[i];
    if (m->slots) flr_pages_free(m->slots, ((size_t)m->mask + 1) * sizeof *m->slots);
    m->slots = grown, m->mask = size - 1, m->shift = shift;
    return true;
}

/* The triangle lies in this cell. */
static bool refer(hash_grid_making *m, uint32_t key, uint32_t triangle)
{
    if (!FLR_GROW(m->references, m->reference_count, m->reference_room, 4096)) return false;
    flr_probe_slot *slot = flr_probe_find(m->slots, m->mask, m->shift, key);
    bool new_cell = slot->key == FLR_PROBE_FREE;
    if (new_cell) {
        if (!FLR_GROW(m->counts, m->cell_count, m->cell_room, 512)) return false;
        slot->key = key;
        slot->first = m->cell_count;
        m->counts[m->cell_count++] = 0;
    }
    m->counts[slot->first]++;
    m->references[m->reference_count++] = (reference){slot->first, triangle};
    return !new_cell || m->cell_count <= (m->mask + 1) / 2 || grow_table(m);
}

static inline int32_t clamped(double at, int32_t cells)
{
    return at < 0 ? 0 : at >= cells ? cells - 1 : (int32_t)at;
}

/* All cells that the triangle passes: of those in its box, the ones that its plane cuts. */
static bool refer_all(hash_grid_making *m, uint32_t triangle)
{
    const flr_probe_model *model = m->model;
    flr_vec3 v[3];
    flr_probe_corners(model->mesh, triangle, v);
    if (!flr_judge_has_area(v)) return true; /* is never hit */
    for (int i = 0; i < 3; i++)
        v[i] = flr_vec3_scale(flr_vec3_sub(v[i], model->low), model->per_cell);
    flr_vec3 low = flr_vec3_min(v[0], flr_vec3_min(v[1], v[2])),
             high = flr_vec3_max(v[0], flr_vec3_max(v[1], v[2]));
    const int32_t *n = model->cells;
    int32_t x0 = clamped(low.x - margin, n[0]), x1 = clamped(high.x + margin, n[0]);
    int32_t y0 = clamped(low.y - margin, n[1]), y1 = clamped(high.y + margin, n[1]);
    int32_t z0 = clamped(low.z - margin, n[2]), z1 = clamped(high.z + margin, n[2]);
    if (x0 == x1 && y0 == y1 && z0 == z1)
        return refer(m, (uint32_t)(x0 | y0 << 10 | z0 << 20), triangle);

    flr_vec3 e = flr_vec3_sub(v[1], v[0]), f = flr_vec3_sub(v[2], v[0]),
             normal = flr_vec3_cross(e, f);
    double size = fabs(normal.x) + fabs(normal.y) + fabs(normal.z);
    /* half of a cell as seen along the normal, and what rounding may do to it */
    double reach = size * (0.5 + 2 * margin) +
                   1e-14 * flr_vec3_length(e) * flr_vec3_length(f) * FLR_PROBE_CELLS;
    for (int32_t z = z0; z <= z1; z++)
        for (int32_t y = y0; y <= y1; y++)
            for (int32_t x = x0; x <= x1; x++) {
                flr_vec3 middle = {x + 0.5 - v[0].x, y + 0.5 - v[0].y, z + 0.5 - v[0].z};
                if (fabs(flr_vec3_dot(normal, middle)) > reach) continue;
                if (!refer(m, (uint32_t)(x | y << 10 | z << 20), triangle)) return false;
            }
    return true;
}

static bool is_tree(const hash_grid_making *m, uint32_t count) { return count > m->crowded; }

/* Room for all blocks and nodes. */
static bool make_room(hash_grid_making *m)
{
    flr_probe_model *model = m->model;
    uint64_t blocks = 0, nodes = 0;
    uint32_t total = 0, most = 0;
    m->starts = malloc(((size_t)m->cell_count + 1) * sizeof *m->starts);
    if (!m->starts) return false;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        uint32_t count = m->counts[c];
        m->starts[c] = total;
        total += count;
        uint32_t own = (count + FLR_PROBE_LANES - 1) / FLR_PROBE_LANES;
        blocks += is_tree(m, count) ? own : own + flr_probe_heads(own);
        if (is_tree(m, count)) nodes += flr_probe_tree_nodes(count);
        if (count > most) most = count;
    }
    m->starts[m->cell_count] = total;
    model->info.fullest = most;
    model->info.references = total;
    model->block_count = (uint32_t)blocks;
    model->node_count = (uint32_t)nodes;
    model->blocks = flr_pages_alloc(blocks * sizeof *model->blocks);
    m->sorted = malloc(total * sizeof *m->sorted);
    m->items = malloc(most * sizeof *m->items);
    m->codes = malloc(2 * (size_t)most * sizeof *m->codes);
    m->moved = malloc(most * sizeof *m->moved);
    if (nodes) {
        model->frames = flr_pages_alloc(blocks * sizeof *model->frames);
        model->nodes = flr_pages_alloc(nodes * sizeof *model->nodes);
        if (!model->frames || !model->nodes) return false;
    }
    return model->blocks && m->sorted && m->items && m->codes && m->moved;
}

static void sort_references(hash_grid_making *m)
{
    uint32_t *next = m->counts; /* counted for the last time */
    memcpy(next, m->starts, m->cell_count * sizeof *next);
    for (size_t i = 0; i < m->reference_count; i++)
        m->sorted[next[m->references[i].cell]++] = m->references[i].triangle;
}

/* ---- along a Morton curve, within a cell ---- */

/* 8 bits, two zeros between each and the next */
static uint32_t spread(double at)
{
    uint32_t x = at < 0 ? 0 : at > 255 ? 255 : (uint32_t)at;
    x = (x | x << 8) & 0x00F00Fu;
    x = (x | x << 4) & 0x0C30C3u;
    return (x | x << 2) & 0x249249u;
}

static uint32_t morton_code(const flr_mesh *mesh, uint32_t triangle, flr_vec3 low, double scale)
{
    flr_vec3 v[3];
    flr_probe_corners(mesh, triangle, v);
    flr_vec3 sum = flr_vec3_add(v[0], flr_vec3_add(v[1], v[2]));
    return spread((sum.x - 3 * low.x) * scale) | spread((sum.y - 3 * low.y) * scale) << 1 |
           spread((sum.z - 3 * low.z) * scale) << 2;
}

/* Sorts the triangles of a cell by their codes: three passes of eight bits, each stable. */
static void sort_cell(const hash_grid_making *m, flr_vec3 centre, uint32_t *triangles,
                      uint32_t count)
{
    const flr_probe_model *model = m->model;
    double half = 0.5 * model->cell, scale = 256 * model->per_cell / 3;
    flr_vec3 low = {centre.x - half, centre.y - half, centre.z - half};
    uint32_t *code = m->codes, *code_to = m->codes + count, *from = triangles, *to = m->moved;
    for (uint32_t i = 0; i < count; i++)
        code[i] = morton_code(model->mesh, triangles[i], low, scale);
    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t starts[257] = {0};
        for (uint32_t i = 0; i < count; i++) starts[(code[i] >> shift & 255) + 1]++;
        for (int k = 1; k < 256; k++) starts[k] += starts[k - 1];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = starts[code[i] >> shift & 255]++;
            code_to[at] = code[i], to[at] = from[i];
        }
        uint32_t *other = code;
        code = code_to, code_to = other;
        other = from, from = to, to = other;
    }
    memcpy(triangles, from, count * sizeof *triangles);
}

/* The boxes of all blocks of a cell. Where there is no block the box is as for no triangle. */
static void fill_pages(flr_probe_block *heads, const flr_probe_block *blocks, uint32_t count)
{
    memset(heads, 255, flr_probe_heads(count) * sizeof *heads);
    for (uint32_t i = 0; i < count; i++) {
        flr_probe_page *page = (flr_probe_page *)flr_probe_page_at(heads, i / FLR_PROBE_LANES);
        for (int row = 0; row < 6; row++)
            for (int lane = 0; lane < FLR_PROBE_LANES; lane++) {
                uint8_t *side = &page->box[row][i % FLR_PROBE_LANES];
                if (blocks[i].box[row][lane] < *side) *side = blocks[i].box[row][lane];
            }
    }
}

/* The triangles of a cell, as blocks in its frame. */
static void fill_cell(const hash_grid_making *m, uint32_t key, uint32_t *triangles, uint32_t count,
                      uint32_t block)
{
    const flr_probe_model *model = m->model;
    flr_vec3 middle = {(key & 1023) + 0.5, (key >> 10 & 1023) + 0.5, (key >> 20) + 0.5};
    flr_vec3 centre = flr_vec3_add_scaled(model->low, model->cell, middle);
    double scale = model->per_fine;
    uint32_t blocks = (count + FLR_PROBE_LANES - 1) / FLR_PROBE_LANES;
    flr_probe_block *heads = &model->blocks[block];
    block += flr_probe_heads(blocks);
    if (blocks > FLR_PROBE_DIRECT) sort_cell(m, centre, triangles, count);
    for (uint32_t i = 0; i < count; i++)
        flr_probe_block_put(&model->blocks[block + i / FLR_PROBE_LANES], i % FLR_PROBE_LANES,
                            model->mesh, triangles[i], centre, scale);
    if (count % FLR_PROBE_LANES)
        flr_probe_block_end(&model->blocks[block + count / FLR_PROBE_LANES],
                            (int)(count % FLR_PROBE_LANES));
    if (blocks > FLR_PROBE_DIRECT) fill_pages(heads, &model->blocks[block], blocks);
}

static void fill_all(hash_grid_making *m)
{
    flr_probe_model *model = m->model;
    /* cells in the order in which triangles reached them: what lies together in the mesh does so in memory */
    flr_probe_slot **by_cell = (flr_probe_slot **)m->references;
    for (uint32_t i = 0; i <= m->mask; i++)
        if (m->slots[i].key != FLR_PROBE_FREE) by_cell[m->slots[i].first] = &m->slots[i];
    uint32_t block = 0, node = 0;
    for (uint32_t c = 0; c < m->cell_count; c++) {
        flr_probe_slot *slot = by_cell[c];
        uint32_t *triangles = m->sorted + m->starts[c];
        uint32_t count = m->starts[c + 1] - m->starts[c];
        uint32_t blocks = (count + FLR_PROBE_LANES - 1) / FLR_PROBE_LANES;
        if (is_tree(m, count)) {
            for (uint32_t i = 0; i < count; i++)
                flr_probe_item_make(model, triangles[i], &m->items[i]);
            flr_probe_tree_fill(model, m->items, count, node, block);
            slot->first = node;
            slot->count = FLR_PROBE_WOODED;
            node += flr_probe_tree_nodes(count);
        } else {
            fill_cell(m, slot->key, triangles, count, block);
            slot->first = block;
            slot->count = blocks;
            block += flr_probe_heads(blocks);
        }
        block += blocks;
    }
}

static void place_cells(flr_probe_model *model, double cell)
{
    flr_vec3 size = flr_box3_size(model->mesh->bounds);
    model->cell = cell;
    model->per_cell = 1 / cell;
    model->per_fine = 2 * FLR_PROBE_HALF * model->per_cell;
    /* a little room before the first cell and behind the last, so that no triangle lies at the grid's border */
    flr_vec3 room = {1e-3 * cell, 1e-3 * cell, 1e-3 * cell};
    model->low = flr_vec3_sub(model->mesh->bounds.low, room);
    const double extent[3] = {size.x, size.y, size.z};
    for (int axis = 0; axis < 3; axis++) {
        model->cells[axis] = (int32_t)(extent[axis] / cell + 2e-3) + 1;
        model->border[axis] = model->cells[axis] * 2.0 * FLR_PROBE_HALF;
    }
    model->border[3] = 1;
}

flr_result flr_probe_make_grid(flr_probe_model *model, double grain, uint32_t crowded,
                               flr_error *error)
{
    const flr_mesh *mesh = model->mesh;
    hash_grid_making m = {.model = model, .crowded = crowded};
    /* what is best was measured: docs/probes.md */
    place_cells(model, choose_cell(model, grain, crowded == UINT32_MAX ? 2 : 4));
    bool ok = grow_table(&m);
    for (uint32_t t = 0; ok && t < mesh->triangle_count; t++) {
        ok = refer_all(&m, t);
        if (m.reference_count > INT32_MAX) break;
    }
    bool large = m.reference_count > INT32_MAX;
    ok = ok && !large;
    /* `references` serves as a list of slots once it is sorted out */
    bool any = m.reference_count > 0;
    ok = ok && (!any || make_room(&m));
    if (ok && any) {
        sort_references(&m);
        fill_all(&m);
        model->slots = m.slots, model->mask = m.mask, model->shift = m.shift;
        model->info.cells = m.cell_count;
        m.slots = NULL;
    }
    if (m.slots) flr_pages_free(m.slots, ((size_t)m.mask + 1) * sizeof *m.slots);
    free(m.counts);
    free(m.starts);
    free(m.references);
    free(m.sorted);
    free(m.items);
    free(m.codes);
    free(m.moved);
    if (large)
        return flr_fail(error, FLR_TOO_LARGE,
                        "the triangles lie in more than 2e9 cells of %g m; use a larger grain",
                        model->cell);
    if (!ok)
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory for cells of %g m over %u triangles; use a larger grain",
                        model->cell, mesh->triangle_count);
    return FLR_OK;
}
