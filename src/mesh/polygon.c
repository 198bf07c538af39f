/* polygons to triangles
 *
 * A polygon with n corners always gives n - 2 triangles. Where all triangles of the fan from its
 * first corner face as the polygon as a whole does, the fan is it: this holds for convex and for
 * many other polygons. Else ears are clipped in the plane that the polygon covers most. Polygons
 * that cut themselves have no right answer; they are cut anyway, always in the same way. */
#include "mesh/polygon.h"

#include <math.h>
#include <string.h>

void flr_faces_free(flr_faces *faces, flr_reader *reader)
{
    flr_budget *budget = &reader->builder.budget;
    flr_budget_free(budget, faces->positions, faces->capacity, sizeof *faces->positions);
    flr_budget_free(budget, faces->numbers, faces->numbers_capacity, sizeof *faces->numbers);
    flr_budget_free(budget, faces->corners, faces->corner_capacity, sizeof *faces->corners);
    memset(faces, 0, sizeof *faces);
}

flr_result flr_faces_reserve(flr_faces *faces, flr_reader *reader, size_t more)
{
    flr_result result = FLR_TOO_LARGE;
    if (more <= FLR_MESH_MAX_COUNT && faces->count + more <= FLR_MESH_MAX_COUNT)
        faces->positions =
            flr_budget_grow(&reader->builder.budget, faces->positions, &faces->capacity,
                            faces->count + more, sizeof *faces->positions, &result);
    return flr_reader_built(reader, result);
}

flr_result flr_faces_begin(flr_faces *faces, flr_reader *reader)
{
    flr_budget *budget = &reader->builder.budget;
    flr_result result;
    faces->positions = flr_budget_trim(budget, faces->positions, &faces->capacity, faces->count,
                                       sizeof *faces->positions);
    faces->numbers = flr_budget_grow(budget, faces->numbers, &faces->numbers_capacity, faces->count,
                                     sizeof *faces->numbers, &result);
    reader->builder.weld.max_count = faces->count;
    if (result == FLR_OK && faces->count)
        memset(faces->numbers, 0, faces->count * sizeof *faces->numbers);
    return flr_reader_built(reader, result);
}

void flr_faces_expect_corners(flr_faces *faces, flr_reader *reader, size_t count)
{
    flr_result ignored;
    faces->corners =
        flr_budget_grow(&reader->builder.budget, faces->corners, &faces->corner_capacity, count,
                        sizeof *faces->corners, &ignored);
}

/* ---- one triangle ---- */

static flr_result weld_waiting(flr_faces *faces, flr_builder *builder)
{
    size_t count = faces->waiting_count;
    faces->waiting_count = 0;
    return flr_builder_indexed(builder, faces->positions, 1, faces->numbers, faces->waiting, count);
}

static flr_result add_triangle(flr_faces *faces, flr_builder *builder, size_t a, size_t b, size_t c)
{
    const uint32_t *corners = faces->corners;
    faces->waiting[faces->waiting_count++] = (flr_triangle){{corners[a], corners[b], corners[c]}};
    if (faces->waiting_count < FLR_WELD_BATCH / 3) return FLR_OK;
    return weld_waiting(faces, builder);
}

flr_result flr_faces_flush(flr_faces *faces, flr_reader *reader)
{
    return flr_reader_built(reader, weld_waiting(faces, &reader->builder));
}

/* ---- fan ---- */

static flr_vec3 position_of(const flr_faces *faces, size_t corner)
{
    return faces->positions[faces->corners[corner]];
}

/* twice the area of the fan's triangle i, i+1, as a vector */
static flr_vec3 fan_area(const flr_faces *faces, size_t i)
{
    flr_vec3 origin = position_of(faces, 0);
    return flr_vec3_cross(flr_vec3_sub(position_of(faces, i), origin),
                          flr_vec3_sub(position_of(faces, i + 1), origin));
}

/* the polygon's normal: the sum over any fan */
static flr_vec3 polygon_normal(const flr_faces *faces)
{
    flr_vec3 sum = flr_vec3_zero();
    for (size_t i = 1; i + 1 < faces->corner_count; i++)
        sum = flr_vec3_add(sum, fan_area(faces, i));
    return sum;
}

static bool is_fan(const flr_faces *faces, flr_vec3 normal)
{
    for (size_t i = 1; i + 1 < faces->corner_count; i++)
        if (!(flr_vec3_dot(fan_area(faces, i), normal) > 0)) return false;
    return true;
}

static flr_result add_fan(flr_faces *faces, flr_builder *builder)
{
    flr_result result = FLR_OK;
    for (size_t i = 1; result == FLR_OK && i + 1 < faces->corner_count; i++)
        result = add_triangle(faces, builder, 0, i, i + 1);
    return result;
}

/* ---- ears ---- */

/* a polygon on its way to triangles: the faces, with the ring in them, and how it lies in the plane */
typedef struct cutting {
    flr_faces *faces;
    unsigned
        axis; /* projected along this one: the largest of the normal, so that the polygon covers most */
    bool mirror; /* so that the polygon turns counter-clockwise */
} cutting;

/* a corner in the plane */
typedef struct spot {
    double x, y;
} spot;

static spot spot_of(const cutting *cut, uint32_t corner)
{
    flr_vec3 p = position_of(cut->faces, corner);
    double u = cut->axis == 0 ? p.y : cut->axis == 1 ? p.z : p.x;
    double v = cut->axis == 0 ? p.z : cut->axis == 1 ? p.x : p.y;
    return (spot){cut->mirror ? -u : u, v};
}

/* chooses the plane and links the corners to a ring */
static cutting begin_cutting(flr_faces *faces, flr_vec3 normal)
{
    double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    cutting cut = {.faces = faces, .axis = 2, .mirror = normal.z < 0};
    if (x >= y && x >= z)
        cut.axis = 0, cut.mirror = normal.x < 0;
    else if (y >= z)
        cut.axis = 1, cut.mirror = normal.y < 0;
    size_t count = faces->corner_count;
    for (size_t i = 0; i < count; i++) {
        faces->previous[i] = (uint16_t)(i ? i - 1 : count - 1);
        faces->next[i] = (uint16_t)(i + 1 < count ? i + 1 : 0);
    }
    return cut;
}

/* twice the signed area of a triangle in the plane */
static double turn(spot a, spot b, spot c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static double turn_at(const cutting *cut, uint32_t corner)
{
    return turn(spot_of(cut, cut->faces->previous[corner]), spot_of(cut, corner),
                spot_of(cut, cut->faces->next[corner]));
}

static bool same_place(spot a, spot b) { return a.x == b.x && a.y == b.y; }

/* A corner is an ear when it turns left and no corner that does not lies in its triangle. Corners
 * in the same place as one of the triangle's do not count: slits to holes run there and back. */
static bool is_ear(const cutting *cut, uint32_t corner, uint64_t *work)
{
    const uint16_t *next = cut->faces->next;
    uint32_t before = cut->faces->previous[corner], after = next[corner];
    spot a = spot_of(cut, before), b = spot_of(cut, corner), c = spot_of(cut, after);
    if (!(turn(a, b, c) > 0)) return false;
    for (uint32_t i = next[after]; i != before; i = next[i]) {
        spot p = spot_of(cut, i);
        ++*work;
        if (turn(a, b, p) < 0 || turn(b, c, p) < 0 || turn(c, a, p) < 0) continue;
        if (same_place(p, a) || same_place(p, b) || same_place(p, c)) continue;
        if (turn_at(cut, i) <= 0) return false;
    }
    return true;
}

/* no ear left: what to cut so that the rest has one again. A corner that encloses no area first,
 * then one that turns left, then any. */
static uint32_t pick_anyway(const cutting *cut, uint32_t start)
{
    uint32_t left = start, i = start;
    bool found = false;
    do {
        double area = turn_at(cut, i);
        if (area == 0) return i;
        if (area > 0 && !found) left = i, found = true;
        i = cut->faces->next[i];
    } while (i != start);
    return left;
}

static flr_result clip_ears(flr_faces *faces, flr_builder *builder, flr_vec3 normal)
{
    cutting cut = begin_cutting(faces, normal);
    uint64_t count = faces->corner_count, work = 0, allowed = 2 * count * count + 64;
    uint32_t corner = 0;
    uint64_t missed = 0;
    while (count > 3) {
        bool stuck = missed > count || work > allowed;
        if (!stuck && !is_ear(&cut, corner, &work)) {
            corner = faces->next[corner];
            missed++;
            continue;
        }
        if (missed > count) corner = pick_anyway(&cut, corner);
        uint16_t a = faces->previous[corner], c = faces->next[corner];
        flr_result result = add_triangle(faces, builder, a, corner, c);
        if (result != FLR_OK) return result;
        faces->next[a] = c;
        faces->previous[c] = a;
        corner = c;
        missed = 0;
        count--;
    }
    return add_triangle(faces, builder, faces->previous[corner], corner, faces->next[corner]);
}

/* ---- faces ---- */

flr_result flr_faces_add(flr_faces *faces, flr_reader *reader, const char *at)
{
    size_t count = faces->corner_count;
    reader->report->triangles_in_file += count - 2;
    reader->report->polygons_split += count > 3;
    for (size_t i = 0; i < count; i++) {
        flr_vec3 p = position_of(faces, i);
        if (flr_position_ok(p)) continue;
        reader->report->dropped_nonfinite += count - 2;
        return flr_reader_complain_far(reader, at, p);
    }
    if (count == 3) return flr_reader_built(reader, add_triangle(faces, &reader->builder, 0, 1, 2));

    flr_vec3 normal = polygon_normal(faces);
    if (is_fan(faces, normal)) return flr_reader_built(reader, add_fan(faces, &reader->builder));
    if (count > FLR_POLYGON_MAX_CORNERS) {
        reader->report->dropped_malformed++;
        return flr_reader_complain(reader, at,
                                   "a face with %zu corners that is not convex; feeler cuts up to "
                                   "%d, so let the program that wrote it make triangles",
                                   count, FLR_POLYGON_MAX_CORNERS);
    }
    return flr_reader_built(reader, clip_ears(faces, &reader->builder, normal));
}
