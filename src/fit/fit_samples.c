/* samples: points on the surface, each with the piece of it that it stands for
 *
 * Every vertex is a sample. An edge longer than the spacing is divided evenly, once for all triangles that share it. A
 * triangle that is higher than the spacing over its longest side gets rows of points parallel to that side. The area of
 * a triangle is shared out exactly: a row's strip to its points, the ends of a strip to the points of the edge there,
 * the foot to the points of the longest side, and the rest to the corner on top. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit_internal.h"

enum { MAX_SAMPLES = 1 << 20 /* beside the vertices */ };

/* an edge that is divided; `count` pieces, its samples begin at `first` */
typedef struct long_edge {
    uint32_t v[2]; /* v[0] < v[1] */
    uint32_t count, first;
} long_edge;

typedef struct sampling {
    const flr_mesh *mesh;
    flr_fit_sample *samples;
    double spacing, area;
    long_edge *edges; /* [edge_count], sorted by v */
    size_t edge_count;
    size_t rows;    /* samples on faces */
    size_t written; /* samples so far */
} sampling;

static double pieces(double length, double spacing)
{
    return length > spacing ? ceil(length / spacing) : 1;
}

/* a triangle seen from its longest side */
typedef struct shape {
    uint32_t v[3]; /* the longest side from v[0] to v[1] */
    flr_vec3 p[3];
    double length[3]; /* of the sides from v[0], v[1], v[2] */
    double area;
    double rows; /* pieces of the height */
} shape;

static shape shape_of(const sampling *s, uint32_t triangle)
{
    const flr_triangle *t = &s->mesh->triangles[triangle];
    double length[3];
    for (int i = 0; i < 3; i++)
        length[i] =
            flr_vec3_distance(s->mesh->vertices[t->v[i]], s->mesh->vertices[t->v[(i + 1) % 3]]);
    const int from = length[0] >= length[1] && length[0] >= length[2] ? 0
                     : length[1] >= length[2]                         ? 1
                                                                      : 2;
    shape f;
    for (int i = 0; i < 3; i++) {
        f.v[i] = t->v[(from + i) % 3];
        f.p[i] = s->mesh->vertices[f.v[i]];
        f.length[i] = length[(from + i) % 3];
    }
    f.area = 0.5 * flr_vec3_length(
                       flr_vec3_cross(flr_vec3_sub(f.p[1], f.p[0]), flr_vec3_sub(f.p[2], f.p[0])));
    f.rows = f.length[0] > 0 ? pieces(2 * f.area / f.length[0], s->spacing) : 1;
    return f;
}

/* points of row k of f */
static double row_pieces(const sampling *s, const shape *f, double k)
{
    return pieces(f->length[0] * (1 - k / f->rows), s->spacing);
}

/* How many samples a spacing gives beside the vertices, at most: shared edges count twice. */
static double count_for(sampling *s, double spacing)
{
    double count = 0;
    s->spacing = spacing;
    for (uint32_t i = 0; i < s->mesh->triangle_count && count <= MAX_SAMPLES; i++) {
        const shape f = shape_of(s, i);
        for (int k = 0; k < 3; k++) count += pieces(f.length[k], spacing) - 1;
        count += 0.5 * f.rows * pieces(f.length[0], spacing) * (f.rows > 1);
    }
    return count;
}

static int by_vertices(const void *x, const void *y)
{
    const long_edge *a = x, *b = y;
    if (a->v[0] != b->v[0]) return a->v[0] < b->v[0] ? -1 : 1;
    return a->v[1] < b->v[1] ? -1 : a->v[1] > b->v[1];
}

/* Lists the edges that are divided, each once, and counts the samples on faces. */
static flr_result list_edges(sampling *s, flr_error *error)
{
    size_t count = 0;
    for (uint32_t i = 0; i < s->mesh->triangle_count; i++) {
        const shape f = shape_of(s, i);
        for (int k = 0; k < 3; k++) count += f.length[k] > s->spacing;
        for (double k = 1; k < f.rows; k++) s->rows += (size_t)row_pieces(s, &f, k) - 1;
    }
    s->edges = malloc((count + 1) * sizeof *s->edges);
    if (!s->edges) return flr_fail(error, FLR_NO_MEMORY, "out of memory for samples");
    for (uint32_t i = 0; i < s->mesh->triangle_count; i++) {
        const shape f = shape_of(s, i);
        for (int k = 0; k < 3; k++) {
            if (!(f.length[k] > s->spacing)) continue;
            const uint32_t a = f.v[k], b = f.v[(k + 1) % 3];
            s->edges[s->edge_count++] = (long_edge){
                {a < b ? a : b, a < b ? b : a}, (uint32_t)pieces(f.length[k], s->spacing), 0};
        }
    }
    qsort(s->edges, s->edge_count, sizeof *s->edges, by_vertices);
    size_t kept = 0;
    for (size_t i = 0; i < s->edge_count; i++)
        if (!kept || by_vertices(&s->edges[kept - 1], &s->edges[i])) s->edges[kept++] = s->edges[i];
    s->edge_count = kept;
    return FLR_OK;
}

static long_edge *find_edge(const sampling *s, uint32_t a, uint32_t b)
{
    const long_edge key = {{a < b ? a : b, a < b ? b : a}, 0, 0};
    return bsearch(&key, s->edges, s->edge_count, sizeof key, by_vertices);
}

/* Gives area to the samples along the side k of a triangle, its ends included. */
static void share(sampling *s, const shape *f, int k, double area, double radius)
{
    flr_fit_sample *samples = s->samples;
    const uint32_t ends[2] = {f->v[k], f->v[(k + 1) % 3]};
    const long_edge *edge = f->length[k] > s->spacing ? find_edge(s, ends[0], ends[1]) : NULL;
    const double each = area / (edge ? edge->count : 1);
    for (int i = 0; i < 2; i++) {
        samples[ends[i]].area += 0.5 * each;
        samples[ends[i]].radius = fmax(samples[ends[i]].radius, radius);
    }
    for (uint32_t i = 1; edge && i < edge->count; i++) {
        flr_fit_sample *to = &samples[edge->first + i - 1];
        to->area += each;
        to->radius = fmax(to->radius, radius);
    }
}

static flr_fit_sample sample_at(flr_vec3 point, uint32_t triangle)
{
    return (flr_fit_sample){.point = point, .triangle = triangle, .vertex = FLR_NONE};
}

/* Writes the samples of edges of which this is the first triangle. */
static void sample_edges(sampling *s, const shape *f, uint32_t triangle)
{
    for (int k = 0; k < 3; k++) {
        if (!(f->length[k] > s->spacing)) continue;
        long_edge *edge = find_edge(s, f->v[k], f->v[(k + 1) % 3]);
        if (edge->first) continue;
        edge->first = (uint32_t)s->written;
        const flr_vec3 a = s->mesh->vertices[edge->v[0]], b = s->mesh->vertices[edge->v[1]];
        for (uint32_t i = 1; i < edge->count; i++)
            s->samples[s->written++] =
                sample_at(flr_vec3_lerp(a, b, (double)i / edge->count), triangle);
    }
}

/* Shares out the area of a triangle; writes the samples on its inside. */
static void sample_face(sampling *s, const shape *f, uint32_t triangle)
{
    const double height = f->length[0] > 0 ? 2 * f->area / f->length[0] : 0;
    double radius = 0;
    for (int k = 0; k < 3; k++)
        radius = fmax(radius, f->length[k] / pieces(f->length[k], s->spacing));
    radius += height / f->rows;
    if (!(f->length[0] > s->spacing)) {
        for (int k = 0; k < 3; k++) share(s, f, k, f->area / 3, f->length[0]);
        return;
    }
    double foot = f->length[0] * (1 - 0.25 / f->rows) * 0.5 * height / f->rows, sides = 0,
           rest = f->area - foot;
    for (double k = 1; k < f->rows; k++) {
        const double count = row_pieces(s, f, k);
        const double each = f->length[0] * (1 - k / f->rows) * height / f->rows / count;
        const flr_vec3 left = flr_vec3_lerp(f->p[0], f->p[2], k / f->rows),
                       right = flr_vec3_lerp(f->p[1], f->p[2], k / f->rows);
        for (double j = 1; j < count; j++) {
            flr_fit_sample *to = &s->samples[s->written++];
            *to = sample_at(flr_vec3_lerp(left, right, j / count), triangle);
            to->area = each;
            to->radius = radius;
        }
        sides += 0.5 * each;
        rest -= count * each;
    }
    share(s, f, 0, foot, radius);
    share(s, f, 1, sides, radius);
    share(s, f, 2, sides, radius);
    s->samples[f->v[2]].area += rest > 0 ? rest : 0;
}

static void write_samples(sampling *s)
{
    for (uint32_t i = 0; i < s->mesh->vertex_count; i++) {
        s->samples[i] = sample_at(s->mesh->vertices[i], FLR_NONE);
        s->samples[i].vertex = i;
    }
    s->written = s->mesh->vertex_count;
    for (uint32_t i = 0; i < s->mesh->triangle_count; i++) {
        const shape f = shape_of(s, i);
        for (int k = 0; k < 3; k++)
            if (s->samples[f.v[k]].triangle == FLR_NONE) s->samples[f.v[k]].triangle = i;
        sample_edges(s, &f, i);
        sample_face(s, &f, i);
        s->area += f.area;
    }
}

flr_result flr_fit_make_samples(const flr_mesh *mesh, const flr_fit_def *def, flr_fit_info *info,
                                flr_fit_sample **samples, uint32_t *count, flr_error *error)
{
    sampling s = {.mesh = mesh};
    double spacing = def->spacing > 0 ? def->spacing : info->size / 40;
    if (!(spacing > 0)) spacing = 1; /* all corners in one place */
    while (count_for(&s, spacing) > MAX_SAMPLES) spacing *= 1.25;
    flr_result result = list_edges(&s, error);
    size_t total = (size_t)mesh->vertex_count + s.rows;
    for (size_t i = 0; i < s.edge_count; i++) total += s.edges[i].count - 1;
    if (result == FLR_OK && !(s.samples = malloc(total * sizeof *s.samples)))
        result = flr_fail(error, FLR_NO_MEMORY, "out of memory for %zu samples", total);
    if (result == FLR_OK) {
        write_samples(&s);
        info->spacing = spacing;
        info->area = s.area;
        *samples = s.samples;
        *count = (uint32_t)s.written;
    }
    free(s.edges);
    return result;
}
