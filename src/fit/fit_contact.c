/* what a query tells: contacts, the deepest sample, bounds */
#include <math.h>

#include "fit/fit_internal.h"

flr_fit_params flr_default_fit_params(void)
{
    flr_fit_params params = {.max_distance = INFINITY};
    return params;
}

double flr_fit_extent(const flr_fit *fit)
{
    return flr_vec3_length(
        flr_vec3_max(flr_vec3_max(fit->info.bounds.high, flr_vec3_neg(fit->info.bounds.high)),
                     flr_vec3_max(fit->info.bounds.low, flr_vec3_neg(fit->info.bounds.low))));
}

flr_vec3 flr_fit_direction(const flr_vec3 t[3], flr_vec3 point, flr_vec3 nearest, bool inside)
{
    const flr_vec3 away = flr_vec3_normalize(flr_vec3_sub(point, nearest));
    if (away.x != 0 || away.y != 0 || away.z != 0) return inside ? flr_vec3_neg(away) : away;
    return flr_vec3_normalize(flr_vec3_cross(flr_vec3_sub(t[1], t[0]), flr_vec3_sub(t[2], t[0])));
}

void flr_fit_begin_result(flr_fit_result *result)
{
    *result = (flr_fit_result){.distance = INFINITY, .upper = INFINITY};
    result->triangle[0] = result->triangle[1] = FLR_NONE;
}

/* A contact in the frame of a. */
static void fill_contact(const flr_fit *const parts[2], flr_pose T_a_b, uint32_t side,
                         uint32_t sample, const flr_fit_point_result *at, flr_fit_contact *c)
{
    const flr_fit_sample *from = &parts[side]->samples[sample];
    c->distance = at->distance;
    c->error = at->error;
    c->area = from->area;
    c->sample = sample;
    c->side = side;
    if (side == 0) {
        c->point = from->point;
        c->nearest = flr_pose_apply(T_a_b, at->nearest);
        c->normal = flr_vec3_neg(flr_pose_apply_vector(T_a_b, at->direction));
        c->triangle[0] = from->triangle, c->triangle[1] = at->triangle;
    } else {
        c->point = flr_pose_apply(T_a_b, from->point);
        c->nearest = at->nearest;
        c->normal = at->direction;
        c->triangle[0] = at->triangle, c->triangle[1] = from->triangle;
    }
}

void flr_fit_note_contact(const flr_fit *const parts[2], const flr_fit_contact *c,
                          const flr_fit_params *params, uint32_t capacity, flr_fit_result *result)
{
    if (c->distance < params->reach) {
        result->contact_count += result->contact_count < capacity;
        result->contact_total++;
    }
    /* the deepest so far; `distance` is negative only because of one */
    if (!(params->max_distance >= 0 && c->distance < 0 && c->distance < result->distance)) return;
    result->found = true;
    result->distance = c->distance;
    result->lower = c->distance - parts[c->side]->samples[c->sample].radius;
    result->point[0] = c->side ? c->nearest : c->point;
    result->point[1] = c->side ? c->point : c->nearest;
    result->normal = c->normal;
    result->triangle[0] = c->triangle[0], result->triangle[1] = c->triangle[1];
}

void flr_fit_note_sample(const flr_fit *const parts[2], flr_pose T_a_b, uint32_t side,
                         uint32_t sample, const flr_fit_point_result *at,
                         const flr_fit_params *params, flr_fit_contact *contacts, uint32_t capacity,
                         flr_fit_result *result)
{
    flr_fit_contact one,
        *c = result->contact_count < capacity ? &contacts[result->contact_count] : &one;
    fill_contact(parts, T_a_b, side, sample, at, c);
    flr_fit_note_contact(parts, c, params, capacity, result);
}

void flr_fit_end_result(const flr_fit *const parts[2], flr_pose T_a_b, const flr_fit_params *params,
                        flr_fit_result *result)
{
    const double error = flr_fit_rounding(flr_fit_extent(parts[0]) + flr_fit_extent(parts[1]) +
                                          flr_vec3_length(T_a_b.p));
    if (!result->found) {
        result->lower = result->complete && params->max_distance > 0 ? params->max_distance : 0;
        return;
    }
    result->upper = result->distance + error;
    if (result->distance >= 0) result->lower = result->distance;
    result->lower -= error;
}
