/* scenes from JSON */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "scene/cost.h"
#include "scene/kim.h"
#include "scene/scene.h"
#include "scene/scene_joint.h"
#include "scene/scene_object.h"
#include "scene/scene_review.h"
#include "scene/value.h"

/* The scene, its arrays, and the tree that owns its texts. */
typedef struct scene_block {
    flr_scene scene;
    json_t *tree;
    char *path;
    flr_scene_part *parts; /* [room] */
    size_t room;
    flr_scene_group *groups;
    flr_scene_joint *joints;
    flr_scene_path *paths;
    flr_scene_allow *allow;
    flr_scene_note *notes;
    flr_scene_hand hands[FLR_WORLD_HANDS];
} scene_block;

void flr_scene_destroy(flr_scene *scene)
{
    if (!scene) return;
    scene_block *block = (scene_block *)(void *)scene; // its first member
    json_decref(block->tree);
    free(block->path);
    for (size_t i = 0; i < block->room; i++) free((void *)(uintptr_t)block->parts[i].constraint);
    free(block->parts);
    free(block->groups);
    free(block->joints);
    free(block->paths);
    free(block->allow);
    free(block->notes);
    free(block);
}

/* ---- hands ---- */

/* How a device moves the hand. */
static bool read_mapping(const flr_value *element, flr_scene_hand *hand)
{
    flr_value scale = flr_value_member(element, "scale");
    flr_value axes = flr_value_member(element, "axes");
    flr_value boundary = flr_value_member(element, "boundary");
    flr_value clutch = flr_value_member(element, "clutch");
    unsigned button = 0;
    hand->axes = 1;
    hand->clutch = -1;
    hand->mapped = scale.json || axes.json || boundary.json || clutch.json;
    if (!flr_value_range(&scale, 1e-3, 1e3, &hand->scale) ||
        !flr_value_choice(&axes, flr_scene_axes, &hand->axes) ||
        !flr_value_choice(&boundary, flr_scene_boundaries, &hand->boundary) ||
        !flr_value_whole(&clutch, 0, 31, &button))
        return false;
    if (clutch.json) hand->clutch = (int)button;
    return true;
}

static bool read_hands(const flr_value *array, scene_block *block)
{
    if (!array->json) return true;
    if (!json_is_array(array->json)) return flr_value_fail(array, "must be an array");
    size_t count = json_array_size(array->json);
    if (count > FLR_WORLD_HANDS)
        return flr_value_fail(array, "must have at most %d elements", FLR_WORLD_HANDS);
    for (size_t i = 0; i < count; i++) {
        flr_value element = flr_value_element(array, i);
        if (!flr_value_object(&element, FLR_SCENE_HAND)) return false;
        const flr_value position = flr_value_member(&element, "position");
        int chosen = 0;
        flr_scene_hand *hand = &block->hands[i];
        if (!flr_value_choice(FLR_MEMBER(&element, "tool"), flr_scene_tools, &chosen) ||
            !flr_value_point(&position, &hand->position) ||
            !flr_value_bool(FLR_MEMBER(&element, "firm"), &hand->firm))
            return false;
        hand->tool = (flr_tool)chosen;
        if (!read_mapping(&element, hand)) return false;
        hand->placed = position.json != NULL;
    }
    block->scene.hands = count ? block->hands : NULL;
    block->scene.hand_count = count;
    return true;
}

/* ---- the arrays: elements, then what must hold between them ---- */

/* Where an array's elements stand in the file, and what they are called. Names are compared by
 * sorting, because a hostile scene may have a million of them. */
typedef struct named {
    const char *name;
    size_t index;
} named;

static int compare_named(const void *a, const void *b)
{
    const named *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    if (order) return order;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* fails at the first element, in the order of the file, whose name was there before */
static bool check_names(const flr_value *array, named *names, size_t count)
{
    qsort(names, count, sizeof *names, compare_named);
    size_t twice = SIZE_MAX, first = 0;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1].name, names[i].name) != 0) continue;
        if (names[i].index < twice) twice = names[i].index, first = names[i - 1].index;
    }
    if (twice == SIZE_MAX) return true;
    flr_value element = flr_value_element(array, twice);
    flr_value name = flr_value_member(&element, "name");
    return flr_value_fail(&name, "the name \"%.60s\" is taken by %s[%zu]",
                          json_string_value(name.json), array->key, first);
}

/* What is needed while an array is read; free both. */
typedef struct element_table {
    size_t count;
    named *names;                 /* [count] */
    flr_json_position *positions; /* [count] */
} element_table;

static void element_table_free(element_table *table)
{
    free(table->names);
    free(table->positions);
}

/* room for the elements of what must be an array of at least `least` */
static bool begin_array(const flr_value *array, size_t least, size_t element_size, void **elements,
                        element_table *table)
{
    if (!json_is_array(array->json)) return flr_value_fail(array, "must be an array");
    size_t count = json_array_size(array->json);
    if (count < least) return flr_value_fail(array, "must have at least %zu element", least);
    if (!count) return true;
    // reading ends at the first element that is no object: room for more would cost many times the text of them
    size_t room = 0;
    while (room < count && json_is_object(json_array_get(array->json, room))) room++;
    if (room < count) room++;
    *elements = calloc(room, element_size);
    table->names = calloc(room, sizeof *table->names);
    table->positions = calloc(room, sizeof *table->positions);
    table->count = room;
    if (!*elements || !table->names || !table->positions) return flr_scene_fail_memory(array);
    flr_value_places(array, table->positions, room);
    return true;
}

static bool read_parts(const flr_value *array, scene_block *block, element_table *table)
{
    void *room = NULL;
    bool ok = begin_array(array, 1, sizeof *block->parts, &room, table);
    block->parts = room;
    block->room = room ? table->count : 0;
    for (size_t i = 0; ok && i < table->count; i++) {
        flr_value element = flr_value_element(array, i);
        flr_scene_part *part = &block->parts[i];
        ok = flr_scene_read_part(&element, part);
        part->line = table->positions[i].line, part->column = table->positions[i].column;
        table->names[i] = (named){part->name, i};
    }
    if (!ok || !check_names(array, table->names, table->count)) return false;
    block->scene.parts = block->parts;
    block->scene.part_count = table->count;
    return true;
}

/* where a name is in a sorted table; SIZE_MAX: nowhere */
static size_t find_named(const named *names, size_t count, const char *wanted)
{
    size_t i;
    FLR_BISECT(i, count, strcmp(names[i].name, wanted) < 0);
    return i < count && strcmp(names[i].name, wanted) == 0 ? names[i].index : SIZE_MAX;
}

/* ---- groups ---- */

/* names of the groups, sorted; NULL when memory is short */
static named *sort_groups(const flr_scene_group *groups, size_t count)
{
    named *names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = (named){groups[i].name, i};
    if (names) qsort(names, count, sizeof *names, compare_named);
    return names;
}

/* `in` of the elements of an array, as indices of groups; the first that leads nowhere is refused */
static bool find_groups(const flr_value *array, const named *groups, size_t group_count,
                        size_t count, size_t *found)
{
    for (size_t i = 0; i < count; i++) {
        flr_value element = flr_value_element(array, i), in = flr_value_member(&element, "in");
        const char *wanted = in.json ? json_string_value(in.json) : NULL;
        found[i] = wanted ? find_named(groups, group_count, wanted) : SIZE_MAX;
        if (wanted && found[i] == SIZE_MAX)
            return flr_value_fail(&in, "there is no group \"%.60s\"", wanted);
    }
    return true;
}

/* No group is in itself. Each is walked up from until something known to end is met. */
static bool check_cycles(const flr_value *array, const size_t *up, size_t count, uint8_t *marks)
{
    enum { NEW, ON_WAY, ENDS };
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at != SIZE_MAX && marks[at] == NEW; at = up[at]) marks[at] = ON_WAY;
        if (at != SIZE_MAX && marks[at] == ON_WAY) {
            flr_value element = flr_value_element(array, at);
            flr_value in = flr_value_member(&element, "in");
            return flr_value_fail(&in, "puts the group \"%.60s\" into itself",
                                  json_string_value(json_object_get(element.json, "name")));
        }
        for (at = i; at != SIZE_MAX && marks[at] == ON_WAY; at = up[at]) marks[at] = ENDS;
    }
    return true;
}

/* what must hold between groups, and between parts and groups */
static bool check_groups(const flr_value *array, const flr_value *parts, const scene_block *block)
{
    size_t groups = block->scene.group_count, count = block->scene.part_count;
    named *names = sort_groups(block->groups, groups);
    size_t *up = calloc((groups > count ? groups : count) + 1, sizeof *up);
    uint8_t *marks = calloc(groups + 1, 1);
    bool ok = names && up && marks ? true : flr_scene_fail_memory(parts);
    ok = ok && (!array->json || find_groups(array, names, groups, groups, up)) &&
         check_cycles(array, up, groups, marks) && find_groups(parts, names, groups, count, up);
    free(names);
    free(up);
    free(marks);
    return ok;
}

static bool read_groups(const flr_value *array, const flr_value *parts, scene_block *block)
{
    void *room = NULL;
    element_table table = {0};
    bool ok = !array->json || begin_array(array, 0, sizeof *block->groups, &room, &table);
    block->groups = room;
    for (size_t i = 0; ok && i < table.count; i++) {
        flr_value element = flr_value_element(array, i);
        flr_scene_group *group = &block->groups[i];
        ok = flr_scene_read_group(&element, group);
        group->line = table.positions[i].line, group->column = table.positions[i].column;
        table.names[i] = (named){group->name, i};
    }
    ok = ok && (!table.count || check_names(array, table.names, table.count));
    element_table_free(&table);
    if (!ok) return false;
    block->scene.groups = block->groups;
    block->scene.group_count = array->json ? json_array_size(array->json) : 0;
    return check_groups(array, parts, block);
}

bool flr_scene_resolve_groups(const flr_scene *scene, size_t *of_group, size_t *of_part)
{
    named *names = sort_groups(scene->groups, scene->group_count);
    if (!names) return false;
    for (size_t i = 0; of_group && i < scene->group_count; i++) {
        const char *in = scene->groups[i].in;
        of_group[i] = in ? find_named(names, scene->group_count, in) : SIZE_MAX;
    }
    for (size_t i = 0; of_part && i < scene->part_count; i++) {
        const char *in = scene->parts[i].in;
        of_part[i] = in ? find_named(names, scene->group_count, in) : SIZE_MAX;
    }
    free(names);
    return true;
}

/* ---- rigid groups and joints ---- */

/* Where a part of a rigid group moves, all of them do. */
static bool move_groups(const flr_value *parts, scene_block *block)
{
    const size_t count = block->scene.part_count, groups = block->scene.group_count;
    bool any = false;
    for (size_t i = 0; i < groups; i++) any |= block->groups[i].rigid;
    if (!any) return true;
    uint32_t *rigid = calloc(count + 1, sizeof *rigid);
    bool *moves = calloc(groups + 1, sizeof *moves);
    bool ok = rigid && moves && flr_scene_rigid(&block->scene, rigid);
    for (size_t i = 0; ok && i < count; i++)
        if (rigid[i] != FLR_NO_PART) moves[rigid[i]] |= block->parts[i].moving;
    for (size_t i = 0; ok && i < count; i++)
        if (rigid[i] != FLR_NO_PART) block->parts[i].moving = moves[rigid[i]];
    free(rigid);
    free(moves);
    return ok ? true : flr_scene_fail_memory(parts);
}

/* The index of a part, or of the first part of a rigid group. */
static bool find_end(const flr_value *element, const char *key, const scene_block *block,
                     const named *parts, const uint32_t *rigid, uint32_t *index)
{
    flr_value end = flr_value_member(element, key);
    const char *wanted = json_string_value(end.json);
    if (!wanted) return true;
    const size_t found = find_named(parts, block->scene.part_count, wanted);
    if (found != SIZE_MAX) {
        *index = (uint32_t)found;
        return true;
    }
    for (uint32_t i = 0; i < block->scene.part_count; i++)
        if (rigid[i] != FLR_NO_PART && strcmp(block->groups[rigid[i]].name, wanted) == 0) {
            *index = i;
            return true;
        }
    return flr_value_fail(&end, "there is no part or rigid group \"%.60s\"", wanted);
}

static bool read_joint_list(const flr_value *array, scene_block *block, const named *parts,
                            const uint32_t *rigid)
{
    void *room = NULL;
    element_table table = {0};
    if (json_is_array(array->json) && json_array_size(array->json) > FLR_SCENE_MAX_JOINTS)
        return flr_value_fail(array, "must have at most %d elements", FLR_SCENE_MAX_JOINTS);
    bool ok = begin_array(array, 0, sizeof *block->joints, &room, &table);
    block->joints = room;
    for (size_t i = 0; ok && i < table.count; i++) {
        flr_value element = flr_value_element(array, i);
        flr_scene_joint *joint = &block->joints[i];
        ok = flr_scene_joint_read(&element, joint) &&
             find_end(&element, "a", block, parts, rigid, &joint->joint.a) &&
             find_end(&element, "b", block, parts, rigid, &joint->joint.b);
        joint->line = table.positions[i].line, joint->column = table.positions[i].column;
        table.names[i] = (named){joint->name, i};
    }
    ok = ok && (!table.count || check_names(array, table.names, table.count));
    element_table_free(&table);
    block->scene.joints = block->joints;
    block->scene.joint_count = ok ? json_array_size(array->json) : 0;
    return ok;
}

/* Joints tie parts that there are, and make sense together. */
static bool read_joints(const flr_value *array, scene_block *block, const named *parts)
{
    if (!array->json) return true;
    uint32_t *rigid = calloc(block->scene.part_count + 1, sizeof *rigid);
    bool ok = rigid && flr_scene_rigid(&block->scene, rigid) ? true : flr_scene_fail_memory(array);
    ok = ok && read_joint_list(array, block, parts, rigid);
    free(rigid);
    flr_mechanism *mechanism = NULL;
    flr_error why;
    if (ok && flr_scene_mechanism(&block->scene, &mechanism, &why) != FLR_OK)
        ok = flr_value_fail(array, "%s", why.message);
    flr_mechanism_destroy(mechanism);
    return ok;
}

/* ---- paths ---- */

/* the part that a path moves must be there, and moving */
static bool check_path(const flr_value *element, const scene_block *block, const named *parts)
{
    flr_value part = flr_value_member(element, "part");
    const char *wanted = json_string_value(part.json);
    size_t found = find_named(parts, block->scene.part_count, wanted);
    if (found == SIZE_MAX) return flr_value_fail(&part, "there is no part \"%.60s\"", wanted);
    if (!block->parts[found].moving)
        return flr_value_fail(&part, "part \"%.60s\" does not move; give it \"moving\": true",
                              wanted);
    return true;
}

static bool read_paths(const flr_value *array, scene_block *block, const named *parts)
{
    if (!array->json) return true;
    void *room = NULL;
    element_table table = {0};
    bool ok = begin_array(array, 0, sizeof *block->paths, &room, &table);
    block->paths = room;
    for (size_t i = 0; ok && i < table.count; i++) {
        flr_value element = flr_value_element(array, i);
        flr_scene_path *path = &block->paths[i];
        ok = flr_scene_read_path(&element, path) && check_path(&element, block, parts);
        path->line = table.positions[i].line, path->column = table.positions[i].column;
        table.names[i] = (named){path->name, i};
    }
    ok = ok && (!table.count || check_names(array, table.names, table.count));
    element_table_free(&table);
    block->scene.paths = block->paths;
    block->scene.path_count = ok ? json_array_size(array->json) : 0;
    return ok;
}

/* ---- what a review has added ---- */

typedef struct part_names {
    const named *names; /* sorted */
    size_t count;
} part_names;

static bool has_part(void *context, const char *name)
{
    const part_names *parts = context;
    return find_named(parts->names, parts->count, name) != SIZE_MAX;
}

static bool read_review(const flr_value *root, scene_block *block, const named *parts)
{
    flr_scene *scene = &block->scene;
    part_names names = {parts, scene->part_count};
    bool ok = flr_scene_read_allow(FLR_MEMBER(root, "allow"), &block->allow, &scene->allow_count) &&
              flr_scene_read_notes(FLR_MEMBER(root, "notes"), has_part, &names, &block->notes,
                                   &scene->note_count);
    scene->allow = block->allow;
    scene->notes = block->notes;
    return ok;
}

/* ---- the whole ---- */

static bool read_root(const flr_value *root, scene_block *block)
{
    // files of a later format may have keys unknown here: say so first
    flr_value format = flr_value_member(root, "feeler");
    if (json_is_number(format.json) && json_number_value(format.json) != FLR_SCENE_FORMAT)
        return flr_value_fail(&format, "this feeler reads scene format %d; get a newer one",
                              FLR_SCENE_FORMAT);
    if (!flr_value_object(root, FLR_SCENE_ROOT)) return false;
    double number = 0;
    if (!flr_value_positive(&format, &number)) return false;

    // the unit before all lengths
    flr_scene *scene = &block->scene;
    flr_value unit = flr_value_member(root, "unit");
    if (!flr_value_unit(&unit, &scene->unit)) return false;
    root->context->unit = scene->unit;

    int local = 0, kind = 0;
    const char *ignored;
    if (!flr_value_text(FLR_MEMBER(root, "$schema"), &ignored) ||
        !flr_value_text(FLR_MEMBER(root, "name"), &scene->name) ||
        !flr_value_text(FLR_MEMBER(root, "description"), &scene->description) ||
        !flr_value_size(FLR_MEMBER(root, "voxel"), &scene->voxel) ||
        !flr_value_vector(FLR_MEMBER(root, "gravity"), &scene->gravity) ||
        !flr_scene_read_contact(FLR_MEMBER(root, "contact"), &scene->contact) ||
        !flr_value_choice(FLR_MEMBER(root, "haptics"), flr_scene_haptics, &local) ||
        !flr_value_choice(FLR_MEMBER(root, "devices"), flr_scene_device_kinds, &kind) ||
        !flr_value_bool(FLR_MEMBER(root, "barrier"), &scene->barrier) ||
        !flr_scene_read_camera(FLR_MEMBER(root, "camera"), &scene->camera))
        return false;
    scene->local_haptics = local == 1;
    scene->devices = (flr_scene_devices)kind;

    element_table table = {0};
    const flr_value parts = flr_value_member(root, "parts");
    bool ok = read_parts(&parts, block, &table) &&
              read_groups(FLR_MEMBER(root, "groups"), &parts, block) &&
              move_groups(&parts, block) &&
              read_joints(FLR_MEMBER(root, "joints"), block, table.names) &&
              read_paths(FLR_MEMBER(root, "paths"), block, table.names) &&
              read_hands(FLR_MEMBER(root, "hands"), block) && read_review(root, block, table.names);
    element_table_free(&table);
    return ok;
}

/* ---- a text configuration ---- */

typedef struct adoption {
    const char *name;
    flr_scene **scene;
} adoption;

/* a scene of our own from one that is borrowed, with its path and the places of its parts */
static flr_result adopt(void *context, const flr_scene *borrowed, flr_error *error)
{
    adoption *a = context;
    flr_scene *copy;
    flr_error why;
    flr_result result = flr_scene_copy(borrowed, &copy, &why);
    if (result != FLR_OK) return flr_fail(error, result, "%s:1:1: %s", a->name, why.message);
    scene_block *block = (scene_block *)(void *)copy; // its first member
    free(block->path);
    block->path = strdup(a->name);
    if (!block->path) {
        flr_scene_destroy(copy);
        return flr_fail(error, FLR_NO_MEMORY, "%s: no memory for the scene", a->name);
    }
    copy->path = block->path;
    for (size_t i = 0; i < copy->part_count; i++) {
        block->parts[i].line = borrowed->parts[i].line;
        block->parts[i].column = borrowed->parts[i].column;
    }
    *a->scene = copy;
    return FLR_OK;
}

flr_result flr_scene_parse(const char *name, const void *bytes, size_t size, flr_scene **scene,
                           flr_error *error)
{
    // a byte order mark is no part of the text
    const char *text = bytes;
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) text += 3, size -= 3;
    if (size > FLR_SCENE_MAX_BYTES)
        return flr_fail(error, FLR_TOO_LARGE,
                        "%s:1:1: a scene file has at most %d MiB; make several scenes of it", name,
                        (int)(FLR_SCENE_MAX_BYTES >> 20));
    if (flr_kim_recognize(text, size)) {
        adoption a = {name, scene};
        return flr_kim_read(name, text, size, adopt, &a, error);
    }

    flr_json_position where;
    uint64_t limit = flr_scene_memory_limit(size);
    if (flr_scene_cost(text, size, limit, &where) > limit)
        return flr_fail(error, FLR_TOO_LARGE,
                        "%s:%u:%u: too many values: up to here the scene takes %" PRIu64
                        " %s of memory, and a "
                        "file of its size may take no more; make several scenes of it",
                        name, where.line, where.column, limit >> (limit >= 1 << 24 ? 20 : 10),
                        limit >= 1 << 24 ? "MiB" : "KiB");

    json_error_t syntax;
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
    json_t *tree = json_loadb(text ? text : "", size, flags, &syntax);
    if (!tree) {
        if (json_error_code(&syntax) == json_error_out_of_memory)
            return flr_fail(error, FLR_NO_MEMORY, "%s: no memory for the scene", name);
        return flr_fail(error, FLR_BAD_INPUT, "%s:%d:%d: not JSON: %s", name,
                        syntax.line > 0 ? syntax.line : 1, syntax.column > 0 ? syntax.column : 1,
                        syntax.text);
    }
    scene_block *block = calloc(1, sizeof *block);
    char *path = strdup(name);
    if (!block || !path) {
        json_decref(tree);
        free(block);
        free(path);
        return flr_fail(error, FLR_NO_MEMORY, "%s: no memory for the scene", name);
    }
    *block = (scene_block){.scene = flr_default_scene(), .tree = tree, .path = path};
    block->scene.path = path;

    flr_error why = {0};
    flr_value_context context = {name, text, size, 1, &why};
    flr_value root = {.context = &context, .json = tree};
    if (!read_root(&root, block)) {
        flr_scene_destroy(&block->scene);
        if (error) *error = why;
        return why.code;
    }
    *scene = &block->scene;
    return FLR_OK;
}

flr_result flr_scene_read(flr_env *env, const char *path, flr_scene **scene, flr_error *error)
{
    flr_blob text = {0};
    flr_result result = flr_file_read_all(env, path, FLR_SCENE_MAX_BYTES, &text, error);
    if (result != FLR_OK) return result;
    result = flr_scene_parse(path, text.bytes, text.size, scene, error);
    flr_blob_free(&text);
    return result;
}

flr_result flr_scene_copy(const flr_scene *scene, flr_scene **copy, flr_error *error)
{
    flr_blob text;
    flr_scene *found;
    flr_result result = flr_scene_print(scene, &text, error);
    if (result != FLR_OK) return result;
    result = flr_scene_parse("scene", text.bytes, text.size, &found, error);
    flr_blob_free(&text);
    if (result != FLR_OK) return result;
    found->path = NULL;
    *copy = found;
    return FLR_OK;
}
