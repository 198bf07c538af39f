/* NanoVDB files: read to a voxmap that can be asked everywhere, or refused by name */
#include <stdlib.h>
#include <string.h>

#include "voxel/nanovdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_voxmap *voxmap = NULL;
    flr_error error;
    flr_nanovdb_options options = flr_default_nanovdb_options();
    options.threads = 1;
    if (flr_nanovdb_parse("fuzz.nvdb", bytes, size, &options, &voxmap, &error) != FLR_OK) {
        if (voxmap || strncmp(error.message, "fuzz.nvdb", 9) != 0) abort();
        return 0;
    }
    flr_voxmap_info info = flr_voxmap_get_info(voxmap);
    if (!info.stats.surface_voxels || !(info.voxel > 0)) abort();
    for (int64_t i = 0; i < 1000; i++)
        flr_voxmap_mark_at(voxmap, FLR_FIELD_SURFACE, i * 7919 % (int64_t)info.size[0],
                           i * 104729 % (int64_t)info.size[1], i * 1299709 % (int64_t)info.size[2]);
    flr_voxmap_destroy(voxmap);
    return 0;
}
