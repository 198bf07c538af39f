/* features: triangles grown into quasi-planar polygons (McNeely et al. 2005, section 4.1), then
 * edges and vertices labelled */
#include "mesh/features.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/large_pages.h"
#include "base/parallel.h"
#include "mesh/adjacency.h"
#include "mesh/outline.h"

/* the cosine that counts as a right angle: rounding must not round off a cube */
static const double RIGHT_ANGLE = 1e-3;

/* the owner of the arrays: the public struct first, so that both have one address */
typedef struct features_build {
    flr_features out;
    uint32_t *triangle_polygon;
    flr_plane *polygon_plane;
    uint8_t *edge_flags;
    uint8_t *vertex_flags;
} features_build;

/* a triangle's unit normal, or zero where it is too thin to have one, and twice its area */
typedef struct facing {
    flr_vec3 normal;
    double area2;
} facing;

typedef struct grower {
    const flr_mesh *mesh;
    const flr_adjacency *adjacency;
    unsigned threads;
    double half_voxel;
    double noise;    /* a triangle less high than this, in metres, has no normal */
    facing *facings; /* [triangle_count] */
    uint32_t *order; /* [triangle_count]: seeds, large ones first */
    uint32_t *queue; /* [triangle_count] */
    uint8_t *state;  /* [triangle_count]: REVERSED when it winds against its seed, REPEATED */
    uint8_t *spread; /* [edge_count]: how many different triangles are on it, 3 for more */
    uint32_t *
        across; /* [3 triangle_count]: the side on the other side of an edge that may be crossed, or ACROSS_NONE, or ACROSS_SEVERAL */
    uint32_t *polygon; /* [triangle_count] */
    flr_plane *planes; /* [room], of the polygons so far */
    uint32_t room;
    uint32_t polygon_count;
} grower;

/* ---- triangles ---- */

static bool is_collapsed(flr_triangle t)
{
    return t.v[0] == t.v[1] || t.v[1] == t.v[2] || t.v[2] == t.v[0];
}

static facing facing_of(const grower *g, uint32_t triangle)
{
    const uint32_t *v = g->mesh->triangles[triangle].v;
    flr_vec3 a = g->mesh->vertices[v[0]];
    flr_vec3 ab = flr_vec3_sub(g->mesh->vertices[v[1]], a);
    flr_vec3 ac = flr_vec3_sub(g->mesh->vertices[v[2]], a), bc = flr_vec3_sub(ac, ab);
    flr_vec3 n = flr_vec3_cross(ab, ac);
    double longest2 = fmax(flr_vec3_length2(ab), fmax(flr_vec3_length2(ac), flr_vec3_length2(bc)));
    double length = flr_vec3_length(n), longest = sqrt(longest2);
    bool thin = !(length > longest * fmax(g->noise, 1e-9 * longest));
    return (facing){thin ? flr_vec3_zero() : flr_vec3_scale(n, 1 / length), length};
}

/* the corner that is not on the side */
static uint32_t apex(const flr_mesh *mesh, uint32_t side)
{
    return mesh->triangles[side / 3].v[(side % 3 + 2) % 3];
}

/* how many different triangles meet at an edge, up to 3: those listed twice have one apex */
static uint8_t spread_of(const flr_mesh *mesh, const flr_adjacency *adjacency, uint32_t edge)
{
    uint32_t from = adjacency->edge_first[edge], to = adjacency->edge_first[edge + 1];
    uint32_t one = apex(mesh, adjacency->edge_sides[from]), two = one;
    for (uint32_t i = from + 1; i < to; i++) {
        uint32_t other = apex(mesh, adjacency->edge_sides[i]);
        if (other == one || other == two) continue;
        if (two != one) return 3;
        two = other;
    }
    return two == one ? 1 : 2;
}

/* what is known of a triangle while polygons grow */
enum { REVERSED = 1, REPEATED = 2 };

/* marks triangles that are listed before, so that a mesh with a hundred thousand copies of one
 * takes no longer than others */
static void find_repeated(grower *g)
{
    const flr_adjacency *a = g->adjacency;
    memset(g->state, 0, g->mesh->triangle_count);
    for (uint32_t e = 0; e < a->edge_count; e++) {
        if (g->spread[e] == 3) continue; /* never crossed */
        if (a->edge_first[e + 1] - a->edge_first[e] == g->spread[e]) continue;
        uint32_t one = apex(g->mesh, a->edge_sides[a->edge_first[e]]), two = one;
        for (uint32_t i = a->edge_first[e] + 1; i < a->edge_first[e + 1]; i++) {
            uint32_t other = apex(g->mesh, a->edge_sides[i]);
            if (other == one || other == two)
                g->state[a->edge_sides[i] / 3] = REPEATED;
            else
                two = other;
        }
    }
}

/* gives repeated triangles the polygon of the first of their kind */
static void copy_to_repeated(grower *g)
{
    const flr_adjacency *a = g->adjacency;
    for (uint32_t e = 0; e < a->edge_count; e++) {
        uint32_t from = a->edge_first[e], to = a->edge_first[e + 1];
        if (g->spread[e] == 3 || to - from == g->spread[e]) continue;
        uint32_t one = a->edge_sides[from], two = one;
        for (uint32_t i = from + 1; i < to; i++) {
            uint32_t side = a->edge_sides[i], t = side / 3;
            if (!(g->state[t] & REPEATED))
                two = side;
            else
                g->polygon[t] =
                    g->polygon[(apex(g->mesh, side) == apex(g->mesh, one) ? one : two) / 3];
        }
    }
}

/* both run the same way along their edge: one of them is inside out */
static bool same_direction(const flr_mesh *mesh, uint32_t side_a, uint32_t side_b)
{
    return mesh->triangles[side_a / 3].v[side_a % 3] == mesh->triangles[side_b / 3].v[side_b % 3];
}

/* ---- the order of seeds ---- */

/* area classes of an eighth of a factor of two, so that triangles that are equal but for
 * rounding are taken in the order of the mesh; 0: no normal */
enum { CLASSES = 1 << 12 };

static uint32_t class_of(const grower *g, uint32_t triangle)
{
    const facing *f = &g->facings[triangle];
    if (is_collapsed(g->mesh->triangles[triangle])) return 0;
    if (flr_vec3_equal(f->normal, flr_vec3_zero())) return 0;
    float rounded = (float)f->area2;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return (bits >> 20) + 1; /* exponent and three bits; a float's sign is 0 here */
}

/* a counting sort, largest class first; the queue holds the classes */
static void order_seeds(grower *g)
{
    uint32_t first[CLASSES + 1] = {0}, count = g->mesh->triangle_count;
    for (uint32_t t = 0; t < count; t++) first[g->queue[t] + 1]++;
    for (uint32_t c = 1; c <= CLASSES; c++) first[c] += first[c - 1];
    for (uint32_t t = 0; t < count; t++) g->order[first[g->queue[t]]++] = t;
}

/* ---- growing ---- */

/* may the triangle of side `to` join the polygon, coming over the edge from a member? */
static bool may_join(const grower *g, const flr_plane *p, uint32_t to, flr_vec3 member_normal,
                     bool reversed)
{
    double distance = flr_vec3_dot(p->normal, g->mesh->vertices[apex(g->mesh, to)]) - p->offset;
    if (!(fabs(distance) < g->half_voxel)) return false;
    flr_vec3 n = g->facings[to / 3].normal;
    if (reversed) n = flr_vec3_neg(n);
    if (flr_vec3_equal(n, flr_vec3_zero())) return true;
    if (!(flr_vec3_dot(n, p->normal) > RIGHT_ANGLE)) return false;
    return flr_vec3_equal(member_normal, flr_vec3_zero()) ||
           flr_vec3_dot(n, member_normal) > RIGHT_ANGLE;
}

static bool is_reversed(const grower *g, uint32_t triangle)
{
    return g->state[triangle] & REVERSED;
}

/* of a side: its edge is never crossed; its edge has copies of triangles, too */
enum { ACROSS_NONE = 0xFFFFFFFF, ACROSS_SEVERAL = 0xFFFFFFFE };

/* lets the triangle of side `other` join the polygon of that of `side` if it may; returns the new end of the queue */
static uint32_t cross(grower *g, const flr_plane *p, uint32_t side, uint32_t other, flr_vec3 normal,
                      uint32_t end)
{
    uint32_t member = side / 3, t = other / 3;
    if (g->polygon[t] != FLR_NONE || g->state[t] & REPEATED) return end;
    bool reversed = is_reversed(g, member) != same_direction(g->mesh, side, other);
    if (!may_join(g, p, other, normal, reversed)) return end;
    g->polygon[t] = g->polygon[member];
    g->state[t] = reversed ? REVERSED : 0;
    g->queue[end++] = t;
    return end;
}

/* looks at all neighbours of one member; returns the new end of the queue */
static uint32_t spread_from(grower *g, const flr_plane *p, uint32_t member, uint32_t end)
{
    const flr_adjacency *a = g->adjacency;
    flr_vec3 normal = g->facings[member].normal;
    if (is_reversed(g, member)) normal = flr_vec3_neg(normal);
    for (uint32_t side = 3 * member; side < 3 * member + 3; side++) {
        uint32_t other = g->across[side];
        if (other == ACROSS_NONE) continue;
        if (other != ACROSS_SEVERAL) {
            end = cross(g, p, side, other, normal, end);
            continue;
        }
        uint32_t edge = a->side_edge[side];
        for (uint32_t i = a->edge_first[edge]; i < a->edge_first[edge + 1]; i++)
            end = cross(g, p, side, a->edge_sides[i], normal, end);
    }
    return end;
}

/* Moves the plane into the middle of the members in the queue: their mean normal, halfway
 * between the outermost vertices. False, and the plane as it was, when some member would
 * break the rules there. */
static bool refit(const grower *g, flr_plane *p, uint32_t end)
{
    flr_vec3 sum = flr_vec3_zero();
    for (uint32_t i = 0; i < end; i++) {
        const facing *f = &g->facings[g->queue[i]];
        double weight = is_reversed(g, g->queue[i]) ? -f->area2 : f->area2;
        sum = flr_vec3_add_scaled(sum, weight, f->normal);
    }
    flr_vec3 normal = flr_vec3_normalize(sum);

    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < end; i++) {
        uint32_t t = g->queue[i];
        for (int k = 0; k < 3; k++) {
            double d = flr_vec3_dot(normal, g->mesh->vertices[g->mesh->triangles[t].v[k]]);
            low = fmin(low, d);
            high = fmax(high, d);
        }
        flr_vec3 n = g->facings[t].normal;
        double cosine = is_reversed(g, t) ? -flr_vec3_dot(n, normal) : flr_vec3_dot(n, normal);
        if (!flr_vec3_equal(n, flr_vec3_zero()) && !(cosine > RIGHT_ANGLE)) return false;
    }
    if (!(high - low < 2 * g->half_voxel)) return false;
    *p = (flr_plane){normal, low + (high - low) / 2};
    return true;
}

/* from the seed's own plane first; then, as long as it helps, with the plane moved into the
 * middle, where there is room for more. False: no memory. */
static bool grow(grower *g, uint32_t seed)
{
    enum { FEATURES_ROUNDS = 4 };
    flr_plane p = {.normal = g->facings[seed].normal};
    p.offset = flr_vec3_dot(p.normal, g->mesh->vertices[g->mesh->triangles[seed].v[0]]);
    g->polygon[seed] = g->polygon_count;
    g->queue[0] = seed;

    bool has_plane = !flr_vec3_equal(p.normal, flr_vec3_zero()); /* else it stays alone */
    uint32_t end = 1, before = 0;
    for (int round = 0; has_plane && round < FEATURES_ROUNDS && end > before; round++) {
        if (round > 0 && !refit(g, &p, end)) break;
        before = end;
        for (uint32_t at = 0; at < end; at++) end = spread_from(g, &p, g->queue[at], end);
    }

    if (!FLR_GROW(g->planes, g->polygon_count, g->room, 256)) return false;
    g->planes[g->polygon_count++] = p;
    return true;
}

/* slices of triangles or edges, for several threads */
enum { FEATURES_SLICE = 1 << 16 };

static size_t slices_of(uint32_t count)
{
    return ((size_t)count + FEATURES_SLICE - 1) / FEATURES_SLICE;
}

static uint32_t slice_end(size_t piece, uint32_t count)
{
    size_t end = (piece + 1) * FEATURES_SLICE;
    return end < count ? (uint32_t)end : count;
}

static flr_result look_at_triangles(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    grower *g = context;
    uint32_t end = slice_end(piece, g->mesh->triangle_count);
    for (uint32_t t = (uint32_t)piece * FEATURES_SLICE; t < end; t++) {
        g->facings[t] = facing_of(g, t);
        g->queue[t] = CLASSES - 1 - class_of(g, t);
        g->polygon[t] = FLR_NONE;
    }
    return FLR_OK;
}

static flr_result look_at_edges(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    grower *g = context;
    uint32_t end = slice_end(piece, g->adjacency->edge_count);
    const flr_adjacency *a = g->adjacency;
    for (uint32_t e = (uint32_t)piece * FEATURES_SLICE; e < end; e++) {
        g->spread[e] = spread_of(g->mesh, a, e);
        const uint32_t from = a->edge_first[e], to = a->edge_first[e + 1];
        for (uint32_t i = from; i < to; i++)
            g->across[a->edge_sides[i]] = g->spread[e] != 2 ? ACROSS_NONE
                                          : to - from > 2   ? ACROSS_SEVERAL
                                                            : a->edge_sides[from + to - 1 - i];
    }
    return FLR_OK;
}

static bool grow_all(grower *g)
{
    uint32_t count = g->mesh->triangle_count, edges = g->adjacency->edge_count;
    if (flr_parallel_for(g->threads, slices_of(count), look_at_triangles, g) != FLR_OK ||
        flr_parallel_for(g->threads, slices_of(edges), look_at_edges, g) != FLR_OK)
        return false;
    order_seeds(g);
    find_repeated(g);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seed = g->order[i];
        if (g->polygon[seed] != FLR_NONE || g->state[seed] & REPEATED ||
            is_collapsed(g->mesh->triangles[seed]))
            continue;
        if (!grow(g, seed)) return false;
    }
    copy_to_repeated(g);
    return true;
}

/* ---- labels ---- */

/* convex or concave, where two triangles agree about the outside */
static uint8_t fold_of(const flr_mesh *mesh, uint32_t side_a, uint32_t side_b)
{
    const uint32_t *v = mesh->triangles[side_a / 3].v;
    flr_vec3 o = mesh->vertices[v[0]];
    flr_vec3 n = flr_vec3_cross(flr_vec3_sub(mesh->vertices[v[1]], o),
                                flr_vec3_sub(mesh->vertices[v[2]], o));
    double height = flr_vec3_dot(n, flr_vec3_sub(mesh->vertices[apex(mesh, side_b)], o));
    return height < 0 ? FLR_FEATURE_CONVEX : height > 0 ? FLR_FEATURE_CONCAVE : 0;
}

static uint8_t flags_of_edge(const flr_mesh *mesh, const flr_adjacency *a, const uint32_t *polygon,
                             uint32_t edge, uint8_t spread)
{
    const uint32_t *sides = a->edge_sides + a->edge_first[edge];
    bool between = false;
    for (uint32_t i = 1; i < flr_adjacency_side_count(a, edge); i++)
        between |= polygon[sides[i] / 3] != polygon[sides[0] / 3];
    if (!between && spread == 2) return 0;
    if (a->edge_kind[edge] != FLR_EDGE_REGULAR) return FLR_FEATURE_EDGE;
    return (uint8_t)(FLR_FEATURE_EDGE | fold_of(mesh, sides[0], sides[1]));
}

typedef struct label_job {
    const flr_mesh *mesh;
    const flr_adjacency *adjacency;
    features_build *b;
    uint32_t *counts; /* [slices]: edges that count */
} label_job;

static flr_result label_edges(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    label_job *job = context;
    features_build *b = job->b;
    uint32_t end = slice_end(piece, job->adjacency->edge_count);
    for (uint32_t e = (uint32_t)piece * FEATURES_SLICE; e < end; e++) {
        uint8_t spread = b->edge_flags[e]; /* see merge() */
        b->edge_flags[e] = flags_of_edge(job->mesh, job->adjacency, b->triangle_polygon, e, spread);
        job->counts[piece] += b->edge_flags[e] != 0;
    }
    return FLR_OK;
}

static bool label(const flr_mesh *mesh, const flr_adjacency *adjacency, unsigned threads,
                  features_build *b)
{
    size_t slices = slices_of(adjacency->edge_count);
    label_job job = {.mesh = mesh, .adjacency = adjacency, .b = b};
    job.counts = calloc(slices + 1, sizeof *job.counts);
    bool ok = job.counts && flr_parallel_for(threads, slices, label_edges, &job) == FLR_OK;
    for (size_t i = 0; ok && i < slices; i++) b->out.edge_count += job.counts[i];
    free(job.counts);
    if (!ok || !flr_outline_mark(mesh, adjacency, b->edge_flags, b->out.voxel / 2, b->vertex_flags))
        return false;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        b->out.vertex_count += b->vertex_flags[v] != 0;
    return true;
}

/* ---- the whole ---- */

/* what a 32-bit coordinate cannot tell, but never more than voxels can */
static double noise_of(const flr_mesh *mesh, double voxel)
{
    flr_vec3 low = mesh->bounds.low, high = mesh->bounds.high;
    double reach = fmax(fmax(fabs(low.x), fabs(high.x)),
                        fmax(fmax(fabs(low.y), fabs(high.y)), fmax(fabs(low.z), fabs(high.z))));
    return fmin(4 * (double)FLT_EPSILON * reach, voxel / 100);
}

/* leaves the spread of each edge in its place among the flags, for label() */
static bool merge(const flr_mesh *mesh, const flr_adjacency *adjacency, unsigned threads,
                  features_build *b)
{
    size_t count = mesh->triangle_count;
    grower g = {.mesh = mesh,
                .adjacency = adjacency,
                .threads = threads,
                .half_voxel = b->out.voxel / 2,
                .noise = noise_of(mesh, b->out.voxel),
                .facings = flr_pages_alloc(count * sizeof *g.facings),
                .order = malloc(count * sizeof *g.order),
                .queue = malloc(count * sizeof *g.queue),
                .state = malloc(count * sizeof *g.state),
                .across = flr_pages_alloc(3 * count * sizeof *g.across),
                .polygon = b->triangle_polygon,
                .spread = b->edge_flags};
    bool complete = g.facings && g.order && g.queue && g.state && g.across && grow_all(&g);
    b->polygon_plane = g.planes;
    b->out.polygon_count = g.polygon_count;
    flr_pages_free(g.facings, count * sizeof *g.facings);
    flr_pages_free(g.across, 3 * count * sizeof *g.across);
    free(g.order);
    free(g.queue);
    free(g.state);
    return complete;
}

static bool fill(const flr_mesh *mesh, const flr_adjacency *adjacency, unsigned threads,
                 features_build *b)
{
    size_t count = mesh->triangle_count;
    b->triangle_polygon = malloc(count * sizeof *b->triangle_polygon);
    b->edge_flags = calloc((size_t)adjacency->edge_count + 1, sizeof *b->edge_flags);
    b->vertex_flags = calloc(mesh->vertex_count, sizeof *b->vertex_flags);
    if (!b->triangle_polygon || !b->edge_flags || !b->vertex_flags) return false;
    if (!merge(mesh, adjacency, threads, b) || !label(mesh, adjacency, threads, b)) return false;

    b->out.triangle_count = mesh->triangle_count;
    b->out.edge_total = adjacency->edge_count;
    b->out.vertex_total = mesh->vertex_count;
    b->out.triangle_polygon = b->triangle_polygon;
    b->out.polygon_plane = b->polygon_plane;
    b->out.edge_flags = b->edge_flags;
    b->out.vertex_flags = b->vertex_flags;
    return true;
}

void flr_features_destroy(flr_features *features)
{
    if (!features) return;
    features_build *b = (features_build *)features;
    free(b->triangle_polygon);
    free(b->polygon_plane);
    free(b->edge_flags);
    free(b->vertex_flags);
    free(b);
}

flr_result flr_features_create_threads(const flr_mesh *mesh, const flr_adjacency *adjacency,
                                       double voxel, unsigned threads, flr_features **features,
                                       flr_error *error)
{
    if (!(voxel > 0) || !isfinite(voxel))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "voxel size %g m: give a length above 0, such as 0.001", voxel);

    flr_adjacency *own = NULL;
    if (!adjacency) {
        flr_result result = flr_adjacency_create_edges(mesh, threads, &own, error);
        if (result != FLR_OK) return result;
        adjacency = own;
    }
    features_build *b = calloc(1, sizeof *b);
    if (b) b->out.voxel = voxel;
    bool complete = b && fill(mesh, adjacency, threads, b);
    flr_adjacency_destroy(own);
    if (!complete) {
        flr_features_destroy(b ? &b->out : NULL);
        return flr_fail(error, FLR_NO_MEMORY,
                        "out of memory while finding the features of %u triangles",
                        mesh->triangle_count);
    }
    *features = &b->out;
    return FLR_OK;
}

flr_result flr_features_create(const flr_mesh *mesh, const flr_adjacency *adjacency, double voxel,
                               flr_features **features, flr_error *error)
{
    return flr_features_create_threads(mesh, adjacency, voxel, 1, features, error);
}
