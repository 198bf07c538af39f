/* polygon.h: faces given by indices into a list of positions, cut into triangles.
 *
 * Private to src/mesh; for OBJ and PLY. */
#ifndef FLR_MESH_POLYGON_H
#define FLR_MESH_POLYGON_H

#include "mesh/reader.h"

/* Polygons that are no fan are cut only up to this many corners: the work grows with the square. */
enum { FLR_POLYGON_MAX_CORNERS = 4096 };

typedef struct flr_faces {
    flr_vec3 *positions; /* [count], metres, as in the file, not checked */
    size_t count, capacity;
    uint32_t *numbers; /* [count], the welded vertex + 1 once known */
    size_t numbers_capacity;
    uint32_t *corners; /* [corner_count], the face at hand, as indices below count */
    size_t corner_count, corner_capacity;
    /* the corners that are left while a polygon is cut, as a ring */
    uint16_t next[FLR_POLYGON_MAX_CORNERS], previous[FLR_POLYGON_MAX_CORNERS];
    flr_triangle waiting[FLR_WELD_BATCH / 3]; /* cut, not yet welded */
    size_t waiting_count;
} flr_faces;

void flr_faces_free(flr_faces *faces, flr_reader *reader);

/* Room for `more` positions beyond `count`. */
flr_result flr_faces_reserve(flr_faces *faces, flr_reader *reader, size_t more);

/* Appends a position. */
static inline flr_result flr_faces_position(flr_faces *faces, flr_reader *reader, flr_vec3 position)
{
    if (faces->count == faces->capacity) {
        flr_result result = flr_faces_reserve(faces, reader, 1);
        if (result != FLR_OK) return result;
    }
    if (faces->count % 1024 == 1023) { /* the reader may have to stop */
        flr_result result = flr_reader_built(reader, FLR_OK);
        if (result != FLR_OK) return result;
    }
    faces->positions[faces->count++] = position;
    return FLR_OK;
}

/* All positions are there. Gives back the memory that they do not use. */
flr_result flr_faces_begin(flr_faces *faces, flr_reader *reader);

/* Room for faces of up to `count` corners: spares copying, nothing else. */
void flr_faces_expect_corners(flr_faces *faces, flr_reader *reader, size_t count);

/* Appends to the face at hand. */
static inline flr_result flr_faces_corner(flr_faces *faces, flr_reader *reader, uint32_t corner)
{
    if (faces->corner_count == faces->corner_capacity) {
        flr_result result;
        faces->corners =
            flr_budget_grow(&reader->builder.budget, faces->corners, &faces->corner_capacity,
                            faces->corner_count + 1, sizeof corner, &result);
        if (result != FLR_OK) return flr_reader_built(reader, result);
    }
    faces->corners[faces->corner_count++] = corner;
    return FLR_OK;
}

/* The face at hand, at least three corners, becomes triangles: as a fan from its first corner
 * where that is right, else by clipping ears. `at` is where it stands in the file. Faces with bad
 * positions are complained about and counted. */
flr_result flr_faces_add(flr_faces *faces, flr_reader *reader, const char *at);

/* Hands the triangles that wait to the builder: at the end, and before a group begins. */
flr_result flr_faces_flush(flr_faces *faces, flr_reader *reader);

#endif
