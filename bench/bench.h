/* bench.h: what `feeler bench` runs. One bench_*.c per subject; bench.c holds what they share. */
#ifndef FLR_BENCH_H
#define FLR_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"
#include "feeler/mesh.h"
#include "models/models.h"
#include "picture/plot.h"

typedef struct flr_bench_options {
    bool json;           /* one JSON object in place of tables */
    unsigned repeat;     /* how often each thing is measured; default 5 */
    unsigned divide;     /* sizes are divided by this, for a quick look; default 1 */
    const char *scratch; /* an existing folder for files of up to 1 GB, removed afterwards; NULL:
                            the system's temporary folder */
    const char *plots;   /* an existing folder for plots (SVG); NULL: none */
    const char
        *scene; /* a scene's file or a scenario's name, where a subject has one; NULL: its own */
    const char *models; /* folder of the shared models; NULL: ../shared/models */
    const char *engine; /* measure this engine alone, where a subject has several; NULL: all */
    uint64_t frames;    /* of each run, where a subject has long ones; 0: its own number */
    uint64_t seed;      /* of random motions, and with which fit to begin; default 1 */
    double
        end_us; /* by the wall clock: a long run ends then, with what it has; 0: when it is done */
} flr_bench_options;

flr_bench_options flr_default_bench_options(void);

/* Is a long run to end with what it has? */
bool flr_bench_is_late(const flr_bench_options *options);

/* Microseconds by a wall clock that never goes back. */
double flr_bench_wall_us(void);

/* Measures one subject and tells `out`, as text or as one JSON object. */
typedef flr_result flr_bench_subject(flr_env *env, const flr_bench_options *options, FILE *out,
                                     flr_error *error);

/* Reading and welding of mesh files: seconds, MB/s, memory, beside the bounds we promise. A missed
 * bound is printed, not an error. */
flr_bench_subject flr_bench_mesh;

/* Voxelizing: time, memory and counts of the scenarios beside the papers' numbers, growth with the voxel size, and
 * the study of tree widths. */
flr_bench_subject flr_bench_voxelize;

/* Contact: what a query costs along the scenarios' own motions, by instruction set and with each idea switched off; how
 * cost grows with points, voxels and contacts. */
flr_bench_subject flr_bench_contact;

/* The teapot's motion in the benchmarks, of FLR_BENCH_SLIDE poses: slides and turns about its place, in contact now and then. */
enum { FLR_BENCH_SLIDE = 2000 };
flr_pose flr_bench_slide(flr_pose T_world_part, size_t i);

/* Removal problems, our own fits and those in the shared folder `planning`: how many are solved, and how fast; `repeat` is
 * the number of seeds. */
flr_result flr_bench_plan(flr_env *env, const flr_bench_options *options, FILE *out,
                          flr_error *error);

/* Falling: 1 to 20 parts fall into a tray; what a frame costs against the number of parts; how the time to
 * find pairs grows up to 1000 parts. */
flr_bench_subject flr_bench_falling;

/* The smooth force model beside the tangent plane: cost in the ball's socket, and the force along a slide. */
flr_bench_subject flr_bench_smooth;

/* The continuous check: what it costs, slow and fast, along the actuator's way out and in the ball's socket. */
flr_bench_subject flr_bench_motion_check;

/* Exact contact geometry: least distance and contacts in tight fits, next to the exact distance; accuracy, memory, build
 * rate. The scene is a folder with an assembly.txt. */
flr_bench_subject flr_bench_fit;

/* The exact distance: what it costs along the scenarios' own motions, with and without a witness. */
flr_bench_subject flr_bench_distance;

/* The loop: what a frame costs without a world, how late frames begin at 250 to 10000 Hz. */
flr_bench_subject flr_bench_loop;

/* Serving: what a frame of the loop takes while viewers look, a part is voxelized and all is recorded, against nothing of that. */
flr_bench_subject flr_bench_serve;

/* Collaboration: two controllers and a slow line between them: what hands feel, how far instances are apart, when they agree. */
flr_bench_subject flr_bench_collaboration;

/* Probes: a hand strokes the scenario's five models: time by kind of query, by method; how cost grows with triangles. */
flr_bench_subject flr_bench_probes;

/* Sphere trees: figures 3 to 6 of their paper along random paths into contact; beside the shell engine at the same poses. */
flr_bench_subject flr_bench_approach;
/* Whole motions: a part in a rough hand, a ball in its socket, the actuator's way out; times, contacts, penetration. */
flr_bench_subject flr_bench_motions;

/* Stability: a peg in a hand rests, slides, is wedged, drops …; what lasts above 100 Hz, over stiffness, mass and rate. */
flr_bench_subject flr_bench_stability;

/* Parts: what a frame and an iteration of control cost with 1 to 1000 movable parts, idle and with one of them carried. */
flr_bench_subject flr_bench_parts;

/* Travel: parts of the axle are carried against its base by temporal coherence: time of a loop, travel limit, speed. */
flr_result flr_bench_travel(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error);

/* Queries: collision queries by voxel size, next to FCL, ODE and Bullet where they are built in (Kim 2004, Tables 3.1, 3.2). */
flr_bench_subject flr_bench_queries;

/* Structures: physics and network in one thread or two, with a slow network (Kim 2004, Figures 4.13 and 4.14). */
flr_bench_subject flr_bench_structures;

/* Haptics: what a hand feels when a step takes 1 to 10 periods of its device, with and without local models. */
flr_bench_subject flr_bench_haptics;

/* Fits: a simulated hand takes every tight fit apart, with each engine; FCL, ODE and Bullet beside, where they are built in. */
flr_bench_subject flr_bench_fits;

/* Rough fits: rough hands pull, hit and twist parts in tight fits; frames after which triangles meet or a thread is stripped. */
flr_bench_subject flr_bench_rough_fits;

/* Accuracy: distances of the exact engine next to brute force, at random poses of fits and dirty meshes. FLR_BAD_INPUT when one
 * is off by more than is promised. */
flr_result flr_bench_accuracy(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error);

/* Clash: all pairs of 1000 parts, 24 parts at 13 poses, a hinge of 120 degrees; FCL and OpenCASCADE beside, where they are built in. */
flr_bench_subject flr_bench_clash;

/* ---- shared by the subjects ---- */

/* Processor time of this thread, microseconds: what else the machine does is not charged. Of one thread only: where others
 * help, the wall clock counts. */
double flr_bench_processor_us(void);

/* Metres: the voxel size of a part in a benchmark divided by `options->divide`: so many times larger, but small enough that
 * the part is still some voxels wide. */
double flr_bench_voxel(const flr_bench_options *options, const flr_mesh *part, double voxel);

/* For qsort() of doubles. */
int flr_bench_by_value(const void *a, const void *b);

/* Of `count` values that are sorted here, the one below which `part` (0 ... 1) of them lie. */
double flr_bench_percentile(double *values, size_t count, double part);

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

/* The conditions, and with `options->json` the beginning of an object and of its list `key`. */
void flr_bench_begin(flr_env *env, const flr_bench_options *options, const char *key, FILE *out);

/* Builds the scenario `name` unless `*built` says that it is the one in `model`. */
flr_result flr_bench_scenario(const char *name, const char **built, flr_model *model,
                              flr_error *error);

/* A box of 12 triangles, metres. */
flr_result flr_bench_make_box(flr_vec3 size, flr_vec3 centre, flr_mesh **mesh, flr_error *error);

/* Makes a folder for files of this process, in options->scratch or where temporary files go. */
enum { FLR_BENCH_PATH = 1024 };
flr_result flr_bench_make_folder(flr_env *env, const flr_bench_options *options,
                                 char folder[FLR_BENCH_PATH], flr_error *error);

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

/* How a cost grows: a few lines over the same x. Texts are constants. */
enum { FLR_BENCH_GROWN = 24, FLR_BENCH_LINES = 3 };

typedef struct flr_bench_growth {
    const char *title, *by, *y_label; /* "points"; "time of a query [us]" */
    const char *file;                 /* of the plot */
    const char *names[FLR_BENCH_LINES];
    size_t lines, count;
    double x[FLR_BENCH_GROWN], y[FLR_BENCH_LINES][FLR_BENCH_GROWN];
} flr_bench_growth;

/* A table, or a JSON object without a line's end, with the exponent of each line; and a plot that shows them, too, where
 * plots are wanted. */
flr_result flr_bench_tell_growth(flr_env *env, const flr_bench_options *options,
                                 const flr_bench_growth *growth, FILE *out, flr_error *error);

/* Writes a plot into a folder. */
flr_result flr_bench_plot(flr_env *env, const char *folder, const char *file,
                          const flr_plot_def *def, flr_error *error);

/* The slope of a straight line through the points, both axes logarithmic: y grows as x to this power. */
double flr_bench_exponent(const double *x, const double *y, size_t count);

/* Every experiment of the five papers that another subject repeats, with what the paper printed. */
flr_bench_subject flr_bench_papers;

#endif
