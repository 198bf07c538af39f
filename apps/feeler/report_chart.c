/* feeler report: plots as SVG inside the page, which brings their colours */
#include <math.h>

#include "report.h"

enum {
    REPORT_CHART_WIDTH = 860,
    HEIGHT = 230,
    REPORT_CHART_LEFT = 64,
    REPORT_CHART_RIGHT = 12,
    REPORT_CHART_TOP = 14,
    BOTTOM = 34,
    REPORT_CHART_COLUMNS = 760
};

void flr_html_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

/* ---- axes ---- */

/* a step of 1, 2 or 5 times a power of ten that divides the range into about `wanted` */
static double nice_step(double range, int wanted)
{
    if (!(range > 0)) return 1;
    double rough = range / wanted, power = pow(10, floor(log10(rough)));
    double share = rough / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* a linear axis from value to pixel */
typedef struct report_chart_axis {
    double low, high; /* values */
    double from, to;  /* pixels */
} report_chart_axis;

static double at(const report_chart_axis *a, double value)
{
    double range = a->high - a->low;
    return a->from + (range > 0 ? (value - a->low) / range : 0.5) * (a->to - a->from);
}

static void write_x_axis(FILE *out, const report_chart_axis *x, double y, const char *label)
{
    double step = nice_step(x->high - x->low, 8);
    for (double v = ceil(x->low / step - 1e-9) * step; v <= x->high + step * 1e-9; v += step)
        fprintf(out,
                "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>",
                at(x, v), at(x, v), y, y + 4, at(x, v), y + 16, fabs(v) < step / 1e3 ? 0 : v);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", x->to, y + 30, label);
}

static void write_y_axis(FILE *out, const report_chart_axis *y, double left, double right,
                         const char *label)
{
    double step = nice_step(y->high - y->low, 5);
    for (double v = ceil(y->low / step - 1e-9) * step; v <= y->high + step * 1e-9; v += step)
        fprintf(out,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>",
                left, right, at(y, v), at(y, v), left - 6, at(y, v) + 4,
                fabs(v) < step / 1e3 ? 0 : v);
    fprintf(out, "<text transform=\"translate(13 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            (y->from + y->to) / 2);
    flr_html_text(out, label);
    fputs("</text>", out);
}

static void write_mark(FILE *out, const report_chart_axis *y, double mark, const char *name)
{
    if (isnan(mark) || mark < y->low || mark > y->high) return;
    fprintf(out,
            "<line class=\"mark\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"mark\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
            REPORT_CHART_LEFT, REPORT_CHART_WIDTH - REPORT_CHART_RIGHT, at(y, mark), at(y, mark),
            REPORT_CHART_WIDTH - REPORT_CHART_RIGHT - 4, at(y, mark) - 4);
    flr_html_text(out, name);
    fputs("</text>", out);
}

/* ---- lines ---- */

static void find_range(const flr_chart *c, double *low, double *high)
{
    *low = 0, *high = 0;
    for (size_t i = 0; i < c->line_count; i++)
        for (size_t k = 0; k < c->count; k++) {
            double v = c->lines[i].y[k];
            if (!isfinite(v)) continue;
            *low = fmin(*low, v);
            *high = fmax(*high, v);
        }
    if (!isnan(c->mark)) *high = fmax(*high, 1.15 * c->mark);
    if (c->top > 0 && *high > c->top) *high = c->top;
    if (!(*high > *low)) *high = *low + 1;
}

/* One line: in each column the least and the greatest value. */
static void write_line(FILE *out, const flr_chart *c, const flr_chart_line *line,
                       const report_chart_axis *x, const report_chart_axis *y)
{
    if (line->dots) {
        double last = -1; /* one dot a pixel is enough */
        fprintf(out, "<path class=\"dots %s\" d=\"", line->look);
        for (size_t k = 0; k < c->count; k++) {
            double v = line->y[k], px = at(x, c->t[k]);
            if (!isfinite(v) || v > y->high || px < last + 0.8) continue;
            fprintf(out, "M%.1f %.1fh0", px, at(y, v));
            last = px;
        }
        fputs("\"/>", out);
        return;
    }
    size_t columns = c->count < REPORT_CHART_COLUMNS ? c->count : REPORT_CHART_COLUMNS;
    bool open = false;
    fprintf(out, "<path class=\"line %s\" d=\"", line->look);
    for (size_t b = 0; b < columns; b++) {
        size_t begin = b * c->count / columns, end = (b + 1) * c->count / columns;
        double least = INFINITY, most = -INFINITY;
        for (size_t k = begin; k < end; k++) {
            if (!isfinite(line->y[k])) continue;
            least = fmin(least, line->y[k]);
            most = fmax(most, line->y[k]);
        }
        if (least > most) { /* nothing here: a gap */
            open = false;
            continue;
        }
        double px = at(x, c->t[begin]);
        fprintf(out, "%c%.1f %.1f", open ? 'L' : 'M', px, at(y, least));
        if (most > least) fprintf(out, "L%.1f %.1f", px, at(y, most));
        open = true;
    }
    fputs("\"/>", out);
}

void flr_chart_lines(FILE *out, const flr_chart *c)
{
    long number = ftell(out); /* clip paths need names of their own */
    report_chart_axis x = {c->t[0], c->t[c->count - 1], REPORT_CHART_LEFT,
                           REPORT_CHART_WIDTH - REPORT_CHART_RIGHT};
    report_chart_axis y = {0, 0, HEIGHT - BOTTOM, REPORT_CHART_TOP};
    find_range(c, &y.low, &y.high);
    fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", REPORT_CHART_WIDTH,
            HEIGHT);
    flr_html_text(out, c->label);
    fprintf(out,
            "</title><clipPath id=\"c%ld\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
            "</clipPath>",
            number, REPORT_CHART_LEFT, REPORT_CHART_TOP - 2,
            REPORT_CHART_WIDTH - REPORT_CHART_LEFT - REPORT_CHART_RIGHT,
            HEIGHT - REPORT_CHART_TOP - BOTTOM + 4);
    write_y_axis(out, &y, REPORT_CHART_LEFT, REPORT_CHART_WIDTH - REPORT_CHART_RIGHT, c->label);
    write_x_axis(out, &x, HEIGHT - BOTTOM, "time [s]");
    fprintf(out, "<g clip-path=\"url(#c%ld)\">", number);
    for (size_t i = 0; i < c->line_count; i++) write_line(out, c, &c->lines[i], &x, &y);
    fputs("</g>", out);
    write_mark(out, &y, c->mark, c->mark_name ? c->mark_name : "");
    fputs("</svg>", out);
    if (c->line_count > 1) {
        fputs("<figcaption>", out);
        for (size_t i = 0; i < c->line_count; i++) {
            fprintf(out, "<span class=\"key %s\">", c->lines[i].look);
            flr_html_text(out, c->lines[i].name);
            fputs("</span>", out);
        }
        fputs("</figcaption>", out);
    }
    fputs("</figure>\n", out);
}

/* ---- histogram ---- */

enum { BINS_PER_DECADE = 10, REPORT_CHART_BINS = 8 * BINS_PER_DECADE }; /* from 0.1 to 10^7 */

void flr_chart_histogram(FILE *out, const char *label, const double *values, size_t count,
                         double mark, const char *mark_name)
{
    size_t bins[REPORT_CHART_BINS] = {0}, most = 0;
    int first = REPORT_CHART_BINS, last = 0;
    for (size_t i = 0; i < count; i++) {
        double place = values[i] > 0.1 ? (log10(values[i]) + 1) * BINS_PER_DECADE : 0;
        int bin = place < REPORT_CHART_BINS - 1 ? (int)place : REPORT_CHART_BINS - 1;
        if (++bins[bin] > most) most = bins[bin];
        first = bin < first ? bin : first;
        last = bin > last ? bin : last;
    }
    if (!most) return;
    first -= first % BINS_PER_DECADE;
    last += BINS_PER_DECADE - last % BINS_PER_DECADE;
    report_chart_axis x = {first, last, REPORT_CHART_LEFT, REPORT_CHART_WIDTH - REPORT_CHART_RIGHT};
    /* counts on a logarithmic scale, or rare long frames could not be seen */
    report_chart_axis y = {-0.3, log10((double)most) + 0.1, HEIGHT - BOTTOM, REPORT_CHART_TOP};
    fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", REPORT_CHART_WIDTH,
            HEIGHT);
    flr_html_text(out, label);
    fputs("</title>", out);
    for (int p = 0; p <= (int)log10((double)most); p++)
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>",
                REPORT_CHART_LEFT, REPORT_CHART_WIDTH - REPORT_CHART_RIGHT, at(&y, p), at(&y, p),
                REPORT_CHART_LEFT - 6, at(&y, p) + 4, pow(10, p));
    for (int b = first; b < last; b++) {
        if (!bins[b]) continue;
        double top = at(&y, log10((double)bins[b])), left = at(&x, b);
        fprintf(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                left + 0.5, top, at(&x, b + 1) - left - 1, HEIGHT - BOTTOM - top);
    }
    for (int b = first; b <= last; b += BINS_PER_DECADE)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%g</text>", at(&x, b),
                HEIGHT - BOTTOM + 16, b == last ? "end" : "middle",
                pow(10, b / BINS_PER_DECADE - 1));
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
            REPORT_CHART_WIDTH - REPORT_CHART_RIGHT, HEIGHT - 4);
    flr_html_text(out, label);
    fprintf(out,
            "</text><text transform=\"translate(13 %d) rotate(-90)\" "
            "text-anchor=\"middle\">frames</text>",
            (HEIGHT - BOTTOM + REPORT_CHART_TOP) / 2);
    double place = mark > 0.1 ? (log10(mark) + 1) * BINS_PER_DECADE : -1;
    if (place >= first && place <= last) {
        fprintf(out,
                "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
                "<text class=\"mark\" text-anchor=\"end\" x=\"%.1f\" y=\"%d\">",
                at(&x, place), at(&x, place), REPORT_CHART_TOP, HEIGHT - BOTTOM, at(&x, place) - 4,
                REPORT_CHART_TOP + 10);
        flr_html_text(out, mark_name);
        fputs("</text>", out);
    }
    fputs("</svg></figure>\n", out);
}

/* ---- the way ---- */

void flr_chart_path(FILE *out, const char *across, const char *up, const double *x, const double *y,
                    const bool *hot, size_t count, double unit, const char *unit_name)
{
    enum { REPORT_CHART_SIZE = 280, EDGE = 52 };
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        low[0] = fmin(low[0], x[i]), high[0] = fmax(high[0], x[i]);
        low[1] = fmin(low[1], y[i]), high[1] = fmax(high[1], y[i]);
    }
    double range = fmax(fmax(high[0] - low[0], high[1] - low[1]) * 1.1, 1e-9);
    report_chart_axis ax = {((low[0] + high[0]) - range) / 2 / unit,
                            ((low[0] + high[0]) + range) / 2 / unit, EDGE, REPORT_CHART_SIZE - 8};
    report_chart_axis ay = {((low[1] + high[1]) - range) / 2 / unit,
                            ((low[1] + high[1]) + range) / 2 / unit, REPORT_CHART_SIZE - EDGE, 8};
    fprintf(out, "<svg class=\"way\" viewBox=\"0 0 %d %d\" role=\"img\"><title>%s %s</title>",
            REPORT_CHART_SIZE, REPORT_CHART_SIZE, across, up);
    fprintf(out, "<rect class=\"frame\" x=\"%d\" y=\"8\" width=\"%d\" height=\"%d\"/>", EDGE,
            REPORT_CHART_SIZE - 8 - EDGE, REPORT_CHART_SIZE - 8 - EDGE);
    double step = nice_step(ax.high - ax.low, 4);
    for (double v = ceil(ax.low / step) * step; v <= ax.high; v += step)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>", at(&ax, v),
                REPORT_CHART_SIZE - EDGE + 15, fabs(v) < step / 1e3 ? 0 : v);
    for (double v = ceil(ay.low / step) * step; v <= ay.high; v += step)
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>", EDGE - 5,
                at(&ay, v) + 4, fabs(v) < step / 1e3 ? 0 : v);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s [%s]</text>"
            "<text transform=\"translate(11 20) rotate(-90)\" text-anchor=\"end\">%s [%s]</text>",
            REPORT_CHART_SIZE - 8, REPORT_CHART_SIZE - 10, across, unit_name, up, unit_name);
    size_t step_count = count / 1500 + 1;
    for (int pass = 0; pass < 2; pass++) {
        bool open = false;
        fprintf(out, "<path class=\"line %s\" d=\"", pass ? "b" : "a");
        for (size_t i = 0; i < count; i += step_count) {
            if (pass && !hot[i]) {
                open = false;
                continue;
            }
            fprintf(out, "%c%.1f %.1f", open ? 'L' : 'M', at(&ax, x[i] / unit),
                    at(&ay, y[i] / unit));
            if (!open) fputs("h0", out);
            open = true;
        }
        fputs("\"/>", out);
    }
    fprintf(out,
            "<circle class=\"begin\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>"
            "<circle class=\"end\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></svg>",
            at(&ax, x[0] / unit), at(&ay, y[0] / unit), at(&ax, x[count - 1] / unit),
            at(&ay, y[count - 1] / unit));
}
