/* feeler/mass.h: volume, centre and inertia tensor of a mesh.
 *
 * The integrals over the polyhedron are exact; what takes judgement is what the polyhedron is,
 * because meshes come with holes, cracks and the wrong side out. The rules, shell by shell
 * (feeler/adjacency.h says what a shell is):
 *
 *   1. Every hole is closed by a fan about the middle of its rim. This is exact for flat holes,
 *      for cracks along a line, and for single flipped triangles.
 *   2. A shell whose holes make up more than a quarter of its surface, or which bounds no
 *      volume, is a sheet: its mass is spread over its surface as if it were as thick as
 *      1/100 of the diagonal of its box.
 *   3. When the volume of all other shells adds up to less than zero, the mesh is inverted: all
 *      of them are turned.
 *   4. A shell that still has a negative volume is a cavity when its box lies within the box
 *      of a larger shell (one of the 64 largest); otherwise it is turned by itself. So are all
 *      cavities when they would leave a body that cannot be.
 *
 * Shells that overlap count twice where they do.
 *
 * Thread: any. Not RT safe.
 */
#ifndef FEELER_MASS_H
#define FEELER_MASS_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/adjacency.h"
#include "feeler/api.h"
#include "feeler/inertia.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plain data. */
typedef struct flr_mass {
    double area;          /* of all triangles, m^2 */
    double signed_volume; /* as the triangles are wound, holes closed, m^3 */
    double volume;        /* what weighs: solids less cavities plus sheets, m^3, above 0 */
    double open_area;     /* of the closed holes, m^2 */
    flr_inertia inertia;  /* in the mesh's frame; mass is density times volume */
    uint32_t solid_count; /* shells by what they were taken for */
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

#ifdef __cplusplus
}
#endif
#endif
