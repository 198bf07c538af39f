/* which parts of an assembly move as a body, and which stand in its way */
#include "feeler/plan.h"

static bool goes_with(const flr_plan_member *a, const flr_plan_member *b)
{
    return a->rigid && a->rigid == b->rigid;
}

/* Is a member in the rigid group of a chosen one? */
static bool comes_along(const flr_plan_member *members, uint32_t count, uint32_t i)
{
    for (uint32_t k = 0; members[i].rigid && k < count; k++)
        if (members[k].moves && goes_with(&members[k], &members[i])) return true;
    return members[i].moves;
}

uint32_t flr_plan_count_bodies(const flr_plan_member *members, uint32_t count)
{
    uint32_t bodies = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!members[i].moves) continue;
        bool counted = false;
        for (uint32_t k = 0; members[i].rigid && k < i && !counted; k++)
            counted = members[k].moves && goes_with(&members[k], &members[i]);
        bodies += !counted;
    }
    return bodies;
}

flr_plan_roles flr_plan_sort(const flr_plan_member *members, uint32_t count, uint32_t *order,
                             flr_plan_part *parts)
{
    flr_plan_roles roles = {0, 0};
    uint32_t lead = count;
    for (uint32_t i = 0; i < count; i++)
        if (members[i].moves && (lead == count || (members[i].leads && !members[lead].leads)))
            lead = i;
    if (lead < count) order[roles.moving++] = lead;
    for (uint32_t i = 0; i < count; i++)
        if (members[i].moves && i != lead) order[roles.moving++] = i;
    const uint32_t chosen = roles.moving;
    for (uint32_t i = 0; chosen && i < count; i++)
        if (!members[i].moves && comes_along(members, count, i)) order[roles.moving++] = i;
    for (uint32_t i = 0; i < count; i++)
        if (!members[i].passes && !comes_along(members, count, i))
            order[roles.moving + roles.standing++] = i;
    if (!roles.moving) return roles;
    const flr_pose T_body_world = flr_pose_inverse(members[order[0]].T_world_part);
    for (uint32_t i = 0; i < roles.moving + roles.standing; i++) {
        const flr_pose T_world_part = members[order[i]].T_world_part;
        parts[i].T = i == 0             ? flr_pose_identity()
                     : i < roles.moving ? flr_pose_mul(T_body_world, T_world_part)
                                        : T_world_part;
    }
    return roles;
}
