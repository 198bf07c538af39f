/* probes.c: models to be touched with the tip of a probe (H-COLLIDE 1999, tables 1 to 5).
 *
 * Five closed models of 5, 7, 12, 18 and 79 thousand triangles, with the character of the paper's:
 * a man's symbol, a man with a hat, a scanned surface, an off-road car, a butterfly.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/kit.h"
#include "models/scenarios.h"

static const double mm = 1e-3;

/* lies in the x, z plane, y to the back: for outlines that are seen from the front */
static flr_pose standing(double x, double y, double z)
{
    return flr_kit_frame(v3(x, y, z), v3(0, -1, 0), v3(1, 0, 0));
}

/* an outline from corners in millimetres */
static void corners_mm(const flr_kit *kit, flr_kit_outline *o, const flr_kit_corner *c, int count)
{
    flr_kit_corner scaled[40];
    for (int i = 0; i < count; i++)
        scaled[i] = (flr_kit_corner){c[i].x * mm, c[i].y * mm, c[i].r * mm};
    flr_outline_corners(kit, o, scaled, count);
}

/* a rod with round ends between points in millimetres, r at the start, r_end at the end */
static void limb(flr_kit *kit, flr_vec3 from, flr_vec3 to, double r, double r_end)
{
    enum { PROBES_STEPS = 4, PROBES_SIDES = 16 };
    flr_vec3 path[2 * PROBES_STEPS + 2];
    double scale[2 * PROBES_STEPS + 2];
    flr_vec3 a = v3_mul(from, mm), b = v3_mul(to, mm), along = v3_unit(v3_sub(b, a));
    int n = 0;
    /* a quarter circle at each end, but not its pole: the caps close it */
    for (int i = 1; i <= PROBES_STEPS; i++, n++) {
        double q = 0.25 * i / PROBES_STEPS;
        path[n] = v3_sub(a, v3_mul(along, r * mm * flr_kit_cos(q)));
        scale[n] = r * flr_kit_sin(q);
    }
    for (int i = PROBES_STEPS; i >= 1; i--, n++) {
        double q = 0.25 * i / PROBES_STEPS;
        path[n] = v3_add(b, v3_mul(along, r_end * mm * flr_kit_cos(q)));
        scale[n] = r_end * flr_kit_sin(q);
    }
    flr_kit_outline o = {0};
    for (int i = 0; i < PROBES_SIDES; i++)
        flr_outline_point(&o, mm * flr_kit_cos(i / (double)PROBES_SIDES),
                          mm * flr_kit_sin(i / (double)PROBES_SIDES));
    flr_outline_close(&o);
    flr_kit_sweep(kit, path, n, v3_across(along), &o, scale);
}

/* ---- 5k: a man's symbol ---- */

static void man_symbol(flr_kit *kit)
{
    const flr_kit_corner c[] = {{-20, 92, 8}, {-24, 48, 4}, {-16, 48, 4},  {-12, 78, 1},
                                {-12, 0, 4},  {-2, 0, 4},   {-1.5, 44, 1}, {1.5, 44, 1},
                                {2, 0, 4},    {12, 0, 4},   {12, 78, 1},   {16, 48, 4},
                                {24, 48, 4},  {20, 92, 8}};
    flr_kit_outline o = {0};
    corners_mm(kit, &o, c, 14);
    flr_kit_prism(kit, standing(0, 7 * mm, 0), &o, 14 * mm);
    flr_kit_sphere(kit, flr_kit_at(0, 0, 106 * mm), 11 * mm);
}

/* ---- 7k: a man with a hat ---- */

static void man_with_hat(flr_kit *kit)
{
    for (int side = -1; side <= 1; side += 2) {
        double s = side;
        limb(kit, v3(s * 8, 0, 52), v3(s * 11, -3, 28), 7.5, 5.5); /* thigh, shin, foot */
        limb(kit, v3(s * 11, -3, 28), v3(s * 12, 1, 6), 5.5, 4);
        limb(kit, v3(s * 12, 2, 4), v3(s * 14, -11, 3.5), 4.2, 3.4);
        limb(kit, v3(s * 17, 0, 84), v3(s * 26, -2, 64), 5.5, 4.2); /* arm, forearm, hand */
        limb(kit, v3(s * 26, -2, 64), v3(s * 20, -18, 54), 4.2, 3);
        limb(kit, v3(s * 20, -19, 53), v3(s * 18, -24, 52), 3.6, 3);
    }
    limb(kit, v3(0, 0, 54), v3(0, 0, 66), 14, 12); /* hips, chest, shoulders, neck, nose */
    limb(kit, v3(0, 0, 66.5), v3(0, 0, 80), 11.8, 15);
    limb(kit, v3(-16, 0, 85), v3(16, 0, 85), 6, 6);
    limb(kit, v3(0, 0, 88), v3(0, 0, 98), 5, 5);
    flr_kit_sphere(kit, flr_kit_at(0, 0, 106 * mm), 10.5 * mm);
    limb(kit, v3(0, -10, 106), v3(0, -12, 104), 1.6, 2);

    /* the hat: a brim that curls, a dented crown */
    const flr_kit_corner hat[] = {{0, 108, 0},      {11, 108, 1},   {17, 109.5, 2}, {22, 113, 0},
                                  {21.6, 114.2, 0}, {16.5, 111, 2}, {11.6, 110, 1}, {10.4, 123, 3},
                                  {6, 125, 2},      {3, 121, 2},    {0, 120.4, 0}};
    flr_kit_outline o = {0};
    corners_mm(kit, &o, hat, 11);
    flr_kit_revolve(kit, flr_kit_turn_x(flr_kit_at(0, 0, 0), 0.01), &o, 34);
}

/* ---- 12k: a scanned surface ---- */

typedef struct bump {
    double x, y, width, height;
} bump;

static void nano_surface(flr_kit *kit)
{
    enum { N = 74, BUMPS = 40 };
    const double size = 120 * mm, base = -14 * mm;
    bump bumps[BUMPS];
    for (int i = 0; i < BUMPS; i++) {
        bump *b = &bumps[i];
        b->width = flr_kit_random(kit, 3 * mm, 14 * mm);
        b->x = flr_kit_random(kit, 0, size);
        b->y = flr_kit_random(kit, 0, size);
        b->height = b->width * flr_kit_random(kit, -0.5, 1.1);
    }
    /* the top, sampled on a grid as a microscope scans: hills, pits, a step and a fine ripple */
    uint32_t top[N + 1][N + 1];
    for (int j = 0; j <= N; j++)
        for (int i = 0; i <= N; i++) {
            double x = size * i / N, y = size * j / N;
            double z = 0.6 * mm * flr_kit_sin(5.0 * i / N + 2.0 * j / N);
            for (int k = 0; k < BUMPS; k++) {
                double dx = (x - bumps[k].x) / bumps[k].width,
                       dy = (y - bumps[k].y) / bumps[k].width;
                double f = 1 / (1 + dx * dx + dy * dy);
                z += bumps[k].height * f * f;
            }
            if (x + 0.4 * y > 0.8 * size) z += 3 * mm;
            top[j][i] = flr_kit_vertex(kit, v3(x - size / 2, y - size / 2, z));
        }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            flr_kit_quad(kit, top[j][i], top[j][i + 1], top[j + 1][i + 1], top[j + 1][i]);

    /* the border from above, counter-clockwise; walls, and a fan below */
    uint32_t middle = flr_kit_vertex(kit, v3(0, 0, base));
    uint32_t first_low = 0, low = 0, high = 0;
    for (int k = 0; k <= 4 * N; k++) {
        int side = k % (4 * N) / N, at = k % N;
        int i = side == 0 ? at : side == 1 ? N : side == 2 ? N - at : 0;
        int j = side == 0 ? 0 : side == 1 ? at : side == 2 ? N : N - at;
        uint32_t next_high = top[j][i];
        uint32_t next_low = first_low;
        if (k < 4 * N)
            next_low =
                flr_kit_vertex(kit, v3(size * i / N - size / 2, size * j / N - size / 2, base));
        if (k == 0) {
            first_low = next_low;
        } else {
            flr_kit_quad(kit, low, next_low, next_high, high);
            flr_kit_triangle(kit, middle, next_low, low);
        }
        low = next_low;
        high = next_high;
    }
}

/* ---- 18k: an off-road car ---- */

static void wheel(flr_kit *kit, double x, double y, double z, double out)
{
    flr_pose at = flr_kit_frame(v3(x * mm, y * mm, z * mm), v3(0, out, 0), v3(0, 0, 1));
    flr_kit_outline o;
    flr_outline_clear(&o);
    for (int i = 0; i < 26; i++) { /* the tread */
        const double part[4] = {0, 0.42, 0.5, 0.92}, radius[4] = {14.6, 14.6, 15.8, 15.8};
        for (int k = 0; k < 4; k++) {
            double a = (i + part[k]) / 26;
            flr_outline_point(&o, radius[k] * mm * flr_kit_cos(a), radius[k] * mm * flr_kit_sin(a));
        }
    }
    flr_outline_close(&o);
    flr_outline_circle(kit, &o, 0, 0, 9.5 * mm);
    flr_kit_prism(kit, flr_kit_shift(at, 0, 0, -5.5 * mm), &o, 11 * mm);
    const flr_kit_corner rim[] = {{0, -2, 0},  {9.8, -2, 0}, {9.8, 4, 1},   {8, 4, 0.5},
                                  {6.5, 1, 1}, {3, 1, 0.5},  {2.6, 4, 0.8}, {0, 4, 0}};
    flr_outline_clear(&o);
    corners_mm(kit, &o, rim, 8);
    flr_kit_revolve(kit, at, &o, 32);
    flr_kit_bolt_circle(kit, flr_kit_shift(at, 0, 0, 1 * mm), 4.8 * mm, 5, 1.4 * mm, 0);
}

static void car_body(flr_kit *kit)
{
    flr_kit_outline o;
    /* lower body with wheel arches, seen from the side; nose to -x */
    const flr_kit_corner body[] = {
        {-80, 16, 2}, {-66, 16, 1}, {-64, 26, 6}, {-58, 33, 6}, {-46, 33, 6}, {-40, 26, 6},
        {-38, 13, 1}, {36, 13, 1},  {38, 26, 6},  {44, 33, 6},  {56, 33, 6},  {62, 26, 6},
        {64, 17, 1},  {80, 17, 2},  {80, 45, 3},  {-26, 46, 1}, {-30, 44, 3}, {-78, 42, 4}};
    flr_outline_clear(&o);
    corners_mm(kit, &o, body, 18);
    flr_kit_prism(kit, standing(0, 33 * mm, 0), &o, 66 * mm);

    /* the cabin with its windows cut through */
    const flr_kit_corner cabin[] = {{-27, 44, 0}, {79, 44, 0}, {75, 70, 4}, {-13, 71, 4}};
    const flr_kit_corner front[] = {{-18, 48, 1.5}, {12, 48, 1.5}, {12, 66, 1.5}, {-9, 66, 3}};
    const flr_kit_corner rear[] = {{17, 48, 1.5}, {73, 48, 1.5}, {70, 65, 3}, {17, 66, 1.5}};
    flr_outline_clear(&o);
    corners_mm(kit, &o, cabin, 4);
    corners_mm(kit, &o, front, 4);
    corners_mm(kit, &o, rear, 4);
    flr_kit_prism(kit, standing(0, 30 * mm, 0), &o, 60 * mm);
}

static void car(flr_kit *kit)
{
    kit->chord = 0.07 * mm;
    car_body(kit);
    for (int side = -1; side <= 1; side += 2) {
        double y = side * 34;
        wheel(kit, -52, side * 31, 16, side);
        wheel(kit, 50, side * 31, 16, side);
        /* steps, mirrors, fenders, lamps, door handles */
        const flr_vec3 step[4] = {{-34 * mm, side * 30 * mm, 16 * mm},
                                  {-30 * mm, y * 1.12 * mm, 11 * mm},
                                  {28 * mm, y * 1.12 * mm, 11 * mm},
                                  {32 * mm, side * 30 * mm, 16 * mm}};
        flr_kit_pipe(kit, step, 4, 1.6 * mm, 0, 4 * mm);
        flr_kit_box(kit, flr_kit_at(-17 * mm, side * 37 * mm, 52 * mm), 3 * mm, 9 * mm, 7 * mm,
                    1 * mm);
        flr_kit_box(kit, flr_kit_at(8 * mm, y * mm * 0.98, 40 * mm), 8 * mm, 3 * mm, 2 * mm,
                    0.6 * mm);
        flr_kit_rounded_cylinder(
            kit, flr_kit_frame(v3(-78 * mm, side * 23 * mm, 34 * mm), v3(-1, 0, 0), v3(0, 0, 1)),
            5 * mm, 4 * mm, 1.5 * mm);
        flr_kit_box(kit, flr_kit_at(80 * mm, side * 28 * mm, 36 * mm), 3 * mm, 5 * mm, 10 * mm,
                    0.8 * mm);
        /* the rails of the roof rack */
        const flr_vec3 rail[4] = {{-4 * mm, side * 25 * mm, 69 * mm},
                                  {-4 * mm, side * 25 * mm, 77 * mm},
                                  {68 * mm, side * 25 * mm, 77 * mm},
                                  {68 * mm, side * 25 * mm, 69 * mm}};
        flr_kit_pipe(kit, rail, 4, 1.1 * mm, 0, 3 * mm);
    }
    for (int i = 0; i < 7; i++) {
        const flr_vec3 bar[2] = {{(2 + 10 * i) * mm, -25 * mm, 76 * mm},
                                 {(2 + 10 * i) * mm, 25 * mm, 76 * mm}};
        flr_kit_pipe(kit, bar, 2, 0.9 * mm, 0, 0);
    }
    /* grille, bumpers, bull bar, spare wheel, axles, exhaust */
    for (int i = 0; i < 8; i++)
        flr_kit_box(kit, flr_kit_at(-79 * mm, (i - 3.5) * 4 * mm, 34 * mm), 3 * mm, 1.6 * mm,
                    11 * mm, 0.4 * mm);
    flr_kit_box(kit, flr_kit_at(-83 * mm, 0, 21 * mm), 7 * mm, 70 * mm, 8 * mm, 2 * mm);
    flr_kit_box(kit, flr_kit_at(83 * mm, 0, 21 * mm), 6 * mm, 68 * mm, 7 * mm, 2 * mm);
    const flr_vec3 bull[4] = {{-86 * mm, -18 * mm, 22 * mm},
                              {-88 * mm, -16 * mm, 41 * mm},
                              {-88 * mm, 16 * mm, 41 * mm},
                              {-86 * mm, 18 * mm, 22 * mm}};
    flr_kit_pipe(kit, bull, 4, 1.5 * mm, 0, 5 * mm);
    flr_kit_push(kit, flr_kit_turn_z(flr_kit_at(86 * mm, -6 * mm, 46 * mm), -0.25));
    wheel(kit, 0, 0, 0, 1);
    flr_kit_pop(kit);
    for (int i = 0; i < 2; i++) {
        double x = i ? 50 * mm : -52 * mm;
        const flr_vec3 shaft[2] = {{x, -28 * mm, 16 * mm}, {x, 28 * mm, 16 * mm}};
        flr_kit_pipe(kit, shaft, 2, 2.2 * mm, 0, 0);
        flr_kit_sphere(kit, flr_kit_at(x, 6 * mm, 16 * mm), 6 * mm);
    }
    const flr_vec3 exhaust[3] = {
        {20 * mm, -12 * mm, 13 * mm}, {60 * mm, -22 * mm, 14 * mm}, {84 * mm, -22 * mm, 14 * mm}};
    flr_kit_pipe(kit, exhaust, 3, 2 * mm, 1.4 * mm, 8 * mm);
}

/* ---- 79k: a butterfly ---- */

typedef struct wing {
    double from, to;       /* turns: the fan of directions from the root */
    double length, widest; /* millimetres; where along the fan it is longest, 0 to 1 */
    double scallop;        /* millimetres of wave along the border */
    double rise, drop;     /* how steeply it stands up; millimetres below the body's middle */
    int along, across;     /* cells from root to border, and along the fan */
} wing;

/* a point of the wing's upper (+1) or lower (-1) skin; the two meet at the border */
static flr_vec3 wing_point(const wing *w, int i, int j, double skin)
{
    double u = (double)i / w->along, v = (double)j / w->across;
    double d = v - w->widest, reach = 1 / (1 + 2.6 * d * d);
    double border = w->length * reach + w->scallop * flr_kit_cos(6 * v);
    double r = border * (0.06 + 0.94 * u);
    double a = w->from + (w->to - w->from) * v;
    double lens = 16 * u * (1 - u) * v * (1 - v);
    double vein = flr_kit_cos(9 * v), fold = vein * vein * vein * vein;
    double cell = flr_kit_sin(3 * u) * flr_kit_sin(3 * u);
    double thick = 0.5 * sqrt(lens > 0 ? lens : 0) * (1 + 0.9 * fold + 0.3 * cell);
    double camber = 4.0 * flr_kit_sin(0.5 * u) - 2.5 * d * d * u + 0.8 * u * flr_kit_cos(4.5 * v);
    double z = r * w->rise + camber - w->drop + skin * thick;
    return v3((3 + r * flr_kit_cos(a)) * mm, r * flr_kit_sin(a) * mm, z * mm);
}

static void add_wing(flr_kit *kit, const wing *w, double side)
{
    for (int skin = -1; skin <= 1; skin += 2) {
        uint32_t first = (uint32_t)kit->vertex_count, row = (uint32_t)w->across + 1;
        for (int i = 0; i <= w->along; i++)
            for (int j = 0; j <= w->across; j++) {
                flr_vec3 p = wing_point(w, i, j, skin);
                flr_kit_vertex(kit, v3(side * p.x, p.y, p.z));
            }
        for (int i = 0; i < w->along; i++)
            for (int j = 0; j < w->across; j++) {
                uint32_t a = first + (uint32_t)i * row + (uint32_t)j;
                uint32_t quad[4] = {a, a + row, a + row + 1, a + 1};
                /* cut so that no triangle has all its corners on the border */
                bool turn = (2 * i < w->along) != (2 * j < w->across);
                uint32_t p = quad[turn ? 1 : 0], q = quad[turn ? 2 : 1];
                uint32_t r = quad[turn ? 3 : 2], s = quad[turn ? 0 : 3];
                if (skin * side > 0)
                    flr_kit_quad(kit, p, q, r, s);
                else
                    flr_kit_quad(kit, s, r, q, p);
            }
    }
}

static void butterfly(flr_kit *kit)
{
    const wing fore = {0.005, 0.185, 78, 0.72, 0.8, 0.34, 0.0, 84, 70};
    const wing hind = {-0.2, -0.005, 54, 0.42, 1.8, 0.30, 0.8, 60, 48};
    for (int side = -1; side <= 1; side += 2) {
        add_wing(kit, &fore, side);
        add_wing(kit, &hind, side);
    }
    /* body in rings, head with eyes, antennae with clubs */
    limb(kit, v3(0, -4, 0), v3(0, 14, 0.6), 4.4, 3.8);
    for (int i = 0; i < 7; i++)
        limb(kit, v3(0, -4 - 5.0 * i, -0.3 * i), v3(0, -7 - 5.0 * i, -0.3 * i), 3.7 - 0.35 * i,
             3.3 - 0.35 * i);
    limb(kit, v3(0, 18, 1), v3(0, 19.5, 1), 3.2, 3);
    for (int side = -1; side <= 1; side += 2) {
        flr_kit_sphere(kit, flr_kit_at(side * 2.4 * mm, 20 * mm, 2 * mm), 1.5 * mm);
        flr_vec3 feeler[21];
        double scale[21];
        flr_kit_outline o = {0};
        for (int i = 0; i < 12; i++)
            flr_outline_point(&o, 0.35 * mm * flr_kit_cos(i / 12.0),
                              0.35 * mm * flr_kit_sin(i / 12.0));
        flr_outline_close(&o);
        for (int i = 0; i <= 20; i++) {
            double t = i / 20.0;
            feeler[i] = v3(side * (1.2 + 13 * t * t) * mm, (21 + 24 * t - 6 * t * t) * mm,
                           (2.5 + 7 * t) * mm);
            double club = t - 0.93;
            scale[i] = 1 + 2.2 / (1 + 400 * club * club);
        }
        flr_kit_sweep(kit, feeler, 21, v3(0, 0, 1), &o, scale);
        /* three legs to each side */
        for (int leg = 0; leg < 3; leg++) {
            double y = 10 - 6.0 * leg, spread = y + (leg - 1) * -4.0;
            limb(kit, v3(side * 2, y, -2), v3(side * 9, spread, -7), 0.9, 0.7);
            limb(kit, v3(side * 9, spread + 0.1, -6.9), v3(side * 13, spread, -15), 0.65, 0.5);
        }
    }
}

/* ---- the scene ---- */

typedef struct probe {
    const char *name, *file;
    void (*shape)(flr_kit *kit);
    size_t triangles;
    double chord; /* millimetres */
    flr_vec3 position;
    uint32_t colour;
} probe;

static const probe probes[] = {
    {"man symbol", "probe_5k.stl", man_symbol, 5000, 0.02, {-0.16, 0.1, 0}, 0x3d5a80},
    {"man with hat", "probe_7k.stl", man_with_hat, 7000, 0.14, {-0.05, 0.1, 0}, 0xb0835a},
    {"nano surface", "probe_12k.stl", nano_surface, 12000, 0.05, {0.1, 0.11, 0.014}, 0xd9a441},
    {"off-road car", "probe_18k.stl", car, 18000, 0.05, {-0.1, -0.06, 0}, 0xc8553d},
    {"butterfly", "probe_79k.stl", butterfly, 79000, 0.05, {0.1, -0.06, 0.016}, 0x4f86a8},
};

static flr_result add(const probe *recipe, flr_vec3 position, uint64_t seed, flr_model *model,
                      flr_error *error)
{
    flr_kit kit = flr_kit_begin(seed);
    kit.chord = recipe->chord * mm;
    recipe->shape(&kit);
    flr_kit_refine_to(&kit, recipe->triangles);
    flr_scene_part part = flr_default_scene_part();
    part.name = recipe->name, part.file = recipe->file;
    part.T_world_part.p = position;
    part.colour = recipe->colour;
    return flr_model_add_kit(model, &kit, &part, error);
}

static flr_result build(const flr_scenario_options *options, flr_model *model, flr_error *error)
{
    model->scene.voxel = 1 * mm;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < sizeof probes / sizeof probes[0] && result == FLR_OK; i++)
        result = add(&probes[i], probes[i].position, options->seed, model, error);
    return result;
}

const flr_scenario flr_scenario_probes = {
    "probes", "five models of 5 to 79 thousand triangles for the tip of a probe", 0, build};

/* ---- one of them, to be touched by a hand ---- */

/* A hand that comes down onto the wings, strokes them and presses, in millimetres. */
static flr_result add_stroke(flr_model *model, flr_error *error)
{
    enum { PROBES_POSES = 801, PROBES_LINE = 96 };
    char *text = malloc(PROBES_POSES * PROBES_LINE);
    if (!text) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a stroke");
    size_t used = 0;
    for (int i = 0; i < PROBES_POSES; i++) {
        double t = 0.01 * i, down = t < 1 ? t : 1, turns = 0.25 * (t - 1) * (t > 1);
        double x = 36 * flr_kit_sin(turns), y = 8 + 10 * flr_kit_sin(2.6 * turns);
        /* the wings rise to both sides */
        double z = 50 - 33 * down + 0.3 * fabs(x) + 4 * flr_kit_cos(3 * turns) * down;
        int more = snprintf(text + used, PROBES_LINE, "%.2f %.5f %.5f %.5f 1 0 0 0\n", t, x + 0.0,
                            y + 0.0, z);
        used += more > 0 ? (size_t)more : 0;
    }
    flr_result result = flr_model_add_text(model, "stroke.txt", text, used, error);
    free(text);
    return result;
}

static flr_result build_probe(const flr_scenario_options *options, flr_model *model,
                              flr_error *error)
{
    static const flr_scene_hand hand = {
        .tool = FLR_TOOL_POINT, .placed = true, .position = {0, 0.006, 0.05}};
    model->scene.hands = &hand, model->scene.hand_count = 1;
    model->scene.voxel = 1 * mm;
    model->scene.contact.stiffness = 800;
    model->scene.contact.friction = 0.15;
    model->scene.camera = (flr_scene_camera){
        .given = true, .eye = {0.05, -0.14, 0.13}, .target = {0, -0.002, 0.012}, .up = {0, 0, 1}};
    const probe *butterfly_of = &probes[sizeof probes / sizeof probes[0] - 1];
    flr_result result = add(butterfly_of, v3(0, 0, 0.016), options->seed, model, error);
    return result == FLR_OK ? add_stroke(model, error) : result;
}

const flr_scenario flr_scenario_probe = {
    "probe", "a butterfly of 79 thousand triangles, to be touched with a point", 0, build_probe};
