/* kit_outline.c: plane figures: polygons with rounded corners, holes, sections of beams. */
#include "models/kit.h"

void flr_outline_clear(flr_kit_outline *outline)
{
    outline->point_count = 0;
    outline->loop_count = 0;
    outline->overflow = false;
}

void flr_outline_point(flr_kit_outline *outline, double x, double y)
{
    if (outline->point_count == FLR_KIT_POINTS) {
        outline->overflow = true;
        return;
    }
    flr_kit_p2 *p = &outline->points[outline->point_count++];
    p->x = x;
    p->y = y;
}

void flr_outline_close(flr_kit_outline *outline)
{
    if (outline->loop_count == FLR_KIT_LOOPS) {
        outline->overflow = true;
        return;
    }
    outline->ends[outline->loop_count++] = outline->point_count;
}

void flr_outline_arc(flr_kit_outline *outline, double x, double y, double r, double a0, double a1,
                     int steps)
{
    for (int i = 0; i <= steps; i++) {
        double a = a0 + (a1 - a0) * i / steps;
        flr_outline_point(outline, x + r * flr_kit_cos(a), y + r * flr_kit_sin(a));
    }
}

void flr_outline_circle(const flr_kit *kit, flr_kit_outline *outline, double x, double y, double r)
{
    int sides = flr_kit_sides(kit, r);
    for (int i = 0; i < sides; i++) {
        double a = (double)i / sides;
        flr_outline_point(outline, x + r * flr_kit_cos(a), y + r * flr_kit_sin(a));
    }
    flr_outline_close(outline);
}

/* one corner of a polygon: the point itself, or an arc that touches both edges */
static void rounded(const flr_kit *kit, flr_kit_outline *outline, flr_kit_corner before,
                    flr_kit_corner at, flr_kit_corner after)
{
    double ux = before.x - at.x, uy = before.y - at.y, wx = after.x - at.x, wy = after.y - at.y;
    double u = sqrt(ux * ux + uy * uy), w = sqrt(wx * wx + wy * wy);
    if (at.r <= 0 || u <= 0 || w <= 0) {
        flr_outline_point(outline, at.x, at.y);
        return;
    }
    ux /= u;
    uy /= u;
    wx /= w;
    wy /= w;
    /* half the angle between the edges: its tangent from the unit vectors */
    double c = ux * wx + uy * wy, s = ux * wy - uy * wx;
    double tangent = fabs(s) / (1 + c);
    if (fabs(s) < 1e-9) {
        flr_outline_point(outline, at.x, at.y);
        return;
    }
    /* from the corner to where the arc begins: never beyond the middle of an edge that is rounded
     * at its other end too, so that arcs cannot cross */
    double r = at.r, back = r / tangent;
    double most = fmin(u * (before.r > 0 ? 0.495 : 0.99), w * (after.r > 0 ? 0.495 : 0.99));
    if (back > most) {
        back = most;
        r = back * tangent;
    }
    double a0 = s > 0 ? flr_kit_angle(uy, -ux) : flr_kit_angle(-uy, ux);
    double cx = at.x + ux * back, cy = at.y + uy * back;
    cx -= r * flr_kit_cos(a0);
    cy -= r * flr_kit_sin(a0);
    /* the arc turns by what the corner does: half a turn less the inner angle */
    double sweep = 0.5 - fabs(flr_kit_angle(c, s));
    int steps = (int)ceil(sweep * flr_kit_sides(kit, r) - 1e-9);
    if (steps < 1) steps = 1;
    flr_outline_arc(outline, cx, cy, r, a0, s > 0 ? a0 - sweep : a0 + sweep, steps);
}

void flr_outline_corners(const flr_kit *kit, flr_kit_outline *outline,
                         const flr_kit_corner *corners, int count)
{
    for (int i = 0; i < count; i++)
        rounded(kit, outline, corners[(i + count - 1) % count], corners[i],
                corners[(i + 1) % count]);
    flr_outline_close(outline);
}

void flr_outline_rect(const flr_kit *kit, flr_kit_outline *outline, double x, double y,
                      double width, double height, double r)
{
    double a = width / 2, b = height / 2;
    flr_kit_corner corners[] = {
        {x - a, y - b, r}, {x + a, y - b, r}, {x + a, y + b, r}, {x - a, y + b, r}};
    flr_outline_corners(kit, outline, corners, 4);
}

void flr_outline_polygon(flr_kit_outline *outline, double x, double y, double r, int sides)
{
    double outer = r / flr_kit_cos(0.5 / sides);
    for (int i = 0; i < sides; i++) {
        double a = (i + 0.5) / sides;
        flr_outline_point(outline, x + outer * flr_kit_cos(a), y + outer * flr_kit_sin(a));
    }
    flr_outline_close(outline);
}

/* ---- sections of beams ---- */

void flr_outline_beam_i(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t)
{
    double w = width / 2, h = height / 2, k = t / 2;
    flr_kit_corner c[] = {{-w, -h, 0},    {w, -h, 0},     {w, -h + t, 0},  {k, -h + t, t},
                          {k, h - t, t},  {w, h - t, 0},  {w, h, 0},       {-w, h, 0},
                          {-w, h - t, 0}, {-k, h - t, t}, {-k, -h + t, t}, {-w, -h + t, 0}};
    flr_outline_corners(kit, outline, c, 12);
}

void flr_outline_beam_l(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t)
{
    flr_kit_corner c[] = {{0, 0, 0}, {width, 0, 0},  {width, t, 0},
                          {t, t, t}, {t, height, 0}, {0, height, 0}};
    flr_outline_corners(kit, outline, c, 6);
}

void flr_outline_beam_c(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t)
{
    double h = height / 2;
    flr_kit_corner c[] = {{0, -h, t},         {width, -h, 0},    {width, -h + t, 0},
                          {t, -h + t, t / 2}, {t, h - t, t / 2}, {width, h - t, 0},
                          {width, h, 0},      {0, h, t}};
    flr_outline_corners(kit, outline, c, 8);
}

void flr_outline_beam_t(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t)
{
    double w = width / 2, k = t / 2;
    flr_kit_corner c[] = {{-w, 0, 0},     {w, 0, 0},       {w, t, 0},  {k, t, t},
                          {k, height, 0}, {-k, height, 0}, {-k, t, t}, {-w, t, 0}};
    flr_outline_corners(kit, outline, c, 8);
}

void flr_outline_beam_z(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                        double t)
{
    double k = t / 2;
    flr_kit_corner c[] = {{-k, 0, t / 2},
                          {width, 0, 0},
                          {width, t, 0},
                          {k, t, t / 2},
                          {k, height, t / 2},
                          {k - width, height, 0},
                          {k - width, height - t, 0},
                          {-k, height - t, t / 2}};
    flr_outline_corners(kit, outline, c, 8);
}

void flr_outline_beam_hat(const flr_kit *kit, flr_kit_outline *outline, double width, double height,
                          double brim, double t)
{
    double w = width / 2;
    flr_kit_corner c[] = {{-w - brim, 0, 0},
                          {-w + t, 0, t / 2},
                          {-w + t, height - t, t / 2},
                          {w - t, height - t, t / 2},
                          {w - t, 0, t / 2},
                          {w + brim, 0, 0},
                          {w + brim, t, 0},
                          {w, t, t / 2},
                          {w, height, t},
                          {-w, height, t},
                          {-w, t, t / 2},
                          {-w - brim, t, 0}};
    flr_outline_corners(kit, outline, c, 12);
}
