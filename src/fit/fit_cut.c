/* cutting a mesh into patches of at most 16 triangles with at most 16 vertices
 *
 * A patch grows from a triangle by its neighbours, the nearest first, as long as it stays flat: planes along a flat patch
 * tell far more than those along one that goes around an edge. Large meshes are halved into pieces first, which grow
 * their patches on several threads; where that is done depends on the mesh alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "fit/fit_internal.h"

enum {
    AXES = 6,         /* position and normal */
    FIT_LARGE = 4096, /* triangles of a piece: from here on pieces are halved */
    PIECES = 64,      /* cut on several threads, at most */
    DEEP = 64,        /* halves of halves, at most */
    BESIDE = 64,      /* triangles next to a patch, at most */
    AHEAD = 24        /* triangles looked at for one that hangs on nothing */
};

/* of the next axes but one: in a direction that no plane of a part is likely to have */
static const float TILT[2] = {0.011f, 0.0037f};

typedef struct item {
    float key[AXES]; /* where it is relative to the middle of the part; the unit normal */
    uint32_t triangle;
} item;

typedef struct fit_cutting {
    const flr_mesh *mesh;
    const flr_adjacency *adjacency;
    item *items;       /* [triangle_count] */
    bool *taken;       /* [triangle_count], by item: is in a patch */
    uint32_t *item_of; /* [triangle_count], by triangle */
    uint32_t *order;   /* [triangle_count], triangles by patch */
    flr_fit_range pieces[PIECES];
    size_t piece_count;
    flr_fit_range *cut; /* patches of piece i begin at pieces[i].first: never more than triangles */
    uint32_t cut_count[PIECES];
} fit_cutting;

/* The middle of the longest side: the same for both halves of a quadrilateral, however long and thin that is. Middles of thin
 * triangles lie in two rows, a third of their length apart; halves between these rows would tear all pairs apart. */
static flr_vec3 middle_of_longest(const flr_vec3 p[3])
{
    int longest = 0;
    double most2 = -1;
    for (int i = 0; i < 3; i++) {
        const double length2 = flr_vec3_length2(flr_vec3_sub(p[(i + 1) % 3], p[i]));
        if (length2 > most2) most2 = length2, longest = i;
    }
    return flr_vec3_lerp(p[longest], p[(longest + 1) % 3], 0.5);
}

static flr_result make_items(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    fit_cutting *c = context;
    const flr_mesh *m = c->mesh;
    const flr_vec3 middle = flr_vec3_lerp(m->bounds.low, m->bounds.high, 0.5);
    const uint64_t n = m->triangle_count;
    for (uint64_t i = n * piece / PIECES; i < n * (piece + 1) / PIECES; i++) {
        flr_vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = flr_vec3_sub(m->vertices[m->triangles[i].v[k]], middle);
        const flr_vec3 c3 = middle_of_longest(p);
        const flr_vec3 normal =
            flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(p[1], p[0]), flr_vec3_sub(p[2], p[0])));
        c->items[i] = (item){{(float)c3.x, (float)c3.y, (float)c3.z, (float)normal.x,
                              (float)normal.y, (float)normal.z},
                             (uint32_t)i};
    }
    return FLR_OK;
}

/* The axis along which a range is cut. */
static int widest(const item *items, uint32_t count)
{
    float low[3], high[3];
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const float x = items[i].key[k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[best] - low[best]) best = k;
    return best;
}

static void swap(item *a, item *b)
{
    const item t = *a;
    *a = *b;
    *b = t;
}

/* Where an item is along an axis; a little along the others, too. Many triangles of a part made by machines are at the same place
 * along an axis, but for rounding: halves of these are not to be thrown together at random. */
static float place_along(const item *x, int axis)
{
    return x->key[axis] + TILT[0] * x->key[(axis + 1) % 3] + TILT[1] * x->key[(axis + 2) % 3];
}

/* Puts the `first` lowest along an axis first (Hoare's selection). */
static void select_lower(item *items, uint32_t count, int axis, uint32_t first)
{
    int64_t low = 0, high = (int64_t)count - 1;
    const int64_t middle = first;
    while (low < high) {
        const float a = place_along(&items[low], axis), b = place_along(&items[high], axis),
                    c = place_along(&items[(low + high) / 2], axis);
        const float pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (place_along(&items[i], axis) < pivot) i++;
            while (place_along(&items[j], axis) > pivot) j--;
            if (i <= j) swap(&items[i++], &items[j--]);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static void halve(item *items, uint32_t count, int axis)
{
    select_lower(items, count, axis, count / 2);
}

/* Sorts a range so that near triangles are near each other. */
static void sort_range(fit_cutting *c, flr_fit_range all)
{
    flr_fit_range stack[DEEP];
    int depth = 1;
    stack[0] = all;
    while (depth) {
        const flr_fit_range r = stack[--depth];
        if (r.count <= FLR_FIT_LANES) continue;
        halve(c->items + r.first, r.count, widest(c->items + r.first, r.count));
        stack[depth++] = (flr_fit_range){r.first + r.count / 2, r.count - r.count / 2};
        stack[depth++] = (flr_fit_range){r.first, r.count / 2};
    }
}

/* ---- patches ---- */

/* a patch that grows */
typedef struct growing {
    uint32_t faces[FLR_FIT_LANES], count;    /* numbers of items */
    uint32_t vertices[FLR_FIT_LANES], lanes; /* in the mesh */
    uint32_t beside[BESIDE], beside_count;   /* items next to it */
    float sum[AXES];                         /* of the keys */
} growing;

static uint32_t new_vertices(const growing *g, const flr_triangle *t)
{
    uint32_t count = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t at = 0;
        while (at < g->lanes && g->vertices[at] != t->v[k]) at++;
        count += at == g->lanes;
    }
    return count;
}

/* Adds an item, and lists those next to it that are in the same piece and not in a patch yet. */
static void take(fit_cutting *c, growing *g, uint32_t item_number, flr_fit_range piece)
{
    const item *added = &c->items[item_number];
    const flr_triangle *t = &c->mesh->triangles[added->triangle];
    for (int k = 0; k < 3; k++) {
        uint32_t at = 0;
        while (at < g->lanes && g->vertices[at] != t->v[k]) at++;
        if (at == g->lanes) g->vertices[g->lanes++] = t->v[k];
    }
    for (int k = 0; k < AXES; k++) g->sum[k] += added->key[k];
    g->faces[g->count++] = item_number;
    c->taken[item_number] = true;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t edge = c->adjacency->side_edge[3 * (size_t)added->triangle + k];
        if (edge == FLR_NONE) continue;
        for (uint32_t i = c->adjacency->edge_first[edge]; i < c->adjacency->edge_first[edge + 1];
             i++) {
            const uint32_t next = c->item_of[c->adjacency->edge_sides[i] / 3];
            if (next - piece.first >= piece.count || c->taken[next]) continue;
            if (g->beside_count < BESIDE) g->beside[g->beside_count++] = next;
        }
    }
}

/* How little an item suits a patch: squared metres; INFINITY where it does not at all. */
static float misfit(const fit_cutting *c, const growing *g, uint32_t candidate)
{
    const item *x = &c->items[candidate];
    const uint32_t more = new_vertices(g, &c->mesh->triangles[x->triangle]);
    if (g->lanes + more > FLR_FIT_LANES) return INFINITY;
    const float n = (float)g->count;
    float apart2 = 0, normal2 = 0, along = 0;
    for (int k = 0; k < 3; k++) {
        const float d = x->key[k] - g->sum[k] / n;
        apart2 += d * d;
        along += x->key[3 + k] * g->sum[3 + k];
        normal2 += g->sum[3 + k] * g->sum[3 + k];
    }
    /* bent by more than 20 degrees, or degenerate, which goes anywhere */
    const bool flat = x->key[3] == 0 && x->key[4] == 0 && x->key[5] == 0;
    if (!flat && normal2 > 0 && along < 0.94f * sqrtf(normal2)) return INFINITY;
    return more ? apart2 : 0.25f * apart2;
}

/* The item beside a patch that suits it best; FLR_NONE: there is none. */
static uint32_t best_beside(const fit_cutting *c, growing *g)
{
    uint32_t best = FLR_NONE, kept = 0;
    float least = INFINITY;
    for (uint32_t i = 0; i < g->beside_count; i++) {
        const uint32_t candidate = g->beside[i];
        if (c->taken[candidate]) continue;
        g->beside[kept++] = candidate;
        const float m = misfit(c, g, candidate);
        if (m < least || (m == least && m < INFINITY && candidate < best))
            least = m, best = candidate;
    }
    g->beside_count = kept;
    return best;
}

/* Where nothing hangs together, near ones will do: the next item that suits and is not far. */
static uint32_t best_after(const fit_cutting *c, const growing *g, uint32_t from,
                           flr_fit_range piece)
{
    uint32_t best = FLR_NONE;
    float least = INFINITY;
    for (uint32_t i = from; i < from + AHEAD && i < piece.first + piece.count; i++) {
        if (c->taken[i]) continue;
        const float m = misfit(c, g, i);
        if (m < least) least = m, best = i;
    }
    return best;
}

/* Patches whose edges all have two triangles must hang together (fit_solid.c); others need not. */
static bool hangs_on_nothing(const fit_cutting *c, uint32_t item_number)
{
    for (size_t k = 0; k < 3; k++) {
        const uint32_t edge =
            c->adjacency->side_edge[3 * (size_t)c->items[item_number].triangle + k];
        if (edge == FLR_NONE || c->adjacency->edge_kind[edge] != FLR_EDGE_REGULAR) return true;
    }
    return false;
}

static flr_result cut_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    fit_cutting *c = context;
    const flr_fit_range all = c->pieces[piece];
    uint32_t written = all.first;
    for (uint32_t i = all.first; i < all.first + all.count; i++) {
        if (c->taken[i]) continue;
        growing g = {.count = 0};
        take(c, &g, i, all);
        while (g.count < FLR_FIT_LANES) {
            uint32_t next = best_beside(c, &g);
            if (next == FLR_NONE && g.count < 4 && hangs_on_nothing(c, i))
                next = best_after(c, &g, i + 1, all);
            if (next == FLR_NONE) break;
            take(c, &g, next, all);
        }
        c->cut[all.first + c->cut_count[piece]++] = (flr_fit_range){written, g.count};
        for (uint32_t k = 0; k < g.count; k++) c->order[written++] = c->items[g.faces[k]].triangle;
    }
    return FLR_OK;
}

static flr_result sort_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    fit_cutting *c = context;
    const flr_fit_range r = c->pieces[piece];
    sort_range(c, r);
    for (uint32_t i = r.first; i < r.first + r.count; i++) c->item_of[c->items[i].triangle] = i;
    return FLR_OK;
}

/* one half of a piece on its way */
static flr_result halve_piece(void *context, size_t piece, unsigned worker)
{
    (void)worker;
    fit_cutting *c = context;
    const flr_fit_range r = c->pieces[piece];
    if (r.count > 1) halve(c->items + r.first, r.count, widest(c->items + r.first, r.count));
    return FLR_OK;
}

/* Cuts the whole into pieces, large ones in parallel. */
static void make_pieces(fit_cutting *c, unsigned threads)
{
    c->piece_count = 1;
    c->pieces[0] = (flr_fit_range){0, c->mesh->triangle_count};
    while (2 * c->piece_count <= PIECES && c->mesh->triangle_count / c->piece_count > FIT_LARGE) {
        flr_parallel_for(threads, c->piece_count, halve_piece, c);
        for (size_t i = c->piece_count; i-- > 0;) {
            const flr_fit_range r = c->pieces[i];
            c->pieces[2 * i] = (flr_fit_range){r.first, r.count / 2};
            c->pieces[2 * i + 1] = (flr_fit_range){r.first + r.count / 2, r.count - r.count / 2};
        }
        c->piece_count *= 2;
    }
}

static void free_cutting(fit_cutting *c)
{
    free(c->items);
    free(c->taken);
    free(c->item_of);
    free(c->order);
    free(c->cut);
}

/* ---- order ---- */

/* Sorts patches so that eight of them, eight times eight, and so on, are near each other: halves that are a multiple of
 * the next such size. */
static void sort_patches(item *items, uint32_t count)
{
    flr_fit_range stack[DEEP];
    int depth = 1;
    stack[0] = (flr_fit_range){0, count};
    while (depth) {
        const flr_fit_range r = stack[--depth];
        if (r.count <= FLR_FIT_WIDE) continue;
        uint64_t unit = FLR_FIT_WIDE;
        while (unit * FLR_FIT_WIDE < r.count) unit *= FLR_FIT_WIDE;
        uint64_t first = (r.count / 2 + unit / 2) / unit * unit;
        if (!first) first = unit;
        select_lower(items + r.first, r.count, widest(items + r.first, r.count), (uint32_t)first);
        stack[depth++] = (flr_fit_range){r.first + (uint32_t)first, r.count - (uint32_t)first};
        stack[depth++] = (flr_fit_range){r.first, (uint32_t)first};
    }
}

/* Brings the patches into an order for the tree. */
static flr_result order_patches(fit_cutting *c, uint32_t count, flr_error *error)
{
    item *middles = malloc(count * sizeof *middles);
    flr_fit_range *cut = malloc(count * sizeof *cut);
    uint32_t *order = malloc(c->mesh->triangle_count * sizeof *order);
    if (!middles || !cut || !order) {
        free(middles);
        free(cut);
        free(order);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for %u patches", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        middles[i] = (item){.triangle = i};
        for (uint32_t k = 0; k < c->cut[i].count; k++)
            for (int j = 0; j < 3; j++)
                middles[i].key[j] += c->items[c->item_of[c->order[c->cut[i].first + k]]].key[j] /
                                     (float)c->cut[i].count;
    }
    sort_patches(middles, count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const flr_fit_range from = c->cut[middles[i].triangle];
        cut[i] = (flr_fit_range){at, from.count};
        memcpy(order + at, c->order + from.first, from.count * sizeof *order);
        at += from.count;
    }
    free(middles);
    free(c->cut);
    free(c->order);
    c->cut = cut;
    c->order = order;
    return FLR_OK;
}

flr_result flr_fit_cut(const flr_mesh *mesh, const flr_adjacency *adjacency, unsigned threads,
                       uint32_t **order, flr_fit_range **ranges, uint32_t *patches,
                       flr_error *error)
{
    const size_t n = mesh->triangle_count;
    fit_cutting c = {.mesh = mesh,
                     .adjacency = adjacency,
                     .items = malloc(n * sizeof *c.items),
                     .taken = calloc(n, sizeof *c.taken),
                     .item_of = malloc(n * sizeof *c.item_of),
                     .order = malloc(n * sizeof *c.order),
                     .cut = malloc(n * sizeof *c.cut)};
    if (!c.items || !c.taken || !c.item_of || !c.order || !c.cut) {
        free_cutting(&c);
        return flr_fail(error, FLR_NO_MEMORY, "out of memory for %zu triangles", n);
    }
    flr_parallel_for(threads, PIECES, make_items, &c);
    make_pieces(&c, threads);
    flr_parallel_for(threads, c.piece_count, sort_piece, &c);
    flr_parallel_for(threads, c.piece_count, cut_piece, &c);
    uint32_t count = 0;
    for (size_t i = 0; i < c.piece_count; i++)
        for (uint32_t k = 0; k < c.cut_count[i]; k++) c.cut[count++] = c.cut[c.pieces[i].first + k];
    const flr_result result = order_patches(&c, count, error);
    if (result == FLR_OK) {
        *order = c.order, c.order = NULL;
        *ranges = c.cut, c.cut = NULL;
        *patches = count;
    }
    free_cutting(&c);
    return result;
}
