/* several parts asked as if they were one, and the proxy carried by those that move */
#include "probe/among.h"

#include "probe/model.h"

static flr_vec3 into(const flr_among_part *part, flr_vec3 world)
{
    return part->placed ? flr_pose_apply(part->T_part_world, world) : world;
}

static flr_vec3 out_of(const flr_among_part *part, flr_vec3 local)
{
    return part->placed ? flr_pose_apply(part->T_world_part, local) : local;
}

bool flr_among_first(const flr_among *among, flr_vec3 a, flr_vec3 b, flr_among_hit *hit)
{
    flr_probe_hit best = {.t = 2}, found;
    uint32_t of = 0;
    for (uint32_t i = 0; i < among->count; i++) {
        const flr_among_part *part = &among->parts[i];
        if (!flr_probe_first(part->model, into(part, a), into(part, b), part->witness, &found))
            continue;
        if (found.t < best.t) best = found, of = i;
    }
    if (best.t > 1) return false;
    const flr_among_part *part = &among->parts[of];
    flr_vec3 corners[3];
    flr_probe_corners(part->model->mesh, best.triangle, corners);
    flr_vec3 normal =
        part->placed ? flr_quat_rotate(part->T_world_part.q, best.normal) : best.normal;
    *hit = (flr_among_hit){best.t, normal, out_of(part, corners[0]), of, best.triangle};
    return true;
}

bool flr_among_any(const flr_among *among, flr_vec3 a, flr_vec3 b)
{
    for (uint32_t i = 0; i < among->count; i++) {
        const flr_among_part *part = &among->parts[i];
        if (flr_probe_any(part->model, into(part, a), into(part, b), part->witness)) return true;
    }
    return false;
}

flr_carried flr_among_carry(const flr_among *settled, const flr_among_part *part,
                            flr_pose T_part_world_before, flr_vec3 before, flr_vec3 hand,
                            bool stuck, flr_vec3 *at)
{
    /* in the part's frame the proxy is what moves */
    flr_vec3 held = flr_pose_apply(T_part_world_before, before);
    bool over = flr_probe_any(part->model, held, into(part, *at), part->witness);
    if (!over && !stuck) return FLR_CARRIED_NOT;
    flr_vec3 to = out_of(part, held);
    /* back in the part's frame that is `held`, but for rounding */
    if (!(flr_vec3_distance(to, hand) <= settled->range) || flr_among_any(settled, *at, to) ||
        flr_probe_any(part->model, held, into(part, to), part->witness))
        return over ? FLR_CARRIED_INTO : FLR_CARRIED_NOT;
    *at = to;
    return FLR_CARRIED;
}
