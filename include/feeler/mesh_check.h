/* feeler/mesh_check.h: what a mesh is like: neighbours, mass, defects, features.
 *
 *   adjacency  neighbours, edges, connected components
 *   mass       volume, centre of mass, inertia
 *   check      defects, in words
 *   features   vertices, edges and faces that count at a voxel size
 */
#ifndef FEELER_MESH_CHECK_H
#define FEELER_MESH_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/math.h"
#include "feeler/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== adjacency ============================================================================== */

/* Which triangles of a mesh meet at which edges and vertices.
 *
 * Made for meshes as they come: an edge may have one triangle (border), two, or any number
 * (non-manifold), and two triangles may disagree about which side is outside (flipped).
 *
 * Words used here:
 *   side   one of a triangle's three directed edges: side 3 t + k of triangle t runs from its
 *          corner k to its corner (k + 1) % 3
 *   edge   what all sides between the same two vertices share, in either direction
 *   component  triangles that hang together by their vertices; one shared vertex is enough
 *
 * A collapsed triangle, one that names a vertex twice, has no edges: all its sides give
 * FLR_NONE, and its neighbours are joined as if it were not there. It does count among the
 * triangles of its vertices and in its component. Triangles of zero area with three different
 * vertices are triangles like all others.
 *
 * All numbering follows from the mesh alone: edges are sorted by their vertices, sides and
 * triangles within a list rise, components are numbered by their first triangle.
 *
 * Thread: any; an adjacency may be shared by all threads. Reading it is RT safe, making and
 * destroying it is not.
 */

#define FLR_NONE UINT32_MAX /* no edge, no triangle, no component */

typedef enum flr_edge_kind {
    FLR_EDGE_REGULAR,    /* two sides, in opposite directions: as it should be */
    FLR_EDGE_BORDER,     /* one side */
    FLR_EDGE_FLIPPED,    /* two sides in the same direction: one triangle is inside out */
    FLR_EDGE_NONMANIFOLD /* three sides or more */
} flr_edge_kind;

/* The two vertices, v[0] < v[1]. */
typedef struct flr_edge {
    uint32_t v[2];
} flr_edge;

/* Read the fields freely; change none. */
typedef struct flr_adjacency {
    uint32_t vertex_count;   /* as in the mesh */
    uint32_t triangle_count; /* as in the mesh */
    uint32_t edge_count;
    uint32_t component_count;
    uint32_t border_count;      /* edges of kind FLR_EDGE_BORDER */
    uint32_t flipped_count;     /* edges of kind FLR_EDGE_FLIPPED */
    uint32_t nonmanifold_count; /* edges of kind FLR_EDGE_NONMANIFOLD */

    const flr_edge *edges;        /* [edge_count], sorted by v[0], then v[1] */
    const uint8_t *edge_kind;     /* [edge_count], an flr_edge_kind each */
    const uint32_t *edge_first;   /* [edge_count + 1]: where the edge's sides begin in edge_sides */
    const uint32_t *edge_sides;   /* [edge_first[edge_count]], rising within an edge */
    const uint32_t *side_edge;    /* [3 triangle_count]: the side's edge, or FLR_NONE */
    const uint32_t *vertex_first; /* [vertex_count + 1]: where the vertex's triangles begin */
    const uint32_t *vertex_triangles;   /* [vertex_first[vertex_count]], rising, each once */
    const uint32_t *triangle_component; /* [triangle_count]: 0 … component_count - 1 */
} flr_adjacency;

/* Makes the adjacency of a mesh, which is borrowed during the call only. Time and memory grow
 * with the number of triangles, about 60 bytes each. Fails with FLR_NO_MEMORY, and with
 * FLR_TOO_LARGE from 1.43e9 triangles on. On success the caller owns `*adjacency`. */
FLR_API flr_result flr_adjacency_create(const flr_mesh *mesh, flr_adjacency **adjacency,
                                        flr_error *error);

/* Frees it; NULL allowed. */
FLR_API void flr_adjacency_destroy(flr_adjacency *adjacency);

/* How many sides lie on an edge. */
static inline uint32_t flr_adjacency_side_count(const flr_adjacency *adjacency, uint32_t edge)
{
    return adjacency->edge_first[edge + 1] - adjacency->edge_first[edge];
}

/* The side across: the other one where exactly two lie on the edge, else FLR_NONE. Divide by
 * three for the triangle. */
static inline uint32_t flr_adjacency_opposite(const flr_adjacency *adjacency, uint32_t side)
{
    uint32_t edge = adjacency->side_edge[side];
    if (edge == FLR_NONE || flr_adjacency_side_count(adjacency, edge) != 2) return FLR_NONE;
    const uint32_t *sides = adjacency->edge_sides + adjacency->edge_first[edge];
    return sides[0] == side ? sides[1] : sides[0];
}

/* Every edge has two sides in opposite directions: the mesh bounds a volume. A mesh without edges
 * (all triangles are points) bounds none. */
static inline bool flr_adjacency_is_closed(const flr_adjacency *adjacency)
{
    return adjacency->edge_count > 0 && adjacency->border_count == 0 &&
           adjacency->flipped_count == 0 && adjacency->nonmanifold_count == 0;
}

/* ==== mass =================================================================================== */

/* Volume, centre and inertia tensor of a mesh.
 *
 * The integrals over the polyhedron are exact; what takes judgement is what the polyhedron is,
 * because meshes come with holes, cracks and the wrong side out. The rules, component by component
 * (feeler/mesh_check.h says what a component is):
 *
 *   1. Every hole is closed by a fan about the middle of its rim. This is exact for flat holes,
 *      for cracks along a line, and for single flipped triangles.
 *   2. A component whose holes make up more than a quarter of its surface, or which bounds no
 *      volume, is a sheet: its mass is spread over its surface as if it were as thick as
 *      1/100 of the diagonal of its box.
 *   3. When the volume of all other components adds up to less than zero, the mesh is inverted: all
 *      of them are turned.
 *   4. A component that still has a negative volume is a cavity when its box lies within the box
 *      of a larger component (one of the 64 largest); otherwise it is turned by itself. So are all
 *      cavities when they would leave a body that cannot be.
 *
 * Components that overlap count twice where they do.
 *
 * Thread: any. Not RT safe.
 */

/* Plain data. */
typedef struct flr_mass {
    double area;          /* of all triangles, m^2 */
    double signed_volume; /* as the triangles are wound, holes closed, m^3 */
    double volume;        /* what weighs: solids less cavities plus sheets, m^3, above 0 */
    double open_area;     /* of the closed holes, m^2 */
    flr_inertia inertia;  /* in the mesh's frame; mass is density times volume */
    uint32_t solid_count; /* components by what they were taken for */
    uint32_t cavity_count;
    uint32_t sheet_count;
    uint32_t turned_count; /* solids turned one by one (rule 4) */
    bool inverted;         /* rule 3 */
    bool closed;           /* there was no hole, no flipped and no non-manifold edge */
} flr_mass;

/* Computes it for a density above 0, kg/m^3. `adjacency` is that of the mesh; NULL: made for
 * the call. Fails with FLR_BAD_INPUT when the mesh has no area at all, with FLR_BAD_ARGUMENT
 * when the density is not a number above 0, with FLR_NO_MEMORY. */
FLR_API flr_result flr_mass_compute(const flr_mesh *mesh, const flr_adjacency *adjacency,
                                    double density, flr_mass *mass, flr_error *error);

/* ==== check ================================================================================== */

/* What is wrong with a mesh, where, and whether it matters for voxels.
 *
 * feeler takes meshes as they come: surface voxels are found triangle by triangle, free space is
 * flooded from outside, and what the flood cannot reach is inside. Most faults therefore do no
 * harm; a hole wider than a voxel does. A check finds the faults, says each in a sentence, and
 * says what follows from it:
 *
 *     flr_check_report report;
 *     if (flr_check_mesh(mesh, &read, NULL, &report, &error) != FLR_OK) ...
 *     for (uint32_t i = 0; i < report.finding_count; i++)
 *         printf("%s %s\n", report.findings[i].sentence, report.findings[i].effect);
 *
 * There is at most one finding of each kind; it counts all cases and shows the worst or first.
 * docs/check.md lists all kinds.
 *
 * Thread: any. Nothing here is RT safe.
 */

/* What may be found. New kinds are added at the end. */
typedef enum flr_check_kind {
    FLR_CHECK_OPEN_BORDER,        /* edges with one triangle only: holes, cracks, sheets */
    FLR_CHECK_NONMANIFOLD_EDGE,   /* edges with three triangles or more */
    FLR_CHECK_NONMANIFOLD_VERTEX, /* vertices at which separate fans of triangles meet */
    FLR_CHECK_FLIPPED,            /* neighbours that disagree about which side is outside */
    FLR_CHECK_INVERTED_COMPONENT, /* closed components that are inside out as a whole */
    FLR_CHECK_NESTING,   /* closed components inside others, wound as if they stood outside */
    FLR_CHECK_ZERO_AREA, /* triangles that are a line or a point */
    FLR_CHECK_SLIVER,    /* triangles that are almost a line */
    FLR_CHECK_DUPLICATE, /* triangles listed more than once, either way round */
    FLR_CHECK_OVERLAPPING_COMPONENTS, /* triangles of different components that pass through each other */
    FLR_CHECK_SELF_INTERSECTION, /* triangles of one component that pass through each other */
    FLR_CHECK_NONFINITE,         /* the reader left out NaN, infinite or absurd coordinates */
    FLR_CHECK_MALFORMED,         /* the reader left out faces it could not make sense of */
    FLR_CHECK_IGNORED_BYTES,     /* the file is longer than it says */
    FLR_CHECK_HUGE,              /* larger than 10 km: probably the wrong unit */
    FLR_CHECK_TINY,              /* smaller than 10 um: probably the wrong unit */
    FLR_CHECK_FAR_AWAY,          /* so far from the origin that 32-bit files lose detail */
    FLR_CHECK_FEW_TRIANGLES,     /* too few to enclose a volume */
    FLR_CHECK_MANY_TRIANGLES,    /* more than 20 million */
    FLR_CHECK_KIND_COUNT
} flr_check_kind;

/* How much it matters for voxels. */
typedef enum flr_check_severity {
    FLR_CHECK_NOTE,    /* the voxels come out right */
    FLR_CHECK_WARNING, /* right under a condition that the finding names, or something besides
                          the voxels suffers: mass, contact normals */
    FLR_CHECK_SERIOUS  /* the voxels will probably not be what is wanted */
} flr_check_severity;

/* Names for machines: "open-border", "note". Never NULL. */
FLR_API const char *flr_check_kind_name(flr_check_kind kind);
FLR_API const char *flr_check_severity_name(flr_check_severity severity);

enum { FLR_CHECK_TEXT_SIZE = 320 };

/* One finding. Plain data; owns nothing. */
typedef struct flr_check_finding {
    flr_check_kind kind;
    flr_check_severity severity;
    bool matters;      /* the voxels may come out wrong because of it; all else is for mass, contact
                     normals, or to know */
    uint64_t count;    /* of what the kind counts: edges, vertices, triangles, components, pairs */
    uint32_t triangle; /* the worst or first case, or FLR_NONE */
    bool has_place;
    flr_vec3 place; /* of that case, in the mesh's frame, metres */
    double extent;  /* metres, of that case: width of the gap, size of the component; 0: none */
    char sentence[FLR_CHECK_TEXT_SIZE]; /* what, how many and where, for a person */
    char effect[FLR_CHECK_TEXT_SIZE];   /* whether it matters for voxels, why, what to do */
} flr_check_finding;

/* All findings, the most severe first, then in the order of the kinds. Plain data. */
typedef struct flr_check_report {
    flr_check_finding findings[FLR_CHECK_KIND_COUNT];
    uint32_t finding_count;
    uint32_t component_count;
    uint32_t closed_component_count; /* components whose every edge has two sides that agree */
    uint32_t border_loop_count;      /* holes, cracks and outlines */
    double largest_gap;    /* metres: width of the widest of them; 0: none. Voxels smaller than
                                    this let the inside leak */
    uint64_t pairs_tested; /* pairs of triangles looked at for intersections */
    bool cut_short;        /* the search for intersections or nesting met its limit: there
                                    may be more */
} flr_check_report;

/* How to check. Fill with flr_default_check_options(). */
typedef struct flr_check_options {
    double voxel;        /* metres, if it is known; default 0: not known */
    bool skip_crossings; /* leave out overlapping components and self-intersection, which take the
                              most time; default false */
    double tolerance;    /* metres: what overlaps by less counts as touching; default 0: what
                              32-bit coordinates can tell apart, 5e-7 of the largest */
    uint64_t pair_limit; /* most pairs of triangles to test for intersections, those that do
                              intersect counted fourfold; default 6e7 */
    /* called now and then with the share that is done, 0..1; false stops the check with
     * FLR_CANCELLED. NULL: not called */
    bool (*progress)(void *context, double done);
    void *context;
} flr_check_options;

FLR_API flr_check_options flr_default_check_options(void);

/* Checks a mesh. `read`: what the reader saw, or NULL; `options` NULL: defaults. Takes time and
 * memory in proportion to the triangles: about 2 s and 150 MB per million, more where very many
 * pass through each other. The same mesh gives the same report. FLR_BAD_ARGUMENT, FLR_NO_MEMORY,
 * FLR_CANCELLED. */
FLR_API flr_result flr_check_mesh(const flr_mesh *mesh, const flr_mesh_report *read,
                                  const flr_check_options *options, flr_check_report *report,
                                  flr_error *error);

/* The worst severity in a report; FLR_CHECK_NOTE when there is nothing. */
FLR_API flr_check_severity flr_check_worst(const flr_check_report *report);

/* The finding of a kind, or NULL. */
FLR_API const flr_check_finding *flr_check_find(const flr_check_report *report,
                                                flr_check_kind kind);

/* ==== features =============================================================================== */

/* The vertices, edges and faces of a mesh that count at a voxel size.
 *
 * Contact between two bodies is decided where a vertex meets a face or an edge meets an edge
 * (McNeely et al. 2005, section 4). A finely tessellated mesh would have a vertex or an edge
 * in every voxel, so triangles are first merged into quasi-planar polygons, to the accuracy
 * of the voxels (section 4.1); the features are those of the polygons.
 *
 *   polygon  triangles that hang together by edges, all of whose vertices lie less than half
 *            a voxel from one plane, and whose normals turn less than 90 degrees from that
 *            plane's and from their neighbours'. It grows from a seed, large triangles first,
 *            in the seed's own plane; then the plane is moved into the middle of what was
 *            found and it grows on, up to three times. As every vertex keeps to the half voxel
 *            each time, a gentle curve cannot lead a polygon astray.
 *   edge     counts when it lies between two polygons, is a border, or has more than two
 *            triangles on it (a triangle listed twice counts once)
 *   vertex   counts where edges that count end or fork, and where their line turns: leaving
 *            it out would move the line by more than half a voxel
 *
 * The angle keeps a ball smaller than a voxel from becoming one flat polygon. Triangles that
 * wind the wrong way do not matter. See docs/features.md for pictures.
 *
 * Thread: any; features may be shared by all threads. Reading is RT safe, making is not.
 */

/* The flags of an edge and of a vertex; 0: it does not count. */
enum {
    FLR_FEATURE_EDGE = 1,
    FLR_FEATURE_VERTEX = 1,
    FLR_FEATURE_CONVEX = 2, /* of an edge that counts: the solid's angle is below 180 degrees */
    FLR_FEATURE_CONCAVE = 4 /* or above; neither when flat, or when sides do not agree */
};

/* All points x with normal . x = offset. */
typedef struct flr_plane {
    flr_vec3 normal; /* unit, outwards as the seed winds; zero: a triangle too thin for one */
    double offset;   /* metres */
} flr_plane;

/* Read the fields freely; change none. */
typedef struct flr_features {
    double voxel;                                      /* metres, as given */
    uint32_t triangle_count, edge_total, vertex_total; /* as in mesh and adjacency */
    uint32_t polygon_count;
    uint32_t edge_count;   /* edges that count */
    uint32_t vertex_count; /* vertices that count */

    const uint32_t *triangle_polygon; /* [triangle_count]; FLR_NONE: collapsed, has no face */
    const flr_plane *polygon_plane;   /* [polygon_count] */
    const uint8_t *edge_flags;        /* [edge_total], numbered as in the adjacency */
    const uint8_t *vertex_flags;      /* [vertex_total] */
} flr_features;

/* Finds them for a voxel size above 0, metres. `adjacency` is that of the mesh; NULL: made for
 * the call. Both are borrowed during the call only. The result depends on nothing else. Fails
 * with FLR_BAD_ARGUMENT and FLR_NO_MEMORY. On success the caller owns `*features`. */
FLR_API flr_result flr_features_create(const flr_mesh *mesh, const flr_adjacency *adjacency,
                                       double voxel, flr_features **features, flr_error *error);

/* Frees them; NULL allowed. */
FLR_API void flr_features_destroy(flr_features *features);

#ifdef __cplusplus
}
#endif
#endif
