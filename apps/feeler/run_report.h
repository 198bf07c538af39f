/* run_report.h: what a run or a replay says at its end. */
#ifndef FLR_RUN_REPORT_H
#define FLR_RUN_REPORT_H

#include "command.h"
#include "output.h"
#include "sim/run.h"

/* Text for people; nothing with --json. */
void flr_run_print(flr_cli *cli, const flr_stage *stage, uint32_t part, double rate,
                   const flr_run_result *result);

/* Progress of flr_stage_create(); `context` is the flr_cli. False: Ctrl-C. */
bool flr_run_show_stage(void *context, size_t part, double done, const char *what);

/* Warnings: which parts started in each other. */
void flr_run_print_overlaps(flr_cli *cli, const flr_stage *stage);

/* Where parts were in each frame. */
typedef struct flr_run_poses {
    const flr_stage *stage;
    double unit, rate;     /* metres, Hz */
    const flr_pose *poses; /* [frames][moving] */
    uint32_t moving;
} flr_run_poses;

/* Writes them as a pose file. */
flr_result flr_run_write_poses(const flr_run_poses *of, flr_output *out, uint64_t frames,
                               flr_error *error);

json_t *flr_run_json(const flr_stage *stage, uint32_t part, double rate,
                     const flr_run_result *result);

#endif
