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

void flr_collect_group(flr_collect *collect, const char *name, flr_pose T_mesh_group)
{
    flr_stream_content *content = &collect->content;
    size_t count = (size_t)content->head.group_count;
    // a part without triangles makes room for the next
    if (count > 0 && content->groups[count - 1].triangle_count == 0) {
        content->head.names_size = content->groups[count - 1].name;
        --count;
    }
    content->groups =
        flr_collect_grow(content->groups, &collect->group_room, count + 1, sizeof *content->groups);
    content->groups[count] = (flr_mesh_group){
        .name = add_name(collect, name ? name : ""),
        .first_triangle = (uint32_t)content->head.triangle_count,
        .T_mesh_group = T_mesh_group,
    };
    content->head.group_count = count + 1;
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

typedef struct numbered {
    const char *name;
    uint32_t group;
} numbered;

static int by_name(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : left->group < right->group ? -1 : left->group > right->group;
}

/* parts of equal name are told apart by a number, in their order */
static void number_names(flr_collect *collect)
{
    flr_stream_content *content = &collect->content;
    size_t count = (size_t)content->head.group_count, room = 0;
    char *old = content->names;
    numbered *order = flr_collect_grow(NULL, &room, count, sizeof *order);
    for (size_t i = 0; i < count; ++i)
        order[i] = (numbered){old + content->groups[i].name, (uint32_t)i};
    qsort(order, count, sizeof *order, by_name);

    content->names = NULL;
    content->head.names_size = 0;
    collect->names_room = 0;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && !strcmp(order[first].name, order[next].name);)
            ++next;
        for (size_t i = first; i < next; ++i) {
            char name[1100];
            bool alone = next - first == 1 || !order[i].name[0];
            if (alone)
                snprintf(name, sizeof name, "%s", order[i].name);
            else
                snprintf(name, sizeof name, "%s:%zu", order[i].name, i - first + 1);
            content->groups[order[i].group].name = add_name(collect, name);
        }
    }
    free(order);
    free(old);
}

flr_result flr_collect_finish(flr_collect *collect, bool tolerant)
{
    flr_stream_head *head = &collect->content.head;
    if ((head->dropped_nonfinite || head->dropped_malformed) && !tolerant)
        return flr_collect_fail(collect, FLR_BAD_INPUT,
                                "%s; export it again, or leave such triangles out (--tolerant)",
                                collect->trouble);
    if (head->triangle_count == 0)
        return flr_collect_fail(collect, FLR_BAD_INPUT, "the file holds no surfaces" FLR_ADVICE);
    // the last part may be empty
    if (collect->content.groups[head->group_count - 1].triangle_count == 0) --head->group_count;
    if (head->group_count > FLR_STREAM_MAX_GROUPS)
        return flr_collect_fail(collect, FLR_TOO_LARGE, "%llu parts are more than feeler takes",
                                (unsigned long long)head->group_count);
    number_names(collect);
    return FLR_OK;
}
