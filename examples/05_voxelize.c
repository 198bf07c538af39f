/* 05 voxelize: a part as voxels and as surface points
 *
 * The voxmap answers "what is at this place?", the shell is the points with which a part touches
 * the voxels of another. Prints a slice through the part as text.
 *
 *     build/examples/05_voxelize                    (a ring, 30 mm wide)
 *     build/examples/05_voxelize part.stl 0.5       (voxels of 0.5 mm)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/mesh.h"
#include "feeler/voxels.h"

enum { ROUND = 96, ACROSS = 48, WIDE = 76 };

/* a ring that lies flat: 30 mm wide, 10 mm thick */
static flr_result make_ring(flr_mesh **mesh, flr_error *error)
{
    static flr_vec3 vertices[ROUND * ACROSS];
    static flr_triangle triangles[2 * ROUND * ACROSS];
    for (uint32_t i = 0; i < ROUND; i++)
        for (uint32_t j = 0; j < ACROSS; j++) {
            double a = FLR_TWO_PI * i / ROUND, b = FLR_TWO_PI * j / ACROSS;
            double r = 10 + 5 * cos(b);
            uint32_t here = i * ACROSS + j, right = i * ACROSS + (j + 1) % ACROSS;
            uint32_t next = (i + 1) % ROUND * ACROSS + j;
            uint32_t across = (i + 1) % ROUND * ACROSS + (j + 1) % ACROSS;
            vertices[here] = flr_vec3_make(r * cos(a), r * sin(a), 5 * sin(b));
            triangles[2 * here] = (flr_triangle){{here, next, across}};
            triangles[2 * here + 1] = (flr_triangle){{here, across, right}};
        }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices;
    def.vertex_count = ROUND * ACROSS;
    def.triangles = triangles;
    def.triangle_count = 2 * ROUND * ACROSS;
    def.scale = 0.001;
    return flr_mesh_create(&def, mesh, error);
}

/* the marks in the plane y = middle: # surface, + inside, . near the surface, blank: free. What
 * cannot be reached from outside is inside, closed cavities too */
static void print_slice(const flr_voxmap *voxmap, const flr_mesh *mesh)
{
    flr_vec3 centre = flr_box3_centre(mesh->bounds), size = flr_box3_size(mesh->bounds);
    double step = 1.2 * fmax(size.x, size.z) / WIDE; /* of a column; a row is twice as high */
    int rows = (int)(size.z / (2 * step)) + 6;
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < WIDE; column++) {
            flr_vec3 at = flr_vec3_make(centre.x + step * (column - 0.5 * WIDE + 0.5), centre.y,
                                        centre.z - 2 * step * (row - 0.5 * rows + 0.5));
            unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, at);
            putchar(mark == FLR_MARK_FREE       ? ' '
                    : mark == FLR_MARK_INTERIOR ? '+'
                    : mark == FLR_MARK_SURFACE  ? '#'
                                                : '.');
        }
        putchar('\n');
    }
}

/* what a mark says about the distance to the surface: see feeler/voxels.h */
static void ask(const flr_voxmap *voxmap, const char *where, flr_vec3 point, double voxel)
{
    unsigned mark = flr_voxmap_mark(voxmap, FLR_FIELD_SURFACE, point);
    printf("%s: mark %u: ", where, mark);
    if (mark > FLR_MARK_SURFACE)
        printf("free, %.1f to %.1f mm from the surface\n", 1000 * voxel * (mark - 3),
               1000 * voxel * sqrt(3) * (mark - 1));
    else
        printf("%s\n", mark == FLR_MARK_FREE       ? "free, far from everything"
                       : mark == FLR_MARK_INTERIOR ? "inside"
                                                   : "at the surface");
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_env *env = flr_env_real();
    flr_mesh *mesh = NULL;
    flr_voxmap *voxmap = NULL;
    flr_shell *shell = NULL;
    flr_result result = argc > 1 ? flr_mesh_open(env, argv[1], NULL, &mesh, NULL, &error)
                                 : make_ring(&mesh, &error);

    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = (argc > 2 ? strtod(argv[2], NULL) : 0.5) / 1000;
    if (result == FLR_OK) result = flr_voxelize(env, mesh, &def, &voxmap, &shell, NULL, &error);
    if (result == FLR_OK) {
        flr_voxmap_info info = flr_voxmap_get_info(voxmap);
        printf("%llu surface and %llu interior voxels of %g mm, %.1f MB\n",
               (unsigned long long)info.stats.surface_voxels,
               (unsigned long long)info.stats.interior_voxels, 1000 * info.voxel,
               1e-6 * (double)info.stats.bytes);
        printf("%u points: %u at vertices, %u at edges, %u on faces\n", shell->total,
               shell->by_label[FLR_LABEL_VERTEX], shell->by_label[FLR_LABEL_EDGE],
               shell->by_label[FLR_LABEL_FACE]);

        /* points are kept chunk by chunk; each has a place and a normal that points inwards */
        const flr_shell_chunk *chunk = &shell->chunks[0];
        flr_vec3 place = flr_shell_point(shell, 0, chunk->first, 0);
        flr_vec3 normal = flr_shell_normal(shell->normal[chunk->first]);
        printf("the first at %.2f %.2f %.2f mm, inwards is %.2f %.2f %.2f\n", 1000 * place.x,
               1000 * place.y, 1000 * place.z, normal.x, normal.y, normal.z);
        ask(voxmap, "that point", place, info.voxel);
        ask(voxmap, "3 voxels outside",
            flr_vec3_add(place, flr_vec3_scale(normal, -3 * info.voxel)), info.voxel);
        print_slice(voxmap, mesh);
    }
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_shell_destroy(shell);
    flr_voxmap_destroy(voxmap);
    flr_mesh_destroy(mesh);
    return result == FLR_OK ? 0 : 1;
}
