/* is the sign of a distance known from the nearest triangle alone?
 *
 * It is where every edge has two triangles that turn alike, and where in front of each piece of the surface there is
 * outside and behind it inside, which shells within each other or through each other do not have. The latter is tried in
 * some places of every patch, by the winding number. */
#include <math.h>

#include "base/parallel.h"
#include "fit/fit_internal.h"

enum { PIECE = 64, TRIED = 2 /* triangles of a patch */ };

typedef struct trial {
    const flr_fit *fit;
    double sign;
} trial;

/* 1: outside in front and inside behind; -1: the other way round; 0: neither. 2: no area, no matter. */
static int sides_of(const flr_fit *fit, uint32_t triangle)
{
    flr_vec3 t[3];
    flr_fit_triangle(fit, triangle, t);
    const flr_vec3 u = flr_vec3_sub(t[1], t[0]), v = flr_vec3_sub(t[2], t[0]),
                   n = flr_vec3_cross(u, v);
    const double longest = sqrt(fmax(flr_vec3_length2(u), flr_vec3_length2(v))),
                 height = flr_vec3_length(n) / longest;
    const double step = 1e-3 * height;
    if (!(step > flr_fit_rounding(flr_fit_extent(fit)))) return 2;
    const flr_vec3 middle = flr_vec3_scale(flr_vec3_add(t[0], flr_vec3_add(t[1], t[2])), 1.0 / 3),
                   unit = flr_vec3_normalize(n);
    const bool front = fabs(flr_fit_winding(fit, flr_vec3_add_scaled(middle, step, unit))) > 0.5,
               back = fabs(flr_fit_winding(fit, flr_vec3_add_scaled(middle, -step, unit))) > 0.5;
    return front == back ? 0 : back ? 1 : -1;
}

static flr_result try_patches(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const trial *t = context;
    const flr_fit *fit = t->fit;
    for (size_t i = piece * PIECE; i < (piece + 1) * PIECE && i < fit->counts.patches; i++) {
        const flr_fit_patch *patch = &fit->patches[i];
        for (uint32_t k = 0; k < patch->faces && k < TRIED; k++) {
            const uint32_t at = patch->first_face + k * patch->faces / TRIED;
            const int sides = sides_of(fit, fit->faces[at].triangle);
            if (sides != 2 && sides != (int)t->sign) return FLR_UNSUPPORTED;
        }
    }
    return FLR_OK;
}

/* The direction in which most of the surface is turned: the sign of the volume. */
static double turned(const flr_fit *fit)
{
    double volume = 0;
    for (uint32_t i = 0; i < fit->counts.triangles; i++) {
        flr_vec3 t[3];
        flr_fit_triangle(fit, i, t);
        for (int k = 0; k < 3; k++) t[k] = flr_vec3_sub(t[k], fit->info.bounds.low);
        volume += flr_vec3_dot(t[0], flr_vec3_cross(t[1], t[2]));
    }
    return volume < 0 ? -1 : 1;
}

void flr_fit_find_solid(flr_fit *fit, unsigned threads)
{
    trial t = {fit, turned(fit)};
    fit->sign = t.sign;
    fit->info.solid = flr_parallel_for(threads, (fit->counts.patches + PIECE - 1) / PIECE,
                                       try_patches, &t) == FLR_OK;
}
