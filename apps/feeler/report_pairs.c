/* feeler report: the least clearance of each pair of parts, and what was in each other when it began */
#include <math.h>
#include <stdlib.h>

#include "output.h"
#include "report.h"
#include "sim/gaps.h"

enum { PAIRS_SHOWN = 12 };

flr_result flr_report_pairs_begin(flr_report *r, const bool *acts, flr_error *error)
{
    const size_t count = r->from.scene->part_count;
    size_t wanted = 0, overlaps = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) wanted += a != b && acts[a] && !(acts[b] && b < a);
    r->pairs = calloc(wanted + 1, sizeof *r->pairs);
    if (!r->pairs) return flr_fail_memory(error);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            if (a != b && acts[a] && !(acts[b] && b < a)) /* pairs of moved parts once */
                r->pairs[r->pair_count++] =
                    (flr_report_pair){.a = a,
                                      .b = b,
                                      .least = INFINITY,
                                      .bit = overlaps < 64 ? overlaps++ : 64,
                                      .free_from = SIZE_MAX,
                                      .again = SIZE_MAX};
    return FLR_OK;
}

/* How deep they are in each other there. Parts that are too large for it: 0. */
static void measure_depth(flr_cli *cli, const flr_report *r, const flr_report_pair *p,
                          const flr_pose *places, flr_gap *gap)
{
    if (flr_gap_measure(cli->env, NULL, r->parts.list[p->a].shape->mesh, places[p->a],
                        r->parts.list[p->b].shape->mesh, places[p->b], FLR_GAP_MEET, gap,
                        NULL) != FLR_OK)
        *gap = (flr_gap){.distance = 0};
}

void flr_report_pair_note(flr_cli *cli, flr_report *r, flr_report_pair *p, size_t frame,
                          const flr_pose *places, const flr_gauge_result *g)
{
    const bool meet = g->found && g->meet;
    flr_gap gap = {.distance = g->found ? g->upper : INFINITY, .from = g->a.point};
    /* a look at the exact depth takes longer: at the beginning, and where they meet first */
    if (meet && (frame == 0 || p->least > 0)) measure_depth(cli, r, p, places, &gap);
    if (meet) gap.distance = fmin(gap.distance, 0);
    if (frame == 0 && meet && p->bit < 64) {
        p->overlaps = true;
        p->overlap = -gap.distance;
        p->where = gap.from;
    }
    if (p->overlaps && meet) r->frames[frame].overlaps |= UINT64_C(1) << p->bit;
    if (p->overlaps && !meet && frame < p->free_from) p->free_from = frame;
    if ((p->overlaps && meet) || !(gap.distance < p->least)) return;
    p->least = gap.distance;
    p->error = meet ? gap.error : g->upper - g->lower;
    p->frame = frame;
    p->from = g->a.point;
    p->to = g->b.point;
}

/* Frames in which only what started in each other, and has not come free since, meets. */
void flr_report_account(flr_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        flr_report_frame *f = &r->frames[i];
        bool tolerated = f->overlaps != 0;
        for (size_t k = 0; k < r->pair_count && f->overlaps; k++) {
            flr_report_pair *p = &r->pairs[k];
            if (p->bit >= 64 || !(f->overlaps >> p->bit & 1) || i < p->free_from) continue;
            tolerated = false;
            if (i < p->again) p->again = i;
        }
        if (!tolerated || f->meet_others) continue;
        f->tolerated = true;
        f->meet = false;
        r->meeting--;
        r->overlap_frames++;
    }
    for (size_t k = 0; k < r->pair_count; k++)
        r->stuck += r->pairs[k].overlaps && r->pairs[k].free_from == SIZE_MAX;
}

/* "0.096 mm ± 0.001 at 0.42 s", and what is to be known about the beginning. */
char *flr_report_pair_print(const flr_report *r, const flr_report_pair *p,
                            char text[FLR_PAIR_TEXT_SIZE])
{
    int used = 0;
    if (p->overlaps && p->overlap > 0)
        used = snprintf(text, FLR_PAIR_TEXT_SIZE, "%.3f mm deep in each other at the start",
                        1e3 * p->overlap);
    else if (p->overlaps)
        used = snprintf(text, FLR_PAIR_TEXT_SIZE, "surfaces met at the start");
    if (p->overlaps && p->free_from == SIZE_MAX)
        return snprintf(text + used, FLR_PAIR_TEXT_SIZE - (size_t)used, ", never free"), text;
    if (p->overlaps)
        used += snprintf(text + used, FLR_PAIR_TEXT_SIZE - (size_t)used,
                         ", free from %.3f s on; then ", r->frames[p->free_from].t);
    if (p->again != SIZE_MAX)
        snprintf(text + used, FLR_PAIR_TEXT_SIZE - (size_t)used, "in each other again at %.3f s",
                 r->frames[p->again].t);
    else if (isfinite(p->least))
        snprintf(text + used, FLR_PAIR_TEXT_SIZE - (size_t)used, "%s at %.3f s",
                 FLR_GAP_TEXT(p->least, p->error), r->frames[p->frame].t);
    else
        snprintf(text + used, FLR_PAIR_TEXT_SIZE - (size_t)used, "farther apart than others");
    return text;
}

static int nearer(const void *a, const void *b)
{
    const flr_report_pair *one = *(flr_report_pair *const *)a,
                          *other = *(flr_report_pair *const *)b;
    if (one->overlaps != other->overlaps) return one->overlaps ? -1 : 1;
    return one->least < other->least ? -1 : one->least > other->least;
}

size_t flr_report_pairs_sort(const flr_report *r, const flr_report_pair **list)
{
    size_t count = 0;
    for (size_t i = 0; i < r->pair_count; i++) list[count++] = &r->pairs[i];
    qsort((void *)list, count, sizeof *list, nearer);
    return count;
}

void flr_report_pairs_tell(flr_cli *cli, const flr_report *r)
{
    const flr_report_pair **list = calloc(r->pair_count + 1, sizeof(flr_report_pair *));
    size_t count = list ? flr_report_pairs_sort(r, list) : 0;
    for (size_t i = 0; i < count && (i < PAIRS_SHOWN || cli->verbose); i++)
        flr_print(cli, "  %s and %s: %s\n", FLR_SAFE(r->parts.list[list[i]->a].name),
                  FLR_SAFE(r->parts.list[list[i]->b].name), FLR_PAIR_TEXT(r, list[i]));
    if (count > PAIRS_SHOWN && !cli->verbose)
        flr_print(cli, "  and %zu more pairs; --verbose shows all\n", count - PAIRS_SHOWN);
    free((void *)list);
}

json_t *flr_report_pairs_json(const flr_report *r)
{
    json_t *all = flr_json_array();
    for (size_t i = 0; i < r->pair_count; i++) {
        const flr_report_pair *p = &r->pairs[i];
        json_t *o = flr_json_object(), *parts = flr_json_array();
        const bool known = isfinite(p->least);
        flr_json_push(parts, flr_json_text(r->parts.list[p->a].name));
        flr_json_push(parts, flr_json_text(r->parts.list[p->b].name));
        flr_json_set(o, "parts", parts);
        flr_json_set(o, "distance", known ? flr_json_number(p->least) : json_null());
        flr_json_set(o, "error", known ? flr_json_number(p->error) : json_null());
        flr_json_set(o, "points",
                     known ? json_pack("[o, o]", flr_json_vec3(p->from), flr_json_vec3(p->to))
                           : json_null());
        flr_json_set(o, "time", known ? flr_json_number(r->frames[p->frame].t) : json_null());
        flr_json_set(o, "overlap", p->overlaps ? flr_json_number(p->overlap) : json_null());
        flr_json_set(o, "overlap_point", p->overlaps ? flr_json_vec3(p->where) : json_null());
        flr_json_set(o, "free_from",
                     p->overlaps && p->free_from != SIZE_MAX
                         ? flr_json_number(r->frames[p->free_from].t)
                         : json_null());
        flr_json_push(all, o);
    }
    return all;
}
