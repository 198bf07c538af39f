/* fits: building, and one point */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_internal.h"

flr_fit_def flr_default_fit_def(void)
{
    flr_fit_def def = {.spacing = 0};
    return def;
}

void flr_fit_destroy(flr_fit *fit)
{
    if (!fit) return;
    free(fit->vertices);
    free(fit->triangles);
    free(fit->samples);
    free(fit);
}

static flr_result copy_mesh(flr_fit *fit, const flr_mesh *mesh, flr_error *error)
{
    const size_t vertices = mesh->vertex_count * sizeof *fit->vertices,
                 triangles = mesh->triangle_count * sizeof *fit->triangles;
    fit->vertices = malloc(vertices);
    fit->triangles = malloc(triangles);
    if (!fit->vertices || !fit->triangles)
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for %u triangles",
                        mesh->triangle_count);
    memcpy(fit->vertices, mesh->vertices, vertices);
    memcpy(fit->triangles, mesh->triangles, triangles);
    fit->info = (flr_fit_info){.triangles = mesh->triangle_count,
                               .vertices = mesh->vertex_count,
                               .size = flr_vec3_distance(mesh->bounds.low, mesh->bounds.high),
                               .bounds = mesh->bounds,
                               .mesh = flr_mesh_hash(mesh)};
    return FLR_OK;
}

flr_result flr_fit_build(const flr_mesh *mesh, const flr_fit_def *def, flr_fit **fit,
                         flr_error *error)
{
    const flr_fit_def asked = def ? *def : flr_default_fit_def();
    if (!(asked.spacing >= 0) || !isfinite(asked.spacing))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the spacing of samples must be 0 or a length");
    flr_fit *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = copy_mesh(made, mesh, error);
    if (result == FLR_OK) result = flr_fit_make_samples(made, &asked, error);
    if (result != FLR_OK) {
        flr_fit_destroy(made);
        return result;
    }
    made->info.bytes = sizeof *made + made->info.vertices * sizeof *made->vertices +
                       made->info.triangles * sizeof *made->triangles +
                       made->info.samples * sizeof *made->samples;
    *fit = made;
    return FLR_OK;
}

flr_fit_info flr_fit_get_info(const flr_fit *fit) { return fit->info; }

const flr_fit_sample *flr_fit_samples(const flr_fit *fit) { return fit->samples; }

void flr_fit_triangle(const flr_fit *fit, uint32_t triangle, flr_vec3 corners[3])
{
    for (int i = 0; i < 3; i++) corners[i] = fit->vertices[fit->triangles[triangle].v[i]];
}

static flr_mesh view_of(const flr_fit *fit)
{
    flr_mesh mesh = {.vertices = fit->vertices,
                     .triangles = fit->triangles,
                     .vertex_count = fit->info.vertices,
                     .triangle_count = fit->info.triangles,
                     .bounds = fit->info.bounds};
    return mesh;
}

flr_fit_point_result flr_fit_point(const flr_fit *fit, flr_vec3 point, double reach)
{
    const flr_mesh mesh = view_of(fit);
    return flr_fit_reference_point(&mesh, point, reach);
}

bool flr_fit_inside(const flr_fit *fit, flr_vec3 point)
{
    const flr_mesh mesh = view_of(fit);
    return fabs(flr_fit_reference_winding(&mesh, point)) > 0.5;
}

flr_result flr_fit_pair_create(const flr_fit *a, const flr_fit *b, flr_fit_pair **pair,
                               flr_error *error)
{
    flr_fit_pair *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    made->parts[0] = a, made->parts[1] = b;
    *pair = made;
    return FLR_OK;
}

void flr_fit_pair_destroy(flr_fit_pair *pair) { free(pair); }

size_t flr_fit_pair_bytes(const flr_fit_pair *pair) { return sizeof *pair; }

void flr_fit_pair_query(flr_fit_pair *pair, flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_contact *contacts, uint32_t capacity, flr_fit_result *result)
{
    const flr_mesh a = view_of(pair->parts[0]), b = view_of(pair->parts[1]);
    flr_fit_reference_pair(pair->parts[0], &a, pair->parts[1], &b, T_a_b, params, contacts,
                           capacity, result);
}
