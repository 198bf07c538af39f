/* study.h: many runs of a command, with all combinations of its options, on several processes, resumed after a kill. */
#ifndef FLR_APPS_STUDY_H
#define FLR_APPS_STUDY_H

#include <jansson.h>

#include "command.h"

enum { FLR_STUDY_MAX_AXES = 12, FLR_STUDY_MAX_TASKS = 1000000 };

/* An option and the values that it takes; the first axis is the scene. */
typedef struct flr_study_axis {
    char *name;
    char **values; /* [count], as text */
    flr_hash *
        contents; /* [count]: of the files that the values name, and of the files named in those; 0: none */
    size_t count;
} flr_study_axis;

typedef struct flr_study_task {
    char key
        [FLR_HASH_TEXT_SIZE]; /* of feeler's version, the command, its options and all files: names the file of the result */
    bool done;
    int code;     /* exit code: 0 or 1 */
    double value; /* what the command measured; NAN: nothing */
} flr_study_task;

typedef struct flr_study {
    flr_env *env;
    char *folder;  /* of the study file: scenes are relative to it */
    char *results; /* folder of the results */
    char command[16];
    flr_study_axis axes[FLR_STUDY_MAX_AXES];
    size_t axis_count;
    flr_study_task *tasks; /* [task_count] */
    size_t task_count;
} flr_study;

/* Reads a study file. FLR_BAD_INPUT names what is wrong. Free with flr_study_free(), also on failure. */
flr_result flr_study_read(flr_env *env, const char *path, const char *results, flr_study *study,
                          flr_error *error);
void flr_study_free(flr_study *study);

/* The value of an axis for a task. */
const char *flr_study_value(const flr_study *study, size_t task, size_t axis);
/* The same as an argument of the command: files are looked for beside the study. free() it; NULL when memory is short. */
char *flr_study_argument(const flr_study *study, size_t task, size_t axis);

/* Looks which results are there; a damaged one counts as missing. */
flr_result flr_study_load(flr_study *study, size_t task, flr_error *error);
/* Stores what a process printed, whole or not at all. */
flr_result flr_study_store(flr_study *study, size_t task, int code, const char *json,
                           flr_error *error);

/* Writes table.csv, table.json and table.html beside the results. They depend on the results alone. */
flr_result flr_study_tables(const flr_study *study, flr_error *error);

#endif
