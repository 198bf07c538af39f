/* fit_internal.h: what a fit consists of.
 *
 * The triangles are sorted into patches of at most 16 triangles with at most 16 vertices, one vertex per lane of a vector
 * register. Above them lies a tree of boxes without pointers: box i of a level holds the boxes 8 i … 8 i + 7 below. All
 * of a fit lies in one block of memory, whose layout follows from a few counts; a file holds the same bytes. */
#ifndef FLR_FIT_INTERNAL_H
#define FLR_FIT_INTERNAL_H

#include <float.h>

#include "feeler/fit.h"

enum {
    FLR_FIT_LANES = 16,  /* triangles and vertices of a patch, at most */
    FLR_FIT_WIDE = 8,    /* boxes side by side */
    FLR_FIT_LEVELS = 11, /* 8^11 patches are more than there can be */
    FLR_FIT_STACK =
        (FLR_FIT_WIDE - 1) * FLR_FIT_LEVELS + 1 /* boxes that wait in a descent, at most */
};

/* points side by side, single precision, relative to the centre of a patch */
typedef struct flr_fit_lanes {
    _Alignas(64) float x[FLR_FIT_LANES], y[FLR_FIT_LANES], z[FLR_FIT_LANES];
} flr_fit_lanes;

/* A patch as a height over its second and third axis, x and y: it lies between h + bottom and h + top, where
 * h = k0 x + k1 y + k2 x^2 + k3 x y + k4 y^2. */
typedef struct flr_fit_curve {
    float k[5], bottom, top;
} flr_fit_curve;

typedef struct flr_fit_patch {
    flr_fit_lanes lanes;               /* its vertices; lanes that are not used repeat the first */
    uint16_t corners[FLR_FIT_LANES];   /* of each triangle: bits of its lanes; 0: not used */
    flr_vec3 centre;                   /* metres */
    float radius;                      /* metres: all of it is within the ball around the centre */
    float axes[3][3], low[3], high[3]; /* its own box: unit axes, the normal first */
    flr_fit_curve curve;
    float edge[3];       /* metres along the axes: no side of a triangle is longer */
    uint32_t first_face; /* number of its first triangle among the faces */
    uint32_t first_sample;
    uint32_t faces, samples;
} flr_fit_patch;

/* The plane of a triangle relative to the centre of its patch: n p - o is the height of a point over it. n is a unit vector,
 * or 0 where the triangle has no area. */
typedef struct flr_fit_plane {
    float n[3], o;
} flr_fit_plane;

/* The rest of it: u p + u0, v p + v0 and 1 minus both are a point's barycentric coordinates, of which one unit is
 * `height` metres. */
typedef struct flr_fit_face {
    float u[3], u0;
    float v[3], v0;
    float height[3];
    uint32_t triangle; /* number in the mesh */
} flr_fit_face;

/* Boxes side by side, metres, rounded outwards; those that are not used are empty. The winding number of what is in a box
 * is that of a dipole when seen from afar. */
typedef struct flr_fit_boxes {
    _Alignas(64) float low[3][FLR_FIT_WIDE], high[3][FLR_FIT_WIDE];
    float at[3][FLR_FIT_WIDE];   /* middle of the area */
    float area[3][FLR_FIT_WIDE]; /* sum of the area vectors, square metres */
    float radius[FLR_FIT_WIDE];  /* of all that is in it, around `at` */
} flr_fit_boxes;

/* what the layout follows from; the beginning of a file, too */
typedef struct flr_fit_counts {
    uint32_t triangles, vertices, samples, patches;
    uint32_t shells;  /* pieces that hang together */
    uint32_t borders; /* edges at which the mesh ends */
} flr_fit_counts;

/* An edge whose triangles do not cancel out: it is left over this many times, in this direction. */
typedef struct flr_fit_border {
    uint32_t from, to; /* vertices */
    int32_t times;
} flr_fit_border;

struct flr_fit {
    flr_fit_info info;
    flr_fit_counts counts;
    double asked_spacing;    /* metres; as in the definition */
    void *memory;            /* of all that follows */
    size_t size;             /* of the memory */
    flr_vec3 *vertices;      /* [vertices] */
    flr_triangle *triangles; /* [triangles] */
    flr_fit_sample *samples; /* [samples], by patch */
    flr_fit_patch *patches;  /* [patches] */
    flr_fit_plane *planes;   /* [triangles], by patch */
    flr_fit_face *faces;     /* [triangles], by patch */
    uint32_t *shells;        /* [shells]: a vertex of each */
    flr_fit_border *borders; /* [borders] */
    int8_t *
        sides; /* [triangles]: 1: inside is behind it, -1: in front, 0: only the winding number tells */
    uint32_t levels;
    flr_fit_boxes
        *level[FLR_FIT_LEVELS]; /* level 0: those of the patches; the last has one entry */
};

/* Bytes of the memory. */
uint64_t flr_fit_size(flr_fit_counts counts);

/* Takes memory for the counts and sets all pointers; false: there is none. */
bool flr_fit_lay_out(flr_fit *fit, flr_fit_counts counts);

/* ---- building ---- */

/* triangles `first` … `first + count - 1` of an order */
typedef struct flr_fit_range {
    uint32_t first, count;
} flr_fit_range;

/* Sorts the triangles of a mesh into patches: `*order` and `*ranges` are the caller's to free. */
flr_result flr_fit_cut(const flr_mesh *mesh, const flr_adjacency *adjacency, unsigned threads,
                       uint32_t **order, flr_fit_range **ranges, uint32_t *patches,
                       flr_error *error);

/* Places samples; `*samples` is the caller's to free. Sets spacing and area of the info. */
flr_result flr_fit_make_samples(const flr_mesh *mesh, const flr_fit_def *def, flr_fit_info *info,
                                flr_fit_sample **samples, uint32_t *count, flr_error *error);

/* Fills patches, faces and boxes; the samples are there, sorted by patch. */
void flr_fit_fill(flr_fit *fit, const uint32_t *order, const flr_fit_range *ranges,
                  unsigned threads);

/* Fits a curve to a patch whose lanes, corners and box are there; sets its longest sides, too. */
void flr_fit_bend(flr_fit_patch *patch);

/* The edges at which a mesh ends: how many, and which. */
uint32_t flr_fit_count_borders(const flr_mesh *mesh, const flr_adjacency *adjacency);
void flr_fit_fill_borders(flr_fit *fit, const flr_adjacency *adjacency);

/* Finds out where the sign of a distance follows from the nearest triangle: sides, info.solid. */
void flr_fit_find_sides(flr_fit *fit, const flr_adjacency *adjacency, unsigned threads);

/* ---- queries ---- */

/* the nearest triangle, without the side */
typedef struct flr_fit_near_result {
    double distance; /* metres, >= 0 */
    flr_vec3 nearest;
    uint32_t triangle; /* FLR_NONE: nothing within the reach */
} flr_fit_near_result;

flr_fit_near_result flr_fit_nearest(const flr_fit *fit, flr_vec3 point, double reach);

/* The winding number: exact, and a whole number where the mesh has no border. To a few hundredths where the border is
 * long. */
double flr_fit_winding(const flr_fit *fit, flr_vec3 point);

/* By how much winding numbers of two points in a ball may differ if a way within the ball that does not pass through
 * the surface joins them. INFINITY: not known. The solid angle of a surface changes only with that of its
 * border, along which its gradient is an integral (Biot and Savart); so the way may be as long as it likes. */
double flr_fit_winding_change(const flr_fit *fit, flr_vec3 centre, double radius);

enum { FLR_FIT_LONG_BORDER = 1024 /* edges: more than that, and a winding number is too slow */ };
static inline bool flr_fit_border_is_long(const flr_fit *fit)
{
    return fit->counts.borders > FLR_FIT_LONG_BORDER;
}

/* Is the winding number the same on all ways that do not pass through the surface? */
static inline bool flr_fit_is_closed(const flr_fit *fit) { return fit->counts.borders == 0; }

/* Nothing is inside where the box of a part ends, whatever its surfaces look like from there. */
static inline bool flr_fit_may_be_inside(const flr_fit *fit, flr_vec3 p)
{
    const flr_box3 b = fit->info.bounds;
    return p.x >= b.low.x && p.x <= b.high.x && p.y >= b.low.y && p.y <= b.high.y &&
           p.z >= b.low.z && p.z <= b.high.z;
}

/* Is a point inside, of which `nearest` is the nearest point of the surface? */
bool flr_fit_inside_by(const flr_fit *fit, flr_vec3 point, flr_vec3 nearest, uint32_t triangle);

/* metres: what rounding makes of distances between points this far from the origin */
static inline double flr_fit_rounding(double extent) { return 64 * DBL_EPSILON * extent; }

/* metres: how far from its origin a part reaches */
double flr_fit_extent(const flr_fit *fit);

/* The gradient of the signed distance at `point`; where that lies on the triangle, its normal. */
flr_vec3 flr_fit_direction(const flr_vec3 triangle[3], flr_vec3 point, flr_vec3 nearest,
                           bool inside);

/* ---- results, filled alike by the query and by its reference ---- */

/* Nothing found, nothing done. */
void flr_fit_begin_result(flr_fit_result *result);

/* Takes note of a contact, which stands where the next one of the list belongs, or elsewhere when there is no room: lists it when
 * it is near, and remembers the deepest. */
void flr_fit_note_contact(const flr_fit *const parts[2], const flr_fit_contact *contact,
                          const flr_fit_params *params, uint32_t capacity, flr_fit_result *result);

/* The same of a sample of part `side` (0: a, 1: b) and its distance to the other part, given in the other part's
 * frame: lists it when it is near, and remembers the deepest. */
void flr_fit_note_sample(const flr_fit *const parts[2], flr_pose T_a_b, uint32_t side,
                         uint32_t sample, const flr_fit_point_result *at,
                         const flr_fit_params *params, flr_fit_contact *contacts, uint32_t capacity,
                         flr_fit_result *result);

/* Sets the bounds, after the least distance of the surfaces and all samples have been noted. */
void flr_fit_end_result(const flr_fit *const parts[2], flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_result *result);

#endif
