/* scene files: read, and what was read can be written and read again, unchanged */
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/memory.h"
#include "scene/cost.h"
#include "scene/scene.h"

enum { FIXED = 4 << 10 }; /* what every scene takes */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_scene *scene, *copy;
    flr_error error;
    /* a tree takes more than 8 times its text; what it takes must be known beforehand, since large ones are refused by it */
    flr_json_position where;
    uint64_t limit = flr_scene_memory_limit(size);
    uint64_t cost = flr_scene_cost((const char *)bytes, size, limit, &where);
    if (cost > limit) cost = limit;
    size_t factor = FLR_FUZZ_FACTOR * size;
    flr_fuzz_memory_begin(size, cost > factor ? (size_t)cost - factor + FIXED : FIXED);
    flr_result result = flr_scene_parse("fuzz.json", bytes, size, &scene, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz.json:", 10) != 0) abort();
        return 0;
    }
    flr_blob first, second;
    if (flr_scene_print(scene, &first, &error) != FLR_OK) abort();
    if (flr_scene_copy(scene, &copy, &error) != FLR_OK) abort();
    if (copy->part_count != scene->part_count || copy->path_count != scene->path_count) abort();
    if (flr_scene_print(copy, &second, &error) != FLR_OK) abort();
    flr_blob_free(&first);
    flr_blob_free(&second);
    flr_scene_destroy(copy);
    flr_scene_destroy(scene);
    return 0;
}
