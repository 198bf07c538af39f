/* the descent: both trees, level by level */
#include "spheres/descend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/point.h"

flr_spheres_def flr_default_spheres_def(void)
{
    return (flr_spheres_def){.pairs = 65536, .listed = 8192, .threads = 1};
}

flr_spheres_params flr_default_spheres_params(void)
{
    return (flr_spheres_params){.one_child = true, .side = true};
}

/* ---- making ---- */

static uint32_t block_count(uint32_t pairs)
{
    return pairs / FLR_SPHERES_BLOCK + (pairs % FLR_SPHERES_BLOCK != 0);
}

static uint32_t block_end(uint32_t block, uint32_t count)
{
    uint64_t end = ((uint64_t)block + 1) * FLR_SPHERES_BLOCK;
    return end < count ? (uint32_t)end : count;
}

/* Pairs of the blocks behind each other, as if one thread had found them all. */
static void collect(flr_spheres *s, uint32_t item)
{
    const flr_spheres_block *block = &s->blocks[item];
    memcpy(s->next + block->to, s->workers[block->worker].out + block->start,
           block->count * sizeof *s->next);
}

static void work(void *context, uint32_t item, unsigned number)
{
    flr_spheres *s = context;
    const uint32_t from = item * FLR_SPHERES_BLOCK, to = block_end(item, s->count);
    if (s->stage == FLR_SPHERES_TELL) {
        flr_spheres_tell(s, from, to < s->listed ? to : s->listed);
    } else if (s->stage == FLR_SPHERES_COLLECT) {
        collect(s, item);
    } else {
        flr_spheres_worker *worker = &s->workers[number];
        flr_spheres_block *block = &s->blocks[item];
        *block = (flr_spheres_block){.worker = number, .start = worker->used};
        worker->full |= !flr_spheres_expand(s, from, to, worker);
        block->count = worker->used - block->start;
    }
}

static bool make_room(flr_spheres *s)
{
    const flr_spheres_def *def = &s->def;
    s->pairs = malloc(def->pairs * sizeof *s->pairs);
    s->next = malloc(def->pairs * sizeof *s->next);
    s->list = malloc((def->listed + 1u) * sizeof *s->list);
    s->workers = calloc(def->threads, sizeof *s->workers);
    if (!s->pairs || !s->next || !s->list || !s->workers) return false;
    if (def->threads == 1) return true;
    s->blocks = malloc(block_count(def->pairs) * sizeof *s->blocks);
    bool ok = s->blocks;
    for (unsigned i = 0; i < def->threads && ok; i++)
        ok = (s->workers[i].out = malloc(def->pairs * sizeof *s->pairs)) != NULL;
    return ok;
}

flr_result flr_spheres_create(const flr_spheres_def *def, flr_spheres **spheres, flr_error *error)
{
    if (def->pairs == 0 || def->listed == UINT32_MAX || def->threads == 0 || def->threads > 1024)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "sphere queries need room for pairs and 1 to 1024 threads, not %u and %u",
                        def->pairs, def->threads);
    flr_spheres *s = calloc(1, sizeof *s);
    if (s) s->def = *def;
    if (!s || !make_room(s)) {
        flr_spheres_destroy(s);
        return flr_fail(error, FLR_NO_MEMORY,
                        "not enough memory for %u pairs of cubes; ask for fewer", def->pairs);
    }
    flr_enclose_fill(&s->enclose);
    if (def->threads > 1) {
        flr_result result = flr_worker_pool_create(def->threads - 1, work, s, &s->pool, error);
        if (result != FLR_OK) {
            flr_spheres_destroy(s);
            return result;
        }
    }
    *spheres = s;
    return FLR_OK;
}

void flr_spheres_destroy(flr_spheres *s)
{
    if (!s) return;
    flr_worker_pool_destroy(s->pool);
    for (unsigned i = 0; s->workers && s->def.threads > 1 && i < s->def.threads; i++)
        free(s->workers[i].out);
    free(s->pairs);
    free(s->next);
    free(s->list);
    free(s->workers);
    free(s->blocks);
    free(s);
}

/* ---- asking ---- */

/* The axes at right angles to which two voxels may be parted. Both cubes are always turned the same way against each
 * other, so that how far they reach along an axis is known before. */
static void set_axes(flr_spheres_frame *f)
{
    /* columns of `turn` are a's axes, one voxel of a long; b's are of unit length */
    double axes[15][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) axes[3 + i][k] = f->turn[k][i] / f->ratio;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            flr_vec3 c =
                flr_vec3_cross(flr_vec3_make(axes[3 + i][0], axes[3 + i][1], axes[3 + i][2]),
                               flr_vec3_make(k == 0, k == 1, k == 2));
            double *axis = axes[6 + 3 * i + k];
            axis[0] = c.x, axis[1] = c.y, axis[2] = c.z;
        }
    for (int n = 0; n < 15; n++) {
        double reach = 0;
        for (int i = 0; i < 3; i++)
            reach += 0.5 * fabs(axes[n][i]) +
                     0.5 * fabs(axes[n][0] * f->turn[0][i] + axes[n][1] * f->turn[1][i] +
                                axes[n][2] * f->turn[2][i]);
        f->reach[n] = reach + 1e-9;
        for (int i = 0; i < 3 && n >= 3; i++) f->axes[i][n - 3] = axes[n][i];
    }
}

/* A direction of a side's grid in b's. */
static void turned(const flr_spheres_frame *f, int side, const double v[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = side ? v[i] : f->turn[i][0] * v[0] + f->turn[i][1] * v[1] + f->turn[i][2] * v[2];
}

/* What is the same for all cubes: where children lie, the octree's spheres. */
static void turn_tables(flr_spheres_frame *f, const flr_enclose *enclose)
{
    for (int side = 0; side < 2; side++) {
        if (f->trees[side]->shift != 1) continue;
        double to[3];
        for (int i = 0; i < 8; i++) {
            const double middle[3] = {(i & 1) + 0.5, (i >> 1 & 1) + 0.5, (i >> 2) + 0.5};
            turned(f, side, middle, to);
            for (int k = 0; k < 3; k++) f->children[side][k][i] = to[k];
        }
        for (int i = 0; i < 256; i++) {
            const flr_ball *ball = f->side ? &enclose->balls[i] : &enclose->balls[255];
            const double centre[3] = {ball->x, ball->y, ball->z};
            turned(f, side, centre, to);
            f->balls[side][i] = (flr_ball){to[0], to[1], to[2], ball->r * (side ? 1 : f->ratio)};
        }
    }
}

/* False when nothing can touch. */
static bool begin(flr_spheres *s, const flr_spheres_side *a, const flr_spheres_side *b,
                  const flr_spheres_params *params)
{
    flr_spheres_frame *f = &s->frame;
    f->sides[0] = a, f->sides[1] = b;
    f->trees[0] = a->tree, f->trees[1] = b->tree;
    f->one_child = params->one_child;
    f->side = params->side;
    flr_pose T_a = a->T_world_part, T_b = b->T_world_part;
    if (!flr_contact_sound(&T_a) || !flr_contact_sound(&T_b)) return false;
    if (!a->tree->info.voxels || !b->tree->info.voxels) return false;
    for (int i = 0; i < 2; i++) {
        f->heights[i] = f->trees[i]->height;
        /* the lowest level whose cubes are wide enough */
        f->ends[i] = (params->level + f->trees[i]->shift - 1) / f->trees[i]->shift;
    }
    const flr_sphere_tree_info *ia = &a->tree->info, *ib = &b->tree->info;
    flr_pose T_b_a = flr_pose_mul(flr_pose_inverse(T_b), T_a);
    flr_mat3 turn = flr_quat_to_mat3(T_b_a.q);
    f->ratio = ia->voxel / ib->voxel;
    flr_vec3 shift = flr_vec3_scale(
        flr_vec3_sub(flr_vec3_add(T_b_a.p, flr_mat3_apply(turn, ia->origin)), ib->origin),
        1 / ib->voxel);
    f->shift[0] = shift.x, f->shift[1] = shift.y, f->shift[2] = shift.z;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) f->turn[i][k] = turn.m[i][k] * f->ratio;
    set_axes(f);
    turn_tables(f, &s->enclose);
    return true;
}

/* The side of a cube, metres. */
static double cube_side(const flr_spheres_frame *f, unsigned side)
{
    const flr_sphere_tree *tree = f->trees[side];
    return tree->info.voxel * (double)(UINT64_C(1) << tree->shift * f->heights[side]);
}

/* What the next step would test at most. */
static uint64_t cost_of_step(const flr_spheres *s)
{
    uint64_t cost = 0;
    unsigned side = s->expanded;
    for (uint32_t i = 0; i < s->count; i++)
        cost +=
            flr_tree_children(s->frame.trees[side], s->frame.heights[side], s->pairs[i].cube[side]);
    return cost;
}

/* One step by one thread: straight into the next level. */
static bool step_alone(flr_spheres *s, uint32_t *count, uint64_t *tests)
{
    flr_spheres_worker *worker = &s->workers[0];
    flr_cube_pair *own = worker->out;
    worker->out = s->next;
    worker->used = 0;
    worker->tests = 0;
    bool room = flr_spheres_expand(s, 0, s->count, worker);
    worker->out = own;
    *count = worker->used;
    *tests += worker->tests;
    return room;
}

/* One step by several: each block to whoever is free, then all of them in order. */
static bool step_together(flr_spheres *s, uint32_t *count, uint64_t *tests)
{
    for (unsigned i = 0; i < s->def.threads; i++) {
        flr_spheres_worker *w = &s->workers[i];
        w->used = 0;
        w->full = false;
        w->tests = 0;
    }
    s->stage = FLR_SPHERES_EXPAND;
    flr_worker_pool_run(s->pool, block_count(s->count));
    bool room = true;
    for (unsigned i = 0; i < s->def.threads; i++) {
        room &= !s->workers[i].full;
        *tests += s->workers[i].tests;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < block_count(s->count); i++) {
        s->blocks[i].to = (uint32_t)sum;
        sum += s->blocks[i].count;
    }
    if (!room || sum > s->def.pairs) return false;
    s->stage = FLR_SPHERES_COLLECT;
    flr_worker_pool_run(s->pool, block_count(s->count));
    *count = (uint32_t)sum;
    return true;
}

/* Until nothing is left, the voxels are reached, or there is no room or budget for another level. */
static void descend(flr_spheres *s, const flr_spheres_params *params, flr_spheres_result *result)
{
    flr_spheres_frame *f = &s->frame;
    while (s->count) {
        bool more[2] = {f->heights[0] > f->ends[0], f->heights[1] > f->ends[1]};
        if (!more[0] && !more[1]) break;
        s->expanded = !more[0] || (more[1] && cube_side(f, 1) > cube_side(f, 0));
        if (params->budget && result->tests + cost_of_step(s) > params->budget) {
            result->out_of_budget = true;
            break;
        }
        s->twice = !params->budget && more[0] && more[1] && f->heights[0] == 1 &&
                   f->heights[1] == 1 && f->trees[0]->shift == 1 && f->trees[1]->shift == 1;
        uint32_t count = 0;
        bool alone = !s->pool || s->count <= 2 * FLR_SPHERES_BLOCK;
        uint64_t tests = 0;
        if (!(alone ? step_alone(s, &count, &tests) : step_together(s, &count, &tests))) {
            result->out_of_room = true;
            break;
        }
        result->tests += tests;
        result->steps += s->twice ? 2 : 1;
        f->heights[s->expanded]--;
        if (s->twice) f->heights[!s->expanded]--;
        flr_cube_pair *done = s->pairs;
        s->pairs = s->next;
        s->next = done;
        s->count = count;
    }
}

void flr_spheres_query(flr_spheres *s, const flr_spheres_side *a, const flr_spheres_side *b,
                       const flr_spheres_params *params, flr_spheres_result *result)
{
    *result = (flr_spheres_result){
        .complete = true, .side_a = a->tree->info.voxel, .side_b = b->tree->info.voxel};
    s->count = 0;
    if (begin(s, a, b, params)) {
        s->pairs[s->count++] = (flr_cube_pair){0};
        descend(s, params, result);
    }
    result->pairs = s->count;
    result->listed = s->listed = s->count < s->def.listed ? s->count : s->def.listed;
    /* nothing left at all is as good as an answer by voxels */
    if (s->count) {
        result->complete = s->frame.heights[0] == 0 && s->frame.heights[1] == 0;
        result->side_a = cube_side(&s->frame, 0);
        result->side_b = cube_side(&s->frame, 1);
    }
    result->resolution = fmax(result->side_a, result->side_b);
    s->stage = FLR_SPHERES_TELL;
    if (s->pool && s->listed > 2 * FLR_SPHERES_BLOCK)
        flr_worker_pool_run(s->pool, block_count(s->listed));
    else
        flr_spheres_tell(s, 0, s->listed);
}

const flr_voxel_pair *flr_spheres_list(const flr_spheres *s) { return s->list; }
