/* fit_kit.c: curves, rings and the skin between them. */
#include "models/fit_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves ---- */

double flr_model_fit_step(double r, double chord)
{
    /* n sides stray by r (1 - cos(pi/n)), about r (pi/n)^2 / 2 */
    double n = FLR_PI * sqrt(r / (2 * chord));
    return 1 / (24 * ceil(fmax(n, 24) / 24));
}

double flr_model_fit_outside(double r, double step) { return r / flr_kit_cos(step / 2); }

/* the angle from a to b, turns: positive, less than a whole turn */
static double between(flr_kit_p2 a, flr_kit_p2 b)
{
    return flr_kit_angle(a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x);
}

double flr_model_fit_largest_step(const flr_model_fit_curve *curve)
{
    double largest = 0;
    for (int i = 0; i < curve->count; i++)
        largest = fmax(largest, between(curve->p[i], curve->p[(i + 1) % curve->count]));
    return largest;
}

void flr_model_fit_add(flr_model_fit_curve *curve, double x, double y)
{
    if (curve->count == FLR_FIT_POINTS) {
        curve->overflow = true;
        return;
    }
    curve->p[curve->count++] = (flr_kit_p2){x, y};
}

void flr_model_fit_arc(flr_model_fit_curve *curve, double r, double from, double to, double step)
{
    int steps = (int)ceil((to - from) / step - 1e-9);
    for (int i = 1; i < steps; i++) {
        double a = from + (to - from) * i / steps;
        flr_model_fit_add(curve, r * flr_kit_cos(a), r * flr_kit_sin(a));
    }
}

void flr_model_fit_circle(flr_model_fit_curve *curve, double r, double step)
{
    int count = (int)(1 / step + 0.5);
    curve->count = 0, curve->overflow = false;
    for (int i = 0; i < count; i++) {
        double a = (double)i / count;
        flr_model_fit_add(curve, r * flr_kit_cos(a), r * flr_kit_sin(a));
    }
}

void flr_model_fit_to_circle(flr_model_fit_curve *curve, const flr_model_fit_curve *like, double r)
{
    curve->count = 0, curve->overflow = like->overflow;
    for (int i = 0; i < like->count; i++) {
        flr_kit_p2 p = like->p[i];
        double length = sqrt(p.x * p.x + p.y * p.y);
        /* points that are on the circle stay as they are, to the bit: rings share them */
        double k = fabs(length - r) < 1e-12 ? 1 : r / length;
        flr_model_fit_add(curve, k * p.x, k * p.y);
    }
}

void flr_model_fit_to_polygon(flr_model_fit_curve *curve, const flr_model_fit_curve *like, double r,
                              int sides)
{
    curve->count = 0, curve->overflow = like->overflow;
    for (int i = 0; i < like->count; i++) {
        flr_kit_p2 p = like->p[i];
        double length = sqrt(p.x * p.x + p.y * p.y), reach = 0;
        /* the side that the ray meets first */
        for (int k = 0; k < sides; k++) {
            double a = (k + 0.5) / sides;
            reach = fmax(reach, (p.x * flr_kit_cos(a) + p.y * flr_kit_sin(a)) / length);
        }
        double k = r / reach / length;
        flr_model_fit_add(curve, k * p.x, k * p.y);
    }
}

/* a point of a tooth's own frame, its middle along x */
static void add_turned(flr_model_fit_curve *curve, double x, double y, double turns)
{
    double c = flr_kit_cos(turns), s = flr_kit_sin(turns);
    flr_model_fit_add(curve, c * x - s * y, s * x + c * y);
}

/* points of a flank at height y between two angles, without the ends: rings that have the same
 * angles may be mating circles */
static void add_flank(flr_model_fit_curve *curve, double y, double from, double to, double step,
                      double turns)
{
    int steps = (int)ceil(fabs(to - from) / step - 1e-9);
    for (int i = 1; i < steps; i++) {
        double a = from + (to - from) * i / steps;
        add_turned(curve, y * flr_kit_cos(a) / flr_kit_sin(a), y, turns);
    }
}

void flr_model_fit_teeth_curve(flr_model_fit_curve *curve, const flr_model_fit_teeth *t,
                               double step)
{
    curve->count = 0, curve->overflow = false;
    double foot = sqrt(t->root * t->root - t->half * t->half);
    double top = t->flat ? t->tip : sqrt(t->tip * t->tip - t->half * t->half);
    double foot_angle = flr_kit_angle(foot, t->half), top_angle = flr_kit_angle(top, t->half);
    int steps = (int)ceil(2 * top_angle / step - 1e-9);
    for (int k = 0; k < t->teeth; k++) {
        double at = (double)k / t->teeth;
        add_turned(curve, foot, -t->half, at);
        add_flank(curve, -t->half, -foot_angle, -top_angle, step, at);
        add_turned(curve, top, -t->half, at);
        for (int i = 1; i < steps; i++) {
            double a = top_angle * (2.0 * i / steps - 1), c = flr_kit_cos(a);
            double r = t->flat ? t->tip / c : t->tip;
            add_turned(curve, r * c, r * flr_kit_sin(a), at);
        }
        add_turned(curve, top, t->half, at);
        add_flank(curve, t->half, top_angle, foot_angle, step, at);
        add_turned(curve, foot, t->half, at);
        flr_model_fit_arc(curve, t->root, at + foot_angle, at + 1.0 / t->teeth - foot_angle, step);
    }
}

/* ---- rings ---- */

flr_model_fit_solid *flr_model_fit_solid_begin(void)
{
    flr_model_fit_solid *solid = calloc(1, sizeof *solid);
    if (solid) solid->kit = flr_kit_begin(1);
    return solid;
}

static void lay_ring(flr_model_fit_solid *solid, const flr_model_fit_curve *curve, double z,
                     const flr_model_fit_ring *below, flr_model_fit_ring *ring)
{
    if (curve->overflow)
        flr_kit_fail(&solid->kit, FLR_TOO_LARGE, "too many points; allow a larger chord error");
    ring->count = curve->count;
    ring->z = z;
    memcpy(ring->p, curve->p, (size_t)curve->count * sizeof *ring->p);
    for (int i = 0; i < ring->count; i++) {
        flr_kit_p2 p = ring->p[i];
        bool same = below && below->z == z && below->p[i].x == p.x && below->p[i].y == p.y;
        ring->v[i] = same ? below->v[i] : flr_kit_vertex(&solid->kit, v3(p.x, p.y, z));
    }
}

static void triangle(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c)
{
    if (a != b && b != c && c != a) flr_kit_triangle(kit, a, b, c);
}

void flr_model_fit_quad(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    if (kit->result != FLR_OK) return;
    flr_vec3 pa = kit->vertices[a], pb = kit->vertices[b];
    flr_vec3 pc = kit->vertices[c], pd = kit->vertices[d];
    flr_vec3 ac = v3_sub(pc, pa), bd = v3_sub(pd, pb), out = v3_cross(ac, bd);
    /* twice from the middle of bd to that of ac: outwards, the edge bd lies deeper */
    flr_vec3 apart = v3_sub(v3_add(pa, pc), v3_add(pb, pd));
    bool along_bd = v3_dot(apart, out) > 1e-9 * v3_length(ac) * v3_length(out);
    if (along_bd) {
        triangle(kit, a, b, d);
        triangle(kit, b, c, d);
    } else {
        triangle(kit, a, b, c);
        triangle(kit, a, c, d);
    }
}

static void skin(flr_kit *kit, const flr_model_fit_ring *lower, const flr_model_fit_ring *upper)
{
    if (lower->count != upper->count)
        flr_kit_fail(kit, FLR_BAD_ARGUMENT, "two rings have different numbers of points");
    for (int i = 0; i < lower->count && kit->result == FLR_OK; i++) {
        int j = (i + 1) % lower->count;
        flr_model_fit_quad(kit, lower->v[i], lower->v[j], upper->v[j], upper->v[i]);
    }
}

static void disc(flr_kit *kit, const flr_model_fit_ring *ring, bool up)
{
    uint32_t middle = flr_kit_vertex(kit, v3(0, 0, ring->z));
    for (int i = 0; i < ring->count; i++) {
        uint32_t a = ring->v[i], b = ring->v[(i + 1) % ring->count];
        flr_kit_triangle(kit, middle, up ? a : b, up ? b : a);
    }
}

void flr_model_fit_begin_bore(flr_model_fit_solid *solid, const flr_model_fit_curve *curve,
                              double z)
{
    if (!solid) return;
    lay_ring(solid, curve, z, NULL, &solid->first);
    solid->last = solid->first;
}

void flr_model_fit_begin_disc(flr_model_fit_solid *solid, const flr_model_fit_curve *curve,
                              double z)
{
    if (!solid) return;
    flr_model_fit_begin_bore(solid, curve, z);
    disc(&solid->kit, &solid->first, false);
}

void flr_model_fit_next(flr_model_fit_solid *solid, const flr_model_fit_curve *curve, double z)
{
    if (!solid) return;
    flr_model_fit_ring *next = malloc(sizeof *next);
    if (!next) {
        flr_kit_fail(&solid->kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return;
    }
    lay_ring(solid, curve, z, &solid->last, next);
    skin(&solid->kit, &solid->last, next);
    memcpy(&solid->last, next, sizeof *next);
    free(next);
}

void flr_model_fit_end_disc(flr_model_fit_solid *solid)
{
    if (solid) disc(&solid->kit, &solid->last, true);
}

void flr_model_fit_end_bore(flr_model_fit_solid *solid)
{
    if (solid) skin(&solid->kit, &solid->last, &solid->first);
}

void flr_model_fit_slab(flr_kit *kit, const flr_kit_p2 *points, int count, double length)
{
    flr_kit_outline outline = {0};
    for (int i = 0; i < count; i++) flr_outline_point(&outline, points[i].x, points[i].y);
    flr_outline_close(&outline);
    flr_kit_prism(kit, flr_kit_turn_x(flr_kit_at(0, length / 2, 0), 0.25), &outline, length);
}

/* ---- models ---- */

flr_result flr_model_fit_add_kit(flr_model *model, flr_kit *kit, const char *name, flr_error *error)
{
    char file[FLR_MODEL_NAME_SIZE];
    snprintf(file, sizeof file, "%s.stl", name);
    flr_scene_part part = flr_default_scene_part();
    part.name = name, part.file = file;
    part.moving = model->part_count > 0;
    part.colour = part.moving ? 0xd9772b : 0x8a97a8;
    return flr_model_add_kit(model, kit, &part, error);
}

flr_result flr_model_fit_add_solid(flr_model *model, flr_model_fit_solid *solid, const char *name,
                                   flr_error *error)
{
    if (!solid) return flr_fail(error, FLR_NO_MEMORY, "out of memory while building a fit");
    flr_result result = flr_model_fit_add_kit(model, &solid->kit, name, error);
    free(solid);
    return result;
}

void flr_model_fit_path_add(flr_model_fit_path *path, double t, flr_pose T_world_part)
{
    if (path->count == FLR_FIT_POSES)
        path->overflow = true;
    else
        path->poses[path->count++] = (flr_timed_pose){t, T_world_part};
}

flr_result flr_model_fit_add_path(flr_model *model, const flr_model_fit_path *path,
                                  flr_error *error)
{
    if (path->overflow || model->part_count < 2)
        return flr_fail(error, FLR_TOO_LARGE, "the removal path of this fit is too long");
    flr_scene_part *moving = &model->parts[1];
    moving->T_world_part = path->poses[0].T_world_part;
    return flr_model_add_path(model, "removal.txt", "removal", moving->name, path->poses,
                              (size_t)path->count, error);
}
