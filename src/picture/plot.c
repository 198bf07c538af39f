/* Line and bar plots as SVG. */
#include "picture/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture/svg.h"

/* An axis: values to pixels. */
typedef struct plot_axis {
    double low, high; /* of the values, or of their decimal logarithms */
    double from, to;  /* pixels */
    bool log;
} plot_axis;

/* What is being written. */
typedef struct plot_sheet {
    const flr_plot_def *def;
    flr_svg svg;
    plot_axis x, y;
    double left, right, top, bottom; /* pixels, of the frame */
} plot_sheet;

enum { MAX_TICKS = 7 };

static const char *const colours[] = {"#2f6fb0", "#d9822b", "#4f9d4f", "#c0504d",
                                      "#8064a2", "#5f6b76", "#3aa6a6", "#b5a13a"};

flr_plot_def flr_default_plot_def(void)
{
    return (flr_plot_def){.from_zero = true, .width = 720, .height = 420};
}

static const char *colour(size_t index)
{
    return colours[index % (sizeof colours / sizeof *colours)];
}

/* ---- writing ---- */

/* text inside an element, with what XML reserves escaped and control characters left out */
static void print_escaped(plot_sheet *s, const char *text)
{
    for (; text && *text && s->svg.result == FLR_OK; text++) {
        switch (*text) {
        case '&':
            flr_svg_print(&s->svg, "&amp;");
            break;
        case '<':
            flr_svg_print(&s->svg, "&lt;");
            break;
        case '>':
            flr_svg_print(&s->svg, "&gt;");
            break;
        case '"':
            flr_svg_print(&s->svg, "&quot;");
            break;
        default:
            if ((unsigned char)*text >= 32)
                s->svg.result = flr_output_write(s->svg.output, text, 1, s->svg.error);
        }
    }
}

static void print_text(plot_sheet *s, double x, double y, const char *style, const char *text)
{
    flr_svg_print(&s->svg, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    print_escaped(s, text);
    flr_svg_print(&s->svg, "</text>\n");
}

/* ---- axes ---- */

static bool usable(double value, bool log) { return isfinite(value) && (!log || value > 0); }

static double position(const plot_axis *a, double value)
{
    const double v = a->log ? log10(value) : value;
    return a->from + (a->to - a->from) * (v - a->low) / (a->high - a->low);
}

static void widen(plot_axis *a, double value)
{
    if (!usable(value, a->log)) return;
    const double v = a->log ? log10(value) : value;
    a->low = fmin(a->low, v);
    a->high = fmax(a->high, v);
}

/* 1, 2 or 5 times a power of ten: the least that gives at most MAX_TICKS steps */
static double nice_step(double range)
{
    const double power = pow(10, floor(log10(range / MAX_TICKS)));
    const double factors[] = {1, 2, 5, 10};
    for (int i = 0; i < 3; i++)
        if (range / (power * factors[i]) <= MAX_TICKS) return power * factors[i];
    return power * factors[3];
}

/* rounds the ends outwards to ticks; an axis without values shows 0..1 */
static void settle(plot_axis *a, bool from_zero)
{
    if (a->low > a->high) a->low = 0, a->high = 1;
    if (from_zero && !a->log) a->low = fmin(a->low, 0), a->high = fmax(a->high, 0);
    if (a->high - a->low < 1e-9 * fmax(fabs(a->high), 1e-9)) {
        const double more = a->log ? 0.5 : fmax(0.5 * fabs(a->high), 1e-9);
        a->low -= from_zero && a->low == 0 ? 0 : more, a->high += more;
    }
    const double step = a->log ? 1 : nice_step(a->high - a->low);
    a->low = floor(a->low / step + 1e-9) * step;
    a->high = ceil(a->high / step - 1e-9) * step;
}

static void set_axes(plot_sheet *s)
{
    const flr_plot_def *def = s->def;
    const bool bars = def->kind == FLR_PLOT_BARS;
    s->x = (plot_axis){INFINITY, -INFINITY, s->left, s->right, def->log_x && !bars};
    s->y = (plot_axis){INFINITY, -INFINITY, s->bottom, s->top, def->log_y};
    for (size_t i = 0; i < def->series_count; i++) {
        const flr_plot_series *series = def->series + i;
        for (size_t k = 0; k < series->count; k++) {
            const double x = series->x ? series->x[k] : (double)k;
            if (!bars && !(usable(x, s->x.log) && usable(series->y[k], s->y.log))) continue;
            if (!bars) widen(&s->x, x);
            widen(&s->y, series->y[k]);
        }
    }
    settle(&s->y, def->from_zero || bars);
    if (bars)
        s->x.low = 0, s->x.high = def->category_count > 0 ? (double)def->category_count : 1;
    else
        settle(&s->x, false);
}

/* 0.001 as "0.001", a million as "1M": short labels without exponents where it can be */
static const char *label(double value, char text[32])
{
    const double size = fabs(value);
    if (size >= 1e9 || (size > 0 && size < 1e-4))
        snprintf(text, 32, "%.3g", value);
    else if (size >= 1e6)
        snprintf(text, 32, "%.4gM", value / 1e6);
    else if (size >= 1e4)
        snprintf(text, 32, "%.4gk", value / 1e3);
    else
        snprintf(text, 32, "%.6g", size < 1e-12 ? 0 : value);
    return text;
}

/* Over a bar there is room for three digits only. */
static const char *bar_label(double value, char text[32])
{
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.3g", value);
    return label(strtod(rounded, NULL), text);
}

static void draw_tick(plot_sheet *s, const plot_axis *a, double value, bool named)
{
    char text[32];
    const double at = position(a, value);
    const char *line = "stroke=\"#e3e7eb\"";
    if (a == &s->x) {
        flr_svg_print(&s->svg, "<path d=\"M%.1f %.1fV%.1f\" %s/>\n", at, s->top, s->bottom, line);
        if (named) print_text(s, at, s->bottom + 16, "class=\"c\"", label(value, text));
    } else {
        flr_svg_print(&s->svg, "<path d=\"M%.1f %.1fH%.1f\" %s/>\n", s->left, at, s->right, line);
        if (named) print_text(s, s->left - 6, at + 4, "class=\"e\"", label(value, text));
    }
}

static void draw_ticks(plot_sheet *s, const plot_axis *a)
{
    if (!a->log) {
        const double step = nice_step(a->high - a->low);
        const int count = (int)lrint((a->high - a->low) / step);
        for (int i = 0; i <= count; i++) draw_tick(s, a, a->low + i * step, true);
        return;
    }
    /* decades; between them 2 and 5 where there is room */
    const int decades = (int)lrint(a->high - a->low), skip = 1 + decades / (MAX_TICKS + 1);
    for (int i = 0; i <= decades; i += skip) {
        const double decade = pow(10, a->low + i);
        draw_tick(s, a, decade, true);
        for (int k = 2; k < 10 && i < decades && skip == 1; k++)
            draw_tick(s, a, decade * k, decades <= 2 && (k == 2 || k == 5));
    }
}

/* ---- content ---- */

static void draw_line(plot_sheet *s, const flr_plot_series *series, size_t index)
{
    bool pen_down = false;
    flr_svg_print(
        &s->svg,
        "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"%s d=\"",
        colour(index), series->dashed ? " stroke-dasharray=\"7 5\"" : "");
    for (size_t k = 0; k < series->count; k++) {
        const double x = series->x ? series->x[k] : (double)k, y = series->y[k];
        const bool good = usable(x, s->x.log) && usable(y, s->y.log);
        if (good)
            flr_svg_print(&s->svg, "%c%.1f %.1f", pen_down ? 'L' : 'M', position(&s->x, x),
                          position(&s->y, y));
        pen_down = good;
    }
    flr_svg_print(&s->svg, "\"/>\n");
    for (size_t k = 0; series->dots && k < series->count; k++) {
        const double x = series->x ? series->x[k] : (double)k, y = series->y[k];
        if (usable(x, s->x.log) && usable(y, s->y.log))
            flr_svg_print(&s->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                          position(&s->x, x), position(&s->y, y), colour(index));
    }
}

static void draw_bars(plot_sheet *s)
{
    const flr_plot_def *def = s->def;
    const double group = (s->right - s->left) / s->x.high;
    const double wide = 0.78 * group / (def->series_count > 0 ? (double)def->series_count : 1);
    for (size_t c = 0; c < def->category_count; c++) {
        const double start = s->left + group * ((double)c + 0.11);
        for (size_t i = 0; i < def->series_count; i++) {
            const flr_plot_series *series = def->series + i;
            if (c >= series->count || !usable(series->y[c], s->y.log)) continue;
            const double at = position(&s->y, series->y[c]);
            const double base = s->y.log ? s->bottom : position(&s->y, 0);
            const double x = start + wide * (double)i;
            flr_svg_print(
                &s->svg,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
                fmin(at, base), 0.94 * wide, fabs(base - at), colour(i));
            char text[32];
            if (wide > 18)
                print_text(s, x + 0.47 * wide, fmin(at, base) - 4, "class=\"c s\"",
                           bar_label(series->y[c], text));
        }
        print_text(s, s->left + group * ((double)c + 0.5), s->bottom + 16, "class=\"c\"",
                   def->categories[c]);
    }
}

/* one row under the title, so that it never hides a line */
static void draw_legend(plot_sheet *s)
{
    double x = s->left;
    const double y = s->top - 12;
    for (size_t i = 0; i < s->def->series_count; i++) {
        const flr_plot_series *series = s->def->series + i;
        if (!series->name) continue;
        if (s->def->kind == FLR_PLOT_BARS)
            flr_svg_print(&s->svg,
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                          x, y - 10, colour(i));
        else
            flr_svg_print(&s->svg,
                          "<path d=\"M%.1f %.1fh18\" stroke=\"%s\" stroke-width=\"3\"%s/>\n", x,
                          y - 4, colour(i), series->dashed ? " stroke-dasharray=\"7 4\"" : "");
        x += s->def->kind == FLR_PLOT_BARS ? 17 : 23;
        print_text(s, x, y, "", series->name);
        x += 6.6 * (double)strlen(series->name) + 18;
    }
}

static void draw(plot_sheet *s)
{
    const flr_plot_def *def = s->def;
    const uint32_t w = def->width, h = def->height;
    flr_svg_print(
        &s->svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "viewBox=\"0 0 %u %u\" font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\" "
        "fill=\"#333\">\n",
        w, h, w, h);
    flr_svg_print(
        &s->svg,
        "<style>.c{text-anchor:middle}.e{text-anchor:end}.t{font-size:16px;font-weight:bold}"
        ".s{font-size:10px}</style>\n");
    flr_svg_print(&s->svg, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", w, h);
    if (def->title) print_text(s, 0.5 * w, 24, "class=\"c t\"", def->title);
    draw_ticks(s, &s->y);
    if (def->kind == FLR_PLOT_LINES) draw_ticks(s, &s->x);
    flr_svg_print(&s->svg, "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#555\"/>\n",
                  s->left, s->top, s->bottom, s->right);
    if (def->kind == FLR_PLOT_BARS)
        draw_bars(s);
    else
        for (size_t i = 0; i < def->series_count; i++) draw_line(s, def->series + i, i);
    draw_legend(s);
    if (def->x_label)
        print_text(s, 0.5 * (s->left + s->right), h - 10.0, "class=\"c\"", def->x_label);
    if (def->y_label) {
        char style[96];
        const double y = 0.5 * (s->top + s->bottom);
        snprintf(style, sizeof style, "class=\"c\" transform=\"rotate(-90 16 %.1f)\"", y);
        print_text(s, 16, y, style, def->y_label);
    }
    flr_svg_print(&s->svg, "</svg>\n");
}

flr_result flr_plot_write(flr_env *env, const char *path, const flr_plot_def *def, flr_error *error)
{
    if (def->width < 200 || def->height < 150 || def->width > 10000 || def->height > 10000)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: a plot of %u x %u is not possible: use 200 x 150 to 10000 x 10000",
                        path, def->width, def->height);
    plot_sheet s = {.def = def, .svg.error = error};
    s.left = 66, s.right = def->width - 20.0;
    s.top = def->title ? 62 : 40, s.bottom = def->height - 48.0;
    set_axes(&s);
    flr_result result = flr_output_begin(env, path, &s.svg.output, error);
    if (result != FLR_OK) return result;
    draw(&s);
    return flr_svg_end(&s.svg);
}
