/* building the tree of boxes: top down, split where the boxes' area shrinks most */
#include "contact/gauge_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAUGE_TREE_BINS = 16, BY_AREA = 20 };

typedef struct gauge_tree_box {
    float low[3], high[3];
} gauge_tree_box;

static const gauge_tree_box no_box = {{INFINITY, INFINITY, INFINITY},
                                      {-INFINITY, -INFINITY, -INFINITY}};

/* some triangles, which follow one another in the order, and the box around them */
typedef struct range {
    uint32_t first, count;
    gauge_tree_box around;
} range;

/* a node to be filled */
typedef struct pending {
    range triangles;
    unsigned depth;
} pending;

typedef struct building {
    flr_gauge_part *part;
    gauge_tree_box *boxes; /* [triangle_count], by number */
    pending *nodes;        /* [node_count], beside part->nodes */
} building;

static void box_add(gauge_tree_box *to, const gauge_tree_box *other)
{
    for (int axis = 0; axis < 3; axis++) {
        if (other->low[axis] < to->low[axis]) to->low[axis] = other->low[axis];
        if (other->high[axis] > to->high[axis]) to->high[axis] = other->high[axis];
    }
}

static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static float round_up(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static gauge_tree_box box_of(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    const flr_vec3 a = mesh->vertices[v[0]], b = mesh->vertices[v[1]], c = mesh->vertices[v[2]];
    const flr_vec3 low = flr_vec3_min(a, flr_vec3_min(b, c)),
                   high = flr_vec3_max(a, flr_vec3_max(b, c));
    return (gauge_tree_box){{round_down(low.x), round_down(low.y), round_down(low.z)},
                            {round_up(high.x), round_up(high.y), round_up(high.z)}};
}

/* half the area of its faces */
static double area(const gauge_tree_box *b)
{
    double x = (double)b->high[0] - (double)b->low[0], y = (double)b->high[1] - (double)b->low[1],
           z = (double)b->high[2] - (double)b->low[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

/* twice the middle */
static double middle(const gauge_tree_box *b, int axis)
{
    return (double)b->low[axis] + (double)b->high[axis];
}

/* ---- splitting ---- */

static range range_of(const building *b, uint32_t first, uint32_t count)
{
    range r = {first, count, no_box};
    for (uint32_t i = first; i < first + count; i++)
        box_add(&r.around, &b->boxes[b->part->order[i]]);
    return r;
}

/* The axis along which the middles spread most. */
static int widest_axis(const building *b, const range *r, double *low, double *high)
{
    double from[3] = {INFINITY, INFINITY, INFINITY}, to[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = r->first; i < r->first + r->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double at = middle(&b->boxes[b->part->order[i]], axis);
            from[axis] = at < from[axis] ? at : from[axis];
            to[axis] = at > to[axis] ? at : to[axis];
        }
    int widest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (to[axis] - from[axis] > to[widest] - from[widest]) widest = axis;
    *low = from[widest], *high = to[widest];
    return widest;
}

static unsigned bin_of(double at, double low, double scale)
{
    double bin = (at - low) * scale;
    return bin >= GAUGE_TREE_BINS ? GAUGE_TREE_BINS - 1 : (unsigned)bin;
}

/* The number of bins on the left side at which the areas weighed by triangles are least. */
static unsigned best_cut(const gauge_tree_box boxes[GAUGE_TREE_BINS],
                         const uint32_t counts[GAUGE_TREE_BINS])
{
    double right[GAUGE_TREE_BINS] = {0}, least = INFINITY;
    gauge_tree_box sum = no_box;
    uint32_t count = 0;
    for (unsigned i = GAUGE_TREE_BINS - 1; i > 0; i--) {
        box_add(&sum, &boxes[i]);
        count += counts[i];
        right[i] = count ? area(&sum) * count : 0;
    }
    sum = no_box, count = 0;
    unsigned cut = 0;
    for (unsigned i = 1; i < GAUGE_TREE_BINS; i++) {
        box_add(&sum, &boxes[i - 1]);
        count += counts[i - 1];
        double cost = (count ? area(&sum) * count : 0) + right[i];
        if (cost < least) least = cost, cut = i;
    }
    return cut;
}

/* Sorts a range into two parts and says how many belong to the first, always between 1 and all but one. */
static uint32_t partition(building *b, const range *r, bool by_area)
{
    uint32_t *order = b->part->order + r->first;
    double low, high;
    int axis = widest_axis(b, r, &low, &high);
    double scale = GAUGE_TREE_BINS / (high - low);
    if (!by_area || !(high > low) || !isfinite(scale)) return r->count / 2;
    gauge_tree_box boxes[GAUGE_TREE_BINS];
    uint32_t counts[GAUGE_TREE_BINS] = {0};
    for (int i = 0; i < GAUGE_TREE_BINS; i++) boxes[i] = no_box;
    for (uint32_t i = 0; i < r->count; i++) {
        unsigned bin = bin_of(middle(&b->boxes[order[i]], axis), low, scale);
        box_add(&boxes[bin], &b->boxes[order[i]]);
        counts[bin]++;
    }
    unsigned cut = best_cut(boxes, counts);
    uint32_t left = 0, right = r->count;
    while (left < right) {
        if (bin_of(middle(&b->boxes[order[left]], axis), low, scale) < cut) {
            left++;
            continue;
        }
        uint32_t swap = order[--right];
        order[right] = order[left];
        order[left] = swap;
    }
    return left == 0 || left == r->count ? r->count / 2 : left;
}

/* Splits the ranges of a node, the largest first, until there are eight or all are leaves. */
static unsigned split(building *b, range ranges[FLR_GAUGE_WIDE], bool by_area)
{
    unsigned count = 1;
    while (count < FLR_GAUGE_WIDE) {
        unsigned pick = count;
        double most = -1;
        for (unsigned i = 0; i < count; i++) {
            /* by halves it is the numbers that must shrink, so that the depth has an end */
            double size = by_area ? area(&ranges[i].around) * ranges[i].count : ranges[i].count;
            if (ranges[i].count > FLR_GAUGE_LEAF && size > most) most = size, pick = i;
        }
        if (pick == count) break;
        range r = ranges[pick];
        uint32_t left = partition(b, &r, by_area);
        ranges[pick] = range_of(b, r.first, left);
        ranges[count++] = range_of(b, r.first + left, r.count - left);
    }
    return count;
}

/* ---- nodes ---- */

static bool add_node(building *b, range triangles, unsigned depth, uint32_t *number)
{
    flr_gauge_part *part = b->part;
    if (part->node_count == part->node_room) {
        uint32_t room = part->node_room ? part->node_room * 2 : 64;
        flr_gauge_node *nodes = aligned_alloc(64, room * sizeof *nodes);
        pending *beside = realloc(b->nodes, room * sizeof *beside);
        if (beside) b->nodes = beside;
        if (!nodes || !beside) {
            free(nodes);
            return false;
        }
        if (part->nodes) memcpy(nodes, part->nodes, part->node_count * sizeof *nodes);
        free(part->nodes);
        part->nodes = nodes;
        part->node_room = room;
    }
    *number = part->node_count;
    b->nodes[part->node_count++] = (pending){triangles, depth};
    return true;
}

static void set_box(flr_gauge_node *node, unsigned slot, const gauge_tree_box *around)
{
    for (int axis = 0; axis < 3; axis++) {
        node->low[axis][slot] = around->low[axis];
        node->high[axis][slot] = around->high[axis];
    }
}

static bool fill_node(building *b, uint32_t number)
{
    pending todo = b->nodes[number];
    range ranges[FLR_GAUGE_WIDE] = {todo.triangles};
    unsigned count = number == 0 ? 1 : split(b, ranges, todo.depth < BY_AREA);
    flr_gauge_node node;
    memset(&node, 0, sizeof node);
    memset(node.count, FLR_GAUGE_EMPTY, sizeof node.count);
    for (unsigned i = 0; i < count; i++) {
        set_box(&node, i, &ranges[i].around);
        bool leaf = number > 0 && ranges[i].count <= FLR_GAUGE_LEAF;
        node.count[i] = leaf ? (uint8_t)ranges[i].count : 0;
        node.first[i] = ranges[i].first;
        if (!leaf && !add_node(b, ranges[i], todo.depth + 1, &node.first[i])) return false;
    }
    b->part->nodes[number] = node;
    return true;
}

static bool build(building *b)
{
    flr_gauge_part *part = b->part;
    const flr_mesh *mesh = part->mesh;
    size_t count = mesh->triangle_count;
    part->order = malloc(count * sizeof *part->order);
    b->boxes = malloc(count * sizeof *b->boxes);
    if (!part->order || !b->boxes) return false;
    for (uint32_t i = 0; i < count; i++) {
        part->order[i] = i;
        b->boxes[i] = box_of(mesh, i);
    }
    uint32_t root;
    if (!add_node(b, range_of(b, 0, mesh->triangle_count), 0, &root)) return false;
    for (uint32_t i = 0; i < part->node_count; i++)
        if (!fill_node(b, i)) return false;
    for (uint32_t i = 0; i < mesh->vertex_count; i++)
        part->radius = fmax(part->radius, flr_vec3_length(mesh->vertices[i]));
    return true;
}

flr_result flr_gauge_part_create(const flr_mesh *mesh, flr_gauge_part **part, flr_error *error)
{
    flr_gauge_part *made = calloc(1, sizeof *made);
    building b = {.part = made};
    if (made) made->mesh = mesh;
    bool ok = made && build(&b);
    free(b.boxes);
    free(b.nodes);
    if (!ok) {
        flr_gauge_part_destroy(made);
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory to make %u triangles ready for measuring",
                        mesh->triangle_count);
    }
    *part = made;
    return FLR_OK;
}

void flr_gauge_part_destroy(flr_gauge_part *part)
{
    if (!part) return;
    free(part->nodes);
    free(part->order);
    free(part);
}
