/* a peg in a simulated hand touches things in all the ways in which a force can buzz */
#include "bench/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/kit.h"

#define VOXEL  0.5e-3
#define PEG    10e-3 /* its width; it is three times as long */
#define RADIUS 50e-3 /* N m by this are N */
#define BEGIN  0.5   /* s: looked at from then on */

const char *flr_stability_name(flr_stability_case which)
{
    static const char *const names[FLR_STABILITY_COUNT] = {"free",  "rest", "slide", "edge",
                                                           "wedge", "slot", "hole",  "drop"};
    return names[which];
}

/* ---- the scene ---- */

/* a box from corner to corner */
static void box(flr_kit *kit, double x0, double y0, double z0, double x1, double y1, double z1)
{
    flr_pose at = flr_pose_identity();
    at.p = flr_vec3_make((x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2);
    flr_kit_box(kit, at, x1 - x0, y1 - y0, z1 - z0, 0);
}

/* top at z = 0, with a hole in its middle that leaves the peg 1 voxel of play */
static void build_block(flr_kit *kit)
{
    const double w = 7.35e-3, o = 20e-3, d = 12e-3, b = 16e-3;
    box(kit, -o, -o, -b, o, o, -d);
    box(kit, -o, -o, -d, -w, o, 0);
    box(kit, w, -o, -d, o, o, 0);
    box(kit, -w, -o, -d, w, -w, 0);
    box(kit, -w, w, -d, w, o, 0);
}

/* two plates that lean by 15 degrees, and meet at the origin but for their thickness */
static void build_wedge(flr_kit *kit)
{
    for (int side = -1; side <= 1; side += 2) {
        flr_pose at = flr_pose_identity();
        at.q = flr_quat_from_axis_angle(flr_vec3_make(0, 1, 0), side * FLR_PI / 12);
        at.p = flr_quat_rotate(at.q, flr_vec3_make(side * 2e-3, 0, 22e-3));
        flr_kit_box(kit, at, 4e-3, 30e-3, 44e-3, 0);
    }
}

/* two walls; the peg between them touches both, by a quarter of a voxel */
static void build_slot(flr_kit *kit)
{
    const double w = PEG / 2 + 2 * VOXEL - 0.1 * VOXEL;
    box(kit, -w - 4e-3, -30e-3, -10e-3, -w, 30e-3, 10e-3);
    box(kit, w, -30e-3, -10e-3, w + 4e-3, 30e-3, 10e-3);
}

static flr_result mesh_of(void (*build)(flr_kit *kit), flr_mesh **mesh, flr_error *error)
{
    flr_kit kit = flr_kit_begin(1);
    build(&kit);
    return flr_kit_finish(&kit, mesh, error);
}

static void build_peg(flr_kit *kit) { flr_kit_box(kit, flr_pose_identity(), PEG, PEG, 3 * PEG, 0); }

flr_result flr_stability_make(flr_env *env, flr_stability *made, flr_error *error)
{
    static void (*const builds[4])(flr_kit * kit) = {build_block, build_wedge, build_slot,
                                                     build_peg};
    *made = (flr_stability){0};
    flr_result result = FLR_OK;
    for (int i = 0; i < 4 && result == FLR_OK; i++)
        result = mesh_of(builds[i], &made->meshes[i], error);
    for (int i = 0; i < 3 && result == FLR_OK; i++)
        result = flr_motion_scene_from(env, made->meshes[i], made->meshes[3], VOXEL, VOXEL, false,
                                       &made->scenes[i], error);
    for (int i = 0; i < 3 && result == FLR_OK; i++)
        result = flr_motion_scene_add_fits(&made->scenes[i], error);
    if (result != FLR_OK) flr_stability_free(made);
    return result;
}

void flr_stability_free(flr_stability *made)
{
    for (int i = 0; i < 3; i++) flr_motion_scene_free(&made->scenes[i]);
    for (int i = 0; i < 4; i++) flr_mesh_destroy(made->meshes[i]);
    *made = (flr_stability){0};
}

/* ---- the hands ---- */

typedef struct motion {
    flr_stability_case which;
} motion;

/* down by `depth` in the first 0.4 s, from `from` */
static double down(double t, double from, double depth) { return from - depth * fmin(1, t / 0.4); }

static flr_pose tilted(double angle)
{
    flr_pose T = flr_pose_identity();
    T.q = flr_quat_from_axis_angle(flr_vec3_normalize(flr_vec3_make(0.3, 1, 0.1)), angle);
    return T;
}

static flr_pose at(const void *context, double t)
{
    const motion *m = context;
    const double half = 1.5 * PEG, above = half + 1.6e-3; /* force begins at about 1.2 mm */
    flr_pose T = flr_pose_identity();
    double swing = t > BEGIN ? sin(FLR_TWO_PI * (t - BEGIN)) : 0;
    switch (m->which) {
    case FLR_STABILITY_FREE:
        T = tilted(0.3 * sin(9 * t));
        T.p = flr_vec3_make(0.02 * sin(7 * t), 0.01 * sin(11 * t), 0.06 + 0.01 * sin(23 * t));
        break;
    case FLR_STABILITY_REST:
        T.p = flr_vec3_make(12.5e-3, 2e-3, down(t, above, 5e-3));
        break;
    case FLR_STABILITY_SLIDE:
        T.p = flr_vec3_make(-12.7e-3, 8e-3 * swing, down(t, above, 3e-3));
        break;
    case FLR_STABILITY_EDGE:
        T = tilted(0.12);
        T.p = flr_vec3_make(9e-3 + 6e-3 * swing, 1e-3, down(t, above + 1.5e-3, 4e-3));
        break;
    case FLR_STABILITY_WEDGE:
        T.p = flr_vec3_make(0.3e-3, 0, down(t, 30e-3 + half, 25e-3));
        break;
    case FLR_STABILITY_SLOT:
        T.p = flr_vec3_make(1.5e-3 * fmin(1, t / 0.4), 8e-3 * swing, 3e-3);
        break;
    case FLR_STABILITY_HOLE:
        T = tilted(0.03);
        T.p = flr_vec3_make(0.4e-3, 0.2e-3, half + 2e-3 - 15e-3 * fmin(1, t / 0.8));
        break;
    case FLR_STABILITY_DROP:
        T.p = flr_vec3_make(20e-3 + 10e-3 * swing, 0, down(t, above, 2e-3));
        break;
    default:
        break;
    }
    return T;
}

/* ---- above 100 Hz ---- */

/* second order, Butterworth, by the bilinear transform */
typedef struct high_pass {
    double b, a1, a2;
    double x1[6], x2[6], y1[6], y2[6];
} high_pass;

static high_pass high_pass_at(double rate)
{
    double k = tan(FLR_PI * 100 / rate), norm = 1 / (1 + sqrt(2) * k + k * k);
    return (high_pass){
        .b = norm, .a1 = 2 * (k * k - 1) * norm, .a2 = (1 - sqrt(2) * k + k * k) * norm};
}

/* the square of what passes, torques by the radius */
static double passed(high_pass *f, const float *six)
{
    double sum = 0;
    for (int k = 0; k < 6; k++) {
        double x = (double)six[k] / (k < 3 ? 1 : RADIUS);
        double y = f->b * (x - 2 * f->x1[k] + f->x2[k]) - f->a1 * f->y1[k] - f->a2 * f->y2[k];
        f->x2[k] = f->x1[k], f->x1[k] = x;
        f->y2[k] = f->y1[k], f->y1[k] = y;
        sum += y * y;
    }
    return sum;
}

void flr_stability_level(const float *six, uint64_t frames, double rate, double *lasting,
                         double *peak)
{
    high_pass filter = high_pass_at(rate);
    uint64_t window = (uint64_t)(0.05 * rate), first = (uint64_t)(BEGIN * rate);
    double sum = 0, last[3] = {0};
    *lasting = *peak = 0;
    for (uint64_t i = 0; i < frames; i++) {
        sum += passed(&filter, six + 6 * i);
        if ((i + 1) % window) continue;
        double rms = sqrt(sum / (double)window);
        sum = 0;
        if (i < first) continue;
        last[0] = last[1], last[1] = last[2], last[2] = rms;
        *peak = fmax(*peak, rms);
        *lasting = fmax(*lasting, fmin(last[0], fmin(last[1], last[2])));
    }
}

/* ---- a run ---- */

flr_stability_run flr_default_stability_run(flr_stability_case which)
{
    return (flr_stability_run){.which = which,
                               .stiffness = 1000,
                               .mass = 0.0125,
                               .rate = 1000,
                               .seconds = 2,
                               .params = flr_default_world_params()};
}

static const flr_motion_scene *scene_of(const flr_stability *made, flr_stability_case which)
{
    return &made->scenes[which == FLR_STABILITY_WEDGE ? 1 : which == FLR_STABILITY_SLOT ? 2 : 0];
}

flr_result flr_stability_do(flr_env *env, const flr_stability *made, flr_stability_run *run,
                            flr_error *error)
{
    motion m = {run->which};
    flr_motion_scene scene = *scene_of(made, run->which); /* borrows */
    scene.body.mass = run->mass;
    flr_motion_run how = flr_default_motion_run(&scene);
    how.target = (flr_target){at, &m};
    how.rate = run->rate;
    how.frames = (uint64_t)(run->seconds * run->rate);
    how.torque = 0.5;
    how.open = run->open, how.context = run->context;
    how.params = run->params;
    how.params.contact.stiffness = run->stiffness;
    how.params.coupling.stiffness = run->stiffness;
    how.params.exact.wall = run->stiffness;
    float *felt = run->felt ? run->felt : calloc(6 * how.frames, sizeof *felt);
    if (!felt) return flr_fail(error, FLR_NO_MEMORY, "not enough memory for forces");
    how.felt = felt;
    flr_result result = flr_motion_do(env, &how, error);
    if (result == FLR_OK) {
        const flr_tight_params *exact = &run->params.exact;
        double most = run->params.engine == FLR_ENGINE_EXACT ? exact->force * exact->strength
                                                             : run->stiffness * VOXEL / 2;
        double sum = 0;
        uint64_t touched = 0;
        flr_stability_level(felt, how.frames, run->rate, &run->level, &run->peak);
        run->level /= most;
        run->peak /= most;
        for (uint64_t i = (uint64_t)(BEGIN * run->rate); i < how.frames; i++) {
            double f = flr_vec3_length(flr_vec3_make((double)felt[6 * i], (double)felt[6 * i + 1],
                                                     (double)felt[6 * i + 2]));
            sum += f;
            touched += f > 0;
        }
        run->force = touched ? sum / (double)touched : 0;
        run->deficit = how.deficit, run->put = how.put, run->got = how.got;
        run->agility = how.agility;
        run->deepest = how.deepest / VOXEL;
        run->frames = how.frames;
        run->contact_frames = how.contact_frames;
    }
    if (!run->felt) free(felt);
    return result;
}
