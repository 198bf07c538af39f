/* outlines: the same thing for lines that quasi-planar merging is for surfaces
 *
 * A line of feature edges between two forks is replaced by a straight one where no vertex is
 * farther from it than the tolerance, else cut at the farthest vertex, and so on
 * (Ramer 1972, Douglas and Peucker 1973). */
#include "mesh/outline.h"

#include <stdlib.h>

typedef struct outline {
    const flr_mesh *mesh;
    const flr_adjacency *adjacency;
    double tolerance;
    uint8_t *vertex_flags;
    uint32_t *first; /* [vertex_count + 1] */
    uint32_t *edges; /* [first[vertex_count]]: feature edges by vertex */
    uint8_t *walked; /* [edge_count] */
    uint32_t *line;  /* vertices of the line being looked at */
} outline;

static uint32_t degree(const outline *o, uint32_t v) { return o->first[v + 1] - o->first[v]; }

static flr_vec3 point(const outline *o, uint32_t at) { return o->mesh->vertices[o->line[at]]; }

/* the square of the distance from p to the segment a b */
static double distance2(flr_vec3 p, flr_vec3 a, flr_vec3 b)
{
    flr_vec3 along = flr_vec3_sub(b, a), to = flr_vec3_sub(p, a);
    double length2 = flr_vec3_length2(along);
    double t = length2 > 0 ? flr_vec3_dot(to, along) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return flr_vec3_length2(flr_vec3_add_scaled(to, -t, along));
}

/* the vertex of the line between `from` and `to` that is farthest from the straight segment */
static uint32_t farthest(const outline *o, uint32_t from, uint32_t to, double *most)
{
    uint32_t best = from;
    *most = -1;
    for (uint32_t i = from + 1; i < to; i++) {
        double d = distance2(point(o, i), point(o, from), point(o, to));
        if (d > *most) *most = d, best = i;
    }
    return best;
}

/* marks what is needed strictly between line[from] and line[to] */
static void simplify(outline *o, uint32_t from, uint32_t to)
{
    /* beyond this depth cuts go through the middle, so that no line takes quadratic time */
    enum { FREE_DEPTH = 40, OUTLINE_STACK = FREE_DEPTH + 34 };
    struct {
        uint32_t from, to, depth;
    } stack[OUTLINE_STACK] = {{from, to, 0}};

    for (int top = 1; top > 0;) {
        top--;
        from = stack[top].from;
        to = stack[top].to;
        uint32_t depth = stack[top].depth;
        double most;
        uint32_t cut = farthest(o, from, to, &most);
        if (!(most > o->tolerance * o->tolerance)) continue;
        if (depth >= FREE_DEPTH) cut = from + (to - from) / 2;
        o->vertex_flags[o->line[cut]] = 1;
        stack[top].from = cut;
        stack[top].to = to;
        stack[top++].depth = depth + 1;
        stack[top].from = from;
        stack[top].to = cut;
        stack[top++].depth = depth + 1;
    }
}

/* follows the line from v along e to its end or back to v; returns the number of edges */
static uint32_t walk(outline *o, uint32_t v, uint32_t e)
{
    uint32_t count = 0, start = v;
    o->line[0] = v;
    for (;;) {
        o->walked[e] = 1;
        flr_edge edge = o->adjacency->edges[e];
        v = edge.v[0] == v ? edge.v[1] : edge.v[0];
        o->line[++count] = v;
        if (v == start || degree(o, v) != 2) return count;
        const uint32_t *next = o->edges + o->first[v];
        e = next[0] == e ? next[1] : next[0];
    }
}

/* a closed line without a fork, found at v: begins at its outermost vertex in x, y, z, which
 * is a corner if the line has any, and so is the one farthest from that */
static void mark_loop(outline *o, uint32_t v)
{
    uint32_t count = walk(o, v, o->edges[o->first[v]]), best = 0;
    for (uint32_t i = 1; i < count; i++) {
        flr_vec3 p = point(o, i), q = point(o, best);
        if (p.x < q.x || (p.x == q.x && (p.y < q.y || (p.y == q.y && p.z < q.z)))) best = i;
    }
    v = o->line[best];
    walk(o, v, o->edges[o->first[v]]);

    double most;
    uint32_t far = farthest(o, 0, count, &most); /* both ends are one point */
    o->vertex_flags[o->line[0]] = 1;
    o->vertex_flags[o->line[far]] = 1;
    simplify(o, 0, far);
    simplify(o, far, count);
}

static void mark(outline *o)
{
    uint32_t vertices = o->mesh->vertex_count;
    for (uint32_t v = 0; v < vertices; v++)
        if (degree(o, v) != 0 && degree(o, v) != 2) o->vertex_flags[v] = 1;

    /* lines from fork to fork, then those without */
    for (uint32_t v = 0; v < vertices; v++) {
        if (degree(o, v) == 2) continue;
        for (uint32_t i = o->first[v]; i < o->first[v + 1]; i++)
            if (!o->walked[o->edges[i]]) simplify(o, 0, walk(o, v, o->edges[i]));
    }
    for (uint32_t v = 0; v < vertices; v++)
        if (degree(o, v) == 2 && !o->walked[o->edges[o->first[v]]]) mark_loop(o, v);
}

/* lists the feature edges of every vertex, rising */
static void list_edges(outline *o, const uint8_t *edge_flags)
{
    const flr_adjacency *a = o->adjacency;
    for (uint32_t e = 0; e < a->edge_count; e++)
        if (edge_flags[e]) o->first[a->edges[e].v[0]]++, o->first[a->edges[e].v[1]]++;
    for (uint32_t v = 1; v <= a->vertex_count; v++) o->first[v] += o->first[v - 1];
    for (uint32_t e = a->edge_count; e-- > 0;) {
        if (!edge_flags[e]) continue;
        for (int k = 0; k < 2; k++) o->edges[--o->first[a->edges[e].v[k]]] = e;
    }
}

bool flr_outline_mark(const flr_mesh *mesh, const flr_adjacency *adjacency,
                      const uint8_t *edge_flags, double tolerance, uint8_t *vertex_flags)
{
    size_t count = 0;
    for (uint32_t e = 0; e < adjacency->edge_count; e++) count += edge_flags[e] != 0;
    outline o = {.mesh = mesh,
                 .adjacency = adjacency,
                 .tolerance = tolerance,
                 .vertex_flags = vertex_flags,
                 .first = calloc((size_t)mesh->vertex_count + 1, sizeof *o.first),
                 .edges = malloc((2 * count + 1) * sizeof *o.edges),
                 .walked = calloc((size_t)adjacency->edge_count + 1, sizeof *o.walked),
                 .line = malloc((count + 1) * sizeof *o.line)};
    bool complete = o.first && o.edges && o.walked && o.line;
    if (complete) {
        list_edges(&o, edge_flags);
        mark(&o);
    }
    free(o.first);
    free(o.edges);
    free(o.walked);
    free(o.line);
    return complete;
}
