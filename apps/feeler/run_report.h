/* run_report.h: what a run or a replay says at its end. */
#ifndef FLR_RUN_REPORT_H
#define FLR_RUN_REPORT_H

#include "command.h"
#include "output.h"
#include "scene/run.h"

/* Text for people; nothing with --json. */
void flr_run_print(flr_cli *cli, const flr_stage *stage, uint32_t part, double rate,
                   const flr_run_result *result);

json_t *flr_run_json(const flr_stage *stage, uint32_t part, double rate,
                     const flr_run_result *result);

/* Keys and values for a recording, see flr_recorder_def. */
typedef struct flr_run_texts {
    char room[128][FLR_SAFE_SIZE];
    const char *list[129];
    size_t count; /* of both keys and values */
} flr_run_texts;

void flr_run_texts_begin(flr_run_texts *texts);
/* What does not fit is left out: 64 pairs are more than anybody gives. */
void flr_run_texts_add(flr_run_texts *texts, const char *key, const char *format, ...)
    FLR_PRINTF(3, 4);

#endif
