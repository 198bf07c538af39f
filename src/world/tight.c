/* the exact engine: making it, and the stages of a step */
#include "world/tight.h"

#include <math.h>
#include <stdlib.h>

#include "base/prefault.h"
#include "world/tight_internal.h"

#define TIGHT_BRISK 20.0 /* m/s^2: what a hand's largest force does to a part */
#define MIN_ANGLE   0.01 /* rad: a hand's torque is at its limit no earlier, and no later than … */
#define MAX_ANGLE   0.35

flr_tight_params flr_default_tight_params(void)
{
    return (flr_tight_params){.onset = 5e-6,
                              .force = 10,
                              .torque = 0.5,
                              .strength = 1,
                              .wall = 2000,
                              .overlap = 2e-3,
                              .range = 1e-3,
                              .budget = 2000000};
}

double flr_world_felt_mass(const flr_world_params *params)
{
    return params->exact.force * params->exact.strength / TIGHT_BRISK;
}

/* ---- making ---- */

/* Different fits get numbers. */
static uint32_t number_fits(flr_tight *e, const flr_world_part *parts)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < e->part_count; i++) {
        flr_tight_part *p = &e->parts[i];
        p->fit = parts[i].fit;
        if (!p->fit) continue;
        uint32_t same = 0;
        while (same < i && e->parts[same].fit != p->fit) same++;
        p->kind = same < i ? e->parts[same].kind : kinds++;
    }
    return kinds;
}

/* Unit normals of all triangles of each fit. */
static bool make_normals(flr_tight *e)
{
    e->normals = calloc(e->kind_count ? e->kind_count : 1, sizeof *e->normals);
    for (uint32_t i = 0; e->normals && i < e->part_count; i++) {
        flr_tight_part *p = &e->parts[i];
        if (!p->fit) continue;
        const uint32_t count = flr_fit_get_info(p->fit).triangles;
        flr_tight_normal **normals = &e->normals[p->kind];
        flr_vec3 t[3];
        if (!*normals) {
            *normals = flr_prefaulted_calloc((size_t)count + 1, sizeof **normals);
            if (!*normals) return false;
            for (uint32_t k = 0; k < count; k++) {
                flr_fit_triangle(p->fit, k, t);
                const flr_vec3 n = flr_vec3_normalize(
                    flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
                (*normals)[k] = (flr_tight_normal){(float)n.x, (float)n.y, (float)n.z, 0};
            }
        }
        p->normals = *normals;
    }
    return e->normals != NULL;
}

flr_result flr_tight_create(const flr_world_part *parts, uint32_t count, uint32_t together,
                            flr_tight **exact, flr_error *error)
{
    bool any = false;
    *exact = NULL;
    for (uint32_t i = 0; i < count; i++) any |= parts[i].fit != NULL;
    if (!any) return FLR_OK;
    flr_tight *e = flr_prefaulted_calloc(1, sizeof *e);
    if (!e) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for exact contact");
    e->part_count = count;
    e->near_capacity = count <= 64 ? count * (count + 1) / 2 : 32 * count;
    e->parts = flr_prefaulted_calloc(count, sizeof *e->parts);
    e->nears = flr_prefaulted_calloc(e->near_capacity, sizeof *e->nears);
    e->gaps = flr_prefaulted_calloc(e->near_capacity, sizeof *e->gaps);
    for (int i = 0; i < 2; i++)
        e->raw[i] = flr_prefaulted_calloc(FLR_TIGHT_SPOTS, sizeof *e->raw[i]);
    e->others = flr_prefaulted_calloc(FLR_TIGHT_TOGETHER, sizeof *e->others);
    e->pressed = flr_prefaulted_calloc((size_t)together * FLR_TIGHT_CONTACTS, sizeof *e->pressed);
    e->broad = flr_broad_create(count, e->near_capacity);
    if (e->parts) e->kind_count = number_fits(e, parts);
    flr_result result = FLR_OK;
    if (!flr_tight_points_create(&e->spots, FLR_TIGHT_SPOTS) ||
        !flr_tight_points_create(&e->together, FLR_TIGHT_TOGETHER) || !e->parts ||
        !make_normals(e) || !e->nears || !e->gaps || !e->raw[0] || !e->raw[1] || !e->others ||
        !e->pressed || !e->broad)
        result = flr_fail(error, FLR_NO_MEMORY, "not enough memory for exact contact of %u parts",
                          count);
    if (result == FLR_OK) result = flr_tight_make_slots(e, parts, error);
    if (result != FLR_OK) {
        flr_tight_destroy(e);
        return result;
    }
    *exact = e;
    return FLR_OK;
}

void flr_tight_destroy(flr_tight *e)
{
    if (!e) return;
    flr_tight_free_slots(e);
    flr_broad_destroy(e->broad);
    flr_tight_points_destroy(&e->spots);
    flr_tight_points_destroy(&e->together);
    for (uint32_t i = 0; e->normals && i < e->kind_count; i++) free(e->normals[i]);
    free(e->normals);
    free(e->parts);
    free(e->nears);
    free(e->gaps);
    for (int i = 0; i < 2; i++) free(e->raw[i]);
    free(e->pressed);
    free(e->others);
    free(e);
}

/* ---- hands ---- */

void flr_tight_couple(const flr_tight_params *params, const flr_body *body,
                      const flr_handle *handle, flr_coupling_def *def)
{
    double force = params->force * params->strength, torque = params->torque * params->strength;
    if (params->wall > 0) def->stiffness = params->wall;
    if (!(force > 0) || !(torque > 0) || !(def->stiffness > 0)) return; /* refused by the grab */
    if (def->stretch == 0) def->stretch = force / def->stiffness;
    /* turning is as quick as moving, but a wrist turns neither without effect nor like a vice */
    if (def->turn_stiffness == 0) {
        flr_inertia about = body->inertia;
        flr_pose T = flr_pose_mul(flr_pose_inverse(body->T_world_part), handle->T_world_handle);
        about.tensor = flr_inertia_about(body->inertia, T.p);
        double same = def->stiffness * flr_inertia_principal(about, NULL).z / body->inertia.mass;
        def->turn_stiffness = fmin(fmax(same, torque / MAX_ANGLE), torque / MIN_ANGLE);
    }
    if (def->turn == 0) def->turn = torque / def->turn_stiffness;
}

/* ---- the step ---- */

bool flr_tight_left(const flr_world *w, const flr_tight_near *n, uint64_t *left)
{
    const flr_tight *e = w->tight;
    const uint64_t debt = flr_tight_memories(w, w->state)[n->slot].debt;
    const uint64_t spared = flr_tight_onset_is_large(w) ? FLR_TIGHT_NEARER : 0;
    const uint64_t all = e->budget << (debt > spared ? debt - spared : 0);
    *left = all > e->spent ? all - e->spent : 0;
    return all == 0 || *left > 0;
}

void flr_tight_spend(flr_world *w, flr_tight_near *n, uint64_t work, flr_world_frame *frame)
{
    n->work += work;
    w->tight->spent += work;
    frame->points_tested += work;
}

double flr_tight_travel(const flr_world *w, uint32_t part)
{
    const flr_world_plan *p = &w->plans[part];
    if (!p->moves) return 0;
    return p->fraction * flr_motion_travel(p->result.motion, w->state->bodies[part].reach);
}

static void begin(flr_world *w)
{
    flr_tight *e = w->tight;
    double budget = ceil((double)w->params.exact.budget * fmax(w->def.dt, 0.001) / 0.001);
    e->budget = budget < 1e12 ? (uint64_t)budget : 0;
    e->spent = 0;
    e->onset = flr_tight_find_onset(w);
    e->touch_count = 0;
    for (uint32_t i = 0; i < e->part_count; i++) {
        flr_tight_part *p = &e->parts[i];
        const flr_body *body = &w->state->bodies[i];
        p->travel = w->plans[i].moves
                        ? w->def.dt * (flr_vec3_length(body->twist.linear) +
                                       flr_vec3_length(body->twist.angular) * body->reach)
                        : 0;
        p->block_count = 0;
        p->newest = 0;
        p->again = false;
        /* others go by what a body does until it is planned */
        w->plans[i].result.twist = w->plans[i].moves ? body->twist : (flr_twist){0};
        w->plans[i].fraction = 1;
    }
}

void flr_tight_step(flr_world *w, flr_world_frame *frame)
{
    flr_tight *e = w->tight;
    begin(w);
    flr_tight_near_update(w, frame);
    for (uint32_t i = 0; i < e->part_count; i++)
        if (w->plans[i].moves && flr_links_plans(w, i)) flr_tight_plan(w, i, frame);
    flr_tight_check(w, frame);
    for (uint32_t i = 0; i < e->part_count; i++) {
        flr_world_plan *p = &w->plans[i];
        if (!p->moves) continue;
        if (flr_links_is_linked(w, i)) {
            if (flr_links_plans(w, i)) flr_links_move(w, i, true);
            continue;
        }
        /* the part of the way that was not free is lost, the velocity is not: the next step deals with what is there */
        flr_motion gone = {flr_vec3_scale(p->result.motion.turn, p->fraction),
                           flr_vec3_scale(p->result.motion.shift, p->fraction)};
        w->state->bodies[i].twist = p->result.twist;
        flr_body_move(&w->state->bodies[i], gone, 1);
    }
    flr_tight_settle(w);
    flr_tight_keep_memory(w);
}

/* ---- looking ---- */

const flr_world_gap *flr_world_gaps(const flr_world *w, uint32_t *count)
{
    *count = flr_tight_is_on(w) ? w->tight->near_count : 0;
    return *count ? w->tight->gaps : NULL;
}

const flr_world_touch *flr_world_touches(const flr_world *w, uint32_t *count)
{
    *count = flr_tight_is_on(w) ? w->tight->touch_count : 0;
    return *count ? w->tight->touches : NULL;
}
