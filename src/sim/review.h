/* review.h: what people find out about a scene and keep with it: which pairs are fits of the design, which parts clash, reports.
 * The engine's own.
 *
 * Thread: control; flr_review_copy_rules() and what follows it: any. */
#ifndef FLR_SIM_REVIEW_H
#define FLR_SIM_REVIEW_H

#include "sim/engine_internal.h"
#include "sim/way.h"

/* Two names, of parts or groups, as in scene/allow.h. */
typedef struct flr_allow_rule {
    char a[FLR_ENGINE_NAME_SIZE], b[FLR_ENGINE_NAME_SIZE];
} flr_allow_rule;

typedef struct flr_allow_rules {
    flr_allow_rule *list;
    uint32_t count, room;
} flr_allow_rules;

bool flr_allow_rules_copy(const flr_allow_rules *from, flr_allow_rules *to);
void flr_allow_rules_free(flr_allow_rules *rules);

enum {
    FLR_REVIEW_RUNNING = 4, /* checks that may be under way */
    FLR_REVIEW_ANSWERS = 8, /* … and so many answers are kept: more than can end in one service */
    FLR_REVIEW_REPORTS = 4,
    FLR_REVIEW_MAPS = 4,
    FLR_REVIEW_WAYS = 4
};

typedef struct flr_review_answer {
    uint32_t token;
    flr_engine_clashes clashes;
} flr_review_answer;

typedef struct flr_review_report {
    uint32_t job; /* 0: none */
    uint8_t format;
    const char *what; /* a word for its file's name: "clashes", "report" */
    flr_blob file;
} flr_review_report;

typedef struct flr_review_map {
    uint32_t token;
    flr_gap_map map;
} flr_review_map;

typedef struct flr_review_way {
    uint32_t token;
    flr_engine_way way;
} flr_review_way;

typedef struct flr_review {
    flr_allow_rules rules;
    flr_engine_note *notes; /* [note_count] */
    uint32_t note_count, note_room, next_note;
    uint32_t running;
    struct flr_clash_survey *survey; /* what was found last; a job's while one runs; NULL: none */
    flr_review_answer answers[FLR_REVIEW_ANSWERS];
    flr_review_report reports[FLR_REVIEW_REPORTS];
    flr_review_map maps[FLR_REVIEW_MAPS];
    uint32_t mapping, reporting; /* gap maps and reports under way */
    flr_review_way ways[FLR_REVIEW_WAYS];
    flr_job *searching[FLR_WAY_RUNNING];                       /* for ways; NULL: none */
    uint64_t answer_count, report_count, map_count, way_count; /* ever */
} flr_review;

flr_review *flr_review_create(void);         /* NULL: no memory */
void flr_review_destroy(flr_review *review); /* NULL allowed */
/* Of a scene that is loaded: its parts have their places as numbers. False: no memory. */
bool flr_review_read(flr_review *review, const flr_scene *scene, uint32_t number);
void flr_review_drop_part(flr_engine *engine, flr_part_id part); /* it is gone, its notes too */
void flr_engine_keep_ways(flr_engine *engine);               /* progress of searches: way_job.c */
void flr_clash_survey_free(struct flr_clash_survey *survey); /* clash_job.c */
void flr_gap_map_free(flr_gap_map *map);                     /* gap_map_job.c */
void flr_engine_way_free(flr_engine_way *way);               /* way_job.c */
void flr_engine_clashes_free(flr_engine_clashes *clashes);   /* what it points to */

/* Which pairs of these parts the rules allow. NULL: no memory, or an error of flr_allow_add(). */
typedef struct flr_review_names {
    const flr_part_list *parts;
    const flr_group_list *groups;
} flr_review_names;

struct flr_allow *flr_review_allow(const flr_review_names *names, const flr_allow_rules *rules);

/* Keeps a job's file in place of the oldest; takes it over. */
void flr_review_keep_report(flr_review *review, uint32_t job, uint8_t format, const char *what,
                            flr_blob *file);

#endif
