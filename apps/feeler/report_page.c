/* feeler report: the page: one HTML file that needs nothing else */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "feeler/version.h"
#include "output.h"
#include "picture/picture.h"
#include "report.h"

static const char style[] =
    ":root{--bg:#fff;--fg:#1d2733;--soft:#5b6775;--line:#d9dfe6;--card:#f5f7f9;--a:#1769aa;--b:#"
    "d9601a;"
    "--c:#2e8b57;--good:#1f7a45;--bad:#b3261e;--open:#8a6100}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e4e9ee;--soft:#9aa7b4;--line:#"
    "333c46;"
    "--card:#1c2229;--a:#6cb2eb;--b:#f0975a;--c:#6ccf98;--good:#5fcf8f;--bad:#ff8a80;--open:#"
    "e8b94a}}\n"
    "@media "
    "print{:root{--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--card:#fff;--a:#1769aa;--b:#d9601a;"
    "--c:#2e8b57;--good:#1f7a45;--bad:#b3261e;--open:#8a6100}"
    "section,figure,table{break-inside:avoid}details{display:none}body{font-size:10pt}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:940px;padding:28px 20px "
    "60px;background:var(--bg);"
    "color:var(--fg);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "h1{font-size:25px;margin:0 0 2px}h2{font-size:18px;margin:38px 0 8px;padding-top:10px;"
    "border-top:1px solid var(--line)}p{margin:6px 0}p.soft,.soft{color:var(--soft)}\n"
    ".verdict{display:flex;gap:16px;align-items:baseline;margin:18px 0;padding:14px "
    "18px;border-radius:8px;"
    "background:var(--card);border-left:6px solid var(--soft)}.verdict "
    "b{font-size:21px;white-space:nowrap}"
    ".pass{border-color:var(--good)}.pass b{color:var(--good)}.fail{border-color:var(--bad)}"
    ".fail b{color:var(--bad)}.undecided{border-color:var(--open)}.undecided b{color:var(--open)}\n"
    "table{border-collapse:collapse;width:100%;margin:8px 0}td,th{padding:5px 10px 5px "
    "0;text-align:left;"
    "vertical-align:top;border-bottom:1px solid "
    "var(--line);overflow-wrap:anywhere}td:first-child{color:var(--soft);width:34%}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;width:auto}\n"
    "figure{margin:10px "
    "0}figcaption{color:var(--soft);font-size:13px}svg{width:100%;height:auto;display:block}"
    "svg text{fill:var(--soft);font-size:11px}svg .grid{stroke:var(--line)}svg "
    ".tick{stroke:var(--soft)}"
    "svg .frame{fill:none;stroke:var(--line)}svg "
    ".line{fill:none;stroke-width:1.4;stroke-linejoin:round;stroke-linecap:round}"
    "svg .dots{fill:none;stroke-width:3.4;stroke-linecap:round}svg .a{stroke:var(--a)}svg "
    ".b{stroke:var(--b)}"
    "svg .c{stroke:var(--c)}svg .bar{fill:var(--a)}svg "
    "line.mark{stroke:var(--bad);stroke-dasharray:5 4}"
    "svg text.mark{fill:var(--bad)}svg .begin{fill:var(--bg);stroke:var(--fg);stroke-width:2}svg "
    ".end{fill:var(--fg)}\n"
    ".key{margin-right:18px}.key::before{content:\"\";display:inline-block;width:18px;height:3px;"
    "margin-right:6px;vertical-align:middle;background:currentColor}.key.a::before{background:var(-"
    "-a)}"
    ".key.b::before{background:var(--b)}.key.c::before{background:var(--c)}\n"
    ".row{display:grid;grid-template-columns:repeat(3,1fr);gap:12px}.row figure{margin:0}"
    ".row "
    "img,.near "
    "img{width:100%;border-radius:6px;display:block}.near{display:grid;grid-template-columns:"
    "3fr 2fr;gap:16px;align-items:start}.near ol{margin:0;padding-left:22px}.near li{margin:0 0 "
    "7px}.near figure{margin:0}summary h2{display:inline-block;border:0;margin:0;padding:0}"
    "details{margin-top:10px}summary{cursor:pointer;"
    "color:var(--soft)}"
    "code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}"
    "@media(max-width:640px){.row,.near{grid-template-columns:1fr}}\n";

/* ---- small things ---- */

static void row(FILE *out, const char *name, const char *format, ...) FLR_PRINTF(3, 4);
static void row(FILE *out, const char *name, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("<tr><td>", out);
    flr_html_text(out, name);
    fputs("</td><td>", out);
    flr_html_text(out, text);
    fputs("</td></tr>\n", out);
}

const char *flr_report_text(const flr_report *r, const char *key)
{
    const char *text = flr_recording_text(r->from.recording, key);
    return text ? text : "not known";
}

static double number_of(const flr_report *r, const char *key)
{
    const char *text = flr_recording_text(r->from.recording, key);
    return text ? strtod(text, NULL) : NAN;
}

/* "0.0552 mm", or "more than 2.8 mm"; returns `text` */
const char *flr_report_distance_print(const flr_report *r, char text[FLR_DISTANCE_TEXT_SIZE])
{
    if (!isfinite(r->least))
        snprintf(text, FLR_DISTANCE_TEXT_SIZE, "not known: parts never came free of each other");
    else if (r->least == r->least_upper)
        snprintf(text, FLR_DISTANCE_TEXT_SIZE, "%.4g mm", 1e3 * r->least);
    else if (isfinite(r->least_upper))
        snprintf(text, FLR_DISTANCE_TEXT_SIZE, "between %.4g and %.4g mm", 1e3 * r->least,
                 1e3 * r->least_upper);
    else
        snprintf(text, FLR_DISTANCE_TEXT_SIZE, "at least %.4g mm", 1e3 * r->least);
    return text;
}

/* a column of the frames as an array; free it */
static double *column(const flr_report *r, size_t offset, double scale)
{
    double *values = malloc(r->count * sizeof *values);
    for (size_t i = 0; values && i < r->count; i++)
        values[i] = scale * *(const double *)(const void *)((const char *)&r->frames[i] + offset);
    return values;
}
#define COLUMN(r, member, scale) column(r, offsetof(flr_report_frame, member), scale)

/* ---- pictures ---- */

void flr_html_begin(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
}

void flr_html_base64(FILE *out, const flr_blob *blob)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < blob->size; i += 3) {
        uint32_t bits = (uint32_t)blob->bytes[i] << 16;
        if (i + 1 < blob->size) bits |= (uint32_t)blob->bytes[i + 1] << 8;
        if (i + 2 < blob->size) bits |= blob->bytes[i + 2];
        fputc(digits[bits >> 18], out);
        fputc(digits[bits >> 12 & 63], out);
        fputc(i + 1 < blob->size ? digits[bits >> 6 & 63] : '=', out);
        fputc(i + 2 < blob->size ? digits[bits & 63] : '=', out);
    }
}

static flr_result write_picture(FILE *out, const flr_report *r, size_t frame, const char *says,
                                flr_report_view *view, flr_error *error)
{
    flr_picture picture = {0};
    flr_blob png = {0};
    flr_result result = flr_report_draw(r, view, frame, &picture, error);
    if (result == FLR_OK) result = flr_picture_png(&picture, &png, error);
    if (result == FLR_OK) {
        fprintf(out, "<figure><img alt=\"%s\" src=\"data:image/png;base64,", says);
        flr_html_base64(out, &png);
        fprintf(out, "\"><figcaption>%s, %.3f s</figcaption></figure>\n", says, r->frames[frame].t);
    }
    flr_blob_free(&png);
    flr_picture_free(&picture);
    return result;
}

static flr_result write_pictures(flr_cli *cli, FILE *out, const flr_report *r, flr_error *error)
{
    flr_report_view view;
    flr_result result = flr_report_view_begin(&view, r, 440, 360, error);
    if (result != FLR_OK) return result;
    const struct {
        size_t frame;
        const char *says;
    } views[] = {{0, "start"}, {r->nearest, "nearest"}, {r->count - 1, "end"}};
    fputs("<div class=\"row\">\n", out);
    for (int i = 0; i < 3 && result == FLR_OK; i++) {
        flr_progress(cli, (uint64_t)i, 3, "drawing");
        result = write_picture(out, r, views[i].frame, views[i].says, &view, error);
    }
    fputs("</div>\n", out);
    flr_report_view_end(&view);
    return result;
}

/* ---- sections ---- */

static void write_verdict(FILE *out, const flr_report *r)
{
    char distance[FLR_DISTANCE_TEXT_SIZE];
    flr_report_distance_print(r, distance);
    const char *words[] = {"", "PASS", "FAIL", "UNDECIDED"};
    if (r->verdict == FLR_VERDICT_NONE) {
        fprintf(out,
                "<div class=\"verdict\"><b>%s</b><span>least distance of the surfaces; no "
                "clearance was stated to compare it with</span></div>\n",
                distance);
        return;
    }
    fprintf(out, "<div class=\"verdict %s\"><b>%s</b><span>", flr_verdict_name(r->verdict),
            words[r->verdict]);
    fprintf(out, "required clearance %.4g mm; least distance of the surfaces %s",
            1e3 * r->clearance, distance);
    if (r->verdict == FLR_VERDICT_FAIL) fprintf(out, ", at %.3f s", r->frames[r->nearest].t);
    if (r->verdict == FLR_VERDICT_OPEN)
        fputs(r->parts.count ? "; measure more frames to decide (--measure)"
                             : "; without the scene's meshes only bounds are known",
              out);
    fputs("</span></div>\n", out);
}

/* Of each pair the least clearance, and when; what started in each other comes first. */
static void write_pairs(FILE *out, const flr_report *r)
{
    enum { PAIRS_LISTED = 50 };
    const flr_report_pair **list = calloc(r->pair_count + 1, sizeof(flr_report_pair *));
    const size_t count = list ? flr_report_pairs_sort(r, list) : 0;
    if (count > 0) fputs("<section><h2>Clearance of each pair</h2><table>\n", out);
    for (size_t i = 0; i < count && i < PAIRS_LISTED; i++) {
        char names[160];
        snprintf(names, sizeof names, "%.70s and %.70s", r->parts.list[list[i]->a].name,
                 r->parts.list[list[i]->b].name);
        row(out, names, "%s", FLR_PAIR_TEXT(r, list[i]));
    }
    if (count > PAIRS_LISTED) row(out, "others", "%zu pairs, farther apart", count - PAIRS_LISTED);
    if (count > 0) fputs("</table></section>\n", out);
    free((void *)list);
}

static void write_summary(FILE *out, const flr_report *r)
{
    char distance[FLR_DISTANCE_TEXT_SIZE];
    unsigned long long count = r->count;
    double duration = r->frames[r->count - 1].t - r->frames[0].t + 1 / r->from.setup.rate;
    fputs("<section><h2>Summary</h2><table>\n", out);
    row(out, "part", "%s", r->from.setup.part);
    row(out, "motion", "%.4g s, %llu frames at %g Hz%s", duration, count, r->from.setup.rate,
        r->complete ? "" : "; the recording was cut off, what follows is missing");
    if (r->missing)
        row(out, "missing", "%llu frames did not get into the recording",
            (unsigned long long)r->missing);
    row(out, "least distance", "%s at %.3f s", flr_report_distance_print(r, distance),
        r->frames[r->nearest].t);
    if (r->parts.count)
        row(out, "surfaces that meet",
            "in %zu of %zu frames whose triangles were measured; %zu "
            "others cannot by their bounds, %zu were not looked at",
            r->meeting, r->measured, r->proven, r->count - r->measured - r->proven);
    if (r->overlap_frames)
        row(out, "overlap at the start",
            "in %zu more frames only parts meet that started in each other%s; these frames do not "
            "count",
            r->overlap_frames, r->stuck ? ", and some never came free" : "");
    if (!r->parts.count)
        row(out, "surfaces that meet", "not counted: the scene's meshes are not at hand");
    row(out, "contact", "in %zu frames (%.3g %%), at most %u points at once", r->contact_frames,
        100.0 * (double)r->contact_frames / (double)r->count, r->most_contacts);
    row(out, "potential penetrations", "in %zu frames, %.2g of those with contact%s",
        r->penetration_frames,
        r->contact_frames ? (double)r->penetration_frames / (double)r->contact_frames : 0,
        r->from.setup.params.contact.force_layer < 2
            ? "; with a force layer below 2 every contact is one"
            : "");
    row(out, "something in the way", "in %zu frames; travel limited in %zu", r->stopped_frames,
        r->limited_frames);
    row(out, "largest force, torque", "%.4g N, %.4g N m (asked of the device)", r->max_force,
        r->max_torque);
    if (r->paged_most)
        row(out, "voxels from the disk",
            "%.1f MB read, at most %.1f MB in memory and %.1f MB of directory; %.4g %% were there "
            "before they were needed; "
            "frames waited %zu %s, at most %.3g ms, %.3g ms in all",
            1e-6 * (double)r->paged_read, 1e-6 * (double)r->paged_most,
            1e-6 * (double)r->paged_directory,
            r->paged_needed ? 100.0 * (double)r->paged_hits / (double)r->paged_needed : 100,
            r->waits, flr_noun(r->waits, "time", "times"), 1e-3 * r->longest_wait_us,
            1e-3 * r->waited_us);
    fputs("</table></section>\n", out);
}

static void percentile_row(FILE *out, const char *name, const flr_percentiles *p)
{
    fprintf(out,
            "<tr><td>%s</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td>"
            "<td class=\"n\">%.1f</td><td class=\"n\">%.1f</td></tr>\n",
            name, (double)p->p50 * 1e-3, (double)p->p99 * 1e-3, (double)p->p999 * 1e-3,
            (double)p->max * 1e-3);
}

static bool reaches(const double *values, size_t count, double top)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > top) return true;
    return false;
}

static bool write_clearance(FILE *out, const flr_report *r, const double *t)
{
    double *lower = COLUMN(r, lower, 1e3), *upper = COLUMN(r, upper, 1e3),
           *exact = COLUMN(r, exact, 1e3);
    bool ok = lower && upper && exact;
    if (ok) {
        double voxel = number_of(r, "voxel.least");
        double top = voxel > 0 ? 20e3 * voxel : 0;
        if (r->clearance > 0) top = fmax(top, 3e3 * r->clearance);
        flr_chart_line lines[] = {{"exact distance, by the triangles", exact, "c", true},
                                  {"lower bound", lower, "a", false},
                                  {"upper bound", upper, "b", false}};
        char mark[64];
        snprintf(mark, sizeof mark, "required: %.4g mm", 1e3 * r->clearance);
        flr_chart chart = {.label = "distance [mm]",
                           .t = t,
                           .count = r->count,
                           .lines = r->parts.count ? lines : lines + 1,
                           .line_count = r->parts.count ? 3 : 2,
                           .top = top,
                           .mark = r->clearance > 0 ? 1e3 * r->clearance : NAN,
                           .mark_name = mark};
        fputs(
            "<section><h2>Clearance along the way</h2>\n<p class=\"soft\">The bounds come from the "
            "voxels, in every frame. ",
            out);
        if (r->parts.count && r->measured == r->count)
            fputs("The exact distance was measured in every frame. ", out);
        else if (r->parts.count)
            fprintf(out,
                    "The exact distance was measured in %zu of %zu frames; the others cannot be "
                    "nearer than %.4g mm, by the nearest measured one and the way between. ",
                    r->measured, r->count, 1e3 * r->least);
        if (top > 0 && (reaches(exact, r->count, top) || reaches(upper, r->count, top)))
            fprintf(out, "Distances above %.4g mm are not shown.", top);
        fputs("</p>\n", out);
        flr_chart_lines(out, &chart);
        fputs("</section>\n", out);
    }
    free(lower);
    free(upper);
    free(exact);
    return ok;
}

static void one_line(FILE *out, const flr_report *r, const double *t, const char *label,
                     const double *values, double mark, const char *mark_name)
{
    flr_chart_line line = {label, values, "a", false};
    flr_chart chart = {.label = label,
                       .t = t,
                       .count = r->count,
                       .lines = &line,
                       .line_count = 1,
                       .mark = mark,
                       .mark_name = mark_name};
    flr_chart_lines(out, &chart);
}

static bool write_forces(FILE *out, const flr_report *r, const double *t)
{
    double *force = COLUMN(r, force, 1), *torque = COLUMN(r, torque, 1e3);
    double *contacts = calloc(r->count, sizeof *contacts);
    double *deep = calloc(r->count, sizeof *deep);
    bool ok = force && torque && contacts && deep;
    if (ok) {
        for (size_t i = 0; i < r->count; i++) {
            contacts[i] = r->frames[i].contacts;
            deep[i] = r->frames[i].penetrations;
        }
        fputs("<section><h2>Force and torque</h2>\n", out);
        one_line(out, r, t, "force [N]", force, NAN, NULL);
        one_line(out, r, t, "torque [N mm]", torque, NAN, NULL);
        fputs("</section>\n<section><h2>Contacts</h2>\n", out);
        flr_chart_line lines[] = {{"points in contact", contacts, "a", false},
                                  {"points where surfaces may meet", deep, "b", false}};
        flr_chart chart = {.label = "points",
                           .t = t,
                           .count = r->count,
                           .lines = lines,
                           .line_count = 2,
                           .mark = NAN};
        /* where every contact is a potential penetration, that says nothing */
        if (r->from.setup.params.contact.force_layer < 2) chart.line_count = 1;
        chart.label = chart.line_count > 1 ? "points" : "points in contact";
        flr_chart_lines(out, &chart);
        fputs("</section>\n", out);
    }
    free(force);
    free(torque);
    free(contacts);
    free(deep);
    return ok;
}

/* What was in memory of voxels that are read as they are needed, and when frames waited for them. */
static bool write_paging(FILE *out, const flr_report *r, const double *t)
{
    if (!r->paged_most) return true;
    double *resident = COLUMN(r, paged_resident, 1e-6), *read = COLUMN(r, paged_read, 1e-6),
           *waited = COLUMN(r, waited_us, 1e-3);
    bool ok = resident && read && waited;
    if (ok) {
        flr_chart_line lines[] = {{"in memory", resident, "a", false},
                                  {"read so far", read, "b", false}};
        flr_chart chart = {.label = "voxels [MB]",
                           .t = t,
                           .count = r->count,
                           .lines = lines,
                           .line_count = 2,
                           .mark = NAN};
        fputs("<section><h2>Voxels from the disk</h2>\n", out);
        flr_chart_lines(out, &chart);
        if (r->waits) one_line(out, r, t, "waited before the frame [ms]", waited, NAN, NULL);
        fputs("</section>\n", out);
    }
    free(resident);
    free(read);
    free(waited);
    return ok;
}

static bool write_timing(FILE *out, const flr_report *r, const double *t)
{
    double *compute = COLUMN(r, compute_us, 1), *wakeup = COLUMN(r, wakeup_us, 1);
    bool ok = compute && wakeup;
    if (ok) {
        double period = 1e6 / r->from.setup.rate;
        fprintf(
            out,
            "<section><details><summary><h2>Timing</h2></summary>\n<p class=\"soft\">%s A frame "
            "has "
            "%.4g us.</p>\n"
            "<table><tr><th>microseconds</th><th class=\"n\">median</th><th class=\"n\">p99</th>"
            "<th class=\"n\">p99.9</th><th class=\"n\">largest</th></tr>\n",
            r->paced ? "By the clock, as with a person."
                     : "Free running: frames followed each other as fast as they could, so "
                       "there is no waking up.",
            period);
        percentile_row(out, "step of the world", &r->compute_ns);
        if (r->paced) percentile_row(out, "began late by", &r->wakeup_ns);
        fputs("</table>\n", out);
        one_line(out, r, t, "step [us]", compute, period, "a period");
        flr_chart_histogram(out, "step [us]", compute, r->count, period, "a period");
        if (r->paced) {
            one_line(out, r, t, "began late by [us]", wakeup, NAN, NULL);
            flr_chart_histogram(out, "began late by [us]", wakeup, r->count, period, "a period");
        }
        fputs("</details></section>\n", out);
    }
    free(compute);
    free(wakeup);
    return ok;
}

static bool write_way(FILE *out, const flr_report *r)
{
    double *p[3] = {NULL, NULL, NULL};
    bool *hot = calloc(r->count, sizeof *hot), ok = hot != NULL;
    for (int i = 0; i < 3; i++) ok = (p[i] = calloc(r->count, sizeof **p)) && ok;
    /* of the middle of the part, where its mesh is known, else of its origin */
    flr_vec3 centre = flr_vec3_zero();
    uint32_t number = 0;
    for (size_t i = 0; r->parts.count && i < r->from.scene->part_count; i++) {
        if (!r->from.scene->parts[i].moving) continue;
        if (number++ == r->held) centre = flr_box3_centre(flr_report_mesh(r, i)->bounds);
    }
    for (size_t i = 0; ok && r->moving && i < r->count; i++) {
        flr_vec3 at = flr_pose_apply(r->poses[i * r->moving + r->held], centre);
        p[0][i] = at.x, p[1][i] = at.y, p[2][i] = at.z;
        hot[i] = r->frames[i].contacts > 0;
    }
    if (ok && r->moving) {
        static const struct {
            int x, y;
            const char *across, *up, *says;
        } views[] = {{0, 2, "x", "z", "from the front"},
                     {1, 2, "y", "z", "from the right"},
                     {0, 1, "x", "y", "from above"}};
        fprintf(out,
                "<p class=\"soft\">The way of %s, with contact in the second colour; from the "
                "ring to the dot.</p>\n<div class=\"row\">",
                r->parts.count ? "the middle of the part" : "the part's origin");
        for (int i = 0; i < 3; i++) {
            fputs("<figure>", out);
            flr_chart_path(out, views[i].across, views[i].up, p[views[i].x], p[views[i].y], hot,
                           r->count, 1e-3, "mm");
            fprintf(out, "<figcaption>%s</figcaption></figure>", views[i].says);
        }
        fputs("</div>\n<p class=\"soft\"><span class=\"key a\">free</span><span class=\"key b\">in "
              "contact</span></p>\n",
              out);
    }
    for (int i = 0; i < 3; i++) free(p[i]);
    free(hot);
    return ok;
}

static void write_conditions(FILE *out, const flr_report *r)
{
    const flr_contact_params *c = &r->from.setup.params.contact;
    fputs("<section><h2>Conditions</h2><table>\n", out);
    row(out, "recording", "%s, by feeler %s", r->from.path, flr_report_text(r, "version"));
    row(out, "scene", "%s: %s%s", flr_report_text(r, "scene.name"),
        r->from.scene ? r->from.scene->path : flr_report_text(r, "scene"),
        !r->from.scene          ? " (not at hand)"
        : r->from.scene_changed ? " (changed since)"
                                : "");
    if (r->from.setup.live)
        row(out, "hand", "somebody's, at feeler serve: %s", flr_report_text(r, "device"));
    else
        row(out, "hand", "%s on a %s, speed %s, seed %s", flr_report_text(r, "hand"),
            flr_report_text(r, "device"), flr_report_text(r, "hand.speed"),
            flr_report_text(r, "hand.seed"));
    row(out, "voxel", "%.4g mm", 1e3 * number_of(r, "voxel.least"));
    row(out, "contact", "force layer %u, %s model, %.4g N/m, displaced by %.4g mm, friction %.3g",
        c->force_layer, flr_scene_models[c->model], c->stiffness, 1e3 * c->displacement,
        r->from.setup.params.friction);
    row(out, "motion", "%s, braking %s, way checked: %s", flr_report_text(r, "step.integrator"),
        r->from.setup.params.step.braking > 0 ? "on" : "off",
        isfinite(r->from.setup.params.unchecked) ? "yes" : "no");
    if (!r->from.setup.live) row(out, "machine", "%s", flr_report_text(r, "machine"));
    row(out, "report", "feeler %s", FLR_VERSION);
    fputs("</table>\n<details><summary>parts</summary><table>\n", out);
    for (uint32_t i = 0;; i++) {
        char key[48];
        snprintf(key, sizeof key, "parts.%u.name", i);
        const char *name = flr_recording_text(r->from.recording, key);
        if (!name) break;
        snprintf(key, sizeof key, "parts.%u.moving", i);
        bool moving = !strcmp(flr_report_text(r, key), "true");
        snprintf(key, sizeof key, "parts.%u.mesh", i);
        row(out, name, "%s, mesh %s", moving ? "moves" : "stands", flr_report_text(r, key));
    }
    fputs("</table></details></section>\n", out);
}

/* ---- the whole ---- */

static flr_result write_page(flr_cli *cli, FILE *out, const flr_report *r, flr_error *error)
{
    double *t = COLUMN(r, t, 1);
    flr_result result = t ? FLR_OK : flr_fail_memory(error);
    if (result != FLR_OK) return result;
    flr_html_begin(out);
    flr_html_text(out, flr_report_text(r, "scene.name"));
    fputs(" · ", out);
    flr_html_text(out, r->from.setup.part);
    fprintf(out, " · feeler report</title>\n<style>\n%s</style></head><body>\n<h1>", style);
    flr_html_text(out, flr_report_text(r, "scene.name"));
    fputs("</h1><p class=\"soft\">How much room there was for ", out);
    flr_html_text(out, r->from.setup.part);
    fputs(" on its way</p>\n", out);
    write_verdict(out, r);
    result = flr_report_near_write(cli, out, r, error);
    if (result != FLR_OK) {
        free(t);
        return result;
    }
    write_summary(out, r);
    write_pairs(out, r);
    fputs("<section><h2>Path</h2>\n", out);
    if (r->parts.count) result = write_pictures(cli, out, r, error);
    bool ok = result == FLR_OK && write_way(out, r);
    fputs("</section>\n", out);
    ok = ok && write_clearance(out, r, t) && write_forces(out, r, t) && write_paging(out, r, t) &&
         write_timing(out, r, t);
    write_conditions(out, r);
    fputs("</body></html>\n", out);
    free(t);
    if (result == FLR_OK && !ok) result = flr_fail_memory(error);
    return result;
}

flr_result flr_report_page(flr_cli *cli, const flr_report *r, flr_blob *page, flr_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out) return flr_fail_memory(error);
    flr_result result = write_page(cli, out, r, error);
    bool whole = !ferror(out);
    if ((fclose(out) != 0 || !whole) && result == FLR_OK) result = flr_fail_memory(error);
    if (result != FLR_OK) {
        free(bytes);
        return result;
    }
    *page = (flr_blob){(uint8_t *)bytes, size};
    return FLR_OK;
}
