/* What feeler contacts says of its answers: a line for each pose, a summary, JSON. */
#include <math.h>
#include <stdlib.h>

#include "contacts.h"
#include "output.h"
#include "scene/scene.h"

const char *const flr_contacts_engines[] = {"culled", "reference", "coherent", "spheres", NULL};

typedef struct summary {
    size_t touching, penetrating;
    double lower, upper;  /* metres: of the least distance over all poses */
    double p50, p99, max; /* microseconds */
    uint64_t steps;       /* queries, with those between the poses */
    size_t stopped;       /* motions between poses */
    size_t first;         /* pose after the first of them */
    size_t unchecked;     /* motions that are too long */
} summary;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static flr_result summarize(const flr_contacts_job *j, summary *s, flr_error *error)
{
    size_t count = j->poses.count;
    double *us = malloc(count * sizeof *us);
    if (!us) return flr_fail_memory(error);
    *s = (summary){.lower = INFINITY, .upper = INFINITY};
    for (size_t i = 0; i < count; i++) {
        const flr_contact_result *r = &j->answers[i].sum;
        s->touching += r->contacts > 0;
        s->penetrating += r->penetrations > 0;
        s->lower = fmin(s->lower, r->lower);
        s->upper = fmin(s->upper, r->upper);
        s->steps += j->answers[i].steps;
        if (j->answers[i].stopped && s->stopped++ == 0) s->first = i;
        s->unchecked += j->sweep && j->answers[i].free < 1 && !j->answers[i].stopped;
        us[i] = j->answers[i].us;
    }
    qsort(us, count, sizeof *us, by_value);
    s->p50 = us[(count - 1) / 2];
    s->p99 = us[(count - 1) * 99 / 100];
    s->max = us[count - 1];
    free(us);
    return FLR_OK;
}

static json_t *distance_json(double lower, double upper)
{
    json_t *distance = flr_json_object();
    flr_json_set(distance, "lower", flr_json_number(lower));
    flr_json_set(distance, "upper", flr_json_number(upper));
    return distance;
}

static json_t *sweep_json(const flr_pose_answer *a)
{
    json_t *sweep = flr_json_object();
    flr_json_set(sweep, "fraction", flr_json_number(a->free));
    flr_json_set(sweep, "place", a->stopped ? flr_json_vec3(a->place) : json_null());
    flr_json_set(sweep, "checked", json_boolean(a->free == 1 || a->stopped));
    return sweep;
}

static json_t *poses_json(const flr_contacts_job *j)
{
    json_t *poses = flr_json_array();
    for (size_t i = 0; i < j->poses.count; i++) {
        const flr_contact_result *r = &j->answers[i].sum;
        json_t *pose = flr_json_object();
        flr_json_set(pose, "t", flr_json_number(j->poses.poses[i].t));
        flr_json_set(pose, "contacts", flr_json_count(r->contacts));
        flr_json_set(pose, "penetrations", flr_json_count(r->penetrations));
        flr_json_set(pose, "force", flr_json_vec3(r->wrench.force));
        flr_json_set(pose, "torque", flr_json_vec3(r->wrench.torque));
        flr_json_set(pose, "distance", distance_json(r->lower, r->upper));
        flr_json_set(pose, "points_tested", flr_json_count(r->points_tested));
        flr_json_set(pose, "us", flr_json_number(j->answers[i].us));
        if (j->engine == FLR_CONTACTS_COHERENT) {
            flr_json_set(pose, "max_travel", flr_json_number(j->answers[i].max_travel));
            flr_json_set(pose, "steps", flr_json_count(j->answers[i].steps));
        }
        flr_contacts_exact_json(j, &j->answers[i], pose);
        if (j->sweep) flr_json_set(pose, "sweep", i ? sweep_json(&j->answers[i]) : json_null());
        flr_json_push(poses, pose);
    }
    return poses;
}

static json_t *document_json(const flr_contacts_job *j, const summary *s)
{
    json_t *document = flr_json_object(), *sum = flr_json_object(), *us = flr_json_object();
    flr_json_set(document, "engine", flr_json_text(flr_contacts_engines[j->engine]));
    flr_json_set(document, "instructions",
                 j->engine != FLR_CONTACTS_CULLED
                     ? json_null()
                     : flr_json_text(flr_contact_pair_simd(j->obstacles->pair)));
    flr_json_set(document, "points", flr_json_count(j->moving->shell->total));
    flr_json_set(document, "obstacles", flr_json_count(j->obstacle_count));
    flr_json_set(document, "model", flr_json_text(flr_scene_models[j->params.model]));
    flr_json_set(document, "force_layer", flr_json_count(j->params.force_layer));
    flr_json_set(document, "awareness", json_boolean(j->params.awareness));
    flr_json_set(document, "displacement", flr_json_number(j->displaced));
    flr_json_set(document, "stiffness", flr_json_number(j->params.stiffness));
    flr_json_set(document, "poses", poses_json(j));
    flr_json_set(sum, "poses", flr_json_count(j->poses.count));
    flr_json_set(sum, "in_contact", flr_json_count(s->touching));
    flr_json_set(sum, "with_penetrations", flr_json_count(s->penetrating));
    flr_json_set(sum, "distance", distance_json(s->lower, s->upper));
    flr_json_set(us, "p50", flr_json_number(s->p50));
    flr_json_set(us, "p99", flr_json_number(s->p99));
    flr_json_set(us, "max", flr_json_number(s->max));
    flr_json_set(sum, "us", us);
    if (j->engine == FLR_CONTACTS_COHERENT) {
        flr_json_set(sum, "tests_per_frame", flr_json_number(j->tests));
        flr_json_set(sum, "steps", flr_json_count(s->steps));
        flr_json_set(sum, "jumps", flr_json_count(j->jumps));
    }
    flr_contacts_exact_summary(j, sum);
    if (j->sweep) {
        flr_json_set(sum, "motions_stopped", flr_json_count(s->stopped));
        flr_json_set(sum, "motions_unchecked", flr_json_count(s->unchecked));
    }
    flr_json_set(document, "summary", sum);
    return document;
}

/* One line per pose, in columns that a program can split at blanks as well. */
static void print_poses(flr_cli *cli, const flr_contacts_job *j)
{
    flr_print(cli, "%s%10s %8s %8s %26s %26s %17s %9s %8s%s%s%s%s\n", flr_bold(cli), "t [s]",
              "contacts", "penetr.", "force [N]", "torque [N m]", "distance [mm]", "tested", "us",
              j->sweep ? "     free" : "", j->exact ? FLR_CONTACTS_EXACT_TITLE : "",
              j->tolerance >= 0 ? "   near" : "", flr_plain(cli));
    for (size_t i = 0; i < j->poses.count; i++) {
        const flr_contact_result *r = &j->answers[i].sum;
        flr_vec3 f = r->wrench.force, t = r->wrench.torque;
        flr_print(cli, "%10.4f %8u %8u %8.3f %8.3f %8.3f %8.4f %8.4f %8.4f %8.3f %8.3f %9llu %8.1f",
                  j->poses.poses[i].t, r->contacts, r->penetrations, f.x, f.y, f.z, t.x, t.y, t.z,
                  1e3 * r->lower, 1e3 * r->upper, (unsigned long long)r->points_tested,
                  j->answers[i].us);
        if (j->sweep) flr_print(cli, " %8.5f", j->answers[i].free);
        flr_contacts_exact_columns(cli, j, &j->answers[i]);
        flr_print(cli, "\n");
    }
}

static void print_summary(flr_cli *cli, const flr_contacts_job *j, const summary *s)
{
    flr_print(cli, "%zu pose%s of %s points: %zu in contact, %zu where surfaces may meet; ",
              j->poses.count, flr_noun(j->poses.count, "", "s"),
              FLR_COUNT_TEXT(j->moving->shell->total), s->touching, s->penetrating);
    if (isfinite(s->upper))
        flr_print(cli, "least distance %.4g to %.4g mm; ", 1e3 * s->lower, 1e3 * s->upper);
    else if (isfinite(s->lower))
        flr_print(cli, "never nearer than %.4g mm; ", 1e3 * s->lower);
    flr_print(cli, "p50 %.4g, p99 %.4g, max %.4g us\n", s->p50, s->p99, s->max);
    if (j->engine == FLR_CONTACTS_COHERENT)
        flr_print(cli,
                  "with %.0f tests in a frame the travel limit takes %llu frame%s for them, and is "
                  "exceeded by %llu jump%s\n",
                  j->tests, (unsigned long long)s->steps, flr_noun(s->steps, "", "s"),
                  (unsigned long long)j->jumps, flr_noun(j->jumps, "", "s"));
    flr_contacts_print_exact(cli, j);
    if (!j->sweep) return;
    const flr_pose_answer *first = &j->answers[s->first];
    if (s->unchecked)
        flr_print(cli,
                  "%zu motion%s between poses %s a billion voxels or longer and %s not looked at; "
                  "check the unit of the poses\n",
                  s->unchecked, flr_noun(s->unchecked, "", "s"),
                  flr_noun(s->unchecked, "is", "are"), flr_noun(s->unchecked, "was", "were"));
    if (s->stopped == 0 && s->unchecked == 0)
        flr_print(cli, "between the poses nothing comes nearer than allowed\n");
    else if (s->stopped)
        flr_print(
            cli,
            "%zu motion%s between poses %s stopped; the first on the way to t = %.4f s, after "
            "%.4g of it, at %.4f %.4f %.4f mm\n",
            s->stopped, flr_noun(s->stopped, "", "s"), flr_noun(s->stopped, "is", "are"),
            j->poses.poses[s->first].t, first->free, 1e3 * first->place.x, 1e3 * first->place.y,
            1e3 * first->place.z);
}

flr_result flr_contacts_tell(flr_cli *cli, const flr_contacts_job *j, flr_error *error)
{
    summary sum = {0};
    flr_result result = summarize(j, &sum, error);
    flr_progress_end(cli);
    if (result != FLR_OK) return result;
    print_poses(cli, j);
    print_summary(cli, j, &sum);
    if (cli->json) flr_json_print(cli, document_json(j, &sum));
    return FLR_OK;
}
