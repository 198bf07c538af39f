/* meshes to files: binary STL, OBJ, binary PLY, ITRI
 *
 * A file has coordinate / unit, the reader multiplies. Both round, so the written number is
 * chosen among the nearest ones such that the product is the coordinate again. That is always
 * possible for a mesh that was read with the same unit; else the last bit may differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "feeler/base.h"
#include "feeler/mesh.h"

enum { PIECE_SIZE = 1 << 16 };

typedef struct write_writer {
    flr_output *output; /* NULL: what would be written is compared with `file` */
    const flr_mesh *mesh;
    double unit;
    flr_error *error;
    flr_file *file;
    uint64_t at; /* bytes compared */
    uint8_t
        *piece; /* [PIECE_SIZE] of the file, of which the bytes [piece_at, piece_end) are to come */
    size_t piece_at, piece_end;
    bool differs;
} write_writer;

static double in_unit(double metres, double unit)
{
    double value = metres / unit;
    if (value * unit == metres) return value;
    double up = nextafter(value, INFINITY), down = nextafter(value, -INFINITY);
    if (up * unit == metres) return up;
    return down * unit == metres ? down : value;
}

/* Compares with the next bytes of the file; FLR_CANCELLED: they differ. */
static flr_result compare(write_writer *w, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        if (w->piece_at == w->piece_end) {
            w->piece_at = w->piece_end = 0;
            flr_result result =
                flr_file_read(w->file, w->at, w->piece, PIECE_SIZE, &w->piece_end, w->error);
            if (result != FLR_OK) return result;
        }
        size_t some = w->piece_end - w->piece_at;
        if (some > count) some = count;
        w->differs = some == 0 || memcmp(w->piece + w->piece_at, bytes, some) != 0;
        if (w->differs) return FLR_CANCELLED;
        w->piece_at += some, w->at += some;
        bytes += some, count -= some;
    }
    return FLR_OK;
}

static flr_result put(write_writer *w, const void *bytes, size_t count)
{
    return w->output ? flr_output_write(w->output, bytes, count, w->error)
                     : compare(w, bytes, count);
}

/* ---- STL ---- */

static flr_result write_stl(write_writer *w)
{
    unsigned char header[84] = {0};
    snprintf((char *)header, 80, "binary STL by feeler, unit %g m", w->unit);
    flr_put_u32(header + 80, w->mesh->triangle_count);
    flr_result result = flr_output_write(w->output, header, sizeof header, w->error);
    for (uint32_t t = 0; result == FLR_OK && t < w->mesh->triangle_count; t++) {
        unsigned char facet[50] = {0};
        flr_vec3 corner[3];
        for (unsigned i = 0; i < 3; i++) {
            corner[i] = w->mesh->vertices[w->mesh->triangles[t].v[i]];
            flr_put_f32(facet + 12 + 12 * i, (float)(corner[i].x / w->unit));
            flr_put_f32(facet + 16 + 12 * i, (float)(corner[i].y / w->unit));
            flr_put_f32(facet + 20 + 12 * i, (float)(corner[i].z / w->unit));
        }
        flr_vec3 normal = flr_vec3_normalize(
            flr_vec3_cross(flr_vec3_sub(corner[1], corner[0]), flr_vec3_sub(corner[2], corner[0])));
        flr_put_f32(facet, (float)normal.x);
        flr_put_f32(facet + 4, (float)normal.y);
        flr_put_f32(facet + 8, (float)normal.z);
        result = flr_output_write(w->output, facet, sizeof facet, w->error);
    }
    return result;
}

/* ---- OBJ ---- */

/* a name as one line: the reader trims blanks, and a last '\' would join the next line */
static flr_result write_group(write_writer *w, const char *name)
{
    size_t length = strlen(name);
    while (length && (name[length - 1] == '\\' || name[length - 1] == ' ')) length--;
    return flr_output_print(w->output, w->error, "g%s%.*s\n", length ? " " : "", (int)length, name);
}

static flr_result write_obj(write_writer *w)
{
    const flr_mesh *mesh = w->mesh;
    flr_result result =
        flr_output_print(w->output, w->error, "# OBJ by feeler, unit %g m\n", w->unit);
    for (uint32_t i = 0; result == FLR_OK && i < mesh->vertex_count; i++) {
        char x[FLR_NUMBER_TEXT_SIZE], y[FLR_NUMBER_TEXT_SIZE], z[FLR_NUMBER_TEXT_SIZE];
        flr_number_print(in_unit(mesh->vertices[i].x, w->unit), x);
        flr_number_print(in_unit(mesh->vertices[i].y, w->unit), y);
        flr_number_print(in_unit(mesh->vertices[i].z, w->unit), z);
        result = flr_output_print(w->output, w->error, "v %s %s %s\n", x, y, z);
    }
    bool named = mesh->group_count > 1 || flr_mesh_group_name(mesh, 0)[0];
    for (uint32_t g = 0; result == FLR_OK && g < mesh->group_count; g++) {
        const flr_mesh_group *group = &mesh->groups[g];
        if (named) result = write_group(w, flr_mesh_group_name(mesh, g));
        for (uint32_t t = 0; result == FLR_OK && t < group->triangle_count; t++) {
            const uint32_t *v = mesh->triangles[group->first_triangle + t].v;
            result = flr_output_print(w->output, w->error, "f %llu %llu %llu\n", v[0] + 1ull,
                                      v[1] + 1ull, v[2] + 1ull);
        }
    }
    return result;
}

/* ---- ITRI ---- */

static flr_result write_itri(write_writer *w)
{
    const flr_mesh *mesh = w->mesh;
    flr_result result = flr_output_print(w->output, w->error, "%u\n", mesh->triangle_count);
    for (uint32_t i = 0; result == FLR_OK && i < 3 * mesh->triangle_count; i++) {
        const flr_vec3 at = mesh->vertices[mesh->triangles[i / 3].v[i % 3]];
        char x[FLR_NUMBER_TEXT_SIZE], y[FLR_NUMBER_TEXT_SIZE], z[FLR_NUMBER_TEXT_SIZE];
        flr_number_print(in_unit(at.x, w->unit), x);
        flr_number_print(in_unit(at.y, w->unit), y);
        flr_number_print(in_unit(at.z, w->unit), z);
        result = flr_output_print(w->output, w->error, "%s %s %s\n", x, y, z);
    }
    return result;
}

/* ---- PLY ---- */

static flr_result write_ply(write_writer *w)
{
    const flr_mesh *mesh = w->mesh;
    char header[512];
    int length =
        snprintf(header, sizeof header,
                 "ply\nformat binary_little_endian 1.0\ncomment by feeler, unit %g m\n"
                 "element vertex %u\nproperty double x\nproperty double y\nproperty double z\n"
                 "element face %u\nproperty list uchar %s vertex_indices\nend_header\n",
                 w->unit, mesh->vertex_count, mesh->triangle_count,
                 mesh->vertex_count <= INT32_MAX ? "int" : "uint");
    FLR_ASSERT(length > 0 && (size_t)length < sizeof header);
    flr_result result = put(w, header, (size_t)length);
    for (uint32_t i = 0; result == FLR_OK && i < mesh->vertex_count; i++) {
        unsigned char vertex[24];
        flr_put_f64(vertex, in_unit(mesh->vertices[i].x, w->unit));
        flr_put_f64(vertex + 8, in_unit(mesh->vertices[i].y, w->unit));
        flr_put_f64(vertex + 16, in_unit(mesh->vertices[i].z, w->unit));
        result = put(w, vertex, sizeof vertex);
    }
    for (uint32_t t = 0; result == FLR_OK && t < mesh->triangle_count; t++) {
        unsigned char face[13] = {3};
        for (unsigned i = 0; i < 3; i++) flr_put_u32(face + 1 + 4 * i, mesh->triangles[t].v[i]);
        result = put(w, face, sizeof face);
    }
    return result;
}

/* ---- by ending ---- */

typedef flr_result write_function(write_writer *w);

static write_function *find_writer(const char *path, double *largest)
{
    const char *dot = strrchr(path, '.');
    *largest = HUGE_VAL;
    if (!dot || strchr(dot, '/')) return NULL;
    if (!strcasecmp(dot, ".obj")) return write_obj;
    if (!strcasecmp(dot, ".ply")) return write_ply;
    if (!strcasecmp(dot, ".itri")) return write_itri;
    if (strcasecmp(dot, ".stl") != 0) return NULL;
    *largest = 3.4e38; // 32-bit floats end here
    return write_stl;
}

static double farthest(flr_box3 box)
{
    flr_vec3 a = box.low, b = box.high;
    return fmax(fmax(fmax(fabs(a.x), fabs(a.y)), fabs(a.z)),
                fmax(fmax(fabs(b.x), fabs(b.y)), fabs(b.z)));
}

flr_result flr_mesh_write(flr_env *env, const char *path, const flr_mesh *mesh, double unit,
                          flr_error *error)
{
    FLR_ASSERT(env && path && mesh);
    double largest;
    write_function *write = find_writer(path, &largest);
    if (!write)
        return flr_fail(
            error, FLR_UNSUPPORTED,
            "%s: feeler writes meshes as .stl, .obj, .ply or .itri; use one of these endings",
            path);
    if (unit == 0) unit = 0.001;
    if (!(unit >= 1e-12 && unit <= 1e12) || farthest(mesh->bounds) / unit > largest)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: a unit of %g m is not possible here; give one such as 0.001", path,
                        unit);

    write_writer w = {.mesh = mesh, .unit = unit, .error = error};
    flr_result result = flr_output_begin(env, path, &w.output, error);
    if (result != FLR_OK) return result;
    return flr_output_end(w.output, write(&w), error);
}

flr_result flr_mesh_is_in_ply(flr_env *env, const char *path, const flr_mesh *mesh, double unit,
                              bool *same, flr_error *error)
{
    FLR_ASSERT(env && path && mesh && same);
    write_writer w = {.mesh = mesh, .unit = unit == 0 ? 0.001 : unit, .error = error};
    flr_path_info info;
    *same = false;
    flr_result result = flr_path_look_no_link(env, path, &info, error);
    if (result != FLR_OK || info.kind != FLR_PATH_FILE) return result;
    result = flr_file_open_with(env, path, FLR_FILE_READ, FLR_OPEN_NO_LINK, &w.file, error);
    if (result != FLR_OK) return result;
    w.piece = malloc(PIECE_SIZE);
    result = w.piece ? write_ply(&w) : flr_fail(error, FLR_NO_MEMORY, "%s: no memory", path);
    uint64_t size = 0;
    if (result == FLR_OK) result = flr_file_size(w.file, &size, error);
    if (result == FLR_OK) *same = size == w.at;
    // written by somebody else perhaps, and not yet on the disk
    if (result == FLR_OK && *same) result = flr_file_sync(w.file, error);
    free(w.piece);
    flr_file_close(w.file);
    return w.differs ? FLR_OK : result;
}
