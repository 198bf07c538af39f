/* fit_turning.c: what must turn before it comes out: a bayonet, a hook. */
#include "models/fit_kit.h"

/* ---- bayonet: three lugs in a groove below a lip with three slots ---- */

typedef struct bayonet {
    flr_model_fit_teeth lugs, slots;
    double step;               /* turns */
    double d, outer;           /* diameter of the plug, radius of the socket */
    double groove, lip, top;   /* z of the groove's bottom, of the lip's underside and top */
    double lug_low, lug_high;  /* z when assembled */
    double plug_low, plug_top; /* likewise */
} bayonet;

static bayonet plan_bayonet(const flr_model_fit_options *o)
{
    const double d = o->size, g = o->gap;
    bayonet b = {.d = d, .outer = 0.85 * d};
    b.lugs = (flr_model_fit_teeth){.teeth = 3, .root = d / 2, .tip = 0.62 * d, .half = 0.12 * d};
    b.step = flr_model_fit_step(b.lugs.tip + g, o->chord);
    b.slots = b.lugs;
    b.slots.half += g;
    b.slots.root = flr_model_fit_outside(b.lugs.root + g, b.step);
    b.slots.tip = flr_model_fit_outside(b.lugs.tip + g, b.step);
    b.groove = 0.3 * d;
    b.lug_low = b.groove + g;
    b.lug_high = b.lug_low + 0.2 * d;
    b.lip = b.lug_high + g;
    b.top = b.lip + 0.25 * d;
    b.plug_low = 0.05 * d;
    b.plug_top = b.top + 0.15 * d;
    return b;
}

static flr_result add_socket(flr_model *model, const bayonet *b, flr_model_fit_scratch *s,
                             flr_error *error)
{
    flr_model_fit_solid *socket = flr_model_fit_solid_begin();
    flr_model_fit_teeth_curve(&s->a, &b->slots, b->step);
    flr_model_fit_to_circle(&s->b, &s->a, b->outer);
    flr_model_fit_begin_bore(socket, &s->b, 0);
    flr_model_fit_next(socket, &s->b, b->top);
    flr_model_fit_next(socket, &s->a, b->top);
    flr_model_fit_next(socket, &s->a, b->lip);
    flr_model_fit_to_circle(&s->b, &s->a, b->slots.tip);
    flr_model_fit_next(socket, &s->b, b->lip);
    flr_model_fit_next(socket, &s->b, b->groove);
    flr_model_fit_to_circle(&s->b, &s->a, b->slots.root);
    flr_model_fit_next(socket, &s->b, b->groove);
    flr_model_fit_next(socket, &s->b, 0);
    flr_model_fit_end_bore(socket);
    return flr_model_fit_add_solid(model, socket, "socket", error);
}

static flr_result add_plug(flr_model *model, const bayonet *b, flr_model_fit_scratch *s,
                           flr_error *error)
{
    flr_model_fit_solid *plug = flr_model_fit_solid_begin();
    flr_model_fit_teeth_curve(&s->a, &b->lugs, b->step);
    flr_model_fit_to_circle(&s->b, &s->a, b->lugs.root);
    flr_model_fit_begin_disc(plug, &s->b, b->plug_low);
    flr_model_fit_next(plug, &s->b, b->lug_low);
    flr_model_fit_next(plug, &s->a, b->lug_low);
    flr_model_fit_next(plug, &s->a, b->lug_high);
    flr_model_fit_next(plug, &s->b, b->lug_high);
    flr_model_fit_next(plug, &s->b, b->plug_top);
    /* a knob to hold it */
    flr_model_fit_to_circle(&s->c, &s->a, b->outer);
    flr_model_fit_next(plug, &s->c, b->plug_top);
    flr_model_fit_next(plug, &s->c, b->plug_top + 0.5 * b->d);
    flr_model_fit_end_disc(plug);
    return flr_model_fit_add_solid(model, plug, "plug", error);
}

flr_result flr_model_fit_build_bayonet(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                       flr_model *model, flr_error *error)
{
    enum { STEPS = 12 };
    bayonet b = plan_bayonet(o);
    flr_result result = add_socket(model, &b, s, error);
    if (result == FLR_OK) result = add_plug(model, &b, s, error);
    /* a sixth of a turn, then up */
    for (int i = 0; i <= STEPS; i++)
        flr_model_fit_path_add(&s->path, (double)i / STEPS,
                               flr_kit_turn_z(flr_kit_at(0, 0, 0), (1 - (double)i / STEPS) / 6));
    double up = b.top - b.plug_low + 0.3 * b.d;
    for (int i = 1; i <= STEPS; i++)
        flr_model_fit_path_add(&s->path, 1 + (double)i / STEPS, flr_kit_at(0, 0, up * i / STEPS));
    return result;
}

/* ---- hook: a flattened nose in a round socket with a narrow mouth ----
 *
 * Tilted by 40 degrees the nose's flats pass between the lips of the mouth; untilted it is caught.
 * All in the plane of x and z around the nose's centre, its radius 1: */

static const double flat = 0.7;     /* of the nose, from its centre */
static const double arm_half = 0.3; /* half the width of the arm, which leaves the nose … */
static const double arm_angle = 20.0 / 360; /* … in this direction from the flats, turns */
static const double arm_length = 5;
static const double tilt = 40.0 / 360; /* turns */

static flr_kit_p2 turned(double x, double y, double turns)
{
    double c = flr_kit_cos(turns), s = flr_kit_sin(turns);
    return (flr_kit_p2){c * x - s * y, s * x + c * y};
}

static void add_point(flr_model_fit_curve *curve, flr_kit_p2 p)
{
    flr_model_fit_add(curve, p.x, p.y);
}

/* a block with the socket, open towards +x */
static void catch_curve(flr_model_fit_curve *curve, double r, double gap, double step)
{
    const double round = flr_model_fit_outside(r + gap, step), mouth = flat * r + gap;
    const double lip = sqrt(round * round - mouth * mouth), angle = flr_kit_angle(lip, mouth);
    const double back = -1.6 * r, front = lip + 0.5 * r, side = mouth + 1.2 * r;
    curve->count = 0, curve->overflow = false;
    flr_model_fit_add(curve, back, -side);
    flr_model_fit_add(curve, front, -side);
    flr_model_fit_add(curve, front, -mouth - 0.5 * r);
    flr_model_fit_add(curve, lip, -mouth);
    /* clockwise round the back */
    int steps = (int)ceil((1 - 2 * angle) / step);
    for (int i = 1; i < steps; i++) {
        double a = -angle - (1 - 2 * angle) * i / steps;
        flr_model_fit_add(curve, round * flr_kit_cos(a), round * flr_kit_sin(a));
    }
    flr_model_fit_add(curve, lip, mouth);
    flr_model_fit_add(curve, front, mouth + 0.5 * r);
    flr_model_fit_add(curve, front, side);
    flr_model_fit_add(curve, back, side);
}

/* the hook as it comes out: flats along x */
static void hook_curve(flr_model_fit_curve *curve, double r, double step)
{
    const double edge = sqrt(1 - flat * flat), corner = flr_kit_angle(edge, flat);
    const double foot = sqrt(1 - arm_half * arm_half), spread = flr_kit_angle(foot, arm_half);
    const double plate = 3 * arm_half;
    curve->count = 0, curve->overflow = false;
    flr_model_fit_add(curve, edge * r, -flat * r);
    flr_model_fit_arc(curve, r, -corner, arm_angle - spread, step);
    /* the arm, and a plate at its end */
    const double section[][2] = {{foot, -arm_half},
                                 {arm_length, -arm_half},
                                 {arm_length, -plate},
                                 {arm_length + 2 * arm_half, -plate}};
    for (int i = 0; i < 4; i++)
        add_point(curve, turned(r * section[i][0], r * section[i][1], arm_angle));
    for (int i = 3; i >= 0; i--)
        add_point(curve, turned(r * section[i][0], -r * section[i][1], arm_angle));
    flr_model_fit_arc(curve, r, arm_angle + spread, corner, step);
    flr_model_fit_add(curve, edge * r, flat * r);
    flr_model_fit_add(curve, -edge * r, flat * r);
    flr_model_fit_arc(curve, r, 0.5 - corner, 0.5 + corner, step);
    flr_model_fit_add(curve, -edge * r, -flat * r);
}

static flr_result add_slab(flr_model *model, const flr_model_fit_curve *curve, double length,
                           const char *name, flr_error *error)
{
    flr_kit kit = flr_kit_begin(1);
    if (curve->overflow)
        flr_kit_fail(&kit, FLR_TOO_LARGE, "too many points; allow a larger chord error");
    flr_model_fit_slab(&kit, curve->p, curve->count, length);
    return flr_model_fit_add_kit(model, &kit, name, error);
}

flr_result flr_model_fit_build_hook(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                    flr_model *model, flr_error *error)
{
    enum { STEPS = 10 };
    const double r = o->size / 2, step = flr_model_fit_step(r + o->gap, o->chord);
    catch_curve(&s->a, r, o->gap, step);
    hook_curve(&s->b, r, step);
    flr_result result = add_slab(model, &s->a, 3 * r, "catch", error);
    if (result == FLR_OK) result = add_slab(model, &s->b, 2 * r, "hook", error);
    for (int i = 0; i <= STEPS; i++)
        flr_model_fit_path_add(&s->path, (double)i / STEPS,
                               flr_kit_turn_y(flr_kit_at(0, 0, 0), tilt * (1 - (double)i / STEPS)));
    for (int i = 1; i <= STEPS; i++)
        flr_model_fit_path_add(&s->path, 1 + (double)i / STEPS,
                               flr_kit_at(3.2 * r * i / STEPS, 0, 0));
    return result;
}
