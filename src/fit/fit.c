/* fits: building, and what was built */
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
    free(fit->memory);
    free(fit);
}

flr_fit_info flr_fit_get_info(const flr_fit *fit) { return fit->info; }

const flr_fit_sample *flr_fit_samples(const flr_fit *fit) { return fit->samples; }

void flr_fit_triangle(const flr_fit *fit, uint32_t triangle, flr_vec3 corners[3])
{
    for (int i = 0; i < 3; i++) corners[i] = fit->vertices[fit->triangles[triangle].v[i]];
}

/* what building needs on its way */
typedef struct workshop {
    const flr_mesh *mesh;
    flr_fit_def def;
    uint32_t *order; /* triangles by patch */
    flr_fit_range *ranges;
    flr_fit_sample *samples;
    flr_adjacency *adjacency;
    flr_fit_counts counts;
} workshop;

/* Copies the samples, those of a patch together, in the order in which they were made. */
static flr_result sort_samples(const workshop *w, flr_fit *fit, flr_error *error)
{
    uint32_t *patch_of = malloc(w->counts.triangles * sizeof *patch_of);
    if (!patch_of) return flr_fail(error, FLR_NO_MEMORY, "out of memory for samples");
    for (uint32_t i = 0; i < w->counts.patches; i++)
        for (uint32_t k = 0; k < w->ranges[i].count; k++)
            patch_of[w->order[w->ranges[i].first + k]] = i;
    for (uint32_t i = 0; i < w->counts.samples; i++)
        fit->patches[patch_of[w->samples[i].triangle]].samples++;
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->counts.patches; i++) {
        fit->patches[i].first_sample = at;
        at += fit->patches[i].samples;
        fit->patches[i].samples = 0;
    }
    for (uint32_t i = 0; i < w->counts.samples; i++) {
        flr_fit_patch *patch = &fit->patches[patch_of[w->samples[i].triangle]];
        fit->samples[patch->first_sample + patch->samples++] = w->samples[i];
    }
    free(patch_of);
    return FLR_OK;
}

static bool tell(const workshop *w, double done)
{
    return !w->def.progress || w->def.progress(w->def.progress_context, done);
}

static flr_result build(workshop *w, flr_fit *fit, flr_error *error)
{
    const flr_mesh *mesh = w->mesh;
    fit->info = (flr_fit_info){.triangles = mesh->triangle_count,
                               .vertices = mesh->vertex_count,
                               .size = flr_vec3_distance(mesh->bounds.low, mesh->bounds.high),
                               .bounds = mesh->bounds,
                               .mesh = flr_mesh_hash(mesh)};
    fit->asked_spacing = w->def.spacing;
    flr_result result = flr_adjacency_create(mesh, &w->adjacency, error);
    if (result != FLR_OK) return result;
    w->counts.shells = w->adjacency->component_count;
    result = flr_fit_cut(mesh, w->adjacency, w->def.threads, &w->order, &w->ranges,
                         &w->counts.patches, error);
    if (result == FLR_OK && !tell(w, 0.3)) result = flr_fail(error, FLR_CANCELLED, "cancelled");
    if (result == FLR_OK)
        result =
            flr_fit_make_samples(mesh, &w->def, &fit->info, &w->samples, &w->counts.samples, error);
    if (result != FLR_OK) return result;
    w->counts.triangles = mesh->triangle_count;
    w->counts.vertices = mesh->vertex_count;
    w->counts.borders = flr_fit_count_borders(mesh, w->adjacency);
    if (!flr_fit_lay_out(fit, w->counts))
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for %u triangles",
                        mesh->triangle_count);
    memcpy(fit->vertices, mesh->vertices, mesh->vertex_count * sizeof *fit->vertices);
    memcpy(fit->triangles, mesh->triangles, mesh->triangle_count * sizeof *fit->triangles);
    for (uint32_t i = mesh->triangle_count; i-- > 0;)
        fit->shells[w->adjacency->triangle_component[i]] = mesh->triangles[i].v[0];
    flr_fit_fill_borders(fit, w->adjacency);
    result = sort_samples(w, fit, error);
    if (result == FLR_OK && !tell(w, 0.5)) result = flr_fail(error, FLR_CANCELLED, "cancelled");
    if (result != FLR_OK) return result;
    flr_fit_fill(fit, w->order, w->ranges, w->def.threads);
    if (!tell(w, 0.7)) return flr_fail(error, FLR_CANCELLED, "cancelled");
    flr_fit_find_sides(fit, w->adjacency, w->def.threads);
    fit->info.samples = w->counts.samples;
    fit->info.patches = w->counts.patches;
    fit->info.bytes = sizeof *fit + fit->size;
    return FLR_OK;
}

flr_result flr_fit_build(const flr_mesh *mesh, const flr_fit_def *def, flr_fit **fit,
                         flr_error *error)
{
    workshop w = {.mesh = mesh, .def = def ? *def : flr_default_fit_def()};
    if (!(w.def.spacing >= 0) || !isfinite(w.def.spacing))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the spacing of samples must be 0 or a length");
    flr_fit *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    const flr_result result = build(&w, made, error);
    free(w.order);
    free(w.ranges);
    free(w.samples);
    flr_adjacency_destroy(w.adjacency);
    if (result == FLR_OK)
        *fit = made;
    else
        flr_fit_destroy(made);
    return result;
}
