/* kit_lines.c: what runs along a way: pipes, wire bundles, springs. */
#include "models/kit.h"

#include <stdlib.h>

enum { ROUTE_CAPACITY = 4096 };

int flr_kit_route(const flr_kit *kit, const flr_vec3 *way, int count, double bend, flr_vec3 *path,
                  int room)
{
    int n = 0;
    for (int i = 0; i < count && n < room; i++) {
        if (i == 0 || i + 1 == count || bend <= 0) {
            path[n++] = way[i];
            continue;
        }
        flr_vec3 in = v3_sub(way[i], way[i - 1]), out = v3_sub(way[i + 1], way[i]);
        double in_length = v3_length(in), out_length = v3_length(out);
        in = v3_mul(in, 1 / in_length);
        out = v3_mul(out, 1 / out_length);
        double c = v3_dot(in, out), s = v3_length(v3_cross(in, out));
        if (s < 1e-6) { /* straight on: nothing to round */
            if (n == 0 || v3_length(v3_sub(way[i], path[n - 1])) > 1e-6) path[n++] = way[i];
            continue;
        }
        /* the bend takes this much of each leg; smaller radius where legs are short */
        double half = s / (1 + c), cut = bend * half;
        double most = 0.49 * (in_length < out_length ? in_length : out_length);
        double r = cut > most ? most / half : bend;
        cut = r * half;
        flr_vec3 start = v3_sub(way[i], v3_mul(in, cut));
        flr_vec3 inward = v3_unit(v3_sub(out, v3_mul(in, c)));
        double angle = flr_kit_angle(c, s);
        int steps = (int)ceil(angle * flr_kit_sides(kit, r));
        if (steps < 2) steps = 2;
        for (int k = 0; k <= steps && n < room; k++) {
            double a = angle * k / steps;
            path[n++] = v3_add(start, v3_add(v3_mul(in, r * flr_kit_sin(a)),
                                             v3_mul(inward, r * (1 - flr_kit_cos(a)))));
        }
    }
    return n;
}

void flr_kit_pipe(flr_kit *kit, const flr_vec3 *way, int count, double r, double r_inner,
                  double bend)
{
    flr_vec3 path[ROUTE_CAPACITY];
    int n = flr_kit_route(kit, way, count, bend, path, ROUTE_CAPACITY);
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, r);
    if (r_inner > 0) {
        /* as many sides inside as outside: a clean ring at the ends */
        int sides = flr_kit_sides(kit, r);
        for (int i = 0; i < sides; i++) {
            double a = (double)i / sides;
            flr_outline_point(&o, r_inner * flr_kit_cos(a), r_inner * flr_kit_sin(a));
        }
        flr_outline_close(&o);
    }
    flr_kit_sweep(kit, path, n, v3_across(v3_unit(v3_sub(way[1], way[0]))), &o, NULL);
}

/* ---- bundles ---- */

/* points along the way about every `step` metres, sagging as a parabola between its points */
static int sagging(const flr_vec3 *way, int count, double sag, double step, flr_vec3 *path,
                   int room)
{
    int n = 0;
    for (int i = 0; i + 1 < count; i++) {
        double length = v3_length(v3_sub(way[i + 1], way[i]));
        int steps = (int)ceil(length / step);
        if (steps < 2) steps = 2;
        for (int k = i == 0 ? 0 : 1; k <= steps && n < room; k++) {
            double t = (double)k / steps;
            path[n] = v3_mix(way[i], way[i + 1], t);
            path[n++].z -= sag * 4 * t * (1 - t);
        }
    }
    return n;
}

/* where wire k of many lies in the section: the middle, then rings of 6, 12, 18 ... */
static void place_in_bundle(int k, double r, double *radius, double *angle)
{
    int ring = 0, first = 0, size = 1;
    while (k >= first + size) {
        first += size;
        ring++;
        size = 6 * ring;
    }
    *radius = 2.05 * r * ring;
    *angle = (double)(k - first) / size;
}

static double bundle_radius(int wires, double r)
{
    double radius, angle;
    place_in_bundle(wires - 1, r, &radius, &angle);
    return radius + r;
}

/* unit vectors across the path at each of its points, carried along without twist */
static void frames_along(const flr_vec3 *path, int n, flr_vec3 *u, flr_vec3 *v)
{
    flr_vec3 side = v3(0, 0, 0);
    for (int i = 0; i < n; i++) {
        flr_vec3 along = v3_unit(v3_sub(path[i + 1 < n ? i + 1 : i], path[i > 0 ? i - 1 : 0]));
        if (i == 0) side = v3_across(along);
        side = v3_unit(v3_sub(side, v3_mul(along, v3_dot(side, along))));
        u[i] = side;
        v[i] = v3_cross(along, side);
    }
}

void flr_kit_bundle(flr_kit *kit, const flr_vec3 *way, int count, int wires, double r, double sag,
                    double tie)
{
    enum { LINE_CAPACITY = 1024 };
    flr_vec3 middle[LINE_CAPACITY], wire[LINE_CAPACITY], u[LINE_CAPACITY], v[LINE_CAPACITY];
    double around = bundle_radius(wires, r),
           step = 10 * r > kit->wire_step ? 10 * r : kit->wire_step;
    int n = sagging(way, count, sag, step, middle, LINE_CAPACITY);
    if (n < 2) return;
    frames_along(middle, n, u, v);
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, r);
    for (int k = 0; k < wires; k++) {
        double radius, angle, s = 0;
        place_in_bundle(k, r, &radius, &angle);
        for (int i = 0; i < n; i++) {
            if (i > 0) s += v3_length(v3_sub(middle[i], middle[i - 1]));
            double a = angle + 0.6 * s; /* a lay of 1.7 m */
            wire[i] = v3_add(middle[i], v3_add(v3_mul(u[i], radius * flr_kit_cos(a)),
                                               v3_mul(v[i], radius * flr_kit_sin(a))));
        }
        flr_kit_sweep(kit, wire, n, u[0], &o, NULL);
    }
    if (tie <= 0) return;
    /* ties: flat bands with a small head */
    double s = 0, next = tie / 2;
    for (int i = 1; i < n; i++) {
        s += v3_length(v3_sub(middle[i], middle[i - 1]));
        if (s < next) continue;
        next += tie;
        flr_pose at = flr_kit_frame(middle[i], v3_sub(middle[i], middle[i - 1]), u[i]);
        flr_kit_tube(kit, flr_kit_shift(at, 0, 0, -0.002), around + 0.0012, around - 0.0005, 0.004);
        flr_kit_box(kit, flr_kit_shift(at, around + 0.0025, 0, 0), 0.005, 0.006, 0.006, 0.0008);
    }
}

void flr_kit_spring(flr_kit *kit, flr_pose at, double r_coil, double r_wire, double length,
                    double turns)
{
    int per_turn = flr_kit_sides(kit, r_coil), n = (int)(turns * per_turn);
    flr_vec3 *path = malloc((size_t)(n + 1) * sizeof *path);
    if (!path) {
        flr_kit_fail(kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return;
    }
    for (int i = 0; i <= n; i++) {
        double a = turns * i / n;
        /* one dead turn at each end lies wire on wire */
        double dead = 2.1 * r_wire, rise = length - 2 * r_wire, z;
        if (a < 1)
            z = dead * a;
        else if (a > turns - 1)
            z = rise - dead * (turns - a);
        else
            z = dead + (rise - 2 * dead) * (a - 1) / (turns - 2);
        path[i] = v3(r_coil * flr_kit_cos(a), r_coil * flr_kit_sin(a), r_wire + z);
    }
    flr_kit_outline o = {0};
    flr_outline_circle(kit, &o, 0, 0, r_wire);
    flr_kit_push(kit, at);
    flr_kit_sweep(kit, path, n + 1, v3(0, 0, 1), &o, NULL);
    flr_kit_pop(kit);
    free(path);
}
