/* how a cost grows: table, JSON, plot, each with the exponents */
#include "bench/bench.h"

flr_result flr_bench_plot(flr_env *env, const char *folder, const char *file,
                          const flr_plot_def *def, flr_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return flr_plot_write(env, path, def, error);
}

static flr_result plot(flr_env *env, const char *folder, const flr_bench_growth *g,
                       const double *exponents, flr_error *error)
{
    flr_plot_series series[FLR_BENCH_LINES];
    char names[FLR_BENCH_LINES][96];
    for (size_t i = 0; i < g->lines; i++) {
        snprintf(names[i], sizeof names[i], "%s: grows as x^%.2f", g->names[i], exponents[i]);
        series[i] = (flr_plot_series){
            .name = names[i], .x = g->x, .y = g->y[i], .count = g->count, .dots = true};
    }
    flr_plot_def def = flr_default_plot_def();
    def.title = g->title;
    def.x_label = g->by;
    def.y_label = g->y_label;
    def.log_x = def.log_y = true;
    def.series = series;
    def.series_count = g->lines;
    return flr_bench_plot(env, folder, g->file, &def, error);
}

static void print(const flr_bench_growth *g, const double *exponents, FILE *out)
{
    fprintf(out, "\n%s: %s\n%16s", g->title, g->y_label, g->by);
    for (size_t k = 0; k < g->lines; k++) fprintf(out, " %18s", g->names[k]);
    for (size_t i = 0; i < g->count; i++) {
        fprintf(out, "\n%16.0f", g->x[i]);
        for (size_t k = 0; k < g->lines; k++) fprintf(out, " %18.2f", g->y[k][i]);
    }
    fprintf(out, "\n%16s", "exponent");
    for (size_t k = 0; k < g->lines; k++) fprintf(out, " %18.2f", exponents[k]);
    fputc('\n', out);
}

static void print_json(const flr_bench_growth *g, const double *exponents, FILE *out)
{
    fprintf(out, "{\"by\": \"%s\", \"what\": \"%s\", \"lines\": [", g->by, g->y_label);
    for (size_t k = 0; k < g->lines; k++)
        fprintf(out, "%s{\"name\": \"%s\", \"exponent\": %.3f}", k ? ", " : "", g->names[k],
                exponents[k]);
    fputs("], \"rows\": [", out);
    for (size_t i = 0; i < g->count; i++) {
        fprintf(out, "%s[%.0f", i ? ", " : "", g->x[i]);
        for (size_t k = 0; k < g->lines; k++) fprintf(out, ", %.3f", g->y[k][i]);
        fputc(']', out);
    }
    fputs("]}", out);
}

flr_result flr_bench_tell_growth(flr_env *env, const flr_bench_options *options,
                                 const flr_bench_growth *g, FILE *out, flr_error *error)
{
    double exponents[FLR_BENCH_LINES];
    for (size_t i = 0; i < g->lines; i++)
        exponents[i] = flr_bench_exponent(g->x, g->y[i], g->count);
    if (options->json)
        print_json(g, exponents, out);
    else
        print(g, exponents, out);
    return options->plots ? plot(env, options->plots, g, exponents, error) : FLR_OK;
}
