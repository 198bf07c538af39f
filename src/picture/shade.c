/* From samples to colours: caps, ambient occlusion, lights, shadows, outlines. */
#include "picture/shade.h"

#include <math.h>
#include <stdlib.h>

typedef struct vec {
    float x, y, z;
} vec;

static float dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static float clamp01(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static float smooth(float low, float high, float x)
{
    const float t = clamp01((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

static vec normal_of(const flr_sample *sample)
{
    const float k = 1.0f / 32767;
    return (vec){(float)sample->normal[0] * k, (float)sample->normal[1] * k,
                 (float)sample->normal[2] * k};
}

/* a world direction in the camera's frame, unit */
static vec turned(const flr_camera *camera, double x, double y, double z)
{
    const double length = sqrt(x * x + y * y + z * z);
    double v[3];
    for (int i = 0; i < 3; i++)
        v[i] = (camera->axes[i][0] * x + camera->axes[i][1] * y + camera->axes[i][2] * z) / length;
    return (vec){(float)v[0], (float)v[1], (float)v[2]};
}

static vec point_of(const flr_camera *eye, const flr_sample *sample, uint32_t x, uint32_t y)
{
    const flr_view_point p =
        flr_camera_unproject(eye, x, y, flr_camera_depth(eye, (double)sample->nearness));
    return (vec){(float)p.x, (float)p.y, (float)p.z};
}

/* ---- section ---- */

/* A ray that meets the back of a surface first has come into a solid through the section: what
 * is seen there is the section itself. */
void flr_shade_caps(flr_shading *stage)
{
    if (!stage->def->cut) return;
    const flr_camera *eye = &stage->eye;
    double plane[4];
    flr_camera_cut(eye, stage->def, plane);
    for (uint32_t y = 0; y < eye->height; y++)
        for (uint32_t x = 0; x < eye->width; x++) {
            flr_sample *sample = stage->samples + (size_t)y * eye->width + x;
            if (sample->tag <= FLR_TAG_GROUND || !(sample->tag & 1)) continue;
            if (stage->def->parts[sample->tag / 2 - 1].whole) continue;
            /* where the ray crosses the plane */
            const flr_view_point a = flr_camera_unproject(eye, x, y, eye->near);
            const flr_view_point b =
                flr_camera_unproject(eye, x, y, flr_camera_depth(eye, (double)sample->nearness));
            const double da = plane[0] * a.x + plane[1] * a.y + plane[2] * a.z + plane[3];
            const double db = plane[0] * b.x + plane[1] * b.y + plane[2] * b.z + plane[3];
            if (da >= 0 || db <= 0) continue;
            const double z = a.z + (b.z - a.z) * (da / (da - db));
            sample->nearness = (float)flr_camera_nearness(eye, z);
            for (int i = 0; i < 3; i++) sample->normal[i] = (int16_t)lrint(-plane[i] * 32767);
            sample->shade = -1; /* a cap, for the hatching */
        }
}

/* ---- ambient occlusion ---- */

enum { TILE = 4, TAPS = 14 };

/* how much light the neighbourhood takes away at one sample, 0..1 */
static float occluded(const flr_shading *stage, uint32_t x, uint32_t y,
                      const float offsets[TILE * TILE][TAPS][2])
{
    const flr_camera *eye = &stage->eye;
    const flr_sample *sample = stage->samples + (size_t)y * eye->width + x;
    const vec p = point_of(eye, sample, x, y), n = normal_of(sample);
    const float radius = 0.11f * (float)stage->radius;
    const float reach = radius * (float)eye->scale / (eye->perspective ? p.z : 1);
    const float(*taps)[2] = offsets[(y % TILE) * TILE + x % TILE];
    float sum = 0;
    for (int i = 0; i < TAPS; i++) {
        const float tx = (float)x + taps[i][0] * reach, ty = (float)y + taps[i][1] * reach;
        if (tx < 0 || ty < 0 || tx >= (float)eye->width || ty >= (float)eye->height) continue;
        const uint32_t qx = (uint32_t)tx, qy = (uint32_t)ty;
        const flr_sample *other = stage->samples + (size_t)qy * eye->width + qx;
        if (other->tag == 0) continue;
        const vec q = point_of(eye, other, qx, qy);
        const vec v = {q.x - p.x, q.y - p.y, q.z - p.z};
        const float square = dot(v, v), up = dot(n, v) - 0.004f * radius;
        if (up <= 0) continue;
        sum += up / sqrtf(square) / (1 + 2.2f * square / (radius * radius));
    }
    return clamp01(sum / TAPS * 1.9f);
}

/* A spiral of taps for each place in a small tile, turned from place to place; a blur over the
 * tile afterwards removes the pattern. */
static void spiral(float offsets[TILE * TILE][TAPS][2])
{
    for (int place = 0; place < TILE * TILE; place++)
        for (int i = 0; i < TAPS; i++) {
            const float turn = (float)(place * 7 % 16) / 16;
            const float angle = 6.2831853f * (turn + (float)i * 0.381966f);
            const float far = ((float)i + 0.5f) / TAPS;
            offsets[place][i][0] = far * cosf(angle);
            offsets[place][i][1] = far * sinf(angle);
        }
}

flr_result flr_shade_occlusion(flr_shading *stage, flr_error *error)
{
    const flr_camera *eye = &stage->eye;
    const size_t count = (size_t)eye->width * eye->height;
    uint8_t *raw = calloc(count, 1);
    if (!raw) return flr_fail(error, FLR_NO_MEMORY, "no memory for a picture of this size");
    float offsets[TILE * TILE][TAPS][2];
    spiral(offsets);
    for (uint32_t y = 0; y < eye->height; y++)
        for (uint32_t x = 0; x < eye->width; x++) {
            const size_t at = (size_t)y * eye->width + x;
            if (stage->samples[at].tag == 0 || stage->samples[at].shade < 0) continue;
            raw[at] = (uint8_t)(255 * occluded(stage, x, y, (const float(*)[TAPS][2])offsets));
        }

    /* blur over one tile, not across steps in depth */
    for (uint32_t y = 0; y < eye->height; y++)
        for (uint32_t x = 0; x < eye->width; x++) {
            flr_sample *sample = stage->samples + (size_t)y * eye->width + x;
            if (sample->tag == 0 || sample->shade < 0) continue;
            unsigned sum = 0, weight = 0;
            for (uint32_t j = y > 1 ? y - 2 : 0; j < y + 2 && j < eye->height; j++)
                for (uint32_t i = x > 1 ? x - 2 : 0; i < x + 2 && i < eye->width; i++) {
                    const size_t at = (size_t)j * eye->width + i;
                    const float step = stage->samples[at].nearness - sample->nearness;
                    if (fabsf(step) > 0.02f * sample->nearness) continue;
                    sum += raw[at], weight++;
                }
            const float light = 1 - (float)sum / (255.0f * (float)weight);
            sample->shade = (int16_t)lrintf(32767 * light);
        }
    free(raw);
    return FLR_OK;
}

/* ---- light ---- */

/* everything that is the same for all samples */
typedef struct lighting {
    vec key, fill, up;
    flr_camera eye, light;
    double to_light[3][4]; /* the eye's frame to the light's */
    float step;            /* metres of one shadow map place */
    vec *colours;          /* [part_count] */
} lighting;

static vec linear(flr_colour c)
{
    const float v[3] = {c.r, c.g, c.b};
    float out[3];
    for (int i = 0; i < 3; i++) {
        const float x = clamp01(v[i]);
        out[i] = x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
    }
    return (vec){out[0], out[1], out[2]};
}

static uint8_t encode(float x)
{
    x = clamp01(x);
    const float y = x <= 0.0031308f ? x * 12.92f : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (uint8_t)(y * 255 + 0.5f);
}

static vec scaled(vec a, float k) { return (vec){a.x * k, a.y * k, a.z * k}; }
static vec plus(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec mixed(vec a, vec b, float t) { return plus(scaled(a, 1 - t), scaled(b, t)); }

/* the share of the key light that arrives at a point of the eye's frame */
static float lit(const flr_shading *stage, const lighting *lamps, vec p, vec n)
{
    static const float ring[12][2] = {{0.35f, 0.1f},   {-0.1f, 0.35f}, {-0.35f, -0.1f},
                                      {0.1f, -0.35f},  {0.7f, 0.55f},  {-0.55f, 0.7f},
                                      {-0.7f, -0.55f}, {0.55f, -0.7f}, {0.95f, -0.2f},
                                      {0.2f, 0.95f},   {-0.95f, 0.2f}, {-0.2f, -0.95f}};
    if (!stage->shadow_map) return 1;
    const flr_camera *light = &lamps->light;
    /* start a little above the surface, more so where the light grazes it */
    const float lift = lamps->step * (1.5f + 3.0f * (1 - clamp01(dot(n, lamps->key))));
    const double q[3] = {(double)(p.x + n.x * lift), (double)(p.y + n.y * lift),
                         (double)(p.z + n.z * lift)};
    double v[3];
    for (int i = 0; i < 3; i++)
        v[i] = lamps->to_light[i][0] * q[0] + lamps->to_light[i][1] * q[1] +
               lamps->to_light[i][2] * q[2] + lamps->to_light[i][3];
    const float sx = (float)(v[0] * light->scale + 0.5 * light->width);
    const float sy = (float)(0.5 * light->height - v[1] * light->scale);
    const float nearness = (float)flr_camera_nearness(light, v[2] - 1.5 * (double)lamps->step);
    float sum = 0;
    for (int i = 0; i < 12; i++) {
        const float x = sx + 3.2f * ring[i][0], y = sy + 3.2f * ring[i][1];
        if (!(x >= 0 && y >= 0 && x < (float)light->width && y < (float)light->height)) {
            sum += 1;
            continue;
        }
        const size_t at = (size_t)y * light->width + (size_t)x;
        /* 0: the light meets nothing there at all */
        sum += stage->shadow_map[at] == 0 || stage->shadow_map[at] <= nearness ? 1 : 0;
    }
    return sum / 12;
}

/* how dark the outline is at a sample, 0..1 */
static float outline(const flr_shading *stage, uint32_t x, uint32_t y)
{
    const flr_camera *eye = &stage->eye;
    const flr_sample *sample = stage->samples + (size_t)y * eye->width + x;
    const vec p = point_of(eye, sample, x, y), n = normal_of(sample);
    const uint32_t wide = (stage->def->samples + 1) / 2;
    const float deep = 0.012f * (float)stage->radius;
    float dark = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t qx = x + (i == 0 ? wide : i == 1 ? 0 - wide : 0);
        const uint32_t qy = y + (i == 2 ? wide : i == 3 ? 0 - wide : 0);
        if (qx >= eye->width || qy >= eye->height) continue;
        const flr_sample *other = stage->samples + (size_t)qy * eye->width + qx;
        if (other->tag == 0) {
            dark = 0.75f;
            continue;
        }
        const vec q = point_of(eye, other, qx, qy), m = normal_of(other);
        const float behind = -dot(n, (vec){q.x - p.x, q.y - p.y, q.z - p.z});
        const float step = 0.75f * smooth(0.4f * deep, deep, behind);
        const float bend = 0.45f * smooth(0.12f, 0.35f, 1 - dot(n, m));
        dark = fmaxf(dark, q.z >= p.z || bend < step ? fmaxf(step, bend) : bend);
        if (other->tag / 2 != sample->tag / 2 && other->tag > FLR_TAG_GROUND)
            dark = fmaxf(dark, 0.45f);
    }
    return dark;
}

static vec shade_part(const flr_shading *stage, const lighting *lamps, const flr_sample *sample,
                      uint32_t x, uint32_t y)
{
    const vec albedo = lamps->colours[sample->tag / 2 - 1];
    const vec p = point_of(&lamps->eye, sample, x, y), n = normal_of(sample);
    const float line = stage->def->outlines ? outline(stage, x, y) : 0;
    if (sample->shade < 0) {
        /* a section: pale and hatched, neighbouring parts in opposite directions */
        const uint32_t period = 9 * stage->def->samples, part = sample->tag / 2;
        const uint32_t across = part % 2 ? x + y : x + (1u << 20) * period - y;
        const float hatch = across % period < 2 * stage->def->samples ? 0.30f : 0;
        return scaled(mixed(albedo, (vec){0.95f, 0.93f, 0.88f}, 0.45f), (1 - hatch) * (1 - line));
    }
    const float open = (float)sample->shade / 32767;
    const float sky = 0.5f + 0.5f * dot(n, lamps->up);
    const vec ambient =
        scaled(mixed((vec){0.30f, 0.28f, 0.26f}, (vec){0.52f, 0.56f, 0.62f}, sky), open * open);
    const float key = fmaxf(0, dot(n, lamps->key));
    const float arrives = key > 0 ? lit(stage, lamps, p, n) : 0;
    const float fill = fmaxf(0, dot(n, lamps->fill)) * 0.22f * open;
    vec light = plus(ambient, scaled((vec){1.0f, 0.965f, 0.90f}, 0.78f * key * arrives));
    light = plus(light, scaled((vec){0.85f, 0.92f, 1.0f}, fill));

    /* a dull highlight */
    const float distance = sqrtf(dot(p, p));
    const vec view = lamps->eye.perspective ? scaled(p, -1 / distance) : (vec){0, 0, -1};
    const vec half = plus(lamps->key, view);
    const float length = sqrtf(dot(half, half));
    const float shine =
        length > 0 ? powf(fmaxf(0, dot(n, half) / length), 28) * 0.10f * arrives : 0;
    vec colour = {albedo.x * light.x + shine, albedo.y * light.y + shine,
                  albedo.z * light.z + shine};
    return scaled(colour, 1 - line);
}

static vec background(const flr_shading *stage, uint32_t y)
{
    if (!stage->def->background) return (vec){1, 1, 1};
    const float t = (float)y / (float)stage->eye.height;
    return mixed((vec){0.93f, 0.95f, 0.975f}, (vec){0.74f, 0.79f, 0.85f}, t);
}

static vec shade_ground(const flr_shading *stage, const lighting *lamps, const flr_sample *sample,
                        uint32_t x, uint32_t y)
{
    const vec p = point_of(&lamps->eye, sample, x, y);
    const float open = (float)sample->shade / 32767;
    const float dark = 0.62f + 0.38f * lit(stage, lamps, p, normal_of(sample));
    return scaled(background(stage, y), dark * (0.35f + 0.65f * open));
}

static void set_lamps(const flr_shading *stage, lighting *lamps)
{
    const flr_camera *eye = &stage->eye, *light = &stage->light;
    lamps->eye = *eye, lamps->light = *light;
    lamps->key = turned(eye, -light->axes[2][0], -light->axes[2][1], -light->axes[2][2]);
    /* the fill light stands opposite, low, beside the eye */
    const double side[3] = {eye->axes[0][0] - eye->axes[2][0], eye->axes[0][1] - eye->axes[2][1],
                            0.25 - eye->axes[2][2]};
    lamps->fill = turned(eye, side[0], side[1], side[2]);
    lamps->up = turned(eye, 0, 0, 1);
    lamps->step = (float)(1 / light->scale);
    /* eye to world to light: turn back, shift, turn */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            lamps->to_light[i][j] = 0;
            for (int k = 0; k < 3; k++)
                lamps->to_light[i][j] += light->axes[i][k] * eye->axes[j][k];
        }
        lamps->to_light[i][3] = -light->eye[i];
        for (int j = 0; j < 3; j++) lamps->to_light[i][3] += lamps->to_light[i][j] * eye->eye[j];
    }
}

static vec shade_sample(const flr_shading *stage, const lighting *lamps, uint32_t x, uint32_t y)
{
    const flr_sample *sample = stage->samples + (size_t)y * stage->eye.width + x;
    if (sample->tag == 0) return background(stage, y);
    if (sample->tag == FLR_TAG_GROUND) return shade_ground(stage, lamps, sample, x, y);
    return shade_part(stage, lamps, sample, x, y);
}

flr_result flr_shade_picture(const flr_shading *stage, uint8_t *rgb, flr_error *error)
{
    const flr_picture_def *def = stage->def;
    lighting lamps;
    set_lamps(stage, &lamps);
    lamps.colours = malloc((def->part_count + 1) * sizeof *lamps.colours);
    if (!lamps.colours) return flr_fail(error, FLR_NO_MEMORY, "no memory for a picture");
    for (size_t i = 0; i < def->part_count; i++) lamps.colours[i] = linear(def->parts[i].colour);

    /* the mean of a pixel's samples, in linear light */
    const uint32_t side = def->samples;
    for (uint32_t y = 0; y < def->height; y++)
        for (uint32_t x = 0; x < def->width; x++) {
            vec sum = {0, 0, 0};
            for (uint32_t j = 0; j < side; j++)
                for (uint32_t i = 0; i < side; i++) {
                    const vec c = shade_sample(stage, &lamps, x * side + i, y * side + j);
                    sum = plus(sum, (vec){clamp01(c.x), clamp01(c.y), clamp01(c.z)});
                }
            const float k = 1.0f / (float)(side * side);
            uint8_t *pixel = rgb + ((size_t)y * def->width + x) * 3;
            pixel[0] = encode(sum.x * k), pixel[1] = encode(sum.y * k),
            pixel[2] = encode(sum.z * k);
        }
    free(lamps.colours);
    return FLR_OK;
}
