/* the tree that parts are in: from a scene, and changed by a viewer */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "sim/engine_internal.h"

uint32_t flr_group_list_find(const flr_group_list *groups, const char *name)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (strcmp(groups->list[i].name, name) == 0) return i;
    return FLR_ENGINE_NONE;
}

static flr_group_entry *add_group(flr_group_list *groups, const char *name)
{
    if (!FLR_GROW(groups->list, groups->count, groups->room, 16)) return NULL;
    flr_group_entry *made = &groups->list[groups->count++];
    made->in = FLR_ENGINE_NONE;
    made->rigid = false;
    flr_text_copy(made->name, sizeof made->name, name);
    return made;
}

uint32_t flr_group_list_make(flr_group_list *groups, const char *name, uint32_t in)
{
    uint32_t found = flr_group_list_find(groups, name);
    if (found != FLR_ENGINE_NONE) return found;
    flr_group_entry *made = add_group(groups, name);
    if (!made) return FLR_ENGINE_NONE;
    made->in = in;
    return groups->count - 1;
}

bool flr_group_list_read(const flr_scene *scene, flr_group_list *groups, uint32_t *of_part)
{
    size_t *up = calloc(scene->group_count + 1, sizeof *up);
    size_t *parts = calloc(scene->part_count + 1, sizeof *parts);
    bool ok = up && parts && flr_scene_resolve_groups(scene, up, parts);
    for (size_t i = 0; ok && i < scene->group_count; i++)
        ok = add_group(groups, scene->groups[i].name);
    for (size_t i = 0; ok && i < scene->group_count; i++)
        groups->list[i].in = up[i] == SIZE_MAX ? FLR_ENGINE_NONE : (uint32_t)up[i];
    for (size_t i = 0; ok && i < scene->group_count; i++)
        groups->list[i].rigid = scene->groups[i].rigid;
    for (size_t i = 0; ok && i < scene->part_count; i++)
        of_part[i] = parts[i] == SIZE_MAX ? FLR_ENGINE_NONE : (uint32_t)parts[i];
    free(up);
    free(parts);
    return ok;
}

/* an index after `gone` was taken out */
static uint32_t moved(uint32_t index, uint32_t gone, uint32_t up)
{
    if (index == gone) index = up;
    return index != FLR_ENGINE_NONE && index > gone ? index - 1 : index;
}

/* Takes a group out: what it holds, parts too, goes where it was. */
static void remove_group(flr_group_list *groups, uint32_t group, flr_part_list *parts)
{
    uint32_t up = groups->list[group].in;
    for (uint32_t i = 0; i < parts->count; i++)
        parts->list[i].group = moved(parts->list[i].group, group, up);
    for (uint32_t i = 0; i < groups->count; i++)
        groups->list[i].in = moved(groups->list[i].in, group, up);
    memmove(&groups->list[group], &groups->list[group + 1],
            (--groups->count - group) * sizeof *groups->list);
}

void flr_group_list_free(flr_group_list *groups)
{
    free(groups->list);
    memset(groups, 0, sizeof *groups);
}

/* The outermost rigid group around a member, by its index; plus 1; 0: none. */
static uint32_t rigid_of(const flr_group_list *groups, uint32_t group)
{
    uint32_t found = 0;
    for (; group < groups->count; group = groups->list[group].in)
        if (groups->list[group].rigid) found = group + 1;
    return found;
}

void flr_group_list_set_rigid(const flr_group_list *groups, flr_part_list *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        parts->list[i].rigid = rigid_of(groups, parts->list[i].group);
    for (uint32_t i = 0; i < parts->count; i++)
        for (uint32_t k = 0; parts->list[i].rigid && k < parts->count; k++)
            if (parts->list[k].rigid == parts->list[i].rigid &&
                parts->list[k].kind > parts->list[i].kind)
                parts->list[i].kind = parts->list[k].kind;
}

/* ---- the engine's ---- */

bool flr_engine_group_is_rigid(const flr_engine *e, uint32_t index)
{
    return index < e->groups.count && e->groups.list[index].rigid;
}

bool flr_engine_group_at(const flr_engine *e, uint32_t index, const char **name, const char **in)
{
    if (index >= e->groups.count) return false;
    const flr_group_entry *group = &e->groups.list[index];
    *name = group->name;
    *in = group->in == FLR_ENGINE_NONE ? "" : e->groups.list[group->in].name;
    return true;
}

uint32_t flr_engine_groups(const flr_engine *e) { return e->groups.count; }

/* viewers get all groups again, before the parts that changed; the loop gets a world where they move as they shall */
static void tell_groups(flr_engine *e)
{
    e->altered = true;
    bool rigid = false;
    for (uint32_t i = 0; i < e->members.count; i++) rigid |= e->members.list[i].rigid > 0;
    for (uint32_t i = 0; i < e->groups.count; i++) rigid |= e->groups.list[i].rigid;
    if (rigid) {
        flr_group_list_set_rigid(&e->groups, &e->members);
        e->dirty = true;
        flr_engine_suspect_overlaps(e);
    }
    flr_engine_tell(e, FLR_ENGINE_EVENT_GROUPS);
}

/* Is `group` the group `above`, or in it? */
static bool is_within(const flr_engine *e, uint32_t group, uint32_t above)
{
    while (group != FLR_ENGINE_NONE && group != above) group = e->groups.list[group].in;
    return group == above && group != FLR_ENGINE_NONE;
}

flr_result flr_engine_group(flr_engine *e, const char *name, const flr_part_id *parts,
                            uint32_t count, flr_error *error)
{
    if (!name[0] || strlen(name) >= FLR_ENGINE_NAME_SIZE)
        return flr_fail(error, FLR_BAD_ARGUMENT, "a group has a name of at most %d bytes",
                        FLR_ENGINE_NAME_SIZE - 1);
    if (count == 0) return flr_fail(error, FLR_BAD_ARGUMENT, "a group needs a part");
    flr_part_entry *member = NULL;
    for (uint32_t i = 0; i < count; i++) {
        flr_result result = flr_engine_find_id(e, parts[i], &member, error);
        if (result != FLR_OK) return result;
    }
    // a new one stands where the first of its parts was
    flr_result result = flr_engine_find_id(e, parts[0], &member, error);
    if (result != FLR_OK) return result;
    uint32_t group = flr_group_list_make(&e->groups, name, member->group);
    if (group == FLR_ENGINE_NONE) return flr_engine_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        if (flr_engine_find_id(e, parts[i], &member, NULL) != FLR_OK) continue;
        member->group = group;
        flr_engine_tell_part(e, member);
    }
    tell_groups(e);
    return FLR_OK;
}

flr_result flr_engine_ungroup(flr_engine *e, const char *name, flr_error *error)
{
    uint32_t group = flr_group_list_find(&e->groups, name);
    if (group == FLR_ENGINE_NONE)
        return flr_fail(error, FLR_NOT_FOUND, "there is no group \"%.60s\"", name);
    for (uint32_t i = 0; i < e->members.count; i++)
        if (is_within(e, e->members.list[i].group, group))
            flr_engine_tell_part(e, &e->members.list[i]);
    remove_group(&e->groups, group, &e->members);
    tell_groups(e);
    return FLR_OK;
}

/* A rigid group keeps its parts as they are now: that is where they start from then on. */
static void start_here(flr_engine *e, uint32_t group)
{
    flr_engine_view(e);
    for (uint32_t i = 0; i < e->members.count; i++) {
        flr_part_entry *member = &e->members.list[i];
        flr_engine_part now;
        if (!is_within(e, member->group, group) || !flr_engine_part_at(e, i, &now)) continue;
        member->T_start = now.T_world_part;
        flr_engine_tell_part(e, member);
    }
}

flr_result flr_engine_set_rigid(flr_engine *e, const char *name, bool rigid, flr_error *error)
{
    uint32_t group = flr_group_list_find(&e->groups, name);
    if (group == FLR_ENGINE_NONE)
        return flr_fail(error, FLR_NOT_FOUND, "there is no group \"%.60s\"", name);
    if (rigid && e->tuning.world.engine == FLR_ENGINE_SPHERES)
        return flr_fail(error, FLR_UNSUPPORTED,
                        "the sphere engine knows no rigid groups; choose another engine first");
    for (uint32_t i = 0; rigid && i < e->members.count; i++)
        if (is_within(e, e->members.list[i].group, group) && e->members.list[i].shape->pager)
            return flr_fail(
                error, FLR_UNSUPPORTED,
                "part \"%s\" cannot move: its voxels are read from the disk as they are "
                "needed; leave out --memory",
                e->members.list[i].name);
    if (e->groups.list[group].rigid == rigid) return FLR_OK;
    if (rigid) start_here(e, group);
    e->groups.list[group].rigid = rigid;
    e->dirty = true;
    tell_groups(e);
    flr_group_list_set_rigid(&e->groups, &e->members);
    return FLR_OK;
}
