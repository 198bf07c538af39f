/* Meshes as a picture: sets up camera and light, draws, shades. */
#include "picture/picture.h"

#include <math.h>
#include <stdlib.h>

#include "picture/raster.h"
#include "picture/shade.h"

enum { SHADOW_SIZE = 2048 };

flr_colour flr_picture_palette(size_t index)
{
    static const flr_colour colours[] = {
        {0.58f, 0.65f, 0.72f}, {0.90f, 0.56f, 0.22f}, {0.32f, 0.58f, 0.78f}, {0.55f, 0.70f, 0.38f},
        {0.80f, 0.36f, 0.34f}, {0.62f, 0.52f, 0.74f}, {0.85f, 0.74f, 0.40f}, {0.36f, 0.66f, 0.64f},
        {0.80f, 0.58f, 0.66f}, {0.52f, 0.50f, 0.48f}};
    return colours[index % (sizeof colours / sizeof *colours)];
}

flr_colour flr_picture_colour(uint32_t rgb, size_t index)
{
    if (rgb > 0xFFFFFF) return flr_picture_palette(index);
    return (flr_colour){(float)(rgb >> 16 & 0xFF) / 255, (float)(rgb >> 8 & 0xFF) / 255,
                        (float)(rgb & 0xFF) / 255};
}

flr_picture_def flr_default_picture_def(void)
{
    return (flr_picture_def){
        .width = 960,
        .height = 640,
        .samples = 3,
        .direction = {-0.62, 0.68, -0.42},
        .view_angle = 24,
        .margin = 0.05,
        .ground = true,
        .shadows = true,
        .occlusion = true,
        .outlines = true,
        .crease = 32,
        .background = true,
    };
}

void flr_picture_free(flr_picture *picture)
{
    if (!picture) return;
    free(picture->rgb);
    *picture = (flr_picture){0};
}

/* ---- camera ---- */

/* turns a camera to look along `forward`, Z up in the picture where that is possible */
static void aim(flr_camera *camera, flr_vec3 forward)
{
    const double length = flr_vec3_length(forward);
    const flr_vec3 f = flr_vec3_scale(forward, 1 / length);
    const flr_vec3 z = {0, 0, 1}, y = {0, 1, 0};
    flr_vec3 right = flr_vec3_cross(f, z);
    if (flr_vec3_length(right) < 1e-6) right = flr_vec3_cross(f, y);
    right = flr_vec3_scale(right, 1 / flr_vec3_length(right));
    const flr_vec3 up = flr_vec3_cross(right, f);
    const flr_vec3 rows[3] = {right, up, f};
    for (int i = 0; i < 3; i++) {
        camera->axes[i][0] = rows[i].x;
        camera->axes[i][1] = rows[i].y;
        camera->axes[i][2] = rows[i].z;
    }
}

/* Walks over everything that must fit: calls `visit` for all vertices or the corners of `box`. */
typedef void visit_point(void *context, flr_view_point p);

static void each_point(const flr_camera *camera, const flr_picture_def *def, const flr_box3 *box,
                       visit_point *visit, void *context)
{
    for (int i = 0; box && i < 8; i++) {
        const flr_vec3 p = {i & 1 ? box->high.x : box->low.x, i & 2 ? box->high.y : box->low.y,
                            i & 4 ? box->high.z : box->low.z};
        visit(context, flr_camera_view(camera, p));
    }
    for (size_t k = 0; !box && k < def->part_count; k++) {
        const flr_picture_part *part = def->parts + k;
        for (uint32_t v = 0; v < part->mesh->vertex_count; v++)
            visit(context, flr_camera_view(camera, flr_pose_apply(part->T_world_part,
                                                                  part->mesh->vertices[v])));
    }
}

/* The extent of points as the frustum's sides see it: the largest of x - t z, -x - t z, y - s z,
 * -y - s z tells where the eye must stand. t = s = 0 gives the plain extent. */
typedef struct picture_extent {
    double t, s;
    double right, left, top, bottom, nearest, farthest;
    bool any;
} picture_extent;

static void widen(void *context, flr_view_point p)
{
    picture_extent *e = context;
    if (!e->any) {
        e->right = e->left = e->top = e->bottom = -INFINITY;
        e->nearest = INFINITY, e->farthest = -INFINITY;
        e->any = true;
    }
    e->right = fmax(e->right, p.x - e->t * p.z);
    e->left = fmax(e->left, -p.x - e->t * p.z);
    e->top = fmax(e->top, p.y - e->s * p.z);
    e->bottom = fmax(e->bottom, -p.y - e->s * p.z);
    e->nearest = fmin(e->nearest, p.z);
    e->farthest = fmax(e->farthest, p.z);
}

/* places a camera that has been aimed so that the extent fits its window; returns half the size of
 * what is seen, metres */
static double place(flr_camera *camera, const flr_picture_def *def, const flr_box3 *focus,
                    double view_angle, double margin)
{
    const double aspect = (double)camera->width / camera->height, part = 1 - 2 * margin;
    camera->perspective = view_angle > 0;
    const double tangent = tan(view_angle * (FLR_PI / 360));
    picture_extent fit = {.t = tangent * aspect * part, .s = tangent * part};
    each_point(camera, def, focus, widen, &fit);
    picture_extent all = {0};
    each_point(camera, def, NULL, widen, &all);
    if (!all.any) fit = (picture_extent){.right = 1, .left = 1, .top = 1, .bottom = 1}, all = fit;
    double radius =
        0.5 * fmax(fmax(all.right + all.left, all.top + all.bottom), all.farthest - all.nearest);
    if (focus) radius = 0.5 * flr_vec3_length(flr_vec3_sub(focus->high, focus->low));
    if (!(radius > 0)) radius = 1e-9;

    camera->eye[0] = 0.5 * (fit.right - fit.left);
    camera->eye[1] = 0.5 * (fit.top - fit.bottom);
    if (camera->perspective) {
        const double back =
            fmax(0.5 * (fit.right + fit.left) / fit.t, 0.5 * (fit.top + fit.bottom) / fit.s);
        camera->eye[2] = -fmax(back, -all.nearest * (focus ? 0 : 1) + 1e-3 * radius);
        if (!isfinite(camera->eye[2])) camera->eye[2] = -radius;
        camera->scale = 0.5 * camera->height / tangent;
        camera->near = fmax(1e-3 * radius, focus ? 0 : 0.5 * (all.nearest - camera->eye[2]));
    } else {
        const double wide = fmax(fit.right + fit.left, 1e-6 * radius);
        const double high = fmax(fit.top + fit.bottom, 1e-6 * radius);
        camera->scale = part * fmin(camera->width / wide, camera->height / high);
        camera->eye[2] = all.nearest - 0.1 * radius;
        camera->near = 0.05 * radius;
    }
    camera->far = all.farthest - camera->eye[2] + 3 * radius; /* room for shadows on the floor */
    return radius;
}

/* ---- stages ---- */

static flr_result check(const flr_picture_def *def, flr_error *error)
{
    if (def->width < 1 || def->height < 1 || def->width > FLR_PICTURE_MAX_SIZE ||
        def->height > FLR_PICTURE_MAX_SIZE)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a picture of %u x %u is not possible: use 1 to %d", def->width,
                        def->height, FLR_PICTURE_MAX_SIZE);
    if (def->samples < 1 || def->samples > FLR_PICTURE_MAX_SAMPLES)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u samples per pixel: use 1 to %d", def->samples,
                        FLR_PICTURE_MAX_SAMPLES);
    if (!(def->view_angle >= 0 && def->view_angle <= 120))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a view angle of %g degrees: use 0 to 120",
                        def->view_angle);
    if (!(def->margin >= 0 && def->margin <= 0.45))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a margin of %g: use 0 to 0.45", def->margin);
    const double looks = flr_vec3_length(def->direction), cuts = flr_vec3_length(def->cut_normal);
    if (!(looks > 0 && isfinite(looks)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the view direction has no length");
    if (def->cut && !(cuts > 0 && isfinite(cuts)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "the section's normal has no length");
    return FLR_OK;
}

/* the middle of everything, and its lowest z */
static flr_vec3 middle(const flr_picture_def *def, double *lowest)
{
    const flr_camera world = {.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    picture_extent e = {0};
    each_point(&world, def, NULL, widen, &e);
    if (!e.any) return (flr_vec3){0, 0, 0};
    *lowest = e.nearest;
    return (flr_vec3){0.5 * (e.right - e.left), 0.5 * (e.top - e.bottom),
                      0.5 * (e.nearest + e.farthest)};
}

/* the key light stands high at the viewer's left */
static flr_vec3 key_direction(const flr_camera *eye)
{
    const flr_vec3 right = {eye->axes[0][0], eye->axes[0][1], 0};
    flr_vec3 ahead = {eye->axes[2][0], eye->axes[2][1], 0};
    if (flr_vec3_length(ahead) < 1e-6) ahead = (flr_vec3){0, 1, 0};
    ahead = flr_vec3_scale(ahead, 1 / flr_vec3_length(ahead));
    const flr_vec3 down = {0, 0, -1};
    return flr_vec3_add(flr_vec3_add(flr_vec3_scale(right, 0.55), flr_vec3_scale(ahead, 0.45)),
                        down);
}

/* the floor is there before the parts are drawn; it ends where it is far away */
static void lay_ground(flr_shading *stage)
{
    const flr_camera *eye = &stage->eye;
    const flr_vec3 under = {eye->centre.x, eye->centre.y, stage->ground};
    const flr_view_point foot = flr_camera_view(eye, under);
    const double n[3] = {eye->axes[0][2], eye->axes[1][2], eye->axes[2][2]};
    const double level = n[0] * foot.x + n[1] * foot.y + n[2] * foot.z;
    for (uint32_t y = 0; y < eye->height; y++)
        for (uint32_t x = 0; x < eye->width; x++) {
            /* the ray through the sample: a + t d */
            const flr_view_point a = flr_camera_unproject(eye, x, y, eye->near);
            const flr_view_point b = flr_camera_unproject(eye, x, y, eye->far);
            const double da = n[0] * a.x + n[1] * a.y + n[2] * a.z - level;
            const double db = n[0] * b.x + n[1] * b.y + n[2] * b.z - level;
            if (!(da > 0 && db < 0)) continue;
            const double z = a.z + (b.z - a.z) * (da / (da - db));
            flr_sample *sample = stage->samples + (size_t)y * eye->width + x;
            /* a hair deeper, so that parts that lie on the floor win */
            sample->nearness = (float)flr_camera_nearness(eye, z + 1e-5 * stage->radius);
            sample->tag = FLR_TAG_GROUND;
            for (int i = 0; i < 3; i++) sample->normal[i] = (int16_t)lrint(n[i] * 32767);
        }
}

static void set_cameras(flr_shading *stage)
{
    const flr_picture_def *def = stage->def;
    flr_camera *eye = &stage->eye, *light = &stage->light;
    eye->width = def->width * def->samples, eye->height = def->height * def->samples;
    eye->centre = light->centre = middle(def, &stage->ground);
    aim(eye, def->direction);
    stage->radius = place(eye, def, def->focus, def->view_angle, def->margin);
    light->width = light->height = SHADOW_SIZE;
    aim(light, key_direction(eye));
    place(light, def, NULL, 0, 0.01);
}

static flr_result draw_all(flr_shading *stage, flr_error *error)
{
    const flr_raster seen = {.camera = &stage->eye, .samples = stage->samples};
    const flr_raster shadow = {.camera = &stage->light, .nearness = stage->shadow_map};
    for (size_t i = 0; i < stage->def->part_count; i++) {
        flr_result result = flr_raster_part(&seen, stage->def, i, error);
        if (result == FLR_OK && stage->shadow_map)
            result = flr_raster_part(&shadow, stage->def, i, error);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

static flr_result render(flr_shading *stage, uint8_t *rgb, flr_error *error)
{
    const flr_picture_def *def = stage->def;
    const size_t count = (size_t)stage->eye.width * stage->eye.height;
    set_cameras(stage);
    for (size_t i = 0; i < count; i++) stage->samples[i].shade = INT16_MAX;
    if (def->ground && def->part_count > 0) lay_ground(stage);
    flr_result result = draw_all(stage, error);
    if (result != FLR_OK) return result;
    flr_shade_caps(stage);
    if (def->occlusion) result = flr_shade_occlusion(stage, error);
    if (result != FLR_OK) return result;
    return flr_shade_picture(stage, rgb, error);
}

flr_result flr_picture_render(const flr_picture_def *def, flr_picture *picture, flr_error *error)
{
    flr_result result = check(def, error);
    if (result != FLR_OK) return result;
    flr_shading stage = {.def = def};
    stage.eye.width = def->width * def->samples, stage.eye.height = def->height * def->samples;
    uint8_t *rgb = malloc((size_t)def->width * def->height * 3);
    stage.samples = calloc((size_t)stage.eye.width * stage.eye.height, sizeof *stage.samples);
    if (def->shadows) stage.shadow_map = calloc((size_t)SHADOW_SIZE * SHADOW_SIZE, sizeof(float));
    if (!rgb || !stage.samples || (def->shadows && !stage.shadow_map))
        result = flr_fail(error, FLR_NO_MEMORY, "no memory for a picture of %u x %u", def->width,
                          def->height);
    else
        result = render(&stage, rgb, error);
    free(stage.samples);
    free(stage.shadow_map);
    if (result != FLR_OK) {
        free(rgb);
        return result;
    }
    *picture = (flr_picture){def->width, def->height, rgb};
    return FLR_OK;
}
