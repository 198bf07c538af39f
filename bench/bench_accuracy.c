/* accuracy: the distance that the exact engine reports, next to brute force, at random poses of fits and dirty meshes
 *
 * Poses are along the removal path of each fit, with small, large and no disturbances, several close to each other in a row, as
 * a hand moves; and at random places near the surfaces of meshes that are open, doubled, crossing or degenerate. Everything is
 * compared with bench/brute.h, which shares no code with the engine. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/brute.h"
#include "bench/fit_cases.h"
#include "feeler/fit.h"

enum {
    ACCURACY_POSES = 20000, /* in all */
    IN_A_ROW = 6,           /* poses close to each other */
    ACCURACY_LISTED = 4096, /* contacts */
    LOOKED_AT = 8           /* contacts of a pose, and samples where parts interfere */
};
#define ALLOWED       1e-6 /* metres: what a distance may be off … */
#define ALLOWED_SHARE 0.01 /* … or this share of it */
#define ROUNDING      1e-9 /* of the parts' size: what differs where triangles are compared exactly */
#define FAR           1e-3 /* metres: distances are asked for up to here */
#define UNDECIDED                                                                                  \
    0.1 /* of a winding number about one half, which the engine knows to a few hundredths */
#define ACCURACY_NEAR 12e-6 /* metres: contacts are listed up to here */

typedef struct accuracy_count {
    uint64_t poses, apart, meeting, contacts;
    uint64_t beyond; /* distances that are off by more than is allowed */
    uint64_t broken; /* bounds that do not hold: of the distance, or of a contact */
    uint64_t sign;   /* inside taken for outside, or the other way */
    double worst;    /* metres */
    double share;    /* of what is allowed */
} accuracy_count;

/* Two parts and both ways to measure them. */
typedef struct accuracy_rig {
    const flr_mesh *meshes[2];
    flr_fit *fits[2];
    flr_brute *brutes[2];
    flr_fit_pair *pair;
    flr_fit_contact contacts[ACCURACY_LISTED];
    double size, far; /* metres */
    uint64_t seed;
} accuracy_rig;

/* -1 … 1 */
static double any(accuracy_rig *rig)
{
    rig->seed = rig->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(rig->seed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static flr_vec3 any_vector(accuracy_rig *rig, double size)
{
    const double x = any(rig), y = any(rig), z = any(rig);
    return flr_vec3_make(size * x, size * y, size * z);
}

static uint32_t any_of(accuracy_rig *rig, uint32_t count)
{
    const double at = (any(rig) + 1) / 2 * count;
    return at < count ? (uint32_t)at : count - 1;
}

/* ---- one pose ---- */

/* By brute force: the distance, looking farther until something is found. */
static double true_distance(accuracy_rig *rig, flr_pose T, double expected)
{
    double range = fmax(expected, 0) * 1.02 + 2e-6, found = INFINITY;
    while (!isfinite(found) && range < 4 * rig->far) {
        found = flr_brute_distance(rig->brutes[0], rig->meshes[1], T, range);
        range *= 4;
    }
    return found;
}

static double brute_inside(const flr_brute *brute, flr_vec3 p)
{
    return fabs(flr_brute_winding(brute, p)) - 0.5;
}

static void note(accuracy_count *c, double error, double distance)
{
    const double allowed = fmax(ALLOWED, ALLOWED_SHARE * fabs(distance));
    c->worst = fmax(c->worst, error);
    c->share = fmax(c->share, error / allowed);
    c->beyond += error > allowed;
}

static bool in_box(flr_box3 box, flr_vec3 p)
{
    return p.x >= box.low.x && p.x <= box.high.x && p.y >= box.low.y && p.y <= box.high.y &&
           p.z >= box.low.z && p.z <= box.high.z;
}

/* Is a sample of one part inside the other? Near the surface of one half, brute force does not decide either: 0. */
static int side_of(accuracy_rig *rig, int part, flr_vec3 p, double *depth)
{
    const double inside = brute_inside(rig->brutes[part], p);
    *depth = flr_brute_point(rig->brutes[part], p, 2 * rig->size);
    if (!in_box(rig->meshes[part]->bounds, p)) return -1;
    if (fabs(inside) < UNDECIDED) return 0;
    return inside > 0 ? 1 : -1;
}

/* Interference: no sample is deeper than reported, and the reported one is as deep. */
static void check_depth(accuracy_rig *rig, flr_pose T, const flr_fit_result *r, accuracy_count *c)
{
    const double slack = ALLOWED + ROUNDING * rig->size;
    for (int i = 0; i < LOOKED_AT; i++) {
        const int part = i % 2; /* that the sample is in */
        const flr_fit *other = rig->fits[1 - part];
        const flr_fit_sample *s =
            &flr_fit_samples(other)[any_of(rig, flr_fit_get_info(other).samples)];
        const flr_vec3 p = part ? flr_pose_apply_inverse(T, s->point) : flr_pose_apply(T, s->point);
        double depth;
        if (side_of(rig, part, p, &depth) > 0) c->broken += depth > -r->lower + slack;
    }
    if (r->distance < 0 && r->found) {
        /* one of the two points is the sample, the other one the nearest of the surface around it */
        const double of_a = flr_brute_point(rig->brutes[0], r->point[1], 2 * rig->size),
                     of_b = flr_brute_point(rig->brutes[1], flr_pose_apply_inverse(T, r->point[0]),
                                            2 * rig->size);
        const double off_a = fabs(of_a + r->distance), off_b = fabs(of_b + r->distance);
        double inside = -1;
        if (off_a < slack) inside = brute_inside(rig->brutes[0], r->point[1]);
        if (off_b < slack)
            inside =
                fmax(inside, brute_inside(rig->brutes[1], flr_pose_apply_inverse(T, r->point[0])));
        note(c, fmin(off_a, off_b), r->distance);
        c->sign += inside < -UNDECIDED;
    }
}

/* Contacts: their distances equal those of their points, within the error that is stated. */
static void check_contacts(accuracy_rig *rig, flr_pose T, const flr_fit_result *r,
                           accuracy_count *c)
{
    for (int i = 0; i < LOOKED_AT && r->contact_count; i++) {
        const flr_fit_contact *k = &rig->contacts[any_of(rig, r->contact_count)];
        const int part = k->side ? 0 : 1;
        const flr_vec3 p = part ? flr_pose_apply_inverse(T, k->point) : k->point;
        const double away =
            flr_brute_point(rig->brutes[part], p, fabs(k->distance) + 1e-5 + 1e-6 * rig->size);
        const double off = fabs(away - fabs(k->distance));
        c->contacts++;
        c->broken += !(off <= k->error + ROUNDING * rig->size);
        if (fabs(k->distance) < 1e-7 * rig->size) continue;
        double depth;
        const int side = i == 0 ? side_of(rig, part, p, &depth) : 0;
        c->sign += side != 0 && side != (k->distance < 0 ? 1 : -1);
    }
}

static void check_pose(accuracy_rig *rig, flr_pose T, double tolerance, accuracy_count *c)
{
    flr_fit_params ask = flr_default_fit_params();
    flr_fit_result r;
    ask.reach = ACCURACY_NEAR;
    ask.max_distance = rig->far;
    ask.tolerance = tolerance;
    flr_fit_pair_query(rig->pair, T, &ask, rig->contacts, ACCURACY_LISTED, &r);
    c->poses++;
    const double slack = ROUNDING * rig->size;
    const double found = true_distance(rig, T, fmin(r.distance, rig->far));
    const bool meet = found <= slack;
    check_contacts(rig, T, &r, c);
    if (meet || !(r.distance > 0)) {
        /* surfaces that meet, or one part inside the other */
        c->meeting++;
        if (meet && r.distance > 0) {
            /* a tolerance may hide that they touch, but not from the bound */
            note(c, r.distance, 0);
            c->broken += r.lower > slack;
        }
        if (!(r.distance > slack)) check_depth(rig, T, &r, c);
        return;
    }
    c->apart++;
    if (!isfinite(r.distance)) {
        /* nothing within reach, and what a tolerance hides is at its end */
        c->beyond += found < rig->far * (1 - ALLOWED_SHARE) - tolerance;
        c->broken += found < r.lower - slack;
        return;
    }
    note(c, fabs(r.distance - found), found);
    c->broken += found < r.lower - slack || found > r.upper + slack;
}

/* ---- poses ---- */

static flr_pose disturbed(accuracy_rig *rig, flr_pose T, double shift, double turn)
{
    T.p = flr_vec3_add(T.p, any_vector(rig, shift));
    T.q =
        flr_quat_normalize(flr_quat_mul(flr_quat_from_rotation_vector(any_vector(rig, turn)), T.q));
    return T;
}

/* Some pose of a fit: on its path; a little off it, so that it touches or nearly; far off. */
static flr_pose pose_of_fit(accuracy_rig *rig, const flr_fit_case *fit)
{
    const double k = (any(rig) + 1) / 2 * (double)(fit->path_count - 1);
    size_t n = (size_t)k;
    if (n + 2 > fit->path_count) n = fit->path_count - 2;
    const flr_pose T = flr_pose_interpolate(fit->path[n].T_world_part,
                                            fit->path[n + 1].T_world_part, k - (double)n);
    const double gap = fit->gap > 0 ? fit->gap : 1e-4;
    switch (any_of(rig, 4)) {
    case 0:
        return T;
    case 1:
        return disturbed(rig, T, 10 * gap, 0.1);
    default:
        return disturbed(rig, T, gap, gap / rig->size);
    }
}

/* Some pose near a vertex of the other part. */
static flr_pose pose_beside(accuracy_rig *rig)
{
    const flr_mesh *a = rig->meshes[0], *b = rig->meshes[1];
    flr_pose T = disturbed(rig, flr_pose_identity(), 0, 3);
    const flr_vec3 at = a->vertices[any_of(rig, a->vertex_count)],
                   own = b->vertices[any_of(rig, b->vertex_count)];
    T.p = flr_vec3_sub(at, flr_quat_rotate(T.q, own));
    return disturbed(rig, T, rig->far / 2, 0);
}

static void check_poses(accuracy_rig *rig, const flr_fit_case *fit,
                        const flr_bench_options *options, uint64_t poses, accuracy_count *c)
{
    flr_pose T = flr_pose_identity();
    for (uint64_t i = 0; i < poses && !flr_bench_stopped() && !flr_bench_is_late(options); i++) {
        if (i % IN_A_ROW == 0)
            T = fit ? pose_of_fit(rig, fit) : pose_beside(rig);
        else
            T = disturbed(rig, T, 2e-5, 1e-4);
        /* as the world asks: exactly where force begins, roughly where it is a number for people */
        check_pose(rig, T, i / IN_A_ROW % 2 ? 5e-8 : ALLOWED, c);
    }
}

/* ---- cases ---- */

static flr_result check_case(const flr_mesh *fixed, const flr_mesh *moving, const flr_fit_case *fit,
                             const flr_bench_options *options, uint64_t poses, accuracy_count *c,
                             flr_error *error)
{
    accuracy_rig *rig = calloc(1, sizeof *rig);
    if (!rig) return flr_fail(error, FLR_NO_MEMORY, "out of memory");
    flr_result result = FLR_OK;
    rig->meshes[0] = fixed, rig->meshes[1] = moving;
    rig->seed = options->seed;
    for (int i = 0; i < 2 && result == FLR_OK; i++) {
        result = flr_fit_build(rig->meshes[i], NULL, &rig->fits[i], error);
        if (result == FLR_OK) result = flr_brute_create(rig->meshes[i], &rig->brutes[i], error);
        if (result == FLR_OK) rig->size = fmax(rig->size, flr_fit_get_info(rig->fits[i]).size);
    }
    rig->far = fit ? FAR : 0.02 * rig->size;
    if (result == FLR_OK)
        result = flr_fit_pair_create(rig->fits[0], rig->fits[1], &rig->pair, error);
    if (result == FLR_OK) check_poses(rig, fit, options, poses, c);
    flr_fit_pair_destroy(rig->pair);
    for (int i = 0; i < 2; i++) {
        flr_brute_destroy(rig->brutes[i]);
        flr_fit_destroy(rig->fits[i]);
    }
    free(rig);
    return result;
}

static void add_up(accuracy_count *sum, const accuracy_count *c)
{
    sum->poses += c->poses, sum->apart += c->apart, sum->meeting += c->meeting;
    sum->contacts += c->contacts, sum->beyond += c->beyond, sum->broken += c->broken;
    sum->sign += c->sign;
    sum->worst = fmax(sum->worst, c->worst), sum->share = fmax(sum->share, c->share);
}

static void tell(const flr_bench_options *options, const char *name, const accuracy_count *c,
                 bool first, FILE *out)
{
    if (options->json)
        fprintf(out,
                "%s\n  {\"parts\": \"%s\", \"poses\": %llu, \"apart\": %llu, \"meeting\": %llu, "
                "\"contacts\": %llu, \"beyond\": %llu, \"broken\": %llu, \"sign\": %llu, "
                "\"worst\": %.9g, \"share\": %.6g}",
                first ? "" : ",", name, (unsigned long long)c->poses, (unsigned long long)c->apart,
                (unsigned long long)c->meeting, (unsigned long long)c->contacts,
                (unsigned long long)c->beyond, (unsigned long long)c->broken,
                (unsigned long long)c->sign, c->worst, c->share);
    else
        fprintf(out, "  %-42s %8llu %8llu %8llu %9llu %9.4f %7.1f %% %7llu %7llu %7llu\n", name,
                (unsigned long long)c->poses, (unsigned long long)c->apart,
                (unsigned long long)c->meeting, (unsigned long long)c->contacts, 1e6 * c->worst,
                100 * c->share, (unsigned long long)c->beyond, (unsigned long long)c->broken,
                (unsigned long long)c->sign);
    fflush(out);
}

/* what a run is about */
typedef struct accuracy_run {
    flr_env *env;
    const flr_bench_options *options;
    const char *folder, *models;
    uint64_t poses; /* of each case */
    FILE *out;
    accuracy_count sum;
    bool first;
} accuracy_run;

static bool is_wanted(const accuracy_run *run, const char *name)
{
    const char *scene = run->options->scene;
    return !scene || !strncmp(name, scene, strlen(scene));
}

static flr_result check_named(accuracy_run *run, const char *name, const flr_mesh *fixed,
                              const flr_mesh *moving, const flr_fit_case *fit, flr_error *error)
{
    accuracy_count count = {0};
    flr_result result = check_case(fixed, moving, fit, run->options, run->poses, &count, error);
    if (result != FLR_OK) return result;
    tell(run->options, name, &count, run->first, run->out);
    add_up(&run->sum, &count);
    run->first = false;
    return flr_bench_stopped() ? flr_fail(error, FLR_CANCELLED, "stopped") : FLR_OK;
}

static flr_result check_fits(accuracy_run *run, flr_error *error)
{
    flr_result result = FLR_OK;
    const size_t count = flr_fit_case_count();
    for (size_t i = 0; i < count && result == FLR_OK && !flr_bench_is_late(run->options); i++) {
        flr_fit_case fit;
        const size_t index = (i + run->options->seed - 1) % count;
        result = flr_fit_case_make(run->env, index, run->folder, run->models, &fit, error);
        if (result == FLR_NOT_FOUND) {
            result = FLR_OK;
            continue;
        }
        if (result != FLR_OK) break;
        if (is_wanted(run, fit.name))
            result = check_named(run, fit.name, fit.fixed, fit.moving, &fit, error);
        flr_fit_case_free(&fit);
    }
    return result;
}

/* A box with faces turned outwards, a few hundredths of the other part's size. */
static flr_result make_box(double size, flr_mesh **mesh, flr_error *error)
{
    flr_vec3 v[8];
    const uint32_t sides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    flr_triangle t[12];
    flr_mesh_def def = flr_default_mesh_def();
    for (int i = 0; i < 8; i++)
        v[i] = flr_vec3_make(i & 1 ? size : 0, i & 2 ? 0.7 * size : 0, i & 4 ? 0.4 * size : 0);
    for (int i = 0; i < 6; i++) {
        const uint32_t *s = sides[i];
        t[2 * i] = (flr_triangle){{s[0], s[1], s[2]}};
        t[2 * i + 1] = (flr_triangle){{s[0], s[2], s[3]}};
    }
    def.vertices = v, def.vertex_count = 8;
    def.triangles = t, def.triangle_count = 12;
    return flr_mesh_create(&def, mesh, error);
}

static flr_result check_dirty(accuracy_run *run, const char *file, flr_error *error)
{
    char path[1200], name[64];
    flr_mesh *mesh = NULL, *box = NULL;
    flr_mesh_options how = flr_default_mesh_options();
    snprintf(path, sizeof path, "%s/dirty/%s", run->models, file);
    snprintf(name, sizeof name, "dirty: %s", file);
    how.tolerant = true;
    if (!is_wanted(run, name)) return FLR_OK;
    if (flr_mesh_read(run->env, path, &how, &mesh, NULL, NULL) != FLR_OK) return FLR_OK;
    const double size = flr_vec3_length(flr_box3_size(mesh->bounds));
    flr_result result = FLR_OK;
    if (mesh->triangle_count > 0 && size > 0) result = make_box(0.05 * size, &box, error);
    if (box) result = check_named(run, name, mesh, box, NULL, error);
    flr_mesh_destroy(box);
    flr_mesh_destroy(mesh);
    return result;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All meshes of the folder, by name. */
static flr_result check_all_dirty(accuracy_run *run, flr_error *error)
{
    char path[1100], *files[256];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/dirty", run->models);
    DIR *folder = opendir(path);
    if (!folder) return FLR_OK;
    for (struct dirent *entry; count < 256 && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') count += (files[count] = strdup(entry->d_name)) != NULL;
    closedir(folder);
    qsort(files, count, sizeof *files, by_name);
    flr_result result = FLR_OK;
    for (size_t i = 0; i < count && result == FLR_OK && !flr_bench_is_late(run->options); i++)
        result = check_dirty(run, files[(i + run->options->seed / 2) % count], error);
    for (size_t i = 0; i < count; i++) free(files[i]);
    return result;
}

static void tell_head(const flr_bench_options *options, FILE *out)
{
    if (options->json) {
        fputs(", \"cases\": [", out);
        return;
    }
    fprintf(out,
            "distances of the exact engine next to brute force; allowed: the larger of %g um and "
            "%g %%\nbeyond: farther off than that; broken: a stated bound does not hold; sign: "
            "inside taken for outside\n  %-42s %8s %8s %8s %9s %9s %9s %7s %7s %7s\n",
            1e6 * ALLOWED, 100 * ALLOWED_SHARE, "", "poses", "apart", "meeting", "contacts",
            "worst um", "allowed", "beyond", "broken", "sign");
}

/* Fits share the poses with dirty meshes, of which there are about as many; with an even seed, those come first. */
static flr_result accuracy_cases(accuracy_run *run, flr_error *error)
{
    const uint64_t all =
        run->options->frames ? run->options->frames : ACCURACY_POSES / run->options->divide;
    run->poses = all / 64 > 0 ? all / 64 : 1;
    const bool dirty_first = run->options->seed % 2 == 0;
    flr_result result = dirty_first ? check_all_dirty(run, error) : check_fits(run, error);
    if (result == FLR_OK)
        result = dirty_first ? check_fits(run, error) : check_all_dirty(run, error);
    if (result == FLR_OK && run->first)
        return flr_fail(error, FLR_BAD_ARGUMENT, "no fit begins with \"%s\"", run->options->scene);
    if (!run->first && !run->options->json) tell(run->options, "all", &run->sum, true, run->out);
    return result;
}

flr_result flr_bench_accuracy(flr_env *env, const flr_bench_options *options, FILE *out,
                              flr_error *error)
{
    const char *parent = options->scratch ? options->scratch : getenv("TMPDIR");
    char folder[1024];
    if (snprintf(folder, sizeof folder, "%s/feeler-bench-%ld", parent ? parent : "/tmp",
                 (long)getpid()) >= (int)sizeof folder)
        return flr_fail(error, FLR_BAD_ARGUMENT, "%s: the path is too long", parent);
    flr_result result = flr_path_make_folder(env, folder, error);
    if (result != FLR_OK) return result;
    flr_bench_conditions conditions = flr_bench_look(env);
    if (options->json) fputs("{", out);
    flr_bench_print_conditions(&conditions, options->json, out);
    tell_head(options, out);
    accuracy_run run = {.env = env,
                        .options = options,
                        .folder = folder,
                        .models = options->models ? options->models : "../shared/models",
                        .out = out,
                        .first = true};
    flr_bench_catch_begin();
    result = accuracy_cases(&run, error);
    flr_path_remove_tree(env, folder, NULL);
    flr_bench_catch_end();
    if (options->json && result == FLR_OK) fputs("]}\n", out);
    const accuracy_count *c = &run.sum;
    if (result == FLR_OK && c->beyond + c->broken + c->sign > 0)
        return flr_fail(error, FLR_BAD_INPUT,
                        "of %llu poses, %llu distances are off by too much, %llu stated bounds do "
                        "not hold and %llu signs are wrong",
                        (unsigned long long)c->poses, (unsigned long long)c->beyond,
                        (unsigned long long)c->broken, (unsigned long long)c->sign);
    return result;
}
