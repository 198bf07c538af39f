/* many parts: boxes for the broad phase, and which pairs may touch */
#include "feeler/pairs.h"

#include <stdlib.h>

#include "base/prefault.h"
#include "contact/pairs_internal.h"

#define SQRT3          1.7320508075688772
#define NO_CLEAR       UINT32_MAX
#define PAIRS_FARTHEST 4e9 /* metres: what is asked is nearer to everything */

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

/* What several threads need that share the pairs. */
static flr_result make_workers(flr_pairs *made, flr_error *error)
{
    const flr_pairs_def *def = &made->def;
    if (def->threads < 2) return FLR_OK;
    flr_contact_pair_def one = flr_default_contact_pair_def();
    one.capacity = def->contacts_of_pair;
    one.simd = def->simd;
    made->workers = flr_prefaulted_calloc(def->threads, sizeof *made->workers);
    made->worker_of = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->worker_of);
    bool enough = made->workers && made->worker_of;
    flr_result result = FLR_OK;
    for (unsigned i = 0; enough && result == FLR_OK && i < def->threads; i++) {
        pairs_worker *w = &made->workers[i];
        w->contacts = flr_prefaulted_calloc((size_t)def->contacts + 1, sizeof *w->contacts);
        enough = w->contacts != NULL;
        result = flr_contact_pair_create(&one, &w->query_context, error);
    }
    if (result != FLR_OK) return result;
    if (!enough) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for worker threads");
    return flr_worker_pool_create(def->threads - 1, flr_pairs_work, made, &made->pool, error);
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
    made->notes = flr_prefaulted_calloc(NOTED + 1 + def->threads, sizeof *made->notes);
    made->broad = flr_broad_create(def->parts + 1, def->pairs);
    made->places = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->places);
    made->totals = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->totals);
    for (int i = 0; i < 2; i++) {
        made->lists[i] = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->lists[i]);
        made->slots[i] = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->slots[i]);
    }
    made->clears = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->clears);
    made->unused_clears =
        flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->unused_clears);
    for (uint32_t i = def->pairs + 1; made->unused_clears && i > 0; i--)
        made->unused_clears[made->unused_clear_count++] = i - 1;
    uint64_t chunks = (uint64_t)REMEMBERED_OF_PART * def->parts;
    if (chunks < MIN_REMEMBERED) chunks = MIN_REMEMBERED;
    if (chunks > MAX_REMEMBERED) chunks = MAX_REMEMBERED;
    made->memories = flr_chunk_memories_create((uint32_t)chunks);
    made->touching = flr_prefaulted_calloc(2 * (size_t)def->pairs + 1, sizeof *made->touching);
    made->touching_first =
        flr_prefaulted_calloc((size_t)def->parts + 2, sizeof *made->touching_first);
    made->results = flr_prefaulted_calloc((size_t)def->pairs + 1, sizeof *made->results);
    made->contacts = flr_prefaulted_calloc((size_t)def->contacts + 1, sizeof *made->contacts);
    made->movers = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->movers);
    made->fallen = flr_prefaulted_calloc((size_t)def->parts + 1, sizeof *made->fallen);
    made->granted = -1;
    if (made->notes && made->memories && made->slots[0] && made->slots[1] && made->broad &&
        made->clears && made->unused_clears && made->touching && made->touching_first &&
        made->movers && made->fallen && made->places && made->totals && made->lists[0] &&
        made->lists[1] && made->results && made->contacts)
        return make_workers(made, error);
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the pairs of %u parts",
                    def->parts);
}

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
    for (uint32_t i = 0; i <= def->parts; i++) made->totals[i] = flr_no_part_total;
    *pairs = made;
    return FLR_OK;
}

void flr_pairs_destroy(flr_pairs *pairs)
{
    if (!pairs) return;
    flr_worker_pool_destroy(pairs->pool); /* before what it works with */
    for (unsigned i = 0; pairs->workers && i < pairs->def.threads; i++) {
        flr_contact_pair_destroy(pairs->workers[i].query_context);
        free(pairs->workers[i].contacts);
    }
    free(pairs->workers);
    flr_pairs_free_coherent(pairs);
    free(pairs->worker_of);
    flr_contact_pair_destroy(pairs->query_context);
    flr_broad_destroy(pairs->broad);
    free(pairs->places);
    free(pairs->totals);
    for (int i = 0; i < 2; i++) {
        free(pairs->lists[i]);
        free(pairs->slots[i]);
    }
    flr_chunk_memories_destroy(pairs->memories);
    free(pairs->clears);
    free(pairs->unused_clears);
    free(pairs->touching);
    free(pairs->touching_first);
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
    pairs->places[index].generation = ++pairs->generation;
}

/* Do the points of one part leave no hole through which something of the other's voxels could slip? */
static bool dense(const flr_pairs_shape *points, const flr_pairs_shape *voxels)
{
    return points->shell->voxel <= voxels->table->voxmap->header->grid.voxel * (1 + 1e-9);
}

/* The merged static scene has no points: with a part whose points are too far apart for its voxels, only the parts themselves can
 * give theirs. */
static bool suits_merged(const pairs_place *merged, const pairs_place *at)
{
    return !at->taken || !at->part.moving || !at->part.shape.shell || !at->part.shape.table ||
           dense(&at->part.shape, &merged->part.shape);
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

static void drop_unsuited_merged(flr_pairs *pairs, const pairs_place *at)
{
    const pairs_place *merged = &pairs->places[pairs->def.parts];
    if (merged->taken && !suits_merged(merged, at)) drop_merged(pairs);
}

void flr_pairs_set(flr_pairs *pairs, uint32_t index, const flr_pairs_part *part)
{
    pairs_place *to = &pairs->places[index];
    if (to->grounded) drop_merged(pairs);
    if (part)
        put(to, part);
    else
        *to = (pairs_place){0};
    drop_unsuited_merged(pairs, to);
    fell(pairs, index);
}

void flr_pairs_set_moving(flr_pairs *pairs, uint32_t index, bool moving)
{
    pairs_place *at = &pairs->places[index];
    if (!at->taken || at->part.moving == moving) return;
    if (at->grounded) drop_merged(pairs);
    at->part.moving = moving;
    drop_unsuited_merged(pairs, at);
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
    pairs->asked++;
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
    pairs_place *place = &pairs->places[pairs->def.parts];
    put(place, &part);
    for (uint32_t i = 0; i < pairs->def.parts; i++) {
        if (suits_merged(place, &pairs->places[i])) continue;
        *place = (pairs_place){0};
        return false;
    }
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

flr_pair flr_pairs_roles(const flr_pairs *pairs, uint32_t low, uint32_t high)
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

/* Are the two of a pair what they were when it was remembered? */
static bool is_same(const flr_pairs *pairs, flr_pair pair, const pairs_slot *at)
{
    return at->shell == place_of(pairs, pair.shell)->generation &&
           at->voxmap == place_of(pairs, pair.voxmap)->generation;
}

/* A pair has left the list. */
static void give_slot(flr_pairs *pairs, const pairs_slot *at)
{
    flr_chunk_memories_give(pairs->memories, at->slot);
    pairs->unused_clears[pairs->unused_clear_count++] = at->clear;
}

/* From the list before to the new one: what is remembered of pairs goes along. Returns how many they have in common. */
static uint32_t carry(flr_pairs *pairs, const flr_pair *list, uint32_t count)
{
    const flr_pair *before = pairs->lists[pairs->current];
    const pairs_slot *from = pairs->slots[pairs->current];
    pairs_slot *to = pairs->slots[!pairs->current];
    uint32_t common = 0, k = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = flr_pair_key(list[i]);
        to[i].slot = FLR_NO_MEMORY_SLOT;
        to[i].clear = NO_CLEAR;
        for (; k < pairs->count && flr_pair_key(before[k]) < key; k++) give_slot(pairs, &from[k]);
        if (k == pairs->count || flr_pair_key(before[k]) != key) continue;
        common++;
        to[i] = from[k++];
        if (to[i].slot == FLR_NO_MEMORY_SLOT ||
            (before[k - 1].shell == list[i].shell && is_same(pairs, list[i], &to[i])))
            continue;
        flr_chunk_memories_give(pairs->memories, to[i].slot);
        to[i].slot = FLR_NO_MEMORY_SLOT;
    }
    for (; k < pairs->count; k++) give_slot(pairs, &from[k]);
    for (uint32_t i = 0; i < count; i++) {
        if (to[i].clear != NO_CLEAR) continue;
        to[i].clear = pairs->unused_clears[--pairs->unused_clear_count];
        pairs->clears[to[i].clear].room = 0;
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
    flr_pair *list = pairs->lists[!pairs->current];
    uint32_t count = 0;
    for (size_t i = 0; i < found.count; i++) {
        flr_pair pair =
            flr_pairs_roles(pairs, (uint32_t)found.keys[i], (uint32_t)(found.keys[i] >> 32));
        pairs_place *a = place_of(pairs, pair.shell), *b = place_of(pairs, pair.voxmap);
        if (pairs->may_touch && pair.voxmap != FLR_PAIRS_MERGED &&
            !pairs->may_touch(pairs->filter_context, pair.shell, pair.voxmap))
            continue;
        if (meet(a, b, layers, extra) && !apart(a, b, layers, extra)) list[count++] = pair;
    }
    uint32_t same = carry(pairs, list, count);
    if (report)
        *report = (flr_pairs_report){.pairs = list,
                                     .count = count,
                                     .entered = count - same,
                                     .left = pairs->count - same,
                                     .dropped = (uint32_t)found.dropped,
                                     .unfelt = pairs->unfelt};
    pairs->current = !pairs->current;
    pairs->count = count;
    flr_pairs_forget_answers(pairs);
}
