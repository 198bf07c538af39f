/* feeler report: exact distances along the way, by the triangles of all parts */
#include <math.h>
#include <stdlib.h>

#include "output.h"
#include "report.h"

enum { EVEN = 1000 }; /* frames that are measured at even steps, before those that decide */

/* ---- meshes ---- */

typedef struct report_reading {
    flr_cli *cli;
    const flr_scene *scene;
} report_reading;

static bool show_reading(void *context, uint32_t part, double *voxel, flr_mesh_options *options)
{
    const report_reading *r = context;
    (void)voxel, (void)options;
    flr_progress(r->cli, part, r->scene->part_count, "reading %s", r->scene->parts[part].name);
    return true;
}

flr_result flr_report_meshes(flr_cli *cli, flr_report *r, flr_error *error)
{
    report_reading shown = {cli, r->from.scene};
    flr_parts_def def = {.env = cli->env,
                         .scene = r->from.scene,
                         .options = &r->from.setup.options,
                         .begin = show_reading,
                         .context = &shown};
    flr_result result = flr_part_list_read(&def, &r->parts, error);
    if (result == FLR_OK)
        result = flr_setup_compare(r->from.recording, r->from.scene, &r->parts,
                                   &r->from.scene_changed, error);
    if (result != FLR_OK) flr_part_list_free(&r->parts);
    return result;
}

/* ---- measuring ---- */

typedef struct measurer {
    flr_cli *cli;
    flr_report *report;
    flr_pose *places;              /* [part_count]: world */
    double *reach;                 /* [moving]: of the farthest point from the part's origin */
    bool *acts;                    /* [part_count]: was held, or moved */
    const flr_gauge_part **gauges; /* [part_count] */
    flr_gauge_witness *witnesses;  /* [part_count][part_count] */
} measurer;

static void place_all(const measurer *m, size_t frame)
{
    const flr_report *r = m->report;
    uint32_t number = 0;
    for (size_t i = 0; i < r->from.scene->part_count; i++) {
        const flr_scene_part *part = &r->from.scene->parts[i];
        m->places[i] = part->moving && number < r->moving ? r->poses[frame * r->moving + number++]
                                                          : part->T_world_part;
    }
}

/* The least distance of any part that was moved to any other. */
static void measure(const measurer *m, size_t frame)
{
    flr_report *r = m->report;
    const flr_scene *scene = r->from.scene;
    flr_report_frame *f = &r->frames[frame];
    flr_gauge_params params = flr_default_gauge_params();
    place_all(m, frame);
    f->exact = INFINITY;
    for (size_t i = 0; i < r->pair_count; i++) {
        flr_report_pair *p = &r->pairs[i];
        flr_gauge_result g;
        /* what is farther than the nearest in this frame, and than this pair ever was, does not matter */
        params.max_distance = fmax(f->exact, p->least);
        flr_gauge_distance(m->gauges[p->a], m->gauges[p->b], m->places[p->a], m->places[p->b],
                           &params, &m->witnesses[p->a * scene->part_count + p->b], &g);
        if (g.found && g.upper < f->exact) f->exact = g.upper;
        f->meet |= g.found && g.meet;
        flr_report_pair_note(m->cli, r, p, frame, m->places, &g);
        f->meet_others |= g.found && g.meet && !p->overlaps;
    }
    f->bound = f->exact;
    r->measured++;
    r->meeting += f->meet;
}

/* How far any point of any part has gone from one frame to another, at most. */
static double way_between(const measurer *m, size_t a, size_t b)
{
    const flr_report *r = m->report;
    double way = 0;
    for (uint32_t i = 0; i < r->moving; i++) {
        flr_pose from = r->poses[a * r->moving + i], to = r->poses[b * r->moving + i];
        flr_quat turn = flr_quat_mul(to.q, flr_quat_conjugate(from.q));
        way += flr_vec3_length(flr_vec3_sub(to.p, from.p)) +
               m->reach[i] * flr_vec3_length(flr_quat_to_rotation_vector(turn));
    }
    return way;
}

/* What a measured frame says about those around it. */
static void spread(const measurer *m)
{
    flr_report *r = m->report;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < r->count; i++) {
        if (!isnan(r->frames[i].exact)) last = i;
        if (last == SIZE_MAX || last == i) continue;
        double bound = r->frames[last].exact - way_between(m, last, i);
        if (bound > r->frames[i].bound) r->frames[i].bound = bound;
    }
    last = SIZE_MAX;
    for (size_t i = r->count; i-- > 0;) {
        if (!isnan(r->frames[i].exact)) last = i;
        if (last == SIZE_MAX || last == i) continue;
        double bound = r->frames[last].exact - way_between(m, last, i);
        if (bound > r->frames[i].bound) r->frames[i].bound = bound;
    }
}

static double least_measured(const flr_report *r)
{
    double least = INFINITY;
    for (size_t i = 0; i < r->count; i++)
        if (r->frames[i].exact < least) least = r->frames[i].exact;
    return least;
}

/* tells how far it is; false: somebody wants it to stop */
static bool tell(flr_cli *cli, flr_report *r, size_t i)
{
    flr_progress(cli, i, r->count, "measuring");
    r->stopped = r->stopped || (r->go_on && !r->go_on(r->context, (double)i / (double)r->count));
    return !r->stopped;
}

static void measure_all(flr_cli *cli, const measurer *m, size_t most)
{
    flr_report *r = m->report;
    size_t even = most < EVEN ? most : EVEN;
    size_t step = even && r->count > even ? (r->count + even - 1) / even : 1;
    for (size_t i = 0; i < r->count && r->measured < most; i += step) {
        if (i % 64 == 0 && !tell(cli, r, i)) return;
        measure(m, i);
    }
    spread(m);
    /* then all that may be nearer than stated, or than the nearest known, or whose surfaces may meet */
    double least = least_measured(r);
    size_t since = r->measured;
    for (size_t i = 0; i < r->count && r->measured < most; i++) {
        const flr_report_frame *f = &r->frames[i];
        if (!isnan(f->exact) || (f->bound >= fmax(least, r->clearance) && f->bound > 0)) continue;
        if ((r->measured - since) % 64 == 0 && !tell(cli, r, i)) return;
        measure(m, i);
        least = fmin(least, f->exact);
    }
    spread(m);
    for (size_t i = 0; i < r->count; i++)
        r->proven += isnan(r->frames[i].exact) && r->frames[i].bound > 0;
}

static flr_result make_ready(measurer *m, flr_error *error)
{
    flr_report *r = m->report;
    const flr_scene *scene = r->from.scene;
    size_t count = scene->part_count;
    m->gauges = calloc(count, sizeof(flr_gauge_part *));
    m->places = calloc(count, sizeof *m->places);
    m->reach = calloc((size_t)r->moving + 1, sizeof *m->reach);
    m->witnesses = calloc(count * count, sizeof *m->witnesses);
    m->acts = calloc(count, sizeof *m->acts);
    if (!m->gauges || !m->places || !m->reach || !m->witnesses || !m->acts)
        return flr_fail_memory(error);
    for (size_t i = 0; i < count * count; i++) m->witnesses[i] = flr_no_witness();
    uint32_t number = 0;
    flr_result result = FLR_OK;
    for (size_t i = 0; i < count && result == FLR_OK; i++) {
        result = flr_mesh_asset_gauge(r->parts.list[i].shape->mesh, &m->gauges[i], error);
        if (!scene->parts[i].moving || number >= r->moving) continue;
        flr_box3 box = flr_report_mesh(r, i)->bounds;
        flr_vec3 far = flr_vec3_make(fmax(fabs(box.low.x), fabs(box.high.x)),
                                     fmax(fabs(box.low.y), fabs(box.high.y)),
                                     fmax(fabs(box.low.z), fabs(box.high.z)));
        m->acts[i] = r->acts[number];
        m->reach[number++] = flr_vec3_length(far);
    }
    return result;
}

flr_result flr_report_measure(flr_cli *cli, flr_report *r, size_t most, flr_error *error)
{
    measurer m = {.cli = cli, .report = r};
    flr_result result = make_ready(&m, error);
    if (result == FLR_OK) result = flr_report_pairs_begin(r, m.acts, error);
    if (result == FLR_OK) measure_all(cli, &m, most);
    if (result == FLR_OK && r->stopped) result = flr_fail(error, FLR_CANCELLED, "cancelled");
    if (result == FLR_OK) flr_report_account(r);
    free(m.gauges);
    free(m.places);
    free(m.reach);
    free(m.acts);
    free(m.witnesses);
    return result;
}
