/* Open borders, and how wide a voxel must be to close them. */
#include <math.h>
#include <stdlib.h>

#include "base/sets.h"
#include "mesh/checking.h"

/* Border edges that hang together. */
typedef struct check_borders_loop {
    flr_vec3 origin; /* some vertex of it, against cancellation */
    flr_vec3 area;   /* twice the vector area about the origin */
    flr_vec3 middle; /* sum of edge middles, weighted by length */
    double length;
    uint32_t first_edge, edge_count;
} check_borders_loop;

/* The borders under study. */
typedef struct borders {
    uint32_t *parent;          /* [vertex_count] sets of border vertices that hang together */
    uint32_t *number;          /* [vertex_count] the loop of a set's root */
    check_borders_loop *loops; /* [border_count] */
    uint32_t loop_count;
    uint32_t *heads; /* [table_size] vertex that stands for a cell, or FLR_NONE */
    uint32_t *next;  /* [vertex_count] the next one in the same place of the table */
    uint32_t table_size;
    uint64_t work; /* places and vertices looked at */
} borders;

#define WORK_LIMIT 100000000u /* about a second: wide cracks in very large soups stay unjoined */

/* ---- loops ---- */

/* The width of a gap is four areas over the length of its border: exact for a round or square
 * hole, at most twice the width of a slit, zero for a crack whose sides lie on each other. */
static double gap_width(const check_borders_loop *l)
{
    return l->length > 0 ? 2 * flr_vec3_length(l->area) / l->length : 0;
}

static void add_edge(const flr_checking *c, check_borders_loop *l, uint32_t edge)
{
    const uint32_t side = c->adjacency->edge_sides[c->adjacency->edge_first[edge]];
    const uint32_t *v = c->mesh->triangles[side / 3].v;
    const flr_vec3 p = c->mesh->vertices[v[side % 3]], q = c->mesh->vertices[v[(side + 1) % 3]];
    if (l->edge_count++ == 0) l->origin = p, l->first_edge = edge;
    const double length = flr_vec3_distance(p, q);
    l->area = flr_vec3_add(l->area,
                           flr_vec3_cross(flr_vec3_sub(p, l->origin), flr_vec3_sub(q, l->origin)));
    l->middle = flr_vec3_add_scaled(l->middle, length, flr_vec3_lerp(p, q, 0.5));
    l->length += length;
}

/* sums up the loops of the present sets; returns the widest */
static const check_borders_loop *sum_up(const flr_checking *c, borders *b)
{
    const flr_adjacency *a = c->adjacency;
    for (uint32_t v = 0; v < a->vertex_count; v++) b->number[v] = FLR_NONE;
    b->loop_count = 0;
    for (uint32_t e = 0; e < a->edge_count; e++) {
        if (a->edge_kind[e] != FLR_EDGE_BORDER) continue;
        const uint32_t root = flr_root(b->parent, a->edges[e].v[0]);
        if (b->number[root] == FLR_NONE) {
            b->number[root] = b->loop_count;
            b->loops[b->loop_count++] = (check_borders_loop){.edge_count = 0};
        }
        add_edge(c, b->loops + b->number[root], e);
    }
    const check_borders_loop *widest = b->loops;
    for (uint32_t i = 1; i < b->loop_count; i++)
        if (gap_width(b->loops + i) > gap_width(widest)) widest = b->loops + i;
    return widest;
}

/* ---- borders that lie beside each other ---- */

static uint32_t cell_place(const borders *b, const int64_t cell[3])
{
    const uint64_t mixed = (uint64_t)cell[0] * 0x9E3779B97F4A7C15u ^
                           (uint64_t)cell[1] * 0xC2B2AE3D27D4EB4Fu ^
                           (uint64_t)cell[2] * 0x165667B19E3779F9u;
    return (uint32_t)(mixed >> 32) & (b->table_size - 1);
}

/* joins a vertex with those within `reach` that are in the table, and puts it there unless one is
 * so near that it can stand for it: this keeps crowded cells short */
static void join_near(const flr_checking *c, borders *b, uint32_t vertex, double reach)
{
    const flr_vec3 p = c->mesh->vertices[vertex], low = c->mesh->bounds.low;
    const int64_t home[3] = {(int64_t)floor((p.x - low.x) / reach),
                             (int64_t)floor((p.y - low.y) / reach),
                             (int64_t)floor((p.z - low.z) / reach)};
    bool stands_in = false;
    for (int i = 0; i < 27; i++) {
        const int64_t cell[3] = {home[0] + i % 3 - 1, home[1] + i / 3 % 3 - 1, home[2] + i / 9 - 1};
        b->work++;
        for (uint32_t v = b->heads[cell_place(b, cell)]; v != FLR_NONE; v = b->next[v], b->work++) {
            const double distance = flr_vec3_distance(p, c->mesh->vertices[v]);
            if (distance <= reach) flr_join(b->parent, vertex, v);
            stands_in = stands_in || distance <= 0.5 * reach;
        }
    }
    if (stands_in) return;
    const uint32_t place = cell_place(b, home);
    b->next[vertex] = b->heads[place];
    b->heads[place] = vertex;
}

/* false: it takes too long, and was left half done */
static bool join_all(const flr_checking *c, borders *b, double reach)
{
    const flr_adjacency *a = c->adjacency;
    for (uint32_t i = 0; i < b->table_size; i++) b->heads[i] = FLR_NONE;
    /* every vertex once: `number` marks those done */
    for (uint32_t v = 0; v < a->vertex_count; v++) b->number[v] = FLR_NONE;
    for (uint32_t e = 0; e < a->edge_count && b->work < WORK_LIMIT; e++)
        for (int k = 0; k < 2 && a->edge_kind[e] == FLR_EDGE_BORDER; k++) {
            const uint32_t v = a->edges[e].v[k];
            if (b->number[v] == FLR_NONE) join_near(c, b, v, reach);
            b->number[v] = 0;
        }
    return b->work < WORK_LIMIT;
}

/* Where two borders run side by side, as where vertices were not welded, the gap is between them
 * and not what each goes around: joined, their areas cancel. So the borders are joined over ever
 * larger distances, and that counts where it makes the widest gap much smaller; merely averaging
 * over several holes does not. */
static double close_cracks(const flr_checking *c, borders *b, check_borders_loop *widest)
{
    enum { CHECK_BORDERS_STEPS = 8 };
    static const double reaches[CHECK_BORDERS_STEPS] = {1e-6, 1e-5, 1e-4, 3e-4,
                                                        1e-3, 3e-3, 1e-2, 3e-2};
    *widest = *sum_up(c, b);
    double gap = gap_width(widest);
    for (int i = 0; i < CHECK_BORDERS_STEPS && reaches[i] * c->size < gap; i++) {
        if (!join_all(c, b, reaches[i] * c->size)) break;
        const check_borders_loop *now = sum_up(c, b);
        /* what is left of a crack of no width is rounding */
        const double left = fmax(gap_width(now), i == 0 ? 0 : reaches[i] * c->size);
        if (left < 0.5 * gap) gap = left, *widest = *now;
    }
    return gap;
}

/* ---- the finding ---- */

/* a round size a quarter above the gap */
static const char *print_coarser(double gap, char text[FLR_SIZE_TEXT_SIZE])
{
    const double power = pow(10, floor(log10(1.25 * gap)) - 1);
    return flr_size_print_tight(ceil(1.25 * gap / power) * power, text);
}

static void say_effect(const flr_checking *c, flr_check_finding *f, double gap)
{
    const double voxel = c->options.voxel;
    char coarser[FLR_SIZE_TEXT_SIZE];
    if (gap == 0)
        flr_checking_effect(f, "Does not matter for voxels: the sides of these cracks lie on each "
                               "other, and nothing leaks.");
    else if (voxel > 0 && gap <= voxel)
        flr_checking_effect(f,
                            "Does not matter with voxels of %s: surface voxels close gaps that "
                            "are smaller.",
                            FLR_LENGTH_TEXT(voxel));
    else if (voxel > 0)
        flr_checking_effect(
            f,
            "Matters with voxels of %s: the gap is wider, so the inside leaks and "
            "counts as free. Use voxels of %s, close the gap, or voxelize the part as "
            "hollow if it is a sheet.",
            FLR_LENGTH_TEXT(voxel), print_coarser(gap, coarser));
    else
        flr_checking_effect(f,
                            "Matters when the voxel is smaller than the gap, about %s: the inside "
                            "leaks and counts as free. Use voxels of %s or more, close the gap, or "
                            "voxelize the part as hollow if it is a sheet.",
                            FLR_LENGTH_TEXT(gap), print_coarser(gap, coarser));
}

static void report_border(flr_checking *c, const check_borders_loop *widest, double gap)
{
    const uint64_t edges = c->adjacency->border_count, loops = c->report->border_loop_count;
    const double voxel = c->options.voxel;
    flr_check_severity severity = FLR_CHECK_WARNING;
    if (gap == 0 || (voxel > 0 && gap <= voxel))
        severity = FLR_CHECK_NOTE;
    else if (voxel > 0 || gap > 0.05 * c->size) /* nobody takes voxels that large */
        severity = FLR_CHECK_SERIOUS;

    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_OPEN_BORDER, severity, edges);
    f->matters = severity != FLR_CHECK_NOTE;
    const flr_vec3 place =
        widest->length > 0 ? flr_vec3_scale(widest->middle, 1 / widest->length) : widest->origin;
    flr_checking_place(f, flr_checking_edge_triangle(c, widest->first_edge), place, gap);
    flr_checking_say(f,
                     "%llu border edge%s in %llu open loop%s; the widest gap is about %s, around "
                     "%s.",
                     (unsigned long long)edges, flr_noun(edges, "", "s"), (unsigned long long)loops,
                     flr_noun(loops, "", "s"), FLR_LENGTH_TEXT(gap), FLR_PLACE_TEXT(place));
    say_effect(c, f, gap);
}

static void study(flr_checking *c, borders *b)
{
    const flr_adjacency *a = c->adjacency;
    for (uint32_t e = 0; e < a->edge_count; e++)
        if (a->edge_kind[e] == FLR_EDGE_BORDER)
            flr_join(b->parent, a->edges[e].v[0], a->edges[e].v[1]);
    sum_up(c, b);
    c->report->border_loop_count = b->loop_count;
    check_borders_loop widest;
    double gap = close_cracks(c, b, &widest);
    if (gap <= 1e-6 * c->size) gap = 0;
    c->report->largest_gap = gap;
    report_border(c, &widest, gap);
}

flr_result flr_check_borders(flr_checking *c)
{
    const flr_adjacency *a = c->adjacency;
    if (a->border_count == 0) return FLR_OK;
    borders b = {.table_size = 16};
    while (b.table_size < 2 * (uint64_t)a->border_count && b.table_size < 1u << 30)
        b.table_size *= 2;
    b.parent = flr_singletons(a->vertex_count);
    b.number = malloc((size_t)a->vertex_count * sizeof *b.number);
    b.loops = malloc((size_t)a->border_count * sizeof *b.loops);
    b.heads = malloc((size_t)b.table_size * sizeof *b.heads);
    b.next = malloc((size_t)a->vertex_count * sizeof *b.next);
    flr_result result = FLR_OK;
    if (b.parent && b.number && b.loops && b.heads && b.next)
        study(c, &b);
    else
        result = flr_checking_no_memory(c);
    free(b.parent);
    free(b.number);
    free(b.loops);
    free(b.heads);
    free(b.next);
    return result;
}
