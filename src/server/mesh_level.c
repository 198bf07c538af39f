/* one level of a mesh: fewer triangles, chunks, compression */
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "server/mesh_levels.h"

enum { MANTISSA = 17, LARGE = 200000 };

uint32_t flr_level_choose(uint32_t triangles, uint32_t max_triangles)
{
    uint32_t level = 0;
    if (max_triangles == 0) return 0;
    while (triangles > max_triangles && triangles / 4 >= FLR_LEVEL_MIN_TRIANGLES &&
           level < FLR_MAX_LEVELS) {
        triangles /= 4;
        level++;
    }
    return level;
}

/* what a level is made from */
typedef struct mesh_level_work {
    float *positions;  /* [3 * vertex_count] */
    unsigned *indices; /* [index_count] */
    size_t vertex_count, index_count;
    uint32_t *stamp, *local; /* [vertex_count]: in which chunk it was seen, and as what */
    unsigned *ordered;       /* [3 * FLR_LEVEL_TRIANGLES] */
    unsigned *fetch;         /* [FLR_LEVEL_VERTICES] */
    unsigned *piece;         /* [3 * FLR_LEVEL_TRIANGLES]: indices of the chunk at hand */
    uint32_t *from;          /* [FLR_LEVEL_VERTICES]: its vertices */
} mesh_level_work;

static void free_work(mesh_level_work *w)
{
    free(w->positions);
    free(w->indices);
    free(w->stamp);
    free(w->local);
    free(w->ordered);
    free(w->fetch);
    free(w->piece);
    free(w->from);
}

static bool begin_work(const flr_mesh *mesh, mesh_level_work *w)
{
    w->vertex_count = mesh->vertex_count;
    w->index_count = 3 * (size_t)mesh->triangle_count;
    w->positions = malloc(3 * w->vertex_count * sizeof *w->positions);
    w->indices = malloc(w->index_count * sizeof *w->indices);
    w->stamp = calloc(w->vertex_count, sizeof *w->stamp);
    w->local = malloc(w->vertex_count * sizeof *w->local);
    w->ordered = malloc(3 * (size_t)FLR_LEVEL_TRIANGLES * sizeof *w->ordered);
    w->piece = malloc(3 * (size_t)FLR_LEVEL_TRIANGLES * sizeof *w->piece);
    w->fetch = malloc(FLR_LEVEL_VERTICES * sizeof *w->fetch);
    w->from = malloc(FLR_LEVEL_VERTICES * sizeof *w->from);
    if (!w->positions || !w->indices || !w->stamp || !w->local || !w->ordered || !w->piece ||
        !w->fetch || !w->from)
        return false;
    for (size_t i = 0; i < w->vertex_count; i++) {
        w->positions[3 * i] = (float)mesh->vertices[i].x;
        w->positions[3 * i + 1] = (float)mesh->vertices[i].y;
        w->positions[3 * i + 2] = (float)mesh->vertices[i].z;
    }
    for (size_t i = 0; i < mesh->triangle_count; i++)
        memcpy(w->indices + 3 * i, mesh->triangles[i].v, sizeof mesh->triangles[i].v);
    return true;
}

/* edges collapse one by one where that is quick enough and the topology lets it; else clusters of vertices become one */
static bool simplify(mesh_level_work *w, uint32_t level)
{
    size_t target = (w->index_count >> (2 * level)) / 3 * 3;
    unsigned *fewer = malloc(w->index_count * sizeof *fewer);
    if (!fewer) return false;
    size_t count = w->index_count;
    if (w->index_count / 3 <= LARGE || level == 1)
        count = meshopt_simplify(fewer, w->indices, w->index_count, w->positions, w->vertex_count,
                                 3 * sizeof(float), target, 0.1f, 0, NULL);
    if (count > target + target / 2)
        count = meshopt_simplifySloppy(fewer, w->indices, w->index_count, w->positions,
                                       w->vertex_count, 3 * sizeof(float), target, 1.0f, NULL);
    /* a mesh of which nothing would be left is shown as it is */
    if (count == 0) {
        free(fewer);
        return true;
    }
    free(w->indices);
    w->indices = fewer;
    w->index_count = count;
    return true;
}

/* the chunk's indices and vertices in an order that compresses well and draws fast */
static bool finish_chunk(flr_level *level, const mesh_level_work *w, uint32_t vertices,
                         uint32_t indices)
{
    meshopt_optimizeVertexCache(w->ordered, w->piece, indices, vertices);
    meshopt_optimizeVertexFetchRemap(w->fetch, w->ordered, indices, vertices);
    if (!flr_array_resize(&level->chunks, level->chunk_count + 1, sizeof *level->chunks))
        return false;
    flr_level_chunk *chunk = &level->chunks[level->chunk_count++];
    *chunk = (flr_level_chunk){
        .first_vertex = level->vertices, .vertex_count = vertices, .index_count = indices};
    float *positions = malloc(3 * (size_t)vertices * sizeof *positions);
    uint16_t *narrow = malloc((size_t)indices * sizeof *narrow);
    chunk->vertices = positions, chunk->indices = narrow;
    if (!positions || !narrow ||
        !flr_array_resize(&level->source, level->vertices + (size_t)vertices,
                          sizeof *level->source))
        return false;
    for (uint32_t i = 0; i < vertices; i++) {
        uint32_t to = w->fetch[i];
        memcpy(positions + 3 * (size_t)to, w->positions + 3 * (size_t)w->from[i],
               3 * sizeof *positions);
        level->source[level->vertices + to] = w->from[i];
    }
    for (uint32_t i = 0; i < indices; i++) narrow[i] = (uint16_t)w->fetch[w->ordered[i]];
    level->vertices += vertices;
    level->triangles += indices / 3;
    level->bytes += 16 * (size_t)vertices + 2 * (size_t)indices;
    return true;
}

static bool split(flr_level *level, mesh_level_work *w)
{
    uint32_t vertices = 0, indices = 0, stamp = 1;
    for (size_t i = 0; i < w->index_count; i += 3) {
        uint32_t fresh = 0;
        for (size_t k = 0; k < 3; k++) fresh += w->stamp[w->indices[i + k]] != stamp;
        if (vertices + fresh > FLR_LEVEL_VERTICES || indices == 3 * FLR_LEVEL_TRIANGLES) {
            if (!finish_chunk(level, w, vertices, indices)) return false;
            vertices = indices = 0;
            stamp++;
        }
        for (size_t k = 0; k < 3; k++) {
            uint32_t vertex = w->indices[i + k];
            if (w->stamp[vertex] != stamp) {
                w->stamp[vertex] = stamp;
                w->local[vertex] = vertices;
                w->from[vertices++] = vertex;
            }
            w->piece[indices++] = w->local[vertex];
        }
    }
    return finish_chunk(level, w, vertices, indices);
}

/* to `MANTISSA` significant bits, to nearest */
static float rounded(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t mask = (1u << (24 - MANTISSA)) - 1;
    bits = (bits + (mask >> 1)) & ~mask;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool pack(flr_level *level)
{
    for (uint32_t i = 0; i < level->chunk_count; i++) {
        flr_level_chunk *chunk = &level->chunks[i];
        size_t values = 3 * (size_t)chunk->vertex_count;
        size_t vertices = meshopt_encodeVertexBufferBound(chunk->vertex_count, 3 * sizeof(float));
        size_t indices = meshopt_encodeIndexBufferBound(chunk->index_count, chunk->vertex_count);
        float *positions = malloc(values * sizeof *positions);
        unsigned *wide = malloc(chunk->index_count * sizeof *wide);
        uint8_t *packed_vertices = malloc(vertices), *packed_indices = malloc(indices);
        chunk->packed_vertices = packed_vertices, chunk->packed_indices = packed_indices;
        bool had = positions && wide && packed_vertices && packed_indices;
        if (had) {
            for (size_t k = 0; k < values; k++) positions[k] = rounded(chunk->vertices[k]);
            for (uint32_t k = 0; k < chunk->index_count; k++) wide[k] = chunk->indices[k];
            vertices = meshopt_encodeVertexBuffer(packed_vertices, vertices, positions,
                                                  chunk->vertex_count, 3 * sizeof(float));
            indices = meshopt_encodeIndexBuffer(packed_indices, indices, wide, chunk->index_count);
            chunk->packed_vertices_size = (uint32_t)vertices;
            chunk->packed_indices_size = (uint32_t)indices;
            level->bytes += vertices + indices;
        }
        free(positions);
        free(wide);
        if (!had) return false;
    }
    level->packed = true;
    return true;
}

flr_result flr_level_make(const flr_mesh *mesh, flr_hash hash, uint32_t number, bool packed,
                          flr_level **level)
{
    mesh_level_work w = {0};
    flr_level *made = calloc(1, sizeof *made);
    bool good = made && begin_work(mesh, &w);
    if (good) {
        made->hash = hash;
        made->level = number;
        const double low[3] = {mesh->bounds.low.x, mesh->bounds.low.y, mesh->bounds.low.z};
        const double high[3] = {mesh->bounds.high.x, mesh->bounds.high.y, mesh->bounds.high.z};
        for (int i = 0; i < 3; i++) {
            made->low[i] = (float)low[i];
            made->high[i] = (float)high[i];
        }
        good = number == 0 || simplify(&w, number);
    }
    /* the version of the codec that every decoder knows */
    meshopt_encodeVertexVersion(0);
    meshopt_encodeIndexVersion(1);
    good = good && split(made, &w) && (!packed || pack(made));
    free_work(&w);
    if (!good) {
        flr_level_free(made);
        return FLR_NO_MEMORY;
    }
    *level = made;
    return FLR_OK;
}

void flr_level_free(flr_level *level)
{
    if (!level) return;
    for (uint32_t i = 0; i < level->chunk_count; i++) {
        flr_level_chunk *chunk = &level->chunks[i];
        free((void *)(uintptr_t)chunk->vertices);
        free((void *)(uintptr_t)chunk->indices);
        free((void *)(uintptr_t)chunk->packed_vertices);
        free((void *)(uintptr_t)chunk->packed_indices);
    }
    free(level->chunks);
    free(level->source);
    free(level);
}
