/* collect.h: what a foreign reader finds, on its way into the mesh stream.
 *
 * A reader calls flr_collect_group() for each part, then adds its vertices and triangles. All
 * lengths are metres, all vertices in the mesh's frame. Out of memory ends the process with the
 * status that feeler understands, so that no reader needs to check.
 */
#ifndef FLR_COLLECT_H
#define FLR_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh/mesh_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLR_COLLECT_NONE = UINT32_MAX >> 1 }; /* a vertex that cannot be used */

typedef struct flr_collect {
    flr_stream_content content;
    size_t vertex_room, triangle_room, group_room, names_room;
    char trouble[160]; /* the first thing that was left out; "" if none */
    char error[512];   /* why reading failed, without the file's name */
} flr_collect;

/* How a file is to be read; from feeler's command line. */
typedef struct flr_import_job {
    const char *name; /* of the file, without its folder */
    const uint8_t *bytes;
    size_t size;
    int folder;  /* descriptor, -1: none */
    double unit; /* metres per unit of the file; 0: what the file says */
    double chord;
    bool tolerant;
} flr_import_job;

/* Memory or the end of the process. */
void *flr_collect_grow(void *array, size_t *room, size_t need, size_t size);
void flr_collect_out_of_memory(void) __attribute__((noreturn));

/* Begins a part. `name` is copied; NULL: none. */
void flr_collect_group(flr_collect *collect, const char *name, flr_pose T_mesh_group);

/* Adds a vertex and returns its index: FLR_COLLECT_NONE if it is not finite or too far out. */
uint32_t flr_collect_vertex(flr_collect *collect, flr_vec3 vertex);

/* Adds a triangle to the part at hand; leaves it out if a corner is FLR_COLLECT_NONE. */
void flr_collect_triangle(flr_collect *collect, uint32_t a, uint32_t b, uint32_t c);

/* Counts a face that is left out because it points nowhere. */
void flr_collect_malformed(flr_collect *collect, const char *what);

/* How the sentence about a file ends that nothing else can be done about. */
#define FLR_ADVICE "; export it again or convert it to STL"

/* Sets the sentence and returns the code. */
flr_result flr_collect_fail(flr_collect *collect, flr_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* When all is in: refuses what a strict reader must refuse, drops empty groups, numbers parts of
 * equal name ("bolt:1", "bolt:2"). */
flr_result flr_collect_finish(flr_collect *collect, bool tolerant);

#ifdef __cplusplus
}
#endif
#endif
