/* what is at a place of a mesh: a corner, an edge, a face */
#include "mesh/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/nearest.h"
#include "mesh/surface_internal.h"

static const double edge_cos = 0.819; /* 35 degrees: more is an edge, less is smooth */
static const double flat_cos = 1 - 1e-6;
static const double flat_share =
    4; /* a plane is so much larger than the triangles of what it runs out into */

flr_vec3 flr_surface_normal(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    flr_vec3 n = flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]),
                                flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]));
    double length = flr_vec3_length(n);
    return length > 0 ? flr_vec3_scale(n, 1 / length) : flr_vec3_zero();
}

double flr_surface_area(const flr_mesh *mesh, const uint32_t *triangles, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *v = mesh->triangles[triangles[i]].v;
        sum += 0.5 * flr_vec3_length(
                         flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]),
                                        flr_vec3_sub(mesh->vertices[v[2]], mesh->vertices[v[0]])));
    }
    return sum;
}

uint32_t flr_surface_flood(flr_surface_walk *w, uint32_t seed,
                           bool (*fits)(void *context, uint32_t from, uint32_t to), void *context,
                           uint32_t *list)
{
    uint32_t count = 0;
    list[count++] = seed;
    w->marks[seed] = 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t opposite = flr_adjacency_opposite(w->adjacency, 3 * list[i] + k);
            if (opposite == FLR_NONE || w->marks[opposite / 3]) continue;
            if (!fits(context, list[i], opposite / 3)) continue;
            w->marks[opposite / 3] = 1;
            list[count++] = opposite / 3;
        }
    for (uint32_t i = 0; i < count; i++) w->marks[list[i]] = 0;
    return count;
}

/* ---- edges ---- */

static bool is_sharp(const flr_surface_walk *w, uint32_t edge)
{
    const flr_adjacency *a = w->adjacency;
    if (flr_adjacency_side_count(a, edge) != 2) return true;
    uint32_t first = a->edge_first[edge];
    flr_vec3 one = flr_surface_normal(w->mesh, a->edge_sides[first] / 3),
             other = flr_surface_normal(w->mesh, a->edge_sides[first + 1] / 3);
    return flr_vec3_dot(one, other) < edge_cos && flr_vec3_length2(one) > 0 &&
           flr_vec3_length2(other) > 0;
}

static flr_vec3 nearest_on(flr_vec3 a, flr_vec3 b, flr_vec3 p)
{
    flr_vec3 along = flr_vec3_sub(b, a);
    double length2 = flr_vec3_length2(along);
    double t = length2 > 0 ? flr_vec3_dot(flr_vec3_sub(p, a), along) / length2 : 0;
    return flr_vec3_add_scaled(a, fmin(1, fmax(0, t)), along);
}

/* Sharp edges at a vertex, two of them at most in `edges`; returns how many there are. */
static uint32_t edges_at(const flr_surface_walk *w, uint32_t vertex, uint32_t edges[2])
{
    const flr_adjacency *a = w->adjacency;
    uint32_t count = 0;
    for (uint32_t i = a->vertex_first[vertex]; i < a->vertex_first[vertex + 1]; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t edge = a->side_edge[3 * a->vertex_triangles[i] + k];
            if (edge == FLR_NONE) continue;
            const uint32_t *v = a->edges[edge].v;
            if ((v[0] != vertex && v[1] != vertex) || !is_sharp(w, edge)) continue;
            bool known = false;
            for (uint32_t n = 0; n < count && n < 2; n++) known = known || edges[n] == edge;
            if (known) continue;
            if (count < 2) edges[count] = edge;
            count++; /* where there are more than two, some are counted twice: it is a corner anyhow */
        }
    return count;
}

static uint32_t other_end(const flr_adjacency *a, uint32_t edge, uint32_t vertex)
{
    return a->edges[edge].v[0] == vertex ? a->edges[edge].v[1] : a->edges[edge].v[0];
}

/* The edge that goes on smoothly from `edge` beyond `vertex`; FLR_NONE: there it ends. */
static uint32_t next_edge(const flr_surface_walk *w, uint32_t edge, uint32_t vertex)
{
    uint32_t edges[2];
    if (edges_at(w, vertex, edges) != 2) return FLR_NONE;
    uint32_t next = edges[0] == edge ? edges[1] : edges[0];
    const flr_vec3 *at = w->mesh->vertices;
    flr_vec3 in = flr_vec3_sub(at[vertex], at[other_end(w->adjacency, edge, vertex)]),
             out = flr_vec3_sub(at[other_end(w->adjacency, next, vertex)], at[vertex]);
    double lengths = flr_vec3_length(in) * flr_vec3_length(out);
    return flr_vec3_dot(in, out) > edge_cos * lengths ? next : FLR_NONE;
}

/* Vertices of the edge that a mesh edge is of, from end to end; a closed one ends with its first. */
static uint32_t *follow_edge(const flr_surface_walk *w, uint32_t seed, uint32_t *count)
{
    const flr_adjacency *a = w->adjacency;
    size_t room = 2 * (size_t)a->edge_count + 4, first = room / 2;
    uint32_t *line = malloc(room * sizeof *line);
    if (!line) return NULL;
    line[first] = a->edges[seed].v[0];
    line[first + 1] = a->edges[seed].v[1];
    size_t low = first, high = first + 1;
    for (uint32_t edge = seed; line[high] != line[low] && high + 1 < room;) {
        edge = next_edge(w, edge, line[high]);
        if (edge == FLR_NONE || edge == seed) break;
        line[high + 1] = other_end(a, edge, line[high]);
        high++;
    }
    for (uint32_t edge = seed; line[high] != line[low] && low > 0;) {
        edge = next_edge(w, edge, line[low]);
        if (edge == FLR_NONE || edge == seed) break;
        line[low - 1] = other_end(a, edge, line[low]);
        low--;
    }
    *count = (uint32_t)(high - low + 1);
    memmove(line, line + low, *count * sizeof *line);
    return line;
}

/* ---- what becomes of it ---- */

static flr_result make_mesh(const flr_surface_walk *w, const flr_triangle *triangles,
                            uint32_t count, flr_mesh **mesh, flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = w->mesh->vertices;
    def.vertex_count = w->mesh->vertex_count;
    def.triangles = triangles;
    def.triangle_count = count;
    return flr_mesh_create(&def, mesh, error);
}

static flr_result make_point(flr_vec3 at, flr_surface *surface, flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    const flr_triangle triangle = {{0, 0, 0}};
    def.vertices = &at;
    def.vertex_count = 1;
    def.triangles = &triangle;
    def.triangle_count = 1;
    *surface = (flr_surface){.kind = FLR_SURFACE_POINT, .point = at};
    return flr_mesh_create(&def, &surface->mesh, error);
}

/* Straight, round, or neither. */
static void judge_edge(const flr_surface_walk *w, const flr_vec3 *points, uint32_t count,
                       flr_surface *surface)
{
    flr_vec3 along = flr_vec3_sub(points[count - 1], points[0]);
    double length = flr_vec3_length(along), off = 0;
    if (length > 0) along = flr_vec3_scale(along, 1 / length);
    for (uint32_t i = 0; i < count; i++) {
        flr_vec3 d = flr_vec3_sub(points[i], points[0]);
        off = fmax(off, flr_vec3_length(flr_vec3_add_scaled(d, -flr_vec3_dot(d, along), along)));
    }
    if (off <= 1e-4 * length + w->tiny) {
        surface->direction = along;
        return;
    }
    /* across two chords that are far from each other */
    flr_vec3 axis = flr_vec3_cross(flr_vec3_sub(points[count / 3], points[0]),
                                   flr_vec3_sub(points[2 * count / 3], points[0]));
    double across = flr_vec3_length(axis);
    flr_surface_circle circle;
    if (count < 5 || !(across > 0)) return;
    axis = flr_vec3_scale(axis, 1 / across);
    if (!flr_surface_fit_circle(points, count, axis, &circle)) return;
    double limit = 1e-3 * circle.radius + w->tiny;
    for (uint32_t i = 0; i < count; i++)
        if (fabs(flr_vec3_dot(flr_vec3_sub(points[i], points[0]), axis)) > limit) return;
    if (circle.error > limit) return;
    flr_vec3 lift = flr_vec3_sub(points[0], circle.centre);
    surface->point =
        flr_vec3_add_scaled(circle.centre, flr_vec3_dot(lift, circle.axis), circle.axis);
    surface->direction = circle.axis;
    surface->radius = circle.radius;
}

static flr_result make_edge(const flr_surface_walk *w, uint32_t edge, flr_surface *surface,
                            flr_error *error)
{
    uint32_t count = 0;
    uint32_t *line = follow_edge(w, edge, &count);
    flr_vec3 *points = line ? malloc(count * sizeof *points) : NULL;
    flr_triangle *triangles = points ? malloc(count * sizeof *triangles) : NULL;
    if (!triangles) {
        free(line);
        free(points);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
    }
    const uint32_t *v = w->adjacency->edges[edge].v;
    *surface =
        (flr_surface){.kind = FLR_SURFACE_EDGE,
                      .point = nearest_on(w->mesh->vertices[v[0]], w->mesh->vertices[v[1]], w->at)};
    for (uint32_t i = 0; i < count; i++) points[i] = w->mesh->vertices[line[i]];
    for (uint32_t i = 0; i + 1 < count; i++) {
        surface->size += flr_vec3_distance(points[i], points[i + 1]);
        triangles[i] = (flr_triangle){{line[i], line[i + 1], line[i + 1]}};
    }
    judge_edge(w, points, count, surface);
    flr_result result = make_mesh(w, triangles, count - 1, &surface->mesh, error);
    free(triangles);
    free(points);
    free(line);
    return result;
}

/* ---- faces ---- */

typedef struct plane_test {
    const flr_surface_walk *walk;
    flr_vec3 normal;
} plane_test;

static bool is_in_plane(void *context, uint32_t from, uint32_t to)
{
    const plane_test *t = context;
    const flr_mesh *mesh = t->walk->mesh;
    (void)from;
    flr_vec3 normal = flr_surface_normal(mesh, to);
    if (flr_vec3_length2(normal) > 0 && flr_vec3_dot(normal, t->normal) < flat_cos) return false;
    for (int k = 0; k < 3; k++) {
        flr_vec3 d = flr_vec3_sub(mesh->vertices[mesh->triangles[to].v[k]], t->walk->at);
        if (fabs(flr_vec3_dot(d, t->normal)) > t->walk->tiny) return false;
    }
    return true;
}

static bool is_smooth(void *context, uint32_t from, uint32_t to)
{
    const flr_surface_walk *w = context;
    flr_vec3 one = flr_surface_normal(w->mesh, from), other = flr_surface_normal(w->mesh, to);
    return flr_vec3_dot(one, other) > edge_cos || flr_vec3_length2(other) == 0;
}

/* Does a plane end at edges, or is it so large that what it runs out into is a rounding? Else it is a piece of something curved. */
static bool is_plane(flr_surface_walk *w)
{
    double area = flr_surface_area(w->mesh, w->list, w->count), largest = 0;
    for (uint32_t i = 0; i < w->count; i++) w->marks[w->list[i]] = 1;
    for (uint32_t i = 0; i < w->count; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t opposite = flr_adjacency_opposite(w->adjacency, 3 * w->list[i] + k);
            if (opposite == FLR_NONE || w->marks[opposite / 3]) continue;
            uint32_t beside = opposite / 3;
            if (is_smooth(w, w->list[i], beside))
                largest = fmax(largest, flr_surface_area(w->mesh, &beside, 1));
        }
    for (uint32_t i = 0; i < w->count; i++) w->marks[w->list[i]] = 0;
    return area >= flat_share * largest;
}

static flr_result make_face(flr_surface_walk *w, flr_surface *surface, flr_error *error)
{
    plane_test test = {w, flr_surface_normal(w->mesh, w->seed)};
    bool found = false;
    *surface = (flr_surface){.kind = FLR_SURFACE_CURVED, .point = w->at};
    w->count = flr_surface_flood(w, w->seed, is_in_plane, &test, w->list);
    flr_result result = FLR_OK;
    if (w->count < w->mesh->triangle_count)
        result = flr_surface_find_cylinder(w, surface, &found, error);
    if (result != FLR_OK) return result;
    if (!found && is_plane(w)) {
        surface->kind = FLR_SURFACE_PLANE;
        surface->direction = test.normal;
    } else if (!found) {
        w->count = flr_surface_flood(w, w->seed, is_smooth, w, w->list);
    }
    surface->size = flr_surface_area(w->mesh, w->list, w->count);
    flr_triangle *triangles = malloc(w->count * sizeof *triangles);
    if (!triangles) return flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
    for (uint32_t i = 0; i < w->count; i++) triangles[i] = w->mesh->triangles[w->list[i]];
    result = make_mesh(w, triangles, w->count, &surface->mesh, error);
    free(triangles);
    return result;
}

/* ---- picking ---- */

/* The triangle nearest to a place, one with an area where several are. */
static uint32_t find_triangle(const flr_mesh *mesh, flr_vec3 at)
{
    uint32_t best = FLR_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        const flr_vec3 t[3] = {mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]]};
        double distance2 = flr_triangle_point2(t, at);
        if (distance2 < least && flr_vec3_length2(flr_surface_normal(mesh, i)) > 0)
            least = distance2, best = i;
    }
    return best;
}

static flr_result pick_face(flr_surface_walk *w, flr_surface *surface, flr_error *error)
{
    uint32_t n = w->mesh->triangle_count;
    w->list = malloc(((size_t)n + 1) * sizeof *w->list);
    w->other = malloc(((size_t)n + 1) * sizeof *w->other);
    w->marks = calloc(n, 1);
    flr_result result = w->list && w->other && w->marks
                            ? make_face(w, surface, error)
                            : flr_fail(error, FLR_NO_MEMORY, "no memory to measure");
    free(w->list);
    free(w->other);
    free(w->marks);
    return result;
}

/* What is nearest so far. */
typedef struct sharp_pick {
    uint32_t corner, edge;
    double corner_away, edge_away;
} sharp_pick;

static void look_at(const flr_surface_walk *w, uint32_t triangle, sharp_pick *best)
{
    const flr_vec3 *at = w->mesh->vertices;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t vertex = w->mesh->triangles[triangle].v[k], edges[2];
        double away = flr_vec3_distance(at[vertex], w->at);
        uint32_t sharp = away < best->corner_away ? edges_at(w, vertex, edges) : 0;
        if (sharp > 2 || sharp == 1 || (sharp == 2 && next_edge(w, edges[0], vertex) == FLR_NONE))
            best->corner_away = away, best->corner = vertex;
        uint32_t side = w->adjacency->side_edge[3 * triangle + k];
        if (side == FLR_NONE || !is_sharp(w, side)) continue;
        const uint32_t *v = w->adjacency->edges[side].v;
        away = flr_vec3_distance(nearest_on(at[v[0]], at[v[1]], w->at), w->at);
        if (away < best->edge_away) best->edge_away = away, best->edge = side;
    }
}

/* A corner or an edge that is near enough; else the face. */
static flr_result pick_nearest(flr_surface_walk *w, double reach, flr_surface *surface,
                               flr_error *error)
{
    const flr_mesh *mesh = w->mesh;
    sharp_pick best = {FLR_NONE, FLR_NONE, reach, reach};
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i].v;
        const flr_vec3 t[3] = {mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]]};
        if (flr_triangle_point2(t, w->at) <= reach * reach) look_at(w, i, &best);
    }
    if (best.corner != FLR_NONE) return make_point(mesh->vertices[best.corner], surface, error);
    if (best.edge != FLR_NONE) return make_edge(w, best.edge, surface, error);
    return pick_face(w, surface, error);
}

flr_result flr_surface_pick(const flr_mesh *mesh, flr_vec3 at, double reach, flr_surface *surface,
                            flr_error *error)
{
    if (!flr_vec3_is_finite(at) || isnan(reach))
        return flr_fail(error, FLR_BAD_ARGUMENT, "that is no place of a part");
    uint32_t seed = find_triangle(mesh, at);
    if (seed == FLR_NONE) return flr_fail(error, FLR_BAD_ARGUMENT, "the part has no surface");
    const uint32_t *v = mesh->triangles[seed].v;
    const flr_vec3 t[3] = {mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]]};
    const flr_vec3 p[3] = {at, at, at};
    flr_nearest nearest = {.distance2 = INFINITY};
    if (flr_triangles_nearest(t, p, &nearest)) at = nearest.at[0]; /* onto the surface */
    if (reach < 0) return make_point(at, surface, error);
    double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    double far = fmax(flr_vec3_length(mesh->bounds.low), flr_vec3_length(mesh->bounds.high));
    flr_surface_walk walk = {
        .mesh = mesh, .at = at, .seed = seed, .tiny = 1e-6 * size + 4e-7 * far};
    flr_result result = flr_adjacency_create(mesh, &walk.adjacency, error);
    if (result != FLR_OK) return result;
    result = pick_nearest(&walk, reach, surface, error);
    flr_adjacency_destroy(walk.adjacency);
    return result;
}

void flr_surface_free(flr_surface *surface)
{
    flr_mesh_destroy(surface->mesh);
    surface->mesh = NULL;
}
