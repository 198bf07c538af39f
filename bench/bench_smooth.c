/* the smooth force model beside the tangent plane: what it costs, and what a hand would feel of the voxels
 *
 * Both models are asked one after the other at the same pose, several times; the best time of each counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "feeler/contact.h"
#include "feeler/voxels.h"
#include "models/kit.h"

enum { BENCH_SMOOTH_POSES = 200, SLIDE = 1000 };

static const char *const model_names[2] = {"tangent", "smooth"};

typedef struct bench_smooth_setup {
    flr_voxmap *voxmap;
    flr_shell *shell;
    flr_contact_pair *pair;
} bench_smooth_setup;

static void free_setup(bench_smooth_setup *s)
{
    flr_contact_pair_destroy(s->pair);
    flr_voxmap_destroy(s->voxmap);
    flr_shell_destroy(s->shell);
    *s = (bench_smooth_setup){0};
}

/* Points on the exact surface, as the smooth model wants them. */
static flr_result set_up(const flr_mesh *fixed, const flr_mesh *moving, double voxel,
                         bench_smooth_setup *s, flr_error *error)
{
    *s = (bench_smooth_setup){0};
    flr_voxelize_def def = flr_default_voxelize_def();
    def.voxel = voxel;
    def.on_surface = true;
    flr_result result = flr_voxelize(flr_env_real(), fixed, &def, &s->voxmap, NULL, NULL, error);
    if (result == FLR_OK)
        result = flr_voxelize(flr_env_real(), moving, &def, NULL, &s->shell, NULL, error);
    flr_contact_pair_def pair = flr_default_contact_pair_def();
    pair.shell = s->shell;
    pair.voxmap = s->voxmap;
    pair.capacity = 0;
    if (result == FLR_OK) result = flr_contact_pair_create(&pair, &s->pair, error);
    if (result != FLR_OK) free_setup(s);
    return result;
}

/* ---- cost ---- */

typedef struct cost {
    const char *path;
    bool awareness;
    double p50[2], p99[2]; /* microseconds, by model */
    double contacts[2];    /* mean */
} cost;

static void measure(flr_env *env, const bench_smooth_setup *s, const flr_model_path *path,
                    unsigned repeat, cost *c)
{
    double us[2][BENCH_SMOOTH_POSES];
    for (size_t i = 0; i < BENCH_SMOOTH_POSES; i++) {
        flr_pose T = path->poses[i * (path->count - 1) / (BENCH_SMOOTH_POSES - 1)].T_world_part;
        for (int k = 0; k < 2; k++) us[k][i] = INFINITY;
        for (unsigned round = 0; round <= repeat; round++)
            for (int k = 0; k < 2; k++) {
                flr_contact_params params = flr_default_contact_params();
                flr_contact_result r;
                params.force_layer = 0;
                params.awareness = c->awareness;
                params.model = k ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
                int64_t begin = flr_clock_ns(env);
                flr_contact_query(s->pair, T, flr_pose_identity(), &params, &r);
                us[k][i] = fmin(us[k][i], (double)(flr_clock_ns(env) - begin) * 1e-3);
                if (round == 0) c->contacts[k] += (double)r.contacts / BENCH_SMOOTH_POSES;
            }
    }
    for (int k = 0; k < 2; k++) {
        qsort(us[k], BENCH_SMOOTH_POSES, sizeof **us, flr_bench_by_value);
        c->p50[k] = us[k][BENCH_SMOOTH_POSES / 2];
        c->p99[k] = us[k][BENCH_SMOOTH_POSES * 99 / 100];
    }
}

static void print_cost(const cost *c, bool json, bool first, FILE *out)
{
    for (int k = 0; k < 2; k++)
        if (json)
            fprintf(out,
                    "%s\n  {\"motion\": \"ball %s\", \"model\": \"%s\", \"awareness\": %s, \"us\": "
                    "{\"p50\": %.3f, \"p99\": %.3f}, \"contacts\": %.1f}",
                    first && !k ? "" : ",", c->path, model_names[k],
                    c->awareness ? "true" : "false", c->p50[k], c->p99[k], c->contacts[k]);
        else
            fprintf(out, "ball %-6s %-8s %-9s %9.1f %9.1f %9.1f %9.2f\n", c->path, model_names[k],
                    c->awareness ? "on" : "off", c->p50[k], c->p99[k], c->contacts[k],
                    c->p50[k] / c->p50[0]);
}

static flr_result bench_cost(flr_env *env, const flr_bench_options *options, FILE *out,
                             flr_error *error)
{
    flr_model model = {0};
    bench_smooth_setup s = {0};
    flr_result result = flr_scenario_build(flr_scenario_find("ball"), NULL, &model, error);
    if (result == FLR_OK) {
        const flr_mesh *ball = flr_model_find_mesh(&model, "ball.stl");
        result = set_up(flr_model_find_mesh(&model, "socket.stl"), ball,
                        flr_bench_voxel(options, ball, 0.35e-3), &s, error);
    }
    bool first = true;
    for (size_t i = 0; result == FLR_OK && i < model.path_count; i++)
        for (int aware = 1; aware >= 0; aware--) {
            cost c = {.path = model.paths[i].name, .awareness = aware};
            measure(env, &s, &model.paths[i], options->repeat, &c);
            print_cost(&c, options->json, first, out);
            first = false;
        }
    free_setup(&s);
    flr_model_free(&model);
    return result;
}

/* ---- a slide ---- */

typedef struct slide {
    double x[SLIDE],
        force[2][SLIDE]; /* millimetres along the face; newtons at right angles to it, by model */
} slide;

/* A sphere of 10 mm over a face that is tilted against the voxels, at a constant height. */
static flr_result slide_over(slide *told, flr_error *error)
{
    const double tilt = 7.0 / 360, voxel = 1e-3, radius = 0.010, high = 1.2 * voxel;
    flr_kit plate = flr_kit_begin(1), ball = flr_kit_begin(1);
    flr_pose T = flr_kit_turn_x(flr_kit_turn_y(flr_pose_identity(), tilt), tilt / 2);
    flr_kit_box(&plate, flr_pose_mul(T, flr_kit_at(0, 0, -0.005)), 0.06, 0.04, 0.01, 0);
    flr_kit_sphere(&ball, flr_pose_identity(), radius);
    flr_mesh *fixed = NULL, *moving = NULL;
    flr_result result = flr_kit_finish(&plate, &fixed, error);
    if (result == FLR_OK) result = flr_kit_finish(&ball, &moving, error);
    /* where the face is, by the mesh itself */
    flr_vec3 up = flr_quat_rotate(T.q, flr_vec3_make(0, 0, 1)),
             along = flr_quat_rotate(T.q, flr_vec3_make(1, 0, 0));
    double face = -INFINITY;
    for (uint32_t i = 0; result == FLR_OK && i < fixed->vertex_count; i++)
        face = fmax(face, flr_vec3_dot(fixed->vertices[i], up));
    bench_smooth_setup s = {0};
    if (result == FLR_OK) result = set_up(fixed, moving, voxel, &s, error);
    for (size_t i = 0; result == FLR_OK && i < SLIDE; i++) {
        told->x[i] = 20.0 * (double)i / SLIDE;
        flr_vec3 p = flr_vec3_scale(up, face + radius + high);
        p = flr_vec3_add_scaled(p, told->x[i] * 1e-3 - 0.01, along);
        for (int k = 0; k < 2; k++) {
            flr_contact_params params = flr_default_contact_params();
            flr_contact_result r;
            params.model = k ? FLR_FORCE_SMOOTH : FLR_FORCE_TANGENT;
            params.awareness = false;
            flr_contact_query(s.pair, flr_pose_make(p, flr_quat_identity()), flr_pose_identity(),
                              &params, &r);
            told->force[k][i] = flr_vec3_dot(r.wrench.force, up);
        }
    }
    free_setup(&s);
    flr_mesh_destroy(fixed);
    flr_mesh_destroy(moving);
    return result;
}

/* Mean, standard deviation, and the largest change from one pose to the next. */
static void print_slide(const slide *s, bool json, FILE *out)
{
    if (!json)
        fprintf(out, "\nsphere over a tilted face, %.3g mm a step\n%-8s %9s %9s %9s\n",
                20.0 / SLIDE, "model", "mean [N]", "dev. [N]", "jump [N]");
    for (int k = 0; k < 2; k++) {
        double sum = 0, square = 0, jump = 0;
        for (size_t i = 0; i < SLIDE; i++) {
            sum += s->force[k][i];
            square += s->force[k][i] * s->force[k][i];
            if (i) jump = fmax(jump, fabs(s->force[k][i] - s->force[k][i - 1]));
        }
        double mean = sum / SLIDE, deviation = sqrt(fmax(0, square / SLIDE - mean * mean));
        fprintf(out,
                json ? "%s{\"model\": \"%s\", \"mean\": %.4f, \"deviation\": %.4f, \"jump\": %.4f}"
                     : "%s%-8s %9.3f %9.3f %9.3f\n",
                json && k ? ", " : "", model_names[k], mean, deviation, jump);
    }
}

static flr_result plot_slide(flr_env *env, const char *folder, const slide *s, flr_error *error)
{
    flr_plot_series series[2];
    for (int k = 0; k < 2; k++)
        series[k] =
            (flr_plot_series){.name = model_names[k], .x = s->x, .y = s->force[k], .count = SLIDE};
    flr_plot_def def = flr_default_plot_def();
    def.title = "A sphere slides over a tilted face at a constant height";
    def.x_label = "way [mm], voxels of 1 mm";
    def.y_label = "force at right angles to the face [N]";
    def.series = series;
    def.series_count = 2;
    return flr_bench_plot(env, folder, "contact-slide.svg", &def, error);
}

flr_result flr_bench_smooth(flr_env *env, const flr_bench_options *options, FILE *out,
                            flr_error *error)
{
    flr_bench_begin(env, options, "cost", out);
    if (!options->json)
        fprintf(out,
                "best of %u for each pose; percentiles over the poses\n%-11s %-8s %-9s %9s %9s "
                "%9s %9s\n",
                options->repeat, "motion", "model", "awareness", "p50 [us]", "p99 [us]", "contacts",
                "p50 ratio");
    flr_result result = bench_cost(env, options, out, error);
    slide *s = malloc(sizeof *s);
    if (result == FLR_OK && !s) result = flr_fail(error, FLR_NO_MEMORY, "out of memory");
    if (result == FLR_OK) result = slide_over(s, error);
    if (result == FLR_OK) {
        if (options->json) fputs("],\n \"slide\": [", out);
        print_slide(s, options->json, out);
        if (options->json) fputs("]}\n", out);
        if (options->plots) result = plot_slide(env, options->plots, s, error);
    }
    free(s);
    return result;
}
