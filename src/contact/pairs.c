/* many parts: boxes for the broad phase, one query context for all pairs, sums per part in a fixed order */
#include "feeler/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "contact/broad.h"
#include "contact/contact_engine.h"
#include "contact/contact_table.h"
#include "contact/point.h"

#define SQRT3          1.7320508075688772
#define PAIRS_FARTHEST 4e9 /* metres: what is asked is nearer to everything */
enum { NOTED = 256 };      /* pairs, the first in the list, for which it is noted what is near */

typedef struct pairs_place {
    flr_pairs_part part;
    double layer; /* metres of one force layer: its voxel; 0: it has no voxels */
    double
        beyond; /* metres: how far its surface and its layers but for the force layer reach beyond its box */
    bool taken, grounded;
    /* where it was stood up last, where the pose makes sense */
    flr_vec3 middle; /* of its box, world's frame */
    flr_mat3 turn;   /* its axes in the world's */
    flr_box3 box;    /* around all that matters of it, world's axes; … */
    double extra;    /* metres: with so much added to its own box */
} pairs_place;

struct flr_pairs {
    flr_pairs_def def;
    flr_broad *broad;
    bool (*may_touch)(const void *context, uint32_t a, uint32_t b); /* NULL: all may */
    const void *filter_context;
    pairs_place *places;      /* [def.parts + 1]: the last one is the merged static scene */
    flr_pair *lists[2];       /* [def.pairs]: of the last update and of the one before */
    int current;              /* which of them is the last */
    uint32_t count;           /* in it */
    flr_pair_result *results; /* [def.pairs] */
    uint32_t answered;        /* in results */
    flr_part_total *totals;   /* [def.parts + 1] */
    flr_contact_pair *query_context;
    flr_near_notes
        *notes; /* [NOTED + 1]: what the query of a pair found near, for the checks of its motion */
    uint32_t chunks_used;  /* by them */
    uint32_t checked;      /* index of the pair whose motion was checked last */
    flr_contact *contacts; /* [def.contacts] */
    uint32_t contact_count;
    uint32_t unfelt;
    bool changed;                  /* parts came, went, began or ceased to move */
    uint32_t *movers, mover_count; /* [def.parts]: those that move */
    bool *fallen;                  /* [def.parts + 1]: is to be stood up anew */
    bool some_fallen;
    /* Boxes of parts that do not move stand for several updates: in the broad phase they have force layers and metres as here,
     * of which an update needs the same and no more. Who is in the list then shows when they are compared exactly. */
    double layers, granted;
};

/* ---- shapes ---- */

/* Around all points: the least and the largest step in every chunk. */
static flr_box3 points_box(const flr_shell *shell)
{
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < shell->chunk_count; i++) {
        const flr_shell_chunk *c = &shell->chunks[i];
        const uint16_t *steps[3] = {shell->x + c->first, shell->y + c->first, shell->z + c->first};
        double low[3], high[3];
        for (int axis = 0; axis < 3; axis++) {
            uint16_t least = UINT16_MAX, most = 0;
            for (uint32_t k = 0; k < c->padded; k++) {
                uint16_t step = steps[axis][k];
                least = step < least ? step : least;
                most = step > most ? step : most;
            }
            low[axis] = (double)c->corner[axis] + least * (double)shell->step;
            high[axis] = (double)c->corner[axis] + most * (double)shell->step;
        }
        if (!c->padded) continue;
        box = flr_box3_add(box, flr_vec3_make(low[0], low[1], low[2]));
        box = flr_box3_add(box, flr_vec3_make(high[0], high[1], high[2]));
    }
    return box;
}

/* A box of chunks grows so that it holds those of a hyperchunk that have a mark. */
static void add_marks(const flr_flat_field *field, const int32_t hyper[3], int32_t low[3],
                      int32_t high[3])
{
    bool within = true;
    for (int axis = 0; axis < 3; axis++)
        within = within && hyper[axis] * 8 >= low[axis] && hyper[axis] * 8 + 7 <= high[axis];
    if (within) return;
    for (int cell = 0; cell < 512; cell++) {
        const int32_t at[3] = {hyper[0] * 8 + cell % 8, hyper[1] * 8 + cell / 8 % 8,
                               hyper[2] * 8 + cell / 64};
        const uint32_t *entry = flr_table_at(field, at[0], at[1], at[2]);
        if (*entry == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
}

/* Around all chunks that have a mark. */
static flr_box3 marks_box(const flr_contact_table *table)
{
    const flr_flat_field *field = &table->fields[FLR_FIELD_SURFACE];
    const flr_voxmap_info info = flr_voxmap_get_info(table->voxmap);
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {-1, -1, -1};
    size_t i = 0;
    for (int32_t z = 0; z < field->size[2] / 64; z++)
        for (int32_t y = 0; y < field->size[1] / 64; y++)
            for (int32_t x = 0; x < field->size[0] / 64; x++, i++) {
                /* most of a large grid is free, and need not be looked at chunk by chunk */
                if (field->hypers && field->hypers[i] == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
                add_marks(field, (const int32_t[3]){x, y, z}, low, high);
            }
    if (high[0] < 0) return flr_box3_empty();
    double chunk = 8 * info.voxel;
    return flr_box3_make(
        flr_vec3_add(info.origin, flr_vec3_make(low[0] * chunk, low[1] * chunk, low[2] * chunk)),
        flr_vec3_add(info.origin, flr_vec3_make((high[0] + 1) * chunk, (high[1] + 1) * chunk,
                                                (high[2] + 1) * chunk)));
}

flr_pairs_shape flr_pairs_shape_make(const flr_shell *shell, const flr_contact_table *table)
{
    flr_pairs_shape shape = {.shell = shell && shell->total ? shell : NULL, .table = table};
    shape.box = shape.shell ? points_box(shell) : table ? marks_box(table) : flr_box3_empty();
    shape.middle = flr_box3_centre(shape.box);
    shape.radius = 0.5 * flr_vec3_length(flr_box3_size(shape.box));
    if (shape.shell && (double)shell->radius < shape.radius) {
        shape.middle = flr_vec3_make((double)shell->centre[0], (double)shell->centre[1],
                                     (double)shell->centre[2]);
        shape.radius = (double)shell->radius;
    }
    return shape;
}

/* ---- making and breaking ---- */

flr_pairs_part flr_default_pairs_part(void)
{
    flr_pairs_part part = {.T_world_part = flr_pose_identity()};
    part.shape.box = flr_box3_empty();
    return part;
}

flr_pairs_def flr_default_pairs_def(void)
{
    flr_pairs_def def = {.contacts = 4096,
                         .contacts_of_pair = 64,
                         .params = flr_default_contact_params(),
                         .simd = FLR_SIMD_BEST,
                         .threads = 1};
    return def;
}

static flr_result allocate(flr_pairs *made, flr_error *error)
{
    const flr_pairs_def *def = &made->def;
    flr_contact_pair_def query_context = flr_default_contact_pair_def();
    query_context.capacity = def->contacts_of_pair;
    query_context.simd = def->simd;
    query_context.threads = def->threads;
    flr_result result = flr_contact_pair_create(&query_context, &made->query_context, error);
    if (result != FLR_OK) return result;
    made->notes = flr_prefaulted_calloc(NOTED + 1, sizeof *made->notes);
    made->broad = flr_broad_create(def->parts + 1, def->pairs);
    made->places = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->places);
    made->totals = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->totals);
    for (int i = 0; i < 2; i++)
        made->lists[i] = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->lists[i]);
    made->results = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->results);
    made->contacts = flr_prefaulted_calloc((size_t)def->contacts + 1, sizeof *made->contacts);
    made->movers = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->movers);
    made->fallen = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->fallen);
    made->granted = -1;
    if (made->notes && made->broad && made->movers && made->fallen && made->places &&
        made->totals && made->lists[0] && made->lists[1] && made->results && made->contacts)
        return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the pairs of %u parts",
                    def->parts);
}

static const flr_part_total no_total = {.lower = INFINITY, .upper = INFINITY};

flr_result flr_pairs_create(const flr_pairs_def *def, flr_pairs **pairs, flr_error *error)
{
    if (def->parts > FLR_PAIRS_MAX_PARTS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u parts are more than %u; merge static ones",
                        def->parts, (unsigned)FLR_PAIRS_MAX_PARTS);
    flr_pairs *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for pairs");
    made->def = *def;
    if (!def->pairs)
        made->def.pairs = def->parts <= 64 ? def->parts * (def->parts + 1) / 2 : 32 * def->parts;
    flr_result result = allocate(made, error);
    if (result != FLR_OK) {
        flr_pairs_destroy(made);
        return result;
    }
    for (uint32_t i = 0; i <= def->parts; i++) made->totals[i] = no_total;
    *pairs = made;
    return FLR_OK;
}

void flr_pairs_destroy(flr_pairs *pairs)
{
    if (!pairs) return;
    flr_contact_pair_destroy(pairs->query_context);
    flr_broad_destroy(pairs->broad);
    free(pairs->places);
    free(pairs->totals);
    for (int i = 0; i < 2; i++) free(pairs->lists[i]);
    free(pairs->results);
    free(pairs->contacts);
    free(pairs->notes);
    free(pairs->movers);
    free(pairs->fallen);
    free(pairs);
}

/* ---- parts ---- */

static void put(pairs_place *to, const flr_pairs_part *part)
{
    *to = (pairs_place){.part = *part, .taken = true};
    if (part->shape.shell) to->beyond = flr_contact_around(part->shape.shell, 0);
    if (part->shape.table) {
        const flr_voxmap_header *h = part->shape.table->voxmap->header;
        to->layer = h->grid.voxel;
        /* the surface's own voxel, the layer of braking, and one for rounding */
        to->beyond += (3.0 + h->offset) * to->layer;
    }
}

/* Something about a part is new. */
static void fell(flr_pairs *pairs, uint32_t index)
{
    pairs->changed = pairs->some_fallen = pairs->fallen[index] = true;
}

/* The merged static scene is not true any more: its parts stand for themselves again. */
static void drop_merged(flr_pairs *pairs)
{
    pairs_place *merged = &pairs->places[pairs->def.parts];
    if (!merged->taken) return;
    *merged = (pairs_place){0};
    fell(pairs, pairs->def.parts);
    for (uint32_t i = 0; i < pairs->def.parts; i++) {
        if (pairs->places[i].grounded) fell(pairs, i);
        pairs->places[i].grounded = false;
    }
}

void flr_pairs_set(flr_pairs *pairs, uint32_t index, const flr_pairs_part *part)
{
    pairs_place *to = &pairs->places[index];
    if (to->grounded) drop_merged(pairs);
    if (part)
        put(to, part);
    else
        *to = (pairs_place){0};
    fell(pairs, index);
}

void flr_pairs_set_moving(flr_pairs *pairs, uint32_t index, bool moving)
{
    pairs_place *at = &pairs->places[index];
    if (!at->taken || at->part.moving == moving) return;
    if (at->grounded) drop_merged(pairs);
    at->part.moving = moving;
    fell(pairs, index);
}

void flr_pairs_place(flr_pairs *pairs, uint32_t index, flr_pose T_world_part)
{
    pairs_place *at = &pairs->places[index];
    if (at->grounded) drop_merged(pairs);
    at->part.T_world_part = T_world_part;
    fell(pairs, index);
}

void flr_pairs_set_filter(flr_pairs *pairs,
                          bool (*may_touch)(const void *context, uint32_t a, uint32_t b),
                          const void *context)
{
    pairs->may_touch = may_touch;
    pairs->filter_context = context;
}

void flr_pairs_set_params(flr_pairs *pairs, const flr_contact_params *params)
{
    pairs->def.params = *params;
}

bool flr_pairs_set_merged(flr_pairs *pairs, const flr_pairs_merged *merged)
{
    drop_merged(pairs);
    if (!merged) return false;
    for (uint32_t i = 0; i < merged->part_count; i++) {
        uint32_t index = merged->parts[i];
        if (index >= pairs->def.parts || !pairs->places[index].taken ||
            pairs->places[index].part.moving)
            return false;
    }
    flr_pairs_part part = flr_default_pairs_part();
    part.shape = merged->shape;
    part.T_world_part = merged->T_world_voxmap;
    put(&pairs->places[pairs->def.parts], &part);
    fell(pairs, pairs->def.parts);
    for (uint32_t i = 0; i < merged->part_count; i++) {
        pairs->places[merged->parts[i]].grounded = true;
        fell(pairs, merged->parts[i]);
    }
    return true;
}

bool flr_pairs_has_merged(const flr_pairs *pairs) { return pairs->places[pairs->def.parts].taken; }

/* ---- update ---- */

/* What may touch what; and what a moving part cannot feel. */
static void flag_all(flr_pairs *pairs)
{
    uint32_t moving = 0, no_points = 0, no_voxels = 0;
    pairs->mover_count = 0;
    for (uint32_t i = 0; i <= pairs->def.parts; i++) {
        const pairs_place *p = &pairs->places[i];
        bool points = p->part.shape.shell, voxels = p->part.shape.table;
        unsigned flags = 0;
        if (p->taken && !p->grounded)
            flags = (p->part.moving ? FLR_BROAD_MOVES : 0u) | (points ? FLR_BROAD_POINTS : 0u) |
                    (voxels ? FLR_BROAD_VOXELS : 0u);
        flr_broad_flag(pairs->broad, i, flags);
        if (p->taken && p->part.moving) pairs->movers[pairs->mover_count++] = i;
        if (!p->taken || !p->part.moving || !(points || voxels)) continue;
        moving++;
        no_points += !points;
        no_voxels += !voxels;
    }
    pairs->unfelt = 0;
    for (uint32_t i = 0; moving && i <= pairs->def.parts; i++) {
        const pairs_place *p = &pairs->places[i];
        if (!p->taken || p->grounded || p->part.moving) continue;
        bool points = p->part.shape.shell, voxels = p->part.shape.table;
        pairs->unfelt += (!points && !voxels) || (!voxels && no_voxels) || (!points && no_points);
    }
    pairs->changed = false;
}

/* Where it is now, with the box in the world's axes: that of the turned box and that of the sphere, whichever is less on each
 * side. Layers are counted along the part's own axes, so its own box grows by them, and the sphere by their diagonal. */
static void stand(pairs_place *p, double layers, double extra)
{
    flr_pose T = p->part.T_world_part;
    const flr_pairs_shape *shape = &p->part.shape;
    double margin = p->beyond + layers * p->layer + extra;
    p->box = flr_box3_empty();
    p->extra = extra;
    if (!p->taken || p->grounded || !flr_contact_sound(&T)) return;
    p->middle = flr_pose_apply(T, flr_box3_centre(shape->box));
    p->turn = flr_quat_to_mat3(T.q);
    flr_vec3 middle = flr_pose_apply(T, shape->middle);
    flr_box3 sphere = flr_box3_grow(flr_box3_make(middle, middle), shape->radius + SQRT3 * margin);
    p->box =
        flr_box3_intersection(flr_box3_transform(T, flr_box3_grow(shape->box, margin)), sphere);
}

/* Is there a plane between the points of one part and the layers of the other? Of two boxes, one can be found at right angles
 * to an edge of either or to an edge of each (Gottschalk's fifteen axes); `extra` is added to both. */
static bool apart(const pairs_place *points, const pairs_place *voxels, double layers, double extra)
{
    flr_vec3 a = flr_vec3_scale(flr_box3_size(points->part.shape.box), 0.5),
             b = flr_vec3_scale(flr_box3_size(voxels->part.shape.box), 0.5);
    double more = voxels->beyond + layers * voxels->layer + extra;
    const double ha[3] = {a.x + extra, a.y + extra, a.z + extra},
                 hb[3] = {b.x + more, b.y + more, b.z + more};
    flr_vec3 way = flr_vec3_sub(points->middle, voxels->middle);
    double t[3], r[3][3], size[3][3]; /* in the axes of the voxels' box */
    for (int i = 0; i < 3; i++) {
        flr_vec3 axis = flr_mat3_column(voxels->turn, i);
        t[i] = flr_vec3_dot(way, axis);
        for (int k = 0; k < 3; k++) {
            r[i][k] = flr_vec3_dot(axis, flr_mat3_column(points->turn, k));
            size[i][k] = fabs(r[i][k]) + 1e-9; /* edges that are parallel within rounding */
        }
    }
    for (int i = 0; i < 3; i++) {
        double reach = ha[0] * size[i][0] + ha[1] * size[i][1] + ha[2] * size[i][2];
        if (fabs(t[i]) > hb[i] + reach) return true;
        reach = hb[0] * size[0][i] + hb[1] * size[1][i] + hb[2] * size[2][i];
        if (fabs(t[0] * r[0][i] + t[1] * r[1][i] + t[2] * r[2][i]) > ha[i] + reach) return true;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            double reach = hb[i1] * size[i2][k] + hb[i2] * size[i1][k] + ha[k1] * size[i][k2] +
                           ha[k2] * size[i][k1];
            if (fabs(t[i2] * r[i1][k] - t[i1] * r[i2][k]) > reach) return true;
        }
    return false;
}

/* Do the points of one part leave no hole through which something of the other's voxels could slip? */
static bool dense(const flr_pairs_shape *points, const flr_pairs_shape *voxels)
{
    return points->shell->voxel <= voxels->table->voxmap->header->grid.voxel * (1 + 1e-9);
}

/* Who gives the shell? */
static flr_pair roles(const flr_pairs *pairs, uint32_t low, uint32_t high)
{
    const flr_pairs_shape *a = &pairs->places[low].part.shape, *b = &pairs->places[high].part.shape;
    flr_pair ab = {low, high}, ba = {high, low};
    if (high == pairs->def.parts) ab.voxmap = FLR_PAIRS_MERGED;
    if (!(b->shell && a->table)) return ab;
    if (!(a->shell && b->table)) return ba;
    bool ab_dense = dense(a, b), ba_dense = dense(b, a);
    if (ab_dense != ba_dense) return ab_dense ? ab : ba;
    return a->shell->total <= b->shell->total ? ab : ba;
}

static void forget_answers(flr_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->answered; i++) {
        flr_pair pair = pairs->results[i].pair;
        pairs->totals[pair.shell] = no_total;
        pairs->totals[pair.voxmap == FLR_PAIRS_MERGED ? pairs->def.parts : pair.voxmap] = no_total;
    }
    pairs->answered = pairs->contact_count = 0;
}

static pairs_place *place_of(const flr_pairs *pairs, uint32_t index)
{
    return &pairs->places[index == FLR_PAIRS_MERGED ? pairs->def.parts : index];
}

/* How many pairs two lists have in common; both are in the broad phase's order. */
static uint32_t in_common(const flr_pair *a, uint32_t a_count, const flr_pair *b, uint32_t b_count)
{
    uint32_t common = 0;
    for (uint32_t i = 0, k = 0; i < a_count && k < b_count;) {
        uint64_t key[2];
        const flr_pair both[2] = {a[i], b[k]};
        for (int n = 0; n < 2; n++) {
            uint32_t s = both[n].shell,
                     v = both[n].voxmap; /* the merged static scene's number is the largest */
            key[n] = s > v ? (uint64_t)s << 32 | v : (uint64_t)v << 32 | s;
        }
        common += key[0] == key[1];
        i += key[0] <= key[1];
        k += key[1] <= key[0];
    }
    return common;
}

/* Stands up again what is new, and all that does not move where its boxes do not fit any more: they are too small, or so large
 * that much is found in vain. */
static void stand_up(flr_pairs *pairs, double layers, double extra, double granted)
{
    bool all = layers != pairs->layers || extra > pairs->granted || granted < pairs->granted / 4;
    if (!all && !pairs->some_fallen) return;
    if (all) pairs->granted = granted;
    pairs->layers = layers;
    for (uint32_t i = 0; i <= pairs->def.parts; i++) {
        pairs_place *p = &pairs->places[i];
        if ((!all && !pairs->fallen[i]) || (p->taken && p->part.moving)) continue;
        stand(p, layers, pairs->granted);
        flr_broad_move(pairs->broad, i, p->box);
        pairs->fallen[i] = false;
    }
    pairs->some_fallen = false;
}

/* All whose boxes in the world's axes overlap, and others that do not quite. */
static flr_broad_list find_near(flr_pairs *pairs, const flr_pose *T_world_part, double layers,
                                double extra)
{
    stand_up(pairs, layers, extra, 1.5 * extra);
    for (uint32_t i = 0; i < pairs->mover_count; i++) {
        pairs_place *p = &pairs->places[pairs->movers[i]];
        p->part.T_world_part = T_world_part[pairs->movers[i]];
        stand(p, layers, extra);
        flr_broad_move(pairs->broad, pairs->movers[i], p->box);
    }
    flr_broad_list found = flr_broad_update(pairs->broad);
    if (found.dropped == 0 || pairs->granted == extra) return found;
    /* there is no room for what was found in vain */
    pairs->granted = -1;
    stand_up(pairs, layers, extra, extra);
    return flr_broad_update(pairs->broad);
}

/* Do their boxes overlap, as large as they have to be for this update? Of parts that move they are so in the broad phase. */
static bool meet(pairs_place *a, pairs_place *b, double layers, double extra)
{
    if (a->part.moving && b->part.moving) return true;
    if (a->extra != extra) stand(a, layers, extra);
    if (b->extra != extra) stand(b, layers, extra);
    return a->box.low.x <= b->box.high.x && b->box.low.x <= a->box.high.x &&
           a->box.low.y <= b->box.high.y && b->box.low.y <= a->box.high.y &&
           a->box.low.z <= b->box.high.z && b->box.low.z <= a->box.high.z;
}

void flr_pairs_update(flr_pairs *pairs, const flr_pose *T_world_part, double range,
                      flr_pairs_report *report)
{
    if (pairs->changed) flag_all(pairs);
    const flr_contact_params *params = &pairs->def.params;
    double layers = params->force_layer < 255 ? params->force_layer : 255;
    double extra = (range > PAIRS_FARTHEST ? PAIRS_FARTHEST
                    : range > 0            ? 0.5 * range
                                           : 0) +
                   fabs(params->displacement);

    /* of those whose boxes in the world's axes overlap, those whose own boxes do; where nothing moves, nothing meets */
    flr_broad_list found = {0};
    if (pairs->mover_count > 0) found = find_near(pairs, T_world_part, layers, extra);
    const flr_pair *before = pairs->lists[pairs->current];
    flr_pair *list = pairs->lists[!pairs->current];
    uint32_t count = 0;
    for (size_t i = 0; i < found.count; i++) {
        flr_pair pair = roles(pairs, (uint32_t)found.keys[i], (uint32_t)(found.keys[i] >> 32));
        pairs_place *a = place_of(pairs, pair.shell), *b = place_of(pairs, pair.voxmap);
        if (pairs->may_touch && pair.voxmap != FLR_PAIRS_MERGED &&
            !pairs->may_touch(pairs->filter_context, pair.shell, pair.voxmap))
            continue;
        if (meet(a, b, layers, extra) && !apart(a, b, layers, extra)) list[count++] = pair;
    }
    uint32_t same = in_common(before, pairs->count, list, count);
    if (report)
        *report = (flr_pairs_report){.pairs = list,
                                     .count = count,
                                     .entered = count - same,
                                     .left = pairs->count - same,
                                     .dropped = (uint32_t)found.dropped,
                                     .unfelt = pairs->unfelt};
    pairs->current = !pairs->current;
    pairs->count = count;
    forget_answers(pairs);
}

/* ---- query ---- */

static void add_total(flr_part_total *total, const flr_contact_result *r, flr_wrench wrench,
                      flr_wrench braking)
{
    total->wrench = flr_wrench_add(total->wrench, wrench);
    total->braking = flr_vec3_add(total->braking, braking.force);
    total->braking_turn = flr_vec3_add(total->braking_turn, braking.torque);
    total->pairs++;
    total->contacts += r->contacts;
    total->penetrations += r->penetrations;
    total->near += r->near;
    total->lower = r->lower < total->lower ? r->lower : total->lower;
    total->upper = r->upper < total->upper ? r->upper : total->upper;
}

/* The next query notes what is near for the pair with this index, in what the pairs before left of the chunks. */
static flr_near_notes *begin_notes(flr_pairs *pairs, uint32_t index)
{
    flr_near_notes *notes = &pairs->notes[index < NOTED ? index : NOTED];
    if (index == 0) pairs->chunks_used = 0;
    *notes = (flr_near_notes){.capacity = index < NOTED ? FLR_NEAR_CHUNKS - pairs->chunks_used : 0,
                              .chunks = flr_contact_pair_chunks(pairs->query_context) +
                                        pairs->chunks_used};
    flr_contact_pair_use_notes(pairs->query_context, notes);
    return notes;
}

/* Asks one pair; `motion` NULL: at rest. */
static void ask(flr_pairs *pairs, flr_pair pair, const flr_twist *motion, flr_pair_result *told)
{
    uint32_t other = pair.voxmap == FLR_PAIRS_MERGED ? pairs->def.parts : pair.voxmap;
    const pairs_place *a = &pairs->places[pair.shell], *b = &pairs->places[other];
    flr_pose T_a = a->part.T_world_part, T_b = b->part.T_world_part;
    flr_vec3 a_to_b =
        flr_vec3_sub(flr_pose_apply(T_b, b->part.centre), flr_pose_apply(T_a, a->part.centre));
    flr_contact_params params = pairs->def.params;
    params.centre = a->part.centre;
    params.motion = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    if (motion && a->part.moving) params.motion = motion[pair.shell];
    if (motion && b->part.moving) {
        flr_twist of_b = flr_twist_move(motion[other], flr_vec3_neg(a_to_b));
        params.motion = flr_twist_add(params.motion, flr_twist_scale(of_b, -1));
    }

    flr_contact_result *r = &told->contact;
    flr_contact_pair_aim(pairs->query_context, a->part.shape.shell, b->part.shape.table);
    flr_near_notes *notes = begin_notes(pairs, (uint32_t)(told - pairs->results));
    flr_contact_query(pairs->query_context, T_a, T_b, &params, r);
    if (notes->known) pairs->chunks_used += notes->count;
    told->pair = pair;
    told->opposite = flr_wrench_move(flr_wrench_scale(r->wrench, -1), a_to_b);
    flr_wrench braking = flr_wrench_make(r->braking_turn, r->braking);
    add_total(&pairs->totals[pair.shell], r, r->wrench, braking);
    add_total(&pairs->totals[other], r, told->opposite,
              flr_wrench_move(flr_wrench_scale(braking, -1), a_to_b));

    /* its contacts behind those of the pairs before */
    uint32_t room = pairs->def.contacts - pairs->contact_count;
    if (r->listed > room) r->listed = room;
    told->first = pairs->contact_count;
    memcpy(pairs->contacts + told->first, flr_contact_list(pairs->query_context),
           r->listed * sizeof *pairs->contacts);
    pairs->contact_count += r->listed;
}

void flr_pairs_query(flr_pairs *pairs, const flr_twist *motion)
{
    forget_answers(pairs);
    for (uint32_t i = 0; i < pairs->count; i++)
        ask(pairs, pairs->lists[pairs->current][i], motion, &pairs->results[i]);
    pairs->answered = pairs->count;
}

/* What was noted for a pair, or the notes of nothing. Motions are checked in the order of the list, so the next one is mostly it. */
static flr_near_notes *find_notes(flr_pairs *pairs, flr_pair pair)
{
    uint32_t count = pairs->answered < NOTED ? pairs->answered : NOTED;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = (pairs->checked + k) % count;
        const flr_pair *at = &pairs->results[i].pair;
        if (at->shell != pair.shell || at->voxmap != pair.voxmap) continue;
        pairs->checked = i;
        return &pairs->notes[i];
    }
    return &pairs->notes[NOTED];
}

void flr_pairs_check_motion(flr_pairs *pairs, flr_pair pair, flr_pose T_world_shell,
                            flr_pose T_world_voxmap, const flr_motion_check_params *params,
                            flr_motion_check_result *result)
{
    bool merged = pair.voxmap == FLR_PAIRS_MERGED;
    const flr_pairs_part *a = &pairs->places[pair.shell].part,
                         *b = &pairs->places[merged ? pairs->def.parts : pair.voxmap].part;
    flr_motion_check_params check = *params;
    check.centre = a->centre;
    check.displacement = pairs->def.params.displacement;
    flr_pose_span of_shell = {a->T_world_part, T_world_shell},
                  of_voxmap = {b->T_world_part, merged ? b->T_world_part : T_world_voxmap};
    flr_contact_pair_aim(pairs->query_context, a->shape.shell, b->shape.table);
    flr_contact_pair_use_notes(pairs->query_context, find_notes(pairs, pair));
    flr_contact_check_motion(pairs->query_context, of_shell, of_voxmap, &check, result);
}

const flr_pair_result *flr_pairs_results(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->answered;
    return pairs->results;
}

const flr_part_total *flr_pairs_total(const flr_pairs *pairs, uint32_t index)
{
    return &pairs->totals[index == FLR_PAIRS_MERGED ? pairs->def.parts : index];
}

const flr_contact *flr_pairs_contacts(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->contact_count;
    return pairs->contacts;
}
