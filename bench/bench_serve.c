/* what clients, workers and a recording cost the loop
 *
 * A whole controller: service, engine, workers, the loop with its privileges, at 1000 Hz. A scripted hand holds the scene's part and
 * presses it against its surroundings, going in a small circle once a second, so that every second of the loop has the same
 * work. Windows of a few seconds with different things going on beside it take turns; what a frame takes is compared with the
 * windows in which nothing goes on, in the same minute. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/viewers.h"
#include "feeler/base.h"
#include "feeler/hand.h"
#include "server/service.h"
#include "sim/way.h"

static const double settle_s = 0.7, window_s = 2; /* divided for a quick look */
static const double patience_seconds = 60;
static const double far_away = 50;  /* metres: nothing that is added there comes near */
static const double far_size = 700; /* voxels: along its longest side */
static const double far_voxel =
    1.01; /* of the scene's: not merged with what is there, nor the least */

enum { MAX_ROUNDS = 100 };

typedef struct bench_serve_row {
    const char *name;
    uint32_t viewers, stalled;
    bool voxelize, record, search;
    // measured, over all rounds
    flr_histogram compute;
    double p99[MAX_ROUNDS]; /* us, of each round */
    uint64_t frames, overruns, skipped, states, made, faults, switches;
    double points, contacts; /* sums over `looks` */
    uint64_t looks;
    uint64_t recorded; /* bytes */
} bench_serve_row;

/* The loop's thread as the system counts it. */
typedef struct bench_serve_counts {
    uint64_t faults, switches;
} bench_serve_counts;

typedef enum bench_serve_phase {
    LOADING,
    BENCH_SERVE_TAKING,
    BENCH_SERVE_SETTLING,
    BENCH_SERVE_MEASURING,
    ENDED
} bench_serve_phase;

typedef struct bench_serve_bench {
    flr_env *env;
    const flr_bench_options *options;
    const char *scene, *folder;
    flr_service *service;
    flr_engine *engine;
    flr_viewers *viewers;
    flr_device *hand;
    flr_pose T_start; /* of the part that is held */
    double size;      /* metres: of the circle */
    flr_part_id part;
    uint32_t job;
    char loop_stat[96], loop_status[96]; /* files that tell about the loop's thread */
    bench_serve_row *rows;
    uint32_t row_count, round, at;
    bench_serve_phase phase;
    int64_t since_ns, asked_ns;
    bool failed;
    flr_error error;
    // of the window
    flr_histogram before;
    flr_loop_stats stats;
    bench_serve_counts counted;
    uint64_t states, first_frame, last_frame, lost;
    flr_part_id far_part;
    uint32_t far_job; /* 0: none */
    bool far_there;
    bool recording; /* from its start until its file is whole */
    uint32_t search_job,
        searches; /* for a way out of the part that is held; 0: none is under way */
    char far_file[1100];
    double far_unit, voxel; /* metres */
} bench_serve_bench;

/* ---- the hand ---- */

/* The same every second. */
static flr_pose press(const void *context, double t)
{
    const bench_serve_bench *b = context;
    double turn = FLR_TWO_PI * (t - floor(t));
    flr_pose pose = b->T_start;
    flr_quat tilt =
        flr_quat_from_axis_angle((flr_vec3){cos(turn), sin(turn), 0}, 0.02 * sin(2 * turn));
    pose.p.x += b->size * cos(turn);
    pose.p.y += b->size * sin(turn);
    pose.p.z -= b->size;
    pose.q = flr_quat_mul(tilt, pose.q);
    return pose;
}

static flr_result take_part(bench_serve_bench *b, flr_error *error)
{
    flr_engine_part part, chosen;
    uint32_t device;
    bool found = false;
    for (uint32_t i = 0; !found && flr_engine_part_at(b->engine, i, &part); i++) {
        found = part.kind != FLR_PART_STATIC;
        chosen = part;
    }
    if (!found) return flr_fail(error, FLR_BAD_INPUT, "%s: no part of it may move", b->scene);
    flr_vec3 size = flr_box3_size(chosen.geometry->bounds);
    b->part = chosen.part;
    b->T_start = chosen.T_start;
    b->size = 0.05 * fmin(size.x, fmin(size.y, size.z));
    flr_target target = {.at = press, .context = b};
    flr_result result = flr_device_open(&flr_script_driver, &target, &b->hand, error);
    if (result == FLR_OK)
        result = flr_engine_add_device(b->engine, b->hand, FLR_WIRE_DEVICE_SIMULATED, "script",
                                       NULL, flr_pose_identity(), 1, &device, error);
    return result == FLR_OK ? flr_engine_select(b->engine, flr_hand(0), device, error) : result;
}

/* ---- the loop's thread ---- */

static bool read_line(const char *path, char *text, int size)
{
    FILE *file = fopen(path, "r");
    bool got = file && fgets(text, size, file);
    if (file) fclose(file);
    return got;
}

static void find_loop(bench_serve_bench *b)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    while (tasks && (entry = readdir(tasks))) {
        char path[96], name[64];
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
        if (!read_line(path, name, sizeof name) || strncmp(name, "feeler-loop", 11) != 0) continue;
        snprintf(b->loop_stat, sizeof b->loop_stat, "/proc/self/task/%.20s/stat", entry->d_name);
        snprintf(b->loop_status, sizeof b->loop_status, "/proc/self/task/%.20s/status",
                 entry->d_name);
    }
    if (tasks) closedir(tasks);
}

static bench_serve_counts count(const bench_serve_bench *b)
{
    bench_serve_counts now = {0, 0};
    char line[1024];
    // behind the name in brackets: state, ppid, group, session, terminal, its group, flags, minor faults, theirs of children, major
    const char *rest = read_line(b->loop_stat, line, sizeof line) ? strrchr(line, ')') : NULL;
    unsigned long minor, major;
    if (rest && sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major) == 2)
        now.faults = minor + major;
    FILE *file = fopen(b->loop_status, "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long switches;
        if (sscanf(line, "nonvoluntary_ctxt_switches: %lu", &switches) == 1)
            now.switches = switches;
    }
    if (file) fclose(file);
    return now;
}

/* ---- what goes on beside it ---- */

/* A far part is read and voxelized; when it is there it is taken away, and the next one comes. */
static flr_result keep_voxelizing(bench_serve_bench *b, bool on, flr_error *error)
{
    flr_engine_part part;
    if (b->far_job && b->far_there &&
        flr_engine_get_part(b->engine, b->far_part, &part, NULL) == FLR_OK) {
        flr_result result = flr_engine_remove(b->engine, b->far_part, error);
        if (result != FLR_OK) return result == FLR_AGAIN ? FLR_OK : result;
        b->rows[b->at].made++;
        b->far_job = 0;
    }
    if (!on && b->far_job) flr_engine_cancel(b->engine, b->far_job, NULL);
    if (!on || b->far_job) return FLR_OK;
    flr_engine_add_def add = flr_default_engine_add_def();
    add.name = "far";
    add.file = b->far_file;
    add.unit = b->far_unit;
    add.voxel = b->voxel;
    add.T_world_part.p.x = far_away;
    b->far_there = false;
    return flr_engine_add(b->engine, &add, &b->far_part, &b->far_job, error);
}

/* A way out of the held part is searched, with a clearance that keeps the search busy; one after the other. */
static flr_result keep_searching(bench_serve_bench *b, bool on, flr_error *error)
{
    if (!on && b->search_job) flr_engine_cancel(b->engine, b->search_job, NULL);
    if (!on || b->search_job) return FLR_OK;
    flr_engine_way_def def = flr_default_engine_way_def();
    def.part = b->part;
    def.clearance = 0.5 * b->size;
    def.seconds = FLR_WAY_MAX_SECONDS;
    def.seed = ++b->searches;
    return flr_engine_way_ask(b->engine, &def, UINT32_MAX, &b->search_job, error);
}

static flr_result keep_recording(bench_serve_bench *b, bool on, flr_error *error)
{
    if (on == b->recording) return FLR_OK;
    if (!on) return flr_engine_record_stop(b->engine, error);
    b->recording = true;
    return flr_engine_record_start(b->engine, "bench", NULL, error);
}

static bool seen(void *context, const flr_engine_event *event)
{
    bench_serve_bench *b = context;
    flr_engine_recording recording;
    if (event->kind == FLR_ENGINE_EVENT_RECORDING &&
        flr_engine_recording_at(b->engine, event->index, &recording) && recording.finished) {
        b->rows[b->at].recorded += recording.bytes;
        flr_path_remove(b->env, recording.path, NULL);
        b->recording = false;
    }
    if (event->kind != FLR_ENGINE_EVENT_JOB || event->job.state != FLR_WIRE_JOB_ENDED) return false;
    if (event->job.job == b->search_job) b->search_job = 0;
    bool load = event->job.job == b->job, add = event->job.job == b->far_job;
    if (event->job.result == FLR_CANCELLED && add) b->far_job = 0;
    if (event->job.result == FLR_OK && add) b->far_there = true;
    if (event->job.result == FLR_OK || event->job.result == FLR_CANCELLED || !(load || add))
        return false;
    flr_fail(&b->error, event->job.result, "%s", event->job.sentence);
    b->failed = true;
    return false;
}

/* ---- windows ---- */

static double passed(const bench_serve_bench *b)
{
    return 1e-9 * (double)(flr_clock_ns(b->env) - b->since_ns);
}

static void go_on(bench_serve_bench *b, bench_serve_phase next)
{
    b->phase = next;
    b->since_ns = flr_clock_ns(b->env);
}

static flr_result begin_row(bench_serve_bench *b, flr_error *error)
{
    const bench_serve_row *r = &b->rows[b->at];
    flr_viewers_want(b->viewers, flr_service_address(b->service).port, r->viewers, r->stalled);
    b->asked_ns = flr_clock_ns(b->env);
    go_on(b, BENCH_SERVE_SETTLING);
    return keep_recording(b, r->record, error);
}

static void begin_window(bench_serve_bench *b)
{
    flr_engine_health health;
    flr_engine_get_health(b->engine, &health);
    b->stats = health.loop;
    flr_histogram_clear(&b->before);
    flr_histogram_merge(&b->before, flr_engine_compute(b->engine));
    b->counted = count(b);
    b->states = flr_viewers_states(b->viewers);
    b->first_frame = b->last_frame = flr_engine_view(b->engine)->frame;
    go_on(b, BENCH_SERVE_MEASURING);
}

static double quantile_us(const flr_histogram *h, double q);

/* Whether the window has frames, and a view of one of them. */
static bool frames_seen(const bench_serve_bench *b)
{
    flr_engine_health health;
    flr_engine_get_health(b->engine, &health);
    return health.loop.frames > b->stats.frames && b->last_frame > b->first_frame;
}

static void end_window(bench_serve_bench *b)
{
    bench_serve_row *r = &b->rows[b->at];
    flr_engine_health health;
    flr_histogram window;
    bench_serve_counts now = count(b);
    flr_engine_get_health(b->engine, &health);
    flr_histogram_clear(&window);
    flr_histogram_merge(&window, flr_engine_compute(b->engine));
    window.total = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        window.counts[i] -= b->before.counts[i];
        window.total += window.counts[i];
        if (window.counts[i]) window.max = flr_histogram_upper(i);
    }
    r->p99[b->round] = quantile_us(&window, 0.99);
    flr_histogram_merge(&r->compute, &window);
    r->frames += health.loop.frames - b->stats.frames;
    r->overruns += health.loop.overruns - b->stats.overruns;
    r->skipped += health.loop.skipped - b->stats.skipped;
    r->faults += now.faults - b->counted.faults;
    r->switches += now.switches - b->counted.switches;
    r->states += flr_viewers_states(b->viewers) - b->states;
}

/* Whether everything of the row before is over and all of this one is there. */
static bool settled(const bench_serve_bench *b)
{
    const bench_serve_row *r = &b->rows[b->at];
    const flr_engine_state *s = flr_engine_view(b->engine);
    bool quiet = r->voxelize || r->search || (b->far_job == 0 && flr_engine_jobs(b->engine) == 0);
    return quiet && flr_viewers_there(b->viewers) && s->recording == r->record &&
           b->recording == r->record;
}

static void watch(bench_serve_bench *b)
{
    const flr_engine_state *s = flr_engine_view(b->engine);
    bench_serve_row *r = &b->rows[b->at];
    if (s->frame == b->last_frame) return;
    b->last_frame = s->frame;
    r->points += (double)s->points_tested;
    r->contacts += s->contact_count;
    r->looks++;
}

static flr_result next_row(bench_serve_bench *b, flr_error *error)
{
    b->at++;
    if (b->at == b->row_count) b->at = 0, b->round++;
    if (b->round < b->options->repeat) return begin_row(b, error);
    b->at = b->row_count - 1;
    b->lost = flr_viewers_lost(b->viewers); /* before all get a goodbye */
    go_on(b, ENDED);
    return FLR_OK;
}

/* The scene's part with the most triangles, as a file, in a unit that makes it as large as wanted. */
static flr_result write_far(bench_serve_bench *b, double voxel, flr_error *error)
{
    flr_engine_part part, chosen = {.part = FLR_NO_PART_ID};
    for (uint32_t i = 0; flr_engine_part_at(b->engine, i, &part); i++)
        if (!flr_is_part(chosen.part) ||
            part.geometry->triangle_count > chosen.geometry->triangle_count)
            chosen = part;
    flr_vec3 size = flr_box3_size(chosen.geometry->bounds);
    b->voxel = far_voxel * voxel;
    b->far_unit = far_size * b->voxel / fmax(size.x, fmax(size.y, size.z));
    return flr_mesh_write(b->env, b->far_file, chosen.geometry, 1, error);
}

static flr_result step(bench_serve_bench *b, flr_error *error)
{
    flr_engine_scene scene;
    flr_result result = FLR_OK;
    switch (b->phase) {
    case LOADING:
        flr_engine_get_scene(b->engine, &scene);
        if (scene.parts == 0) break;
        result = write_far(b, scene.voxel, error);
        if (result == FLR_OK) result = take_part(b, error);
        find_loop(b);
        go_on(b, BENCH_SERVE_TAKING);
        break;
    case BENCH_SERVE_TAKING: /* the hand's device changes, and the loop has the parts a little later than control */
        if (flr_same_part(flr_engine_view(b->engine)->hands[0].held, b->part))
            return begin_row(b, error);
        if (passed(b) < 1) break;
        b->since_ns = flr_clock_ns(b->env);
        result = flr_engine_grab(b->engine, flr_hand(0), b->part, error);
        if (result == FLR_AGAIN) result = FLR_OK;
        break;
    case BENCH_SERVE_SETTLING:
        result = keep_voxelizing(b, b->rows[b->at].voxelize, error);
        if (result == FLR_OK) result = keep_searching(b, b->rows[b->at].search, error);
        if (!settled(b)) b->since_ns = flr_clock_ns(b->env);
        if (1e-9 * (double)(flr_clock_ns(b->env) - b->asked_ns) > patience_seconds)
            return flr_fail(error, FLR_TIMEOUT, "\"%s\" could not be brought about in %g s",
                            b->rows[b->at].name, patience_seconds);
        if (passed(b) > settle_s / b->options->divide) begin_window(b);
        break;
    case BENCH_SERVE_MEASURING:
        result = keep_voxelizing(b, b->rows[b->at].voxelize, error);
        if (result == FLR_OK) result = keep_searching(b, b->rows[b->at].search, error);
        watch(b);
        // on a busy machine a short window is longer: until there is something to report
        if (passed(b) < window_s / b->options->divide || !frames_seen(b)) break;
        end_window(b);
        return next_row(b, error);
    case ENDED:
        break;
    }
    return result;
}

static bool stop(void *context)
{
    bench_serve_bench *b = context;
    if (!b->failed && flr_bench_stopped()) {
        flr_fail(&b->error, FLR_CANCELLED, "stopped");
        b->failed = true;
    }
    if (!b->failed) b->failed = step(b, &b->error) != FLR_OK;
    return b->failed || b->phase == ENDED;
}

/* ---- telling ---- */

/* Within a step of the histogram, numbers are taken to lie evenly. */
static double quantile_us(const flr_histogram *h, double q)
{
    double wanted = q * (double)h->total, below = 0;
    for (unsigned i = 0; i < FLR_HISTOGRAM_SIZE; i++) {
        double here = (double)h->counts[i];
        if (here > 0 && below + here >= wanted) {
            double low = i > 0 ? (double)flr_histogram_upper(i - 1) : 0,
                   high = (double)flr_histogram_upper(i);
            return 1e-3 * (low + (high - low) * (wanted - below) / here);
        }
        below += here;
    }
    return 0;
}

/* How p99 grows against the first row: of the rounds, the middle one. */
static double growth(const bench_serve_bench *b, const bench_serve_row *r)
{
    double ratios[MAX_ROUNDS];
    for (uint32_t i = 0; i < b->options->repeat; i++) ratios[i] = r->p99[i] / b->rows[0].p99[i];
    return 100 * (flr_bench_percentile(ratios, b->options->repeat, 0.5) - 1);
}

static void print_row(const bench_serve_bench *b, const bench_serve_row *r, FILE *out)
{
    double seconds = window_s / b->options->divide * b->options->repeat,
           looks = r->looks ? (double)r->looks : 1;
    double p50 = quantile_us(&r->compute, 0.5), p99 = quantile_us(&r->compute, 0.99),
           p999 = quantile_us(&r->compute, 0.999);
    double pooled = 100 * (p99 / quantile_us(&b->rows[0].compute, 0.99) - 1);
    double per_viewer =
        r->viewers > r->stalled ? (double)r->states / seconds / (r->viewers - r->stalled) : 0;
    if (b->options->json)
        fprintf(out,
                "%s{\"name\":\"%s\",\"frames\":%llu,\"compute_us\":{\"p50\":%.2f,\"p99\":%.2f,"
                "\"p999\":%.2f},\"p99_growth_percent\":%.1f,\"p99_growth_pooled_percent\":%.1f,"
                "\"points\":%.0f,\"contacts\":%.1f,\"overruns\":%llu,\"skipped\":%llu,"
                "\"page_faults\":%llu,\"preempted\":%llu,\"states_per_second\":%.1f,"
                "\"voxelized\":%llu,\"recorded_bytes\":%llu}",
                r == b->rows ? "" : ",", r->name, (unsigned long long)r->frames, p50, p99, p999,
                growth(b, r), pooled, r->points / looks, r->contacts / looks,
                (unsigned long long)r->overruns, (unsigned long long)r->skipped,
                (unsigned long long)r->faults, (unsigned long long)r->switches, per_viewer,
                (unsigned long long)r->made, (unsigned long long)r->recorded);
    else
        fprintf(out, "%-40s %7.1f %7.1f %7.1f %+7.1f %+7.1f %8.0f %8.0f %8llu %7llu %9llu %7.1f\n",
                r->name, p50, p99, p999, growth(b, r), pooled, r->points / looks,
                r->contacts / looks, (unsigned long long)(r->overruns + r->skipped),
                (unsigned long long)r->faults, (unsigned long long)r->switches, per_viewer);
}

static void tell(const bench_serve_bench *b, FILE *out)
{
    flr_bench_conditions conditions = flr_bench_look(b->env);
    flr_engine_health health;
    flr_engine_get_health(b->engine, &health);
    if (b->options->json) {
        fprintf(out, "{\"bench\":\"serve\",\"scene\":\"%s\",\"window_seconds\":%g,\"rounds\":%u,",
                b->scene, window_s / b->options->divide, b->options->repeat);
        flr_bench_print_conditions(&conditions, true, out);
        fprintf(out, ",\"rows\":[");
    } else {
        fprintf(out, "What clients cost the loop: scene %s, %u rounds of %g s each, microseconds\n",
                b->scene, b->options->repeat, window_s / b->options->divide);
        flr_bench_print_conditions(&conditions, false, out);
        fprintf(out, "%s\n\n%-40s %7s %7s %7s %15s %8s %8s %8s %7s %9s %7s\n", health.rights, "",
                "", "", "", "p99 grows by %", "", "", "missed", "page", "", "states");
        fprintf(out, "%-40s %7s %7s %7s %7s %7s %8s %8s %8s %7s %9s %7s\n", "beside the loop",
                "p50", "p99", "p99.9", "rounds", "all", "points", "contacts", "frames", "faults",
                "preempted", "a second");
    }
    for (uint32_t i = 0; i < b->row_count; i++) print_row(b, &b->rows[i], out);
    if (b->options->json) {
        fprintf(out, "]}\n");
        return;
    }
    fprintf(out,
            "\nIn the windows with voxelizing %llu parts were made and taken away again; %llu "
            "viewers were lost.\n",
            (unsigned long long)(b->rows[b->row_count - 1].made + b->rows[b->row_count - 2].made),
            (unsigned long long)b->lost);
}

/* ---- running ---- */

static flr_result run(bench_serve_bench *b, FILE *out, flr_error *error)
{
    char recordings[1100], scratch[1100];
    snprintf(recordings, sizeof recordings, "%s/recordings", b->folder);
    snprintf(scratch, sizeof scratch, "%s/scenes", b->folder);
    snprintf(b->far_file, sizeof b->far_file, "%s/far.stl", b->folder);
    flr_service_def def = flr_default_service_def();
    def.engine.env = b->env;
    def.engine.recordings = recordings;
    def.engine.scratch = scratch;
    def.address.port = 0;
    def.seen = seen;
    def.context = b;
    flr_result result = flr_path_make_folder(b->env, scratch, error);
    if (result == FLR_OK) result = flr_viewers_create(&b->viewers, error);
    if (result == FLR_OK) result = flr_service_create(&def, &b->service, error);
    if (result == FLR_OK) {
        b->engine = flr_service_engine(b->service);
        result = flr_engine_load(b->engine, b->scene, &b->job, error);
    }
    if (result == FLR_OK) result = flr_engine_start(b->engine, error);
    if (result == FLR_OK) {
        flr_service_run(b->service, stop, b);
        if (b->failed) result = b->error.code;
        if (b->failed && error) *error = b->error;
    }
    if (result == FLR_OK) tell(b, out);
    flr_viewers_destroy(b->viewers);
    flr_service_destroy(b->service);
    flr_device_close(b->hand);
    return result;
}

flr_result flr_bench_serve(flr_env *env, const flr_bench_options *options, FILE *out,
                           flr_error *error)
{
    bench_serve_row rows[] = {
        {.name = "nothing: headless"},
        {.name = "nothing, once more"}, /* what differs here is the machine */
        {.name = "a viewer", .viewers = 1},
        {.name = "a recording", .record = true},
        {.name = "voxelizing another part", .voxelize = true},
        {.name = "searching a way out", .search = true},
        {.name = "viewer, recording, voxelizing", .viewers = 1, .record = true, .voxelize = true},
        {.name = "20 viewers, one stalled", .viewers = 20, .stalled = 1},
        {.name = "20 viewers, recording, voxelizing",
         .viewers = 20,
         .stalled = 1,
         .record = true,
         .voxelize = true},
    };
    bench_serve_bench *b = calloc(1, sizeof *b);
    bench_serve_row *measured = malloc(sizeof rows);
    char folder[1024];
    const char *parent = options->scratch ? options->scratch : getenv("TMPDIR");
    int size = snprintf(folder, sizeof folder, "%s/feeler-bench-%ld", parent ? parent : "/tmp",
                        (long)getpid());
    flr_result result = FLR_OK;
    if (!b || !measured) result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (size >= (int)sizeof folder)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", parent);
    if (options->repeat > MAX_ROUNDS)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "repeat at most %d times", MAX_ROUNDS);
    if (result == FLR_OK) {
        memcpy(measured, rows, sizeof rows);
        b->env = env;
        b->options = options;
        b->scene = options->scene ? options->scene : "bay";
        b->folder = folder;
        b->rows = measured;
        b->row_count = sizeof rows / sizeof *rows;
        b->far_part = FLR_NO_PART_ID;
        flr_bench_catch_begin();
        result = run(b, out, error);
        flr_path_remove_tree(env, folder, NULL);
        flr_bench_catch_end();
    }
    free(measured);
    free(b);
    return result;
}
