/* a bolt and a nut with a helical thread */
#include "support/thread.h"

#include <math.h>

enum { RIDGE = 8 }; /* points of the profile in one pitch */
static const double pi = 3.14159265358979323846;

flr_test_thread flr_test_thread_m16(void)
{
    return (flr_test_thread){.pitch = 2e-3,
                             .radius = 7.35e-3,
                             .flank = pi / 6,
                             .gap = 0.1e-3,
                             .crest = 0.59e-3,
                             .nut_crest = 0.45e-3,
                             .bolt = 24e-3,
                             .nut = 8e-3,
                             .sides = 64,
                             .nut_sides = 60};
}

double flr_test_thread_locks(const flr_test_thread *t)
{
    double tangent = t->pitch / (2 * pi * t->radius);
    return tangent * cos(atan(tan(t->flank) / sqrt(1 + tangent * tangent)));
}

/* one flank to flank outline: where it turns, and how wide the ridge is there */
typedef struct profile {
    double low, high;     /* metres: radii of root and crest */
    double wide;          /* metres: half the ridge's width at the radius `middle` */
    double middle, slope; /* slope: metres of half width per metre of radius, falling */
    double pitch;
} profile;

/* Points of one pitch: from the middle of the root up one flank, over the crest, down the other. */
static void point_of(const profile *p, int k, double *z, double *r)
{
    double at_low = p->wide - (p->low - p->middle) * p->slope,
           at_high = p->wide - (p->high - p->middle) * p->slope;
    const double zs[RIDGE] = {
        -p->pitch / 2,          -at_low, -(at_low + at_high) / 2, -at_high, 0, at_high,
        (at_low + at_high) / 2, at_low};
    const double rs[RIDGE] = {p->low,  p->low,  (p->low + p->high) / 2, p->high,
                              p->high, p->high, (p->low + p->high) / 2, p->low};
    *z = zs[k], *r = rs[k];
}

/* The radius at a height: for the ends, which cut the helix. */
static double radius_at(const profile *p, double z)
{
    double from = fabs(z - p->pitch * floor(z / p->pitch + 0.5));
    double at_low = p->wide - (p->low - p->middle) * p->slope,
           at_high = p->wide - (p->high - p->middle) * p->slope;
    if (from >= at_low) return p->low;
    if (from <= at_high) return p->high;
    return p->low + (p->high - p->low) * (at_low - from) / (at_low - at_high);
}

/* A point of the helical surface in column i; beyond the ends, the point of the end. */
static flr_vec3 surface(const profile *p, int sides, double length, int i, int k)
{
    if (i == sides) i = 0, k += RIDGE; /* once around is one pitch up, to the bit */
    double z, r, turn = (double)i / sides, shift = p->pitch * turn;
    point_of(p, ((k % RIDGE) + RIDGE) % RIDGE, &z, &r);
    z += p->pitch * floor((double)k / RIDGE) + shift;
    if (z < 0) z = 0, r = radius_at(p, -shift);
    if (z > length) z = length, r = radius_at(p, length - shift);
    return flr_vec3_make(r * flr_kit_cos(turn), r * flr_kit_sin(turn), z);
}

/* Same place: ends have many points of the profile in one. */
static bool same(flr_vec3 a, flr_vec3 b) { return flr_vec3_distance(a, b) < 1e-12; }

static void face(flr_kit *kit, flr_vec3 a, flr_vec3 b, flr_vec3 c, bool inside)
{
    if (same(a, b) || same(b, c) || same(c, a)) return;
    uint32_t i = flr_kit_vertex(kit, a), j = flr_kit_vertex(kit, inside ? c : b),
             k = flr_kit_vertex(kit, inside ? b : c);
    flr_kit_triangle(kit, i, j, k);
}

static void helix(flr_kit *kit, const profile *p, int sides, double length, bool inside)
{
    int turns = (int)ceil(length / p->pitch) + 2;
    for (int i = 0; i < sides; i++)
        for (int k = -2 * RIDGE; k < turns * RIDGE; k++) {
            flr_vec3 a = surface(p, sides, length, i, k), b = surface(p, sides, length, i + 1, k),
                     c = surface(p, sides, length, i + 1, k + 1),
                     d = surface(p, sides, length, i, k + 1);
            face(kit, a, b, c, inside);
            face(kit, a, c, d, inside);
        }
}

void flr_test_thread_bolt(const flr_test_thread *t, flr_kit *kit)
{
    profile p = {.low = t->radius - 0.58e-3,
                 .high = t->radius + t->crest,
                 .wide = t->pitch / 4,
                 .middle = t->radius,
                 .slope = tan(t->flank),
                 .pitch = t->pitch};
    helix(kit, &p, t->sides, t->bolt, false);
    for (int i = 0; i < t->sides; i++)
        for (int end = 0; end < 2; end++) {
            int k = end ? 1000000 : -1000000;
            flr_vec3 a = surface(&p, t->sides, t->bolt, i, k),
                     b = surface(&p, t->sides, t->bolt, i + 1, k);
            face(kit, a, b, flr_vec3_make(0, 0, end ? t->bolt : 0), !end);
        }
}

void flr_test_thread_nut(const flr_test_thread *t, flr_kit *kit)
{
    /* the groove of the nut is a wider ridge */
    profile p = {.low = t->radius - t->nut_crest,
                 .high = t->radius + 0.75e-3,
                 .wide = t->pitch / 4 + t->gap / cos(t->flank),
                 .middle = t->radius,
                 .slope = tan(t->flank),
                 .pitch = t->pitch};
    double outer = t->radius + 4e-3;
    helix(kit, &p, t->nut_sides, t->nut, true);
    for (int i = 0; i < t->nut_sides; i++) {
        double u = (double)i / t->nut_sides, v = (i + 1.0) / t->nut_sides;
        flr_vec3 o[2][2], in[2][2];
        for (int end = 0; end < 2; end++) {
            double z = end ? t->nut : 0;
            o[end][0] = flr_vec3_make(outer * flr_kit_cos(u), outer * flr_kit_sin(u), z);
            o[end][1] = flr_vec3_make(outer * flr_kit_cos(v), outer * flr_kit_sin(v), z);
            for (int s = 0; s < 2; s++)
                in[end][s] = surface(&p, t->nut_sides, t->nut, i + s, end ? 1000000 : -1000000);
            face(kit, in[end][0], o[end][0], o[end][1], !end);
            face(kit, in[end][0], o[end][1], in[end][1], !end);
        }
        face(kit, o[0][0], o[0][1], o[1][1], false);
        face(kit, o[0][0], o[1][1], o[1][0], false);
    }
}
