/* collect.h: what a foreign reader finds, on its way into the mesh stream.
 *
 * A reader calls flr_collect_shape() for each shape, then adds its vertices and triangles in the
 * shape's own frame. It adds the tree by flr_collect_node(), parents before children; a shape may
 * be placed by any number of nodes. All lengths are metres. Out of memory ends the process with the
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
    size_t vertex_room, triangle_room, group_room, node_room, names_room, notes_room;
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

/* Begins a shape and returns its number. `name` is copied, for messages; NULL: none. */
uint32_t flr_collect_shape(flr_collect *collect, const char *name);

/* How far the triangles of the shape at hand may stray from its exact surface, metres. */
void flr_collect_chord(flr_collect *collect, double chord);

/* Adds a node and returns its number; its name is copied, NULL: none. */
uint32_t flr_collect_node(flr_collect *collect, const char *name, flr_stream_node node);

/* Lists what was left out of the file, as one sentence; more than 900 are only counted. */
void flr_collect_note(flr_collect *collect, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a vertex and returns its index: FLR_COLLECT_NONE if it is not finite or too far out. */
uint32_t flr_collect_vertex(flr_collect *collect, flr_vec3 vertex);

/* Adds a triangle to the shape at hand; leaves it out if a corner is FLR_COLLECT_NONE. */
void flr_collect_triangle(flr_collect *collect, uint32_t a, uint32_t b, uint32_t c);

/* Counts a face that is left out because it points nowhere. */
void flr_collect_malformed(flr_collect *collect, const char *what);

/* How the sentence about a file ends that nothing else can be done about. */
#define FLR_ADVICE "; export it again or convert it to STL"

/* Sets the sentence and returns the code. */
flr_result flr_collect_fail(flr_collect *collect, flr_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The sRGB colour of red, green and blue from 0 to 1. */
uint32_t flr_collect_colour(double red, double green, double blue);

/* When all is in: refuses what a strict reader must refuse. */
flr_result flr_collect_finish(flr_collect *collect, bool tolerant);

#ifdef __cplusplus
}
#endif
#endif
