/* 03 features: which vertices, edges and faces of a part count at which voxel size
 *
 * Draws a turned knob, or a part of your own, three times with growing voxels, each polygon in
 * a colour of its own, with the edges and vertices that count:
 *
 *     build/examples/03_features > features.svg
 *     build/examples/03_features part.stl 0.5 > features.svg      (finest voxel in mm)
 */
#include <stdio.h>
#include <stdlib.h>

#include "feeler/mesh.h"
#include "feeler/mesh_check.h"

enum { PANELS = 3, WIDTH = 300, HEIGHT = 300 };

/* ---- the part ---- */

/* a profile turned about z: radius and height in mm, from the bottom's middle to the top's */
static const double profile[][2] = {{0, 0},     {20, 0},    {20, 4},    {19, 5},  {10, 5},
                                    {9, 8},     {8.5, 12},  {9, 16},    {11, 20}, {14, 23},
                                    {14.5, 26}, {13.5, 29}, {10.5, 32}, {6, 34},  {0, 34.6}};
enum { RINGS = sizeof profile / sizeof *profile, AROUND = 40 };

static flr_result make_knob(flr_mesh **mesh, flr_error *error)
{
    flr_vec3 vertices[RINGS * AROUND];
    flr_triangle triangles[2 * RINGS * AROUND];
    uint32_t count = 0;
    for (uint32_t i = 0; i < RINGS; i++) {
        for (uint32_t j = 0; j < AROUND; j++) {
            double a = FLR_TWO_PI * j / AROUND, r = profile[i][0];
            vertices[i * AROUND + j] = flr_vec3_make(r * cos(a), r * sin(a), profile[i][1]);
            uint32_t here = i * AROUND + j, next = i * AROUND + (j + 1) % AROUND;
            if (i + 2 < RINGS)
                triangles[count++] = (flr_triangle){{here, next + AROUND, here + AROUND}};
            if (i > 0 && i + 1 < RINGS)
                triangles[count++] = (flr_triangle){{here, next, next + AROUND}};
        }
    }
    flr_mesh_def def = flr_default_mesh_def(); /* welds the two poles */
    def.vertices = vertices;
    def.vertex_count = RINGS * AROUND;
    def.triangles = triangles;
    def.triangle_count = count;
    def.scale = 0.001;
    return flr_mesh_create(&def, mesh, error);
}

/* ---- the picture ---- */

/* seen from the front, a little from above: x right, y up, z towards the eye, -1 … 1 */
static flr_vec3 view(const flr_mesh *mesh, uint32_t vertex)
{
    flr_vec3 size = flr_box3_size(mesh->bounds);
    flr_vec3 p = flr_vec3_sub(mesh->vertices[vertex], flr_box3_centre(mesh->bounds));
    p = flr_vec3_scale(p, 2 / flr_vec3_length(size));
    flr_quat tilt = flr_quat_from_axis_angle(flr_vec3_make(1, 0, 0), -0.95);
    flr_quat turn = flr_quat_from_axis_angle(flr_vec3_make(0, 0, 1), 0.4);
    return flr_quat_rotate(flr_quat_mul(tilt, turn), p);
}

typedef struct item {
    double depth;
    uint32_t triangle;
} item;

static int by_depth(const void *a, const void *b)
{
    double one = ((const item *)a)->depth, two = ((const item *)b)->depth;
    return (one > two) - (one < two);
}

/* one triangle that faces the eye, then those of its edges that count */
static void draw_triangle(const flr_mesh *mesh, const flr_adjacency *adjacency,
                          const flr_features *features, uint32_t t, double left)
{
    double x[3], y[3];
    for (int k = 0; k < 3; k++) {
        flr_vec3 p = view(mesh, mesh->triangles[t].v[k]);
        x[k] = left + WIDTH * (0.5 + 0.52 * p.x);
        y[k] = HEIGHT - 150 - WIDTH * 0.52 * p.y;
    }
    unsigned i = features->triangle_polygon[t] * 137u; /* neighbours differ */
    printf("<path fill='#%x%x%x' d='M%.0f %.0fL%.0f %.0fL%.0f %.0fz'/>\n", 10 + i % 6,
           10 + i / 6 % 6, 10 + i / 36 % 6, 10 * x[0], 10 * y[0], 10 * x[1], 10 * y[1], 10 * x[2],
           10 * y[2]);
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t edge = adjacency->side_edge[3 * t + k], n = (k + 1) % 3;
        if (edge != FLR_NONE && features->edge_flags[edge])
            printf("<path class='e' d='M%.0f %.0fL%.0f %.0f'/>\n", 10 * x[k], 10 * y[k], 10 * x[n],
                   10 * y[n]);
        if (features->vertex_flags[mesh->triangles[t].v[k]])
            printf("<circle cx='%.0f' cy='%.0f' r='22'/>\n", 10 * x[k], 10 * y[k]);
    }
}

/* the far triangles first, so that near ones cover them */
static flr_result draw_panel(const flr_mesh *mesh, const flr_adjacency *adjacency, double voxel,
                             double left, flr_error *error)
{
    flr_features *features;
    flr_result result = flr_features_create(mesh, adjacency, voxel, &features, error);
    if (result != FLR_OK) return result;
    fprintf(stderr, "voxel %g mm: %u polygons, %u of %u edges, %u of %u vertices\n", voxel * 1000,
            features->polygon_count, features->edge_count, features->edge_total,
            features->vertex_count, features->vertex_total);

    item *items = malloc(mesh->triangle_count * sizeof *items);
    size_t count = 0;
    for (uint32_t t = 0; items && t < mesh->triangle_count; t++) {
        const uint32_t *v = mesh->triangles[t].v;
        flr_vec3 a = view(mesh, v[0]), b = view(mesh, v[1]), c = view(mesh, v[2]);
        flr_vec3 n = flr_vec3_cross(flr_vec3_sub(b, a), flr_vec3_sub(c, a));
        if (n.z > 0) items[count++] = (item){a.z + b.z + c.z, t};
    }
    if (items) qsort(items, count, sizeof *items, by_depth);
    for (size_t i = 0; i < count; i++)
        draw_triangle(mesh, adjacency, features, items[i].triangle, left);
    printf("<text x='%.0f' y='%d'>%g mm: %u faces, %u vertices</text>\n", 10 * (left + WIDTH / 2.0),
           10 * (HEIGHT - 12), voxel * 1000, features->polygon_count, features->vertex_count);
    free(items);
    flr_features_destroy(features);
    return FLR_OK;
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_mesh *mesh = NULL;
    flr_adjacency *adjacency = NULL;
    double voxel = (argc > 2 ? strtod(argv[2], NULL) : 0.1) / 1000;
    flr_result result = argc > 1 ? flr_mesh_open(flr_env_real(), argv[1], NULL, &mesh, NULL, &error)
                                 : make_knob(&mesh, &error);

    /* the adjacency does not depend on the voxel size: made once */
    if (result == FLR_OK) result = flr_adjacency_create(mesh, &adjacency, &error);
    if (result == FLR_OK)
        printf(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d'>\n<style>"
            "path{stroke:#0001;stroke-width:4;stroke-linejoin:round}.e{stroke:#223;stroke-width:14;"
            "stroke-linecap:round}circle{fill:#c22}"
            "text{font:130px sans-serif;text-anchor:middle}</style>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n",
            10 * PANELS * WIDTH, 10 * HEIGHT);
    for (int i = 0; i < PANELS && result == FLR_OK; i++, voxel *= 10)
        result = draw_panel(mesh, adjacency, voxel, i * WIDTH, &error);
    if (result == FLR_OK)
        printf("</svg>\n");
    else
        fprintf(stderr, "%s\n", error.message);
    flr_adjacency_destroy(adjacency);
    flr_mesh_destroy(mesh);
    return result == FLR_OK ? 0 : 1;
}
