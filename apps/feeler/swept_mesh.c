/* the space that parts take while joints move, as a mesh */
#include "swept_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feeler/merge.h"

/* A corner of the border is in the cube around a corner of voxels, and a voxel that was touched is next to it: three halves of
 * a voxel along each axis; a quarter of one is what a part may take between two places. */
#define BORDER_ERROR (1.5 * 1.7320508075688772 + 0.25)
#define POSE_TURN    0.02 /* rad: between poses that are swept straight */
enum { MAX_POSES = 20000 };

/* ---- growing arrays ---- */

static bool grow(void **list, size_t *room, size_t count, size_t size)
{
    if (count < *room) return true;
    const size_t more = *room ? 2 * *room : 4096;
    void *moved = realloc(*list, more * size);
    if (!moved) return false;
    *list = moved;
    *room = more;
    return true;
}

static bool add_triangle(flr_border *b, uint32_t x, uint32_t y, uint32_t z)
{
    void *list = b->triangles;
    if (!grow(&list, &b->triangle_room, b->triangle_count, sizeof *b->triangles)) return false;
    b->triangles = list;
    uint32_t *to = b->triangles[b->triangle_count++];
    to[0] = x, to[1] = y, to[2] = z;
    return true;
}

static void border_free(flr_border *b)
{
    free(b->vertices);
    free(b->triangles);
    *b = (flr_border){0};
}

/* ---- the border of voxels ---- */

/* Two layers of voxels, and the vertices between layers; both with a margin of one. */
typedef struct layers {
    flr_border *border;
    const flr_voxmap *voxmap;
    flr_voxmap_info info;
    size_t nx, ny;         /* cubes between voxels along x and y */
    uint8_t *full[2];      /* [nx + 1][ny + 1]: voxels below and above a layer of cubes */
    uint32_t *vertices[2]; /* [nx][ny]: of the layer of cubes before, and of this one */
} layers;

static uint8_t *voxel_at(const layers *l, int side, size_t x, size_t y)
{
    return &l->full[side][y * (l->nx + 1) + x];
}

static uint32_t *vertex_at(const layers *l, int side, size_t x, size_t y)
{
    return &l->vertices[side][y * l->nx + x];
}

static void read_layer(layers *l, int64_t z)
{
    memset(l->full[1], 0, (l->nx + 1) * (l->ny + 1));
    if (z < 0 || z >= (int64_t)l->info.size[2]) return;
    for (size_t y = 0; y < l->info.size[1]; y++)
        for (size_t x = 0; x < l->info.size[0]; x++) {
            const unsigned mark =
                flr_voxmap_mark_at(l->voxmap, FLR_FIELD_SURFACE, (int64_t)x, (int64_t)y, z);
            *voxel_at(l, 1, x + 1, y + 1) = mark == FLR_MARK_SURFACE || mark == FLR_MARK_INTERIOR;
        }
}

/* The vertex of a cube whose corners are the middles of eight voxels: the mean of where its edges leave what is full. */
static bool add_vertex(layers *l, size_t x, size_t y, int64_t z)
{
    bool full[8];
    uint32_t count = 0;
    flr_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 8; i++)
        full[i] = *voxel_at(l, i >> 2, x + (size_t)(i & 1), y + (size_t)(i >> 1 & 1));
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) {
            const int k = i | 1 << axis;
            if (k == i || full[i] == full[k]) continue;
            sum = flr_vec3_add(sum, flr_vec3_make(0.5 * ((i & 1) + (k & 1)),
                                                  0.5 * ((i >> 1 & 1) + (k >> 1 & 1)),
                                                  0.5 * ((i >> 2) + (k >> 2))));
            count++;
        }
    *vertex_at(l, 1, x, y) = UINT32_MAX;
    if (count == 0) return true;
    flr_border *b = l->border;
    void *list = b->vertices;
    if (b->vertex_count >= UINT32_MAX - 1 ||
        !grow(&list, &b->vertex_room, b->vertex_count, sizeof *b->vertices))
        return false;
    b->vertices = list;
    /* voxel (0, 0, 0) is at (1, 1) in `full`; its middle is half a voxel in */
    const flr_vec3 cell = {(double)x - 0.5, (double)y - 0.5, (double)z - 0.5};
    const flr_vec3 at = flr_vec3_add(cell, flr_vec3_scale(sum, 1.0 / count));
    b->vertices[b->vertex_count] = flr_vec3_add_scaled(l->info.origin, l->info.voxel, at);
    *vertex_at(l, 1, x, y) = (uint32_t)b->vertex_count++;
    return true;
}

/* Two triangles around an edge between a full and an empty voxel. */
static bool add_quad(layers *l, uint32_t a, uint32_t b, uint32_t c, uint32_t d, bool turned)
{
    return turned ? add_triangle(l->border, a, c, b) && add_triangle(l->border, a, d, c)
                  : add_triangle(l->border, a, b, c) && add_triangle(l->border, a, c, d);
}

/* Edges of this layer of cubes: upright ones within it, and level ones in the voxels below it. */
static bool add_faces(layers *l, bool first)
{
    for (size_t y = 0; y <= l->ny; y++)
        for (size_t x = 0; x <= l->nx; x++) {
            const bool here = *voxel_at(l, 0, x, y);
            if (x > 0 && y > 0 && x < l->nx && y < l->ny && here != *voxel_at(l, 1, x, y) &&
                !add_quad(l, *vertex_at(l, 1, x - 1, y - 1), *vertex_at(l, 1, x, y - 1),
                          *vertex_at(l, 1, x, y), *vertex_at(l, 1, x - 1, y), !here))
                return false;
            if (first) continue;
            if (x < l->nx && y > 0 && y < l->ny && here != *voxel_at(l, 0, x + 1, y) &&
                !add_quad(l, *vertex_at(l, 0, x, y - 1), *vertex_at(l, 0, x, y),
                          *vertex_at(l, 1, x, y), *vertex_at(l, 1, x, y - 1), !here))
                return false;
            if (y < l->ny && x > 0 && x < l->nx && here != *voxel_at(l, 0, x, y + 1) &&
                !add_quad(l, *vertex_at(l, 0, x - 1, y), *vertex_at(l, 1, x - 1, y),
                          *vertex_at(l, 1, x, y), *vertex_at(l, 0, x, y), !here))
                return false;
        }
    return true;
}

static flr_result border_add(flr_border *border, const flr_voxmap *voxmap, flr_error *error)
{
    layers l = {.border = border, .voxmap = voxmap, .info = flr_voxmap_get_info(voxmap)};
    l.nx = l.info.size[0] + 1, l.ny = l.info.size[1] + 1;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        l.full[i] = calloc((l.nx + 1) * (l.ny + 1), 1);
        l.vertices[i] = calloc(l.nx * l.ny, sizeof *l.vertices[i]);
        ok = ok && l.full[i] && l.vertices[i];
    }
    /* a layer of cubes lies between the voxels z - 1 and z */
    for (int64_t z = 0; ok && z <= (int64_t)l.info.size[2]; z++) {
        uint8_t *full = l.full[0];
        uint32_t *vertices = l.vertices[0];
        l.full[0] = l.full[1], l.full[1] = full;
        l.vertices[0] = l.vertices[1], l.vertices[1] = vertices;
        read_layer(&l, z);
        for (size_t y = 0; ok && y < l.ny; y++)
            for (size_t x = 0; ok && x < l.nx; x++) ok = add_vertex(&l, x, y, z);
        ok = ok && add_faces(&l, z == 0);
    }
    for (int i = 0; i < 2; i++) {
        free(l.full[i]);
        free(l.vertices[i]);
    }
    return ok ? FLR_OK
              : flr_fail(error, FLR_NO_MEMORY,
                         "not enough memory for the mesh; allow a larger tolerance");
}

/* ---- sweeping ---- */

/* How many poses a stage needs so that the straight way between two of them is the true one within a thousandth. */
static uint32_t poses_of(const flr_swept_mesh_def *def, uint32_t stage)
{
    double turn = 0;
    for (uint32_t i = def->sweep->first[stage]; i < def->sweep->first[stage + 1]; i++) {
        const flr_joint_travel *t = &def->sweep->travels[i];
        if (def->sweep->mechanism->joints[t->joint].kind != FLR_JOINT_PRISMATIC && !t->slide)
            turn += fabs(t->to - t->from);
    }
    const double count = ceil(turn / POSE_TURN) + 2;
    return count < MAX_POSES ? (uint32_t)count : MAX_POSES;
}

/* All poses of all parts: [pose][part]. */
static flr_pose *make_poses(const flr_swept_mesh_def *def, size_t *count)
{
    const size_t parts = def->sweep->mechanism->part_count;
    size_t all = 0, at = 0;
    for (uint32_t s = 0; s < def->stages; s++) all += poses_of(def, s);
    flr_pose *poses = calloc(all * parts + 1, sizeof *poses);
    for (uint32_t s = 0; poses && s < def->stages; s++) {
        const uint32_t of_stage = poses_of(def, s);
        const double end = s + 1 == def->stages ? def->share : 1;
        for (uint32_t i = 0; i < of_stage; i++, at++)
            flr_joint_sweep_pose(def->sweep, s, end * i / (of_stage - 1), poses + at * parts);
    }
    *count = all;
    return poses;
}

static flr_result sweep_part(const flr_swept_mesh_def *def, uint32_t part, const flr_pose *poses,
                             size_t count, flr_border *border, flr_swept_mesh_report *report,
                             flr_error *error)
{
    const size_t parts = def->sweep->mechanism->part_count;
    flr_pose *own = calloc(count + 1, sizeof *own);
    flr_voxmap *voxmap = NULL;
    flr_sweep_report swept;
    if (!own) return flr_fail_memory(error);
    for (size_t i = 0; i < count; i++) own[i] = poses[i * parts + part];
    flr_sweep_def how = flr_default_sweep_def();
    how.mesh = def->meshes[part];
    how.poses = own;
    how.pose_count = count;
    how.voxel = flr_swept_mesh_voxel(def->tolerance);
    flr_result result = flr_sweep_make(&how, &voxmap, &swept, error);
    if (result == FLR_OK) result = border_add(border, voxmap, error);
    if (result == FLR_OK) report->volume += swept.volume;
    flr_voxmap_destroy(voxmap);
    free(own);
    return result;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t size = strlen(path), tail = strlen(ending);
    return size > tail && strcmp(path + size - tail, ending) == 0;
}

bool flr_swept_mesh_is_name(const char *path)
{
    return ends_with(path, ".stl") || ends_with(path, ".ply") || ends_with(path, ".obj") ||
           ends_with(path, ".glb");
}

static flr_result write_border(flr_env *env, const char *path, const flr_border *border,
                               flr_error *error)
{
    if (ends_with(path, ".glb")) return flr_glb_write(env, path, border, error);
    if (border->triangle_count >= UINT32_MAX)
        return flr_fail(error, FLR_TOO_LARGE, "the mesh is too large; allow a larger tolerance");
    flr_mesh_def made = flr_default_mesh_def();
    _Static_assert(sizeof(flr_triangle) == sizeof(uint32_t[3]), "a triangle is three indices");
    made.vertices = border->vertices;
    made.vertex_count = (uint32_t)border->vertex_count;
    made.triangles = (const flr_triangle *)(const void *)border->triangles;
    made.triangle_count = (uint32_t)border->triangle_count;
    flr_mesh *mesh;
    flr_result result = flr_mesh_create(&made, &mesh, error);
    if (result != FLR_OK) return result;
    result = flr_mesh_write(env, path, mesh, 0, error);
    flr_mesh_destroy(mesh);
    return result;
}

double flr_swept_mesh_voxel(double tolerance) { return tolerance / BORDER_ERROR; }

flr_result flr_swept_mesh_of(flr_env *env, const char *path, const flr_voxmap *swept,
                             size_t *triangles, flr_error *error)
{
    flr_border border = {0};
    flr_result result = border_add(&border, swept, error);
    if (result == FLR_OK) result = write_border(env, path, &border, error);
    *triangles = border.triangle_count;
    border_free(&border);
    return result;
}

flr_result flr_swept_mesh_write(const flr_swept_mesh_def *def, flr_swept_mesh_report *report,
                                flr_error *error)
{
    size_t count;
    flr_border border = {0};
    flr_pose *poses = make_poses(def, &count);
    *report = (flr_swept_mesh_report){.error = def->tolerance};
    flr_result result = poses ? FLR_OK : flr_fail_memory(error);
    for (uint32_t i = 0; result == FLR_OK && i < def->sweep->mechanism->part_count; i++)
        if (flr_joint_sweep_moves(def->sweep, i))
            result = sweep_part(def, i, poses, count, &border, report, error);
    if (result == FLR_OK) result = write_border(def->env, def->path, &border, error);
    report->triangles = border.triangle_count;
    border_free(&border);
    free(poses);
    return result;
}
