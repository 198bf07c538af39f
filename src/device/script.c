/* scripts: the built-in hands as targets, each a function of time and nothing else */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "feeler/base.h"
#include "feeler/hand.h"

struct flr_script {
    flr_script_def def;            /* path: its own copy */
    flr_vec3 along, left, forward; /* unit: the direction, and two across it */
};

/* ---- shapes of motion ---- */

/* from 0 to 1 without a jerk, while x goes from 0 to 1 */
static double ease(double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    return x * x * x * (10 + x * (6 * x - 15));
}

/* -1 … 1, the same for the same numbers (splitmix64) */
static double chance(uint64_t seed, uint64_t index, uint64_t channel)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + index * 0xD1342543DE82EF95u + channel + 1;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

static flr_vec3 chance_vector(uint64_t seed, uint64_t index, uint64_t channel)
{
    return flr_vec3_make(chance(seed, index, channel), chance(seed, index, channel + 1),
                         chance(seed, index, channel + 2));
}

/* the start, moved by `way` and turned by `turn`, both along the world's axes */
static flr_pose from_start(const flr_script *s, flr_vec3 way, flr_vec3 turn)
{
    flr_quat q = flr_quat_mul(flr_quat_from_rotation_vector(turn), s->def.start.q);
    return flr_pose_make(flr_vec3_add(s->def.start.p, way), flr_quat_normalize(q));
}

/* ---- the hands ---- */

/* a hand trembles at 8 to 12 Hz, by a fraction of a millimetre */
static flr_pose idle_at(const flr_script *s, double t)
{
    flr_vec3 way = flr_vec3_zero(), turn = flr_vec3_zero();
    double begin = ease(t / 0.1);
    for (uint64_t i = 0; i < 3; i++) {
        double phase = FLR_PI * chance(s->def.seed, i, 0), hertz = 8 + 2 * (double)i;
        double wave = begin * flr_sin(2 * FLR_PI * hertz * t + phase);
        way = flr_vec3_add_scaled(way, 7e-5 * wave, chance_vector(s->def.seed, i, 1));
        turn = flr_vec3_add_scaled(turn, 1e-3 * wave, chance_vector(s->def.seed, i, 4));
    }
    return from_start(s, way, turn);
}

/* down in half a second, then to and fro in two, while drifting across */
static flr_pose slide_at(const flr_script *s, double t)
{
    double press = 0.2 * s->def.reach * ease(2 * t);
    double swept = ease(t - 0.5), sweep = swept * flr_sin(FLR_PI * (t - 0.5));
    double drift = 0.4 * swept * flr_sin(0.61 * FLR_PI * (t - 0.5));
    flr_vec3 way = flr_vec3_scale(s->along, press);
    way = flr_vec3_add_scaled(way, s->def.reach * sweep, s->left);
    way = flr_vec3_add_scaled(way, s->def.reach * drift, s->forward);
    double twist = 0.3 * s->def.turn * swept * flr_sin(0.37 * FLR_PI * (t - 0.5));
    return from_start(s, way, flr_vec3_scale(s->along, twist));
}

/* a new place five times a second, every third time as if thrown there */
static flr_pose aggressive_at(const flr_script *s, double t)
{
    double segments = 5 * t, whole = floor(segments);
    uint64_t k = (uint64_t)whole;
    bool thrown = (k + s->def.seed) % 3 == 0;
    double share = ease((segments - whole) * (thrown ? 5 : 1));
    flr_vec3 way = flr_vec3_zero(), turn = flr_vec3_zero();
    if (k > 0) {
        way = flr_vec3_scale(chance_vector(s->def.seed, k, 0), 1 - share);
        turn = flr_vec3_scale(chance_vector(s->def.seed, k, 3), 1 - share);
    }
    way = flr_vec3_add_scaled(way, share, chance_vector(s->def.seed, k + 1, 0));
    turn = flr_vec3_add_scaled(turn, share, chance_vector(s->def.seed, k + 1, 3));
    return from_start(s, flr_vec3_scale(way, s->def.reach), flr_vec3_scale(turn, s->def.turn));
}

/* in for 1.5 s, 1.5 s of wriggling, out for a second */
static flr_pose wedge_at(const flr_script *s, double t)
{
    double in_cycle = fmod(t, 4);
    double push = ease(in_cycle / 1.5) - ease(in_cycle - 3);
    double hold = ease(2 * (in_cycle - 1.5)) - ease(2 * (in_cycle - 2.5));
    double swing = hold * flr_sin(6 * FLR_PI * in_cycle),
           sway = hold * flr_sin(5 * FLR_PI * in_cycle);
    flr_vec3 way = flr_vec3_scale(s->along, s->def.reach * push);
    way = flr_vec3_add_scaled(way, 0.1 * s->def.reach * sway, s->left);
    flr_vec3 turn = flr_vec3_scale(s->forward, s->def.turn * swing);
    turn = flr_vec3_add_scaled(turn, 0.5 * s->def.turn * sway, s->left);
    return from_start(s, way, turn);
}

/* along the path, straight from pose to pose */
static flr_pose removal_at(const flr_script *s, double t)
{
    const flr_timed_pose *path = s->def.path;
    size_t low = 0, high = s->def.path_count - 1;
    t += path[0].t;
    if (t >= path[high].t) return path[high].T_world_part;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (path[middle].t <= t)
            low = middle;
        else
            high = middle;
    }
    if (low == high) return path[low].T_world_part;
    double share = (t - path[low].t) / (path[high].t - path[low].t);
    return flr_pose_interpolate(path[low].T_world_part, path[high].T_world_part, share);
}

static const struct {
    const char *name;
    flr_pose (*at)(const flr_script *script, double t);
} kinds[FLR_SCRIPT_COUNT] = {
    [FLR_SCRIPT_IDLE] = {"idle", idle_at},
    [FLR_SCRIPT_SLIDE] = {"slide", slide_at},
    [FLR_SCRIPT_AGGRESSIVE] = {"aggressive", aggressive_at},
    [FLR_SCRIPT_WEDGE] = {"wedge", wedge_at},
    [FLR_SCRIPT_REMOVAL] = {"removal", removal_at},
};

static flr_pose script_at(const void *context, double t)
{
    const flr_script *script = context;
    return kinds[script->def.kind].at(script, t > 0 ? t * script->def.speed : 0);
}

/* ---- making ---- */

flr_script_def flr_default_script_def(void)
{
    flr_script_def def = {.kind = FLR_SCRIPT_IDLE,
                          .start = flr_pose_identity(),
                          .direction = {0, 0, -1},
                          .reach = 0.05,
                          .turn = 0.5,
                          .speed = 1,
                          .seed = 1};
    return def;
}

const char *flr_script_name(flr_script_kind kind)
{
    FLR_ASSERT((unsigned)kind < FLR_SCRIPT_COUNT);
    return kinds[kind].name;
}

flr_result flr_script_find(const char *name, flr_script_kind *kind, flr_error *error)
{
    FLR_ASSERT(name && kind);
    const char *names[FLR_SCRIPT_COUNT];
    for (int i = 0; i < FLR_SCRIPT_COUNT; i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], name) != 0) continue;
        *kind = (flr_script_kind)i;
        return FLR_OK;
    }
    const char *meant = flr_suggest(name, names, FLR_SCRIPT_COUNT);
    return flr_fail(error, FLR_NOT_FOUND,
                    "no built-in hand is called \"%s\"%s%s%s; there are idle, slide, aggressive, "
                    "wedge and removal",
                    name, meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "");
}

static flr_result check_path(const flr_script_def *def, flr_error *error)
{
    if (!def->path || def->path_count == 0)
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "the hand \"removal\" follows a path, and none is given");
    for (size_t i = 0; i < def->path_count; i++) {
        const flr_timed_pose *p = &def->path[i];
        if (!flr_pose_is_valid(p->T_world_part) || !isfinite(p->t))
            return flr_fail(error, FLR_BAD_ARGUMENT, "path of a hand: pose %zu is not valid", i);
        if (i > 0 && p->t < p[-1].t)
            return flr_fail(error, FLR_BAD_ARGUMENT,
                            "path of a hand: pose %zu is at %g s, before the one before it", i,
                            p->t);
    }
    return FLR_OK;
}

static flr_result check(const flr_script_def *def, flr_error *error)
{
    if ((unsigned)def->kind >= FLR_SCRIPT_COUNT)
        return flr_fail(error, FLR_BAD_ARGUMENT, "scripted hand: kind %d does not exist",
                        (int)def->kind);
    if (!flr_pose_is_valid(def->start))
        return flr_fail(error, FLR_BAD_ARGUMENT, "scripted hand: the start is not a valid pose");
    if (!flr_vec3_is_finite(def->direction) ||
        flr_vec3_equal(flr_vec3_normalize(def->direction), flr_vec3_zero()))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "scripted hand: the direction must be a vector other than 0");
    if (!(def->reach >= 0 && def->reach <= 1e3 && def->turn >= 0 && def->turn <= FLR_PI))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "scripted hand: reach %g m and turn %g rad; choose 0 to 1000 m and 0 to pi",
                        def->reach, def->turn);
    if (!(def->speed >= 1e-3 && def->speed <= 1e3))
        return flr_fail(error, FLR_BAD_ARGUMENT,
                        "scripted hand: speed %g; choose 0.001 to 1000 times the usual one",
                        def->speed);
    return def->kind == FLR_SCRIPT_REMOVAL ? check_path(def, error) : FLR_OK;
}

flr_result flr_script_create(const flr_script_def *def, flr_script **script, flr_error *error)
{
    FLR_ASSERT(def && script);
    flr_result result = check(def, error);
    if (result != FLR_OK) return result;
    size_t count = def->kind == FLR_SCRIPT_REMOVAL ? def->path_count : 0;
    flr_script *s = calloc(1, sizeof *s);
    flr_timed_pose *path = count ? malloc(count * sizeof *path) : NULL;
    if (!s || (count && !path)) {
        free(path);
        free(s);
        return flr_fail(error, FLR_NO_MEMORY, "scripted hand: out of memory");
    }
    if (count) memcpy(path, def->path, count * sizeof *path);
    s->def = *def;
    s->def.path = path;
    s->def.path_count = count;
    s->along = flr_vec3_normalize(def->direction);
    s->left = flr_vec3_perpendicular(s->along);
    s->forward = flr_vec3_cross(s->along, s->left);
    *script = s;
    return FLR_OK;
}

void flr_script_destroy(flr_script *script)
{
    if (!script) return;
    free((flr_timed_pose *)script->def.path);
    free(script);
}

flr_target flr_script_target(const flr_script *script)
{
    FLR_ASSERT(script);
    return (flr_target){script_at, script};
}

double flr_script_duration(const flr_script *script)
{
    FLR_ASSERT(script);
    const flr_script_def *def = &script->def;
    if (def->kind != FLR_SCRIPT_REMOVAL) return INFINITY;
    return (def->path[def->path_count - 1].t - def->path[0].t) / def->speed;
}

/* ---- the driver: the target itself ---- */

typedef struct script_state {
    flr_target target;
    int64_t start_ns;
    bool started;
} script_state;

static flr_result script_open(const void *parameters, void **state, flr_device_info *info,
                              flr_error *error)
{
    const flr_target *target = parameters;
    FLR_ASSERT(target && target->at);
    script_state *s = calloc(1, sizeof *s);
    if (!s) return flr_fail(error, FLR_NO_MEMORY, "scripted hand: out of memory");
    s->target = *target;
    flr_text_copy(info->name, sizeof info->name, "script");
    *state = s;
    return FLR_OK;
}

static void script_close(void *state) { free(state); }

static bool script_read(void *state, int64_t now_ns, flr_device_sample *sample)
{
    script_state *s = state;
    if (!s->started) s->start_ns = now_ns;
    s->started = true;
    double t = 1e-9 * (double)(now_ns - s->start_ns);
    sample->T_base_grip = s->target.at(s->target.context, t);
    sample->time_ns = now_ns;
    return true;
}

static void script_save(void *state, void *bytes)
{
    const script_state *s = state;
    const int64_t saved[2] = {s->start_ns, s->started};
    memcpy(bytes, saved, sizeof saved);
}

static void script_load(void *state, const void *bytes, int64_t shift_ns)
{
    script_state *s = state;
    int64_t saved[2];
    memcpy(saved, bytes, sizeof saved);
    s->start_ns = saved[0] + shift_ns, s->started = saved[1] != 0;
}

const flr_device_driver flr_script_driver = {
    .name = "script",
    .summary = "follows its input exactly, feels nothing",
    .open = script_open,
    .close = script_close,
    .read = script_read,
    .saved = 2 * sizeof(int64_t),
    .save = script_save,
    .load = script_load,
};
