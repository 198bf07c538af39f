/* feeler voxelize: voxmap and shell of a mesh, with progress */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "command.h"
#include "feeler/mesh.h"
#include "feeler/voxel_file.h"
#include "feeler/voxels.h"
#include "files.h"
#include "info.h"
#include "output.h"
#include "voxel/leak.h"

typedef struct voxelize_values {
    flr_common common;
    flr_input input;
    double voxel; /* 0: not given */
    const char *out;
    int bits; /* index into bit_choices */
    int64_t range, threads, layer;
    uint64_t memory;
    bool hollow, on_surface, no_features, no_shell, no_cache;
} voxelize_values;

static const char *const bit_choices[] = {"2", "4", "8", NULL};
static const unsigned bit_counts[] = {2, 4, 8};

/* all that one run makes and learns */
typedef struct voxelize_job {
    const char *path;
    flr_mesh *mesh;
    char left_out[FLR_LEFT_OUT_TEXT_SIZE]; /* by a tolerant reader; "": nothing */
    flr_voxmap *voxmap;
    flr_shell *shell;                 /* NULL: not wanted */
    char folder[FLR_CACHE_PATH_SIZE]; /* of the cache; "": not used */
    flr_cache_report cache;
    double read_seconds, write_seconds, total_seconds;
    flr_leak_report leaks;
} voxelize_job;

static void free_job(voxelize_job *j)
{
    flr_shell_destroy(j->shell);
    flr_voxmap_destroy(j->voxmap);
    flr_mesh_destroy(j->mesh);
}

static double seconds_since(flr_cli *cli, int64_t begin)
{
    return (double)(flr_clock_ns(cli->env) - begin) * 1e-9;
}

/* ---- before the work ---- */

static flr_voxelize_def make_def(const voxelize_values *values)
{
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = values->voxel;
    def.bits = bit_counts[values->bits];
    if (values->range > 0) def.range = (unsigned)values->range;
    if (def.bits == 2) def.offset = values->layer >= 0 ? (unsigned)values->layer : 2;
    def.features = !values->no_features;
    def.hollow = values->hollow;
    def.on_surface = values->on_surface;
    def.threads = (unsigned)values->threads;
    def.memory_limit = values->memory;
    return def;
}

/* Can the output be written, and is there room for it? Tried before an hour is spent. */
static flr_result check_output(flr_cli *cli, const char *path, uint64_t bytes, flr_error *error)
{
    flr_output *output;
    flr_hold_signals();
    flr_result result = flr_output_begin(cli->env, path, &output, error);
    if (result == FLR_OK) flr_output_abandon(output);
    flr_release_signals();
    if (result != FLR_OK) return result;

    char folder[FLR_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path) + 1 : 1;
    if (size >= FLR_PATH_MAX) return FLR_OK;
    snprintf(folder, sizeof folder, "%.*s", size, slash ? path : ".");
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) return FLR_OK;
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    /* refused is what cannot fit, as when it is built slab by slab: the estimate is up to six times too much */
    bytes /= 6;
    if (bytes <= room) return FLR_OK;
    return flr_fail(
        error, FLR_IO,
        "%s needs %s or more, and the disk has room for %s; make room, or take a larger "
        "--voxel",
        path, FLR_BYTES_TEXT(bytes), FLR_BYTES_TEXT(room));
}

/* ---- the work ---- */

static bool streaming; /* there are temporary files, which a sudden end would leave */

static bool show_progress(void *context, double done, const char *stage)
{
    static int shown = -1;
    int now = (int)(100 * done);
    /* when it is done what was built goes into the cache */
    flr_stop_at_once(!streaming && strcmp(stage, "done") != 0);
    if (now != shown) flr_progress(context, (uint64_t)now, 100, "%s", stage);
    shown = now;
    return !flr_stop_wanted();
}

static flr_result stopped(flr_error *error)
{
    return flr_fail(error, FLR_CANCELLED, "stopped; nothing was written");
}

static flr_result write_out(flr_cli *cli, const char *path, voxelize_job *j, flr_error *error)
{
    int64_t begin = flr_clock_ns(cli->env);
    flr_progress(cli, 100, 100, "writing %s", path);
    flr_hold_signals();
    flr_result result = flr_voxfile_write(cli->env, path, j->voxmap, j->shell, error);
    flr_release_signals();
    j->write_seconds += seconds_since(cli, begin);
    return result;
}

/* What does not fit into memory goes straight to --out, and to the cache only where there is none. */
static flr_result stream_out(flr_cli *cli, const voxelize_values *values,
                             const flr_voxelize_def *def, voxelize_job *j, flr_error *error)
{
    j->cache.streamed = true;
    flr_result result = flr_voxelize_file(cli->env, j->mesh, def, values->out, !values->no_shell,
                                          &j->cache.voxelize, error);
    if (result == FLR_OK)
        result = flr_voxfile_open(cli->env, values->out, 0, &j->voxmap,
                                  values->no_shell ? NULL : &j->shell, error);
    return result;
}

static flr_result work(flr_cli *cli, const voxelize_values *values, voxelize_job *j,
                       flr_error *error)
{
    flr_voxelize_def def = make_def(values);
    flr_voxelize_needs needs;
    j->mesh->hash = flr_mesh_hash(j->mesh); /* for the cache and the voxels */
    if (values->no_cache || flr_find_cache(NULL, j->folder, NULL) != FLR_OK) *j->folder = 0;
    flr_result result = flr_voxelize_estimate(j->mesh, &def, &needs, error);
    streaming = result == FLR_TOO_LARGE && (values->out || *j->folder);
    if (streaming && values->out) *j->folder = 0;
    if (result == FLR_OK && values->out)
        result = check_output(cli, values->out, needs.result, error);
    if (result == FLR_TOO_LARGE && !streaming) {
        flr_error why = *error;
        return flr_fail(error, result, "%.400s, or add --out, to build them slab by slab",
                        why.message);
    }
    if (result != FLR_OK && !streaming) return result;

    def.progress = show_progress;
    def.context = cli;
    if (!streaming) def.memory_limit = UINT64_MAX; /* it fits, as was seen just now */
    /* what is asked for as a file is not written into the cache, too */
    flr_cache cache = {
        .folder = *j->folder ? j->folder : NULL, .stream = true, .read_only = values->out != NULL};
    flr_catch_stop();
    result = streaming && values->out
                 ? stream_out(cli, values, &def, j, error)
                 : flr_cache_voxelize(cli->env, &cache, j->mesh, &def, &j->voxmap,
                                      values->no_shell ? NULL : &j->shell, &j->cache, error);
    flr_stop_at_once(false);
    j->write_seconds = j->cache.write_seconds;
    bool in_place = streaming && result == FLR_OK; /* too late to stop */
    if (result == FLR_CANCELLED || (result == FLR_OK && flr_stop_wanted() && !in_place))
        return stopped(error);
    if (result == FLR_OK) {
        flr_progress(cli, 100, 100, "leaks");
        result = flr_leak_find(j->mesh, j->voxmap, def.threads, values->memory, &j->leaks, error);
        /* what was built slab by slab is mapped: it may have been cut short meanwhile */
        if (result == FLR_OK) result = flr_voxfile_verify(j->voxmap, 0, error);
    }
    if (result == FLR_OK && flr_stop_wanted() && !in_place) return stopped(error);
    if (result != FLR_OK || !values->out || in_place) return result;
    return write_out(cli, values->out, j, error);
}

/* ---- what to say ---- */

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* All that deserves attention goes to `each`. */
static void each_warning(const voxelize_job *j, void (*each)(void *context, const char *text),
                         void *context)
{
    char sentence[FLR_LEAK_TEXT_SIZE];
    if (*j->left_out) each(context, j->left_out);
    for (uint32_t i = 0; i < j->leaks.count; i++)
        each(context, flr_leak_print(&j->leaks.leaks[i], sentence));
    if (j->leaks.total > j->leaks.count) {
        snprintf(sentence, sizeof sentence, "and through %u smaller gap%s",
                 j->leaks.total - j->leaks.count,
                 flr_noun(j->leaks.total - j->leaks.count, "", "s"));
        each(context, sentence);
    }
    if (j->leaks.skipped)
        each(context, "the mesh is open; whether its inside leaks was not looked at, which would "
                      "take more memory");
    if (*j->cache.broken) each(context, j->cache.broken);
    if (*j->cache.not_stored) each(context, j->cache.not_stored);
}

static void print_warning(void *context, const char *text)
{
    flr_cli *cli = context;
    flr_print(cli, "  %swarning%s     ", flr_yellow(cli), flr_plain(cli));
    flr_print_wrapped(cli, -14, "%s", text);
}

static void push_warning(void *context, const char *text)
{
    flr_json_push(context, flr_json_text(text));
}

static void tell_rest(flr_cli *cli, const voxelize_values *values, const voxelize_job *j)
{
    const flr_voxelize_report *r = &j->cache.voxelize;
    if (j->cache.found)
        flr_print(cli, "  time        %.3g s: read %.3g, opened from the cache %.3g, write %.3g\n",
                  j->total_seconds, j->read_seconds, j->cache.open_seconds, j->write_seconds);
    else
        flr_print(cli,
                  "  time        %.3g s: read %.3g, features %.3g, scan %.3g, fill %.3g, fields "
                  "%.3g, shell %.3g, write %.3g\n",
                  j->total_seconds, j->read_seconds, r->seconds.features, r->seconds.scan,
                  r->seconds.fill, r->seconds.fields, r->seconds.shell, j->write_seconds);
    flr_print(cli, "  peak        %s\n", FLR_BYTES_TEXT(peak_bytes()));
    if (j->cache.stored) flr_print(cli, "  cache       stored in %s\n", FLR_SAFE(j->folder));
    if (values->out) flr_print(cli, "  file        %s\n", FLR_SAFE(values->out));
    each_warning(j, print_warning, cli);
}

static json_t *seconds_json(const voxelize_job *j)
{
    json_t *seconds = flr_json_object();
    flr_json_set(seconds, "read", flr_json_number(j->read_seconds));
    flr_json_set(seconds, "features", flr_json_number(j->cache.voxelize.seconds.features));
    flr_json_set(seconds, "scan", flr_json_number(j->cache.voxelize.seconds.scan));
    flr_json_set(seconds, "fill", flr_json_number(j->cache.voxelize.seconds.fill));
    flr_json_set(seconds, "fields", flr_json_number(j->cache.voxelize.seconds.fields));
    flr_json_set(seconds, "shell", flr_json_number(j->cache.voxelize.seconds.shell));
    flr_json_set(seconds, "write", flr_json_number(j->write_seconds));
    flr_json_set(seconds, "total", flr_json_number(j->total_seconds));
    return seconds;
}

static json_t *leaks_json(const flr_leak_report *report)
{
    json_t *leaks = flr_json_array();
    for (uint32_t i = 0; i < report->count; i++) {
        const flr_leak *leak = &report->leaks[i];
        json_t *entry = flr_json_object();
        flr_json_set(entry, "place", flr_json_vec3(leak->place));
        flr_json_set(entry, "gap", flr_json_number(leak->gap));
        flr_json_set(entry, "voxel", flr_json_number(leak->voxel));
        flr_json_push(leaks, entry);
    }
    return leaks;
}

static json_t *cache_json(const voxelize_job *j)
{
    if (!*j->folder) return json_null();
    json_t *cache = flr_json_object();
    flr_json_set(cache, "folder", flr_json_text(j->folder));
    flr_json_set(cache, "key", flr_json_text(FLR_HASH_TEXT(j->cache.key)));
    flr_json_set(cache, "found", json_boolean(j->cache.found));
    flr_json_set(cache, "stored", json_boolean(j->cache.stored));
    return cache;
}

/* The whole answer, as text or as JSON. */
static void tell(flr_cli *cli, const voxelize_values *values, const voxelize_job *j)
{
    flr_voxmap_info info = flr_voxmap_get_info(j->voxmap);
    json_t *document = flr_json_object(), *warnings = flr_json_array();
    flr_json_set(document, "file", flr_json_text(j->path));
    flr_json_set(document, "out", values->out ? flr_json_text(values->out) : json_null());
    flr_json_set(document, "bytes", flr_json_count(info.stats.bytes));
    flr_print(cli, "%s%s%s\n", flr_bold(cli), FLR_SAFE(j->path), flr_plain(cli));
    flr_info_voxmap(cli, &info, j->shell, document);
    tell_rest(cli, values, j);
    flr_json_set(document, "seconds", seconds_json(j));
    flr_json_set(document, "peak_rss", flr_json_count(peak_bytes()));
    flr_json_set(document, "streamed", json_boolean(j->cache.streamed));
    flr_json_set(document, "cache", cache_json(j));
    each_warning(j, push_warning, warnings);
    flr_json_set(document, "warnings", warnings);
    flr_json_set(document, "leaks", leaks_json(&j->leaks));
    flr_json_print(cli, document);
}

/* ---- the command ---- */

/* A wrong parameter is distinguished from a bad part: too large a voxel, more memory than there is. */
static int exit_of_work(flr_result result)
{
    if (result == FLR_CANCELLED) return FLR_EXIT_STOPPED;
    return result == FLR_BAD_ARGUMENT || result == FLR_TOO_LARGE ? FLR_EXIT_USAGE : FLR_EXIT_FAILED;
}

static int check_arguments(flr_cli *cli, const voxelize_values *values, const char *path)
{
    if (!(values->voxel > 0))
        return FLR_REFUSE(cli, "feeler voxelize needs the size of a voxel: add --voxel 1mm");
    if (flr_is_scene(path))
        return FLR_REFUSE(cli, "%s is a scene; feeler voxelize takes one mesh file", path);
    if (values->out && !flr_is_voxels(values->out))
        return FLR_REFUSE(cli, "--out %s: voxels are written as .flrvox", values->out);
    if (values->out && flr_same_file(path, values->out))
        return FLR_REFUSE(cli, "--out %s would replace the input", values->out);
    if (values->no_shell && values->on_surface)
        return FLR_REFUSE(cli, "--on-surface is about the points that --no-shell leaves out");
    flr_voxelize_def def = make_def(values);
    unsigned most = def.bits == 4 ? FLR_RANGE_MAX_4BIT : FLR_RANGE_MAX_8BIT;
    if (values->range && (def.bits == 2 || values->range > (int64_t)most))
        return def.bits == 2
                   ? FLR_REFUSE(cli, "marks of 2 bits have no --range: they tell the free "
                                     "neighbours of the surface only")
                   : FLR_REFUSE(cli, "--range %lld: marks of %u bits hold distances to %u%s",
                                (long long)values->range, def.bits, most,
                                def.bits == 4 ? "; add --bits 8" : "");
    if (values->layer >= 0 && def.bits != 2)
        return FLR_REFUSE(cli, "--offset is for marks of 2 bits; with more, --force-layer of "
                               "feeler contacts and feeler run chooses the layer");
    return FLR_EXIT_OK;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    (void)count;
    const voxelize_values *values = given;
    int code = check_arguments(cli, values, arguments[0]);
    if (code != FLR_EXIT_OK) return code;

    flr_error error;
    voxelize_job j = {.path = arguments[0]};
    int64_t begin = flr_clock_ns(cli->env);
    flr_mesh_options options = flr_input_mesh_options(&values->input, values->voxel);
    flr_mesh_report report;
    flr_progress(cli, 0, 100, "reading %s", j.path);
    flr_result result = flr_mesh_open(cli->env, j.path, &options, &j.mesh, &report, &error);
    if (result != FLR_OK) {
        flr_hint_scene(cli->env, j.path, &error);
        return flr_fail_with(cli, flr_exit_of_input(result), &error);
    }
    flr_left_out_print(&report, j.left_out);
    j.read_seconds = seconds_since(cli, begin);

    result = work(cli, values, &j, &error);
    if (result == FLR_OK) {
        j.total_seconds = seconds_since(cli, begin);
        flr_progress_end(cli);
        tell(cli, values, &j);
    }
    free_job(&j);
    return result == FLR_OK ? FLR_EXIT_OK : flr_fail_with(cli, exit_of_work(result), &error);
}

static const voxelize_values defaults = {.bits = 1, .layer = -1};
static const char *const usage[] = {"MESH --voxel SIZE [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(SIZE, offsetof(voxelize_values, voxel), "voxel", "SIZE",
               "edge length of a voxel, such as 1mm", .min = 1e-9),
    FLR_OPTION(PATH, offsetof(voxelize_values, out), "out", "FILE",
               "write voxels and points to this file, which ends in .flrvox", .letter = 'o'),
    FLR_OPTION(CHOICE, offsetof(voxelize_values, bits), "bits", "2|4|8",
               "of a mark: 2 for the surface and its neighbours, 4 (default) for distances to 13 "
               "voxels, 8 to 253",
               .choices = bit_choices),
    FLR_OPTION(
        INTEGER, offsetof(voxelize_values, layer), "offset", "N",
        "of marks of 2 bits: the force layer that is built in; default 2: exact surfaces cannot "
        "meet unnoticed",
        .min = 0, .max = 7),
    FLR_OPTION(INTEGER, offsetof(voxelize_values, range), "range", "N",
               "how many voxels far distances are marked; default 8", .min = 1, .max = 253),
    FLR_SWITCH(offsetof(voxelize_values, hollow), "hollow",
               "no interior: what is inside is free, as outside"),
    FLR_SWITCH(offsetof(voxelize_values, on_surface), "on-surface",
               "move the points from voxel centres onto the exact surface"),
    FLR_SWITCH(offsetof(voxelize_values, no_features), "no-features",
               "surface field only, no edges and vertices: a third of the memory"),
    FLR_SWITCH(offsetof(voxelize_values, no_shell), "no-shell", "no points"),
    FLR_THREADS_OPTION(offsetof(voxelize_values, threads)),
    FLR_OPTION(
        BYTES, offsetof(voxelize_values, memory), "memory", "SIZE",
        "keep to this, such as 4GiB: what needs more is built slab by slab, straight into its "
        "file; default: what the machine has"),
    FLR_SWITCH(offsetof(voxelize_values, no_cache), "no-cache",
               "neither look for the result in the cache nor store it there"),
    FLR_INPUT_OPTIONS(voxelize_values),
    FLR_TOLERANT_OPTION(voxelize_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler voxelize ball/ball.stl --voxel 0.35mm", "how many voxels and points, how fast"},
    {"feeler voxelize ball/ball.stl --voxel 0.5mm --out ball.flrvox", "into a file"},
    {"feeler voxelize ball/socket.stl --voxel 0.5mm --bits 8 --range 20 --json",
     "distances to 20 voxels, for a program"},
    {"feeler voxelize ball/ball.stl --voxel 0.2mm --no-features --no-cache --memory 1GiB",
     "surface field only, within a gibibyte"},
    {"feeler voxelize ball/ball.stl --voxel 0.05mm --memory 32MiB --out large.flrvox",
     "slab by slab, as it does not fit into 32 MiB"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done; there may be warnings"},
    {FLR_EXIT_FAILED, "memory ran out, or the file could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong, the voxel larger than the part, or more memory "
                     "would be needed than there is; nothing was done"},
    {FLR_EXIT_INPUT, "the mesh cannot be used: missing, unreadable or broken"},
    {FLR_EXIT_STOPPED, "stopped by Ctrl-C; nothing was written"},
    {0, NULL},
};

const flr_command flr_cmd_voxelize = {
    .name = "voxelize",
    .summary = "turn a mesh into voxels and surface points",
    .usage = usage,
    .description =
        "Every voxel that a triangle touches is a surface voxel, what cannot be reached from "
        "outside is interior, and free voxels near the surface know their distance to it. The "
        "mesh may be open, inverted, doubled or a soup; where a hole is wider than a voxel and the "
        "inside leaks, a warning says where and which voxel size would close it.\n\n"
        "The result is kept in the cache (feeler cache) and found there the next time; --out "
        "writes it to a file of your own instead, which feeler info draws and feeler convert turns "
        "into "
        "a NanoVDB file.\n\n"
        "Voxels that do not fit into --memory are built slab by slab, straight into --out or the "
        "cache: the same bytes, more slowly. Meanwhile a temporary file beside it takes about 2 "
        "bytes for each voxel of the surface.\n\n"
        "All parameters are checked before the work begins: a voxel larger than the part, or "
        "more memory than there is and no file to build into, are refused with an estimate and a "
        "size that would do.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a mesh file",
    .values_size = sizeof(voxelize_values),
    .defaults = &defaults,
    .run = run,
};
