/* any bytes as the output of the import helper: a mesh or a sentence
 *
 * The hashes would stop nearly every change at once. So the bytes are read twice: as they are, and
 * with numbers, hashes and the length at the end made right, which lets changes reach the rules
 * behind them. */
#include "fuzz/fuzz_mesh.h"
#include "mesh/mesh_stream.h"

typedef struct input {
    const uint8_t *bytes;
    size_t size, at;
} input;

static flr_result read_input(void *context, void *to, size_t count, size_t *got, flr_error *error)
{
    (void)error;
    input *in = context;
    if (count > in->size - in->at) count = in->size - in->at;
    if (count > 0) memcpy(to, in->bytes + in->at, count);
    in->at += count;
    *got = count;
    return FLR_OK;
}

static void read_stream(const uint8_t *bytes, size_t size)
{
    input in = {bytes, size, 0};
    flr_stream_content content;
    flr_error error = {FLR_OK, ""};
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_stream_read((flr_stream_source){read_input, &in}, "x.step",
                                        UINT64_C(64) << 20, &content, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        flr_fuzz_expect(!strncmp(error.message, "x.step: ", 8), "a sentence without the name");
        flr_fuzz_expect(!content.vertices && !content.names, "content in spite of a refusal");
        return;
    }
    // what is accepted makes a mesh
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = content.vertices;
    def.vertex_count = (uint32_t)content.head.vertex_count;
    def.triangles = content.triangles;
    def.triangle_count = (uint32_t)content.head.triangle_count;
    def.groups = content.groups;
    def.group_count = (uint32_t)content.head.group_count;
    def.names = content.names;
    def.names_size = (uint32_t)content.head.names_size;
    flr_mesh *mesh = NULL;
    result = flr_mesh_create(&def, &mesh, &error);
    flr_fuzz_expect(result == FLR_OK, error.message);
    const char *broken = flr_broken_guarantee(mesh);
    flr_fuzz_expect(!broken, broken);
    flr_mesh_destroy(mesh);
    flr_stream_content_free(&content);
}

/* makes numbers, hashes and the length in the end block right, as far as the blocks go */
static void seal(uint8_t *bytes, size_t size)
{
    size_t at = FLR_STREAM_START_SIZE;
    for (uint32_t number = 0; at <= size && size - at >= 32; ++number) {
        uint64_t length;
        uint32_t type;
        memcpy(&type, bytes + at, sizeof type);
        memcpy(&length, bytes + at + 8, sizeof length);
        if (length > size - at - 32) return;
        memcpy(bytes + at + 4, &number, sizeof number);
        uint64_t before = at;
        if (type == FLR_STREAM_END && length == 8) memcpy(bytes + at + 16, &before, sizeof before);
        flr_hash hash = flr_hash_bytes(bytes + at, 16 + (size_t)length);
        uint64_t both[2] = {hash.high, hash.low};
        memcpy(bytes + at + 16 + length, both, sizeof both);
        at += 32 + (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    read_stream(bytes, size);
    uint8_t *sealed = malloc(size + 1);
    if (!sealed) return 0;
    memcpy(sealed, bytes, size);
    seal(sealed, size);
    read_stream(sealed, size);
    free(sealed);
    return 0;
}
