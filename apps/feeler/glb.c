/* a mesh as a binary glTF file */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "swept_mesh.h"

/* Positions and indices, little-endian. y is up in glTF: (x, y, z) becomes (x, z, -y). */
static uint8_t *make_content(const flr_border *b, size_t *size, float low[3], float high[3])
{
    const size_t points = 12 * b->vertex_count, faces = 12 * b->triangle_count;
    uint8_t *bytes = malloc(points + faces + 1);
    if (!bytes) return NULL;
    for (int i = 0; i < 3; i++) low[i] = INFINITY, high[i] = -INFINITY;
    for (size_t k = 0; k < b->vertex_count; k++) {
        const flr_vec3 p = b->vertices[k];
        const float at[3] = {(float)p.x, (float)p.z, (float)-p.y};
        for (int i = 0; i < 3; i++) {
            flr_put_f32(bytes + 12 * k + 4 * (size_t)i, at[i]);
            low[i] = fminf(low[i], at[i]), high[i] = fmaxf(high[i], at[i]);
        }
    }
    for (size_t k = 0; k < b->triangle_count; k++)
        for (size_t i = 0; i < 3; i++)
            flr_put_u32(bytes + points + 12 * k + 4 * i, b->triangles[k][i]);
    *size = points + faces;
    return bytes;
}

flr_result flr_glb_write(flr_env *env, const char *path, const flr_border *b, flr_error *error)
{
    enum { TEXT = 1024 };
    char text[TEXT];
    float low[3], high[3];
    size_t size = 0;
    if (b->triangle_count == 0 ||
        12 * (b->vertex_count + b->triangle_count) > UINT32_MAX - 2 * TEXT)
        return flr_fail(error, FLR_TOO_LARGE, "%s: the mesh does not fit; allow a larger tolerance",
                        path);
    uint8_t *content = make_content(b, &size, low, high);
    if (!content) return flr_fail_memory(error);
    int length = snprintf(
        text, sizeof text,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"feeler\"},\"scene\":0,\"scenes\":[{"
        "\"nodes\":[0]}],"
        "\"nodes\":[{\"mesh\":0,\"name\":\"swept\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
        "\"POSITION\":0},"
        "\"indices\":1}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%zu,"
        "\"type\":\"VEC3\","
        "\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]},{\"bufferView\":1,\"componentType\":"
        "5125,\"count\":%zu,"
        "\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":34963}],\"buffers\":[{"
        "\"byteLength\":%zu}]}",
        b->vertex_count, (double)low[0], (double)low[1], (double)low[2], (double)high[0],
        (double)high[1], (double)high[2], 3 * b->triangle_count, 12 * b->vertex_count,
        12 * b->vertex_count, 12 * b->triangle_count, size);
    while (length % 4) text[length++] = ' ';
    uint8_t head[20], chunk[8];
    flr_put_u32(head, 0x46546c67), flr_put_u32(head + 4, 2);
    flr_put_u32(head + 8, (uint32_t)(20 + (size_t)length + 8 + size));
    flr_put_u32(head + 12, (uint32_t)length), flr_put_u32(head + 16, 0x4e4f534a);
    flr_put_u32(chunk, (uint32_t)size), flr_put_u32(chunk + 4, 0x004e4942);
    flr_output *out;
    flr_result result = flr_output_begin(env, path, &out, error);
    if (result == FLR_OK) {
        result = flr_output_write(out, head, sizeof head, error);
        if (result == FLR_OK) result = flr_output_write(out, text, (size_t)length, error);
        if (result == FLR_OK) result = flr_output_write(out, chunk, sizeof chunk, error);
        if (result == FLR_OK) result = flr_output_write(out, content, size, error);
        result = flr_output_end(out, result, error);
    }
    free(content);
    return result;
}
