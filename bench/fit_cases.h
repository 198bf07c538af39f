/* fit_cases.h: the tight fits that `feeler bench fits` moves from assembled to free: our own, and
 * real assemblies where their files are at hand. */
#ifndef FLR_BENCH_FIT_CASES_H
#define FLR_BENCH_FIT_CASES_H

#include "bench/bench.h"
#include "models/fits.h"

/* One fit, ready to be touched. */
typedef struct flr_fit_case {
    char name[64];        /* "thread 8 mm, gap 0.1 mm"; "factory_m16_nut_bolt: nut" */
    double gap;           /* metres; 0: not known */
    flr_scene *scene;     /* one part moves */
    flr_mesh *fixed;      /* all parts that stay, world's frame, metres */
    flr_mesh *moving;     /* part's frame */
    flr_timed_pose *path; /* [path_count]: of the moving part, from assembled to free */
    size_t path_count;
} flr_fit_case;

void flr_fit_case_free(flr_fit_case *fit);

/* How many there are at most: assemblies whose files are missing are left out when they are made. */
size_t flr_fit_case_count(void);

/* Makes one. `folder` exists and may be written; `models` is the folder of the shared models.
 * FLR_NOT_FOUND: its files are not there. On success the caller frees it. */
flr_result flr_fit_case_make(flr_env *env, size_t index, const char *folder, const char *models,
                             flr_fit_case *fit, flr_error *error);

/* A subject of fits: `head` prints the heading of its table, `run` measures a case and prints its
 * rows. Cases whose name does not begin with options->scene are left out; options->seed says which comes first. */
typedef flr_result flr_fit_case_run(flr_env *env, const flr_bench_options *options,
                                    const flr_fit_case *fit, bool first, FILE *out, void *context,
                                    flr_error *error);
flr_result flr_fit_cases_bench(flr_env *env, const flr_bench_options *options, FILE *out,
                               void (*head)(const flr_bench_options *options, FILE *out),
                               flr_fit_case_run *run, void *context, flr_error *error);

#endif
