/* ply_header.h: what the header of a PLY file says is in it.
 *
 * Private to src/mesh. */
#ifndef FLR_MESH_PLY_HEADER_H
#define FLR_MESH_PLY_HEADER_H

#include "mesh/reader.h"

typedef enum flr_ply_type {
    FLR_PLY_NONE, /* of a count: the property is no list */
    FLR_PLY_INT8,
    FLR_PLY_UINT8,
    FLR_PLY_INT16,
    FLR_PLY_UINT16,
    FLR_PLY_INT32,
    FLR_PLY_UINT32,
    FLR_PLY_FLOAT,
    FLR_PLY_DOUBLE
} flr_ply_type;

/* Bytes of a value in a binary file; 0 for FLR_PLY_NONE. */
unsigned flr_ply_size(flr_ply_type type);

/* What a property is to us. */
typedef enum flr_ply_role {
    FLR_PLY_OTHER,
    FLR_PLY_X,
    FLR_PLY_Y,
    FLR_PLY_Z,
    FLR_PLY_INDICES
} flr_ply_role;

typedef struct flr_ply_property {
    flr_ply_type count; /* of a list: the type of its length */
    flr_ply_type type;
    flr_ply_role role;
} flr_ply_property;

typedef enum flr_ply_kind {
    FLR_PLY_UNUSED,
    FLR_PLY_VERTICES,
    FLR_PLY_FACES,
    FLR_PLY_STRIPS
} flr_ply_kind;

typedef struct flr_ply_element {
    char name[32]; /* cut if longer */
    flr_ply_kind kind;
    uint64_t count;
    unsigned first, properties; /* in the list of all properties */
} flr_ply_element;

enum { FLR_PLY_MAX_ELEMENTS = 32, FLR_PLY_MAX_PROPERTIES = 512 };

typedef struct flr_ply_header {
    enum { FLR_PLY_ASCII, FLR_PLY_LITTLE, FLR_PLY_BIG } format;
    flr_ply_element elements[FLR_PLY_MAX_ELEMENTS];
    flr_ply_property properties[FLR_PLY_MAX_PROPERTIES];
    unsigned element_count, property_count;
    const char *data; /* first byte after the header */
} flr_ply_header;

flr_result flr_ply_read_header(flr_reader *reader, flr_ply_header *header);

#endif
