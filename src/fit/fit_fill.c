/* patches, faces and boxes from the triangles */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "fit/fit_internal.h"

enum { FILL_PIECE = 256 /* patches or entries of a level that one thread takes at once */ };

typedef struct filling {
    flr_fit *fit;
    const uint32_t *order;
    const flr_fit_range *ranges;
    uint32_t level; /* that is filled from the one below */
} filling;

/* Which lane a vertex has in a patch; a new one for a vertex that has none. */
static uint32_t lane_of(uint32_t seen[FLR_FIT_LANES], uint32_t *count, uint32_t vertex)
{
    uint32_t at = 0;
    while (at < *count && seen[at] != vertex) at++;
    if (at == *count) seen[(*count)++] = vertex;
    return at;
}

static flr_vec3 area_vector(const flr_vec3 t[3])
{
    return flr_vec3_scale(flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])), 0.5);
}

/* A triangle relative to a centre. Zeros where it has no area, which no test takes for a reason to leave it out. */
static flr_fit_face face_of(const flr_vec3 corners[3], flr_vec3 centre, uint32_t triangle,
                            flr_fit_plane *plane)
{
    flr_fit_face f = {.triangle = triangle};
    *plane = (flr_fit_plane){.o = 0};
    flr_vec3 p[3];
    for (int i = 0; i < 3; i++) p[i] = flr_vec3_sub(corners[i], centre);
    const flr_vec3 u = flr_vec3_sub(p[1], p[0]), v = flr_vec3_sub(p[2], p[0]),
                   n = flr_vec3_cross(u, v);
    const double nn = flr_vec3_length2(n),
                 longest2 = fmax(flr_vec3_length2(u), flr_vec3_length2(v));
    /* a plane through a needle is not to be trusted in single precision */
    if (!(nn > 1e-12 * longest2 * longest2)) return f;
    const double length = sqrt(nn);
    const flr_vec3 unit = flr_vec3_scale(n, 1 / length);
    /* gradients of the barycentric coordinates of the second and third corner */
    const flr_vec3 gu = flr_vec3_scale(flr_vec3_cross(v, n), 1 / nn),
                   gv = flr_vec3_scale(flr_vec3_cross(n, u), 1 / nn);
    plane->n[0] = (float)unit.x, plane->n[1] = (float)unit.y, plane->n[2] = (float)unit.z;
    plane->o = (float)flr_vec3_dot(unit, p[0]);
    f.u[0] = (float)gu.x, f.u[1] = (float)gu.y, f.u[2] = (float)gu.z;
    f.v[0] = (float)gv.x, f.v[1] = (float)gv.y, f.v[2] = (float)gv.z;
    f.u0 = (float)-flr_vec3_dot(gu, p[0]);
    f.v0 = (float)-flr_vec3_dot(gv, p[0]);
    f.height[0] = (float)(1 / flr_vec3_length(gu));
    f.height[1] = (float)(1 / flr_vec3_length(gv));
    f.height[2] = (float)(1 / flr_vec3_length(flr_vec3_add(gu, gv)));
    return f;
}

static void fill_lanes(const flr_fit *fit, flr_fit_patch *patch, const uint32_t seen[], uint32_t n)
{
    double radius2 = 0;
    for (uint32_t i = 0; i < FLR_FIT_LANES; i++) {
        const flr_vec3 p = flr_vec3_sub(fit->vertices[seen[i < n ? i : 0]], patch->centre);
        patch->lanes.x[i] = (float)p.x;
        patch->lanes.y[i] = (float)p.y;
        patch->lanes.z[i] = (float)p.z;
        radius2 = fmax(radius2, flr_vec3_length2(p));
    }
    patch->radius = nextafterf((float)sqrt(radius2), INFINITY);
}

/* The direction across n in which a box around the points is smallest: that of a side of some triangle. */
static flr_vec3 best_along(const flr_fit_patch *patch, flr_vec3 n)
{
    const flr_fit_lanes *l = &patch->lanes;
    const flr_vec3 u = flr_vec3_perpendicular(n), v = flr_vec3_cross(n, u);
    double x[FLR_FIT_LANES], y[FLR_FIT_LANES], least = INFINITY;
    flr_vec3 along = u;
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const flr_vec3 p = flr_vec3_make((double)l->x[i], (double)l->y[i], (double)l->z[i]);
        x[i] = flr_vec3_dot(u, p), y[i] = flr_vec3_dot(v, p);
    }
    for (uint32_t f = 0; f < patch->faces; f++) {
        const unsigned corners = patch->corners[f];
        for (unsigned from = corners; from; from &= from - 1) {
            const unsigned others = from & (from - 1) ? from & (from - 1) : corners;
            const int a = __builtin_ctz(from), b = __builtin_ctz(others);
            const double dx = x[b] - x[a], dy = y[b] - y[a], length2 = dx * dx + dy * dy;
            if (!(length2 > 0)) continue;
            double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
            for (int i = 0; i < FLR_FIT_LANES; i++) {
                const double at[2] = {dx * x[i] + dy * y[i], dx * y[i] - dy * x[i]};
                for (int k = 0; k < 2; k++)
                    low[k] = at[k] < low[k] ? at[k] : low[k],
                    high[k] = at[k] > high[k] ? at[k] : high[k];
            }
            const double area = (high[0] - low[0]) * (high[1] - low[1]) / length2;
            if (!(area < least)) continue;
            least = area;
            along = flr_vec3_add(flr_vec3_scale(u, dx), flr_vec3_scale(v, dy));
        }
    }
    return flr_vec3_normalize(along);
}

/* The patch's own box: along its normal, a side of one of its triangles, and square to both. */
static void fill_box(flr_fit_patch *patch, flr_vec3 area)
{
    const flr_fit_lanes *l = &patch->lanes;
    flr_vec3 n = flr_vec3_normalize(area);
    if (flr_vec3_length2(n) < 0.5) n = flr_vec3_make(1, 0, 0);
    const flr_vec3 along = best_along(patch, n);
    const flr_vec3 axes[3] = {n, along, flr_vec3_cross(n, along)};
    for (int k = 0; k < 3; k++) {
        float *axis = patch->axes[k], low = INFINITY, high = -INFINITY;
        axis[0] = (float)axes[k].x, axis[1] = (float)axes[k].y, axis[2] = (float)axes[k].z;
        for (int i = 0; i < FLR_FIT_LANES; i++) {
            const float at = axis[0] * l->x[i] + axis[1] * l->y[i] + axis[2] * l->z[i];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        patch->low[k] = low - 1e-6f * patch->radius;
        patch->high[k] = high + 1e-6f * patch->radius;
    }
}

static flr_result fill_patches(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    filling *f = context;
    flr_fit *fit = f->fit;
    for (size_t i = piece * FILL_PIECE; i < (piece + 1) * FILL_PIECE && i < fit->counts.patches;
         i++) {
        flr_fit_patch *patch = &fit->patches[i];
        const flr_fit_range r = f->ranges[i];
        uint32_t seen[FLR_FIT_LANES], lanes = 0;
        flr_box3 box = flr_box3_empty();
        flr_vec3 area = flr_vec3_zero(), corners[3];
        patch->first_face = r.first;
        patch->faces = r.count;
        for (uint32_t k = 0; k < r.count; k++) {
            const flr_triangle *t = &fit->triangles[f->order[r.first + k]];
            uint16_t bits = 0;
            for (int j = 0; j < 3; j++) {
                bits = (uint16_t)(bits | 1u << lane_of(seen, &lanes, t->v[j]));
                corners[j] = fit->vertices[t->v[j]];
                box.low = flr_vec3_min(box.low, corners[j]);
                box.high = flr_vec3_max(box.high, corners[j]);
            }
            patch->corners[k] = bits;
            area = flr_vec3_add(area, area_vector(corners));
        }
        patch->centre = flr_vec3_lerp(box.low, box.high, 0.5);
        fill_lanes(fit, patch, seen, lanes);
        fill_box(patch, area);
        flr_fit_bend(patch);
        for (uint32_t k = 0; k < r.count; k++) {
            const uint32_t triangle = f->order[r.first + k];
            flr_fit_triangle(fit, triangle, corners);
            fit->faces[r.first + k] =
                face_of(corners, patch->centre, triangle, &fit->planes[r.first + k]);
        }
    }
    return FLR_OK;
}

/* what one box of a level holds: its box, and the dipole */
typedef struct content {
    flr_box3 box;
    flr_vec3 at, area;
    double weight;
} content;

static content nothing(void)
{
    content none = {.box = flr_box3_empty()};
    return none;
}

static void add(content *to, content part)
{
    const double sum = to->weight + part.weight;
    if (part.box.low.x > part.box.high.x) return;
    to->at = sum > 0 ? flr_vec3_lerp(to->at, part.at, part.weight / sum) : part.at;
    to->box.low = flr_vec3_min(to->box.low, part.box.low);
    to->box.high = flr_vec3_max(to->box.high, part.box.high);
    to->area = flr_vec3_add(to->area, part.area);
    to->weight = sum;
}

static content of_patch(const flr_fit *fit, const flr_fit_patch *patch)
{
    content sum = nothing();
    for (uint32_t k = 0; k < patch->faces; k++) {
        flr_vec3 t[3];
        flr_fit_triangle(fit, fit->faces[patch->first_face + k].triangle, t);
        content c = {.box = {flr_vec3_min(t[0], flr_vec3_min(t[1], t[2])),
                             flr_vec3_max(t[0], flr_vec3_max(t[1], t[2]))},
                     .at = flr_vec3_scale(flr_vec3_add(t[0], flr_vec3_add(t[1], t[2])), 1.0 / 3),
                     .area = area_vector(t)};
        c.weight = flr_vec3_length(c.area);
        add(&sum, c);
    }
    return sum;
}

static content of_boxes(const flr_fit_boxes *b)
{
    content sum = nothing();
    for (int i = 0; i < FLR_FIT_WIDE; i++) {
        content c = {
            .box = {flr_vec3_make((double)b->low[0][i], (double)b->low[1][i], (double)b->low[2][i]),
                    flr_vec3_make((double)b->high[0][i], (double)b->high[1][i],
                                  (double)b->high[2][i])},
            .at = flr_vec3_make((double)b->at[0][i], (double)b->at[1][i], (double)b->at[2][i]),
            .area =
                flr_vec3_make((double)b->area[0][i], (double)b->area[1][i], (double)b->area[2][i])};
        c.weight = flr_vec3_length(c.area);
        add(&sum, c);
    }
    return sum;
}

/* rounded outwards, by more than what centre and area lose by being rounded twice */
static float below(double x) { return nextafterf((float)x, -INFINITY); }
static float above(double x) { return nextafterf((float)x, INFINITY); }

static void put(flr_fit_boxes *to, int i, const content *c)
{
    const double low[3] = {c->box.low.x, c->box.low.y, c->box.low.z},
                 high[3] = {c->box.high.x, c->box.high.y, c->box.high.z},
                 at[3] = {c->at.x, c->at.y, c->at.z}, area[3] = {c->area.x, c->area.y, c->area.z};
    double radius2 = 0;
    for (int k = 0; k < 3; k++) {
        to->low[k][i] = below(low[k]);
        to->high[k][i] = above(high[k]);
        to->at[k][i] = (float)at[k];
        to->area[k][i] = (float)area[k];
        const double far = fmax(at[k] - low[k], high[k] - at[k]);
        radius2 += far * far;
    }
    to->radius[i] = above(sqrt(radius2));
}

static void put_nothing(flr_fit_boxes *to, int i)
{
    for (int k = 0; k < 3; k++) {
        to->low[k][i] = INFINITY, to->high[k][i] = -INFINITY;
        to->at[k][i] = to->area[k][i] = 0;
    }
    to->radius[i] = 0;
}

/* entries of a level for so many patches */
static uint32_t entries(uint32_t patches, uint32_t level)
{
    uint64_t n = patches;
    for (uint32_t i = 0; i <= level; i++) n = (n + FLR_FIT_WIDE - 1) / FLR_FIT_WIDE;
    return (uint32_t)n;
}

static flr_result fill_level(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    filling *f = context;
    flr_fit *fit = f->fit;
    const uint32_t count = entries(fit->counts.patches, f->level),
                   below_count =
                       f->level ? entries(fit->counts.patches, f->level - 1) : fit->counts.patches;
    for (size_t i = piece * FILL_PIECE; i < (piece + 1) * FILL_PIECE && i < count; i++)
        for (int k = 0; k < FLR_FIT_WIDE; k++) {
            const size_t child = i * FLR_FIT_WIDE + (size_t)k;
            flr_fit_boxes *to = &fit->level[f->level][i];
            if (child >= below_count) {
                put_nothing(to, k);
                continue;
            }
            const content c = f->level ? of_boxes(&fit->level[f->level - 1][child])
                                       : of_patch(fit, &fit->patches[child]);
            put(to, k, &c);
        }
    return FLR_OK;
}

void flr_fit_fill(flr_fit *fit, const uint32_t *order, const flr_fit_range *ranges,
                  unsigned threads)
{
    filling f = {.fit = fit, .order = order, .ranges = ranges};
    flr_parallel_for(threads, (fit->counts.patches + FILL_PIECE - 1) / FILL_PIECE, fill_patches,
                     &f);
    for (f.level = 0; f.level < fit->levels; f.level++)
        flr_parallel_for(threads,
                         (entries(fit->counts.patches, f.level) + FILL_PIECE - 1) / FILL_PIECE,
                         fill_level, &f);
}

/* where each part of the memory begins */
typedef struct fit_layout {
    uint64_t at[9 + FLR_FIT_LEVELS], size;
    uint32_t levels;
} fit_layout;

static fit_layout layout_of(flr_fit_counts c)
{
    fit_layout l = {.levels = 1};
    while (entries(c.patches, l.levels - 1) > 1) l.levels++;
    uint64_t sizes[9 + FLR_FIT_LEVELS] = {
        (uint64_t)c.vertices * sizeof(flr_vec3),       (uint64_t)c.triangles * sizeof(flr_triangle),
        (uint64_t)c.samples * sizeof(flr_fit_sample),  (uint64_t)c.patches * sizeof(flr_fit_patch),
        (uint64_t)c.triangles * sizeof(flr_fit_plane), (uint64_t)c.triangles * sizeof(flr_fit_face),
        (uint64_t)c.shells * sizeof(uint32_t),         c.triangles,
        (uint64_t)c.borders * sizeof(flr_fit_border)};
    for (uint32_t i = 0; i < l.levels; i++)
        sizes[9 + i] = (uint64_t)entries(c.patches, i) * sizeof(flr_fit_boxes);
    for (uint32_t i = 0; i < 9 + l.levels; i++) {
        l.at[i] = l.size;
        l.size += (sizes[i] + 63) / 64 * 64;
    }
    return l;
}

uint64_t flr_fit_size(flr_fit_counts counts) { return layout_of(counts).size; }

bool flr_fit_lay_out(flr_fit *fit, flr_fit_counts counts)
{
    const fit_layout l = layout_of(counts);
    fit->counts = counts;
    fit->levels = l.levels;
    fit->size = (size_t)l.size;
    fit->memory = aligned_alloc(64, fit->size);
    if (!fit->memory) return false;
    memset(fit->memory, 0, fit->size);
    char *memory = fit->memory;
    fit->vertices = (void *)(memory + l.at[0]);
    fit->triangles = (void *)(memory + l.at[1]);
    fit->samples = (void *)(memory + l.at[2]);
    fit->patches = (void *)(memory + l.at[3]);
    fit->planes = (void *)(memory + l.at[4]);
    fit->faces = (void *)(memory + l.at[5]);
    fit->shells = (void *)(memory + l.at[6]);
    fit->sides = (void *)(memory + l.at[7]);
    fit->borders = (void *)(memory + l.at[8]);
    for (uint32_t i = 0; i < fit->levels; i++) fit->level[i] = (void *)(memory + l.at[9 + i]);
    return true;
}
