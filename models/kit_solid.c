/* kit_solid.c: from plane figures to closed surfaces: triangulate, sweep, revolve, boxes. */
#include "models/kit.h"

#include <stdlib.h>
#include <string.h>

/* ---- outlines made ready ---- */

static double loop_area(const flr_kit_p2 *p, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const flr_kit_p2 *a = &p[i], *b = &p[(i + 1) % count];
        sum += a->x * b->y - a->y * b->x;
    }
    return sum / 2;
}

/* a copy with the outer loop counter-clockwise and the holes clockwise; false when unusable */
static bool oriented(flr_kit *kit, const flr_kit_outline *from, flr_kit_outline *to)
{
    if (from->overflow || from->loop_count == 0) {
        flr_kit_fail(kit, FLR_TOO_LARGE, "an outline is empty or has too many points");
        return false;
    }
    *to = *from;
    for (int loop = 0, first = 0; loop < to->loop_count; first = to->ends[loop++]) {
        int count = to->ends[loop] - first;
        double area = loop_area(to->points + first, count);
        if (count < 3 || area == 0) {
            flr_kit_fail(kit, FLR_BAD_ARGUMENT, "a loop of an outline encloses nothing");
            return false;
        }
        if ((area > 0) == (loop == 0)) continue;
        for (int i = 0; i < count / 2; i++) {
            flr_kit_p2 swap = to->points[first + i];
            to->points[first + i] = to->points[first + count - 1 - i];
            to->points[first + count - 1 - i] = swap;
        }
    }
    return true;
}

/* ---- triangulation by cutting ears, holes joined to the outside by bridges first ---- */

enum { MAX_NODES = FLR_KIT_POINTS + 2 * FLR_KIT_LOOPS };

typedef struct ears {
    const flr_kit_p2 *p;
    int point[MAX_NODES], next[MAX_NODES], before[MAX_NODES];
    int count;                                /* nodes ever made */
    int triangles[MAX_NODES][3], n_triangles; /* indices of points */
} ears;

static double cross2(flr_kit_p2 a, flr_kit_p2 b, flr_kit_p2 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int add_node(ears *e, int point, int after)
{
    int node = e->count++;
    e->point[node] = point;
    if (after < 0) {
        e->next[node] = e->before[node] = node;
    } else {
        e->next[node] = e->next[after];
        e->before[node] = after;
        e->before[e->next[node]] = node;
        e->next[after] = node;
    }
    return node;
}

/* does the line from the node to m begin inside the polygon? */
static bool opens_to(const ears *e, int node, flr_kit_p2 m)
{
    flr_kit_p2 a = e->p[e->point[e->before[node]]], b = e->p[e->point[node]];
    flr_kit_p2 c = e->p[e->point[e->next[node]]];
    bool left_of_in = cross2(a, b, m) >= 0, left_of_out = cross2(b, c, m) >= 0;
    return cross2(a, b, c) >= 0 ? left_of_in && left_of_out : left_of_in || left_of_out;
}

/* the node of the polygon through `start` that the point m sees when looking along +x */
static int visible(const ears *e, int start, flr_kit_p2 m)
{
    double nearest = 0;
    int best = -1, node = start;
    flr_kit_p2 hit = m;
    do {
        flr_kit_p2 a = e->p[e->point[node]], b = e->p[e->point[e->next[node]]];
        /* an edge that goes up on the right of m, as the outside's right border does */
        if (a.y <= m.y && b.y >= m.y && a.y < b.y) {
            double x = a.x + (b.x - a.x) * (m.y - a.y) / (b.y - a.y);
            if (x >= m.x && (best < 0 || x < nearest)) {
                nearest = x;
                best = a.x > b.x ? node : e->next[node];
                hit.x = x;
            }
        }
        node = e->next[node];
    } while (node != start);
    if (best < 0) return -1;
    /* a corner that stands in between hides the chosen one: take the one nearest to the line */
    flr_kit_p2 c = e->p[e->point[best]], c0 = c;
    double least = 0;
    bool found = false;
    node = start;
    do {
        flr_kit_p2 q = e->p[e->point[node]];
        double side = c0.y > m.y ? 1 : -1;
        bool reflex = cross2(e->p[e->point[e->before[node]]], q, e->p[e->point[e->next[node]]]) < 0;
        if (reflex && q.x >= m.x && side * cross2(m, hit, q) >= 0 &&
            side * cross2(hit, c0, q) >= 0 && side * cross2(c0, m, q) >= 0 &&
            (q.x != c.x || q.y != c.y)) {
            double slope = fabs(q.y - m.y) / (q.x - m.x + 1e-300);
            if (!found || slope < least) {
                least = slope;
                best = node;
                found = true;
            }
        }
        node = e->next[node];
    } while (node != start);
    /* a point that ends other bridges is there several times: the one that looks this way */
    int point = e->point[best];
    node = start;
    do {
        if (e->point[node] == point && opens_to(e, node, m)) best = node;
        node = e->next[node];
    } while (node != start);
    return best;
}

/* cuts the hole's points first..end-1 into the polygon; false when it sees no border */
static bool bridge(ears *e, int start, int first, int end)
{
    int right = first;
    for (int i = first; i < end; i++)
        if (e->p[i].x > e->p[right].x) right = i;
    int to = visible(e, start, e->p[right]);
    if (to < 0) return false;
    /* to, right, ..., right again, to again */
    int last = to, count = end - first;
    for (int i = 0; i <= count; i++) last = add_node(e, first + (right - first + i) % count, last);
    add_node(e, e->point[to], last);
    return true;
}

static bool is_ear(const ears *e, int node, bool strict)
{
    int ia = e->point[e->before[node]], ib = e->point[node], ic = e->point[e->next[node]];
    flr_kit_p2 a = e->p[ia], b = e->p[ib], c = e->p[ic];
    double area = cross2(a, b, c);
    if (strict ? area <= 1e-13 : area < -1e-13) return false;
    for (int i = e->next[e->next[node]]; i != e->before[node]; i = e->next[i]) {
        int k = e->point[i];
        if (k == ia || k == ib || k == ic) continue;
        flr_kit_p2 q = e->p[k];
        if (cross2(a, b, q) >= 0 && cross2(b, c, q) >= 0 && cross2(c, a, q) >= 0) return false;
    }
    return true;
}

/* triangles of the plane figure, counter-clockwise; NULL and noted when it cannot be done */
static ears *triangulate(flr_kit *kit, const flr_kit_outline *outline)
{
    ears *e = malloc(sizeof *e);
    if (!e) {
        flr_kit_fail(kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return NULL;
    }
    e->p = outline->points;
    e->count = e->n_triangles = 0;
    int last = -1;
    for (int i = 0; i < outline->ends[0]; i++) last = add_node(e, i, last);
    /* holes from right to left, so that a bridge never crosses a hole that is not yet joined */
    bool done[FLR_KIT_LOOPS] = {false};
    for (int round = 1; round < outline->loop_count; round++) {
        int best = -1;
        double best_x = 0;
        for (int loop = 1; loop < outline->loop_count; loop++)
            for (int i = outline->ends[loop - 1]; !done[loop] && i < outline->ends[loop]; i++)
                if (best < 0 || outline->points[i].x > best_x) {
                    best = loop;
                    best_x = outline->points[i].x;
                }
        done[best] = true;
        if (!bridge(e, last, outline->ends[best - 1], outline->ends[best])) {
            flr_kit_fail(kit, FLR_BAD_ARGUMENT, "a hole lies outside its outline");
            free(e);
            return NULL;
        }
    }
    int left = e->count, node = last, looked = 0;
    bool strict = true;
    while (left > 3) {
        if (is_ear(e, node, strict)) {
            int *t = e->triangles[e->n_triangles++];
            t[0] = e->point[e->before[node]];
            t[1] = e->point[node];
            t[2] = e->point[e->next[node]];
            e->next[e->before[node]] = e->next[node];
            e->before[e->next[node]] = e->before[node];
            node = e->next[e->next[node]];
            left--;
            looked = 0;
            strict = true;
        } else {
            node = e->next[node];
            if (++looked <= left) continue;
            if (!strict) {
                flr_kit_fail(kit, FLR_BAD_ARGUMENT, "an outline crosses itself");
                free(e);
                return NULL;
            }
            strict = false;
            looked = 0;
        }
    }
    int *t = e->triangles[e->n_triangles++];
    t[0] = e->point[e->before[node]];
    t[1] = e->point[node];
    t[2] = e->point[e->next[node]];
    return e;
}

/* ---- sweep ---- */

/* the smallest rotation that takes unit vector a to unit vector b, applied to v */
static flr_vec3 carried(flr_vec3 v, flr_vec3 a, flr_vec3 b)
{
    flr_vec3 axis = v3_cross(a, b);
    double c = v3_dot(a, b), k = 1 / (1 + c);
    return v3_add(v3_mul(v, c), v3_add(v3_cross(axis, v), v3_mul(axis, v3_dot(axis, v) * k)));
}

/* one ring of vertices: the section at c, stretched onto the plane with normal n; returns the
 * index of its first vertex */
static uint32_t ring(flr_kit *kit, const flr_kit_outline *o, flr_vec3 c, flr_vec3 u, flr_vec3 v,
                     flr_vec3 along, flr_vec3 n, double scale)
{
    uint32_t first = (uint32_t)kit->vertex_count;
    double slope = 1 / v3_dot(along, n);
    for (int i = 0; i < o->point_count; i++) {
        flr_vec3 p = v3_mul(v3_add(v3_mul(u, o->points[i].x), v3_mul(v, o->points[i].y)), scale);
        p = v3_sub(p, v3_mul(along, v3_dot(p, n) * slope));
        flr_kit_vertex(kit, v3_add(c, p));
    }
    return first;
}

static void skin(flr_kit *kit, const flr_kit_outline *o, uint32_t lower, uint32_t upper)
{
    for (int loop = 0, first = 0; loop < o->loop_count; first = o->ends[loop++]) {
        int count = o->ends[loop] - first;
        for (int i = 0; i < count; i++) {
            uint32_t a = (uint32_t)(first + i), b = (uint32_t)(first + (i + 1) % count);
            flr_kit_quad(kit, lower + a, lower + b, upper + b, upper + a);
        }
    }
}

static void cap(flr_kit *kit, const ears *e, uint32_t first, bool end)
{
    for (int i = 0; i < e->n_triangles; i++) {
        const int *t = e->triangles[i];
        uint32_t a = first + (uint32_t)t[0], b = first + (uint32_t)t[1], c = first + (uint32_t)t[2];
        if (end)
            flr_kit_triangle(kit, a, b, c);
        else
            flr_kit_triangle(kit, a, c, b);
    }
}

void flr_kit_sweep(flr_kit *kit, const flr_vec3 *path, int count, flr_vec3 up,
                   const flr_kit_outline *outline, const double *scale)
{
    flr_kit_outline o;
    if (kit->result != FLR_OK || count < 2 || !oriented(kit, outline, &o)) return;
    ears *e = triangulate(kit, &o);
    if (!e) return;
    flr_vec3 along = v3_unit(v3_sub(path[1], path[0]));
    flr_vec3 v = v3_sub(up, v3_mul(along, v3_dot(up, along)));
    v = v3_dot(v, v) > 1e-18 ? v3_unit(v) : v3_across(along);
    uint32_t lower = 0;
    for (int i = 0; i < count; i++) {
        flr_vec3 next = i + 1 < count ? v3_unit(v3_sub(path[i + 1], path[i])) : along;
        flr_vec3 n = v3_unit(v3_add(along, next));
        uint32_t upper =
            ring(kit, &o, path[i], v3_cross(v, along), v, along, n, scale ? scale[i] : 1);
        if (i == 0)
            cap(kit, e, upper, false);
        else
            skin(kit, &o, lower, upper);
        if (i + 1 == count) cap(kit, e, upper, true);
        v = v3_unit(carried(v, along, next));
        along = next;
        lower = upper;
    }
    free(e);
}

void flr_kit_prism(flr_kit *kit, flr_pose at, const flr_kit_outline *outline, double height)
{
    flr_vec3 path[2] = {{0, 0, 0}, {0, 0, height}};
    flr_kit_push(kit, at);
    flr_kit_sweep(kit, path, 2, v3(0, height > 0 ? 1 : -1, 0), outline, NULL);
    flr_kit_pop(kit);
}

/* ---- revolve ---- */

void flr_kit_revolve(flr_kit *kit, flr_pose at, const flr_kit_outline *outline, int sides)
{
    flr_kit_outline o;
    if (kit->result != FLR_OK || !oriented(kit, outline, &o)) return;
    int count = o.ends[0];
    uint32_t first[FLR_KIT_POINTS];
    flr_kit_push(kit, at);
    for (int i = 0; i < count; i++) {
        double r = o.points[i].x, z = o.points[i].y;
        if (r < 0) flr_kit_fail(kit, FLR_BAD_ARGUMENT, "an outline to revolve crosses its axis");
        first[i] = (uint32_t)kit->vertex_count;
        for (int k = 0; k < (r == 0 ? 1 : sides); k++) {
            double a = (double)k / sides;
            flr_kit_vertex(kit, v3(r * flr_kit_cos(a), r * flr_kit_sin(a), z));
        }
    }
    flr_kit_pop(kit);
    for (int i = 0; i < count; i++) {
        int j = (i + 1) % count;
        bool pole_i = o.points[i].x == 0, pole_j = o.points[j].x == 0;
        if (pole_i && pole_j) continue;
        for (int k = 0; k < sides; k++) {
            uint32_t s = (uint32_t)k, t = (uint32_t)((k + 1) % sides);
            if (pole_i)
                flr_kit_triangle(kit, first[i], first[j] + t, first[j] + s);
            else if (pole_j)
                flr_kit_triangle(kit, first[i] + s, first[i] + t, first[j]);
            else
                flr_kit_quad(kit, first[i] + s, first[i] + t, first[j] + t, first[j] + s);
        }
    }
}

void flr_kit_extrude(flr_kit *kit, flr_pose at, const flr_kit_corner *corners, int count,
                     double height)
{
    flr_kit_outline o = {0};
    flr_outline_corners(kit, &o, corners, count);
    flr_kit_prism(kit, at, &o, height);
}

void flr_kit_lathe(flr_kit *kit, flr_pose at, const flr_kit_corner *corners, int count, int sides)
{
    flr_kit_outline o = {0};
    flr_outline_corners(kit, &o, corners, count);
    flr_kit_revolve(kit, at, &o, sides);
}

/* ---- boxes ---- */

/* a face of a convex solid around the origin, turned outwards */
static void face(flr_kit *kit, const flr_vec3 *p, const uint32_t *index, int count,
                 const int *corner)
{
    flr_vec3 a = p[corner[0]], b = p[corner[1]], c = p[corner[2]];
    bool out = v3_dot(v3_cross(v3_sub(b, a), v3_sub(c, a)), a) > 0;
    for (int i = 2; i < count; i++) {
        uint32_t u = index[corner[0]], v = index[corner[i - 1]], w = index[corner[i]];
        if (out)
            flr_kit_triangle(kit, u, v, w);
        else
            flr_kit_triangle(kit, u, w, v);
    }
}

void flr_kit_box(flr_kit *kit, flr_pose at, double x, double y, double z, double chamfer)
{
    if (kit->result != FLR_OK) return;
    if (chamfer <= 0) {
        flr_kit_outline o = {0};
        flr_outline_rect(kit, &o, 0, 0, x, y, 0);
        flr_kit_prism(kit, flr_kit_shift(at, 0, 0, -z / 2), &o, z);
        return;
    }
    /* 8 corners of 3 points each: point 3 * corner + axis lies on the face across that axis */
    double half[3] = {x / 2, y / 2, z / 2};
    flr_vec3 p[24];
    uint32_t index[24];
    flr_kit_push(kit, at);
    for (int corner = 0; corner < 8; corner++)
        for (int axis = 0; axis < 3; axis++) {
            double q[3];
            for (int k = 0; k < 3; k++) {
                double h = half[k] - (k == axis ? 0 : chamfer);
                q[k] = corner >> k & 1 ? h : -h;
            }
            p[3 * corner + axis] = v3(q[0], q[1], q[2]);
            index[3 * corner + axis] = flr_kit_vertex(kit, p[3 * corner + axis]);
        }
    flr_kit_pop(kit);
    for (int axis = 0; axis < 3; axis++) {
        int b = 1 << (axis + 1) % 3, c = 1 << (axis + 2) % 3, beside = (axis + 1) % 3;
        /* the two faces across the axis */
        for (int side = 0; side < 2; side++) {
            int s = side << axis;
            int quad[4] = {3 * s + axis, 3 * (s | b) + axis, 3 * (s | b | c) + axis,
                           3 * (s | c) + axis};
            face(kit, p, index, 4, quad);
        }
        /* the four edges between this face pair and the next axis's */
        for (int k = 0; k < 4; k++) {
            int s = (k & 1) << axis | (k >> 1) << beside;
            int quad[4] = {3 * s + axis, 3 * s + beside, 3 * (s | c) + beside, 3 * (s | c) + axis};
            face(kit, p, index, 4, quad);
        }
    }
    for (int corner = 0; corner < 8; corner++) {
        int three[3] = {3 * corner, 3 * corner + 1, 3 * corner + 2};
        face(kit, p, index, 3, three);
    }
}

/* ---- round solids ---- */

void flr_kit_rounded_cylinder(flr_kit *kit, flr_pose at, double r, double height, double rounding)
{
    flr_kit_corner c[] = {{0, 0, 0}, {r, 0, rounding}, {r, height, rounding}, {0, height, 0}};
    flr_kit_lathe(kit, at, c, 4, flr_kit_sides(kit, r));
}

void flr_kit_cylinder(flr_kit *kit, flr_pose at, double r, double height)
{
    flr_kit_rounded_cylinder(kit, at, r, height, 0);
}

void flr_kit_tube(flr_kit *kit, flr_pose at, double r_outer, double r_inner, double height)
{
    flr_kit_corner c[] = {
        {r_inner, 0, 0}, {r_outer, 0, 0}, {r_outer, height, 0}, {r_inner, height, 0}};
    flr_kit_lathe(kit, at, c, 4, flr_kit_sides(kit, r_outer));
}

void flr_kit_cone(flr_kit *kit, flr_pose at, double r_bottom, double r_top, double height)
{
    flr_kit_outline o = {0};
    flr_outline_point(&o, 0, 0);
    if (r_bottom > 0) flr_outline_point(&o, r_bottom, 0);
    if (r_top > 0) flr_outline_point(&o, r_top, height);
    flr_outline_point(&o, 0, height);
    flr_outline_close(&o);
    flr_kit_revolve(kit, at, &o, flr_kit_sides(kit, r_bottom > r_top ? r_bottom : r_top));
}

void flr_kit_sphere(flr_kit *kit, flr_pose at, double r)
{
    int sides = flr_kit_sides(kit, r), steps = sides / 2;
    flr_kit_outline o = {0};
    flr_outline_point(&o, 0, -r);
    for (int i = 1; i < steps; i++) {
        double a = -0.25 + 0.5 * i / steps;
        flr_outline_point(&o, r * flr_kit_cos(a), r * flr_kit_sin(a));
    }
    flr_outline_point(&o, 0, r);
    flr_outline_close(&o);
    flr_kit_revolve(kit, at, &o, sides);
}

void flr_kit_torus(flr_kit *kit, flr_pose at, double r_ring, double r_section)
{
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, r_ring, 0, r_section);
    flr_kit_revolve(kit, at, &o, flr_kit_sides(kit, r_ring + r_section));
}
