/* plan_steps.h: feeler plan --all and --until: an assembly taken apart, as text, JSON, pose files and a page. */
#ifndef FLR_APPS_PLAN_STEPS_H
#define FLR_APPS_PLAN_STEPS_H

#include "output.h"
#include "plan_scene.h"

/* What was asked for. */
typedef struct flr_steps_def {
    const char *until; /* a part or a rigid group; NULL: everything */
    const char *out;   /* folder of pose files; NULL: none */
    const char *html;  /* page; NULL: none */
    double clearance, overlap, time;
    uint64_t seed;
    unsigned threads;
} flr_steps_def;

typedef struct flr_steps {
    flr_cli *cli;
    const flr_steps_def *def;
    const flr_plan_scene *scene;
    flr_plan_part *parts; /* [parts of the scene], T: in the world */
    uint32_t *unit;       /* [parts]; FLR_NONE: all others pass through it, and it stays */
    const char **names;   /* [unit_count]: of the part, or of the rigid group */
    bool *fixed;          /* [unit_count] */
    uint32_t unit_count;
    uint32_t until;
    flr_plan_sequence sequence;
} flr_steps;

/* Plans, reports and writes. Returns the exit code. */
int flr_steps_run(flr_cli *cli, const flr_plan_scene *scene, const flr_steps_def *def);

/* The page: an animation, and instructions with pictures to be printed. */
flr_result flr_steps_write_page(const flr_steps *steps, const char *path, flr_error *error);

/* "lid", or "pin with ring". Into `text`, which has room for `size` characters. */
const char *flr_steps_name(const flr_steps *steps, const flr_plan_step *step, char *text,
                           size_t size);

#endif
