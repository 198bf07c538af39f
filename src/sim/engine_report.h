/* engine_report.h: what an engine gives to the functions of its definition that write reports */
#ifndef FLR_SIM_ENGINE_REPORT_H
#define FLR_SIM_ENGINE_REPORT_H

#include "feeler/clash.h"
#include "feeler/env.h"
#include "feeler/mesh.h"

/* A report of clashes that is to be written; borrowed during the call. */
typedef struct flr_engine_report_part {
    const char *name, *group; /* group "": none */
    uint32_t colour;          /* 0xrrggbb */
    bool keep_out;            /* a zone that the others may not enter */
    const flr_mesh *mesh;
    flr_pose T_world_part;
} flr_engine_report_part;

typedef struct flr_engine_report {
    const char *source; /* name of the scene */
    double clearance, seconds;
    const flr_engine_report_part *parts; /* [part_count] */
    uint32_t part_count;
    const flr_clash_list
        *list;      /* by places in `parts`; without allowed pairs, which are counted as skipped */
    uint8_t format; /* FLR_WIRE_REPORT_HTML … */
    bool (*go_on)(void *context,
                  double done); /* how far it is, 0 … 1; false: stop with FLR_CANCELLED */
    void *context;
} flr_engine_report;

/* A report about a recording that is to be written; borrowed during the call. */
typedef struct flr_engine_recording_report {
    flr_env *env;
    const char *path; /* of the recording */
    double clearance; /* metres that parts must keep; below 0: none stated */
    uint8_t format;   /* FLR_WIRE_REPORT_HTML, FLR_WIRE_REPORT_PDF */
    bool (*go_on)(void *context, double done); /* as in flr_engine_report */
    void *context;
} flr_engine_recording_report;

#endif
