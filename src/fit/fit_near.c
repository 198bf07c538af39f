/* what keeps two patches apart, and lists of patches that are near each other
 *
 * Each pair in a list has a surface fixed to one of the two patches that has the other one on its far side: a plane, the
 * curve that was fitted to the patch, or the planes of all its faces. Where points of the other patch are over that
 * surface is 16 multiplications side by side, and it does not change much when two faces slide along each other. The
 * surface that keeps most distance at the reference pose is chosen. */
#include <math.h>

#include "fit/fit_query.h"
#include "voxel/clones.h"

static const double FURTHER = 50e-6; /* metres beyond twice the height: as far as curves tell */
static const double CLOSELY =
    5e-7; /* metres: with a surface that leaves its patch by less, no other is tried */
static const double SOON = 0.1; /* of the margin: what queries may look at later, or more */
static const double FAR = 16; /* times what a list covers: patches with nothing there move freely */

/* a patch of a and one of b */
typedef struct couple {
    const flr_fit_patch *a, *b;
    float shift[3], back[3]; /* from a's centre to b's, in the axes of a; the reverse */
    double size;             /* metres: of all that is involved, or more */
} couple;

static couple couple_of(const flr_fit_query *q, const flr_fit_visitor *v, uint32_t patch)
{
    couple c = {&q->parts[0]->patches[patch], &q->parts[1]->patches[v->patch], .size = 0};
    const flr_vec3 shift = flr_vec3_sub(v->centre, c.a->centre);
    c.shift[0] = (float)shift.x, c.shift[1] = (float)shift.y, c.shift[2] = (float)shift.z;
    for (int k = 0; k < 3; k++) c.back[k] = -c.shift[k];
    c.size =
        (double)c.a->radius + (double)c.b->radius + fabs(shift.x) + fabs(shift.y) + fabs(shift.z);
    return c;
}

static void turn_vector(const flr_fit_move *move, const float from[3], float to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] =
            move->turn[k][0] * from[0] + move->turn[k][1] * from[1] + move->turn[k][2] * from[2];
}

/* A patch of b, with what is needed to tell it from patches of a. */
static void receive(const flr_fit_query *q, uint32_t patch, flr_fit_guest *g)
{
    flr_fit_visit(q, patch, &g->v);
    for (int k = 0; k < 3; k++)
        turn_vector(&q->turn[1], q->parts[1]->patches[patch].axes[k], g->axes[k]);
    g->received = true;
    g->turned = false;
    g->turn = q->turned[patch / FLR_FIT_WIDE % FLR_FIT_GROUPS];
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

static bool is_curve(const flr_fit_entry *e)
{
    return e->keeper == FLR_FIT_CURVE_A || e->keeper == FLR_FIT_CURVE_B;
}

double flr_fit_between(const flr_fit_query *q, const flr_fit_entry *entry, uint32_t patch,
                       double travel, double turn)
{
    if (!is_curve(entry)) return 0;
    const flr_fit_patch *p = entry->keeper == FLR_FIT_CURVE_A ? &q->parts[0]->patches[entry->patch]
                                                              : &q->parts[1]->patches[patch];
    return 0.125 * bend_of(&p->curve) * travel * travel + turn * (double)entry->v[2];
}

/* Heights over the curve of a's patch, or b's, of the other one's vertices, less what lies over the curve itself, divided by
 * sqrt(1 + s^2) for the slope s there.
 *
 * Such a quotient F = h w differs little from the distance to the curve. Its gradient is nowhere longer than
 * sqrt(1 + 2 x s^2 + x^2 s^2), where x is h times how much the curve bends (flr_fit's curves are quadratic): with g the
 * gradient of the curve and H its second derivatives, that of F is w (-g, 1) - h w^3 H g. Within a flat triangle, or on
 * a straight way, F is nowhere less than at the ends but for what h alone bends: w is concave as long as s^2 < 1/2, so for
 * weights l_i F is at least (sum l_i h_i) (sum l_i w_i) >= (sum l_i sqrt(h_i w_i))^2. */
static double over_curve(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                         int side)
{
    const flr_fit_curve *curve = part ? &c->b->curve : &c->a->curve;
    const float off = side > 0 ? curve->top : -curve->bottom;
    return (double)(part ? q->kernel->heights(g->axes, curve->k, &c->a->lanes, c->back, (float)side,
                                              off)
                         : q->kernel->heights(c->a->axes, curve->k, &g->v.lanes, c->shift,
                                              (float)side, off));
}

static double over_faces(const flr_fit_query *q, const couple *c, flr_fit_guest *g, int part,
                         int side)
{
    if (part && !g->turned) turn_planes(q, g);
    return (
        double)(part ? q->kernel->over(g->planes, c->b->faces, &c->a->lanes, c->back, (float)side)
                     : q->kernel->over(q->parts[0]->planes + c->a->first_face, c->a->faces,
                                       &g->v.lanes, c->shift, (float)side));
}

static double over_plane(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part,
                         const float v[4])
{
    float n[3];
    if (!part) return (double)q->kernel->extent(v, &g->v.lanes, c->shift) - (double)v[3];
    turn_vector(&q->turn[1], v, n);
    return (double)q->kernel->extent(n, &c->a->lanes, c->back) - (double)v[3];
}

/* The bound that a height over a curve gives. */
static double bound_of_height(const flr_fit_entry *e, double height, double turn)
{
    return fmin((height - (double)e->v[1] - turn * (double)e->v[2]) * (double)e->v[0],
                (double)e->v[3]);
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
        return bound_of_height(e, over_curve(q, c, g, e->keeper == FLR_FIT_CURVE_B, e->side),
                               g->turn);
    case FLR_FIT_FACES_A:
    case FLR_FIT_FACES_B:
        return over_faces(q, c, g, e->keeper == FLR_FIT_FACES_B, e->side) - slack;
    default:
        return -INFINITY;
    }
}

/* What may be added to the odometer's way, so that a bound less the way is one: less than what rounding makes of both. Heights
 * over a curve divided by sqrt(1 + s^2) change by sqrt(1 + (2 + x) x s^2) times the way at most (see over_curve); where
 * that may be more than the tenth that odometers add, nothing is sure. */
static double sure_of(const flr_fit_query *q, const couple *c, const flr_fit_entry *e, double bound)
{
    double slack = 8 * FLR_FIT_SINGLE * c->size + 1e-6 * fabs(bound);
    if (is_curve(e)) {
        const flr_fit_patch *p = e->keeper == FLR_FIT_CURVE_A ? c->a : c->b;
        const double bend = bend_of(&p->curve), factor = (double)e->v[0],
                     range = c->size + (double)q->pair->lists.cover[c->b - q->parts[1]->patches],
                     x = range * bend,
                     s = fabs((double)p->curve.k[0]) + fabs((double)p->curve.k[1]) + x;
        if (s * s > 0.4 || factor * factor * (1 + (2 + x) * x * s * s) > 1.2 ||
            factor * (double)e->v[2] > 0.04 * (double)c->b->radius)
            return -INFINITY;
        slack *= 1 + x;
    }
    return bound - slack;
}

double flr_fit_bound(const flr_fit_query *q, flr_fit_guest *guest, uint32_t patch, uint32_t entry)
{
    const flr_fit_lists *l = &q->pair->lists;
    const flr_fit_entry *e = &l->entries[entry];
    if (!isnan(q->known[entry])) return (double)q->known[entry];
    if (!guest->received) receive(q, patch, guest);
    const couple c = couple_of(q, &guest->v, e->patch);
    const double bound = bound_of(q, &c, guest, e), way = (double)q->odometer[patch];
    q->known[entry] = (float)(bound - 1e-7 * fabs(bound));
    l->sure[entry] = (float)((sure_of(q, &c, e, bound) + way) - 1e-6 * way);
    return (double)q->known[entry];
}

/* ---- overhang ---- */

/* one of two patches beside the curve of the other, at a pose */
typedef struct beside {
    const float (*axes)[3]; /* of the curve's patch */
    const flr_fit_lanes *lanes;
    const float *shift;
} beside;

/* Of 16 points, the bits of those that lie at least `limit` beyond each of the four sides of a patch along its second and third
 * axes. */
FLR_CLONES static void beyond_of_16(const flr_fit_patch *patch, const float u[3], const float v[3],
                                    const flr_fit_lanes *points, const float shift[3], float limit,
                                    uint16_t beyond[4])
{
    uint32_t bits[4] = {0, 0, 0, 0};
    const float high_u = patch->high[1] + limit, low_u = patch->low[1] - limit,
                high_v = patch->high[2] + limit, low_v = patch->low[2] - limit;
    for (uint32_t i = 0; i < FLR_FIT_LANES; i++) {
        const float x = points->x[i] + shift[0], y = points->y[i] + shift[1],
                    z = points->z[i] + shift[2];
        const float at_u = (u[0] * x + u[1] * y) + u[2] * z,
                    at_v = (v[0] * x + v[1] * y) + v[2] * z;
        bits[0] |= (uint32_t)(at_u >= high_u) << i;
        bits[1] |= (uint32_t)(at_u <= low_u) << i;
        bits[2] |= (uint32_t)(at_v >= high_v) << i;
        bits[3] |= (uint32_t)(at_v <= low_v) << i;
    }
    for (int k = 0; k < 4; k++) beyond[k] = (uint16_t)bits[k];
}

/* The same points, but one that is used in place of those that are not. */
static void without(const flr_fit_lanes *points, uint32_t used, flr_fit_lanes *to)
{
    const int one = __builtin_ctz(used);
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        const int from = used >> i & 1 ? i : one;
        to->x[i] = points->x[from], to->y[i] = points->y[from], to->z[i] = points->z[from];
    }
}

bool flr_fit_overhang_is_free(const flr_fit_query *const q[2], flr_fit_guest guests[2],
                              uint32_t patch, uint32_t entry, float limit, double need)
{
    const flr_fit_entry *e = &q[0]->pair->lists.entries[entry];
    const int part = e->keeper == FLR_FIT_CURVE_B;
    if (!is_curve(e)) return false;
    couple c[2];
    beside at[2];
    uint16_t beyond[FLR_FIT_SIDES + 3] = {0xffff, 0xffff, 0xffff, 0xffff};
    for (int k = 0; k < 2; k++) {
        uint16_t here[4];
        if (!guests[k].received) receive(q[k], patch, &guests[k]);
        c[k] = couple_of(q[k], &guests[k].v, e->patch);
        at[k] = part ? (beside){guests[k].axes, &c[k].a->lanes, c[k].back}
                     : (beside){c[k].a->axes, &guests[k].v.lanes, c[k].shift};
        beyond_of_16(part ? c[k].b : c[k].a, at[k].axes[1], at[k].axes[2], at[k].lanes, at[k].shift,
                     limit, here);
        for (int i = 0; i < 4; i++) beyond[i] &= here[i];
    }
    const flr_fit_patch *own = part ? c[0].b : c[0].a, *other = part ? c[0].a : c[0].b;
    uint32_t used = 0;
    for (uint32_t left = q[0]->kernel->corners(other->corners, beyond); left; left &= left - 1)
        used |= other->corners[__builtin_ctz(left)];
    for (int k = 0; k < 2 && used; k++) {
        flr_fit_lanes kept;
        without(at[k].lanes, used, &kept);
        const double height = (double)q[0]->kernel->heights(
            at[k].axes, own->curve.k, &kept, at[k].shift, (float)e->side,
            e->side > 0 ? own->curve.top : -own->curve.bottom);
        if (bound_of_height(e, height, guests[k].turn) < need) return false;
    }
    return true;
}

/* ---- choice ---- */

/* a side of a patch's own box, beyond which the other patch may lie */
typedef struct box_side {
    float more; /* metres: by how much */
    int axis, sign;
    int over; /* on which side of the patch most of the other one is */
} box_side;

static inline float larger_of(float a, float b) { return a > b ? a : b; }

/* Which side is largest is hard to predict: so without branches. */
static box_side best_side(const flr_fit_query *q, const couple *c, const flr_fit_guest *g, int part)
{
    const flr_fit_patch *p = part ? c->b : c->a;
    const float(*const axes)[3] = part ? g->axes : p->axes, *const shift =
                                                                part ? c->back : c->shift;
    flr_fit_move move;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) move.turn[k][j] = axes[k][j];
        move.shift[k] = axes[k][0] * shift[0] + axes[k][1] * shift[1] + axes[k][2] * shift[2];
    }
    float low[4], high[4], more[3];
    int sign[3];
    q->kernel->extents(&move, part ? &c->a->lanes : &g->v.lanes, low, high);
    for (int k = 0; k < 3; k++) {
        const float above = low[k] - p->high[k], below = p->low[k] - high[k];
        more[k] = larger_of(above, below);
        sign[k] = 2 * (above >= below) - 1;
    }
    const int second = more[1] > more[0];
    const float most = larger_of(more[1], more[0]);
    const int third = more[2] > most, axis = third ? 2 : second;
    return (box_side){
        .more = larger_of(more[2], most), .axis = axis, .sign = sign[axis], .over = sign[0]};
}

static void keep_by_side(const couple *c, int part, const box_side *side, flr_fit_entry *e)
{
    const flr_fit_patch *p = part ? c->b : c->a;
    const float sign = (float)side->sign;
    e->keeper = part ? FLR_FIT_PLANE_B : FLR_FIT_PLANE_A;
    for (int j = 0; j < 3; j++) e->v[j] = sign * p->axes[side->axis][j];
    e->v[3] = side->sign > 0 ? p->high[side->axis] : -p->low[side->axis];
}

/* What the flat triangles of the other patch may come nearer to a curve between their corners: 1/6 of the most that the
 * curve bends away along a side. `more` gets what to add for each radian that b is turned from here. */
static double between_corners(const couple *c, const flr_fit_guest *g, int part, int side,
                              double *more)
{
    const flr_fit_curve *curve = part ? &c->b->curve : &c->a->curve;
    const flr_fit_lanes *lanes = part ? &c->a->lanes : &g->v.lanes;
    const uint16_t *corners = part ? c->a->corners : c->b->corners;
    const uint32_t faces = part ? c->a->faces : c->b->faces;
    const float(*own)[3] = part ? g->axes : c->a->axes;
    const float h[3] = {2 * curve->k[2], curve->k[3], 2 * curve->k[4]};
    float most = 0, turning = 0, longest = 0, x[FLR_FIT_LANES], y[FLR_FIT_LANES];
    for (int i = 0; i < FLR_FIT_LANES; i++) {
        x[i] = own[1][0] * lanes->x[i] + own[1][1] * lanes->y[i] + own[1][2] * lanes->z[i];
        y[i] = own[2][0] * lanes->x[i] + own[2][1] * lanes->y[i] + own[2][2] * lanes->z[i];
    }
    for (uint32_t f = 0; f < faces; f++) {
        int lane[3] = {0, 0, 0}, count = 0;
        for (unsigned bits = corners[f]; bits && count < 3; bits &= bits - 1)
            lane[count++] = __builtin_ctz(bits);
        for (int i = 0; i < count; i++) {
            const int from = lane[i], to = lane[(i + 1) % count];
            const float ex = x[to] - x[from], ey = y[to] - y[from],
                        dx = lanes->x[to] - lanes->x[from], dy = lanes->y[to] - lanes->y[from],
                        dz = lanes->z[to] - lanes->z[from], hx = h[0] * ex + h[1] * ey,
                        hy = h[1] * ex + h[2] * ey, away = -(float)side * (ex * hx + ey * hy),
                        length2 = dx * dx + dy * dy + dz * dz,
                        turned2 = (hx * hx + hy * hy) * length2;
            most = away > most ? away : most;
            turning = turned2 > turning ? turned2 : turning;
            longest = length2 > longest ? length2 : longest;
        }
    }
    const double bend = fabs((double)h[0]) + 2 * fabs((double)h[1]) + fabs((double)h[2]);
    *more =
        (2 * sqrt((double)turning) + FLR_FIT_MAX_TURN * bend * (double)longest) / 6 * (1 + 1e-5);
    return (double)most / 6 * (1 + 1e-5) + 1e-6 * bend * (double)longest;
}

/* What to multiply quotients with, so that they are distances or less. Only what is within `far` of the patch matters. */
static double factor_of(const flr_fit_patch *p, double far)
{
    const float *k = p->curve.k;
    double steep2 = 0;
    for (int i = 0; i < 4; i++) {
        const double x = i & 1 ? (double)p->high[1] + far : (double)p->low[1] - far,
                     y = i & 2 ? (double)p->high[2] + far : (double)p->low[2] - far,
                     gx = (double)k[0] + 2 * (double)k[2] * x + (double)k[3] * y,
                     gy = (double)k[1] + (double)k[3] * x + 2 * (double)k[4] * y;
        steep2 = fmax(steep2, gx * gx + gy * gy);
    }
    const double bent = far * sqrt(1 + steep2) * bend_of(&p->curve);
    return (1 - 1e-6) / sqrt(1 + (2 + bent) * bent * steep2);
}

static void try_curve(const couple *c, const flr_fit_guest *g, int part, int side, double height,
                      double most, flr_fit_entry *e)
{
    const flr_fit_patch *p = part ? c->b : c->a;
    if (!(height > (double)e->bound)) return;
    /* the nearer the limit, the better the factor */
    const double far = fmin(2 * height + FURTHER, most);
    double more;
    const double slack = FLR_FIT_SINGLE * c->size * (1 + bend_of(&p->curve) * c->size) +
                         between_corners(c, g, part, side, &more),
                 factor = factor_of(p, far), bound = fmin((height - slack) * factor, far);
    if (!(bound > (double)e->bound)) return;
    e->keeper = part ? FLR_FIT_CURVE_B : FLR_FIT_CURVE_A;
    e->side = (int16_t)side;
    e->bound = (float)bound;
    e->v[0] = (float)factor, e->v[1] = (float)slack, e->v[2] = (float)more;
    e->v[3] = (float)far;
}

/* The curves of both patches, the one first that the other patch is farther from: mostly the second does not get better. */
static void try_curves(const flr_fit_query *q, const couple *c, const flr_fit_guest *g,
                       const int over[2], double most, flr_fit_entry *e)
{
    const double height[2] = {over_curve(q, c, g, 0, over[0]), over_curve(q, c, g, 1, over[1])};
    const int first = height[1] > height[0];
    try_curve(c, g, first, over[first], height[first], most, e);
    try_curve(c, g, 1 - first, over[1 - first], height[1 - first], most, e);
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

/* Does the surface of an entry leave its patch by so little that no other would be better? */
static bool follows_closely(const couple *c, const flr_fit_entry *e)
{
    const flr_fit_curve *curve = e->keeper == FLR_FIT_CURVE_A   ? &c->a->curve
                                 : e->keeper == FLR_FIT_CURVE_B ? &c->b->curve
                                                                : NULL;
    return curve && (double)curve->top - (double)curve->bottom + (double)e->v[1] < CLOSELY;
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
        receive(q, v->patch, &l->guest);
        l->any = true;
        lists->first[v->patch] = l->next;
        lists->bent[v->patch] = lists->more[v->patch] = 0;
    }
    const couple c = couple_of(q, v, patch);
    const double radii = (double)c.a->radius + (double)c.b->radius,
                 apart = flr_vec3_distance(v->centre, c.a->centre) * (1 - 1e-6) - radii;
    q->work += 2;
    if (apart > l->cover) return;
    const box_side of_a = best_side(q, &c, &l->guest, 0);
    q->work += 3;
    if ((double)of_a.more - FLR_FIT_SINGLE * c.size > l->cover) return;
    const box_side of_b = best_side(q, &c, &l->guest, 1);
    const int part = of_b.more > of_a.more, over[2] = {of_a.over, of_b.over};
    const double bound = (double)(part ? of_b.more : of_a.more) - FLR_FIT_SINGLE * c.size;
    q->work += 3;
    if (bound > l->cover) return;
    flr_fit_entry e = {.patch = patch};
    keep_by_side(&c, part, part ? &of_b : &of_a, &e);
    if (l->next == l->end) {
        l->full = true;
        return;
    }
    e.bound = (float)(bound - 1e-6 * fabs(bound));
    if (bound < l->soon) {
        try_curves(q, &c, &l->guest, over, l->cover, &e);
        q->work += 8;
    }
    if ((double)e.bound < fmin(l->soon, FURTHER) && !follows_closely(&c, &e)) {
        try_faces(q, &c, &l->guest, 0, &e);
        try_faces(q, &c, &l->guest, 1, &e);
        q->work += 8;
    }
    if (apart > (double)e.bound) e.bound = (float)apart;
    lists->sure[l->next] = -INFINITY;
    lists->bounds[l->next] = e.bound;
    if (is_curve(&e)) {
        const float bend = (float)bend_of(e.keeper == FLR_FIT_CURVE_A ? &c.a->curve : &c.b->curve);
        lists->bent[v->patch] = fmaxf(lists->bent[v->patch], bend);
        lists->more[v->patch] = fmaxf(lists->more[v->patch], e.v[2]);
    }
    lists->entries[l->next++] = e;
    lists->count[v->patch] = l->next - lists->first[v->patch];
}

/* How far there is nothing else around the eight patches of an entry, of which something may be near or not. */
static void set_cover(flr_fit_query *q, uint32_t entry, bool near, double cover)
{
    flr_fit_lists *l = &q->pair->lists;
    const uint32_t first = entry * FLR_FIT_WIDE;
    const double far = (near ? cover : FAR * cover) * (1 - 1e-6);
    l->any[entry] = false;
    for (uint32_t i = first; i < first + FLR_FIT_WIDE; i++) {
        l->any[entry] |= l->count[i] > 0;
        l->cover[i] = (float)far;
    }
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
                     .soon = cover - (1 - SOON) * lists->margin,
                     .next = group * lists->capacity,
                     .end = (group + 1) * lists->capacity};
    q.limit = cover;
    q.context = &l;
    for (uint32_t entry = group; entry < entries; entry += FLR_FIT_GROUPS) {
        const uint32_t first = entry * FLR_FIT_WIDE;
        for (uint32_t i = first; i < first + FLR_FIT_WIDE; i++)
            lists->count[i] = 0, lists->odometer[0][i] = lists->odometer[1][i] = 0;
        const bool near = flr_fit_walk_eight(&q, list_pair, entry, FAR * cover);
        set_cover(&q, entry, near, cover);
        if (l.full) break;
    }
    pair->track.reference[group] = T_a_b;
    pair->track.cover[group] = l.full ? 0 : cover;
    lists->used[group] = l.next - group * lists->capacity;
    for (int slot = 0; slot < 2; slot++) flr_fit_forget_bounds(lists, slot, group);
    *work += q.work;
    return !l.full;
}
