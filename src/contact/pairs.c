/* many parts: boxes for the broad phase, one asker for all pairs, sums per part in a fixed order */
#include "feeler/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "contact/broad.h"
#include "contact/point.h"
#include "contact/table.h"

#define HALF_DIAGONAL 0.8660254037844387 /* of a voxel */
#define FARTHEST      4e9                /* metres: what is asked is nearer to everything */

typedef struct place {
    flr_pairs_part part;
    double
        around; /* metres: how far its surface and its layers reach beyond its box, but for the force layer */
    double layer; /* metres of one force layer: its voxel; 0: it has none */
    bool taken, grounded;
} place;

struct flr_pairs {
    flr_pairs_def def;
    flr_broad *broad;
    place *places; /* [def.parts + 1]: the last one is the ground */
    flr_pair *list;
    flr_pair_result *results; /* both [def.pairs] */
    uint32_t count;           /* in list */
    uint32_t answered;        /* in results */
    flr_part_total *totals;   /* [def.parts + 1] */
    flr_contact_pair *asker;
    flr_contact *contacts; /* [def.contacts] */
    uint32_t contact_count;
    uint32_t unfelt;
    bool changed; /* parts came, went, began or ceased to move */
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

/* Around all chunks that have a mark. */
static flr_box3 marks_box(const flr_contact_table *table)
{
    const flr_flat_field *field = &table->fields[FLR_FIELD_SURFACE];
    const flr_voxmap_info info = flr_voxmap_get_info(table->voxmap);
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {-1, -1, -1};
    size_t i = 0;
    for (int32_t z = 0; z < field->size[2] / 8; z++)
        for (int32_t y = 0; y < field->size[1] / 8; y++)
            for (int32_t x = 0; x < field->size[0] / 8; x++) {
                if (field->chunks[i++] == (FLR_UNIFORM | FLR_MARK_FREE)) continue;
                const int32_t at[3] = {x, y, z};
                for (int axis = 0; axis < 3; axis++) {
                    low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
                    high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
                }
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
                         .simd = FLR_SIMD_BEST};
    return def;
}

static flr_result allocate(flr_pairs *made, flr_error *error)
{
    const flr_pairs_def *def = &made->def;
    flr_contact_pair_def asker = flr_default_contact_pair_def();
    asker.capacity = def->contacts_of_pair;
    asker.simd = def->simd;
    flr_result result = flr_contact_pair_create(&asker, &made->asker, error);
    if (result != FLR_OK) return result;
    made->broad = flr_broad_create(def->parts + 1, def->pairs);
    made->places = calloc((size_t)def->parts + 1, sizeof *made->places);
    made->totals = calloc((size_t)def->parts + 1, sizeof *made->totals);
    made->list = calloc((size_t)def->pairs + 1, sizeof *made->list);
    made->results = calloc((size_t)def->pairs + 1, sizeof *made->results);
    made->contacts = calloc((size_t)def->contacts + 1, sizeof *made->contacts);
    if (made->broad && made->places && made->totals && made->list && made->results &&
        made->contacts)
        return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for the pairs of %u parts",
                    def->parts);
}

static void forget_answers(flr_pairs *pairs);

flr_result flr_pairs_create(const flr_pairs_def *def, flr_pairs **pairs, flr_error *error)
{
    if (def->parts > FLR_PAIRS_MOST)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u parts are more than %u; merge static ones",
                        def->parts, (unsigned)FLR_PAIRS_MOST);
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
    forget_answers(made);
    *pairs = made;
    return FLR_OK;
}

void flr_pairs_destroy(flr_pairs *pairs)
{
    if (!pairs) return;
    flr_contact_pair_destroy(pairs->asker);
    flr_broad_destroy(pairs->broad);
    free(pairs->places);
    free(pairs->totals);
    free(pairs->list);
    free(pairs->results);
    free(pairs->contacts);
    free(pairs);
}

size_t flr_pairs_bytes(const flr_pairs *pairs)
{
    const flr_pairs_def *def = &pairs->def;
    return sizeof *pairs + flr_contact_pair_bytes(pairs->asker) +
           flr_broad_bytes(def->parts + 1, def->pairs) +
           ((size_t)def->parts + 1) * (sizeof *pairs->places + sizeof *pairs->totals) +
           ((size_t)def->pairs + 1) * (sizeof *pairs->list + sizeof *pairs->results) +
           ((size_t)def->contacts + 1) * sizeof *pairs->contacts;
}

/* ---- parts ---- */

static void put(place *to, const flr_pairs_part *part)
{
    *to = (place){.part = *part, .taken = true};
    if (part->shape.shell) to->around = HALF_DIAGONAL * part->shape.shell->voxel;
    if (part->shape.table) {
        const flr_voxmap_header *h = part->shape.table->voxmap->header;
        to->layer = h->grid.voxel;
        /* the surface's own voxel, the layer of braking, and one for rounding */
        to->around += (3.0 + h->offset) * to->layer;
    }
}

/* The ground is not true any more: its parts stand for themselves again. */
static void drop_ground(flr_pairs *pairs)
{
    place *ground = &pairs->places[pairs->def.parts];
    if (!ground->taken) return;
    *ground = (place){0};
    for (uint32_t i = 0; i < pairs->def.parts; i++) pairs->places[i].grounded = false;
    pairs->changed = true;
}

void flr_pairs_set(flr_pairs *pairs, uint32_t index, const flr_pairs_part *part)
{
    place *to = &pairs->places[index];
    if (to->grounded) drop_ground(pairs);
    if (part)
        put(to, part);
    else
        *to = (place){0};
    pairs->changed = true;
}

void flr_pairs_set_moving(flr_pairs *pairs, uint32_t index, bool moving)
{
    place *at = &pairs->places[index];
    if (!at->taken || at->part.moving == moving) return;
    if (at->grounded) drop_ground(pairs);
    at->part.moving = moving;
    pairs->changed = true;
}

void flr_pairs_place(flr_pairs *pairs, uint32_t index, flr_pose T_world_part)
{
    place *at = &pairs->places[index];
    if (at->grounded) drop_ground(pairs);
    at->part.T_world_part = T_world_part;
    pairs->changed = true;
}

void flr_pairs_set_params(flr_pairs *pairs, const flr_contact_params *params)
{
    pairs->def.params = *params;
}

bool flr_pairs_set_ground(flr_pairs *pairs, const flr_pairs_ground *ground)
{
    drop_ground(pairs);
    if (!ground) return false;
    for (uint32_t i = 0; i < ground->part_count; i++) {
        uint32_t index = ground->parts[i];
        if (index >= pairs->def.parts || !pairs->places[index].taken ||
            pairs->places[index].part.moving)
            return false;
    }
    flr_pairs_part part = flr_default_pairs_part();
    part.shape = ground->shape;
    part.T_world_part = ground->T_world_voxmap;
    put(&pairs->places[pairs->def.parts], &part);
    for (uint32_t i = 0; i < ground->part_count; i++)
        pairs->places[ground->parts[i]].grounded = true;
    pairs->changed = true;
    return true;
}

bool flr_pairs_has_ground(const flr_pairs *pairs) { return pairs->places[pairs->def.parts].taken; }

/* ---- update ---- */

/* What may touch what; and what a moving part cannot feel. */
static void flag_all(flr_pairs *pairs)
{
    uint32_t moving = 0, no_points = 0, no_voxels = 0;
    for (uint32_t i = 0; i <= pairs->def.parts; i++) {
        const place *p = &pairs->places[i];
        bool points = p->part.shape.shell, voxels = p->part.shape.table;
        unsigned flags = 0;
        if (p->taken && !p->grounded)
            flags = (p->part.moving ? FLR_BROAD_MOVES : 0u) | (points ? FLR_BROAD_POINTS : 0u) |
                    (voxels ? FLR_BROAD_VOXELS : 0u);
        flr_broad_flag(pairs->broad, i, flags);
        if (!p->taken || !p->part.moving || !(points || voxels)) continue;
        moving++;
        no_points += !points;
        no_voxels += !voxels;
    }
    pairs->unfelt = 0;
    for (uint32_t i = 0; moving && i <= pairs->def.parts; i++) {
        const place *p = &pairs->places[i];
        if (!p->taken || p->grounded || p->part.moving) continue;
        bool points = p->part.shape.shell, voxels = p->part.shape.table;
        pairs->unfelt += (!points && !voxels) || (!voxels && no_voxels) || (!points && no_points);
    }
    pairs->changed = false;
}

/* The box in the world's axes: that of the turned box and that of the sphere, whichever is less on each side. */
static flr_box3 world_box(const place *p, double margin)
{
    flr_pose T = p->part.T_world_part;
    const flr_pairs_shape *shape = &p->part.shape;
    if (!flr_contact_sound(&T)) return flr_box3_empty();
    flr_vec3 middle = flr_pose_apply(T, shape->middle);
    flr_box3 sphere = flr_box3_grow(flr_box3_make(middle, middle), shape->radius);
    return flr_box3_grow(flr_box3_intersection(flr_box3_transform(T, shape->box), sphere), margin);
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
    if (high == pairs->def.parts) ab.voxmap = FLR_PAIRS_GROUND;
    if (!(b->shell && a->table)) return ab;
    if (!(a->shell && b->table)) return ba;
    bool ab_dense = dense(a, b), ba_dense = dense(b, a);
    if (ab_dense != ba_dense) return ab_dense ? ab : ba;
    return a->shell->total <= b->shell->total ? ab : ba;
}

static void forget_answers(flr_pairs *pairs)
{
    for (uint32_t i = 0; i <= pairs->def.parts; i++)
        pairs->totals[i] = (flr_part_total){.lower = INFINITY, .upper = INFINITY};
    pairs->answered = pairs->contact_count = 0;
}

void flr_pairs_update(flr_pairs *pairs, const flr_pose *T_world_part, double range,
                      flr_pairs_report *report)
{
    if (pairs->changed) flag_all(pairs);
    /* the boxes of all parts: parameters and range may differ from the last ones */
    const flr_contact_params *params = &pairs->def.params;
    double layers = params->force_layer < 255 ? params->force_layer : 255;
    double extra = (range > FARTHEST ? FARTHEST
                    : range > 0      ? 0.5 * range
                                     : 0) +
                   fabs(params->displacement);
    for (uint32_t i = 0; i <= pairs->def.parts; i++) {
        place *p = &pairs->places[i];
        if (p->taken && p->part.moving) p->part.T_world_part = T_world_part[i];
        bool alone = p->taken && !p->grounded;
        flr_broad_move(pairs->broad, i,
                       alone ? world_box(p, p->around + layers * p->layer + extra)
                             : flr_box3_empty());
    }
    flr_broad_list found = flr_broad_update(pairs->broad);
    for (size_t i = 0; i < found.count; i++)
        pairs->list[i] = roles(pairs, (uint32_t)found.keys[i], (uint32_t)(found.keys[i] >> 32));
    pairs->count = (uint32_t)found.count;
    forget_answers(pairs);
    if (report)
        *report = (flr_pairs_report){.pairs = pairs->list,
                                     .count = pairs->count,
                                     .entered = (uint32_t)found.entered,
                                     .left = (uint32_t)found.left,
                                     .dropped = (uint32_t)found.dropped,
                                     .unfelt = pairs->unfelt};
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

/* Asks one pair; `motion` NULL: at rest. */
static void ask(flr_pairs *pairs, flr_pair pair, const flr_twist *motion, flr_pair_result *told)
{
    uint32_t other = pair.voxmap == FLR_PAIRS_GROUND ? pairs->def.parts : pair.voxmap;
    const place *a = &pairs->places[pair.shell], *b = &pairs->places[other];
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
    flr_contact_pair_aim(pairs->asker, a->part.shape.shell, b->part.shape.table);
    flr_contact_query(pairs->asker, T_a, T_b, &params, r);
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
    memcpy(pairs->contacts + told->first, flr_contact_list(pairs->asker),
           r->listed * sizeof *pairs->contacts);
    pairs->contact_count += r->listed;
}

void flr_pairs_query(flr_pairs *pairs, const flr_twist *motion)
{
    forget_answers(pairs);
    for (uint32_t i = 0; i < pairs->count; i++)
        ask(pairs, pairs->list[i], motion, &pairs->results[i]);
    pairs->answered = pairs->count;
}

void flr_pairs_march(flr_pairs *pairs, flr_pair pair, flr_pose T_world_shell,
                     flr_pose T_world_voxmap, const flr_march_params *params,
                     flr_march_result *result)
{
    bool ground = pair.voxmap == FLR_PAIRS_GROUND;
    const flr_pairs_part *a = &pairs->places[pair.shell].part,
                         *b = &pairs->places[ground ? pairs->def.parts : pair.voxmap].part;
    flr_march_params march = *params;
    march.centre = a->centre;
    march.displacement = pairs->def.params.displacement;
    flr_pose_span of_shell = {a->T_world_part, T_world_shell},
                  of_voxmap = {b->T_world_part, ground ? b->T_world_part : T_world_voxmap};
    flr_contact_pair_aim(pairs->asker, a->shape.shell, b->shape.table);
    flr_contact_march(pairs->asker, of_shell, of_voxmap, &march, result);
}

const flr_pair_result *flr_pairs_results(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->answered;
    return pairs->results;
}

const flr_part_total *flr_pairs_total(const flr_pairs *pairs, uint32_t index)
{
    return &pairs->totals[index == FLR_PAIRS_GROUND ? pairs->def.parts : index];
}

const flr_contact *flr_pairs_contacts(const flr_pairs *pairs, uint32_t *count)
{
    *count = pairs->contact_count;
    return pairs->contacts;
}
