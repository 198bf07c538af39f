/* Pictures of a recording: one frame, or all of it as an animation. */
#include <math.h>
#include <stdlib.h>

#include "files.h"
#include "output.h"
#include "picture/animation.h"
#include "report.h"

enum { WIDE = 560, HIGH = 400, PER_SECOND = 12, MAX_DRAWN = 60, PAUSE_MS = 1500 };

/* all parts as they stand after a frame */
static void place_parts(const flr_report *r, size_t frame, flr_picture_part *parts)
{
    const flr_scene *scene = r->from.scene;
    uint32_t number = 0;
    for (size_t i = 0; i < scene->part_count; i++) {
        bool moves = scene->parts[i].moving && number < r->moving;
        parts[i] = (flr_picture_part){.mesh = flr_report_mesh(r, i),
                                      .T_world_part = scene->parts[i].T_world_part,
                                      .colour = flr_picture_colour(scene->parts[i].colour, i)};
        if (moves) parts[i].T_world_part = r->poses[frame * r->moving + number++];
    }
}

/* where the moving parts are in the whole recording, with a little room around it */
static flr_box3 focus_of(const flr_report *r)
{
    const flr_scene *scene = r->from.scene;
    flr_box3 box = flr_box3_empty();
    uint32_t number = 0;
    for (size_t i = 0; i < scene->part_count; i++) {
        if (!scene->parts[i].moving || number >= r->moving) continue;
        double radius = 0.5 * flr_vec3_length(flr_box3_size(flr_report_mesh(r, i)->bounds));
        flr_vec3 centre = flr_box3_centre(flr_report_mesh(r, i)->bounds);
        for (size_t k = 0; k < r->count; k++) {
            flr_vec3 p = flr_pose_apply(r->poses[k * r->moving + number], centre);
            flr_vec3 around = flr_vec3_make(radius, radius, radius);
            box = flr_box3_add(box, flr_vec3_add(p, around));
            box = flr_box3_add(box, flr_vec3_sub(p, around));
        }
        number++;
    }
    return flr_box3_grow(box, 0.03 * flr_vec3_length(flr_box3_size(box)));
}

flr_result flr_report_view_begin(flr_report_view *view, const flr_report *r, uint32_t width,
                                 uint32_t height, flr_error *error)
{
    *view = (flr_report_view){.width = width, .height = height, .focus = focus_of(r)};
    view->parts = calloc(r->from.scene->part_count, sizeof *view->parts);
    return view->parts ? FLR_OK : flr_fail_memory(error);
}

void flr_report_view_end(flr_report_view *view) { free(view->parts); }

flr_result flr_report_draw(const flr_report *r, const flr_report_view *view, size_t frame,
                           flr_picture *picture, flr_error *error)
{
    const flr_scene *scene = r->from.scene;
    flr_picture_def def = flr_default_picture_def();
    place_parts(r, frame, view->parts);
    def.parts = view->parts;
    def.part_count = scene->part_count;
    def.width = view->width;
    def.height = view->height;
    def.samples = 2;
    def.focus = &view->focus;
    if (scene->camera.given) def.direction = flr_vec3_sub(scene->camera.target, scene->camera.eye);
    return flr_picture_render(&def, picture, error);
}

flr_result flr_report_animate(flr_cli *cli, const flr_report *r, const char *path, size_t *drawn,
                              flr_error *error)
{
    double seconds = r->frames[r->count - 1].t - r->frames[0].t;
    size_t count = (size_t)fmin(fmax(seconds * PER_SECOND, 1), MAX_DRAWN - 1) + 1;
    flr_picture pictures[MAX_DRAWN] = {0};
    flr_report_view view;
    flr_result result = flr_report_view_begin(&view, r, WIDE, HIGH, error);
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        flr_progress(cli, i, count, "drawing");
        result = flr_report_draw(r, &view, i * (r->count - 1) / (count - 1), &pictures[i], error);
    }
    if (result == FLR_OK) {
        flr_animation_def def = {
            .pictures = pictures, .count = count, .delay_ms = 1000 / PER_SECOND};
        def.pause_ms = PAUSE_MS;
        flr_hold_signals();
        result = flr_animation_write_png(cli->env, path, &def, error);
        flr_release_signals();
    }
    for (size_t i = 0; i < count; i++) flr_picture_free(&pictures[i]);
    flr_report_view_end(&view);
    *drawn = count;
    return result;
}
