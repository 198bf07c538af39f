/* feeler/mesh_io.h: meshes from and to files that feeler reads by itself.
 *
 *   STL   ASCII and binary, several solids           read, write (binary)
 *   OBJ   polygons, negative indices, groups         read, write
 *   PLY   ASCII and binary of both endians           read, write (binary little-endian)
 *   ITRI  triangle count, then three lines each      read
 *
 * All other formats go through feeler/import.h, which flr_mesh_open() does for you.
 * docs/meshes.md tells what each reader accepts, refuses and leaves out.
 *
 * ASCII and binary files of the same content give the same mesh, bit by bit. Reading takes at
 * most 8 times the size of the file in memory and 16 MiB beside, the file included; what would
 * take more is refused with FLR_TOO_LARGE. A count in a header allocates nothing by itself.
 *
 * Thread: any. Nothing here is RT safe.
 */
#ifndef FEELER_MESH_IO_H
#define FEELER_MESH_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/api.h"
#include "feeler/env.h"
#include "feeler/mesh.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum flr_mesh_format {
    FLR_FORMAT_UNKNOWN,
    FLR_FORMAT_STL_BINARY,
    FLR_FORMAT_STL_ASCII,
    FLR_FORMAT_OBJ,
    FLR_FORMAT_PLY,
    FLR_FORMAT_ITRI,
    FLR_FORMAT_FOREIGN /* through the import helper */
} flr_mesh_format;

/* A short constant name such as "binary STL". Never NULL. */
FLR_API const char *flr_mesh_format_name(flr_mesh_format format);

/* What the file says it is, from its first bytes first and its name second. An STL file that
 * begins with "solid" is still binary when its size fits its facet count. */
FLR_API flr_mesh_format flr_mesh_format_of(const char *path, const uint8_t *bytes, size_t size);

/* How to read. Fill with flr_default_mesh_options(), then change what you need. */
typedef struct flr_mesh_options {
    double unit;         /* metres per unit of the file; 0: what the format says, else 0.001 (mm) */
    double weld;         /* metres; default 0: only equal vertices become one; see flr_mesh_def */
    bool tolerant;       /* default false: what cannot be right is refused: NaN, infinite and too
                            distant coordinates, indices out of range, unreadable lines, wrong
                            counts, a file that is cut off. true: such triangles are left out and
                            counted in the report, and what else there is is read */
    uint64_t size_limit; /* refuse files with more bytes; default 64 GiB */
    double chord; /* metres; STEP, IGES, BREP only: how far a triangle may stray from the exact
                     surface; 0: 1/1000 of the part's size. For voxels: flr_mesh_chord() */
    const char *helper;      /* path of feeler-import; NULL: found beside the program, then in the
                           installed libexec folder */
    unsigned helper_seconds; /* time limit of the import helper; default 120 */
    uint64_t helper_memory;  /* bytes of memory limit of the import helper; default 4 GiB */
    /* Asked several times a second while the import helper is at work; false: stop with
     * FLR_CANCELLED. May be NULL. */
    bool (*go_on)(void *context);
    void *context;
} flr_mesh_options;

FLR_API flr_mesh_options flr_default_mesh_options(void);

/* The chord tolerance that suits voxels of this edge length (metres): a quarter of it, so that
 * triangles instead of the exact surface shift no voxel by a whole one. 0 for 0: not known. */
FLR_API double flr_mesh_chord(double voxel);

/* What the reader saw besides the mesh. Plain data. */
typedef struct flr_mesh_report {
    flr_mesh_format format;
    char format_name[64];       /* "binary STL"; of a foreign format what the helper says: "STEP" */
    uint64_t bytes;             /* of the file */
    double unit;                /* metres per unit of the file, as used */
    bool unit_from_file;        /* the format states its unit */
    uint64_t triangles_in_file; /* after polygons were cut into triangles */
    uint64_t vertices_in_file;  /* before welding */
    uint64_t polygons_split;    /* faces with more than three corners */
    uint64_t dropped_nonfinite; /* triangles left out because of NaN, Inf or distance (tolerant) */
    uint64_t dropped_malformed; /* faces left out: index out of range, fewer than three corners,
                                   unreadable (tolerant) */
    uint64_t bad_vertices;      /* unreadable vertices (tolerant); faces that use one are counted in
                                   dropped_nonfinite */
    uint64_t lines_dropped;     /* points and lines, which have no surface (foreign formats) */
    uint64_t ignored_bytes;     /* after the last facet that a header promised */
    char first_trouble[320];    /* where the first dropped thing is, "" if none: "line 12: ..." */
} flr_mesh_report;

/* Reads STL, OBJ, PLY or ITRI. `options` NULL: defaults. `report` may be NULL; it is filled
 * as far as known on failure too. The sentence of an error names the file and the line or byte.
 * FLR_UNSUPPORTED for foreign formats. On success the caller owns `*mesh`. */
FLR_API flr_result flr_mesh_read(flr_env *env, const char *path, const flr_mesh_options *options,
                                 flr_mesh **mesh, flr_mesh_report *report, flr_error *error);

/* The same from memory; `name` stands for the file in messages and decides between formats
 * that look alike. */
FLR_API flr_result flr_mesh_parse(const char *name, const uint8_t *bytes, size_t size,
                                  const flr_mesh_options *options, flr_mesh **mesh,
                                  flr_mesh_report *report, flr_error *error);

/* Reads anything: own formats directly, the rest through feeler-import. */
FLR_API flr_result flr_mesh_open(flr_env *env, const char *path, const flr_mesh_options *options,
                                 flr_mesh **mesh, flr_mesh_report *report, flr_error *error);

/* Writes by the ending of `path` (.stl binary, .obj, .ply binary little-endian), coordinates
 * divided by `unit` (metres per unit; 0: 0.001). The file appears whole or not at all.
 * Read back with the same unit, OBJ and PLY give the same mesh bit by bit if it was read with that
 * unit before, or if the unit is 1; else the last bit of a coordinate may differ, because dividing
 * and multiplying round. STL has 32-bit coordinates. Only OBJ has groups: those that have
 * triangles, with their names; placements are not written. FLR_UNSUPPORTED for other endings,
 * FLR_BAD_ARGUMENT for a unit that is not positive or makes coordinates too large for STL. */
FLR_API flr_result flr_mesh_write(flr_env *env, const char *path, const flr_mesh *mesh, double unit,
                                  flr_error *error);

/* Whether `path` is a file with exactly the bytes that flr_mesh_write() writes for a .ply, and waits
 * until they are on the disk if so. Not for a link, a folder, or where nothing is. */
FLR_API flr_result flr_mesh_is_in_ply(flr_env *env, const char *path, const flr_mesh *mesh,
                                      double unit, bool *same, flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
