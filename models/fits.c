/* fits.c: the list of fits; their limits; what is common to their scenes. */
#include "models/fits.h"

#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/distance.h"
#include "models/fit_kit.h"

/* ---- the list ---- */

/* in the order of the table in docs/fits.md */
static const flr_model_fit fits[] = {
    /* a tenth of the pitch, or the nut's crest would vanish */
    {"thread", "a nut on a bolt, M3 to M20: only turning takes it off", "nominal diameter", 8e-3,
     3e-3, 20e-3, 0.0125, flr_model_fit_build_thread},
    {"round-peg", "a round peg in a hole", "diameter of the peg", 8e-3, 1e-3, 100e-3, 0.05,
     flr_model_fit_build_round_peg},
    {"square-peg", "a square peg in a hole", "side of the peg", 8e-3, 1e-3, 100e-3, 0.05,
     flr_model_fit_build_square_peg},
    {"key", "a shaft with its key in the keyway of a hub", "diameter of the shaft", 20e-3, 4e-3,
     100e-3, 0.02, flr_model_fit_build_key},
    {"splines", "a shaft with six splines in its hub", "diameter over the splines", 20e-3, 6e-3,
     100e-3, 0.015, flr_model_fit_build_splines},
    {"dovetail", "a slide in a dovetail groove", "width of the tail", 20e-3, 2e-3, 200e-3, 0.04,
     flr_model_fit_build_dovetail},
    {"bayonet", "a plug with three lugs in a bayonet socket: turn, then pull",
     "diameter of the plug", 16e-3, 4e-3, 100e-3, 0.02, flr_model_fit_build_bayonet},
    {"hook", "a snap hook in its catch: tilt, then pull", "diameter of the hook's nose", 8e-3, 2e-3,
     30e-3, 0.03, flr_model_fit_build_hook},
    {"gears", "two involute gears in mesh, one of them on a post", "module", 2e-3, 0.5e-3, 10e-3,
     0.1, flr_model_fit_build_gears}};

size_t flr_model_fit_count(void) { return sizeof fits / sizeof *fits; }

const flr_model_fit *flr_model_fit_at(size_t index)
{
    return index < flr_model_fit_count() ? &fits[index] : NULL;
}

const flr_model_fit *flr_model_fit_find(const char *name)
{
    for (size_t i = 0; i < flr_model_fit_count(); i++)
        if (strcmp(fits[i].name, name) == 0) return &fits[i];
    return NULL;
}

/* ---- options ---- */

flr_model_fit_options flr_model_fit_complete(const flr_model_fit *fit,
                                             const flr_model_fit_options *options)
{
    flr_model_fit_options all = options ? *options : (flr_model_fit_options){0};
    if (all.size == 0) all.size = fit->size;
    if (all.gap == 0) all.gap = fmin(FLR_FIT_GAP, fit->max_gap * all.size);
    if (all.chord == 0) all.chord = fmax(all.gap / 150, 0.25e-6);
    return all;
}

flr_result flr_model_fit_parse_size(const char *text, double *size, flr_error *error)
{
    bool metric = (text[0] == 'M' || text[0] == 'm') && text[1] >= '0' && text[1] <= '9';
    return flr_size_parse(metric ? text + 1 : text, 1e-3, size, error);
}

static flr_result check(const flr_model_fit *fit, const flr_model_fit_options *o, flr_error *error)
{
    /* a little more than the limit is the limit, written in another unit */
    const double slack = 1 + 1e-9, mm = 1e3;
    if (!(o->size * slack >= fit->min_size && o->size <= fit->max_size * slack))
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the size (%s) goes from %g to %g mm, not %g",
                        fit->name, fit->measure, fit->min_size * mm, fit->max_size * mm,
                        o->size * mm);
    if (!(o->gap * slack >= FLR_FIT_MIN_GAP && o->gap <= fit->max_gap * o->size * slack))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s of size %g mm: the gap goes from %g to %g mm, not %g", fit->name,
                        o->size * mm, FLR_FIT_MIN_GAP * mm, fit->max_gap * o->size * mm,
                        o->gap * mm);
    if (!(o->chord >= 0.05e-6 && o->chord <= o->gap / 2))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: the chord error goes from 0.00005 mm to half the gap, not %g mm",
                        fit->name, o->chord * mm);
    return FLR_OK;
}

/* ---- scenes ---- */

/* The exact engine; and for whoever takes another one, voxels that see the gap where memory allows, and points that are moved inwards by
 * what is missing. A point is up to half a voxel's diagonal off its surface, and a surface voxel reaches a whole one. */
static void choose_contact(flr_model *model, const flr_model_fit_options *options)
{
    const double voxels = 1.5e6, reach = 2.6;
    double most = fmax(flr_mesh_area(model->meshes[0].mesh), flr_mesh_area(model->meshes[1].mesh));
    double voxel = fmax(options->gap / 3, sqrt(most / voxels));
    /* whole tenths of a micrometre, or micrometres */
    double parts = voxel < 10e-6 ? 1e7 : 1e6;
    voxel = ceil(voxel * parts - 1e-9) / parts;
    model->scene.voxel = voxel;
    model->scene.contact.engine = FLR_ENGINE_EXACT;
    model->scene.contact.engine_given = true;
    model->scene.contact.force_layer = 0;
    double missing = reach * voxel - options->gap;
    if (missing > 0) model->scene.contact.displace = -ceil(missing * parts) / parts;
}

static void choose_camera(flr_model *model)
{
    flr_box3 box = model->meshes[0].mesh->bounds;
    flr_vec3 middle = v3_mix(box.low, box.high, 0.5), size = v3_sub(box.high, box.low);
    double far = 1.6 * v3_length(size);
    model->scene.camera =
        (flr_scene_camera){.given = true,
                           .eye = v3_add(middle, v3_mul(v3_unit(v3(0.55, -0.65, 0.6)), far)),
                           .target = v3_add(middle, v3(0, 0, 0.2 * size.z)),
                           .up = {0, 0, 1}};
}

flr_result flr_model_fit_build(const flr_model_fit *fit, const flr_model_fit_options *options,
                               flr_model *model, flr_error *error)
{
    flr_model_fit_options all = flr_model_fit_complete(fit, options);
    flr_result result = check(fit, &all, error);
    if (result != FLR_OK) return result;
    flr_model built;
    memset(&built, 0, sizeof built);
    built.scene = flr_default_scene();
    built.scene.name = fit->name;
    built.scene.description = fit->summary;
    built.scene.unit = 0.001;
    flr_model_fit_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch) return flr_fail(error, FLR_NO_MEMORY, "out of memory while building a fit");
    result = fit->build(&all, scratch, &built, error);
    if (result == FLR_OK) result = flr_model_fit_add_path(&built, &scratch->path, error);
    free(scratch);
    if (result != FLR_OK) {
        flr_model_free(&built);
        return result;
    }
    choose_contact(&built, &all);
    choose_camera(&built);
    *model = built;
    return FLR_OK;
}

flr_result flr_model_fit_measure(const flr_model *model, size_t pose, double *distance,
                                 flr_error *error)
{
    flr_gauge_part *fixed = NULL, *moving = NULL;
    flr_result result = flr_gauge_part_create(model->meshes[0].mesh, &fixed, error);
    if (result == FLR_OK) result = flr_gauge_part_create(model->meshes[1].mesh, &moving, error);
    if (result == FLR_OK) {
        flr_gauge_result r;
        flr_gauge_distance(fixed, moving, model->parts[0].T_world_part,
                           model->paths[0].poses[pose].T_world_part, NULL, NULL, &r);
        *distance = r.meet ? 0 : r.upper;
    }
    flr_gauge_part_destroy(fixed);
    flr_gauge_part_destroy(moving);
    return result;
}
