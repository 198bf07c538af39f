/* distance: what the exact distance costs along the scenarios' own motions, with and without a witness
 *
 * Each pose is asked several times and its best time counts, as in bench_contact.c; the poses come in order, so that the
 * witness of one is that of the pose before. Times are the thread's own: queries of milliseconds are interrupted by
 * whatever else the machine does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/distance.h"

typedef struct bench_distance_subject {
    const char *name, *scenario, *fixed, *moving;
    const char *path; /* NULL: slides about its place */
} bench_distance_subject;

static const bench_distance_subject subjects[] = {
    {"ball turns", "ball", "socket.stl", "ball.stl", "turn"},
    {"ball seats", "ball", "socket.stl", "ball.stl", "seat"},
    {"teapot", "aircraft", "aircraft.stl", "teapot.stl", NULL},
    {"actuator", "gear", "gear.stl", "actuator.stl", "removal"},
};
enum { BENCH_DISTANCE_SUBJECTS = sizeof subjects / sizeof *subjects };

/* how to ask */
enum { PLAIN, WITNESS, WITHIN, KINDS };
static const char *const kind_names[KINDS] = {"distance", "distance with witness", "within 1 mm"};

typedef struct bench_distance_setup {
    flr_gauge_part *fixed, *moving;
    flr_pose *poses; /* [count] */
    size_t count;
    double seconds; /* to make the parts ready */
} bench_distance_setup;

typedef struct bench_distance_timing {
    double p50, p99, max; /* microseconds */
    double work;          /* boxes and triangle pairs, mean */
    size_t meeting;
    double least; /* metres, of all that do not meet */
} bench_distance_timing;

static void free_setup(bench_distance_setup *s)
{
    flr_gauge_part_destroy(s->fixed);
    flr_gauge_part_destroy(s->moving);
    free(s->poses);
}

static flr_result set_up(flr_env *env, const flr_model *model, const bench_distance_subject *what,
                         bench_distance_setup *s, flr_error *error)
{
    const flr_model_path *path = NULL;
    const flr_scene_part *part = NULL;
    for (size_t i = 0; what->path && i < model->path_count; i++)
        if (!strcmp(model->paths[i].name, what->path)) path = &model->paths[i];
    for (size_t i = 0; i < model->part_count; i++)
        if (!strcmp(model->parts[i].file, what->moving)) part = &model->parts[i];
    s->count = path ? path->count : FLR_BENCH_SLIDE;
    s->poses = calloc(s->count, sizeof *s->poses);
    if (!s->poses) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < s->count; i++)
        s->poses[i] = path ? path->poses[i].T_world_part : flr_bench_slide(part->T_world_part, i);
    int64_t begin = flr_clock_ns(env);
    flr_result result =
        flr_gauge_part_create(flr_model_find_mesh(model, what->fixed), &s->fixed, error);
    if (result == FLR_OK)
        result = flr_gauge_part_create(flr_model_find_mesh(model, what->moving), &s->moving, error);
    s->seconds = 1e-9 * (double)(flr_clock_ns(env) - begin);
    return result;
}

static flr_result measure(const bench_distance_setup *s, int kind, unsigned repeat,
                          bench_distance_timing *told, flr_error *error)
{
    double *us = malloc(s->count * sizeof *us);
    if (!us) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    bench_distance_timing sum = {.least = INFINITY};
    flr_gauge_params params = flr_default_gauge_params();
    if (kind == WITHIN) params.max_distance = 1e-3, params.first = true;
    for (unsigned round = 0; round < repeat; round++) {
        flr_gauge_witness witness = flr_no_witness();
        for (size_t i = 0; i < s->count; i++) {
            flr_gauge_result r;
            const double begin = flr_bench_processor_us();
            flr_gauge_distance(s->moving, s->fixed, s->poses[i], flr_pose_identity(), &params,
                               kind == PLAIN ? NULL : &witness, &r);
            const double spent = flr_bench_processor_us() - begin;
            us[i] = round ? fmin(us[i], spent) : spent;
            if (round) continue;
            sum.work += (double)r.work / (double)s->count;
            sum.meeting += r.meet;
            if (r.found && !r.meet) sum.least = fmin(sum.least, r.upper);
        }
    }
    sum.p50 = flr_bench_percentile(us, s->count, 0.5);
    sum.p99 = flr_bench_percentile(us, s->count, 0.99);
    sum.max = flr_bench_percentile(us, s->count, 1);
    free(us);
    *told = sum;
    return FLR_OK;
}

static void tell(const flr_bench_options *options, const bench_distance_subject *what,
                 const bench_distance_setup *s, int kind, const bench_distance_timing *t,
                 bool first, FILE *out)
{
    if (options->json)
        fprintf(out,
                "%s\n  {\"scenario\": \"%s\", \"query\": \"%s\", \"poses\": %zu, \"meeting\": %zu, "
                "\"us\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}, \"work\": %.1f, "
                "\"build_seconds\": %.4f}",
                first ? "" : ",", what->name, kind_names[kind], s->count, t->meeting, t->p50,
                t->p99, t->max, t->work, s->seconds);
    else
        fprintf(out, "%-12s %-22s %6zu %8zu %9.1f %9.1f %9.1f %9.0f %9.2f\n", what->name,
                kind_names[kind], s->count, t->meeting, t->p50, t->p99, t->max, t->work,
                s->seconds);
    fflush(out);
}

static flr_result bench_subject(flr_env *env, const flr_bench_options *options,
                                const flr_model *model, const bench_distance_subject *what,
                                bool *first, FILE *out, flr_error *error)
{
    bench_distance_setup s = {0};
    flr_result result = set_up(env, model, what, &s, error);
    for (int kind = 0; kind < KINDS && result == FLR_OK; kind++) {
        bench_distance_timing t = {0};
        result = measure(&s, kind, options->repeat, &t, error);
        if (result != FLR_OK) break;
        tell(options, what, &s, kind, &t, *first, out);
        *first = false;
    }
    free_setup(&s);
    return result;
}

flr_result flr_bench_distance(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error)
{
    flr_bench_begin(env, options, "distance", out);
    if (!options->json)
        fprintf(out,
                "best of %u for each pose, processor time; percentiles over the poses\n%-12s %-22s "
                "%6s %8s %9s %9s "
                "%9s %9s %9s\n",
                options->repeat, "scenario", "query", "poses", "meeting", "p50 [us]", "p99 [us]",
                "max [us]", "work", "build [s]");
    flr_model model = {0};
    const char *built = "";
    flr_result result = FLR_OK;
    bool first = true;
    for (size_t i = 0; i < BENCH_DISTANCE_SUBJECTS && result == FLR_OK; i++) {
        if (options->divide > 1 && strcmp(subjects[i].scenario, "ball")) continue;
        result = flr_bench_scenario(subjects[i].scenario, &built, &model, error);
        if (result == FLR_OK)
            result = bench_subject(env, options, &model, &subjects[i], &first, out, error);
    }
    flr_model_free(&model);
    if (options->json && result == FLR_OK) fputs("]}\n", out);
    return result;
}
