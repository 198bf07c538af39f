/* Maps of numbers as SVG. */
#include "picture/map.h"

#include <math.h>

#include "picture/svg.h"

enum {
    CELL_X = 44,
    CELL_Y = 26,
    MAP_LEFT = 44,
    MAP_TOP = 26,
    MAP_RIGHT = 14,
    BELOW = 24
}; /* pixels */
enum { MARGIN_LEFT = 28, MARGIN_TOP = 44, MARGIN_BELOW = 30 };

flr_map_def flr_default_map_def(void) { return (flr_map_def){.across = 1, .scale = 1}; }

static void draw_cell(flr_svg *s, const flr_map_def *def, double x, double y, double value)
{
    const char *colour = value <= def->good    ? "#bfe3bf"
                         : value <= def->limit ? "#f6e3a1"
                                               : "#eba9a3";
    double shown = value * def->scale;
    flr_svg_print(s, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y,
                  CELL_X - 2, CELL_Y - 2, colour);
    flr_svg_print(s, "<text x=\"%.0f\" y=\"%.0f\" class=\"c\">", x + (CELL_X - 2) / 2.0,
                  y + CELL_Y - 9.0);
    flr_svg_print(s,
                  shown == 0      ? "0"
                  : shown < 0.001 ? "&lt;0.001"
                  : shown < 1     ? "%.1g"
                  : shown < 99.5  ? "%.2g"
                                  : "&gt;100",
                  shown);
    flr_svg_print(s, "</text>\n");
}

static void draw_panel(flr_svg *s, const flr_map_def *def, const flr_map_panel *panel, double x,
                       double y)
{
    double left = x + MAP_LEFT, top = y + MAP_TOP;
    flr_svg_print(s, "<text x=\"%.0f\" y=\"%.0f\" class=\"b\">%s</text>\n", left, y + 16,
                  panel->title);
    for (size_t r = 0; r < def->row_count; r++) {
        double at = top + CELL_Y * (double)(def->row_count - 1 - r);
        flr_svg_print(s, "<text x=\"%.0f\" y=\"%.0f\" class=\"e\">%s</text>\n", left - 6,
                      at + CELL_Y - 9, def->rows[r]);
        for (size_t c = 0; c < def->column_count; c++) {
            double value = panel->values[r * def->column_count + c];
            if (!isnan(value)) draw_cell(s, def, left + CELL_X * (double)c, at, value);
        }
    }
    for (size_t c = 0; c < def->column_count; c++)
        flr_svg_print(s, "<text x=\"%.0f\" y=\"%.0f\" class=\"c\">%s</text>\n",
                      left + CELL_X * ((double)c + 0.5), top + CELL_Y * (double)def->row_count + 13,
                      def->columns[c]);
}

static void draw(flr_svg *s, const flr_map_def *def)
{
    double wide = MAP_LEFT + CELL_X * (double)def->column_count + MAP_RIGHT;
    double high = MAP_TOP + CELL_Y * (double)def->row_count + BELOW;
    size_t down = (def->panel_count + def->across - 1) / def->across;
    double width = MARGIN_LEFT + wide * (double)def->across,
           height = MARGIN_TOP + high * (double)down + MARGIN_BELOW;
    flr_svg_print(s,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\">\n",
                  width, height, width, height);
    flr_svg_print(s, "<style>text{font:11px sans-serif;fill:#333}.c{text-anchor:middle}"
                     ".e{text-anchor:end}.b{font-weight:bold}.t{font-size:14px}</style>\n");
    flr_svg_print(s, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width, height);
    if (def->title)
        flr_svg_print(s, "<text x=\"%.0f\" y=\"24\" class=\"c t\">%s</text>\n", width / 2,
                      def->title);
    for (size_t i = 0; i < def->panel_count; i++)
        draw_panel(s, def, &def->panels[i], MARGIN_LEFT + wide * (double)(i % def->across),
                   MARGIN_TOP + high * (double)(i / def->across));
    if (def->x_label)
        flr_svg_print(s, "<text x=\"%.0f\" y=\"%.0f\" class=\"c\">%s</text>\n", width / 2,
                      height - 10, def->x_label);
    if (def->y_label)
        flr_svg_print(s,
                      "<text x=\"16\" y=\"%.0f\" class=\"c\" transform=\"rotate(-90 16 %.0f)\">%s"
                      "</text>\n",
                      height / 2, height / 2, def->y_label);
    flr_svg_print(s, "</svg>\n");
}

flr_result flr_map_write(flr_env *env, const char *path, const flr_map_def *def, flr_error *error)
{
    if (def->panel_count == 0 || def->across == 0 || def->row_count == 0 || def->column_count == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: a map needs panels, rows and columns", path);
    flr_svg s = {.error = error};
    flr_result result = flr_output_begin(env, path, &s.output, error);
    if (result != FLR_OK) return result;
    draw(&s, def);
    return flr_svg_end(&s);
}
