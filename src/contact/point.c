/* one point against one field: the law of contact */
#include "contact/point.h"

#define POINT_SQRT3    1.7320508075688772
#define POINT_FARTHEST 1e6 /* voxels: no point is displaced by more, so that voxel numbers fit */

flr_contact_params flr_default_contact_params(void)
{
    flr_contact_params params = {.force_layer = 2, .cull = true, .stiffness = 1000, .full = 10};
    return params;
}

flr_contact_result flr_contact_nothing(void)
{
    return (flr_contact_result){.lower = INFINITY, .upper = INFINITY, .far = true};
}

bool flr_contact_sound(flr_pose *T)
{
    double n2 = T->q.w * T->q.w + T->q.x * T->q.x + T->q.y * T->q.y + T->q.z * T->q.z;
    if (!flr_vec3_is_finite(T->p) || !(n2 > 0.998 && n2 < 1.002)) return false;
    T->q = flr_quat_normalize(T->q);
    return flr_vec3_length2(T->p) < 1e18;
}

unsigned flr_contact_force_mark(const flr_voxmap *voxmap, const flr_contact_params *params)
{
    /* two bits leave no choice: the layer was built in */
    const flr_voxmap_header *h = voxmap->header;
    const unsigned deepest = h->bits == 2 ? 0 : h->range - 1;
    unsigned layer = params->force_layer;
    if (params->onset > 0 && layer > FLR_CONTACT_SAFE_LAYER) {
        const double least = ceil(params->onset / h->grid.voxel - 1e-9);
        if (least < layer)
            layer = least > FLR_CONTACT_SAFE_LAYER ? (unsigned)least : FLR_CONTACT_SAFE_LAYER;
    }
    return FLR_MARK_SURFACE + (layer < deepest ? layer : deepest);
}

bool flr_contact_begin(flr_contact_frame *frame, const flr_shell *shell, const flr_voxmap *voxmap,
                       flr_pose T_world_shell, flr_pose T_world_voxmap,
                       const flr_contact_params *params)
{
    const flr_voxmap_header *h = voxmap->header;
    double s = h->grid.voxel;
    if (!flr_contact_sound(&T_world_shell) || !flr_contact_sound(&T_world_voxmap) ||
        !(fabs(params->displacement) < POINT_FARTHEST * s))
        return false;
    flr_pose T_voxmap_world = flr_pose_inverse(T_world_voxmap);
    flr_pose T_voxmap_shell = flr_pose_mul(T_voxmap_world, T_world_shell);
    *frame = (flr_contact_frame){
        .shell = shell,
        .voxmap = voxmap,
        .params = params,
        .T_world_voxmap = T_world_voxmap,
        .rotation = flr_quat_to_mat3(T_voxmap_shell.q),
        .shift = flr_vec3_scale(flr_vec3_sub(T_voxmap_shell.p, h->grid.origin), 1 / s),
        .displacement = params->displacement / s,
        .awareness = params->awareness && h->features,
        .smooth = params->model == FLR_FORCE_SMOOTH};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) frame->to_voxels.m[i][k] = frame->rotation.m[i][k] / s;
    frame->centre = flr_contact_voxels(frame, params->centre.x, params->centre.y, params->centre.z);
    frame->motion = flr_twist_make(
        flr_quat_rotate(T_voxmap_world.q, params->motion.angular),
        flr_vec3_scale(flr_quat_rotate(T_voxmap_world.q, params->motion.linear), 1 / s));
    frame->force_mark = flr_contact_force_mark(voxmap, params);
    frame->free_mark = FLR_MARK_SURFACE + h->range - h->offset + 1;
    frame->layer_one = h->offset > 1 ? FLR_MARK_INTERIOR : FLR_MARK_SURFACE + 1 - h->offset;
    return shell->total > 0;
}

flr_contact_point flr_contact_place(const flr_contact_frame *frame, uint32_t chunk, uint32_t point)
{
    flr_vec3 p = flr_shell_point(frame->shell, chunk, point, 0);
    return flr_contact_point_at(frame, p.x, p.y, p.z, frame->shell->normal[point]);
}

void flr_contact_bound(const flr_contact_frame *frame, unsigned mark, flr_contact_sums *sums)
{
    const flr_voxmap_header *h = frame->voxmap->header;
    /* a point that is inside need not take the surface of its part along */
    double around = flr_contact_around(frame->shell, frame->params->displacement);
    double s = h->grid.voxel, lower = 0, upper = around;
    if (mark != FLR_MARK_INTERIOR) {
        unsigned d = mark == FLR_MARK_FREE ? h->range + 1 : mark - FLR_MARK_SURFACE + h->offset;
        lower = (d - 1.0) * s - around;
        upper = mark == FLR_MARK_FREE ? INFINITY : POINT_SQRT3 * (d + 1) * s + around;
    }
    if (lower < 0) lower = 0;
    if (lower < sums->lower) sums->lower = lower;
    if (upper < sums->upper) sums->upper = upper;
}

/* ---- the smooth law ---- */

static double smooth_depth(const flr_contact_frame *frame, flr_contact_point p, flr_label label,
                           const flr_contact_stencil *around)
{
    double depth = flr_contact_interpolated(frame, p.at, around->surface);
    if (!(depth > 0) || flr_contact_field(frame, label) == FLR_FIELD_SURFACE) return depth;
    return depth * flr_contact_weight(frame, p.at, around->field);
}

/* ---- adding up ---- */

void flr_contact_keep(const flr_contact_frame *frame, flr_contact_point p, double depth,
                      unsigned mark, uint32_t point, flr_label label, flr_contact_sums *sums,
                      flr_contact *contacts, uint32_t capacity)
{
    if (sums->listed >= capacity) return;
    const flr_grid *grid = &frame->voxmap->header->grid;
    contacts[sums->listed++] = (flr_contact){
        .point = flr_pose_apply(frame->T_world_voxmap, flr_grid_to_metres(grid, p.at)),
        .normal = flr_quat_rotate(frame->T_world_voxmap.q, p.normal),
        .depth = depth * grid->voxel,
        .index = point,
        .label = (uint8_t)label,
        .mark = (uint8_t)mark};
}

void flr_contact_add(const flr_contact_frame *frame, flr_contact_point p, unsigned mark,
                     const flr_contact_stencil *around, uint32_t point, flr_label label,
                     flr_contact_sums *sums, flr_contact *contacts, uint32_t capacity)
{
    if (mark == FLR_MARK_FREE || mark > frame->force_mark + 1) return;
    if (mark <= frame->layer_one) sums->penetrations++; /* with force layer 0 also before contact */
    if (mark > frame->force_mark) {
        double approach;
        flr_contact_share brake = flr_contact_brake(frame, p, &approach);
        sums->near++;
        if (approach > 0) {
            sums->braking = flr_vec3_add(sums->braking, brake.push);
            sums->braking_turn = flr_vec3_add(sums->braking_turn, brake.turn);
        }
        if (!flr_contact_needs_stencil(frame, mark)) return;
    }
    double depth =
        frame->smooth ? smooth_depth(frame, p, label, around) : flr_contact_depth(frame, p, mark);
    if (!(depth > 0)) return;
    flr_contact_share share = flr_contact_push(frame, p, depth);
    sums->force = flr_vec3_add(sums->force, share.push);
    sums->torque = flr_vec3_add(sums->torque, share.turn);
    sums->depth += depth;
    sums->depth2 += depth * depth;
    sums->contacts++;
    flr_contact_keep(frame, p, depth, mark, point, label, sums, contacts, capacity);
}

void flr_contact_merge(flr_contact_sums *sums, const flr_contact_sums *part)
{
    sums->force = flr_vec3_add(sums->force, part->force);
    sums->torque = flr_vec3_add(sums->torque, part->torque);
    sums->depth += part->depth;
    sums->depth2 += part->depth2;
    sums->braking = flr_vec3_add(sums->braking, part->braking);
    sums->braking_turn = flr_vec3_add(sums->braking_turn, part->braking_turn);
    sums->lower = part->lower < sums->lower ? part->lower : sums->lower;
    sums->upper = part->upper < sums->upper ? part->upper : sums->upper;
    sums->contacts += part->contacts;
    sums->penetrations += part->penetrations;
    sums->near += part->near;
}

/* What the sum of all contacts is multiplied by, so that it is not stiffer than `full` of them. The smooth law counts S^2 / Q
 * contacts, with S the sum of depths and Q that of their squares: n where n are equally deep, and one that begins to touch
 * counts nothing yet. */
static double share(const flr_contact_frame *frame, const flr_contact_sums *sums)
{
    double full = frame->params->full, s2 = sums->depth * sums->depth;
    if (full == 0) return 1;
    if (frame->smooth) return s2 > full * sums->depth2 ? full * sums->depth2 / s2 : 1;
    return sums->contacts > full ? full / sums->contacts : 1;
}

void flr_contact_finish(const flr_contact_frame *frame, const flr_contact_sums *sums,
                        flr_contact_result *result)
{
    const flr_contact_params *params = frame->params;
    double s = frame->voxmap->header->grid.voxel,
           scale = params->stiffness * s * share(frame, sums);
    flr_quat q = frame->T_world_voxmap.q;
    *result = (flr_contact_result){.contacts = sums->contacts,
                                   .penetrations = sums->penetrations,
                                   .near = sums->near,
                                   .listed = sums->listed,
                                   .lower = sums->lower,
                                   .upper = sums->upper};
    result->wrench = flr_wrench_make(flr_quat_rotate(q, flr_vec3_scale(sums->torque, scale * s)),
                                     flr_quat_rotate(q, flr_vec3_scale(sums->force, scale)));
    result->braking = flr_quat_rotate(q, flr_vec3_scale(sums->braking, s));
    result->braking_turn = flr_quat_rotate(q, flr_vec3_scale(sums->braking_turn, s * s));
}
