/* fit_kit.h: what the recipes of fits share: rings of points around an axis, and the skin between
 * them.
 *
 * A solid is a sequence of rings with the same number of points, each at its own height. Where two
 * rings at one height have a point in common they share a vertex, so that a shoulder may begin and
 * end along its way round.
 *
 * Mating curves become polygons that lie in their own material: points of an outer surface lie on
 * its circle, points of a bore lie outside of it (flr_model_fit_outside()).
 */
#ifndef FLR_MODELS_FIT_KIT_H
#define FLR_MODELS_FIT_KIT_H

#include "models/fits.h"
#include "models/kit.h"

/* ---- curves ---- */

enum { FLR_FIT_POINTS = 12288 }; /* of a ring */

typedef struct flr_model_fit_curve {
    flr_kit_p2 p[FLR_FIT_POINTS]; /* [count] metres, counter-clockwise, angles rising */
    int count;
    bool overflow;
} flr_model_fit_curve;

/* Turns: the step at which the chord of a circle of radius r strays by `chord`; 1 / step is a
 * multiple of 24. */
double flr_model_fit_step(double r, double chord);
/* The radius of the points of a polygon around a circle of radius r. */
double flr_model_fit_outside(double r, double step);
/* The largest step between neighbours, turns. */
double flr_model_fit_largest_step(const flr_model_fit_curve *curve);

void flr_model_fit_add(flr_model_fit_curve *curve, double x, double y);
/* Points at radius r between two angles, in turns, without the ends. */
void flr_model_fit_arc(flr_model_fit_curve *curve, double r, double from, double to, double step);
/* Of 1 / step points, the first at angle 0. */
void flr_model_fit_circle(flr_model_fit_curve *curve, double r, double step);
/* The points of `like` moved outwards or inwards to a circle of radius r. */
void flr_model_fit_to_circle(flr_model_fit_curve *curve, const flr_model_fit_curve *like, double r);
/* … to a regular polygon of inner radius r, with a corner at angle 0. Where 1 / step of a circle is
 * a multiple of 24, triangle to octagon keep their corners. */
void flr_model_fit_to_polygon(flr_model_fit_curve *curve, const flr_model_fit_curve *like, double r,
                              int sides);

/* `teeth` teeth with parallel flanks, `half` to both sides of their middle; the first one at angle
 * 0. `flat`: their tips are straight, at distance `tip`, else arcs of that radius. */
typedef struct flr_model_fit_teeth {
    int teeth;
    double root, tip, half; /* metres */
    bool flat;
} flr_model_fit_teeth;

void flr_model_fit_teeth_curve(flr_model_fit_curve *curve, const flr_model_fit_teeth *teeth,
                               double step);

/* ---- rings ---- */

typedef struct flr_model_fit_ring {
    flr_kit_p2 p[FLR_FIT_POINTS];
    uint32_t v[FLR_FIT_POINTS];
    int count;
    double z;
} flr_model_fit_ring;

/* A closed solid, ring by ring from the bottom's middle upwards, or for one with a bore round about
 * its section: counter-clockwise, seen with z up and the axis on the left. */
typedef struct flr_model_fit_solid {
    flr_kit kit;
    flr_model_fit_ring first, last;
} flr_model_fit_solid;

/* NULL when memory is short. */
flr_model_fit_solid *flr_model_fit_solid_begin(void);
/* A first ring, with the disc below it: or without, where the solid has a bore. */
void flr_model_fit_begin_disc(flr_model_fit_solid *solid, const flr_model_fit_curve *curve,
                              double z);
void flr_model_fit_begin_bore(flr_model_fit_solid *solid, const flr_model_fit_curve *curve,
                              double z);
/* The next ring, and the skin up to it. */
void flr_model_fit_next(flr_model_fit_solid *solid, const flr_model_fit_curve *curve, double z);
/* Closes with a disc on top, or with the skin back to the first ring. */
void flr_model_fit_end_disc(flr_model_fit_solid *solid);
void flr_model_fit_end_bore(flr_model_fit_solid *solid);
/* Two triangles; where the four are not in one plane, the edge is the one that takes material away. */
void flr_model_fit_quad(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* A loop in the plane of x and z, extruded along y to both sides. */
void flr_model_fit_slab(flr_kit *kit, const flr_kit_p2 *points, int count, double length);

/* ---- models ---- */

/* Adds the solid's mesh as a part: the first one stands still. Frees the solid, NULL included, which
 * fails. */
flr_result flr_model_fit_add_solid(flr_model *model, flr_model_fit_solid *solid, const char *name,
                                   flr_error *error);
flr_result flr_model_fit_add_kit(flr_model *model, flr_kit *kit, const char *name,
                                 flr_error *error);

/* The path of the moving part, "removal". Its first pose is where that part stands. */
enum { FLR_FIT_POSES = 1024 };
typedef struct flr_model_fit_path {
    flr_timed_pose poses[FLR_FIT_POSES];
    int count;
    bool overflow;
} flr_model_fit_path;

void flr_model_fit_path_add(flr_model_fit_path *path, double t, flr_pose T_world_part);
flr_result flr_model_fit_add_path(flr_model *model, const flr_model_fit_path *path,
                                  flr_error *error);

/* Scratch space of a recipe, too large for the stack: three curves at once are enough for all. */
struct flr_model_fit_scratch {
    flr_model_fit_curve a, b, c;
    flr_model_fit_path path; /* empty; the recipe fills it */
};

/* ---- the recipes ---- */

flr_model_fit_recipe flr_model_fit_build_thread, flr_model_fit_build_round_peg,
    flr_model_fit_build_square_peg, flr_model_fit_build_key, flr_model_fit_build_splines,
    flr_model_fit_build_dovetail, flr_model_fit_build_bayonet, flr_model_fit_build_hook,
    flr_model_fit_build_gears;

#endif
