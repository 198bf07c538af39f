/* feeler/mesh.h: a part as triangles, and the files that it comes from.
 *
 *   mesh     welded, indexed triangles
 *   mesh io  reading and writing mesh files
 *   import   foreign formats through the sandboxed helper
 */
#ifndef FEELER_MESH_H
#define FEELER_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feeler/base.h"
#include "feeler/env.h"
#include "feeler/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== mesh =================================================================================== */

/* A part as welded, indexed triangles, in its own frame, in metres.
 *
 * A mesh is immutable once made: read from a file (feeler/mesh.h), imported from
 * a foreign format (feeler/mesh.h) or created from arrays (flr_mesh_create). It is
 * kept as it came: open borders, flipped, zero-area and doubled triangles stay in it,
 * because voxels do not mind them; feeler/mesh_check.h tells what is wrong in words.
 *
 * Guarantees of every mesh, whoever made it:
 *   - at least one triangle; every index below vertex_count; every vertex used;
 *   - every coordinate finite and at most FLR_MESH_MAX_COORDINATE metres from the origin;
 *   - no two vertices equal (welded); -0 is stored as +0;
 *   - vertices are numbered in the order in which the triangles first use them, so equal
 *     triangles in equal order give equal meshes, whatever the file format;
 *   - the groups cover all triangles, in order, without gap or overlap.
 *
 * Thread: any; a mesh may be shared by all threads. Nothing here is RT safe.
 */

#define FLR_MESH_MAX_COORDINATE 1e9 /* metres; farther out is taken for a broken file */

/* Three indices into the vertices, counter-clockwise seen from outside. */
typedef struct flr_triangle {
    uint32_t v[3];
} flr_triangle;

/* A named run of triangles: a solid of an STL file, a group of an OBJ file, a part of a
 * STEP assembly. A file that names nothing has one group with an empty name. */
typedef struct flr_mesh_group {
    uint32_t name; /* offset into the mesh's names, zero-terminated UTF-8 */
    uint32_t first_triangle;
    uint32_t triangle_count; /* may be 0 */
    flr_pose T_mesh_group;   /* where the part's own frame lies in the mesh's frame; identity
                                 where the format has no placements. The vertices are stored in
                                 the mesh's frame, that is with the placement applied. */
    double
        chord; /* metres: the triangles of a STEP, IGES or BREP part stray from its exact surface by
                     no more than this; 0: they are the surface, or the file does not tell */
} flr_mesh_group;

/* Read the fields freely; change none. */
typedef struct flr_mesh {
    const flr_vec3 *vertices;      /* [vertex_count], metres */
    const flr_triangle *triangles; /* [triangle_count] */
    const flr_mesh_group *groups;  /* [group_count] */
    const char *names;             /* [names_size], zero-terminated strings one after another */
    uint32_t vertex_count;
    uint32_t triangle_count;
    uint32_t group_count;
    uint32_t names_size;
    flr_box3 bounds; /* of all vertices, metres */
    flr_hash hash;   /* what flr_mesh_hash() returns, where the owner keeps it here; else zero */
} flr_mesh;

/* What flr_mesh_create() makes a mesh of. All pointers are borrowed during the call. */
typedef struct flr_mesh_def {
    const flr_vec3 *vertices; /* need not be welded or all be used */
    uint32_t vertex_count;
    /* NULL: vertices come in threes, and triangle_count is ignored */
    const flr_triangle *triangles;
    uint32_t triangle_count;
    const flr_mesh_group *groups; /* NULL: one unnamed group */
    uint32_t group_count;
    const char *names; /* NULL when groups is NULL */
    uint32_t names_size;
    double scale; /* metres per unit of the vertices; default 1 */
    double weld;  /* metres; default 0: only equal vertices become one. Else 1e-15 to 1e9: in the
                     order of first use, a vertex joins the nearest one kept so far within this
                     distance, or is kept itself. So no corner moves farther than this, and the
                     outcome is always the same. Triangles that lose their area stay. */
} flr_mesh_def;

/* A definition with all fields at their defaults. */
FLR_API flr_mesh_def flr_default_mesh_def(void);

/* Checks, scales, welds and copies. Fails with FLR_BAD_INPUT on an index out of range, a
 * coordinate that is not finite or too far out, groups that do not cover the triangles, and
 * on no triangles at all; with FLR_NO_MEMORY. On success the caller owns `*mesh`. */
FLR_API flr_result flr_mesh_create(const flr_mesh_def *def, flr_mesh **mesh, flr_error *error);

/* Frees a mesh; NULL allowed. */
FLR_API void flr_mesh_destroy(flr_mesh *mesh);

/* A new mesh of one group's triangles alone, moved into the group's own frame. */
FLR_API flr_result flr_mesh_extract_group(const flr_mesh *mesh, uint32_t group, flr_mesh **part,
                                          flr_error *error);

/* The group's name; "" when it has none. Never NULL. */
FLR_API const char *flr_mesh_group_name(const flr_mesh *mesh, uint32_t group);

/* The greatest chord of its groups. */
FLR_API double flr_mesh_facet_chord(const flr_mesh *mesh);

/* The area of all triangles, m^2. */
FLR_API double flr_mesh_area(const flr_mesh *mesh);

/* The hash of vertices and triangles: equal shapes in equal order hash equal, whatever file
 * they came from. Groups and names do not count. */
FLR_API flr_hash flr_mesh_hash(const flr_mesh *mesh);

/* ==== mesh io ================================================================================ */

/* Meshes from and to files that feeler reads by itself.
 *
 *   STL   ASCII and binary, several solids           read, write (binary)
 *   OBJ   polygons, negative indices, groups         read, write
 *   PLY   ASCII and binary of both endians           read, write (binary little-endian)
 *   ITRI  triangle count, then three lines each      read
 *
 * All other formats go through feeler/mesh.h, which flr_mesh_open() does for you.
 * docs/meshes.md tells what each reader accepts, refuses and leaves out.
 *
 * ASCII and binary files of the same content give the same mesh, bit by bit. Reading takes at
 * most 8 times the size of the file in memory and 16 MiB beside, the file included; what would
 * take more is refused with FLR_TOO_LARGE. A count in a header allocates nothing by itself.
 *
 * Thread: any. Nothing here is RT safe.
 */

typedef enum flr_mesh_format {
    FLR_FORMAT_UNKNOWN,
    FLR_FORMAT_STL_BINARY,
    FLR_FORMAT_STL_ASCII,
    FLR_FORMAT_OBJ,
    FLR_FORMAT_PLY,
    FLR_FORMAT_ITRI,
    FLR_FORMAT_VRML,   /* VRML 1 and 2, Inventor ASCII */
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
    /* Asked now and then while a file is read, and several times a second while the import helper
     * is at work; false: stop with FLR_CANCELLED. May be NULL. */
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
    uint64_t faces_skipped;     /* exact faces that could not be meshed, in spite of healing */
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

/* Writes by the ending of `path` (.stl binary, .obj, .ply binary little-endian, .itri),
 * coordinates divided by `unit` (metres per unit; 0: 0.001). The file appears whole or not at all.
 * Read back with the same unit, OBJ, PLY and ITRI give the same mesh bit by bit if it was read with that
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

/* ==== import ================================================================================= */

/* Meshes from foreign formats, read by a helper process.
 *
 * Readers of foreign formats are large and crash on damaged files. So they do not live in this
 * library but in a separate program, feeler-import, which runs with little memory, a time limit,
 * no network and no right to write or to start anything. It hands its result over as a checked
 * binary stream. If the helper crashes, hangs, eats memory or lies, the caller gets one sentence
 * and goes on.
 *
 *   STEP, IGES, BREP                              OpenCASCADE: part names and placements are kept
 *   glTF/GLB, 3DS, DAE, AC3D, 3MF, FBX, OFF, X3D… assimp: nodes become groups
 *
 * docs/import.md has the whole table and what is known about units. flr_mesh_open() of
 * feeler/mesh.h reads own and foreign formats alike; most programs need nothing else.
 *
 * The helper is a real process whatever the `env`: its time limit runs on the real clock, and the
 * file must lie on a real disk.
 *
 * Thread: any; several imports may run at once. Nothing here is RT safe.
 */

enum { FLR_IMPORT_PATH_SIZE = 4096, FLR_IMPORT_TEXT_SIZE = 512 };

/* What the helper said besides the mesh. Plain data; all texts are UTF-8 without control
 * characters. */
typedef struct flr_import_info {
    char format[64];                    /* as the helper calls it: "STEP", "glTF" */
    uint32_t warnings;                  /* how many the helper had */
    char warning[FLR_IMPORT_TEXT_SIZE]; /* the first one; "" if none */
} flr_import_info;

/* True when the ending of `path` is one that only the helper reads (step, glb, …). Looks at the
 * name alone; `path` is not NULL. RT safe. */
FLR_API bool flr_import_knows(const char *path);

/* Reads `path` through the helper. `options` NULL: defaults; `report` and `info` may be NULL and
 * are filled as far as known on failure too. On success the caller owns `*mesh`.
 *
 *   FLR_NOT_FOUND    no such file
 *   FLR_UNSUPPORTED  the helper is not installed, or does not know the format
 *   FLR_BAD_INPUT    the helper read the file and found it wrong
 *   FLR_CRASHED      the helper died or broke the rules of the stream
 *   FLR_TIMEOUT      it took longer than options->helper_seconds and was stopped
 *   FLR_NO_MEMORY    it needed more than options->helper_memory, or memory is short here
 *   FLR_TOO_LARGE    the file is larger than options->size_limit
 */
FLR_API flr_result flr_import_read(flr_env *env, const char *path, const flr_mesh_options *options,
                                   flr_mesh **mesh, flr_mesh_report *report, flr_import_info *info,
                                   flr_error *error);

/* Where the helper is: `helper` if not NULL; else beside the running program, in libexec/feeler
 * of the tree that holds the program or this library (links followed), where it was built to be
 * installed, /usr or /usr/local. FLR_UNSUPPORTED and a sentence that names the places when it is
 * nowhere. */
FLR_API flr_result flr_import_find(const char *helper, char path[FLR_IMPORT_PATH_SIZE],
                                   flr_error *error);

/* What `feeler doctor` tells about the helper. Plain data. */
typedef struct flr_import_state {
    char path[FLR_IMPORT_PATH_SIZE];     /* "" when not found */
    bool starts;                         /* ran and answered; else the fields below are "" */
    double start_seconds;                /* from start to the end of the answer */
    char versions[FLR_IMPORT_TEXT_SIZE]; /* "feeler-import 0.2.0, assimp 5.2, OpenCASCADE 7.6" */
    char formats[1024];                  /* endings, separated by spaces */
    char sandbox[FLR_IMPORT_TEXT_SIZE];  /* what confines it: "rlimits, no-new-privileges, …" */
    char missing[FLR_IMPORT_TEXT_SIZE];  /* what this machine does not offer; "" if nothing */
} flr_import_state;

/* Finds the helper, starts it once inside its sandbox and asks what it is; takes at most ten
 * seconds. `helper` as in flr_import_find(). `state` is filled as far as known, on failure too. */
FLR_API flr_result flr_import_probe(flr_env *env, const char *helper, flr_import_state *state,
                                    flr_error *error);

#ifdef __cplusplus
}
#endif
#endif
