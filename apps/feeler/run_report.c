/* what a run or a replay says at its end */
#include "run_report.h"

#include <math.h>

#include "feeler/base.h"
#include "files.h"
#include "sim/gaps.h"

/* frames with a potential penetration to frames with a contact (1999, section 6.3) */
static double ratio(const flr_run_result *r)
{
    return r->contact_frames ? (double)r->penetration_frames / (double)r->contact_frames : 0;
}

static double us(uint64_t ns) { return (double)ns * 1e-3; }

/* ---- text ---- */

bool flr_run_show_stage(void *context, size_t part, double done, const char *what)
{
    flr_progress(context, (uint64_t)(100 * done), 100, "part %zu: %s", part + 1, what);
    return !flr_stop_wanted();
}

static void print_percentiles(flr_cli *cli, const char *name, const flr_percentiles *p,
                              double scale)
{
    flr_print(cli, "  %-22s %10.1f %10.1f %10.1f %10.1f\n", name, (double)p->p50 * scale,
              (double)p->p99 * scale, (double)p->p999 * scale, (double)p->max * scale);
}

/* The middle of what is proven, and how far off the true one may be. */
static void print_clearance(flr_cli *cli, const flr_run_result *r)
{
    const double middle = 0.5 * (r->lower + r->upper), off = 0.5 * (r->upper - r->lower);
    if (!isfinite(off)) {
        flr_print(cli, "  least clearance at most %.3f mm: there was no time to measure it\n",
                  1e3 * r->upper);
        return;
    }
    if (r->upper < 0)
        flr_print(cli, "  least clearance: %s\n", FLR_GAP_TEXT(r->upper, 2 * off));
    else
        flr_print(cli, "  least clearance %s\n", FLR_GAP_TEXT(middle, off));
}

/* What was in each other when it began: the exact engine keeps account of it. */
void flr_run_print_overlaps(flr_cli *cli, const flr_stage *stage)
{
    uint32_t count;
    const flr_world_overlap *list = flr_world_overlaps(stage->world, &count);
    const double limit = flr_world_get_params(stage->world)->exact.overlap;
    for (uint32_t i = 0; i < count; i++) {
        const flr_world_overlap *o = &list[i];
        char deep[64] = "touch at the start";
        if (o->depth > 5e-7)
            snprintf(deep, sizeof deep, "start %.3f mm deep in each other", 1e3 * o->depth);
        flr_warn(cli, "%s and %s %s, at %.4g %.4g %.4g mm; %s",
                 FLR_SAFE(stage->parts.list[o->part_a].name),
                 FLR_SAFE(stage->parts.list[o->part_b].name), deep, 1e3 * o->point.x,
                 1e3 * o->point.y, 1e3 * o->point.z,
                 o->depth > limit   ? "that is more than --overlap tolerates"
                 : o->tolerated > 0 ? "they have not come free"
                                    : "they have come free");
    }
}

static json_t *overlaps_json(const flr_stage *stage)
{
    uint32_t count;
    const flr_world_overlap *list = flr_world_overlaps(stage->world, &count);
    json_t *all = flr_json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *o = flr_json_object(), *parts = flr_json_array();
        flr_json_push(parts, flr_json_text(stage->parts.list[list[i].part_a].name));
        flr_json_push(parts, flr_json_text(stage->parts.list[list[i].part_b].name));
        flr_json_set(o, "parts", parts);
        flr_json_set(o, "depth", flr_json_number(list[i].depth));
        flr_json_set(o, "tolerated", flr_json_number(list[i].tolerated));
        flr_json_set(o, "point", flr_json_vec3(list[i].point));
        flr_json_push(all, o);
    }
    return all;
}

void flr_run_print(flr_cli *cli, const flr_stage *stage, uint32_t part, double rate,
                   const flr_run_result *r)
{
    bool point = part >= stage->parts.count;
    flr_print(cli, "%s%s%s: %llu %s at %g Hz, %.3g s of motion\n", flr_bold(cli),
              point ? "a point" : FLR_SAFE(stage->parts.list[part].name), flr_plain(cli),
              (unsigned long long)r->frames, flr_noun(r->frames, "frame", "frames"), rate,
              (double)r->frames / rate);
    flr_print(cli, "  %-22s %10s %10s %10s %10s\n", "", "median", "p99", "p99.9", "max");
    print_percentiles(cli, "frame, us", &r->loop.compute, 1e-3);
    if (r->loop.wakeup.count) print_percentiles(cli, "late, us", &r->loop.wakeup, 1e-3);
    print_percentiles(cli, "points tested", &r->points, 1);
    if (r->loop.overruns || r->loop.skipped)
        flr_print(cli, "  %llu %s took longer than a period; %llu %s left out\n",
                  (unsigned long long)r->loop.overruns,
                  flr_noun(r->loop.overruns, "frame", "frames"),
                  (unsigned long long)r->loop.skipped,
                  flr_noun(r->loop.skipped, "period was", "periods were"));
    if (r->loop.served)
        flr_print(cli,
                  "  the device was served %llu times from local models, %llu of them between two "
                  "steps\n",
                  (unsigned long long)r->loop.served, (unsigned long long)r->loop.stretched);
    if (r->loop.page_faults)
        flr_print(cli, "  %llu page %s of the loop\n", (unsigned long long)r->loop.page_faults,
                  flr_noun(r->loop.page_faults, "fault", "faults"));
    if (point)
        flr_print(cli,
                  "  the point touched in %llu %s, the hand at most %.4g mm deep; %.3g segments a "
                  "frame\n",
                  (unsigned long long)r->touching_frames,
                  flr_noun(r->touching_frames, "frame", "frames"), r->max_depth * 1e3,
                  r->frames ? (double)r->segments / (double)r->frames : 0);
    const bool exact = flr_world_get_params(stage->world)->engine == FLR_ENGINE_EXACT;
    unsigned layer = flr_world_get_params(stage->world)->contact.force_layer;
    if (!point || r->contact_frames) {
        flr_print(cli, "  contact in %llu %s, at most %u at once; potential penetration in %llu",
                  (unsigned long long)r->contact_frames,
                  flr_noun(r->contact_frames, "frame", "frames"), r->most_contacts,
                  (unsigned long long)r->penetration_frames);
        if (exact)
            flr_print(cli, "\n");
        else if (layer < 2)
            flr_print(cli, ", as every contact is with force layer %u\n", layer);
        else
            flr_print(cli, " (ratio %.2g)\n", ratio(r));
    }
    if (exact && isfinite(r->upper))
        print_clearance(cli, r);
    else if (isfinite(r->upper))
        flr_print(cli, "  least distance between %.4g and %.4g mm\n", r->lower * 1e3,
                  r->upper * 1e3);
    flr_print(cli, "  the way was not free in %llu %s, limited in %llu\n",
              (unsigned long long)r->stopped_frames, flr_noun(r->stopped_frames, "frame", "frames"),
              (unsigned long long)r->limited_frames);
    if (isfinite(r->least_travel))
        flr_print(cli,
                  "  queues: at most %u points and chunks; strictest travel limit %.4g mm; %llu %s "
                  "needed more tests than there was time for\n",
                  r->most_queued, r->least_travel * 1e3, (unsigned long long)r->late_frames,
                  flr_noun(r->late_frames, "frame", "frames"));
    flr_print(cli, "  device: at most %.3g N and %.3g N m; hand put in %.3g J, got %.3g J\n",
              r->max_force, r->max_torque, r->put, r->got);
    if (r->faulty_frames || r->guard_trips)
        flr_print(cli, "  %sfaults in %llu %s; the guard faded the force %llu %s%s\n", flr_red(cli),
                  (unsigned long long)r->faulty_frames,
                  flr_noun(r->faulty_frames, "frame", "frames"), (unsigned long long)r->guard_trips,
                  flr_noun(r->guard_trips, "time", "times"), flr_plain(cli));
    if (r->pager.slots) {
        flr_print(cli,
                  "  memory: %.1f MB for voxels, %.1f MB of them in use, of %.1f MB in the file; "
                  "beside it %.1f MB of directory\n",
                  (double)r->pager.slots * FLR_PAGER_BLOCK * 1e-6,
                  (double)r->pager.resident * FLR_PAGER_BLOCK * 1e-6,
                  (double)r->pager.blocks * FLR_PAGER_BLOCK * 1e-6,
                  (double)r->pager.directory * 1e-6);
        flr_print(cli,
                  "  paged: %.1f MB read, %.4g %% there in time; waited %llu %s, at most %.3g ms\n",
                  (double)r->pager.bytes_read * 1e-6, 100 * flr_pager_hit_rate(&r->pager),
                  (unsigned long long)r->waits.count, flr_noun(r->waits.count, "time", "times"),
                  r->waits.longest * 1e3);
    }
    if (r->lost)
        flr_warn(cli,
                 "%llu %s did not get into the recording: the disk or the machine was too busy",
                 (unsigned long long)r->lost, flr_noun(r->lost, "frame", "frames"));
    flr_print(cli, "  hash %s\n", FLR_HASH_TEXT(r->hash));
}

/* ---- JSON ---- */

static json_t *percentiles_json(const flr_percentiles *p, double scale)
{
    json_t *object = flr_json_object();
    flr_json_set(object, "p50", flr_json_number((double)p->p50 * scale));
    flr_json_set(object, "p99", flr_json_number((double)p->p99 * scale));
    flr_json_set(object, "p999", flr_json_number((double)p->p999 * scale));
    flr_json_set(object, "max", flr_json_number((double)p->max * scale));
    flr_json_set(object, "mean", flr_json_number(p->mean * scale));
    return object;
}

static json_t *worst_json(const flr_loop_worst *w)
{
    json_t *object = flr_json_object();
    flr_json_set(object, "frame", flr_json_count(w->number));
    flr_json_set(object, "late_us", flr_json_number(us((uint64_t)w->late_ns)));
    flr_json_set(object, "step_us", flr_json_number(us((uint64_t)w->step_ns)));
    flr_json_set(object, "points_tested", flr_json_count(w->notes[0]));
    flr_json_set(object, "contacts", flr_json_count(w->notes[1]));
    return object;
}

static json_t *paging_json(const flr_run_result *r)
{
    const flr_pager_stats *p = &r->pager;
    json_t *o = flr_json_object();
    flr_json_set(o, "hit_rate", flr_json_number(flr_pager_hit_rate(p)));
    flr_json_set(o, "bytes_read", flr_json_count(p->bytes_read));
    flr_json_set(o, "resident_bytes", flr_json_count((uint64_t)p->resident * FLR_PAGER_BLOCK));
    flr_json_set(o, "slots_bytes", flr_json_count((uint64_t)p->slots * FLR_PAGER_BLOCK));
    flr_json_set(o, "directory_bytes", flr_json_count(p->directory));
    flr_json_set(o, "file_bytes", flr_json_count(p->blocks * FLR_PAGER_BLOCK));
    flr_json_set(o, "evicted_blocks", flr_json_count(p->evicted));
    flr_json_set(o, "failures", flr_json_count(p->failures));
    flr_json_set(o, "slowest_read_s", flr_json_number(1e-9 * (double)p->slowest_ns));
    flr_json_set(o, "reads", flr_json_text(p->at_once ? "io_uring" : "pread"));
    flr_json_set(o, "load_s", flr_json_number(r->load_seconds));
    flr_json_set(o, "suspended_steps", flr_json_count(r->waits.steps));
    flr_json_set(o, "suspensions", flr_json_count(r->waits.count));
    flr_json_set(o, "longest_s", flr_json_number(r->waits.longest));
    flr_json_set(o, "suspended_s", flr_json_number(r->waits.total));
    return o;
}

json_t *flr_run_json(const flr_stage *stage, uint32_t part, double rate, const flr_run_result *r)
{
    json_t *o = flr_json_object();
    bool point = part >= stage->parts.count;
    flr_json_set(o, "tool", flr_json_text(flr_scene_tools[point ? FLR_TOOL_POINT : FLR_TOOL_GRIP]));
    flr_json_set(o, "part", point ? json_null() : flr_json_text(stage->parts.list[part].name));
    if (point) {
        flr_json_set(o, "touching_frames", flr_json_count(r->touching_frames));
        flr_json_set(o, "pinched_frames", flr_json_count(r->pinched_frames));
        flr_json_set(o, "segments", flr_json_count(r->segments));
        flr_json_set(o, "max_depth", flr_json_number(r->max_depth));
    }
    flr_json_set(o, "rate", flr_json_number(rate));
    flr_json_set(o, "frames", flr_json_count(r->frames));
    flr_json_set(o, "compute_us", percentiles_json(&r->loop.compute, 1e-3));
    flr_json_set(o, "step_us", percentiles_json(&r->step_ns, 1e-3));
    flr_json_set(o, "wakeup_us", percentiles_json(&r->loop.wakeup, 1e-3));
    flr_json_set(o, "overruns", flr_json_count(r->loop.overruns));
    flr_json_set(o, "skipped", flr_json_count(r->loop.skipped));
    flr_json_set(o, "served", flr_json_count(r->loop.served));
    flr_json_set(o, "stretched", flr_json_count(r->loop.stretched));
    flr_json_set(o, "page_faults", flr_json_count(r->loop.page_faults));
    flr_json_set(o, "worst", worst_json(&r->loop.worst));
    flr_json_set(o, "points_tested", percentiles_json(&r->points, 1));
    flr_json_set(o, "travel_limited_frames", flr_json_count(r->limited_frames));
    if (isfinite(r->least_travel)) {
        flr_json_set(o, "most_queued", flr_json_count(r->most_queued));
        flr_json_set(o, "late_frames", flr_json_count(r->late_frames));
        flr_json_set(o, "least_travel", flr_json_number(r->least_travel));
    }
    flr_json_set(o, "stopped_frames", flr_json_count(r->stopped_frames));
    flr_json_set(o, "contact_frames", flr_json_count(r->contact_frames));
    flr_json_set(o, "penetration_frames", flr_json_count(r->penetration_frames));
    flr_json_set(o, "contacts", flr_json_count(r->contacts));
    flr_json_set(o, "most_contacts", flr_json_count(r->most_contacts));
    flr_json_set(o, "penetrations", flr_json_count(r->penetrations));
    flr_json_set(o, "penetration_ratio", flr_json_number(ratio(r)));
    json_t *distance = flr_json_object();
    flr_json_set(distance, "lower", flr_json_number(r->lower));
    flr_json_set(distance, "upper", flr_json_number(r->upper));
    flr_json_set(o, "distance", distance);
    flr_json_set(o, "overlaps", overlaps_json(stage));
    flr_json_set(o, "max_force", flr_json_number(r->max_force));
    flr_json_set(o, "max_torque", flr_json_number(r->max_torque));
    flr_json_set(o, "energy", flr_json_number(r->energy));
    flr_json_set(o, "max_energy", flr_json_number(r->max_energy));
    flr_json_set(o, "port_put", flr_json_number(r->put));
    flr_json_set(o, "port_got", flr_json_number(r->got));
    flr_json_set(o, "port_deficit", flr_json_number(r->deficit));
    flr_json_set(o, "port_bound", flr_json_number(r->bound));
    flr_json_set(o, "port_agility", flr_json_number(r->agility));
    flr_json_set(o, "port_turn_agility", flr_json_number(r->turn_agility));
    flr_json_set(o, "faulty_frames", flr_json_count(r->faulty_frames));
    flr_json_set(o, "guard_trips", flr_json_count(r->guard_trips));
    flr_json_set(o, "lost_frames", flr_json_count(r->lost));
    flr_json_set(o, "first_frame", flr_json_count(r->first));
    flr_json_set(o, "paging", r->pager.slots ? paging_json(r) : json_null());
    flr_json_set(o, "hash", flr_json_text(FLR_HASH_TEXT(r->hash)));
    return o;
}

flr_result flr_run_write_poses(const flr_run_poses *of, flr_output *out, uint64_t frames,
                               flr_error *error)
{
    flr_result result =
        flr_output_print(out, error, "# t x y z qw qx qy qz, in units of %g m\n", of->unit);
    uint32_t number = 0;
    for (uint32_t i = 0; i < of->stage->parts.count && result == FLR_OK; i++) {
        if (!flr_stage_moves(of->stage, i)) continue;
        if (of->moving > 1)
            result = flr_output_print(out, error, "# part %s\n",
                                      FLR_SAFE(of->stage->parts.list[i].name));
        for (uint64_t k = 0; k < frames && result == FLR_OK; k++) {
            flr_pose T = of->poses[k * of->moving + number];
            result =
                flr_output_print(out, error, "%.9g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
                                 (double)k / of->rate, T.p.x / of->unit, T.p.y / of->unit,
                                 T.p.z / of->unit, T.q.w, T.q.x, T.q.y, T.q.z);
        }
        number++;
    }
    return result;
}
