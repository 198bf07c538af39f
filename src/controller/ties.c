/* parts that other controllers hold, too. Control gives what it hears of their instances, sample by sample; the loop goes on
 * from the newest by its velocity, at the pace at which it was sent, and leads the world's ties there.
 *
 * A sample that was sent at s and comes, as samples do, after `delay`, is due at s + delay: how much earlier or later it really
 * came does not matter. From then on its instance moves by its twist until the next one is due; where none comes it stands after
 * HOLD, or two samples. What the next one corrects goes in over the time between two, so that nothing jumps. It is not carried on
 * to where it may be by now: a prediction over 20 ms doubles what vibrates at 15 Hz, and two who predict each other ring. */
#include <math.h>

#include "controller/inside.h"

#define LEAD   0.02 /* s */
#define HOLD   0.03 /* s: with the lead, 50 ms */
#define SMOOTH 0.1  /* of a new delay or interval in the mean */
#define LAPSE  0.25 /* s: samples farther apart are a beginning, not a pace */

/* ---- the loop's ---- */

bool flr_framer_make_ties(flr_framer *f)
{
    for (uint32_t t = 0; t < FLR_WORLD_TIES; t++)
        if (!(f->ties[t].news = flr_latest_create(sizeof(flr_tie_news)))) return false;
    return true;
}

void flr_framer_free_ties(flr_framer *f)
{
    for (uint32_t t = 0; t < FLR_WORLD_TIES; t++) flr_latest_destroy(f->ties[t].news);
}

static void find_end(flr_framer *f)
{
    f->tie_end = FLR_WORLD_TIES;
    while (f->tie_end > 0 && !f->ties[f->tie_end - 1].set) f->tie_end--;
}

void flr_framer_tie(flr_framer *f, const flr_order *order)
{
    flr_world *world = f->cast->world;
    uint32_t place = flr_cast_find(f->cast, order->part);
    if (order->kind == FLR_ORDER_SOLID) {
        if (world) flr_world_set_solid(world, place, order->flag);
        return;
    }
    flr_frame_tie *tie = &f->ties[order->steps];
    flr_world_tie_def def = order->what.tie;
    def.part = place;
    tie->set =
        world && flr_world_set_tie(world, order->steps, order->flag ? &def : NULL) && order->flag;
    tie->part = order->part;
    if (tie->turn != order->hand) tie->begun = false;
    tie->turn = order->hand;
    find_end(f);
}

void flr_framer_keep_ties(flr_framer *f)
{
    const flr_world *world = f->cast->world;
    for (uint32_t t = 0; t < f->tie_end; t++)
        f->ties[t].set = f->ties[t].set && world && flr_world_get_tie(world, t) != NULL;
    find_end(f);
}

static flr_pose moved(const flr_body *like, flr_pose from, flr_motion way)
{
    flr_body body = *like;
    body.T_world_part = from;
    return flr_motion_apply(&body, way, 1);
}

/* Where the other instance is now by the newest sample, and how it moves. */
static flr_pose predict(const flr_frame_tie *tie, const flr_body *like, int64_t now,
                        flr_twist *twist)
{
    const flr_engine_tie_sample *s = &tie->newest;
    double hold = fmax(HOLD, 2 * tie->interval);
    double since = 1e-9 * (double)(now - s->sent_ns) - tie->delay;
    double on = fmin(fmax(since, 0), hold);
    *twist = since < hold ? s->twist : (flr_twist){{0, 0, 0}, {0, 0, 0}};
    return moved(
        like, s->T_world_part,
        (flr_motion){flr_vec3_scale(s->twist.angular, on), flr_vec3_scale(s->twist.linear, on)});
}

/* Takes a new sample. */
static void hear(flr_frame_tie *tie, const flr_engine_tie_sample *sample, const flr_body *like,
                 int64_t now)
{
    double age = fmax(0, 1e-9 * (double)(now - sample->sent_ns));
    double since = 1e-9 * (double)(sample->sent_ns - tie->newest.sent_ns);
    if (tie->begun && since < 0) return; /* overtaken */
    bool goes_on = tie->begun && since < LAPSE;
    if (goes_on && since > 0) tie->interval += SMOOTH * (since - tie->interval);
    if (!tie->begun) tie->interval = 0.01;
    tie->delay = goes_on ? tie->delay + SMOOTH * (age - tie->delay) : age;
    tie->newest = *sample;
    tie->came_ns = now;
    flr_twist twist;
    flr_pose to = predict(tie, like, now, &twist), from = tie->T_world_part;
    flr_quat turn = flr_quat_mul(from.q, flr_quat_conjugate(to.q));
    tie->fade = tie->begun ? tie->interval : 0;
    tie->left = (flr_motion){flr_quat_to_rotation_vector(turn),
                             flr_vec3_sub(flr_pose_apply(from, like->inertia.centre),
                                          flr_pose_apply(to, like->inertia.centre))};
    tie->begun = true;
}

void flr_framer_follow(flr_framer *f, int64_t now)
{
    for (uint32_t t = 0; t < f->tie_end; t++) {
        flr_frame_tie *tie = &f->ties[t];
        if (!tie->set) continue;
        const flr_world_tie *known = flr_world_get_tie(f->cast->world, t);
        const flr_body *like = known ? flr_world_body(f->cast->world, known->part) : NULL;
        uint64_t number;
        const flr_tie_news *news = flr_latest_view(tie->news, &number);
        if (!like) continue;
        if (number != tie->seen && news->turn == tie->turn) hear(tie, &news->sample, like, now);
        tie->seen = number;
        if (!tie->begun) continue;
        flr_world_tie_input in = {.delay = tie->delay + tie->interval / 2, .put = tie->newest.put};
        in.T_world_part = predict(tie, like, now, &in.twist);
        double gone = 1e-9 * (double)(now - tie->came_ns);
        double left = tie->fade > 0 ? fmax(0, 1 - gone / tie->fade) : 0;
        if (left > 0)
            in.T_world_part = moved(like, in.T_world_part,
                                    (flr_motion){flr_vec3_scale(tie->left.turn, left),
                                                 flr_vec3_scale(tie->left.shift, left)});
        tie->T_world_part = in.T_world_part;
        flr_world_tie_follow(f->cast->world, t, &in);
    }
}

void flr_framer_show_ties(const flr_framer *f, flr_engine_state *s)
{
    for (uint32_t t = 0; t < f->tie_end; t++) {
        const flr_frame_tie *tie = &f->ties[t];
        const flr_world_tie *w = tie->set ? flr_world_get_tie(f->cast->world, t) : NULL;
        if (!w) continue;
        s->ties[s->tie_count++] = (flr_engine_tie_state){.tie = t,
                                                         .part = tie->part,
                                                         .stretch = w->stretch,
                                                         .angle = flr_vec3_length(w->turn),
                                                         .delay = tie->delay,
                                                         .stiffness = w->stiffness,
                                                         .force = flr_vec3_length(w->wrench.force),
                                                         .put = w->put,
                                                         .got = w->got,
                                                         .taken = w->taken,
                                                         .account = w->account,
                                                         .damping = w->damping,
                                                         .gain = w->gain,
                                                         .begun = w->begun,
                                                         .diverged = w->diverged,
                                                         .settled = w->settled};
    }
}

/* ---- control's ---- */

static flr_result check_tie(uint32_t tie, flr_error *error)
{
    if (tie < FLR_WORLD_TIES) return FLR_OK;
    return flr_fail(error, FLR_BAD_ARGUMENT, "there is no tie %u; there are %d", tie,
                    FLR_WORLD_TIES);
}

static bool amount(double x) { return x >= 0 && isfinite(x); }

flr_result flr_engine_set_tie(flr_engine *e, uint32_t tie, const flr_world_tie_def *def,
                              flr_error *error)
{
    flr_order order = {.kind = FLR_ORDER_TIE, .steps = tie, .part = FLR_ENGINE_NONE};
    flr_result result = check_tie(tie, error);
    if (result == FLR_OK && def) {
        result = flr_engine_check_movable(e, def->part, "tied", error);
        if (result == FLR_OK && (!amount(def->stiffness) || !amount(def->damping) ||
                                 (def->rest && !flr_pose_is_valid(def->T_world_rest))))
            result = flr_fail(error, FLR_BAD_ARGUMENT,
                              "tie %u: stiffness and damping must be numbers not below 0, and a "
                              "rest a pose",
                              tie);
        order.part = def->part;
        order.flag = true;
        order.what.tie = *def;
    }
    if (result != FLR_OK) return result;
    uint32_t part = def ? def->part + 1 : 0;
    order.hand = e->tie_turns[tie] + (def && e->tie_parts[tie] != part);
    result = flr_engine_send(e, &order, error);
    if (result != FLR_OK) return result;
    e->tie_turns[tie] = order.hand;
    e->tie_parts[tie] = part;
    return FLR_OK;
}

flr_result flr_engine_tie_input(flr_engine *e, uint32_t tie, const flr_engine_tie_sample *sample,
                                flr_error *error)
{
    flr_result result = check_tie(tie, error);
    if (result != FLR_OK) return result;
    if (!flr_pose_is_valid(sample->T_world_part) || !flr_vec3_is_finite(sample->twist.linear) ||
        !flr_vec3_is_finite(sample->twist.angular) || !isfinite(sample->put))
        return flr_fail(error, FLR_BAD_ARGUMENT, "tie %u: that is no pose or no velocity", tie);
    flr_tie_news news = {e->tie_turns[tie], *sample};
    flr_latest_write(e->framer->ties[tie].news, &news);
    return FLR_OK;
}

flr_result flr_engine_set_solid(flr_engine *e, uint32_t part, bool solid, flr_error *error)
{
    flr_member *member = NULL;
    flr_result result = flr_engine_find(e, part, &member, error);
    flr_order order = {.kind = FLR_ORDER_SOLID, .part = part, .flag = solid};
    return result == FLR_OK ? flr_engine_send(e, &order, error) : result;
}
