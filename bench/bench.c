/* what all subjects of `feeler bench` share */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

flr_bench_options flr_default_bench_options(void)
{
    return (flr_bench_options){.repeat = 5, .divide = 1, .seed = 1};
}

double flr_bench_wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

bool flr_bench_is_late(const flr_bench_options *options)
{
    return options->end_us > 0 && flr_bench_wall_us() > options->end_us;
}

double flr_bench_voxel(const flr_bench_options *options, const flr_mesh *part, double voxel)
{
    const flr_vec3 size = flr_box3_size(part->bounds);
    const double most = fmax(size.x, fmax(size.y, size.z)) / 8;
    return fmin(voxel * options->divide, fmax(voxel, most));
}

/* ---- conditions ---- */

/* the value behind "key:" in a file of such lines, or "unknown" */
static void find_line(const char *path, const char *key, char *value, size_t size)
{
    snprintf(value, size, "unknown");
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n\"\\"), colon);
        break;
    }
    fclose(file);
}

flr_bench_conditions flr_bench_look(flr_env *env)
{
    flr_bench_conditions look = {.threads = 1};
    find_line("/proc/cpuinfo", "model name", look.processor, sizeof look.processor);
#if defined(__clang__)
    snprintf(look.compiler, sizeof look.compiler, "clang %s", __clang_version__);
#else
    snprintf(look.compiler, sizeof look.compiler, "gcc %s", __VERSION__);
#endif
    time_t now = (time_t)(flr_clock_wall_ns(env) / 1000000000);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(look.date, sizeof look.date, "%Y-%m-%d %H:%M UTC", &parts);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    look.cores = cores > 0 ? (unsigned)cores : 1;
    return look;
}

void flr_bench_print_conditions(const flr_bench_conditions *conditions, bool json, FILE *out)
{
    const char *format =
        json ? "\"conditions\":{\"processor\":\"%s\",\"cores\":%u,\"threads\":%u,\"compiler\":"
               "\"%s\",\"date\":\"%s\"}"
             : "%s, %u cores, threads used: %u; %s; %s\n";
    fprintf(out, format, conditions->processor, conditions->cores, conditions->threads,
            conditions->compiler, conditions->date);
}

void flr_bench_begin(flr_env *env, const flr_bench_options *options, const char *key, FILE *out)
{
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) fputs("{", out);
    flr_bench_print_conditions(&conditions, options->json, out);
    if (options->json) fprintf(out, ", \"%s\": [", key);
}

flr_result flr_bench_scenario(const char *name, const char **built, flr_model *model,
                              flr_error *error)
{
    if (!strcmp(*built, name)) return FLR_OK;
    flr_model_free(model);
    *built = name;
    return flr_scenario_build(flr_scenario_find(name), NULL, model, error);
}

flr_result flr_bench_make_folder(flr_env *env, const flr_bench_options *options,
                                 char folder[FLR_BENCH_PATH], flr_error *error)
{
    const char *parent = options->scratch ? options->scratch : getenv("TMPDIR");
    if (!parent) parent = "/tmp";
    if (snprintf(folder, FLR_BENCH_PATH, "%s/feeler-bench-%ld", parent, (long)getpid()) >=
        FLR_BENCH_PATH)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", parent);
    return flr_path_make_folder(env, folder, error);
}

flr_result flr_bench_make_box(flr_vec3 size, flr_vec3 centre, flr_mesh **mesh, flr_error *error)
{
    flr_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = flr_vec3_make(centre.x + (i & 1 ? 0.5 : -0.5) * size.x,
                                   centre.y + (i & 2 ? 0.5 : -0.5) * size.y,
                                   centre.z + (i & 4 ? 0.5 : -0.5) * size.z);
    static const flr_triangle triangles[12] = {{{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
                                               {{0, 1, 5}}, {{0, 5, 4}}, {{2, 6, 7}}, {{2, 7, 3}},
                                               {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 8;
    def.triangles = triangles;
    def.triangle_count = 12;
    return flr_mesh_create(&def, mesh, error);
}

/* ---- stopping ---- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };
static struct sigaction handled_before[ENDING];
static volatile sig_atomic_t stop_wanted;

static void want_stop(int number)
{
    (void)number;
    stop_wanted = 1;
}

void flr_bench_catch_begin(void)
{
    struct sigaction action = {.sa_handler = want_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    stop_wanted = 0;
    for (size_t i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &handled_before[i]);
        if (handled_before[i].sa_handler != SIG_IGN) sigaction(ending[i], &action, NULL);
    }
}

void flr_bench_catch_end(void)
{
    for (size_t i = 0; i < ENDING; i++) sigaction(ending[i], &handled_before[i], NULL);
}

bool flr_bench_stopped(void) { return stop_wanted; }

/* ---- measuring ---- */

/* what a child tells its parent */
typedef struct answer {
    flr_result result;
    flr_error error;
    flr_bench_cost cost;
} answer;

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double flr_bench_processor_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static double peak_memory(void)
{
    char text[64];
    find_line("/proc/self/status", "VmHWM", text, sizeof text);
    return 1024 * strtod(text, NULL);
}

static answer run(flr_env *env, flr_result (*body)(void *context, flr_error *error), void *context)
{
    answer told = {0};
    int64_t start = flr_clock_ns(env);
    double cpu = cpu_seconds();
    told.result = body(context, &told.error);
    told.cost.cpu_seconds = cpu_seconds() - cpu;
    told.cost.seconds = 1e-9 * (double)(flr_clock_ns(env) - start);
    told.cost.memory = peak_memory();
    return told;
}

flr_result flr_bench_measure(flr_env *env, flr_result (*body)(void *context, flr_error *error),
                             void *context, flr_bench_cost *cost, flr_error *error)
{
    int ends[2];
    if (pipe(ends) != 0) return flr_fail(error, FLR_IO, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        answer told = run(env, body, context);
        _exit(write(ends[1], &told, sizeof told) == (ssize_t)sizeof told ? 0 : 1);
    }
    close(ends[1]);
    answer told;
    ssize_t got = child < 0 ? 0 : read(ends[0], &told, sizeof told);
    close(ends[0]);
    if (child < 0) return flr_fail(error, FLR_IO, "no child process: %s", strerror(errno));
    waitpid(child, NULL, 0);
    if (got != (ssize_t)sizeof told)
        return flr_fail(error, FLR_CRASHED, "the measured process died; memory may be short");
    if (told.result != FLR_OK) {
        if (error) *error = told.error;
        return told.result;
    }
    *cost = told.cost;
    return FLR_OK;
}

static int compare_seconds(const void *a, const void *b)
{
    double x = ((const flr_bench_cost *)a)->seconds, y = ((const flr_bench_cost *)b)->seconds;
    return (x > y) - (x < y);
}

void flr_bench_summary(flr_bench_cost *costs, unsigned count, flr_bench_cost *best,
                       flr_bench_cost *median)
{
    qsort(costs, count, sizeof *costs, compare_seconds);
    double memory = 0;
    for (unsigned i = 0; i < count; i++)
        memory = costs[i].memory > memory ? costs[i].memory : memory;
    *best = costs[0];
    *median = costs[count / 2];
    best->memory = median->memory = memory;
}

double flr_bench_exponent(const double *x, const double *y, size_t count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double u = log(x[i]), v = log(y[i]);
        sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

int flr_bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double flr_bench_percentile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, flr_bench_by_value);
    return values[(size_t)((double)(count - 1) * part)];
}
