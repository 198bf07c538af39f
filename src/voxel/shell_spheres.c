/* the spheres around a shell's chunks, hyperchunks and the whole */
#include "voxel/shell.h"

/* up to the next float and a little more, so that rounding leaves no point outside */
static float outer_radius(double radius)
{
    return nextafterf((float)(radius * (1 + 1e-6)), INFINITY);
}

void flr_shell_enclose_points(const flr_shell *shell, flr_shell_chunk *chunk)
{
    const uint16_t *xyz[3] = {shell->x, shell->y, shell->z};
    uint32_t count = (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
    int middle[3]; /* twice the middle, so that it is a whole number of steps */
    for (int axis = 0; axis < 3; axis++) {
        const uint16_t *q = xyz[axis] + chunk->first;
        uint16_t low = 65535, high = 0;
        for (uint32_t i = 0; i < count; i++) {
            low = q[i] < low ? q[i] : low;
            high = q[i] > high ? q[i] : high;
        }
        middle[axis] = low + high;
        chunk->centre[axis] =
            (float)((double)chunk->corner[axis] + (double)shell->step * middle[axis] / 2);
    }
    int64_t far = 0;
    for (uint32_t i = chunk->first; i < chunk->first + count; i++) {
        int64_t x = 2 * xyz[0][i] - middle[0], y = 2 * xyz[1][i] - middle[1],
                z = 2 * xyz[2][i] - middle[2];
        int64_t d2 = x * x + y * y + z * z;
        far = d2 > far ? d2 : far;
    }
    /* far from the origin the centre itself is rounded */
    double size = fabs((double)chunk->corner[0]) + fabs((double)chunk->corner[1]) +
                  fabs((double)chunk->corner[2]);
    chunk->radius = outer_radius(sqrt((double)far) / 2 * (double)shell->step + 1.2e-7 * size);
}

static flr_vec3 of3(const float v[3])
{
    return flr_vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

/* Around spheres that lie `stride` bytes apart, centre before radius: the middle of their centres' box, the radius to
 * the farthest edge. */
static void enclose_spheres(const float *first, size_t stride, uint32_t count, float centre[3],
                            float *radius)
{
    const uint8_t *bytes = (const uint8_t *)first;
    flr_box3 box = flr_box3_empty();
    for (uint32_t i = 0; i < count; i++)
        box = flr_box3_add(box, of3((const float *)(bytes + i * stride)));
    flr_vec3 middle = flr_box3_centre(box);
    centre[0] = (float)middle.x, centre[1] = (float)middle.y, centre[2] = (float)middle.z;
    double far = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *sphere = (const float *)(bytes + i * stride);
        far = fmax(far, flr_vec3_distance(of3(sphere), of3(centre)) + (double)sphere[3]);
    }
    *radius = outer_radius(far);
}

void flr_shell_enclose_hypers(flr_shell *shell, flr_shell_hyper *hypers)
{
    for (uint32_t i = 0; i < shell->hyper_count; i++)
        if (hypers[i].chunk_count)
            enclose_spheres(shell->chunks[hypers[i].first_chunk].centre, sizeof(flr_shell_chunk),
                            hypers[i].chunk_count, hypers[i].centre, &hypers[i].radius);
    flr_shell_enclose_all(hypers, shell->hyper_count, shell->centre, &shell->radius);
}

void flr_shell_enclose_all(const flr_shell_hyper *hypers, uint32_t count, float centre[3],
                           float *radius)
{
    if (count) enclose_spheres(hypers[0].centre, sizeof *hypers, count, centre, radius);
}
