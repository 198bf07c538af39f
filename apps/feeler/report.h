/* report.h: what `feeler report` knows about a recording, and how it writes it down.
 *
 *   report_read.c      frames out of the recording
 *   report_measure.c   exact distances by the triangles, where the scene is at hand
 *   report_chart.c     plots as SVG, in the colours of the page
 *   report_picture.c   pictures of frames, and the animation
 *   report_near.c      the nearest places: which parts, where, and pictures of them close up
 *   report_page.c      the page
 *   report_pdf.c       the same, shorter, as PDF
 *   report_make.c      a report from a recording's path; for a controller, too
 */
#ifndef FLR_REPORT_H
#define FLR_REPORT_H

#include <stdio.h>

#include "feeler/base.h"
#include "feeler/distance.h"
#include "picture/picture.h"
#include "recorded.h"

/* One frame: what happened, and the poses that it ended with. SI units. */
typedef struct flr_report_frame {
    double t, compute_us, wakeup_us;
    double force, torque; /* asked of the device */
    double lower, upper;  /* of the least distance in the poses after this frame; NAN: not known */
    double exact;         /* the same by the triangles; NAN: not measured */
    double bound;         /* metres: at least this far, by all that is known */
    uint32_t part;        /* that a hand holds, by its number in the recording; UINT32_MAX: none */
    uint32_t contacts, penetrations;
    double waited_us;                  /* for voxels from the disk */
    double paged_resident, paged_read; /* bytes: of those in memory, and read so far */
    bool limited, stopped, fresh, meet;
    /* pairs that meet as they did at the start, a bit each; another pair meets; only such pairs meet, and have not come free */
    uint64_t overlaps;
    bool meet_others, tolerated;
} flr_report_frame;

/* Two parts of which one was moved: how near they came. */
typedef struct flr_report_pair {
    uint32_t a, b; /* parts of the scene */
    size_t bit;    /* of flr_report_frame.overlaps; 64: there are too many */
    double least,
        error;    /* metres: negative where they interfere; INFINITY: farther apart than others */
    size_t frame; /* when that was … */
    flr_vec3 from, to; /* … and where, on either part; world, metres */
    bool overlaps;     /* they met at the start … */
    double overlap;    /* … so deep, metres … */
    flr_vec3 where;    /* … there */
    size_t free_from;  /* frame from which on they did not; SIZE_MAX: never */
    size_t again;      /* frame in which they met again; SIZE_MAX: none */
} flr_report_pair;

typedef enum flr_verdict {
    FLR_VERDICT_NONE,
    FLR_VERDICT_PASS,
    FLR_VERDICT_FAIL,
    FLR_VERDICT_OPEN
} flr_verdict;

typedef struct flr_report {
    flr_recorded from;
    double clearance; /* metres; below 0: none stated */
    flr_report_frame *frames;
    size_t count;
    flr_pose *poses;  /* [count][moving] */
    uint32_t moving;  /* parts */
    uint32_t held;    /* of the moving ones: what was held longest */
    bool *acts;       /* [moving]: was held, or moved; where none did, all */
    uint64_t missing; /* frames that did not get into the recording */
    bool complete;
    flr_part_list parts;     /* the scene's, for their meshes; none: they are not at hand */
    size_t measured, proven; /* frames; and those that need no measuring for the verdict */
    size_t meeting;          /* measured frames in which surfaces meet, but for … */
    size_t
        overlap_frames; /* … those in which only parts meet that did so at the start and have not come free yet */
    size_t stuck;           /* pairs that met at the start and never came free */
    flr_report_pair *pairs; /* [pair_count]: with the meshes */
    size_t pair_count;
    /* sums */
    size_t nearest;            /* frame with the least exact distance, else the least upper bound */
    double least, least_upper; /* metres: the least distance lies between; equal when it is exact */
    bool paced;
    flr_percentiles compute_ns, wakeup_ns;
    size_t contact_frames, penetration_frames, limited_frames, stopped_frames;
    uint32_t most_contacts;
    double max_force, max_torque;
    /* of paged voxels: blocks that were needed, and there in time; bytes read, in memory at most, of the directory; times that
     * frames waited, the longest, all of it */
    uint64_t paged_needed, paged_hits, paged_read, paged_most, paged_directory;
    size_t waits;
    double longest_wait_us, waited_us;
    flr_verdict verdict;
    bool (*go_on)(void *context, double done); /* while it measures; false: stop. NULL: go on */
    void *context;
    bool stopped;
} flr_report;

void flr_report_free(flr_report *report);

/* Reads all frames. */
flr_result flr_report_read(flr_cli *cli, flr_report *report, flr_error *error);

static inline const flr_mesh *flr_report_mesh(const flr_report *report, size_t part)
{
    return report->parts.list[part].shape->mesh->mesh;
}

/* Reads the meshes of the scene and compares them with what was recorded. */
flr_result flr_report_meshes(flr_cli *cli, flr_report *report, flr_error *error);

/* Measures up to `most` frames, those first that decide; fills all from `exact` to `meeting`. */
flr_result flr_report_measure(flr_cli *cli, flr_report *report, size_t most, flr_error *error);

/* ---- report_pairs.c ---- */

/* `acts` [parts]: was moved. */
flr_result flr_report_pairs_begin(flr_report *report, const bool *acts, flr_error *error);
/* What was measured of a pair in a frame; `places` [parts], world. */
void flr_report_pair_note(flr_cli *cli, flr_report *report, flr_report_pair *pair, size_t frame,
                          const flr_pose *places, const flr_gauge_result *result);
/* When all is measured: takes out what started in each other. */
void flr_report_account(flr_report *report);
enum { FLR_PAIR_TEXT_SIZE = 200 };
char *flr_report_pair_print(const flr_report *report, const flr_report_pair *pair,
                            char text[FLR_PAIR_TEXT_SIZE]);
#define FLR_PAIR_TEXT(report, pair)                                                                \
    flr_report_pair_print(report, pair, (char[FLR_PAIR_TEXT_SIZE]){0})
/* Overlaps first, then the nearest; into `list` [pair_count]. */
size_t flr_report_pairs_sort(const flr_report *report, const flr_report_pair **list);
void flr_report_pairs_tell(flr_cli *cli, const flr_report *report);
struct json_t *flr_report_pairs_json(const flr_report *report);

/* Sums up; last. */
flr_result flr_report_sum(flr_report *report, flr_error *error);

/* "pass", "fail", "undecided"; "" without a clearance. */
const char *flr_verdict_name(flr_verdict verdict);

/* ---- report_near.c ---- */

/* The pairs that came nearest, at most `most`, nearest first: those that have a place. Overlaps at the start are not among them
 * unless they met again. */
enum { FLR_REPORT_NEAREST = 6 };
size_t flr_report_near(const flr_report *report, const flr_report_pair *list[FLR_REPORT_NEAREST]);
/* The place from nearby, cut open, with the two nearest points marked. */
flr_result flr_report_closeup(const flr_report *report, const flr_report_pair *pair, uint32_t width,
                              uint32_t height, flr_picture *picture, flr_error *error);
/* The section of the page. */
flr_result flr_report_near_write(flr_cli *cli, FILE *out, const flr_report *report,
                                 flr_error *error);

/* ---- report_make.c ---- */

/* Opens, reads, finds the scene (`scene` NULL: that of the recording, where it is at hand), measures and sums up. Free the report in
 * any case. FLR_CANCELLED: by its go_on. */
flr_result flr_report_make(flr_cli *cli, const char *path, const char *scene, size_t most,
                           flr_report *report, flr_error *error);
/* For a controller: flr_engine_def.report_recording. */
struct flr_engine_recording_report;
flr_result flr_report_serve(const struct flr_engine_recording_report *asked, flr_blob *file,
                            flr_error *error);

/* The same as PDF; free with flr_blob_free(). */
flr_result flr_report_pdf(flr_cli *cli, const flr_report *report, flr_blob *file, flr_error *error);
/* "between 0.1 and 0.2 mm" */
enum { FLR_DISTANCE_TEXT_SIZE = 96 };
const char *flr_report_distance_print(const flr_report *report, char text[FLR_DISTANCE_TEXT_SIZE]);

/* The page, into a text in memory; free with flr_blob_free(). */
flr_result flr_report_page(flr_cli *cli, const flr_report *report, flr_blob *page,
                           flr_error *error);

/* ---- report_picture.c; needs the meshes ---- */

/* How frames are seen: from where the scene's camera looks, with the way of the moving parts in the picture. */
typedef struct flr_report_view {
    uint32_t width, height; /* pixels */
    flr_box3 focus;         /* metres, world */
    flr_picture_part *parts;
} flr_report_view;

flr_result flr_report_view_begin(flr_report_view *view, const flr_report *report, uint32_t width,
                                 uint32_t height, flr_error *error);
void flr_report_view_end(flr_report_view *view);

/* The parts as they are after a frame; free with flr_picture_free(). */
flr_result flr_report_draw(const flr_report *report, const flr_report_view *view, size_t frame,
                           flr_picture *picture, flr_error *error);

/* Writes the recording as an animated PNG of 12 pictures per second, `drawn` in all and 60 at most: longer
 * recordings play faster. */
flr_result flr_report_animate(flr_cli *cli, const flr_report *report, const char *path,
                              size_t *drawn, flr_error *error);

/* ---- report_chart.c ---- */

typedef struct flr_chart_line {
    const char *name;
    const double *y;  /* [count]; NAN: a gap */
    const char *look; /* class in the page's style: "a", "b", "c" */
    bool dots;
} flr_chart_line;

/* Lines over time. Of many values the least and greatest in each column are drawn, so that no peak
 * is lost. */
typedef struct flr_chart {
    const char *label; /* of the y axis, with unit */
    const double *t;   /* [count], s */
    size_t count;
    const flr_chart_line *lines; /* [line_count] */
    size_t line_count;
    double top;  /* what is above is not shown; 0: everything is */
    double mark; /* a level with a line of its own; NAN: none */
    const char *mark_name;
} flr_chart;

void flr_chart_lines(FILE *out, const flr_chart *chart);

/* How often which value comes, in columns of equal ratio; what is not above 0 counts in the first. */
void flr_chart_histogram(FILE *out, const char *label, const double *values, size_t count,
                         double mark, const char *mark_name);

/* A way seen along an axis: both axes to the same scale. `hot` marks part of it. */
void flr_chart_path(FILE *out, const char *across, const char *up, const double *x, const double *y,
                    const bool *hot, size_t count, double unit, const char *unit_name);

/* What a recording says of that; "not known" where it says nothing. */
const char *flr_report_text(const flr_report *report, const char *key);

/* Text with <, >, & and quotes made harmless. */
void flr_html_text(FILE *out, const char *text);
/* The begin of a page, up to the text of its title. */
void flr_html_begin(FILE *out);
void flr_html_base64(FILE *out, const flr_blob *blob);

#endif
