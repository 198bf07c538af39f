/* joints that a viewer makes, changes and takes away */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dynamics/mechanism.h"
#include "sim/engine_internal.h"

uint32_t flr_engine_joints(const flr_engine *e) { return e->members.joint_count; }

bool flr_engine_joint_at(const flr_engine *e, uint32_t index, flr_engine_joint *out)
{
    if (index >= e->members.joint_count) return false;
    const flr_joint_entry *entry = &e->members.joints[index];
    const flr_part_entry *a = flr_part_list_find(&e->members, entry->joint.a);
    const flr_pose T_a_world = a ? flr_pose_inverse(a->T_start) : flr_pose_identity();
    *out = (flr_engine_joint){.joint = entry->joint, .name = entry->text};
    out->joint.name = entry->text;
    out->joint.point = flr_pose_apply(T_a_world, entry->joint.point);
    out->joint.axis = flr_pose_apply_vector(T_a_world, entry->joint.axis);
    return true;
}

static uint32_t find_joint(const flr_engine *e, const char *name)
{
    for (uint32_t i = 0; i < e->members.joint_count; i++)
        if (strcmp(e->members.joints[i].text, name) == 0) return i;
    return FLR_ENGINE_NONE;
}

/* viewers get all joints again, and the loop another world */
static void tell_joints(flr_engine *e)
{
    e->dirty = e->altered = true;
    flr_engine_suspect_overlaps(e);
    flr_engine_tell(e, FLR_ENGINE_EVENT_JOINTS);
}

/* ---- what is connected ---- */

static bool same_body(const flr_part_entry *a, const flr_part_entry *b)
{
    return a == b || (a->rigid && a->rigid == b->rigid);
}

/* Marks, beside what is marked, all parts that rigid groups and joints connect to it. */
static void spread(const flr_part_list *parts, bool *marked)
{
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t i = 0; i < parts->count; i++)
            for (uint32_t k = 0; marked[i] && k < parts->count; k++)
                if (!marked[k] && same_body(&parts->list[i], &parts->list[k]))
                    marked[k] = grew = true;
        for (uint32_t j = 0; j < parts->joint_count; j++) {
            const flr_part_entry *a = flr_part_list_find(parts, parts->joints[j].joint.a),
                                 *b = flr_part_list_find(parts, parts->joints[j].joint.b);
            // what is static connects nothing
            if (!a || !b || a->kind == FLR_PART_STATIC || b->kind == FLR_PART_STATIC) continue;
            bool *of_a = &marked[a - parts->list], *of_b = &marked[b - parts->list];
            grew |= *of_a != *of_b;
            *of_a = *of_b = *of_a || *of_b;
        }
    }
}

uint32_t flr_engine_body_of(const flr_engine *e, uint32_t index)
{
    uint32_t first = 0;
    if (index >= e->members.count) return index;
    while (!same_body(&e->members.list[first], &e->members.list[index])) first++;
    return first;
}

bool flr_engine_linked(const flr_engine *e, uint32_t index, bool *linked)
{
    if (index >= e->members.count) return false;
    memset(linked, 0, e->members.count * sizeof *linked);
    linked[index] = true;
    spread(&e->members, linked);
    return true;
}

/* Parts that the sides of a joint move start from where they are now, and joints between them are counted from there. */
static bool start_here(flr_engine *e, const flr_joint *joint)
{
    flr_part_list now = {0};
    bool *marked = calloc((size_t)e->members.count + 1, sizeof *marked);
    flr_engine_look_around(e, &now);
    const bool ok = marked && now.count == e->members.count;
    for (uint32_t i = 0; ok && i < e->members.count; i++)
        marked[i] = e->members.list[i].part == joint->a || e->members.list[i].part == joint->b;
    if (ok) spread(&e->members, marked);
    for (uint32_t j = 0; ok && j < e->members.joint_count; j++) {
        flr_joint *old = &e->members.joints[j].joint;
        const flr_part_entry *b = flr_part_list_find(&e->members, old->b),
                             *a = flr_part_list_find(&e->members, old->a);
        flr_scene_joint moved;
        if (!((a && marked[a - e->members.list]) || (b && marked[b - e->members.list])) ||
            !flr_joint_moved(&e->members.joints[j], &e->members, &now, &moved))
            continue;
        const uint32_t sides[2] = {old->a, old->b};
        const bool turned = sides[1] == FLR_JOINT_WORLD; // the world is side a of what was moved
        *old = moved.joint;
        old->a = turned ? FLR_JOINT_WORLD : sides[0];
        old->b = turned ? sides[0] : sides[1];
    }
    for (uint32_t i = 0; ok && i < e->members.count; i++) {
        if (!marked[i] || e->members.list[i].kind == FLR_PART_STATIC) continue;
        e->members.list[i].T_start = now.list[i].T_start;
        flr_engine_tell_part(e, &e->members.list[i]);
    }
    flr_part_list_free(&now);
    free(marked);
    return ok;
}

/* ---- is it possible? ---- */

/* Whether a world can be made of all joints, `joint` in the place `at` or behind them. */
static flr_result try_joints(const flr_engine *e, const flr_joint *joint, uint32_t at,
                             flr_error *error)
{
    const flr_part_list *parts = &e->members;
    const size_t n = (size_t)parts->count + 1, count = (size_t)parts->joint_count + 1;
    flr_pose *poses = calloc(n, sizeof *poses);
    flr_vec3 *centres = calloc(n, sizeof *centres);
    bool *fixed = calloc(n, sizeof *fixed);
    uint32_t *groups = calloc(n, sizeof *groups), used = 0;
    flr_joint *joints = calloc(count, sizeof *joints);
    flr_mechanism *made = NULL;
    flr_result result = FLR_OK;
    if (!poses || !centres || !fixed || !groups || !joints) result = flr_engine_no_memory(error);
    for (uint32_t i = 0; result == FLR_OK && i < parts->count; i++) {
        poses[i] = parts->list[i].T_start;
        fixed[i] = parts->list[i].kind == FLR_PART_STATIC;
        groups[i] = parts->list[i].rigid ? parts->list[i].rigid : FLR_MECHANISM_NONE;
    }
    for (uint32_t i = 0; result == FLR_OK && i < count; i++) {
        flr_joint one = i == at || i == parts->joint_count ? *joint : parts->joints[i].joint;
        if (i == parts->joint_count && at < i) break;
        if (i < parts->joint_count && i != at) one.name = parts->joints[i].text;
        const flr_part_entry *a = flr_part_list_find(parts, one.a),
                             *b = flr_part_list_find(parts, one.b);
        const bool moves = (a && a->kind != FLR_PART_STATIC) || (b && b->kind != FLR_PART_STATIC);
        if (one.a != FLR_JOINT_WORLD) one.a = a ? (uint32_t)(a - parts->list) : UINT32_MAX - 1;
        if (one.b != FLR_JOINT_WORLD) one.b = b ? (uint32_t)(b - parts->list) : UINT32_MAX - 1;
        const bool asked = i == at || i == parts->joint_count;
        if (!asked && (one.a == UINT32_MAX - 1 || one.b == UINT32_MAX - 1 || !moves)) continue;
        joints[used++] = one;
    }
    const flr_mechanism_def def = {.part_count = parts->count,
                                   .joint_count = used,
                                   .T_world_part = poses,
                                   .centres = centres,
                                   .fixed = fixed,
                                   .groups = groups,
                                   .joints = joints};
    if (result == FLR_OK) result = flr_mechanism_create(&def, &made, error);
    flr_mechanism_destroy(made);
    free(poses);
    free(centres);
    free(fixed);
    free(groups);
    free(joints);
    return result;
}

static bool is_axis_sound(const flr_joint_axis *axis)
{
    return isfinite(axis->low) && isfinite(axis->high) && isfinite(axis->rest) &&
           axis->friction >= 0 && axis->friction <= 1e6 && axis->stiffness >= 0 &&
           axis->stiffness <= 1e9 && axis->damping >= 0 && axis->damping <= 1e9;
}

static flr_result check_joint(flr_engine *e, const flr_joint *j, const char *name, flr_error *error)
{
    if (!name[0] || strlen(name) >= FLR_ENGINE_NAME_SIZE)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a joint has a name of at most %d bytes",
                        FLR_ENGINE_NAME_SIZE - 1);
    if (e->tuning.world.engine == FLR_ENGINE_SPHERES)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the sphere engine knows no joints; choose another engine first");
    if ((unsigned)j->kind >= FLR_JOINT_KINDS || !flr_vec3_is_finite(j->point) ||
        !flr_vec3_is_finite(j->axis) || !isfinite(j->pitch) || !is_axis_sound(&j->turn) ||
        !is_axis_sound(&j->slide))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "joint \"%.60s\": a number is out of its range or no number", name);
    const uint32_t sides[2] = {j->a, j->b};
    for (int i = 0; i < 2; i++) {
        if (sides[i] == FLR_JOINT_WORLD) continue;
        const flr_part_entry *part = flr_part_list_find(&e->members, sides[i]);
        if (!part)
            return flr_fail(error, FLR_NOT_FOUND, "joint \"%.60s\": there is no part %u", name,
                            sides[i]);
        if (part->shape->pager)
            return flr_fail(error, FLR_UNSUPPORTED,
                            "part \"%s\" cannot have a joint: its voxels are read from the disk as "
                            "they are needed; leave out --memory",
                            part->name);
    }
    if (e->members.joint_count >= FLR_SCENE_MAX_JOINTS)
        return flr_fail(error, FLR_TOO_LARGE, "a scene has at most %d joints",
                        FLR_SCENE_MAX_JOINTS);
    return FLR_OK;
}

flr_result flr_engine_set_joint(flr_engine *e, const char *name, const flr_joint *given,
                                flr_error *error)
{
    flr_joint joint = *given;
    uint32_t at = find_joint(e, name);
    joint.name = name;
    if (at != FLR_ENGINE_NONE) { // only how it moves changes, not where it is
        const flr_joint *old = &e->members.joints[at].joint;
        joint.a = old->a, joint.b = old->b, joint.point = old->point, joint.axis = old->axis;
    }
    flr_result result = check_joint(e, &joint, name, error);
    if (result == FLR_OK && at == FLR_ENGINE_NONE && !start_here(e, &joint))
        result = flr_engine_no_memory(error);
    if (result == FLR_OK) result = try_joints(e, &joint, at, error);
    if (result != FLR_OK) return result;
    flr_joint_entry entry = {.joint = joint};
    flr_text_copy(entry.text, sizeof entry.text, name);
    entry.joint.name = NULL;
    if (at != FLR_ENGINE_NONE)
        e->members.joints[at] = entry;
    else if (!flr_part_list_add_joints(&e->members, &entry, 1, 0, flr_pose_identity()))
        return flr_engine_no_memory(error);
    tell_joints(e);
    return FLR_OK;
}

static void drop(flr_engine *e, uint32_t at)
{
    flr_part_list *parts = &e->members;
    memmove(&parts->joints[at], &parts->joints[at + 1],
            (--parts->joint_count - at) * sizeof *parts->joints);
}

flr_result flr_engine_remove_joint(flr_engine *e, const char *name, flr_error *error)
{
    uint32_t at = find_joint(e, name);
    if (at == FLR_ENGINE_NONE)
        return flr_fail(error, FLR_NOT_FOUND, "there is no joint \"%.60s\"", name);
    drop(e, at);
    tell_joints(e);
    return FLR_OK;
}

void flr_engine_leave_joints(flr_engine *e, const flr_part_entry *gone)
{
    bool changed = false;
    for (uint32_t i = e->members.joint_count; i-- > 0;) {
        flr_joint *joint = &e->members.joints[i].joint;
        uint32_t *const sides[2] = {&joint->a, &joint->b};
        for (int k = 0; k < 2; k++) {
            if (*sides[k] != gone->part) continue;
            changed = true;
            // another part of the same rigid group stands for it
            uint32_t heir = FLR_JOINT_WORLD;
            for (uint32_t p = 0; gone->rigid && p < e->members.count; p++)
                if (e->members.list[p].part != gone->part &&
                    e->members.list[p].rigid == gone->rigid && heir == FLR_JOINT_WORLD)
                    heir = e->members.list[p].part;
            if (heir == FLR_JOINT_WORLD) {
                drop(e, i);
                break;
            }
            *sides[k] = heir;
        }
    }
    if (changed) tell_joints(e);
}
