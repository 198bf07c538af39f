/* checking.h: what the parts of the mesh check share. Private to src/mesh/check*.c. */
#ifndef FLR_MESH_CHECKING_H
#define FLR_MESH_CHECKING_H

#include "base/text.h"
#include "feeler/base.h"
#include "feeler/mesh_check.h"

typedef struct flr_check_tree flr_check_tree; /* mesh/check_tree.h */

/* One check under way. */
typedef struct flr_checking {
    const flr_mesh *mesh;
    const flr_mesh_report *read; /* may be NULL */
    const flr_adjacency *adjacency;
    flr_check_options options; /* complete: no defaults left open */
    flr_check_report *report;
    flr_error *error;
    double size; /* metres: the longest side of the mesh's box */
    double far;  /* metres: the largest coordinate, which says how well the others are known */
} flr_checking;

/* Adds an empty finding of a kind, counted and placed nowhere; there is always room. It matters
 * for voxels if it is serious; set `matters` where a warning does, too. */
flr_check_finding *flr_checking_add(flr_checking *c, flr_check_kind kind,
                                    flr_check_severity severity, uint64_t count);
/* Where it is; `extent` in metres, 0 for none. */
void flr_checking_place(flr_check_finding *finding, uint32_t triangle, flr_vec3 place,
                        double extent);
/* The two texts. */
void flr_checking_say(flr_check_finding *finding, const char *format, ...) FLR_PRINTF(2, 3);
void flr_checking_effect(flr_check_finding *finding, const char *format, ...) FLR_PRINTF(2, 3);

/* Tells the caller how far it is; FLR_CANCELLED when it says stop. */
flr_result flr_checking_progress(flr_checking *c, double done);

/* For sentences, in four digits: "0.2331 mm" and "(12 mm, 0, 3.5 mm)". Return `text`. */
const char *flr_length_print(double metres, char text[FLR_SIZE_TEXT_SIZE]);
#define FLR_LENGTH_TEXT(metres) flr_length_print(metres, (char[FLR_SIZE_TEXT_SIZE]){0})
enum { FLR_PLACE_TEXT_SIZE = 112 };
const char *flr_place_print(flr_vec3 place, char text[FLR_PLACE_TEXT_SIZE]);
#define FLR_PLACE_TEXT(place) flr_place_print(place, (char[FLR_PLACE_TEXT_SIZE]){0})

static inline flr_vec3 flr_checking_middle(const flr_mesh *mesh, uint32_t triangle)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    const flr_vec3 sum = flr_vec3_add(flr_vec3_add(mesh->vertices[v[0]], mesh->vertices[v[1]]),
                                      mesh->vertices[v[2]]);
    return flr_vec3_scale(sum, 1.0 / 3);
}

static inline uint32_t flr_checking_edge_triangle(const flr_checking *c, uint32_t edge)
{
    return c->adjacency->edge_sides[c->adjacency->edge_first[edge]] / 3;
}

flr_result flr_checking_no_memory(flr_checking *c);

/* Every number in a set of its own, for base/sets.h; NULL: no memory. */
uint32_t *flr_singletons(uint32_t count);

/* The parts, in the order in which they run. */
flr_result flr_check_borders(flr_checking *c); /* open borders and their gaps */
flr_result flr_check_edges(flr_checking *c);   /* non-manifold, flipped */
void flr_check_faces(flr_checking *c);         /* zero area, slivers, duplicates */
flr_result flr_check_components(flr_checking *c, const flr_check_tree *tree); /* inverted, nested */
/* overlapping components, self-intersection */
flr_result flr_check_crossings(flr_checking *c, const flr_check_tree *tree);

#endif
