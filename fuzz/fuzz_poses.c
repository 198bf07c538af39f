/* pose files: what is accepted obeys the promises of scene/pose_file.h */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/support/memory.h"
#include "scene/pose_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    flr_pose_list list;
    flr_error error;
    flr_fuzz_memory_begin(size, FLR_FUZZ_FIXED);
    flr_result result = flr_pose_list_parse("fuzz.txt", bytes, size, 0.001, &list, &error);
    flr_fuzz_memory_end();
    if (result != FLR_OK) {
        if (strncmp(error.message, "fuzz.txt:", 9) != 0) abort();
        return 0;
    }
    if (!list.count) abort();
    for (size_t i = 0; i < list.count; i++) {
        flr_quat q = list.poses[i].T_world_part.q;
        double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        if (!(fabs(length - 1) < 1e-14)) abort();
        if (!isfinite(list.poses[i].t) || !isfinite(list.poses[i].T_world_part.p.x)) abort();
        if (i && list.poses[i].t < list.poses[i - 1].t) abort();
    }
    flr_pose_list_free(&list);
    return 0;
}
