/* meshes from bytes and files */
#include "feeler/mesh.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "feeler/base.h"
#include "mesh/reader.h"

flr_mesh_options flr_default_mesh_options(void)
{
    return (flr_mesh_options){
        .size_limit = (uint64_t)64 << 30,
        .helper_seconds = 120,
        .helper_memory = (uint64_t)4 << 30,
    };
}

double flr_mesh_chord(double voxel) { return voxel > 0 ? voxel / 4 : 0; }

static flr_result check_options(const char *name, const flr_mesh_options *options, flr_error *error)
{
    double unit = options->unit;
    if (unit != 0 && !(unit >= 1e-12 && unit <= 1e12))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: a unit of %g m is not possible; give one between 1e-12 m and 1e12 m",
                        name, unit);
    if (!flr_weld_distance_ok(options->weld))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "%s: weld distance %g m must be 0 or between 1e-15 m and 1e9 m", name,
                        options->weld);
    return FLR_OK;
}

/* A byte order mark, or text in which every other byte is zero. */
static bool is_utf16(const uint8_t *b, size_t size)
{
    if (size >= 2 && ((b[0] == 0xFE && b[1] == 0xFF) || (b[0] == 0xFF && b[1] == 0xFE)))
        return true;
    if (size < 8) return false;
    bool big = true, little = true;
    for (size_t i = 0; i < 8; i++) {
        bool text = b[i] >= 0x09 && b[i] < 0x7F;
        big &= i % 2 ? text : b[i] == 0;
        little &= i % 2 ? b[i] == 0 : text;
    }
    return big || little;
}

static flr_result read_format(flr_reader *reader, flr_mesh_format format)
{
    switch (format) {
    case FLR_FORMAT_STL_BINARY:
        return flr_read_stl_binary(reader);
    case FLR_FORMAT_STL_ASCII:
        return flr_read_stl_ascii(reader);
    case FLR_FORMAT_OBJ:
        return flr_read_obj(reader);
    case FLR_FORMAT_PLY:
        return flr_read_ply(reader);
    case FLR_FORMAT_ITRI:
        return flr_read_itri(reader);
    case FLR_FORMAT_VRML:
        return flr_read_vrml(reader);
    case FLR_FORMAT_FOREIGN:
        return flr_fail(reader->error, FLR_UNSUPPORTED,
                        "%s: a format that only the import helper reads; open it with "
                        "flr_mesh_open() or convert it to STL, OBJ or PLY",
                        reader->name);
    case FLR_FORMAT_UNKNOWN:
        break;
    }
    return flr_fail(
        reader->error, FLR_BAD_INPUT,
        "%s: not a mesh file that feeler knows by its first bytes or its name. It reads "
        "STL, OBJ, PLY, ITRI, VRML and Inventor itself, STEP, IGES, BREP, glTF, 3MF and others "
        "through "
        "feeler-import (feeler doctor lists them); save it as one of these where it was "
        "made, and unpack archives first",
        reader->name);
}

static flr_result fail_empty(const flr_reader *reader)
{
    const flr_mesh_report *report = reader->report;
    uint64_t dropped = report->dropped_nonfinite + report->dropped_malformed;
    if (dropped)
        return flr_fail(reader->error, FLR_BAD_INPUT,
                        "%s: no triangle is left after %" PRIu64 " bad %s; the first: %s",
                        reader->name, dropped, flr_noun(dropped, "one", "ones"),
                        report->first_trouble);
    if (report->first_trouble[0])
        return flr_fail(reader->error, FLR_BAD_INPUT, "%s: no triangle can be read: %s",
                        reader->name, report->first_trouble);
    return flr_fail(reader->error, FLR_BAD_INPUT,
                    "%s: the file has no triangles (%" PRIu64
                    " %s); export the part as a surface mesh",
                    reader->name, report->vertices_in_file,
                    flr_noun(report->vertices_in_file, "vertex", "vertices"));
}

flr_result flr_mesh_parse(const char *name, const uint8_t *bytes, size_t size,
                          const flr_mesh_options *options, flr_mesh **mesh, flr_mesh_report *report,
                          flr_error *error)
{
    FLR_ASSERT(name && (bytes || size == 0) && mesh);
    flr_mesh_options defaults = flr_default_mesh_options();
    flr_mesh_report unwanted;
    if (!options) options = &defaults;
    if (!report) report = &unwanted;
    *report = (flr_mesh_report){.bytes = size};
    flr_result result = check_options(name, options, error);
    if (result != FLR_OK) return result;
    if (size == 0)
        return flr_fail(error, FLR_BAD_INPUT, "%s: the file is empty; export it again", name);
    if (size > options->size_limit)
        return flr_fail(error, FLR_TOO_LARGE,
                        "%s: %zu bytes are more than the limit of %" PRIu64 " bytes", name, size,
                        options->size_limit);

    report->format = flr_mesh_format_of(name, bytes, size);
    flr_text_copy(report->format_name, sizeof report->format_name,
                  flr_mesh_format_name(report->format));
    report->unit = options->unit != 0 ? options->unit : 0.001;
    if (is_utf16(bytes, size) && !flr_stl_size_fits(bytes, size))
        return flr_fail(error, FLR_BAD_INPUT,
                        "%s: the text is in UTF-16; save it as UTF-8 or ASCII", name);

    bool mark = size >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3);
    flr_reader reader = {
        .name = name,
        .bytes = (const char *)bytes + (mark && !flr_stl_size_fits(bytes, size) ? 3 : 0),
        .end = (const char *)bytes + size,
        .tolerant = options->tolerant,
        .unit = report->unit,
        .report = report,
        .error = error,
        .go_on = options->go_on,
        .context = options->context,
    };
    flr_builder_begin(&reader.builder, options->weld,
                      FLR_MEMORY_FACTOR * size + FLR_MEMORY_CONSTANT);
    result = read_format(&reader, report->format);
    if (result == FLR_OK && reader.builder.triangle_count == 0) result = fail_empty(&reader);
    if (result == FLR_OK)
        result = flr_reader_built(&reader, flr_builder_finish(&reader.builder, mesh));
    flr_builder_free(&reader.builder);
    return result;
}

flr_result flr_mesh_read(flr_env *env, const char *path, const flr_mesh_options *options,
                         flr_mesh **mesh, flr_mesh_report *report, flr_error *error)
{
    FLR_ASSERT(env && path && mesh);
    flr_mesh_options defaults = flr_default_mesh_options();
    if (!options) options = &defaults;
    if (report) *report = (flr_mesh_report){0};
    flr_blob file;
    flr_result result = flr_file_read_all(env, path, options->size_limit, &file, error);
    if (result != FLR_OK) return result;
    result = flr_mesh_parse(path, file.bytes, file.size, options, mesh, report, error);
    flr_blob_free(&file);
    return result;
}
