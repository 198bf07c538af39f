/* segment files: what is accepted obeys the promises of scene/segment_file.h */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/memory.h"
#include "scene/segment_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_segment_list list;
    flr_error error;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_segment_list_parse("fuzz.txt", bytes, size, 0.001, &list, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz.txt:", 9) != 0) abort();
        return 0;
    }
    if (!list.count) abort();
    for (size_t i = 0; i < list.count; i++)
        if (!flr_vec3_is_finite(list.segments[i].from) || !flr_vec3_is_finite(list.segments[i].to))
            abort();
    flr_segment_list_free(&list);
    return 0;
}
