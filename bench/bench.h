/* bench.h: what `feeler bench` runs. One bench_*.c per subject; bench.c holds what they share. */
#ifndef FLR_BENCH_H
#define FLR_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "feeler/env.h"
#include "feeler/result.h"

typedef struct flr_bench_options {
    bool json;           /* one JSON object in place of tables */
    unsigned repeat;     /* how often each thing is measured; default 5 */
    unsigned divide;     /* sizes are divided by this, for a quick look; default 1 */
    const char *scratch; /* an existing folder for files of up to 1 GB, removed afterwards; NULL:
                            the system's temporary folder */
    const char *plots;   /* an existing folder for plots (SVG); NULL: none */
} flr_bench_options;

flr_bench_options flr_default_bench_options(void);

/* Reading and welding of mesh files: seconds, MB/s, memory, beside the bounds we promise. A missed
 * bound is printed, not an error. */
flr_result flr_bench_mesh(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error);

/* Voxelizing: time, memory and counts of the scenarios beside the papers' numbers, growth with the voxel size, and
 * the study of tree widths. */
flr_result flr_bench_voxelize(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error);

/* Contact: what a query costs along the scenarios' own motions, by instruction set and with each idea switched off; how
 * cost grows with points and voxels. */
flr_result flr_bench_contact(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error);

/* ---- shared by the subjects ---- */

/* Processor, cores, compiler, date: the conditions of a measurement, one line each. */
typedef struct flr_bench_conditions {
    char processor[128];
    char compiler[64];
    char date[32]; /* UTC */
    unsigned cores;
    unsigned threads; /* used by the measurement; 1 unless set */
} flr_bench_conditions;

flr_bench_conditions flr_bench_look(flr_env *env);
void flr_bench_print_conditions(const flr_bench_conditions *conditions, bool json, FILE *out);

/* What one call cost. */
typedef struct flr_bench_cost {
    double seconds;     /* wall clock */
    double cpu_seconds; /* user and system, all threads */
    double memory;      /* bytes, peak resident size of a process that does nothing else */
} flr_bench_cost;

/* Runs `body` in a child process and measures it there. FLR_CRASHED when the child dies; the
 * child's own error passes through. */
flr_result flr_bench_measure(flr_env *env, flr_result (*body)(void *context, flr_error *error),
                             void *context, flr_bench_cost *cost, flr_error *error);

/* From begin to end Ctrl-C and a request to end are remembered instead of obeyed, for a subject that
 * has files to remove first. flr_bench_stopped() says whether one came; then it returns
 * FLR_CANCELLED. */
void flr_bench_catch_begin(void);
void flr_bench_catch_end(void);
bool flr_bench_stopped(void);

/* Sorts by wall clock and returns best and median of `count` costs (the largest memory in both). */
void flr_bench_summary(flr_bench_cost *costs, unsigned count, flr_bench_cost *best,
                       flr_bench_cost *median);

/* The slope of a straight line through the points, both axes logarithmic: y grows as x to this power. */
double flr_bench_exponent(const double *x, const double *y, size_t count);

#endif
