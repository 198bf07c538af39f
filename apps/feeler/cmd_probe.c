/* feeler probe: which triangle does a segment hit first? */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "feeler/mesh.h"
#include "feeler/probe.h"
#include "files.h"
#include "output.h"
#include "probe_recording.h"
#include "scene/segment_file.h"

static const char *const method_choices[] = {"best", "grid", "tree", "hybrid", NULL};

typedef struct probe_values {
    flr_common common;
    flr_input input;
    const char *segments, *segment, *from;
    double grain;
    int method;
} probe_values;

typedef struct probe_job {
    flr_mesh *mesh;
    double unit; /* metres per unit of the mesh file, and so of the segments */
    flr_segment_list list;
    flr_probe_model *model;
    double seconds; /* to make it */
} probe_job;

static void free_job(probe_job *j)
{
    flr_probe_model_destroy(j->model);
    flr_segment_list_free(&j->list);
    flr_mesh_destroy(j->mesh);
}

static flr_result load(flr_cli *cli, const probe_values *values, const char *path, probe_job *j,
                       flr_error *error)
{
    flr_mesh_options options = flr_input_mesh_options(&values->input, 0);
    flr_mesh_report report;
    flr_progress(cli, 0, 1, "reading %s", path);
    flr_result result = flr_mesh_open(cli->env, path, &options, &j->mesh, &report, error);
    if (result != FLR_OK) {
        flr_hint_scene(cli->env, path, error);
        return result;
    }
    flr_warn_left_out(cli, path, &report);
    j->unit = report.unit;
    if (values->segment)
        return flr_segment_list_parse("--segment", values->segment, strlen(values->segment),
                                      j->unit, &j->list, error);
    if (values->from) return flr_probe_recording(cli, values->from, j->mesh, &j->list, error);
    flr_progress(cli, 0, 1, "reading %s", values->segments);
    return flr_segment_list_read(cli->env, values->segments, j->unit, &j->list, error);
}

static flr_result make(flr_cli *cli, const probe_values *values, probe_job *j, flr_error *error)
{
    flr_probe_def def = flr_default_probe_def();
    def.mesh = j->mesh;
    def.method = (flr_probe_method)values->method;
    def.grain = values->grain;
    flr_progress(cli, 0, 1, "making it ready");
    int64_t begin = flr_clock_ns(cli->env);
    flr_result result = flr_probe_model_create(&def, &j->model, error);
    j->seconds = (double)(flr_clock_ns(cli->env) - begin) * 1e-9;
    return result;
}

/* One segment: a line of the table, or a JSON document of its own. */
static void tell(flr_cli *cli, const probe_job *j, size_t i, bool hit, const flr_probe_hit *h)
{
    if (!cli->json) {
        if (!hit)
            flr_print(cli, "%9zu  -\n", i);
        else
            flr_print(cli, "%9zu  %-12.9g %9u  %12.6g %12.6g %12.6g\n", i, h->t, h->triangle,
                      h->point.x / j->unit, h->point.y / j->unit, h->point.z / j->unit);
        return;
    }
    /* thousands of them: written straight, 17 digits read back as the same number */
    if (hit)
        printf("{\"i\": %zu, \"hit\": true, \"t\": %.17g, \"triangle\": %u}\n", i, h->t,
               h->triangle);
    else
        printf("{\"i\": %zu, \"hit\": false, \"t\": null, \"triangle\": null}\n", i);
}

static void ask_all(flr_cli *cli, const probe_job *j)
{
    flr_print(cli, "%9s  %-12s %9s  %12s %12s %12s\n", "i", "t", "triangle", "x", "y", "z");
    size_t hits = 0;
    int64_t spent = 0;
    flr_probe_witness witness = flr_probe_witness_none();
    for (size_t i = 0; i < j->list.count; i++) {
        const flr_segment *s = &j->list.segments[i];
        flr_probe_hit h;
        int64_t begin = flr_clock_ns(cli->env);
        bool hit = flr_probe_first(j->model, s->from, s->to, &witness, &h);
        spent += flr_clock_ns(cli->env) - begin;
        hits += hit;
        tell(cli, j, i, hit, &h);
    }
    flr_probe_info info = flr_probe_model_info(j->model);
    flr_print_note(cli,
                   "%zu of %zu %s hit; %.3f us each, the clock included. %s (%s) of %u %s made in "
                   "%.3g s, %s\n",
                   hits, j->list.count, flr_noun(j->list.count, "segment", "segments"),
                   (double)spent * 1e-3 / (double)j->list.count, method_choices[info.method],
                   info.simd, j->mesh->triangle_count,
                   flr_noun(j->mesh->triangle_count, "triangle", "triangles"), j->seconds,
                   FLR_BYTES_TEXT(info.bytes));
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const probe_values *values = given;
    (void)count;
    if (!!values->segments + !!values->segment + !!values->from != 1)
        return FLR_REFUSE(cli,
                          "feeler probe needs one of --segments FILE, with x0 y0 z0 x1 y1 z1 in "
                          "each line, --segment \"x0 y0 z0 x1 y1 z1\", or --from RECORDING");
    flr_error error;
    probe_job j = {0};
    flr_result result = load(cli, values, arguments[0], &j, &error);
    if (result == FLR_OK) result = make(cli, values, &j, &error);
    flr_progress_end(cli);
    if (result == FLR_OK) ask_all(cli, &j);
    free_job(&j);
    return result == FLR_OK ? FLR_EXIT_OK : flr_fail_with(cli, flr_exit_of_input(result), &error);
}

static const char *const usage[] = {"MESH --segments FILE [options]",
                                    "MESH --segment \"X0 Y0 Z0 X1 Y1 Z1\" [options]",
                                    "MESH --from RECORDING [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(PATH, offsetof(probe_values, segments), "segments", "FILE",
               "the segments to query: one line x0 y0 z0 x1 y1 z1 for each, in the mesh's unit"),
    FLR_OPTION(TEXT, offsetof(probe_values, segment), "segment", "\"X0 Y0 Z0 X1 Y1 Z1\"",
               "one segment to query, instead of a file"),
    FLR_OPTION(
        PATH, offsetof(probe_values, from), "from", "RECORDING",
        "query the hand's motion from frame to frame in a recording whose scene has this mesh"),
    FLR_OPTION(
        CHOICE, offsetof(probe_values, method), "method", "grid|tree|hybrid",
        "how triangles are found: cells, boxes, or boxes in cells; all give the same results; "
        "default grid, the fastest",
        .choices = method_choices),
    FLR_OPTION(SIZE, offsetof(probe_values, grain), "grain", "SIZE",
               "edge length of a cell; default: by the mean length of the mesh's edges",
               .min = 1e-9),
    FLR_INPUT_OPTIONS(probe_values),
    FLR_TOLERANT_OPTION(probe_values),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler probe ball/ball.stl --segment \"0 0 30 0 0 -30\"",
     "where does a line from above meet the ball?"},
    {"feeler probe ball/socket.stl --segment \"30 0 0 -30 0 0\" --method tree --json",
     "for a program, by way of oriented boxes"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "done, whether or not something is hit"},
    {FLR_EXIT_FAILED, "memory ran out, or the output could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the mesh or the segments cannot be used: missing, unreadable or broken"},
    {0, NULL},
};

const flr_command flr_cmd_probe = {
    .name = "probe",
    .summary = "which triangle of a mesh does a segment hit first",
    .usage = usage,
    .description =
        "Prints one line for each segment: where it first meets a triangle (t from 0 at its start "
        "to 1 at its end), the triangle's number, and the point in the mesh's unit. The answer is "
        "exact: "
        "edges and corners belong to triangles, so nothing slips through between them; of several "
        "triangles at the same t the lowest number is reported; triangles without area are not "
        "hit.\n\n"
        "--from queries what a recorded hand touched. Record it with feeler run SCENE --tool point "
        "--record FILE. Each frame becomes the segment along which the hand moved, in the frame of "
        "the part with this mesh.\n\n"
        "With --json each segment is a JSON document on a line of its own: i, hit, t, triangle.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 1,
    .argument_missing = "a mesh file",
    .values_size = sizeof(probe_values),
    .run = run,
};
