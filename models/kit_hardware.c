/* kit_hardware.c: bolts, rivets, flanges, lugs, brackets, clamps: what holds machines together. */
#include "models/kit.h"

/* ---- fasteners ---- */

/* a hexagon across flats f from z = 0 to h, its top edge chamfered as a nut's is */
static void hexagon(flr_kit *kit, flr_pose at, double f, double h)
{
    double r = f / 2 / flr_kit_cos(1.0 / 12);
    flr_kit_corner c[] = {{0, 0, 0}, {r, 0, 0}, {r, 0.85 * h, 0}, {0.86 * r, h, 0}, {0, h, 0}};
    flr_kit_lathe(kit, at, c, 5, 6);
}

void flr_kit_bolt(flr_kit *kit, flr_pose at, double d, double grip)
{
    flr_kit_tube(kit, at, 1.05 * d, 0.45 * d, 0.18 * d);
    hexagon(kit, flr_kit_shift(at, 0, 0, 0.18 * d), 1.6 * d, 0.65 * d);
    if (grip <= 0) return;
    /* the far side: washer, nut, and the end of the thread, which also is the shank */
    flr_pose far = flr_kit_turn_x(flr_kit_shift(at, 0, 0, -grip), 0.5);
    flr_kit_tube(kit, far, 1.05 * d, 0.45 * d, 0.18 * d);
    hexagon(kit, flr_kit_turn_z(flr_kit_shift(far, 0, 0, 0.18 * d), 0.05), 1.6 * d, 0.85 * d);
    double end = grip + 1.4 * d;
    flr_kit_corner c[] = {{0, 0.3 * d, 0},
                          {0.5 * d, 0.3 * d, 0},
                          {0.5 * d, -end + 0.1 * d, 0},
                          {0.4 * d, -end, 0},
                          {0, -end, 0}};
    flr_kit_lathe(kit, at, c, 5, flr_kit_sides(kit, d / 2));
}

void flr_kit_bolt_circle(flr_kit *kit, flr_pose at, double r, int count, double d, double grip)
{
    for (int i = 0; i < count; i++) {
        flr_pose on = flr_kit_turn_z(at, (i + 0.5) / count);
        flr_kit_bolt(kit, flr_kit_turn_z(flr_kit_shift(on, r, 0, 0), 0.02 * i), d, grip);
    }
}

void flr_kit_rivet(flr_kit *kit, flr_pose at, double d)
{
    double r = 0.9 * d, h = 0.42 * d;
    flr_kit_corner c[] = {
        {0, -0.2 * d, 0}, {r, -0.2 * d, 0}, {r, 0.1 * h, 0}, {0.72 * r, 0.75 * h, 0}, {0, h, 0}};
    flr_kit_lathe(kit, at, c, 5, 8);
}

void flr_kit_rivet_row(flr_kit *kit, flr_vec3 from, flr_vec3 to, flr_vec3 up, int count, double d)
{
    for (int i = 0; i < count; i++) {
        flr_vec3 p = count > 1 ? v3_mix(from, to, (double)i / (count - 1)) : from;
        flr_kit_rivet(kit, flr_kit_frame(p, up, v3_across(v3_unit(up))), d);
    }
}

void flr_kit_flange(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness, int bolts,
                    double d)
{
    double edge = 0.1 * thickness;
    flr_kit_outline o = {0};
    if (r_bore > 0) {
        flr_kit_corner c[] = {
            {r_bore, 0, 0}, {r, 0, edge}, {r, thickness, edge}, {r_bore, thickness, 0}};
        flr_outline_corners(kit, &o, c, 4);
    } else {
        flr_kit_corner c[] = {{0, 0, 0}, {r, 0, edge}, {r, thickness, edge}, {0, thickness, 0}};
        flr_outline_corners(kit, &o, c, 4);
    }
    flr_kit_revolve(kit, at, &o, flr_kit_sides(kit, r));
    if (bolts > 0)
        flr_kit_bolt_circle(kit, flr_kit_shift(at, 0, 0, thickness), r - 1.4 * d, bolts, d,
                            thickness);
}

/* ---- lugs and pins ---- */

void flr_kit_lug(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness,
                 double length, double foot)
{
    /* the outline is drawn in x, y and stands up: its y becomes z */
    flr_pose flat = flr_kit_turn_x(flr_kit_shift(at, 0, thickness / 2, 0), 0.25);
    int half = flr_kit_sides(kit, r) / 2;
    flr_kit_outline o = {0};
    flr_outline_arc(&o, 0, 0, r, 0, 0.5, half);
    flr_outline_point(&o, -foot / 2, -length);
    flr_outline_point(&o, foot / 2, -length);
    flr_outline_close(&o);
    flr_outline_circle(kit, &o, 0, 0, r_bore);
    flr_kit_prism(kit, flat, &o, thickness);
    /* the bushing stands out a little on both sides */
    double out = 0.06 * thickness;
    flr_kit_tube(kit, flr_kit_shift(flat, 0, 0, -out), r_bore + 0.25 * (r - r_bore), 0.9 * r_bore,
                 thickness + 2 * out);
}

void flr_kit_clevis(flr_kit *kit, flr_pose at, double r, double r_bore, double thickness,
                    double gap, double length, double foot)
{
    double off = (gap + thickness) / 2, width = gap + 2 * thickness, base = 0.6 * thickness;
    flr_kit_lug(kit, flr_kit_shift(at, 0, off, 0), r, r_bore, thickness, length, foot);
    flr_kit_lug(kit, flr_kit_shift(at, 0, -off, 0), r, r_bore, thickness, length, foot);
    /* the foot plate, with a bolt at each corner */
    double x = foot + 3.2 * base, d = 0.5 * base;
    flr_pose plate = flr_kit_shift(at, 0, 0, -length - base);
    flr_kit_plate(kit, plate, x, width + base, base, 0.4 * base, 0, 0, 0);
    for (int i = 0; i < 4; i++) {
        double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1;
        flr_kit_bolt(
            kit,
            flr_kit_shift(plate, sx * (x / 2 - 0.8 * base), sy * (width / 2 - 0.4 * base), base), d,
            0);
    }
}

void flr_kit_pin(flr_kit *kit, flr_pose at, double r, double length)
{
    flr_pose along = flr_kit_turn_x(flr_kit_shift(at, 0, length / 2, 0), 0.25);
    double head = 0.35 * r, e = 0.08 * r;
    flr_kit_corner c[] = {{0, -head, 0},
                          {1.35 * r, -head, e},
                          {1.35 * r, 0, 0},
                          {r, 0, 0},
                          {r, length + 0.9 * r, e},
                          {0.35 * r, length + 0.9 * r, 0},
                          {0.3 * r, length, 0},
                          {0, length, 0}};
    flr_kit_lathe(kit, along, c, 8, flr_kit_sides(kit, r));
    flr_kit_tube(kit, flr_kit_shift(along, 0, 0, length), 1.5 * r, 0.97 * r, 0.12 * r);
    /* the nut has a bore, as the pin is hollow at its end */
    flr_kit_outline o = {0};
    flr_outline_polygon(&o, 0, 0, 1.4 * r, 6);
    flr_outline_circle(kit, &o, 0, 0, 0.95 * r);
    flr_kit_prism(kit, flr_kit_shift(along, 0, 0, length + 0.12 * r), &o, 0.6 * r);
}

/* ---- plates and brackets ---- */

void flr_kit_plate(flr_kit *kit, flr_pose at, double x, double y, double thickness, double corner,
                   int columns, int rows, double hole)
{
    flr_kit_outline o = {0};
    flr_outline_rect(kit, &o, 0, 0, x, y, corner);
    for (int i = 0; i < columns; i++)
        for (int k = 0; k < rows; k++)
            flr_outline_circle(kit, &o, x * ((i + 0.5) / columns - 0.5),
                               y * ((k + 0.5) / rows - 0.5), hole);
    flr_kit_prism(kit, at, &o, thickness);
}

void flr_kit_bracket(flr_kit *kit, flr_pose at, double width, double leg, double thickness,
                     double bolt)
{
    /* the angle itself, its heel along y */
    flr_pose along = flr_kit_turn_x(flr_kit_shift(at, 0, width / 2, 0), 0.25);
    flr_kit_outline o = {0};
    flr_outline_beam_l(kit, &o, leg, leg, thickness);
    flr_kit_prism(kit, along, &o, width);
    /* a gusset in the middle */
    flr_pose mid = flr_kit_turn_x(flr_kit_shift(at, 0, thickness / 2, 0), 0.25);
    double a = 0.5 * thickness, b = 0.75 * leg;
    flr_kit_corner c[] = {
        {a, a, 0}, {b, a, 0}, {b, 1.5 * thickness, 0}, {1.5 * thickness, b, 0}, {a, b, 0}};
    flr_kit_extrude(kit, mid, c, 5, thickness);
    for (int side = -1; side <= 1; side += 2) {
        double y = side * 0.3 * width;
        flr_kit_bolt(kit, flr_kit_shift(at, 0.65 * leg, y, thickness), bolt, 0);
        flr_kit_bolt(kit, flr_kit_turn_y(flr_kit_shift(at, thickness, y, 0.65 * leg), 0.25), bolt,
                     0);
    }
}

/* ---- on pipes and wires ---- */

void flr_kit_clamp(flr_kit *kit, flr_pose at, double r, double stand)
{
    double band = 0.0015 + 0.05 * r, cushion = 0.5 * band + 0.001, width = 0.008 + 0.5 * r;
    double outer = r + cushion + band, d = 0.3 * width + 0.0015;
    flr_pose along = flr_kit_turn_y(flr_kit_shift(at, -width / 2, 0, 0), 0.25);
    /* rubber, a little wider than the steel band */
    flr_kit_tube(kit, flr_kit_shift(along, 0, 0, -0.1 * width), r + 1.2 * cushion,
                 r - 0.02 * cushion, 1.2 * width);
    flr_kit_tube(kit, along, outer, r + 0.8 * cushion, width);
    /* ears to the side with their bolt */
    double ear = outer + 3.2 * d;
    flr_kit_box(kit, flr_kit_shift(at, 0, outer + 1.5 * d, 0), width, 3.4 * d, 2 * band, 0);
    flr_kit_bolt(kit, flr_kit_shift(at, 0, ear - 1.6 * d, band), d, 2 * band);
    /* the stand and its base */
    if (stand <= outer) return;
    flr_kit_box(kit, flr_kit_shift(at, 0, 0, -(stand + r) / 2), 0.8 * width, 1.2 * r + band,
                stand - r, 0.1 * width);
    flr_kit_box(kit, flr_kit_shift(at, 0, 0, -stand + band), width, 2.4 * r + 5 * d, 2 * band, 0);
    for (int side = -1; side <= 1; side += 2)
        flr_kit_bolt(kit, flr_kit_shift(at, 0, side * (1.2 * r + 1.1 * d), -stand + 2 * band),
                     0.8 * d, 0);
}

void flr_kit_connector(flr_kit *kit, flr_pose at, double r)
{
    /* square flange with screws, coupling ring with knurls, back shell, strain relief */
    flr_kit_plate(kit, at, 2.9 * r, 2.9 * r, 0.15 * r, 0.3 * r, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        flr_kit_rivet(
            kit,
            flr_kit_shift(at, (i & 1 ? 1.15 : -1.15) * r, (i & 2 ? 1.15 : -1.15) * r, 0.15 * r),
            0.22 * r);
    flr_kit_corner c[] = {{0, 0, 0},
                          {r, 0, 0},
                          {r, 0.5 * r, 0},
                          {0.9 * r, 0.5 * r, 0},
                          {0.9 * r, 1.6 * r, 0.1 * r},
                          {0.6 * r, 2.2 * r, 0.1 * r},
                          {0.6 * r, 3.0 * r, 0},
                          {0, 3.0 * r, 0}};
    flr_kit_lathe(kit, at, c, 8, flr_kit_sides(kit, r));
    flr_kit_outline o = {0};
    int knurls = 20;
    for (int i = 0; i < 2 * knurls; i++) {
        double a = 0.5 * i / knurls, q = (i & 1 ? 1.2 : 1.13) * r;
        flr_outline_point(&o, q * flr_kit_cos(a), q * flr_kit_sin(a));
    }
    flr_outline_close(&o);
    flr_kit_prism(kit, flr_kit_shift(at, 0, 0, 0.45 * r), &o, 0.9 * r);
    flr_kit_box(kit, flr_kit_shift(at, 0, 0.55 * r, 2.7 * r), 1.5 * r, 0.35 * r, 0.5 * r, 0.05 * r);
}

void flr_kit_union(flr_kit *kit, flr_pose at, double r)
{
    double f = 3.0 * r, h = 2.2 * r;
    hexagon(kit, flr_kit_shift(at, 0, 0, 0.5 * r), f, h);
    hexagon(kit, flr_kit_turn_x(flr_kit_shift(at, 0, 0, -0.5 * r), 0.5), f, h);
    flr_kit_rounded_cylinder(kit, flr_kit_shift(at, 0, 0, -0.6 * r), 1.25 * r, 1.2 * r, 0);
}
