/* Closed shells: which are inside out, which lie in which. */
#include <math.h>
#include <stdlib.h>

#include "mesh/checking.h"

/* What is known of one shell. */
typedef struct shell {
    flr_box3 box;
    double volume;  /* signed, cubic metres */
    uint32_t first; /* where its triangles begin in the list */
    uint32_t count; /* of triangles */
    uint32_t depth; /* how many closed shells it lies in */
    bool open;      /* some edge has not two sides that agree */
} shell;

typedef struct shells {
    shell *all;          /* [adjacency->shell_count] */
    uint32_t *triangles; /* [triangle_count], shell by shell, rising */
    uint64_t visits;     /* spent of inside_limit */
} shells;

static double size_of(flr_box3 box)
{
    const flr_vec3 d = flr_vec3_sub(box.high, box.low);
    return fmax(fmax(d.x, d.y), d.z);
}

static void gather(const flr_checking *c, shells *s)
{
    const flr_adjacency *a = c->adjacency;
    const flr_mesh *mesh = c->mesh;
    /* lists of triangles: count, sum up, fill */
    for (uint32_t t = 0; t < a->triangle_count; t++) s->all[a->triangle_shell[t]].count++;
    for (uint32_t i = 1; i < a->shell_count; i++)
        s->all[i].first = s->all[i - 1].first + s->all[i - 1].count;
    for (uint32_t i = 0; i < a->shell_count; i++) s->all[i].count = 0;

    const flr_vec3 origin = flr_vec3_lerp(mesh->bounds.low, mesh->bounds.high, 0.5);
    for (uint32_t t = 0; t < a->triangle_count; t++) {
        shell *in = s->all + a->triangle_shell[t];
        s->triangles[in->first + in->count] = t;
        flr_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = mesh->vertices[mesh->triangles[t].v[k]];
            const bool new = in->count == 0 && k == 0;
            in->box.low = new ? p[k] : flr_vec3_min(in->box.low, p[k]);
            in->box.high = new ? p[k] : flr_vec3_max(in->box.high, p[k]);
            p[k] = flr_vec3_sub(p[k], origin);
        }
        in->volume += flr_vec3_dot(p[0], flr_vec3_cross(p[1], p[2])) / 6;
        in->count++;
    }
    for (uint32_t e = 0; e < a->edge_count; e++)
        if (a->edge_kind[e] != FLR_EDGE_REGULAR)
            s->all[a->triangle_shell[a->edge_sides[a->edge_first[e]] / 3]].open = true;
}

/* a shell can be judged when it is closed and its volume is more than rounding */
static bool judged(const shell *s)
{
    const double size = size_of(s->box);
    return !s->open && fabs(s->volume) > 1e-9 * size * size * size;
}

/* how often a shell winds around a point: 0 outside, 1 or -1 inside */
static double winding(const flr_checking *c, shells *s, const shell *around, flr_vec3 p)
{
    double angle = 0;
    for (uint32_t i = around->first; i < around->first + around->count; i++) {
        const uint32_t *v = c->mesh->triangles[s->triangles[i]].v;
        const flr_vec3 x = flr_vec3_sub(c->mesh->vertices[v[0]], p);
        const flr_vec3 y = flr_vec3_sub(c->mesh->vertices[v[1]], p);
        const flr_vec3 z = flr_vec3_sub(c->mesh->vertices[v[2]], p);
        const double lx = flr_vec3_length(x), ly = flr_vec3_length(y), lz = flr_vec3_length(z);
        /* the solid angle of a triangle, after van Oosterom and Strackee */
        const double below = lx * ly * lz + flr_vec3_dot(x, y) * lz + flr_vec3_dot(y, z) * lx +
                             flr_vec3_dot(z, x) * ly;
        angle += 2 * atan2(flr_vec3_dot(x, flr_vec3_cross(y, z)), below);
    }
    s->visits += around->count;
    return angle / (4 * 3.14159265358979323846);
}

static bool box_within(flr_box3 inner, flr_box3 outer)
{
    return inner.low.x >= outer.low.x && inner.low.y >= outer.low.y && inner.low.z >= outer.low.z &&
           inner.high.x <= outer.high.x && inner.high.y <= outer.high.y &&
           inner.high.z <= outer.high.z;
}

/* the first, the middle and the last triangle are inside: shells that only touch or cross the
 * other are not nested */
static bool lies_in(const flr_checking *c, shells *s, const shell *inner, const shell *outer)
{
    const uint32_t samples[3] = {0, inner->count / 2, inner->count - 1};
    for (int i = 0; i < 3; i++) {
        const flr_vec3 p = flr_checking_middle(c->mesh, s->triangles[inner->first + samples[i]]);
        if (fabs(winding(c, s, outer, p)) < 0.75) return false;
    }
    return true;
}

static void find_depths(flr_checking *c, shells *s)
{
    const uint32_t count = c->adjacency->shell_count;
    for (uint32_t i = 0; i < count; i++) {
        shell *inner = s->all + i;
        if (!judged(inner)) continue;
        for (uint32_t k = 0; k < count; k++) {
            const shell *outer = s->all + k;
            s->visits++;
            if (k == i || !judged(outer) || !box_within(inner->box, outer->box)) continue;
            if (s->visits > c->options.inside_limit) {
                c->report->cut_short = true;
                return;
            }
            inner->depth += lies_in(c, s, inner, outer);
        }
        if (s->visits > c->options.inside_limit) {
            c->report->cut_short = i + 1 < count;
            return;
        }
    }
}

static void report_shells(flr_checking *c, const shells *s)
{
    uint32_t inverted = 0, nested = 0, large = FLR_NONE, wrong = FLR_NONE;
    for (uint32_t i = 0; i < c->adjacency->shell_count; i++) {
        const shell *one = s->all + i;
        c->report->closed_shell_count += !one->open;
        if (!judged(one) || (one->volume > 0) == (one->depth % 2 == 0)) continue;
        if (one->depth == 0) {
            inverted++;
            if (large == FLR_NONE || size_of(one->box) > size_of(s->all[large].box)) large = i;
        } else {
            nested++;
            if (wrong == FLR_NONE || size_of(one->box) > size_of(s->all[wrong].box)) wrong = i;
        }
    }
    char where[FLR_PLACE_TEXT_SIZE], size[FLR_SIZE_TEXT_SIZE];
    if (inverted > 0) {
        const shell *one = s->all + large;
        flr_check_finding *f =
            flr_checking_add(c, FLR_CHECK_INVERTED_SHELL, FLR_CHECK_WARNING, inverted);
        flr_checking_place(f, s->triangles[one->first],
                           flr_vec3_lerp(one->box.low, one->box.high, 0.5), size_of(one->box));
        flr_checking_say(f, "%u closed shell%s inside out, the largest %s large around %s.",
                         inverted, inverted == 1 ? " is" : "s are",
                         flr_length_print(f->extent, size), flr_place_print(f->place, where));
        flr_checking_effect(f, "Does not matter for filling, which does not look at sides. Matters "
                               "for the contact normals of a moving part: they point the wrong "
                               "way. Turn the normals in the CAD program.");
    }
    if (nested > 0) {
        const shell *one = s->all + wrong;
        flr_check_finding *f = flr_checking_add(c, FLR_CHECK_NESTING, FLR_CHECK_WARNING, nested);
        flr_checking_place(f, s->triangles[one->first],
                           flr_vec3_lerp(one->box.low, one->box.high, 0.5), size_of(one->box));
        flr_checking_say(f,
                         "%u closed shell%s within others without being a cavity there, the "
                         "largest %s large around %s.",
                         nested, nested == 1 ? " lies" : "s lie", flr_length_print(f->extent, size),
                         flr_place_print(f->place, where));
        flr_checking_effect(f, "Does not matter for voxels: everything within the outermost shell "
                               "is inside. Matters for volume and mass, which count such places "
                               "more than once.");
    }
}

flr_result flr_check_shells(flr_checking *c)
{
    shells s = {0};
    s.all = calloc(c->adjacency->shell_count, sizeof *s.all);
    s.triangles = malloc((size_t)c->mesh->triangle_count * sizeof *s.triangles);
    flr_result result = FLR_OK;
    if (s.all && s.triangles) {
        gather(c, &s);
        find_depths(c, &s);
        report_shells(c, &s);
    } else
        result = flr_checking_no_memory(c);
    free(s.all);
    free(s.triangles);
    return result;
}
