/* parts that other controllers hold, too. Control gives what it hears of their instances, sample by sample; the loop goes on
 * from the newest by its velocity, at the pace at which it was sent, and leads the world's remote couplings there.
 *
 * A sample that was sent at s and comes, as samples do, after `delay`, is due at s + delay: how much earlier or later it really
 * came does not matter. From then on its instance moves by its twist until the next one is due; where none comes it stands after
 * HOLD, or two samples. What the next one corrects goes in over the time between two, so that nothing jumps. It is not carried on
 * to where it may be by now: a prediction over 20 ms doubles what vibrates at 15 Hz, and two who predict each other ring. */
#include <math.h>

#include "sim/snapshot.h"

#define LEAD   0.02 /* s */
#define HOLD   0.03 /* s: with the lead, 50 ms */
#define SMOOTH 0.1  /* of a new delay or interval in the mean */
#define LAPSE  0.25 /* s: samples farther apart are a beginning, not a pace */

/* ---- the loop's ---- */

bool flr_stepper_make_couplings(flr_stepper *f)
{
    for (uint32_t t = 0; t < FLR_WORLD_REMOTE_COUPLINGS; t++)
        if (!(f->couplings[t].news = flr_latest_create(sizeof(flr_coupled_news)))) return false;
    return true;
}

void flr_stepper_free_couplings(flr_stepper *f)
{
    for (uint32_t t = 0; t < FLR_WORLD_REMOTE_COUPLINGS; t++)
        flr_latest_destroy(f->couplings[t].news);
}

static void find_end(flr_stepper *f)
{
    f->coupling_end = FLR_WORLD_REMOTE_COUPLINGS;
    while (f->coupling_end > 0 && !f->couplings[f->coupling_end - 1].set) f->coupling_end--;
}

void flr_stepper_couple(flr_stepper *f, const flr_loop_couple *c)
{
    flr_world *world = f->instance->world;
    flr_stepper_coupling *coupling = &f->couplings[c->coupling];
    flr_remote_coupling_def def = c->def;
    def.part = flr_world_instance_find(f->instance, c->part);
    coupling->set =
        world && flr_world_set_remote_coupling(world, c->coupling, c->set ? &def : NULL) && c->set;
    coupling->part = c->part;
    if (coupling->generation != c->generation) coupling->begun = false;
    coupling->generation = c->generation;
    find_end(f);
}

void flr_stepper_keep_couplings(flr_stepper *f)
{
    const flr_world *world = f->instance->world;
    for (uint32_t t = 0; t < f->coupling_end; t++)
        f->couplings[t].set =
            f->couplings[t].set && world && flr_world_get_remote_coupling(world, t) != NULL;
    find_end(f);
}

static flr_pose moved(const flr_body *like, flr_pose from, flr_motion way)
{
    flr_body body = *like;
    body.T_world_part = from;
    return flr_motion_apply(&body, way, 1);
}

/* Where the other instance is now by the newest sample, and how it moves. */
static flr_pose predict(const flr_stepper_coupling *coupling, const flr_body *like, int64_t now,
                        flr_twist *twist)
{
    const flr_engine_coupling_sample *s = &coupling->newest;
    double hold = fmax(HOLD, 2 * coupling->interval);
    double since = 1e-9 * (double)(now - s->sent_ns) - coupling->delay;
    double on = fmin(fmax(since, 0), hold);
    *twist = since < hold ? s->twist : (flr_twist){{0, 0, 0}, {0, 0, 0}};
    return moved(
        like, s->T_world_part,
        (flr_motion){flr_vec3_scale(s->twist.angular, on), flr_vec3_scale(s->twist.linear, on)});
}

/* Takes a new sample. */
static void hear(flr_stepper_coupling *coupling, const flr_engine_coupling_sample *sample,
                 const flr_body *like, int64_t now)
{
    double age = fmax(0, 1e-9 * (double)(now - sample->sent_ns));
    double since = 1e-9 * (double)(sample->sent_ns - coupling->newest.sent_ns);
    if (coupling->begun && since < 0) return; /* overtaken */
    bool goes_on = coupling->begun && since < LAPSE;
    if (goes_on && since > 0) coupling->interval += SMOOTH * (since - coupling->interval);
    if (!coupling->begun) coupling->interval = 0.01;
    coupling->delay = goes_on ? coupling->delay + SMOOTH * (age - coupling->delay) : age;
    coupling->newest = *sample;
    coupling->came_ns = now;
    flr_twist twist;
    flr_pose to = predict(coupling, like, now, &twist), from = coupling->T_world_part;
    flr_quat turn = flr_quat_mul(from.q, flr_quat_conjugate(to.q));
    coupling->fade = coupling->begun ? coupling->interval : 0;
    coupling->left = (flr_motion){flr_quat_to_rotation_vector(turn),
                                  flr_vec3_sub(flr_pose_apply(from, like->inertia.centre),
                                               flr_pose_apply(to, like->inertia.centre))};
    coupling->begun = true;
}

void flr_stepper_follow(flr_stepper *f, int64_t now)
{
    for (uint32_t t = 0; t < f->coupling_end; t++) {
        flr_stepper_coupling *coupling = &f->couplings[t];
        if (!coupling->set) continue;
        const flr_remote_coupling *known = flr_world_get_remote_coupling(f->instance->world, t);
        const flr_body *like = known ? flr_world_body(f->instance->world, known->part) : NULL;
        uint64_t number;
        const flr_coupled_news *news = flr_latest_view(coupling->news, &number);
        if (!like) continue;
        if (number != coupling->seen && news->generation == coupling->generation)
            hear(coupling, &news->sample, like, now);
        coupling->seen = number;
        if (!coupling->begun) continue;
        flr_remote_coupling_input in = {.delay = coupling->delay + coupling->interval / 2,
                                        .put = coupling->newest.put};
        in.T_world_part = predict(coupling, like, now, &in.twist);
        double gone = 1e-9 * (double)(now - coupling->came_ns);
        double left = coupling->fade > 0 ? fmax(0, 1 - gone / coupling->fade) : 0;
        if (left > 0)
            in.T_world_part = moved(like, in.T_world_part,
                                    (flr_motion){flr_vec3_scale(coupling->left.turn, left),
                                                 flr_vec3_scale(coupling->left.shift, left)});
        coupling->T_world_part = in.T_world_part;
        flr_remote_coupling_follow(f->instance->world, t, &in);
    }
}

void flr_stepper_copy_couplings(const flr_stepper *f, flr_snapshot *s)
{
    for (uint32_t t = 0; t < f->coupling_end; t++) {
        const flr_stepper_coupling *coupling = &f->couplings[t];
        const flr_remote_coupling *is =
            coupling->set ? flr_world_get_remote_coupling(f->instance->world, t) : NULL;
        if (is)
            s->couplings[s->coupling_count++] = (flr_snapshot_coupling){
                .coupling = t, .part = coupling->part, .delay = coupling->delay, .is = *is};
    }
}

/* ---- control's ---- */

static flr_result check_coupling(uint32_t coupling, flr_error *error)
{
    if (coupling < FLR_WORLD_REMOTE_COUPLINGS) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT, "there is no coupling %u; there are %d", coupling,
                    FLR_WORLD_REMOTE_COUPLINGS);
}

static bool amount(double x) { return x >= 0 && isfinite(x); }

flr_result flr_engine_set_coupling(flr_engine *e, uint32_t coupling, flr_part_id part,
                                   const flr_remote_coupling_def *def, flr_error *error)
{
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_COUPLE,
                               .as.couple = {.coupling = coupling, .part = FLR_ENGINE_NONE}};
    flr_loop_couple *couple = &command.as.couple;
    flr_result result = check_coupling(coupling, error);
    if (result == FLR_OK && def) {
        result = flr_engine_check_id(e, part, error);
        if (result == FLR_OK) result = flr_engine_check_movable(e, part.index, "coupled", error);
        if (result == FLR_OK && (!amount(def->stiffness) || !amount(def->damping) ||
                                 (def->rest && !flr_pose_is_valid(def->T_world_rest))))
            result =
                flr_fail(error, FLR_BAD_ARGUMENT,
                         "coupling %u: stiffness and damping must be numbers not below 0, and a "
                         "rest a pose",
                         coupling);
        couple->part = part.index;
        couple->set = true;
        couple->def = *def;
    }
    if (result != FLR_OK) return result;
    bool other = def && e->coupled_parts[coupling] != part.index;
    couple->generation = e->coupling_generations[coupling] + other;
    result = flr_engine_send(e, &command, error);
    if (result != FLR_OK) return result;
    e->coupling_generations[coupling] = couple->generation;
    e->coupled_parts[coupling] = couple->part;
    return FLR_OK;
}

flr_result flr_engine_coupling_input(flr_engine *e, uint32_t coupling,
                                     const flr_engine_coupling_sample *sample, flr_error *error)
{
    flr_result result = check_coupling(coupling, error);
    if (result != FLR_OK) return result;
    if (!flr_engine_is_pose(sample->T_world_part) || !flr_vec3_is_finite(sample->twist.linear) ||
        !flr_vec3_is_finite(sample->twist.angular) || !isfinite(sample->put))
        return flr_fail(error, FLR_BAD_ARGUMENT, "coupling %u: that is no pose or no velocity",
                        coupling);
    flr_coupled_news news = {e->coupling_generations[coupling], *sample};
    flr_latest_write(e->stepper->couplings[coupling].news, &news);
    return FLR_OK;
}

flr_result flr_engine_set_solid(flr_engine *e, flr_part_id part, bool solid, flr_error *error)
{
    flr_part_entry *member = NULL;
    flr_result result = flr_engine_find_id(e, part, &member, error);
    flr_sim_command command = {.kind = FLR_SIM_COMMAND_SOLID,
                               .as.solid = {.part = part.index, .solid = solid}};
    if (result == FLR_OK) command.as.solid.solid &= member->use != FLR_PART_USE_PASS;
    return result == FLR_OK ? flr_engine_send(e, &command, error) : result;
}
