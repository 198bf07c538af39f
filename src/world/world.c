/* the world: one step after the other, each from the state before it and the hands' poses alone */
#include "feeler/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/table.h"
#include "feeler/voxmap.h"
#include "world/impacts.h"
#include "world/pages.h"
#include "world/point.h"

#define SMOOTHING 0.002 /* s: over which a hand's velocity is averaged when it is not measured */
#define MARGIN    8.0   /* voxels: pairs this near are asked, so that distances are known */
#define SPEED_UP  1.5 /* from one frame to the next, besides a voxel; more is a jump, not a motion */
#define AROUND    16.0 /* voxels: beyond its way, how far around a point anything is looked at */
#define BEFORE    1e-3 /* voxels: a body stops so far before what stops it, for the sake of rounding */
#define CLEAR                                                                                      \
    0.875 /* voxels of distance beyond layer 1: no voxel of it reaches out, and a point can slide */
#define REST 1e-6 /* voxels: who moves less in a step rests */
#define HALF 0.5  /* voxels: what contact alone keeps safe in a step */
#define SLOW                                                                                       \
    0.005 /* m/s: sphere engine: what touches something and is slower for CALM s may rest */
#define CALM  0.05
#define PRESS 0.01 /* voxels: the depth that is given to what stops a body */
enum {
    STOPS = 32, /* places that a body slides along, of those that its way would meet */
    FIRM = 2,   /* … before contacts give way to them */
    SLIDES = 8, /* ways that are tried for that */
    STAIRS = 2, /* the same where the layer is not smooth, which leads less far */
    PASSES = 4  /* over pairs of moving bodies that stop each other */
};

typedef struct hand_state {
    flr_handle handle;
    flr_coupling coupling;
    flr_passivity passivity;
    flr_wrench wrench;
    uint32_t part;
    flr_tool tool;
    flr_point point; /* while the tool is one */
    bool seen;       /* there was an input */
    bool waiting;    /* takes `part` when there is one */
} hand_state;

/* all that changes: one block, so that it can be saved whole */
typedef struct world_state {
    uint64_t number;
    flr_hash hash;
    double travel; /* metres: the longest way of the step before */
    hand_state hands[FLR_WORLD_HANDS];
    flr_body bodies[]; /* [part_count]; after them, in doubles: for how long each was slow, s */
} world_state;

static double *slow_of(world_state *state, uint32_t part_count)
{
    return (double *)(void *)(state->bodies + part_count);
}

/* where a point of a body would meet something on its way, if nothing were done about it */
typedef struct stop {
    flr_contact contact; /* as it is at the beginning of the step */
    bool reversed;       /* the body is the one that gives the voxels */
    double limit;        /* metres: how deep it may get: the way that is free, besides its depth */
    flr_twist other;     /* of the other part, about `contact.point` */
} stop;

/* what a step works out for a part */
typedef struct plan {
    flr_step_result result;
    double fraction;
    bool moves, limited, stopped;
    bool again; /* to be worked out anew */
    int newest; /* pass of the checks in which its way was changed last */
    uint32_t stop_count;
    stop stops[STOPS];
} plan;

struct flr_world {
    flr_world_def def;
    flr_world_params params;
    flr_pairs *pairs;
    flr_step *step;
    flr_points *points;   /* what hands touch whose tool is one */
    flr_impacts *impacts; /* NULL: no part has a sphere tree */
    flr_pages *pages;     /* NULL: all voxels are in memory */
    flr_part_kind *kinds;
    double *voxels;  /* metres: of each part's voxmap; 0: it has none */
    double voxel;    /* the least of them */
    uint64_t budget; /* of checks in a step; 0: no limit */
    uint64_t spent;  /* of it in this step */
    int pass;        /* of them */
    double ground_voxel;
    flr_pose *poses;
    flr_twist *twists;
    plan *plans;
    double *numbers; /* to be hashed */
    world_state *state;
    size_t state_size;
};

/* ---- defaults ---- */

flr_world_part flr_default_world_part(void)
{
    flr_world_part part = {.shape = flr_default_pairs_part().shape,
                           .kind = FLR_PART_STATIC,
                           .body = flr_default_body_def()};
    return part;
}

flr_world_params flr_default_world_params(void)
{
    flr_world_params params = {.contact = flr_default_contact_params(),
                               .step = flr_default_step_params(),
                               .coupling = flr_default_coupling_def(),
                               .passivity = flr_default_passivity_params(),
                               .depth = 0.1,
                               .budget = 25000};
    params.coupling.stretch = 0;
    params.proxy = flr_default_proxy_params();
    params.proxy.shading = true;
    return params;
}

flr_world_def flr_default_world_def(void)
{
    flr_world_def def = {.hand_count = 1,
                         .dt = 0.001,
                         .params = flr_default_world_params(),
                         .contacts = 256,
                         .simd = FLR_SIMD_BEST,
                         .threads = 1};
    return def;
}

/* ---- making ---- */

static double voxel_of(const flr_contact_table *table)
{
    return table ? flr_voxmap_get_info(table->voxmap).voxel : 0;
}

static flr_result make_parts(flr_world *w, flr_error *error)
{
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        const flr_world_part *part = &w->def.parts[i];
        flr_error inner;
        flr_result result = flr_body_make(&part->body, &w->state->bodies[i], &inner);
        if (result != FLR_OK) return flr_fail(error, result, "part %u: %s", i, inner.message);
        w->kinds[i] = part->kind;
        w->voxels[i] = voxel_of(part->shape.table);
        if (w->voxels[i] > 0 && !(w->voxels[i] > w->voxel && w->voxel > 0)) w->voxel = w->voxels[i];
        flr_pairs_part asked = {.shape = part->shape,
                                .T_world_part = part->body.T_world_part,
                                .centre = part->body.inertia.centre,
                                .moving = part->kind == FLR_PART_FREE};
        flr_pairs_set(w->pairs, i, &asked);
        if (w->impacts) flr_impacts_set_tree(w->impacts, i, part->tree);
        w->poses[i] = part->body.T_world_part;
    }
    return FLR_OK;
}

static flr_result allocate(flr_world *w, flr_error *error)
{
    uint32_t parts = w->def.part_count;
    flr_pairs_def pairs = flr_default_pairs_def();
    pairs.parts = parts;
    pairs.contacts_of_pair = w->def.contacts;
    pairs.contacts = 16 * w->def.contacts;
    pairs.params = w->def.params.contact;
    pairs.simd = w->def.simd;
    pairs.threads = w->def.threads;
    flr_result result = flr_pairs_create(&pairs, &w->pairs, error);
    if (result == FLR_OK) result = flr_step_create(8 * w->def.contacts, &w->step, error);
    bool trees = false;
    for (uint32_t i = 0; i < parts; i++) trees |= w->def.parts[i].tree != NULL;
    if (result == FLR_OK && trees)
        result =
            flr_impacts_create(parts, 16 * w->def.contacts, w->def.threads, &w->impacts, error);
    if (result != FLR_OK) return result;
    w->state_size = sizeof(world_state) + parts * (sizeof(flr_body) + sizeof(double));
    w->state = calloc(1, w->state_size);
    w->kinds = calloc((size_t)parts + 1, sizeof *w->kinds);
    w->voxels = calloc((size_t)parts + 1, sizeof *w->voxels);
    w->poses = calloc((size_t)parts + 1, sizeof *w->poses);
    w->twists = calloc((size_t)parts + 1, sizeof *w->twists);
    w->plans = calloc((size_t)parts + 1, sizeof *w->plans);
    w->numbers = calloc(13 * (size_t)parts + 9 * FLR_WORLD_HANDS + 2, sizeof *w->numbers);
    w->points = flr_points_create(parts);
    if (w->points && w->state && w->kinds && w->voxels && w->poses && w->twists && w->plans &&
        w->numbers)
        return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a world of %u parts", parts);
}

flr_result flr_world_create(const flr_world_def *def, flr_world **world, flr_error *error)
{
    if (def->part_count > FLR_WORLD_PARTS || def->hand_count > FLR_WORLD_HANDS)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a world has at most %d parts and %d hands",
                        FLR_WORLD_PARTS, FLR_WORLD_HANDS);
    if (!(def->dt >= 1e-5 && def->dt <= 0.1))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a step of %g s is not between 0.00001 and 0.1 s",
                        def->dt);
    if (def->contacts == 0 || def->contacts > 1u << 16)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%u contacts of a pair are not 1 to 65536",
                        def->contacts);
    flr_world *w = calloc(1, sizeof *w);
    if (!w) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a world");
    w->def = *def;
    flr_result result = allocate(w, error);
    if (result == FLR_OK) result = make_parts(w, error);
    if (result == FLR_OK) result = flr_pages_create(def->parts, def->part_count, &w->pages, error);
    if (result != FLR_OK) {
        flr_world_destroy(w);
        return result;
    }
    w->def.parts = NULL;
    for (int i = 0; i < FLR_WORLD_HANDS; i++) {
        w->state->hands[i].part = FLR_NO_PART;
        w->state->hands[i].point = flr_point_none();
        w->state->hands[i].handle.T_world_handle = flr_pose_identity();
    }
    flr_world_set_params(w, &def->params);
    *world = w;
    return FLR_OK;
}

void flr_world_destroy(flr_world *w)
{
    if (!w) return;
    flr_pairs_destroy(w->pairs);
    flr_step_destroy(w->step);
    flr_points_destroy(w->points);
    flr_impacts_destroy(w->impacts);
    flr_pages_destroy(w->pages);
    free(w->kinds);
    free(w->voxels);
    free(w->poses);
    free(w->twists);
    free(w->plans);
    free(w->numbers);
    free(w->state);
    free(w);
}

size_t flr_world_bytes(const flr_world *w)
{
    return sizeof *w + flr_pairs_bytes(w->pairs) + flr_step_bytes(w->step) +
           flr_points_bytes(w->points) + w->state_size +
           (w->impacts ? flr_impacts_bytes(w->impacts) : 0) +
           w->def.part_count * (sizeof *w->kinds + sizeof *w->voxels + sizeof *w->poses +
                                sizeof *w->twists + sizeof *w->plans + 13 * sizeof *w->numbers);
}

/* ---- between steps ---- */

void flr_world_set_params(flr_world *w, const flr_world_params *params)
{
    w->params = *params;
    w->params.step.dt = w->def.dt;
    double budget = ceil((double)params->budget * w->def.dt / 0.001);
    w->budget = budget < 1e15 ? (uint64_t)budget : 0;
    flr_pairs_set_params(w->pairs, &params->contact);
}

const flr_world_params *flr_world_get_params(const flr_world *w) { return &w->params; }

bool flr_world_set_ground(flr_world *w, const flr_pairs_ground *ground)
{
    bool taken = flr_pairs_set_ground(w->pairs, w->impacts ? NULL : ground) && !w->impacts;
    w->ground_voxel = taken && ground ? voxel_of(ground->shape.table) : 0;
    if (w->ground_voxel > 0 && !(w->ground_voxel > w->voxel && w->voxel > 0))
        w->voxel = w->ground_voxel;
    return taken;
}

/* Is it in some hand, or about to be? */
static bool is_held(const flr_world *w, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        if (w->state->hands[i].part == part) return true;
    return false;
}

static bool is_moving(const flr_world *w, uint32_t part)
{
    return w->kinds[part] == FLR_PART_FREE ||
           (w->kinds[part] == FLR_PART_MOVABLE && is_held(w, part));
}

/* The hand closes around the part; if it cannot, it holds nothing. */
static void take(flr_world *w, hand_state *hand)
{
    flr_coupling_def def = w->params.coupling;
    if (def.stretch == 0) def.stretch = w->voxel > 0 ? w->voxel / 2 : 5e-4;
    hand->waiting = false;
    hand->passivity = (flr_passivity){0};
    if (flr_coupling_grab(&def, &w->state->bodies[hand->part], &hand->handle, &hand->coupling,
                          NULL) != FLR_OK)
        hand->part = FLR_NO_PART;
}

bool flr_world_grab(flr_world *w, uint32_t hand, uint32_t part)
{
    if (hand >= w->def.hand_count || part >= w->def.part_count ||
        w->kinds[part] == FLR_PART_STATIC || w->state->hands[hand].tool != FLR_TOOL_GRIP)
        return false;
    flr_world_release(w, hand);
    hand_state *h = &w->state->hands[hand];
    h->part = part;
    h->waiting = true;
    if (h->seen) take(w, h);
    flr_pairs_set_moving(w->pairs, part, is_moving(w, part));
    return h->part == part;
}

void flr_world_release(flr_world *w, uint32_t hand)
{
    if (hand >= w->def.hand_count) return;
    hand_state *h = &w->state->hands[hand];
    uint32_t part = h->part;
    if (part == FLR_NO_PART) return;
    h->part = FLR_NO_PART;
    h->waiting = false;
    h->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    if (!is_moving(w, part)) { /* it stays where it was let go */
        w->state->bodies[part].twist = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
        flr_pairs_set_moving(w->pairs, part, false);
    }
}

uint32_t flr_world_held(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? w->state->hands[hand].part : FLR_NO_PART;
}

bool flr_world_set_tool(flr_world *w, uint32_t hand, flr_tool tool)
{
    if (hand >= w->def.hand_count || (tool != FLR_TOOL_GRIP && tool != FLR_TOOL_POINT))
        return false;
    hand_state *h = &w->state->hands[hand];
    if (h->tool == tool) return true;
    flr_world_release(w, hand);
    h->tool = tool;
    h->point = flr_point_none();
    h->passivity = (flr_passivity){0};
    h->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    return true;
}

flr_tool flr_world_tool(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? w->state->hands[hand].tool : FLR_TOOL_GRIP;
}

bool flr_world_set_probe(flr_world *w, uint32_t part, const flr_probe_model *model)
{
    if (part >= w->def.part_count) return false;
    flr_points_set(w->points, part, model);
    return true;
}

bool flr_world_grip(const flr_world *w, uint32_t hand, flr_pose *T_part_hand)
{
    if (hand >= w->def.hand_count) return false;
    const hand_state *h = &w->state->hands[hand];
    if (h->part == FLR_NO_PART || h->waiting) return false;
    *T_part_hand = h->coupling.T_part_handle;
    return true;
}

/* Where a part is that the pairs do not take for moving must be told by hand. */
static void tell_pairs(flr_world *w, uint32_t part)
{
    w->poses[part] = w->state->bodies[part].T_world_part;
    if (w->kinds[part] == FLR_PART_STATIC) return;
    flr_pairs_place(w->pairs, part, w->poses[part]);
    flr_pairs_set_moving(w->pairs, part, is_moving(w, part));
}

bool flr_world_place(flr_world *w, uint32_t part, flr_pose T_world_part)
{
    if (part >= w->def.part_count || w->kinds[part] == FLR_PART_STATIC ||
        !flr_pose_is_valid(T_world_part))
        return false;
    flr_body *body = &w->state->bodies[part];
    body->T_world_part = T_world_part;
    body->twist = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    tell_pairs(w, part);
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        if (w->state->hands[i].part == part && !w->state->hands[i].waiting)
            take(w, &w->state->hands[i]);
    return true;
}

/* ---- a step ---- */

/* Where the hand is now and how fast. Returns a fault when the device speaks nonsense. */
static unsigned follow(hand_state *hand, const flr_world_input *in, double dt)
{
    flr_twist still = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    flr_handle *handle = &hand->handle;
    unsigned fault = in->fresh && !flr_pose_is_valid(in->T_world_hand) ? FLR_FAULT_HANDLE : 0;
    if (fault || !in->fresh) {
        handle->twist = still;
        return fault;
    }
    flr_pose before = handle->T_world_handle;
    handle->T_world_handle = in->T_world_hand;
    if (in->has_twist && flr_vec3_is_finite(in->twist.linear) &&
        flr_vec3_is_finite(in->twist.angular)) {
        handle->twist = in->twist;
    } else if (!hand->seen) {
        handle->twist = still;
    } else {
        flr_quat turn = flr_quat_mul(in->T_world_hand.q, flr_quat_conjugate(before.q));
        flr_vec3 linear = flr_vec3_scale(flr_vec3_sub(in->T_world_hand.p, before.p), 1 / dt);
        flr_vec3 angular = flr_vec3_scale(flr_quat_to_rotation_vector(turn), 1 / dt);
        double share = dt / (SMOOTHING + dt);
        handle->twist.linear = flr_vec3_add_scaled(handle->twist.linear, share,
                                                   flr_vec3_sub(linear, handle->twist.linear));
        handle->twist.angular = flr_vec3_add_scaled(handle->twist.angular, share,
                                                    flr_vec3_sub(angular, handle->twist.angular));
    }
    hand->seen = true;
    return 0;
}

/* The motion of a part about another point than its centre of mass. */
static flr_twist motion_about(const flr_world *w, uint32_t part, flr_vec3 point)
{
    flr_twist none = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    if (part == FLR_PAIRS_GROUND || !w->plans[part].moves) return none;
    const flr_body *body = &w->state->bodies[part];
    return flr_twist_make(body->twist.angular, flr_body_velocity(body, point));
}

static double voxel_of_pair(const flr_world *w, flr_pair pair)
{
    return pair.voxmap == FLR_PAIRS_GROUND ? w->ground_voxel : w->voxels[pair.voxmap];
}

/* Gives a body what its pairs found. */
static void touch(flr_world *w, uint32_t part)
{
    uint32_t count, contact_count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    const flr_contact *contacts = flr_pairs_contacts(w->pairs, &contact_count);
    /* below layer 2 nothing is kept apart, and a part may lie in its seat; where the way is not free, that limits a part that is
     * wedged, and contacts which are deeper than they may be must not push it there */
    bool firm = w->params.contact.force_layer > 1 && w->plans[part].stop_count < FIRM;
    double depth = firm ? w->params.depth : fmax(w->params.depth, HALF);
    for (uint32_t i = 0; i < count; i++) {
        const flr_pair_result *r = &results[i];
        bool reversed = r->pair.voxmap == part;
        if ((!reversed && r->pair.shell != part) || (!r->contact.contacts && !r->contact.near))
            continue;
        flr_vec3 centre = flr_body_centre(&w->state->bodies[r->pair.shell]);
        flr_touches touches = {
            .list = r->contact.listed ? contacts + r->first : NULL,
            .result = &r->contact,
            .asked = &w->params.contact,
            .reversed = reversed,
            .centre = centre,
            .other = motion_about(w, reversed ? r->pair.shell : r->pair.voxmap, centre),
            .limit = depth * voxel_of_pair(w, r->pair),
            .friction = w->params.friction};
        flr_step_touch(w->step, &touches);
    }
}

/* Gives a body what its way would meet: a contact that may get no deeper than the gap, so that the body slides along it. */
static void touch_stops(flr_world *w, const plan *p)
{
    for (uint32_t i = 0; i < p->stop_count; i++) {
        const stop *s = &p->stops[i];
        flr_contact_result one = {.contacts = 1, .listed = 1};
        flr_touches touches = {.list = &s->contact,
                               .result = &one,
                               .asked = &w->params.contact,
                               .reversed = s->reversed,
                               .centre = s->contact.point,
                               .other = s->other,
                               .limit = s->limit,
                               .friction = w->params.friction};
        flr_step_touch(w->step, &touches);
    }
}

/* Gives a body what points push it with: a spring from the hand to where it touches, as it will be at the end of the step. */
static void touch_points(flr_world *w, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        const hand_state *hand = &w->state->hands[i];
        for (uint32_t k = 0; hand->tool == FLR_TOOL_POINT && k < hand->point.push_count; k++) {
            const flr_point_push *push = &hand->point.pushes[k];
            double force = flr_vec3_length(push->force);
            if (push->part != part || !(force > 0) || !(w->params.proxy.stiffness > 0)) continue;
            flr_contact contact = {.point = hand->point.shown.position,
                                   .normal = flr_vec3_scale(push->force, 1 / force),
                                   .depth = force / w->params.proxy.stiffness,
                                   .mark = FLR_MARK_SURFACE};
            flr_contact_result one = {.contacts = 1, .listed = 1};
            flr_contact_params asked = w->params.contact;
            asked.stiffness = w->params.proxy.stiffness;
            flr_touches touches = {.list = &contact,
                                   .result = &one,
                                   .asked = &asked,
                                   .centre = contact.point,
                                   .other =
                                       flr_twist_make(flr_vec3_zero(), hand->handle.twist.linear),
                                   .limit = INFINITY};
            one.wrench = flr_wrench_make(flr_vec3_zero(), push->force);
            flr_step_touch(w->step, &touches);
        }
    }
}

/* Works out where a body would go. */
static void plan_body(flr_world *w, uint32_t part, double range, flr_world_frame *frame)
{
    plan *p = &w->plans[part];
    const flr_body *body = &w->state->bodies[part];
    flr_step_begin(w->step, body, &w->params.step);
    touch(w, part);
    touch_stops(w, p);
    touch_points(w, part);
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        hand_state *hand = &w->state->hands[i];
        if (hand->part == part && !hand->waiting)
            flr_step_pull(w->step, &hand->coupling, &hand->handle);
    }
    flr_step_solve(w->step, &p->result);
    /* both of a pair may go half of the way that the pairs were made for; without voxels there are none */
    double most = w->voxel > 0 ? flr_motion_fraction(p->result.motion, body->reach, range / 2) : 1;
    p->fraction = p->result.fraction < most ? p->result.fraction : most;
    p->limited = p->fraction < 1;
    frame->faults |= p->result.faults;
    if (p->result.deepest > frame->deepest) frame->deepest = p->result.deepest;
}

/* Where a part would be at the end of the step. */
static flr_pose end_of(const flr_world *w, uint32_t part)
{
    const plan *p = &w->plans[part];
    return p->moves ? flr_motion_apply(&w->state->bodies[part], p->result.motion, p->fraction)
                    : w->poses[part];
}

static double travel_of(const flr_world *w, uint32_t part)
{
    const plan *p = &w->plans[part];
    return p->moves
               ? p->fraction * flr_motion_travel(p->result.motion, w->state->bodies[part].reach)
               : 0;
}

/* Notes a stop for one of the two bodies of a pair. */
static void note_stop(flr_world *w, uint32_t part, uint32_t other, const stop *found, bool reversed)
{
    plan *p = &w->plans[part];
    if (!p->moves || p->stop_count == STOPS) return;
    stop *to = &p->stops[p->stop_count++];
    *to = *found;
    to->reversed = reversed;
    to->other = motion_about(w, other, found->contact.point);
    p->again = true;
}

/* Notes for both bodies of a pair that a point may go no farther than `gap` against a normal. */
static void note_gap(flr_world *w, flr_pair pair, const flr_contact *contact, double gap)
{
    bool ground = pair.voxmap == FLR_PAIRS_GROUND;
    bool two = !ground && w->plans[pair.voxmap].moves && w->plans[pair.shell].moves;
    double least = BEFORE * voxel_of_pair(w, pair), depth = PRESS * voxel_of_pair(w, pair);
    stop s = {.contact = *contact, .limit = depth + gap * (two ? 0.5 : 1) - least};
    s.contact.depth = depth;
    s.contact.mark = FLR_MARK_SURFACE;
    if (!(s.limit > depth / 2)) s.limit = depth / 2;
    note_stop(w, pair.shell, pair.voxmap, &s, false);
    if (!ground) note_stop(w, pair.voxmap, pair.shell, &s, true);
}

/* What a march ran into, as it is at the beginning of the step. */
static void note(flr_world *w, flr_pair pair, flr_pose_span shell, flr_pose_span voxmap,
                 const flr_march_result *found)
{
    /* the whole motion's end shows several planes; where it stops shows the right one */
    for (uint32_t i = 0; w->pass % 2 == 1 && i < found->plane_count; i++) {
        const flr_march_plane *p = &found->planes[i];
        flr_contact contact = {
            .point = p->point, .normal = p->normal, .index = p->index, .label = p->label};
        note_gap(w, pair, &contact, p->gap);
    }
    if (found->plane_count > 0 && w->pass % 2 == 1) return;
    bool smooth = w->params.contact.force_layer > 1; /* the normal is that of the voxmap's layer */
    flr_pose T_shell, T_voxmap;
    flr_march_poses(shell, voxmap, w->state->bodies[pair.shell].inertia.centre, found->fraction,
                    &T_shell, &T_voxmap);
    flr_pose back = flr_pose_mul(shell.from, flr_pose_inverse(T_shell)),
             met = flr_pose_mul(voxmap.from, flr_pose_inverse(T_voxmap));
    flr_contact contact = {.point = flr_pose_apply(back, found->point),
                           .normal = flr_quat_rotate(smooth ? met.q : back.q, found->normal),
                           .index = found->index,
                           .label = found->label};
    flr_vec3 away = flr_vec3_sub(contact.point, flr_pose_apply(met, found->point));
    note_gap(w, pair, &contact, flr_vec3_dot(contact.normal, away));
}

/* Shortens a way, and says so. */
static void shorten(flr_world *w, uint32_t part, double fraction)
{
    if (part == FLR_PAIRS_GROUND || !w->plans[part].moves) return;
    w->plans[part].fraction *= fraction;
    w->plans[part].stopped = true;
    w->plans[part].newest = w->pass + 1;
}

/* Has the way of one of them changed since they were checked? */
static bool is_new(const flr_world *w, flr_pair pair)
{
    return w->plans[pair.shell].newest >= w->pass ||
           (pair.voxmap != FLR_PAIRS_GROUND && w->plans[pair.voxmap].newest >= w->pass);
}

/* Checks the way of one pair; true when something is in it: then its bodies are to go another way, or else (`last`) only as
 * far as it is free. */
static bool check_pair(flr_world *w, flr_pair pair, bool last, flr_world_frame *frame)
{
    bool ground = pair.voxmap == FLR_PAIRS_GROUND;
    double travel = travel_of(w, pair.shell) + (ground ? 0 : travel_of(w, pair.voxmap));
    double voxel = voxel_of_pair(w, pair);
    /* what lies below the force layer: with layer 2 and more, where exact surfaces may meet. With less they may meet anyway,
     * and points that nobody pushes out must not hold the part: only fast motion is checked */
    unsigned layer = w->params.contact.force_layer;
    flr_march_params march = flr_default_march_params();
    march.layer = layer > 1 ? 1 : 0;
    march.interior = layer == 0;
    march.margin = layer > 1 ? CLEAR : 0;
    march.planes = !last && w->pass % 2 == 1;
    march.unchecked = layer > 1 ? w->params.unchecked : fmax(w->params.unchecked, HALF);
    if (!(travel > fmax(march.unchecked, REST) * voxel)) return false;
    flr_pose still = flr_pose_identity();
    flr_pose_span shell = {w->poses[pair.shell], end_of(w, pair.shell)},
                  voxmap = {ground ? still : w->poses[pair.voxmap],
                            ground ? still : end_of(w, pair.voxmap)};
    flr_march_result found = {.exhausted = true};
    if (!(w->budget && w->spent >= w->budget)) {
        march.budget = w->budget ? w->budget - w->spent : 0;
        flr_pairs_march(w->pairs, pair, shell.to, voxmap.to, &march, &found);
        w->spent += found.spent;
        frame->points_tested += found.lookups;
    }
    if (found.exhausted) { /* what contact alone keeps safe */
        frame->exhausted++;
        found.fraction = fmin(1, HALF * voxel / travel);
        if (!(found.fraction < 1)) return false;
        shorten(w, pair.shell, found.fraction);
        shorten(w, pair.voxmap, found.fraction);
        return true;
    }
    if (!(found.fraction < 1)) return false;
    if (!last) {
        if (found.stopped || found.plane_count > 0) note(w, pair, shell, voxmap, &found);
        return true;
    }
    double fraction = fmax(0, found.fraction - BEFORE * voxel / travel);
    shorten(w, pair.shell, fraction);
    shorten(w, pair.voxmap, fraction);
    return true;
}

/* Checks all ways. A body that would run into something is let slide along it, at several places at most; what still is not
 * free is shortened. Where two bodies move, shortening one changes what was checked for another: again, until nothing
 * changes; if that takes too long, nothing moves. */
static void check_ways(flr_world *w, double range, flr_world_frame *frame)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    /* forces as they are at the beginning know no limits along which to slide */
    int slides = w->params.step.integrator == FLR_INTEGRATOR_EXPLICIT ? 0
                 : w->params.contact.force_layer > 1                  ? SLIDES
                                                                      : STAIRS;
    bool again = count > 0 && w->params.unchecked < INFINITY;
    for (w->pass = 0; again && w->pass < slides + PASSES; w->pass++) {
        bool last = w->pass >= slides;
        again = false;
        for (uint32_t i = 0; i < count; i++)
            if (is_new(w, results[i].pair)) again |= check_pair(w, results[i].pair, last, frame);
        for (uint32_t part = 0; again && part < w->def.part_count; part++)
            if (w->plans[part].again) {
                w->plans[part].again = false;
                w->plans[part].newest = w->pass + 1;
                plan_body(w, part, range, frame);
            }
    }
    for (uint32_t part = 0; again && part < w->def.part_count; part++)
        if (w->plans[part].moves) w->plans[part].fraction = 0, w->plans[part].stopped = true;
}

/* What a hand feels that touches with a point. */
static flr_wrench feel_point(flr_world *w, hand_state *hand, flr_world_frame *frame)
{
    if (!hand->seen) return flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    flr_points_step(w->points, &hand->point, hand->handle.T_world_handle.p, &w->params.proxy,
                    w->poses, w->state->bodies);
    const flr_world_point *shown = &hand->point.shown;
    /* a point feels no torque: how the device turns is nothing to its port */
    flr_pose straight = flr_pose_identity();
    straight.p = hand->handle.T_world_handle.p;
    frame->touching += shown->touching;
    frame->segments += shown->queries;
    return flr_passivity_pass(&hand->passivity, &w->params.passivity, straight,
                              flr_wrench_make(flr_vec3_zero(), shown->force), w->def.dt);
}

/* Every hand gets what it shall feel. */
static void feel(flr_world *w, flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        hand_state *hand = &w->state->hands[i];
        if (hand->tool == FLR_TOOL_POINT) {
            hand->wrench = feel_point(w, hand, frame);
            continue;
        }
        if (hand->part == FLR_NO_PART || hand->waiting) {
            hand->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
            continue;
        }
        flr_wrench wrench =
            flr_coupling_feel(&hand->coupling, &w->state->bodies[hand->part], &hand->handle,
                              w->plans[hand->part].result.touching > 0, w->def.dt);
        hand->wrench = flr_passivity_pass(&hand->passivity, &w->params.passivity,
                                          hand->handle.T_world_handle, wrench, w->def.dt);
    }
}

static double *number_vec3(double *to, flr_vec3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
    return to + 3;
}

/* The hash before, the bodies and the hands' wrenches as numbers: no padding gets into it. */
static flr_hash chain(flr_world *w)
{
    double *to = w->numbers;
    memcpy(to, &w->state->hash, sizeof(flr_hash));
    to += 2;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        if (w->kinds[i] == FLR_PART_STATIC) continue;
        const flr_body *body = &w->state->bodies[i];
        to = number_vec3(to, body->T_world_part.p);
        *to++ = body->T_world_part.q.w;
        *to++ = body->T_world_part.q.x;
        *to++ = body->T_world_part.q.y;
        *to++ = body->T_world_part.q.z;
        to = number_vec3(to, body->twist.linear);
        to = number_vec3(to, body->twist.angular);
    }
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        to = number_vec3(to, w->state->hands[i].wrench.force);
        to = number_vec3(to, w->state->hands[i].wrench.torque);
        if (w->state->hands[i].tool == FLR_TOOL_POINT)
            to = number_vec3(to, w->state->hands[i].point.shown.position);
    }
    return flr_hash_bytes(w->numbers, (size_t)(to - w->numbers) * sizeof *to);
}

/* What all pairs said together. */
static void sum_up(flr_world *w, flr_world_frame *frame)
{
    uint32_t count;
    const flr_pair_result *results = flr_pairs_results(w->pairs, &count);
    frame->pairs = count;
    for (uint32_t i = 0; i < count; i++) {
        const flr_contact_result *c = &results[i].contact;
        frame->points_tested += c->points_tested;
        frame->contacts += c->contacts;
        frame->penetrations += c->penetrations;
        if (c->lower < frame->lower) frame->lower = c->lower;
        if (c->upper < frame->upper) frame->upper = c->upper;
    }
}

/* ---- the two engines: from what acts on the bodies to where they are at the end of the step ---- */

/* Forces of shells in voxmaps, and ways that are free. */
static void step_shell(flr_world *w, double range, flr_world_frame *frame)
{
    flr_pairs_query(w->pairs, w->twists);
    sum_up(w, frame);
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (w->plans[i].moves) plan_body(w, i, range, frame);
    w->spent = 0;
    check_ways(w, range, frame);
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (w->plans[i].moves)
            flr_step_move(&w->plans[i].result, w->plans[i].fraction, &w->state->bodies[i]);
}

static double turning_energy(const flr_body *body)
{
    return 0.5 * flr_vec3_dot(body->twist.angular,
                              flr_mat3_apply(flr_body_tensor(body), body->twist.angular));
}

/* What a step of finite length adds to a turn, 1e-8 of it, is taken out. */
static void keep_energy(flr_body *body, double before)
{
    double after = turning_energy(body);
    if (after > before)
        body->twist.angular = flr_vec3_scale(body->twist.angular, sqrt(before / after));
}

/* Moves a body by what the impulses left. A way that is too long is shortened, the velocity stays: so does momentum. */
static void move_hit(flr_world *w, uint32_t part, double range)
{
    plan *p = &w->plans[part];
    flr_body *body = &w->state->bodies[part];
    flr_impacts_part hit = flr_impacts_get(w->impacts, part);
    p->result.touching = hit.contacts;
    body->twist = hit.twist;
    double before = turning_energy(body);
    flr_motion drift = flr_body_drift(body, w->def.dt);
    double most = fmin(fmin(hit.room, range / 2), w->params.step.travel);
    flr_motion whole = {flr_vec3_add(drift.turn, hit.shift.turn),
                        flr_vec3_add(drift.shift, hit.shift.shift)};
    p->fraction = flr_motion_fraction(whole, body->reach, most);
    p->limited = p->fraction < 1;
    p->result.motion = whole;
    drift.turn = flr_vec3_scale(drift.turn, p->fraction);
    drift.shift = flr_vec3_scale(drift.shift, p->fraction);
    flr_body_move(body, drift, 1);
    /* the shift takes the velocity of a turn along, so that it gives no energy */
    flr_vec3 turn = flr_vec3_scale(hit.shift.turn, p->fraction);
    body->T_world_part = flr_motion_apply(body, hit.shift, p->fraction);
    body->twist.angular = flr_quat_rotate(flr_quat_from_rotation_vector(turn), body->twist.angular);
    keep_energy(body, before);
    double *slow = &slow_of(w->state, w->def.part_count)[part];
    bool is_slow = 2 * flr_body_energy(body) < body->inertia.mass * SLOW * SLOW;
    *slow = hit.contacts && is_slow ? *slow + w->def.dt : 0;
}

/* Impulses between sphere trees. What pulls a body is worked out as if nothing were in its way. */
static void step_spheres(flr_world *w, const flr_pairs_report *near, double range,
                         flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        plan *p = &w->plans[i];
        if (p->moves) plan_body(w, i, range, frame);
        bool calm = slow_of(w->state, w->def.part_count)[i] > CALM;
        flr_impacts_set_body(w->impacts, i, &w->state->bodies[i], p->result.twist, p->moves, calm);
    }
    flr_impulse_params how = flr_default_impulse_params();
    how.restitution = w->params.restitution;
    how.friction = w->params.friction;
    how.dt = w->def.dt;
    flr_impacts_report found;
    flr_impacts_resolve(w->impacts, near->pairs, near->count, &how, w->budget, &found);
    for (uint32_t i = 0; i < w->def.part_count; i++)
        if (w->plans[i].moves) move_hit(w, i, range);
    frame->pairs = near->count;
    frame->points_tested = found.tests;
    frame->contacts = found.contacts;
    frame->penetrations = found.deep;
    frame->exhausted = found.coarse;
    frame->deepest = found.deepest;
    if (near->count) frame->lower = 0;
    if (found.contacts) frame->upper = 2 * sqrt(3) * w->voxel;
}

/* How near bodies may come in this step, and a little more. */
static double range_of(const flr_world *w)
{
    return 2 * (SPEED_UP * w->state->travel + w->voxel) + MARGIN * w->voxel;
}

/* Voxels that the step would look at are not there: it does not happen, and hands feel nothing. */
static void suspend(flr_world *w, flr_world_frame *frame)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        w->state->hands[i].wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    frame->missing = true;
    frame->hash = w->state->hash;
}

void flr_world_step(flr_world *w, const flr_world_input *inputs, flr_world_frame *out)
{
    world_state *state = w->state;
    flr_world_frame frame = {.number = state->number, .lower = INFINITY, .upper = INFINITY};
    if (!flr_pages_begin(w->pages, state->bodies, range_of(w) + AROUND * w->voxel)) {
        suspend(w, &frame);
        flr_pages_end(w->pages);
        if (out) *out = frame;
        return;
    }
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        hand_state *hand = &state->hands[i];
        if (inputs[i].has_sent) flr_passivity_sent(&hand->passivity, inputs[i].sent);
        frame.faults |= follow(hand, &inputs[i], w->def.dt);
        if (hand->waiting && hand->seen) {
            take(w, hand);
            if (hand->part != FLR_NO_PART)
                flr_pairs_set_moving(w->pairs, hand->part, is_moving(w, hand->part));
        }
    }
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        const flr_body *body = &state->bodies[i];
        w->plans[i].moves = is_moving(w, i);
        w->plans[i].result.touching = 0;
        w->plans[i].stop_count = 0;
        w->plans[i].again = w->plans[i].stopped = false;
        w->plans[i].newest = 0;
        w->poses[i] = body->T_world_part;
        w->twists[i] = body->twist;
    }

    /* as near as they may come in this step, and a little more */
    const double range = range_of(w);
    flr_pairs_report near;
    flr_pairs_update(w->pairs, w->poses, range, &near);
    if (w->params.engine == FLR_ENGINE_SPHERES && w->impacts)
        step_spheres(w, &near, range, &frame);
    else
        step_shell(w, range, &frame);

    state->travel = 0;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        plan *p = &w->plans[i];
        if (!p->moves) continue;
        double travel = travel_of(w, i);
        if (travel > state->travel) state->travel = travel;
        frame.limited += p->limited;
        frame.stopped += p->stopped;
        frame.energy += flr_body_energy(&state->bodies[i]);
    }
    feel(w, &frame);
    state->number++;
    state->hash = chain(w);
    frame.hash = state->hash;
    flr_pages_end(w->pages);
    if (out) *out = frame;
}

/* ---- looking ---- */

uint32_t flr_world_part_count(const flr_world *w) { return w->def.part_count; }
uint32_t flr_world_hand_count(const flr_world *w) { return w->def.hand_count; }
const flr_pairs *flr_world_pairs(const flr_world *w) { return w->pairs; }

const flr_body *flr_world_body(const flr_world *w, uint32_t part)
{
    return part < w->def.part_count ? &w->state->bodies[part] : NULL;
}

const flr_world_impact *flr_world_impacts(const flr_world *w, uint32_t *count)
{
    *count = 0;
    return w->impacts && w->params.engine == FLR_ENGINE_SPHERES
               ? flr_impacts_list(w->impacts, count)
               : NULL;
}

flr_wrench flr_world_wrench(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? w->state->hands[hand].wrench
                                    : flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
}

const flr_passivity *flr_world_passivity(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? &w->state->hands[hand].passivity : NULL;
}

flr_handle flr_world_hand(const flr_world *w, uint32_t hand)
{
    return w->state->hands[hand < w->def.hand_count ? hand : 0].handle;
}

const flr_world_point *flr_world_proxy(const flr_world *w, uint32_t hand)
{
    return flr_world_tool(w, hand) == FLR_TOOL_POINT ? &w->state->hands[hand].point.shown : NULL;
}

/* ---- the state ---- */

size_t flr_world_state_size(const flr_world *w) { return w->state_size; }

void flr_world_save(const flr_world *w, void *state) { memcpy(state, w->state, w->state_size); }

bool flr_world_load(flr_world *w, const void *from, size_t size)
{
    if (size != w->state_size) return false;
    const uint8_t *bytes = from;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        flr_body body;
        memcpy(&body, bytes + sizeof(world_state) + i * sizeof body, sizeof body);
        if (!flr_body_is_valid(&body)) return false;
    }
    for (int i = 0; i < FLR_WORLD_HANDS; i++) {
        hand_state hand;
        memcpy(&hand, bytes + offsetof(world_state, hands) + (size_t)i * sizeof hand, sizeof hand);
        if (hand.part != FLR_NO_PART &&
            (hand.part >= w->def.part_count || w->kinds[hand.part] == FLR_PART_STATIC))
            return false;
        if ((hand.tool != FLR_TOOL_GRIP && hand.tool != FLR_TOOL_POINT) ||
            !flr_point_is_valid(&hand.point, w->def.part_count))
            return false;
    }
    memcpy(w->state, from, size);
    for (uint32_t i = 0; i < w->def.part_count; i++) tell_pairs(w, i);
    return true;
}

void flr_world_adopt(flr_world *w, const flr_world *from, const uint32_t *before)
{
    const world_state *old = from->state;
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        if (before[i] >= from->def.part_count || w->kinds[i] == FLR_PART_STATIC) continue;
        w->state->bodies[i].T_world_part = old->bodies[before[i]].T_world_part;
        w->state->bodies[i].twist = old->bodies[before[i]].twist;
    }
    uint32_t hands =
        w->def.hand_count < from->def.hand_count ? w->def.hand_count : from->def.hand_count;
    for (uint32_t h = 0; h < hands; h++) {
        hand_state *hand = &w->state->hands[h];
        *hand = old->hands[h];
        hand->point = flr_point_none(); /* begins anew where the hand is */
        uint32_t part = 0;
        if (hand->part == FLR_NO_PART) continue;
        while (part < w->def.part_count && before[part] != hand->part) part++;
        bool still = part < w->def.part_count && w->kinds[part] != FLR_PART_STATIC;
        hand->part = still ? part : FLR_NO_PART;
        if (still) continue;
        hand->waiting = false;
        hand->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    }
    w->state->number = old->number;
    w->state->hash = old->hash;
    w->state->travel = old->travel;
    for (uint32_t i = 0; i < w->def.part_count; i++) tell_pairs(w, i);
}
