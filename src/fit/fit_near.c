/* what keeps two patches apart, and lists of patches that are near each other
 *
 * Each pair in a list has a surface fixed to one of the two patches that has the other one on its far side: a plane, the
 * curve that was fitted to the patch, or the planes of all its faces. Where points of the other patch are over that
 * surface is 16 multiplications side by side, and it does not change much when two faces slide along each other. The
 * surface that keeps most distance at the reference pose is chosen. */
#include <math.h>

#include "fit/fit_query.h"

static const double FAR = 4; /* times what a list covers: patches with nothing there move freely */

/* a patch of a and one of b */
typedef struct couple {
    const flr_fit_patch *a, *b;
    float shift[3], back[3]; /* from a's centre to b's, in the axes of a; the reverse */
    double size;             /* metres: of all that is involved */
} couple;

static couple couple_of(const flr_fit_query *q, const flr_fit_visitor *v, uint32_t patch)
{
    couple c = {&q->parts[0]->patches[patch], &q->parts[1]->patches[v->patch], .size = 0};
    const flr_vec3 shift = flr_vec3_sub(v->centre, c.a->centre);
    c.shift[0] = (float)shift.x, c.shift[1] = (float)shift.y, c.shift[2] = (float)shift.z;
    for (int k = 0; k < 3; k++) c.back[k] = -c.shift[k];
    c.size = (double)c.a->radius + (double)c.b->radius + flr_vec3_length(shift);
    return c;
}

static void turn_vector(const flr_fit_move *move, const float from[3], float to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] =
            move->turn[k][0] * from[0] + move->turn[k][1] * from[1] + move->turn[k][2] * from[2];
}

flr_fit_guest flr_fit_receive(const flr_fit_query *q, uint32_t patch)
{
    flr_fit_guest g = {.v = flr_fit_visit(q, patch)};
    for (int k = 0; k < 3; k++)
        turn_vector(&q->turn[1], q->parts[1]->patches[patch].axes[k], g.axes[k]);
    return g;
}

static void turn_planes(const flr_fit_query *q, flr_fit_guest *g)
{
    const flr_fit_patch *b = &q->parts[1]->patches[g->v.patch];
    const flr_fit_plane *planes = q->parts[1]->planes + b->first_face;
    for (uint32_t i = 0; i < b->faces; i++) {
        turn_vector(&q->turn[1], planes[i].n, g->planes[i].n);
        g->planes[i].o = planes[i].o;
    }
    g->turned = true;
}

/* ---- surfaces ---- */

/* how steep a curve is, and how much it bends; per metre */
static double bend_of(const flr_fit_curve *c)
{
    return 2 * (fabs((double)c->k[2]) + fabs((double)c->k[3]) + fabs((double)c->k[4]));
}

double flr_fit_bend_of(const flr_fit_query *q, const flr_fit_entry *entry, uint32_t patch)
{
    if (entry->keeper == FLR_FIT_CURVE_A) return bend_of(&q->parts[0]->patches[entry->patch].curve);
    return entry->keeper == FLR_FIT_CURVE_B ? bend_of(&q->parts[1]->patches[patch].curve) : 0;
}

/* Heights over the curve of a's patch, or b's, of the other one's vertices; less what lies over the curve itself. */
static double over_curve(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                         int side)
{
    float low, high;
    const flr_fit_curve *curve = part ? &c->b->curve : &c->a->curve;
    if (part)
        q->kernel->heights(g->axes, curve->k, &c->a->lanes, c->back, &low, &high);
    else
        q->kernel->heights(c->a->axes, curve->k, &g->v.lanes, c->shift, &low, &high);
    return side > 0 ? (double)low - (double)curve->top : (double)curve->bottom - (double)high;
}

static double over_faces(const flr_fit_query *q, const couple *c, flr_fit_guest *g, int part,
                         int side)
{
    float low, high;
    if (part && !g->turned) turn_planes(q, g);
    if (part)
        q->kernel->over(g->planes, c->b->faces, &c->a->lanes, c->back, &low, &high);
    else
        q->kernel->over(q->parts[0]->planes + c->a->first_face, c->a->faces, &g->v.lanes, c->shift,
                        &low, &high);
    return side > 0 ? (double)low : -(double)high;
}

static double over_plane(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                         const float v[4])
{
    float low, high, n[3];
    if (part) {
        turn_vector(&q->turn[1], v, n);
        q->kernel->extent(n, &c->a->lanes, c->back, &low, &high);
    } else {
        q->kernel->extent(v, &g->v.lanes, c->shift, &low, &high);
    }
    return (double)low - (double)v[3];
}

static double bound_of(const flr_fit_query *q, const couple *c, flr_fit_guest *g,
                       const flr_fit_entry *e)
{
    const double slack = FLR_FIT_SINGLE * c->size;
    switch (e->keeper) {
    case FLR_FIT_PLANE_A:
    case FLR_FIT_PLANE_B:
        return over_plane(q, c, g, e->keeper == FLR_FIT_PLANE_B, e->v) - slack;
    case FLR_FIT_CURVE_A:
    case FLR_FIT_CURVE_B:
        return (over_curve(q, c, g, e->keeper == FLR_FIT_CURVE_B, e->side) - (double)e->v[1]) *
               (double)e->v[0];
    case FLR_FIT_FACES_A:
    case FLR_FIT_FACES_B:
        return over_faces(q, c, g, e->keeper == FLR_FIT_FACES_B, e->side) - slack;
    default:
        return -INFINITY;
    }
}

double flr_fit_bound(const flr_fit_query *q, flr_fit_guest *guest, const flr_fit_entry *entry)
{
    const couple c = couple_of(q, &guest->v, entry->patch);
    return bound_of(q, &c, guest, entry);
}

/* ---- choice ---- */

/* The sides of a patch's own box, beyond which the other patch may lie. */
static double best_plane(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                         flr_fit_entry *e)
{
    const flr_fit_patch *p = part ? c->b : c->a;
    double best = -INFINITY;
    flr_fit_move move;
    for (int k = 0; k < 3; k++) {
        const float *axis = part ? g->axes[k] : p->axes[k], *shift = part ? c->back : c->shift;
        for (int j = 0; j < 3; j++) move.turn[k][j] = axis[j];
        move.shift[k] = axis[0] * shift[0] + axis[1] * shift[1] + axis[2] * shift[2];
    }
    flr_fit_lanes there;
    float low[3], high[3];
    q->kernel->move(&move, part ? &c->a->lanes : &g->v.lanes, &there);
    q->kernel->bounds(&there, low, high);
    for (int k = 0; k < 3; k++) {
        const double above = (double)low[k] - (double)p->high[k],
                     below = (double)p->low[k] - (double)high[k], more = fmax(above, below);
        if (!(more > best)) continue;
        const float sign = above >= below ? 1.0f : -1.0f;
        best = more;
        e->keeper = part ? FLR_FIT_PLANE_B : FLR_FIT_PLANE_A;
        for (int j = 0; j < 3; j++) e->v[j] = sign * p->axes[k][j];
        e->v[3] = above >= below ? p->high[k] : -p->low[k];
    }
    return best - FLR_FIT_SINGLE * c->size;
}

/* What the flat triangles of the other patch may come nearer to a curve between their corners, however b is turned by up
 * to FLR_FIT_TURN, and on in a motion: 1/6 of the most that the curve bends away along a side. The sides are bounded by a box. */
static double between_corners(const couple *c, const flr_fit_guest *g, int part, int side)
{
    const flr_fit_curve *curve = part ? &c->b->curve : &c->a->curve;
    const float *edge = part ? c->a->edge : c->b->edge;
    const float(*own)[3] = part ? g->axes : c->a->axes, (*other)[3] = part ? c->a->axes : g->axes;
    const double h[3] = {2 * (double)curve->k[2], (double)curve->k[3], 2 * (double)curve->k[4]};
    const double most = fabs(h[0]) + 2 * fabs(h[1]) + fabs(h[2]),
                 turn = FLR_FIT_TURN + FLR_FIT_STRETCH;
    double u[3][2], hu[3][2], length[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++)
            u[i][k] = (double)own[k + 1][0] * (double)other[i][0] +
                      (double)own[k + 1][1] * (double)other[i][1] +
                      (double)own[k + 1][2] * (double)other[i][2];
        hu[i][0] = h[0] * u[i][0] + h[1] * u[i][1];
        hu[i][1] = h[1] * u[i][0] + h[2] * u[i][1];
        length[i] = fabs(hu[i][0]) + fabs(hu[i][1]);
        const double along = side * (u[i][0] * hu[i][0] + u[i][1] * hu[i][1]);
        sum += (fmax(-along, 0) + 2 * turn * length[i] + turn * turn * most) * (double)edge[i] *
               (double)edge[i];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            sum += 2 *
                   (fabs(u[i][0] * hu[k][0] + u[i][1] * hu[k][1]) + turn * (length[i] + length[k]) +
                    turn * turn * most) *
                   (double)edge[i] * (double)edge[k];
    return sum / 6;
}

/* A point h over a surface that is nowhere steeper than s is h / sqrt(1 + s^2) away from it. Only what is within `cover`
 * of the patch matters. */
static double factor_of(const flr_fit_patch *p, double cover)
{
    const float *k = p->curve.k;
    double steep2 = 0;
    for (int i = 0; i < 4; i++) {
        const double x = i & 1 ? (double)p->high[1] + cover : (double)p->low[1] - cover,
                     y = i & 2 ? (double)p->high[2] + cover : (double)p->low[2] - cover,
                     gx = (double)k[0] + 2 * (double)k[2] * x + (double)k[3] * y,
                     gy = (double)k[1] + (double)k[3] * x + 2 * (double)k[4] * y;
        steep2 = fmax(steep2, gx * gx + gy * gy);
    }
    return (1 - 1e-6) / sqrt(1 + steep2);
}

static void try_curve(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                      double cover, flr_fit_entry *e)
{
    const flr_fit_patch *p = part ? c->b : c->a;
    for (int side = 1; side >= -1; side -= 2) {
        const double height = over_curve(q, c, g, part, side);
        if (!(height > (double)e->bound)) continue;
        const double slack = FLR_FIT_SINGLE * c->size * (1 + bend_of(&p->curve) * c->size) +
                             between_corners(c, g, part, side),
                     factor = factor_of(p, cover), bound = (height - slack) * factor;
        if (!(bound > (double)e->bound)) continue;
        e->keeper = part ? FLR_FIT_CURVE_B : FLR_FIT_CURVE_A;
        e->side = (int16_t)side;
        e->bound = (float)bound;
        e->v[0] = (float)factor, e->v[1] = (float)slack;
    }
}

static void try_faces(const flr_fit_query *q, const couple *c, flr_fit_guest *g, int part,
                      flr_fit_entry *e)
{
    for (int side = 1; side >= -1; side -= 2) {
        const double bound = over_faces(q, c, g, part, side) - FLR_FIT_SINGLE * c->size;
        if (!(bound > (double)e->bound)) continue;
        e->keeper = part ? FLR_FIT_FACES_B : FLR_FIT_FACES_A;
        e->side = (int16_t)side;
        e->bound = (float)bound;
    }
}

/* ---- lists ---- */

typedef struct fit_listing {
    flr_fit_guest guest;
    bool any;           /* a guest is there */
    double cover, soon; /* metres: what the list holds; what queries will look at */
    uint32_t next, end; /* of the entries */
    bool full;
} fit_listing;

static void list_pair(flr_fit_query *q, uint32_t patch, const flr_fit_visitor *v)
{
    fit_listing *l = q->context;
    flr_fit_lists *lists = &q->pair->lists;
    if (l->full) return;
    if (!l->any || l->guest.v.patch != v->patch) {
        l->guest = flr_fit_receive(q, v->patch);
        l->any = true;
        lists->first[v->patch] = l->next;
    }
    const couple c = couple_of(q, v, patch);
    const double radii = (double)c.a->radius + (double)c.b->radius,
                 apart = c.size * (1 - 1e-6) - 2 * radii;
    q->work += 2;
    if (apart > l->cover) return;
    flr_fit_entry e = {.patch = patch}, other = e;
    double bound = best_plane(q, &c, &l->guest, 0, &e);
    if (bound > l->cover) return;
    const double second = best_plane(q, &c, &l->guest, 1, &other);
    if (second > bound) e = other, bound = second;
    q->work += 6;
    if (bound > l->cover) return;
    if (l->next == l->end) {
        l->full = true;
        return;
    }
    e.bound = (float)(bound - 1e-6 * fabs(bound));
    if (bound < l->soon) {
        try_curve(q, &c, &l->guest, 0, l->cover, &e);
        try_curve(q, &c, &l->guest, 1, l->cover, &e);
        q->work += 8;
    }
    if ((double)e.bound < l->soon) {
        try_faces(q, &c, &l->guest, 0, &e);
        try_faces(q, &c, &l->guest, 1, &e);
        q->work += 8;
    }
    if (apart > (double)e.bound) e.bound = (float)apart;
    lists->entries[l->next++] = e;
    lists->count[v->patch] = l->next - lists->first[v->patch];
}

bool flr_fit_make_list(flr_fit_pair *pair, uint32_t group, flr_pose T_a_b, double cover,
                       uint64_t *work)
{
    const flr_fit_params params = {.reach = -1, .max_distance = -1};
    flr_fit_lists *lists = &pair->lists;
    const uint32_t patches = pair->parts[1]->counts.patches,
                   entries = (patches + FLR_FIT_WIDE - 1) / FLR_FIT_WIDE;
    flr_fit_query q = flr_fit_begin_query(pair, T_a_b, &params);
    fit_listing l = {.cover = cover,
                     .soon = cover - lists->margin,
                     .next = group * lists->capacity,
                     .end = (group + 1) * lists->capacity};
    q.limit = cover;
    q.context = &l;
    for (uint32_t entry = group; entry < entries; entry += FLR_FIT_GROUPS) {
        const uint32_t first = entry * FLR_FIT_WIDE;
        for (uint32_t i = first; i < first + FLR_FIT_WIDE; i++) lists->count[i] = 0;
        const bool near = flr_fit_walk_eight(&q, list_pair, entry, FAR * cover);
        for (uint32_t i = first; i < first + FLR_FIT_WIDE; i++)
            lists->cover[i] = (float)((near ? cover : FAR * cover) * (1 - 1e-6));
        if (l.full) break;
    }
    pair->track.reference[group] = T_a_b;
    pair->track.cover[group] = l.full ? 0 : cover;
    *work += q.work;
    return !l.full;
}
