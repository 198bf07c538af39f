/* mesh_levels.h: meshes as clients get them: coarser where they want less, in chunks, compressed
 *
 *     switch (flr_levels_get(levels, engine, mesh, max_triangles, packed, &level)) {
 *     case FLR_AGAIN: …          a worker makes it; wake() is called when it is there: ask again
 *     case FLR_OK: …             send its chunks
 *     }
 *     flr_levels_release(levels, level);
 *
 * Level 0 is the mesh itself, level k has about a 4^k-th of its triangles. A level is made once, by a worker, and kept
 * under the mesh's content hash until the memory is wanted for others. Chunks have 16-bit indices and can be drawn by
 * themselves.
 *
 * Packed, positions are rounded to 17 significant bits: a part of 4 m is shown to 0.03 mm. Contact never reads them.
 *
 * Thread: control, where a function does not say otherwise. */
#ifndef FLR_SERVER_MESH_LEVELS_H
#define FLR_SERVER_MESH_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/mesh.h"
#include "sim/engine.h"

enum {
    FLR_LEVEL_VERTICES = 32768,     /* of a chunk at most */
    FLR_LEVEL_TRIANGLES = 65536,    /* likewise */
    FLR_LEVEL_MIN_TRIANGLES = 2000, /* a mesh with fewer triangles has no coarser level */
    FLR_MAX_LEVELS = 12             /* levels */
};

/* All owned by the level. */
typedef struct flr_level_chunk {
    uint32_t first_vertex; /* in the level */
    uint32_t vertex_count, index_count;
    const float *vertices;   /* [3 * vertex_count] metres, part's frame */
    const uint16_t *indices; /* [index_count], counted from the chunk's first vertex */
    const uint8_t *packed_vertices, *packed_indices; /* NULL: not packed */
    uint32_t packed_vertices_size, packed_indices_size;
} flr_level_chunk;

typedef struct flr_level {
    flr_hash hash;      /* of the mesh */
    uint32_t level;     /* 0: the finest */
    bool packed;        /* chunks are there in packed form, too */
    uint32_t vertices;  /* of all chunks; a vertex on a border of chunks counts for each */
    uint32_t triangles; /* likewise */
    uint32_t chunk_count;
    flr_level_chunk *chunks;
    uint32_t *source; /* [vertices]: which vertex of the mesh it is */
    float low[3], high[3];
    size_t bytes; /* of memory */
} flr_level;

/* Makes a level: what the worker does. FLR_NO_MEMORY. Thread: any. */
flr_result flr_level_make(const flr_mesh *mesh, flr_hash hash, uint32_t number, bool packed,
                          flr_level **level);
void flr_level_free(flr_level *level); /* one that flr_level_make() made; NULL allowed */

/* Which level of a mesh of `triangles` has at most `max_triangles`, or is the coarsest there is. 0: level 0. */
uint32_t flr_level_choose(uint32_t triangles, uint32_t max_triangles);

typedef struct flr_levels flr_levels;

typedef struct flr_levels_def {
    bool threaded;               /* default true; false: made where it is asked for */
    size_t limit;                /* bytes kept that nobody uses; default 512 MiB */
    void (*wake)(void *context); /* called by the worker; may be NULL */
    void *context;
} flr_levels_def;

flr_levels_def flr_default_levels_def(void);
flr_result flr_levels_create(const flr_levels_def *def, flr_levels **levels, flr_error *error);
void flr_levels_destroy(flr_levels *levels); /* waits for the worker; NULL allowed */

/* FLR_OK: `*level` is yours until flr_levels_release(). FLR_AGAIN: later. FLR_NOT_FOUND: no such mesh. FLR_NO_MEMORY. */
flr_result flr_levels_get(flr_levels *levels, flr_engine *engine, flr_mesh_id mesh,
                          uint32_t max_triangles, bool packed, const flr_level **level);
void flr_levels_release(flr_levels *levels, const flr_level *level); /* NULL allowed */

#endif
