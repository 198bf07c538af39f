/* features: triangles grown into quasi-planar polygons (McNeely et al. 2005, section 4.1), then
 * edges and vertices labelled */
#include "base/array.h"
#include "feeler/mesh_check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct grower {
    const flr_mesh *mesh;
    const flr_adjacency *adjacency;
    double half_voxel;
    double noise;      /* a triangle less high than this, in metres, has no normal */
    uint32_t *order;   /* [triangle_count]: seeds, large ones first */
    uint32_t *queue;   /* [triangle_count] */
    uint8_t *state;    /* [triangle_count]: REVERSED when it winds against its seed, REPEATED */
    uint8_t *spread;   /* [edge_count]: how many different triangles are on it, 3 for more */
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

/* the unit normal, or zero where the triangle is too thin to have one; twice the area beside */
static flr_vec3 normal_of(const grower *g, uint32_t triangle, double *area2)
{
    const uint32_t *v = g->mesh->triangles[triangle].v;
    flr_vec3 a = g->mesh->vertices[v[0]];
    flr_vec3 ab = flr_vec3_sub(g->mesh->vertices[v[1]], a);
    flr_vec3 ac = flr_vec3_sub(g->mesh->vertices[v[2]], a), bc = flr_vec3_sub(ac, ab);
    flr_vec3 n = flr_vec3_cross(ab, ac);
    double longest2 = fmax(flr_vec3_length2(ab), fmax(flr_vec3_length2(ac), flr_vec3_length2(bc)));
    double length = flr_vec3_length(n), longest = sqrt(longest2);
    *area2 = length;
    if (!(length > longest * fmax(g->noise, 1e-9 * longest))) return flr_vec3_zero();
    return flr_vec3_scale(n, 1 / length);
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

/* fills in the spread of all edges and marks triangles that are listed before, so that a mesh
 * with a hundred thousand copies of one takes no longer than others */
static void find_repeated(grower *g)
{
    const flr_adjacency *a = g->adjacency;
    memset(g->state, 0, g->mesh->triangle_count);
    for (uint32_t e = 0; e < a->edge_count; e++) {
        g->spread[e] = spread_of(g->mesh, a, e);
        if (g->spread[e] == 3) continue; /* never crossed */
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
    double area2;
    flr_vec3 n = normal_of(g, triangle, &area2);
    if (is_collapsed(g->mesh->triangles[triangle]) || flr_vec3_equal(n, flr_vec3_zero())) return 0;
    float rounded = (float)area2;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return (bits >> 20) + 1; /* exponent and three bits; a float's sign is 0 here */
}

/* a counting sort, largest class first; uses the queue for the classes */
static void order_seeds(grower *g)
{
    uint32_t first[CLASSES + 1] = {0}, count = g->mesh->triangle_count;
    for (uint32_t t = 0; t < count; t++) {
        g->queue[t] = CLASSES - 1 - class_of(g, t);
        first[g->queue[t] + 1]++;
    }
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
    double area2;
    flr_vec3 n = normal_of(g, to / 3, &area2);
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

/* looks at all neighbours of one member; returns the new end of the queue */
static uint32_t spread_from(grower *g, const flr_plane *p, uint32_t member, uint32_t polygon,
                            uint32_t end)
{
    const flr_adjacency *a = g->adjacency;
    double area2;
    flr_vec3 normal = normal_of(g, member, &area2);
    if (is_reversed(g, member)) normal = flr_vec3_neg(normal);
    for (uint32_t side = 3 * member; side < 3 * member + 3; side++) {
        uint32_t edge = a->side_edge[side];
        if (edge == FLR_NONE || g->spread[edge] != 2) continue;
        for (uint32_t i = a->edge_first[edge]; i < a->edge_first[edge + 1]; i++) {
            uint32_t other = a->edge_sides[i], t = other / 3;
            if (g->polygon[t] != FLR_NONE || g->state[t] & REPEATED) continue;
            bool reversed = is_reversed(g, member) != same_direction(g->mesh, side, other);
            if (!may_join(g, p, other, normal, reversed)) continue;
            g->polygon[t] = polygon;
            g->state[t] = reversed ? REVERSED : 0;
            g->queue[end++] = t;
        }
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
        double area2;
        flr_vec3 n = normal_of(g, g->queue[i], &area2);
        sum = flr_vec3_add_scaled(sum, is_reversed(g, g->queue[i]) ? -area2 : area2, n);
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
        double area2;
        flr_vec3 n = normal_of(g, t, &area2);
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
    double area2;
    flr_plane p = {.normal = normal_of(g, seed, &area2)};
    p.offset = flr_vec3_dot(p.normal, g->mesh->vertices[g->mesh->triangles[seed].v[0]]);
    g->polygon[seed] = g->polygon_count;
    g->queue[0] = seed;

    bool has_plane = !flr_vec3_equal(p.normal, flr_vec3_zero()); /* else it stays alone */
    uint32_t end = 1, before = 0;
    for (int round = 0; has_plane && round < FEATURES_ROUNDS && end > before; round++) {
        if (round > 0 && !refit(g, &p, end)) break;
        before = end;
        for (uint32_t at = 0; at < end; at++)
            end = spread_from(g, &p, g->queue[at], g->polygon_count, end);
    }

    if (!FLR_GROW(g->planes, g->polygon_count, g->room, 256)) return false;
    g->planes[g->polygon_count++] = p;
    return true;
}

static bool grow_all(grower *g)
{
    uint32_t count = g->mesh->triangle_count;
    order_seeds(g);
    find_repeated(g);
    for (uint32_t t = 0; t < count; t++) g->polygon[t] = FLR_NONE;
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

static bool label(const flr_mesh *mesh, const flr_adjacency *adjacency, features_build *b)
{
    for (uint32_t e = 0; e < adjacency->edge_count; e++) {
        uint8_t spread = b->edge_flags[e]; /* see merge() */
        b->edge_flags[e] = flags_of_edge(mesh, adjacency, b->triangle_polygon, e, spread);
        b->out.edge_count += b->edge_flags[e] != 0;
    }
    if (!flr_outline_mark(mesh, adjacency, b->edge_flags, b->out.voxel / 2, b->vertex_flags))
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
static bool merge(const flr_mesh *mesh, const flr_adjacency *adjacency, features_build *b)
{
    size_t count = mesh->triangle_count;
    grower g = {.mesh = mesh,
                .adjacency = adjacency,
                .half_voxel = b->out.voxel / 2,
                .noise = noise_of(mesh, b->out.voxel),
                .order = malloc(count * sizeof *g.order),
                .queue = malloc(count * sizeof *g.queue),
                .state = malloc(count * sizeof *g.state),
                .polygon = b->triangle_polygon,
                .spread = b->edge_flags};
    bool complete = g.order && g.queue && g.state && grow_all(&g);
    b->polygon_plane = g.planes;
    b->out.polygon_count = g.polygon_count;
    free(g.order);
    free(g.queue);
    free(g.state);
    return complete;
}

static bool fill(const flr_mesh *mesh, const flr_adjacency *adjacency, features_build *b)
{
    size_t count = mesh->triangle_count;
    b->triangle_polygon = malloc(count * sizeof *b->triangle_polygon);
    b->edge_flags = calloc((size_t)adjacency->edge_count + 1, sizeof *b->edge_flags);
    b->vertex_flags = calloc(mesh->vertex_count, sizeof *b->vertex_flags);
    if (!b->triangle_polygon || !b->edge_flags || !b->vertex_flags) return false;
    if (!merge(mesh, adjacency, b) || !label(mesh, adjacency, b)) return false;

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

flr_result flr_features_create(const flr_mesh *mesh, const flr_adjacency *adjacency, double voxel,
                               flr_features **features, flr_error *error)
{
    if (!(voxel > 0) || !isfinite(voxel))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "voxel size %g m: give a length above 0, such as 0.001", voxel);

    flr_adjacency *own = NULL;
    if (!adjacency) {
        flr_result result = flr_adjacency_create(mesh, &own, error);
        if (result != FLR_OK) return result;
        adjacency = own;
    }
    features_build *b = calloc(1, sizeof *b);
    if (b) b->out.voxel = voxel;
    bool complete = b && fill(mesh, adjacency, b);
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
