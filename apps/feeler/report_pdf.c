/* feeler report: two pages of PDF: the verdict, the nearest places with a picture, the clearance over time, the conditions */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "feeler/base.h"
#include "feeler/version.h"
#include "output.h"
#include "picture/pdf.h"
#include "report.h"
#include "sim/gaps.h"

static const double left = 48, right = FLR_PDF_WIDTH - 48, top = FLR_PDF_HEIGHT - 56;
static const uint32_t ink = 0x1d2733, soft = 0x5b6775, rule = 0xd9dfe6, blue = 0x1769aa,
                      red = 0xb3261e, green = 0x1f7a45, amber = 0x8a6100;

enum { LINE_SIZE = 600, CURVE_COLUMNS = 400 };

static double say(flr_pdf *pdf, double y, double size, bool bold, uint32_t colour,
                  const char *format, ...) FLR_PRINTF(6, 7);
static double say(flr_pdf *pdf, double y, double size, bool bold, uint32_t colour,
                  const char *format, ...)
{
    char text[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return flr_pdf_paragraph(pdf, left, y, right - left, size, bold, colour, text);
}

static double head(flr_pdf *pdf, double y, const char *text)
{
    const double line[2][2] = {{left, y}, {right, y}};
    flr_pdf_line(pdf, line, 2, 0.7, rule);
    return say(pdf, y - 20, 13, true, ink, "%s", text) - 2;
}

/* ---- sections ---- */

static double put_verdict(flr_pdf *pdf, double y, const flr_report *r)
{
    static const char *const words[] = {"", "PASS", "FAIL", "UNDECIDED"};
    const uint32_t colours[] = {ink, green, red, amber};
    char distance[FLR_DISTANCE_TEXT_SIZE];
    flr_report_distance_print(r, distance);
    y = say(pdf, y, 20, true, ink, "%s", flr_report_text(r, "scene.name"));
    y = say(pdf, y, 10, false, soft, "How much room there was for %s on its way",
            r->from.setup.part);
    y -= 14;
    if (r->verdict == FLR_VERDICT_NONE)
        return say(pdf, y, 11, true, ink, "Least distance of the surfaces: %s", distance);
    y = say(pdf, y, 16, true, colours[r->verdict], "%s", words[r->verdict]);
    return say(pdf, y, 11, false, ink,
               "Required clearance %.4g mm; least distance of the surfaces %s", 1e3 * r->clearance,
               distance);
}

static double put_pair(flr_pdf *pdf, double y, const flr_report *r, const flr_report_pair *p,
                       size_t rank)
{
    char gap[FLR_GAP_TEXT_SIZE];
    y = say(pdf, y, rank ? 9.5 : 11, true, ink, "%zu. %.120s and %.120s", rank + 1,
            r->parts.list[p->a].name, r->parts.list[p->b].name);
    return say(pdf, y, 9.5, false, soft, "%s at %.3f s, at x %.4g, y %.4g, z %.4g mm",
               flr_gap_print(p->least, p->error, gap), r->frames[p->frame].t, 1e3 * p->from.x,
               1e3 * p->from.y, 1e3 * p->from.z) -
           4;
}

static flr_result put_near(flr_pdf *pdf, double *y, const flr_report *r, flr_error *error)
{
    enum { PDF_PICTURE_WIDTH = 900, PDF_PICTURE_HEIGHT = 560 };
    const flr_report_pair *list[FLR_REPORT_NEAREST] = {NULL};
    const size_t count = r->parts.count ? flr_report_near(r, list) : 0;
    if (count == 0) return FLR_OK;
    flr_picture picture = {0};
    flr_result result =
        flr_report_closeup(r, list[0], PDF_PICTURE_WIDTH, PDF_PICTURE_HEIGHT, &picture, error);
    if (result != FLR_OK) return result;
    *y = head(pdf, *y - 12, "Nearest place");
    *y = put_pair(pdf, *y, r, list[0], 0);
    const double width = 360, height = width * PDF_PICTURE_HEIGHT / PDF_PICTURE_WIDTH;
    *y -= height - 6;
    flr_pdf_picture(pdf, left, *y, width, height, &picture);
    flr_picture_free(&picture);
    *y = say(pdf, *y - 12, 8, false, soft, "From nearby and cut open; red: the nearest points") - 6;
    for (size_t i = 1; i < count; i++) *y = put_pair(pdf, *y, r, list[i], i);
    return FLR_OK;
}

/* the least that is known of the distance in each column of the plot: no dip is lost */
static void put_curve(flr_pdf *pdf, double y, double height, const flr_report *r, double most)
{
    double points[CURVE_COLUMNS][2];
    size_t used = 0;
    const size_t columns = r->count < CURVE_COLUMNS ? r->count : CURVE_COLUMNS;
    for (size_t k = 0; k < columns; k++) {
        double least = INFINITY;
        for (size_t i = k * r->count / columns; i < (k + 1) * r->count / columns; i++) {
            const flr_report_frame *f = &r->frames[i];
            const double known = isfinite(f->exact) ? f->exact : f->bound;
            if (known < least) least = known;
        }
        if (!isfinite(least)) continue;
        points[used][0] =
            left + 30 + (right - left - 30) * (double)k / (double)(columns > 1 ? columns - 1 : 1);
        points[used++][1] = y + height * fmin(fmax(least / most, 0), 1);
    }
    flr_pdf_line(pdf, (const double(*)[2])points, used, 1, blue);
}

static double put_clearance(flr_pdf *pdf, double y, const flr_report *r)
{
    const double height = 150;
    double most = r->clearance > 0 ? 3 * r->clearance : 0;
    for (size_t i = 0; i < r->count && r->clearance <= 0; i++) {
        const double known = isfinite(r->frames[i].exact) ? r->frames[i].exact : r->frames[i].bound;
        if (isfinite(known)) most = fmax(most, known);
    }
    if (most <= 0) most = 1e-3;
    y = head(pdf, y - 12, "Clearance along the way") - height;
    for (int i = 0; i <= 3; i++) {
        const double at = y + height * i / 3, line[2][2] = {{left + 30, at}, {right, at}};
        char text[32];
        flr_pdf_line(pdf, line, 2, 0.4, rule);
        snprintf(text, sizeof text, "%.3g", 1e3 * most * i / 3);
        flr_pdf_text(pdf, left, at - 3, 8, false, soft, text);
    }
    if (r->clearance > 0) {
        const double at = y + height / 3, line[2][2] = {{left + 30, at}, {right, at}};
        flr_pdf_line(pdf, line, 2, 0.8, red);
    }
    put_curve(pdf, y, height, r, most);
    const double duration = r->frames[r->count - 1].t - r->frames[0].t;
    return say(pdf, y - 14, 8, false, soft,
               "mm over %.4g s; red: required. Larger distances are drawn at the top.", duration);
}

static double put_conditions(flr_pdf *pdf, double y, const flr_report *r)
{
    y = head(pdf, y - 14, "Conditions");
    y = say(pdf, y, 9.5, false, ink, "Recording: %.300s, by feeler %.40s", r->from.path,
            flr_report_text(r, "version"));
    y = say(pdf, y, 9.5, false, ink, "Scene: %.300s%s",
            r->from.scene ? r->from.scene->path : flr_report_text(r, "scene"),
            !r->from.scene          ? " (not at hand)"
            : r->from.scene_changed ? " (changed since)"
                                    : "");
    y = say(pdf, y, 9.5, false, ink,
            "Frames: %zu, of which %zu were measured by their triangles; surfaces meet in %zu",
            r->count, r->measured, r->meeting);
    y = say(pdf, y, 9.5, false, ink,
            "Largest force and torque asked of the device: %.4g N, %.4g N m", r->max_force,
            r->max_torque);
    return say(pdf, y, 9.5, false, ink, "Report: feeler %s", FLR_VERSION);
}

flr_result flr_report_pdf(flr_cli *cli, const flr_report *r, flr_blob *file, flr_error *error)
{
    flr_pdf *pdf = flr_pdf_begin();
    flr_progress(cli, 0, 1, "drawing");
    flr_pdf_page(pdf);
    double y = put_verdict(pdf, top, r);
    const flr_result result = put_near(pdf, &y, r, error);
    flr_pdf_page(pdf);
    y = put_clearance(pdf, top + 20, r);
    put_conditions(pdf, y, r);
    flr_error why;
    const flr_result made = flr_pdf_end(pdf, file, result == FLR_OK ? error : &why);
    if (result != FLR_OK && made == FLR_OK) flr_blob_free(file);
    return result != FLR_OK ? result : made;
}
