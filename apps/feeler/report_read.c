/* feeler report: frames out of a recording, and their sums */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output.h"
#include "report.h"

#define LOOKED                                                                                     \
    8.0 /* voxels: pairs of parts within this are asked in every frame, see world/world_step.c */

static flr_result no_memory(const flr_report *r, flr_error *error)
{
    return flr_fail(error, FLR_NO_MEMORY, "%s: not enough memory for its frames", r->from.path);
}

void flr_report_free(flr_report *r)
{
    flr_part_list_free(&r->parts);
    free(r->frames);
    free(r->poses);
    free(r->acts);
    free(r->pairs);
    flr_recorded_close(&r->from);
}

static flr_result grow(flr_report *r, size_t *room, flr_error *error)
{
    size_t more = *room ? 2 * *room : 4096;
    if (!flr_array_resize(&r->frames, more, sizeof *r->frames) ||
        !flr_array_resize(&r->poses, more * (r->moving + 1), sizeof *r->poses))
        return no_memory(r, error);
    *room = more;
    return FLR_OK;
}

static flr_result take(flr_report *r, size_t *room, const flr_record_view *view, uint64_t *next,
                       flr_error *error)
{
    const flr_record_frame *f = &view->frame;
    if (r->count == 0) r->moving = view->part_count;
    if (view->part_count != r->moving)
        return flr_fail(error, FLR_BAD_INPUT, "%s: frame %llu has %u parts, not %u", r->from.path,
                        (unsigned long long)f->frame, view->part_count, r->moving);
    flr_result result = r->count == *room ? grow(r, room, error) : FLR_OK;
    if (result != FLR_OK) return result;
    const flr_record_hand *hand = view->hand_count ? &view->hands[0] : NULL;
    for (uint32_t h = 1; h < view->hand_count && hand->part == UINT32_MAX; h++)
        if (view->hands[h].part != UINT32_MAX) hand = &view->hands[h];
    r->frames[r->count] = (flr_report_frame){
        .t = (double)f->time_ns * 1e-9,
        .compute_us = f->compute_us,
        .wakeup_us = f->wakeup_us,
        .force = hand ? flr_vec3_length(hand->wrench.force) : 0,
        .torque = hand ? flr_vec3_length(hand->wrench.torque) : 0,
        .lower = NAN,
        .upper = NAN,
        .exact = NAN,
        .part = hand ? hand->part : UINT32_MAX,
        .contacts = f->contacts,
        .penetrations = f->penetrations,
        .limited = f->travel_limited,
        .stopped = f->stopped,
        .waited_us = f->waited_us,
        .paged_resident = (double)f->paged_resident,
        .paged_read = (double)f->paged_read,
        .fresh = hand && hand->fresh,
    };
    /* distances are those before the step: of the poses that the frame before ended with */
    if (r->count && f->frame == *next) {
        r->frames[r->count - 1].lower = f->lower;
        r->frames[r->count - 1].upper = f->upper;
    }
    r->paged_needed = f->paged_needed;
    r->paged_hits = f->paged_hits;
    r->paged_read = f->paged_read;
    r->paged_directory = f->paged_directory;
    if (f->paged_resident > r->paged_most) r->paged_most = f->paged_resident;
    if (f->frame > *next) r->missing += f->frame - *next;
    *next = f->frame + 1;
    for (uint32_t i = 0; i < r->moving; i++)
        r->poses[r->count * r->moving + i] = view->parts[i].T_world_part;
    r->count++;
    return FLR_OK;
}

/* Has the part been held, and for how many frames; else, has it moved? */
static size_t look_at(const flr_report *r, uint32_t number, uint32_t moving, bool *moved)
{
    size_t held = 0;
    for (size_t i = 0; i < r->count; i++) {
        held += r->frames[i].part == number;
        *moved |=
            memcmp(&r->poses[i * r->moving + moving], &r->poses[moving], sizeof *r->poses) != 0;
    }
    return held;
}

/* Which of the moving parts is the one in the hand, and which were moved at all. */
static flr_result find_held(flr_report *r, flr_error *error)
{
    r->acts = calloc((size_t)r->moving + 1, sizeof *r->acts);
    if (!r->acts) return no_memory(r, error);
    uint32_t found = 0;
    size_t longest = 0;
    bool some = false;
    for (uint32_t k = 0; found < r->moving; k++) {
        char key[48];
        snprintf(key, sizeof key, "parts.%u.moving", k);
        const char *moving = flr_recording_text(r->from.recording, key);
        if (!moving) break;
        if (strcmp(moving, "true") != 0) continue;
        snprintf(key, sizeof key, "parts.%u.name", k);
        const char *name = flr_recording_text(r->from.recording, key);
        size_t held = look_at(r, k, found, &r->acts[found]);
        r->acts[found] |= held > 0;
        some |= r->acts[found];
        if (held > longest || (longest == 0 && name && !strcmp(name, r->from.setup.part)))
            r->held = found;
        if (held > longest) longest = held;
        found++;
    }
    for (uint32_t i = 0; i < r->moving && !some; i++) r->acts[i] = true;
    return FLR_OK;
}

flr_result flr_report_read(flr_cli *cli, flr_report *r, flr_error *error)
{
    flr_record_view view;
    flr_result result;
    size_t room = 0;
    uint64_t next = 0;
    while ((result = flr_recording_next(r->from.recording, &view, error)) == FLR_OK) {
        if (r->count % 4096 == 0) flr_progress(cli, r->count, 0, "reading frames");
        if ((result = take(r, &room, &view, &next, error)) != FLR_OK) return result;
    }
    if (result != FLR_CLOSED) return result;
    if (r->count == 0) return flr_fail(error, FLR_BAD_INPUT, "%s holds no frame", r->from.path);
    r->complete = flr_recording_complete(r->from.recording);
    flr_error lost;
    if (flr_recording_damaged(r->from.recording, &lost)) flr_warn(cli, "%s", lost.message);
    const char *paced = flr_recording_text(r->from.recording, "paced");
    r->paced = paced && !strcmp(paced, "true");
    if ((result = find_held(r, error)) != FLR_OK) return result;
    /* what is farther than so many voxels was perhaps not looked at */
    const char *voxel = flr_recording_text(r->from.recording, "voxel.least");
    double seen = voxel ? LOOKED * strtod(voxel, NULL) : 0;
    for (size_t i = 0; i < r->count; i++)
        r->frames[i].bound = r->frames[i].lower >= 0 ? fmin(r->frames[i].lower, seen) : 0;
    return FLR_OK;
}

/* ---- sums ---- */

static void find_least(flr_report *r)
{
    r->least = r->least_upper = INFINITY;
    double best = INFINITY;
    for (size_t i = 0; i < r->count; i++) {
        const flr_report_frame *f = &r->frames[i];
        if (f->tolerated) continue;
        if (f->bound < r->least) r->least = f->bound;
        double upper = !isnan(f->exact) ? f->exact : isnan(f->upper) ? INFINITY : f->upper;
        if (upper < best) best = upper, r->nearest = i;
    }
    r->least_upper = best;
}

const char *flr_verdict_name(flr_verdict verdict)
{
    static const char *const names[] = {"", "pass", "fail", "undecided"};
    return names[verdict];
}

static void judge(flr_report *r)
{
    if (r->clearance < 0) return;
    /* 0 mm: they must not meet. What started in each other must come free */
    bool near = r->meeting > 0 || r->stuck > 0 || r->least_upper < r->clearance;
    r->verdict = near                       ? FLR_VERDICT_FAIL
                 : r->least >= r->clearance ? FLR_VERDICT_PASS
                                            : FLR_VERDICT_OPEN;
}

flr_result flr_report_sum(flr_report *r, flr_error *error)
{
    flr_histogram *times = calloc(2, sizeof *times);
    if (!times) return no_memory(r, error);
    for (size_t i = 0; i < r->count; i++) {
        const flr_report_frame *f = &r->frames[i];
        flr_histogram_add(&times[0], (uint64_t)(f->compute_us > 0 ? f->compute_us * 1e3 : 0));
        flr_histogram_add(&times[1], (uint64_t)(f->wakeup_us > 0 ? f->wakeup_us * 1e3 : 0));
        r->contact_frames += f->contacts > 0 || f->penetrations > 0;
        r->penetration_frames += f->penetrations > 0;
        r->limited_frames += f->limited;
        r->stopped_frames += f->stopped;
        r->waits += f->waited_us > 0;
        r->waited_us += f->waited_us;
        r->longest_wait_us = fmax(r->longest_wait_us, f->waited_us);
        if (f->contacts > r->most_contacts) r->most_contacts = f->contacts;
        r->max_force = fmax(r->max_force, f->force);
        r->max_torque = fmax(r->max_torque, f->torque);
    }
    r->compute_ns = flr_histogram_percentiles(&times[0]);
    r->wakeup_ns = flr_histogram_percentiles(&times[1]);
    free(times);
    find_least(r);
    judge(r);
    return FLR_OK;
}
