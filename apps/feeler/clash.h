/* clash.h: what `feeler clash` found, and how it writes it down.
 *
 *   cmd_clash.c     parts, baseline, exit code
 *   clash_rules.c   the allow-list
 *   clash_report.c  JSON, CSV and the page with pictures
 */
#ifndef FLR_APPS_CLASH_H
#define FLR_APPS_CLASH_H

#include <jansson.h>

#include "command.h"
#include "feeler/clash.h"
#include "feeler/mesh.h"
#include "scene/allow.h"
#include "sim/engine.h"

typedef struct flr_clash_item {
    const char *name;
    const char *raw;   /* as in the file, where several parts may be called the same */
    const char *group; /* "": none */
    uint32_t in;       /* the group; FLR_NONE: none */
    uint32_t colour;   /* 0xRRGGBB or UINT32_MAX */
    bool keep_out;     /* a zone that the others may not enter */
    double chord;      /* how far its triangles may stray, as the scene says; 0: as the mesh says */
    const flr_mesh *mesh;
    flr_fit *fit; /* shared by parts of equal shape */
    flr_pose T_world_part;
} flr_clash_item;

typedef struct flr_clash_group {
    const char *name;
    uint32_t in; /* the group that it is in; FLR_NONE: none */
} flr_clash_group;

typedef struct flr_clash_report {
    const char *source; /* the scene or file */
    flr_clash_item *items;
    uint32_t count;
    flr_clash_group *groups;
    flr_allow *allow; /* pairs that are not checked; NULL: none */
    flr_clash_list list;
    bool *known; /* [pair_count]: the baseline has it */
    double clearance;
    size_t findings; /* pairs that are to be reported: worse than allowed and not known */
    size_t by_state[4];
    size_t fits; /* contacts that overlap by their facets alone */
    double deepest_fit;
    double seconds;
    /* called before each picture; false: stop. May be NULL */
    bool (*drawn)(void *context, size_t drawn, size_t all);
    void *context;
} flr_clash_report;

/* Is it a finding, known or not? */
bool flr_clash_is_finding(const flr_clash_report *report, const flr_clash_pair *pair);
/* Is one of the two a keep-out zone? */
bool flr_clash_is_zone(const flr_clash_report *report, const flr_clash_pair *pair);
/* Fills `by_state` and `findings` from the list and what is known. */
void flr_clash_count(flr_clash_report *report);

/* Adds rules "A|B" or "A", one on each line or separated by commas. FLR_BAD_INPUT for what is no rule; `source`
 * says where it stands. Warns of names that nothing has. Items and groups are known before. */
flr_result flr_clash_add_rules(flr_cli *cli, flr_clash_report *report, const char *rules,
                               bool lines, const char *source, flr_error *error);
flr_result flr_clash_add_pair(flr_cli *cli, flr_clash_report *report, const char *one,
                              const char *other, const char *source, flr_error *error);
flr_result flr_clash_read_rules(flr_cli *cli, flr_clash_report *report, const char *path,
                                flr_error *error);
bool flr_clash_is_allowed(const flr_clash_report *report, uint32_t a, uint32_t b);

json_t *flr_clash_json(const flr_clash_report *report);
/* The table, or the page with pictures of at most 200 findings; the caller frees the file. */
flr_result flr_clash_print(const flr_clash_report *report, bool table, flr_blob *file,
                           flr_error *error);
flr_result flr_clash_write(flr_cli *cli, const flr_clash_report *report, bool table,
                           const char *path, flr_error *error);
/* The `report` of a flr_engine_def: the same for a controller. */
flr_result flr_clash_serve_report(const flr_engine_report *report, flr_blob *file,
                                  flr_error *error);

#endif
