/* Triangles without area, almost without, and listed twice. */
#include <float.h>
#include <math.h>

#include "mesh/checking.h"

/* how thin a triangle is: its least height over its longest side. Below the first it is a line
 * that 32-bit coordinates could not tell from one */
#define CHECK_FACES_LINE 1e-6
#define SLIVER           1e-4

/* ---- thin ones ---- */

/* the least height and the longest side, metres */
static double height_of(const flr_mesh *mesh, uint32_t triangle, double *longest)
{
    const uint32_t *v = mesh->triangles[triangle].v;
    const flr_vec3 a = mesh->vertices[v[0]], b = mesh->vertices[v[1]], c = mesh->vertices[v[2]];
    const flr_vec3 ab = flr_vec3_sub(b, a), ac = flr_vec3_sub(c, a), bc = flr_vec3_sub(c, b);
    *longest = sqrt(fmax(fmax(flr_vec3_length2(ab), flr_vec3_length2(ac)), flr_vec3_length2(bc)));
    return *longest > 0 ? flr_vec3_length(flr_vec3_cross(ab, ac)) / *longest : 0;
}

static void check_thin(flr_checking *c)
{
    const flr_mesh *mesh = c->mesh;
    /* corners that were on a line in the file leave it by rounding when units are applied */
    const double rounding = 4 * DBL_EPSILON * c->far;
    uint32_t zero = 0, thin = 0, first_zero = FLR_NONE, first_thin = FLR_NONE;
    double thin_length = 0, zero_length = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        double longest;
        const double height = height_of(mesh, t, &longest);
        if (height <= fmax(rounding, CHECK_FACES_LINE * longest)) {
            if (zero++ == 0) first_zero = t, zero_length = longest;
        } else if (height < SLIVER * longest && thin++ == 0)
            first_thin = t, thin_length = longest;
    }
    if (zero > 0) {
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_ZERO_AREA, FLR_CHECK_NOTE, zero);
        flr_checking_place(f, first_zero, flr_checking_middle(mesh, first_zero), zero_length);
        flr_checking_say(f, "%u triangle%s no area, first number %u at %s.", zero,
                         flr_noun(zero, " has", "s have"), first_zero, FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f, "Does not matter for voxels: the lines they are lie on neighbouring "
                               "triangles or become surface voxels like these.");
    }
    if (thin > 0) {
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_SLIVER, FLR_CHECK_NOTE, thin);
        flr_checking_place(f, first_thin, flr_checking_middle(mesh, first_thin), thin_length);
        flr_checking_say(f,
                         "%u triangle%s over 10000 times longer than wide, first number %u at "
                         "%s.",
                         thin, flr_noun(thin, " is", "s are"), first_thin,
                         FLR_PLACE_TEXT(f->place));
        flr_checking_effect(f, "Does not matter for voxels. Their own normals are unreliable; "
                               "merging with neighbours hides that where they are smaller than a "
                               "voxel.");
    }
}

/* ---- double ones ---- */

static bool same_corners(const flr_triangle *a, const flr_triangle *b)
{
    for (int shift = 0; shift < 3; shift++) {
        const uint32_t p = b->v[shift], q = b->v[(shift + 1) % 3], r = b->v[(shift + 2) % 3];
        if (a->v[0] == p && ((a->v[1] == q && a->v[2] == r) || (a->v[1] == r && a->v[2] == q)))
            return true;
    }
    return false;
}

/* a twin shares all edges, so it is enough to look along the edge with the fewest triangles */
static bool has_earlier_twin(const flr_checking *c, uint32_t triangle)
{
    const flr_adjacency *a = c->adjacency;
    uint32_t edge = FLR_NONE;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t e = a->side_edge[3 * triangle + k];
        if (e != FLR_NONE && (edge == FLR_NONE ||
                              flr_adjacency_side_count(a, e) < flr_adjacency_side_count(a, edge)))
            edge = e;
    }
    if (edge == FLR_NONE) return false;
    for (uint32_t i = a->edge_first[edge]; i < a->edge_first[edge + 1]; i++) {
        const uint32_t other = a->edge_sides[i] / 3;
        if (other >= triangle) return false;
        if (same_corners(c->mesh->triangles + triangle, c->mesh->triangles + other)) return true;
    }
    return false;
}

static void check_duplicates(flr_checking *c)
{
    uint32_t count = 0, first = FLR_NONE;
    for (uint32_t t = 0; t < c->mesh->triangle_count; t++)
        if (has_earlier_twin(c, t) && count++ == 0) first = t;
    if (count == 0) return;
    flr_check_finding *f = flr_checking_add(c, FLR_CHECK_DUPLICATE, FLR_CHECK_NOTE, count);
    flr_checking_place(f, first, flr_checking_middle(c->mesh, first), 0);
    flr_checking_say(f, "%u triangle%s listed before with the same corners, first number %u at %s.",
                     count, flr_noun(count, " was", "s were"), first, FLR_PLACE_TEXT(f->place));
    flr_checking_effect(f, "Does not matter for voxels. Volume and mass are estimates, because the "
                           "surface is not one simple skin.");
}

void flr_check_faces(flr_checking *c)
{
    check_thin(c);
    check_duplicates(c);
}
