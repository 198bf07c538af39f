/* feeler report: a report from the path of a recording, for the command and for a controller */

#include "output.h"
#include "protocol/messages.h"
#include "report.h"

/* The scene is optional: a warning says what is missing, and the page does without. */
static flr_result find_meshes(flr_cli *cli, const char *scene, flr_report *r, flr_error *error)
{
    flr_error why;
    flr_result result = flr_recorded_scene(cli, &r->from, scene, &why);
    if (result == FLR_OK) result = flr_report_meshes(cli, r, &why);
    if (result == FLR_OK) return FLR_OK;
    if (scene || result == FLR_NO_MEMORY) return flr_fail(error, result, "%s", why.message);
    flr_warn(cli, "%s; the report has no exact distances and no pictures", why.message);
    return FLR_OK;
}

flr_result flr_report_make(flr_cli *cli, const char *path, const char *scene, size_t most,
                           flr_report *r, flr_error *error)
{
    flr_result did = flr_recorded_open(cli, path, &r->from, error);
    if (did == FLR_OK) did = flr_report_read(cli, r, error);
    if (did == FLR_OK) did = find_meshes(cli, scene, r, error);
    if (did == FLR_OK && r->parts.count) did = flr_report_measure(cli, r, most, error);
    if (did == FLR_OK) did = flr_report_sum(r, error);
    return did;
}

flr_result flr_report_serve(const flr_engine_recording_report *asked, flr_blob *file,
                            flr_error *error)
{
    enum { MAX_SERVED_FRAMES = 2000 }; /* frames: somebody waits for it */
    flr_cli cli = {.env = asked->env, .command = &flr_cmd_report, .quiet = true};
    flr_report r = {
        .clearance = asked->clearance, .go_on = asked->go_on, .context = asked->context};
    flr_result result = flr_report_make(&cli, asked->path, NULL, MAX_SERVED_FRAMES, &r, error);
    if (result == FLR_OK && asked->format == FLR_WIRE_REPORT_PDF)
        result = flr_report_pdf(&cli, &r, file, error);
    else if (result == FLR_OK)
        result = flr_report_page(&cli, &r, file, error);
    flr_report_free(&r);
    return result;
}
