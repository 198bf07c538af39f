/* 10 clearance: how near do two parts come, and where?
 *
 * Two plates stand 30 mm apart, a ball rolls between them. The voxels say at once whether there is
 * room; the triangles say how much, to the micrometre, and between which points. In the end: the
 * room that the ball takes on its way.
 *
 *     build/examples/10_clearance
 *     build/examples/10_clearance 14.99     (a larger ball: radius in mm)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "feeler/distance.h"
#include "feeler/merge.h"
#include "feeler/voxels.h"

enum { AROUND = 96, ALONG = 48 };

/* a box from corner to corner, mm */
static void add_box(flr_vec3 *vertices, flr_triangle *triangles, uint32_t number, flr_vec3 low,
                    flr_vec3 high)
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                          {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                          {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (uint32_t i = 0; i < 8; i++)
        vertices[8 * number + i] =
            flr_vec3_make(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
    for (uint32_t i = 0; i < 12; i++)
        for (uint32_t k = 0; k < 3; k++) triangles[12 * number + i].v[k] = 8 * number + faces[i][k];
}

static flr_result make_plates(flr_mesh **mesh, flr_error *error)
{
    flr_vec3 vertices[16];
    flr_triangle triangles[24];
    add_box(vertices, triangles, 0, flr_vec3_make(-60, -40, -25), flr_vec3_make(60, 40, -15));
    add_box(vertices, triangles, 1, flr_vec3_make(-60, -40, 15), flr_vec3_make(60, 40, 25));
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = vertices, def.vertex_count = 16;
    def.triangles = triangles, def.triangle_count = 24;
    def.scale = 0.001;
    return flr_mesh_create(&def, mesh, error);
}

static flr_vec3 on_ball(double radius, uint32_t i, uint32_t j)
{
    double a = FLR_TWO_PI * i / AROUND, b = FLR_PI * j / ALONG;
    return flr_vec3_make(radius * sin(b) * cos(a), radius * sin(b) * sin(a), radius * cos(b));
}

static flr_result make_ball(double radius, flr_mesh **mesh, flr_error *error)
{
    static flr_vec3 corners[6 * AROUND * ALONG]; /* vertices in threes are welded when made */
    uint32_t count = 0;
    for (uint32_t i = 0; i < AROUND; i++)
        for (uint32_t j = 0; j < ALONG; j++) {
            const flr_vec3 a = on_ball(radius, i, j), b = on_ball(radius, i, j + 1),
                           c = on_ball(radius, (i + 1) % AROUND, j + 1),
                           d = on_ball(radius, (i + 1) % AROUND, j);
            const flr_vec3 both[6] = {a, b, c, a, c, d};
            for (int k = 0; k < 6; k++) corners[count++] = both[k];
        }
    flr_mesh_def def = flr_default_mesh_def();
    def.vertices = corners, def.vertex_count = count;
    def.scale = 0.001;
    def.weld = 1e-9;
    return flr_mesh_create(&def, mesh, error);
}

static const char *const kinds[] = {"vertex", "edge", "face"};

/* rolling: 1 mm lower at the end than in the beginning */
static flr_pose pose_at(double t)
{
    return flr_pose_make(flr_vec3_make(0.06 * (t - 0.5), 0, 0.0005 - 0.001 * t),
                         flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), 4 * t));
}

int main(int argc, char **argv)
{
    flr_error error;
    flr_mesh *plates = NULL, *ball = NULL;
    flr_gauge_part *a = NULL, *b = NULL;
    flr_voxmap *swept = NULL, *voxmap = NULL;
    flr_result result = make_plates(&plates, &error);
    if (result == FLR_OK) result = make_ball(argc > 1 ? strtod(argv[1], NULL) : 14, &ball, &error);
    if (result == FLR_OK) result = flr_gauge_part_create(ball, &a, &error);
    if (result == FLR_OK) result = flr_gauge_part_create(plates, &b, &error);

    /* pose by pose; the witness makes the next pose cheaper, and changes nothing else */
    flr_gauge_witness witness = flr_no_witness();
    flr_pose poses[11];
    for (int i = 0; i <= 10 && result == FLR_OK; i++) {
        flr_gauge_result r;
        poses[i] = pose_at(0.1 * i);
        flr_gauge_distance(a, b, poses[i], flr_pose_identity(), NULL, &witness, &r);
        printf("%2d: %8.4f mm from a %s of the ball to a %s of the plates, %llu steps\n", i,
               1000 * r.upper, kinds[r.a.kind], kinds[r.b.kind], (unsigned long long)r.work);
    }

    /* is there a millimetre everywhere? */
    for (int i = 0; i <= 10 && result == FLR_OK; i++)
        if (flr_gauge_within(a, b, poses[i], flr_pose_identity(), 0.001, 0, NULL)) {
            printf("in pose %d there is less than 1 mm\n", i);
            break;
        }

    /* the room that the ball takes, and what of it the plates take, too */
    flr_sweep_def def = flr_default_sweep_def();
    flr_sweep_report report;
    def.mesh = ball;
    def.voxel = 0.001;
    def.poses = poses;
    def.pose_count = 11;
    if (result == FLR_OK) result = flr_sweep_make(&def, &swept, &report, &error);
    flr_voxelize_def part = flr_default_voxelize_def();
    part.voxel = 0.001;
    if (result == FLR_OK)
        result = flr_voxelize(flr_env_real(), plates, &part, &voxmap, NULL, NULL, &error);
    if (result == FLR_OK) {
        flr_sweep_clash clash;
        flr_sweep_compare(swept, flr_pose_identity(), voxmap, flr_pose_identity(), &clash);
        printf("the ball sweeps %.1f cm3; by voxels of 1 mm %.1f to %.1f mm are left\n",
               1e6 * report.volume, 1000 * clash.lower, 1000 * clash.upper);
    }
    if (result != FLR_OK) fprintf(stderr, "%s\n", error.message);
    flr_voxmap_destroy(voxmap);
    flr_voxmap_destroy(swept);
    flr_gauge_part_destroy(a);
    flr_gauge_part_destroy(b);
    flr_mesh_destroy(ball);
    flr_mesh_destroy(plates);
    return result == FLR_OK ? 0 : 1;
}
