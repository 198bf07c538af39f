/* travel: the travel limit against the speed of a part (Kim 2004, Table 4.2, Figures 4.5 and 4.6)
 *
 * A hand takes a part of the axle and carries it from empty space against the axle base. Every pair is queried by temporal
 * coherence, with time for as many tests as the processor makes in a millisecond. Each loop tells how long it took and how far
 * parts may go in one; their quotient is the speed of the simulation (Eq. 4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/axle_world.h"
#include "bench/bench.h"
#include "picture/plot.h"

enum { TRAVEL_LOOPS = 2000 };
static const double farthest_voxels = 32; /* Eq. 3: of maxTravel */
static const double budget = 1e-3;        /* s: Kim's maxTime */

/* what Kim's virtual environments 1, 2 and 3 did, in seconds, metres and m/s */
enum { TRAVEL_PLACES = 3 };
static const struct paper_row {
    const char *part;
    bool colliding;
    double seconds[TRAVEL_PLACES], travel[TRAVEL_PLACES], speed[TRAVEL_PLACES];
} paper[] = {
    {"ring",
     false,
     {0.005078, 0.005247, 0.003043},
     {0.024384, 0.024384, 0.024384},
     {4.8019, 4.6472, 8.0131}},
    {"ring",
     true,
     {0.01416, 0.006728, 0.004164},
     {0.002652, 0.003048, 0.003048},
     {0.1873, 0.4530, 0.7320}},
    {"housing holder",
     false,
     {0.004969, 0.004415, 0.003846},
     {0.005563, 0.009144, 0.009144},
     {1.1195, 2.0711, 2.3775}},
    {"housing holder",
     true,
     {0.02316, 0.008993, 0.005119},
     {0.001074, 0.000904, 0.001908},
     {0.0464, 0.1005, 0.3727}},
};
enum { TRAVEL_ROWS = sizeof paper / sizeof *paper };

/* of one loop */
typedef struct loops {
    size_t count;
    double seconds[TRAVEL_LOOPS], travel[TRAVEL_LOOPS]; /* metres */
    bool colliding[TRAVEL_LOOPS];
} loops;

/* Carries a part to the middle of the base, which it does not reach, and presses on. */
static void carry(const flr_axle *a, flr_world *world, uint32_t part, loops *to)
{
    flr_world_grab(world, 0, part);
    for (size_t i = 0; i < to->count; i++) {
        const flr_world_input in = {
            .T_world_hand = flr_axle_carry(a, part, (double)i / (double)to->count), .fresh = true};
        flr_world_frame frame;
        const double begun = flr_bench_processor_us();
        flr_world_step(world, &in, &frame);
        to->seconds[i] = 1e-6 * (flr_bench_processor_us() - begun);
        to->travel[i] = fmin(frame.max_travel, farthest_voxels * a->voxel);
        to->colliding[i] = frame.contacts > 0;
    }
}

static flr_result measure(const flr_axle *a, const char *name, loops *to, double *tests,
                          flr_error *error)
{
    flr_world_def def = flr_default_world_def();
    def.parts = a->parts;
    def.part_count = a->count;
    def.params.engine = FLR_ENGINE_COHERENT;
    flr_world *world;
    flr_result result = flr_world_create(&def, &world, error);
    if (result != FLR_OK) return result;
    *tests = flr_world_calibrate(world, flr_env_real(), budget);
    carry(a, world, flr_axle_find(a, name), to);
    flr_world_destroy(world);
    return FLR_OK;
}

/* The medians of the loops with or without contact; NAN where there are none. */
static void medians(const loops *l, bool colliding, double *seconds, double *travel)
{
    double times[TRAVEL_LOOPS], ways[TRAVEL_LOOPS];
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->colliding[i] != colliding) continue;
        times[count] = l->seconds[i];
        ways[count++] = l->travel[i];
    }
    *seconds = count ? flr_bench_percentile(times, count, 0.5) : NAN;
    *travel = count ? flr_bench_percentile(ways, count, 0.5) : NAN;
}

static void print_places(const char *head, const double values[TRAVEL_PLACES], FILE *out)
{
    fprintf(out, "%s[%g, %g, %g]", head, values[0], values[1], values[2]);
}

static void print_json(const struct paper_row *p, double seconds, double travel, FILE *out)
{
    fprintf(out, "\n  {\"part\": \"%s\", \"colliding\": %s, \"paper\": {", p->part,
            p->colliding ? "true" : "false");
    print_places("\"seconds\": ", p->seconds, out);
    print_places(", \"travel\": ", p->travel, out);
    print_places(", \"speed\": ", p->speed, out);
    fprintf(out, "}, \"ours\": {\"seconds\": %.6g, \"travel\": %.6g, \"speed\": %.6g}}", seconds,
            travel, travel / seconds);
}

static void print_row(const struct paper_row *p, double seconds, double travel, FILE *out)
{
    fprintf(out, "%-15s %-9s", p->part, p->colliding ? "colliding" : "free");
    for (int i = 0; i < TRAVEL_PLACES; i++) fprintf(out, " %6.2f", 1e3 * p->seconds[i]);
    fprintf(out, " %8.4f", 1e3 * seconds);
    for (int i = 0; i < TRAVEL_PLACES; i++) fprintf(out, " %6.3f", 1e2 * p->travel[i]);
    fprintf(out, " %7.3f", 1e2 * travel);
    for (int i = 0; i < TRAVEL_PLACES; i++) fprintf(out, " %6.3f", p->speed[i]);
    fprintf(out, " %8.2f\n", travel / seconds);
}

/* Figures 4.5 and 4.6: the time of a loop and the travel limit along the way. */
static flr_result plot(flr_env *env, const char *folder, const char *name, const loops *l,
                       flr_error *error)
{
    double us[TRAVEL_LOOPS], mm[TRAVEL_LOOPS];
    for (size_t i = 0; i < l->count; i++) us[i] = 1e6 * l->seconds[i], mm[i] = 1e3 * l->travel[i];
    const flr_plot_series series[] = {{.name = "time of a loop [us]", .y = us, .count = l->count},
                                      {.name = "travel limit [mm]", .y = mm, .count = l->count}};
    char title[128], path[4096];
    snprintf(title, sizeof title, "%s, carried against the axle base", name);
    snprintf(path, sizeof path, "%s/travel-%s.svg", folder, strchr(name, ' ') ? "housing" : name);
    flr_plot_def def = flr_default_plot_def();
    def.title = title;
    def.x_label = "loop";
    def.y_label = "us, mm";
    def.log_y = true;
    def.series = series;
    def.series_count = 2;
    return flr_plot_write(env, path, &def, error);
}

static flr_result tell(flr_env *env, const flr_bench_options *options, const flr_axle *a, loops *l,
                       FILE *out, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < TRAVEL_ROWS && result == FLR_OK; i++) {
        double tests, seconds, travel;
        if (i % 2 == 0) {
            result = measure(a, paper[i].part, l, &tests, error);
            if (result == FLR_OK && options->plots)
                result = plot(env, options->plots, paper[i].part, l, error);
        }
        if (result != FLR_OK) break;
        medians(l, paper[i].colliding, &seconds, &travel);
        if (!isfinite(seconds)) continue;
        if (options->json) {
            fputs(i ? "," : "", out);
            print_json(&paper[i], seconds, travel, out);
        } else {
            print_row(&paper[i], seconds, travel, out);
        }
        fflush(out);
    }
    return result;
}

flr_result flr_bench_travel(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) fputs("{", out);
    flr_bench_print_conditions(&conditions, options->json, out);
    flr_axle a = {0};
    loops *l = calloc(1, sizeof *l);
    if (!l) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    l->count = TRAVEL_LOOPS / options->divide ? TRAVEL_LOOPS / options->divide : 1;
    flr_result result = flr_axle_make(&a, options->divide, error);
    if (result == FLR_OK && options->json)
        fputs(", \"travel\": [", out);
    else if (result == FLR_OK)
        fprintf(out,
                "Kim 2004, Table 4.2: %zu loops, voxels of %.4g mm; the paper's three machines, "
                "then ours\n%-25s %29s %28s %28s\n",
                l->count, 1e3 * a.voxel, "", "loop [ms]", "maxTravel [cm]", "maxSpeed [m/s]");
    if (result == FLR_OK) result = tell(env, options, &a, l, out, error);
    if (result == FLR_OK && options->json) fputs("]}\n", out);
    flr_axle_free(&a);
    free(l);
    return result;
}
