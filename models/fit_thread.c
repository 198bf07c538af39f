/* fit_thread.c: a nut on a bolt, M3 to M20, ISO metric coarse threads (ISO 68-1, ISO 261).
 *
 * The bolt has the basic profile: flanks of 60 degrees, a crest P/8 wide at the nominal diameter d,
 * a root P/4 wide at the minor diameter d1 = d - 1.0825 P. The nut has the same profile, moved away
 * by the gap along the normals of crest, root and flanks.
 *
 * Each thread is a ridge that winds about a cylinder: about the bolt's at its minor diameter, within
 * the nut's bore at its major one. It rises from nothing in a quarter of a turn and ends likewise,
 * so that both ends are whole, and the cylinder goes on beyond them. */
#include <stdlib.h>

#include "models/fit_kit.h"

/* millimetres: ISO 261 coarse pitch; ISO 4014 and 4032: width over flats, height of head and nut */
static const struct metric {
    double d, pitch, flats, head, nut;
} metrics[] = {
    {3, 0.5, 5.5, 2, 2.4},     {4, 0.7, 7, 2.8, 3.2},   {5, 0.8, 8, 3.5, 4.7},
    {6, 1, 10, 4, 5.2},        {8, 1.25, 13, 5.3, 6.8}, {10, 1.5, 16, 6.4, 8.4},
    {12, 1.75, 18, 7.5, 10.8}, {16, 2, 24, 10, 14.8},   {20, 2.5, 30, 12.5, 18},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static const double mm = 1e-3;
static const double tan30 = 0.5773502691896257;

/* A ridge about z. Lengths in metres. */
typedef struct ridge {
    double base, tip;           /* radius of the points at its foot and at its crest */
    double base_half, tip_half; /* half its width there, along z */
    double pitch, start;        /* z of its middle at angle 0, where it begins */
    int sides, turns;           /* points of a whole turn */
    bool inwards;               /* of a bore */
    double low, high;           /* z of the cylinder's ends */
} ridge;

enum { FOOT_LOW, CREST_LOW, CREST_HIGH, FOOT_HIGH, CORNERS };

/* the four corners of the ridge's section, `column` points from its beginning */
static void ridge_column(flr_kit *kit, const ridge *r, int column, uint32_t *corners)
{
    int last = r->turns * r->sides, end = column < last - column ? column : last - column;
    double rise = 4.0 * end / r->sides;
    double crest = r->base + (r->tip - r->base) * (rise < 1 ? rise : 1);
    double angle = (double)(column % r->sides) / r->sides;
    double c = flr_kit_cos(angle), s = flr_kit_sin(angle);
    double z = r->start + r->pitch * column / r->sides;
    const double radius[CORNERS] = {r->base, crest, crest, r->base};
    const double height[CORNERS] = {-r->base_half, -r->tip_half, r->tip_half, r->base_half};
    for (int k = 0; k < CORNERS; k++)
        corners[k] = flr_kit_vertex(kit, v3(radius[k] * c, radius[k] * s, z + height[k]));
}

/* counter-clockwise from outside; the other way round in a bore */
static void quad(flr_kit *kit, const ridge *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    if (r->inwards)
        flr_model_fit_quad(kit, d, c, b, a);
    else
        flr_model_fit_quad(kit, a, b, c, d);
}

/* a flat figure around its first corner */
static void fan(flr_kit *kit, const ridge *r, const uint32_t *v, int count)
{
    for (int i = 2; i < count; i++)
        flr_kit_triangle(kit, v[0], v[r->inwards ? i : i - 1], v[r->inwards ? i - 1 : i]);
}

/* The cylinder's skin from ring `low` to ring `high` (vertices, of `sides` points) with the ridge. */
static void lay_ridge(flr_kit *kit, const ridge *r, const uint32_t *low, const uint32_t *high)
{
    const int n = r->sides, last = n * r->turns;
    uint32_t(*v)[CORNERS] = malloc(((size_t)last + 1) * sizeof *v);
    if (!v) {
        flr_kit_fail(kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return;
    }
    for (int i = 0; i <= last; i++) ridge_column(kit, r, i, v[i]);
    for (int i = 0; i < last; i++) {
        int j = i + 1;
        for (int k = FOOT_LOW; k < FOOT_HIGH; k++)
            quad(kit, r, v[i][k], v[j][k], v[j][k + 1], v[i][k + 1]);
        /* from the cylinder's lower end, or from the turn below */
        if (i < n - 1)
            quad(kit, r, low[i], low[j], v[j][FOOT_LOW], v[i][FOOT_LOW]);
        else if (i >= n)
            quad(kit, r, v[i - n][FOOT_HIGH], v[j - n][FOOT_HIGH], v[j][FOOT_LOW], v[i][FOOT_LOW]);
        /* to its upper end */
        if (i > last - n) quad(kit, r, v[i][FOOT_HIGH], v[j][FOOT_HIGH], high[j % n], high[i % n]);
    }
    /* the two flat places where the ridge begins and ends within a side of the cylinder */
    const uint32_t begin[] = {v[n - 1][FOOT_LOW], low[n - 1],    low[0], v[0][0], v[0][1], v[0][2],
                              v[0][FOOT_HIGH],    v[n][FOOT_LOW]};
    fan(kit, r, begin, 8);
    const uint32_t end[] = {v[last - n + 1][FOOT_HIGH],
                            high[1],
                            high[0],
                            v[last][FOOT_HIGH],
                            v[last][2],
                            v[last][1],
                            v[last][0],
                            v[last - n][FOOT_HIGH]};
    fan(kit, r, end, 8);
    free(v);
}

/* the solid's next ring is that at the far end of the ridge */
static void next_ridge(flr_model_fit_solid *solid, const ridge *r,
                       const flr_model_fit_curve *circle)
{
    if (!solid) return;
    flr_model_fit_ring *from = &solid->last;
    uint32_t *there = malloc((size_t)r->sides * sizeof *there);
    if (!there) {
        flr_kit_fail(&solid->kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return;
    }
    double z = r->inwards ? r->low : r->high;
    for (int i = 0; i < r->sides; i++)
        there[i] = flr_kit_vertex(&solid->kit, v3(circle->p[i].x, circle->p[i].y, z));
    lay_ridge(&solid->kit, r, r->inwards ? there : from->v, r->inwards ? from->v : there);
    for (int i = 0; i < r->sides; i++) from->v[i] = there[i], from->p[i] = circle->p[i];
    from->z = z;
    free(there);
}

/* ---- the two parts ---- */

typedef struct thread_plan {
    const struct metric *metric;
    double step; /* turns */
    ridge bolt, nut;
    double seat; /* z of the nut when assembled */
} thread_plan;

static thread_plan plan(const struct metric *metric, const flr_model_fit_options *options)
{
    thread_plan t = {.metric = metric};
    double pitch = metric->pitch * mm, gap = options->gap, major = metric->d * mm / 2;
    double minor = major - 5.0 / 8 * pitch * 1.5 * tan30; /* 5/8 of the height of the triangle */
    t.step = flr_model_fit_step(major, options->chord);
    int sides = (int)(1 / t.step + 0.5);

    t.bolt = (ridge){.base = minor,
                     .tip = major,
                     .base_half = 3.0 / 8 * pitch,
                     .tip_half = pitch / 16,
                     .pitch = pitch,
                     .sides = sides,
                     .turns = (int)floor(2.2 * metric->d * mm / pitch)};
    t.bolt.start = t.bolt.base_half + pitch / 2;
    t.bolt.high = t.bolt.start + t.bolt.turns * pitch + t.bolt.base_half + pitch / 2;

    /* a flank that moves by dz moves by dz / |gradient| along its normal; least at its foot, where
     * it is steepest */
    double lead = pitch / (FLR_TWO_PI * minor);
    double shift = gap * sqrt(1 + tan30 * tan30 + lead * lead);
    t.nut = (ridge){.base = flr_model_fit_outside(major + gap, t.step),
                    .tip = flr_model_fit_outside(minor + gap, t.step),
                    .base_half = 7.0 / 16 * pitch + gap * tan30 - shift,
                    .tip_half = pitch / 8 + gap * tan30 - shift,
                    .pitch = pitch,
                    .sides = sides,
                    .inwards = true};
    t.nut.turns = (int)floor(metric->nut * mm / pitch - 1.2);
    if (t.nut.turns < 2) t.nut.turns = 2;
    t.nut.high = fmax(metric->nut * mm, (t.nut.turns + 1.2) * pitch);
    t.nut.start = (t.nut.high - t.nut.turns * pitch) / 2;
    /* ridges in grooves, and the nut at least half a pitch above the head */
    t.seat = t.bolt.start + pitch / 2 - t.nut.start;
    t.seat += pitch * ceil((pitch / 2 - t.seat) / pitch);
    return t;
}

/* the head's top is z = 0 */
static flr_result add_bolt(flr_model *model, const thread_plan *t, flr_model_fit_scratch *s,
                           flr_error *error)
{
    const struct metric *metric = t->metric;
    flr_model_fit_solid *bolt = flr_model_fit_solid_begin();
    flr_model_fit_circle(&s->a, t->bolt.base, t->step);
    flr_model_fit_to_polygon(&s->b, &s->a, metric->flats * mm / 2, 6);
    flr_model_fit_begin_disc(bolt, &s->b, -metric->head * mm);
    flr_model_fit_next(bolt, &s->b, 0);
    flr_model_fit_next(bolt, &s->a, 0);
    next_ridge(bolt, &t->bolt, &s->a);
    flr_model_fit_to_circle(&s->c, &s->a, 0.8 * t->bolt.base);
    flr_model_fit_next(bolt, &s->c, t->bolt.high + 0.2 * t->bolt.base);
    flr_model_fit_end_disc(bolt);
    return flr_model_fit_add_solid(model, bolt, "bolt", error);
}

static flr_result add_nut(flr_model *model, const thread_plan *t, flr_model_fit_scratch *s,
                          flr_error *error)
{
    flr_model_fit_solid *nut = flr_model_fit_solid_begin();
    flr_model_fit_circle(&s->a, t->nut.base, t->step);
    flr_model_fit_to_polygon(&s->b, &s->a, t->metric->flats * mm / 2, 6);
    flr_model_fit_begin_bore(nut, &s->b, 0);
    flr_model_fit_next(nut, &s->b, t->nut.high);
    flr_model_fit_next(nut, &s->a, t->nut.high);
    next_ridge(nut, &t->nut, &s->a);
    flr_model_fit_end_bore(nut);
    return flr_model_fit_add_solid(model, nut, "nut", error);
}

/* a turn a second, in twelfths, until the nut is off; then straight up */
static void add_path(const thread_plan *t, flr_model_fit_scratch *s)
{
    enum { THREAD_PATH_STEPS = 12 };
    double top = t->bolt.high + 0.2 * t->bolt.base, pitch = t->bolt.pitch;
    int steps = (int)ceil(THREAD_PATH_STEPS * (top - t->seat) / pitch) + 1;
    flr_pose pose = flr_kit_at(0, 0, t->seat);
    for (int i = 0; i <= steps; i++) {
        pose = flr_kit_turn_z(flr_kit_at(0, 0, t->seat + pitch * i / THREAD_PATH_STEPS),
                              (double)i / THREAD_PATH_STEPS);
        flr_model_fit_path_add(&s->path, (double)i / THREAD_PATH_STEPS, pose);
    }
    pose.p.z += t->metric->d * mm;
    flr_model_fit_path_add(&s->path, (double)steps / THREAD_PATH_STEPS + 1, pose);
}

flr_result flr_model_fit_build_thread(const flr_model_fit_options *o, flr_model_fit_scratch *s,
                                      flr_model *model, flr_error *error)
{
    const struct metric *metric = NULL;
    for (size_t i = 0; i < METRICS; i++)
        if (fabs(metrics[i].d * mm - o->size) < 1e-9) metric = &metrics[i];
    if (!metric)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "thread: no size M%g; there are M3, M4, M5, M6, M8, M10, M12, M16 and M20",
                        o->size / mm);
    thread_plan t = plan(metric, o);
    flr_result result = add_bolt(model, &t, s, error);
    if (result == FLR_OK) result = add_nut(model, &t, s, error);
    add_path(&t, s);
    return result;
}
