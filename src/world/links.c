/* rigid groups and joints of a world: making them, and who moves with whom */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prefault.h"
#include "world/links_internal.h"

enum { LAWS_OF_A_JOINT = 9 }; /* a ball has as many */

/* ---- making ---- */

static bool is_linked_def(const flr_world_def *def)
{
    if (def->joint_count > 0) return true;
    for (uint32_t i = 0; def->groups && i < def->part_count; i++)
        if (def->groups[i] != FLR_NO_PART) return true;
    return false;
}

static flr_result make_mechanism(flr_world *w, const flr_world_def *def, flr_links *l,
                                 flr_error *error)
{
    const uint32_t parts = def->part_count;
    bool *fixed = calloc((size_t)parts + 1, sizeof *fixed);
    flr_pose *poses = calloc((size_t)parts + 1, sizeof *poses);
    l->centres = flr_prefaulted_calloc((size_t)parts + 1, sizeof *l->centres);
    flr_result result = fixed && poses && l->centres
                            ? FLR_OK
                            : flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
    for (uint32_t i = 0; result == FLR_OK && i < parts; i++) {
        fixed[i] = def->parts[i].kind == FLR_PART_STATIC;
        poses[i] = w->state->bodies[i].T_world_part;
        l->centres[i] = w->state->bodies[i].inertia.centre;
    }
    flr_mechanism_def how = {.part_count = parts,
                             .joint_count = def->joint_count,
                             .T_world_part = poses,
                             .centres = l->centres,
                             .fixed = fixed,
                             .groups = def->groups,
                             .joints = def->joints};
    if (result == FLR_OK) result = flr_mechanism_create(&how, &l->mechanism, error);
    free(fixed);
    free(poses);
    return result;
}

static flr_result allocate(const flr_world_def *def, flr_links *l, uint32_t contacts,
                           flr_error *error)
{
    const flr_mechanism *m = l->mechanism;
    uint32_t bodies = 1, laws = LAWS_OF_A_JOINT * def->joint_count + 1;
    for (uint32_t i = 0; i < m->island_count; i++)
        if (m->islands[i].body_count > bodies) bodies = m->islands[i].body_count;
    l->step_count = bodies;
    l->steps = calloc(bodies, sizeof *l->steps);
    l->joined = flr_prefaulted_calloc(1, sizeof *l->joined);
    if (!l->steps || !l->joined)
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
    for (uint32_t i = 0; i < bodies; i++) {
        flr_result result = flr_step_create(contacts, &l->steps[i], error);
        if (result != FLR_OK) return result;
    }
    l->joined->columns =
        flr_prefaulted_calloc((size_t)bodies * FLR_JOINED_UNKNOWNS, sizeof *l->joined->columns);
    l->joined->laws = flr_prefaulted_calloc(laws, sizeof *l->joined->laws);
    l->rates = flr_prefaulted_calloc((size_t)m->island_count + 1, sizeof *l->rates);
    l->results = flr_prefaulted_calloc(bodies, sizeof *l->results);
    l->ends = flr_prefaulted_calloc((size_t)def->part_count + 1, sizeof *l->ends);
    l->told = flr_prefaulted_calloc((size_t)def->part_count + 1, sizeof *l->told);
    l->positions = flr_prefaulted_calloc((size_t)def->joint_count + 1, sizeof *l->positions);
    l->later = flr_prefaulted_calloc((size_t)def->joint_count + 1, sizeof *l->later);
    if (l->joined->columns && l->joined->laws && l->rates && l->results && l->ends && l->told &&
        l->positions && l->later)
        return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
}

/* Every part of a body gets the inertia of all of them, in its own frame. */
static void combine(flr_world *w, const flr_links *l)
{
    const flr_mechanism *m = l->mechanism;
    flr_body *bodies = w->state->bodies;
    for (uint32_t k = 0; k < m->body_count; k++) {
        const uint32_t leader = m->bodies[k].leader;
        flr_inertia sum = bodies[leader].inertia;
        for (uint32_t i = leader + 1; i < m->part_count; i++)
            if (m->body_of[i] == k)
                sum =
                    flr_inertia_add(sum, flr_inertia_transform(m->T_leader[i], bodies[i].inertia));
        double reach = 0;
        for (uint32_t i = leader; i < m->part_count; i++) {
            if (m->body_of[i] != k) continue;
            const flr_vec3 own = flr_pose_apply(m->T_leader[i], l->centres[i]);
            reach = fmax(reach, flr_vec3_distance(own, sum.centre) + bodies[i].reach);
        }
        for (uint32_t i = leader; i < m->part_count; i++) {
            if (m->body_of[i] != k) continue;
            bodies[i].inertia = flr_inertia_transform(flr_pose_inverse(m->T_leader[i]), sum);
            bodies[i].reach = reach;
        }
    }
    for (uint32_t i = 0; i < m->part_count; i++) {
        l->centres[i] = bodies[i].inertia.centre;
        if (m->fixed[i]) w->kinds[i] = FLR_PART_STATIC;
    }
}

flr_result flr_links_create(flr_world *w, const flr_world_def *def, flr_error *error)
{
    if (!is_linked_def(def)) return FLR_OK;
    if (w->impacts)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the sphere engine knows no rigid groups and no joints; use another one");
    flr_links *l = calloc(1, sizeof *l);
    if (!l) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for joints");
    w->links = l;
    uint32_t contacts = 4 * def->contacts;
    if (w->tight && contacts < FLR_TIGHT_CONTACTS) contacts = FLR_TIGHT_CONTACTS;
    flr_result result = make_mechanism(w, def, l, error);
    if (result == FLR_OK) result = allocate(def, l, contacts, error);
    if (result == FLR_OK) combine(w, l);
    return result;
}

void flr_links_destroy(flr_links *l)
{
    if (!l) return;
    for (uint32_t i = 0; l->steps && i < l->step_count; i++) flr_step_destroy(l->steps[i]);
    free(l->steps);
    if (l->joined) {
        free(l->joined->columns);
        free(l->joined->laws);
    }
    free(l->joined);
    free(l->rates);
    free(l->results);
    free(l->ends);
    free(l->told);
    free(l->positions);
    free(l->later);
    free(l->centres);
    flr_mechanism_destroy(l->mechanism);
    free(l);
}

/* ---- state ---- */

size_t flr_links_state_size(const flr_links *l)
{
    return l ? l->mechanism->joint_count * sizeof(flr_joint_position) : 0;
}

bool flr_links_state_is_valid(const flr_links *l, const uint8_t *bytes)
{
    bool fine = true;
    for (size_t i = 0; i < flr_links_state_size(l); i += sizeof(double)) {
        double value;
        memcpy(&value, bytes + i, sizeof value);
        fine = fine && isfinite(value);
    }
    return fine;
}

flr_joint_position *flr_links_kept(const flr_world *w)
{
    const size_t size = flr_links_state_size(w->links);
    return (flr_joint_position *)(void *)((uint8_t *)w->state + w->state_size - size);
}

void flr_links_adopt(flr_world *w, const flr_world *from)
{
    if (!w->links || !from->links ||
        w->links->mechanism->joint_count != from->links->mechanism->joint_count)
        return;
    memcpy(flr_links_kept(w), flr_links_kept(from), flr_links_state_size(w->links));
}

bool flr_world_joint(const flr_world *w, uint32_t joint, flr_joint_position *position)
{
    if (!w->links || joint >= w->links->mechanism->joint_count) return false;
    const flr_mechanism *m = w->links->mechanism;
    const uint32_t sides[2] = {m->joints[joint].a, m->joints[joint].b};
    for (int i = 0; i < 2; i++) {
        if (sides[i] == FLR_JOINT_WORLD) continue;
        const uint32_t leader = flr_mechanism_leader(m, sides[i]);
        w->links->ends[leader] = w->state->bodies[leader].T_world_part;
    }
    *position = flr_mechanism_measure(m, joint, w->links->ends, &flr_links_kept(w)[joint]);
    return true;
}

/* ---- who moves with whom ---- */

uint32_t flr_links_leader(const flr_world *w, uint32_t part)
{
    return w->links ? flr_mechanism_leader(w->links->mechanism, part) : part;
}

bool flr_links_may_touch(const flr_world *w, uint32_t a, uint32_t b)
{
    return !w->links || flr_mechanism_may_touch(w->links->mechanism, a, b);
}

bool flr_linked(const flr_world *w, uint32_t part)
{
    return flr_mechanism_island_of(w->links->mechanism, part) != FLR_MECHANISM_NONE;
}

bool flr_linked_by_joint(const flr_world *w, uint32_t part)
{
    const uint32_t island = flr_mechanism_island_of(w->links->mechanism, part);
    if (island == FLR_MECHANISM_NONE) return false;
    const flr_mechanism_island *of = &w->links->mechanism->islands[island];
    return of->body_count > 1 || of->freedoms != 6;
}

bool flr_linked_about(const flr_world *w, uint32_t part)
{
    const flr_mechanism *m = w->links->mechanism;
    bool turns = false;
    uint32_t body = m->body_of[part];
    for (; body != FLR_MECHANISM_NONE; body = m->bodies[body].parent) {
        const uint32_t joint = m->bodies[body].joint;
        if (joint == FLR_MECHANISM_NONE) return false;
        const flr_joint_kind kind = m->joints[joint].kind;
        turns |= kind == FLR_JOINT_REVOLUTE || kind == FLR_JOINT_SCREW || kind == FLR_JOINT_BALL ||
                 kind == FLR_JOINT_CYLINDRICAL;
    }
    return turns;
}

const uint32_t *flr_linked_members(const flr_world *w, const uint32_t *part, uint32_t *count)
{
    const uint32_t island = flr_mechanism_island_of(w->links->mechanism, *part);
    *count = 1;
    if (island == FLR_MECHANISM_NONE) return part;
    const flr_mechanism_island *of = &w->links->mechanism->islands[island];
    *count = of->part_count;
    return w->links->mechanism->members + of->first_part;
}

bool flr_links_same_body(const flr_world *w, uint32_t a, uint32_t b)
{
    return flr_links_leader(w, a) == flr_links_leader(w, b);
}

flr_pose flr_links_in_leader(const flr_world *w, uint32_t part)
{
    return flr_links_is_linked(w, part) ? w->links->mechanism->T_leader[part] : flr_pose_identity();
}

void flr_links_activated(flr_world *w)
{
    flr_links *l = w->links;
    if (!l) return;
    const flr_mechanism *m = l->mechanism;
    for (uint32_t i = 0; i < m->part_count; i++) {
        if (m->body_of[i] == FLR_MECHANISM_NONE) continue;
        const bool moves = w->plans[i].moves;
        if (l->told[i] == moves) continue;
        l->told[i] = moves;
        if (!moves) w->state->bodies[i].twist = (flr_twist){0};
        if (flr_world_is_solid(w, i)) {
            if (!moves) flr_pairs_place(w->pairs, i, w->state->bodies[i].T_world_part);
            flr_pairs_set_moving(w->pairs, i, moves);
        }
        flr_world_note(w, i);
    }
}
