/* what a foreign reader finds, on its way into the mesh stream */
#include "collect.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void flr_collect_out_of_memory(void) { _exit(FLR_STREAM_EXIT_MEMORY); }

void *flr_collect_grow(void *array, size_t *room, size_t need, size_t size)
{
    if (need <= *room) return array;
    size_t more = *room + *room / 2 + 64;
    if (more < need) more = need;
    if (more > SIZE_MAX / size) flr_collect_out_of_memory();
    void *grown = realloc(array, more * size);
    if (!grown) flr_collect_out_of_memory();
    *room = more;
    return grown;
}

static uint32_t add_name(flr_collect *collect, const char *name)
{
    flr_stream_content *content = &collect->content;
    size_t at = (size_t)content->head.names_size, length = strnlen(name, 1000);
    content->names = flr_collect_grow(content->names, &collect->names_room, at + length + 1, 1);
    memcpy(content->names + at, name, length);
    content->names[at + length] = 0;
    content->head.names_size = at + length + 1;
    return (uint32_t)at;
}

uint32_t flr_collect_shape(flr_collect *collect, const char *name)
{
    flr_stream_content *content = &collect->content;
    size_t count = (size_t)content->head.group_count;
    content->groups =
        flr_collect_grow(content->groups, &collect->group_room, count + 1, sizeof *content->groups);
    content->groups[count] = (flr_mesh_group){
        .name = add_name(collect, name ? name : ""),
        .first_triangle = (uint32_t)content->head.triangle_count,
        .T_mesh_group = {.q.w = 1},
    };
    content->head.group_count = count + 1;
    return (uint32_t)count;
}

void flr_collect_chord(flr_collect *collect, double chord)
{
    collect->content.groups[collect->content.head.group_count - 1].chord = chord;
}

uint32_t flr_collect_node(flr_collect *collect, const char *name, flr_stream_node node)
{
    flr_stream_content *content = &collect->content;
    size_t count = (size_t)content->head.node_count;
    content->nodes =
        flr_collect_grow(content->nodes, &collect->node_room, count + 1, sizeof *content->nodes);
    node.name = add_name(collect, name ? name : "");
    content->nodes[count] = node;
    content->head.node_count = count + 1;
    return (uint32_t)count;
}

void flr_collect_note(flr_collect *collect, const char *format, ...)
{
    enum { MAX_NOTES = 900, MAX_NOTE = 1000 };
    flr_stream_content *content = &collect->content;
    if (content->warnings++ >= MAX_NOTES) return;
    content->notes =
        flr_collect_grow(content->notes, &collect->notes_room, content->notes_size + MAX_NOTE, 1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(content->notes + content->notes_size, MAX_NOTE, format, arguments);
    va_end(arguments);
    content->notes_size += strlen(content->notes + content->notes_size) + 1;
}

uint32_t flr_collect_colour(double red, double green, double blue)
{
    double parts[3] = {red, green, blue};
    uint32_t colour = 0;
    for (int i = 0; i < 3; ++i) {
        // written so that NaN becomes 0
        double part = parts[i] > 0 ? (parts[i] < 1 ? parts[i] : 1) : 0;
        colour = colour << 8 | (uint32_t)(part * 255 + 0.5);
    }
    return colour;
}

uint32_t flr_collect_vertex(flr_collect *collect, flr_vec3 vertex)
{
    flr_stream_content *content = &collect->content;
    ++content->head.vertices_in_file;
    // written so that NaN fails
    if (!(fabs(vertex.x) <= FLR_MESH_MAX_COORDINATE && fabs(vertex.y) <= FLR_MESH_MAX_COORDINATE &&
          fabs(vertex.z) <= FLR_MESH_MAX_COORDINATE))
        return FLR_COLLECT_NONE;
    size_t count = (size_t)content->head.vertex_count;
    if (count >= FLR_COLLECT_NONE) flr_collect_out_of_memory();
    content->vertices = flr_collect_grow(content->vertices, &collect->vertex_room, count + 1,
                                         sizeof *content->vertices);
    content->vertices[count] = vertex;
    content->head.vertex_count = count + 1;
    return (uint32_t)count;
}

static const char *group_name(const flr_collect *collect)
{
    const flr_stream_content *content = &collect->content;
    return content->names + content->groups[content->head.group_count - 1].name;
}

void flr_collect_triangle(flr_collect *collect, uint32_t a, uint32_t b, uint32_t c)
{
    flr_stream_content *content = &collect->content;
    ++content->head.triangles_in_file;
    if (a == FLR_COLLECT_NONE || b == FLR_COLLECT_NONE || c == FLR_COLLECT_NONE) {
        ++content->head.dropped_nonfinite;
        if (!collect->trouble[0])
            snprintf(collect->trouble, sizeof collect->trouble,
                     "part '%.80s': a coordinate is not finite or too far out",
                     group_name(collect));
        return;
    }
    size_t count = (size_t)content->head.triangle_count;
    if (count >= FLR_COLLECT_NONE) flr_collect_out_of_memory();
    content->triangles = flr_collect_grow(content->triangles, &collect->triangle_room, count + 1,
                                          sizeof *content->triangles);
    content->triangles[count] = (flr_triangle){{a, b, c}};
    content->head.triangle_count = count + 1;
    ++content->groups[content->head.group_count - 1].triangle_count;
}

void flr_collect_malformed(flr_collect *collect, const char *what)
{
    ++collect->content.head.dropped_malformed;
    if (!collect->trouble[0])
        snprintf(collect->trouble, sizeof collect->trouble, "part '%.80s': %s", group_name(collect),
                 what);
}

flr_result flr_collect_fail(flr_collect *collect, flr_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(collect->error, sizeof collect->error, format, arguments);
    va_end(arguments);
    return code;
}

/* ---- finishing ---- */

flr_result flr_collect_finish(flr_collect *collect, bool tolerant)
{
    flr_stream_head *head = &collect->content.head;
    if ((head->dropped_nonfinite || head->dropped_malformed) && !tolerant)
        return flr_collect_fail(collect, FLR_BAD_INPUT,
                                "%s; export it again, or leave such triangles out (--tolerant)",
                                collect->trouble);
    if (head->triangle_count == 0)
        return flr_collect_fail(collect, FLR_BAD_INPUT, "the file holds no surfaces" FLR_ADVICE);
    if (head->group_count > FLR_STREAM_MAX_GROUPS || head->node_count > FLR_STREAM_MAX_NODES)
        return flr_collect_fail(collect, FLR_TOO_LARGE, "%llu parts are more than feeler takes",
                                (unsigned long long)head->node_count);
    return FLR_OK;
}
