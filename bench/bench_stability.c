/* does a held part buzz: over what it touches, stiffness, mass and rate; the region in which it does not, as a picture */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "bench/stability.h"
#include "picture/map.h"

#define LEVEL 0.03 /* of the coupling's largest force: what may last above 100 Hz */

enum { STIFFNESSES = 4, MASSES = 3, BENCH_STABILITY_RATES = 4 };
static const double stiffnesses[STIFFNESSES] = {200, 1000, 5000, 20000};     /* N/m */
static const double masses[MASSES] = {0.005, 0.05, 0.5};                     /* kg */
static const double rates[BENCH_STABILITY_RATES] = {250, 1000, 4000, 10000}; /* Hz */

static const struct way {
    const char *name;
    flr_integrator integrator;
    flr_force_model model;
    flr_world_engine engine;
} ways[] = {
    {"implicit, tangent", FLR_INTEGRATOR_IMPLICIT, FLR_FORCE_TANGENT, FLR_ENGINE_SHELL},
    {"implicit, smooth", FLR_INTEGRATOR_IMPLICIT, FLR_FORCE_SMOOTH, FLR_ENGINE_SHELL},
    {"explicit, tangent", FLR_INTEGRATOR_EXPLICIT, FLR_FORCE_TANGENT, FLR_ENGINE_SHELL},
    {"quasi-static, tangent", FLR_INTEGRATOR_QUASI_STATIC, FLR_FORCE_TANGENT, FLR_ENGINE_SHELL},
    {"exact", FLR_INTEGRATOR_IMPLICIT, FLR_FORCE_TANGENT, FLR_ENGINE_EXACT},
};
enum { BENCH_STABILITY_WAYS = sizeof ways / sizeof *ways };

/* Is a way one of the engine that was asked for? */
static bool is_asked(const flr_bench_options *options, const struct way *way)
{
    const char *name = way->engine == FLR_ENGINE_EXACT ? "exact" : "shell";
    return !options->engine || !strcmp(options->engine, name);
}

/* the worst of all cases at one place of the grid, and of each case over the whole grid */
typedef struct grid {
    double level[MASSES][STIFFNESSES * BENCH_STABILITY_RATES];
    double worst[FLR_STABILITY_COUNT], deficit[FLR_STABILITY_COUNT];
    unsigned loud[FLR_STABILITY_COUNT], runs;
} grid;

static flr_stability_run run_of(const struct way *way, flr_stability_case which)
{
    flr_stability_run run = flr_default_stability_run(which);
    run.params.step.integrator = way->integrator;
    run.params.contact.model = way->model;
    run.params.engine = way->engine;
    return run;
}

/* ---- the cases at the default gains ---- */

static flr_result bench_cases(flr_env *env, const flr_bench_options *options,
                              const flr_stability *made, FILE *out, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < 2 * FLR_STABILITY_COUNT && result == FLR_OK; i++) {
        const struct way *way = &ways[i % 2];
        if (!is_asked(options, way)) continue;
        flr_stability_run run = run_of(way, (flr_stability_case)(i / 2));
        result = flr_stability_do(env, made, &run, error);
        if (result != FLR_OK) break;
        fprintf(out,
                options->json
                    ? "%s\n  {\"case\": \"%s\", \"model\": \"%s\", \"force\": %.4g, \"lasting\": "
                      "%.4g, \"loudest\": %.4g, \"deepest_voxels\": %.4g, \"deficit\": %.4g, "
                      "\"contact_frames\": %llu}"
                    : "%s%-6s %-8s %8.4f %10.2e %10.2e %8.3f %10.2e %8llu\n",
                options->json && i > 0 ? "," : "", flr_stability_name(run.which),
                way->model == FLR_FORCE_SMOOTH ? "smooth" : "tangent", run.force, run.level,
                run.peak, run.deepest, run.deficit, (unsigned long long)run.contact_frames);
        fflush(out);
    }
    return result;
}

/* ---- the grid ---- */

/* one run of the grid */
typedef struct bench_stability_place {
    int mass, stiffness, rate;
    flr_stability_run run;
    flr_error error;
} bench_stability_place;

typedef struct errand {
    flr_env *env;
    const flr_stability *made;
    bench_stability_place *places;
} errand;

static flr_result run_place(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    const errand *e = context;
    bench_stability_place *p = &e->places[piece];
    return flr_bench_stopped() ? flr_fail(&p->error, FLR_CANCELLED, "stopped")
                               : flr_stability_do(e->env, e->made, &p->run, &p->error);
}

/* all places of the grid in all cases; a quick look takes fewer places */
static size_t list_places(const flr_bench_options *options, const struct way *way,
                          bench_stability_place *places)
{
    int step = options->divide > 1 ? 2 : 1, last = options->divide > 1 ? 2 : BENCH_STABILITY_RATES;
    size_t count = 0;
    for (int m = 0; m < MASSES; m += step)
        for (int k = 0; k < STIFFNESSES; k += step)
            for (int r = 0; r < last; r++)
                for (int c = 0; c < FLR_STABILITY_COUNT; c++) {
                    bench_stability_place *p = &places[count++];
                    *p = (bench_stability_place){m, k, r, run_of(way, (flr_stability_case)c), {0}};
                    p->run.mass = masses[m];
                    p->run.stiffness = stiffnesses[k];
                    p->run.rate = rates[r];
                    p->run.seconds = 1.2;
                }
    return count;
}

static flr_result fill_grid(flr_env *env, const flr_bench_options *options,
                            const flr_stability *made, const struct way *way, grid *g,
                            flr_error *error)
{
    bench_stability_place *places =
        calloc(MASSES * STIFFNESSES * BENCH_STABILITY_RATES * FLR_STABILITY_COUNT, sizeof *places);
    if (!places) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the grid");
    errand e = {env, made, places};
    size_t count = list_places(options, way, places);
    flr_result result = flr_parallel_for(0, count, run_place, &e);
    *g = (grid){0};
    for (int m = 0; m < MASSES; m++)
        for (int i = 0; i < STIFFNESSES * BENCH_STABILITY_RATES; i++) g->level[m][i] = NAN;
    for (size_t i = 0; i < count; i++) {
        const bench_stability_place *p = &places[i];
        if (result != FLR_OK && p->error.message[0]) {
            *error = p->error;
            break;
        }
        flr_stability_case c = p->run.which;
        double *level = &g->level[p->mass][p->stiffness * BENCH_STABILITY_RATES + p->rate];
        *level = isnan(*level) ? p->run.level : fmax(*level, p->run.level);
        g->worst[c] = fmax(g->worst[c], p->run.level);
        g->deficit[c] = fmax(g->deficit[c], p->run.deficit);
        g->loud[c] += !(p->run.level <= LEVEL);
        g->runs += c == 0;
    }
    free(places);
    return result;
}

static void print_grid(const struct way *way, const grid *g, bool json, bool first, FILE *out)
{
    for (int c = 0; c < FLR_STABILITY_COUNT; c++)
        fprintf(out,
                json ? "%s\n  {\"way\": \"%s\", \"case\": \"%s\", \"runs\": %u, \"loud\": %u, "
                       "\"worst\": %.4g, \"deficit\": %.4g}"
                     : "%s%-28s %-6s %5u %5u %10.2e %10.2e\n",
                json && !(first && c == 0) ? "," : "", way->name,
                flr_stability_name((flr_stability_case)c), g->runs, g->loud[c], g->worst[c],
                g->deficit[c]);
    fflush(out);
}

static flr_result draw_map(flr_env *env, const flr_bench_options *options, const grid *grids,
                           flr_error *error)
{
    static const char *const columns[BENCH_STABILITY_RATES] = {"250", "1k", "4k", "10k"};
    static const char *const rows[STIFFNESSES] = {"200", "1k", "5k", "20k"};
    flr_map_panel panels[BENCH_STABILITY_WAYS * MASSES];
    char titles[BENCH_STABILITY_WAYS * MASSES][64], path[1200];
    for (int w = 0; w < BENCH_STABILITY_WAYS; w++)
        for (int m = 0; m < MASSES; m++) {
            snprintf(titles[w * MASSES + m], sizeof titles[0], "%s, %g g", ways[w].name,
                     1e3 * masses[m]);
            panels[w * MASSES + m] = (flr_map_panel){titles[w * MASSES + m], grids[w].level[m]};
        }
    flr_map_def def = flr_default_map_def();
    def.title = "What lasts above 100 Hz, % of the coupling's largest force: the worst of 8 cases";
    def.x_label = "rate [Hz]";
    def.y_label = "stiffness [N/m]";
    def.columns = columns, def.column_count = BENCH_STABILITY_RATES;
    def.rows = rows, def.row_count = STIFFNESSES;
    def.panels = panels, def.panel_count = BENCH_STABILITY_WAYS * MASSES;
    def.across = MASSES;
    def.good = LEVEL / 3, def.limit = LEVEL;
    def.scale = 100;
    snprintf(path, sizeof path, "%s/stable-region.svg", options->plots);
    return flr_map_write(env, path, &def, error);
}

/* ---- all of it ---- */

static flr_result bench_grids(flr_env *env, const flr_bench_options *options,
                              const flr_stability *made, FILE *out, flr_error *error)
{
    grid *grids = calloc(BENCH_STABILITY_WAYS, sizeof *grids);
    if (!grids) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the grid");
    flr_result result = FLR_OK;
    bool first = true;
    for (int w = 0; w < BENCH_STABILITY_WAYS && result == FLR_OK; w++) {
        if (!is_asked(options, &ways[w])) continue;
        result = fill_grid(env, options, made, &ways[w], &grids[w], error);
        if (result == FLR_OK) print_grid(&ways[w], &grids[w], options->json, first, out);
        first = false;
    }
    if (result == FLR_OK && options->plots && !options->engine)
        result = draw_map(env, options, grids, error);
    free(grids);
    return result;
}

flr_result flr_bench_stability(flr_env *env, const flr_bench_options *options, FILE *out,
                               flr_error *error)
{
    flr_stability made;
    if (options->engine && strcmp(options->engine, "exact") && strcmp(options->engine, "shell"))
        return flr_fail(error, FLR_BAD_ARGUMENT, "no engine \"%s\"; use shell or exact",
                        options->engine);
    flr_result result = flr_stability_make(env, &made, error);
    if (result != FLR_OK) return result;
    flr_bench_catch_begin();
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) fprintf(out, "{\"bench\":\"stability\",");
    flr_bench_print_conditions(&conditions, options->json, out);
    if (options->json)
        fprintf(out, ",\"level\":%g,\"cases\":[", LEVEL);
    else
        fprintf(out,
                "\nA peg in a simulated hand; what lasts above 100 Hz and the loudest 50 ms, as a "
                "share of the\ncoupling's largest force; J that came out at the device\n\n"
                "case   model        mean N    lasting    loudest   voxels  deficit J  contact\n");
    result = bench_cases(env, options, &made, out, error);
    if (options->json)
        fprintf(out, "],\"grid\":[");
    else
        fprintf(out,
                "\nOver %g to %g N/m, %g to %g kg, %g to %g Hz; loud: lasting above %g %%\n\n"
                "way                          case    runs  loud      worst  deficit J\n",
                stiffnesses[0], stiffnesses[STIFFNESSES - 1], masses[0], masses[MASSES - 1],
                rates[0], rates[BENCH_STABILITY_RATES - 1], 100 * LEVEL);
    if (result == FLR_OK) result = bench_grids(env, options, &made, out, error);
    if (options->json) fprintf(out, "]}\n");
    flr_bench_catch_end();
    flr_stability_free(&made);
    return result;
}
