/* a report about a recording: a worker has it written by the function of the definition */
#include <stdlib.h>
#include <string.h>

#include "sim/review.h"

typedef struct record_report {
    flr_job job;
    flr_env *env;
    char *path;
    double clearance;
    uint8_t format;
    flr_result (*write)(const flr_engine_recording_report *report, flr_blob *file,
                        flr_error *error);
    flr_blob file;
} record_report;

static void drop(flr_job *job)
{
    record_report *r = (record_report *)job;
    flr_blob_free(&r->file);
    free(r->path);
    free(r);
}

static bool go_on(void *context, double done)
{
    record_report *r = context;
    return flr_job_progress(&r->job, done, "measuring");
}

static void work(flr_job *job)
{
    record_report *r = (record_report *)job;
    const flr_engine_recording_report report = {.env = r->env,
                                                .path = r->path,
                                                .clearance = r->clearance,
                                                .format = r->format,
                                                .go_on = go_on,
                                                .context = r};
    job->result = r->write(&report, &r->file, &job->error);
}

static void done(flr_engine *e, flr_job *job)
{
    record_report *r = (record_report *)job;
    e->review->reporting--;
    if (job->result == FLR_OK)
        flr_review_keep_report(e->review, job->info.job, r->format, "report", &r->file);
}

static const flr_engine_recording *find(const flr_engine *e, uint32_t recording)
{
    if (recording >= e->recording_count || e->recordings[recording].gone) return NULL;
    return &e->recordings[recording];
}

flr_result flr_engine_report_recording(flr_engine *e, uint32_t recording, double clearance,
                                       uint8_t format, uint32_t *job, flr_error *error)
{
    const flr_engine_recording *of = find(e, recording);
    if (!e->def.report_recording)
        return flr_fail(error, FLR_UNSUPPORTED, "this controller writes no reports");
    if (!of) return flr_fail(error, FLR_NOT_FOUND, "there is no recording %u", recording);
    if (!of->finished)
        return flr_fail(error, FLR_AGAIN, "the recording %s is still being made; stop it first",
                        of->name);
    if (!(clearance <= 1))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a clearance is a length from 0 to 1 m");
    if (format != FLR_WIRE_REPORT_HTML && format != FLR_WIRE_REPORT_PDF)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a report about a recording is a page or a PDF file");
    if (e->review->reporting >= FLR_REVIEW_REPORTS)
        return flr_fail(error, FLR_AGAIN, "other reports are being written; try again later");
    flr_result result = flr_engine_can_post(e, error);
    if (result != FLR_OK) return result;
    record_report *r = calloc(1, sizeof *r);
    if (r) r->path = strdup(of->path);
    if (!r || !r->path) {
        free(r);
        return flr_engine_no_memory(error);
    }
    e->review->reporting++;
    r->env = e->def.env;
    r->clearance = clearance;
    r->format = format;
    r->write = e->def.report_recording;
    r->job = (flr_job){.work = work, .done = done, .drop = drop};
    return flr_engine_post(e, &r->job, FLR_WIRE_JOB_REPORT, FLR_NO_PART_ID, "report", job);
}
