/* a scene from CAD files */
#include "scene/scene_import.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "mesh/unique_names.h"
#include "scene/robot.h"

enum { NAME_BYTES = 200, PATH_BYTES = 4096, MAX_DEPTH = 64 };

/* What the files become. Groups and parts stand in the order of the files' trees. */
typedef struct import_block {
    const flr_scene_import_def *def;
    flr_assembly **files; /* [file_count] */
    size_t file;          /* that is being read */
    size_t group_count, part_count;
    /* of groups, then of parts: names as in the files, cut to NAME_BYTES; then unique */
    char (*raw)[NAME_BYTES + 1];
    const char **names, **unique;
    char *group_text, *part_text; /* what `unique` points to */
    size_t *group_in, *part_in;   /* the group that each is in; SIZE_MAX: none */
    flr_scene_group *groups;
    flr_scene_part *parts;
    const flr_mesh **shapes; /* [part_count] */
    char (*mesh_files)[PATH_BYTES];
} import_block;

static flr_result no_memory(flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "no memory to make a scene");
}

static void free_block(import_block *b)
{
    for (size_t i = 0; b->files && i < b->def->file_count; i++) flr_assembly_destroy(b->files[i]);
    free(b->files);
    free(b->raw);
    free(b->names);
    free(b->unique);
    free(b->group_text);
    free(b->part_text);
    free(b->group_in);
    free(b->part_in);
    free(b->groups);
    free(b->parts);
    free(b->shapes);
    free(b->mesh_files);
}

static bool go_on(const import_block *b, double done, const char *stage)
{
    const flr_scene_import_def *def = b->def;
    if (def->options.go_on && !def->options.go_on(def->options.context)) return false;
    return !def->progress || def->progress(def->context, done, stage);
}

/* asked while the import helper reads */
static bool reading(void *context)
{
    const import_block *b = context;
    return go_on(b, 0.7 * (double)b->file / (double)b->def->file_count, "reading");
}

/* "dir/pump.step" is "pump" */
static void stem_of(const char *path, char stem[NAME_BYTES + 1])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(stem, NAME_BYTES + 1, "%.*s", length < NAME_BYTES ? length : NAME_BYTES, name);
    flr_text_clean(stem, strlen(stem));
}

/* a name that a scene file can hold, cut between characters */
static void clean_name(const char *name, const char *instead, char to[NAME_BYTES + 1])
{
    size_t size = 0, left = strlen(name), step;
    while (left && (step = flr_utf8_size(name + size, left, NULL)) && size + step <= NAME_BYTES)
        size += step, left -= step;
    memcpy(to, name, size);
    to[size] = 0;
    // blanks alone are no name
    if (strspn(to, " ") == size) snprintf(to, NAME_BYTES + 1, "%s", instead);
}

/* ---- reading ---- */

/* Is it a group? Several files each get one for themselves. */
static bool has_children(const flr_assembly *a, const bool *parents, uint32_t node)
{
    return parents[node] || a->nodes[node].shape == FLR_ASSEMBLY_NONE;
}

static bool own_group(const import_block *b, size_t file)
{
    return b->def->file_count > 1 && b->files[file]->node_count > 1;
}

static bool *find_parents(const flr_assembly *a)
{
    bool *parents = calloc(a->node_count + 1u, 1);
    for (uint32_t i = 0; parents && i < a->node_count; i++)
        if (a->nodes[i].parent != FLR_ASSEMBLY_NONE) parents[a->nodes[i].parent] = true;
    return parents;
}

static void add_note(char **notes, const char *file, const char *note)
{
    size_t have = *notes ? strlen(*notes) : 0, more = strlen(file) + strlen(note) + 4;
    char *longer = realloc(*notes, have + more);
    if (!longer) return; /* the report still has the count */
    snprintf(longer + have, more, "%s: %s\n", file, note);
    *notes = longer;
}

static flr_result read_files(import_block *b, flr_scene_import_report *report, flr_error *error)
{
    const flr_scene_import_def *def = b->def;
    flr_mesh_options options = def->options;
    options.go_on = reading;
    options.context = b;
    b->files = calloc(def->file_count, sizeof(flr_assembly *));
    if (!b->files) return no_memory(error);
    for (size_t i = 0; i < def->file_count; i++) {
        flr_mesh_report read;
        b->file = i;
        if (!reading(b)) return flr_fail(error, FLR_CANCELLED, "stopped");
        flr_result result =
            flr_assembly_open(def->env, def->files[i], &options, &b->files[i], &read, error);
        if (result != FLR_OK) return result;
        const flr_assembly *a = b->files[i];
        report->faces_skipped += read.faces_skipped;
        for (uint32_t k = 0; k < a->note_count; k++)
            add_note(&report->notes, def->files[i], a->notes[k]);
        bool *parents = find_parents(a);
        if (!parents) return no_memory(error);
        b->part_count += a->part_count;
        b->group_count += own_group(b, i);
        for (uint32_t k = 0; k < a->node_count; k++) b->group_count += has_children(a, parents, k);
        free(parents);
    }
    return FLR_OK;
}

static flr_result make_arrays(import_block *b, flr_error *error)
{
    size_t all = b->group_count + b->part_count;
    b->raw = calloc(all + 1, sizeof *b->raw);
    b->names = calloc(all + 1, sizeof(char *));
    b->unique = calloc(all + 1, sizeof(char *));
    b->group_in = calloc(b->group_count + 1, sizeof(size_t));
    b->part_in = calloc(b->part_count + 1, sizeof(size_t));
    b->groups = calloc(b->group_count + 1, sizeof *b->groups);
    b->parts = calloc(b->part_count + 1, sizeof *b->parts);
    b->shapes = calloc(b->part_count + 1, sizeof(flr_mesh *));
    b->mesh_files = calloc(b->part_count + 1, sizeof *b->mesh_files);
    bool ok = b->raw && b->names && b->unique && b->group_in && b->part_in && b->groups &&
              b->parts && b->shapes && b->mesh_files;
    return ok ? FLR_OK : no_memory(error);
}

/* the nodes of one file behind those of the files before it */
static flr_result add_file(import_block *b, size_t file, size_t *groups, size_t *parts,
                           flr_error *error)
{
    const flr_assembly *a = b->files[file];
    bool *parents = find_parents(a);
    size_t *group_of = calloc(a->node_count + 1u, sizeof *group_of); /* of nodes that are one */
    flr_axis up = b->def->up != FLR_AXIS_NONE ? b->def->up : flr_assembly_likely_up(a);
    flr_pose T_world_file = {.q = flr_axis_upright(up)};
    char stem[NAME_BYTES + 1];
    if (b->def->name)
        flr_text_copy(stem, sizeof stem, b->def->name);
    else
        stem_of(b->def->files[file], stem);
    size_t root = SIZE_MAX;
    if (parents && group_of && own_group(b, file)) {
        root = (*groups)++;
        b->group_in[root] = SIZE_MAX;
        memcpy(b->raw[root], stem, sizeof stem);
    }
    for (uint32_t i = 0; parents && group_of && i < a->node_count; i++) {
        const flr_assembly_node *node = &a->nodes[i];
        size_t in = node->parent == FLR_ASSEMBLY_NONE ? root : group_of[node->parent];
        if (has_children(a, parents, i)) {
            group_of[i] = (*groups)++;
            b->group_in[group_of[i]] = in;
            clean_name(node->name, "group", b->raw[group_of[i]]);
            in = group_of[i];
        }
        if (node->shape == FLR_ASSEMBLY_NONE) continue;
        size_t k = (*parts)++;
        flr_scene_part *part = &b->parts[k];
        *part = flr_default_scene_part();
        part->unit = 1;
        part->hidden = node->hidden;
        part->chord = a->shapes[node->shape]->groups[0].chord;
        part->T_world_part = flr_pose_mul(T_world_file, node->T_root_node);
        if (node->colour != FLR_ASSEMBLY_NONE) part->colour = node->colour;
        b->part_in[k] = in;
        b->shapes[k] = a->shapes[node->shape];
        clean_name(node->name, stem, b->raw[b->group_count + k]);
    }
    bool ok = parents && group_of;
    free(parents);
    free(group_of);
    return ok ? FLR_OK : no_memory(error);
}

static flr_result name_all(import_block *b, flr_error *error)
{
    size_t groups = b->group_count, parts = b->part_count;
    for (size_t i = 0; i < groups + parts; i++) b->names[i] = b->raw[i];
    b->group_text = flr_unique_names(b->names, groups, "group", b->unique);
    b->part_text = flr_unique_names(b->names + groups, parts, "part", b->unique + groups);
    if (!b->group_text || !b->part_text) return no_memory(error);
    for (size_t i = 0; i < groups; i++) {
        b->groups[i].name = b->unique[i];
        if (b->group_in[i] != SIZE_MAX) b->groups[i].in = b->unique[b->group_in[i]];
    }
    for (size_t i = 0; i < parts; i++) {
        b->parts[i].name = b->unique[groups + i];
        if (b->part_in[i] != SIZE_MAX) b->parts[i].in = b->unique[b->part_in[i]];
    }
    return FLR_OK;
}

/* ---- which parts move ---- */

static bool fits(const char *pattern, const char *raw, const char *unique)
{
    return strcmp(pattern, unique) == 0 || fnmatch(pattern, raw, 0) == 0 ||
           fnmatch(pattern, unique, 0) == 0;
}

/* does a pattern name this part, a group around it, or both as a path? */
static bool matches(const import_block *b, const char *pattern, size_t part)
{
    const char *unique = b->unique[b->group_count + part];
    if (fits(pattern, b->raw[b->group_count + part], unique)) return true;
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s", unique);
    size_t at = b->part_in[part];
    for (int depth = 0; at != SIZE_MAX && depth < MAX_DEPTH; depth++, at = b->group_in[at]) {
        if (fits(pattern, b->raw[at], b->unique[at])) return true;
        char longer[PATH_BYTES];
        length = snprintf(longer, sizeof longer, "%s/%s", b->unique[at], path);
        if (length >= (int)sizeof longer) return false;
        memcpy(path, longer, (size_t)length + 1);
        if (fnmatch(pattern, path, 0) == 0) return true;
    }
    return false;
}

/* sets `moving` of all parts that one of the patterns names */
static flr_result apply_patterns(import_block *b, const char *patterns, bool moving,
                                 flr_error *error)
{
    if (!patterns[strspn(patterns, ",")])
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "a list of names to %s names nothing; write names between commas",
                        moving ? "move" : "fix");
    for (const char *at = patterns; *at;) {
        char pattern[PATH_BYTES];
        size_t size = strcspn(at, ",");
        if (size >= sizeof pattern)
            return flr_fail(error, FLR_BAD_ARGUMENT, "a pattern of %zu bytes is too long", size);
        memcpy(pattern, at, size);
        pattern[size] = 0;
        at += size + (at[size] == ',');
        if (!size) continue;
        size_t found = 0;
        for (size_t i = 0; i < b->part_count; i++)
            if (matches(b, pattern, i)) b->parts[i].moving = moving, found++;
        if (!found)
            return flr_fail(error, FLR_NOT_FOUND,
                            "no part or group is called \"%.60s\"; feeler info lists them",
                            pattern);
    }
    return FLR_OK;
}

static flr_result choose_moving(import_block *b, flr_error *error)
{
    const flr_scene_import_def *def = b->def;
    double largest = -1;
    size_t base = 0;
    for (size_t i = 0; i < b->part_count; i++) {
        b->parts[i].moving = !def->move;
        double size = flr_vec3_length2(flr_box3_size(b->shapes[i]->bounds));
        if (size > largest) largest = size, base = i;
    }
    // a single part has nothing to fit into yet; what may come beside it does not have to move
    if (!def->move && !def->fix && b->part_count > 1) b->parts[base].moving = false;
    flr_result result = def->move ? apply_patterns(b, def->move, true, error) : FLR_OK;
    if (result == FLR_OK && def->fix) result = apply_patterns(b, def->fix, false, error);
    return result;
}

/* ---- writing ---- */

void flr_scene_parts_folder(const char *path, char *folder, size_t size)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int length = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    snprintf(folder, size, "%.*s_parts", length, path);
}

static int by_shape(const void *a, const void *b)
{
    const flr_mesh *one = *(const flr_mesh *const *)a, *other = *(const flr_mesh *const *)b;
    if (one->hash.high != other->hash.high) return one->hash.high < other->hash.high ? -1 : 1;
    return one->hash.low < other->hash.low ? -1 : one->hash.low > other->hash.low;
}

/* each distinct shape once, named by its content as saved scenes do */
static flr_result write_shapes(import_block *b, const char *folder, flr_scene_import_report *report,
                               flr_error *error)
{
    const flr_mesh **order = calloc(b->part_count, sizeof(flr_mesh *));
    if (!order) return no_memory(error);
    memcpy(order, b->shapes, b->part_count * sizeof(flr_mesh *));
    qsort(order, b->part_count, sizeof(flr_mesh *), by_shape);
    flr_result result = FLR_OK;
    for (size_t i = 0; i < b->part_count && result == FLR_OK; i++) {
        if (i && by_shape(&order[i - 1], &order[i]) == 0) continue;
        char path[2 * PATH_BYTES], hash[FLR_HASH_TEXT_SIZE];
        bool same = false;
        flr_hash_print(order[i]->hash, hash);
        snprintf(path, sizeof path, "%s/%s.ply", folder, hash);
        report->shapes++;
        report->triangles += order[i]->triangle_count;
        if (!go_on(b, 0.7 + 0.3 * (double)i / (double)b->part_count, "writing"))
            result = flr_fail(error, FLR_CANCELLED, "stopped");
        if (result == FLR_OK)
            result = flr_mesh_is_in_ply(b->def->env, path, order[i], 1, &same, error);
        if (result == FLR_OK && !same)
            result = flr_mesh_write(b->def->env, path, order[i], 1, error);
    }
    free(order);
    return result;
}

static flr_result write_scene(import_block *b, const char *folder, flr_error *error)
{
    const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
    for (size_t i = 0; i < b->part_count; i++) {
        char hash[FLR_HASH_TEXT_SIZE];
        flr_hash_print(b->shapes[i]->hash, hash);
        snprintf(b->mesh_files[i], sizeof b->mesh_files[i], "%.4000s/%s.ply", last, hash);
        b->parts[i].file = b->mesh_files[i];
    }
    char name[NAME_BYTES + 1];
    stem_of(b->def->files[0], name);
    flr_scene scene = flr_default_scene();
    scene.name = name[0] ? name : "scene";
    scene.unit = 0.001;
    scene.voxel = b->def->voxel;
    scene.parts = b->parts;
    scene.part_count = b->part_count;
    scene.groups = b->group_count ? b->groups : NULL;
    scene.group_count = b->group_count;
    return flr_scene_write(b->def->env, b->def->out, &scene, error);
}

static void fill_report(const import_block *b, flr_scene_import_report *report)
{
    report->parts = b->part_count;
    report->groups = b->group_count;
    report->up = b->def->up != FLR_AXIS_NONE ? b->def->up : flr_assembly_likely_up(b->files[0]);
    for (size_t i = 0; i < b->part_count; i++) {
        report->moving += b->parts[i].moving;
        report->hidden += b->parts[i].hidden;
    }
}

flr_result flr_scene_import(const flr_scene_import_def *def, flr_scene_import_report *report,
                            flr_error *error)
{
    for (size_t i = 0; i < def->file_count; i++) {
        if (!flr_robot_recognize(def->env, def->files[i])) continue;
        if (def->file_count > 1)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "%s describes a robot: make a scene of it alone", def->files[i]);
        return flr_robot_import(def, report, error);
    }
    import_block b = {.def = def};
    char folder[PATH_BYTES];
    *report = (flr_scene_import_report){0};
    if (strlen(def->out) + 64 > PATH_BYTES)
        return flr_fail(error, FLR_TOO_LARGE, "%s: this name is too long", def->out);
    flr_scene_parts_folder(def->out, folder, sizeof folder);
    size_t groups = 0, parts = 0;
    flr_result result = read_files(&b, report, error);
    if (result == FLR_OK) result = make_arrays(&b, error);
    for (size_t i = 0; i < def->file_count && result == FLR_OK; i++)
        result = add_file(&b, i, &groups, &parts, error);
    if (result == FLR_OK) result = name_all(&b, error);
    if (result == FLR_OK) result = choose_moving(&b, error);
    if (result == FLR_OK) result = flr_path_make_folder(def->env, folder, error);
    if (result == FLR_OK) result = write_shapes(&b, folder, report, error);
    if (result == FLR_OK) result = write_scene(&b, folder, error);
    if (result == FLR_OK) fill_report(&b, report);
    free_block(&b);
    if (result != FLR_OK) {
        free(report->notes);
        report->notes = NULL;
    }
    return result;
}

bool flr_scene_can_import(const char *path)
{
    static const char *const own[] = {"stl", "obj", "ply", "itri", "wrl", "iv", "urdf"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof own / sizeof *own; i++)
        if (strcasecmp(dot + 1, own[i]) == 0) return true;
    return flr_import_knows(path);
}
