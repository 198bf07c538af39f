/* NanoVDB files: read to a voxmap that can be asked everywhere, or refused by name. The smallest file has 300 kB, most of
 * them alike, so the input is not the file but changes to a good one: four bytes of place, then one of value. */
#include <stdlib.h>
#include <string.h>

#include "feeler/sim.h"
#include "feeler/voxels.h"
#include "fuzz/support/memory.h"
#include "voxel/nanovdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* a tetrahedron, written to a simulated disk and read from there */
static flr_blob make_file(void)
{
    static const flr_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const flr_triangle faces[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners;
    def.vertex_count = 4;
    def.triangles = faces;
    def.triangle_count = 4;
    flr_voxelize_def how = flr_default_voxelize_def();
    how.voxel = 0.2;
    how.range = 2;
    how.features = false;
    flr_sim_def world = flr_default_sim_def();
    flr_sim *sim = flr_sim_create(&world);
    flr_address address;
    flr_mesh *mesh;
    flr_voxmap *voxmap;
    flr_blob blob;
    if (!sim || flr_address_parse("10.0.0.1", 0, &address, NULL) != FLR_OK) abort();
    flr_env *env = flr_sim_node(sim, address);
    if (flr_mesh_create(&def, &mesh, NULL) != FLR_OK ||
        flr_voxelize(env, mesh, &how, &voxmap, NULL, NULL, NULL) != FLR_OK ||
        flr_nanovdb_write(env, "a.nvdb", voxmap, NULL) != FLR_OK ||
        flr_file_read_all(env, "a.nvdb", 1 << 24, &blob, NULL) != FLR_OK)
        abort();
    flr_voxmap_destroy(voxmap);
    flr_mesh_destroy(mesh);
    flr_sim_destroy(sim);
    return blob;
}

/* A range that bits cannot hold is refused, but only behind the tree, which is what a file can get wrong. */
enum { AS_THE_FILE_SAYS = 0, FUZZ_NANOVDB_SHORT = 1, TREE_ALONE = 1000 };

static void parse(const uint8_t *bytes, size_t size, unsigned range)
{
    flr_voxmap *voxmap = NULL;
    flr_error error;
    flr_nanovdb_options options = flr_default_nanovdb_options();
    options.threads = 1;
    /* what takes time is making the distances, and those are tested elsewhere */
    options.bits = range == AS_THE_FILE_SAYS ? 0 : 4;
    options.range = range;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_nanovdb_parse("fuzz.nvdb", bytes, size, &options, &voxmap, &error);
    flr_fuzz_memory_end();
    if (range == TREE_ALONE && result == FLR_BAD_ARGUMENT && !voxmap) return;
    if (result != FLR_OK) {
        if (voxmap || strncmp(error.message, "fuzz.nvdb", 9) != 0) abort();
        return;
    }
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    if (!info.stats.surface_voxels || !(info.voxel > 0)) abort();
    for (int64_t i = 0; i < 1000; i++)
        flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, i * 7919 % (int64_t)info.size[0],
                           i * 104729 % (int64_t)info.size[1], i * 1299709 % (int64_t)info.size[2]);
    flr_voxmap_destroy(voxmap);
}

/* every other time where the structure is */
static size_t place_of(const uint8_t *bytes, size_t size)
{
    uint32_t place;
    memcpy(&place, bytes, 4);
    return place % (place & 0x80000000u ? (uint32_t)size : 1100);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* a block of exactly this size, so that the sanitizer sees a look beyond its end; changes are undone afterwards */
    static flr_blob good;
    static uint8_t *changed;
    if (!good.bytes) {
        good = make_file();
        changed = malloc(good.size);
        if (!changed) abort();
        memcpy(changed, good.bytes, good.size);
    }
    for (size_t i = 0; i + 5 <= size; i += 5)
        changed[place_of(bytes + i, good.size)] = bytes[i + 4];
    /* distances take ten times as long as the tree, so one input of 32 asks for them */
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++) sum += bytes[i];
    parse(changed, good.size,
          sum % 64 == 1    ? AS_THE_FILE_SAYS
          : sum % 64 == 33 ? FUZZ_NANOVDB_SHORT
                           : TREE_ALONE);
    for (size_t i = 0; i + 5 <= size; i += 5) {
        size_t place = place_of(bytes + i, good.size);
        changed[place] = good.bytes[place];
    }
    return 0;
}
