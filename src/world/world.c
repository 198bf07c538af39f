/* the world: making it, and what is done to it between two steps */
#include <math.h>
#include <stdlib.h>

#include "base/prefault.h"
#include "contact/contact_table.h"
#include "dynamics/mechanism.h"
#include "feeler/voxels.h"
#include "world/world_internal.h"

#define NEAR_ENOUGH 1e-7 /* metres: so that rounding leaves no part out */
/* of a hand's torque, for what joints lead about an axis: a pull at a thirtieth of the part's reach from it turns it */
#define LED_TORQUE 0.03125

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
                               .tests = 20000,
                               .depth = 0.1,
                               .budget = 25000};
    params.coupling.stretch = 0;
    params.proxy = flr_default_proxy_params();
    params.proxy.shading = true;
    params.exact = flr_default_tight_params();
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

static void note_voxel(flr_world *w, double voxel)
{
    if (voxel > 0 && !(voxel > w->voxel && w->voxel > 0)) w->voxel = voxel;
    if (voxel > w->coarsest_voxel) w->coarsest_voxel = voxel;
}

static flr_result make_parts(flr_world *w, flr_error *error)
{
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        const flr_world_part *part = &w->def.parts[i];
        flr_error inner;
        flr_result result = flr_body_make(&part->body, &w->state->bodies[i], &inner);
        if (result != FLR_OK) return flr_fail(error, result, "part %u: %s", i, inner.message);
        w->kinds[i] = part->kind;
        w->shapes[i] = part->shape;
        if (w->trees) w->trees[i] = part->tree;
        w->voxels[i] = voxel_of(part->shape.table);
        note_voxel(w, w->voxels[i]);
    }
    return FLR_OK;
}

static bool may_touch(const void *world, uint32_t a, uint32_t b)
{
    return flr_links_may_touch(world, a, b);
}

/* Bodies are what they will be: tells everyone. */
static void show_parts(flr_world *w)
{
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        if (w->kinds[i] == FLR_PART_FREE) w->free_parts[w->free_count++] = i;
        w->rows[i] = w->row_count;
        w->row_count += w->kinds[i] != FLR_PART_STATIC;
        flr_pairs_part asked = {.shape = w->shapes[i],
                                .T_world_part = w->state->bodies[i].T_world_part,
                                .centre = w->state->bodies[i].inertia.centre,
                                .moving = w->kinds[i] == FLR_PART_FREE};
        flr_pairs_set(w->pairs, i, &asked);
        if (w->impacts) flr_impacts_set_tree(w->impacts, i, w->trees[i]);
        flr_world_note(w, i);
    }
    if (w->links) flr_pairs_set_filter(w->pairs, may_touch, w);
}

/* Room for where joints are, at the end of the state. */
static size_t def_joints_size(const flr_world_def *def, size_t before)
{
    if (def->joint_count == 0) return 0;
    return (8 - before % 8) % 8 + def->joint_count * sizeof(flr_joint_position);
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
    bool trees = false, fits = false;
    for (uint32_t i = 0; i < parts; i++) {
        trees |= w->def.parts[i].tree != NULL;
        fits |= w->def.parts[i].fit != NULL;
    }
    uint32_t contacts = 8 * w->def.contacts;
    if (fits && contacts < FLR_TIGHT_CONTACTS) contacts = FLR_TIGHT_CONTACTS;
    if (result == FLR_OK) result = flr_step_create(contacts, &w->step, error);
    if (result == FLR_OK && trees)
        result =
            flr_impacts_create(parts, 16 * w->def.contacts, w->def.threads, &w->impacts, error);
    const uint32_t together = w->def.joint_count > 0 ? FLR_MECHANISM_FREEDOMS : 1;
    if (result == FLR_OK)
        result = flr_tight_create(w->def.parts, parts, together, &w->tight, error);
    if (result != FLR_OK) return result;
    w->state_size = sizeof(flr_world_state) + parts * (sizeof(flr_body) + sizeof(double) + 1);
    if (w->tight) w->state_size = flr_world_tight_offset(w) + flr_tight_state_size(w->tight);
    w->state_size += def_joints_size(&w->def, w->state_size);
    w->state = flr_prefaulted_calloc(1, w->state_size);
    w->kinds = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->kinds);
    w->constraints = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->constraints);
    w->shapes = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->shapes);
    w->probes = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->probes);
    if (trees) w->trees = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->trees);
    w->voxels = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->voxels);
    w->poses = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->poses);
    w->twists = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->twists);
    w->plans = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->plans);
    w->numbers = flr_prefaulted_calloc(13 * (size_t)parts + 9 * FLR_WORLD_HANDS +
                                           12 * FLR_WORLD_REMOTE_COUPLINGS + 2,
                                       sizeof *w->numbers);
    w->active = flr_prefaulted_calloc(3 * (size_t)parts + 1, sizeof *w->active);
    w->rows = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->rows);
    w->changed = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->changed);
    w->spheres = flr_prefaulted_calloc((size_t)parts + 1, sizeof *w->spheres);
    w->points = flr_points_create(parts);
    if (w->active) w->before = w->active + parts, w->free_parts = w->active + 2 * (size_t)parts;
    const bool several = w->def.threads > 1;
    if (several) {
        w->ahead = flr_prefaulted_calloc(FLR_WORLD_AHEAD, sizeof *w->ahead);
        w->ahead_found = flr_prefaulted_calloc(FLR_WORLD_AHEAD, sizeof *w->ahead_found);
    }
    if ((!several || (w->ahead && w->ahead_found)) && w->points && w->state && w->kinds &&
        w->constraints && w->shapes && w->probes && (w->trees || !trees) && w->voxels && w->poses &&
        w->twists && w->plans && w->numbers && w->active && w->rows && w->changed && w->spheres)
        return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a world of %u parts", parts);
}

/* Parts that do not stay may come near any other. */
static flr_result make_coherent(flr_world *w, flr_error *error)
{
    if (w->def.params.engine != FLR_ENGINE_COHERENT) return FLR_OK;
    bool *may_move = calloc((size_t)w->def.part_count + 1, sizeof *may_move);
    if (!may_move) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a world");
    for (uint32_t i = 0; i < w->def.part_count; i++) may_move[i] = w->kinds[i] != FLR_PART_STATIC;
    flr_result result = flr_pairs_make_coherent(w->pairs, may_move, w->def.params.tests, error);
    free(may_move);
    return result;
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
    if (result == FLR_OK) result = flr_links_create(w, def, error);
    if (result == FLR_OK) show_parts(w);
    if (result == FLR_OK) result = make_coherent(w, error);
    if (result == FLR_OK) result = flr_pages_create(def->parts, def->part_count, &w->pages, error);
    if (result != FLR_OK) {
        flr_world_destroy(w);
        return result;
    }
    w->def.parts = NULL;
    w->def.groups = NULL;
    w->def.joints = NULL;
    for (int i = 0; i < FLR_WORLD_HANDS; i++) {
        w->state->hands[i].part = FLR_NO_PART;
        w->state->hands[i].point = flr_point_none();
        w->state->hands[i].handle.T_world_handle = flr_pose_identity();
    }
    flr_world_set_params(w, &def->params);
    flr_tight_record(w);
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
    flr_tight_destroy(w->tight);
    flr_pages_destroy(w->pages);
    flr_links_destroy(w->links);
    free(w->kinds);
    free(w->constraints);
    free(w->shapes);
    free(w->probes);
    free(w->trees);
    free(w->voxels);
    free(w->poses);
    free(w->twists);
    free(w->plans);
    free(w->numbers);
    free(w->active < w->before ? w->active : w->before);
    free(w->rows);
    free(w->changed);
    free(w->spheres);
    free(w->ahead);
    free(w->ahead_found);
    free(w->state);
    free(w);
}

/* ---- what is kept of a body beside the state ---- */

void flr_world_note_motion(flr_world *w, uint32_t part)
{
    const flr_body *body = &w->state->bodies[part];
    w->changed[part] = w->generation;
    w->spheres[part].centre = flr_pose_apply(body->T_world_part, w->shapes[part].middle);
    w->spheres[part].radius = w->shapes[part].radius;
    if (w->kinds[part] == FLR_PART_STATIC) return;
    double *to = w->numbers + 2 + 13 * (size_t)w->rows[part];
    to = flr_world_number_vec3(to, body->T_world_part.p);
    *to++ = body->T_world_part.q.w;
    *to++ = body->T_world_part.q.x;
    *to++ = body->T_world_part.q.y;
    *to++ = body->T_world_part.q.z;
    to = flr_world_number_vec3(to, body->twist.linear);
    flr_world_number_vec3(to, body->twist.angular);
}

/* ---- between steps ---- */

void flr_world_set_params(flr_world *w, const flr_world_params *params)
{
    w->params = *params;
    w->params.step.dt = w->def.dt;
    double budget = ceil((double)params->budget * w->def.dt / 0.001);
    w->budget = budget < 1e15 ? (uint64_t)budget : 0;
    flr_pairs_set_params(w->pairs, &params->contact);
    flr_pairs_set_tests(w->pairs, params->tests);
}

const flr_world_params *flr_world_get_params(const flr_world *w) { return &w->params; }

double flr_world_calibrate(flr_world *w, flr_env *env, double seconds)
{
    const double tests = flr_pairs_calibrate(w->pairs, env, seconds);
    if (tests > 0) w->params.tests = tests;
    return tests;
}

bool flr_world_set_merged(flr_world *w, const flr_pairs_merged *merged)
{
    const bool one_by_one = w->impacts || w->def.params.engine == FLR_ENGINE_COHERENT;
    bool taken = flr_pairs_set_merged(w->pairs, one_by_one ? NULL : merged) && !one_by_one;
    w->merged_voxel = taken && merged ? voxel_of(merged->shape.table) : 0;
    note_voxel(w, w->merged_voxel);
    return taken;
}

bool flr_world_is_held(const flr_world *w, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        if (w->state->hands[i].part == part) return true;
    return false;
}

/* Something moves this part itself. */
static bool is_driven(const flr_world *w, uint32_t part)
{
    if (flr_world_is_held(w, part) || flr_couplings_pull(w, part)) return true;
    return w->kinds[part] == FLR_PART_FREE && !flr_couplings_keep(w, part);
}

bool flr_world_is_moving(const flr_world *w, uint32_t part)
{
    if (w->kinds[part] == FLR_PART_STATIC) return false;
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_driven(w, members[i])) return true;
    return false;
}

bool flr_world_moves(const flr_world *w, uint32_t part)
{
    return part < w->def.part_count && flr_world_is_moving(w, part);
}

/* Metres: the finest voxels in which contacts of a part, or of those that it is rigid with, may be. Of two parts the one with
 * coarser voxels gives them, if the other one has points; a part far finer than these two makes no hand weaker. */
static double finest_met(const flr_world *w, uint32_t part)
{
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    double own = INFINITY, least = w->merged_voxel > 0 ? w->merged_voxel : INFINITY;
    for (uint32_t i = 0; i < count; i++) own = fmin(own, w->voxels[members[i]]);
    for (uint32_t i = 0; i < w->def.part_count; i++) {
        const bool finer = w->voxels[i] < own && w->shapes[i].shell;
        if (i != part && w->voxels[i] > 0) least = fmin(least, finer ? own : w->voxels[i]);
    }
    if (own > 0 && !isfinite(least)) least = own;
    return isfinite(least) ? least : 1e-3;
}

void flr_world_take(flr_world *w, flr_world_hand_state *hand)
{
    flr_coupling_def def = w->params.coupling;
    /* what joints lead about an axis cannot keep its direction: a firm hand pulls it, and turns it but little */
    const bool led = hand->firm && flr_links_is_about(w, hand->part);
    def.firm |= hand->firm && !led;
    if (flr_tight_is_on(w))
        flr_tight_couple(&w->params.exact, &w->state->bodies[hand->part], &hand->handle, &def);
    else if (def.stretch == 0)
        def.stretch = finest_met(w, hand->part) / 2;
    hand->waiting = false;
    hand->passivity = (flr_passivity){0};
    if (flr_coupling_grab(&def, &w->state->bodies[hand->part], &hand->handle, &hand->coupling,
                          NULL) != FLR_OK)
        hand->part = FLR_NO_PART;
    else if (led)
        hand->coupling.torque_limit *= LED_TORQUE;
}

bool flr_world_grab(flr_world *w, uint32_t hand, uint32_t part)
{
    if (hand >= w->def.hand_count || part >= w->def.part_count ||
        w->kinds[part] == FLR_PART_STATIC || w->state->hands[hand].tool != FLR_TOOL_GRIP)
        return false;
    part = flr_links_leader(w, part);
    flr_world_release(w, hand);
    flr_world_hand_state *h = &w->state->hands[hand];
    h->part = part;
    h->waiting = true;
    if (h->seen) flr_world_take(w, h);
    if (flr_world_is_solid(w, part))
        flr_pairs_set_moving(w->pairs, part, flr_world_is_moving(w, part));
    flr_world_note(w, part);
    return h->part == part;
}

bool flr_world_grab_at(flr_world *w, uint32_t hand, uint32_t part, flr_pose T_world_hand)
{
    if (hand >= w->def.hand_count || !flr_pose_is_valid(T_world_hand)) return false;
    flr_world_hand_state *h = &w->state->hands[hand];
    h->handle = (flr_handle){.T_world_handle = T_world_hand};
    h->seen = true;
    return flr_world_grab(w, hand, part);
}

void flr_world_release(flr_world *w, uint32_t hand)
{
    if (hand >= w->def.hand_count) return;
    flr_world_hand_state *h = &w->state->hands[hand];
    uint32_t part = h->part;
    if (part == FLR_NO_PART) return;
    h->part = FLR_NO_PART;
    h->waiting = false;
    h->wrench = flr_wrench_make(flr_vec3_zero(), flr_vec3_zero());
    if (!flr_world_is_moving(w, part)) { /* it stays where it was let go */
        w->state->bodies[part].twist = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
        flr_pairs_set_moving(w->pairs, part, false);
    }
    flr_world_note(w, part);
}

uint32_t flr_world_held(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? w->state->hands[hand].part : FLR_NO_PART;
}

bool flr_world_set_firm(flr_world *w, uint32_t hand, bool firm)
{
    if (hand >= w->def.hand_count) return false;
    w->state->hands[hand].firm = firm;
    return true;
}

bool flr_world_set_tool(flr_world *w, uint32_t hand, flr_tool tool)
{
    if (hand >= w->def.hand_count || (tool != FLR_TOOL_GRIP && tool != FLR_TOOL_POINT))
        return false;
    flr_world_hand_state *h = &w->state->hands[hand];
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
    w->probes[part] = model;
    flr_points_set(w->points, part, flr_world_is_solid(w, part) ? model : NULL);
    return true;
}

bool flr_world_set_solid(flr_world *w, uint32_t part, bool solid)
{
    if (part >= w->def.part_count) return false;
    if (flr_world_is_solid(w, part) == solid) return true;
    flr_world_ghosts(w->state, w->def.part_count)[part] = !solid;
    flr_world_tell_shape(w, part);
    return true;
}

bool flr_world_is_solid(const flr_world *w, uint32_t part)
{
    return part < w->def.part_count && !flr_world_ghosts(w->state, w->def.part_count)[part];
}

bool flr_world_grip(const flr_world *w, uint32_t hand, flr_pose *T_part_hand)
{
    if (hand >= w->def.hand_count) return false;
    const flr_world_hand_state *h = &w->state->hands[hand];
    if (h->part == FLR_NO_PART || h->waiting) return false;
    *T_part_hand = h->coupling.T_part_handle;
    return true;
}

void flr_world_tell_shape(flr_world *w, uint32_t part)
{
    bool solid = flr_world_is_solid(w, part);
    const flr_body *body = &w->state->bodies[part];
    flr_pairs_part asked = {.shape = w->shapes[part],
                            .T_world_part = body->T_world_part,
                            .centre = body->inertia.centre,
                            .moving = flr_world_is_moving(w, part)};
    flr_pairs_set(w->pairs, part, solid ? &asked : NULL);
    if (w->impacts) flr_impacts_set_tree(w->impacts, part, solid ? w->trees[part] : NULL);
    flr_points_set(w->points, part, solid ? w->probes[part] : NULL);
    flr_world_note(w, part);
}

/* Where a part is that the pairs do not take for moving must be passed explicitly. */
void flr_world_tell_pairs(flr_world *w, uint32_t part)
{
    flr_world_note(w, part);
    if (w->kinds[part] == FLR_PART_STATIC || !flr_world_is_solid(w, part)) return;
    flr_pairs_place(w->pairs, part, w->poses[part]);
    flr_pairs_set_moving(w->pairs, part, flr_world_is_moving(w, part));
}

/* One part alone. */
static void place_part(flr_world *w, uint32_t part, flr_pose T_world_part)
{
    flr_body *body = &w->state->bodies[part];
    body->T_world_part = T_world_part;
    body->twist = flr_twist_make(flr_vec3_zero(), flr_vec3_zero());
    flr_couplings_unsettle(w, part);
    flr_tight_renew(w, part);
    flr_world_tell_pairs(w, part);
    for (uint32_t i = 0; i < w->def.hand_count; i++)
        if (w->state->hands[i].part == part && !w->state->hands[i].waiting)
            flr_world_take(w, &w->state->hands[i]);
}

bool flr_world_place(flr_world *w, uint32_t part, flr_pose T_world_part)
{
    if (part >= w->def.part_count || w->kinds[part] == FLR_PART_STATIC ||
        !flr_pose_is_valid(T_world_part))
        return false;
    uint32_t count;
    const uint32_t *members = flr_links_members(w, &part, &count);
    const flr_pose T_leader =
        flr_pose_mul(T_world_part, flr_pose_inverse(flr_links_in_leader(w, part)));
    for (uint32_t i = 0; i < count; i++) {
        if (!flr_links_same_body(w, members[i], part)) continue;
        flr_pose T = flr_pose_mul(T_leader, flr_links_in_leader(w, members[i]));
        T.q = flr_quat_normalize(T.q);
        place_part(w, members[i], members[i] == part ? T_world_part : T);
    }
    return true;
}

flr_coupling flr_world_coupling_of_leader(const flr_world *w, uint32_t part,
                                          const flr_coupling *coupling)
{
    flr_coupling held = *coupling;
    if (flr_links_leader(w, part) != part)
        held.T_part_handle = flr_pose_mul(flr_links_in_leader(w, part), coupling->T_part_handle);
    return held;
}

/* ---- looking ---- */

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

uint32_t flr_world_read_parts(const flr_world *w, uint64_t *since, flr_world_part_state *parts)
{
    const uint8_t *ghosts = flr_world_ghosts(w->state, w->def.part_count);
    uint32_t read = 0;
    for (uint32_t i = 0; *since < w->generation && i < w->def.part_count; i++) {
        if (w->changed[i] <= *since) continue;
        const flr_body *body = &w->state->bodies[i];
        parts[i] = (flr_world_part_state){.T_world_part = body->T_world_part,
                                          .twist = body->twist,
                                          .moves = flr_world_is_moving(w, i),
                                          .solid = !ghosts[i]};
        read++;
    }
    *since = w->generation;
    return read;
}

uint32_t flr_world_next_near(const flr_world *w, uint32_t from, flr_vec3 point, double within)
{
    for (uint32_t i = from; i < w->def.part_count; i++) {
        const flr_world_sphere *s = &w->spheres[i];
        double reach = s->radius + within + NEAR_ENOUGH;
        if (!(flr_vec3_length2(flr_vec3_sub(point, s->centre)) > reach * reach)) return i;
    }
    return FLR_NO_PART;
}

const flr_passivity *flr_world_passivity(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count ? &w->state->hands[hand].passivity : NULL;
}

const flr_world_point *flr_world_proxy(const flr_world *w, uint32_t hand)
{
    return flr_world_tool(w, hand) == FLR_TOOL_POINT ? &w->state->hands[hand].point.shown : NULL;
}
