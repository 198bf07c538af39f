/* fits.h: tight fits with a gap of your choice: threads, pegs, a key, a dovetail, gears …
 *
 * A fit is two parts, one in the other, and a path that takes them apart. Its gap is the least
 * distance of their surfaces from the assembled pose until the moving part is out:
 *
 *     flr_model_fit_options options = {.gap = 0.05e-3};
 *     flr_model model;
 *     flr_model_fit_build(flr_model_fit_find("thread"), &options, &model, &error);
 *     flr_model_fit_measure(&model, 0, &gap, &error); // 0.0500 mm
 *
 * Round surfaces are polygons here, and those of both parts lie on the side of their own material:
 * tessellation takes material away, never adds any. So the gap of the meshes is at least the gap
 * asked for; it is larger by no more than twice the chord error.
 *
 * Every mesh is closed and manifold, and faces outwards. The same options give the same bytes with
 * every compiler.
 *
 * Thread: any. Nothing here is RT safe.
 */
#ifndef FLR_MODELS_FITS_H
#define FLR_MODELS_FITS_H

#include "models/models.h"

/* Metres; 0 stands for the fit's own default. */
typedef struct flr_model_fit_options {
    double gap;   /* between the mating surfaces */
    double size;  /* what it measures is the fit's: see flr_model_fit.measure */
    double chord; /* how far a polygon may stray from its curve; by default gap / 150, but at least
                     0.25 um */
} flr_model_fit_options;

/* Adds the two parts to an empty model and fills the path; `options` are complete and within the
 * limits. Fails on what these limits cannot say. */
typedef struct flr_model_fit_scratch flr_model_fit_scratch;
typedef flr_result flr_model_fit_recipe(const flr_model_fit_options *options,
                                        flr_model_fit_scratch *scratch, flr_model *model,
                                        flr_error *error);

typedef struct flr_model_fit {
    const char *name;    /* "thread" */
    const char *summary; /* one line for a list */
    const char *measure; /* what `size` is: "nominal diameter" */
    double size;         /* metres: the default; and the limits */
    double min_size, max_size;
    double max_gap; /* as a part of the size */
    flr_model_fit_recipe *build;
} flr_model_fit;

#define FLR_FIT_GAP     0.1e-3  /* metres: default, where a fit of that size takes so much */
#define FLR_FIT_MIN_GAP 0.01e-3 /* metres */

/* All fits in the order of a list; by name, NULL when there is none. */
size_t flr_model_fit_count(void);
const flr_model_fit *flr_model_fit_at(size_t index);
const flr_model_fit *flr_model_fit_find(const char *name);

/* Builds in memory: part 0 stands still, part 1 moves, the path "removal" takes it out. `options`
 * NULL: defaults. FLR_BAD_ARGUMENT: a size, gap or chord error out of the fit's limits; the
 * sentence names them. On success the caller frees `*model` with flr_model_free(), on failure it is
 * empty. */
flr_result flr_model_fit_build(const flr_model_fit *fit, const flr_model_fit_options *options,
                               flr_model *model, flr_error *error);

/* What flr_model_fit_build() makes of its options: defaults filled in. */
flr_model_fit_options flr_model_fit_complete(const flr_model_fit *fit,
                                             const flr_model_fit_options *options);

/* "M8", "m8" or a length such as "12mm" (a plain number: mm); metres. */
flr_result flr_model_fit_parse_size(const char *text, double *size, flr_error *error);

/* Metres: the exact distance of the model's two parts at pose `pose` of its path, 0 where their
 * surfaces meet. */
flr_result flr_model_fit_measure(const flr_model *model, size_t pose, double *distance,
                                 flr_error *error);

#endif
