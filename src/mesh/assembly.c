/* the helper's content, or the groups of a mesh, as a tree of placed shapes */
#include "feeler/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/import_content.h"
#include "mesh/unique_names.h"

_Static_assert(FLR_ASSEMBLY_NONE == FLR_STREAM_NONE, "nodes are copied as they are");

/* the assembly and what it points to */
typedef struct assembly_block {
    flr_assembly assembly; /* first, so that one pointer is both */
    flr_assembly_node *nodes;
    flr_mesh **shapes;
    const char **notes;
    char *names, *note_text;
} assembly_block;

static flr_result no_memory(const char *path, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory for the assembly", path);
}

void flr_assembly_destroy(flr_assembly *assembly)
{
    assembly_block *block = (assembly_block *)assembly;
    if (!block) return;
    for (uint32_t i = 0; i < assembly->shape_count; ++i) flr_mesh_destroy(block->shapes[i]);
    free(block->nodes);
    free(block->shapes);
    free(block->notes);
    free(block->names);
    free(block->note_text);
    free(block);
}

static assembly_block *make_block(size_t nodes, size_t shapes)
{
    assembly_block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->nodes = calloc(nodes + 1, sizeof *block->nodes);
    block->shapes = calloc(shapes + 1, sizeof *block->shapes);
    block->assembly.nodes = block->nodes;
    block->assembly.shapes = block->shapes;
    if (block->nodes && block->shapes) return block;
    flr_assembly_destroy(&block->assembly);
    return NULL;
}

/* ---- shapes of a stream ---- */

/* the vertices that the triangles of a group use: from `*low` on, `*count` of them */
static void vertex_range(const flr_stream_content *content, const flr_mesh_group *group,
                         uint32_t *low, uint32_t *count)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < group->triangle_count; ++i)
        for (int k = 0; k < 3; ++k) {
            uint32_t v = content->triangles[group->first_triangle + i].v[k];
            if (v < least) least = v;
            if (v > most) most = v;
        }
    *low = group->triangle_count ? least : 0;
    *count = group->triangle_count ? most - least + 1 : 0;
}

/* the triangles of a group with indices into its range of vertices, moved on by `base` */
static void copy_triangles(const flr_stream_content *content, const flr_mesh_group *group,
                           uint32_t low, uint32_t base, flr_triangle *to)
{
    for (uint32_t i = 0; i < group->triangle_count; ++i)
        for (int k = 0; k < 3; ++k)
            to[i].v[k] = content->triangles[group->first_triangle + i].v[k] - low + base;
}

static flr_result make_shape(const flr_stream_content *content, const flr_mesh_group *group,
                             const char *path, double weld, flr_mesh **shape, flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    uint32_t low;
    vertex_range(content, group, &low, &def.vertex_count);
    flr_triangle *triangles = malloc(group->triangle_count * sizeof *triangles);
    if (!triangles) return no_memory(path, error);
    copy_triangles(content, group, low, 0, triangles);
    def.vertices = content->vertices + low;
    def.triangles = triangles;
    def.triangle_count = group->triangle_count;
    def.weld = weld;
    const flr_mesh_group whole = {.triangle_count = group->triangle_count,
                                  .T_mesh_group = flr_pose_identity(),
                                  .chord = group->chord};
    def.groups = &whole, def.group_count = 1;
    def.names = "", def.names_size = 1;
    flr_error reason;
    flr_result result = flr_mesh_create(&def, shape, &reason);
    free(triangles);
    if (result != FLR_OK) return flr_fail(error, result, "%s: %s", path, reason.message);
    (*shape)->hash = flr_mesh_hash(*shape);
    return FLR_OK;
}

/* shapes that have triangles; `numbers` says which shape a group became */
static flr_result make_shapes(assembly_block *block, const flr_stream_content *content,
                              const char *path, double weld, uint32_t *numbers, flr_error *error)
{
    flr_result result = FLR_OK;
    for (size_t i = 0; i < content->head.group_count && result == FLR_OK; ++i) {
        numbers[i] = FLR_ASSEMBLY_NONE;
        if (content->groups[i].triangle_count == 0) continue;
        uint32_t *count = &block->assembly.shape_count;
        result =
            make_shape(content, &content->groups[i], path, weld, &block->shapes[*count], error);
        if (result == FLR_OK) numbers[i] = (*count)++;
    }
    return result;
}

static bool take_notes(assembly_block *block, flr_stream_content *content)
{
    uint32_t count = 0;
    for (size_t at = 0; at < content->notes_size; at += strlen(content->notes + at) + 1) ++count;
    block->notes = calloc(count + 1u, sizeof *block->notes);
    if (!block->notes) return false;
    block->note_text = content->notes;
    content->notes = NULL;
    const char *at = block->note_text;
    for (uint32_t i = 0; i < count; ++i, at += strlen(at) + 1) block->notes[i] = at;
    block->assembly.notes = block->notes;
    block->assembly.note_count = count;
    return true;
}

/* nodes and names of a stream; the names become the assembly's */
static void take_nodes(assembly_block *block, flr_stream_content *content, const uint32_t *numbers)
{
    flr_assembly *assembly = &block->assembly;
    block->names = content->names;
    content->names = NULL;
    for (size_t i = 0; i < content->head.node_count; ++i) {
        const flr_stream_node *from = &content->nodes[i];
        uint32_t shape = from->group == FLR_STREAM_NONE ? FLR_ASSEMBLY_NONE : numbers[from->group];
        block->nodes[i] = (flr_assembly_node){.name = block->names + from->name,
                                              .parent = from->parent,
                                              .shape = shape,
                                              .colour = from->colour,
                                              .hidden = from->hidden,
                                              .T_root_node = from->T_root_node};
        assembly->part_count += shape != FLR_ASSEMBLY_NONE;
    }
    assembly->node_count = (uint32_t)content->head.node_count;
}

static flr_result from_content(flr_stream_content *content, const char *path, double weld,
                               flr_assembly **assembly, flr_error *error)
{
    const flr_stream_head *head = &content->head;
    assembly_block *block = make_block((size_t)head->node_count, (size_t)head->group_count);
    uint32_t *numbers = calloc((size_t)head->group_count + 1, sizeof *numbers);
    flr_result result =
        block && numbers && take_notes(block, content) ? FLR_OK : no_memory(path, error);
    if (result == FLR_OK) result = make_shapes(block, content, path, weld, numbers, error);
    if (result == FLR_OK) {
        take_nodes(block, content, numbers);
        block->assembly.up = (flr_axis)head->up;
        if (block->assembly.part_count == 0)
            result = flr_fail(error, FLR_BAD_INPUT, "%s: the file places none of its shapes", path);
    }
    free(numbers);
    if (result != FLR_OK)
        flr_assembly_destroy(block ? &block->assembly : NULL);
    else
        *assembly = &block->assembly;
    return result;
}

/* ---- groups of a mesh ---- */

static flr_result from_mesh(const flr_mesh *mesh, const char *path, flr_assembly **assembly,
                            flr_error *error)
{
    assembly_block *block = make_block(mesh->group_count, mesh->group_count);
    if (!block) return no_memory(path, error);
    flr_result result = FLR_OK;
    flr_assembly *made = &block->assembly;
    block->names = malloc(mesh->names_size + 1u);
    if (!block->names) result = no_memory(path, error);
    if (result == FLR_OK && mesh->names_size) memcpy(block->names, mesh->names, mesh->names_size);
    for (uint32_t i = 0; i < mesh->group_count && result == FLR_OK; ++i) {
        const flr_mesh_group *group = &mesh->groups[i];
        if (group->triangle_count == 0) continue;
        flr_mesh **shape = &block->shapes[made->shape_count];
        result = flr_mesh_extract_group(mesh, i, shape, error);
        if (result != FLR_OK) break;
        (*shape)->hash = flr_mesh_hash(*shape);
        block->nodes[made->node_count++] = (flr_assembly_node){.name = block->names + group->name,
                                                               .parent = FLR_ASSEMBLY_NONE,
                                                               .shape = made->shape_count++,
                                                               .colour = FLR_ASSEMBLY_NONE,
                                                               .T_root_node = group->T_mesh_group};
    }
    made->part_count = made->node_count;
    if (result != FLR_OK)
        flr_assembly_destroy(made);
    else
        *assembly = made;
    return result;
}

flr_result flr_assembly_open(flr_env *env, const char *path, const flr_mesh_options *options,
                             flr_assembly **assembly, flr_mesh_report *report, flr_error *error)
{
    flr_mesh_options defaults = flr_default_mesh_options();
    flr_mesh_report own_report;
    if (!report) report = &own_report;
    if (!options) options = &defaults;
    flr_mesh *mesh = NULL;
    flr_result result;
    if (!flr_import_knows(path)) {
        result = flr_mesh_read(env, path, options, &mesh, report, error);
        if (result == FLR_OK) result = from_mesh(mesh, path, assembly, error);
        flr_mesh_destroy(mesh);
        if (result != FLR_UNSUPPORTED || report->format != FLR_FORMAT_FOREIGN) return result;
    }
    flr_stream_content content;
    result = flr_import_content(env, path, options, &content, report, NULL, error);
    if (result != FLR_OK) return result;
    if (content.head.node_count) {
        result = from_content(&content, path, options->weld, assembly, error);
    } else {
        result = flr_content_mesh(&content, path, options->weld, UINT64_MAX, &mesh, error);
        if (result == FLR_OK) result = from_mesh(mesh, path, assembly, error);
        flr_mesh_destroy(mesh);
    }
    flr_stream_content_free(&content);
    return result;
}

/* ---- one mesh of all parts ---- */

/* the arrays of a flat mesh; free all five */
typedef struct flat {
    flr_mesh_group *groups;
    flr_vec3 *vertices;
    flr_triangle *triangles;
    const char **names; /* [2 × part_count]: as in the file, then unique */
    char *name_text;
    size_t names_size, vertex_count, triangle_count;
} flat;

static void flat_free(flat *f)
{
    free(f->groups);
    free(f->vertices);
    free(f->triangles);
    free(f->names);
    free(f->name_text);
}

/* room for all parts where they stand; a shape that stands in many places may make too many triangles */
static flr_result measure_flat(const flr_assembly *assembly, uint64_t limit, flat *f,
                               flr_error *error)
{
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t i = 0; i < assembly->node_count; ++i) {
        if (assembly->nodes[i].shape == FLR_ASSEMBLY_NONE) continue;
        vertices += assembly->shapes[assembly->nodes[i].shape]->vertex_count;
        triangles += assembly->shapes[assembly->nodes[i].shape]->triangle_count;
        uint64_t bytes = vertices * sizeof(flr_vec3) + triangles * sizeof(flr_triangle);
        if (bytes > limit || vertices >= UINT32_MAX || triangles >= UINT32_MAX)
            return flr_fail(error, FLR_TOO_LARGE,
                            "its placed parts have more triangles than fit into %llu MiB; make a "
                            "scene of it (feeler scene), or use a coarser chord tolerance",
                            (unsigned long long)(limit >> 20));
    }
    f->groups = calloc(assembly->part_count, sizeof *f->groups);
    f->vertices = malloc((size_t)vertices * sizeof *f->vertices);
    f->triangles = malloc((size_t)triangles * sizeof *f->triangles);
    f->names = calloc(2 * (size_t)assembly->part_count, sizeof(char *));
    if (f->groups && f->vertices && f->triangles && f->names) return FLR_OK;
    return flr_fail(error, FLR_NO_MEMORY, "not enough memory for its placed parts");
}

static void place(const flr_assembly *assembly, const flr_assembly_node *node, flat *f, size_t at)
{
    const flr_mesh *shape = assembly->shapes[node->shape];
    for (uint32_t i = 0; i < shape->triangle_count; ++i)
        for (int k = 0; k < 3; ++k)
            f->triangles[f->triangle_count + i].v[k] =
                shape->triangles[i].v[k] + (uint32_t)f->vertex_count;
    for (uint32_t i = 0; i < shape->vertex_count; ++i)
        f->vertices[f->vertex_count + i] = flr_pose_apply(node->T_root_node, shape->vertices[i]);
    f->groups[at] = (flr_mesh_group){.first_triangle = (uint32_t)f->triangle_count,
                                     .triangle_count = shape->triangle_count,
                                     .T_mesh_group = node->T_root_node,
                                     .chord = shape->groups[0].chord};
    f->names[at] = node->name;
    f->vertex_count += shape->vertex_count;
    f->triangle_count += shape->triangle_count;
}

/* names in the order of the groups, as a mesh stores them */
static flr_result name_groups(flat *f, size_t count, flr_error *error)
{
    const char **unique = f->names + count;
    char *block = flr_unique_names(f->names, count, NULL, unique);
    for (size_t i = 0; block && i < count; ++i) f->names_size += strlen(unique[i]) + 1;
    f->name_text = block ? malloc(f->names_size) : NULL;
    size_t at = 0;
    for (size_t i = 0; f->name_text && i < count; ++i) {
        size_t length = strlen(unique[i]) + 1;
        memcpy(f->name_text + at, unique[i], length);
        f->groups[i].name = (uint32_t)at;
        at += length;
    }
    free(block);
    return f->name_text ? FLR_OK : flr_fail(error, FLR_NO_MEMORY, "not enough memory for names");
}

flr_result flr_assembly_mesh(const flr_assembly *assembly, double weld, uint64_t limit,
                             flr_mesh **mesh, flr_error *error)
{
    flat f = {0};
    size_t at = 0;
    flr_result result = measure_flat(assembly, limit, &f, error);
    for (uint32_t i = 0; result == FLR_OK && i < assembly->node_count; ++i)
        if (assembly->nodes[i].shape != FLR_ASSEMBLY_NONE)
            place(assembly, &assembly->nodes[i], &f, at++);
    if (result == FLR_OK) result = name_groups(&f, assembly->part_count, error);
    if (result == FLR_OK) {
        flr_mesh_def def = flr_default_mesh_def();
        def.weld = weld;
        def.vertices = f.vertices;
        def.vertex_count = (uint32_t)f.vertex_count;
        def.triangles = f.triangles;
        def.triangle_count = (uint32_t)f.triangle_count;
        def.groups = f.groups;
        def.group_count = assembly->part_count;
        def.names = f.name_text;
        def.names_size = (uint32_t)f.names_size;
        result = flr_mesh_create(&def, mesh, error);
    }
    flat_free(&f);
    return result;
}

/* the groups of a stream without nodes are the parts */
static flr_result plain_mesh(const flr_stream_content *content, double weld, flr_mesh **mesh,
                             flr_error *error)
{
    flr_mesh_def def = flr_default_mesh_def();
    def.weld = weld;
    def.vertices = content->vertices;
    def.vertex_count = (uint32_t)content->head.vertex_count;
    def.triangles = content->triangles;
    def.triangle_count = (uint32_t)content->head.triangle_count;
    def.groups = content->groups;
    def.group_count = (uint32_t)content->head.group_count;
    def.names = content->names;
    def.names_size = (uint32_t)content->head.names_size;
    return flr_mesh_create(&def, mesh, error);
}

flr_result flr_content_mesh(flr_stream_content *content, const char *path, double weld,
                            uint64_t limit, flr_mesh **mesh, flr_error *error)
{
    flr_error why;
    flr_result result;
    if (content->head.node_count == 0) {
        result = plain_mesh(content, weld, mesh, &why);
    } else {
        flr_assembly *assembly = NULL;
        result = from_content(content, path, 0, &assembly, error);
        if (result != FLR_OK) return result;
        result = flr_assembly_mesh(assembly, weld, limit, mesh, &why);
        flr_assembly_destroy(assembly);
    }
    return result == FLR_OK ? FLR_OK : flr_fail(error, result, "%s: %s", path, why.message);
}

/* ---- which way is up ---- */

flr_axis flr_assembly_likely_up(const flr_assembly *assembly)
{
    const double far_less = 0.7;
    if (assembly->up != FLR_AXIS_NONE) return assembly->up;
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < assembly->node_count; ++i) {
        const flr_assembly_node *node = &assembly->nodes[i];
        if (node->shape != FLR_ASSEMBLY_NONE)
            box = flr_box3_union(
                box, flr_box3_transform(node->T_root_node, assembly->shapes[node->shape]->bounds));
    }
    // z is what most CAD programs mean, and machines are seldom higher than wide
    flr_vec3 size = flr_box3_size(box);
    bool low = size.y < far_less * size.z && size.y < far_less * size.x;
    return low ? FLR_AXIS_Y : FLR_AXIS_Z;
}

flr_quat flr_axis_upright(flr_axis up)
{
    const double half = 0.70710678118654752440;
    if (up == FLR_AXIS_X) return (flr_quat){half, 0, -half, 0};
    if (up == FLR_AXIS_Y) return (flr_quat){half, half, 0, 0};
    return (flr_quat){1, 0, 0, 0};
}
