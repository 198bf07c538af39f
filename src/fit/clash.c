/* all pairs of an assembly: boxes first, then triangles */
#include "feeler/clash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "fit/clash_facets.h"
#include "fit/clash_order.h"

enum {
    CLASH_CONTACTS = 4096, /* samples of an overlap that are looked at */
    GRID = 16,             /* points along the longest side of the box in which two parts overlap */
    ENOUGH_POINTS = 60,    /* of the grid, in both parts: then they give the volume */
    COARSE_GRID = 5,       /* points along each side of that box, for a first look */
    GRIDS = 4,             /* at most, one finer than the other, until there are enough points */
    COINCIDENT_TESTS = 128 /* triangles of each part that are compared with the other's surface */
};

/* For parts of 10 mm or more. Of a smaller one a share of its size counts, so that a gap as wide as the part is no contact. */
#define MAX_TOUCH   1e-5
#define TOUCH_SHARE 1e-3

flr_clash_def flr_default_clash_def(void) { return (flr_clash_def){.touch = -1}; }

double flr_clash_touch(const flr_fit *part)
{
    return fmin(MAX_TOUCH,
                TOUCH_SHARE * flr_vec3_length(flr_box3_size(flr_fit_get_info(part).bounds)));
}

static double touch_of(const flr_clash_def *def, uint32_t a, uint32_t b)
{
    if (def->touch >= 0) return def->touch;
    return fmin(flr_clash_touch(def->parts[a].fit), flr_clash_touch(def->parts[b].fit));
}

/* of the smallest parts, and of the two largest */
static void touch_range(const flr_clash_def *def, double *least, double *most)
{
    double largest = 0;
    *least = def->touch >= 0 ? def->touch : def->part_count ? MAX_TOUCH : 0;
    *most = def->touch >= 0 ? def->touch : 0;
    for (uint32_t i = 0; def->touch < 0 && i < def->part_count; i++) {
        const double own = flr_clash_touch(def->parts[i].fit);
        *least = fmin(*least, own);
        *most = fmax(*most, fmin(own, largest));
        largest = fmax(largest, own);
    }
    *most = fmax(*most, *least);
}

const char *flr_clash_state_name(flr_clash_state state)
{
    static const char *const names[] = {"ok", "near", "contact", "overlap"};
    return names[state];
}

void flr_clash_list_free(flr_clash_list *list)
{
    free(list->pairs);
    *list = (flr_clash_list){0};
}

/* ---- boxes ---- */

typedef struct boxed {
    flr_box3 box; /* world, grown by half of the reach */
    uint32_t part;
} boxed;

static int by_low(const void *a, const void *b)
{
    const boxed *one = a, *other = b;
    if (one->box.low.x != other->box.low.x) return one->box.low.x < other->box.low.x ? -1 : 1;
    return one->part < other->part ? -1 : 1;
}

/* pairs whose boxes meet */
typedef struct candidates {
    flr_clash_pair *pairs;
    size_t count, room;
} candidates;

static bool add_candidate(candidates *c, uint32_t a, uint32_t b)
{
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 256;
        flr_clash_pair *pairs = realloc(c->pairs, room * sizeof *pairs);
        if (!pairs) return false;
        c->pairs = pairs;
        c->room = room;
    }
    c->pairs[c->count++] = (flr_clash_pair){.a = a < b ? a : b, .b = a < b ? b : a};
    return true;
}

static bool are_zones(const flr_clash_def *def, uint32_t a, uint32_t b)
{
    return def->parts[a].keep_out && def->parts[b].keep_out;
}

static bool boxes_meet(const flr_box3 *a, const flr_box3 *b)
{
    return a->low.y <= b->high.y && b->low.y <= a->high.y && a->low.z <= b->high.z &&
           b->low.z <= a->high.z;
}

/* sweeps along x */
static flr_result find_candidates(const flr_clash_def *def, candidates *c, uint64_t *skipped)
{
    boxed *boxes = calloc(def->part_count + 1u, sizeof *boxes);
    if (!boxes) return FLR_NO_MEMORY;
    double least, most;
    touch_range(def, &least, &most);
    double grow = fmax(def->clearance, most) * 0.5 * (1 + 1e-9);
    for (uint32_t i = 0; i < def->part_count; i++) {
        flr_box3 box = flr_box3_transform(def->parts[i].T_world_part,
                                          flr_fit_get_info(def->parts[i].fit).bounds);
        double rounding = 1e-12 * flr_vec3_length(flr_box3_size(box));
        boxes[i] = (boxed){flr_box3_grow(box, grow + rounding), i};
    }
    qsort(boxes, def->part_count, sizeof *boxes, by_low);
    bool ok = true;
    for (uint32_t i = 0; i < def->part_count && ok; i++)
        for (uint32_t k = i + 1; k < def->part_count && ok; k++) {
            if (boxes[k].box.low.x > boxes[i].box.high.x) break;
            if (are_zones(def, boxes[i].part, boxes[k].part)) continue;
            if (boxes_meet(&boxes[i].box, &boxes[k].box))
                ok = add_candidate(c, boxes[i].part, boxes[k].part);
        }
    free(boxes);
    if (!ok) return FLR_NO_MEMORY;
    // what is allowed is left out before it is measured
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (def->skip && def->skip(def->skip_context, c->pairs[i].a, c->pairs[i].b))
            ++*skipped;
        else
            c->pairs[kept++] = c->pairs[i];
    }
    c->count = kept;
    return FLR_OK;
}

/* ---- one pair ---- */

/* how far the corners of a triangle reach to the lesser side of the plane of another */
static double crossing(const flr_vec3 plane[3], const flr_vec3 corners[3])
{
    flr_vec3 n = flr_vec3_cross(flr_vec3_sub(plane[1], plane[0]), flr_vec3_sub(plane[2], plane[0]));
    double length = flr_vec3_length(n), above = 0, below = 0;
    if (!(length > 0)) return 0;
    for (int i = 0; i < 3; i++) {
        double side = flr_vec3_dot(n, flr_vec3_sub(corners[i], plane[0])) / length;
        above = fmax(above, side);
        below = fmax(below, -side);
    }
    return fmin(above, below);
}

/* Surfaces that meet although no sample is inside: do the triangles that meet pass through each other? */
static double crossing_depth(const flr_fit *a, const flr_fit *b, flr_pose T_a_b,
                             const flr_fit_result *r)
{
    flr_vec3 one[3], other[3];
    flr_fit_triangle(a, r->triangle[0], one);
    flr_fit_triangle(b, r->triangle[1], other);
    for (int i = 0; i < 3; i++) other[i] = flr_pose_apply(T_a_b, other[i]);
    return fmin(crossing(one, other), crossing(other, one));
}

/* How deep a point is in both parts. */
static double depth_in_both(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, flr_vec3 p)
{
    flr_vec3 q = flr_pose_apply_inverse(T_a_b, p);
    if (!flr_fit_inside(a, p) || !flr_fit_inside(b, q)) return 0;
    return fmin(-flr_fit_point(a, p, INFINITY).distance, -flr_fit_point(b, q, INFINITY).distance);
}

/* Is a point of a coarse grid deeper in both than samples of the surfaces are in each other? So it is where
 * a part stands almost in the other's place. */
static bool deeper_inside(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double depth,
                          flr_box3 box)
{
    flr_vec3 cell = flr_vec3_scale(flr_vec3_sub(box.high, box.low), 1.0 / COARSE_GRID);
    for (int i = 0; i < COARSE_GRID * COARSE_GRID * COARSE_GRID; i++) {
        int x = i % COARSE_GRID, y = i / COARSE_GRID % COARSE_GRID,
            z = i / COARSE_GRID / COARSE_GRID;
        flr_vec3 p = {box.low.x + (x + 0.5) * cell.x, box.low.y + (y + 0.5) * cell.y,
                      box.low.z + (z + 0.5) * cell.z};
        if (depth_in_both(a, b, T_a_b, p) > 2 * depth) return true;
    }
    return false;
}

/* What a grid of points in the common box finds. */
typedef struct grid_result {
    uint32_t inside; /* points in both */
    double volume, depth, step;
    flr_box3 cells; /* of the points in both, and their neighbours */
} grid_result;

/* Not worth it for an overlap that is far less deep than the grid is fine. */
static grid_result measure_box(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double depth,
                               flr_box3 box)
{
    grid_result found = {.cells = flr_box3_empty()};
    flr_vec3 size = flr_vec3_sub(box.high, box.low);
    double step = fmax(size.x, fmax(size.y, size.z)) / GRID;
    if (!(size.x > 0 && size.y > 0 && size.z > 0)) return found;
    int n[3] = {(int)ceil(size.x / step), (int)ceil(size.y / step), (int)ceil(size.z / step)};
    // a thin box is cut across, too
    for (int i = 0; i < 3; i++) n[i] = n[i] < 4 ? 4 : n[i];
    flr_vec3 cell = {size.x / n[0], size.y / n[1], size.z / n[2]};
    found.step = fmin(cell.x, fmin(cell.y, cell.z));
    if (depth < 0.25 * found.step && !deeper_inside(a, b, T_a_b, depth, box)) return found;
    for (int x = 0; x < n[0]; x++)
        for (int y = 0; y < n[1]; y++)
            for (int z = 0; z < n[2]; z++) {
                flr_vec3 p = {box.low.x + (x + 0.5) * cell.x, box.low.y + (y + 0.5) * cell.y,
                              box.low.z + (z + 0.5) * cell.z};
                if (!flr_fit_inside(a, p)) continue;
                flr_vec3 q = flr_pose_apply_inverse(T_a_b, p);
                if (!flr_fit_inside(b, q)) continue;
                found.inside++;
                found.cells.low = flr_vec3_min(found.cells.low, flr_vec3_sub(p, cell));
                found.cells.high = flr_vec3_max(found.cells.high, flr_vec3_add(p, cell));
                double in_a = flr_fit_point(a, p, INFINITY).distance;
                double in_b = flr_fit_point(b, q, INFINITY).distance;
                found.depth = fmax(found.depth, fmin(-in_a, -in_b));
            }
    found.volume = found.inside * cell.x * cell.y * cell.z;
    return found;
}

/* Where few points of the common box are in both parts, a finer grid around these is asked. */
static grid_result measure_grid(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double depth)
{
    flr_box3 box = flr_fit_get_info(a).bounds;
    flr_box3 other = flr_box3_transform(T_a_b, flr_fit_get_info(b).bounds);
    box.low = flr_vec3_max(box.low, other.low);
    box.high = flr_vec3_min(box.high, other.high);
    grid_result found = measure_box(a, b, T_a_b, depth, box);
    for (int i = 1; i < GRIDS && found.inside && found.inside < ENOUGH_POINTS; i++) {
        if (!(depth > found.step)) break;
        box.low = flr_vec3_max(box.low, found.cells.low);
        box.high = flr_vec3_min(box.high, found.cells.high);
        grid_result finer = measure_box(a, b, T_a_b, depth, box);
        finer.depth = fmax(finer.depth, found.depth);
        found = finer;
    }
    return found;
}

/* Of a thin overlap: depth times area, the mean of both sides. */
static double slab_volume(const flr_fit_contact *contacts, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        if (contacts[i].distance < 0) sum += -contacts[i].distance * contacts[i].area;
    return sum / 2;
}

static void judge_overlap(const flr_fit *a, const flr_fit *b, flr_pose T_a_b,
                          const flr_fit_contact *contacts, uint32_t count, flr_clash_pair *pair)
{
    double slab = slab_volume(contacts, count);
    grid_result grid = measure_grid(a, b, T_a_b, slab > 0 ? pair->depth : INFINITY);
    pair->depth = fmax(pair->depth, grid.depth);
    // a grid coarser than the overlap is deep says nothing about it
    bool fine = grid.inside >= ENOUGH_POINTS && pair->depth > grid.step;
    pair->volume = fine ? grid.volume : slab > 0 ? slab : grid.volume;
}

/* Parts of which one stands in the other's place: their surfaces coincide, so none is inside the other,
 * but what is below the triangles of one is inside both. */
static double coincident_depth(const flr_fit *a, const flr_fit *b, flr_pose T_a_b, double touch)
{
    uint32_t count = flr_fit_get_info(a).triangles;
    uint32_t tests = count < COINCIDENT_TESTS ? count : COINCIDENT_TESTS;
    double below = 2 * touch + 1e-6 * flr_fit_get_info(a).size, deepest = 0;
    for (uint32_t i = 0; i < tests; i++) {
        flr_vec3 t[3];
        flr_fit_triangle(a, (uint32_t)((uint64_t)i * count / tests), t);
        flr_vec3 n = flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0]));
        double length = flr_vec3_length(n);
        flr_vec3 middle = flr_vec3_scale(flr_vec3_add(t[0], flr_vec3_add(t[1], t[2])), 1.0 / 3);
        double reach = touch + 1e-12 * flr_fit_get_info(a).size;
        if (!(length > 0)) continue;
        if (!flr_fit_point(b, flr_pose_apply_inverse(T_a_b, middle), reach).found) continue;
        flr_vec3 step = flr_vec3_scale(n, below / length);
        deepest = fmax(deepest, depth_in_both(a, b, T_a_b, flr_vec3_sub(middle, step)));
        deepest = fmax(deepest, depth_in_both(a, b, T_a_b, flr_vec3_add(middle, step)));
    }
    return deepest;
}

static void judge(double clearance, const flr_fit *a, const flr_fit *b, flr_pose T_a_b,
                  const flr_fit_result *r, const flr_fit_contact *contacts, flr_clash_pair *pair)
{
    const double touch = pair->touch;
    bool meet = r->meet || r->distance <= 0;
    pair->distance = r->distance > 0 ? r->distance : 0;
    pair->error = r->found ? fmax(0, r->upper - r->distance) : 0;
    pair->depth = r->distance < 0 ? -r->distance : 0;
    if (r->meet && pair->depth <= touch)
        pair->depth = fmax(pair->depth, crossing_depth(a, b, T_a_b, r));
    if ((meet || pair->distance <= touch) && pair->depth <= touch)
        pair->depth =
            fmax(pair->depth, fmax(coincident_depth(a, b, T_a_b, touch),
                                   coincident_depth(b, a, flr_pose_inverse(T_a_b), touch)));
    if (pair->depth > touch) {
        pair->distance = 0;
        pair->state = FLR_CLASH_OVERLAP;
        judge_overlap(a, b, T_a_b, contacts, r->contact_count, pair);
    } else if (meet || pair->distance <= touch) {
        pair->state = FLR_CLASH_CONTACT;
        pair->depth = 0;
    } else {
        pair->state = pair->distance < clearance ? FLR_CLASH_NEAR : FLR_CLASH_OK;
    }
}

/* One part may be in the other as a whole, with surfaces far apart. */
static bool one_in_other(const flr_fit *a, const flr_fit *b, flr_pose T_a_b)
{
    flr_vec3 of_a[3], of_b[3];
    flr_fit_triangle(a, 0, of_a);
    flr_fit_triangle(b, 0, of_b);
    return flr_fit_inside(a, flr_pose_apply(T_a_b, of_b[0])) ||
           flr_fit_inside(b, flr_pose_apply_inverse(T_a_b, of_a[0]));
}

typedef struct clash_job {
    const flr_clash_def *def;
    flr_clash_pair *pairs;
    size_t pair_count;
    flr_fit_contact *contacts; /* [workers][CLASH_CONTACTS] */
} clash_job;

static flr_result measure(void *context, size_t piece, unsigned worker)
{
    clash_job *j = context;
    flr_clash_pair *pair = &j->pairs[piece];
    const flr_clash_part *one = &j->def->parts[pair->a], *other = &j->def->parts[pair->b];
    flr_fit_contact *contacts = j->contacts + (size_t)worker * CLASH_CONTACTS;
    flr_pose T_a_b = flr_pose_mul(flr_pose_inverse(one->T_world_part), other->T_world_part);
    flr_fit_pair *query;
    flr_error error;
    /* the calling thread is worker 0 */
    if (worker == 0 && j->def->progress &&
        !j->def->progress(j->def->progress_context, (double)piece / (double)j->pair_count))
        return FLR_CANCELLED;
    flr_result result = flr_fit_pair_create(one->fit, other->fit, &query, &error);
    if (result != FLR_OK) return result;
    flr_fit_params params = flr_default_fit_params();
    flr_fit_result r;
    pair->touch = touch_of(j->def, pair->a, pair->b);
    params.max_distance = fmax(j->def->clearance, pair->touch) * (1 + 1e-9);
    if (one_in_other(one->fit, other->fit, T_a_b)) params.max_distance = INFINITY;
    flr_fit_pair_query(query, T_a_b, &params, contacts, CLASH_CONTACTS, &r);
    flr_fit_pair_destroy(query);
    if (r.found || r.meet) {
        judge(j->def->clearance, one->fit, other->fit, T_a_b, &r, contacts, pair);
        for (int i = 0; i < 2; i++) pair->point[i] = flr_pose_apply(one->T_world_part, r.point[i]);
        pair->at = flr_vec3_scale(flr_vec3_add(pair->point[0], pair->point[1]), 0.5);
    } else {
        pair->state = FLR_CLASH_OK;
        pair->distance = INFINITY;
    }
    // what is beside a zone is where it may be
    if ((one->keep_out || other->keep_out) && pair->state != FLR_CLASH_OVERLAP)
        pair->state = FLR_CLASH_OK;
    return FLR_OK;
}

/* ---- all ---- */

flr_result flr_clash_find(const flr_clash_def *def, flr_clash_list *list, flr_error *error)
{
    if (!(def->clearance >= 0 && isfinite(def->clearance) && isfinite(def->touch)))
        return flr_fail(error, FLR_BAD_ARGUMENT, "a clearance is a length of 0 or more");
    candidates c = {0};
    uint64_t skipped = 0;
    clash_job job = {.def = def};
    flr_result result = find_candidates(def, &c, &skipped);
    job.contacts =
        malloc(flr_parallel_threads(def->threads) * CLASH_CONTACTS * sizeof *job.contacts);
    if (!job.contacts) result = FLR_NO_MEMORY;
    job.pairs = c.pairs;
    job.pair_count = c.count;
    if (result == FLR_OK) result = flr_parallel_for(def->threads, c.count, measure, &job);
    free(job.contacts);
    if (result == FLR_OK) result = flr_clash_explain(def, c.pairs, c.count);
    if (result != FLR_OK) {
        free(c.pairs);
        if (result == FLR_CANCELLED) return flr_fail(error, result, "cancelled");
        return flr_fail(error, result, "no memory to check %u parts", def->part_count);
    }
    size_t kept = 0;
    for (size_t i = 0; i < c.count; i++)
        if (c.pairs[i].state != FLR_CLASH_OK || def->all) c.pairs[kept++] = c.pairs[i];
    if (kept) qsort(c.pairs, kept, sizeof *c.pairs, flr_clash_by_severity);
    uint64_t all = (uint64_t)def->part_count * (def->part_count - (def->part_count > 0)) / 2;
    *list = (flr_clash_list){.pairs = c.pairs,
                             .pair_count = kept,
                             .checked = all - skipped,
                             .measured = c.count,
                             .skipped = skipped};
    touch_range(def, &list->least_touch, &list->most_touch);
    return FLR_OK;
}
