/* kit.c: the builder itself: storage, numbers, frames. */
#include "models/kit.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- storage ---- */

flr_kit flr_kit_begin(uint64_t seed)
{
    flr_kit kit;
    memset(&kit, 0, sizeof kit);
    kit.T_kit_here = flr_kit_at(0, 0, 0);
    kit.chord = 0.0002;
    kit.least_sides = 8;
    kit.wire_step = 0.02;
    kit.random = seed;
    kit.result = FLR_OK;
    return kit;
}

void flr_kit_free(flr_kit *kit)
{
    free(kit->vertices);
    free(kit->triangles);
    kit->vertices = NULL;
    kit->triangles = NULL;
    kit->vertex_count = kit->vertex_room = 0;
    kit->triangle_count = kit->triangle_room = 0;
}

void flr_kit_fail(flr_kit *kit, flr_result result, const char *trouble)
{
    if (kit->result != FLR_OK) return;
    kit->result = result;
    kit->trouble = trouble;
}

flr_result flr_kit_finish(flr_kit *kit, flr_mesh **mesh, flr_error *error)
{
    flr_result result = kit->result;
    if (result != FLR_OK) {
        flr_fail(error, result, "a model could not be built: %s", kit->trouble);
    } else if (kit->vertex_count > UINT32_MAX || kit->triangle_count > UINT32_MAX) {
        result = flr_fail(error, FLR_TOO_LARGE, "a model has more triangles than a mesh can hold");
    } else {
        flr_mesh_def def = flr_default_mesh_def();
        def.vertices = kit->vertices;
        def.vertex_count = (uint32_t)kit->vertex_count;
        def.triangles = kit->triangles;
        def.triangle_count = (uint32_t)kit->triangle_count;
        result = flr_mesh_create(&def, mesh, error);
    }
    flr_kit_free(kit);
    return result;
}

/* doubles a store when it is full; false and noted when there is no memory */
static bool grow(flr_kit *kit, void **store, size_t *room, size_t size)
{
    size_t wanted = *room ? *room * 2 : 4096;
    if (!flr_array_resize(store, wanted, size)) {
        flr_kit_fail(kit, FLR_NO_MEMORY, "out of memory; free some and try again");
        return false;
    }
    *room = wanted;
    return true;
}

uint32_t flr_kit_vertex(flr_kit *kit, flr_vec3 p)
{
    if (kit->result != FLR_OK) return 0;
    if (kit->vertex_count == kit->vertex_room) {
        void *store = kit->vertices;
        if (!grow(kit, &store, &kit->vertex_room, sizeof *kit->vertices)) return 0;
        kit->vertices = store;
    }
    kit->vertices[kit->vertex_count] = flr_kit_point(kit->T_kit_here, p.x, p.y, p.z);
    return (uint32_t)kit->vertex_count++;
}

void flr_kit_triangle(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c)
{
    if (kit->result != FLR_OK) return;
    if (kit->triangle_count == kit->triangle_room) {
        void *store = kit->triangles;
        if (!grow(kit, &store, &kit->triangle_room, sizeof *kit->triangles)) return;
        kit->triangles = store;
    }
    flr_triangle triangle = {{a, b, c}};
    kit->triangles[kit->triangle_count++] = triangle;
}

void flr_kit_quad(flr_kit *kit, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    flr_kit_triangle(kit, a, b, c);
    flr_kit_triangle(kit, a, c, d);
}

flr_box3 flr_kit_bounds(const flr_kit *kit)
{
    flr_box3 box = {{1, 1, 1}, {0, 0, 0}};
    for (size_t i = 0; i < kit->vertex_count; i++) {
        flr_vec3 p = kit->vertices[i];
        if (i == 0) box.low = box.high = p;
        if (p.x < box.low.x) box.low.x = p.x;
        if (p.y < box.low.y) box.low.y = p.y;
        if (p.z < box.low.z) box.low.z = p.z;
        if (p.x > box.high.x) box.high.x = p.x;
        if (p.y > box.high.y) box.high.y = p.y;
        if (p.z > box.high.z) box.high.z = p.z;
    }
    return box;
}

/* ---- numbers ---- */

/* Taylor series for |x| <= pi/4: the last terms are below 1e-17 */
static double sin_small(double x)
{
    static const double c[] = {
        -1.0 / 6,        1.0 / 120,          -1.0 / 5040,         1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368e3, 1.0 / 355687428096e3};
    double z = x * x, sum = 0;
    for (int i = 7; i >= 0; i--) sum = sum * z + c[i];
    return x + x * z * sum;
}

static double cos_small(double x)
{
    static const double c[] = {
        -1.0 / 2,       1.0 / 24,          -1.0 / 720,           1.0 / 40320,
        -1.0 / 3628800, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888e3};
    double z = x * x, sum = 0;
    for (int i = 7; i >= 0; i--) sum = sum * z + c[i];
    return 1 + z * sum;
}

double flr_kit_sin(double turns)
{
    /* the quarter, and the rest in [-1/8, 1/8]: both exact */
    double quarter = floor(turns * 4 + 0.5), rest = (turns - quarter / 4) * FLR_TWO_PI;
    switch ((int)(quarter - 4 * floor(quarter / 4))) {
    case 0:
        return sin_small(rest);
    case 1:
        return cos_small(rest);
    case 2:
        return -sin_small(rest);
    default:
        return -cos_small(rest);
    }
}

double flr_kit_cos(double turns) { return flr_kit_sin(turns + 0.25); }

double flr_kit_angle(double x, double y)
{
    double r = sqrt(x * x + y * y);
    if (!(r > 0)) return 0;
    x /= r;
    y /= r;
    /* a first guess by octant, then the exact remainder: sin(a - guess), three times */
    double ax = fabs(x), ay = fabs(y),
           guess = ay <= ax ? ay / (ax + ay) / 4 : 0.25 - ax / (ax + ay) / 4;
    if (x < 0) guess = 0.5 - guess;
    if (y < 0) guess = -guess;
    for (int i = 0; i < 4; i++)
        guess += (y * flr_kit_cos(guess) - x * flr_kit_sin(guess)) / FLR_TWO_PI;
    return guess;
}

double flr_kit_random(flr_kit *kit, double low, double high)
{
    /* splitmix64 */
    uint64_t z = kit->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) / 9007199254740992.0);
}

int flr_kit_sides(const flr_kit *kit, double r)
{
    /* a chord of n sides strays by r (1 - cos(pi/n)), about r (pi/n)^2 / 2 */
    double n = FLR_PI * sqrt(r / (2 * kit->chord));
    int sides = 4 * (int)ceil(n / 4);
    if (sides < kit->least_sides) sides = kit->least_sides;
    return sides > 512 ? 512 : sides;
}

/* ---- frames ---- */

flr_pose flr_kit_at(double x, double y, double z)
{
    flr_pose pose = {{x, y, z}, {1, 0, 0, 0}};
    return pose;
}

flr_vec3 flr_kit_point(flr_pose pose, double x, double y, double z)
{
    return flr_pose_apply(pose, v3(x, y, z));
}

static flr_pose turn(flr_pose pose, double turns, double x, double y, double z)
{
    double s = flr_kit_sin(turns / 2);
    flr_quat q = {flr_kit_cos(turns / 2), x * s, y * s, z * s};
    pose.q = flr_quat_mul(pose.q, q);
    return pose;
}

flr_pose flr_kit_turn_x(flr_pose pose, double turns) { return turn(pose, turns, 1, 0, 0); }
flr_pose flr_kit_turn_y(flr_pose pose, double turns) { return turn(pose, turns, 0, 1, 0); }
flr_pose flr_kit_turn_z(flr_pose pose, double turns) { return turn(pose, turns, 0, 0, 1); }

flr_pose flr_kit_shift(flr_pose pose, double x, double y, double z)
{
    pose.p = flr_kit_point(pose, x, y, z);
    return pose;
}

flr_pose flr_kit_frame(flr_vec3 origin, flr_vec3 z, flr_vec3 x)
{
    z = v3_unit(z);
    x = v3_sub(x, v3_mul(z, v3_dot(x, z)));
    x = v3_dot(x, x) > 1e-18 ? v3_unit(x) : v3_across(z);
    flr_pose pose = {origin, flr_quat_from_mat3(flr_mat3_from_columns(x, v3_cross(z, x), z))};
    return pose;
}

flr_pose flr_kit_towards(flr_vec3 from, flr_vec3 to)
{
    flr_vec3 z = v3_unit(v3_sub(to, from));
    return flr_kit_frame(from, z, v3_across(z));
}

void flr_kit_push(flr_kit *kit, flr_pose pose)
{
    if (kit->frame_count == FLR_KIT_FRAMES) {
        flr_kit_fail(kit, FLR_TOO_LARGE, "frames are nested too deeply");
        return;
    }
    kit->frames[kit->frame_count++] = kit->T_kit_here;
    kit->T_kit_here = flr_pose_mul(kit->T_kit_here, pose);
}

void flr_kit_pop(flr_kit *kit)
{
    if (kit->frame_count > 0) kit->T_kit_here = kit->frames[--kit->frame_count];
}
