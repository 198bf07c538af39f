/* a grid of distances, and a body of points: see plan_field.h
 *
 * Every triangle writes its distance to the nodes around it. The number of the nearest triangle then travels from node to
 * node in eight sweeps, so that every node has the distance to a triangle, not to another node. Nodes between which no
 * surface can be are on one side of it: each such region asks once whether it is inside. */
#include "plan/plan_field.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

enum { MAX_POINTS = 60000, LEAF_POINTS = 8, PAD = 3 };

/* ---- triangles ---- */

typedef struct corner_list {
    flr_vec3 (*at)[3]; /* world */
    uint32_t count;
} corner_list;

static bool collect_triangles(const flr_plan_part *parts, uint32_t part_count, corner_list *list)
{
    size_t total = 0;
    for (uint32_t i = 0; i < part_count; i++) total += flr_fit_get_info(parts[i].fit).triangles;
    list->count = 0;
    list->at = total < UINT32_MAX ? malloc((total + 1) * sizeof *list->at) : NULL;
    if (!list->at) return false;
    for (uint32_t i = 0; i < part_count; i++)
        for (uint32_t k = 0; k < flr_fit_get_info(parts[i].fit).triangles; k++) {
            flr_vec3 *c = list->at[list->count++];
            flr_fit_triangle(parts[i].fit, k, c);
            for (int j = 0; j < 3; j++) c[j] = flr_pose_apply(parts[i].T, c[j]);
        }
    return true;
}

/* The square of the distance of a point and a triangle (Ericson, Real-Time Collision Detection, 5.1.5). */
static double to_triangle2(flr_vec3 p, const flr_vec3 c[3])
{
    const flr_vec3 ab = flr_vec3_sub(c[1], c[0]), ac = flr_vec3_sub(c[2], c[0]),
                   ap = flr_vec3_sub(p, c[0]);
    const double d1 = flr_vec3_dot(ab, ap), d2 = flr_vec3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return flr_vec3_length2(ap);
    const flr_vec3 bp = flr_vec3_sub(p, c[1]);
    const double d3 = flr_vec3_dot(ab, bp), d4 = flr_vec3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return flr_vec3_length2(bp);
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0 && d1 - d3 > 0)
        return flr_vec3_length2(flr_vec3_add_scaled(ap, -d1 / (d1 - d3), ab));
    const flr_vec3 cp = flr_vec3_sub(p, c[2]);
    const double d5 = flr_vec3_dot(ab, cp), d6 = flr_vec3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return flr_vec3_length2(cp);
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0 && d2 - d6 > 0)
        return flr_vec3_length2(flr_vec3_add_scaled(ap, -d2 / (d2 - d6), ac));
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0 && d4 - d3 + d5 - d6 > 0) {
        const double w = (d4 - d3) / (d4 - d3 + d5 - d6);
        return flr_vec3_length2(flr_vec3_add_scaled(bp, -w, flr_vec3_sub(c[2], c[1])));
    }
    const double sum = va + vb + vc;
    if (!(sum > 0)) return flr_vec3_length2(ap);
    return flr_vec3_length2(
        flr_vec3_sub(ap, flr_vec3_add(flr_vec3_scale(ab, vb / sum), flr_vec3_scale(ac, vc / sum))));
}

/* ---- the grid ---- */

typedef struct grid_build {
    flr_plan_field *f;
    corner_list list;
    uint32_t *nearest; /* [nodes] number of a triangle; FLR_NONE: none yet */
} grid_build;

static flr_vec3 node_at(const flr_plan_field *f, int x, int y, int z)
{
    return flr_vec3_add(f->origin, flr_vec3_make(x * f->cell, y * f->cell, z * f->cell));
}

static size_t index_of(const flr_plan_field *f, int x, int y, int z)
{
    return ((size_t)z * (size_t)f->nodes[1] + (size_t)y) * (size_t)f->nodes[0] + (size_t)x;
}

static void set_size(flr_plan_field *f, const flr_plan_space *s, uint32_t max_nodes)
{
    const flr_box3 box = s->box;
    const flr_vec3 size = flr_box3_size(box);
    f->cell = s->size / cbrt(max_nodes);
    for (;; f->cell *= 1.05) {
        const double n[3] = {size.x / f->cell, size.y / f->cell, size.z / f->cell};
        double total = 1;
        for (int k = 0; k < 3; k++) total *= ceil(n[k]) + 1 + 2 * PAD;
        if (!(total <= max_nodes)) continue;
        for (int k = 0; k < 3; k++) f->nodes[k] = (int)ceil(n[k]) + 1 + 2 * PAD;
        break;
    }
    f->origin = flr_vec3_sub(box.low, flr_vec3_make(PAD * f->cell, PAD * f->cell, PAD * f->cell));
}

static void range_of(double low, double high, double origin, double cell, int nodes, int range[2])
{
    range[0] = (int)fmax(floor((low - origin) / cell) - 1, 0);
    range[1] = (int)fmin(ceil((high - origin) / cell) + 1, nodes - 1);
}

static void offer(grid_build *b, size_t i, flr_vec3 p, uint32_t triangle)
{
    if (b->nearest[i] == triangle) return;
    const float d2 = (float)to_triangle2(p, b->list.at[triangle]);
    if (d2 < b->f->distance[i]) b->f->distance[i] = d2, b->nearest[i] = triangle;
}

/* Nodes of the cells around a triangle. */
static void write_triangle(grid_build *b, uint32_t triangle)
{
    const flr_vec3 *c = b->list.at[triangle];
    const flr_plan_field *f = b->f;
    const flr_vec3 low = flr_vec3_min(c[0], flr_vec3_min(c[1], c[2])),
                   high = flr_vec3_max(c[0], flr_vec3_max(c[1], c[2]));
    int x[2], y[2], z[2];
    range_of(low.x, high.x, f->origin.x, f->cell, f->nodes[0], x);
    range_of(low.y, high.y, f->origin.y, f->cell, f->nodes[1], y);
    range_of(low.z, high.z, f->origin.z, f->cell, f->nodes[2], z);
    const flr_vec3 n =
        flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(c[1], c[0]), flr_vec3_sub(c[2], c[0])));
    for (int k = z[0]; k <= z[1]; k++)
        for (int j = y[0]; j <= y[1]; j++)
            for (int i = x[0]; i <= x[1]; i++) {
                const flr_vec3 p = node_at(f, i, j, k);
                // large triangles cross a box of which most is far from them
                if (fabs(flr_vec3_dot(n, flr_vec3_sub(p, c[0]))) > 2 * f->cell) continue;
                offer(b, index_of(f, i, j, k), p, triangle);
            }
}

static void sweep(grid_build *b, int octant)
{
    const flr_plan_field *f = b->f;
    int step[3], begin[3];
    for (int k = 0; k < 3; k++) {
        step[k] = octant & 1 << k ? -1 : 1;
        begin[k] = step[k] > 0 ? 0 : f->nodes[k] - 1;
    }
    for (int k = begin[2]; k >= 0 && k < f->nodes[2]; k += step[2])
        for (int j = begin[1]; j >= 0 && j < f->nodes[1]; j += step[1])
            for (int i = begin[0]; i >= 0 && i < f->nodes[0]; i += step[0]) {
                const size_t at = index_of(f, i, j, k);
                const int x = i - step[0], y = j - step[1], z = k - step[2];
                const uint32_t from[3] = {
                    x >= 0 && x < f->nodes[0] ? b->nearest[index_of(f, x, j, k)] : FLR_NONE,
                    y >= 0 && y < f->nodes[1] ? b->nearest[index_of(f, i, y, k)] : FLR_NONE,
                    z >= 0 && z < f->nodes[2] ? b->nearest[index_of(f, i, j, z)] : FLR_NONE};
                for (int n = 0; n < 3; n++)
                    if (from[n] != FLR_NONE && from[n] != b->nearest[at])
                        offer(b, at, node_at(f, i, j, k), from[n]);
            }
}

/* ---- inside ---- */

static bool is_inside(const flr_plan_space *s, flr_vec3 p)
{
    for (uint32_t o = 0; o < s->obstacle_count; o++) {
        const flr_box3 box = s->boxes[o];
        if (p.x < box.low.x || p.y < box.low.y || p.z < box.low.z || p.x > box.high.x ||
            p.y > box.high.y || p.z > box.high.z)
            continue;
        if (flr_fit_inside(s->obstacles[o].fit, flr_pose_apply_inverse(s->obstacles[o].T, p)))
            return true;
    }
    return false;
}

/* Gives a region the sign of the node where it begins, no farther from that than `reach` nodes. Between neighbours of
 * which one is farther than a cell from any surface there is none. `queue` has room for all nodes. */
static void fill_region(flr_plan_field *f, uint8_t *side, uint32_t *queue, size_t first,
                        double reach)
{
    const int *n = f->nodes;
    const size_t stride[3] = {1, (size_t)n[0], (size_t)n[0] * (size_t)n[1]};
    const int from[3] = {(int)(first % stride[1]), (int)(first / stride[1] % (size_t)n[1]),
                         (int)(first / stride[2])};
    size_t count = 0;
    queue[count++] = (uint32_t)first;
    while (count) {
        const size_t at = queue[--count];
        const int xyz[3] = {(int)(at % stride[1]), (int)(at / stride[1] % (size_t)n[1]),
                            (int)(at / stride[2])};
        for (int k = 0; k < 6; k++) {
            const int axis = k / 2, to = xyz[axis] + (k % 2 ? 1 : -1);
            if (to < 0 || to >= n[axis] || abs(to - from[axis]) > reach) continue;
            const size_t next = k % 2 ? at + stride[axis] : at - stride[axis];
            if (side[next] || !(fmaxf(f->distance[at], f->distance[next]) > (float)f->cell))
                continue;
            side[next] = side[at];
            queue[count++] = (uint32_t)next;
        }
    }
}

typedef struct side_job {
    const flr_plan_field *f;
    const flr_plan_space *s;
    uint8_t *side; /* [nodes] 0 not known, 1 outside, 2 inside */
} side_job;

static flr_result ask_slice(void *context, size_t z, unsigned thread)
{
    (void)thread;
    const side_job *j = context;
    for (int y = 0; y < j->f->nodes[1]; y++)
        for (int x = 0; x < j->f->nodes[0]; x++) {
            const size_t at = index_of(j->f, x, y, (int)z);
            if (!j->side[at]) j->side[at] = is_inside(j->s, node_at(j->f, x, y, (int)z)) ? 2 : 1;
        }
    return FLR_OK;
}

/* A region without a surface in it is on one side. Where a part has holes that is so nearby only. */
static bool set_signs(flr_plan_field *f, const flr_plan_space *s, uint32_t *queue)
{
    const size_t total = (size_t)f->nodes[0] * (size_t)f->nodes[1] * (size_t)f->nodes[2];
    side_job j = {f, s, calloc(total, 1)};
    bool solid = true;
    if (!j.side) return false;
    for (uint32_t o = 0; o < s->obstacle_count; o++)
        solid &= flr_fit_get_info(s->obstacles[o].fit).solid;
    for (int z = 0; z < f->nodes[2]; z++)
        for (int y = 0; y < f->nodes[1]; y++)
            for (int x = 0; x < f->nodes[0]; x++) {
                const size_t at = index_of(f, x, y, z);
                if (j.side[at] || !(f->distance[at] > (float)f->cell)) continue;
                j.side[at] = is_inside(s, node_at(f, x, y, z)) ? 2 : 1;
                fill_region(f, j.side, queue, at,
                            solid ? INFINITY : fmax(2, 0.5 * f->distance[at] / f->cell));
            }
    flr_parallel_for(0, (size_t)f->nodes[2], ask_slice, &j);
    for (size_t i = 0; i < total; i++) {
        if (j.side[i] != 2) continue;
        f->depth = fmax(f->depth, f->distance[i]);
        f->distance[i] = -f->distance[i];
    }
    free(j.side);
    return true;
}

static bool build_grid(flr_plan_field *f, const flr_plan_space *s, uint32_t max_nodes)
{
    set_size(f, s, max_nodes);
    const size_t total = (size_t)f->nodes[0] * (size_t)f->nodes[1] * (size_t)f->nodes[2];
    grid_build b = {.f = f};
    f->distance = malloc(total * sizeof *f->distance);
    b.nearest = malloc(total * sizeof *b.nearest);
    bool built =
        f->distance && b.nearest && collect_triangles(s->obstacles, s->obstacle_count, &b.list);
    if (built) {
        for (size_t i = 0; i < total; i++) f->distance[i] = INFINITY, b.nearest[i] = FLR_NONE;
        for (uint32_t i = 0; i < b.list.count; i++) write_triangle(&b, i);
        for (int octant = 0; octant < 8; octant++) sweep(&b, octant);
        for (size_t i = 0; i < total; i++) f->distance[i] = sqrtf(f->distance[i]);
        built = set_signs(f, s, b.nearest);
    }
    free(b.list.at);
    free(b.nearest);
    return built;
}

double flr_plan_field_at(const flr_plan_field *f, flr_vec3 p)
{
    const double inverse = 1 / f->cell;
    const double at[3] = {(p.x - f->origin.x) * inverse, (p.y - f->origin.y) * inverse,
                          (p.z - f->origin.z) * inverse};
    double beyond2 = 0, part[3];
    int i[3];
    for (int k = 0; k < 3; k++) {
        const double inside = fmin(fmax(at[k], 0), f->nodes[k] - 1.000001);
        beyond2 += (at[k] - inside) * (at[k] - inside);
        i[k] = (int)inside;
        part[k] = inside - i[k];
    }
    const size_t y = (size_t)f->nodes[0], z = y * (size_t)f->nodes[1];
    const float *d = f->distance + index_of(f, i[0], i[1], i[2]);
    const double u = part[0], v = part[1], w = part[2];
    const double d00 = d[0] + u * (d[1] - d[0]), d10 = d[y] + u * (d[y + 1] - d[y]),
                 d01 = d[z] + u * (d[z + 1] - d[z]), d11 = d[z + y] + u * (d[z + y + 1] - d[z + y]);
    const double d0 = d00 + v * (d10 - d00), d1 = d01 + v * (d11 - d01);
    const double value = d0 + w * (d1 - d0);
    // beyond the grid: the box is convex, so the surface is behind the node and not beside the way to it
    return beyond2 > 0 ? sqrt(fmax(value, 0) * fmax(value, 0) + beyond2 * f->cell * f->cell)
                       : value;
}

/* ---- the body ---- */

typedef struct point_list {
    float (*at)[3];
    uint32_t count, capacity;
} point_list;

static bool add_point(point_list *list, flr_vec3 p)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 4096;
        float(*more)[3] = realloc(list->at, capacity * sizeof *more);
        if (!more) return false;
        list->at = more;
        list->capacity = capacity;
    }
    float *to = list->at[list->count++];
    to[0] = (float)p.x, to[1] = (float)p.y, to[2] = (float)p.z;
    return true;
}

/* Points of a triangle, in rows along its longest edge; no point of it is farther from one than about `spacing`. */
static bool add_triangle(point_list *list, const flr_vec3 c[3], double spacing)
{
    int k = 0;
    double edge[3];
    for (int i = 0; i < 3; i++) edge[i] = flr_vec3_distance(c[i], c[(i + 1) % 3]);
    for (int i = 1; i < 3; i++)
        if (edge[i] > edge[k]) k = i;
    const flr_vec3 a = c[k], b = c[(k + 1) % 3], apex = c[(k + 2) % 3];
    const double twice = flr_vec3_length(flr_vec3_cross(flr_vec3_sub(b, a), flr_vec3_sub(apex, a)));
    const double height = edge[k] > 0 ? twice / edge[k] : 0;
    const int rows = (int)fmin(ceil(height / spacing), 1000);
    for (int i = 0; i <= rows; i++) {
        const double v = rows ? (double)i / rows : 0;
        const flr_vec3 from = flr_vec3_lerp(a, apex, v), to = flr_vec3_lerp(b, apex, v);
        const int steps = (int)fmin(ceil((1 - v) * edge[k] / spacing), 1000);
        for (int j = 0; j <= steps; j++)
            if (!add_point(list, flr_vec3_lerp(from, to, steps ? (double)j / steps : 0)))
                return false;
    }
    return rows || add_point(list, apex);
}

typedef struct keyed_point {
    int32_t key[3]; /* of its cell */
    float at[3];
} keyed_point;

static int by_cell(const void *a, const void *b) { return memcmp(a, b, sizeof(keyed_point)); }

/* One point of each small cell. */
static void thin_out(point_list *list, double spacing)
{
    keyed_point *all = malloc((list->count + 1u) * sizeof *all);
    if (!all) return; // as many as there are
    for (uint32_t i = 0; i < list->count; i++)
        for (int k = 0; k < 3; k++) {
            all[i].at[k] = list->at[i][k];
            all[i].key[k] = (int32_t)floor(list->at[i][k] / spacing);
        }
    qsort(all, list->count, sizeof *all, by_cell);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (i == 0 || memcmp(all[i].key, all[i - 1].key, sizeof all[i].key) != 0)
            memcpy(list->at[count++], all[i].at, sizeof all[i].at);
    list->count = count;
    free(all);
}

static bool collect_points(const flr_plan_space *s, double spacing, point_list *list)
{
    corner_list corners;
    if (!collect_triangles(s->moving, s->moving_count, &corners)) return false;
    bool stored = true;
    for (uint32_t i = 0; i < corners.count && stored; i++)
        stored = add_triangle(list, corners.at[i], spacing);
    free(corners.at);
    if (stored) thin_out(list, 0.6 * spacing);
    return stored;
}

/* ---- spheres ---- */

static int compare_x(const void *a, const void *b)
{
    const float x = ((const float *)a)[0], y = ((const float *)b)[0];
    return x < y ? -1 : x > y;
}
static int compare_y(const void *a, const void *b)
{
    return compare_x((const float *)a + 1, (const float *)b + 1);
}
static int compare_z(const void *a, const void *b)
{
    return compare_x((const float *)a + 2, (const float *)b + 2);
}

static uint32_t make_spheres(flr_plan_field *f, uint32_t first, uint32_t count)
{
    static int (*const compare[3])(const void *a, const void *b) = {compare_x, compare_y,
                                                                    compare_z};
    float(*at)[3] = (float(*)[3])(void *)f->points;
    const uint32_t index = f->sphere_count++;
    float low[3], high[3], r2 = 0;
    int longest = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = at[first][k];
        for (uint32_t i = first; i < first + count; i++) {
            low[k] = fminf(low[k], at[i][k]);
            high[k] = fmaxf(high[k], at[i][k]);
        }
        if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
    }
    flr_plan_sphere *sphere = &f->spheres[index];
    for (int k = 0; k < 3; k++) sphere->centre[k] = 0.5f * (low[k] + high[k]);
    for (uint32_t i = first; i < first + count; i++) {
        float d2 = 0;
        for (int k = 0; k < 3; k++)
            d2 += (at[i][k] - sphere->centre[k]) * (at[i][k] - sphere->centre[k]);
        r2 = fmaxf(r2, d2);
    }
    sphere->radius = sqrtf(r2);
    sphere->first = first;
    if (count <= LEAF_POINTS) {
        sphere->count = count;
        return index;
    }
    qsort(at + first, count, sizeof *at, compare[longest]);
    make_spheres(f, first, count / 2);
    f->spheres[index].right = make_spheres(f, first + count / 2, count - count / 2);
    return index;
}

static bool build_body(flr_plan_field *f, const flr_plan_space *s)
{
    point_list list = {0};
    double spacing = 0.8 * f->cell;
    for (;; spacing *= 1.5) {
        list.count = 0;
        if (!collect_points(s, spacing, &list)) {
            free(list.at);
            return false;
        }
        if (list.count <= MAX_POINTS || spacing > 0.1 * s->size) break;
    }
    f->points = &list.at[0][0];
    f->point_count = list.count;
    f->spheres = calloc(2u * (size_t)list.count + 1, sizeof *f->spheres);
    if (!f->spheres) return false;
    make_spheres(f, 0, list.count);
    return true;
}

flr_result flr_plan_field_create(const flr_plan_space *space, uint32_t max_nodes,
                                 flr_plan_field **field, flr_error *error)
{
    flr_plan_field *f = calloc(1, sizeof *f);
    if (f && build_grid(f, space, max_nodes) && build_body(f, space)) {
        *field = f;
        return FLR_OK;
    }
    flr_plan_field_destroy(f);
    *field = NULL;
    return flr_fail(error, FLR_NO_MEMORY, "no memory to plan");
}

void flr_plan_field_destroy(flr_plan_field *field)
{
    if (!field) return;
    free(field->distance);
    free(field->spheres);
    free(field->points);
    free(field);
}

/* ---- queries ---- */

typedef struct field_walk {
    const flr_plan_field *f;
    flr_mat3 R;
    flr_vec3 p;
    double best;
    flr_vec3 at; /* of the best */
} field_walk;

static flr_vec3 placed(const field_walk *w, const float p[3])
{
    return flr_vec3_add(flr_mat3_apply(w->R, flr_vec3_make(p[0], p[1], p[2])), w->p);
}

static void visit_leaf(field_walk *w, const flr_plan_sphere *leaf)
{
    for (uint32_t i = leaf->first; i < leaf->first + leaf->count; i++) {
        const flr_vec3 at = placed(w, w->f->points + 3 * (size_t)i);
        const double d = flr_plan_field_at(w->f, at);
        if (d < w->best) w->best = d, w->at = at;
    }
}

static void set_witness(const field_walk *w, flr_plan_witness *witness)
{
    const double h = 0.5 * w->f->cell;
    flr_vec3 n;
    n.x = flr_plan_field_at(w->f, flr_vec3_add(w->at, flr_vec3_make(h, 0, 0))) -
          flr_plan_field_at(w->f, flr_vec3_sub(w->at, flr_vec3_make(h, 0, 0)));
    n.y = flr_plan_field_at(w->f, flr_vec3_add(w->at, flr_vec3_make(0, h, 0))) -
          flr_plan_field_at(w->f, flr_vec3_sub(w->at, flr_vec3_make(0, h, 0)));
    n.z = flr_plan_field_at(w->f, flr_vec3_add(w->at, flr_vec3_make(0, 0, h))) -
          flr_plan_field_at(w->f, flr_vec3_sub(w->at, flr_vec3_make(0, 0, h)));
    const double length = flr_vec3_length(n);
    witness->distance = w->best;
    witness->point = w->at;
    witness->normal = length > 0 ? flr_vec3_scale(n, 1 / length) : flr_vec3_make(0, 0, 1);
}

double flr_plan_field_query(const flr_plan_field *field, flr_pose T, double most, double enough,
                            flr_plan_witness *witness)
{
    struct {
        uint32_t sphere;
        double bound;
    } stack[64];
    field_walk w = {.f = field, .R = flr_quat_to_mat3(T.q), .p = T.p, .best = most};
    uint32_t count = 0;
    stack[count].sphere = 0, stack[count++].bound = -INFINITY;
    while (count && w.best > enough) {
        count--;
        if (stack[count].bound >= w.best) continue;
        const flr_plan_sphere *sphere = &field->spheres[stack[count].sphere];
        if (sphere->count) {
            visit_leaf(&w, sphere);
            continue;
        }
        const uint32_t child[2] = {(uint32_t)(sphere - field->spheres) + 1, sphere->right};
        double bound[2];
        for (int k = 0; k < 2; k++) {
            const flr_plan_sphere *c = &field->spheres[child[k]];
            bound[k] = flr_plan_field_at(field, placed(&w, c->centre)) - c->radius;
        }
        const int first = bound[1] < bound[0];
        for (int k = 0; k < 2; k++) {
            // the nearer one is on top
            const int which = k == 0 ? !first : first;
            if (bound[which] >= w.best) continue;
            stack[count].sphere = child[which], stack[count++].bound = bound[which];
        }
    }
    if (w.best < most && witness) set_witness(&w, witness);
    return w.best;
}

uint32_t flr_plan_field_places(const flr_plan_field *field, flr_pose T, double below,
                               flr_plan_witness *places, uint32_t capacity)
{
    uint32_t stack[64], count = 0, found = 0;
    field_walk w = {.f = field, .R = flr_quat_to_mat3(T.q), .p = T.p};
    stack[count++] = 0;
    while (count && found < capacity) {
        const flr_plan_sphere *sphere = &field->spheres[stack[--count]];
        if (flr_plan_field_at(field, placed(&w, sphere->centre)) - sphere->radius >= below)
            continue;
        if (!sphere->count) {
            stack[count++] = sphere->right;
            stack[count++] = (uint32_t)(sphere - field->spheres) + 1;
            continue;
        }
        w.best = below;
        visit_leaf(&w, sphere);
        if (w.best < below) set_witness(&w, &places[found++]);
    }
    return found;
}
