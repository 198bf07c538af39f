/* guides: what a hand holds is drawn towards a motion, gently enough that the hand can take it elsewhere */
#include "world/world_internal.h"

/* Beyond the ends of the motion it goes on so far, in lengths of it: the next one may be late. */
static const double BEYOND = 1;

static bool is_guide(const flr_world_guide *guide)
{
    return flr_pose_is_valid(guide->from) && flr_pose_is_valid(guide->to) && guide->share > 0 &&
           guide->share <= 1;
}

bool flr_world_set_guide(flr_world *w, uint32_t hand, const flr_world_guide *guide)
{
    if (hand >= w->def.hand_count || (guide && !is_guide(guide))) return false;
    w->guided[hand] = guide != NULL;
    if (guide) w->guides[hand] = *guide;
    return true;
}

const flr_world_guide *flr_world_get_guide(const flr_world *w, uint32_t hand)
{
    return hand < w->def.hand_count && w->guided[hand] ? &w->guides[hand] : NULL;
}

bool flr_guides_draw(const flr_world *w, uint32_t hand)
{
    const flr_world_hand_state *state = &w->state->hands[hand];
    return w->guided[hand] && state->part != FLR_NO_PART && !state->waiting;
}

/* The pose of the motion that is nearest to a pose; turns count as the way of a point at `reach`. */
static flr_pose nearest(const flr_world_guide *guide, flr_pose T, double reach)
{
    const flr_vec3 way = flr_vec3_sub(guide->to.p, guide->from.p),
                   turn = flr_quat_to_rotation_vector(
                       flr_quat_mul(guide->to.q, flr_quat_conjugate(guide->from.q))),
                   gone = flr_vec3_sub(T.p, guide->from.p),
                   turned = flr_quat_to_rotation_vector(
                       flr_quat_mul(T.q, flr_quat_conjugate(guide->from.q)));
    const double reach2 = reach * reach,
                 length2 = flr_vec3_length2(way) + reach2 * flr_vec3_length2(turn);
    double at =
        length2 > 0 ? (flr_vec3_dot(gone, way) + reach2 * flr_vec3_dot(turned, turn)) / length2 : 0;
    at = fmin(fmax(at, -BEYOND), 1 + BEYOND);
    const flr_quat q = flr_quat_from_rotation_vector(flr_vec3_scale(turn, at));
    return (flr_pose){flr_vec3_add_scaled(guide->from.p, at, way),
                      flr_quat_normalize(flr_quat_mul(q, guide->from.q))};
}

/* A spring as the hand's, at the same grip, of a share of its force and without a damper: along the motion nothing holds. */
static void draw(flr_world *w, uint32_t index)
{
    const flr_world_hand_state *hand = &w->state->hands[index];
    const flr_body *body = &w->state->bodies[hand->part];
    flr_body ahead = *body; // where it is at the end of the step: the spring must not hold it back
    flr_body_move(&ahead, flr_body_drift(body, w->def.dt), 1);
    const flr_pose T = nearest(&w->guides[index], ahead.T_world_part, body->reach);
    flr_coupling spring = hand->coupling;
    spring.force_limit *= w->guides[index].share;
    spring.torque_limit *= w->guides[index].share;
    spring.slack = 1; // the hand's clamps grow where nothing is touched, the guide's do not
    spring.damping = spring.turn_damping = 0;
    spring.turn = flr_vec3_zero();
    const flr_handle rest = {.T_world_handle = flr_pose_mul(T, spring.T_part_handle)};
    flr_step_pull(w->step, &spring, &rest);
}

void flr_hands_pull(flr_world *w, uint32_t part)
{
    for (uint32_t i = 0; i < w->def.hand_count; i++) {
        flr_world_hand_state *hand = &w->state->hands[i];
        if (hand->part != part || hand->waiting) continue;
        flr_step_pull(w->step, &hand->coupling, &hand->handle);
        if (w->guided[i]) draw(w, i);
    }
}
