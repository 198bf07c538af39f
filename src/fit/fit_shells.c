/* the pieces of a part that hang together: which one a vertex belongs to, and whether one lies inside the other part
 *
 * While the surfaces do not meet, a piece is inside as a whole or outside as a whole, so one of its vertices is looked up. Large parts
 * have many pieces, and nearly all of them are far from the other part: boxes around groups of them tell. For the others, the side
 * found holds until the vertex has moved by its distance from the surface; only then is it looked up again. */
#include <math.h>
#include <stdlib.h>

#include "base/prefault.h"
#include "fit/fit_query.h"

enum { GROUPED = 32 /* pieces in a box */ };

/* a piece by one of its vertices */
struct flr_fit_piece {
    flr_vec3 point; /* frame of its part */
    flr_vec3 asked; /* where it was when its side was found; frame of the other part */
    double room;    /* metres: the side holds so far around that; 0: not known */
    bool inside;
};

static uint32_t group_count(const flr_fit *part)
{
    return (part->counts.shells + GROUPED - 1) / GROUPED;
}

/* The least vertex of a piece, or of what is known of it; halves the way there. */
static uint32_t root_of(uint32_t *parent, uint32_t at)
{
    for (; parent[at] != at; at = parent[at]) parent[at] = parent[parent[at]];
    return at;
}

static void find_roots(const flr_fit *part, uint32_t *parent)
{
    for (uint32_t i = 0; i < part->counts.vertices; i++) parent[i] = i;
    for (uint32_t i = 0; i < part->counts.triangles; i++)
        for (int k = 1; k < 3; k++) {
            const uint32_t a = root_of(parent, part->triangles[i].v[0]),
                           b = root_of(parent, part->triangles[i].v[k]);
            parent[a > b ? a : b] = a < b ? a : b;
        }
    for (uint32_t i = 0; i < part->counts.vertices; i++) parent[i] = root_of(parent, i);
}

bool flr_fit_create_shells(flr_fit_pair *pair)
{
    bool ok = true;
    for (int side = 0; side < 2; side++) {
        const flr_fit *part = pair->parts[side];
        const uint32_t shells = part->counts.shells, groups = group_count(part);
        flr_fit_shells *s = &pair->shells[side];
        s->of = flr_prefaulted_calloc(part->counts.vertices, sizeof *s->of);
        s->side = flr_prefaulted_calloc(part->counts.vertices, 1);
        s->told = flr_prefaulted_calloc(shells, sizeof *s->told);
        s->pieces = flr_prefaulted_calloc(shells, sizeof *s->pieces);
        s->boxes = flr_prefaulted_calloc(groups, sizeof *s->boxes);
        ok = ok && s->of && s->side && s->told && s->pieces && s->boxes;
        if (!ok) return false;
        pair->bytes += part->counts.vertices * (sizeof *s->of + 1) +
                       shells * (sizeof *s->told + sizeof *s->pieces) + groups * sizeof *s->boxes;
        find_roots(part, s->of);
        for (uint32_t i = 0; i < groups; i++) s->boxes[i] = flr_box3_empty();
        for (uint32_t i = 0; i < shells; i++) {
            s->pieces[i].point = part->vertices[part->shells[i]];
            s->boxes[i / GROUPED] = flr_box3_add(s->boxes[i / GROUPED], s->pieces[i].point);
        }
    }
    return true;
}

void flr_fit_destroy_shells(flr_fit_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        const flr_fit_shells *s = &pair->shells[side];
        free(s->of);
        free(s->side);
        free(s->told);
        free(s->pieces);
        free(s->boxes);
    }
}

void flr_fit_forget_shells(flr_fit_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        flr_fit_shells *s = &pair->shells[side];
        while (s->told_count) s->side[s->told[--s->told_count]] = 0;
    }
}

void flr_fit_tell_shell(flr_fit_pair *pair, int side, uint32_t vertex, bool inside)
{
    flr_fit_shells *s = &pair->shells[side];
    s->side[s->of[vertex]] = inside ? 1 : -1;
    s->told[s->told_count++] = s->of[vertex];
}

int8_t flr_fit_side_of_shell(const flr_fit_pair *pair, int side, uint32_t vertex)
{
    return pair->shells[side].side[pair->shells[side].of[vertex]];
}

/* Is a vertex inside, and how far around it is that so? */
static void look_up(const flr_fit *other, flr_vec3 p, struct flr_fit_piece *piece)
{
    const double winding = fabs(flr_fit_winding(other, p));
    const flr_fit_near_result near = flr_fit_nearest(other, p, 4 * other->info.size);
    double room = near.triangle == FLR_NONE ? 0 : near.distance * (1 - 1e-9);
    room -= flr_fit_rounding(flr_fit_extent(other));
    if (!flr_fit_is_closed(other) &&
        !(flr_fit_winding_change(other, p, fmax(room, 0)) < fabs(winding - 0.5)))
        room = 0;
    piece->inside = winding > 0.5;
    piece->asked = p;
    piece->room = fmax(room, 0);
}

bool flr_fit_contains_shell(const flr_fit_query *q, int side)
{
    const flr_fit *part = q->parts[side], *other = q->parts[1 - side];
    const flr_fit_shells *s = &q->pair->shells[side];
    const flr_box3 box = flr_box3_grow(flr_box3_transform(q->out[1 - side], other->info.bounds),
                                       1e-9 * (q->extent[0] + q->extent[1]));
    for (uint32_t group = 0; group < group_count(part); group++) {
        const uint32_t first = group * GROUPED, left = part->counts.shells - first;
        if (!flr_box3_overlap(box, s->boxes[group])) continue;
        for (uint32_t i = first; i < first + (left < GROUPED ? left : GROUPED); i++) {
            struct flr_fit_piece *piece = &s->pieces[i];
            const flr_vec3 p = flr_pose_apply(q->out[side], piece->point);
            if (!flr_fit_may_be_inside(other, p)) continue;
            if (!(flr_vec3_distance(p, piece->asked) < piece->room)) look_up(other, p, piece);
            if (piece->inside) return true;
        }
    }
    return false;
}
