/* pieces to a file or to a mesh */
#include "server/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flr_upload {
    flr_env *env;
    uint32_t number;
    uint64_t size; /* bytes: of the file, or of vertices and triangles */
    double unit;
    char name[257];
    /* a file */
    flr_file *file;
    char path[FLR_CACHE_PATH_SIZE];
    uint64_t written, file_size;
    /* a mesh: capacities grow with what comes */
    flr_vec3 *vertices;
    flr_triangle *triangles;
    uint32_t vertex_count, triangle_count; /* as announced */
    uint32_t vertices_got, triangles_got;  /* so far */
    uint32_t vertex_capacity, triangle_capacity;
};

/* the ending of a file name, where it can be one: letters and digits */
static void ending_of(const char *name, char ending[16])
{
    const char *dot = strrchr(name, '.');
    ending[0] = 0;
    if (!dot || strlen(dot) > 12) return;
    size_t size = 0;
    for (const char *c = dot + 1; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && !(*c >= '0' && *c <= '9')) return;
        size++;
    }
    if (size > 0) snprintf(ending, 16, "%s", dot);
}

/* the name as it is shown: without folders, and for a file without its ending */
static void set_name(flr_upload *upload, const flr_wire_text *text, bool file)
{
    char name[257];
    snprintf(name, sizeof name, "%.*s", (int)text->size, text->size ? text->bytes : "");
    const char *begin = name;
    for (const char *c = name; *c; c++) {
        if (*c == '/' || *c == '\\') begin = c + 1;
    }
    size_t size = strlen(begin);
    const char *dot = strrchr(begin, '.');
    if (file && dot && dot != begin) size = (size_t)(dot - begin);
    memcpy(upload->name, begin, size);
    upload->name[size] = 0;
}

static flr_result begin_file(flr_upload *upload, const char *folder, const flr_msg_upload *def,
                             flr_error *error)
{
    if (!folder)
        return flr_fail(error, FLR_DENIED, "this controller has no place for uploaded files");
    char ending[16], name[257];
    snprintf(name, sizeof name, "%.*s", (int)def->name.size, def->name.size ? def->name.bytes : "");
    ending_of(name, ending);
    if (!ending[0])
        return flr_fail(
            error, FLR_BAD_ARGUMENT,
            "\"%.60s\": a file's name must end in its format, such as .stl, .obj, .ply, "
            ".step or .glb",
            name);
    flr_result result = flr_path_make_private(upload->env, folder, FLR_OPEN_NO_LINK, error);
    if (result != FLR_OK) return result;
    snprintf(upload->path, sizeof upload->path, "%s/upload-%u%s", folder, upload->number, ending);
    return flr_file_open_with(upload->env, upload->path, FLR_FILE_CREATE,
                              FLR_OPEN_PRIVATE | FLR_OPEN_NO_LINK, &upload->file, error);
}

flr_result flr_upload_begin(flr_env *env, const char *folder, uint64_t limit, uint32_t number,
                            const flr_msg_upload *def, flr_upload **upload, flr_error *error)
{
    bool file = def->bytes > 0;
    uint64_t size = file ? def->bytes
                         : (uint64_t)def->vertices * sizeof(flr_vec3) +
                               (uint64_t)def->triangles * sizeof(flr_triangle);
    if (!file && (def->vertices == 0 || def->triangles == 0))
        return flr_fail(error, FLR_BAD_ARGUMENT, "an upload has bytes, or vertices and triangles");
    if (size > limit)
        return flr_fail(error, FLR_TOO_LARGE,
                        "%.0f MB are more than the %.0f MB that an upload may have; put the file "
                        "on the controller's machine and name it in a scene, or start feeler "
                        "serve with a larger --upload-limit",
                        (double)size / 1e6, (double)limit / 1e6);
    if (!(def->unit >= 1e-9 && def->unit <= 1e6) && !(file && def->unit == 0))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the unit of an upload is %g m; it is from 1e-9 to 1e6", def->unit);
    flr_upload *made = calloc(1, sizeof *made);
    if (!made) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for an upload");
    made->env = env;
    made->number = number;
    made->size = size;
    made->unit = def->unit;
    made->vertex_count = def->vertices;
    made->triangle_count = def->triangles;
    made->file_size = file ? def->bytes : 0;
    set_name(made, &def->name, file);
    flr_result result = file ? begin_file(made, folder, def, error) : FLR_OK;
    if (result != FLR_OK) {
        free(made);
        return result;
    }
    *upload = made;
    return FLR_OK;
}

static void free_upload(flr_upload *upload)
{
    flr_file_close(upload->file);
    free(upload->vertices);
    free(upload->triangles);
    free(upload);
}

void flr_upload_abandon(flr_upload *upload)
{
    if (!upload) return;
    flr_file_close(upload->file);
    upload->file = NULL;
    if (upload->path[0]) flr_path_remove(upload->env, upload->path, NULL);
    free_upload(upload);
}

uint32_t flr_upload_number(const flr_upload *upload) { return upload->number; }
uint64_t flr_upload_size(const flr_upload *upload) { return upload->size; }

flr_result flr_upload_bytes(flr_upload *upload, const flr_msg_upload_bytes *piece, flr_error *error)
{
    if (!upload->file)
        return flr_fail(error, FLR_BAD_ARGUMENT, "upload %u is a mesh, not a file", upload->number);
    if (piece->offset != upload->written ||
        piece->bytes_count > upload->file_size - upload->written)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "upload %u: a piece of %u bytes at %llu does not fit; the next one begins "
                        "at %llu, and the file ends at %llu",
                        upload->number, piece->bytes_count, (unsigned long long)piece->offset,
                        (unsigned long long)upload->written, (unsigned long long)upload->file_size);
    flr_result result =
        flr_file_write(upload->file, upload->written, piece->bytes, piece->bytes_count, error);
    if (result == FLR_OK) upload->written += piece->bytes_count;
    return result;
}

/* room for `wanted` items, twice as much as there was */
static bool grow(void **items, size_t size, uint32_t *capacity, uint32_t wanted, uint32_t max)
{
    if (wanted <= *capacity) return true;
    uint32_t larger = *capacity < max / 2 ? 2 * *capacity : max;
    if (larger < wanted) larger = wanted;
    void *more = realloc(*items, larger * size);
    if (!more) return false;
    *items = more;
    *capacity = larger;
    return true;
}

flr_result flr_upload_triangles(flr_upload *upload, const flr_msg_upload_triangles *piece,
                                flr_error *error)
{
    uint32_t vertices = piece->vertices_count / 3, triangles = piece->indices_count / 3;
    if (upload->file)
        return flr_fail(error, FLR_BAD_ARGUMENT, "upload %u is a file, not a mesh", upload->number);
    if (vertices && piece->first_vertex != upload->vertices_got)
        return flr_fail(error, FLR_BAD_ARGUMENT, "upload %u: the next vertex is %u, not %u",
                        upload->number, upload->vertices_got, piece->first_vertex);
    if (triangles && piece->first_triangle != upload->triangles_got)
        return flr_fail(error, FLR_BAD_ARGUMENT, "upload %u: the next triangle is %u, not %u",
                        upload->number, upload->triangles_got, piece->first_triangle);
    if (vertices > upload->vertex_count - upload->vertices_got ||
        triangles > upload->triangle_count - upload->triangles_got)
        return flr_fail(error, FLR_TOO_LARGE, "upload %u: more comes than was announced",
                        upload->number);
    if (!grow((void **)&upload->vertices, sizeof *upload->vertices, &upload->vertex_capacity,
              upload->vertices_got + vertices, upload->vertex_count) ||
        !grow((void **)&upload->triangles, sizeof *upload->triangles, &upload->triangle_capacity,
              upload->triangles_got + triangles, upload->triangle_count))
        return flr_fail(error, FLR_NO_MEMORY, "not enough memory for upload %u", upload->number);
    for (uint32_t i = 0; i < vertices; i++) {
        const float *at = piece->vertices + 3 * (size_t)i;
        upload->vertices[upload->vertices_got++] = (flr_vec3){at[0], at[1], at[2]};
    }
    for (uint32_t i = 0; i < triangles; i++)
        memcpy(upload->triangles[upload->triangles_got++].v, piece->indices + 3 * (size_t)i,
               3 * sizeof(uint32_t));
    return FLR_OK;
}

/* The engine's worker makes a mesh of it: welding takes long. */
static flr_result give_mesh(flr_upload *upload, flr_engine_add_def *def, flr_error *error)
{
    if (upload->vertices_got < upload->vertex_count ||
        upload->triangles_got < upload->triangle_count)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "upload %u: %u of %u vertices and %u of %u triangles have come",
                        upload->number, upload->vertices_got, upload->vertex_count,
                        upload->triangles_got, upload->triangle_count);
    def->vertices = upload->vertices;
    def->vertex_count = upload->vertex_count;
    def->triangles = upload->triangles;
    def->triangle_count = upload->triangle_count;
    upload->vertices = NULL, upload->triangles = NULL;
    return FLR_OK;
}

flr_result flr_upload_end(flr_upload *upload, flr_engine *engine, const flr_msg_upload_end *end,
                          uint32_t *job, flr_error *error)
{
    flr_engine_add_def def = flr_default_engine_add_def();
    def.name = upload->name;
    def.unit = upload->unit;
    def.kind = (flr_part_kind)end->kind;
    def.colour = end->colour & 0xFFFFFF;
    def.voxel = end->voxel;
    def.T_world_part = end->T_world_part;
    if (end->replaces) def.replaces = flr_engine_part_id(engine, end->part);
    flr_result result = FLR_OK;
    if (!(end->voxel >= 0))
        result = flr_fail(error, FLR_BAD_ARGUMENT, "a voxel has a size above 0");
    else if (!upload->file)
        result = give_mesh(upload, &def, error);
    else if (upload->written < upload->file_size)
        result = flr_fail(error, FLR_BAD_ARGUMENT, "upload %u: %llu of %llu bytes have come",
                          upload->number, (unsigned long long)upload->written,
                          (unsigned long long)upload->file_size);
    if (result != FLR_OK) {
        flr_upload_abandon(upload);
        return result;
    }
    if (upload->file) {
        flr_file_close(upload->file);
        upload->file = NULL;
        def.file = upload->path;
        def.remove_file = true;
    }
    result = end->assembly && def.file && !end->replaces
                 ? flr_engine_add_assembly(engine, &def, job, error)
                 : flr_engine_add(engine, &def, NULL, job, error);
    if (result == FLR_OK)
        free_upload(upload); /* the file is the engine's now */
    else
        flr_upload_abandon(upload);
    return result;
}
