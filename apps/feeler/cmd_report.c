/* feeler report: one page about a recording */
#include <math.h>
#include <string.h>

#include "files.h"
#include "output.h"
#include "report.h"

typedef struct report_values {
    flr_common common;
    const char *out, *pdf, *animation;
    double clearance; /* metres; below 0: not given */
    int64_t measure;
} report_values;

static flr_result write_page(flr_cli *cli, const char *path, bool pdf, const flr_report *r,
                             size_t *size, flr_error *error)
{
    flr_blob page;
    flr_result result =
        pdf ? flr_report_pdf(cli, r, &page, error) : flr_report_page(cli, r, &page, error);
    if (result != FLR_OK) return result;
    flr_hold_signals();
    result = flr_file_write_all(cli->env, path, page.bytes, page.size, error);
    flr_release_signals();
    *size = page.size;
    flr_blob_free(&page);
    return result;
}

/* Without the meshes there is nothing to draw. */
static flr_result animate(flr_cli *cli, const report_values *values, const flr_report *r,
                          size_t *drawn, flr_error *error)
{
    if (!values->animation) return FLR_OK;
    if (!r->parts.count)
        return flr_fail(error, FLR_NOT_FOUND,
                        "%s: an animation needs the meshes of the scene; name the scene file, too",
                        r->from.path);
    return flr_report_animate(cli, r, values->animation, drawn, error);
}

static void tell(flr_cli *cli, const report_values *values, const flr_report *r,
                 const size_t size[2], size_t drawn)
{
    const char *colour = r->verdict == FLR_VERDICT_PASS   ? flr_green(cli)
                         : r->verdict == FLR_VERDICT_FAIL ? flr_red(cli)
                                                          : flr_yellow(cli);
    if (r->verdict != FLR_VERDICT_NONE)
        flr_print(cli, "%s%s%s: required clearance %.4g mm, ", colour, flr_verdict_name(r->verdict),
                  flr_plain(cli), 1e3 * r->clearance);
    if (isfinite(r->least_upper))
        flr_print(cli, "least distance %.4g to %.4g mm, at %.3f s\n", 1e3 * r->least,
                  1e3 * r->least_upper, r->frames[r->nearest].t);
    else if (isfinite(r->least))
        flr_print(cli, "least distance at least %.4g mm\n", 1e3 * r->least);
    else
        flr_print(cli, "parts never came free of each other\n");
    if (r->parts.count)
        flr_print(cli, "surfaces meet in %zu of %zu %s measured, of %zu\n", r->meeting, r->measured,
                  flr_noun(r->measured, "frame", "frames"), r->count);
    if (r->overlap_frames)
        flr_print(cli, "in %zu more only parts meet that were in each other at the start%s\n",
                  r->overlap_frames, r->stuck ? ", and never came free" : "");
    flr_report_pairs_tell(cli, r);
    if (!r->complete)
        flr_warn(cli, "%s was not ended properly; its last frames are missing", r->from.path);
    if (values->out)
        flr_print_note(cli, "%s: %s\n", FLR_SAFE(values->out), FLR_BYTES_TEXT(size[0]));
    if (values->pdf)
        flr_print_note(cli, "%s: %s\n", FLR_SAFE(values->pdf), FLR_BYTES_TEXT(size[1]));
    if (values->animation)
        flr_print_note(cli, "%s: %zu pictures\n", FLR_SAFE(values->animation), drawn);
}

static json_t *report_json(const report_values *values, const flr_report *r, size_t size,
                           size_t drawn)
{
    json_t *o = flr_json_object(), *distance = flr_json_object();
    flr_json_set(o, "recording", flr_json_text(r->from.path));
    flr_json_set(o, "file", values->out ? flr_json_text(values->out) : json_null());
    flr_json_set(o, "bytes", values->out ? flr_json_count(size) : json_null());
    flr_json_set(o, "pdf", values->pdf ? flr_json_text(values->pdf) : json_null());
    flr_json_set(o, "animation",
                 values->animation ? flr_json_text(values->animation) : json_null());
    flr_json_set(o, "pictures", values->animation ? flr_json_count(drawn) : json_null());
    flr_json_set(o, "frames", flr_json_count(r->count));
    flr_json_set(o, "complete", json_boolean(r->complete));
    flr_json_set(o, "missing_frames", flr_json_count(r->missing));
    flr_json_set(o, "clearance", r->clearance >= 0 ? flr_json_number(r->clearance) : json_null());
    flr_json_set(o, "verdict",
                 r->verdict ? flr_json_text(flr_verdict_name(r->verdict)) : json_null());
    flr_json_set(distance, "lower", flr_json_number(r->least));
    flr_json_set(distance, "upper", flr_json_number(r->least_upper));
    flr_json_set(o, "distance", distance);
    flr_json_set(o, "nearest_frame", flr_json_count(r->nearest));
    flr_json_set(o, "measured_frames", r->parts.count ? flr_json_count(r->measured) : json_null());
    flr_json_set(o, "meeting_frames", r->parts.count ? flr_json_count(r->meeting) : json_null());
    flr_json_set(o, "overlap_frames",
                 r->parts.count ? flr_json_count(r->overlap_frames) : json_null());
    flr_json_set(o, "pairs", flr_report_pairs_json(r));
    flr_json_set(o, "contact_frames", flr_json_count(r->contact_frames));
    flr_json_set(o, "penetration_frames", flr_json_count(r->penetration_frames));
    json_t *paging = json_null();
    if (r->paged_most) {
        paging = flr_json_object();
        flr_json_set(paging, "bytes_read", flr_json_count(r->paged_read));
        flr_json_set(paging, "most_bytes", flr_json_count(r->paged_most));
        flr_json_set(paging, "directory_bytes", flr_json_count(r->paged_directory));
        flr_json_set(paging, "needed_blocks", flr_json_count(r->paged_needed));
        flr_json_set(paging, "hits", flr_json_count(r->paged_hits));
        flr_json_set(paging, "suspensions", flr_json_count(r->waits));
        flr_json_set(paging, "longest_s", flr_json_number(1e-6 * r->longest_wait_us));
        flr_json_set(paging, "suspended_s", flr_json_number(1e-6 * r->waited_us));
    }
    flr_json_set(o, "paging", paging);
    flr_json_set(o, "max_force", flr_json_number(r->max_force));
    flr_json_set(o, "max_torque", flr_json_number(r->max_torque));
    return o;
}

static int run(flr_cli *cli, const void *given, int count, char **arguments)
{
    const report_values *values = given;
    if (!values->out && !values->pdf && !values->animation)
        return FLR_REFUSE(cli, "feeler report needs a page to write: add --out report.html (or "
                               "--pdf report.pdf, or --animation way.png)");
    flr_error error;
    flr_report r = {.clearance = values->clearance};
    size_t size[2] = {0}, drawn = 0;
    bool writing = false;
    flr_result did = flr_report_make(cli, arguments[0], count > 1 ? arguments[1] : NULL,
                                     (size_t)values->measure, &r, &error);
    if (did == FLR_OK) {
        writing = r.parts.count || !values->animation;
        did = animate(cli, values, &r, &drawn, &error);
        if (did == FLR_OK && values->out)
            did = write_page(cli, values->out, false, &r, &size[0], &error);
        if (did == FLR_OK && values->pdf)
            did = write_page(cli, values->pdf, true, &r, &size[1], &error);
    }
    flr_progress_end(cli);
    int code = r.verdict == FLR_VERDICT_FAIL || r.verdict == FLR_VERDICT_OPEN ? FLR_EXIT_FAILED
                                                                              : FLR_EXIT_OK;
    if (did == FLR_OK) {
        tell(cli, values, &r, size, drawn);
        if (cli->json) flr_json_print(cli, report_json(values, &r, size[0], drawn));
    }
    flr_report_free(&r);
    if (did == FLR_OK) return code;
    return flr_fail_with(cli, writing ? FLR_EXIT_FAILED : flr_exit_of_input(did), &error);
}

static const report_values defaults = {.clearance = -1, .measure = 5000};
static const char *const usage[] = {"RECORDING [SCENE] --out FILE.html [options]",
                                    "RECORDING [SCENE] --pdf FILE.pdf [options]",
                                    "RECORDING [SCENE] --animation FILE.png [options]", NULL};
static const flr_option options[] = {
    FLR_OPTION(PATH, offsetof(report_values, out), "out", "FILE",
               "the page to write; it needs no other file", .letter = 'o'),
    FLR_OPTION(PATH, offsetof(report_values, pdf), "pdf", "FILE",
               "the same on two pages of PDF: verdict, nearest places with a picture, clearance"),
    FLR_OPTION(PATH, offsetof(report_values, animation), "animation", "FILE",
               "write the motion as an animated PNG, which browsers play; needs the scene's meshes",
               .letter = 'a'),
    FLR_OPTION(SIZE, offsetof(report_values, clearance), "clearance", "SIZE",
               "the distance that the parts must keep, such as 1mm: the page says pass or fail",
               .letter = 'c', .min = 0),
    FLR_OPTION(
        INTEGER, offsetof(report_values, measure), "measure", "N",
        "measure the exact distance in so many frames at most: some at even steps, then those "
        "that decide; default 5000",
        .min = 0, .max = 1e9),
    {.name = NULL},
};
static const flr_example examples[] = {
    {"feeler report turn.mcap --out turn.html", "path, clearance, forces and times on one page"},
    {"feeler report turn.mcap --pdf turn.pdf", "the result on two pages, for a document"},
    {"feeler report turn.mcap --animation turn.png", "the motion, for a page or a document"},
    {NULL, NULL},
};
static const flr_exit_text exits[] = {
    {FLR_EXIT_OK, "the page is written; the clearance, where one was stated, was kept"},
    {FLR_EXIT_FAILED,
     "the clearance was not kept, or that could not be decided (the page is written); memory ran "
     "out, or the page could not be written"},
    {FLR_EXIT_USAGE, "the command line is wrong; nothing was done"},
    {FLR_EXIT_INPUT, "the recording, or the scene that was given, cannot be used"},
    {0, NULL},
};

const flr_command flr_cmd_report = {
    .name = "report",
    .summary = "one page about a recording: path, clearance, forces, times",
    .usage = usage,
    .description =
        "Writes an HTML page that needs nothing else: the parts that came nearest with their "
        "nearest "
        "points and a picture of them from nearby, the next five, pictures of the start, the "
        "nearest "
        "place and the end, the way of the part, the clearance along it, force and torque, "
        "contacts, the "
        "times of the loop, and the conditions.\n\n"
        "Where the scene is at hand (the file that the recording names, or SCENE) and its meshes "
        "are "
        "those that were recorded, distances are measured by the triangles. Frames that were not "
        "measured are known to be at least so far apart as the nearest measured one, less the way "
        "between them; the verdict counts all frames. Without the scene the page has the bounds "
        "that "
        "the voxels gave.",
    .options = options,
    .examples = examples,
    .exits = exits,
    .argument = FLR_ARGUMENT_FILE,
    .min_arguments = 1,
    .max_arguments = 2,
    .argument_missing = "a recording",
    .values_size = sizeof(report_values),
    .defaults = &defaults,
    .run = run,
};
