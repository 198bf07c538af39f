/* a voxmap as a picture: cubes, slices, legend */
#include "picture/voxels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/base.h"
#include "picture/cubes.h"
#include "picture/labels.h"

static const flr_colour paper = {0.975f, 0.975f, 0.97f}, panel_colour = {1, 1, 1},
                        ink = {0.18f, 0.21f, 0.25f}, faint = {0.55f, 0.58f, 0.62f},
                        interior_colour = {0.86f, 0.80f, 0.70f},
                        surface_colour = {0.33f, 0.40f, 0.49f}, edge_colour = {0.93f, 0.60f, 0.18f},
                        vertex_colour = {0.80f, 0.17f, 0.20f}, near_colour = {0.30f, 0.62f, 0.80f},
                        far_colour = {0.91f, 0.96f, 0.98f};

flr_voxel_picture_def flr_default_voxel_picture_def(void)
{
    flr_voxel_picture_def def = {1200, 900, flr_default_picture_def().direction};
    return def;
}

static flr_colour mix(flr_colour a, flr_colour b, float t)
{
    flr_colour c = {a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
    return c;
}

static flr_colour distance_colour(unsigned distance, unsigned range)
{
    /* by the root, so that near bands differ more than far ones */
    float t = range > 1 ? sqrtf((float)(distance - 1) / (float)(range - 1)) : 0;
    return mix(near_colour, far_colour, t);
}

/* the sheet and where things are on it, pixels */
typedef struct voxels_sheet {
    const flr_voxmap *voxmap;
    flr_voxmap_info info;
    flr_picture *picture;
    uint64_t low[3], high[3]; /* voxels: what is shown */
    int text;                 /* pixels of a dot */
    int gap, legend;          /* between panels; height of the legend */
} voxels_sheet;

/* a panel without its title */
typedef struct panel {
    int x, y, width, height;
} panel;

static panel panel_at(const voxels_sheet *s, int column, int row)
{
    int title = (FLR_TEXT_HEIGHT + 6) * s->text;
    int width = ((int)s->picture->width - 3 * s->gap) / 2;
    int height = ((int)s->picture->height - s->legend - 2 * s->gap) / 2;
    panel p = {s->gap + column * (width + s->gap), s->gap + row * (height + s->gap) + title, width,
               height - title};
    return p;
}

static void put_title(const voxels_sheet *s, panel p, const char *text)
{
    flr_text_draw(s->picture, p.x, p.y - (FLR_TEXT_HEIGHT + 3) * s->text, s->text, ink, text);
}

/* ---- slices ---- */

/* How important a voxel is where several share a pixel, and which colour it has. */
typedef struct voxels_look {
    unsigned rank;
    flr_colour colour;
} voxels_look;

static voxels_look look_at(const voxels_sheet *s, const int64_t v[3])
{
    unsigned mark = flr_voxmap_mark_at(s->voxmap, FLR_FIELD_SURFACE, v[0], v[1], v[2]);
    if (mark == FLR_MARK_FREE) return (voxels_look){0, panel_colour};
    if (mark == FLR_MARK_INTERIOR) return (voxels_look){300, interior_colour};
    if (mark > FLR_MARK_SURFACE)
        return (voxels_look){280 - mark, distance_colour(mark - FLR_MARK_SURFACE, s->info.range)};
    if (flr_voxmap_mark_at(s->voxmap, FLR_FIELD_VERTEX, v[0], v[1], v[2]) == FLR_MARK_SURFACE)
        return (voxels_look){403, vertex_colour};
    if (flr_voxmap_mark_at(s->voxmap, FLR_FIELD_EDGE, v[0], v[1], v[2]) == FLR_MARK_SURFACE)
        return (voxels_look){402, edge_colour};
    return (voxels_look){401, surface_colour};
}

/* The most important of the voxels from v on, `count` along both axes of the slice. */
static voxels_look look_at_many(const voxels_sheet *s, const int64_t from[3], const int axes[2],
                                double count)
{
    enum { VOXELS_MAX_TRIES = 16 };
    voxels_look best = {0, panel_colour};
    int tries = (int)fmin(ceil(count), VOXELS_MAX_TRIES);
    for (int j = 0; j < tries; j++)
        for (int i = 0; i < tries; i++) {
            int64_t v[3] = {from[0], from[1], from[2]};
            v[axes[0]] += (int64_t)(i * count / tries);
            v[axes[1]] += (int64_t)(j * count / tries);
            voxels_look here = look_at(s, v);
            if (here.rank > best.rank) best = here;
        }
    return best;
}

/* The slice across `axis` at the middle; the other two axes go right and up. */
static void draw_slice(const voxels_sheet *s, panel p, int axis)
{
    const int axes[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
    const double wide = (double)(s->high[axes[0]] - s->low[axes[0]]);
    const double tall = (double)(s->high[axes[1]] - s->low[axes[1]]);
    /* a whole number of pixels for a voxel, where that costs little of the room */
    double scale = fmin(p.width / wide, p.height / tall);
    if (scale >= 4) scale = floor(scale);
    int width = (int)fmin(wide * scale, p.width), height = (int)fmin(tall * scale, p.height);
    int left = p.x + (p.width - width) / 2, top = p.y + (p.height - height) / 2;
    int64_t at[3], middle = (int64_t)((s->low[axis] + s->high[axis]) / 2);
    at[axis] = middle;

    flr_text_fill(s->picture, p.x, p.y, p.width, p.height, panel_colour);
    int step = scale >= 4 ? (int)scale : 1, line = scale >= 5 ? 1 : 0;
    for (int y = 0; y < height; y += step)
        for (int x = 0; x < width; x += step) {
            at[axes[0]] = (int64_t)s->low[axes[0]] + (int64_t)(x / scale);
            at[axes[1]] = (int64_t)s->high[axes[1]] - 1 - (int64_t)(y / scale);
            voxels_look here = scale >= 1 ? look_at(s, at) : look_at_many(s, at, axes, 1 / scale);
            if (here.rank)
                flr_text_fill(s->picture, left + x, top + y, step - line, step - line, here.colour);
        }

    const double origin[3] = {s->info.origin.x, s->info.origin.y, s->info.origin.z};
    char title[96], size[FLR_SIZE_TEXT_SIZE];
    double place = origin[axis] + ((double)middle + 0.5) * s->info.voxel;
    if (fabs(place) < 1e-6 * s->info.voxel) place = 0;
    snprintf(size, sizeof size, "%.4g", place * 1e3);
    snprintf(title, sizeof title, "slice at %c = %s mm, %c to the right, %c up", 'x' + axis, size,
             'x' + axes[0], 'x' + axes[1]);
    put_title(s, p, title);
}

/* ---- cubes ---- */

static flr_result draw_cubes(const voxels_sheet *s, panel p, flr_vec3 direction, flr_error *error)
{
    enum { MAX_SHOWN = 120000 };
    flr_cubes cubes;
    flr_result result = flr_cubes_make(s->voxmap, MAX_SHOWN, &cubes, error);
    if (result != FLR_OK) return result;
    const flr_colour colours[FLR_CUBE_LABELS] = {mix(surface_colour, panel_colour, 0.35f),
                                                 edge_colour, vertex_colour};
    flr_picture_part parts[2 * FLR_CUBE_LABELS];
    flr_picture_def def = flr_default_picture_def();
    for (int i = 0; i < 2 * FLR_CUBE_LABELS; i++) {
        const flr_mesh *mesh = &cubes.meshes[i / 2][i % 2];
        if (!mesh->triangle_count) continue;
        parts[def.part_count++] = (flr_picture_part){
            .mesh = mesh,
            .T_world_part = flr_pose_identity(),
            .colour = i % 2 ? colours[i / 2] : mix(colours[i / 2], panel_colour, 0.18f)};
    }
    def.parts = parts;
    def.width = (uint32_t)p.width;
    def.height = (uint32_t)p.height;
    def.direction = direction;
    def.outlines = false;
    flr_picture view = {0};
    result = flr_picture_render(&def, &view, error);
    for (int y = 0; result == FLR_OK && y < p.height; y++)
        memcpy(s->picture->rgb + 3 * ((size_t)(p.y + y) * s->picture->width + (size_t)p.x),
               view.rgb + 3 * (size_t)y * view.width, 3 * (size_t)view.width);
    flr_picture_free(&view);
    char title[96];
    if (cubes.block > 1)
        snprintf(title, sizeof title, "surface, a cube for %u voxels each way", cubes.block);
    else
        snprintf(title, sizeof title, "surface voxels");
    put_title(s, p, title);
    flr_cubes_free(&cubes);
    return result;
}

/* ---- the legend ---- */

/* A swatch and its name; returns where the next one goes. */
static int put_swatch(const voxels_sheet *s, int x, int y, flr_colour colour, const char *name)
{
    int side = FLR_TEXT_HEIGHT * s->text;
    flr_text_fill(s->picture, x, y, side, side, colour);
    flr_text_draw(s->picture, x + side + 3 * s->text, y, s->text, ink, name);
    return x + side + 3 * s->text + flr_text_width(name, s->text) + 9 * s->text;
}

static void draw_legend(const voxels_sheet *s)
{
    int y = (int)s->picture->height - s->legend + (s->legend - FLR_TEXT_HEIGHT * s->text) / 2;
    int side = FLR_TEXT_HEIGHT * s->text, x = s->gap;
    if (s->info.stats.interior_voxels) x = put_swatch(s, x, y, interior_colour, "interior");
    x = put_swatch(s, x, y, surface_colour, "surface");
    if (s->info.features) {
        x = put_swatch(s, x, y, edge_colour, "edge");
        x = put_swatch(s, x, y, vertex_colour, "vertex");
    }
    /* bands of distance, as many as there is room for */
    unsigned range = s->info.range, bands = range < 13 ? range : 13;
    char text[64];
    for (unsigned i = 0; i < bands; i++)
        flr_text_fill(s->picture, x + (int)i * side, y, side, side,
                      distance_colour(bands > 1 ? 1 + i * (range - 1) / (bands - 1) : 1, range));
    x += (int)bands * side + 3 * s->text;
    snprintf(text, sizeof text, range > 1 ? "distance 1 - %u voxels" : "next to the surface",
             range);
    flr_text_draw(s->picture, x, y, s->text, ink, text);
    x += flr_text_width(text, s->text) + 9 * s->text;
    snprintf(text, sizeof text, "voxel %s", FLR_SIZE_TEXT(s->info.voxel));
    if (x + flr_text_width(text, s->text) < (int)s->picture->width)
        flr_text_draw(s->picture, (int)s->picture->width - s->gap - flr_text_width(text, s->text),
                      y, s->text, faint, text);
}

/* ---- all of it ---- */

flr_result flr_picture_voxels(const flr_voxmap *voxmap, const flr_voxel_picture_def *def,
                              flr_picture *picture, flr_error *error)
{
    if (def->width < 320 || def->height < 240 || def->width > FLR_PICTURE_MAX_SIZE ||
        def->height > FLR_PICTURE_MAX_SIZE)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a picture of voxels has 320x240 to %dx%d pixels, not %ux%u",
                        FLR_PICTURE_MAX_SIZE, FLR_PICTURE_MAX_SIZE, def->width, def->height);
    flr_picture made = {.width = def->width, .height = def->height};
    made.rgb = malloc((size_t)def->width * def->height * 3);
    if (!made.rgb) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a picture");

    int text = def->width >= 1900 ? 3 : def->width >= 900 ? 2 : 1;
    voxels_sheet s = {.voxmap = voxmap,
                      .info = flr_voxmap_get_info(voxmap),
                      .picture = &made,
                      .text = text,
                      .gap = 8 * text,
                      .legend = 20 * text};
    flr_text_fill(&made, 0, 0, (int)def->width, (int)def->height, paper);
    if (!flr_voxels_bounds(voxmap, s.low, s.high))
        for (int i = 0; i < 3; i++) s.low[i] = 0, s.high[i] = 8;
    flr_result result = draw_cubes(&s, panel_at(&s, 0, 0), def->direction, error);
    if (result == FLR_OK) {
        draw_slice(&s, panel_at(&s, 1, 0), 2);
        draw_slice(&s, panel_at(&s, 0, 1), 1);
        draw_slice(&s, panel_at(&s, 1, 1), 0);
        draw_legend(&s);
        *picture = made;
    } else {
        flr_picture_free(&made);
    }
    return result;
}
