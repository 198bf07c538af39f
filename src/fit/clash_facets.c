/* which overlaps are those of facets alone?
 *
 * The corners of an import's triangles lie on the exact surface. Where it is convex, the triangles lie within the part; in a
 * hole or a fillet they reach beyond its surface, by as much as an arc rises above its chord. A rod in a hole of its own
 * diameter therefore overlaps with the facets of the hole.
 *
 * So each triangle gets its excess: how far it reaches beyond the surface that it stands for, as its angles to its neighbours
 * tell, and never more than the import's chord. Sharp edges and the corners themselves count for nothing: a flat face has no
 * excess. An overlap is explained if every sample of either part that is inside the other is no deeper there than the excess of the triangles on
 * which it and the nearest point lie; triangles that do not face the way out do not count. Edges can cross where no sample is inside: the middle of
 * each stretch of an edge that is inside the other part counts, too, with a quarter more excess (MIDDLES). */
#include "fit/clash_facets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "feeler/mesh_check.h"
#include "fit/fit_query.h"
#include "mesh/nearest.h"

#define MAX_BEND                                                                                   \
    0.8 /* radians: importers turn by at most 0.5 from one triangle to the next; more is an edge */
#define FLAT      1e-5 /* radians */
#define MAX_RATIO 4    /* of the widths of facets of one arc */
#define ALLOWANCE 1.1  /* of an estimate from angles */
#define MIDDLES                                                                                    \
    1.25 /* times the excess: middles of edges are deeper than samples, and angles tell little of irregular facets */
#define MIN_FACES 0.7 /* cosine between a triangle's normal and the way out */

/* The triangles of a fit, with what they reach beyond their surface. */
typedef struct faceted {
    const flr_fit *fit;
    double chord;
    flr_adjacency *adjacency; /* NULL: not made yet */
    float *excess;            /* [triangles], metres */
} faceted;

/* ---- excess ---- */

static flr_vec3 normal_of(const flr_vec3 t[3])
{
    return flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
}

/* from an edge to the corner opposite */
static double height_over(const flr_vec3 t[3], flr_vec3 from, flr_vec3 to)
{
    const flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
    const double length = flr_vec3_distance(from, to);
    return length > 0 ? flr_vec3_length(n) / length : 0;
}

/* Both triangles beside an edge are facets of one arc: how far it rises above each of them. The edge is where their chords meet,
 * so its angle is half the sum of those that they span, and the arc's radius follows. A far wider triangle is the plane at the
 * end of the arc; then the angle is half of that of the last facet. Nothing at edges that are flat, convex or sharp. */
static void find_rise(const flr_fit *fit, const flr_edge *edge, const uint32_t triangle[2],
                      double rise[2], bool *flat)
{
    flr_vec3 t[2][3], n[2];
    *flat = false;
    rise[0] = rise[1] = 0;
    for (int i = 0; i < 2; i++) {
        flr_fit_triangle(fit, triangle[i], t[i]);
        n[i] = normal_of(t[i]);
        if (!(flr_vec3_length2(n[i]) > 0)) return;
    }
    const flr_vec3 from = fit->vertices[edge->v[0]], to = fit->vertices[edge->v[1]];
    const double sine = flr_vec3_length(flr_vec3_cross(n[0], n[1])),
                 angle = atan2(sine, flr_vec3_dot(n[0], n[1])),
                 width[2] = {height_over(t[0], from, to), height_over(t[1], from, to)},
                 less = fmin(width[0], width[1]);
    *flat = angle < FLAT;
    if (*flat || angle > MAX_BEND) return;
    // concave: the corner opposite is in front of the other triangle
    double front = 0;
    for (int k = 0; k < 3; k++)
        front = fmax(front, flr_vec3_dot(n[0], flr_vec3_sub(t[1][k], from)));
    if (!(front > 0.5 * width[1] * sine)) return;
    for (int i = 0; i < 2; i++)
        if (width[0] + width[1] < (1 + MAX_RATIO) * less)
            rise[i] = 0.5 * width[i] * width[i] / (width[0] + width[1]) * tan(angle / 2);
        else if (width[i] <= less)
            rise[i] = 0.5 * width[i] * tan(angle / 2);
}

static flr_result find_excess(faceted *f)
{
    const flr_fit *fit = f->fit;
    const flr_mesh mesh = {.vertices = fit->vertices,
                           .triangles = fit->triangles,
                           .vertex_count = fit->counts.vertices,
                           .triangle_count = fit->counts.triangles};
    flr_result result = flr_adjacency_create(&mesh, &f->adjacency, NULL);
    if (result != FLR_OK) return result;
    const flr_adjacency *a = f->adjacency;
    f->excess = calloc(fit->counts.triangles, sizeof *f->excess);
    float *rise = calloc(fit->counts.triangles, sizeof *rise);
    if (!f->excess || !rise) {
        free(rise);
        return FLR_NO_MEMORY;
    }
    // a surface that bends both ways rises by the sum
    for (int flats = 0; flats < 2; flats++)
        for (uint32_t e = 0; e < a->edge_count; e++) {
            if (a->edge_kind[e] != FLR_EDGE_REGULAR) continue;
            const uint32_t *sides = &a->edge_sides[a->edge_first[e]];
            const uint32_t triangle[2] = {sides[0] / 3, sides[1] / 3};
            double at[2];
            bool flat;
            find_rise(fit, &a->edges[e], triangle, at, &flat);
            // both halves of a strip between two rulings count as the strip
            for (int i = 0; i < 2; i++)
                if (!flats)
                    rise[triangle[i]] += (float)at[i];
                else if (flat)
                    f->excess[triangle[i]] = fmaxf(f->excess[triangle[i]], rise[triangle[1 - i]]);
        }
    for (uint32_t i = 0; i < fit->counts.triangles; i++) {
        const double all = ALLOWANCE * (double)fmaxf(f->excess[i], rise[i]);
        f->excess[i] = (float)fmin(all, f->chord);
    }
    free(rise);
    return FLR_OK;
}

/* Of the triangles at a point of the surface that face along `way` or against it; frame of the fit. Corners lie on the exact
 * surface: nothing there. */
static double excess_at(const faceted *f, uint32_t triangle, flr_vec3 p, flr_vec3 way)
{
    const flr_fit *fit = f->fit;
    const double here = 1e-9 * fit->info.size;
    double most = 0;
    for (int k = 0; k < 3; k++)
        if (!(flr_vec3_distance(p, fit->vertices[fit->triangles[triangle].v[k]]) > here)) return 0;
    for (int k = 0; k < 3; k++) {
        const uint32_t v = fit->triangles[triangle].v[k];
        for (uint32_t i = f->adjacency->vertex_first[v]; i < f->adjacency->vertex_first[v + 1];
             i++) {
            const uint32_t other = f->adjacency->vertex_triangles[i];
            flr_vec3 t[3];
            if (!((double)f->excess[other] > most)) continue;
            flr_fit_triangle(fit, other, t);
            if (fabs(flr_vec3_dot(normal_of(t), way)) < MIN_FACES) continue;
            if (other != triangle && flr_triangle_point2(t, p) > here * here) continue;
            most = (double)f->excess[other];
        }
    }
    return most;
}

/* ---- pairs ---- */

typedef struct explaining {
    const flr_clash_def *def;
    flr_clash_pair **pairs; /* [count] */
    faceted *parts;         /* [part_count of the definition]: of equal parts the first is filled */
    uint32_t *of;           /* [part_count]: which of `parts` */
} explaining;

/* The excess where a sample is in the other part. */
static double excess_of(const faceted *a, const faceted *b, flr_pose T_a_b,
                        const flr_fit_contact *c)
{
    const flr_vec3 on_a = c->side == 0 ? c->point : c->nearest,
                   on_b = c->side == 0 ? c->nearest : c->point;
    return excess_at(a, c->triangle[0], on_a, c->normal) +
           excess_at(b, c->triangle[1], flr_pose_apply_inverse(T_a_b, on_b),
                     flr_quat_rotate_inverse(T_a_b.q, c->normal));
}

/* The greatest excess at the contacts of a pair; 0: one of them is deeper, or there is none. */
static double explained(double touch, const faceted *a, const faceted *b, flr_pose T_a_b,
                        const flr_fit_contact *contacts, uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(contacts[i].distance < 0)) continue;
        const double excess = excess_of(a, b, T_a_b, &contacts[i]);
        if (-contacts[i].distance > excess + touch) return 0;
        most = fmax(most, excess);
    }
    return most;
}

/* ---- edges that pass through the other part's surface ---- */

enum { MAX_CUTS = 64 /* of an edge; one with more of them is not explained */ };

/* An edge, in the frame of the part that it may pass through. */
typedef struct cut_edge {
    const flr_fit *other;
    flr_vec3 from, to;
    double at[MAX_CUTS + 2]; /* from 0 to 1, where it passes through; both ends, too */
    uint32_t count;
} cut_edge;

/* False: there are too many cuts. */
static bool cut_by(cut_edge *e, uint32_t triangle)
{
    const double here = 1e-9 * e->other->info.size;
    flr_vec3 t[3];
    flr_fit_triangle(e->other, triangle, t);
    const flr_vec3 n = normal_of(t);
    const double from = flr_vec3_dot(n, flr_vec3_sub(e->from, t[0])),
                 to = flr_vec3_dot(n, flr_vec3_sub(e->to, t[0]));
    if (from * to > 0 || from == to) return true;
    const double at = from / (from - to);
    if (flr_triangle_point2(t, flr_vec3_lerp(e->from, e->to, at)) > here * here) return true;
    if (e->count == MAX_CUTS) return false;
    uint32_t i = e->count++;
    for (; i > 0 && e->at[i - 1] > at; i--) e->at[i] = e->at[i - 1];
    e->at[i] = at;
    return true;
}

static bool cut_by_patch(cut_edge *e, const flr_fit_patch *p)
{
    for (uint32_t i = 0; i < p->faces; i++)
        if (!cut_by(e, e->other->faces[p->first_face + i].triangle)) return false;
    return true;
}

/* Finds all places where an edge passes through triangles of the other part, in order. False: there are too many. */
static bool cut(cut_edge *e)
{
    const flr_fit *fit = e->other;
    const double p[3] = {e->from.x, e->from.y, e->from.z}, q[3] = {e->to.x, e->to.y, e->to.z};
    struct {
        uint32_t level, entry;
    } stack[FLR_FIT_STACK];
    unsigned depth = 1;
    e->count = 0;
    stack[0].level = fit->levels - 1, stack[0].entry = 0;
    while (depth) {
        const uint32_t level = stack[--depth].level, entry = stack[depth].entry;
        const flr_fit_boxes *b = &fit->level[level][entry];
        for (uint32_t i = 0; i < FLR_FIT_WIDE; i++) {
            bool meets = true;
            for (int k = 0; k < 3; k++)
                meets = meets && fmin(p[k], q[k]) <= (double)b->high[k][i] &&
                        fmax(p[k], q[k]) >= (double)b->low[k][i];
            if (!meets) continue;
            const uint32_t below = entry * FLR_FIT_WIDE + i;
            if (level > 0)
                stack[depth].level = level - 1, stack[depth++].entry = below;
            else if (!cut_by_patch(e, &fit->patches[below]))
                return false;
        }
    }
    return true;
}

/* The middle of a stretch of an edge of part `side`, as a contact in the frame of a; not inside the other part: a distance of at least 0. */
static flr_fit_contact middle_of(const cut_edge *e, uint32_t stretch, int side, uint32_t triangle,
                                 flr_pose T_a_b)
{
    const flr_vec3 p = flr_vec3_lerp(e->from, e->to, 0.5 * (e->at[stretch] + e->at[stretch + 1]));
    flr_fit_contact c = {.side = (uint32_t)side};
    if (!flr_fit_may_be_inside(e->other, p)) return c;
    const flr_fit_point_result r = flr_fit_point(e->other, p, INFINITY);
    const bool of_a = side == 0; // then all is in the frame of b
    c.point = of_a ? flr_pose_apply(T_a_b, p) : p;
    c.nearest = of_a ? flr_pose_apply(T_a_b, r.nearest) : r.nearest;
    c.normal = of_a ? flr_vec3_neg(flr_quat_rotate(T_a_b.q, r.direction)) : r.direction;
    c.distance = r.distance;
    c.triangle[side] = triangle;
    c.triangle[1 - side] = r.triangle;
    return c;
}

/* Is every stretch of the edges of part `side` that is inside the other one no deeper than facets explain? */
static bool edges_are_explained(double touch, const faceted *const parts[2], int side,
                                flr_pose T_a_b)
{
    const faceted *own = parts[side];
    const flr_adjacency *a = own->adjacency;
    cut_edge e = {.other = parts[1 - side]->fit};
    for (uint32_t i = 0; i < a->edge_count; i++) {
        const flr_vec3 *v = own->fit->vertices;
        const flr_vec3 from = v[a->edges[i].v[0]], to = v[a->edges[i].v[1]];
        e.from = side ? flr_pose_apply(T_a_b, from) : flr_pose_apply_inverse(T_a_b, from);
        e.to = side ? flr_pose_apply(T_a_b, to) : flr_pose_apply_inverse(T_a_b, to);
        if (!cut(&e)) return false;
        // one that passes through nothing is as its ends are, which are samples
        if (!e.count) continue;
        for (uint32_t k = e.count++; k > 0; k--) e.at[k] = e.at[k - 1];
        e.at[0] = 0;
        e.at[e.count++] = 1;
        for (uint32_t k = 0; k + 1 < e.count; k++) {
            const flr_fit_contact c =
                middle_of(&e, k, side, a->edge_sides[a->edge_first[i]] / 3, T_a_b);
            if (-c.distance > touch &&
                -c.distance > MIDDLES * excess_of(parts[0], parts[1], T_a_b, &c) + touch)
                return false;
        }
    }
    return true;
}

static flr_result explain_pair(void *context, size_t piece, unsigned worker)
{
    const explaining *e = context;
    const flr_clash_def *def = e->def;
    flr_clash_pair *pair = e->pairs[piece];
    /* the calling thread is worker 0; all pairs have been measured */
    if (worker == 0 && def->progress && !def->progress(def->progress_context, 1))
        return FLR_CANCELLED;
    const flr_clash_part *one = &def->parts[pair->a], *other = &def->parts[pair->b];
    const flr_pose T_a_b = flr_pose_mul(flr_pose_inverse(one->T_world_part), other->T_world_part);
    flr_fit_pair *query;
    flr_result result = flr_fit_pair_create(one->fit, other->fit, &query, NULL);
    if (result != FLR_OK) return result;
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r;
    params.max_distance = -1;
    flr_fit_pair_query(query, T_a_b, &params, NULL, 0, &r);
    const uint32_t capacity = r.contact_total;
    flr_fit_contact *contacts = calloc(capacity + 1u, sizeof *contacts);
    if (contacts) {
        flr_fit_pair_query(query, T_a_b, &params, contacts, capacity, &r);
        const faceted *const parts[2] = {&e->parts[e->of[pair->a]], &e->parts[e->of[pair->b]]};
        const double excess =
            explained(pair->touch, parts[0], parts[1], T_a_b, contacts, r.contact_count);
        // what is deeper than all samples is no matter of facets
        if (excess > 0 && pair->depth <= excess + pair->touch &&
            edges_are_explained(pair->touch, parts, 0, T_a_b) &&
            edges_are_explained(pair->touch, parts, 1, T_a_b)) {
            pair->state = FLR_CLASH_CONTACT;
            pair->facets = excess;
        }
    }
    free(contacts);
    flr_fit_pair_destroy(query);
    return contacts ? FLR_OK : FLR_NO_MEMORY;
}

static bool may_be_facets(const flr_clash_def *def, const flr_clash_pair *pair)
{
    const flr_clash_part *a = &def->parts[pair->a], *b = &def->parts[pair->b];
    const double chords = a->chord + b->chord;
    return pair->state == FLR_CLASH_OVERLAP && chords > 0 && !a->keep_out && !b->keep_out &&
           pair->depth <= chords + pair->touch;
}

static flr_result find_all_excess(explaining *e, size_t count)
{
    const flr_clash_def *def = e->def;
    for (size_t i = 0; i < 2 * count; i++) {
        const uint32_t part = i % 2 ? e->pairs[i / 2]->b : e->pairs[i / 2]->a;
        uint32_t same = 0;
        while (def->parts[same].fit != def->parts[part].fit ||
               def->parts[same].chord != def->parts[part].chord)
            same++;
        e->of[part] = same;
        faceted *f = &e->parts[same];
        if (f->adjacency) continue;
        f->fit = def->parts[part].fit;
        f->chord = def->parts[part].chord;
        flr_result result = find_excess(f);
        if (result != FLR_OK) return result;
    }
    return FLR_OK;
}

flr_result flr_clash_explain(const flr_clash_def *def, flr_clash_pair *pairs, size_t count)
{
    size_t candidates = 0;
    for (size_t i = 0; i < count; i++) candidates += may_be_facets(def, &pairs[i]);
    if (!candidates) return FLR_OK;
    explaining e = {.def = def,
                    .pairs = calloc(candidates, sizeof *e.pairs),
                    .parts = calloc(def->part_count, sizeof *e.parts),
                    .of = calloc(def->part_count, sizeof *e.of)};
    flr_result result = FLR_NO_MEMORY;
    if (e.pairs && e.parts && e.of) {
        size_t k = 0;
        for (size_t i = 0; i < count; i++)
            if (may_be_facets(def, &pairs[i])) e.pairs[k++] = &pairs[i];
        result = find_all_excess(&e, candidates);
        if (result == FLR_OK) result = flr_parallel_for(def->threads, candidates, explain_pair, &e);
    }
    for (uint32_t i = 0; e.parts && i < def->part_count; i++) {
        flr_adjacency_destroy(e.parts[i].adjacency);
        free(e.parts[i].excess);
    }
    free(e.pairs);
    free(e.parts);
    free(e.of);
    return result;
}
