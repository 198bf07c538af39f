/* fit_gears.c: two involute gears in mesh, the smaller one on a post.
 *
 * Module m, pressure angle 20 degrees, addendum m, dedendum 1.25 m. The normal offset of an involute
 * is the same involute turned about its centre: teeth are thinned by turning each flank, half the
 * gap for each gear, and the flanks keep the gap along the line of action on both sides. */

#include "models/fit_kit.h"

enum { STANDING = 24, MOVING = 18 };

static const double cos20 = 0.9396926207859084, tan20 = 0.3639702342662024;

/* metres and turns */
typedef struct gear {
    int teeth;
    double base, root, tip; /* radii */
    double half;            /* half the angle of a tooth at the base circle */
    double first;           /* angle of a tooth's middle */
} gear;

static gear plan(int teeth, double module, double gap, double first)
{
    double pitch = teeth * module / 2, base = pitch * cos20;
    double involute = tan20 - 20.0 / 360 * FLR_TWO_PI; /* radians */
    double half = 0.25 / teeth + (involute - gap / 2 / base) / FLR_TWO_PI;
    return (gear){teeth, base, pitch - 1.25 * module, pitch + module, half, first};
}

/* Half a tooth's angle where the involute has rolled by `t` radians, and the radius there. */
static double roll(const gear *g, double t, double *radius)
{
    *radius = g->base * sqrt(1 + t * t);
    /* the point turns by t - atan(t) from where it left the base circle */
    return g->half - t / FLR_TWO_PI + flr_kit_angle(1, t);
}

static void add_polar(flr_model_fit_curve *curve, double r, double angle)
{
    flr_model_fit_add(curve, r * flr_kit_cos(angle), r * flr_kit_sin(angle));
}

static double cube_root(double a)
{
    double x = 1;
    for (int i = 0; i < 40; i++) x -= (x - a / (x * x)) / 3;
    return x;
}

static void gear_curve(flr_model_fit_curve *curve, const gear *g, double chord, double step)
{
    /* a chord over dt strays by base t dt^2 / 8; the first, from the base circle, where the curve
     * is nearly straight, by base t^3 / 20 */
    double end = sqrt(g->tip * g->tip / (g->base * g->base) - 1);
    double begin = fmin(cube_root(20 * chord / g->base), end / 2);
    int steps = (int)ceil((end - begin) / sqrt(8 * chord / (g->base * end)));
    double radius, foot = g->half + 0.03 / g->teeth, tip = roll(g, end, &radius);
    curve->count = 0, curve->overflow = false;
    for (int k = 0; k < g->teeth; k++) {
        double middle = g->first + (double)k / g->teeth;
        add_polar(curve, g->root, middle - foot);
        add_polar(curve, g->base, middle - g->half);
        for (int i = 0; i <= steps; i++) {
            double angle = roll(g, begin + (end - begin) * i / steps, &radius);
            add_polar(curve, radius, middle - angle);
        }
        flr_model_fit_arc(curve, g->tip, middle - tip, middle + tip, step);
        for (int i = steps; i >= 0; i--) {
            double angle = roll(g, begin + (end - begin) * i / steps, &radius);
            add_polar(curve, radius, middle + angle);
        }
        add_polar(curve, g->base, middle + g->half);
        add_polar(curve, g->root, middle + foot);
        flr_model_fit_arc(curve, g->root, middle + foot, middle + 1.0 / g->teeth - foot, step);
    }
}

/* a gear with a bore whose polygon lies outside of radius `bore` */
static void lay_gear(flr_model_fit_solid *solid, const gear *g, double chord, double bore,
                     double low, double high, flr_model_fit_scratch *s)
{
    gear_curve(&s->a, g, chord, flr_model_fit_step(g->tip, chord));
    flr_model_fit_to_circle(&s->b, &s->a,
                            flr_model_fit_outside(bore, flr_model_fit_largest_step(&s->a)));
    flr_model_fit_begin_bore(solid, &s->a, low);
    flr_model_fit_next(solid, &s->a, high);
    flr_model_fit_next(solid, &s->b, high);
    flr_model_fit_next(solid, &s->b, low);
    flr_model_fit_end_bore(solid);
}

flr_result flr_model_fit_build_gears(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                     flr_model *model, flr_error *error)
{
    enum { GEAR_PATH_STEPS = 24 };
    const double m = o->size, width = 6 * m, post = 3 * m, apart = (STANDING + MOVING) * m / 2;
    /* a tooth towards the other gear, and there a gap between two teeth */
    const gear large = plan(STANDING, m, o->gap, 0);
    const gear small = plan(MOVING, m, o->gap, 0.5 + 0.5 / MOVING);

    /* the large gear, and as a second shell the small one's post */
    flr_model_fit_solid *standing = flr_model_fit_solid_begin();
    if (standing) {
        lay_gear(standing, &large, o->chord, 4 * m, 0, width, s);
        flr_kit_push(&standing->kit, flr_kit_at(apart, 0, 0));
        flr_model_fit_circle(&s->c, post, flr_model_fit_step(post, o->chord));
        flr_model_fit_begin_disc(standing, &s->c, -m);
        flr_model_fit_next(standing, &s->c, width + 2 * m);
        flr_model_fit_end_disc(standing);
        flr_kit_pop(&standing->kit);
    }
    flr_result result = flr_model_fit_add_solid(model, standing, "gear", error);

    if (result == FLR_OK) {
        flr_model_fit_solid *moving = flr_model_fit_solid_begin();
        if (moving) lay_gear(moving, &small, o->chord, post + o->gap, 0, width, s);
        result = flr_model_fit_add_solid(model, moving, "pinion", error);
    }
    for (int i = 0; i <= GEAR_PATH_STEPS; i++)
        flr_model_fit_path_add(&s->path, 2.0 * i / GEAR_PATH_STEPS,
                               flr_kit_at(apart, 0, (width + 4 * m) * i / GEAR_PATH_STEPS));
    return result;
}
