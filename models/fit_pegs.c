/* fit_pegs.c: what comes out straight: round and square pegs, a key, splines, a dovetail. */
#include "models/fit_kit.h"

/* from the assembled pose along `way`: slowly while it is in, then on */
static void add_straight(flr_model_fit_scratch *s, flr_vec3 way)
{
    enum { PEG_PATH_STEPS = 24 };
    for (int i = 0; i <= PEG_PATH_STEPS; i++) {
        double k = (double)i / PEG_PATH_STEPS;
        flr_model_fit_path_add(&s->path, 2 * k, flr_kit_at(k * way.x, k * way.y, k * way.z));
    }
}

/* ---- round peg ---- */

flr_result flr_model_fit_build_round_peg(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                         flr_model *model, flr_error *error)
{
    const double d = o->size, r = d / 2, high = 1.5 * d, bevel = 0.06 * d;
    const double step = flr_model_fit_step(r + o->gap, o->chord),
                 bore = flr_model_fit_outside(r + o->gap, step);

    /* a block with a hole through it, bevelled at the top */
    flr_model_fit_solid *block = flr_model_fit_solid_begin();
    flr_model_fit_circle(&s->a, bore, step);
    flr_model_fit_to_polygon(&s->b, &s->a, 1.2 * d, 4);
    flr_model_fit_to_circle(&s->c, &s->a, bore + bevel);
    flr_model_fit_begin_bore(block, &s->b, 0);
    flr_model_fit_next(block, &s->b, high);
    flr_model_fit_next(block, &s->c, high);
    flr_model_fit_next(block, &s->a, high - bevel);
    flr_model_fit_next(block, &s->a, 0);
    flr_model_fit_end_bore(block);
    flr_result result = flr_model_fit_add_solid(model, block, "block", error);

    if (result == FLR_OK) {
        flr_model_fit_solid *peg = flr_model_fit_solid_begin();
        flr_model_fit_circle(&s->a, r, step);
        flr_model_fit_to_circle(&s->b, &s->a, r - bevel);
        flr_model_fit_begin_disc(peg, &s->b, -0.5 * d);
        flr_model_fit_next(peg, &s->a, -0.5 * d + bevel);
        flr_model_fit_next(peg, &s->a, 3 * d - bevel);
        flr_model_fit_next(peg, &s->b, 3 * d);
        flr_model_fit_end_disc(peg);
        result = flr_model_fit_add_solid(model, peg, "peg", error);
    }
    add_straight(s, v3(0, 0, 2.6 * d));
    return result;
}

/* ---- square peg ---- */

flr_result flr_model_fit_build_square_peg(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                          flr_model *model, flr_error *error)
{
    const double d = o->size, high = 1.5 * d;
    /* few points: eight rays, four of them through the corners */
    flr_model_fit_solid *block = flr_model_fit_solid_begin();
    flr_model_fit_circle(&s->c, 1, 1.0 / 8);
    flr_model_fit_to_polygon(&s->a, &s->c, d / 2 + o->gap, 4);
    flr_model_fit_to_polygon(&s->b, &s->c, 1.2 * d, 4);
    flr_model_fit_begin_bore(block, &s->b, 0);
    flr_model_fit_next(block, &s->b, high);
    flr_model_fit_next(block, &s->a, high);
    flr_model_fit_next(block, &s->a, 0);
    flr_model_fit_end_bore(block);
    flr_result result = flr_model_fit_add_solid(model, block, "block", error);

    if (result == FLR_OK) {
        flr_kit kit = flr_kit_begin(1);
        flr_kit_box(&kit, flr_kit_turn_z(flr_kit_at(0, 0, 1.25 * d), 0.125), d, d, 3.5 * d, 0);
        result = flr_model_fit_add_kit(model, &kit, "peg", error);
    }
    add_straight(s, v3(0, 0, 2.6 * d));
    return result;
}

/* ---- a shaft with teeth in its hub ---- */

typedef struct shaft_shape {
    flr_model_fit_teeth teeth; /* of the shaft */
    double hub, length;        /* outer radius; how long the hub is */
} shaft_shape;

static flr_result build_shaft(const flr_model_fit_options *o, const shaft_shape *shape,
                              flr_model_fit_scratch *s, flr_model *model, flr_error *error)
{
    const flr_model_fit_teeth *teeth = &shape->teeth;
    const double step = flr_model_fit_step(teeth->tip + o->gap, o->chord);

    flr_model_fit_teeth slots = *teeth;
    slots.half += o->gap;
    slots.root = flr_model_fit_outside(teeth->root + o->gap, step);
    slots.tip =
        teeth->flat ? teeth->tip + o->gap : flr_model_fit_outside(teeth->tip + o->gap, step);
    flr_model_fit_solid *hub = flr_model_fit_solid_begin();
    flr_model_fit_teeth_curve(&s->a, &slots, step);
    flr_model_fit_to_circle(&s->b, &s->a, shape->hub);
    flr_model_fit_begin_bore(hub, &s->b, 0);
    flr_model_fit_next(hub, &s->b, shape->length);
    flr_model_fit_next(hub, &s->a, shape->length);
    flr_model_fit_next(hub, &s->a, 0);
    flr_model_fit_end_bore(hub);
    flr_result result = flr_model_fit_add_solid(model, hub, "hub", error);

    if (result == FLR_OK) {
        flr_model_fit_solid *shaft = flr_model_fit_solid_begin();
        flr_model_fit_teeth_curve(&s->a, teeth, step);
        flr_model_fit_begin_disc(shaft, &s->a, -0.3 * shape->length);
        flr_model_fit_next(shaft, &s->a, 1.8 * shape->length);
        flr_model_fit_end_disc(shaft);
        result = flr_model_fit_add_solid(model, shaft, "shaft", error);
    }
    add_straight(s, v3(0, 0, 1.6 * shape->length));
    return result;
}

/* proportions of DIN 6885: key 0.3 d wide, 0.14 d deep in the hub */
flr_result flr_model_fit_build_key(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                   flr_model *model, flr_error *error)
{
    const double d = o->size;
    const shaft_shape shape = {
        .teeth = {.teeth = 1, .root = d / 2, .tip = 0.64 * d, .half = 0.15 * d, .flat = true},
        .hub = 0.95 * d,
        .length = d};
    return build_shaft(o, &shape, s, model, error);
}

/* proportions of ISO 14: six teeth, 0.8 D at the root, 0.2 D wide */
flr_result flr_model_fit_build_splines(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                       flr_model *model, flr_error *error)
{
    const double d = o->size;
    const shaft_shape shape = {
        .teeth = {.teeth = 6, .root = 0.4 * d, .tip = 0.5 * d, .half = 0.1 * d},
        .hub = 0.75 * d,
        .length = d};
    return build_shaft(o, &shape, s, model, error);
}

/* ---- dovetail ---- */

/* Flanks of 60 degrees; z = 0 is the top of the base. */
flr_result flr_model_fit_build_dovetail(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                        flr_model *model, flr_error *error)
{
    const double w = o->size, g = o->gap, deep = 0.35 * w, sin60 = 0.8660254037844386;
    const double slope = 0.5773502691896257; /* of a flank: across per height */
    /* the tail: half of w wide at its bottom; the groove's flanks are `aside` farther out */
    const double wide = w / 2, neck = wide - slope * deep, aside = g / sin60;
    const double low = -deep - g; /* the groove's bottom */

    flr_kit kit = flr_kit_begin(1);
    const double at_top = neck + aside, at_low = at_top - slope * low;
    const flr_kit_p2 base[] = {{-w, -0.8 * w}, {w, -0.8 * w},  {w, 0},       {at_top, 0},
                               {at_low, low},  {-at_low, low}, {-at_top, 0}, {-w, 0}};
    flr_model_fit_slab(&kit, base, 8, 2 * w);
    flr_result result = flr_model_fit_add_kit(model, &kit, "base", error);

    if (result == FLR_OK) {
        kit = flr_kit_begin(1);
        /* the slide's plate runs g above the base */
        const double foot = neck - slope * g, plate = 0.9 * w, top = g + 0.3 * w;
        const flr_kit_p2 slide[] = {{-wide, -deep}, {wide, -deep}, {foot, g},   {plate, g},
                                    {plate, top},   {-plate, top}, {-plate, g}, {-foot, g}};
        flr_model_fit_slab(&kit, slide, 8, 1.6 * w);
        result = flr_model_fit_add_kit(model, &kit, "slide", error);
    }
    add_straight(s, v3(0, -2.2 * w, 0));
    return result;
}
