/* trees of oriented boxes
 *
 * The triangles are divided at the median along the direction in which they spread most, down to full blocks of 16; a
 * node takes four such levels at once. So the shape of a tree follows from the number of triangles alone, and memory is
 * known before it is made. A box is aligned with the principal axes of its triangles' areas (Gottschalk et al. 1996), or
 * with the coordinate axes where that is smaller. */
#include <math.h>
#include <stdlib.h>

#include "base/large_pages.h"
#include "probe/judge.h"
#include "probe/model.h"

static uint32_t blocks_of(uint32_t count)
{
    return count / FLR_PROBE_LANES + (count % FLR_PROBE_LANES != 0);
}

/* Blocks of part i of `parts` equal ones. */
static uint32_t share(uint32_t blocks, uint32_t i, uint32_t parts)
{
    return (uint32_t)((uint64_t)blocks * (i + 1) / parts - (uint64_t)blocks * i / parts);
}

static uint32_t parts_of(uint32_t blocks)
{
    return blocks < FLR_PROBE_LANES ? blocks : FLR_PROBE_LANES;
}

static uint32_t nodes_of_blocks(uint32_t blocks)
{
    uint32_t parts = parts_of(blocks), total = 1;
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t own = share(blocks, i, parts);
        if (own > 1) total += nodes_of_blocks(own);
    }
    return total;
}

uint32_t flr_probe_tree_nodes(uint32_t count) { return nodes_of_blocks(blocks_of(count)); }

void flr_probe_item_make(const flr_probe_model *model, uint32_t triangle, flr_probe_item *item)
{
    flr_vec3 v[3];
    flr_probe_corners(model->mesh, triangle, v);
    flr_vec3 sum = flr_vec3_zero();
    for (int i = 0; i < 3; i++) sum = flr_vec3_add(sum, flr_vec3_sub(v[i], model->centre));
    item->at[0] = (float)(sum.x / 3), item->at[1] = (float)(sum.y / 3),
    item->at[2] = (float)(sum.z / 3);
    item->triangle = triangle;
}

/* ---- dividing ---- */

/* the direction in which the items spread most */
static flr_vec3 spread(const flr_probe_item *items, uint32_t count)
{
    double mean[3] = {0}, s[3][3] = {{0}};
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) mean[k] += (double)items[i].at[k] / count;
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)items[i].at[0] - mean[0], y = (double)items[i].at[1] - mean[1],
               z = (double)items[i].at[2] - mean[2];
        s[0][0] += x * x, s[0][1] += x * y, s[0][2] += x * z;
        s[1][1] += y * y, s[1][2] += y * z, s[2][2] += z * z;
    }
    flr_mat3 m = {
        {{s[0][0], s[0][1], s[0][2]}, {s[0][1], s[1][1], s[1][2]}, {s[0][2], s[1][2], s[2][2]}}};
    flr_vec3 values;
    flr_mat3 axes;
    flr_mat3_eigen(m, &values, &axes);
    return flr_mat3_column(axes, 2);
}

/* the order along a direction; the triangle's number settles ties, so that it is a strict one */
static inline bool before(const flr_probe_item *a, const flr_probe_item *b, const float along[3])
{
    float x = a->at[0] * along[0] + a->at[1] * along[1] + a->at[2] * along[2];
    float y = b->at[0] * along[0] + b->at[1] * along[1] + b->at[2] * along[2];
    return x != y ? x < y : a->triangle < b->triangle;
}

static inline void swap(flr_probe_item *a, flr_probe_item *b)
{
    flr_probe_item t = *a;
    *a = *b;
    *b = t;
}

/* Afterwards the first `rank` items come before all others along the direction. */
static void divide(flr_probe_item *items, uint32_t count, uint32_t rank, const float along[3])
{
    int64_t low = 0, high = (int64_t)count - 1, wanted = rank;
    while (low < high) {
        /* the median of three for a pivot */
        flr_probe_item *a = &items[low], *b = &items[low + (high - low) / 2], *c = &items[high];
        if (before(b, a, along)) swap(a, b);
        if (before(c, b, along)) swap(b, c);
        if (before(b, a, along)) swap(a, b);
        flr_probe_item pivot = *b;
        int64_t i = low, k = high;
        while (i <= k) {
            while (before(&items[i], &pivot, along)) i++;
            while (before(&pivot, &items[k], along)) k--;
            if (i <= k) swap(&items[i++], &items[k--]);
        }
        if (wanted <= k)
            high = k;
        else if (wanted >= i)
            low = i;
        else
            return;
    }
}

/* Brings the items of `parts` parts in order, part by part; blocks are shared out as nodes_of_blocks() does. */
static void divide_all(flr_probe_item *items, uint32_t count, uint32_t blocks, uint32_t first,
                       uint32_t parts, uint32_t all)
{
    if (parts == 1 || count <= 1) return;
    uint32_t left_parts = parts / 2, left_blocks = 0;
    for (uint32_t i = 0; i < left_parts; i++) left_blocks += share(blocks, first + i, all);
    uint32_t left = left_blocks * FLR_PROBE_LANES;
    flr_vec3 direction = spread(items, count);
    const float along[3] = {(float)direction.x, (float)direction.y, (float)direction.z};
    divide(items, count, left, along);
    divide_all(items, left, blocks, first, left_parts, all);
    divide_all(items + left, count - left, blocks, first + left_parts, parts - left_parts, all);
}

/* ---- boxes ---- */

/* The second moments of the triangles' areas about the model's middle, and the first. */
static flr_mat3 moments(const flr_probe_model *model, const flr_probe_item *items, uint32_t count)
{
    double area_sum = 0, first[3] = {0}, s[3][3] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 v[3];
        flr_probe_corners(model->mesh, items[i].triangle, v);
        for (int k = 0; k < 3; k++) v[k] = flr_vec3_sub(v[k], model->centre);
        flr_vec3 n = flr_vec3_cross(flr_vec3_sub(v[1], v[0]), flr_vec3_sub(v[2], v[0]));
        double area = flr_vec3_length(n);
        const double p[3] = {v[0].x, v[0].y, v[0].z}, q[3] = {v[1].x, v[1].y, v[1].z},
                     r[3] = {v[2].x, v[2].y, v[2].z};
        double sum[3] = {p[0] + q[0] + r[0], p[1] + q[1] + r[1], p[2] + q[2] + r[2]};
        area_sum += area;
        for (int a = 0; a < 3; a++) {
            first[a] += area * sum[a] / 3;
            for (int b = a; b < 3; b++)
                s[a][b] += area / 12 * (sum[a] * sum[b] + p[a] * p[b] + q[a] * q[b] + r[a] * r[b]);
        }
    }
    flr_mat3 m = {{{0}}};
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++)
            m.m[a][b] = area_sum > 0 ? s[a][b] - first[a] * first[b] / area_sum : 0;
    return m;
}

typedef struct oriented {
    float axis[3][3];
    double low[3], high[3]; /* along the axes, from the model's middle */
    double surface;
} oriented;

/* The extent of the triangles along the axes, which are used as rounded. */
static void extend(const flr_probe_model *model, const flr_probe_item *items, uint32_t count,
                   oriented *box)
{
    for (int k = 0; k < 3; k++) box->low[k] = INFINITY, box->high[k] = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 v[3];
        flr_probe_corners(model->mesh, items[i].triangle, v);
        for (int c = 0; c < 3; c++) {
            flr_vec3 p = flr_vec3_sub(v[c], model->centre);
            for (int k = 0; k < 3; k++) {
                double at = p.x * (double)box->axis[k][0] + p.y * (double)box->axis[k][1] +
                            p.z * (double)box->axis[k][2];
                box->low[k] = at < box->low[k] ? at : box->low[k];
                box->high[k] = at > box->high[k] ? at : box->high[k];
            }
        }
    }
    double x = box->high[0] - box->low[0], y = box->high[1] - box->low[1],
           z = box->high[2] - box->low[2];
    box->surface = x * y + y * z + z * x;
}

static void fit_box(const flr_probe_model *model, const flr_probe_item *items, uint32_t count,
                    flr_probe_node *node, uint32_t lane)
{
    flr_vec3 values;
    flr_mat3 axes;
    flr_mat3_eigen(moments(model, items, count), &values, &axes);
    oriented turned, straight = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int k = 0; k < 3; k++) {
        flr_vec3 u = flr_mat3_column(axes, k);
        turned.axis[k][0] = (float)u.x, turned.axis[k][1] = (float)u.y,
        turned.axis[k][2] = (float)u.z;
    }
    extend(model, items, count, &turned);
    extend(model, items, count, &straight);
    const oriented *box = turned.surface < straight.surface ? &turned : &straight;
    /* the middle in space, rounded; the half lengths are measured from that, so that they make up for it */
    double middle[3];
    for (int part = 0; part < 3; part++) {
        middle[part] = 0;
        for (int k = 0; k < 3; k++)
            middle[part] += (box->low[k] + box->high[k]) / 2 * (double)box->axis[k][part];
        node->centre[part][lane] = (float)middle[part];
    }
    for (int k = 0; k < 3; k++) {
        double at = 0;
        for (int part = 0; part < 3; part++) {
            node->axis[k][part][lane] = box->axis[k][part];
            at += (double)node->centre[part][lane] * (double)box->axis[k][part];
        }
        double half = fmax(box->high[k] - at, at - box->low[k]);
        /* single precision is wrong by some 2^-21 of the model's size: see kernel.h */
        node->half[k][lane] = (float)(half * (1 + 1e-6) + model->size * 4e-6);
    }
}

/* ---- putting together ---- */

static void fill_block(const flr_probe_model *model, const flr_probe_item *items, uint32_t count,
                       uint32_t block)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 v[3];
        flr_probe_corners(model->mesh, items[i].triangle, v);
        for (int c = 0; c < 3; c++) box = flr_box3_add(box, v[c]);
    }
    flr_vec3 size = flr_box3_size(box);
    double edge = fmax(fmax(size.x, size.y), size.z);
    edge = fmax(edge * 1.01, model->size * 1e-9);
    flr_probe_frame *frame = &model->frames[block];
    frame->centre = flr_box3_centre(box);
    frame->scale = edge > 0 ? 2 * FLR_PROBE_HALF / edge : 1;
    for (uint32_t i = 0; i < count; i++)
        flr_probe_block_put(&model->blocks[block], (int)i, model->mesh, items[i].triangle,
                            frame->centre, frame->scale);
    flr_probe_block_end(&model->blocks[block], (int)count);
}

/* Returns the number of nodes used. */
static uint32_t fill_node(const flr_probe_model *model, flr_probe_item *items, uint32_t count,
                          uint32_t at, uint32_t block)
{
    flr_probe_node *node = &model->nodes[at];
    uint32_t blocks = blocks_of(count), parts = parts_of(blocks), used = 1;
    divide_all(items, count, blocks, 0, parts, parts);
    for (uint32_t i = 0; i < FLR_PROBE_LANES; i++)
        for (int k = 0; k < 3; k++) {
            node->centre[k][i] = 0;
            node->half[k][i] = -3e37f;
            for (int part = 0; part < 3; part++) node->axis[k][part][i] = 0;
            node->child[i] = FLR_PROBE_NONE;
        }
    for (uint32_t i = 0, taken = 0; i < parts; i++) {
        uint32_t own = share(blocks, i, parts), most = own * FLR_PROBE_LANES;
        uint32_t part = count - taken < most ? count - taken : most;
        fit_box(model, items + taken, part, node, i);
        if (own == 1) {
            node->child[i] = FLR_PROBE_LEAF | block;
            fill_block(model, items + taken, part, block);
        } else {
            node->child[i] = at + used;
            used += fill_node(model, items + taken, part, at + used, block);
        }
        taken += part;
        block += own;
    }
    return used;
}

void flr_probe_tree_fill(const flr_probe_model *model, flr_probe_item *items, uint32_t count,
                         uint32_t node, uint32_t block)
{
    fill_node(model, items, count, node, block);
}

static flr_result no_memory(uint32_t triangles, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a tree of %u triangles",
                    triangles);
}

flr_result flr_probe_make_tree(flr_probe_model *model, flr_error *error)
{
    uint32_t all = model->mesh->triangle_count, count = 0;
    flr_probe_item *items = malloc(all * sizeof *items);
    if (!items) return no_memory(all, error);
    for (uint32_t i = 0; i < all; i++) {
        flr_vec3 v[3];
        flr_probe_corners(model->mesh, i, v);
        if (flr_judge_has_area(v)) flr_probe_item_make(model, i, &items[count++]);
    }
    if (count > 0) {
        model->block_count = blocks_of(count);
        model->node_count = flr_probe_tree_nodes(count);
        model->blocks = flr_pages_alloc(model->block_count * sizeof *model->blocks);
        model->frames = flr_pages_alloc(model->block_count * sizeof *model->frames);
        model->nodes = flr_pages_alloc(model->node_count * sizeof *model->nodes);
        if (!model->blocks || !model->frames || !model->nodes) {
            free(items);
            return no_memory(all, error);
        }
        flr_probe_tree_fill(model, items, count, 0, 0);
    }
    free(items);
    model->info.references = model->info.fullest = count;
    return FLR_OK;
}
