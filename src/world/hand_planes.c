/* what a hand feels between two steps, from the contacts of the last one */
#include <math.h>

#include "world/world_internal.h"

static const double rigid = 1e9; /* N/m: of triangles that a point touches */

/* Whether the part moves with the one that is held; and if so, that a normal counts as it is. */
static bool is_held_with(const flr_world *w, uint32_t held, uint32_t part)
{
    return part == held || (part < w->def.part_count && flr_links_same_body(w, held, part));
}

static void add(flr_local_model *model, flr_vec3 point, flr_vec3 normal, double depth,
                double stiffness)
{
    flr_local_add(model, (flr_local_plane){point, normal, depth, stiffness});
}

/* Shells: every contact pushes with its share of the stiffness. */
static void add_contacts(const flr_world *w, uint32_t held, flr_local_model *model)
{
    const flr_contact_params *how = &w->params.contact;
    uint32_t pair_count, contact_count;
    const flr_pair_result *pairs = flr_pairs_results(w->pairs, &pair_count);
    const flr_contact *contacts = flr_pairs_contacts(w->pairs, &contact_count);
    for (uint32_t i = 0; i < pair_count; i++) {
        const flr_pair_result *p = &pairs[i];
        const bool shell = is_held_with(w, held, p->pair.shell);
        const bool voxmap = is_held_with(w, held, p->pair.voxmap);
        if (shell == voxmap || p->contact.listed == 0) continue;
        double share = how->stiffness;
        if (how->full > 0 && p->contact.contacts > how->full)
            share *= (double)how->full / p->contact.contacts;
        share *= (double)p->contact.contacts / p->contact.listed; /* those that are not listed */
        for (uint32_t k = 0; k < p->contact.listed; k++) {
            const flr_contact *c = &contacts[p->first + k];
            add(model, c->point, shell ? c->normal : flr_vec3_neg(c->normal), c->depth, share);
        }
    }
}

/* Sphere trees: impulses have no stiffness; the coupling's makes a wall that is as firm as the hand. */
static void add_impacts(const flr_world *w, uint32_t held, flr_local_model *model)
{
    uint32_t count;
    const flr_world_impact *impacts = flr_world_impacts(w, &count);
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_impact *c = &impacts[i];
        const bool a = is_held_with(w, held, c->part_a), b = is_held_with(w, held, c->part_b);
        if (a != b)
            add(model, c->point, a ? c->normal : flr_vec3_neg(c->normal), 0,
                w->params.contact.stiffness);
    }
}

static void add_touches(const flr_world *w, uint32_t held, flr_local_model *model)
{
    uint32_t count;
    const flr_world_touch *touches = flr_world_touches(w, &count);
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_touch *c = &touches[i];
        const bool part = is_held_with(w, held, c->part), other = is_held_with(w, held, c->other);
        const double depth = fmax(w->params.exact.onset - c->distance, 1e-9);
        if (part != other)
            add(model, c->point, part ? c->normal : flr_vec3_neg(c->normal), depth,
                c->force / depth);
    }
}

/* A point and the plane under its proxy. */
static void model_point(const flr_world *w, const flr_world_hand_state *hand, uint32_t index,
                        flr_local_model *model)
{
    const flr_world_point *shown = &hand->point.shown;
    flr_pose T_proxy = flr_pose_identity();
    T_proxy.p = shown->position;
    *model = (flr_local_model){.T_world_handle = hand->handle.T_world_handle,
                               .T_world_grip = T_proxy,
                               .stiffness = w->params.proxy.stiffness,
                               .force_limit = INFINITY,
                               .torque_limit = INFINITY,
                               .feel = 1,
                               .wrench = w->felt[index],
                               .set = hand->seen};
    if (shown->touching) add(model, shown->position, shown->normal, 0, rigid);
}

void flr_world_local(const flr_world *w, uint32_t index, flr_local_model *model)
{
    *model = (flr_local_model){0};
    if (index >= w->def.hand_count) return;
    const flr_world_hand_state *hand = &w->state->hands[index];
    if (hand->tool == FLR_TOOL_POINT) {
        model_point(w, hand, index, model);
        return;
    }
    if (hand->part == FLR_NO_PART || hand->waiting) return;
    flr_local_begin(model, &hand->coupling, &w->state->bodies[hand->part],
                    hand->handle.T_world_handle, w->felt[index]);
    if (flr_tight_is_on(w))
        add_touches(w, hand->part, model);
    else if (w->params.engine == FLR_ENGINE_SPHERES && w->impacts)
        add_impacts(w, hand->part, model);
    else
        add_contacts(w, hand->part, model);
}
