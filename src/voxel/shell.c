/* reading a shell: points, normals, how far displaced points spread */
#include <string.h>

#include "feeler/mesh_check.h"
#include "voxel/normal.h"
#include "voxel/shell.h"

/* ---- normals, packed ---- */

uint32_t flr_shell_pack_normal(flr_vec3 n) { return flr_shell_pack(n.x, n.y, n.z); }

flr_vec3 flr_shell_normal(uint32_t packed) { return flr_shell_unpack(packed); }

/* The largest growth of the distance between points of neighbouring voxels in a chunk, metres. */
static double chunk_opening(const flr_shell *shell, uint32_t c, double displacement)
{
    const flr_shell_chunk *chunk = &shell->chunks[c];
    uint32_t count = (uint32_t)chunk->count[0] + chunk->count[1] + chunk->count[2];
    uint32_t at
        [10][10]
        [10]; /* the point of a voxel, with a rim, as points on the surface may lie just outside */
    memset(at, 255, sizeof at);
    for (uint32_t k = chunk->first; k < chunk->first + count; k++)
        at[shell->z[k] / FLR_SHELL_STEPS % 10][shell->y[k] / FLR_SHELL_STEPS % 10]
          [shell->x[k] / FLR_SHELL_STEPS % 10] = k;
    double widest = 0;
    for (unsigned z = 0; z < 9; z++)
        for (unsigned y = 0; y < 9; y++)
            for (unsigned x = 0; x < 9; x++) {
                uint32_t here = at[z][y][x];
                for (unsigned d = 1; here != FLR_NONE && d < 8; d++) {
                    uint32_t there = at[z + (d >> 2)][y + (d >> 1 & 1)][x + (d & 1)];
                    if (there == FLR_NONE) continue;
                    double before = flr_vec3_distance(flr_shell_point(shell, c, here, 0),
                                                      flr_shell_point(shell, c, there, 0));
                    double after =
                        flr_vec3_distance(flr_shell_point(shell, c, here, displacement),
                                          flr_shell_point(shell, c, there, displacement));
                    widest = fmax(widest, after - before);
                }
            }
    return widest;
}

double flr_shell_opening(const flr_shell *shell, double displacement)
{
    double widest = 0;
    for (uint32_t c = 0; c < shell->chunk_count; c++)
        widest = fmax(widest, chunk_opening(shell, c, displacement));
    return 1 + widest / shell->voxel;
}
