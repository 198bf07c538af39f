/* feeler report: where parts came nearest: names, points, and pictures from nearby */
#include <math.h>
#include <stdlib.h>

#include "output.h"
#include "report.h"
#include "sim/gaps.h"

enum { CLOSEUP_WIDTH = 560, CLOSEUP_HEIGHT = 420 };

static const double marker = 0.055;       /* radius of a marker, of the picture's half height */
static const double widest = 0.3;         /* half height of what is seen, of the smaller part … */
static const double narrowest = 0.04;     /* … at most, and at least … */
static const double of_gap = 2.5;         /* … and otherwise of the distance */
static const uint32_t marked = 0xd0202au; /* colour of the points and of the line between */

size_t flr_report_near(const flr_report *r, const flr_report_pair *list[FLR_REPORT_NEAREST])
{
    const flr_report_pair **all = calloc(r->pair_count + 1, sizeof(flr_report_pair *));
    const size_t count = all ? flr_report_pairs_sort(r, all) : 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(all[i]->least)) continue;
        if (found == FLR_REPORT_NEAREST && list[found - 1]->least <= all[i]->least) continue;
        size_t at = found < FLR_REPORT_NEAREST ? found++ : found - 1;
        for (; at > 0 && list[at - 1]->least > all[i]->least; at--) list[at] = list[at - 1];
        list[at] = all[i];
    }
    free((void *)all);
    return found;
}

/* ---- a picture from nearby ---- */

/* An octahedron, stretched along `axis`: a point that is marked, or the line between two. */
static void spindle(flr_vec3 corners[6], flr_vec3 centre, flr_vec3 axis, double along,
                    double across)
{
    flr_vec3 side = fabs(axis.z) < 0.9 ? flr_vec3_make(0, 0, 1) : flr_vec3_make(1, 0, 0);
    flr_vec3 u = flr_vec3_normalize(flr_vec3_cross(axis, side)), v = flr_vec3_cross(axis, u);
    corners[0] = flr_vec3_add_scaled(centre, along, axis);
    corners[1] = flr_vec3_add_scaled(centre, -along, axis);
    corners[2] = flr_vec3_add_scaled(centre, across, u);
    corners[3] = flr_vec3_add_scaled(centre, -across, u);
    corners[4] = flr_vec3_add_scaled(centre, across, v);
    corners[5] = flr_vec3_add_scaled(centre, -across, v);
}

static const flr_triangle faces[8] = {{{0, 2, 4}}, {{0, 4, 3}}, {{0, 3, 5}}, {{0, 5, 2}},
                                      {{1, 4, 2}}, {{1, 3, 4}}, {{1, 5, 3}}, {{1, 2, 5}}};

static flr_mesh mesh_of(const flr_vec3 corners[6])
{
    flr_mesh mesh = {
        .vertices = corners, .triangles = faces, .vertex_count = 6, .triangle_count = 8};
    mesh.bounds = flr_box3_empty();
    for (int i = 0; i < 6; i++) mesh.bounds = flr_box3_add(mesh.bounds, corners[i]);
    return mesh;
}

/* all parts as they stand there; the markers come behind them */
static size_t place(const flr_report *r, const flr_report_pair *p, flr_picture_part *parts)
{
    const flr_scene *scene = r->from.scene;
    uint32_t number = 0;
    for (size_t i = 0; i < scene->part_count; i++) {
        const bool moves = scene->parts[i].moving && number < r->moving;
        parts[i] = (flr_picture_part){.mesh = flr_report_mesh(r, i),
                                      .T_world_part = scene->parts[i].T_world_part,
                                      .colour = flr_picture_colour(scene->parts[i].colour, i)};
        if (moves) parts[i].T_world_part = r->poses[p->frame * r->moving + number++];
    }
    return scene->part_count;
}

flr_result flr_report_closeup(const flr_report *r, const flr_report_pair *p, uint32_t width,
                              uint32_t height, flr_picture *picture, flr_error *error)
{
    enum { MARKERS = 3 };
    flr_picture_part *parts = calloc(r->from.scene->part_count + MARKERS, sizeof *parts);
    if (!parts) return flr_fail_memory(error);
    size_t count = place(r, p, parts);
    const double gap = flr_vec3_distance(p->from, p->to);
    const double size = fmin(flr_vec3_length(flr_box3_size(flr_report_mesh(r, p->a)->bounds)),
                             flr_vec3_length(flr_box3_size(flr_report_mesh(r, p->b)->bounds)));
    const double half = fmin(fmax(of_gap * gap, narrowest * size), fmax(widest * size, gap));
    const flr_vec3 middle = flr_vec3_scale(flr_vec3_add(p->from, p->to), 0.5);
    flr_picture_def def = flr_default_picture_def();
    /* across the gap, so that it is seen, from as near as can be to where all else is seen from */
    const flr_vec3 axis =
        gap > 1e-9 ? flr_vec3_scale(flr_vec3_sub(p->to, p->from), 1 / gap) : flr_vec3_make(0, 0, 1);
    flr_vec3 look = flr_vec3_add_scaled(def.direction, -flr_vec3_dot(def.direction, axis), axis);
    if (flr_vec3_length(look) < 1e-3) look = flr_vec3_cross(axis, flr_vec3_make(1, 0, 0));
    flr_vec3 corners[MARKERS][6];
    flr_mesh meshes[MARKERS];
    const double radius = marker * half;
    spindle(corners[0], p->from, axis, radius, radius);
    spindle(corners[1], p->to, axis, radius, radius);
    spindle(corners[2], middle, axis, fmax(0.5 * gap, radius), 0.35 * radius);
    for (int i = 0; i < MARKERS; i++) {
        meshes[i] = mesh_of(corners[i]);
        parts[count++] = (flr_picture_part){.mesh = &meshes[i],
                                            .T_world_part = flr_pose_identity(),
                                            .colour = flr_picture_colour(marked, 0),
                                            .whole = true};
    }
    const flr_box3 focus = flr_box3_grow(flr_box3_make(middle, middle), half);
    def.parts = parts;
    def.part_count = count;
    def.width = width, def.height = height, def.samples = 2;
    def.direction = look;
    def.view_angle = 0;
    def.margin = 0;
    def.focus = &focus;
    def.ground = def.occlusion = def.shadows = false;
    def.cut = true;
    def.cut_point = flr_vec3_add_scaled(middle, -1.5 * radius, flr_vec3_normalize(look));
    def.cut_normal = flr_vec3_scale(look, -1);
    const flr_result result = flr_picture_render(&def, picture, error);
    free(parts);
    return result;
}

/* ---- the section ---- */

static void put_names(FILE *out, const flr_report *r, const flr_report_pair *p)
{
    fputs("<b>", out);
    flr_html_text(out, r->parts.list[p->a].name);
    fputs("</b> and <b>", out);
    flr_html_text(out, r->parts.list[p->b].name);
    fputs("</b>", out);
}

static void put_place(FILE *out, const flr_report *r, const flr_report_pair *p)
{
    flr_html_text(out, FLR_GAP_TEXT(p->least, p->error));
    fprintf(out, " at %.3f s, at x %.4g, y %.4g, z %.4g mm", r->frames[p->frame].t, 1e3 * p->from.x,
            1e3 * p->from.y, 1e3 * p->from.z);
}

static flr_result put_picture(FILE *out, const flr_report *r, const flr_report_pair *p,
                              flr_error *error)
{
    flr_picture picture = {0};
    flr_blob png = {0};
    flr_result result = flr_report_closeup(r, p, CLOSEUP_WIDTH, CLOSEUP_HEIGHT, &picture, error);
    if (result == FLR_OK) result = flr_picture_png(&picture, &png, error);
    if (result == FLR_OK) {
        fputs("<figure><img alt=\"The nearest place from nearby, cut open; the nearest points are "
              "marked in red\" src=\"data:image/png;base64,",
              out);
        flr_html_base64(out, &png);
        fputs("\"><figcaption>From nearby and cut open; red: the nearest points</figcaption>"
              "</figure>\n",
              out);
    }
    flr_blob_free(&png);
    flr_picture_free(&picture);
    return result;
}

flr_result flr_report_near_write(flr_cli *cli, FILE *out, const flr_report *r, flr_error *error)
{
    const flr_report_pair *list[FLR_REPORT_NEAREST] = {NULL};
    const size_t count = r->parts.count ? flr_report_near(r, list) : 0;
    if (count == 0) return FLR_OK;
    flr_progress(cli, 0, 1, "drawing the nearest place");
    fputs("<section><h2>Nearest place</h2>\n<p>", out);
    put_names(out, r, list[0]);
    fputs(": ", out);
    put_place(out, r, list[0]);
    fputs("</p>\n<div class=\"near\">\n", out);
    const flr_result result = put_picture(out, r, list[0], error);
    if (count > 1) fputs("<div><p class=\"soft\">The next ones</p>\n<ol start=\"2\">\n", out);
    for (size_t i = 1; i < count; i++) {
        fputs("<li>", out);
        put_names(out, r, list[i]);
        fputs("<br>", out);
        put_place(out, r, list[i]);
        fputs("</li>\n", out);
    }
    if (count > 1) fputs("</ol></div>\n", out);
    fputs("</div></section>\n", out);
    return result;
}
