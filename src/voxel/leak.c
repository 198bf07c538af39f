/* leaks: the borders of the mesh, closed by cones, and a second flood */
#include "voxel/leak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sets.h"
#include "feeler/base.h"
#include "feeler/mesh_check.h"
#include "mesh/adjacency.h"
#include "mesh/checking.h"
#include "voxel/build.h"
#include "voxel/voxmap_format.h"

/* border edges that hang together */
typedef struct leak_rim {
    flr_vec3 origin; /* some vertex of it, against cancellation */
    flr_vec3 area;   /* twice the vector area about the origin */
    flr_vec3 middle; /* of its edges, weighted by length; in the end the tip of the cone */
    double length;   /* metres */
    double gap;      /* metres: the width of what it goes around */
    uint32_t tries;  /* cone voxels seen */
    bool leaks;
} leak_rim;

typedef struct cone_face {
    flr_vec3 p, q; /* the border edge */
    uint32_t rim;
} cone_face;

typedef struct leak_search {
    const flr_mesh *mesh;
    const flr_voxmap *voxmap;
    leak_rim *rims;
    uint32_t rim_count;
    cone_face *faces;
    uint32_t face_count;
    flr_vec3 *vertices; /* of mesh and cones */
    flr_triangle *triangles;
    flr_mesh closed;            /* both */
    flr_build build;            /* of it */
    const flr_build_hyper *now; /* being looked at */
    uint32_t face;              /* being looked at */
} leak_search;

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory to look for leaks");
}

/* ---- borders ---- */

static void add_edge(leak_rim *r, flr_vec3 p, flr_vec3 q)
{
    if (r->length == 0) r->origin = p;
    double length = flr_vec3_distance(p, q);
    flr_vec3 twice = flr_vec3_cross(flr_vec3_sub(p, r->origin), flr_vec3_sub(q, r->origin));
    r->area = flr_vec3_add(r->area, twice);
    r->middle =
        flr_vec3_add_scaled(r->middle, length, flr_vec3_sub(flr_vec3_lerp(p, q, 0.5), r->origin));
    r->length += length;
}

/* the rim of every border edge, and its numbers */
static void gather_rims(leak_search *s, const flr_mesh *welded, const flr_adjacency *a,
                        uint32_t *parent, uint32_t *number)
{
    for (uint32_t e = 0; e < a->edge_count; e++)
        if (a->edge_kind[e] == FLR_EDGE_BORDER)
            flr_join(parent, a->edges[e].v[0], a->edges[e].v[1]);
    for (uint32_t v = 0; v < a->vertex_count; v++) number[v] = FLR_NONE;
    for (uint32_t e = 0; e < a->edge_count; e++) {
        if (a->edge_kind[e] != FLR_EDGE_BORDER) continue;
        uint32_t side = a->edge_sides[a->edge_first[e]];
        const uint32_t *v = welded->triangles[side / 3].v;
        cone_face face = {welded->vertices[v[side % 3]], welded->vertices[v[(side + 1) % 3]], 0};
        uint32_t root = flr_root(parent, v[side % 3]);
        if (number[root] == FLR_NONE) {
            number[root] = s->rim_count;
            s->rims[s->rim_count++] = (leak_rim){.length = 0};
        }
        face.rim = number[root];
        s->faces[s->face_count++] = face;
        add_edge(&s->rims[face.rim], face.p, face.q);
    }
    for (uint32_t i = 0; i < s->rim_count; i++) {
        leak_rim *r = &s->rims[i];
        if (r->length > 0) r->middle = flr_vec3_scale(r->middle, 1 / r->length);
        r->middle = flr_vec3_add(r->origin, r->middle);
        r->gap = r->length > 0 ? 2 * flr_vec3_length(r->area) / r->length : 0;
    }
}

static flr_result find_rims(leak_search *s, const flr_mesh *welded, flr_error *error)
{
    flr_adjacency *a;
    flr_result result = flr_adjacency_create(welded, &a, error);
    if (result != FLR_OK) return result;
    uint32_t *parent = flr_singletons(a->vertex_count);
    uint32_t *number = malloc(a->vertex_count * sizeof *number);
    s->rims = malloc((a->border_count + 1u) * sizeof *s->rims);
    s->faces = malloc((a->border_count + 1u) * sizeof *s->faces);
    if (parent && number && s->rims && s->faces)
        gather_rims(s, welded, a, parent, number);
    else
        result = no_memory(error);
    free(parent);
    free(number);
    flr_adjacency_destroy(a);
    return result;
}

/* Borders that lie on each other, as between parts that were not welded, are none at this voxel size. */
static flr_result find_rims_welded(leak_search *s, double weld, flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = s->mesh->vertices;
    def.vertex_count = s->mesh->vertex_count;
    def.triangles = s->mesh->triangles;
    def.triangle_count = s->mesh->triangle_count;
    def.weld = weld;
    flr_mesh *welded;
    flr_result result = flr_mesh_create(&def, &welded, error);
    if (result != FLR_OK) return result;
    result = find_rims(s, welded, error);
    flr_mesh_destroy(welded);
    return result;
}

/* ---- the second flood ---- */

/* mesh and cones in one: the mesh's triangles first, then one per border edge */
static flr_result flood_again(leak_search *s, unsigned threads, flr_error *error)
{
    const flr_mesh *mesh = s->mesh;
    size_t triangles = (size_t)mesh->triangle_count + s->face_count;
    size_t vertices = (size_t)mesh->vertex_count + s->rim_count + 2 * (size_t)s->face_count;
    if (triangles >= UINT32_MAX || vertices >= UINT32_MAX) return no_memory(error);
    flr_vec3 *v = s->vertices = malloc(vertices * sizeof *v);
    flr_triangle *t = s->triangles = malloc(triangles * sizeof *t);
    if (!v || !t) return no_memory(error);

    memcpy(v, mesh->vertices, mesh->vertex_count * sizeof *v);
    memcpy(t, mesh->triangles, mesh->triangle_count * sizeof *t);
    uint32_t tips = mesh->vertex_count, next = tips + s->rim_count;
    for (uint32_t i = 0; i < s->rim_count; i++) v[tips + i] = s->rims[i].middle;
    for (uint32_t i = 0; i < s->face_count; i++, next += 2) {
        v[next] = s->faces[i].p;
        v[next + 1] = s->faces[i].q;
        t[mesh->triangle_count + i] = (flr_triangle){{next, next + 1, tips + s->faces[i].rim}};
    }
    s->closed = (flr_mesh){.vertices = v,
                           .triangles = t,
                           .vertex_count = (uint32_t)vertices,
                           .triangle_count = (uint32_t)triangles,
                           .bounds = mesh->bounds};
    s->build = (flr_build){.mesh = &s->closed, .grid = s->voxmap->header->grid, .threads = threads};
    flr_result result = flr_build_scan(&s->build, s->voxmap->header->T_voxmap_mesh, error);
    return result == FLR_OK ? flr_build_fill(&s->build, error) : result;
}

/* ---- who keeps the flood out? ---- */

static bool closed_surface(const flr_build *build, int64_t x, int64_t y, int64_t z)
{
    const flr_build_hyper *hyper = flr_build_find(build, x >> 6, y >> 6, z >> 6);
    if (!hyper) return false;
    const flr_mask *used = &hyper->used[FLR_LAYER_SURFACE];
    unsigned cell =
        flr_cell((unsigned)(x >> 3) & 7, (unsigned)(y >> 3) & 7, (unsigned)(z >> 3) & 7);
    if (!flr_mask_get(used, cell)) return false;
    const flr_mask *mask = &hyper->masks[FLR_LAYER_SURFACE][flr_mask_rank(used, cell)];
    return flr_mask_get(mask, flr_cell((unsigned)x & 7, (unsigned)y & 7, (unsigned)z & 7));
}

/* Free with the mesh alone, inside when its borders are closed? */
static bool has_leaked(const leak_search *s, const int64_t at[3])
{
    unsigned mark = flr_voxmap_mark_at(s->voxmap, FLR_FIELD_SURFACE, at[0], at[1], at[2]);
    return mark != FLR_MARK_SURFACE && mark != FLR_MARK_INTERIOR &&
           !closed_surface(&s->build, at[0], at[1], at[2]) &&
           !flr_build_voxel_is_outside(&s->build, at[0], at[1], at[2]);
}

/* From a voxel of a cone: does the space behind it go as deep as `wanted` voxels? The cone may be two voxels thick. */
static bool is_deep(const leak_search *s, const int64_t from[3], int axis, int step, int wanted)
{
    int64_t at[3] = {from[0], from[1], from[2]};
    int depth = 0;
    for (int k = 1; k <= wanted + 2 && depth < wanted; k++) {
        at[axis] += step;
        if (has_leaked(s, at))
            depth++;
        else if (depth || k > 2)
            return false;
    }
    return depth >= wanted;
}

/* A row of voxels that a face of a cone touches. */
static void look_at_row(leak_search *s, unsigned y, unsigned z, uint64_t row)
{
    enum { SHALLOW = 3, LEAK_TRIES = 20000 };
    leak_rim *r = &s->rims[s->faces[s->face].rim];
    double voxel = s->voxmap->header->grid.voxel;
    flr_vec3 area = flr_quat_rotate(s->voxmap->header->T_voxmap_mesh.q, r->area);
    const double size[3] = {fabs(area.x), fabs(area.y), fabs(area.z)};
    int axis = size[0] > size[1] ? (size[0] > size[2] ? 0 : 2) : (size[1] > size[2] ? 1 : 2);
    int wanted = (int)fmax(SHALLOW, ceil(fmin(0.1 * r->gap / voxel, 1e6)));
    /* a wide cone has very many voxels: a share of them will do */
    uint32_t stride = (uint32_t)fmax(1, fmin(r->gap * r->gap / (voxel * voxel * LEAK_TRIES), 1e6));
    for (; row && !r->leaks; row &= row - 1) {
        if (r->tries++ % stride) continue;
        const int64_t at[3] = {(int64_t)s->now->at[0] * 64 + __builtin_ctzll(row),
                               (int64_t)s->now->at[1] * 64 + y, (int64_t)s->now->at[2] * 64 + z};
        if (flr_voxmap_mark_at(s->voxmap, FLR_FIELD_SURFACE, at[0], at[1], at[2]) ==
            FLR_MARK_SURFACE)
            continue;
        r->leaks = is_deep(s, at, axis, 1, wanted) || is_deep(s, at, axis, -1, wanted);
    }
}

static void look_at_cones(leak_search *s, flr_overlap_rows *rows)
{
    uint32_t first = s->mesh->triangle_count;
    for (uint32_t h = 0; h < s->build.hyper_count; h++) {
        s->now = &s->build.hypers[h];
        const uint32_t *primitives = s->build.primitives + s->now->first_primitive;
        /* they rise: the cones come last */
        for (uint32_t i = s->now->primitive_count; i-- && primitives[i] >= first;) {
            s->face = primitives[i] - first;
            if (s->rims[s->faces[s->face].rim].leaks) continue;
            flr_build_visit(&s->build, s->now, primitives[i], rows);
            for (uint32_t k = 0; k < rows->count; k++)
                look_at_row(s, rows->at[k] & 63, rows->at[k] >> 6, rows->bits[k]);
        }
    }
}

/* ---- the report ---- */

/* a quarter above the gap in two digits, and more than the voxels now */
static double closing_size(double gap, double voxel)
{
    double size = fmax(1.25 * gap, 1.5 * voxel);
    double step = pow(10, floor(log10(size)) - 1);
    return ceil(size / step - 1e-9) * step;
}

static void add_leak(flr_leak_report *report, flr_leak leak)
{
    report->total++;
    uint32_t at = report->count;
    while (at && report->leaks[at - 1].gap < leak.gap) at--;
    if (at == FLR_LEAKS_MAX) return;
    if (report->count < FLR_LEAKS_MAX) report->count++;
    for (uint32_t i = report->count - 1; i > at; i--) report->leaks[i] = report->leaks[i - 1];
    report->leaks[at] = leak;
}

flr_result flr_leak_find(const flr_mesh *mesh, const flr_voxmap *voxmap, unsigned threads,
                         uint64_t memory, flr_leak_report *report, flr_error *error)
{
    /* masks of the surface and of what is outside, measured */
    enum { BYTES_PER_VOXEL = 4 };
    const flr_voxmap_header *header = voxmap->header;
    double voxel = header->grid.voxel, widest = 0;
    *report = (flr_leak_report){.count = 0};
    if (header->hollow) return FLR_OK;
    flr_adjacency *adjacency;
    flr_result result = flr_adjacency_create_edges(mesh, threads, &adjacency, error);
    if (result != FLR_OK) return result;
    bool open = adjacency->border_count > 0;
    flr_adjacency_destroy(adjacency);
    if (!open) return FLR_OK;

    leak_search s = {.mesh = mesh, .voxmap = voxmap};
    result = find_rims_welded(&s, voxel / 8, error);
    for (uint32_t i = 0; i < s.rim_count; i++) widest = fmax(widest, s.rims[i].gap);
    report->skipped = result == FLR_OK && widest > voxel / 2 && memory &&
                      header->stats.surface_voxels > memory / BYTES_PER_VOXEL;
    if (result == FLR_OK && widest > voxel / 2 && !report->skipped) {
        flr_overlap_rows *rows = malloc(sizeof *rows);
        result = rows ? flood_again(&s, threads, error) : no_memory(error);
        if (result == FLR_OK) look_at_cones(&s, rows);
        free(rows);
    }
    for (uint32_t i = 0; result == FLR_OK && i < s.rim_count; i++)
        if (s.rims[i].leaks)
            add_leak(report, (flr_leak){s.rims[i].middle, s.rims[i].gap,
                                        closing_size(s.rims[i].gap, voxel)});
    flr_build_free(&s.build);
    free(s.vertices);
    free(s.triangles);
    free(s.rims);
    free(s.faces);
    return result;
}

const char *flr_leak_print(const flr_leak *leak, char text[FLR_LEAK_TEXT_SIZE])
{
    char voxel[FLR_SIZE_TEXT_SIZE];
    flr_size_print_tight(leak->voxel, voxel);
    snprintf(text, FLR_LEAK_TEXT_SIZE,
             "interior leaked through a gap near %s, about %s; use voxels of %s, or voxelize the "
             "part as hollow",
             FLR_PLACE_TEXT(leak->place), FLR_LENGTH_TEXT(leak->gap), voxel);
    return text;
}
