/* a shell whose points are moved along their normals, once and for all (2005, section 3.2) */
#include <string.h>

#include "voxel/normal.h"
#include "voxel/shell.h"
#include "voxel/shell_format.h"

enum { MAX_COORDINATE = 65535 }; /* steps of a coordinate */

/* Steps from the chunk's corner along the axes to a point that has moved. */
static void moved(const flr_shell *shell, uint32_t i, double steps, double to[3])
{
    flr_vec3 n = flr_shell_unpack(shell->normal[i]); /* inward */
    to[0] = shell->x[i] - steps * n.x;
    to[1] = shell->y[i] - steps * n.y;
    to[2] = shell->z[i] - steps * n.z;
}

/* Moves the corner of the chunk where coordinates would not fit. False: none would do. */
static bool place_corner(const flr_shell *shell, double steps, flr_shell_chunk *chunk)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = chunk->first; i < chunk->first + chunk->padded; i++) {
        double to[3];
        moved(shell, i, steps, to);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], to[axis]);
            high[axis] = fmax(high[axis], to[axis]);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        if (low[axis] >= 0 && high[axis] <= MAX_COORDINATE) continue;
        /* two steps are left for what rounding the corner takes away */
        if (!(high[axis] - low[axis] < MAX_COORDINATE - 4)) return false;
        double by = 0.5 * (low[axis] + high[axis] - MAX_COORDINATE) * (double)shell->step;
        chunk->corner[axis] = (float)((double)chunk->corner[axis] + by);
    }
    return true;
}

/* From the old corner to the new one, which is rounded, and back into 16 bits. */
static bool move_points(const flr_shell *from, const flr_shell_chunk *old, double steps,
                        const flr_shell_chunk *chunk, uint16_t *const xyz[3])
{
    double shift[3];
    for (int axis = 0; axis < 3; axis++)
        shift[axis] =
            ((double)old->corner[axis] - (double)chunk->corner[axis]) / (double)from->step;
    for (uint32_t i = chunk->first; i < chunk->first + chunk->padded; i++) {
        double to[3];
        moved(from, i, steps, to);
        for (int axis = 0; axis < 3; axis++) {
            double at = to[axis] + shift[axis];
            if (!(at >= -0.5 && at < MAX_COORDINATE + 0.5)) return false;
            xyz[axis][i] = (uint16_t)flr_shell_rounded(at);
        }
    }
    return true;
}

flr_result flr_shell_displace(const flr_shell *shell, double displacement, flr_shell **displaced,
                              flr_error *error)
{
    if (!isfinite(displacement))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a shell cannot be displaced by %g m",
                        displacement);
    flr_shell_header header = {.voxel = shell->voxel,
                               .step = shell->step,
                               .on_surface = shell->on_surface,
                               .hyper_count = shell->hyper_count,
                               .chunk_count = shell->chunk_count,
                               .point_count = shell->point_count};
    flr_shell *made = flr_shell_allocate(&header);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for a displaced shell");
    flr_shell_hyper *hypers = (flr_shell_hyper *)(uintptr_t)made->hypers;
    flr_shell_chunk *chunks = (flr_shell_chunk *)(uintptr_t)made->chunks;
    uint16_t *const xyz[3] = {(uint16_t *)(uintptr_t)made->x, (uint16_t *)(uintptr_t)made->y,
                              (uint16_t *)(uintptr_t)made->z};
    memcpy(hypers, shell->hypers, shell->hyper_count * sizeof *hypers);
    memcpy(chunks, shell->chunks, shell->chunk_count * sizeof *chunks);
    memcpy((uint32_t *)(uintptr_t)made->normal, shell->normal,
           shell->point_count * sizeof *shell->normal);
    made->layer = shell->layer;
    made->total = shell->total;
    memcpy(made->by_label, shell->by_label, sizeof made->by_label);
    made->displaced = (float)((double)shell->displaced + displacement);
    double steps = displacement / (double)shell->step;
    for (uint32_t c = 0; c < shell->chunk_count; c++) {
        if (!place_corner(shell, steps, &chunks[c]) ||
            !move_points(shell, &shell->chunks[c], steps, &chunks[c], xyz)) {
            flr_shell_destroy(made);
            return flr_fail(error, FLR_TOO_LARGE,
                            "displaced by %.4g mm the points of a chunk get too far apart; "
                            "displace them in each query, or use larger voxels",
                            displacement * 1e3);
        }
        flr_shell_enclose_points(made, &chunks[c]);
    }
    flr_shell_enclose_hypers(made, hypers);
    flr_shell_seal(made);
    *displaced = made;
    return FLR_OK;
}
