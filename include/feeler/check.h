/* feeler/check.h: what is wrong with a mesh, where, and whether it matters for voxels.
 *
 * feeler takes meshes as they come: surface voxels are found triangle by triangle, free space is
 * flooded from outside, and what the flood cannot reach is inside. Most faults therefore do no
 * harm; a hole wider than a voxel does. A check finds the faults, says each in a sentence, and
 * says what follows from it:
 *
 *     flr_check_report report;
 *     if (flr_check_mesh(mesh, &read, NULL, &report, &error) != FLR_OK) ...
 *     for (uint32_t i = 0; i < report.finding_count; i++)
 *         printf("%s %s\n", report.findings[i].sentence, report.findings[i].effect);
 *
 * There is at most one finding of each kind; it counts all cases and shows the worst or first.
 * docs/check.md lists all kinds.
 *
 * Thread: any. Nothing here is RT safe.
 */
#ifndef FEELER_CHECK_H
#define FEELER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "feeler/adjacency.h"
#include "feeler/api.h"
#include "feeler/mesh.h"
#include "feeler/mesh_io.h"
#include "feeler/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be found. New kinds are added at the end. */
typedef enum flr_check_kind {
    FLR_CHECK_OPEN_BORDER,        /* edges with one triangle only: holes, cracks, sheets */
    FLR_CHECK_NONMANIFOLD_EDGE,   /* edges with three triangles or more */
    FLR_CHECK_NONMANIFOLD_VERTEX, /* vertices at which separate fans of triangles meet */
    FLR_CHECK_FLIPPED,            /* neighbours that disagree about which side is outside */
    FLR_CHECK_INVERTED_SHELL,     /* closed shells that are inside out as a whole */
    FLR_CHECK_NESTING,            /* closed shells inside others, wound as if they stood outside */
    FLR_CHECK_ZERO_AREA,          /* triangles that are a line or a point */
    FLR_CHECK_SLIVER,             /* triangles that are almost a line */
    FLR_CHECK_DUPLICATE,          /* triangles listed more than once, either way round */
    FLR_CHECK_OVERLAPPING_SHELLS, /* triangles of different shells that pass through each other */
    FLR_CHECK_SELF_INTERSECTION,  /* triangles of one shell that pass through each other */
    FLR_CHECK_NONFINITE,          /* the reader left out NaN, infinite or absurd coordinates */
    FLR_CHECK_MALFORMED,          /* the reader left out faces it could not make sense of */
    FLR_CHECK_IGNORED_BYTES,      /* the file is longer than it says */
    FLR_CHECK_HUGE,               /* larger than 10 km: probably the wrong unit */
    FLR_CHECK_TINY,               /* smaller than 10 um: probably the wrong unit */
    FLR_CHECK_FAR_AWAY,           /* so far from the origin that 32-bit files lose detail */
    FLR_CHECK_FEW_TRIANGLES,      /* too few to enclose a volume */
    FLR_CHECK_MANY_TRIANGLES,     /* more than 20 million */
    FLR_CHECK_KIND_COUNT
} flr_check_kind;

/* How much it matters for voxels. */
typedef enum flr_check_severity {
    FLR_CHECK_NOTE,    /* the voxels come out right */
    FLR_CHECK_WARNING, /* right under a condition that the finding names, or something besides
                          the voxels suffers: mass, contact normals */
    FLR_CHECK_SERIOUS  /* the voxels will probably not be what is wanted */
} flr_check_severity;

/* Names for machines: "open-border", "note". Never NULL. */
FLR_API const char *flr_check_kind_name(flr_check_kind kind);
FLR_API const char *flr_check_severity_name(flr_check_severity severity);

enum { FLR_CHECK_TEXT_SIZE = 320 };

/* One finding. Plain data; owns nothing. */
typedef struct flr_check_finding {
    flr_check_kind kind;
    flr_check_severity severity;
    bool matters;      /* the voxels may come out wrong because of it; all else is for mass, contact
                     normals, or to know */
    uint64_t count;    /* of what the kind counts: edges, vertices, triangles, shells, pairs */
    uint32_t triangle; /* the worst or first case, or FLR_NONE */
    bool has_place;
    flr_vec3 place; /* of that case, in the mesh's frame, metres */
    double extent;  /* metres, of that case: width of the gap, size of the shell; 0: none */
    char sentence[FLR_CHECK_TEXT_SIZE]; /* what, how many and where, for a person */
    char effect[FLR_CHECK_TEXT_SIZE];   /* whether it matters for voxels, why, what to do */
} flr_check_finding;

/* All findings, the most severe first, then in the order of the kinds. Plain data. */
typedef struct flr_check_report {
    flr_check_finding findings[FLR_CHECK_KIND_COUNT];
    uint32_t finding_count;
    uint32_t shell_count;
    uint32_t closed_shell_count; /* shells whose every edge has two sides that agree */
    uint32_t border_loop_count;  /* holes, cracks and outlines */
    double largest_gap;    /* metres: width of the widest of them; 0: none. Voxels smaller than
                                    this let the inside leak */
    uint64_t pairs_tested; /* pairs of triangles looked at for intersections */
    bool cut_short;        /* the search for intersections or nesting met its limit: there
                                    may be more */
} flr_check_report;

/* How to check. Fill with flr_default_check_options(). */
typedef struct flr_check_options {
    double voxel;        /* metres, if it is known; default 0: not known */
    bool skip_crossings; /* leave out overlapping shells and self-intersection, which take the
                              most time; default false */
    double tolerance;    /* metres: what overlaps by less counts as touching; default 0: what
                              32-bit coordinates can tell apart, 5e-7 of the largest */
    uint64_t pair_limit; /* most pairs of triangles to test for intersections, those that do
                              intersect counted fourfold; default 6e7 */
    /* called now and then with the share that is done, 0..1; false stops the check with
     * FLR_CANCELLED. NULL: not called */
    bool (*progress)(void *context, double done);
    void *context;
} flr_check_options;

FLR_API flr_check_options flr_default_check_options(void);

/* Checks a mesh. `read`: what the reader saw, or NULL; `options` NULL: defaults. Takes time and
 * memory in proportion to the triangles: about 2 s and 150 MB per million, more where very many
 * pass through each other. The same mesh gives the same report. FLR_BAD_ARGUMENT, FLR_NO_MEMORY,
 * FLR_CANCELLED. */
FLR_API flr_result flr_check_mesh(const flr_mesh *mesh, const flr_mesh_report *read,
                                  const flr_check_options *options, flr_check_report *report,
                                  flr_error *error);

/* The worst severity in a report; FLR_CHECK_NOTE when there is nothing. */
FLR_API flr_check_severity flr_check_worst(const flr_check_report *report);

/* The finding of a kind, or NULL. */
FLR_API const flr_check_finding *flr_check_find(const flr_check_report *report,
                                                flr_check_kind kind);

#ifdef __cplusplus
}
#endif
#endif
