/* the continuous check of slow motion: only points that begin near the layer can come into it
 *
 * They are found by the contact query of the place where the motion begins, which notes them, or else by a scan of their own;
 * on a way of more than a voxel by a scan of its middle, from where both ends are half as far. */
#include <string.h>

#include "contact/motion_check.h"

#define ALONE   0.15       /* of the shell's radius: planes farther apart than this are two */
#define UNKNOWN UINT32_MAX /* a mark that was not looked up */

/* Does a point stay in its voxel from the time at which checking begins to the end? */
static bool stays(const flr_motion_check *m, const flr_motion_check_path *p)
{
    flr_vec3 at[2];
    for (int i = 0; i < 2; i++) {
        at[i] = flr_vec3_add_scaled(p->middle, i ? 1 : m->begin, m->way);
        at[i] =
            flr_vec3_add_scaled(flr_vec3_add_scaled(at[i], m->c[i], p->side), m->s[i], p->across);
    }
    return m->bow * p->radius < FLR_MOTION_CHECK_CLIP && floor(at[0].x) == floor(at[1].x) &&
           floor(at[0].y) == floor(at[1].y) && floor(at[0].z) == floor(at[1].z);
}

/* Where all is at the time up to which the motion is free. */
static void turn_to_end(flr_motion_check *m)
{
    m->turned_to = m->end;
    m->turn_then =
        flr_quat_to_mat3(flr_quat_from_rotation_vector(flr_vec3_scale(m->axis, m->angle * m->end)));
    m->centre_then = flr_vec3_add_scaled(m->frame.centre, m->end, m->way);
}

/* Keeps a plane that the whole motion would pass: in the place of one that is near and alike and less deep, else beside the
 * others, else in the place of the least deep one. */
static void keep_plane(flr_motion_check *m, const flr_motion_check_point *near, flr_vec3 there,
                       double height)
{
    flr_vec3 slope;
    flr_motion_check_above(m, there, &slope);
    double steep = flr_vec3_length(slope);
    if (!(steep > 1e-3)) return;
    flr_motion_check_plane plane = {.point = near->at,
                                    .normal = flr_vec3_scale(slope, 1 / steep),
                                    .index = near->point,
                                    .label = (uint8_t)near->label};
    plane.gap = flr_vec3_dot(plane.normal, flr_vec3_sub(near->at, there)) + height / steep;
    double apart = ALONE * (double)m->pair.shell->radius / m->pair.voxmap->header->grid.voxel;
    uint32_t to = m->plane_count, least = 0;
    for (uint32_t i = 0; i < m->plane_count; i++) {
        const flr_motion_check_plane *p = &m->planes[i];
        if (m->deep[i] < m->deep[least]) least = i;
        if (flr_vec3_dot(p->normal, plane.normal) > 0.9 &&
            flr_vec3_distance(p->point, plane.point) < apart) {
            to = i;
            break;
        }
    }
    if (to == FLR_MOTION_CHECK_PLANES) to = least;
    if (to < m->plane_count && !(-height > m->deep[to])) return;
    if (to == m->plane_count) m->plane_count++;
    m->planes[to] = plane;
    m->deep[to] = -height;
}

/* Where a point is at the time up to which the motion is free. */
static flr_vec3 place_then(flr_motion_check *m, flr_vec3 at)
{
    if (m->end != m->turned_to) turn_to_end(m);
    flr_vec3 arm = flr_vec3_sub(at, m->frame.centre);
    return flr_vec3_add(m->centre_then, flr_mat3_apply(m->turn_then, arm));
}

/* Interpolated between the middles of eight voxels, of which its own has an eighth at least and the others a mark less at
 * most, a place in a voxel with this mark is so high at least. */
static double least_height(const flr_motion_check *m, uint32_t mark)
{
    const flr_voxmap_header *h = m->pair.voxmap->header;
    if (mark == FLR_MARK_FREE) mark = FLR_MARK_SURFACE + h->range - h->offset + 1;
    return mark - 0.875 - m->level - m->margin;
}

/* Does a point stay out of a smooth layer on its way from a voxel with one mark to a voxel with another? The interpolated
 * distance changes by no more than the coordinates do, and what is between two places is nearer to one of them. */
static bool stays_above(const flr_motion_check *m, flr_vec3 here, uint32_t mark, flr_vec3 there,
                        uint32_t mark_there)
{
    flr_vec3 d = flr_vec3_sub(there, here), arm = flr_vec3_sub(here, m->frame.centre);
    double bow = FLR_MOTION_CHECK_STEEP * m->bow * (fabs(arm.x) + fabs(arm.y) + fabs(arm.z));
    double way = fabs(d.x) + fabs(d.y) + fabs(d.z) + 2 * bow;
    if (mark == UNKNOWN) mark = flr_table_mark(m->pair.fields, here);
    double before = least_height(m, mark), after = least_height(m, mark_there);
    if (before + after >= way) return true;
    /* a mark says no more than that to 1.75 */
    if (before + after + 2 * 1.75 < way) return false;
    after = flr_motion_check_above(m, there, NULL);
    return before + 1.75 + after >= way && flr_motion_check_above(m, here, NULL) + after >= way;
}

/* A motion of a few voxels: only points that begin near the layer can come into it, and those that a scan of the beginning
 * finds are few. Of them, most do not even leave their voxel. `mark` is that of the point's voxel at the beginning, or
 * UNKNOWN. True: it stays out up to the time that the motion is known to be free, and before. */
static bool advance_near(flr_motion_check *m, const flr_motion_check_point *near, uint32_t mark)
{
    if (m->exhausted || !flr_motion_check_spend(m)) return false;
    flr_label label = (flr_label)near->label;
    if (m->level) {
        flr_vec3 there = place_then(m, near->at);
        uint32_t then = flr_table_mark(m->pair.fields, there);
        if (m->travel <= FLR_MOTION_CHECK_HOP) { /* mostly a look at where it ends does */
            bool out = then == FLR_MARK_FREE || then > m->limit;
            double height = out ? 0 : flr_motion_check_above(m, there, NULL);
            if (height >= 0) return out && stays_above(m, near->at, mark, there, then);
            if (m->planning) {
                double before = flr_motion_check_above(m, near->at, NULL);
                if (height < flr_motion_check_floor(before))
                    keep_plane(m, near, there, height - flr_motion_check_floor(before));
                return false;
            }
        } else if (stays_above(m, near->at, mark, there, then)) {
            return true;
        }
        flr_motion_check_smoothly(m, near->chunk, near->point, label, m->begin, 1);
        return false;
    }
    flr_motion_check_path p = flr_motion_check_path_from(m, near->at);
    if (stays(m, &p)) return true;
    flr_motion_check_point_on(m, near->chunk, near->point, label, m->begin, 1);
    return false;
}

/* Keeps a point that is to be looked at again. */
static void remember(flr_motion_check *m, const flr_motion_check_point *near)
{
    if (m->memory && m->memory->count < FLR_MOTION_CHECK_POINTS)
        m->memory->points[m->memory->count++] = *near;
    else
        m->memory = NULL; /* too many */
}

static void advance_visited(void *context, uint32_t chunk, uint32_t point, flr_label label)
{
    flr_motion_check *m = context;
    flr_motion_check_point near = {chunk, point, label, flr_motion_check_place(m, chunk, point)};
    bool settled = advance_near(m, &near, UNKNOWN);
    /* from the middle of a long way, they are for that way only */
    if (!(settled && m->travel > 1)) remember(m, &near);
}

/* ---- what the query of the beginning noted ---- */

/* Was the last query one of where the motion begins, and did it look as far as that? */
static bool noted(const flr_near_notes *notes, const flr_motion_check *m, flr_pose_span shell,
                  flr_pose_span voxmap, uint32_t near)
{
    return notes->known && notes->shell == m->pair.shell && notes->voxmap == m->pair.voxmap &&
           near <= notes->limit && notes->displacement == m->frame.displacement &&
           memcmp(&notes->T_world_shell, &shell.from, sizeof shell.from) == 0 &&
           memcmp(&notes->T_world_voxmap, &voxmap.from, sizeof voxmap.from) == 0;
}

/* Voxels: no point of a chunk goes farther from where it begins. */
static double chunk_travel(const flr_motion_check *m, const flr_shell_chunk *c)
{
    flr_motion_check_path p = flr_motion_check_path_from(
        m, flr_contact_voxels(&m->frame, (double)c->centre[0], (double)c->centre[1],
                              (double)c->centre[2]));
    double r = (double)c->radius / m->pair.voxmap->header->grid.voxel + m->around;
    flr_vec3 straight = flr_vec3_add_scaled(m->way, m->angle, p.across);
    return flr_vec3_length(straight) + m->angle * (m->angle / 2 * p.radius + r);
}

static flr_label label_of(const flr_shell_chunk *c, uint32_t i)
{
    uint32_t edges = c->count[FLR_LABEL_VERTEX], faces = edges + c->count[FLR_LABEL_EDGE];
    return (flr_label)((i >= edges) + (i >= faces));
}

/* Those points of a chunk that have their bits set, and begin in voxels with this mark, or UNKNOWN ones. */
static void advance_bits(flr_motion_check *m, uint32_t chunk, const uint16_t *bits, uint32_t mark)
{
    const flr_shell_chunk *c = &m->pair.shell->chunks[chunk];
    uint32_t points = (uint32_t)c->count[0] + c->count[1] + c->count[2];
    for (uint32_t word = 0; word < (points + 15) / 16; word++)
        for (uint32_t rest = bits[word]; rest; rest &= rest - 1) {
            uint32_t i = word * 16 + (uint32_t)__builtin_ctz(rest);
            flr_motion_check_point near = {chunk, c->first + i, label_of(c, i),
                                           flr_motion_check_place(m, chunk, c->first + i)};
            if (!advance_near(m, &near, mark)) remember(m, &near);
        }
}

/* Is a place above the layer? Mostly its mark tells, or the eight around it, without interpolating. */
static inline bool is_above(const flr_motion_check *m, flr_vec3 at)
{
    const flr_flat_field *f = m->pair.fields;
    const uint32_t mark = flr_table_mark(f, at);
    if (mark == FLR_MARK_FREE || mark > m->limit) return true;
    if (f->bits == 4 && m->margin < 0.999 &&
        !flr_marks_any(flr_table_packed_stencil(f, flr_contact_stencil_base(at.x),
                                                flr_contact_stencil_base(at.y),
                                                flr_contact_stencil_base(at.z)),
                       m->level))
        return true;
    return flr_motion_check_above(m, at, NULL) >= 0;
}

/* Do those points of a chunk that have their bits set end above the layer? Adds how many there are. */
static bool bits_end_above(flr_motion_check *m, uint32_t chunk, const uint16_t *bits,
                           uint64_t *looks)
{
    const flr_shell_chunk *c = &m->pair.shell->chunks[chunk];
    const uint32_t points = (uint32_t)c->count[0] + c->count[1] + c->count[2];
    for (uint32_t word = 0; word < (points + 15) / 16; word++)
        for (uint32_t rest = bits[word]; rest; rest &= rest - 1) {
            const uint32_t i = word * 16 + (uint32_t)__builtin_ctz(rest);
            if (!is_above(m, place_then(m, flr_motion_check_place(m, chunk, c->first + i))))
                return false;
            ++*looks;
        }
    return true;
}

/* Do those of the outermost layer that was noted come near? */
static bool near_matters(const flr_motion_check *m, const flr_near_notes *notes)
{
    return !m->level ||
           !(least_height(m, notes->limit) >= FLR_MOTION_CHECK_STEEP * m->chunk_travel);
}

/* The usual case of a short motion over a smooth layer: all that is noted ends above it. Counts what was looked at as
 * advance_noted() does. False: something does not, or the budget does not suffice, and nothing is counted. */
static bool all_end_above(flr_motion_check *m, const flr_near_notes *notes)
{
    uint64_t looks = flr_motion_check_spent(m);
    for (uint32_t k = 0; k < notes->count; k++) {
        const flr_near_chunk *n = &notes->chunks[k];
        m->chunk_travel = chunk_travel(m, &m->pair.shell->chunks[n->chunk]);
        looks++;
        if (!bits_end_above(m, n->chunk, n->touch, &looks) ||
            (near_matters(m, notes) && !bits_end_above(m, n->chunk, n->near, &looks)) ||
            (m->budget && looks > m->budget))
            return false;
    }
    m->lookups += looks - flr_motion_check_spent(m);
    return true;
}

/* All that is noted; what may come in stays in the memory, for further rounds over this motion. */
static void advance_noted(flr_motion_check *m, const flr_near_notes *notes,
                          flr_motion_check_memory *memory)
{
    m->memory = memory;
    memory->known = false;
    memory->count = 0;
    for (uint32_t k = 0; k < notes->count && !m->exhausted; k++) {
        const flr_near_chunk *n = &notes->chunks[k];
        flr_motion_check_spend(m);
        m->chunk_travel = chunk_travel(m, &m->pair.shell->chunks[n->chunk]);
        advance_bits(m, n->chunk, n->touch, UNKNOWN);
        if (near_matters(m, notes)) advance_bits(m, n->chunk, n->near, notes->limit);
    }
    m->suspects = m->memory != NULL;
}

static void advance_remembered(flr_motion_check *m, const flr_motion_check_memory *memory)
{
    for (uint32_t i = 0; i < memory->count; i++) advance_near(m, &memory->points[i], UNKNOWN);
}

/* Was the last motion that was checked one from the same place, and are the points that were near then those for this one? */
static bool remembers(const flr_motion_check_memory *memory, const flr_motion_check *m,
                      flr_pose T_world_shell, flr_pose T_world_voxmap, uint32_t near)
{
    return memory->known && memory->shell == m->pair.shell && memory->voxmap == m->pair.voxmap &&
           memory->near == near && memory->displacement == m->frame.displacement &&
           memcmp(&memory->T_world_shell, &T_world_shell, sizeof T_world_shell) == 0 &&
           memcmp(&memory->T_world_voxmap, &T_world_voxmap, sizeof T_world_voxmap) == 0;
}

/* Is what is known of the chunks from where the motion begins? */
static bool fits(const flr_chunk_memory *rooms, const flr_motion_check *m)
{
    if (!rooms || !rooms->known) return false;
    const float *c = m->pair.shell->centre;
    const flr_vec3 centre = flr_contact_voxels(&m->frame, (double)c[0], (double)c[1], (double)c[2]);
    return memcmp(&centre, &rooms->centre, sizeof centre) == 0 &&
           memcmp(&m->frame.rotation, &rooms->rotation, sizeof rooms->rotation) == 0;
}

bool flr_motion_check_slowly(flr_motion_check *m, flr_contact_pair *pair, flr_pose_span shell,
                             flr_pose_span voxmap, double displacement)
{
    if (!(m->travel < 2 * FLR_RANGE_MAX_8BIT)) return false;
    for (int i = 0; i < 2; i++) {
        double angle = m->angle * (i ? 1 : m->begin);
        m->c[i] = flr_cos(angle), m->s[i] = flr_sin(angle);
    }
    m->bow = m->angle * m->angle / 8;
    /* beyond those next to a smooth layer, some distance is left */
    bool little = m->level && m->travel * FLR_MOTION_CHECK_STEEP < least_height(m, m->limit + 1);
    uint32_t near = m->limit + (little ? 0 : (uint32_t)ceil(m->travel));
    const flr_pair_memory *of_pair = flr_contact_pair_memory(pair);
    const flr_near_notes *notes = of_pair->notes;
    flr_motion_check_memory *memory = of_pair->check;
    if (m->suspects) {
        advance_remembered(m, memory);
        return true;
    }
    if (noted(notes, m, shell, voxmap, near)) {
        if (m->planning && all_end_above(m, notes)) {
            memory->known = false;
            return true;
        }
        advance_noted(m, notes, memory);
        return true;
    }
    /* what comes near on a long way is, in its middle, not farther away than half of it */
    flr_pose T_shell = shell.from, T_voxmap = voxmap.from;
    if (m->travel > 1) {
        flr_motion_check_poses(shell, voxmap, m->frame.params->centre, 0.5, &T_shell, &T_voxmap);
        near = m->limit + (uint32_t)ceil(m->travel / 2 + FLR_MOTION_CHECK_CLIP);
    }
    if (remembers(memory, m, T_shell, T_voxmap, near)) {
        advance_remembered(m, memory);
        return true;
    }
    m->memory = memory;
    memory->known = false;
    memory->count = 0;
    flr_chunk_memory *rooms = fits(of_pair->rooms, m) ? of_pair->rooms : NULL;
    const double ahead = m->travel > 1 ? m->travel / 2 + FLR_MOTION_CHECK_CLIP : 0;
    if (!flr_contact_visit(pair, T_shell, T_voxmap, displacement, near, rooms, ahead,
                           advance_visited, m, &m->scanned))
        return false;
    memory->known = m->memory != NULL;
    memory->shell = m->pair.shell;
    memory->voxmap = m->pair.voxmap;
    memory->near = near;
    memory->displacement = m->frame.displacement;
    memory->T_world_shell = T_shell;
    memory->T_world_voxmap = T_voxmap;
    return true;
}

void flr_motion_check_tell_planes(const flr_motion_check *m, flr_pose T_world_voxmap,
                                  flr_motion_check_result *result)
{
    const flr_grid *grid = &m->pair.voxmap->header->grid;
    result->plane_count = m->plane_count;
    for (uint32_t i = 0; i < m->plane_count; i++) {
        flr_motion_check_plane *to = &result->planes[i];
        *to = m->planes[i];
        to->point = flr_pose_apply(T_world_voxmap, flr_grid_to_metres(grid, to->point));
        to->normal = flr_quat_rotate(T_world_voxmap.q, to->normal);
        to->gap *= grid->voxel;
    }
}
