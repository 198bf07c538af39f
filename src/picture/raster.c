/* Triangles to samples: transform, clip, fill, with a depth buffer. */
#include "picture/raster.h"

#include <math.h>
#include <stdlib.h>

/* ---- camera ---- */

flr_view_point flr_camera_view(const flr_camera *camera, flr_vec3 p_world)
{
    const double d[3] = {p_world.x - camera->centre.x, p_world.y - camera->centre.y,
                         p_world.z - camera->centre.z};
    double v[3];
    for (int i = 0; i < 3; i++)
        v[i] = camera->axes[i][0] * d[0] + camera->axes[i][1] * d[1] + camera->axes[i][2] * d[2] -
               camera->eye[i];
    return (flr_view_point){v[0], v[1], v[2]};
}

double flr_camera_nearness(const flr_camera *camera, double z)
{
    return camera->perspective ? camera->near / z
                               : (camera->far - z) / (camera->far - camera->near);
}

double flr_camera_depth(const flr_camera *camera, double nearness)
{
    return camera->perspective ? camera->near / nearness
                               : camera->far - nearness * (camera->far - camera->near);
}

flr_view_point flr_camera_unproject(const flr_camera *camera, double x, double y, double z)
{
    const double k = (camera->perspective ? z : 1) / camera->scale;
    return (flr_view_point){(x + 0.5 - 0.5 * camera->width) * k,
                            (0.5 * camera->height - y - 0.5) * k, z};
}

/* ---- one triangle on the screen ---- */

/* A corner: camera frame, and the normal there. */
typedef struct corner {
    flr_view_point p;
    float n[3];
} corner;

/* A corner on the screen. Coordinates are whole 1/256 samples, so that edge functions are exact
 * in double precision and neighbours neither overlap nor leave gaps. */
typedef struct screen_corner {
    double x, y;
    double nearness;
    const float *n;
} screen_corner;

typedef struct raster_edge {
    double dx, dy, at_row; /* value at sample 0 of the present row */
    bool closed;           /* samples exactly on the edge belong to this side */
} raster_edge;

static screen_corner to_screen(const flr_camera *camera, const corner *c)
{
    const double k = camera->scale / (camera->perspective ? c->p.z : 1);
    return (screen_corner){floor((0.5 * camera->width + c->p.x * k) * 256 + 0.5),
                           floor((0.5 * camera->height - c->p.y * k) * 256 + 0.5),
                           flr_camera_nearness(camera, c->p.z), c->n};
}

static void put(const flr_raster *target, size_t at, double nearness, const screen_corner *s,
                const double weights[3], uint32_t tag)
{
    if (target->nearness) {
        if ((float)nearness > target->nearness[at]) target->nearness[at] = (float)nearness;
        return;
    }
    flr_sample *sample = target->samples + at;
    if (!((float)nearness > sample->nearness)) return;
    double n[3], square = 0;
    for (int i = 0; i < 3; i++) {
        n[i] = weights[0] * s[0].n[i] + weights[1] * s[1].n[i] + weights[2] * s[2].n[i];
        square += n[i] * n[i];
    }
    const double k = square > 1e-12 ? 32767 / sqrt(square) : 0;
    sample->nearness = (float)nearness;
    sample->tag = tag;
    for (int i = 0; i < 3; i++) sample->normal[i] = (int16_t)lrint(n[i] * k);
}

static void fill(const flr_raster *target, screen_corner s[3], uint32_t tag)
{
    const flr_camera *camera = target->camera;
    double area = (s[1].x - s[0].x) * (s[2].y - s[0].y) - (s[1].y - s[0].y) * (s[2].x - s[0].x);
    if (area == 0) return;
    if (area < 0) {
        screen_corner swap = s[1];
        s[1] = s[2], s[2] = swap;
        area = -area;
    }

    /* rows and columns whose sample middles may lie inside */
    const double x0 = fmax(0, ceil((fmin(fmin(s[0].x, s[1].x), s[2].x) - 128) / 256));
    const double x1 =
        fmin(camera->width - 1.0, floor((fmax(fmax(s[0].x, s[1].x), s[2].x) - 128) / 256));
    const double y0 = fmax(0, ceil((fmin(fmin(s[0].y, s[1].y), s[2].y) - 128) / 256));
    const double y1 =
        fmin(camera->height - 1.0, floor((fmax(fmax(s[0].y, s[1].y), s[2].y) - 128) / 256));
    if (x0 > x1 || y0 > y1) return;

    raster_edge edges[3];
    for (int i = 0; i < 3; i++) {
        const screen_corner a = s[(i + 1) % 3], b = s[(i + 2) % 3];
        edges[i].dx = b.x - a.x, edges[i].dy = b.y - a.y;
        edges[i].at_row = edges[i].dx * (y0 * 256 + 128 - a.y) - edges[i].dy * (128 - a.x);
        edges[i].closed = edges[i].dy > 0 || (edges[i].dy == 0 && edges[i].dx > 0);
    }

    for (uint32_t y = (uint32_t)y0; y <= (uint32_t)y1; y++) {
        /* the span of this row, a sample too wide on both sides; the exact test follows */
        double low = x0, high = x1;
        for (int i = 0; i < 3; i++) {
            const double step = -edges[i].dy * 256;
            if (step > 0) low = fmax(low, floor(-edges[i].at_row / step) - 1);
            if (step < 0) high = fmin(high, ceil(-edges[i].at_row / step) + 1);
        }
        for (double x = low; x <= high; x++) {
            double e[3];
            bool inside = true;
            for (int i = 0; i < 3; i++) {
                e[i] = edges[i].at_row - edges[i].dy * 256 * x;
                inside = inside && (e[i] > 0 || (e[i] == 0 && edges[i].closed));
            }
            if (!inside) continue;
            const double weights[3] = {e[0] / area, e[1] / area, e[2] / area};
            const double nearness = weights[0] * s[0].nearness + weights[1] * s[1].nearness +
                                    weights[2] * s[2].nearness;
            put(target, (size_t)y * camera->width + (size_t)x, nearness, s, weights, tag);
        }
        for (int i = 0; i < 3; i++) edges[i].at_row += edges[i].dx * 256;
    }
}

/* ---- clipping ---- */

/* Keeps what has distance >= 0; up to `count` + 1 corners come out. */
static int clip(const corner *in, int count, const double plane[4], corner *out)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const corner *a = in + i, *b = in + (i + 1) % count;
        const double da = plane[0] * a->p.x + plane[1] * a->p.y + plane[2] * a->p.z + plane[3];
        const double db = plane[0] * b->p.x + plane[1] * b->p.y + plane[2] * b->p.z + plane[3];
        if (da >= 0) out[kept++] = *a;
        if ((da >= 0) == (db >= 0)) continue;
        const double t = da / (da - db);
        corner *c = out + kept++;
        c->p = (flr_view_point){a->p.x + t * (b->p.x - a->p.x), a->p.y + t * (b->p.y - a->p.y),
                                a->p.z + t * (b->p.z - a->p.z)};
        for (int k = 0; k < 3; k++) c->n[k] = a->n[k] + (float)t * (b->n[k] - a->n[k]);
    }
    return kept;
}

static void draw(const flr_raster *target, const corner corners[3], const double *cut, uint32_t tag)
{
    corner first[5], second[5];
    for (int i = 0; i < 3; i++) first[i] = corners[i];
    int count = 3;
    if (cut) {
        count = clip(first, count, cut, second);
        for (int i = 0; i < count; i++) first[i] = second[i];
    }
    const double front[4] = {0, 0, 1, -target->camera->near};
    bool whole = true;
    for (int i = 0; i < count; i++) whole = whole && first[i].p.z >= target->camera->near;
    if (!whole) {
        count = clip(first, count, front, second);
        for (int i = 0; i < count; i++) first[i] = second[i];
    }
    for (int i = 1; i + 1 < count; i++) {
        screen_corner s[3] = {to_screen(target->camera, first),
                              to_screen(target->camera, first + i),
                              to_screen(target->camera, first + i + 1)};
        fill(target, s, tag);
    }
}

/* ---- one part ---- */

/* A part ready to be drawn: everything in the camera's frame. */
typedef struct ready_part {
    flr_view_point *points; /* [vertex_count] */
    float (*normals)[4];    /* [triangle_count] unit normal, area; only for the eye */
    uint32_t *first;        /* [vertex_count + 1] where a vertex's triangles begin; eye only */
    uint32_t *around;       /* [3 * triangle_count] triangles around each vertex; eye only */
} ready_part;

static void ready_free(ready_part *ready)
{
    free(ready->points);
    free(ready->normals);
    free(ready->first);
    free(ready->around);
}

static void face_normals(const flr_mesh *mesh, ready_part *ready)
{
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const flr_view_point a = ready->points[mesh->triangles[t].v[0]];
        const flr_view_point b = ready->points[mesh->triangles[t].v[1]];
        const flr_view_point c = ready->points[mesh->triangles[t].v[2]];
        const double u[3] = {b.x - a.x, b.y - a.y, b.z - a.z};
        const double v[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
        /* the camera's frame is left-handed: v x u points out */
        const double n[3] = {v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2],
                             v[0] * u[1] - v[1] * u[0]};
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        const double k = length > 0 ? 1 / length : 0;
        for (int i = 0; i < 3; i++) ready->normals[t][i] = (float)(n[i] * k);
        ready->normals[t][3] = (float)length;
    }
}

/* which triangles meet at each vertex */
static void triangles_around(const flr_mesh *mesh, ready_part *ready)
{
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++) ready->first[mesh->triangles[t].v[i] + 1]++;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) ready->first[v + 1] += ready->first[v];
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++) ready->around[ready->first[mesh->triangles[t].v[i]]++] = t;
    for (uint32_t v = mesh->vertex_count; v > 0; v--) ready->first[v] = ready->first[v - 1];
    ready->first[0] = 0;
}

static bool make_ready(const flr_raster *target, const flr_picture_part *part, ready_part *ready)
{
    const flr_mesh *mesh = part->mesh;
    ready->points = malloc(mesh->vertex_count * sizeof *ready->points);
    if (target->samples) {
        ready->normals = malloc(mesh->triangle_count * sizeof *ready->normals);
        ready->first = calloc((size_t)mesh->vertex_count + 1, sizeof *ready->first);
        ready->around = malloc((size_t)mesh->triangle_count * 3 * sizeof *ready->around);
    }
    if (!ready->points || (target->samples && (!ready->normals || !ready->first || !ready->around)))
        return false;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        ready->points[v] =
            flr_camera_view(target->camera, flr_pose_apply(part->T_world_part, mesh->vertices[v]));
    if (target->samples) {
        face_normals(mesh, ready);
        triangles_around(mesh, ready);
    }
    return true;
}

/* The normal at one corner of a triangle: the mean, by area, of the triangles around that bend
 * less than the crease angle. Neighbours wound the other way count with their back. */
static void corner_normal(const ready_part *ready, uint32_t vertex, uint32_t triangle, float crease,
                          float normal[3])
{
    enum { MANY = 64 }; /* the middle of a fan is flat or a cone's tip: the face's own will do */
    const float *own = ready->normals[triangle];
    const uint32_t first = ready->first[vertex], last = ready->first[vertex + 1];
    float sum[3] = {0, 0, 0};
    for (uint32_t i = first; i < last && last - first <= MANY; i++) {
        const float *n = ready->normals[ready->around[i]];
        const float bend = n[0] * own[0] + n[1] * own[1] + n[2] * own[2];
        const float weight = bend > crease ? n[3] : bend < -crease ? -n[3] : 0;
        for (int k = 0; k < 3; k++) sum[k] += weight * n[k];
    }
    const float length = sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int k = 0; k < 3; k++) normal[k] = length > 0 ? sum[k] / length : own[k];
}

void flr_camera_cut(const flr_camera *camera, const flr_picture_def *def, double plane[4])
{
    const flr_view_point p = flr_camera_view(camera, def->cut_point);
    const double n[3] = {def->cut_normal.x, def->cut_normal.y, def->cut_normal.z};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++)
        plane[i] =
            -(camera->axes[i][0] * n[0] + camera->axes[i][1] * n[1] + camera->axes[i][2] * n[2]) /
            length;
    plane[3] = -(plane[0] * p.x + plane[1] * p.y + plane[2] * p.z);
}

flr_result flr_raster_part(const flr_raster *target, const flr_picture_def *def, size_t index,
                           flr_error *error)
{
    const flr_picture_part *part = def->parts + index;
    const flr_mesh *mesh = part->mesh;
    ready_part ready = {0};
    if (!make_ready(target, part, &ready)) {
        ready_free(&ready);
        return flr_fail(error, FLR_NO_MEMORY, "no memory to draw %u triangles",
                        mesh->triangle_count);
    }
    double plane[4] = {0, 0, 0, 0};
    const bool cut = def->cut && !part->whole;
    if (cut) flr_camera_cut(target->camera, def, plane);
    const float crease = cosf((float)(def->crease * FLR_PI / 180));
    const uint32_t tag = ((uint32_t)index + 1) * 2;

    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        corner corners[3] = {0};
        for (int i = 0; i < 3; i++) corners[i].p = ready.points[mesh->triangles[t].v[i]];
        uint32_t behind = 0;
        if (target->samples) {
            const float *n = ready.normals[t];
            const flr_view_point p = corners[0].p;
            behind =
                target->camera->perspective ? n[0] * p.x + n[1] * p.y + n[2] * p.z > 0 : n[2] > 0;
            for (int i = 0; i < 3; i++) {
                corner_normal(&ready, mesh->triangles[t].v[i], t, crease, corners[i].n);
                for (int k = 0; behind && k < 3; k++) corners[i].n[k] = -corners[i].n[k];
            }
        }
        draw(target, corners, cut ? plane : NULL, tag + behind);
    }
    ready_free(&ready);
    return FLR_OK;
}
